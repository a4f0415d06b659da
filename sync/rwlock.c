/* SPDX-License-Identifier: MIT */
#include "sync/rwlock.h"

static struct dz_rwlock *rwlock_of(struct dz_queue *queue)
{
    return container_of(queue, struct dz_rwlock, queue);
}

static bool grant_read(struct dz_rwlock *self)
{
    if (self->granted < 0 || self->granted == DZ_RWLOCK_READERS_MAX)
        return false;
    self->granted++;
    return true;
}

static bool grant_write(struct dz_rwlock *self)
{
    if (self->granted != 0)
        return false;
    self->granted = DZ_RWLOCK_WRITER;
    return true;
}

bool dz_rwlock_grant(struct dz_queue *queue, const struct dz_queue_type *type,
    uintptr_t *request)
{
    struct dz_rwlock *self = rwlock_of(queue);

    (void)type;
    return *request == DZ_RWLOCK_READ ? grant_read(self) : grant_write(self);
}

void dz_rwlock_give_back(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    struct dz_rwlock *self = rwlock_of(queue);

    (void)type;
    if (request == DZ_RWLOCK_READ)
        self->granted--;
    else
        self->granted = 0;
}
