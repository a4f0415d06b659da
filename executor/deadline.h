/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_DEADLINE_H
#define EXECUTOR_DEADLINE_H

/*
 * deadline -- an executor that runs the task of the earliest deadline first
 *
 * A frame that is to run there has a second member, for its deadline and its
 * place in the queue. A task without one pays nothing for it.
 *
 *     struct reply {
 *         struct dz_task task;
 *         struct dz_deadline deadline;
 *     };
 *
 *     DZ_TASK_POOL_DEADLINE(replies, struct reply, reply_poll, 4)
 *
 *     static struct dz_deadline_queue queue;
 *
 *     dz_executor_init_deadline(&executor, &queue, "main");
 *     (void)replies_claim(&reply);
 *     dz_task_set_deadline(&reply->task, now + 250);
 *     dz_executor_spawn(&executor, &reply->task);
 *
 * What is guaranteed
 *  - Of the tasks that are ready, one of the earliest deadline is polled next;
 *    among equals, the one that has been ready longest (see heap.h for how far
 *    that goes). Tasks without a deadline come last.
 *  - A changed deadline takes effect at once, also for a task that is ready: it
 *    goes behind those of the same deadline. Setting what is set already
 *    changes nothing. Nobody ever sees one half of the old deadline and one
 *    half of the new.
 *  - All of it takes O(log n) steps for n ready tasks, in the worst case.
 *
 * What to know
 *  - A deadline is a number that is compared with others, usually ticks of the
 *    clock. Nothing happens when it passes.
 *  - A task is not preempted by another of its executor, and dz_yield_poll lets
 *    none of a later deadline go first: see priority.h.
 *  - Such a task runs on executors of other kinds, too, which ignore the
 *    deadline.
 */

#include "executor/executor.h"
#include "executor/heap.h"

#define DZ_NO_DEADLINE UINT64_MAX

/* Second member of a frame. */
struct dz_deadline {
    struct dz_heap_node node; /* its key is the deadline */
};

/* How such a frame begins. */
struct dz_deadline_frame {
    struct dz_task task;
    struct dz_deadline deadline;
};

/* All that is ready. */
struct dz_deadline_queue {
    struct dz_run_queue queue;
    struct dz_heap heap;
};

/* Like dz_executor_init. The queue belongs to this executor. Spawning a task
 * without a place for its deadline there panics. Thread mode. */
void dz_executor_init_deadline(struct dz_executor *executor,
    struct dz_deadline_queue *queue, const char *name);

/* Sets the deadline of a claimed task, which is DZ_NO_DEADLINE until then. The
 * core of the task's executor, any context; before it is spawned, any. */
void dz_task_set_deadline(struct dz_task *task, uint64_t deadline);

/* Likewise. */
uint64_t dz_task_deadline(const struct dz_task *task);

/* Where a task of a pool with deadlines keeps its own. */
DZ_INLINE struct dz_heap_node *dz_deadline_of(struct dz_task *task)
{
    return &container_of(task, struct dz_deadline_frame, task)->deadline.node;
}

/* DZ_TASK_POOL for frames with a deadline. */
#define DZ_TASK_POOL_DEADLINE(NAME, type, body, count) \
    DZ_TASK_POOL_WITH(NAME, type, body, count, DZ_WITH_DEADLINE(type))

/* For DZ_TASK_POOL_WITH. */
#define DZ_WITH_DEADLINE(type)                                                  \
    .has_deadlines = sizeof(struct {                                            \
        _Static_assert(                                                         \
            _Generic(((type *)0)->deadline, struct dz_deadline                  \
                     : offsetof(type, deadline) ==                              \
                         offsetof(struct dz_deadline_frame, deadline),          \
                     default : 0),                                              \
            "the second member of a frame is its struct dz_deadline deadline"); \
        char unused;                                                            \
    }) != 0

#endif
