/* SPDX-License-Identifier: MIT */
#ifndef BENCH_EXPERIMENTS_H
#define BENCH_EXPERIMENTS_H

/*
 * experiments -- every benchmark there is, one file each
 *
 * Those of doze_bench measure time and are built without counters; those of
 * doze_count measure nothing but events and are built with them.
 */

#include "bench/bench.h"

/* doze_bench */

/* One round: a value there and back between two tasks. */
void pingpong_floor(struct bench_run *run);
void pingpong_noop(struct bench_run *run);
void pingpong_thread_mode(struct bench_run *run);
void pingpong_critical_section(struct bench_run *run);

/* The same with the owner and re-entry checks of the simulator: checked/... */
void pingpong_noop_checked(struct bench_run *run);
void pingpong_thread_mode_checked(struct bench_run *run);
void pingpong_critical_section_checked(struct bench_run *run);

/* One round: lock and unlock. */
void lock_noop(struct bench_run *run);
void lock_thread_mode(struct bench_run *run);
void lock_critical_section(struct bench_run *run);
void lock_pthread_sigmask(struct bench_run *run);

/* One round: claim, spawn, run to the end, slot free again. */
void spawn(struct bench_run *run);

/* One round: a claim that fails, for the pool has no free slot. On target. */
void spawn_busy(struct bench_run *run);

/* One round: another thread raises an interrupt, whose handler sends to a
 * task; and what the host alone takes to wake a thread by a signal, or by a
 * futex. Counters: p50, p90, p99 and max of raise -> task, in ns. */
void isr_to_task(struct bench_run *run);
void isr_to_task_signal(struct bench_run *run);
void isr_to_task_futex(struct bench_run *run);

/* One round: a timer is started, or expires, in a queue of up to n. */
void timers_insert_1(struct bench_run *run);
void timers_insert_10(struct bench_run *run);
void timers_insert_100(struct bench_run *run);
void timers_insert_1000(struct bench_run *run);
void timers_insert_10000(struct bench_run *run);
void timers_expire_1(struct bench_run *run);
void timers_expire_10(struct bench_run *run);
void timers_expire_100(struct bench_run *run);
void timers_expire_1000(struct bench_run *run);
void timers_expire_10000(struct bench_run *run);

/* One round: what a task does with a primitive that nobody else uses, so that
 * it never has to wait; bench/operations.c says what. Those that wait under
 * either policy are there twice: operations_NAME_queue and
 * operations_NAME_single_slot. */
#define OPERATIONS_OF_BOTH(DO) \
    DO(channel)                \
    DO(event_flags)            \
    DO(mutex)                  \
    DO(once_lock)              \
    DO(pipe)                   \
    DO(priority_channel)       \
    DO(pubsub)                 \
    DO(rpc)                    \
    DO(rwlock)                 \
    DO(semaphore)              \
    DO(signal)                 \
    DO(watch)                  \
    DO(zerocopy)
#define OPERATIONS_OF_ONE(DO) \
    DO(barrier)               \
    DO(blocking_mutex)        \
    DO(lazy_lock)

#define DECLARE_OF_ONE(name) \
    void operations_##name##_queue(struct bench_run *run);
#define DECLARE_OF_BOTH(name) \
    DECLARE_OF_ONE(name)      \
    void operations_##name##_single_slot(struct bench_run *run);

OPERATIONS_OF_ONE(DECLARE_OF_ONE)
OPERATIONS_OF_BOTH(DECLARE_OF_BOTH)

/* doze_count */

/* Counters: wakes, polls, pends and sleeps per round trip. */
void count_noop_queue(struct bench_run *run);
void count_thread_mode_queue(struct bench_run *run);
void count_critical_section_queue(struct bench_run *run);
void count_noop_single_slot(struct bench_run *run);
void count_thread_mode_single_slot(struct bench_run *run);
void count_critical_section_single_slot(struct bench_run *run);

/* The same counters per idle round, with n tasks waiting on one channel into
 * which nothing comes. */
void count_waiters_queue_1(struct bench_run *run);
void count_waiters_queue_2(struct bench_run *run);
void count_waiters_queue_4(struct bench_run *run);
void count_waiters_queue_8(struct bench_run *run);
void count_waiters_single_slot_1(struct bench_run *run);
void count_waiters_single_slot_2(struct bench_run *run);
void count_waiters_single_slot_4(struct bench_run *run);
void count_waiters_single_slot_8(struct bench_run *run);

/* The same counters per operation that one of four tasks completes which all
 * want the same; bench/contended.c says what. For each of these there are
 * count_contended_NAME_queue and count_contended_NAME_single_slot. */
#define CONTENDED(DO)    \
    DO(channel)          \
    DO(event_flags)      \
    DO(mutex)            \
    DO(pipe)             \
    DO(priority_channel) \
    DO(pubsub)           \
    DO(rpc)              \
    DO(rwlock)           \
    DO(semaphore)        \
    DO(signal)           \
    DO(watch)            \
    DO(zerocopy)

#define DECLARE_CONTENDED(name)                                 \
    void count_contended_##name##_queue(struct bench_run *run); \
    void count_contended_##name##_single_slot(struct bench_run *run);

CONTENDED(DECLARE_CONTENDED)

/* One round: a task waits for 100 ms. The same counters, passes of the run
 * loop, and interrupts. */
void count_wait_tickless(struct bench_run *run);
void count_wait_tick(struct bench_run *run);

/* One round: an interrupt wakes a task while another computes for 30 ms.
 * Counter: how late the task is at the worst, in us. */
void count_preemption_same_executor(struct bench_run *run);
void count_preemption_interrupt_executor(struct bench_run *run);

#endif
