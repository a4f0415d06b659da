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

struct start {
    struct dz_sim_timer *timer;
    uint64_t delay;
    uint64_t period;
};

static void start_uv(void *argument)
{
    struct start *start = argument;

    uv_update_time(&start->timer->loop->uv);
    check(
        uv_timer_start(&start->timer->uv, expire, start->delay, start->period));
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

static void check_open(const struct dz_sim_timer *timer)
{
    if (timer->loop == NULL)
        dz_panic("the timer was not opened", __FILE__, __LINE__);
}

void dz_sim_timer_open(struct dz_sim_timer *timer, struct dz_loop *loop,
    struct dz_core *core, unsigned line)
{
    if (timer->loop != NULL)
        dz_panic("a timer is opened twice", __FILE__, __LINE__);
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
    struct start start = {timer, delay, period};

    check_open(timer);
    dz_loop_call(timer->loop, start_uv, &start);
}

void dz_sim_timer_stop(struct dz_sim_timer *timer)
{
    check_open(timer);
    dz_loop_call(timer->loop, stop_uv, timer);
}

void dz_sim_timer_close(struct dz_sim_timer *timer)
{
    check_open(timer);
    dz_loop_call(timer->loop, close_uv, timer);
    /* libuv closes at the end of a turn of its loop: let turns pass. */
    while (!atomic_load(&timer->is_closed))
        dz_loop_call(timer->loop, nothing, timer);
    timer->loop = NULL;
}
