/* SPDX-License-Identifier: MIT */
#include "sim/timer.h"

#include "executor/panic.h"

static void check(int error)
{
    if (error != 0)
        dz_panic("libuv refuses a timer", __FILE__, __LINE__);
}

static void expire(uv_timer_t *uv)
{
    struct dz_sim_timer *timer = uv->data;

    atomic_store(&timer->raised_at, uv_hrtime());
    atomic_fetch_add(&timer->raised_in_all, 1);
    dz_core_pend(timer->core, timer->line);
}

/* What follows runs on the loop's thread. */

static void open_uv(void *argument)
{
    struct dz_sim_timer *timer = argument;

    check(uv_timer_init(&timer->loop->uv, &timer->uv));
    timer->uv.data = timer;
}

static void start_uv(void *argument)
{
    struct dz_sim_timer *timer = argument;

    uv_update_time(&timer->loop->uv);
    check(uv_timer_start(&timer->uv, expire, timer->delay, timer->period));
}

static void stop_uv(void *argument)
{
    struct dz_sim_timer *timer = argument;

    check(uv_timer_stop(&timer->uv));
}

static void note_closed(uv_handle_t *uv)
{
    struct dz_sim_timer *timer = uv->data;

    atomic_store(&timer->is_closed, true);
}

static void close_uv(void *argument)
{
    struct dz_sim_timer *timer = argument;

    uv_close((uv_handle_t *)&timer->uv, note_closed);
}

static void nothing(void *argument)
{
    (void)argument;
}

/* What follows runs anywhere else. */

void dz_sim_timer_open(struct dz_sim_timer *timer, struct dz_loop *loop,
    struct dz_core *core, unsigned line)
{
    timer->loop = loop;
    timer->core = core;
    timer->line = line;
    atomic_store(&timer->raised_at, 0);
    atomic_store(&timer->raised_in_all, 0);
    atomic_store(&timer->is_closed, false);
    dz_loop_call(loop, open_uv, timer);
}

void dz_sim_timer_start(
    struct dz_sim_timer *timer, uint64_t delay, uint64_t period)
{
    if (timer->loop == NULL)
        dz_panic("the timer was not opened", __FILE__, __LINE__);
    timer->delay = delay;
    timer->period = period;
    dz_loop_call(timer->loop, start_uv, timer);
}

void dz_sim_timer_stop(struct dz_sim_timer *timer)
{
    dz_loop_call(timer->loop, stop_uv, timer);
}

void dz_sim_timer_close(struct dz_sim_timer *timer)
{
    dz_loop_call(timer->loop, close_uv, timer);
    /* libuv closes at the end of a turn of its loop: let turns pass. */
    while (!atomic_load(&timer->is_closed))
        dz_loop_call(timer->loop, nothing, timer);
}
