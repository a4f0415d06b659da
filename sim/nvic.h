/* SPDX-License-Identifier: MIT */
#ifndef SIM_NVIC_H
#define SIM_NVIC_H

/*
 * nvic -- which interrupt runs next
 *
 * The logic of an interrupt controller after the Armv7-M architecture (manual
 * DDI 0403, B1.5 and B3.4), and nothing else: no thread, no signal, no clock. A
 * back end calls it and does what it says, so it can be tested alone:
 *
 *     while ((irq = dz_nvic_next(nvic, primask)) != DZ_NVIC_NONE) {
 *         dz_nvic_enter(nvic, irq);
 *         ...                        its handler, which may be preempted
 *         dz_nvic_exit(nvic, irq);
 *     }
 *
 * To go round again without a return to thread mode is tail-chaining.
 *
 * What is guaranteed
 *  - The choice is made when it is asked for, from what is pending and enabled
 *    then, and never kept. To disable an interrupt keeps it pending.
 *  - A smaller priority is more urgent. An interrupt may be entered if it is
 *    more urgent than all that are active and than BASEPRI. The most urgent
 *    goes first, among equals the one with the lowest number.
 *  - A line that is asserted makes its interrupt pending, again and again until
 *    it is lowered: see dz_nvic_raise. Who wants an edge pends instead.
 *
 * What is not here: groups and sub-priorities (all bits preempt), FAULTMASK,
 * the NMI and the faults, event registers. PRIMASK is a register of the core,
 * which hands it in.
 *
 * Any thread may call dz_nvic_pend, raise, lower, is_pending, is_enabled, and
 * priority, at any time. All else belongs to the core, with its interrupts off.
 *
 * Interrupts are numbered as in CMSIS. A number that is not among them panics,
 * in every function.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    DZ_PENDSV = -2,
    DZ_SYSTICK = -1,
    DZ_NVIC_IRQS = 240,               /* external interrupts 0 to 239 */
    DZ_NVIC_LINES = DZ_NVIC_IRQS + 2, /* with the two above */
    DZ_NVIC_NONE = -16,   /* no interrupt: as an exception, thread mode */
    DZ_NVIC_THREAD = 256, /* the priority of thread mode: below all others */
    DZ_NVIC_WORDS = (DZ_NVIC_LINES + 31) / 32,
};

enum dz_primask {
    DZ_PRIMASK_CLEAR,
    DZ_PRIMASK_SET, /* nothing is entered */
};

/*
 * All zero: nothing pending, nothing enabled but PendSV and SysTick, all of the
 * highest priority. Interrupt n is bit n + 2 of an array of words, and element
 * n + 2 of the others.
 *
 * Why each is atomic, and sequentially consistent: who makes an interrupt
 * pending stores that and then loads whatever says whether the core has to be
 * kicked (enable and priority may be part of it); the core stores its part and
 * then scans. With every access in one order, one of the two sees the other.
 */
struct dz_nvic {
    /* Low half: pending; high half: the line is asserted. In one word, since a
     * rising edge changes both: between two stores the core could serve the
     * interrupt, and would see a second one, or a line that nobody lowers. */
    _Atomic uint64_t state[DZ_NVIC_WORDS];
    _Atomic uint32_t enabled[DZ_NVIC_WORDS];
    _Atomic uint8_t priority[DZ_NVIC_LINES];
    uint8_t priority_bits;         /* 2 to 8; 0 means 8; set before all else */
    uint8_t basepri;               /* 0: off */
    uint8_t depth;                 /* how many are active */
    uint8_t active[DZ_NVIC_LINES]; /* a stack: the last one runs */
};

/* The exception number, which is also the value of IPSR and the place in a
 * vector table. 0, thread mode, for DZ_NVIC_NONE. */
static inline unsigned dz_nvic_exception(int irq)
{
    return (unsigned)(irq + 16);
}

/* The place of an interrupt in an array of DZ_NVIC_LINES. */
unsigned dz_nvic_index(int irq);

/* Makes an interrupt pending, as an edge or a write to its pending bit does;
 * twice is once. Any thread. */
void dz_nvic_pend(struct dz_nvic *nvic, int irq);

/* Makes an interrupt not pending, unless its line is asserted. */
void dz_nvic_clear_pending(struct dz_nvic *nvic, int irq);

/* Asserts the line of an external interrupt, which makes it pending, even while
 * it is active. Asserted already: nothing happens. An interrupt that exits with
 * its line asserted is pending again, so its handler makes the peripheral lower
 * the line. Any thread. */
void dz_nvic_raise(struct dz_nvic *nvic, int irq);

/* Deasserts the line. The interrupt stays pending if it is. Any thread. */
void dz_nvic_lower(struct dz_nvic *nvic, int irq);

/* True from when it is made pending until it is entered. Any thread. */
bool dz_nvic_is_pending(const struct dz_nvic *nvic, int irq);

/* PendSV and SysTick are always enabled. To disable them panics. */
void dz_nvic_enable(struct dz_nvic *nvic, int irq);
void dz_nvic_disable(struct dz_nvic *nvic, int irq);

/* Any thread. */
bool dz_nvic_is_enabled(const struct dz_nvic *nvic, int irq);

/* Only the top `priority_bits` are kept. What is active or pending has its new
 * priority from now on. */
void dz_nvic_set_priority(struct dz_nvic *nvic, int irq, uint8_t priority);

/* Any thread. */
unsigned dz_nvic_priority(const struct dz_nvic *nvic, int irq);

/* Masks this priority and all that are less urgent; 0 masks nothing. Only the
 * top `priority_bits` are kept, so what is left may be 0. */
void dz_nvic_set_basepri(struct dz_nvic *nvic, uint8_t basepri);

/* The most urgent of what is active and BASEPRI, or DZ_NVIC_THREAD. */
unsigned dz_nvic_execution_priority(const struct dz_nvic *nvic);

/* The interrupt that may be entered now, or DZ_NVIC_NONE. */
int dz_nvic_next(const struct dz_nvic *nvic, enum dz_primask primask);

/* True if there is an interrupt that ends a WFI: one that could be entered now
 * if PRIMASK were clear, whether it is or not. */
bool dz_nvic_wakes(const struct dz_nvic *nvic);

/* The interrupt is no longer pending, but active. Panics unless it is pending,
 * enabled, and urgent enough. */
void dz_nvic_enter(struct dz_nvic *nvic, int irq);

/* Ends the interrupt that was entered last; panics if that is another. */
void dz_nvic_exit(struct dz_nvic *nvic, int irq);

/* True from dz_nvic_enter to dz_nvic_exit, also while it is preempted. */
bool dz_nvic_is_active(const struct dz_nvic *nvic, int irq);

/* Forgets what is pending and active, the lines, and BASEPRI, as if each
 * peripheral was reset as well: one that goes on raises its line anew. What is
 * enabled, and priorities, stay as they were set up. */
void dz_nvic_reset(struct dz_nvic *nvic);

#endif
