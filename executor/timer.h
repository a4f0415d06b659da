/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_TIMER_H
#define EXECUTOR_TIMER_H

/*
 * timer -- wait for a point in time
 *
 *     struct dz_timer timer;                               in the frame
 *     struct dz_ticker ticker;
 *     struct dz_timeout timeout;
 *
 *     await(dz_timer_after(&self->timer, dz_duration_from_millis(10)));
 *     await(dz_timer_at(&self->timer, instant));
 *
 *     dz_ticker_init(&self->ticker, period, DZ_TICKER_SKIP);
 *     for (;;) {
 *         await(dz_ticker_poll(&self->ticker));
 *         sample(self);
 *     }
 *
 *     await(dz_timeout(&self->timeout, dz_duration_from_secs(1),
 *         event_channel_receive(&events, &self->event)));
 *     if (dz_timeout_is_expired(&self->timeout))
 *         return dz_finish(self);
 *
 * What is guaranteed
 *  - Timers lie in the frames that use them, all zero at first. A task without
 *    timers pays nothing, and there may be any number of them.
 *  - Each core has one queue of timers and one alarm, which is always set to
 *    the earliest of them. Who starts or cancels another one leaves it alone.
 *  - A task is woken at its instant and not before. What is due at the same
 *    instant is woken in the order in which it began to wait.
 *  - A timer whose branch is cancelled, or whose task ends, leaves the queue
 *    at once: nobody is woken for it any more. (If it was due when the wait
 *    began, the wake-up is on its way, and costs the task one poll.)
 *  - Each timer and each tick yields at least once, also one that is late: a
 *    loop over them holds nobody up.
 *  - UINT64_MAX is never: it is not queued, and no alarm is set to it. What
 *    would overflow is never, too.
 *
 * What to know
 *  - The clock of dz_timer_after and dz_timeout starts at their first poll,
 *    which is not where the arguments were made. Instants and durations count
 *    in that poll only, though an await evaluates them in each: a wait that is
 *    polled again keeps its place.
 *  - A duration is counted from the tick that has begun. So 1 tick takes up to
 *    one tick of time, and may take less.
 *  - One branch waits for a timer or ticker at a time; a second one panics.
 *    All of these are for tasks; waiting elsewhere panics.
 */

#include "executor/heap.h"
#include "executor/select.h"
#include "executor/time.h"

/* Whether it is queued, the node knows. If it is not, somebody waits, and it is
 * not for ever, then the time has come. */
struct dz_timer {
    struct dz_canceller canceller;
    struct dz_task *task;     /* that waits; NULL: nobody does */
    struct dz_heap_node node; /* its key: when it is due, in ticks */
};

/* Is ready at an instant, or for one of the past once all other tasks that were
 * ready have had their turn. In a task. */
DZ_AWAITED enum dz_poll dz_timer_at(struct dz_timer *timer,
    struct dz_instant instant) DZ_PER_TICK_HZ(dz_timer_at);

/* Is ready when the duration has passed since the first poll. In a task. */
DZ_AWAITED enum dz_poll dz_timer_after(struct dz_timer *timer,
    struct dz_duration duration) DZ_PER_TICK_HZ(dz_timer_after);

/* What happens to ticks that nobody waited for in time. */
enum dz_ticker_policy {
    DZ_TICKER_BURST, /* all come, one after the other; the phase is kept */
    DZ_TICKER_SKIP,  /* they merge with the one that is late; likewise */
    DZ_TICKER_DELAY, /* likewise, and the next is a period after it */
};

struct dz_ticker {
    struct dz_timer timer;
    struct dz_instant due; /* the next tick */
    struct dz_duration period;
    enum dz_ticker_policy policy;
};

/* Prepares a ticker, all zero or used before, whose first tick is one period
 * from now. Panics if the period is 0, or while a branch waits for it. Any
 * context. */
void dz_ticker_init(struct dz_ticker *ticker, struct dz_duration period,
    enum dz_ticker_policy policy) DZ_PER_TICK_HZ(dz_ticker_init);

/* Starts afresh: the next tick is one period from now, or at an instant, and
 * the others follow it. Panics while a branch waits for it. Any context. */
void dz_ticker_reset(struct dz_ticker *ticker) DZ_PER_TICK_HZ(dz_ticker_reset);
void dz_ticker_reset_at(struct dz_ticker *ticker, struct dz_instant instant)
    DZ_PER_TICK_HZ(dz_ticker_reset_at);

/* Is ready at the next tick. A tick whose wait was cancelled comes at the next
 * wait. In a task. */
DZ_AWAITED enum dz_poll dz_ticker_poll(struct dz_ticker *ticker);

/* A select of a branch and a timer. */
struct dz_timeout {
    struct dz_select2 select;
    struct dz_timer timer;
};

/*
 * Are ready when the expression is, or when the time is over: the duration
 * since the first poll, or the instant. If it is both, the expression wins; if
 * it is late, it is cancelled at once, as select.h says. With no time at all it
 * is polled, and once more when all other ready tasks have had their turn.
 */
#define dz_timeout(self, duration, expression) \
    dz_select2(                                \
        &(self)->select, expression, dz_timer_after(&(self)->timer, duration))

#define dz_deadline(self, instant, expression) \
    dz_select2(                                \
        &(self)->select, expression, dz_timer_at(&(self)->timer, instant))

/* True: the time was over. Behind the await. */
DZ_INLINE bool dz_timeout_is_expired(const struct dz_timeout *timeout)
{
    return dz_select_winner(&timeout->select) == 1;
}

/* Wakes whoever waits for this instant or an earlier one, and sets the alarm
 * anew. The port's alarm interrupt calls it; otherwise nobody has to. Early, it
 * does no harm. On the core whose alarm it is, any context. */
void dz_timers_expire(void);

#endif
