/* SPDX-License-Identifier: MIT */
#ifndef SYNC_ZEROCOPY_H
#define SYNC_ZEROCOPY_H

/*
 * zerocopy -- a channel whose items are made and read where they lie
 *
 * For items that are too large to be copied, or that hardware fills and drains.
 * Else a channel (sync/channel.h) is simpler: it needs no guards.
 *
 *     DZ_ZEROCOPY_DEFINE(packet_channel, struct packet, 4, DZ_CRITICAL_SECTION)
 *     static struct packet_channel packets;
 *
 *     static void reader_drop(struct dz_guard *guard)
 *     {
 *         struct reader *self = container_of(guard, struct reader, guard);
 *
 *         packet_channel_discard(&packets, self->packet);
 *     }
 *
 *     await(packet_channel_reserve(&packets, &self->packet));     in the reader
 *     dz_guard_enter(&self->guard, reader_drop);
 *     await(radio_read_poll(self->packet));            may be cancelled here
 *     dz_guard_leave(&self->guard);
 *     packet_channel_send(&packets, self->packet);
 *
 *     await(packet_channel_receive(&packets, &self->packet));     in the writer
 *     log_packet(self->packet);
 *     packet_channel_release(&packets, self->packet);
 *
 * A slot goes round: free, reserved, ready, received, and free again. While it
 * is reserved or received it is its holder's, who may keep it across an await.
 * What may be cancelled meanwhile (a task, too: executor/cancel.h) enters a
 * guard, which discards what was reserved, and releases what was received or
 * puts it back.
 *
 * Any number of tasks and interrupts send and receive, each holds as many slots
 * as it likes, and ends them in any order. A struct of all zero is an empty
 * channel.
 *
 * What is guaranteed
 *  - Items come out in the order in which they were sent, not reserved. One
 *    that is put back is the next to come out.
 *  - What is held is touched by nobody else: not by clear, not by a full turn
 *    of the channel.
 *  - Sent, discarded, released and put back can only be what the caller's side
 *    holds. A second send, a release of what is reserved, a pointer to another
 *    place: all of these panic. (Whose slot of several it is, is not known.)
 *  - Waiting senders are served in the order in which they came, and so are
 *    waiting receivers. A slot that comes free is promised to the first waiting
 *    sender, a ready item to the first waiting receiver; which one that is
 *    turns out when it runs. try_ operations, len, free, is_empty and is_full
 *    know only what is neither promised nor held.
 *  - A wait that is cancelled passes on what it was promised.
 *
 * DZ_ZEROCOPY_DEFINE_SINGLE_SLOT defines the same with one waker slot on each
 * side in place of the queues, for comparison.
 */

#include "sync/slots.h"
#include "sync/wait.h"

/* The links and the items lie behind it, in the typed struct. Positions count
 * from 1. */
struct dz_zerocopy {
    struct dz_units slots; /* see sync/slots.h */
    struct dz_units items; /* index: the position of the newest that is ready,
                              which links to the oldest; 0: none is */
};

/*
 * The link of a slot: of a free one, that of sync/slots.h; of a ready one, the
 * position of the next; else who holds it. No list needs an end, since units
 * tell how much is there.
 */
enum {
    DZ_ZEROCOPY_RESERVED = UINT16_MAX,
    DZ_ZEROCOPY_RECEIVED = UINT16_MAX - 1,
};

/* What all channels of a type have in common. In flash. */
struct dz_zerocopy_type {
    struct dz_object object;
    uint16_t capacity;
    size_t size;  /* of an item, in bytes */
    size_t links; /* their offset in the typed struct */
    size_t items; /* likewise */
};

/*
 * A channel of which only the items' type is known: neither the capacity nor
 * the raw mutex nor the policy. Copy them at will. The functions are those of
 * the typed channel, compiled once; `item` points to a value of its type.
 */
struct dz_zerocopy_sender {
    struct dz_zerocopy *channel;
    const struct dz_zerocopy_type *type;
};

struct dz_zerocopy_receiver {
    struct dz_zerocopy *channel;
    const struct dz_zerocopy_type *type;
};

DZ_AWAITED enum dz_poll dz_zerocopy_sender_reserve(
    struct dz_zerocopy_sender sender, void **item);
void *dz_zerocopy_sender_try_reserve(struct dz_zerocopy_sender sender);
void dz_zerocopy_sender_send(struct dz_zerocopy_sender sender, void *item);
void dz_zerocopy_sender_discard(struct dz_zerocopy_sender sender, void *item);
unsigned dz_zerocopy_sender_free(struct dz_zerocopy_sender sender);

DZ_AWAITED enum dz_poll dz_zerocopy_receiver_receive(
    struct dz_zerocopy_receiver receiver, void **item);
void *dz_zerocopy_receiver_try_receive(struct dz_zerocopy_receiver receiver);
void dz_zerocopy_receiver_release(
    struct dz_zerocopy_receiver receiver, void *item);
void dz_zerocopy_receiver_put_back(
    struct dz_zerocopy_receiver receiver, void *item);
unsigned dz_zerocopy_receiver_len(struct dz_zerocopy_receiver receiver);

/* The channel in its typed struct. */
#define dz_zerocopy_of(self) ((struct dz_zerocopy *)(void *)(self))

_Noreturn void dz_zerocopy_misuse(const struct dz_zerocopy *self,
    const struct dz_zerocopy_type *type, unsigned holder) __attribute__((cold));

DZ_INLINE uint16_t *dz_zerocopy_link(struct dz_zerocopy *self,
    const struct dz_zerocopy_type *type, unsigned position)
{
    return (uint16_t *)(void *)((char *)self + type->links) + position - 1;
}

/* Gives a slot to a holder. */
DZ_INLINE void *dz_zerocopy_hold(struct dz_zerocopy *self,
    const struct dz_zerocopy_type *type, unsigned position, unsigned holder)
{
    *dz_zerocopy_link(self, type, position) = (uint16_t)holder;
    return (char *)self + type->items + (position - 1) * type->size;
}

/* The position of an item. Before the lock: it takes a division, for which
 * some cores have no instruction, and depends on nothing that is locked. */
DZ_INLINE unsigned dz_zerocopy_position(const struct dz_zerocopy *self,
    const struct dz_zerocopy_type *type, const void *item, unsigned holder)
{
    uintptr_t offset = (uintptr_t)item - (uintptr_t)self - type->items;
    uintptr_t index = offset / type->size;

    if (DZ_UNLIKELY(index >= type->capacity || offset % type->size != 0))
        dz_zerocopy_misuse(self, type, holder);
    return (unsigned)index + 1;
}

/* A slot is given up, by the side that holds it. */
DZ_INLINE void dz_zerocopy_give_up(struct dz_zerocopy *self,
    const struct dz_zerocopy_type *type, unsigned position, unsigned holder)
{
    if (DZ_UNLIKELY(*dz_zerocopy_link(self, type, position) != holder))
        dz_zerocopy_misuse(self, type, holder);
}

/* The first free slot. There is one. */
DZ_INLINE unsigned dz_zerocopy_pop(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type)
{
    return dz_slots_pop(&self->slots, dz_zerocopy_link(self, type, 1)) + 1;
}

/* Makes a slot the first free one. */
DZ_INLINE void dz_zerocopy_push(struct dz_zerocopy *self,
    const struct dz_zerocopy_type *type, unsigned position)
{
    dz_slots_push(&self->slots, dz_zerocopy_link(self, type, 1), position - 1);
}

/* Takes the ready item behind another one, out of the ring. */
DZ_INLINE unsigned dz_zerocopy_unlink(struct dz_zerocopy *self,
    const struct dz_zerocopy_type *type, unsigned before)
{
    unsigned position = *dz_zerocopy_link(self, type, before);

    *dz_zerocopy_link(self, type, before) =
        *dz_zerocopy_link(self, type, position);
    if (position == self->items.index)
        self->items.index = (uint16_t)(position == before ? 0 : before);
    return position;
}

/* Makes an item the oldest that is ready. */
DZ_INLINE void dz_zerocopy_put(struct dz_zerocopy *self,
    const struct dz_zerocopy_type *type, unsigned position)
{
    uint16_t *link = dz_zerocopy_link(self, type, position);
    uint16_t *newest;

    if (self->items.index == 0) {
        self->items.index = *link = (uint16_t)position;
        return;
    }
    newest = dz_zerocopy_link(self, type, self->items.index);
    *link = *newest;
    *newest = (uint16_t)position;
}

/* NULL: not yet. */
DZ_AWAITED DZ_INLINE void *dz_zerocopy_reserve(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type)
{
    dz_key key = dz_wait_lock_to_take(self, &type->object);
    void *item = NULL;

    if (dz_wait_take(&self->slots, self, &type->object, type->capacity))
        item = dz_zerocopy_hold(
            self, type, dz_zerocopy_pop(self, type), DZ_ZEROCOPY_RESERVED);
    dz_unlock(self, &type->object, key);
    return item;
}

/* NULL: full. */
DZ_INLINE void *dz_zerocopy_try_reserve(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    void *item = NULL;

    if (dz_units_try_take(&self->slots, type->capacity))
        item = dz_zerocopy_hold(
            self, type, dz_zerocopy_pop(self, type), DZ_ZEROCOPY_RESERVED);
    dz_unlock(self, &type->object, key);
    return item;
}

/* Behind all others: in front of the oldest, and the newest now. */
DZ_INLINE void dz_zerocopy_send(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type, void *item)
{
    unsigned position =
        dz_zerocopy_position(self, type, item, DZ_ZEROCOPY_RESERVED);
    dz_key key = dz_lock(self, &type->object);

    dz_zerocopy_give_up(self, type, position, DZ_ZEROCOPY_RESERVED);
    dz_zerocopy_put(self, type, position);
    self->items.index = (uint16_t)position;
    dz_wait_give_unlock(&self->items, self, &type->object, key);
}

/* NULL: not yet. */
DZ_AWAITED DZ_INLINE void *dz_zerocopy_receive(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type)
{
    dz_key key = dz_wait_lock_to_take(self, &type->object);
    void *item = NULL;

    if (dz_wait_take(&self->items, self, &type->object, 0))
        item = dz_zerocopy_hold(self, type,
            dz_zerocopy_unlink(self, type, self->items.index),
            DZ_ZEROCOPY_RECEIVED);
    dz_unlock(self, &type->object, key);
    return item;
}

/* NULL: empty. */
DZ_INLINE void *dz_zerocopy_try_receive(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    void *item = NULL;

    if (dz_units_try_take(&self->items, 0))
        item = dz_zerocopy_hold(self, type,
            dz_zerocopy_unlink(self, type, self->items.index),
            DZ_ZEROCOPY_RECEIVED);
    dz_unlock(self, &type->object, key);
    return item;
}

DZ_INLINE void dz_zerocopy_put_back(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type, void *item)
{
    unsigned position =
        dz_zerocopy_position(self, type, item, DZ_ZEROCOPY_RECEIVED);
    dz_key key = dz_lock(self, &type->object);

    dz_zerocopy_give_up(self, type, position, DZ_ZEROCOPY_RECEIVED);
    dz_zerocopy_put(self, type, position);
    dz_wait_give_unlock(&self->items, self, &type->object, key);
}

/* What a holder gives up is free. */
DZ_INLINE void dz_zerocopy_free_slot(struct dz_zerocopy *self,
    const struct dz_zerocopy_type *type, const void *item, unsigned holder)
{
    unsigned position = dz_zerocopy_position(self, type, item, holder);
    dz_key key = dz_lock(self, &type->object);

    dz_zerocopy_give_up(self, type, position, holder);
    dz_zerocopy_push(self, type, position);
    dz_wait_give_unlock(&self->slots, self, &type->object, key);
}

/* Free slots that are not promised to a sender. */
DZ_INLINE unsigned dz_zerocopy_free(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    unsigned count = dz_units_free(&self->slots, type->capacity);

    dz_unlock(self, &type->object, key);
    return count;
}

/* Ready items that are not promised to a receiver. */
DZ_INLINE unsigned dz_zerocopy_len(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type)
{
    dz_key key = dz_lock(self, &type->object);
    unsigned count = dz_units_free(&self->items, 0);

    dz_unlock(self, &type->object, key);
    return count;
}

/* Drops the ready items that are not promised, which are the newest, and gives
 * each slot to a waiting sender, if there is one. Takes as long as there are
 * ready items. */
void dz_zerocopy_clear(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type);

/*
 * Defines `struct NAME`, a channel of at most `count` items of type `item`,
 * count from 1 to DZ_UNITS_MAX, and
 *
 *   in a task, awaited; *value is NULL until there is one
 *     enum dz_poll NAME_reserve(self, item **value)
 *     enum dz_poll NAME_receive(self, item **value)
 *
 *   any context that the raw mutex allows
 *     item *NAME_try_reserve(self)           NULL: full
 *     void NAME_send(self, item *value)      what was reserved
 *     void NAME_discard(self, item *value)   what was reserved; sends nothing
 *     item *NAME_try_receive(self)           NULL: empty
 *     void NAME_release(self, item *value)   what was received
 *     void NAME_put_back(self, item *value)  what was received; it comes next
 *     void NAME_clear(self)
 *     unsigned NAME_len(self), NAME_free(self)
 *     bool NAME_is_empty(self), NAME_is_full(self)
 *
 *   anywhere
 *     unsigned NAME_capacity(self)
 *     struct dz_zerocopy_sender NAME_sender(self)
 *     struct dz_zerocopy_receiver NAME_receiver(self)
 */
#define DZ_ZEROCOPY_DEFINE(NAME, item, count, mutex) \
    DZ_ZEROCOPY_DEFINE_POLICY(NAME, item, count, mutex, DZ_QUEUE)

#define DZ_ZEROCOPY_DEFINE_SINGLE_SLOT(NAME, item, count, mutex) \
    DZ_ZEROCOPY_DEFINE_POLICY(NAME, item, count, mutex, DZ_SINGLE_SLOT)

#define DZ_ZEROCOPY_DEFINE_POLICY(NAME, item, count, mutex, policy)           \
    _Static_assert((count) >= 1 && (count) + 0L <= DZ_UNITS_MAX,              \
        "a channel's capacity is from 1 to DZ_UNITS_MAX");                    \
    struct NAME {                                                             \
        struct dz_zerocopy channel;                                           \
        DZ_OWNER                                                              \
        uint16_t links[count];                                                \
        item items[count];                                                    \
    };                                                                        \
    static const struct dz_zerocopy_type NAME##_type = {                      \
        DZ_OBJECT(NAME, mutex, policy), count, sizeof(item),                  \
        offsetof(struct NAME, links), offsetof(struct NAME, items)};          \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_reserve(                         \
        struct NAME *self, item **value)                                      \
    {                                                                         \
        *value = dz_zerocopy_reserve(dz_zerocopy_of(self), &NAME##_type);     \
        return *value != NULL ? DZ_READY : DZ_PENDING;                        \
    }                                                                         \
    DZ_INLINE item *NAME##_try_reserve(struct NAME *self)                     \
    {                                                                         \
        return dz_zerocopy_try_reserve(dz_zerocopy_of(self), &NAME##_type);   \
    }                                                                         \
    DZ_INLINE void NAME##_send(struct NAME *self, item *value)                \
    {                                                                         \
        dz_zerocopy_send(dz_zerocopy_of(self), &NAME##_type, value);          \
    }                                                                         \
    DZ_INLINE void NAME##_discard(struct NAME *self, item *value)             \
    {                                                                         \
        dz_zerocopy_free_slot(                                                \
            dz_zerocopy_of(self), &NAME##_type, value, DZ_ZEROCOPY_RESERVED); \
    }                                                                         \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_receive(                         \
        struct NAME *self, item **value)                                      \
    {                                                                         \
        *value = dz_zerocopy_receive(dz_zerocopy_of(self), &NAME##_type);     \
        return *value != NULL ? DZ_READY : DZ_PENDING;                        \
    }                                                                         \
    DZ_INLINE item *NAME##_try_receive(struct NAME *self)                     \
    {                                                                         \
        return dz_zerocopy_try_receive(dz_zerocopy_of(self), &NAME##_type);   \
    }                                                                         \
    DZ_INLINE void NAME##_release(struct NAME *self, item *value)             \
    {                                                                         \
        dz_zerocopy_free_slot(                                                \
            dz_zerocopy_of(self), &NAME##_type, value, DZ_ZEROCOPY_RECEIVED); \
    }                                                                         \
    DZ_INLINE void NAME##_put_back(struct NAME *self, item *value)            \
    {                                                                         \
        dz_zerocopy_put_back(dz_zerocopy_of(self), &NAME##_type, value);      \
    }                                                                         \
    DZ_INLINE void NAME##_clear(struct NAME *self)                            \
    {                                                                         \
        dz_zerocopy_clear(dz_zerocopy_of(self), &NAME##_type);                \
    }                                                                         \
    DZ_INLINE unsigned NAME##_len(struct NAME *self)                          \
    {                                                                         \
        return dz_zerocopy_len(dz_zerocopy_of(self), &NAME##_type);           \
    }                                                                         \
    DZ_INLINE unsigned NAME##_free(struct NAME *self)                         \
    {                                                                         \
        return dz_zerocopy_free(dz_zerocopy_of(self), &NAME##_type);          \
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
    DZ_INLINE struct dz_zerocopy_sender NAME##_sender(struct NAME *self)      \
    {                                                                         \
        return (struct dz_zerocopy_sender){                                   \
            dz_zerocopy_of(self), &NAME##_type};                              \
    }                                                                         \
    DZ_INLINE struct dz_zerocopy_receiver NAME##_receiver(struct NAME *self)  \
    {                                                                         \
        return (struct dz_zerocopy_receiver){                                 \
            dz_zerocopy_of(self), &NAME##_type};                              \
    }

#endif
