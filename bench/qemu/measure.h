/* SPDX-License-Identifier: MIT */
#ifndef BENCH_QEMU_MEASURE_H
#define BENCH_QEMU_MEASURE_H

/*
 * measure -- bench/bench.h on the board, where instructions stand for time
 *
 *     int main(void)
 *     {
 *         measure(benches, sizeof(benches) / sizeof(benches[0]));
 *         return 0;
 *     }
 *
 * Prints a line of JSON for each benchmark. All numbers are exact: what is not
 * whole is a mean over the rounds, whose decimals end.
 *
 *     {"name": "pingpong/noop", "instructions": 229, "stack": 88}
 *
 * instructions: of one round. A benchmark runs its rounds, and twice as many:
 * the difference, divided by the rounds, so that what comes before and behind
 * the loop is not counted. A benchmark of 0 rounds runs once and says what it
 * has counted itself, by bench_count.
 *
 * stack: how deep it was, in bytes, with the interrupts that there were. The
 * room below is painted before, and looked at behind.
 *
 * The benchmark is called through a pointer out of a function that is compiled
 * on its own, so that nothing of what is measured moves when this changes.
 */

#include <stdbool.h>

#include "bench/bench.h"
#include "sim/qemu/board.h"

/* A thousand of them make decimals that end. */
enum { MEASURE_ROUNDS = 1000 };

void measure(const struct bench *benches, size_t count);

/* Prints one line, of the run's counters. */
void measure_report(const char *name, const struct bench_run *run);

/* The number of instructions between two stamps. The counter goes on by 6.4 for
 * each, so the nearest whole number is the exact one; up to 2^29 of them. */
static inline uint32_t measure_instructions(uint32_t from, uint32_t to)
{
    return (uint32_t)(((uint64_t)(to - from) * 5 + 16) / 32);
}

/* Whether an interrupt that struck at this program counter was just behind a
 * WFE, where hardware wakes. */
static inline bool measure_is_behind_wfe(uint32_t program_counter)
{
    const uint16_t wfe = 0xBF20;

    return ((const uint16_t *)program_counter)[-1] == wfe;
}

/* Instructions of a stamp before the counter is read, by the last of them. */
enum { MEASURE_STAMP = 2 };

/* board_count() in three instructions, wherever the compiler puts it, and on
 * Armv6-M, too. */
static inline uint32_t measure_stamp(void)
{
    uint32_t count;

    __asm__ volatile("ldr %0, 0f\n\t"
                     "b 1f\n\t"
                     ".balign 4\n"
                     "0: .word %c1\n"
                     "1: ldr %0, [%0]"
                     : "=l"(count)
                     : "i"(BOARD_COUNTER)
                     : "memory");
    return ~count;
}

#endif
