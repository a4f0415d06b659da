/* SPDX-License-Identifier: MIT */
#ifndef SYNC_SEMAPHORE_H
#define SYNC_SEMAPHORE_H

/*
 * semaphore -- a number of permits, of which a task takes one or several
 *
 * Who finds fewer than it asks for waits until there are as many. For one
 * permit around a value take a mutex (sync/mutex.h).
 *
 *     DZ_SEMAPHORE_DEFINE(buffer_permits, 8, DZ_CRITICAL_SECTION)
 *     static struct buffer_permits buffers;
 *
 *     struct upload {
 *         struct dz_frame frame;
 *         struct dz_guard guard;
 *         unsigned count;
 *     };
 *
 *     static void upload_drop(struct dz_guard *guard)
 *     {
 *         struct upload *self = container_of(guard, struct upload, guard);
 *
 *         buffer_permits_release(&buffers, self->count);
 *     }
 *
 *     static enum dz_poll upload_poll(struct upload *self)
 *     {
 *         async (self) {
 *             await(buffer_permits_acquire_all(&buffers, 2, &self->count));
 *             dz_guard_enter(&self->guard, upload_drop);
 *             await(link_send_poll(self->count));  may be cancelled here
 *             dz_guard_leave(&self->guard);
 *             buffer_permits_release(&buffers, self->count);
 *         }
 *         return DZ_READY;
 *     }
 *
 * Without the guard, what is cancelled while it holds permits keeps them for
 * ever. A task that nobody cancels (executor/cancel.h), and that is in no
 * select or join, needs none. To keep permits on purpose, because an interrupt
 * releases them when the hardware is done, leave the guard and do not release:
 * Embassy's `disarm`.
 *
 * DZ_SEMAPHORE_DEFINE defines a fair semaphore, DZ_GREEDY_SEMAPHORE_DEFINE a
 * greedy one. An all-zero struct has its initial number of permits.
 *
 * What is guaranteed
 *  - Fair: permits go to who waited longest. Nobody takes any while somebody
 *    waits, try_ operations and small requests included. So a large request is
 *    served in the end, and what is free may lie idle until then.
 *  - Greedy: who can be served is served, in the order in which they came. A
 *    small request passes a large one that could not be served anyway; a stream
 *    of small ones can starve it. A release looks at all who wait, and a fair
 *    one at those it serves and the next.
 *  - Permits are free, promised to a waiter that was woken for them, or out.
 *    What is promised nobody else takes. A waiter that is cancelled gives back
 *    what was promised to it, and all who can go on without it do.
 *  - acquire_all(min) waits for min like acquire(min). When it goes on, it also
 *    takes all that are free then, before those who came later.
 *  - set(n) makes n permits free, whatever was free before, and serves those
 *    who wait out of these n. Permits that are promised or out are not touched:
 *    they come on top when they are released.
 *  - A request for 0 permits is ready at once, though others wait, and wakes
 *    nobody. acquire_all(0) takes what try_acquire_all(1) would, or nothing.
 *  - Nothing is ever counted above DZ_SEMAPHORE_MAX: who asks for more, or
 *    releases or sets more, panics. Who cannot help it does not: acquire_all
 *    leaves what would be too many, and what a cancelled waiter gives back is
 *    dropped as far as set has left no room for it. Nobody checks that who
 *    releases permits has taken them: a semaphore that starts with 0 counts
 *    events that way.
 *  - The number that is asked for stays the same until it is ready.
 *
 * The _SINGLE_SLOT forms are the same with one waker slot in place of the
 * queue, for comparison. A slot knows no order: both are greedy, a woken task
 * may find that another was faster, and several waiters never let the core
 * sleep.
 */

#include <limits.h>

#include "sync/wait.h"

enum { DZ_SEMAPHORE_MAX = INT_MAX };

struct dz_semaphore {
    struct dz_queue queue;
    int free; /* free permits, less their initial number */
};

/* What all semaphores of a type have in common. In flash. */
struct dz_semaphore_type {
    struct dz_object object;
    struct dz_queue_type queue;
    int permits; /* initially */
};

/* The semaphore in its typed struct. */
#define dz_semaphore_of(self) ((struct dz_semaphore *)(void *)(self))

/* What a request for permits is in the queue; acquire_all makes another one,
 * and neither is 0. */
DZ_INLINE uintptr_t dz_semaphore_request(unsigned count)
{
    return (uintptr_t)count << 1;
}

/* For the queue. */
bool dz_semaphore_grant(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request);
void dz_semaphore_give_back(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request);

_Noreturn void dz_semaphore_overflow(const struct dz_semaphore *self,
    const struct dz_semaphore_type *type) __attribute__((cold));

DZ_INLINE unsigned dz_semaphore_free_locked(
    const struct dz_semaphore *self, const struct dz_semaphore_type *type)
{
    return (unsigned)(self->free + type->permits);
}

DZ_INLINE void dz_semaphore_add_locked(struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned count)
{
    if (DZ_UNLIKELY(
            count > DZ_SEMAPHORE_MAX - dz_semaphore_free_locked(self, type)))
        dz_semaphore_overflow(self, type);
    self->free += (int)count;
}

DZ_AWAITED DZ_INLINE enum dz_poll dz_semaphore_acquire(
    struct dz_semaphore *self, const struct dz_semaphore_type *type,
    unsigned count)
{
    uintptr_t request = dz_semaphore_request(count);
    dz_key key;
    enum dz_poll poll;

    if (DZ_UNLIKELY(count == 0))
        return DZ_READY;
    if (DZ_UNLIKELY(count > DZ_SEMAPHORE_MAX))
        dz_semaphore_overflow(self, type);
    key = dz_wait_lock(self, &type->object, &self->queue, request);
    poll =
        dz_wait_ask(&self->queue, &type->queue, request, type->object.policy);
    return dz_wait_unlock(self, &type->object, key, poll);
}

DZ_INLINE bool dz_semaphore_try_acquire(struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned count)
{
    dz_key key;
    bool is_ours;

    if (DZ_UNLIKELY(count == 0))
        return true;
    if (DZ_UNLIKELY(count > DZ_SEMAPHORE_MAX))
        dz_semaphore_overflow(self, type);
    key = dz_lock(self, &type->object);
    is_ours = dz_wait_try_ask(&self->queue, &type->queue,
        dz_semaphore_request(count), type->object.policy);
    dz_unlock(self, &type->object, key);
    return is_ours;
}

DZ_INLINE void dz_semaphore_release(struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned count)
{
    dz_key key;

    if (DZ_UNLIKELY(count == 0))
        return;
    key = dz_lock(self, &type->object);
    dz_semaphore_add_locked(self, type, count);
    dz_wait_serve(&self->queue, type->object.policy);
    dz_unlock(self, &type->object, key);
}

DZ_INLINE unsigned dz_semaphore_free(
    struct dz_semaphore *self, const struct dz_semaphore_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    unsigned count = dz_semaphore_free_locked(self, type);

    dz_unlock(self, &type->object, key);
    return count;
}

/* The rest is not inline. */
DZ_AWAITED enum dz_poll dz_semaphore_acquire_all(struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned min, unsigned *count);
bool dz_semaphore_try_acquire_all(struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned min, unsigned *count);
void dz_semaphore_set(struct dz_semaphore *self,
    const struct dz_semaphore_type *type, unsigned count);

/*
 * Defines `struct NAME`, a semaphore of `permits` at first, 0 to
 * DZ_SEMAPHORE_MAX, and
 *
 *   in a task, awaited; *count is written when it is ready
 *     enum dz_poll NAME_acquire(self, unsigned count)
 *     enum dz_poll NAME_acquire_all(self, unsigned min, unsigned *count)
 *
 *   any context that the raw mutex allows
 *     bool NAME_try_acquire(self, unsigned count)
 *     bool NAME_try_acquire_all(self, unsigned min, unsigned *count)
 *                                   false, and *count = 0: fewer than min
 *     void NAME_release(self, unsigned count)
 *     void NAME_set(self, unsigned count)
 *     unsigned NAME_free(self)      not promised to anybody
 */
#define DZ_SEMAPHORE_DEFINE(NAME, permits, mutex) \
    DZ_SEMAPHORE_DEFINE_POLICY(NAME, permits, mutex, DZ_QUEUE, DZ_IN_ORDER)

#define DZ_SEMAPHORE_DEFINE_SINGLE_SLOT(NAME, permits, mutex) \
    DZ_SEMAPHORE_DEFINE_POLICY(                               \
        NAME, permits, mutex, DZ_SINGLE_SLOT, DZ_IN_ORDER)

#define DZ_GREEDY_SEMAPHORE_DEFINE(NAME, permits, mutex) \
    DZ_SEMAPHORE_DEFINE_POLICY(NAME, permits, mutex, DZ_QUEUE, DZ_WHO_CAN)

#define DZ_GREEDY_SEMAPHORE_DEFINE_SINGLE_SLOT(NAME, permits, mutex) \
    DZ_SEMAPHORE_DEFINE_POLICY(NAME, permits, mutex, DZ_SINGLE_SLOT, DZ_WHO_CAN)

#define DZ_SEMAPHORE_DEFINE_POLICY(NAME, permits, mutex, policy, service)   \
    _Static_assert(                                                         \
        (permits) + 0LL >= 0 && (permits) + 0LL <= DZ_SEMAPHORE_MAX,        \
        "a semaphore starts with 0 to DZ_SEMAPHORE_MAX permits");           \
    struct NAME {                                                           \
        struct dz_semaphore semaphore;                                      \
        DZ_OWNER                                                            \
    };                                                                      \
    static const struct dz_semaphore_type NAME##_type = {                   \
        DZ_OBJECT(NAME, mutex, policy),                                     \
        DZ_QUEUE_TYPE(dz_semaphore_grant, dz_semaphore_give_back, service), \
        permits};                                                           \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_acquire(                       \
        struct NAME *self, unsigned count)                                  \
    {                                                                       \
        return dz_semaphore_acquire(                                        \
            dz_semaphore_of(self), &NAME##_type, count);                    \
    }                                                                       \
    DZ_INLINE bool NAME##_try_acquire(struct NAME *self, unsigned count)    \
    {                                                                       \
        return dz_semaphore_try_acquire(                                    \
            dz_semaphore_of(self), &NAME##_type, count);                    \
    }                                                                       \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_acquire_all(                   \
        struct NAME *self, unsigned min, unsigned *count)                   \
    {                                                                       \
        return dz_semaphore_acquire_all(                                    \
            dz_semaphore_of(self), &NAME##_type, min, count);               \
    }                                                                       \
    DZ_INLINE bool NAME##_try_acquire_all(                                  \
        struct NAME *self, unsigned min, unsigned *count)                   \
    {                                                                       \
        return dz_semaphore_try_acquire_all(                                \
            dz_semaphore_of(self), &NAME##_type, min, count);               \
    }                                                                       \
    DZ_INLINE void NAME##_release(struct NAME *self, unsigned count)        \
    {                                                                       \
        dz_semaphore_release(dz_semaphore_of(self), &NAME##_type, count);   \
    }                                                                       \
    DZ_INLINE void NAME##_set(struct NAME *self, unsigned count)            \
    {                                                                       \
        dz_semaphore_set(dz_semaphore_of(self), &NAME##_type, count);       \
    }                                                                       \
    DZ_INLINE unsigned NAME##_free(struct NAME *self)                       \
    {                                                                       \
        return dz_semaphore_free(dz_semaphore_of(self), &NAME##_type);      \
    }

#endif
