/* SPDX-License-Identifier: MIT */

/*
 * systick_wake_test -- tasks that sleep by the tick
 */

#include "executor/ports/cortex_m/systick.h"
#include "executor/ports/cortex_m/wake_test.h"

enum { INTERRUPT_HZ = 2000, TICKS = DZ_TICK_HZ / INTERRUPT_HZ };

void SysTick_Handler(void);

void SysTick_Handler(void)
{
    dz_systick_handler();
}

/* The time begins at 0, and at a tick. */
static uint64_t latest(uint64_t at)
{
    return (at + TICKS - 1) / TICKS * TICKS;
}

static void the_clock_is_started(void **state)
{
    (void)state;
    dz_systick_start(BOARD_HZ, INTERRUPT_HZ, ALARM_PRIORITY);
}

RUN_TESTS(TEST(the_clock_is_started), TEST(a_task_sleeps_until_its_instant),
    TEST(tasks_of_two_executors_sleep),
    TEST(the_time_is_right_whatever_a_look_at_it_preempts))
