/* SPDX-License-Identifier: MIT */
#ifndef SIM_COUNTER_H
#define SIM_COUNTER_H

/*
 * counter -- a hardware counter with a compare register
 *
 *     struct dz_counter counter;
 *
 *     dz_counter_open(&counter, &core, DZ_IRQ_ALARM, 16);
 *     dz_counter_arm(&counter, dz_counter_read(&counter) + 1000);
 *     dz_counter_acknowledge(&counter);                 in the handler, first
 *
 * It counts ticks of DZ_TICK_HZ from when the machine starts, and has as many
 * bits as it is given: behind the last value it goes on with 0. All counters of
 * a machine count alike.
 *
 * It is as unhelpful as real ones are. Whoever drives it has to know that
 *  - it compares for equality when it moves on to a new value. Armed with the
 *    value that it has, or with one that it had, it says nothing for a turn;
 *  - it takes the low bits of what it is armed with;
 *  - a match asserts the interrupt's line, and one acknowledgement takes back
 *    all that were asserted before it, also those that nobody has seen;
 *  - it does not say how often it has turned over.
 *
 * All of it is called on the counter's core, in any context.
 */

#include "executor/time.h"
#include "sim/machine.h"

struct dz_core;

/* All zero until it is opened. */
struct dz_counter {
    struct dz_due due; /* the match that it is armed for */
    struct dz_core *core;
    int irq;
    uint64_t mask; /* its largest value */
};

/* Where its interrupt goes, and how many bits it has, 2 to 64. */
void dz_counter_open(
    struct dz_counter *counter, struct dz_core *core, int irq, unsigned bits);

/* Disarms it. When the core has ended: on any thread. */
void dz_counter_close(struct dz_counter *counter);

/* A look at the clock. */
uint64_t dz_counter_read(const struct dz_counter *counter);

/* Matches once, when the counter next comes to this value. What it was armed
 * with before is replaced. */
void dz_counter_arm(struct dz_counter *counter, uint64_t compare);

/* Lowers the interrupt's line. */
void dz_counter_acknowledge(struct dz_counter *counter);

#endif
