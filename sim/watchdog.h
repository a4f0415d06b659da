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
 * or, in real time, when a core has been in the same poll or handler, or in
 * handlers one behind the other.
 *
 * It ends the program with DZ_EXIT_BUSY_LOOP, and says what ran.
 */

#include <stdint.h>

/* Reports a core that is stuck: `fault` says how it is known. Exits with the
 * code, or if the traces cannot be written in two seconds, without them. Any
 * thread, any context, signal handlers too. */
_Noreturn void dz_watchdog_end(unsigned core, const char *fault, int code);

/* While no core runs; dz_report_begin comes before. Patience is in ns of CPU
 * time of the whole process, cores are those of dz_program_core. */
void dz_watchdog_start(uint64_t patience, unsigned cores);
void dz_watchdog_stop(void);

#endif
