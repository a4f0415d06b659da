/* SPDX-License-Identifier: MIT */
#include "executor/waiter.h"

#include "executor/queue.h"

static void outside_leave(
    struct dz_canceller *canceller, enum dz_leaving leaving)
{
    (void)canceller;
    (void)leaving;
    dz_panic("await outside a task: something that waits was called by a "
             "handler, or by no task",
        __FILE__, __LINE__);
}

static struct dz_canceller outside = {outside_leave};

/* Its place makes the first attempt to register it end in outside_leave. It
 * has no task, which is what the single-slot policy looks at. */
struct dz_waiter dz_outside = {
    .place = (uintptr_t)&outside + DZ_PLACE_CUSTOM,
};

/* A place is the address of one of these, and its kind in the low bits. */
_Static_assert(_Alignof(struct dz_canceller) > DZ_PLACE_KINDS &&
        _Alignof(struct dz_units) > DZ_PLACE_KINDS &&
        _Alignof(struct dz_queue) > DZ_PLACE_KINDS,
    "a place has its kind in the two low bits of an address: pointers must be "
    "aligned to 4 bytes");

DZ_PORT_LOCAL struct dz_local dz_local = DZ_LOCAL_INITIAL;

/* Nobody else knows whether the task is in the middle of an operation. */
static void check_owner(const struct dz_waiter *waiter)
{
    const struct dz_task *task = dz_current->task;

    if (task == waiter->task || (task == NULL && dz_port_is_thread_mode()))
        return;
    dz_task_panic(waiter->task, "a wait is cancelled, but not by its task");
}

static struct dz_canceller *canceller_of(const struct dz_waiter *waiter)
{
    return (struct dz_canceller *)(waiter->place - DZ_PLACE_CUSTOM);
}

/* Whether a unit is granted, an interrupt can change; the rest only the task.
 */
static unsigned kind_of(const struct dz_waiter *waiter)
{
    return (unsigned)(waiter->place & DZ_PLACE_KINDS);
}

static void leave_queue(struct dz_waiter *waiter, enum dz_leaving leaving)
{
    dz_queue_of(waiter)->type->leave(waiter, leaving);
}

void dz_waiter_withdraw(struct dz_waiter *waiter)
{
    dz_key key;

    if (kind_of(waiter) == DZ_PLACE_CUSTOM) {
        canceller_of(waiter)->leave(canceller_of(waiter), DZ_WITHDRAW);
        return;
    }
    key = dz_port_enter();
    if (kind_of(waiter) == DZ_PLACE_QUEUE)
        leave_queue(waiter, DZ_WITHDRAW);
    else if (kind_of(waiter) == DZ_PLACE_UNITS && waiter->place != 0)
        dz_units_leave(waiter);
    dz_port_exit(key);
}

/* Only the task itself enters and leaves a custom place, so this needs no
 * critical section, and guards may take their time. (One way leads here under
 * a lock: dz_units_take, where it is not checked for. A look before the lock,
 * as dz_queue_turn_to takes one, is what each take would pay for. So in a wait
 * that was forgotten, guards run with interrupts off if need be, and with the
 * object as whoever locks it finds it.) */
static void cancel_custom(struct dz_waiter *waiter)
{
    struct dz_canceller *canceller = canceller_of(waiter);

    canceller->leave(canceller, DZ_WITHDRAW);
    waiter->place = 0;
    canceller->leave(canceller, DZ_CANCEL);
}

/* Of a waiter that is not idle. */
static void cancel(struct dz_waiter *waiter)
{
    dz_key key;

    if (kind_of(waiter) == DZ_PLACE_CUSTOM) {
        cancel_custom(waiter);
        return;
    }
    key = dz_port_enter();
    if (kind_of(waiter) == DZ_PLACE_QUEUE)
        leave_queue(waiter, DZ_CANCEL);
    else
        dz_units_leave(waiter);
    dz_port_exit(key);
}

void dz_waiter_cancel(struct dz_waiter *waiter)
{
    check_owner(waiter);
    if (waiter->place != 0)
        cancel(waiter);
}

void dz_waiter_leave(struct dz_waiter *waiter, int checks)
{
    if (checks && waiter != &dz_outside)
        dz_task_panic(waiter->task,
            "is an await missing? A task waits for one thing and then for "
            "another without dz_cancel() between them");
    cancel(waiter);
}

bool dz_waiter_turn_to(uintptr_t place, int checks)
{
    struct dz_waiter *waiter = dz_current;

    if (waiter->place == place)
        return false;
    if (waiter->place != 0)
        dz_waiter_leave(waiter, checks);
    return true;
}

bool dz_waiter_enter(struct dz_canceller *canceller)
{
    uintptr_t place = (uintptr_t)canceller + DZ_PLACE_CUSTOM;

    if (!dz_waiter_turn_to(place, DZ_CHECKS))
        return false;
    dz_current->place = place;
    return true;
}

static void yield_leave(struct dz_canceller *canceller, enum dz_leaving leaving)
{
    (void)canceller;
    (void)leaving;
}

/* The place "has yielded": nobody is queued there, it only remembers that the
 * wake-up which ends the yield is on its way. */
static struct dz_canceller yielded = {yield_leave};

enum dz_poll dz_yield_poll(void)
{
    if (!dz_waiter_enter(&yielded)) {
        dz_current->place = 0;
        return DZ_READY;
    }
    dz_task_wake(dz_current->task);
    return DZ_PENDING;
}
