/* SPDX-License-Identifier: MIT */
#ifndef SIM_PERFETTO_H
#define SIM_PERFETTO_H

/*
 * perfetto -- a trace as a picture: open the file in ui.perfetto.dev
 *
 * It is in the Trace Event Format, JSON, times in us with three decimals.
 *  - Each core is a process; one more, "board", has what happens on no core.
 *  - Each interrupt and each task is a thread of its core. A handler, and a
 *    poll, is a slice there; one more thread has what else the core does.
 *  - A section in which an object is locked is a slice within the one that
 *    locks it.
 *  - An arrow goes from who wakes a task to its next poll, and from who pends
 *    an interrupt to its handler.
 *  - A pin is a counter of the board. All else is an instant.
 *
 * Slices of a thread nest, and its time does not go back, whatever was lost or
 * cut off by the end of a core.
 *
 * For sim/trace.c, which says in what context.
 */

#include "sim/trace.h"

/* False: errno says why. */
bool dz_perfetto_open(const char *path);

/* `subject` is that of the event (executor/trace.h); of an interrupt, its
 * vector. Nothing is read from it: it tells namesakes apart. */
void dz_perfetto_write(const struct dz_trace_event *event, const void *subject);

/* Events are missing here: `count`, up to now. */
void dz_perfetto_write_loss(const struct dz_trace_event *next, unsigned count);

/* False: something could not be written. */
bool dz_perfetto_close(void);

#endif
