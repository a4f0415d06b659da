/* SPDX-License-Identifier: MIT */
#ifndef SYNC_CHANNEL_H
#define SYNC_CHANNEL_H

/*
 * channel -- a bounded FIFO of values between any number of tasks
 *
 * Senders wait while it is full, receivers while it is empty. Use a signal
 * (sync/signal.h) when only the latest value counts, a priority channel
 * (sync/priority_channel.h) when some values are more urgent than others.
 *
 *     DZ_CHANNEL_DEFINE(event_channel, struct event, 8, DZ_CRITICAL_SECTION)
 *     static struct event_channel events;           no ; behind the macro
 *
 *     event_channel_try_send(&events, &event)                  any context
 *     await(event_channel_send(&events, &self->event));        in a task
 *     await(event_channel_receive(&events, &self->event));     in a task
 *
 * "Any context" is any context that the raw mutex allows. A struct of all zero
 * is an empty channel.
 *
 * What is guaranteed
 *  - Values come out in the order in which they went in. Waiting senders are
 *    served in the order in which they came, and so are waiting receivers.
 *  - A slot that comes free is promised to the first waiting sender, a value
 *    that comes in to the first waiting receiver. try_ operations, len, free,
 *    is_empty, is_full and peek know only what is not promised. So a channel
 *    of capacity 1 can be full for a sender and empty for a receiver at the
 *    same time, and len + free can be less than the capacity.
 *  - A value is copied when it is sent and when it is received, and looked at
 *    by nobody before: it is the caller's until the await is done. A send that
 *    is cancelled has sent nothing, and its value is still the caller's. A
 *    receive that is cancelled has taken nothing.
 *  - ready_to_send and ready_to_receive wait in the same line. Ready is no
 *    reservation: the unit is given back at once, to the next in line if there
 *    is one.
 *
 * DZ_CHANNEL_DEFINE_SINGLE_SLOT defines the same with one waker slot on each
 * side in place of the queues, for comparison: there, a woken task may find
 * that another was faster, and several waiters never let the core sleep.
 */

#include "sync/item.h"
#include "sync/wait.h"

/* The items lie behind it, in the typed struct. (In a priority channel, the
 * indices are links.) */
struct dz_channel {
    struct dz_units slots; /* index: where the next item goes */
    struct dz_units items; /* index: the oldest item */
};

/* What all channels of a type have in common. In flash. */
struct dz_channel_type {
    struct dz_object object;
    uint16_t capacity;
    size_t size;  /* of an item, in bytes */
    size_t align; /* likewise */
    size_t items; /* their offset in the typed struct */
    /* The order of a priority channel and the offset of its links; in a
     * channel there are none of them. */
    bool (*is_before)(const void *one, const void *other);
    size_t links;
};

/*
 * A channel of which only the items' type is known: neither the capacity nor
 * the raw mutex nor the policy nor the order. Copy them at will. The functions
 * are those of the typed channel, compiled once; `item` points to a value of
 * its type.
 */
struct dz_sender {
    struct dz_channel *channel;
    const struct dz_channel_type *type;
};

struct dz_receiver {
    struct dz_channel *channel;
    const struct dz_channel_type *type;
};

DZ_AWAITED enum dz_poll dz_sender_send(
    struct dz_sender sender, const void *item);
bool dz_sender_try_send(struct dz_sender sender, const void *item);
DZ_AWAITED enum dz_poll dz_sender_ready(struct dz_sender sender);
unsigned dz_sender_free(struct dz_sender sender);

DZ_AWAITED enum dz_poll dz_receiver_receive(
    struct dz_receiver receiver, void *item);
bool dz_receiver_try_receive(struct dz_receiver receiver, void *item);
bool dz_receiver_peek(struct dz_receiver receiver, void *item);
DZ_AWAITED enum dz_poll dz_receiver_ready(struct dz_receiver receiver);
unsigned dz_receiver_len(struct dz_receiver receiver);

/* The channel in its typed struct, in such a way that the compiler knows of the
 * items behind it. */
#define dz_channel_of(self) ((struct dz_channel *)(void *)(self))

/* The item at an index. */
DZ_INLINE void *dz_channel_at(
    struct dz_channel *self, const struct dz_channel_type *type, unsigned index)
{
    return (char *)self + type->items + index * type->size;
}

/* The item at the cursor of `units`, which moves on. */
DZ_INLINE void *dz_channel_next(struct dz_channel *self,
    const struct dz_channel_type *type, struct dz_units *units)
{
    unsigned index = units->index;

    if (type->capacity == 1)
        return dz_channel_at(self, type, 0);
    units->index = (uint16_t)(index + 1 == type->capacity ? 0 : index + 1);
    return dz_channel_at(self, type, index);
}

/* What a priority channel does in its place: stores and fetches an item, and
 * finds where by links (sync/priority_channel.c). The caller holds the lock. */
void dz_channel_insert(struct dz_channel *self,
    const struct dz_channel_type *type, const void *item);
void dz_channel_extract(
    struct dz_channel *self, const struct dz_channel_type *type, void *item);

/* Removes the items that are not promised and of which `is_unwanted` is true,
 * and gives each slot to a waiting sender, if there is one. Returns how many.
 * Of a priority channel only. */
unsigned dz_channel_remove_if(struct dz_channel *self,
    const struct dz_channel_type *type,
    bool (*is_unwanted)(const void *item, void *argument), void *argument);

/* The item that comes out next, of which there is one. */
DZ_INLINE const void *dz_channel_front(
    struct dz_channel *self, const struct dz_channel_type *type)
{
    unsigned index = self->items.index;

    return dz_channel_at(
        self, type, type->is_before == NULL ? index : index - 1);
}

/* A slot is ours: fills it, and ends the lock. */
DZ_INLINE void dz_channel_put_unlock(struct dz_channel *self,
    const struct dz_channel_type *type, const void *item, dz_key key)
{
    if (type->is_before == NULL)
        dz_item_copy(dz_channel_next(self, type, &self->slots), item,
            type->size, type->align);
    else
        dz_channel_insert(self, type, item);
    dz_wait_give_unlock(&self->items, self, &type->object, key);
}

/* An item is ours: fetches it, and ends the lock. */
DZ_INLINE void dz_channel_get_unlock(struct dz_channel *self,
    const struct dz_channel_type *type, void *item, dz_key key)
{
    if (type->is_before == NULL)
        dz_item_copy(item, dz_channel_next(self, type, &self->items),
            type->size, type->align);
    else
        dz_channel_extract(self, type, item);
    dz_wait_give_unlock(&self->slots, self, &type->object, key);
}

DZ_AWAITED DZ_INLINE enum dz_poll dz_channel_send(struct dz_channel *self,
    const struct dz_channel_type *type, const void *item)
{
    dz_key key = dz_wait_lock_to_take(self, &type->object);

    if (!dz_wait_take(&self->slots, self, &type->object, type->capacity)) {
        dz_unlock(self, &type->object, key);
        return DZ_PENDING;
    }
    dz_channel_put_unlock(self, type, item, key);
    return DZ_READY;
}

DZ_INLINE bool dz_channel_try_send(struct dz_channel *self,
    const struct dz_channel_type *type, const void *item)
{
    dz_key key = dz_lock(self, &type->object);

    if (!dz_units_try_take(&self->slots, type->capacity)) {
        dz_unlock(self, &type->object, key);
        return false;
    }
    dz_channel_put_unlock(self, type, item, key);
    return true;
}

DZ_AWAITED DZ_INLINE enum dz_poll dz_channel_receive(
    struct dz_channel *self, const struct dz_channel_type *type, void *item)
{
    dz_key key = dz_wait_lock_to_take(self, &type->object);

    if (!dz_wait_take(&self->items, self, &type->object, 0)) {
        dz_unlock(self, &type->object, key);
        return DZ_PENDING;
    }
    dz_channel_get_unlock(self, type, item, key);
    return DZ_READY;
}

DZ_INLINE bool dz_channel_try_receive(
    struct dz_channel *self, const struct dz_channel_type *type, void *item)
{
    dz_key key = dz_lock(self, &type->object);

    if (!dz_units_try_take(&self->items, 0)) {
        dz_unlock(self, &type->object, key);
        return false;
    }
    dz_channel_get_unlock(self, type, item, key);
    return true;
}

/* Copies what try_receive would take now. */
DZ_INLINE bool dz_channel_peek(
    struct dz_channel *self, const struct dz_channel_type *type, void *item)
{
    dz_key key = dz_lock(self, &type->object);
    bool has_item = dz_units_free(&self->items, 0) > 0;

    if (has_item)
        dz_item_copy(
            item, dz_channel_front(self, type), type->size, type->align);
    dz_unlock(self, &type->object, key);
    return has_item;
}

/* Waits for a unit and gives it back. */
DZ_AWAITED DZ_INLINE enum dz_poll dz_channel_ready(struct dz_channel *self,
    const struct dz_channel_type *type, struct dz_units *units, int initial)
{
    dz_key key = dz_wait_lock_to_take(self, &type->object);

    if (!dz_wait_take(units, self, &type->object, initial)) {
        dz_unlock(self, &type->object, key);
        return DZ_PENDING;
    }
    dz_wait_give_unlock(units, self, &type->object, key);
    return DZ_READY;
}

/* Free slots that are not promised to a sender. */
DZ_INLINE unsigned dz_channel_free(
    struct dz_channel *self, const struct dz_channel_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    unsigned count = dz_units_free(&self->slots, type->capacity);

    dz_unlock(self, &type->object, key);
    return count;
}

/* Items that are not promised to a receiver. */
DZ_INLINE unsigned dz_channel_len(
    struct dz_channel *self, const struct dz_channel_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    unsigned count = dz_units_free(&self->items, 0);

    dz_unlock(self, &type->object, key);
    return count;
}

/* Drops the items that are not promised, which are the last to come out, and
 * gives each slot to a waiting sender, if there is one. */
void dz_channel_clear(
    struct dz_channel *self, const struct dz_channel_type *type);

/* The rest of what the two handles can do: as much as the typed channel. */

DZ_INLINE unsigned dz_sender_len(struct dz_sender sender)
{
    return dz_receiver_len((struct dz_receiver){sender.channel, sender.type});
}

DZ_INLINE unsigned dz_receiver_free(struct dz_receiver receiver)
{
    return dz_sender_free((struct dz_sender){receiver.channel, receiver.type});
}

DZ_INLINE bool dz_sender_is_empty(struct dz_sender sender)
{
    return dz_sender_len(sender) == 0;
}

DZ_INLINE bool dz_sender_is_full(struct dz_sender sender)
{
    return dz_sender_free(sender) == 0;
}

DZ_INLINE unsigned dz_sender_capacity(struct dz_sender sender)
{
    return sender.type->capacity;
}

DZ_INLINE void dz_sender_clear(struct dz_sender sender)
{
    dz_channel_clear(sender.channel, sender.type);
}

DZ_INLINE bool dz_receiver_is_empty(struct dz_receiver receiver)
{
    return dz_receiver_len(receiver) == 0;
}

DZ_INLINE bool dz_receiver_is_full(struct dz_receiver receiver)
{
    return dz_receiver_free(receiver) == 0;
}

DZ_INLINE unsigned dz_receiver_capacity(struct dz_receiver receiver)
{
    return receiver.type->capacity;
}

DZ_INLINE void dz_receiver_clear(struct dz_receiver receiver)
{
    dz_channel_clear(receiver.channel, receiver.type);
}

/*
 * Defines `struct NAME`, a channel of at most `count` items of type `item`,
 * count from 1 to DZ_UNITS_MAX. Its functions, which never copy more than one
 * item:
 *
 *   in a task, awaited; *value is written when one is received
 *     enum dz_poll NAME_send(self, item const *value)
 *     enum dz_poll NAME_receive(self, item *value)
 *     enum dz_poll NAME_ready_to_send(self)
 *     enum dz_poll NAME_ready_to_receive(self)
 *
 *   any context that the raw mutex allows; *value is written if it is true
 *     bool NAME_try_send(self, item const *value)    false: full
 *     bool NAME_try_receive(self, item *value)       false: empty
 *     bool NAME_peek(self, item *value)              false: empty
 *     void NAME_clear(self)
 *     unsigned NAME_len(self), NAME_free(self)
 *     bool NAME_is_empty(self), NAME_is_full(self)
 *
 *   anywhere
 *     unsigned NAME_capacity(self)
 *     struct dz_sender NAME_sender(self)
 *     struct dz_receiver NAME_receiver(self)
 */
#define DZ_CHANNEL_DEFINE(NAME, item, count, mutex) \
    DZ_CHANNEL_DEFINE_POLICY(NAME, item, count, mutex, DZ_QUEUE)

#define DZ_CHANNEL_DEFINE_SINGLE_SLOT(NAME, item, count, mutex) \
    DZ_CHANNEL_DEFINE_POLICY(NAME, item, count, mutex, DZ_SINGLE_SLOT)

#define DZ_CHANNEL_DEFINE_POLICY(NAME, item, count, mutex, policy)           \
    _Static_assert((count) >= 1 && (count) + 0L <= DZ_UNITS_MAX,             \
        "a channel's capacity is from 1 to DZ_UNITS_MAX");                   \
    struct NAME {                                                            \
        struct dz_channel channel;                                           \
        DZ_OWNER                                                             \
        item items[count];                                                   \
    };                                                                       \
    static const struct dz_channel_type NAME##_type = {                      \
        DZ_OBJECT(NAME, mutex, policy), count, sizeof(item), _Alignof(item), \
        offsetof(struct NAME, items), NULL, 0};                              \
    DZ_CHANNEL_FUNCTIONS(NAME, item, count)

/* What the typed channels of all kinds have. */
#define DZ_CHANNEL_FUNCTIONS(NAME, item, count)                               \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_send(                            \
        struct NAME *self, item const *value)                                 \
    {                                                                         \
        return dz_channel_send(dz_channel_of(self), &NAME##_type, value);     \
    }                                                                         \
    DZ_INLINE bool NAME##_try_send(struct NAME *self, item const *value)      \
    {                                                                         \
        return dz_channel_try_send(dz_channel_of(self), &NAME##_type, value); \
    }                                                                         \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_receive(                         \
        struct NAME *self, item *value)                                       \
    {                                                                         \
        return dz_channel_receive(dz_channel_of(self), &NAME##_type, value);  \
    }                                                                         \
    DZ_INLINE bool NAME##_try_receive(struct NAME *self, item *value)         \
    {                                                                         \
        return dz_channel_try_receive(                                        \
            dz_channel_of(self), &NAME##_type, value);                        \
    }                                                                         \
    DZ_INLINE bool NAME##_peek(struct NAME *self, item *value)                \
    {                                                                         \
        return dz_channel_peek(dz_channel_of(self), &NAME##_type, value);     \
    }                                                                         \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_ready_to_send(struct NAME *self) \
    {                                                                         \
        return dz_channel_ready(                                              \
            dz_channel_of(self), &NAME##_type, &self->channel.slots, count);  \
    }                                                                         \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_ready_to_receive(                \
        struct NAME *self)                                                    \
    {                                                                         \
        return dz_channel_ready(                                              \
            dz_channel_of(self), &NAME##_type, &self->channel.items, 0);      \
    }                                                                         \
    DZ_INLINE void NAME##_clear(struct NAME *self)                            \
    {                                                                         \
        dz_channel_clear(dz_channel_of(self), &NAME##_type);                  \
    }                                                                         \
    DZ_INLINE unsigned NAME##_len(struct NAME *self)                          \
    {                                                                         \
        return dz_channel_len(dz_channel_of(self), &NAME##_type);             \
    }                                                                         \
    DZ_INLINE unsigned NAME##_free(struct NAME *self)                         \
    {                                                                         \
        return dz_channel_free(dz_channel_of(self), &NAME##_type);            \
    }                                                                         \
    DZ_INLINE bool NAME##_is_empty(struct NAME *self)                         \
    {                                                                         \
        return NAME##_len(self) == 0;                                         \
    }                                                                         \
    DZ_INLINE bool NAME##_is_full(struct NAME *self)                          \
    {                                                                         \
        return NAME##_free(self) == 0;                                        \
    }                                                                         \
    DZ_INLINE unsigned NAME##_capacity(const struct NAME *self)               \
    {                                                                         \
        (void)self;                                                           \
        return count;                                                         \
    }                                                                         \
    DZ_INLINE struct dz_sender NAME##_sender(struct NAME *self)               \
    {                                                                         \
        return (struct dz_sender){dz_channel_of(self), &NAME##_type};         \
    }                                                                         \
    DZ_INLINE struct dz_receiver NAME##_receiver(struct NAME *self)           \
    {                                                                         \
        return (struct dz_receiver){dz_channel_of(self), &NAME##_type};       \
    }

#endif
