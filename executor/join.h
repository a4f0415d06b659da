/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_JOIN_H
#define EXECUTOR_JOIN_H

/*
 * join -- wait until every one of several branches is done
 *
 *     struct dz_join2 join;                                in the frame
 *
 *     await(dz_join2(&self->join,
 *         flash_write_poll(&self->write),
 *         event_channel_send(&events, &self->event)));
 *
 * There are dz_join2 to dz_join6; dz_join_array is for equal branches:
 *
 *     DZ_JOIN_DEFINE(motor_join, MOTORS)
 *
 *     static enum dz_poll motor_poll(void *argument, unsigned branch)
 *     {
 *         struct robot *self = argument;
 *
 *         return motor_stop_poll(&self->motors[branch]);
 *     }
 *
 *     struct motor_join join;                              in the frame
 *
 *     await(dz_join_array(&self->join, motor_poll, self));
 *
 * Where one branch is enough, take a select. To give up on the rest, put the
 * join in a select.
 *
 * What is guaranteed, besides what fork.h says of branches and of guards
 *  - Every branch that is not done is polled, in order, each time. One that is
 *    done is not polled again, and waits nowhere.
 *  - When the join is cancelled, so are the branches that are not done. What
 *    the others still hold is given back, too: it stays theirs until the join
 *    ends.
 *  - What the branches hold when the join ends, the branch around it holds now.
 *    It would give it back in the same order as the join.
 */

#include "executor/fork.h"

/* Defines struct NAME: a join of `count` branches, 1 to 255. */
#define DZ_JOIN_DEFINE(NAME, count) DZ_FORK_DEFINE(NAME, join, count)

DZ_JOIN_DEFINE(dz_join2, 2)
DZ_JOIN_DEFINE(dz_join3, 3)
DZ_JOIN_DEFINE(dz_join4, 4)
DZ_JOIN_DEFINE(dz_join5, 5)
DZ_JOIN_DEFINE(dz_join6, 6)

/* The steps of the macros below. */
int dz_join_enter(struct dz_fork *join, unsigned branch);
void dz_join_done(void);
DZ_AWAITED enum dz_poll dz_join_end(struct dz_fork *join);
DZ_AWAITED enum dz_poll dz_join_array_poll(struct dz_fork *join, unsigned count,
    enum dz_poll (*poll)(void *argument, unsigned branch), void *argument);

/* Branch i is poll(argument, i). */
#define dz_join_array(self, poll, argument) \
    dz_join_array_poll(&(self)->join, DZ_FORK_COUNT(self), poll, argument)

/* clang-format off */
#define dz_join_try(self, branch, expression)                                  \
    (dz_join_enter(&(self)->join, branch) && (expression) == DZ_READY          \
        ? dz_join_done() : (void)0)

/* Each is the one before and a branch more. */
#define dz_join_try2(self, a, b)                                               \
    dz_join_try(self, 0, a), dz_join_try(self, 1, b)
#define dz_join_try3(self, a, b, c)                                            \
    dz_join_try2(self, a, b), dz_join_try(self, 2, c)
#define dz_join_try4(self, a, b, c, d)                                         \
    dz_join_try3(self, a, b, c), dz_join_try(self, 3, d)
#define dz_join_try5(self, a, b, c, d, e)                                      \
    dz_join_try4(self, a, b, c, d), dz_join_try(self, 4, e)
#define dz_join_try6(self, a, b, c, d, e, f)                                   \
    dz_join_try5(self, a, b, c, d, e), dz_join_try(self, 5, f)

/* A join of another size than its branches' is a compile error. */
#define dz_join_of(self, type, tries)                                          \
    (dz_fork_begin(_Generic((self), type *: &(self)->join),                    \
        DZ_FORK_COUNT(self)), tries, dz_join_end(&(self)->join))

#define dz_join2(self, a, b)                                                   \
    dz_join_of(self, struct dz_join2, dz_join_try2(self, a, b))
#define dz_join3(self, a, b, c)                                                \
    dz_join_of(self, struct dz_join3, dz_join_try3(self, a, b, c))
#define dz_join4(self, a, b, c, d)                                             \
    dz_join_of(self, struct dz_join4, dz_join_try4(self, a, b, c, d))
#define dz_join5(self, a, b, c, d, e)                                          \
    dz_join_of(self, struct dz_join5, dz_join_try5(self, a, b, c, d, e))
#define dz_join6(self, a, b, c, d, e, f)                                       \
    dz_join_of(self, struct dz_join6, dz_join_try6(self, a, b, c, d, e, f))
/* clang-format on */

#endif
