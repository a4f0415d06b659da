/* SPDX-License-Identifier: MIT */

/*
 * Who finds that SysTick has turned over, adds a period to the time. COUNTFLAG
 * says so, once to the first who asks. The interrupt cannot: it is not pending
 * any more when its handler begins, and whoever preempts it there must know of
 * the turn, too.
 *
 *     the counter (down)   3   2   1   0   P-1  P-2
 *     COUNTFLAG            0   0   0   1    1    1      until it is read
 *     of the period, left  3   2   1   P   P-1  P-2
 *
 * The interrupt is but a reason to look, so it may be pended for an alarm, too.
 */
#include "systick.h"

#include "executor/panic.h"
#include "executor/timer.h"

/* (Armv7-M Architecture Reference Manual, B3.3; Armv6-M, B3.3.) */
#define CONTROL ((volatile uint32_t *)UINT32_C(0xE000E010))
#define RELOAD ((volatile uint32_t *)UINT32_C(0xE000E014))
#define CURRENT ((volatile uint32_t *)UINT32_C(0xE000E018))

enum {
    CONTROL_ENABLE = 1,
    CONTROL_INTERRUPT = 2,
    CONTROL_CORE_CLOCK = 4,
    CONTROL_COUNTFLAG = 0x10000,
};

/* Touched in critical sections only. The alarm is 0 until the first is set,
 * which costs a look at the queue. */
static struct {
    uint64_t base;     /* ticks: when the period began */
    uint64_t alarm;    /* ticks */
    uint32_t period;   /* cycles; 0: not started */
    uint32_t ticks;    /* of DZ_TICK_HZ, in a period */
    uint32_t per_tick; /* cycles */
} clock;

/* A turn between the first two looks is found, and the counter is read again; a
 * turn behind them is nobody's business yet. */
static uint64_t now_locked(void)
{
    uint32_t left = *CURRENT;

    if (clock.period == 0)
        dz_panic(
            "the clock is used before dz_systick_start", __FILE__, __LINE__);
    if (*CONTROL & CONTROL_COUNTFLAG) {
        clock.base += clock.ticks;
        left = *CURRENT;
        if (left == 0)
            left = clock.period;
    }
    return clock.base + (clock.period - left) / clock.per_tick;
}

uint64_t dz_port_now(void)
{
    dz_key key = dz_port_enter();
    uint64_t now = now_locked();

    dz_port_exit(key);
    return now;
}

void dz_port_set_alarm(uint64_t at)
{
    clock.alarm = at;
    if (at <= now_locked())
        *DZ_PORT_ICSR = DZ_PORT_ICSR_PENDSTSET;
}

void dz_systick_handler(void)
{
    dz_key key = dz_port_enter();
    bool is_due = clock.alarm <= now_locked();

    dz_port_exit(key);
    if (is_due)
        dz_timers_expire();
}

static void check_rates(uint32_t core_hz, uint32_t interrupt_hz)
{
    if (core_hz == 0 || core_hz % DZ_TICK_HZ != 0)
        dz_panic("the core's clock is no multiple of DZ_TICK_HZ: change one of "
                 "them, or take another clock with oneshot.h",
            __FILE__, __LINE__);
    if (interrupt_hz == 0 || DZ_TICK_HZ % interrupt_hz != 0)
        dz_panic("DZ_TICK_HZ is no multiple of SysTick's rate: change one of "
                 "them",
            __FILE__, __LINE__);
}

/* A core without a SysTick, which Armv6-M allows, reads as zeros. With a reload
 * value of 0 it does not count. */
static void set_period(uint32_t period)
{
    if (period == 1)
        dz_panic("a period of SysTick is of one cycle: take a lower rate",
            __FILE__, __LINE__);
    *RELOAD = period - 1;
    if (*RELOAD != period - 1)
        dz_panic("a period of SysTick has more than 2^24 cycles, or the core "
                 "has no SysTick: take a higher rate, or oneshot.h",
            __FILE__, __LINE__);
}

/* A write to the counter makes it 0 and clears the flag. It is 0 for a cycle
 * more when it runs, which is no turn: we wait for the next. */
void dz_systick_start(
    uint32_t core_hz, uint32_t interrupt_hz, unsigned priority)
{
    uint32_t period;
    dz_key key;

    check_rates(core_hz, interrupt_hz);
    dz_port_enable(DZ_PORT_SYSTICK, priority);
    period = core_hz / interrupt_hz;
    key = dz_port_enter();
    if (clock.period != 0)
        clock.base = now_locked();
    set_period(period);
    *CURRENT = 0;
    *CONTROL = CONTROL_ENABLE | CONTROL_INTERRUPT | CONTROL_CORE_CLOCK;
    while (*CURRENT == 0)
        continue;
    clock.period = period;
    clock.ticks = DZ_TICK_HZ / interrupt_hz;
    clock.per_tick = core_hz / DZ_TICK_HZ;
    dz_port_exit(key);
}
