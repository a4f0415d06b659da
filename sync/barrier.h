/* SPDX-License-Identifier: MIT */
#ifndef SYNC_BARRIER_H
#define SYNC_BARRIER_H

/*
 * barrier -- nobody goes on until a number of branches have come
 *
 *     DZ_BARRIER_DEFINE(start_barrier, 3, DZ_NOOP)
 *     static struct start_barrier start;
 *
 *     await(start_barrier_wait(&start));       in each of three tasks
 *
 * What is guaranteed
 *  - The branch that completes the number goes on at once, and all others are
 *    woken in the order in which they came. Then the next round begins.
 *  - A branch that is cancelled before that has not come. One that is cancelled
 *    between its wake-up and its poll has.
 *  - Who comes back early waits for the next round.
 *
 * There is no single-slot policy: one slot cannot tell who has come.
 */

#include "sync/wait.h"

struct dz_barrier {
    struct dz_queue queue;
    uint16_t passes; /* how many may still go through: 0 but for a moment */
};

/* What all barriers of a type have in common. In flash. */
struct dz_barrier_type {
    struct dz_object object;
    struct dz_queue_type queue;
    uint16_t count;
};

enum { DZ_BARRIER_MAX = INT16_MAX };

#define dz_barrier_of(self) ((struct dz_barrier *)(void *)(self))

/* For the queue. */
bool dz_barrier_grant(struct dz_queue *queue, const struct dz_queue_type *type,
    uintptr_t *request);
void dz_barrier_give_back(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request);

/* The two operations, which the typed ones below are. */
DZ_AWAITED enum dz_poll dz_barrier_wait(
    struct dz_barrier *self, const struct dz_barrier_type *type);
unsigned dz_barrier_waiting(
    struct dz_barrier *self, const struct dz_barrier_type *type);

/*
 * Defines `struct NAME`, a barrier for `number` branches, 1 to DZ_BARRIER_MAX,
 * and
 *
 *   in a task, awaited
 *     enum dz_poll NAME_wait(self)
 *
 *   any context that the raw mutex allows
 *     unsigned NAME_waiting(self)     how many have come in this round
 */
#define DZ_BARRIER_DEFINE(NAME, number, mutex)                              \
    _Static_assert((number) >= 1 && (number) + 0L <= DZ_BARRIER_MAX,        \
        "a barrier is for 1 to DZ_BARRIER_MAX branches");                   \
    struct NAME {                                                           \
        struct dz_barrier barrier;                                          \
        DZ_OWNER                                                            \
    };                                                                      \
    static const struct dz_barrier_type NAME##_type = {                     \
        DZ_OBJECT(NAME, mutex, DZ_QUEUE),                                   \
        DZ_QUEUE_TYPE(dz_barrier_grant, dz_barrier_give_back, DZ_IN_ORDER), \
        number};                                                            \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_wait(struct NAME *self)        \
    {                                                                       \
        return dz_barrier_wait(dz_barrier_of(self), &NAME##_type);          \
    }                                                                       \
    DZ_INLINE unsigned NAME##_waiting(struct NAME *self)                    \
    {                                                                       \
        return dz_barrier_waiting(dz_barrier_of(self), &NAME##_type);       \
    }

#endif
