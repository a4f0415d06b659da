/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_PRIORITY_H
#define EXECUTOR_PRIORITY_H

/*
 * priority -- an executor that runs the task of the highest priority first
 *
 *     static struct dz_priority_queue queue;
 *
 *     dz_executor_init_priority(&executor, &queue, "main");
 *     (void)alarms_claim(&alarm);
 *     dz_task_set_priority(&alarm->task, 9);
 *     dz_executor_spawn(&executor, &alarm->task);
 *
 * What is guaranteed
 *  - Of the tasks that are ready, one of the highest priority is polled next;
 *    among equals, the one that has been ready longest. A larger number is a
 *    higher priority.
 *  - A changed priority takes effect at once, also for a task that is ready: it
 *    goes behind those of its new priority. Setting what is set already changes
 *    nothing.
 *  - Making a task ready and taking the next one take the same time for any
 *    number of tasks. Changing the priority of a ready task takes longer the
 *    more tasks of its old priority are ready, with interrupts off.
 *
 * What to know
 *  - A task is not preempted by another of its executor, whatever their
 *    priorities: it runs up to its next wait. An executor in an interrupt
 *    preempts (dz_executor_start).
 *  - dz_yield_poll lets tasks of the same and of higher priority go first, but
 *    none below. Who yields for ever starves those. Yet a pass ends
 *    (executor.h), and with it run_until, once it is done.
 */

#include "executor/executor.h"

enum { DZ_PRIORITIES = 64 }; /* from 0, which is the lowest */

/* All that is ready, one circle of tasks for each priority. */
struct dz_priority_queue {
    struct dz_run_queue queue;
    uint64_t ready; /* a bit for each priority with a ready task */
    /* Behind which the first one stands, if it is not alone; NULL: none. */
    struct dz_task *last[DZ_PRIORITIES];
};

/* Like dz_executor_init. The queue belongs to this executor. Thread mode. */
void dz_executor_init_priority(struct dz_executor *executor,
    struct dz_priority_queue *queue, const char *name);

/* Sets the priority of a claimed task, which is 0 until then. Executors of
 * other kinds ignore it. The core of the task's executor, any context; before
 * it is spawned, any. */
void dz_task_set_priority(struct dz_task *task, unsigned priority);

/* Any context. */
DZ_INLINE unsigned dz_task_priority(const struct dz_task *task)
{
    return task->priority;
}

#endif
