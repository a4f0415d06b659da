/* SPDX-License-Identifier: MIT */
#ifndef SIM_WATCHDOG_H
#define SIM_WATCHDOG_H

/*
 * watchdog -- ends a program that computes and gets nowhere
 *
 * In virtual time, a loop that looks at the clock or at a peripheral ends,
 * since that takes time (DZ_VIRTUAL_PATIENCE). One that touches nothing stops
 * time itself. In real time, either would go on for ever. So this looks at the
 * host's clock of CPU time, which stands still in a debugger and in a sleep.
 * The program is stuck when the clock of virtual time has not moved for so long
 * or, in real time, when a core has been in the same poll or handler.
 *
 * It ends the program with DZ_EXIT_BUSY_LOOP, and says what ran.
 */

#include <stdint.h>

/* While no core runs; dz_report_begin comes before. In ns of CPU time of the
 * whole process. */
void dz_watchdog_start(uint64_t patience);
void dz_watchdog_stop(void);

#endif
