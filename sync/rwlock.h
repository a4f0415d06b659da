/* SPDX-License-Identifier: MIT */
#ifndef SYNC_RWLOCK_H
#define SYNC_RWLOCK_H

/*
 * rwlock -- a value that several tasks may read, or one may write
 *
 * Pays when reads are long enough to wait within them, and often overlap. Else
 * a mutex (sync/mutex.h) is smaller; for a few lines without an await, a
 * blocking mutex (sync/blocking_mutex.h).
 *
 *     DZ_RWLOCK_DEFINE(route_lock, struct route, DZ_NOOP)
 *     static struct route_lock route = {.value = {.hops = 1}};
 *
 *     struct sender {
 *         struct dz_frame frame;
 *         struct dz_guard guard;
 *         const struct route *route;
 *     };
 *
 *     static void sender_drop(struct dz_guard *guard)
 *     {
 *         (void)guard;
 *         route_lock_unlock_read(&route);
 *     }
 *
 *     static enum dz_poll sender_poll(struct sender *self)
 *     {
 *         async (self) {
 *             await(route_lock_read(&route, &self->route));
 *             dz_guard_enter(&self->guard, sender_drop);
 *             await(send_poll(self->route));       may be cancelled here
 *             dz_guard_leave(&self->guard);
 *             route_lock_unlock_read(&route);
 *         }
 *         return DZ_READY;
 *     }
 *
 * Without the guard, what is cancelled while it holds the lock keeps it for
 * ever. A task that nobody cancels (executor/cancel.h), and that is in no
 * select or join, needs none.
 *
 * A struct of which all but `value` is zero is unlocked. Before the first lock,
 * and in a debugger, `value` may be used directly.
 *
 * What is guaranteed
 *  - Readers and writers stand in one line, first come, first served. Nobody
 *    passes a waiter: a reader waits behind a writer that waits, though others
 *    read at that time, and try_ operations fail while anybody waits. So
 *    neither kind starves the other.
 *  - Readers that follow each other in line are let in together.
 *  - A wake-up is a grant. Until the woken task runs, the lock is promised to
 *    it, and nobody else takes it.
 *  - A wait that is cancelled gives back what was promised to it. Those who
 *    stood behind it go on at once, if they can: readers behind a writer that
 *    gives up join those who read.
 *  - At most DZ_RWLOCK_READERS_MAX read at a time; others wait, or their try
 *    fails.
 *  - The lock belongs to no task: who unlocks need not be who locked. It also
 *    means that who locks it twice may wait for itself, even to read: a writer
 *    can have come between.
 *  - To unlock what is not locked, or is locked in the other way, panics.
 *
 * DZ_RWLOCK_DEFINE_SINGLE_SLOT defines the same with one waker slot in place of
 * the queue, for comparison: there, readers that keep coming starve a writer,
 * and several waiters never let the core sleep.
 */

#include "sync/wait.h"

enum {
    DZ_RWLOCK_READERS_MAX = INT16_MAX,
    DZ_RWLOCK_WRITER = -1,
};

struct dz_rwlock {
    struct dz_queue queue;
    int16_t granted; /* to how many readers, or DZ_RWLOCK_WRITER */
    uint16_t held;   /* how many of these grants were collected */
};

/* What a lock is asked for. */
enum dz_rwlock_request {
    DZ_RWLOCK_READ = 1,
    DZ_RWLOCK_WRITE,
};

/* What all locks of a type have in common. In flash. */
struct dz_rwlock_type {
    struct dz_object object;
    struct dz_queue_type queue;
};

/* The lock in its typed struct. */
#define dz_rwlock_of(self) ((struct dz_rwlock *)(void *)(self))

/* For the queue. */
bool dz_rwlock_grant(struct dz_queue *queue, const struct dz_queue_type *type,
    uintptr_t *request);
void dz_rwlock_give_back(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request);

DZ_AWAITED DZ_INLINE enum dz_poll dz_rwlock_lock(struct dz_rwlock *self,
    const struct dz_rwlock_type *type, enum dz_rwlock_request request)
{
    dz_key key = dz_wait_lock(self, &type->object, &self->queue, request);
    enum dz_poll poll =
        dz_wait_ask(&self->queue, &type->queue, request, type->object.policy);

    if (poll == DZ_READY)
        self->held++;
    return dz_wait_unlock(self, &type->object, key, poll);
}

DZ_INLINE bool dz_rwlock_try_lock(struct dz_rwlock *self,
    const struct dz_rwlock_type *type, enum dz_rwlock_request request)
{
    dz_key key = dz_lock(self, &type->object);
    bool is_ours = dz_wait_try_ask(
        &self->queue, &type->queue, request, type->object.policy);

    if (is_ours)
        self->held++;
    dz_unlock(self, &type->object, key);
    return is_ours;
}

/* What is granted and not collected cannot be unlocked yet: so a second unlock
 * is found out though the lock was handed on. */
DZ_INLINE void dz_rwlock_unlock_read(
    struct dz_rwlock *self, const struct dz_rwlock_type *type)
{
    dz_key key = dz_lock(self, &type->object);

    if (DZ_UNLIKELY(self->held == 0 || self->granted < 0))
        dz_object_misuse(self, &type->object,
            "unlock_read of a lock that nobody has locked to read");
    self->held--;
    self->granted--;
    dz_wait_serve(&self->queue, type->object.policy);
    dz_unlock(self, &type->object, key);
}

DZ_INLINE void dz_rwlock_unlock_write(
    struct dz_rwlock *self, const struct dz_rwlock_type *type)
{
    dz_key key = dz_lock(self, &type->object);

    if (DZ_UNLIKELY(self->held == 0 || self->granted > 0))
        dz_object_misuse(self, &type->object,
            "unlock_write of a lock that nobody has locked to write");
    self->held = 0;
    self->granted = 0;
    dz_wait_serve(&self->queue, type->object.policy);
    dz_unlock(self, &type->object, key);
}

/*
 * Defines `struct NAME`, a lock around a value of type `item`, and
 *
 *   in a task, awaited; *value is NULL until it is locked
 *     enum dz_poll NAME_read(self, item const **value)
 *     enum dz_poll NAME_write(self, item **value)
 *
 *   any context that the raw mutex allows
 *     item const *NAME_try_read(self)    NULL: somebody writes, or waits
 *     item *NAME_try_write(self)         NULL: somebody reads, writes, or waits
 *     void NAME_unlock_read(self)
 *     void NAME_unlock_write(self)
 */
#define DZ_RWLOCK_DEFINE(NAME, item, mutex) \
    DZ_RWLOCK_DEFINE_POLICY(NAME, item, mutex, DZ_QUEUE)

#define DZ_RWLOCK_DEFINE_SINGLE_SLOT(NAME, item, mutex) \
    DZ_RWLOCK_DEFINE_POLICY(NAME, item, mutex, DZ_SINGLE_SLOT)

#define DZ_RWLOCK_DEFINE_POLICY(NAME, item, mutex, policy)                     \
    struct NAME {                                                              \
        struct dz_rwlock lock;                                                 \
        DZ_OWNER                                                               \
        item value;                                                            \
    };                                                                         \
    static const struct dz_rwlock_type NAME##_type = {                         \
        DZ_OBJECT(NAME, mutex, policy),                                        \
        DZ_QUEUE_TYPE(dz_rwlock_grant, dz_rwlock_give_back, DZ_IN_ORDER)};     \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_read(                             \
        struct NAME *self, item const **value)                                 \
    {                                                                          \
        enum dz_poll poll =                                                    \
            dz_rwlock_lock(dz_rwlock_of(self), &NAME##_type, DZ_RWLOCK_READ);  \
                                                                               \
        *value = poll == DZ_READY ? &self->value : NULL;                       \
        return poll;                                                           \
    }                                                                          \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_write(                            \
        struct NAME *self, item **value)                                       \
    {                                                                          \
        enum dz_poll poll =                                                    \
            dz_rwlock_lock(dz_rwlock_of(self), &NAME##_type, DZ_RWLOCK_WRITE); \
                                                                               \
        *value = poll == DZ_READY ? &self->value : NULL;                       \
        return poll;                                                           \
    }                                                                          \
    DZ_INLINE item const *NAME##_try_read(struct NAME *self)                   \
    {                                                                          \
        return dz_rwlock_try_lock(                                             \
                   dz_rwlock_of(self), &NAME##_type, DZ_RWLOCK_READ)           \
            ? &self->value                                                     \
            : NULL;                                                            \
    }                                                                          \
    DZ_INLINE item *NAME##_try_write(struct NAME *self)                        \
    {                                                                          \
        return dz_rwlock_try_lock(                                             \
                   dz_rwlock_of(self), &NAME##_type, DZ_RWLOCK_WRITE)          \
            ? &self->value                                                     \
            : NULL;                                                            \
    }                                                                          \
    DZ_INLINE void NAME##_unlock_read(struct NAME *self)                       \
    {                                                                          \
        dz_rwlock_unlock_read(dz_rwlock_of(self), &NAME##_type);               \
    }                                                                          \
    DZ_INLINE void NAME##_unlock_write(struct NAME *self)                      \
    {                                                                          \
        dz_rwlock_unlock_write(dz_rwlock_of(self), &NAME##_type);              \
    }

#endif
