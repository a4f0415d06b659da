/* SPDX-License-Identifier: MIT */
#include "sync/barrier.h"

enum { TO_PASS = 1 }; /* the one request */

bool dz_barrier_grant(struct dz_queue *queue, const struct dz_queue_type *type,
    uintptr_t *request)
{
    struct dz_barrier *self = container_of(queue, struct dz_barrier, queue);

    (void)type;
    (void)request;
    if (self->passes == 0)
        return false;
    self->passes--;
    return true;
}

/* The round is over, and it was there. */
void dz_barrier_give_back(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    (void)queue;
    (void)type;
    (void)request;
}

/* Who has come stands in the queue. So one who leaves has not come. */
static unsigned count_waiters(const struct dz_queue *queue)
{
    const struct dz_waiter *waiter = queue->last;
    unsigned count = 0;

    if (waiter == NULL)
        return 0;
    do {
        count++;
        waiter = waiter->next;
    } while (waiter != queue->last);
    return count;
}

enum dz_poll dz_barrier_wait(
    struct dz_barrier *self, const struct dz_barrier_type *type)
{
    dz_key key = dz_wait_lock(self, &type->object, &self->queue, TO_PASS);
    enum dz_poll poll;

    if (!dz_queue_has_asked(&self->queue, TO_PASS) &&
        count_waiters(&self->queue) + 1 == type->count) {
        self->passes = type->count;
        dz_queue_serve(&self->queue);
    }
    poll = dz_wait_ask(&self->queue, &type->queue, TO_PASS, DZ_QUEUE);
    return dz_wait_unlock(self, &type->object, key, poll);
}

unsigned dz_barrier_waiting(
    struct dz_barrier *self, const struct dz_barrier_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    unsigned count = count_waiters(&self->queue);

    dz_unlock(self, &type->object, key);
    return count;
}
