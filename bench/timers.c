/* SPDX-License-Identifier: MIT */

/*
 * timers -- what the queue of timers costs, by its length
 *
 * Nothing but the queue: the clock stands still until it is moved, the alarm is
 * a variable, and tasks are not run, so nobody is woken. Each timer has its own
 * task, since a branch waits for one thing at a time.
 *
 * insert: as many timers as the name says, due at random instants, are started
 * one after the other, from an empty queue on. expire: they are taken out
 * again, each by an alarm of its own, until the queue is empty. To have the
 * full queue back costs a few ns for each timer, which are included.
 */

#include <stdlib.h>
#include <string.h>

#include "bench/experiments.h"
#include "executor/timer.h"

enum { TIMERS = 10000 };

static uint64_t now, alarm_at;

static uint64_t mock_now(void)
{
    return now;
}

static void mock_set_alarm(uint64_t at)
{
    alarm_at = at;
}

static const struct dz_port_machine mock = {
    .now = mock_now,
    .set_alarm = mock_set_alarm,
};

/* A task that has ended: waking it does nothing. */
static struct dz_task tasks[TIMERS];
static struct dz_timer timers[TIMERS];
static struct dz_timer full[TIMERS];

static void begin(void)
{
    dz_port_core.machine = &mock;
    now = 0;
}

static void end(void)
{
    dz_local = (struct dz_local)DZ_LOCAL_INITIAL;
    dz_port_core.machine = NULL;
}

/* The same ones in each run: xorshift32 (Marsaglia 2003). */
static uint32_t random_instant(uint32_t before)
{
    before ^= before << 13;
    before ^= before >> 17;
    before ^= before << 5;
    return before;
}

static void start(unsigned number, uint32_t instant)
{
    struct dz_task *task = &tasks[number];

    task->waiter = (struct dz_waiter){.task = task};
    timers[number] = (struct dz_timer){.task = NULL};
    dz_current = &task->waiter;
    if (dz_timer_at(&timers[number], dz_instant_from_ticks(instant)) !=
        DZ_PENDING)
        abort();
}

static void fill(unsigned count)
{
    uint32_t instant = 1;

    dz_local.timers = (struct dz_heap){.root = NULL};
    for (unsigned i = 0; i < count; i++) {
        instant = random_instant(instant);
        start(i, instant);
    }
}

static void insert(struct bench_run *run, unsigned count)
{
    begin();
    for (uint64_t left = run->rounds; left > 0; left -= count)
        fill(count);
    end();
}

static void expire(struct bench_run *run, unsigned count)
{
    struct dz_heap heap;

    begin();
    fill(count);
    heap = dz_local.timers;
    memcpy(full, timers, count * sizeof(full[0]));
    for (uint64_t left = run->rounds; left > 0; left -= count) {
        memcpy(timers, full, count * sizeof(full[0]));
        dz_local.timers = heap;
        for (alarm_at = heap.root->key; alarm_at != UINT64_MAX;) {
            now = alarm_at;
            dz_timers_expire();
        }
    }
    end();
}

/* The rounds are multiples of each. */
#define DEFINE(count)                                 \
    void timers_insert_##count(struct bench_run *run) \
    {                                                 \
        insert(run, count);                           \
    }                                                 \
    void timers_expire_##count(struct bench_run *run) \
    {                                                 \
        expire(run, count);                           \
    }

DEFINE(1)
DEFINE(10)
DEFINE(100)
DEFINE(1000)
DEFINE(10000)
