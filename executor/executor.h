/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_EXECUTOR_H
#define EXECUTOR_EXECUTOR_H

/*
 * executor -- runs the tasks that are ready, then waits for an event
 *
 *     static struct dz_executor executor;
 *
 *     dz_executor_init(&executor, "main");
 *     dz_executor_spawn(&executor, &blink->task);
 *     dz_executor_run(&executor);
 *
 * What is guaranteed
 *  - FIFO: tasks run in the order in which they became ready. A, B and C
 *    spawned in that order run A B C, and again A B C if each yields.
 *  - A pass polls the tasks that were ready when it began, once each. What
 *    becomes ready meanwhile is left to the next pass, so a pass ends, and a
 *    task that never stops yielding holds nobody up for longer than its turn.
 *  - The port is asked to run the executor (it is pended) once when its queue
 *    turns from empty to non-empty. While the executor itself runs, this is put
 *    off: its run loop looks at the queue again before it waits, and a poll, or
 *    a run_until that is done, pends once at its end if it leaves ready tasks
 *    behind.
 *  - Before it waits, a run loop looks at the queue one last time. That pass
 *    is no poll and no wake-up, and it is not counted as one.
 *
 * An executor runs on the core that initialised it.
 */

#include "executor/task.h"

struct dz_executor {
    struct dz_task *first; /* NULL: nothing is ready */
    struct dz_port_executor port;
    struct dz_task *last; /* valid while first is not NULL */
    const char *name;     /* for messages */
    bool polled;          /* a run loop or a poll is under way */
};

/* Prepares an executor for the core that calls this, with nothing to run. The
 * name is not copied. Thread mode. */
void dz_executor_init(struct dz_executor *executor, const char *name);

/* Starts a claimed task. Panics if it was spawned before. Any context. */
void dz_executor_spawn(struct dz_executor *executor, struct dz_task *task);

/* One pass. Panics if it is called by a task of the same executor. */
void dz_executor_poll(struct dz_executor *executor);

/* True while a pass would poll a task. The executor's core, any context. */
DZ_INLINE bool dz_executor_is_ready(const struct dz_executor *executor)
{
    return *(struct dz_task *const volatile *)&executor->first != NULL;
}

/* Queues what other cores have woken: the work of the interrupt that they ring
 * this core with. The core's own inbox, any context. */
void dz_executor_receive(struct dz_task **inbox);

/* Passes and waits for ever. Thread mode. */
_Noreturn void dz_executor_run(struct dz_executor *executor);

/* The same until `done` is true, which is looked at after each pass and before
 * each wait. A task sets it; an interrupt that sets it wakes a task, too, so
 * that a wait ends. Thread mode. */
void dz_executor_run_until(
    struct dz_executor *executor, const volatile bool *done);

#endif
