/* SPDX-License-Identifier: MIT */
#ifndef SYNC_SLOTS_H
#define SYNC_SLOTS_H

/*
 * slots -- which slots of a channel are free, where items do not come out in
 * the order of their slots
 *
 * A list by links, one for each slot, in which the free slots stand; what the
 * links of the others are is up to the channel. For those who write primitives;
 * the caller holds the object's lock, and slots.free says whether there is one.
 *
 * A struct of all zero is all slots in a row. That is why a link is stored as
 * the bits in which it differs from one to the slot behind. The list has no
 * end, and its links are at most DZ_UNITS_MAX.
 */

#include "executor/units.h"

/* Takes the first free slot out of the list, and returns its index. */
DZ_INLINE unsigned dz_slots_pop(struct dz_units *slots, const uint16_t *links)
{
    unsigned index = slots->index;

    slots->index = (uint16_t)((index + 1) ^ links[index]);
    return index;
}

/* Makes a slot the first free one. */
DZ_INLINE void dz_slots_push(
    struct dz_units *slots, uint16_t *links, unsigned index)
{
    links[index] = (uint16_t)((index + 1) ^ slots->index);
    slots->index = (uint16_t)index;
}

#endif
