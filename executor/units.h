/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_UNITS_H
#define EXECUTOR_UNITS_H

/*
 * units -- a count of units and a FIFO queue of the branches that want one
 *
 * A unit is an item, a slot, a permit, a lock. It is free, or promised to a
 * waiter that has not collected it yet, or taken. A wake-up is a grant of one
 * unit: who is woken finds what it was woken for. Primitives that wait are
 * built from this protocol:
 *
 *     give   to the first waiter, as a promise; if nobody waits: free
 *     take   the unit promised to us; or a free one; or queue up
 *
 * What is guaranteed
 *  - A unit is free only while nobody waits. So nobody barges past a waiter,
 *    who waits first is served first, and no poll is in vain. The exception: an
 *    interrupt that grants to a branch which is cancelled in that same poll
 *    costs its task one poll.
 *  - A waiter that is cancelled passes its grant on, for every kind of unit
 *    that one waiter takes one of. (Broadcasts and multiples need more.)
 *  - All that callers see is counted in free units. So a channel of capacity 1
 *    can be full for a sender and empty for a receiver at the same time: what
 *    is between them is promised.
 *  - Grants are given in FIFO order and collected in the order in which the
 *    tasks run. That is the same within a FIFO executor, and may not be across
 *    executors of different priority.
 *
 * The caller of each function holds the lock of the object that the units are
 * part of, and never makes more than DZ_UNITS_MAX of them. An all-zero struct
 * is valid: the initial number of units is free.
 */

#include "executor/task.h"

/* One task to wake, or none when all zero: see sync/waker.h. */
struct dz_waker {
    struct dz_task *task;
};

struct dz_units {
    union {
        struct dz_waiter *first; /* of the queue, NULL when nobody waits */
        struct dz_waker waker;   /* instead, under the single-slot policy */
    };
    int16_t free;   /* free units, less their initial number */
    uint16_t index; /* the primitive's: where the next unit is */
};

enum { DZ_UNITS_MAX = INT16_MAX }; /* initial units at most */

/* Free units, of which there were `initial` at first. */
DZ_INLINE unsigned dz_units_free(const struct dz_units *units, int initial)
{
    return (unsigned)(units->free + initial);
}

/* Takes a free unit; never waits. */
DZ_INLINE bool dz_units_try_take(struct dz_units *units, int initial)
{
    int free = units->free - 1;

    if (free < -initial)
        return false;
    units->free = (int16_t)free;
    return true;
}

/* Queues a waiter behind others, of which there is at least one. */
void dz_units_append_behind(struct dz_units *units, struct dz_waiter *waiter);

/* Queues an idle waiter. */
DZ_INLINE void dz_units_append(struct dz_units *units, struct dz_waiter *waiter)
{
    waiter->place = (uintptr_t)units;
    if (DZ_LIKELY(units->first == NULL))
        units->first = waiter;
    else
        dz_units_append_behind(units, waiter);
}

/* Takes a unit that was promised to the waiter. */
DZ_INLINE bool dz_units_collect(
    struct dz_units *units, struct dz_waiter *waiter)
{
    if (waiter->place != (uintptr_t)units + DZ_PLACE_GRANTED)
        return false;
    waiter->place = 0;
    return true;
}

/* Takes a unit, or queues the branch that runs now. False: not yet. `checks`:
 * it panics if the branch waits elsewhere. Else it leaves that, and the guards
 * of a fork may use the very object whose lock the caller holds. So this is the
 * first thing under the lock, and nothing is known of the object before. */
DZ_INLINE bool dz_units_take(struct dz_units *units, int initial, int checks)
{
    struct dz_waiter *waiter = dz_current;

    if (waiter->place != 0) {
        if (DZ_LIKELY(dz_units_collect(units, waiter)))
            return true;
        if (!dz_waiter_turn_to((uintptr_t)units, checks))
            return false;
    }
    if (dz_units_try_take(units, initial))
        return true;
    dz_units_append(units, waiter);
    return false;
}

/* Promises a unit to the first waiter, of which there is one. Returns the
 * task, which the caller wakes. */
DZ_INLINE struct dz_task *dz_units_grant(struct dz_units *units)
{
    struct dz_waiter *first = units->first;
    struct dz_waiter *next = first->next;

    units->first = next;
    first->place = (uintptr_t)units + DZ_PLACE_GRANTED;
    if (DZ_UNLIKELY(next != NULL)) {
        next->prev = first->prev;
        first->next = NULL;
    }
    return first->task;
}

/* The same, and wakes it and ends the critical section that the caller is in.
 * One function for all that give: it is what takes most of their room. */
void dz_units_grant_exit(struct dz_units *units, dz_key key);

/* Gives a unit to the first waiter, or makes it free. */
DZ_INLINE void dz_units_give(struct dz_units *units)
{
    if (units->first == NULL)
        units->free++;
    else
        dz_task_wake(dz_units_grant(units));
}

/* Takes a waiter out of the units it is queued at, or passes on the grant that
 * it did not collect. In a critical section. */
void dz_units_leave(struct dz_waiter *waiter);

#endif
