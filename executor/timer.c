/* SPDX-License-Identifier: MIT */
#include "executor/timer.h"

#include "executor/trace.h"

/*
 * The queue of a core is touched in its critical sections only. A task of the
 * core puts a timer in and takes it out when it is cancelled; the alarm
 * interrupt takes out what is due, and any interrupt of the core may poll an
 * executor whose tasks do the same.
 *
 * Of a timer, interrupts touch the node and read the task, and only while the
 * timer is queued. So its own task may write both without a critical section
 * while it is not.
 */

#define NEVER UINT64_MAX

static struct dz_timer *timer_of(struct dz_heap_node *node)
{
    return container_of(node, struct dz_timer, node);
}

/* What the alarm is set to. In a critical section. */
static uint64_t earliest(void)
{
    const struct dz_heap_node *first = dz_local.timers.root;

    return first != NULL ? first->key : NEVER;
}

static void set_alarm_unless(uint64_t before)
{
    if (earliest() != before)
        dz_port_set_alarm(earliest());
}

static void dequeue(struct dz_timer *timer)
{
    dz_key key = dz_port_enter();
    uint64_t before = earliest();

    if (dz_heap_holds(&timer->node)) {
        dz_heap_remove(&dz_local.timers, &timer->node);
        set_alarm_unless(before);
    }
    dz_port_exit(key);
}

/* Time that has passed is nothing that could be passed on, so the first step is
 * all. */
static void timer_leave(struct dz_canceller *canceller, enum dz_leaving leaving)
{
    struct dz_timer *timer =
        container_of(canceller, struct dz_timer, canceller);

    if (leaving != DZ_WITHDRAW)
        return;
    dequeue(timer);
    timer->task = NULL;
}

/* False: the branch that runs now waits for it already. */
static bool enter(struct dz_timer *timer)
{
    timer->canceller.leave = timer_leave;
    if (!dz_waiter_enter(&timer->canceller))
        return false;
    if (timer->task != NULL)
        dz_task_panic(
            timer->task, "two branches wait for one timer: give each its own");
    timer->task = dz_current->task;
    return true;
}

/*
 * What is due needs no queue and no alarm: it yields. Unless something that is
 * due even earlier is still queued, since its alarm interrupt could not come
 * yet; then it takes its place behind that.
 */
static enum dz_poll start(struct dz_timer *timer, struct dz_instant instant)
{
    uint64_t before;
    dz_key key;

    dz_trace(DZ_EVENT_WAIT, timer, "timer");
    timer->node.key = instant.ticks;
    if (instant.ticks == NEVER)
        return DZ_PENDING;
    key = dz_port_enter();
    before = earliest();
    if (instant.ticks < before && instant.ticks <= dz_port_now()) {
        dz_task_wake_exit(timer->task, key);
        return DZ_PENDING;
    }
    dz_heap_insert(&dz_local.timers, &timer->node);
    set_alarm_unless(before);
    dz_port_exit(key);
    return DZ_PENDING;
}

/* No critical section: whether the timer is queued is one load. If the alarm
 * comes right behind it, it wakes the task, which then is polled again. Nobody
 * but the task changes the key. */
static enum dz_poll resume(struct dz_timer *timer)
{
    if (dz_heap_holds(&timer->node) || timer->node.key == NEVER) {
        dz_trace(DZ_EVENT_WAIT, timer, "timer");
        return DZ_PENDING;
    }
    timer->task = NULL;
    dz_current->place = 0;
    return DZ_READY;
}

enum dz_poll dz_timer_at(struct dz_timer *timer, struct dz_instant instant)
{
    return enter(timer) ? start(timer, instant) : resume(timer);
}

enum dz_poll dz_timer_after(struct dz_timer *timer, struct dz_duration duration)
{
    if (!enter(timer))
        return resume(timer);
    return start(timer, dz_instant_add(dz_instant_now(), duration));
}

/* One critical section for each timer, however many are due at once. The alarm
 * is set in the last one, behind everything that others have queued between
 * them. */
static bool expire_one(uint64_t now)
{
    dz_key key = dz_port_enter();
    struct dz_heap_node *first = dz_local.timers.root;

    if (earliest() > now) {
        dz_port_set_alarm(earliest());
        dz_port_exit(key);
        return false;
    }
    dz_heap_remove(&dz_local.timers, first);
    dz_task_wake_exit(timer_of(first)->task, key);
    return true;
}

/* The time is read once, so that this ends: what becomes due meanwhile makes
 * the alarm come again. (Only an executor that preempts this interrupt, and
 * that always finds something late to wait for, could go on queueing what is
 * due. It would hold up all that is below it in any case.) */
void dz_timers_expire(void)
{
    uint64_t now = dz_port_now();

    while (expire_one(now))
        continue;
}

void dz_ticker_init(struct dz_ticker *ticker, struct dz_duration period,
    enum dz_ticker_policy policy)
{
    if (period.ticks == 0)
        dz_panic("a ticker with a period of 0", __FILE__, __LINE__);
    ticker->period = period;
    ticker->policy = policy;
    dz_ticker_reset(ticker);
}

void dz_ticker_reset(struct dz_ticker *ticker)
{
    dz_ticker_reset_at(
        ticker, dz_instant_add(dz_instant_now(), ticker->period));
}

void dz_ticker_reset_at(struct dz_ticker *ticker, struct dz_instant instant)
{
    if (ticker->timer.task != NULL)
        dz_task_panic(ticker->timer.task,
            "a ticker is set while a branch waits for it: dz_cancel() first");
    ticker->due = instant;
}

/* The last instant at which a tick was due, as far as `now`. */
static struct dz_instant last_due(
    const struct dz_ticker *ticker, struct dz_instant now)
{
    struct dz_duration late = dz_instant_since(now, ticker->due);

    late.ticks -= late.ticks % ticker->period.ticks;
    return dz_instant_add(ticker->due, late);
}

/* Behind a tick, when the next one is due. */
static struct dz_instant next_due(const struct dz_ticker *ticker)
{
    struct dz_instant tick = ticker->due;

    if (ticker->policy == DZ_TICKER_SKIP)
        tick = last_due(ticker, dz_instant_now());
    if (ticker->policy == DZ_TICKER_DELAY)
        tick = dz_instant_now();
    return dz_instant_add(tick, ticker->period);
}

enum dz_poll dz_ticker_poll(struct dz_ticker *ticker)
{
    if (ticker->period.ticks == 0)
        dz_panic(
            "a ticker is used that was not initialised", __FILE__, __LINE__);
    if (dz_timer_at(&ticker->timer, ticker->due) == DZ_PENDING)
        return DZ_PENDING;
    ticker->due = next_due(ticker);
    return DZ_READY;
}
