/* SPDX-License-Identifier: MIT */

/*
 * operations -- what each primitive costs while nobody has to wait
 *
 * All in one task, under a critical section. Compiled once for each policy:
 *
 *     OPERATIONS_POLICY   DZ_QUEUE or DZ_SINGLE_SLOT
 *     OPERATIONS_SUFFIX   queue or single_slot
 *     OPERATIONS_PLAIN    which of those without a policy: OPERATIONS_OF_ONE
 *                         or, the second time, OPERATIONS_NONE
 */

#include <stdlib.h>

#include "bench/experiments.h"
#include "doze.h"

static void make_one(uint32_t *made)
{
    *made = 1;
}

static bool is_less(const uint32_t *one, const uint32_t *other)
{
    return *one < *other;
}

DZ_BARRIER_DEFINE(a_barrier, 1, DZ_CRITICAL_SECTION)
DZ_BLOCKING_MUTEX_DEFINE(a_blocking_mutex, uint32_t, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE_POLICY(
    a_channel, uint32_t, 4, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_EVENT_FLAGS_DEFINE_POLICY(
    a_event_flags, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_LAZY_LOCK_DEFINE(a_lazy_lock, uint32_t, make_one, DZ_CRITICAL_SECTION)
DZ_MUTEX_DEFINE_POLICY(
    a_mutex, uint32_t, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_ONCE_LOCK_DEFINE_POLICY(
    a_once_lock, uint32_t, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_PIPE_DEFINE_POLICY(a_pipe, 16, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_PRIORITY_CHANNEL_DEFINE_POLICY(a_priority_channel, uint32_t, 4, is_less,
    DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_PUBSUB_DEFINE_POLICY(
    a_pubsub, uint32_t, 4, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_RPC_DEFINE_POLICY(
    a_rpc, uint32_t, uint32_t, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_RWLOCK_DEFINE_POLICY(
    a_rwlock, uint32_t, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_SEMAPHORE_DEFINE_POLICY(
    a_semaphore, 4, DZ_CRITICAL_SECTION, OPERATIONS_POLICY, DZ_IN_ORDER)
DZ_SIGNAL_DEFINE_POLICY(
    a_signal, uint32_t, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_WATCH_DEFINE_POLICY(
    a_watch, uint32_t, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_ZEROCOPY_DEFINE_POLICY(
    a_zerocopy, uint32_t, 4, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)

static struct a_barrier barrier;
static struct a_blocking_mutex blocking_mutex;
static struct a_channel channel;
static struct a_event_flags event_flags;
static struct a_lazy_lock lazy_lock;
static struct a_mutex mutex;
static struct a_once_lock once_lock;
static struct a_pipe pipe_;
static struct a_priority_channel priority_channel;
static struct a_pubsub pubsub;
static struct a_rpc rpc;
static struct a_rwlock rwlock;
static struct a_semaphore semaphore;
static struct a_signal signal_;
static struct a_watch watch;
static struct a_zerocopy zerocopy;

/* It is never run: its waiter is all that is needed to poll. */
static struct dz_task task;

static const uint32_t value = 1;
static uint32_t received;

static void begin(void)
{
    task.waiter = (struct dz_waiter){.task = &task};
    dz_current = &task.waiter;
}

static void end(void)
{
    dz_current = &dz_outside;
}

DZ_INLINE void must(bool is_done)
{
    if (DZ_UNLIKELY(!is_done))
        abort();
}

/* Nothing here waits, so each poll is ready. */
DZ_INLINE void must_be_ready(enum dz_poll poll)
{
    must(poll == DZ_READY);
}

DZ_INLINE void barrier_round(void)
{
    must_be_ready(a_barrier_wait(&barrier));
}

DZ_INLINE void blocking_mutex_round(void)
{
    dz_key key;

    ++*a_blocking_mutex_lock(&blocking_mutex, &key);
    a_blocking_mutex_unlock(&blocking_mutex, key);
}

DZ_INLINE void channel_round(void)
{
    must_be_ready(a_channel_send(&channel, &value));
    must_be_ready(a_channel_receive(&channel, &received));
}

DZ_INLINE void event_flags_round(void)
{
    a_event_flags_set(&event_flags, 1);
    must_be_ready(a_event_flags_take_any(&event_flags, 1, &received));
}

DZ_INLINE void once_lock_round(void)
{
    const uint32_t *found;

    (void)a_once_lock_init(&once_lock, &value);
    must_be_ready(a_once_lock_get(&once_lock, &found));
}

DZ_INLINE void lazy_lock_round(void)
{
    ++*a_lazy_lock_get(&lazy_lock);
}

DZ_INLINE void mutex_round(void)
{
    uint32_t *locked;

    must_be_ready(a_mutex_lock(&mutex, &locked));
    ++*locked;
    a_mutex_unlock(&mutex);
}

DZ_INLINE void pipe_round(void)
{
    size_t count;

    must_be_ready(a_pipe_write(&pipe_, &value, sizeof(value), &count));
    must_be_ready(a_pipe_read(&pipe_, &received, sizeof(received), &count));
}

DZ_INLINE void priority_channel_round(void)
{
    must_be_ready(a_priority_channel_send(&priority_channel, &value));
    must_be_ready(a_priority_channel_receive(&priority_channel, &received));
}

/* With one subscriber, which is left behind for the next run. */
DZ_INLINE void pubsub_round(void)
{
    static struct a_pubsub_subscriber subscriber;

    if (DZ_UNLIKELY(pubsub.pubsub.first == NULL))
        a_pubsub_subscribe(&pubsub, &subscriber);
    must_be_ready(a_pubsub_publish(&pubsub, &value));
    must_be_ready(a_pubsub_next(&subscriber, &received));
}

DZ_INLINE void rpc_round(void)
{
    must(a_rpc_try_post(&rpc, &value));
    must_be_ready(a_rpc_receive(&rpc, &received));
    a_rpc_reply(&rpc, &value);
}

DZ_INLINE void rwlock_round(void)
{
    const uint32_t *locked;

    must_be_ready(a_rwlock_read(&rwlock, &locked));
    received = *locked;
    a_rwlock_unlock_read(&rwlock);
}

DZ_INLINE void semaphore_round(void)
{
    must_be_ready(a_semaphore_acquire(&semaphore, 1));
    a_semaphore_release(&semaphore, 1);
}

DZ_INLINE void watch_round(void)
{
    static struct a_watch_receiver receiver;

    receiver = a_watch_receiver(&watch);
    a_watch_send(&watch, value);
    must_be_ready(a_watch_receiver_changed(&receiver, &received));
}

DZ_INLINE void zerocopy_round(void)
{
    uint32_t *item;

    must_be_ready(a_zerocopy_reserve(&zerocopy, &item));
    *item = value;
    a_zerocopy_send(&zerocopy, item);
    must_be_ready(a_zerocopy_receive(&zerocopy, &item));
    received = *item;
    a_zerocopy_release(&zerocopy, item);
}

DZ_INLINE void signal_round(void)
{
    a_signal_send(&signal_, value);
    must_be_ready(a_signal_wait(&signal_, &received));
}

#define NAME_(operation, suffix) operations_##operation##_##suffix
#define NAME(operation, suffix) NAME_(operation, suffix)
#define DEFINE(operation)                                           \
    void NAME(operation, OPERATIONS_SUFFIX)(struct bench_run * run) \
    {                                                               \
        begin();                                                    \
        for (uint64_t i = 0; i < run->rounds; i++)                  \
            operation##_round();                                    \
        end();                                                      \
    }

#define OPERATIONS_NONE(DO)

OPERATIONS_OF_BOTH(DEFINE)
OPERATIONS_PLAIN(DEFINE)
