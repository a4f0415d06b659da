/* SPDX-License-Identifier: MIT */
#ifndef SYNC_BLOCKING_MUTEX_H
#define SYNC_BLOCKING_MUTEX_H

/*
 * blocking mutex -- a value behind a raw mutex
 *
 * For a few lines that touch shared state and do not wait. The value can only
 * be reached between lock and unlock, and there is no await between them: with
 * DZ_CRITICAL_SECTION, interrupts are off.
 *
 *     DZ_BLOCKING_MUTEX_DEFINE(stats_mutex, struct stats, DZ_CRITICAL_SECTION)
 *     static struct stats_mutex stats;
 *
 *     dz_key key;
 *     struct stats *locked = stats_mutex_lock(&stats, &key);
 *
 *     locked->overruns++;
 *     stats_mutex_unlock(&stats, key);
 *
 * With DZ_CHECKS, a second lock before the unlock panics, from wherever it
 * comes.
 */

#include "sync/raw_mutex.h"

/*
 * Defines `struct NAME`, a value of type `item` behind a raw mutex, and
 *
 *   any context that the raw mutex allows; both in the same one
 *     item *NAME_lock(self, dz_key *key)     *key is written, for the unlock
 *     void NAME_unlock(self, dz_key key)
 */
#define DZ_BLOCKING_MUTEX_DEFINE(NAME, item, mutex)             \
    struct NAME {                                               \
        item value;                                             \
        DZ_OWNER                                                \
    };                                                          \
    static const struct dz_object NAME##_object =               \
        DZ_OBJECT(NAME, mutex, DZ_QUEUE);                       \
    DZ_INLINE item *NAME##_lock(struct NAME *self, dz_key *key) \
    {                                                           \
        *key = dz_lock(self, &NAME##_object);                   \
        return &self->value;                                    \
    }                                                           \
    DZ_INLINE void NAME##_unlock(struct NAME *self, dz_key key) \
    {                                                           \
        dz_unlock(self, &NAME##_object, key);                   \
    }

#endif
