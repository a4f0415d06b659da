/* SPDX-License-Identifier: MIT */

/* alarm -- on Linux: a timer with the kernel's full resolution. */

#include <sys/timerfd.h>
#include <unistd.h>

#include "executor/panic.h"
#include "sim/loop.h"

enum { NS = 1000000000 };

static uv_poll_t watch;
static int timer;
static void (*ring)(void);

static void check(int error)
{
    if (error != 0)
        dz_panic("the system gives no timer", __FILE__, __LINE__);
}

static void wake(uv_poll_t *handle, int status, int events)
{
    uint64_t expirations;

    (void)handle;
    (void)status;
    (void)events;
    (void)!read(timer, &expirations, sizeof(expirations));
    ring();
}

void dz_alarm_open(uv_loop_t *uv, void (*ring_)(void))
{
    ring = ring_;
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    check(timer < 0);
    check(uv_poll_init(uv, &watch, timer));
    check(uv_poll_start(&watch, UV_READABLE, wake));
}

static void close_timer(uv_handle_t *handle)
{
    (void)handle;
    close(timer);
}

void dz_alarm_close(void)
{
    uv_close((uv_handle_t *)&watch, close_timer);
}

/* The clock of uv_hrtime() is CLOCK_MONOTONIC. What has passed rings at once,
 * but 0 would disarm. */
void dz_alarm_set(uint64_t at)
{
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at / NS), .tv_nsec = (long)(at % NS)},
    };

    if (at == 0)
        when.it_value.tv_nsec = 1;
    check(timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL));
}
