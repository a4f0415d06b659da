/* SPDX-License-Identifier: MIT */

/*
 * isr_to_task -- from another thread's raise to the first line of the task
 *
 * A thread raises an interrupt of a sleeping core; its handler sends to a
 * channel; a task receives. Measured is the time from just before the raise
 * until the task runs. Most of it is the host's: what that costs alone is
 * measured beside it, with a thread that sleeps in sigsuspend and is woken by a
 * signal, and with one that sleeps on a futex.
 */

/* For syscall(). */
#define _DEFAULT_SOURCE

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <hdr/hdr_histogram.h>
#include <uv.h>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#include "bench/experiments.h"
#include "sim/core.h"
#include "sync/channel.h"

enum {
    RAISE_IRQ = 3,
    PAUSE_NS = 100000, /* by then the other side sleeps */
    HIGHEST_NS = 1000000000,
    DIGITS = 3,
};

static struct hdr_histogram *latencies;
static uint64_t samples;
static _Atomic uint64_t raised_at;
static atomic_uint heard; /* samples so far */

static void hear(void)
{
    hdr_record_value(latencies, (int64_t)(uv_hrtime() - raised_at));
    atomic_fetch_add(&heard, 1);
}

static void pause_until_asleep(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    nanosleep(&pause, NULL);
}

/* Raises once for each sample, when the last one has been heard. */
static void raise_all(void (*raise_one)(void))
{
    for (unsigned i = 0; i < samples; i++) {
        while (atomic_load(&heard) != i)
            sched_yield();
        pause_until_asleep();
        atomic_store(&raised_at, uv_hrtime());
        raise_one();
    }
}

static void measure(struct bench_run *run, void (*raise_one)(void),
    void (*begin)(void), void (*end)(void))
{
    samples = run->rounds;
    atomic_store(&heard, 0);
    if (hdr_init(1, HIGHEST_NS, DIGITS, &latencies) != 0)
        abort();
    begin();
    raise_all(raise_one);
    end();
    bench_count(run, "p50_ns", (double)hdr_value_at_percentile(latencies, 50));
    bench_count(run, "p90_ns", (double)hdr_value_at_percentile(latencies, 90));
    bench_count(run, "p99_ns", (double)hdr_value_at_percentile(latencies, 99));
    bench_count(run, "max_ns", (double)hdr_max(latencies));
    hdr_close(latencies);
}

/* Ours. */

DZ_CHANNEL_DEFINE(raise_channel, uint32_t, 4, DZ_CRITICAL_SECTION)

static struct raise_channel raises;
static struct dz_core core;
static struct dz_executor executor;

static void raise_handler(void *argument)
{
    uint32_t number = 1;

    (void)argument;
    (void)raise_channel_try_send(&raises, &number);
}

struct listener {
    struct dz_task task;
    uint64_t left;
    uint32_t number;
    bool done;
};

static enum dz_poll listener_poll(struct listener *self)
{
    async (self) {
        for (; self->left > 0; self->left--) {
            await(raise_channel_receive(&raises, &self->number));
            hear();
        }
        self->done = true;
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
    listener->left = samples;
    dz_executor_spawn(&executor, &listener->task);
    dz_executor_run_until(&executor, &listener->done);
}

static void start_core(void)
{
    raises = (struct raise_channel){.channel = {.items = {.index = 0}}};
    dz_core_bind(&core, RAISE_IRQ, raise_handler, NULL);
    dz_core_start(&core, firmware, NULL);
}

static void pend(void)
{
    dz_core_pend(&core, RAISE_IRQ);
}

static void join_core(void)
{
    dz_core_join(&core);
}

void isr_to_task(struct bench_run *run)
{
    measure(run, pend, start_core, join_core);
}

/* The host's own. */

static pthread_t thread;

static void start_thread(void *(*main)(void *argument))
{
    if (pthread_create(&thread, NULL, main, NULL) != 0)
        abort();
}

static void join_thread(void)
{
    pthread_join(thread, NULL);
}

static volatile sig_atomic_t is_signalled;

static void note_signal(int number)
{
    (void)number;
    is_signalled = 1;
}

static void *sleep_for_signals(void *argument)
{
    sigset_t open;

    pthread_sigmask(SIG_BLOCK, NULL, &open);
    sigdelset(&open, SIGURG);
    for (uint64_t i = 0; i < samples; i++) {
        while (!is_signalled)
            sigsuspend(&open);
        is_signalled = 0;
        hear();
    }
    return argument;
}

static void start_signal(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigset_t set;

    sigemptyset(&action.sa_mask);
    sigaction(SIGURG, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    start_thread(sleep_for_signals);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void send_signal(void)
{
    pthread_kill(thread, SIGURG);
}

void isr_to_task_signal(struct bench_run *run)
{
    measure(run, send_signal, start_signal, join_thread);
}

static atomic_int word;

/* Elsewhere than on Linux, both sides spin: that is a floor, too. */
static void futex(int operation, int value)
{
#ifdef __linux__
    syscall(SYS_futex, &word, operation, value, NULL, NULL, 0);
#else
    (void)operation;
    (void)value;
    sched_yield();
#endif
}

#ifndef __linux__
enum { FUTEX_WAIT_PRIVATE, FUTEX_WAKE_PRIVATE };
#endif

static void *sleep_on_futex(void *argument)
{
    for (uint64_t i = 0; i < samples; i++) {
        while (atomic_load(&word) == 0)
            futex(FUTEX_WAIT_PRIVATE, 0);
        atomic_store(&word, 0);
        hear();
    }
    return argument;
}

static void start_futex(void)
{
    start_thread(sleep_on_futex);
}

static void wake_futex(void)
{
    atomic_store(&word, 1);
    futex(FUTEX_WAKE_PRIVATE, 1);
}

void isr_to_task_futex(struct bench_run *run)
{
    measure(run, wake_futex, start_futex, join_thread);
}
