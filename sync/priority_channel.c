/* SPDX-License-Identifier: MIT */
#include "sync/priority_channel.h"

#include "sync/slots.h"

/*
 * There is a link for each slot. The free slots are in one list (sync/slots.h),
 * those with an item in another, which begins at items.index. A link to an item
 * is its index + 1, so that 0 is the end, and all zero is an empty list.
 */

static uint16_t *links_of(
    struct dz_channel *self, const struct dz_channel_type *type)
{
    return (uint16_t *)(void *)((char *)self + type->links);
}

/* The item that a link leads to. */
static void *item_at(
    struct dz_channel *self, const struct dz_channel_type *type, unsigned link)
{
    return dz_channel_at(self, type, link - 1);
}

void dz_channel_insert(struct dz_channel *self,
    const struct dz_channel_type *type, const void *item)
{
    uint16_t *links = links_of(self, type);
    unsigned index = dz_slots_pop(&self->slots, links);
    uint16_t *link = &self->items.index;

    /* Behind its equals. */
    while (*link != 0 && !type->is_before(item, item_at(self, type, *link)))
        link = &links[*link - 1];
    links[index] = *link;
    *link = (uint16_t)(index + 1);
    __builtin_memcpy(dz_channel_at(self, type, index), item, type->size);
}

/* Takes the item that a link leads to out of the list. Its slot is free. */
static void *unlink_item(
    struct dz_channel *self, const struct dz_channel_type *type, uint16_t *link)
{
    unsigned index = *link - 1u;

    *link = links_of(self, type)[index];
    dz_slots_push(&self->slots, links_of(self, type), index);
    return dz_channel_at(self, type, index);
}

void dz_channel_extract(
    struct dz_channel *self, const struct dz_channel_type *type, void *item)
{
    __builtin_memcpy(
        item, unlink_item(self, type, &self->items.index), type->size);
}

/* The link behind the items that are promised, which are the most urgent. */
static uint16_t *skip_promised(
    struct dz_channel *self, const struct dz_channel_type *type)
{
    uint16_t *links = links_of(self, type);
    uint16_t *link = &self->items.index;
    unsigned count = 0;

    for (unsigned item = *link; item != 0; item = links[item - 1])
        count++;
    for (; count > dz_units_free(&self->items, 0); count--)
        link = &links[*link - 1];
    return link;
}

/* Returns how many items it has dropped. */
static unsigned drop_if(struct dz_channel *self,
    const struct dz_channel_type *type,
    bool (*is_unwanted)(const void *item, void *argument), void *argument)
{
    uint16_t *links = links_of(self, type);
    uint16_t *link = skip_promised(self, type);
    unsigned count = 0;

    while (*link != 0) {
        if (!is_unwanted(item_at(self, type, *link), argument)) {
            link = &links[*link - 1];
            continue;
        }
        (void)unlink_item(self, type, link);
        self->items.free--;
        count++;
    }
    return count;
}

unsigned dz_channel_remove_if(struct dz_channel *self,
    const struct dz_channel_type *type,
    bool (*is_unwanted)(const void *item, void *argument), void *argument)
{
    dz_key key = dz_lock(self, &type->object);
    unsigned count = drop_if(self, type, is_unwanted, argument);

    for (unsigned i = 0; i < count; i++)
        dz_wait_give(&self->slots, &type->object);
    dz_unlock(self, &type->object, key);
    return count;
}
