/* SPDX-License-Identifier: MIT */

/*
 * timing -- what the two time drivers cost, and how right they are
 *
 * Compiled once for each driver. Where nobody says otherwise, numbers are
 * instructions.
 *
 * timer_wake: from the first instruction of the timer's interrupt to that of a
 * task behind its await. to_task: where the core slept; min, max: wherever it
 * struck.
 *
 * wait_100ms: interrupts that the driver takes while a task waits for 100 ms.
 *
 * delay_50ms: how far the periods of a task are from 50 ms which does next to
 * nothing and waits, again and again: for 50 ms, or for the next tick of a
 * ticker. In microseconds; mean of 100 periods. Beside it
 *
 *     idle         nothing runs
 *     yielding     another task computes for 100 us at a time
 *     computing    another task computes for 30 ms at a time
 *     preempting   likewise, but the first task's executor is an interrupt's
 *
 *     CLOCK_NAME   "tick" or "oneshot"
 */

#include <stdlib.h>

#include "bench/qemu/clock.h"
#include "bench/qemu/measure.h"
#include "executor/executor.h"
#include "executor/timer.h"

enum {
    WAKES = 200,    /* twice as many as the idle loop has instructions */
    SETTLED = 1500, /* instructions until it is idle, at most */
    WAITS = 10,
    WAIT_MS = 100,
    PERIODS = 100,
    PERIOD_MS = 50,
    URGENT_PRIORITY = 0x60,
};

static struct dz_executor thread, urgent;

void SOFTWARE0_Handler(void);
void SOFTWARE0_Handler(void)
{
    dz_executor_poll(&urgent);
}

/* As many as that, and the same few more each time. */
static __attribute__((noinline)) void compute(uint32_t instructions)
{
    __asm__ volatile(".syntax unified\n\t"
                     "lsrs %0, #1\n\t"
                     "bcc 0f\n\t"
                     "nop\n"
                     "0: adds %0, #1\n"
                     "1: subs %0, #1\n\t"
                     "bne 1b"
                     : "+l"(instructions)
                     :
                     : "cc");
}

/*
 * Counter, tick and core begin a turn together every 4 ms. Each benchmark
 * begins at the same point of it, whatever was before: it is approached in two
 * steps, since ticks strike in the first one.
 */
enum { TURN = 15625, APPROACH = 1000, START = 2500 };

static void compute_until(uint32_t point)
{
    uint32_t now = measure_instructions(0, measure_stamp()) % TURN;

    compute((point + TURN - now) % TURN);
}

static void run_with(struct dz_executor *executor, struct dz_task *task,
    const volatile bool *is_over)
{
    compute_until(APPROACH);
    compute_until(START);
    dz_executor_spawn(executor, task);
    dz_executor_run_until(&thread, is_over);
}

/* ---- timer_wake */

static struct {
    uint32_t to_task, min, max;
} wakes;

static __attribute__((noinline)) void note_wake(uint32_t stamp)
{
    uint32_t age = clock_age(stamp);

    if (clock_woke_the_core() && age > wakes.to_task)
        wakes.to_task = age;
    if (age < wakes.min)
        wakes.min = age;
    if (age > wakes.max)
        wakes.max = age;
}

/*
 * Keeps the run loop of thread mode from being idle until it is that long since
 * the interrupt. So the next one, which comes at a fixed time after this one,
 * strikes at another instruction of the idle loop for each time that is given.
 */
struct delayer {
    struct dz_task task;
    uint32_t until;
};

static enum dz_poll delayer_poll(struct delayer *self)
{
    uint32_t age = clock_age(measure_stamp());

    if (age > self->until)
        abort();
    compute(self->until - age);
    return DZ_READY;
}

DZ_TASK_POOL(delayers, struct delayer, delayer_poll, 1)

static void delay_run_loop(uint32_t until)
{
    struct delayer *delayer;

    if (delayers_claim(&delayer) == DZ_BUSY)
        abort();
    delayer->until = until;
    dz_executor_spawn(&thread, &delayer->task);
}

struct waker {
    struct dz_task task;
    struct dz_timer timer;
    struct dz_instant due;
    uint32_t count;
    bool is_over;
};

/* A ms is no whole number of instructions: one in four is longer by one. So
 * each delay comes twice. */
static enum dz_poll waker_poll(struct waker *self)
{
    async (self) {
        self->due = dz_instant_now();
        for (;;) {
            self->due = dz_instant_add(self->due, dz_duration_from_millis(1));
            await(dz_timer_at(&self->timer, self->due));
            note_wake(measure_stamp());
            if (++self->count == WAKES)
                break;
            delay_run_loop(SETTLED + self->count / 2);
        }
        self->is_over = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(wakers, struct waker, waker_poll, 1)

static void timer_wake_in(struct bench_run *run, struct dz_executor *executor)
{
    struct waker *waker;

    if (wakers_claim(&waker) == DZ_BUSY)
        abort();
    wakes.to_task = 0;
    wakes.min = UINT32_MAX;
    wakes.max = 0;
    run_with(executor, &waker->task, &waker->is_over);
    if (wakes.to_task == 0)
        abort();
    bench_count(run, "to_task", wakes.to_task);
    bench_count(run, "min", wakes.min);
    bench_count(run, "max", wakes.max);
}

static void timer_wake(struct bench_run *run)
{
    timer_wake_in(run, &thread);
}

static void timer_wake_interrupt(struct bench_run *run)
{
    timer_wake_in(run, &urgent);
}

/* ---- wait_100ms */

struct waiter {
    struct dz_task task;
    struct dz_timer timer;
    uint32_t count;
    uint32_t interrupts;
    bool is_over;
};

static enum dz_poll waiter_poll(struct waiter *self)
{
    async (self) {
        self->interrupts = clock_interrupts;
        for (; self->count < WAITS; self->count++)
            await(
                dz_timer_after(&self->timer, dz_duration_from_millis(WAIT_MS)));
        self->interrupts = clock_interrupts - self->interrupts;
        self->is_over = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(waiters, struct waiter, waiter_poll, 1)

static void wait(struct bench_run *run)
{
    struct waiter *waiter;

    if (waiters_claim(&waiter) == DZ_BUSY)
        abort();
    run_with(&thread, &waiter->task, &waiter->is_over);
    bench_count(run, "interrupts", (double)waiter->interrupts / WAITS);
}

/* ---- delay_50ms */

/* Counts of the board's counter, more or less than 50 ms. */
static struct {
    uint32_t last; /* a stamp */
    int32_t min, max, sum;
} periods;

static __attribute__((noinline)) void note_period(uint32_t stamp)
{
    int32_t deviation =
        (int32_t)(stamp - periods.last - BOARD_HZ / 1000 * PERIOD_MS);

    periods.last = stamp;
    periods.sum += deviation;
    if (deviation < periods.min)
        periods.min = deviation;
    if (deviation > periods.max)
        periods.max = deviation;
}

static void begin_periods(uint32_t stamp)
{
    periods.last = stamp;
    periods.min = INT32_MAX;
    periods.max = INT32_MIN;
    periods.sum = 0;
}

struct periodic {
    struct dz_task task;
    struct dz_timer timer;
    struct dz_ticker ticker;
    uint32_t count;
};

static volatile bool is_over;

static enum dz_poll delaying_poll(struct periodic *self)
{
    async (self) {
        for (; self->count <= PERIODS; self->count++) {
            await(dz_timer_after(
                &self->timer, dz_duration_from_millis(PERIOD_MS)));
            if (self->count == 0)
                begin_periods(measure_stamp());
            else
                note_period(measure_stamp());
        }
        is_over = true;
    }
    return DZ_READY;
}

static enum dz_poll ticking_poll(struct periodic *self)
{
    async (self) {
        dz_ticker_init(
            &self->ticker, dz_duration_from_millis(PERIOD_MS), DZ_TICKER_SKIP);
        for (; self->count <= PERIODS; self->count++) {
            await(dz_ticker_poll(&self->ticker));
            if (self->count == 0)
                begin_periods(measure_stamp());
            else
                note_period(measure_stamp());
        }
        is_over = true;
    }
    return DZ_READY;
}

struct load {
    struct dz_task task;
    uint32_t instructions; /* at a time */
};

static enum dz_poll load_poll(struct load *self)
{
    async (self) {
        while (!is_over) {
            compute(self->instructions);
            await(dz_yield_poll());
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(delayings, struct periodic, delaying_poll, 1)
DZ_TASK_POOL(tickings, struct periodic, ticking_poll, 1)
DZ_TASK_POOL(loads, struct load, load_poll, 1)

static void report_period(
    struct bench_run *run, const char *name, double counts)
{
    bench_count(run, name, counts * (1000000.0 / BOARD_HZ));
}

/* The load ends behind the task, so that nothing is left for the next. */
static void delay(struct bench_run *run, const struct dz_pool *pool,
    struct dz_executor *executor, uint32_t load_us)
{
    struct dz_task *periodic = dz_pool_claim(pool);
    struct load *load;

    if (periodic == NULL || loads_claim(&load) == DZ_BUSY)
        abort();
    is_over = false;
    load->instructions = load_us * 125 / 32;
    if (load_us != 0)
        dz_executor_spawn(&thread, &load->task);
    else
        dz_task_release(&load->task);
    run_with(executor, periodic, &is_over);
    dz_executor_poll(&thread);
    report_period(run, "min_us", periods.min);
    report_period(run, "mean_us", (double)periods.sum / PERIODS);
    report_period(run, "max_us", periods.max);
}

#define DEFINE(name, pool, executor, load_us)  \
    static void name(struct bench_run *run)    \
    {                                          \
        delay(run, &pool, &executor, load_us); \
    }

enum { YIELDING_US = 100, COMPUTING_US = 30000 };

DEFINE(delay_idle, delayings, thread, 0)
DEFINE(delay_yielding, delayings, thread, YIELDING_US)
DEFINE(delay_computing, delayings, thread, COMPUTING_US)
DEFINE(delay_preempting, delayings, urgent, COMPUTING_US)
DEFINE(ticker_idle, tickings, thread, 0)
DEFINE(ticker_yielding, tickings, thread, YIELDING_US)
DEFINE(ticker_computing, tickings, thread, COMPUTING_US)
DEFINE(ticker_preempting, tickings, urgent, COMPUTING_US)

static const struct bench benches[] = {
    {"timer_wake/" CLOCK_NAME, timer_wake, 0},
    {"timer_wake/" CLOCK_NAME "/interrupt", timer_wake_interrupt, 0},
    {"wait_100ms/" CLOCK_NAME, wait, 0},
    {"delay_50ms/" CLOCK_NAME "/after/idle", delay_idle, 0},
    {"delay_50ms/" CLOCK_NAME "/after/yielding", delay_yielding, 0},
    {"delay_50ms/" CLOCK_NAME "/after/computing", delay_computing, 0},
    {"delay_50ms/" CLOCK_NAME "/after/preempting", delay_preempting, 0},
    {"delay_50ms/" CLOCK_NAME "/ticker/idle", ticker_idle, 0},
    {"delay_50ms/" CLOCK_NAME "/ticker/yielding", ticker_yielding, 0},
    {"delay_50ms/" CLOCK_NAME "/ticker/computing", ticker_computing, 0},
    {"delay_50ms/" CLOCK_NAME "/ticker/preempting", ticker_preempting, 0},
};

int main(void)
{
    dz_executor_init(&thread, "thread");
    dz_executor_init(&urgent, "urgent");
    dz_executor_start(&urgent, BOARD_SOFTWARE0_IRQ, URGENT_PRIORITY);
    clock_begin();
    measure(benches, sizeof(benches) / sizeof(benches[0]));
    return 0;
}
