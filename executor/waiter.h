/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_WAITER_H
#define EXECUTOR_WAITER_H

/*
 * waiter -- the place of one branch of control in at most one queue
 *
 * A branch of control waits for one thing at a time, so one waiter for each
 * branch is enough, and no queue can run out of room. A task brings one in its
 * header, a select (see select.h) one for each of its branches. A poll function
 * registers the waiter of the branch that calls it, dz_current; it takes no
 * node argument.
 *
 * What is guaranteed
 *  - Registering a waiter that is queued elsewhere moves it. A grant it had
 *    there and did not collect goes to the next in line.
 *  - A branch that polled and then went on without waiting keeps its place, or
 *    its grant, until it waits for something else, its task ends, or it calls
 *    dz_cancel(). With DZ_CHECKS, waiting for something else without
 *    dz_cancel() panics: it is nearly always a forgotten wait.
 *  - To cancel takes a critical section, which is stronger than any raw mutex
 *    an object can have, so it does not have to know which one that is.
 *  - Outside tasks, dz_current is a waiter that panics when it is registered.
 *    A port that can swaps the pointer on interrupt entry, so that a handler
 *    never acts in the name of the task that it interrupted.
 */

#include "executor/async.h"
#include "port.h"

struct dz_task;

/* The low bits of a place. */
enum {
    DZ_PLACE_GRANTED = 1, /* a unit is ours, we have not collected it yet */
    DZ_PLACE_CUSTOM = 2,  /* not units: a struct dz_canceller knows more */
};

struct dz_waiter {
    struct dz_waiter *next; /* NULL for the last, and for an idle one */
    struct dz_waiter *prev; /* of the first: the last, if that is another */
    uintptr_t place;        /* 0: idle; else where we wait, and the low bits */
    struct dz_task *task;   /* to wake */
};

/* How a place that is not a struct dz_units is left. */
struct dz_canceller {
    void (*cancel)(struct dz_canceller *canceller);
};

/* The waiter of the branch that runs now, on this core. */
extern DZ_PORT_LOCAL struct dz_waiter *dz_current;

/* What dz_current is outside tasks. */
extern struct dz_waiter dz_outside;

/* Leaves the queue; a grant that was not collected is passed on. Nothing
 * happens to an idle waiter. Any context; the waiter belongs to this core. */
void dz_waiter_cancel(struct dz_waiter *waiter);

/* The branch that runs now stops waiting for what it polled last. In a task. */
DZ_INLINE void dz_cancel(void)
{
    dz_waiter_cancel(dz_current);
}

/* Puts the waiter of the branch that runs now in a place of its own kind.
 * False: it is there already. In a task. */
bool dz_waiter_enter(struct dz_canceller *canceller);

/* Leaves the place that the waiter is in for another one, and says so if
 * `checks`. The first thing that finds out about a wait outside tasks. */
void dz_waiter_leave(struct dz_waiter *waiter, int checks)
    __attribute__((cold));

/* Is ready once all other tasks that were ready have had their turn.
 * `await(dz_yield_poll());` In a task. */
enum dz_poll dz_yield_poll(void);

#endif
