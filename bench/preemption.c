/* SPDX-License-Identifier: MIT */

/*
 * preemption -- how late an urgent task is while another one computes
 *
 * In virtual time. A task computes for 30 ms without an await. Meanwhile an
 * interrupt wakes an urgent task, each round at another point, the first at the
 * very beginning. In the same executor it runs when the other has finished; in
 * an interrupt executor, at once. What is counted is how late it is at the
 * worst: from the interrupt's cause to its first line.
 */

#include <stdlib.h>

#include "bench/experiments.h"
#include "sim/core.h"
#include "sim/timer.h"
#include "sync/signal.h"

#define COMPUTE_NS UINT64_C(30000000)

enum { TIMER_IRQ = 3, URGENT_IRQ = 4, URGENT_PRIORITY = 64 };

DZ_SIGNAL_DEFINE(round_signal, uint32_t, DZ_CRITICAL_SECTION)

static struct round_signal raised; /* to the urgent task */
static struct round_signal heard;  /* by it, to the other */
static struct dz_sim_timer timer;
static struct dz_core core;
static struct dz_executor thread;
static struct dz_executor urgent;

static void timer_handler(void *argument)
{
    (void)argument;
    round_signal_send(&raised, 1);
}

struct urgent_task {
    struct dz_task task;
    uint32_t number;
    uint64_t left;
    uint64_t latest; /* ns */
};

static void note_lateness(struct urgent_task *self)
{
    uint64_t late = dz_machine_now() - atomic_load(&timer.raised_at);

    if (late > self->latest)
        self->latest = late;
}

static enum dz_poll urgent_poll(struct urgent_task *self)
{
    async (self) {
        for (; self->left > 0; self->left--) {
            await(round_signal_wait(&raised, &self->number));
            note_lateness(self);
            round_signal_send(&heard, 1);
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(urgent_tasks, struct urgent_task, urgent_poll, 1)

struct computing {
    struct dz_task task;
    uint32_t number;
    uint64_t round;
    uint64_t rounds;
    bool done;
};

static enum dz_poll computing_poll(struct computing *self)
{
    async (self) {
        for (; self->round < self->rounds; self->round++) {
            dz_sim_timer_start(
                &timer, COMPUTE_NS * self->round / self->rounds, 0);
            dz_machine_compute(COMPUTE_NS);
            await(round_signal_wait(&heard, &self->number));
        }
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(computings, struct computing, computing_poll, 1)

/* The executor of the urgent task is given; the other's is that of thread
 * mode. */
static void run_rounds(struct bench_run *run, struct dz_executor *executor)
{
    struct urgent_task *fast;
    struct computing *slow;

    if (urgent_tasks_claim(&fast) == DZ_BUSY ||
        computings_claim(&slow) == DZ_BUSY)
        abort();
    fast->left = run->rounds;
    slow->rounds = run->rounds;
    dz_executor_spawn(executor, &fast->task);
    dz_executor_spawn(&thread, &slow->task);
    dz_executor_run_until(&thread, &slow->done);
    bench_count(run, "late_max_us", (double)fast->latest / 1000);
}

static void run_in_same(void *argument)
{
    dz_executor_init(&thread, "thread");
    run_rounds(argument, &thread);
}

static void run_in_interrupt(void *argument)
{
    dz_executor_init(&thread, "thread");
    dz_executor_init(&urgent, "urgent");
    dz_executor_start(&urgent, URGENT_IRQ, URGENT_PRIORITY);
    run_rounds(argument, &urgent);
}

static void on_machine(struct bench_run *run, void (*firmware)(void *argument))
{
    dz_machine_start(&(struct dz_machine){
        .time = DZ_TIME_VIRTUAL,
        .costs = DZ_COSTS_DEFAULT,
    });
    dz_core_bind(&core, TIMER_IRQ, timer_handler, NULL);
    dz_sim_timer_open(&timer, &core, TIMER_IRQ);
    dz_core_start(&core, firmware, run);
    dz_core_join(&core);
    dz_machine_stop();
}

void count_preemption_same_executor(struct bench_run *run)
{
    on_machine(run, run_in_same);
}

void count_preemption_interrupt_executor(struct bench_run *run)
{
    on_machine(run, run_in_interrupt);
}
