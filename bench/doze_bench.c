/* SPDX-License-Identifier: MIT */

/* doze_bench -- how long things take. Built without counters. */

#include "bench/experiments.h"

enum {
    ROUND_TRIPS = 200000, /* x 7, as Embassy was measured; see DESIGN.md */
    LOCKS = 2000000,
    SPAWNS = 200000,
    TIMERS = 100000, /* a tenth is a multiple of the longest queue */
    OPERATIONS_ROUNDS = 200000,
    INTERRUPTS = 500,
    REPETITIONS = 7,
};

#define OF_ONE(name) \
    {"operations/" #name, operations_##name##_queue, OPERATIONS_ROUNDS},
#define OF_BOTH(name)                                                         \
    {"operations/" #name "/queue", operations_##name##_queue,                 \
        OPERATIONS_ROUNDS},                                                   \
        {"operations/" #name "/single_slot", operations_##name##_single_slot, \
            OPERATIONS_ROUNDS},

static const struct bench benches[] = {
    {"pingpong/floor", pingpong_floor, ROUND_TRIPS},
    {"pingpong/noop", pingpong_noop, ROUND_TRIPS},
    {"pingpong/thread_mode", pingpong_thread_mode, ROUND_TRIPS},
    {"pingpong/critical_section", pingpong_critical_section, ROUND_TRIPS},
    {"checked/noop", pingpong_noop_checked, ROUND_TRIPS},
    {"checked/thread_mode", pingpong_thread_mode_checked, ROUND_TRIPS},
    {"checked/critical_section", pingpong_critical_section_checked,
        ROUND_TRIPS},
    {"lock/noop", lock_noop, LOCKS},
    {"lock/thread_mode", lock_thread_mode, LOCKS},
    {"lock/critical_section", lock_critical_section, LOCKS},
    {"lock/pthread_sigmask", lock_pthread_sigmask, LOCKS / 100},
    {"spawn", spawn, SPAWNS},
    /* clang-format off */
    OPERATIONS_OF_BOTH(OF_BOTH)
    OPERATIONS_OF_ONE(OF_ONE)
    /* clang-format on */
    {"timers/insert/1", timers_insert_1, TIMERS},
    {"timers/insert/10", timers_insert_10, TIMERS},
    {"timers/insert/100", timers_insert_100, TIMERS},
    {"timers/insert/1000", timers_insert_1000, TIMERS},
    {"timers/insert/10000", timers_insert_10000, TIMERS},
    {"timers/expire/1", timers_expire_1, TIMERS},
    {"timers/expire/10", timers_expire_10, TIMERS},
    {"timers/expire/100", timers_expire_100, TIMERS},
    {"timers/expire/1000", timers_expire_1000, TIMERS},
    {"timers/expire/10000", timers_expire_10000, TIMERS},
    {"isr_to_task/doze", isr_to_task, INTERRUPTS},
    {"isr_to_task/signal", isr_to_task_signal, INTERRUPTS},
    {"isr_to_task/futex", isr_to_task_futex, INTERRUPTS},
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv,
        (struct bench_suite){
            .benches = benches,
            .count = sizeof(benches) / sizeof(benches[0]),
            .repetitions = REPETITIONS,
        });
}
