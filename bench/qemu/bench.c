/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include "bench/experiments.h"
#include "sim/qemu/board.h"

/* To be replaced: how counts are taken and printed. */
static void report(const char *name, void (*run)(struct bench_run *))
{
    uint32_t t[3];
    char text[100];
    for (int i = -1; i < 2; i++) {
        struct bench_run r = {.rounds = i == 1 ? 2000 : 1000};
        uint32_t t0 = board_count();
        run(&r);
        t[i + 1] = board_count() - t0;
    }
    unsigned x = (unsigned)((uint64_t)(t[2] - t[1]) * 5 * 100 / 32 / 1000);
    snprintf(text, sizeof(text), "%s %u.%02u\n", name, x / 100, x % 100);
    board_print(text);
}
int main(void)
{
    report("floor", pingpong_floor);
    report("noop", pingpong_noop);
    report("thread_mode", pingpong_thread_mode);
    report("critical_section", pingpong_critical_section);
    return 0;
}
