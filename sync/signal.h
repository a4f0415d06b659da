/* SPDX-License-Identifier: MIT */
#ifndef SYNC_SIGNAL_H
#define SYNC_SIGNAL_H

/*
 * signal -- hand the latest value to one waiting task
 *
 * A signal holds at most one value. Sending never waits: it overwrites a value
 * that nobody has taken yet. Use a channel (sync/channel.h) when every value
 * counts.
 *
 *     DZ_SIGNAL_DEFINE(button_signal, enum button, DZ_CRITICAL_SECTION)
 *     static struct button_signal pressed;
 *
 *     button_signal_send(&pressed, BUTTON_A);              in the interrupt
 *     await(button_signal_wait(&pressed, &self->button));  in the task
 *
 * A value is passed by value, unlike a channel's: it is meant to be small. A
 * struct of all zero holds no value.
 *
 * What is guaranteed
 *  - Each value is delivered once, to whoever waited longest.
 *  - A value sent while a task waits is promised to that task. Sent again
 *    before the task has run, it is overwritten: the task gets the newer one,
 *    and one delivery is all. (No unit is added.)
 *  - reset, try_take and is_sent know only a value that is not promised. A
 *    woken task therefore always finds a value; one that must not be taken any
 *    more has to say so in itself.
 *  - A wait that is cancelled leaves the value to the next.
 *
 * Include it as "sync/signal.h", from the root: with sync/ itself on the
 * include path it would hide the system's <signal.h>.
 */

#include "sync/item.h"
#include "sync/wait.h"

struct dz_signal {
    struct dz_units values; /* index: 1 while a value is held */
};

/* What all signals of a type have in common. In flash. */
struct dz_signal_type {
    struct dz_object object;
    size_t size;  /* of a value, in bytes */
    size_t align; /* likewise */
    size_t value; /* its offset in the typed struct */
};

/* The signal in its typed struct, in such a way that the compiler knows of the
 * value behind it. */
#define dz_signal_of(self) ((struct dz_signal *)(void *)(self))

DZ_INLINE void *dz_signal_value(
    struct dz_signal *self, const struct dz_signal_type *type)
{
    return (char *)self + type->value;
}

DZ_INLINE void dz_signal_send(struct dz_signal *self,
    const struct dz_signal_type *type, const void *value)
{
    dz_key key = dz_lock(self, &type->object);

    dz_item_copy(dz_signal_value(self, type), value, type->size, type->align);
    if (self->values.index != 0) {
        dz_unlock(self, &type->object, key);
        return;
    }
    self->values.index = 1;
    dz_wait_give_unlock(&self->values, self, &type->object, key);
}

/* The value is ours. */
DZ_INLINE void dz_signal_fetch(
    struct dz_signal *self, const struct dz_signal_type *type, void *value)
{
    self->values.index = 0;
    dz_item_copy(value, dz_signal_value(self, type), type->size, type->align);
}

DZ_AWAITED DZ_INLINE enum dz_poll dz_signal_wait(
    struct dz_signal *self, const struct dz_signal_type *type, void *value)
{
    dz_key key = dz_wait_lock_to_take(self, &type->object);
    bool is_ours = dz_wait_take(&self->values, self, &type->object, 0);

    if (is_ours)
        dz_signal_fetch(self, type, value);
    dz_unlock(self, &type->object, key);
    return is_ours ? DZ_READY : DZ_PENDING;
}

DZ_INLINE bool dz_signal_try_take(
    struct dz_signal *self, const struct dz_signal_type *type, void *value)
{
    dz_key key = dz_lock(self, &type->object);
    bool is_ours = dz_units_try_take(&self->values, 0);

    if (is_ours)
        dz_signal_fetch(self, type, value);
    dz_unlock(self, &type->object, key);
    return is_ours;
}

DZ_INLINE void dz_signal_reset(
    struct dz_signal *self, const struct dz_signal_type *type)
{
    dz_key key = dz_lock(self, &type->object);

    if (dz_units_try_take(&self->values, 0))
        self->values.index = 0;
    dz_unlock(self, &type->object, key);
}

DZ_INLINE bool dz_signal_is_sent(
    struct dz_signal *self, const struct dz_signal_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    bool is_sent = dz_units_free(&self->values, 0) > 0;

    dz_unlock(self, &type->object, key);
    return is_sent;
}

/*
 * Defines `struct NAME`, a signal of a value of type `item`, and
 *
 *   in a task, awaited; *value is written when it is ready
 *     enum dz_poll NAME_wait(self, item *value)
 *
 *   any context that the raw mutex allows; *value is written if there is one
 *     void NAME_send(self, item value)
 *     bool NAME_try_take(self, item *value)   false: nothing there
 *     bool NAME_is_sent(self)
 *     void NAME_reset(self)
 */
#define DZ_SIGNAL_DEFINE(NAME, item, mutex) \
    DZ_SIGNAL_DEFINE_POLICY(NAME, item, mutex, DZ_QUEUE)

#define DZ_SIGNAL_DEFINE_SINGLE_SLOT(NAME, item, mutex) \
    DZ_SIGNAL_DEFINE_POLICY(NAME, item, mutex, DZ_SINGLE_SLOT)

#define DZ_SIGNAL_DEFINE_POLICY(NAME, item, mutex, policy)                  \
    struct NAME {                                                           \
        struct dz_signal signal;                                            \
        DZ_OWNER                                                            \
        item value;                                                         \
    };                                                                      \
    static const struct dz_signal_type NAME##_type = {                      \
        DZ_OBJECT(NAME, mutex, policy), sizeof(item), _Alignof(item),       \
        offsetof(struct NAME, value)};                                      \
    DZ_INLINE void NAME##_send(struct NAME *self, item value)               \
    {                                                                       \
        dz_signal_send(dz_signal_of(self), &NAME##_type, &value);           \
    }                                                                       \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_wait(                          \
        struct NAME *self, item *value)                                     \
    {                                                                       \
        return dz_signal_wait(dz_signal_of(self), &NAME##_type, value);     \
    }                                                                       \
    DZ_INLINE bool NAME##_try_take(struct NAME *self, item *value)          \
    {                                                                       \
        return dz_signal_try_take(dz_signal_of(self), &NAME##_type, value); \
    }                                                                       \
    DZ_INLINE void NAME##_reset(struct NAME *self)                          \
    {                                                                       \
        dz_signal_reset(dz_signal_of(self), &NAME##_type);                  \
    }                                                                       \
    DZ_INLINE bool NAME##_is_sent(struct NAME *self)                        \
    {                                                                       \
        return dz_signal_is_sent(dz_signal_of(self), &NAME##_type);         \
    }

#endif
