/* SPDX-License-Identifier: MIT */
#ifndef SCRIPTS_OBJECTS_H
#define SCRIPTS_OBJECTS_H

/*
 * objects -- one object of each kind, whose bytes are counted
 *
 * By scripts/sizes.c, and by bench/qemu/ram.c: OBJECTS(DO) is DO(name, type)
 * for each of them.
 */

#include "doze.h"

struct empty {
    struct dz_task task;
};

struct priority_executor {
    struct dz_executor executor;
    struct dz_priority_queue queue;
};

struct deadline_executor {
    struct dz_executor executor;
    struct dz_deadline_queue queue;
};

struct sleeper {
    struct dz_task task;
    struct dz_timer timer;
};

struct urgent {
    struct dz_task task;
    struct dz_deadline deadline;
};

struct download {
    struct dz_task task;
    struct dz_cancellation cancellation;
};

struct multi_waker {
    struct dz_multi_waker wakers;
    struct dz_task *slots[4];
};

void make_word(uint32_t *word);

static bool is_less(const uint32_t *one, const uint32_t *other)
{
    return *one < *other;
}

DZ_BARRIER_DEFINE(trio, 3, DZ_CRITICAL_SECTION)
DZ_BLOCKING_MUTEX_DEFINE(word_mutex, uint32_t, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(word_channel, uint32_t, 4, DZ_CRITICAL_SECTION)
DZ_EVENT_FLAGS_DEFINE(some_flags, DZ_CRITICAL_SECTION)
DZ_LAZY_LOCK_DEFINE(word_lazy_lock, uint32_t, make_word, DZ_CRITICAL_SECTION)
DZ_MUTEX_DEFINE(async_word_mutex, uint32_t, DZ_CRITICAL_SECTION)
DZ_ONCE_LOCK_DEFINE(word_once_lock, uint32_t, DZ_CRITICAL_SECTION)
DZ_PIPE_DEFINE(byte_pipe, 16, DZ_CRITICAL_SECTION)
DZ_PRIORITY_CHANNEL_DEFINE(
    word_priority_channel, uint32_t, 4, is_less, DZ_CRITICAL_SECTION)
DZ_PUBSUB_DEFINE(word_pubsub, uint32_t, 4, DZ_CRITICAL_SECTION)
DZ_RPC_DEFINE(word_rpc, uint32_t, uint32_t, DZ_CRITICAL_SECTION)
DZ_RWLOCK_DEFINE(word_rwlock, uint32_t, DZ_CRITICAL_SECTION)
DZ_SEMAPHORE_DEFINE(permits, 4, DZ_CRITICAL_SECTION)
DZ_SIGNAL_DEFINE(word_signal, uint32_t, DZ_CRITICAL_SECTION)
DZ_WATCH_DEFINE(word_watch, uint32_t, DZ_CRITICAL_SECTION)
DZ_ZEROCOPY_DEFINE(word_zerocopy, uint32_t, 4, DZ_CRITICAL_SECTION)

#define OBJECTS(DO)                                               \
    DO(executor, struct dz_executor)                              \
    DO(executor_by_priority, struct priority_executor)            \
    DO(executor_by_deadline, struct deadline_executor)            \
    DO(waiter, struct dz_waiter)                                  \
    DO(frame, struct dz_frame)                                    \
    DO(timer, struct dz_timer)                                    \
    DO(task, struct empty)                                        \
    DO(task_with_a_timer, struct sleeper)                         \
    DO(task_with_a_deadline, struct urgent)                       \
    DO(task_that_can_be_cancelled, struct download)               \
    DO(guard, struct dz_guard)                                    \
    DO(ticker, struct dz_ticker)                                  \
    DO(select_of_2, struct dz_select2)                            \
    DO(select_of_3, struct dz_select3)                            \
    DO(timeout, struct dz_timeout)                                \
    DO(join_of_2, struct dz_join2)                                \
    DO(atomic_waker, struct dz_atomic_waker)                      \
    DO(barrier_of_3, struct trio)                                 \
    DO(blocking_mutex_of_a_word, struct word_mutex)               \
    DO(channel_of_4_words, struct word_channel)                   \
    DO(event_flags, struct some_flags)                            \
    DO(lazy_lock_of_a_word, struct word_lazy_lock)                \
    DO(multi_waker_of_4, struct multi_waker)                      \
    DO(mutex_of_a_word, struct async_word_mutex)                  \
    DO(once_lock_of_a_word, struct word_once_lock)                \
    DO(pipe_of_16_bytes, struct byte_pipe)                        \
    DO(priority_channel_of_4_words, struct word_priority_channel) \
    DO(pubsub_of_4_words, struct word_pubsub)                     \
    DO(subscriber_of_a_pubsub, struct word_pubsub_subscriber)     \
    DO(rpc_of_words, struct word_rpc)                             \
    DO(rwlock_of_a_word, struct word_rwlock)                      \
    DO(semaphore, struct permits)                                 \
    DO(signal_of_a_word, struct word_signal)                      \
    DO(waker, struct dz_waker)                                    \
    DO(watch_of_a_word, struct word_watch)                        \
    DO(receiver_of_a_watch, struct word_watch_receiver)           \
    DO(zerocopy_channel_of_4_words, struct word_zerocopy)

#endif
