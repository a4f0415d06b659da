/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_FORK_H
#define EXECUTOR_FORK_H

/*
 * fork -- where a branch of control splits, and what its branches hold
 *
 * A fork is what select.h and join.h have in common: branches that run by
 * turns in one task, and their end, whether they come to it or are cancelled.
 *
 * What is guaranteed
 *  - Each branch has a waiter of its own in the fork. While the branch around
 *    the fork is in it, the waiter of that one says so: whoever cancels that
 *    waiter cancels the fork, and with it what its branches wait for, however
 *    deep they nest.
 *  - Branches are cancelled in two steps. First all leave their queues, then a
 *    grant that one of them did not collect is passed on: to somebody else,
 *    never to another branch that is cancelled.
 *  - What a cancelled branch holds, it gives back through its guards, newest
 *    first; branches do so in the order in which they are written. A child that
 *    holds a lock or a slot across an await enters a guard:
 *
 *     struct copier {
 *         struct dz_frame frame;
 *         struct dz_guard guard;
 *     };
 *
 *     await(lock_poll(...));
 *     dz_guard_enter(&self->guard, copier_unlock);
 *     await(...);                                 may be cancelled here
 *     dz_guard_leave(&self->guard);
 *
 *  - What a branch still holds when it has come to its end stays with it until
 *    the fork ends. If the fork is cancelled, it is given back; else the branch
 *    around the fork holds it now.
 *  - The frame of a cancelled child stands where it was: dz_frame_reset it
 *    before it is used again.
 */

#include "executor/task.h"

/* Something that a branch holds and has to give back when it is cancelled. All
 * zero until it is entered. */
struct dz_guard {
    struct dz_guard *next;
    void (*drop)(struct dz_guard *guard); /* NULL: not entered */
};

struct dz_branch {
    struct dz_waiter waiter;
    struct dz_guard *guards; /* the newest first */
};

/* The branches follow it in memory. */
struct dz_fork {
    struct dz_canceller canceller;
    struct dz_waiter *outer; /* of the branch around us */
    uint8_t count;
    uint8_t winner; /* of the last select */
    uint8_t next;   /* where a fair select begins */
};

/* From here until dz_guard_leave the branch that runs now holds something,
 * which `drop` gives back. It is called when the branch is cancelled, in its
 * task, and does not wait. In no fork, in a task without a cancellation
 * (cancel.h), nothing can be cancelled, and nothing is queued. Panics if a
 * guard is entered that was not left, or left in another branch than the one
 * that holds it. In a task. */
void dz_guard_enter(
    struct dz_guard *guard, void (*drop)(struct dz_guard *guard));
void dz_guard_leave(struct dz_guard *guard);

/* The steps that selects and joins are made of. Between the first and the last
 * of them dz_current is a branch of the fork. */
void dz_fork_begin(struct dz_fork *fork, unsigned count);
int dz_fork_enter(struct dz_fork *fork, unsigned branch);
DZ_AWAITED enum dz_poll dz_fork_pending(struct dz_fork *fork);

/* What the branch holds is from now on held by the branch around the fork,
 * which runs again. */
void dz_fork_hand_over(struct dz_fork *fork, unsigned branch);

DZ_INLINE struct dz_branch *dz_fork_branches(struct dz_fork *fork)
{
    return (struct dz_branch *)(void *)(fork + 1);
}

/* How many branches a struct that the next macro defines has. */
#define DZ_FORK_COUNT(self) \
    ((unsigned)(sizeof((self)->branches) / sizeof(struct dz_branch)))

/* Defines struct NAME: a fork, which is called `member`, and its branches. */
#define DZ_FORK_DEFINE(NAME, member, count)                          \
    struct NAME {                                                    \
        struct dz_fork member;                                       \
        struct dz_branch branches[count];                            \
    };                                                               \
    _Static_assert(                                                  \
        offsetof(struct NAME, branches) == sizeof(struct dz_fork) && \
            DZ_FORK_COUNT((struct NAME *)0) <= UINT8_MAX,            \
        "branches follow the fork, 255 of them at most");

#endif
