/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_EXECUTOR_H
#define EXECUTOR_EXECUTOR_H

/*
 * executor -- runs the tasks that are ready
 *
 *     static struct dz_executor executor;
 *
 *     dz_executor_init(&executor, "main");
 *     dz_executor_spawn(&executor, &blink->task);
 *     dz_executor_run(&executor);                    in thread mode, for ever
 *     dz_executor_start(&executor, UART_IRQ, 2);     or in an interrupt
 *
 * A run loop in thread mode polls what is ready, then waits for an event. An
 * interrupt executor is polled by an interrupt of its own: its tasks preempt
 * thread mode and every interrupt that is less urgent.
 *
 * In which order tasks run is chosen when the executor is initialised. This
 * one is FIFO; priority.h and deadline.h have others.
 *
 * What is guaranteed
 *  - FIFO: tasks run in the order in which they became ready. A, B and C
 *    spawned in that order run A B C, and again A B C if each yields.
 *  - A pass of a FIFO executor polls the tasks that were ready when it began,
 *    once each. What becomes ready meanwhile is left to the next pass, so a
 *    task that never stops yielding holds nobody up for longer than its turn.
 *  - Every other pass polls at most as many tasks as were ready when it began,
 *    each time the one that is the most urgent then: one that became ready
 *    meanwhile, or yielded, may go before others that waited. So it ends, too,
 *    but a task that never stops yielding holds up those below it for ever.
 *  - The port is asked to run the executor (it is pended) once when its queue
 *    turns from empty to non-empty. While the executor itself runs, this is put
 *    off: its run loop looks at the queue again before it waits, and a poll, or
 *    a run_until that is done, pends once at its end if it leaves ready tasks
 *    behind. (Where interrupts end a wait by themselves, which the port says, a
 *    run loop that waits is not pended either.)
 *  - Before it waits, a run loop looks at the queue one last time. That pass
 *    is no poll and no wake-up, and it is not counted as one.
 *  - Polls of one executor do not nest: what tries panics.
 *
 * An executor runs on the core that initialised it.
 */

#include "executor/task.h"

struct dz_executor;

/* What is ready, in an order other than FIFO. A part of the struct that its
 * kind of executor is initialised with. */
struct dz_run_queue {
    const struct dz_run_queue_type *type;
    unsigned count; /* of tasks; its type's */
};

/* How a kind of executor other than FIFO is polled. */
struct dz_run_loops {
    void (*poll)(struct dz_executor *executor); /* one pass */
    void (*run)(struct dz_executor *executor, const volatile bool *done);
};

/* That of all of them. It is named by their types alone: a program with FIFO
 * executors only does without it. */
extern const struct dz_run_loops dz_sorted_loops;

/* What a kind of run queue does. All of it in critical sections. */
struct dz_run_queue_type {
    /* True: it was empty. */
    bool (*append)(struct dz_run_queue *queue, struct dz_task *task);
    /* The most urgent task; there is one. */
    struct dz_task *(*take)(struct dz_run_queue *queue);
    /* False: it was not there. */
    bool (*remove)(struct dz_run_queue *queue, struct dz_task *task);
    const struct dz_run_loops *loops; /* dz_sorted_loops */
};

enum dz_executor_state {
    DZ_EXECUTOR_STOPPED, /* nobody runs it */
    DZ_EXECUTOR_IDLE,    /* its run loop is about to wait, or waits (unless
                            DZ_PORT_RETURN_SETS_EVENT) */
    DZ_EXECUTOR_POLLED,  /* it will look at its queue again: nobody pends it */
};

struct dz_executor {
    struct dz_task *first; /* FIFO: NULL: nothing is ready */
    struct dz_port_executor port;
    struct dz_task *last;       /* FIFO: valid while first is not NULL */
    const char *name;           /* for messages */
    struct dz_run_queue *queue; /* NULL: FIFO, from first to last */
    uint8_t state;              /* enum dz_executor_state */
    bool is_started;            /* an interrupt polls it */
    bool is_outside; /* its task counts as code outside tasks: block_on.h */
};

/* Prepares an executor for the core that calls this, with nothing to run. The
 * name is not copied. Thread mode. */
void dz_executor_init(struct dz_executor *executor, const char *name);

/* Starts a claimed task. Panics if it was spawned before. Any context. */
void dz_executor_spawn(struct dz_executor *executor, struct dz_task *task);

/* One pass. Panics if it is called by a task of the same executor, or in thread
 * mode for an executor that was started. */
void dz_executor_poll(struct dz_executor *executor);

/* Leaves an executor to an interrupt of this core, which polls it from now on.
 * What was spawned before runs at once. Which priorities are more urgent is
 * the port's: on Arm and in the simulator, smaller numbers. Panics if the
 * executor was started before, runs, or is another core's. Thread mode. */
void dz_executor_start(
    struct dz_executor *executor, int interrupt, unsigned priority);

/* True while a pass would poll a task. The executor's core, any context. */
DZ_INLINE bool dz_executor_is_ready(const struct dz_executor *executor)
{
    if (executor->queue != NULL)
        return *(const volatile unsigned *)&executor->queue->count != 0;
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
void dz_executor_run_until(struct dz_executor *executor,
    const volatile bool *done) __attribute__((nonnull));

#endif
