/* SPDX-License-Identifier: MIT */

/*
 * ram -- what one object of each kind takes, in bytes
 *
 * The rows are those of scripts/sizes.c, and the parts that a frame is made of.
 */

#include "bench/qemu/measure.h"
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

static void make_word(uint32_t *word)
{
    *word = 1;
}

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

static const struct {
    const char *name;
    size_t size;
} rows[] = {
    {"ram/executor", sizeof(struct dz_executor)},
    {"ram/executor_by_priority", sizeof(struct priority_executor)},
    {"ram/executor_by_deadline", sizeof(struct deadline_executor)},
    {"ram/waiter", sizeof(struct dz_waiter)},
    {"ram/frame", sizeof(struct dz_frame)},
    {"ram/timer", sizeof(struct dz_timer)},
    {"ram/task", sizeof(struct empty)},
    {"ram/task_with_a_timer", sizeof(struct sleeper)},
    {"ram/task_with_a_deadline", sizeof(struct urgent)},
    {"ram/task_that_can_be_cancelled", sizeof(struct download)},
    {"ram/guard", sizeof(struct dz_guard)},
    {"ram/ticker", sizeof(struct dz_ticker)},
    {"ram/select_of_2", sizeof(struct dz_select2)},
    {"ram/select_of_3", sizeof(struct dz_select3)},
    {"ram/timeout", sizeof(struct dz_timeout)},
    {"ram/join_of_2", sizeof(struct dz_join2)},
    {"ram/atomic_waker", sizeof(struct dz_atomic_waker)},
    {"ram/barrier_of_3", sizeof(struct trio)},
    {"ram/blocking_mutex_of_a_word", sizeof(struct word_mutex)},
    {"ram/channel_of_4_words", sizeof(struct word_channel)},
    {"ram/event_flags", sizeof(struct some_flags)},
    {"ram/lazy_lock_of_a_word", sizeof(struct word_lazy_lock)},
    {"ram/multi_waker_of_4", sizeof(struct multi_waker)},
    {"ram/mutex_of_a_word", sizeof(struct async_word_mutex)},
    {"ram/once_lock_of_a_word", sizeof(struct word_once_lock)},
    {"ram/pipe_of_16_bytes", sizeof(struct byte_pipe)},
    {"ram/priority_channel_of_4_words", sizeof(struct word_priority_channel)},
    {"ram/pubsub_of_4_words", sizeof(struct word_pubsub)},
    {"ram/subscriber_of_a_pubsub", sizeof(struct word_pubsub_subscriber)},
    {"ram/rpc_of_words", sizeof(struct word_rpc)},
    {"ram/rwlock_of_a_word", sizeof(struct word_rwlock)},
    {"ram/semaphore", sizeof(struct permits)},
    {"ram/signal_of_a_word", sizeof(struct word_signal)},
    {"ram/waker", sizeof(struct dz_waker)},
    {"ram/watch_of_a_word", sizeof(struct word_watch)},
    {"ram/receiver_of_a_watch", sizeof(struct word_watch_receiver)},
    {"ram/zerocopy_channel_of_4_words", sizeof(struct word_zerocopy)},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench_run run = {.count = 0};

        bench_count(&run, "bytes", (double)rows[i].size);
        measure_report(rows[i].name, &run);
    }
    return 0;
}
