/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_LOCAL_H
#define EXECUTOR_LOCAL_H

/*
 * local -- what each core has of its own
 *
 * Touched by that core alone, in thread mode or in an interrupt. A port that
 * runs several cores on one thread exchanges the whole struct when it changes
 * from one to another; nothing points into it.
 */

#include "executor/heap.h"
#include "port.h"

struct dz_executor;
struct dz_waiter;

struct dz_local {
    struct dz_waiter *current;   /* of the branch that runs now */
    struct dz_executor *running; /* the FIFO executor whose tasks run now, or
                                    NULL: none, or one of another kind */
    struct dz_heap timers;       /* that are queued: executor/timer.c */
};

extern DZ_PORT_LOCAL struct dz_local dz_local;

/* What it is on a core that has done nothing yet. */
#define DZ_LOCAL_INITIAL        \
    {                           \
        .current = &dz_outside, \
    }

/* The waiter of the branch that runs now, on this core. */
#define dz_current (dz_local.current)

#endif
