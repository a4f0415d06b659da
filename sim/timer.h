/* SPDX-License-Identifier: MIT */
#ifndef SIM_TIMER_H
#define SIM_TIMER_H

/*
 * timer -- a peripheral that raises an interrupt when time has passed
 *
 *     dz_sim_timer_open(&timer, &loop, &core, TIMER_IRQ);
 *     dz_sim_timer_start(&timer, 10, 10);       every 10 ms, from any thread
 *     dz_sim_timer_close(&timer);
 *
 * Real time, in milliseconds, which is libuv's grain. An interrupt that is
 * still pending when the next one is due merges with it.
 */

#include <stdatomic.h>
#include <stdint.h>

#include "sim/core.h"
#include "sim/loop.h"

/* All zero until it is opened. */
struct dz_sim_timer {
    uv_timer_t uv;
    struct dz_loop *loop;
    struct dz_core *core;
    unsigned line;
    _Atomic uint64_t raised_at;     /* uv_hrtime() of the last interrupt */
    _Atomic uint64_t raised_in_all; /* interrupts so far */
    atomic_bool is_closed;          /* nobody uses this any more */
};

/* Each of these returns when it is done. Any thread but the loop's, and any
 * context of a core. */
void dz_sim_timer_open(struct dz_sim_timer *timer, struct dz_loop *loop,
    struct dz_core *core, unsigned line);

/* The first interrupt after `delay` ms, then one each `period` ms; with a
 * period of 0, only the first. Starting again replaces what was set. */
void dz_sim_timer_start(
    struct dz_sim_timer *timer, uint64_t delay, uint64_t period);

/* No interrupt is raised once one of these has returned. A closed timer is its
 * owner's memory again, and may be opened again. */
void dz_sim_timer_stop(struct dz_sim_timer *timer);
void dz_sim_timer_close(struct dz_sim_timer *timer);

#endif
