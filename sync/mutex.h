/* SPDX-License-Identifier: MIT */
#ifndef SYNC_MUTEX_H
#define SYNC_MUTEX_H

/*
 * mutex -- a value that one task at a time may use, across its waits
 *
 * Who finds it locked waits in line. It may stay locked across an await; for a
 * few lines without one, a blocking mutex (sync/blocking_mutex.h) is cheaper.
 *
 *     DZ_MUTEX_DEFINE(bus_mutex, struct bus, DZ_NOOP)
 *     static struct bus_mutex bus = {.value = {.hz = 400000}};
 *
 *     struct reading {
 *         struct dz_frame frame;
 *         struct dz_guard guard;
 *         struct bus *bus;
 *     };
 *
 *     static void reading_drop(struct dz_guard *guard)
 *     {
 *         (void)guard;
 *         bus_mutex_unlock(&bus);
 *     }
 *
 *     static enum dz_poll reading_poll(struct reading *self)
 *     {
 *         async (self) {
 *             await(bus_mutex_lock(&bus, &self->bus));
 *             dz_guard_enter(&self->guard, reading_drop);
 *             await(bus_read_poll(self->bus));     may be cancelled here
 *             dz_guard_leave(&self->guard);
 *             bus_mutex_unlock(&bus);
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
 *  - Unlock hands the lock to the task that waited longest. Until that task
 *    runs, the lock is promised to it: the one that unlocked cannot take it
 *    back, try_lock fails, and no wake-up is in vain.
 *  - A wait that is cancelled takes nothing; if the lock was promised to it
 *    already, the next in line gets it.
 *  - The lock belongs to no task: who unlocks need not be who locked. So a lock
 *    can be handed on with the work, even to an interrupt. It also means that
 *    who locks twice waits for itself.
 *
 * DZ_MUTEX_DEFINE_SINGLE_SLOT defines the same with one waker slot in place of
 * the queue, for comparison: there, a lock can be taken in front of the task
 * that was woken for it, and several waiters never let the core sleep.
 */

#include "sync/wait.h"

struct dz_mutex {
    struct dz_units locks; /* the one there is; index: 1 while it is held */
};

/* The mutex in its typed struct. */
#define dz_mutex_of(self) ((struct dz_mutex *)(void *)(self))

DZ_AWAITED DZ_INLINE enum dz_poll dz_mutex_lock(
    struct dz_mutex *self, const struct dz_object *object)
{
    dz_key key = dz_wait_lock_to_take(self, object);
    bool is_ours = dz_wait_take(&self->locks, self, object, 1);

    if (is_ours)
        self->locks.index = 1;
    dz_unlock(self, object, key);
    return is_ours ? DZ_READY : DZ_PENDING;
}

DZ_INLINE bool dz_mutex_try_lock(
    struct dz_mutex *self, const struct dz_object *object)
{
    dz_key key = dz_lock(self, object);
    bool is_ours = dz_units_try_take(&self->locks, 1);

    if (is_ours)
        self->locks.index = 1;
    dz_unlock(self, object, key);
    return is_ours;
}

/* A lock that is promised is not held yet: a second unlock finds out. */
DZ_INLINE void dz_mutex_unlock(
    struct dz_mutex *self, const struct dz_object *object)
{
    dz_key key = dz_lock(self, object);

    if (DZ_UNLIKELY(self->locks.index == 0))
        dz_object_misuse(
            self, object, "a mutex is unlocked that is not locked");
    self->locks.index = 0;
    dz_wait_give_unlock(&self->locks, self, object, key);
}

/*
 * Defines `struct NAME`, a mutex around a value of type `item`, and
 *
 *   in a task, awaited; *value is NULL until it is locked
 *     enum dz_poll NAME_lock(self, item **value)
 *
 *   any context that the raw mutex allows
 *     item *NAME_try_lock(self)     NULL: it is locked, or promised
 *     void NAME_unlock(self)        panics if it is not locked
 */
#define DZ_MUTEX_DEFINE(NAME, item, mutex) \
    DZ_MUTEX_DEFINE_POLICY(NAME, item, mutex, DZ_QUEUE)

#define DZ_MUTEX_DEFINE_SINGLE_SLOT(NAME, item, mutex) \
    DZ_MUTEX_DEFINE_POLICY(NAME, item, mutex, DZ_SINGLE_SLOT)

#define DZ_MUTEX_DEFINE_POLICY(NAME, item, mutex, policy)                     \
    struct NAME {                                                             \
        struct dz_mutex lock;                                                 \
        DZ_OWNER                                                              \
        item value;                                                           \
    };                                                                        \
    static const struct dz_object NAME##_object =                             \
        DZ_OBJECT(NAME, mutex, policy);                                       \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_lock(                            \
        struct NAME *self, item **value)                                      \
    {                                                                         \
        enum dz_poll poll = dz_mutex_lock(dz_mutex_of(self), &NAME##_object); \
                                                                              \
        *value = poll == DZ_READY ? &self->value : NULL;                      \
        return poll;                                                          \
    }                                                                         \
    DZ_INLINE item *NAME##_try_lock(struct NAME *self)                        \
    {                                                                         \
        return dz_mutex_try_lock(dz_mutex_of(self), &NAME##_object)           \
            ? &self->value                                                    \
            : NULL;                                                           \
    }                                                                         \
    DZ_INLINE void NAME##_unlock(struct NAME *self)                           \
    {                                                                         \
        dz_mutex_unlock(dz_mutex_of(self), &NAME##_object);                   \
    }

#endif
