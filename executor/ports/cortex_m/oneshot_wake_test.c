/* SPDX-License-Identifier: MIT */

/*
 * oneshot_wake_test -- tasks that sleep by a counter and a timer of the board
 *
 * The counter is the board's, of which some upper bits may not count; as its
 * compare register serves a timer that counts down.
 */

#include "executor/ports/cortex_m/oneshot.h"
#include "executor/ports/cortex_m/wake_test.h"

/* Of 32 bits it turns over when a tenth of a second has passed. */
enum { BEHIND_TURN = BOARD_HZ / 10 };

void TIMER0_Handler(void);

uint32_t dz_oneshot_count(void)
{
    return board_count() - BEHIND_TURN;
}

void dz_oneshot_arm(uint32_t at)
{
    uint32_t ahead = at - dz_oneshot_count();

    BOARD_TIMER0->value = ahead & (UINT32_MAX >> (32 - DZ_ONESHOT_BITS));
}

void TIMER0_Handler(void)
{
    BOARD_TIMER0->interrupt = 1;
    dz_timers_expire();
}

static uint64_t latest(uint64_t at)
{
    return at;
}

static void the_clock_is_started(void **state)
{
    (void)state;
    BOARD_TIMER0->reload = UINT32_MAX;
    BOARD_TIMER0->control = BOARD_TIMER_ENABLE | BOARD_TIMER_INTERRUPT;
    dz_oneshot_start(BOARD_TIMER0_IRQ, ALARM_PRIORITY);
}

RUN_TESTS(TEST(the_clock_is_started), TEST(a_task_sleeps_until_its_instant),
    TEST(tasks_of_two_executors_sleep),
    TEST(the_time_is_right_whatever_a_look_at_it_preempts))
