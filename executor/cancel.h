/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_CANCEL_H
#define EXECUTOR_CANCEL_H

/*
 * cancel -- end a task from outside
 *
 * A task that is to be cancelled has a member for that in its frame. A task
 * without one pays nothing for it.
 *
 *     struct download {
 *         struct dz_task task;
 *         struct dz_cancellation cancellation;
 *     };
 *
 *     DZ_TASK_POOL_CANCELLABLE(downloads, struct download, download_poll, 2)
 *
 *     dz_task_cancel(&download->task);
 *
 * To cancel a part of a task, take a select (select.h).
 *
 * What is guaranteed
 *  - A cancelled task is woken, and its body does not run any more. It ends as
 *    a branch that loses a select does (fork.h): first it leaves all queues,
 *    then what it was granted goes to others, and what it holds is given back
 *    by its guards, newest first. Then its slot is free. All of that happens
 *    in the task, where its executor would have polled it.
 *  - Cancelled before its first poll, or before it was spawned, it never runs.
 *  - Cancelled while it runs, by itself, an interrupt or another core, it goes
 *    on to its next wait. If it returns first, it has ended of its own accord.
 *  - It ends once, however often it is cancelled. What has ended can be
 *    cancelled at any time; nothing happens.
 *
 * What to know
 *  - If the slot is in use again, the new task is cancelled. Who cancels has to
 *    know which task lives there.
 *  - A task cannot refuse, nor wait while it ends.
 *  - Guards of such a task that are still entered when it returns give back,
 *    too.
 */

#include "executor/fork.h"

/* The body is the one branch of a fork. */
DZ_FORK_DEFINE(dz_cancelled_fork, fork, 1)

/* A member of the frame, anywhere behind its task. */
struct dz_cancellation {
    struct dz_cancelled_fork branch;
    bool is_asked; /* the next poll is the end */
};

/* Ends a claimed or spawned task. Panics if its pool has no cancellations. Any
 * context. */
void dz_task_cancel(struct dz_task *task);

/* DZ_TASK_POOL for frames with a cancellation. */
#define DZ_TASK_POOL_CANCELLABLE(NAME, type, body, count) \
    DZ_TASK_POOL_WITH(NAME, type, body, count, DZ_WITH_CANCELLATION(type))

/* For DZ_TASK_POOL_WITH. */
#define DZ_WITH_CANCELLATION(type)                                 \
    .cancellation_at =                                             \
        _Generic(((type *)0)->cancellation, struct dz_cancellation \
                 : offsetof(type, cancellation))

#endif
