/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_TRACE_H
#define EXECUTOR_TRACE_H

/*
 * trace -- what the core tells whoever watches it
 *
 * Built with DZ_TRACE=1, the core calls the port's dz_port_trace at each of
 * these events. Built without, which is the default, no trace of it is left in
 * the code. Every translation unit of a program is built alike.
 *
 * A task's events come in this order: SPAWN, WAKE, then for each poll POLL,
 * what it does, POLLED, and behind the last POLLED an END. A task that has
 * ended has no further events, whoever wakes it. POLL and POLLED nest as
 * brackets do, with those of an interrupt executor inside those of the task
 * that it interrupted.
 */

#include "executor/compiler.h"

#ifndef DZ_TRACE
#define DZ_TRACE 0
#endif

/* Each with its subject and its detail; without a detail, that is NULL. */
enum dz_event {
    DZ_EVENT_SPAWN,  /* a task was spawned: its struct dz_task */
    DZ_EVENT_WAKE,   /* a task became ready: its struct dz_task */
    DZ_EVENT_PEND,   /* an executor was pended: its struct dz_executor */
    DZ_EVENT_POLL,   /* a task is about to be polled: its struct dz_task */
    DZ_EVENT_POLLED, /* the poll returned: the struct dz_task */
    DZ_EVENT_END,    /* it was the last one: the struct dz_task */
    DZ_EVENT_IDLE,   /* nothing is ready, wait follows: the struct dz_executor
                      */
    DZ_EVENT_LOCK,   /* an object's lock was taken: the object; its name */
    DZ_EVENT_UNLOCK, /* and given back: likewise */
    DZ_EVENT_WAIT,   /* a branch does not get on: the object, or another thing
                        that it waits for; its name */
    DZ_EVENT_AWAIT,  /* an await returns to its caller: struct dz_await_place;
                        the innermost first, behind the WAIT */
    /* By a port that sees its interrupts, in a way of its own. */
    DZ_EVENT_INTERRUPT_PEND,
    DZ_EVENT_INTERRUPT_ENTER,
    DZ_EVENT_INTERRUPT_EXIT,
    DZ_EVENT_START, /* a core starts; what it was in the middle of, when it was
                       stopped, is over */
    DZ_EVENTS       /* how many there are */
};

/* Where an await stands. */
struct dz_await_place {
    const char *file;
    const char *function;
    int line;
};

/* Supplied by a port that can be traced. Called in the context of the event:
 * spawn, wake, pend and end within a critical section, as all that happens
 * under the lock of an object whose lock is one. */
void dz_port_trace(
    enum dz_event event, const void *subject, const void *detail);

DZ_INLINE void dz_trace(
    enum dz_event event, const void *subject, const void *detail)
{
    if (DZ_TRACE)
        dz_port_trace(event, subject, detail);
}

#endif
