/* SPDX-License-Identifier: MIT */
#include "executor/cancel.h"

static struct dz_cancellation *cancellation_of(struct dz_task *task)
{
    char *frame = (char *)task;

    return (
        struct dz_cancellation *)(void *)(frame + task->pool->cancellation_at);
}

/*
 * The flag is read without a critical section, yet none is missed. It is set in
 * one, together with the wake-up, and since the task was made wakeable
 * (executor.c): then the wake-up queues it, and it is polled once more. Or it
 * was set before that: then we see it.
 *
 * There is nothing to cancel here. To the executor, the task has returned: it
 * leaves the place where the task's outermost branch is, and that is our fork.
 * Nor is that branch made the current one again: the executor does so at each
 * poll.
 */
enum dz_poll dz_cancellable_poll(
    struct dz_task *task, enum dz_poll (*body)(struct dz_task *task))
{
    struct dz_cancellation *self = cancellation_of(task);

    if (*(volatile bool *)&self->is_asked)
        return DZ_READY;
    dz_fork_begin(&self->branch.fork, DZ_FORK_COUNT(&self->branch));
    dz_fork_enter(&self->branch.fork, 0);
    return body(task);
}

/* A slot without a pool is free. In the critical section it stays so, or the
 * task stays alive. */
void dz_task_cancel(struct dz_task *task)
{
    dz_key key = dz_port_enter();

    if (task->pool == NULL) {
        dz_port_exit(key);
        return;
    }
    if (task->pool->cancellation_at == 0)
        dz_task_panic(task,
            "a task is cancelled that cannot be; give its frame a struct "
            "dz_cancellation, and define its pool by "
            "DZ_TASK_POOL_CANCELLABLE");
    *(volatile bool *)&cancellation_of(task)->is_asked = true;
    dz_task_wake_exit(task, key);
}
