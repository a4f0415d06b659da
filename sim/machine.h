/* SPDX-License-Identifier: MIT */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

/*
 * machine -- what cores and peripherals stand on: time, and what is due
 *
 *     dz_machine_start(&(struct dz_machine){.time = DZ_TIME_VIRTUAL});
 *     ...                                   cores, peripherals
 *     dz_machine_stop();
 *
 * There is one in a program, in one of two kinds.
 *
 * Real time: the clock is the host's monotonic one. What is due, and all I/O,
 * happens on one thread, a libuv loop, on which no signal arrives.
 *
 * Virtual time: all happens on the caller's thread. The clock jumps when every
 * core sleeps, and is moved by a price for each poll, handler, look at the
 * clock, and access to a peripheral, so that loops which watch the clock end.
 * Each core has come as far as its own work has taken it; the one that is
 * behind goes on first, and what is due happens before any core gets beyond
 * it. What is due at the same instant happens in an order that the seed
 * chooses. Two runs with the same seed are the same. After 2^52 ns, which is 52
 * days, virtual time has reached its end, and the program exits.
 *
 * A peripheral is made of dues (below): at an instant of the machine's time, a
 * function is called that raises an interrupt. It touches no task and no
 * executor.
 */

#include <stdbool.h>
#include <stdint.h>

#include "executor/heap.h"
#include "port.h"

enum dz_time {
    DZ_TIME_REAL,
    DZ_TIME_VIRTUAL,
};

/* Prices in virtual time, in ns. */
struct dz_costs {
    uint32_t poll;    /* of a task */
    uint32_t handler; /* of an interrupt */
    uint32_t clock;   /* a look at it */
    uint32_t access;  /* to a peripheral */
};

/* About what a core of 100 MHz takes. */
#define DZ_COSTS_DEFAULT                                          \
    {                                                             \
        .poll = 1000, .handler = 500, .clock = 100, .access = 100 \
    }

struct dz_machine {
    enum dz_time time;
    uint64_t seed;
    struct dz_costs costs; /* all zero: nothing costs anything, but with several
                              cores a poll 1 ns */
    /* Of the cores' clocks: sim/clock.h. */
    uint32_t tick_hz;      /* of a periodic interrupt; 0: tickless */
    unsigned counter_bits; /* of the hardware counter; 0: 64 */
};

/* Before any core starts, and when all have ended and all peripherals are
 * closed. Without a machine, cores run in real time and there is no clock. */
void dz_machine_start(const struct dz_machine *machine);
void dz_machine_stop(void);

/* The one that was started. */
const struct dz_machine *dz_machine_running(void);

/* ns since the start. Any thread; costs nothing. */
uint64_t dz_machine_now(void);

/* The core computes for so many ns. Interrupts come as they would. */
void dz_machine_compute(uint64_t ns);

/* Charges the core for a look at the clock. */
void dz_machine_look(void);

/* Charges the core for an access to a peripheral: each function that firmware
 * calls to touch one begins with this. */
void dz_machine_access(void);

/* Keeps dues, calls, and everybody else in a machine lock out, and interrupts
 * off this core: for the state that a peripheral shares between cores and the
 * outside. Nests. Any thread, any context; in it, nothing may wait, nor call
 * dz_machine_call. Dues and calls are in one already. */
dz_key dz_machine_lock(void);
void dz_machine_unlock(dz_key key);

/* Runs a function where dues happen, and returns when it has returned. Any
 * thread; on a core in any context, with interrupts off meanwhile. */
void dz_machine_call(void (*request)(void *argument), void *argument);

/* Something that happens at an instant. All zero but for `fire`. */
struct dz_due {
    struct dz_heap_node node;
    void (*fire)(struct dz_due *due); /* may set and clear dues */
    /* Nothing comes of it while all sleep: a machine in virtual time on which
     * nothing else is due is at its end, as if this were not there. */
    bool is_background;
};

/* Makes it happen at `at`, in ns, or as soon as possible if that has passed;
 * what was set before is replaced. Any thread, any context. */
void dz_due_set(struct dz_due *due, uint64_t at);

/* From here on it does not happen, and is not happening, unless this is called
 * by itself. Likewise. */
void dz_due_clear(struct dz_due *due);

/* While an input from outside is open, a machine on which all sleep and nothing
 * is due is not at its end: it waits for that input. Likewise. */
void dz_machine_open_input(void);
void dz_machine_close_input(void);

#endif
