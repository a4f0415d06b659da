/* SPDX-License-Identifier: MIT */
#include "sync/semaphore.h"

static struct dz_semaphore *semaphore_of(struct dz_queue *queue)
{
    return container_of(queue, struct dz_semaphore, queue);
}

static const struct dz_semaphore_type *type_of(const struct dz_queue_type *type)
{
    return container_of(type, struct dz_semaphore_type, queue);
}

static unsigned count_of(uintptr_t request)
{
    return (unsigned)(request >> 1);
}

void dz_semaphore_overflow(
    const struct dz_semaphore *self, const struct dz_semaphore_type *type)
{
    dz_object_misuse(self, &type->object,
        "a semaphore is asked for, or given, more than DZ_SEMAPHORE_MAX "
        "permits; is one released that was not acquired?");
}

bool dz_semaphore_grant(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request)
{
    struct dz_semaphore *self = semaphore_of(queue);
    unsigned count = count_of(*request);

    if (count > dz_semaphore_free_locked(self, type_of(type)))
        return false;
    self->free -= (int)count;
    return true;
}

void dz_semaphore_give_back(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    struct dz_semaphore *self = semaphore_of(queue);
    unsigned count = count_of(request);
    /* It is not its fault that there may be too little: set counts none that
     * are promised. */
    unsigned room =
        DZ_SEMAPHORE_MAX - dz_semaphore_free_locked(self, type_of(type));

    self->free += (int)(count < room ? count : room);
}

/* Its lowest bit tells it from a request for exactly as many. */
static uintptr_t all_request(const struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned min)
{
    if (min > DZ_SEMAPHORE_MAX)
        dz_semaphore_overflow(self, type);
    return dz_semaphore_request(min) | 1;
}

/* The least is ours; so are now all that are free. Since it was promised, as
 * many as there can be may have come: then some stay. */
static unsigned take_free(struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned min)
{
    unsigned more = dz_semaphore_free_locked(self, type);

    if (more > DZ_SEMAPHORE_MAX - min)
        more = DZ_SEMAPHORE_MAX - min;
    self->free -= (int)more;
    return min + more;
}

enum dz_poll dz_semaphore_acquire_all(struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned min, unsigned *count)
{
    uintptr_t request = all_request(self, type, min);
    dz_key key;
    enum dz_poll poll;

    if (min == 0) {
        dz_semaphore_try_acquire_all(self, type, min, count);
        return DZ_READY;
    }
    key = dz_wait_lock(self, &type->object, &self->queue, request);
    poll =
        dz_wait_ask(&self->queue, &type->queue, request, type->object.policy);
    if (poll == DZ_READY)
        *count = take_free(self, type, min);
    return dz_wait_unlock(self, &type->object, key, poll);
}

bool dz_semaphore_try_acquire_all(struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned min, unsigned *count)
{
    uintptr_t request = all_request(self, type, min);
    dz_key key = dz_lock(self, &type->object);
    bool is_ours = dz_wait_try_ask(
        &self->queue, &type->queue, request, type->object.policy);

    *count = is_ours ? take_free(self, type, min) : 0;
    dz_unlock(self, &type->object, key);
    return is_ours || min == 0;
}

void dz_semaphore_set(struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned count)
{
    dz_key key;

    if (count > DZ_SEMAPHORE_MAX)
        dz_semaphore_overflow(self, type);
    key = dz_lock(self, &type->object);
    self->free = (int)count - type->permits;
    dz_wait_serve(&self->queue, type->object.policy);
    dz_unlock(self, &type->object, key);
}
