/* SPDX-License-Identifier: MIT */
#ifndef SYNC_WAIT_H
#define SYNC_WAIT_H

/*
 * wait -- take and give under the policy of an object
 *
 * The glue between the queues with grants (executor/units.h, executor/queue.h),
 * the single waker slot (sync/waker.h) and a primitive's lock. For those who
 * write primitives; the caller holds the object's lock.
 *
 * What waits for a unit is written like this:
 *
 *     dz_key key = dz_wait_lock_to_take(self, object);
 *     bool is_ours = dz_wait_take(units, self, object, initial);
 *
 * and what waits in a struct dz_queue, like this:
 *
 *     dz_key key = dz_wait_lock(self, object, queue, request);
 *     enum dz_poll poll = dz_wait_ask(queue, type, request, object->policy);
 *
 *     if (poll == DZ_READY)
 *         ...                                   what was reserved is ours
 *     return dz_wait_unlock(self, object, key, poll);
 */

#include "executor/queue.h"
#include "sync/raw_mutex.h"
#include "sync/waker.h"

/* Panics where the object must not be waited for: in an interrupt if it is for
 * thread mode, and outside tasks. (A target finds out the latter, too, and says
 * less.) Then comes dz_lock_checked. */
DZ_INLINE void dz_wait_check(const void *self, const struct dz_object *object)
{
    dz_lock_check(self, object);
    if (object->owner != 0 && dz_current == &dz_outside)
        dz_outside_misuse(self, object);
}

/* Locks an object for dz_wait_take. A single slot does not know where a branch
 * waits, so any other place is left here. */
DZ_INLINE dz_key dz_wait_lock_to_take(
    void *self, const struct dz_object *object)
{
    dz_wait_check(self, object);
    if (object->policy == DZ_SINGLE_SLOT && dz_current->place != 0)
        dz_waiter_leave(dz_current, object->owner != 0);
    return dz_lock_checked(self, object);
}

/* Takes a unit, or registers the branch that runs now. False: not yet. It is
 * the first thing under the lock: see dz_units_take. */
DZ_INLINE bool dz_wait_take(struct dz_units *units, const void *self,
    const struct dz_object *object, int initial)
{
    if (object->policy == DZ_QUEUE
            ? dz_units_take(units, initial, object->owner != 0)
            : dz_units_try_take(units, initial))
        return true;
    if (object->policy == DZ_SINGLE_SLOT)
        dz_waker_register(&units->waker);
    dz_trace(DZ_EVENT_WAIT, self, object->name);
    return false;
}

/* Gives a unit and keeps the lock. */
DZ_INLINE void dz_wait_give(
    struct dz_units *units, const struct dz_object *object)
{
    if (object->policy == DZ_QUEUE) {
        dz_units_give(units);
        return;
    }
    units->free++;
    dz_waker_wake(&units->waker);
}

/* True: somebody waits for a unit. */
DZ_INLINE bool dz_wait_is_expected(
    const struct dz_units *units, const struct dz_object *object)
{
    if (object->policy == DZ_QUEUE)
        return units->first != NULL;
    return dz_waker_is_occupied(&units->waker);
}

/* Gives a unit and ends the lock: the last step of most operations. */
DZ_INLINE void dz_wait_give_unlock(struct dz_units *units, void *self,
    const struct dz_object *object, dz_key key)
{
    if (!dz_wait_is_expected(units, object)) {
        units->free++;
        dz_unlock(self, object, key);
    } else if (object->policy == DZ_QUEUE) {
        dz_units_grant_exit(units, dz_unlock_into_section(self, object, key));
    } else {
        units->free++;
        dz_unlock_wake(self, object, key, dz_waker_take(&units->waker));
    }
}

/* Locks an object for an operation that may wait in a queue of it. */
DZ_INLINE dz_key dz_wait_lock(void *self, const struct dz_object *object,
    const struct dz_queue *queue, uintptr_t request)
{
    dz_wait_check(self, object);
    dz_queue_turn_to(queue, request, object->owner != 0);
    return dz_lock_checked(self, object);
}

/* Ends the lock of an operation that may have to wait. */
DZ_AWAITED DZ_INLINE enum dz_poll dz_wait_unlock(
    void *self, const struct dz_object *object, dz_key key, enum dz_poll poll)
{
    if (poll == DZ_PENDING)
        dz_trace(DZ_EVENT_WAIT, self, object->name);
    dz_unlock(self, object, key);
    return poll;
}

/* Reserves what is asked for, if it can be had now; never waits. */
DZ_INLINE bool dz_wait_try_ask_for(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request, enum dz_policy policy)
{
    if (policy == DZ_QUEUE)
        return dz_queue_try_take(queue, type, request);
    return type->grant(queue, type, request);
}

/* Reserves what is asked for, or registers the branch that runs now. */
DZ_INLINE enum dz_poll dz_wait_ask_for(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request, enum dz_policy policy)
{
    if (policy == DZ_QUEUE)
        return dz_queue_take(queue, type, request) ? DZ_READY : DZ_PENDING;
    if (type->grant(queue, type, request))
        return DZ_READY;
    dz_waker_register(&queue->waker);
    return DZ_PENDING;
}

/* The same for requests that no grant replaces. */
DZ_INLINE bool dz_wait_try_ask(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request, enum dz_policy policy)
{
    return dz_wait_try_ask_for(queue, type, &request, policy);
}

DZ_INLINE enum dz_poll dz_wait_ask(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request, enum dz_policy policy)
{
    return dz_wait_ask_for(queue, type, &request, policy);
}

/* Something has changed: wakes those who can go on now. */
DZ_INLINE void dz_wait_serve(struct dz_queue *queue, enum dz_policy policy)
{
    if (policy == DZ_QUEUE)
        dz_queue_serve(queue);
    else
        dz_waker_wake(&queue->waker);
}

#endif
