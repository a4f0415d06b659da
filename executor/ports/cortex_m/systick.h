/* SPDX-License-Identifier: MIT */
#ifndef SYSTICK_H
#define SYSTICK_H

/*
 * systick -- time from the core's own timer, by an interrupt for each tick
 *
 *     void SysTick_Handler(void)
 *     {
 *         dz_systick_handler();
 *     }
 *
 *     dz_systick_start(64000000, 1000, 1);      1000 times a second, priority 1
 *
 * SysTick interrupts at a fixed rate, and looks each time whether a timer is
 * due. That needs nothing of the chip; it wakes the core though nothing is to
 * do. Take oneshot.h where that matters, or where the core's clock stops in
 * sleep.
 *
 * What is guaranteed
 *  - The time is as fine as DZ_TICK_HZ says, whatever the rate of the
 *    interrupt: what SysTick has counted since then is added.
 *  - A task is woken by the first interrupt that is not before its instant,
 *    also if that has passed when the wait begins and something else is still
 *    queued: then the interrupt comes at once.
 *  - Both hold with interrupts on and off, and in every handler, also in one
 *    that preempts SysTick's before its first instruction.
 *
 * What to know
 *  - SysTick is ours: nobody else reads its control register, which forgets
 *    what it says about a turn. A debugger's look through the core does, too.
 *  - Two turns without a look at the time count as one. So interrupts are not
 *    off for longer than a period, and nobody more urgent holds SysTick up for
 *    longer.
 *  - The priority is no less urgent than that of the executors whose tasks use
 *    timers.
 */

#include <stdint.h>

#include "executor/time.h"

/*
 * Starts the clock, at 0: `core_hz` is that of the core, `interrupt_hz` how
 * often SysTick interrupts. The first is a multiple of DZ_TICK_HZ, that is one
 * of the second, and a period is at most 2^24 cycles of the core. All else
 * panics. Started again, for another clock of the core, the time goes on.
 * Thread mode.
 */
void dz_systick_start(uint32_t core_hz, uint32_t interrupt_hz,
    unsigned priority) DZ_PER_TICK_HZ(dz_systick_start);

/* SysTick's handler, or what it calls. */
void dz_systick_handler(void);

#endif
