/* SPDX-License-Identifier: MIT */
#include "sync/event_flags.h"

/* The variable of who waits. It holds the mask while the branch waits, and what
 * was granted from then on. */
static uint32_t *variable_of(uintptr_t request)
{
    return (uint32_t *)(request & ~(uintptr_t)DZ_FLAGS_TAKE_ALL);
}

bool dz_event_flags_grant(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    struct dz_event_flags *self =
        container_of(queue, struct dz_event_flags, queue);
    uint32_t *variable = variable_of(request);
    uint32_t mask = *variable;
    uint32_t found = self->flags & mask;

    (void)type;
    if (mask != 0 && found == 0)
        return false;
    if ((request & DZ_FLAGS_ALL) != 0 && found != mask)
        return false;
    if ((request & DZ_FLAGS_TAKE_ANY) != 0)
        self->flags &= ~mask;
    *variable = found;
    return true;
}

void dz_event_flags_give_back(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    (void)type;
    if ((request & DZ_FLAGS_TAKE_ANY) != 0)
        container_of(queue, struct dz_event_flags, queue)->flags |=
            *variable_of(request);
}

/* What was granted is in the variable already, and the mask must not replace
 * it. */
enum dz_poll dz_event_flags_poll(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, enum dz_flags_wait how,
    uint32_t mask, uint32_t *flags)
{
    uintptr_t request = (uintptr_t)flags + how;
    dz_key key = dz_wait_lock(self, &type->object);
    enum dz_poll poll;

    if (!dz_queue_has_asked(&self->queue, request))
        *flags = mask;
    poll =
        dz_wait_ask(&self->queue, &type->queue, request, type->object.policy);
    return dz_wait_unlock(self, &type->object, key, poll);
}

uint32_t dz_event_flags_try(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, enum dz_flags_wait how,
    uint32_t mask)
{
    dz_key key = dz_lock(self, &type->object);
    uint32_t flags = mask;

    if (!dz_wait_try_ask(&self->queue, &type->queue, (uintptr_t)&flags + how,
            type->object.policy))
        flags = 0;
    dz_unlock(self, &type->object, key);
    return flags;
}

void dz_event_flags_set(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, uint32_t mask)
{
    dz_key key = dz_lock(self, &type->object);

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
