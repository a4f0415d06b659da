/* SPDX-License-Identifier: MIT */

/*
 * size_test -- what things cost in RAM on a 32-bit machine
 *
 * Compiled for a 32-bit machine by the test sync/size, with checks off, as a
 * target ships it; never run. The limits are the project's promises, not what
 * the structs happen to take.
 */

#include "doze.h"

#define AT_MOST(type, bytes) \
    _Static_assert(sizeof(type) <= (bytes), #type " is too large")

_Static_assert(sizeof(void *) == 4, "for a 32-bit machine");

static bool is_less(const uint32_t *one, const uint32_t *other)
{
    return *one < *other;
}

DZ_BARRIER_DEFINE(some_barrier, 3, DZ_CRITICAL_SECTION)
DZ_BLOCKING_MUTEX_DEFINE(word_blocking_mutex, uint32_t, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(word_channel, uint32_t, 4, DZ_CRITICAL_SECTION)
DZ_EVENT_FLAGS_DEFINE(some_flags, DZ_CRITICAL_SECTION)
DZ_LAZY_LOCK_DEFINE(word_lazy_lock, uint32_t, (void), DZ_CRITICAL_SECTION)
DZ_MUTEX_DEFINE(word_mutex, uint32_t, DZ_CRITICAL_SECTION)
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

struct empty {
    struct dz_task task;
};

struct urgent {
    struct dz_task task;
    struct dz_deadline deadline;
};

AT_MOST(struct dz_waiter, 16);
AT_MOST(struct empty, 32); /* with its waiter; Embassy: 24, 48 with timers */
AT_MOST(struct urgent, 56);
AT_MOST(struct dz_cancellation, 36);
AT_MOST(struct dz_priority_queue, 272);
AT_MOST(struct dz_deadline_queue, 20);
AT_MOST(struct dz_select2, 52);
AT_MOST(struct dz_join2, 52);
AT_MOST(struct dz_heap_node, 24);
AT_MOST(struct dz_timer, 32);
AT_MOST(struct dz_ticker, 56);
AT_MOST(struct dz_waker, 4);

AT_MOST(struct some_barrier, 12);
AT_MOST(struct word_blocking_mutex, 4);
AT_MOST(struct word_channel, 36); /* Embassy: 48 */
AT_MOST(struct some_flags, 12);
AT_MOST(struct word_lazy_lock, 8);
AT_MOST(struct word_mutex, 12);
AT_MOST(struct word_once_lock, 16);
AT_MOST(struct byte_pipe, 40); /* and so 24 besides the bytes */
AT_MOST(struct word_priority_channel, 40);
AT_MOST(struct word_pubsub, 36);
AT_MOST(struct word_pubsub_subscriber, 24);
AT_MOST(struct word_rpc, 32); /* and nothing for each call */
AT_MOST(struct word_rwlock, 16);
AT_MOST(struct permits, 12);
AT_MOST(struct word_signal, 12);
AT_MOST(struct word_watch, 32);
AT_MOST(struct word_watch_receiver, 16);
AT_MOST(struct word_zerocopy, 40); /* 2 for each slot to link it */

/* What they hold may be pointers, and const: a pointer to such an item is not
 * what `const item *` would be. */
DZ_CHANNEL_DEFINE(name_channel, char *, 1, DZ_NOOP)
DZ_ONCE_LOCK_DEFINE(name_once_lock, char *, DZ_NOOP)
DZ_PUBSUB_DEFINE(name_pubsub, char *, 1, DZ_NOOP)
DZ_RPC_DEFINE(name_rpc, char *, char *, DZ_NOOP)
DZ_RWLOCK_DEFINE(name_rwlock, char *, DZ_NOOP)
DZ_WATCH_DEFINE(name_watch, char *, DZ_NOOP)

static struct name_channel channel;
static struct name_once_lock once_lock;
static struct name_pubsub pubsub;
static struct name_rpc rpc;
static struct name_rwlock rwlock;
static struct name_watch watch;

void hold_pointers(char *name);
void hold_pointers(char *name)
{
    char *const *locked = name_rwlock_try_read(&rwlock);

    (void)locked;
    (void)name_channel_try_send(&channel, &name);
    (void)name_channel_try_receive(&channel, &name);
    (void)name_once_lock_init(&once_lock, &name);
    (void)name_pubsub_try_publish(&pubsub, &name);
    (void)name_rpc_try_post(&rpc, &name);
    name_watch_send(&watch, name);
}
