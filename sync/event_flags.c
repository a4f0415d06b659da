/* SPDX-License-Identifier: MIT */
#include "sync/event_flags.h"

/*
 * A request is the mask, above the two bits that say how to wait. Granted, it
 * is the flags that were found. So polled again it may be another number, and
 * whether it is what is asked for has to be worked out.
 */

static uint32_t flags_of(uintptr_t request)
{
    return (uint32_t)(request >> DZ_FLAGS_WAYS);
}

void dz_event_flags_misuse(void)
{
    dz_panic("a mask of event flags is beyond DZ_FLAGS_MASK: there are 30",
        __FILE__, __LINE__);
}

static bool is_enough(uintptr_t how, uint32_t mask, uint32_t found)
{
    if ((how & DZ_FLAGS_ALL) != 0)
        return found == mask;
    return found != 0 || mask == 0;
}

bool dz_event_flags_grant(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request)
{
    struct dz_event_flags *self =
        container_of(queue, struct dz_event_flags, queue);
    uintptr_t how = *request & DZ_FLAGS_TAKE_ALL;
    uint32_t mask = flags_of(*request);
    uint32_t found = self->flags & mask;

    (void)type;
    if (!is_enough(how, mask, found))
        return false;
    if ((how & DZ_FLAGS_TAKE_ANY) != 0)
        self->flags &= ~found;
    *request = (uintptr_t)found << DZ_FLAGS_WAYS | how;
    return true;
}

void dz_event_flags_give_back(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    (void)type;
    if ((request & DZ_FLAGS_TAKE_ANY) != 0)
        container_of(queue, struct dz_event_flags, queue)->flags |=
            flags_of(request);
}

/* True: the branch that runs now has been granted flags here that answer what
 * it asks for. */
static bool is_granted(const struct dz_event_flags *self, uintptr_t request)
{
    const struct dz_waiter *waiter = dz_current;
    uintptr_t found = waiter->request;

    return waiter->place == (uintptr_t)&self->queue + DZ_PLACE_QUEUE &&
        waiter->next == NULL && ((found ^ request) & DZ_FLAGS_TAKE_ALL) == 0 &&
        (flags_of(found) & ~flags_of(request)) == 0 &&
        is_enough(request, flags_of(request), flags_of(found));
}

/* dz_queue_turn_to for requests that a grant replaces: that may happen at any
 * time, so we look under the lock. What is left then is left under the lock, as
 * in dz_units_take. */
static void turn_to_locked(const struct dz_event_flags *self,
    const struct dz_event_flags_type *type, uintptr_t request)
{
    if (dz_current->place != 0 && !dz_queue_has_asked(&self->queue, request) &&
        !is_granted(self, request))
        dz_waiter_leave(dz_current, type->object.owner != 0);
}

enum dz_poll dz_event_flags_poll(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, uintptr_t request, uint32_t *flags)
{
    enum dz_poll poll;
    dz_key key;

    dz_wait_check(self, &type->object);
    key = dz_lock_checked(self, &type->object);
    turn_to_locked(self, type, request);
    poll = dz_wait_ask_for(
        &self->queue, &type->queue, &request, type->object.policy);
    if (poll == DZ_READY)
        *flags = flags_of(request);
    return dz_wait_unlock(self, &type->object, key, poll);
}

uint32_t dz_event_flags_try(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, uintptr_t request)
{
    dz_key key = dz_lock(self, &type->object);
    bool is_ours = dz_wait_try_ask_for(
        &self->queue, &type->queue, &request, type->object.policy);

    dz_unlock(self, &type->object, key);
    return is_ours ? flags_of(request) : 0;
}

void dz_event_flags_set(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, uint32_t mask)
{
    dz_key key;

    if (mask > DZ_FLAGS_MASK)
        dz_event_flags_misuse();
    key = dz_lock(self, &type->object);
    self->flags |= mask;
    if (mask != 0)
        dz_wait_serve(&self->queue, type->object.policy);
    dz_unlock(self, &type->object, key);
}

void dz_event_flags_clear(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, uint32_t mask)
{
    dz_key key = dz_lock(self, &type->object);

    self->flags &= ~mask;
    dz_unlock(self, &type->object, key);
}

uint32_t dz_event_flags_now(
    struct dz_event_flags *self, const struct dz_event_flags_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    uint32_t flags = self->flags;

    dz_unlock(self, &type->object, key);
    return flags;
}
