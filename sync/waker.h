/* SPDX-License-Identifier: MIT */
#ifndef SYNC_WAKER_H
#define SYNC_WAKER_H

/*
 * waker -- remember which task to wake: one, several, or from any context
 *
 *     struct dz_waker         one task; needs a lock around it
 *     struct dz_multi_waker   up to n tasks; needs a lock around it
 *     struct dz_atomic_waker  one task; any context
 *
 * These are Embassy's registrations. They remember tasks, not branches; a
 * wake-up says "look again", and who looks may find that somebody else was
 * faster. For the waits of primitives take the queues of executor/units.h,
 * which have no limit and no poll in vain; take these where one driver wakes
 * one task.
 *
 * The order that loses no wake-up: register first, look at the condition
 * second, return DZ_PENDING third.
 *
 * What is guaranteed
 *  - Registering the same task again changes nothing.
 *  - Registering another one wakes the task that it displaces, in all three,
 *    so that nobody is forgotten. Two tasks on one slot thus wake each other
 *    for ever; that is what the single-slot policy shows.
 *  - A wake takes the task out before it wakes it. So a wake-up that leads to
 *    a new registration, even one that preempts, cannot wake itself.
 */

#include "executor/units.h"

/* Empties a slot. NULL: nobody was in it. */
DZ_INLINE struct dz_task *dz_waker_take(struct dz_waker *waker)
{
    struct dz_task *task = waker->task;

    waker->task = NULL;
    return task;
}

/* Puts the current task in the slot. In a task; under the caller's lock. */
DZ_INLINE void dz_waker_register(struct dz_waker *waker)
{
    struct dz_task *task = dz_task_current();
    struct dz_task *displaced = waker->task;

    waker->task = task;
    if (displaced != NULL && displaced != task)
        dz_task_wake(displaced);
}

/* Empties the slot and wakes who was in it. Under the caller's lock. */
DZ_INLINE void dz_waker_wake(struct dz_waker *waker)
{
    struct dz_task *task = dz_waker_take(waker);

    if (task != NULL)
        dz_task_wake(task);
}

/* True while a task is registered. Under the caller's lock. */
DZ_INLINE bool dz_waker_is_occupied(const struct dz_waker *waker)
{
    return waker->task != NULL;
}

/*
 * The caller supplies the slots:
 *
 *     static struct dz_task *slots[4];
 *     static struct dz_multi_waker wakers = {slots, 4, 0};
 */
struct dz_multi_waker {
    struct dz_task **tasks;
    uint16_t capacity; /* at least 1 */
    uint16_t count;
};

/* Adds the current task, once. When all slots are taken, wakes their tasks and
 * starts anew. In a task; under the caller's lock. */
void dz_multi_waker_register(struct dz_multi_waker *waker);

/* Empties all slots and wakes who was in them, in order of registration.
 * Under the caller's lock. */
void dz_multi_waker_wake(struct dz_multi_waker *waker);

/* All zero: nobody. A critical section makes both calls atomic; there is no
 * retry loop that could go on for ever under preemption. */
struct dz_atomic_waker {
    struct dz_waker waker;
};

/* Puts the current task in the slot. In a task, on any executor. */
void dz_atomic_waker_register(struct dz_atomic_waker *waker);

/* Empties the slot and wakes who was in it. Any context. */
void dz_atomic_waker_wake(struct dz_atomic_waker *waker);

#endif
