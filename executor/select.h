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
 * There are dz_select2 to dz_select6; dz_select_array is for equal branches:
 *
 *     DZ_SELECT_DEFINE(lane_select, LANES)
 *
 *     static enum dz_poll lane_poll(void *argument, unsigned branch)
 *     {
 *         struct merger *self = argument;
 *
 *         return event_channel_receive(&lanes[branch], &self->event);
 *     }
 *
 *     struct lane_select select;                           in the frame
 *
 *     await(dz_select_fair(&self->select, lane_poll, self));
 *
 * What is guaranteed, besides what fork.h says of branches and of guards
 *  - Branches are polled in order; the first that is ready wins, those behind
 *    it are not polled any more. So the order is one of priority, and a branch
 *    that is always ready starves those behind it.
 *  - dz_select_fair begins behind the branch that won last, and goes round. Who
 *    stays ready wins within as many selects as there are branches. For
 *    branches that are not equal, the poll function is a switch.
 *  - The losers are cancelled as soon as the winner is known: they wait nowhere
 *    and hold nothing when the task goes on.
 *  - What the winner still holds, the branch around the select holds now.
 *  - Branches stay where they are: nothing is copied or moved.
 */

#include "executor/fork.h"

/* Defines struct NAME: a select of `count` branches, 1 to 255. */
#define DZ_SELECT_DEFINE(NAME, count) DZ_FORK_DEFINE(NAME, select, count)

DZ_SELECT_DEFINE(dz_select2, 2)
DZ_SELECT_DEFINE(dz_select3, 3)
DZ_SELECT_DEFINE(dz_select4, 4)
DZ_SELECT_DEFINE(dz_select5, 5)
DZ_SELECT_DEFINE(dz_select6, 6)

/* Which branch won, counted from 0. Behind the await. */
#define dz_select_winner(self) ((self)->select.winner)

/* The steps of the macros below. */
DZ_AWAITED enum dz_poll dz_select_won(struct dz_fork *select, unsigned branch);
DZ_AWAITED enum dz_poll dz_select_array_poll(struct dz_fork *select,
    unsigned count, enum dz_poll (*poll)(void *argument, unsigned branch),
    void *argument);
DZ_AWAITED enum dz_poll dz_select_fair_poll(struct dz_fork *select,
    unsigned count, enum dz_poll (*poll)(void *argument, unsigned branch),
    void *argument);

/* Branch i is poll(argument, i). The lowest that is ready wins. */
#define dz_select_array(self, poll, argument) \
    dz_select_array_poll(&(self)->select, DZ_FORK_COUNT(self), poll, argument)

/* Likewise, but the first that is ready behind the last winner wins. At first
 * the select is all zero, as frames are. */
#define dz_select_fair(self, poll, argument) \
    dz_select_fair_poll(&(self)->select, DZ_FORK_COUNT(self), poll, argument)

/* clang-format off */
#define dz_select_try(self, branch, expression)                                \
    (dz_fork_enter(&(self)->select, branch) && (expression) == DZ_READY)       \
        ? dz_select_won(&(self)->select, branch)

/* Each is the one before and a branch more. */
#define dz_select_try2(self, a, b)                                             \
    dz_select_try(self, 0, a) : dz_select_try(self, 1, b)
#define dz_select_try3(self, a, b, c)                                          \
    dz_select_try2(self, a, b) : dz_select_try(self, 2, c)
#define dz_select_try4(self, a, b, c, d)                                       \
    dz_select_try3(self, a, b, c) : dz_select_try(self, 3, d)
#define dz_select_try5(self, a, b, c, d, e)                                    \
    dz_select_try4(self, a, b, c, d) : dz_select_try(self, 4, e)
#define dz_select_try6(self, a, b, c, d, e, f)                                 \
    dz_select_try5(self, a, b, c, d, e) : dz_select_try(self, 5, f)

/* A select of another size than its branches' is a compile error. */
#define dz_select_of(self, type, tries)                                        \
    (dz_fork_begin(_Generic((self), type *: &(self)->select),                  \
        DZ_FORK_COUNT(self)), tries : dz_fork_pending(&(self)->select))

#define dz_select2(self, a, b)                                                 \
    dz_select_of(self, struct dz_select2, dz_select_try2(self, a, b))
#define dz_select3(self, a, b, c)                                              \
    dz_select_of(self, struct dz_select3, dz_select_try3(self, a, b, c))
#define dz_select4(self, a, b, c, d)                                           \
    dz_select_of(self, struct dz_select4, dz_select_try4(self, a, b, c, d))
#define dz_select5(self, a, b, c, d, e)                                        \
    dz_select_of(self, struct dz_select5, dz_select_try5(self, a, b, c, d, e))
#define dz_select6(self, a, b, c, d, e, f)                                     \
    dz_select_of(self, struct dz_select6,                                      \
        dz_select_try6(self, a, b, c, d, e, f))
/* clang-format on */

#endif
