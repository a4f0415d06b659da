/* SPDX-License-Identifier: MIT */
#include "executor/block_on.h"

#include "executor/executor.h"

struct blocking {
    struct dz_task task;
    enum dz_poll (*poll)(void *argument);
    void *argument;
    bool *is_done; /* its caller's: the frame is gone by then */
};

static enum dz_poll blocking_poll(struct blocking *self)
{
    enum dz_poll poll = self->poll(self->argument);

    *self->is_done = poll == DZ_READY;
    return poll;
}

/* Static, for a late wake-up may come at any time (executor/task.h). */
DZ_TASK_POOL(block_on, struct blocking, blocking_poll, DZ_CORES)

/* The executor goes with its caller. Nobody knows of it but its one task, which
 * has ended by then: as one for code outside tasks, it owns no object. */
void dz_block_on(enum dz_poll (*poll)(void *argument), void *argument)
{
    struct dz_executor executor;
    struct blocking *blocking;
    bool is_done = false;

    if (dz_current != &dz_outside || !dz_port_is_thread_mode())
        dz_panic("dz_block_on in a task or a handler: await instead", __FILE__,
            __LINE__);
    if (block_on_claim(&blocking) == DZ_BUSY)
        dz_panic(
            "dz_block_on on more threads than DZ_CORES", __FILE__, __LINE__);
    blocking->poll = poll;
    blocking->argument = argument;
    blocking->is_done = &is_done;
    dz_executor_init(&executor, "block_on");
    executor.is_outside = true;
    dz_executor_spawn(&executor, &blocking->task);
    dz_executor_run_until(&executor, &is_done);
}
