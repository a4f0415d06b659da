/* SPDX-License-Identifier: MIT */
#ifndef SYNC_WAIT_H
#define SYNC_WAIT_H

/*
 * wait -- take and give units under the policy of an object
 *
 * The glue between the grant protocol (executor/units.h), the single waker
 * slot (sync/waker.h) and a primitive's lock. For those who write primitives;
 * the caller holds the object's lock.
 */

#include "executor/units.h"
#include "sync/raw_mutex.h"
#include "sync/waker.h"

/* Takes a unit, or registers the branch that runs now. False: not yet. */
DZ_INLINE bool dz_wait_take(struct dz_units *units, const void *self,
    const struct dz_object *object, int initial)
{
    /* A target finds out, too, and says less (executor/waiter.c). */
    if (object->owner != 0 && dz_current == &dz_outside)
        dz_outside_misuse(self, object);
    if (object->policy == DZ_QUEUE ? dz_units_take(units, initial)
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
    struct dz_task *task;

    if (!dz_wait_is_expected(units, object)) {
        units->free++;
        dz_unlock(self, object, key);
        return;
    }
    if (object->policy == DZ_QUEUE) {
        task = dz_units_grant(units);
    } else {
        units->free++;
        task = dz_waker_take(&units->waker);
    }
    dz_unlock_wake(self, object, key, task);
}

#endif
