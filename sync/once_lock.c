/* SPDX-License-Identifier: MIT */
#include "sync/once_lock.h"

enum { TO_GET = 1 }; /* the one request */

static struct dz_once_lock *of_queue(struct dz_queue *queue)
{
    return container_of(queue, struct dz_once_lock, queue);
}

static void *value_of(
    struct dz_once_lock *self, const struct dz_once_lock_type *type)
{
    return (char *)self + type->value;
}

bool dz_once_lock_grant(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request)
{
    struct dz_once_lock *self = of_queue(queue);

    (void)type;
    (void)request;
    if (!self->is_set)
        return false;
    self->promised++;
    return true;
}

void dz_once_lock_give_back(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    (void)type;
    (void)request;
    of_queue(queue)->promised--;
}

/* The lock is ours; so if a value is being made, its function has led here. */
static void check_that_none_is_made(
    const struct dz_once_lock *self, const struct dz_once_lock_type *type)
{
    if (self->is_being_made != 0)
        dz_object_misuse(self, &type->object,
            "a once lock is used by the function that makes its value");
}

static dz_key lock(
    struct dz_once_lock *self, const struct dz_once_lock_type *type)
{
    dz_key key = dz_lock(self, &type->object);

    check_that_none_is_made(self, type);
    return key;
}

enum dz_poll dz_once_lock_get(struct dz_once_lock *self,
    const struct dz_once_lock_type *type, const void **value)
{
    dz_key key = dz_wait_lock(self, &type->object, &self->queue, TO_GET);
    enum dz_poll poll;

    check_that_none_is_made(self, type);
    poll = dz_wait_ask(&self->queue, &type->queue, TO_GET, type->object.policy);
    if (poll == DZ_READY) {
        self->promised--;
        *value = value_of(self, type);
    }
    return dz_wait_unlock(self, &type->object, key, poll);
}

const void *dz_once_lock_try_get(
    struct dz_once_lock *self, const struct dz_once_lock_type *type)
{
    dz_key key = lock(self, type);
    const void *value = self->is_set ? value_of(self, type) : NULL;

    dz_unlock(self, &type->object, key);
    return value;
}

static void set(struct dz_once_lock *self, const struct dz_once_lock_type *type)
{
    self->is_set = 1;
    dz_wait_serve(&self->queue, type->object.policy);
}

bool dz_once_lock_init(struct dz_once_lock *self,
    const struct dz_once_lock_type *type, const void *value)
{
    dz_key key = lock(self, type);
    bool is_first = self->is_set == 0;

    if (is_first) {
        __builtin_memcpy(value_of(self, type), value, type->size);
        set(self, type);
    }
    dz_unlock(self, &type->object, key);
    return is_first;
}

const void *dz_once_lock_get_or_init(struct dz_once_lock *self,
    const struct dz_once_lock_type *type,
    void (*make)(void *value, void *argument), void *argument)
{
    dz_key key = lock(self, type);
    void *value = value_of(self, type);

    if (!self->is_set) {
        self->is_being_made = 1;
        make(value, argument);
        self->is_being_made = 0;
        set(self, type);
    }
    dz_unlock(self, &type->object, key);
    return value;
}

bool dz_once_lock_try_take(struct dz_once_lock *self,
    const struct dz_once_lock_type *type, void *value)
{
    dz_key key = lock(self, type);
    bool is_ours = self->is_set != 0 && self->promised == 0;

    if (is_ours) {
        __builtin_memcpy(value, value_of(self, type), type->size);
        self->is_set = 0;
    }
    dz_unlock(self, &type->object, key);
    return is_ours;
}
