/* SPDX-License-Identifier: MIT */
#ifndef SIM_TIMER_H
#define SIM_TIMER_H

/*
 * timer -- a peripheral that raises an interrupt when time has passed
 *
 *     static struct dz_sim_timer timer;
 *
 *     dz_sim_timer_open(&timer, &core, TIMER_IRQ);
 *     dz_sim_timer_start(&timer, 10000000, 10000000);      every 10 ms
 *     dz_sim_timer_stop(&timer);
 *
 * In ns of the machine's time. The period is kept: a late interrupt does not
 * put off the next one. One that is still pending when the next is due merges
 * with it. (Tasks wait for time with executor/timer.h; this is a device of the
 * board.)
 */

#include "sim/core.h"
#include "sim/machine.h"

/* All zero until it is opened. */
struct dz_sim_timer {
    struct dz_due due;
    struct dz_core *core;
    int irq;
    uint64_t period;                /* 0: once */
    uint64_t next;                  /* when it is due */
    _Atomic uint64_t raised_at;     /* when it last raised its interrupt */
    _Atomic uint64_t raised_in_all; /* how often */
};

/* Where its interrupt goes. Any thread, any context, like the others. */
void dz_sim_timer_open(
    struct dz_sim_timer *timer, struct dz_core *core, int irq);

/* The first interrupt after `delay`, then one each `period`; with a period of
 * 0, only the first. Starting again replaces what was set. */
void dz_sim_timer_start(
    struct dz_sim_timer *timer, uint64_t delay, uint64_t period);

/* No interrupt is raised once this has returned. */
void dz_sim_timer_stop(struct dz_sim_timer *timer);

#endif
