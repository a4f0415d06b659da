/* SPDX-License-Identifier: MIT */

/*
 * trace_example -- a program whose trace has one of everything
 *
 *     trace_example virtual|real trace.json pins.vcd
 *
 * scripts/trace_test.py looks at what it writes. Two cores; a timer interrupt
 * and a more urgent one that preempts it; tasks that wait in each raw mutex,
 * end, and are spawned again in their slots; values that go from one core to
 * the other; pins and a peripheral's notes. Core 1 is stopped wherever it is.
 */

#include <stdio.h>
#include <string.h>

#include "executor/executor.h"
#include "sim/core.h"
#include "sim/machine.h"
#include "sim/timer.h"
#include "sim/trace.h"
#include "sync/channel.h"
#include "sync/signal.h"

enum {
    TICK_IRQ = 1,
    URGENT_IRQ = 2,
    FAST_IRQ = 3,
    TICKS = 20,
    TICK = 1000000, /* ns */
};

DZ_SIGNAL_DEFINE(tick_signal, unsigned, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(local_channel, unsigned, 1, DZ_NOOP)
DZ_CHANNEL_DEFINE(remote_channel, unsigned, 2, DZ_CRITICAL_SECTION)

static struct dz_core cores[2];
static struct dz_executor executors[2];
static struct dz_sim_timer tick_timer;
static struct dz_sim_timer fast_timer;
static struct tick_signal ticked;
static struct local_channel local;
static struct remote_channel remote;
static bool is_over;

struct counter {
    struct dz_task task;
    unsigned value;
};

struct helper {
    struct dz_task task;
};

/* Lives for two polls. */
static enum dz_poll helper_poll(struct helper *self)
{
    async (self) {
        await(dz_yield_poll());
    }
    return DZ_READY;
}

DZ_TASK_POOL(helpers, struct helper, helper_poll, 2)

static void spawn_helper(void)
{
    struct helper *helper;

    if (helpers_claim(&helper) != DZ_BUSY)
        dz_executor_spawn(&executors[0], &helper->task);
}

/* Each tick goes on to two channels. */
static enum dz_poll ticker_poll(struct counter *self)
{
    async (self) {
        do {
            await(tick_signal_wait(&ticked, &self->value));
            spawn_helper();
            dz_core_pend(&cores[0], URGENT_IRQ);
            await(local_channel_send(&local, &self->value));
            await(remote_channel_send(&remote, &self->value));
        } while (self->value < TICKS);
        is_over = true;
    }
    return DZ_READY;
}

static enum dz_poll blinker_poll(struct counter *self)
{
    async (self) {
        for (;;) {
            await(local_channel_receive(&local, &self->value));
            dz_machine_access();
            dz_trace_pin(0, self->value % 2);
        }
    }
    return DZ_READY;
}

static enum dz_poll receiver_poll(struct counter *self)
{
    async (self) {
        for (;;) {
            await(remote_channel_receive(&remote, &self->value));
            dz_machine_compute(20000);
            dz_trace_note("uart", "uart0 sends", self->value);
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(tickers, struct counter, ticker_poll, 1)
DZ_TASK_POOL(blinkers, struct counter, blinker_poll, 1)
DZ_TASK_POOL(receivers, struct counter, receiver_poll, 1)

static void tick_handler(void *argument)
{
    static unsigned ticks;

    (void)argument;
    dz_trace_pin(1, 1);
    tick_signal_send(&ticked, ++ticks);
    dz_core_pend(&cores[0], URGENT_IRQ);
    dz_machine_compute(5000);
    dz_trace_pin(1, 0);
}

static void compute_handler(void *argument)
{
    (void)argument;
    dz_machine_compute(2000);
}

static void first_core(void *argument)
{
    struct counter *task;

    (void)argument;
    dz_core_set_priority(&cores[0], TICK_IRQ, 128);
    dz_core_bind(&cores[0], TICK_IRQ, tick_handler, NULL);
    dz_core_bind(&cores[0], URGENT_IRQ, compute_handler, NULL);
    dz_executor_init(&executors[0], "first \"quoted\"");
    if (tickers_claim(&task) == DZ_OK)
        dz_executor_spawn(&executors[0], &task->task);
    if (blinkers_claim(&task) == DZ_OK)
        dz_executor_spawn(&executors[0], &task->task);
    dz_sim_timer_open(&tick_timer, &cores[0], TICK_IRQ);
    dz_sim_timer_start(&tick_timer, TICK, TICK);
    dz_executor_run_until(&executors[0], &is_over);
    dz_sim_timer_stop(&tick_timer);
}

static void second_core(void *argument)
{
    struct counter *task;

    (void)argument;
    dz_core_bind(&cores[1], FAST_IRQ, compute_handler, NULL);
    dz_sim_timer_open(&fast_timer, &cores[1], FAST_IRQ);
    dz_sim_timer_start(&fast_timer, TICK / 7, TICK / 7);
    dz_executor_init(&executors[1], "second");
    if (receivers_claim(&task) == DZ_OK)
        dz_executor_spawn(&executors[1], &task->task);
    dz_executor_run(&executors[1]);
}

static void run_cores(void)
{
    cores[1].home.index = 1;
    dz_core_start(&cores[1], second_core, NULL);
    dz_core_start(&cores[0], first_core, NULL);
    dz_core_join(&cores[0]);
    dz_core_stop(&cores[1]);
    dz_sim_timer_stop(&fast_timer);
}

int main(int argc, char **argv)
{
    struct dz_machine machine = {.costs = DZ_COSTS_DEFAULT};
    int result;

    if (argc != 4)
        return 64;
    if (strcmp(argv[1], "virtual") == 0)
        machine.time = DZ_TIME_VIRTUAL;
    dz_machine_start(&machine);
    if (!dz_trace_begin(&(struct dz_trace_options){.json = argv[2],
            .vcd = argv[3],
            .stream = -1,
            .is_hashed = true})) {
        perror("trace_example");
        return 1;
    }
    run_cores();
    result = dz_trace_end();
    dz_machine_stop();
    printf("%016llx %llu\n", (unsigned long long)dz_trace_hash(),
        (unsigned long long)dz_trace_lost());
    return -result;
}
