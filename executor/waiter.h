/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_WAITER_H
#define EXECUTOR_WAITER_H

/*
 * waiter -- the place of one branch of control in at most one queue
 *
 * A branch of control waits for one thing at a time, so one waiter for each
 * branch is enough, and no queue can run out of room. A task brings one in its
 * header, a select or a join (see fork.h) one for each of its branches. A poll
 * function registers the waiter of the branch that calls it, dz_current; it
 * takes no node argument.
 *
 * What is guaranteed
 *  - Registering a waiter that is queued elsewhere moves it. A grant it had
 *    there and did not collect goes to the next in line.
 *  - A branch that polled and then went on without waiting keeps its place, or
 *    its grant, until it waits for something else, its task ends, or it calls
 *    dz_cancel(). With DZ_CHECKS, waiting for something else without
 *    dz_cancel() panics: it is nearly always a forgotten wait.
 *  - A wait is cancelled by its own task, with the critical section. That is
 *    stronger than any raw mutex an object can have, so the object does not
 *    have to be known.
 *  - Outside tasks, dz_current is a waiter that panics when it is registered.
 *    A port that can swaps the pointer on interrupt entry, so that a handler
 *    never acts in the name of the task that it interrupted.
 */

#include "executor/async.h"
#include "executor/local.h"

struct dz_task;

/* The low bits of a place. */
enum {
    DZ_PLACE_UNITS = 0,   /* in line for a unit */
    DZ_PLACE_GRANTED = 1, /* a unit is ours, we have not collected it yet */
    DZ_PLACE_CUSTOM = 2,  /* a struct dz_canceller knows more */
    DZ_PLACE_QUEUE = 3,   /* in a struct dz_queue, or granted there */
    DZ_PLACE_KINDS = 3,   /* the mask */
};

struct dz_waiter {
    struct dz_waiter *next; /* NULL for the last, and for an idle one */
    union {
        struct dz_waiter *prev; /* of the first: the last, if it is another */
        uintptr_t request;      /* in a struct dz_queue: what it asks for */
    };
    uintptr_t place;      /* 0: idle; else where we wait, and the low bits */
    struct dz_task *task; /* to wake */
};

/* A wait is left in two steps, so that what one branch of a fork gives up
 * does not go to another branch that is to be cancelled, too. */
enum dz_leaving {
    DZ_WITHDRAW, /* leave all queues, but keep what was granted */
    DZ_CANCEL,   /* then pass on what was granted, and give back what is held */
};

/* How a place that is neither units nor a queue is left. */
struct dz_canceller {
    void (*leave)(struct dz_canceller *canceller, enum dz_leaving leaving);
};

/* What dz_current is outside tasks. */
extern struct dz_waiter dz_outside;

/* Leaves the queue; a grant that was not collected is passed on. Nothing
 * happens to an idle waiter. In the waiter's own task, or in thread mode
 * outside tasks; else it panics. */
void dz_waiter_cancel(struct dz_waiter *waiter);

/* The first of the two steps alone. Likewise. */
void dz_waiter_withdraw(struct dz_waiter *waiter);

/* The branch that runs now stops waiting for what it polled last. In a task. */
DZ_INLINE void dz_cancel(void)
{
    dz_waiter_cancel(dz_current);
}

/* Looks once and does not wait: true if the poll was ready, else its wait is
 * cancelled. `if (dz_poll_once(event_channel_receive(&events, &event)))`. A
 * child that holds something would keep it, and stand where it was: for that,
 * await a select of the child and DZ_READY. In a task. */
DZ_INLINE bool dz_poll_once(enum dz_poll poll)
{
    if (poll == DZ_READY)
        return true;
    dz_cancel();
    return false;
}

/* Puts the waiter of the branch that runs now in a place of its own kind.
 * False: it is there already. In a task. */
bool dz_waiter_enter(struct dz_canceller *canceller);

/* The branch that runs now turns to a place: it leaves any other one, and says
 * so if `checks`. False: it is there already. In a task. Never inline: beside
 * the usual case, it costs that nine instructions of a ping-pong. */
bool dz_waiter_turn_to(uintptr_t place, int checks)
    __attribute__((noinline, cold));

/* Leaves the place that the waiter is in for another one, and says so if
 * `checks`. The first thing that finds out about a wait outside tasks. */
void dz_waiter_leave(struct dz_waiter *waiter, int checks)
    __attribute__((cold));

/* Is ready once all other tasks that were ready have had their turn.
 * `await(dz_yield_poll());` In a task. */
DZ_AWAITED enum dz_poll dz_yield_poll(void);

#endif
