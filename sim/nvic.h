/* SPDX-License-Identifier: MIT */
#ifndef SIM_NVIC_H
#define SIM_NVIC_H

/*
 * nvic -- which interrupt runs next
 *
 * The logic of an interrupt controller after that of a Cortex-M, and nothing
 * else: no thread, no signal, no clock. A back end calls it and does what it
 * says, so it can be tested alone.
 *
 * An interrupt is pending from dz_nvic_pend until it is entered, enabled or
 * not: disabling it keeps the pending bit, and the choice is made when it is
 * asked for, never when the bit is set. A smaller number is a more urgent
 * priority. An interrupt preempts those that are active only if it is more
 * urgent; among equals the one with the lower number goes first.
 *
 * dz_nvic_pend may be called by any thread, at any time. All else belongs to
 * the core, with its interrupts off: see dz_core_enable and its neighbours.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    DZ_NVIC_LINES = 64,   /* interrupts 0 to 63 */
    DZ_NVIC_THREAD = 256, /* the priority of thread mode: below all others */
    DZ_NVIC_NONE = -1,
};

/* All zero: nothing pending, nothing enabled, all of the highest priority. */
struct dz_nvic {
    _Atomic uint64_t pending;
    uint64_t enabled;
    uint64_t active;
    uint8_t priority[DZ_NVIC_LINES];
};

/* Makes an interrupt pending; twice is once. Any thread. */
void dz_nvic_pend(struct dz_nvic *nvic, unsigned line);

/* True from dz_nvic_pend until dz_nvic_enter. Any thread. */
bool dz_nvic_is_pending(const struct dz_nvic *nvic, unsigned line);

void dz_nvic_enable(struct dz_nvic *nvic, unsigned line);
void dz_nvic_disable(struct dz_nvic *nvic, unsigned line);
void dz_nvic_set_priority(
    struct dz_nvic *nvic, unsigned line, uint8_t priority);

/* The interrupt that may be entered now, or DZ_NVIC_NONE. */
int dz_nvic_next(const struct dz_nvic *nvic);

/* The interrupt is no longer pending, but active, until it exits. */
void dz_nvic_enter(struct dz_nvic *nvic, unsigned line);
void dz_nvic_exit(struct dz_nvic *nvic, unsigned line);

#endif
