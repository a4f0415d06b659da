/* SPDX-License-Identifier: MIT */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

/*
 * clock -- the executor's time on the simulated machine
 *
 * The port's dz_port_now and dz_port_set_alarm, as executor/PORTING.md asks for
 * them. Each core has a hardware counter (sim/counter.h), and one of two
 * drivers, which the machine is started with:
 *  - tickless, the default: the counter's compare register is armed for the
 *    earliest timer, and the core sleeps until then;
 *  - with `tick_hz`: SysTick interrupts that often, and looks each time whether
 *    a timer is due. The compare register is not used. SysTick is ours.
 *
 * What is guaranteed by both
 *  - All cores have the same time: that of the machine, rounded down to ticks
 *    of DZ_TICK_HZ.
 *  - An alarm never comes before its tick begins. In virtual time the tickless
 *    one comes just then; in real time as soon as the host's timer does. With a
 *    tick, it comes with the first tick that is not before it.
 *  - With a tick, too, the time is that of the counter: as fine as without one,
 *    and right however many ticks a sleeping or masked core has missed.
 *
 * What to know
 *  - A core that keeps its interrupts off for longer than half a turn of a
 *    short counter (`counter_bits`) loses a turn, as on the real thing.
 *  - Where all sleep and no timer is queued, neither the tick nor the turns of
 *    a short counter keep the machine going.
 *  - It takes no mock to test what waits for time. In virtual time,
 *    dz_machine_compute moves the one clock that there is, a wait jumps to the
 *    next alarm, and a machine that is started anew starts at 0.
 *  - Without a machine there is no time: asking for it panics.
 */

#include "sim/counter.h"

/* Of a core. All zero: it has not begun. */
struct dz_clock {
    struct dz_counter counter;
    volatile uint64_t base; /* a time less than a turn ago */
    uint64_t alarm;         /* ticks; UINT64_MAX: none */
    struct dz_due tick;
    uint64_t next_tick; /* ns */
    uint64_t period;    /* ns; 0: tickless */
};

/* Sets up a core's clock, on that core, in thread mode. */
void dz_clock_begin(struct dz_core *core);

/* When the core has ended. Any thread. */
void dz_clock_end(struct dz_core *core);

/* dz_port_now and dz_port_set_alarm. */
uint64_t dz_clock_now(void);
void dz_clock_set_alarm(uint64_t at);

#endif
