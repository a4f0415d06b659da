/* SPDX-License-Identifier: MIT */
#ifndef SYNC_LAZY_LOCK_H
#define SYNC_LAZY_LOCK_H

/*
 * lazy lock -- a value that is made when it is first used
 *
 *     static void make_table(struct table *table);
 *
 *     DZ_LAZY_LOCK_DEFINE(table_lock, struct table, make_table, DZ_THREAD_MODE)
 *     static struct table_lock table;
 *
 *     crc = table_lock_get(&table)->entries[byte];
 *
 * What is guaranteed
 *  - The function runs once, under the lock: with DZ_CRITICAL_SECTION, with
 *    interrupts off, for as long as it takes. If it uses the same lazy lock,
 *    that panics.
 *  - The value stays where it is. What is written to it later is the callers'
 *    to keep apart.
 *
 * Nobody waits, so there is no policy. See sync/once_lock.h for a value that
 * somebody else provides.
 */

#include "sync/raw_mutex.h"

/* The value lies behind it, in the typed struct. */
struct dz_lazy_lock {
    enum { DZ_LAZY_UNUSED, DZ_LAZY_BEING_MADE, DZ_LAZY_MADE } state;
};

/* What all lazy locks of a type have in common. In flash. */
struct dz_lazy_lock_type {
    struct dz_object object;
    void (*make)(void *value);
    size_t value; /* its offset in the typed struct */
};

#define dz_lazy_lock_of(self) ((struct dz_lazy_lock *)(void *)(self))

/* Makes it. The caller holds the lock, so if it is being made, then by a
 * function that has led back here. */
void dz_lazy_lock_make(struct dz_lazy_lock *self,
    const struct dz_lazy_lock_type *type) __attribute__((cold));

DZ_INLINE void *dz_lazy_lock_get(
    struct dz_lazy_lock *self, const struct dz_lazy_lock_type *type)
{
    dz_key key = dz_lock(self, &type->object);

    if (DZ_UNLIKELY(self->state != DZ_LAZY_MADE))
        dz_lazy_lock_make(self, type);
    dz_unlock(self, &type->object, key);
    return (char *)self + type->value;
}

DZ_INLINE bool dz_lazy_lock_is_made(
    struct dz_lazy_lock *self, const struct dz_lazy_lock_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    bool is_made = self->state == DZ_LAZY_MADE;

    dz_unlock(self, &type->object, key);
    return is_made;
}

/*
 * Defines `struct NAME`, a value of type `item` that function, a
 * void function(item *value), makes. It is all zero before. And
 *
 *   any context that the raw mutex allows
 *     item *NAME_get(self)
 *     bool NAME_is_made(self)
 */
#define DZ_LAZY_LOCK_DEFINE(NAME, item, function, mutex)                  \
    struct NAME {                                                         \
        struct dz_lazy_lock lazy_lock;                                    \
        DZ_OWNER                                                          \
        item value;                                                       \
    };                                                                    \
    static void NAME##_make(void *value)                                  \
    {                                                                     \
        function(value);                                                  \
    }                                                                     \
    static const struct dz_lazy_lock_type NAME##_type = {                 \
        DZ_OBJECT(NAME, mutex, DZ_QUEUE), NAME##_make,                    \
        offsetof(struct NAME, value)};                                    \
    DZ_INLINE item *NAME##_get(struct NAME *self)                         \
    {                                                                     \
        return dz_lazy_lock_get(dz_lazy_lock_of(self), &NAME##_type);     \
    }                                                                     \
    DZ_INLINE bool NAME##_is_made(struct NAME *self)                      \
    {                                                                     \
        return dz_lazy_lock_is_made(dz_lazy_lock_of(self), &NAME##_type); \
    }

#endif
