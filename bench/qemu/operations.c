/* SPDX-License-Identifier: MIT */

/*
 * operations -- what is counted in a loop: the floor of the ping-pong, the life
 * of a task, and each primitive while nobody has to wait
 *
 * All in one program, so that what primitives share they do share. The loop is
 * counted, too: it has a line of its own.
 */

#include "bench/experiments.h"
#include "bench/qemu/measure.h"

static void loop(struct bench_run *run)
{
    for (uint64_t i = 0; i < run->rounds; i++)
        __asm__ volatile("" : : : "memory");
}

#define OF_ONE(name) \
    {"operations/" #name, operations_##name##_queue, MEASURE_ROUNDS},
#define OF_BOTH(name)                                                          \
    {"operations/" #name "/queue", operations_##name##_queue, MEASURE_ROUNDS}, \
        {"operations/" #name "/single_slot", operations_##name##_single_slot,  \
            MEASURE_ROUNDS},

static const struct bench benches[] = {
    {"pingpong/floor", pingpong_floor, MEASURE_ROUNDS},
    {"spawn", spawn, MEASURE_ROUNDS},
    {"spawn/busy", spawn_busy, MEASURE_ROUNDS},
    {"operations/loop", loop, MEASURE_ROUNDS},
    /* clang-format off */
    OPERATIONS_OF_BOTH(OF_BOTH)
    OPERATIONS_OF_ONE(OF_ONE)
    /* clang-format on */
};

int main(void)
{
    measure(benches, sizeof(benches) / sizeof(benches[0]));
    return 0;
}
