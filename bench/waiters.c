/* SPDX-License-Identifier: MIT */

/*
 * waiters -- several tasks wait on one object, and nothing happens
 *
 * With a queue they sleep. With Embassy's single waker slot each that
 * registers wakes the one that it displaces, so that with two or more of them
 * the core never sleeps. Compiled once for each
 * policy:
 *
 *     WAITERS           the names of the benchmark functions: WAITERS_1 ...
 *     WAITERS_POLICY    DZ_QUEUE or DZ_SINGLE_SLOT
 *
 * An idle round is one turn of a run loop: a pass if a task is ready, a sleep
 * if none is.
 */

#include <stdlib.h>

#include "bench/count.h"
#include "bench/experiments.h"
#include "sync/channel.h"

enum { WAITERS_MAX = 8 };

DZ_CHANNEL_DEFINE_POLICY(
    silent_channel, uint32_t, 1, DZ_CRITICAL_SECTION, WAITERS_POLICY)

struct waiting {
    struct dz_task task;
    struct silent_channel *channel;
    uint32_t value;
};

static enum dz_poll waiting_poll(struct waiting *self)
{
    async (self) {
        await(silent_channel_receive(self->channel, &self->value));
    }
    return DZ_READY;
}

DZ_TASK_POOL(waitings, struct waiting, waiting_poll, WAITERS_MAX)

static struct dz_executor executor;
static struct silent_channel silence;

static void start(unsigned waiters)
{
    dz_executor_init(&executor, "waiters");
    for (unsigned i = 0; i < waiters; i++) {
        struct waiting *waiting;

        if (waitings_claim(&waiting) == DZ_BUSY)
            abort();
        waiting->channel = &silence;
        dz_executor_spawn(&executor, &waiting->task);
    }
    dz_executor_poll(&executor);
}

/* Lets them all receive, so that their slots are free for the next run. */
static void finish(unsigned waiters)
{
    uint32_t value = 0;

    while (waiters > 0) {
        if (silent_channel_try_send(&silence, &value))
            waiters--;
        dz_executor_poll(&executor);
    }
    while (!silent_channel_is_empty(&silence))
        dz_executor_poll(&executor);
}

/* What a run loop does, with its sleeps counted and not slept. */
static void idle_rounds(uint64_t rounds)
{
    while (rounds-- > 0) {
        if (dz_executor_is_ready(&executor))
            dz_executor_poll(&executor);
        else
            dz_trace(DZ_EVENT_IDLE, &executor, NULL);
    }
}

static void run_waiters(struct bench_run *run, unsigned waiters)
{
    start(waiters);
    count_begin();
    idle_rounds(run->rounds);
    count_end(run);
    finish(waiters);
}

#define NAME_(prefix, count) prefix##_##count
#define NAME(prefix, count) NAME_(prefix, count)
#define DEFINE(count)                                 \
    void NAME(WAITERS, count)(struct bench_run * run) \
    {                                                 \
        run_waiters(run, count);                      \
    }

DEFINE(1)
DEFINE(2)
DEFINE(4)
DEFINE(8)
