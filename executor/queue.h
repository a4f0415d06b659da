/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_QUEUE_H
#define EXECUTOR_QUEUE_H

/*
 * queue -- a FIFO queue of branches, each with a request of its own
 *
 * For waits that units.h cannot express: several permits at once, the right to
 * read or to write, news for everybody. A request is a number or a pointer that
 * only the primitive understands, and never 0. The primitive supplies two
 * functions: `grant` reserves what a request asks for, if it is there, and
 * `give_back` undoes that. Everything else is the same for all of them:
 *
 *     turn to  leave any other place, and any other request
 *     take     what was granted to us; or grant it now; or queue up
 *     serve    grant to those who wait, as far as it goes
 *
 * What is guaranteed
 *  - A wake-up is a grant. Who is woken has what it asked for.
 *  - DZ_IN_ORDER: nobody is granted anything before the first in line is. So
 *    nobody barges past a waiter, however little it wants.
 *    DZ_WHO_CAN: whoever can be served is, in the order in which they came.
 *    So nobody waits who could go on.
 *  - A waiter that is cancelled gives back what was granted to it, and then
 *    those who can go on without it are served.
 *
 * The primitive serves after each change that can let somebody go on. The
 * caller of each function holds the lock of the object that the queue is part
 * of. An all-zero struct is an empty queue.
 *
 * To cancel is linear in the number of waiters, with interrupts off. The word
 * that would link them both ways holds the request, and so a task stays as
 * small as it is (rejected: one word more in each).
 */

#include "executor/units.h"

enum dz_service {
    DZ_IN_ORDER, /* the first in line holds up those behind it */
    DZ_WHO_CAN,  /* whoever's request can be granted */
};

struct dz_queue {
    union {
        struct dz_waiter *last; /* its next is the first; NULL: nobody waits */
        struct dz_waker waker;  /* instead, under the single-slot policy */
    };
    const struct dz_queue_type *type; /* valid while somebody waits, or holds a
                                         grant that it did not collect */
};

/* What a primitive does for its waiters. In flash. Both are called under the
 * object's lock, or in a critical section, and wake nobody in this queue. */
struct dz_queue_type {
    /* Reserves what is asked for. False: not now, and nothing was changed. It
     * may replace the request by what it has found for it; then
     * dz_queue_has_asked says nothing outside the lock, and nor does
     * dz_queue_turn_to. It asks the object and the request alone, not who may
     * be in line: who leaves serves the line, too, and others may have come
     * since it withdrew. */
    bool (*grant)(struct dz_queue *queue, const struct dz_queue_type *type,
        uintptr_t *request);
    /* Gives back what was granted and not collected. Then those who wait are
     * served, whoever they are by then. */
    void (*give_back)(struct dz_queue *queue, const struct dz_queue_type *type,
        uintptr_t request);
    enum dz_service service;
    /* dz_queue_leave: so a program without such queues does without it. */
    void (*leave)(struct dz_waiter *waiter, enum dz_leaving leaving);
};

#define DZ_QUEUE_TYPE(grant, give_back, service)  \
    {                                             \
        grant, give_back, service, dz_queue_leave \
    }

/* Where a waiter is, whose place is of this kind. */
DZ_INLINE struct dz_queue *dz_queue_of(const struct dz_waiter *waiter)
{
    return (struct dz_queue *)(waiter->place - DZ_PLACE_QUEUE);
}

/* Cancels a waiter that is in a queue: it leaves the line; it gives back what
 * it has, and the others are served. In a critical section. */
void dz_queue_leave(struct dz_waiter *waiter, enum dz_leaving leaving);

/* True: somebody waits. */
DZ_INLINE bool dz_queue_is_occupied(const struct dz_queue *queue)
{
    return queue->last != NULL;
}

/* Queues the branch that runs now, which waits nowhere: behind the others, or
 * in front of them, if it goes on with what it has begun. */
void dz_queue_append(struct dz_queue *queue, const struct dz_queue_type *type,
    uintptr_t request);
void dz_queue_prepend(struct dz_queue *queue, const struct dz_queue_type *type,
    uintptr_t request);

/* Grants what can be granted, and wakes whom it is granted to. */
void dz_queue_serve_waiters(struct dz_queue *queue);

DZ_INLINE void dz_queue_serve(struct dz_queue *queue)
{
    if (DZ_UNLIKELY(queue->last != NULL))
        dz_queue_serve_waiters(queue);
}

/* True: the branch that runs now has asked for this before, and waits for it,
 * or has been granted it. (Unless grant has replaced the request.) */
DZ_INLINE bool dz_queue_has_asked(
    const struct dz_queue *queue, uintptr_t request)
{
    return dz_current->place == (uintptr_t)queue + DZ_PLACE_QUEUE &&
        dz_current->request == request;
}

/* The branch that runs now is about to ask for something here: it leaves any
 * other place, and says so if `checks`. Without the object's lock, for that may
 * lead anywhere, even back here. */
DZ_INLINE void dz_queue_turn_to(
    const struct dz_queue *queue, uintptr_t request, int checks)
{
    if (DZ_UNLIKELY(
            dz_current->place != 0 && !dz_queue_has_asked(queue, request)))
        dz_waiter_leave(dz_current, checks);
}

/* Grants it now, unless others come first; never waits. */
DZ_INLINE bool dz_queue_try_take(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request)
{
    if (type->service == DZ_IN_ORDER && queue->last != NULL)
        return false;
    return type->grant(queue, type, request);
}

/* True: the request, or what grant has made of it, is reserved for the branch
 * that runs now, which has turned to it. False: it is in line. */
DZ_INLINE bool dz_queue_take(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request)
{
    struct dz_waiter *waiter = dz_current;

    if (waiter->place == 0) {
        if (dz_queue_try_take(queue, type, request))
            return true;
        dz_queue_append(queue, type, *request);
        return false;
    }
    if (waiter->next != NULL)
        return false;
    *request = waiter->request;
    waiter->place = 0;
    return true;
}

#endif
