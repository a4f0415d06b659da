/* SPDX-License-Identifier: MIT */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

/*
 * report -- why nothing goes on: who waits for what, and where
 *
 * Listens to the core's events and remembers, for each live task, what its
 * last poll waited for and at which awaits, innermost first, and for each
 * object who used it last without having to wait: the task that holds it, or
 * that left it as it is. When the machine stands still, it prints that for
 * every task, in the order in which they were spawned. Objects of one type are
 * numbered in the order in which they were first seen:
 *
 *     deadlock at 0.250 s: all cores sleep, and nothing is scheduled
 *       task writer, slot 0, executor "main", core 0
 *         waits for line_channel #1; last used by task button, slot 0
 *           writer.c:31: writer_poll
 *
 * Nothing is allocated. There is room for 1024 tasks and 4096 objects; what is
 * beyond is counted, and the report says so.
 */

#include <stdbool.h>

/* While no core runs. Without it a report has no tasks to tell of. */
void dz_report_begin(void);
void dz_report_end(void);

/* The live tasks, and the interrupts that are pending in vain, to standard
 * error. Any thread, any context. */
void dz_report_tasks(void);

/* Keeps what there is to tell of interrupts, before the cores stop and forget
 * it. Likewise. */
void dz_report_keep_interrupts(void);

/* Every core sleeps, and nothing is scheduled that could wake one: tells of all
 * tasks and exits with DZ_EXIT_DEADLOCK. */
_Noreturn void dz_report_deadlock(void);

/* Likewise: virtual time ends. Exits with DZ_EXIT_TIMEOUT. */
_Noreturn void dz_report_end_of_time(void);

/* The core that calls this has, for DZ_VIRTUAL_PATIENCE, not done what `fault`
 * says: tells of the handlers and the task that run on it, and exits with
 * DZ_EXIT_BUSY_LOOP. */
_Noreturn void dz_report_busy_loop(const char *fault);

/* The first half of it, for any core; `fault` says how it is known. Any thread,
 * any context. */
void dz_report_stuck(unsigned core, const char *fault);

/* How far a core has come: it counts its polls and its interrupts, and when
 * each ends. Likewise. */
unsigned dz_report_progress(unsigned core);

/* True: a poll or a handler is under way on the core. Likewise. */
bool dz_report_is_working(unsigned core);

#endif
