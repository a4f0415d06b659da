/* SPDX-License-Identifier: MIT */
#ifndef SYNC_ONCE_LOCK_H
#define SYNC_ONCE_LOCK_H

/*
 * once lock -- a value that is set once, and that any number of tasks wait for
 *
 * For what one task finds out at the start and others use from then on. Where
 * the value can be made on first use, take a lazy lock (sync/lazy_lock.h);
 * where it changes, a watch.
 *
 *     DZ_ONCE_LOCK_DEFINE(config_lock, struct config, DZ_CRITICAL_SECTION)
 *     static struct config_lock config;
 *
 *     (void)config_lock_init(&config, &found);             once, by one task
 *     await(config_lock_get(&config, &self->config));      by the others
 *     use(self->config->baud);
 *
 * What is guaranteed
 *  - The first init wins; a later one changes nothing and is false. A function
 *    that makes the value uses the same lock to its own panic.
 *  - Setting the value wakes all who wait for it, in the order in which they
 *    came. They sleep until then.
 *  - The value does not move or change while it is set, so it is read without
 *    the lock. Who sees that it is set sees all of it, on other cores, too.
 *  - try_take, which is for starting afresh, knows only a value that is
 * promised to nobody: while a woken task has not got it yet, there is nothing
 * to take. The caller makes sure that nobody uses the value any more.
 */

#include "sync/wait.h"

struct dz_once_lock {
    struct dz_queue queue;
    uint32_t is_set : 1;
    uint32_t is_being_made : 1;
    uint32_t promised : 30; /* to how many woken tasks; more do not fit into
                               memory */
};

/* What all once locks of a type have in common. In flash. */
struct dz_once_lock_type {
    struct dz_object object;
    struct dz_queue_type queue;
    size_t size;  /* of the value, in bytes */
    size_t value; /* its offset in the typed struct */
};

#define dz_once_lock_of(self) ((struct dz_once_lock *)(void *)(self))

/* For the queue. */
bool dz_once_lock_grant(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request);
void dz_once_lock_give_back(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request);

/* The operations, which the typed ones below are. */
DZ_AWAITED enum dz_poll dz_once_lock_get(struct dz_once_lock *self,
    const struct dz_once_lock_type *type, const void **value);
const void *dz_once_lock_try_get(
    struct dz_once_lock *self, const struct dz_once_lock_type *type);
bool dz_once_lock_init(struct dz_once_lock *self,
    const struct dz_once_lock_type *type, const void *value);
const void *dz_once_lock_get_or_init(struct dz_once_lock *self,
    const struct dz_once_lock_type *type,
    void (*make)(void *value, void *argument), void *argument);
bool dz_once_lock_try_take(struct dz_once_lock *self,
    const struct dz_once_lock_type *type, void *value);

/*
 * Defines `struct NAME`, a value of type `item` that is not set, and
 *
 *   in a task, awaited; *value is written when it is ready
 *     enum dz_poll NAME_get(self, item const **value)
 *
 *   any context that the raw mutex allows
 *     item const *NAME_try_get(self)                NULL: not set
 *     bool NAME_init(self, item const *value)       false: it was set already
 *     item const *NAME_get_or_init(self, void (*make)(item *value))
 *                                  make is called under the lock, at most once
 *     bool NAME_try_take(self, item *value)         false: nothing to take
 *     bool NAME_is_set(self)
 */
#define DZ_ONCE_LOCK_DEFINE(NAME, item, mutex) \
    DZ_ONCE_LOCK_DEFINE_POLICY(NAME, item, mutex, DZ_QUEUE)

#define DZ_ONCE_LOCK_DEFINE_SINGLE_SLOT(NAME, item, mutex) \
    DZ_ONCE_LOCK_DEFINE_POLICY(NAME, item, mutex, DZ_SINGLE_SLOT)

#define DZ_ONCE_LOCK_DEFINE_POLICY(NAME, item, mutex, policy)                 \
    struct NAME {                                                             \
        struct dz_once_lock once_lock;                                        \
        DZ_OWNER                                                              \
        item value;                                                           \
    };                                                                        \
    static const struct dz_once_lock_type NAME##_type = {                     \
        DZ_OBJECT(NAME, mutex, policy),                                       \
        DZ_QUEUE_TYPE(                                                        \
            dz_once_lock_grant, dz_once_lock_give_back, DZ_IN_ORDER),         \
        sizeof(item), offsetof(struct NAME, value)};                          \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_get(                             \
        struct NAME *self, item const **value)                                \
    {                                                                         \
        const void *found;                                                    \
                                                                              \
        if (dz_once_lock_get(dz_once_lock_of(self), &NAME##_type, &found) ==  \
            DZ_PENDING)                                                       \
            return DZ_PENDING;                                                \
        *value = found;                                                       \
        return DZ_READY;                                                      \
    }                                                                         \
    DZ_INLINE item const *NAME##_try_get(struct NAME *self)                   \
    {                                                                         \
        return dz_once_lock_try_get(dz_once_lock_of(self), &NAME##_type);     \
    }                                                                         \
    DZ_INLINE bool NAME##_init(struct NAME *self, item const *value)          \
    {                                                                         \
        return dz_once_lock_init(dz_once_lock_of(self), &NAME##_type, value); \
    }                                                                         \
    struct NAME##_maker {                                                     \
        void (*make)(item * value);                                           \
    };                                                                        \
    static inline void NAME##_make(void *value, void *argument)               \
    {                                                                         \
        const struct NAME##_maker *maker = argument;                          \
                                                                              \
        maker->make(value);                                                   \
    }                                                                         \
    DZ_INLINE item const *NAME##_get_or_init(                                 \
        struct NAME *self, void (*make)(item * value))                        \
    {                                                                         \
        struct NAME##_maker maker = {make};                                   \
                                                                              \
        return dz_once_lock_get_or_init(                                      \
            dz_once_lock_of(self), &NAME##_type, NAME##_make, &maker);        \
    }                                                                         \
    DZ_INLINE bool NAME##_try_take(struct NAME *self, item *value)            \
    {                                                                         \
        return dz_once_lock_try_take(                                         \
            dz_once_lock_of(self), &NAME##_type, value);                      \
    }                                                                         \
    DZ_INLINE bool NAME##_is_set(struct NAME *self)                           \
    {                                                                         \
        return NAME##_try_get(self) != NULL;                                  \
    }

#endif
