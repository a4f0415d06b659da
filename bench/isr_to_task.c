/* SPDX-License-Identifier: MIT */

/*
 * isr_to_task -- from the loop thread's timer to the first line of the task
 *
 * A timer on the loop thread raises an interrupt each millisecond; its handler
 * sends to a channel; a task of the sleeping core receives. Measured is the
 * time from just before the raise until the task runs. Most of it is the host's
 * own time to deliver a signal and to wake a thread.
 */

#include <stdlib.h>
#include <hdr/hdr_histogram.h>

#include "bench/experiments.h"
#include "sim/timer.h"
#include "sync/channel.h"

enum {
    TIMER_IRQ = 3,
    PERIOD_NS = 1000000,
    HIGHEST_NS = 1000000000,
    DIGITS = 3,
};

DZ_CHANNEL_DEFINE(stamp_channel, uint64_t, 4, DZ_CRITICAL_SECTION)

static struct stamp_channel stamps;
static struct dz_sim_timer timer;
static struct dz_core core;
static struct dz_executor executor;
static struct hdr_histogram *latencies;
static uint64_t samples;

static void timer_handler(void *argument)
{
    uint64_t raised_at = atomic_load(&timer.raised_at);

    (void)argument;
    (void)stamp_channel_try_send(&stamps, &raised_at);
}

struct listener {
    struct dz_task task;
    uint64_t raised_at;
    uint64_t heard;
};

static volatile bool done;

static enum dz_poll listener_poll(struct listener *self)
{
    async (self) {
        for (self->heard = 0; self->heard < samples; self->heard++) {
            await(stamp_channel_receive(&stamps, &self->raised_at));
            hdr_record_value(
                latencies, (int64_t)(dz_machine_now() - self->raised_at));
        }
        done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(listeners, struct listener, listener_poll, 1)

static void firmware(void *argument)
{
    struct listener *listener;

    (void)argument;
    dz_executor_init(&executor, "isr_to_task");
    if (listeners_claim(&listener) == DZ_BUSY)
        abort();
    dz_executor_spawn(&executor, &listener->task);
    dz_executor_run_until(&executor, &done);
}

static void measure(void)
{
    stamps = (struct stamp_channel){.channel = {.items = {.index = 0}}};
    dz_core_bind(&core, TIMER_IRQ, timer_handler, NULL);
    dz_machine_start(&(struct dz_machine){.time = DZ_TIME_REAL});
    dz_sim_timer_open(&timer, &core, TIMER_IRQ);
    dz_core_start(&core, firmware, NULL);
    dz_sim_timer_start(&timer, PERIOD_NS, PERIOD_NS);
    dz_core_join(&core);
    dz_sim_timer_stop(&timer);
    dz_machine_stop();
}

void isr_to_task(struct bench_run *run)
{
    samples = run->rounds;
    done = false;
    if (hdr_init(1, HIGHEST_NS, DIGITS, &latencies) != 0)
        abort();
    measure();
    bench_count(run, "p50_ns", (double)hdr_value_at_percentile(latencies, 50));
    bench_count(run, "p90_ns", (double)hdr_value_at_percentile(latencies, 90));
    bench_count(run, "p99_ns", (double)hdr_value_at_percentile(latencies, 99));
    bench_count(run, "max_ns", (double)hdr_max(latencies));
    hdr_close(latencies);
}
