/* SPDX-License-Identifier: MIT */

/*
 * example -- a clock, an interrupt, and an executor that preempts
 *
 * A task in thread mode says when 100 ms are over. An interrupt of
 * TIMER0, after 150 ms, signals an urgent task, whose executor is polled by an
 * interrupt of its own. README.md says how it is built by hand.
 */

#include "doze.h"
#include "executor/ports/cortex_m/systick.h"
#include "sim/qemu/board.h"

enum { TICK_HZ = 1000, TICK = 1, ALARM = 1, URGENT = 2 }; /* priorities */

DZ_SIGNAL_DEFINE(alarm_signal, uint32_t, DZ_CRITICAL_SECTION)

static struct alarm_signal alarms;
static struct dz_executor thread, urgent;

void SysTick_Handler(void);
void SysTick_Handler(void)
{
    dz_systick_handler();
}

void TIMER0_Handler(void);
void TIMER0_Handler(void)
{
    BOARD_TIMER0->interrupt = 1;
    BOARD_TIMER0->control = 0;
    alarm_signal_send(&alarms, 150);
}

void SOFTWARE0_Handler(void);
void SOFTWARE0_Handler(void)
{
    dz_executor_poll(&urgent);
}

struct listener {
    struct dz_task task;
    uint32_t alarm;
};

static enum dz_poll listener_poll(struct listener *self)
{
    async (self) {
        await(alarm_signal_wait(&alarms, &self->alarm));
        board_print(self->alarm == 150 ? "alarm\n" : "another alarm\n");
    }
    return DZ_READY;
}

DZ_TASK_POOL(listeners, struct listener, listener_poll, 1)

struct ticking {
    struct dz_task task;
    struct dz_timer timer;
    unsigned left;
    bool done;
};

static enum dz_poll ticking_poll(struct ticking *self)
{
    async (self) {
        for (self->left = 3; self->left > 0; self->left--) {
            await(dz_timer_after(&self->timer, dz_duration_from_millis(100)));
            board_print("100 ms\n");
        }
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(tickings, struct ticking, ticking_poll, 1)

static void start_timer(void)
{
    BOARD_TIMER0->value = BOARD_HZ / 1000 * 150;
    BOARD_TIMER0->control = BOARD_TIMER_ENABLE | BOARD_TIMER_INTERRUPT;
    dz_port_enable(BOARD_TIMER0_IRQ, ALARM);
}

int main(void)
{
    struct listener *listener;
    struct ticking *ticking;

    dz_executor_init(&thread, "thread");
    dz_executor_init(&urgent, "urgent");
    dz_executor_start(&urgent, BOARD_SOFTWARE0_IRQ, URGENT);
    dz_systick_start(BOARD_HZ, TICK_HZ, TICK);
    if (listeners_claim(&listener) == DZ_BUSY ||
        tickings_claim(&ticking) == DZ_BUSY)
        return 1;
    dz_executor_spawn(&urgent, &listener->task);
    dz_executor_spawn(&thread, &ticking->task);
    start_timer();
    dz_executor_run_until(&thread, &ticking->done);
    return 0;
}
