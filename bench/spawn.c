/* SPDX-License-Identifier: MIT */

/*
 * spawn -- claim a slot, spawn, run to the end: the whole life of a task
 */

#include <stdlib.h>

#include "bench/experiments.h"
#include "executor/executor.h"

struct brief {
    struct dz_task task;
    uint64_t *finished;
};

static enum dz_poll brief_poll(struct brief *self)
{
    async (self) {
        ++*self->finished;
    }
    return DZ_READY;
}

DZ_TASK_POOL(briefs, struct brief, brief_poll, 1)

void spawn(struct bench_run *run)
{
    static struct dz_executor executor;
    uint64_t finished = 0;

    dz_executor_init(&executor, "spawn");
    for (uint64_t i = 0; i < run->rounds; i++) {
        struct brief *brief;

        if (briefs_claim(&brief) == DZ_BUSY)
            abort();
        brief->finished = &finished;
        dz_executor_spawn(&executor, &brief->task);
        dz_executor_poll(&executor);
    }
    if (finished != run->rounds)
        abort();
}

/* The one slot is taken. */
void spawn_busy(struct bench_run *run)
{
    struct brief *brief;
    struct brief *other;

    if (briefs_claim(&brief) == DZ_BUSY)
        abort();
    for (uint64_t i = 0; i < run->rounds; i++)
        if (briefs_claim(&other) != DZ_BUSY)
            abort();
    dz_task_release(&brief->task);
}
