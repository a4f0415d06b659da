/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_TRACE_H
#define EXECUTOR_TRACE_H

/*
 * trace -- what the executor tells whoever watches it
 *
 * Built with DZ_TRACE=1, the core calls the port's dz_port_trace at each of
 * these events. Built without, which is the default, no trace of it is left in
 * the code. Every translation unit of a program is built alike.
 */

#include "executor/async.h"

#ifndef DZ_TRACE
#define DZ_TRACE 0
#endif

enum dz_event {
    DZ_EVENT_WAKE, /* a task became ready: its struct dz_task */
    DZ_EVENT_PEND, /* an executor was pended: its struct dz_executor */
    DZ_EVENT_POLL, /* a task is about to be polled: its struct dz_task */
    DZ_EVENT_IDLE, /* nothing is ready, wait follows: the struct dz_executor */
    DZ_EVENTS      /* how many there are */
};

/* Supplied by a port that can be traced. Called in the context of the event,
 * within a critical section for wake and pend. */
void dz_port_trace(enum dz_event event, const void *object);

DZ_INLINE void dz_trace(enum dz_event event, const void *object)
{
    if (DZ_TRACE)
        dz_port_trace(event, object);
}

#endif
