/* SPDX-License-Identifier: MIT */
#include "sync/zerocopy.h"

void dz_zerocopy_misuse(const struct dz_zerocopy *self,
    const struct dz_zerocopy_type *type, unsigned holder)
{
    dz_object_misuse(self, &type->object,
        holder == DZ_ZEROCOPY_RESERVED
            ? "an item is sent or discarded that is not reserved"
            : "an item is released or put back that was not received");
}

/* Ready items, with those that are promised. */
static unsigned count_ready(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type)
{
    unsigned newest = self->items.index;
    unsigned count = 1;

    if (newest == 0)
        return 0;
    for (unsigned at = *dz_zerocopy_link(self, type, newest); at != newest;
         at = *dz_zerocopy_link(self, type, at))
        count++;
    return count;
}

/* The newest are dropped, so that the receivers that hold a promise find the
 * items that were there when it was made. */
static unsigned drop_items(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type)
{
    unsigned dropped = dz_units_free(&self->items, 0);
    unsigned promised = count_ready(self, type) - dropped;
    unsigned kept = self->items.index;

    for (; promised > 0; promised--)
        kept = *dz_zerocopy_link(self, type, kept);
    for (unsigned i = 0; i < dropped; i++)
        dz_zerocopy_push(self, type, dz_zerocopy_unlink(self, type, kept));
    self->items.free = 0;
    return dropped;
}

void dz_zerocopy_clear(
    struct dz_zerocopy *self, const struct dz_zerocopy_type *type)
{
    dz_key key = dz_lock(self, &type->object);

    for (unsigned count = drop_items(self, type); count > 0; count--)
        dz_wait_give(&self->slots, &type->object);
    dz_unlock(self, &type->object, key);
}

enum dz_poll dz_zerocopy_sender_reserve(
    struct dz_zerocopy_sender sender, void **item)
{
    *item = dz_zerocopy_reserve(sender.channel, sender.type);
    return *item != NULL ? DZ_READY : DZ_PENDING;
}

void *dz_zerocopy_sender_try_reserve(struct dz_zerocopy_sender sender)
{
    return dz_zerocopy_try_reserve(sender.channel, sender.type);
}

void dz_zerocopy_sender_send(struct dz_zerocopy_sender sender, void *item)
{
    dz_zerocopy_send(sender.channel, sender.type, item);
}

void dz_zerocopy_sender_discard(struct dz_zerocopy_sender sender, void *item)
{
    dz_zerocopy_free_slot(
        sender.channel, sender.type, item, DZ_ZEROCOPY_RESERVED);
}

unsigned dz_zerocopy_sender_free(struct dz_zerocopy_sender sender)
{
    return dz_zerocopy_free(sender.channel, sender.type);
}

enum dz_poll dz_zerocopy_receiver_receive(
    struct dz_zerocopy_receiver receiver, void **item)
{
    *item = dz_zerocopy_receive(receiver.channel, receiver.type);
    return *item != NULL ? DZ_READY : DZ_PENDING;
}

void *dz_zerocopy_receiver_try_receive(struct dz_zerocopy_receiver receiver)
{
    return dz_zerocopy_try_receive(receiver.channel, receiver.type);
}

void dz_zerocopy_receiver_release(
    struct dz_zerocopy_receiver receiver, void *item)
{
    dz_zerocopy_free_slot(
        receiver.channel, receiver.type, item, DZ_ZEROCOPY_RECEIVED);
}

void dz_zerocopy_receiver_put_back(
    struct dz_zerocopy_receiver receiver, void *item)
{
    dz_zerocopy_put_back(receiver.channel, receiver.type, item);
}

unsigned dz_zerocopy_receiver_len(struct dz_zerocopy_receiver receiver)
{
    return dz_zerocopy_len(receiver.channel, receiver.type);
}
