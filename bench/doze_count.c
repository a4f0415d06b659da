/* SPDX-License-Identifier: MIT */

/* doze_count -- how often things happen. Built with counters; its times mean
 * nothing, its counts are exact. */

#include "bench/experiments.h"

enum { ROUNDS = 1000, WAITS = 10, INTERRUPTS = 100 };

#define CONTENTION(name)                                                   \
    {"contended/" #name "/queue", count_contended_##name##_queue, ROUNDS}, \
        {"contended/" #name "/single_slot",                                \
            count_contended_##name##_single_slot, ROUNDS},

static const struct bench benches[] = {
    {"pingpong/noop/queue", count_noop_queue, ROUNDS},
    {"pingpong/thread_mode/queue", count_thread_mode_queue, ROUNDS},
    {"pingpong/critical_section/queue", count_critical_section_queue, ROUNDS},
    {"pingpong/noop/single_slot", count_noop_single_slot, ROUNDS},
    {"pingpong/thread_mode/single_slot", count_thread_mode_single_slot, ROUNDS},
    {"pingpong/critical_section/single_slot",
        count_critical_section_single_slot, ROUNDS},
    {"waiters/queue/1", count_waiters_queue_1, ROUNDS},
    {"waiters/queue/2", count_waiters_queue_2, ROUNDS},
    {"waiters/queue/4", count_waiters_queue_4, ROUNDS},
    {"waiters/queue/8", count_waiters_queue_8, ROUNDS},
    {"waiters/single_slot/1", count_waiters_single_slot_1, ROUNDS},
    {"waiters/single_slot/2", count_waiters_single_slot_2, ROUNDS},
    {"waiters/single_slot/4", count_waiters_single_slot_4, ROUNDS},
    {"waiters/single_slot/8", count_waiters_single_slot_8, ROUNDS},
    /* clang-format off */
    CONTENDED(CONTENTION)
    /* clang-format on */
    {"wait_100ms/tickless", count_wait_tickless, WAITS},
    {"wait_100ms/tick", count_wait_tick, WAITS},
    {"preemption/same_executor", count_preemption_same_executor, INTERRUPTS},
    {"preemption/interrupt_executor", count_preemption_interrupt_executor,
        INTERRUPTS},
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv,
        (struct bench_suite){
            .benches = benches,
            .count = sizeof(benches) / sizeof(benches[0]),
            .repetitions = 1,
        });
}
