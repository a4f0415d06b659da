/* SPDX-License-Identifier: MIT */
#include "executor/waiter.h"

#include "executor/task.h"
#include "executor/units.h"

static void outside_cancel(struct dz_canceller *canceller)
{
    (void)canceller;
    dz_panic("await outside a task", __FILE__, __LINE__);
}

static struct dz_canceller outside = {outside_cancel};

/* Its place makes the first attempt to register it end in outside_cancel. It
 * has no task, which is what the single-slot policy looks at. */
struct dz_waiter dz_outside = {
    .place = (uintptr_t)&outside + DZ_PLACE_CUSTOM,
};

DZ_PORT_LOCAL struct dz_waiter *dz_current = &dz_outside;

/* Only the task itself enters and leaves a custom place, so a canceller runs
 * with interrupts on. */
static void cancel_custom(struct dz_waiter *waiter)
{
    uintptr_t place = waiter->place - DZ_PLACE_CUSTOM;
    struct dz_canceller *canceller = (struct dz_canceller *)place;

    if (waiter != &dz_outside)
        waiter->place = 0;
    canceller->cancel(canceller);
}

void dz_waiter_cancel(struct dz_waiter *waiter)
{
    dz_key key;

    if ((waiter->place & DZ_PLACE_CUSTOM) != 0) {
        cancel_custom(waiter);
        return;
    }
    key = dz_port_enter();
    if (waiter->place != 0)
        dz_units_leave(waiter);
    dz_port_exit(key);
}

void dz_waiter_leave(struct dz_waiter *waiter, int checks)
{
    if (checks && waiter != &dz_outside)
        dz_task_panic(waiter->task,
            "a task waits for one thing and then for another without "
            "dz_cancel() between them");
    dz_waiter_cancel(waiter);
}

bool dz_waiter_enter(struct dz_canceller *canceller)
{
    struct dz_waiter *waiter = dz_current;
    uintptr_t place = (uintptr_t)canceller + DZ_PLACE_CUSTOM;

    if (waiter->place == place)
        return false;
    if (waiter->place != 0)
        dz_waiter_leave(waiter, DZ_CHECKS);
    waiter->place = place;
    return true;
}

static void yield_cancel(struct dz_canceller *canceller)
{
    (void)canceller;
}

/* The place "has yielded": nobody is queued there, it only remembers that the
 * wake-up which ends the yield is on its way. */
static struct dz_canceller yielded = {yield_cancel};

enum dz_poll dz_yield_poll(void)
{
    if (!dz_waiter_enter(&yielded)) {
        dz_current->place = 0;
        return DZ_READY;
    }
    dz_task_wake(dz_current->task);
    return DZ_PENDING;
}
