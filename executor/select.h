/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_SELECT_H
#define EXECUTOR_SELECT_H

/*
 * select -- wait for the first of several branches and cancel the others
 *
 *     struct dz_select2 select;                            in the frame
 *
 *     await(dz_select2(&self->select,
 *         event_channel_receive(&events, &self->event),
 *         stop_signal_wait(&stop, &self->reason)));
 *     if (dz_select_winner(&self->select) == 1)
 *         return dz_finish(self);
 *
 * Branches are polled in the order in which they are written; the first that
 * is ready wins, those behind it are not polled any more.
 *
 * What is guaranteed
 *  - Each branch has a waiter of its own in the select. While the task is in
 *    it, its own waiter says so: whoever cancels that waiter cancels the
 *    select, and with it what its branches wait for, however deep they nest.
 *  - The losers are cancelled as soon as the winner is known. First all leave
 *    their queues, then a grant that one of them did not collect is passed on:
 *    to somebody else, never to another loser.
 *  - What a losing branch holds, it gives back through its guards, newest
 *    first. A child that holds a lock or a slot across an await enters a guard:
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
 *  - What the winner still holds, the branch around the select holds now.
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

struct dz_select {
    struct dz_canceller canceller;
    struct dz_waiter *outer; /* of the branch around us */
    uint8_t count;
    uint8_t winner;
};

struct dz_select2 {
    struct dz_select select;
    struct dz_branch branches[2];
};

struct dz_select3 {
    struct dz_select select;
    struct dz_branch branches[3];
};

/* Which branch won, counted from 0. Behind the await. */
#define dz_select_winner(self) ((self)->select.winner)

/* From here until dz_guard_leave the branch that runs now holds something,
 * which `drop` gives back. It is called by the select that cancels the branch,
 * in its task, and does not wait. A task that is in no select cannot be
 * cancelled, and nothing is queued. Panics if a guard is entered that was not
 * left, or left in another branch than the one that holds it. In a task. */
void dz_guard_enter(
    struct dz_guard *guard, void (*drop)(struct dz_guard *guard));
void dz_guard_leave(struct dz_guard *guard);

/* The steps of the macros below. */
int dz_select_begin(struct dz_select *select, unsigned count);
int dz_select_branch(struct dz_select *select, unsigned branch);
DZ_AWAITED enum dz_poll dz_select_pending(struct dz_select *select);
DZ_AWAITED enum dz_poll dz_select_won(
    struct dz_select *select, unsigned branch);

/* clang-format off */
#define dz_select_try(self, branch, expression)                                \
    (dz_select_branch(&(self)->select, branch) && (expression) == DZ_READY)    \
        ? dz_select_won(&(self)->select, branch)

#define dz_select2(self, first, second)                                        \
    (dz_select_begin(&(self)->select, 2),                                      \
        dz_select_try(self, 0, first)                                          \
        : dz_select_try(self, 1, second)                                       \
        : dz_select_pending(&(self)->select))

#define dz_select3(self, first, second, third)                                 \
    (dz_select_begin(&(self)->select, 3),                                      \
        dz_select_try(self, 0, first)                                          \
        : dz_select_try(self, 1, second)                                       \
        : dz_select_try(self, 2, third)                                        \
        : dz_select_pending(&(self)->select))
/* clang-format on */

#endif
