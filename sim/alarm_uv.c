/* SPDX-License-Identifier: MIT */

/* alarm -- anywhere: a timer of libuv, which counts in milliseconds. */

#include <stdatomic.h>

#include "executor/panic.h"
#include "sim/loop.h"

enum { NS_PER_MS = 1000000 };

static uv_timer_t timer;
static uv_async_t change; /* another thread has set what follows */
static _Atomic uint64_t due;
static void (*ring)(void);

static void check(int error)
{
    if (error != 0)
        dz_panic("libuv gives no timer", __FILE__, __LINE__);
}

static void wake(uv_timer_t *handle)
{
    (void)handle;
    ring();
}

/* Not before it is due: rounded up. */
static void restart(uv_async_t *handle)
{
    uint64_t now = uv_hrtime();
    uint64_t at = atomic_load(&due);
    uint64_t ms = at <= now ? 0 : (at - now + NS_PER_MS - 1) / NS_PER_MS;

    (void)handle;
    uv_update_time(timer.loop);
    check(uv_timer_start(&timer, wake, ms, 0));
}

void dz_alarm_open(uv_loop_t *uv, void (*ring_)(void))
{
    ring = ring_;
    check(uv_timer_init(uv, &timer));
    check(uv_async_init(uv, &change, restart));
}

void dz_alarm_close(void)
{
    uv_close((uv_handle_t *)&timer, NULL);
    uv_close((uv_handle_t *)&change, NULL);
}

void dz_alarm_set(uint64_t at)
{
    atomic_store(&due, at);
    uv_async_send(&change);
}
