/* SPDX-License-Identifier: MIT */
#ifndef WAKE_TEST_H
#define WAKE_TEST_H

/*
 * wake_test -- tasks that sleep, on the board, with one of the two drivers
 *
 * A test file says what is different about its driver.
 */

#include "executor/ports/cortex_m/clock_test.h"
#include "executor/timer.h"

enum {
    STRIKE_PRIORITY = 0,
    ALARM_PRIORITY = 1,
    EXECUTOR_PRIORITY = 2,
    TASKS = 8,
    A_TASK = 2000 * 32 / 5 / COUNTS_PER_TICK, /* what each may take, ... */
    A_WAKE = 1500 * 32 / 5 / COUNTS_PER_TICK, /* ... and a wake-up */
};

/* When the driver wakes somebody who waits for an instant, at the latest. */
static uint64_t latest(uint64_t at);

void TIMER1_Handler(void);
void SOFTWARE0_Handler(void);

static uint32_t dice(uint32_t sides)
{
    static uint32_t random = 1;

    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    return random % sides;
}

struct sleeper {
    struct dz_task task;
    struct dz_timer timer;
    uint64_t at;
    unsigned naps;
    uint32_t longest;
};

static struct dz_executor thread, urgent;
static volatile bool is_done;
static unsigned sleepers;

void SOFTWARE0_Handler(void)
{
    dz_executor_poll(&urgent);
}

/* Several tasks leave each other time, or nobody could say what is late. */
static uint64_t some_nap(uint32_t longest)
{
    uint32_t least = sleepers > 1 ? 8000 : 0;

    return least +
        (dice(4) == 0 ? dice(8) : dice(dice(4) == 0 ? longest : 300));
}

static void check_nap(const struct sleeper *self)
{
    assert_in_range(dz_port_now(), self->at,
        latest(self->at) + A_WAKE + (sleepers - 1) * A_TASK);
}

static enum dz_poll sleeper_poll(struct sleeper *self)
{
    async (self) {
        while (self->naps-- > 0) {
            self->at = dz_port_now() + some_nap(self->longest);
            await(dz_timer_at(&self->timer, dz_instant_from_ticks(self->at)));
            check_nap(self);
        }
        if (--sleepers == 0)
            is_done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(sleeper_pool, struct sleeper, sleeper_poll, TASKS)

static void spawn(struct dz_executor *executor, unsigned naps, uint32_t longest)
{
    struct sleeper *sleeper = NULL;

    assert_int_equal(sleeper_pool_claim(&sleeper), DZ_OK);
    sleeper->naps = naps;
    sleeper->longest = longest;
    sleepers++;
    dz_executor_spawn(executor, &sleeper->task);
}

static void run(void)
{
    is_done = false;
    dz_executor_run_until(&thread, &is_done);
}

static void begin(void)
{
    dz_executor_init(&thread, "thread");
    if (!urgent.is_started) {
        dz_executor_init(&urgent, "urgent");
        dz_executor_start(&urgent, BOARD_SOFTWARE0_IRQ, EXECUTOR_PRIORITY);
    }
    know_the_time();
}

static void a_task_sleeps_until_its_instant(void **state)
{
    (void)state;
    begin();
    spawn(&thread, 300, 20000);
    run();
    look();
}

static void tasks_of_two_executors_sleep(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < TASKS; i++)
        spawn(i % 2 == 0 ? &thread : &urgent, 60, 10000);
    run();
    look();
}

static volatile unsigned strikes;

/* More urgent than all else, every few instructions anew. */
void TIMER1_Handler(void)
{
    BOARD_TIMER1->interrupt = 1;
    BOARD_TIMER1->reload = 10000 + dice(10000);
    look();
    strikes++;
}

static void the_time_is_right_whatever_a_look_at_it_preempts(void **state)
{
    (void)state;
    begin();
    board_enable(BOARD_TIMER1_IRQ, STRIKE_PRIORITY);
    BOARD_TIMER1->reload = 10000;
    BOARD_TIMER1->control = BOARD_TIMER_ENABLE | BOARD_TIMER_INTERRUPT;
    for (unsigned i = 0; i < TASKS; i++)
        spawn(i % 2 == 0 ? &thread : &urgent, 50, 10000);
    run();
    BOARD_TIMER1->control = 0;
    assert_true(strikes > 250);
}

#endif
