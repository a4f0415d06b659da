/* SPDX-License-Identifier: MIT */

/*
 * operations -- what each primitive costs while nobody has to wait
 *
 * All in one task, under a critical section. Compiled once for each policy:
 *
 *     OPERATIONS_POLICY   DZ_QUEUE or DZ_SINGLE_SLOT
 *     OPERATIONS_SUFFIX   queue or single_slot
 */

#include <stdlib.h>

#include "bench/experiments.h"
#include "doze.h"

DZ_BLOCKING_MUTEX_DEFINE(a_blocking_mutex, uint32_t, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE_POLICY(
    a_channel, uint32_t, 4, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_EVENT_FLAGS_DEFINE_POLICY(
    a_event_flags, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_ONCE_LOCK_DEFINE_POLICY(
    a_once_lock, uint32_t, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)
DZ_SIGNAL_DEFINE_POLICY(
    a_signal, uint32_t, DZ_CRITICAL_SECTION, OPERATIONS_POLICY)

static struct a_blocking_mutex blocking_mutex;
static struct a_channel channel;
static struct a_event_flags event_flags;
static struct a_once_lock once_lock;
static struct a_signal signal_;

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

OPERATIONS(DEFINE)
