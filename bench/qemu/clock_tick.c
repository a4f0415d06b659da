/* SPDX-License-Identifier: MIT */
#include "bench/qemu/clock.h"
#include "executor/ports/cortex_m/systick.h"
#include "sim/qemu/board.h"

enum { INTERRUPT_HZ = 1000 };

void clock_handler(void)
{
    dz_systick_handler();
}

void clock_begin(void)
{
    dz_systick_start(BOARD_HZ, INTERRUPT_HZ, CLOCK_PRIORITY);
}
