/* SPDX-License-Identifier: MIT */
#include "executor/queue.h"

/*
 * The waiters are a circle, so that one pointer finds both ends, and `next` of
 * a waiter in line is never NULL. It is once its request is granted, or it has
 * withdrawn; what it then has is in `request`, 0 for nothing.
 */

static void link_last(struct dz_queue *queue, struct dz_waiter *waiter)
{
    struct dz_waiter *last = queue->last;

    if (last == NULL) {
        waiter->next = waiter;
    } else {
        waiter->next = last->next;
        last->next = waiter;
    }
    queue->last = waiter;
}

static void unlink_behind(struct dz_queue *queue, struct dz_waiter *before)
{
    struct dz_waiter *waiter = before->next;

    before->next = waiter->next;
    if (before == waiter)
        queue->last = NULL;
    else if (queue->last == waiter)
        queue->last = before;
    waiter->next = NULL;
}

void dz_queue_append(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    struct dz_waiter *waiter = dz_current;

    queue->type = type;
    waiter->place = (uintptr_t)queue + DZ_PLACE_QUEUE;
    waiter->request = request;
    link_last(queue, waiter);
}

void dz_queue_prepend(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    struct dz_waiter *last = queue->last;

    dz_queue_append(queue, type, request);
    if (last != NULL)
        queue->last = last;
}

static bool grant(struct dz_queue *queue, struct dz_waiter *waiter)
{
    return queue->type->grant(queue, queue->type, &waiter->request);
}

static void serve_in_order(struct dz_queue *queue)
{
    while (queue->last != NULL && grant(queue, queue->last->next)) {
        struct dz_waiter *first = queue->last->next;

        unlink_behind(queue, queue->last);
        dz_task_wake(first->task);
    }
}

/* All leave the line; who cannot go on queues up again, in the same order. */
static void serve_who_can(struct dz_queue *queue)
{
    struct dz_waiter *waiter = queue->last->next;

    queue->last->next = NULL;
    queue->last = NULL;
    while (waiter != NULL) {
        struct dz_waiter *next = waiter->next;

        waiter->next = NULL;
        if (grant(queue, waiter))
            dz_task_wake(waiter->task);
        else
            link_last(queue, waiter);
        waiter = next;
    }
}

void dz_queue_serve_waiters(struct dz_queue *queue)
{
    if (queue->type->service == DZ_IN_ORDER)
        serve_in_order(queue);
    else
        serve_who_can(queue);
}

static void withdraw(struct dz_queue *queue, struct dz_waiter *waiter)
{
    struct dz_waiter *before = queue->last;

    if (waiter->next == NULL)
        return;
    while (before->next != waiter)
        before = before->next;
    unlink_behind(queue, before);
    waiter->request = 0;
}

void dz_queue_leave(struct dz_waiter *waiter, enum dz_leaving leaving)
{
    struct dz_queue *queue = dz_queue_of(waiter);

    withdraw(queue, waiter);
    if (leaving == DZ_WITHDRAW)
        return;
    waiter->place = 0;
    if (waiter->request != 0)
        queue->type->give_back(queue, queue->type, waiter->request);
    dz_queue_serve(queue);
}
