/* SPDX-License-Identifier: MIT */
#include "executor/units.h"

void dz_units_append_behind(struct dz_units *units, struct dz_waiter *waiter)
{
    struct dz_waiter *first = units->first;
    struct dz_waiter *last = first->next != NULL ? first->prev : first;

    waiter->prev = last;
    last->next = waiter;
    first->prev = waiter;
}

void dz_units_grant_exit(struct dz_units *units, dz_key key)
{
    dz_task_wake_exit(dz_units_grant(units), key);
}

static void unlink_waiter(struct dz_units *units, struct dz_waiter *waiter)
{
    struct dz_waiter *first = units->first;
    struct dz_waiter *next = waiter->next;

    if (waiter == first)
        units->first = next;
    else
        waiter->prev->next = next;
    if (next != NULL)
        next->prev = waiter->prev;
    else if (waiter != first)
        first->prev = waiter->prev;
    waiter->next = NULL;
}

void dz_units_leave(struct dz_waiter *waiter)
{
    uintptr_t granted = waiter->place & DZ_PLACE_GRANTED;
    struct dz_units *units = (struct dz_units *)(waiter->place - granted);

    waiter->place = 0;
    if (granted != 0)
        dz_units_give(units);
    else
        unlink_waiter(units, waiter);
}
