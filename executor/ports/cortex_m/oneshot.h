/* SPDX-License-Identifier: MIT */
#ifndef ONESHOT_H
#define ONESHOT_H

/*
 * oneshot -- time from a counter of the chip, and an interrupt when it is due
 *
 * The core sleeps until the next timer is due. The program supplies the chip's
 * counter, which runs freely, and its compare register, as two functions. For a
 * timer of 32 bits at DZ_TICK_HZ:
 *
 *     uint32_t dz_oneshot_count(void)
 *     {
 *         return TIM2->CNT;
 *     }
 *
 *     void dz_oneshot_arm(uint32_t at)
 *     {
 *         TIM2->CCR1 = at;
 *     }
 *
 *     void TIM2_IRQHandler(void)
 *     {
 *         TIM2->SR = 0;                    first, as it might be set again
 *         dz_timers_expire();
 *     }
 *
 *     dz_oneshot_start(TIM2_IRQn, 1);      with the timer running, priority 1
 *
 * Two constants say what the counter is like, if it is another one. They are
 * the build's, for oneshot.c:
 *
 *     DZ_ONESHOT_BITS       that the counter has; 32
 *     DZ_ONESHOT_PER_TICK   how often it counts in a tick of DZ_TICK_HZ; 1
 *
 * What is guaranteed
 *  - The time is that of the counter, and never wraps: the upper bits are ours.
 *    It is right at every moment, with interrupts on and off.
 *  - A task is woken as soon as its instant has come, and no sooner; at once if
 *    that has passed when the wait begins and something else is still queued.
 *  - With no timer queued, or a far one, the core is woken every half turn of
 *    the counter.
 *
 * What to know
 *  - Interrupts are not off for longer than half a turn, and nobody more urgent
 *    holds the counter's up for longer: a turn would be lost.
 *  - The priority is no less urgent than that of the executors whose tasks use
 *    timers.
 *  - The time is 0 when the counter is. It is there before dz_oneshot_start, if
 *    that is not later than the counter's first turn; no timer is.
 *  - A device that only counts down is armed for at - dz_oneshot_count(), and 0
 *    if that is negative.
 */

#include <stdint.h>

#include "executor/time.h"

/* Supplied by the program. Called in critical sections, in every context. */

/* The counter, which counts up. Bits above DZ_ONESHOT_BITS do not count. */
uint32_t dz_oneshot_count(void);

/*
 * Makes the interrupt come when the counter reaches this value, of
 * DZ_ONESHOT_BITS, instead of the one before. If the counter reaches it
 * meanwhile, or is there, the interrupt may come or not: the driver sees to it
 * behind the call. It may come late, by what the hardware needs, or early; but
 * a value that lies ahead of the counter when this returns, is not missed.
 */
void dz_oneshot_arm(uint32_t at);

/* Gives the counter's interrupt its priority, enables it, and arms it. From
 * then on timers may be used. Thread mode, once. */
void dz_oneshot_start(int interrupt, unsigned priority)
    DZ_PER_TICK_HZ(dz_oneshot_start);

#endif
