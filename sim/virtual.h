/* SPDX-License-Identifier: MIT */
#ifndef SIM_VIRTUAL_H
#define SIM_VIRTUAL_H

/*
 * virtual -- the machine in virtual time, on one thread
 *
 * What sim/machine.h says, behind its functions of the same names; all of it
 * on the thread that started the machine.
 */

#include "sim/machine.h"

/* Where time ends, about 52 days: dues are kept in order of their time and of
 * 12 bits that the seed chooses. Nothing happens there, but that it is reported
 * when all that was due before has happened. */
enum { DZ_VIRTUAL_SEED_BITS = 12 };
#define DZ_VIRTUAL_END (UINT64_MAX >> DZ_VIRTUAL_SEED_BITS)

/* A core that neither sleeps nor begins a poll for so long, in ns, is in a busy
 * loop, and so is one whose interrupts never let thread mode go on. */
#define DZ_VIRTUAL_PATIENCE UINT64_C(10000000000)

void dz_virtual_start(const struct dz_machine *machine);
void dz_virtual_stop(void);
uint64_t dz_virtual_now(void);

/* The core has worked for so many ns. What is due by then happens, interrupts
 * come, and cores that are behind go on. Nothing happens outside cores. */
void dz_virtual_charge(uint64_t ns);

/* A due happens: whoever acts is no core, though one may have let it happen. */
bool dz_virtual_is_firing(void);

/* Since when every core has been asleep, with nothing due and no input open.
 * UINT64_MAX: that is not so. In a due, or while no core runs. */
uint64_t dz_virtual_at_rest(void);

void dz_virtual_due_set(struct dz_due *due, uint64_t at);
void dz_virtual_due_clear(struct dz_due *due);

#endif
