/* SPDX-License-Identifier: MIT */
#include "sync/channel.h"

/* The newest items are dropped, so that the receivers that hold a promise
 * find the items that were there when it was made. */
static unsigned drop_newest(
    struct dz_channel *self, const struct dz_channel_type *type)
{
    unsigned count = dz_units_free(&self->items, 0);
    unsigned index = self->slots.index + type->capacity - count;

    self->items.free = 0;
    self->slots.index = (uint16_t)(index % type->capacity);
    return count;
}

static bool is_any(const void *item, void *argument)
{
    (void)item;
    (void)argument;
    return true;
}

void dz_channel_clear(
    struct dz_channel *self, const struct dz_channel_type *type)
{
    dz_key key;

    if (type->is_before != NULL) {
        (void)dz_channel_remove_if(self, type, is_any, NULL);
        return;
    }
    key = dz_lock(self, &type->object);
    for (unsigned count = drop_newest(self, type); count > 0; count--)
        dz_wait_give(&self->slots, &type->object);
    dz_unlock(self, &type->object, key);
}

enum dz_poll dz_sender_send(struct dz_sender sender, const void *item)
{
    return dz_channel_send(sender.channel, sender.type, item);
}

bool dz_sender_try_send(struct dz_sender sender, const void *item)
{
    return dz_channel_try_send(sender.channel, sender.type, item);
}

enum dz_poll dz_sender_ready(struct dz_sender sender)
{
    return dz_channel_ready(sender.channel, sender.type, &sender.channel->slots,
        sender.type->capacity);
}

unsigned dz_sender_free(struct dz_sender sender)
{
    return dz_channel_free(sender.channel, sender.type);
}

enum dz_poll dz_receiver_receive(struct dz_receiver receiver, void *item)
{
    return dz_channel_receive(receiver.channel, receiver.type, item);
}

bool dz_receiver_try_receive(struct dz_receiver receiver, void *item)
{
    return dz_channel_try_receive(receiver.channel, receiver.type, item);
}

bool dz_receiver_peek(struct dz_receiver receiver, void *item)
{
    return dz_channel_peek(receiver.channel, receiver.type, item);
}

enum dz_poll dz_receiver_ready(struct dz_receiver receiver)
{
    return dz_channel_ready(
        receiver.channel, receiver.type, &receiver.channel->items, 0);
}

unsigned dz_receiver_len(struct dz_receiver receiver)
{
    return dz_channel_len(receiver.channel, receiver.type);
}
