/* SPDX-License-Identifier: MIT */
#include "bench/qemu/clock.h"
#include "executor/ports/cortex_m/oneshot.h"
#include "executor/timer.h"
#include "sim/qemu/board.h"

uint32_t dz_oneshot_count(void)
{
    return board_count();
}

/* The timer counts down, once. What lies behind, comes at once: the driver sees
 * to it. */
void dz_oneshot_arm(uint32_t at)
{
    uint32_t until = at - board_count();

    BOARD_TIMER1->value = until <= INT32_MAX ? until : 1;
}

void clock_handler(void)
{
    BOARD_TIMER1->interrupt = 1;
    dz_timers_expire();
}

void clock_begin(void)
{
    BOARD_TIMER1->value = UINT32_MAX;
    BOARD_TIMER1->control = BOARD_TIMER_ENABLE | BOARD_TIMER_INTERRUPT;
    dz_oneshot_start(BOARD_TIMER1_IRQ, CLOCK_PRIORITY);
}
