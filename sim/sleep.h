/* SPDX-License-Identifier: MIT */
#ifndef SIM_SLEEP_H
#define SIM_SLEEP_H

/*
 * sleep -- how a core in real time sleeps, and is woken: a file for each way
 *
 * Where there are futexes, a core that sleeps is woken without a signal: that
 * is half the time.
 */

#include <signal.h>
#include <stdbool.h>

#include "sim/core.h"

enum { DZ_DOORBELL = SIGURG };

/* Sleeps until `is_over`, which is looked at whenever something was pended. On
 * the core, in thread mode, masked: the doorbell leaves a note and no more. */
void dz_sleep(struct dz_core *core, bool (*is_over)(struct dz_core *core));

/* Wakes the core if it sleeps in a way that needs no doorbell. False: it needs
 * one. Any thread, and the doorbell's handler. */
bool dz_sleep_end(struct dz_core *core);

#endif
