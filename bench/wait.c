/* SPDX-License-Identifier: MIT */

/*
 * wait -- a task waits for 100 ms, and nothing else happens
 *
 * In virtual time, with each of the drivers of sim/clock.h. A tickless one
 * interrupts once. A tick of 1 kHz, as an RTOS usually has, wakes the core 100
 * times, and each time the run loop looks at its queue for nothing.
 *
 * A pass is one such look: it ends in polls of what is ready, here of the one
 * task that there is, or in a sleep.
 */

#include <stdlib.h>

#include "bench/count.h"
#include "bench/experiments.h"
#include "executor/executor.h"
#include "executor/timer.h"
#include "sim/core.h"

enum { WAIT_MS = 100, TICK_HZ = 1000 };

struct sleeper {
    struct dz_task task;
    struct dz_timer timer;
    uint64_t waits;
    bool done;
};

/* The first wait is not counted: the core has its start-up behind it then. */
static enum dz_poll sleeper_poll(struct sleeper *self)
{
    async (self) {
        await(dz_timer_after(&self->timer, dz_duration_from_millis(WAIT_MS)));
        count_begin();
        for (; self->waits > 0; self->waits--)
            await(
                dz_timer_after(&self->timer, dz_duration_from_millis(WAIT_MS)));
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(sleepers, struct sleeper, sleeper_poll, 1)

static void report(struct bench_run *run)
{
    double passes = (double)(count_of(DZ_EVENT_POLL) + count_of(DZ_EVENT_IDLE));
    double interrupts = (double)count_of(DZ_EVENT_INTERRUPT_ENTER);

    count_end(run);
    bench_count(run, "passes", passes / (double)run->rounds);
    bench_count(run, "interrupts", interrupts / (double)run->rounds);
}

static void firmware(void *argument)
{
    static struct dz_executor executor;
    struct bench_run *run = argument;
    struct sleeper *sleeper;

    dz_executor_init(&executor, "wait");
    if (sleepers_claim(&sleeper) == DZ_BUSY)
        abort();
    sleeper->waits = run->rounds;
    dz_executor_spawn(&executor, &sleeper->task);
    dz_executor_run_until(&executor, &sleeper->done);
    report(run);
}

static void wait_with(struct bench_run *run, uint32_t tick_hz)
{
    static struct dz_core core;

    dz_machine_start(&(struct dz_machine){
        .time = DZ_TIME_VIRTUAL,
        .costs = DZ_COSTS_DEFAULT,
        .tick_hz = tick_hz,
    });
    dz_core_start(&core, firmware, run);
    dz_core_join(&core);
    dz_machine_stop();
}

void count_wait_tickless(struct bench_run *run)
{
    wait_with(run, 0);
}

void count_wait_tick(struct bench_run *run)
{
    wait_with(run, TICK_HZ);
}
