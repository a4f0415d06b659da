/* SPDX-License-Identifier: MIT */

/*
 * The time is one that was known, and what the counter has moved on since,
 * modulo a turn. So nobody counts turns, and there is no moment at which the
 * upper half is not right yet. Each look for an alarm makes the time known
 * again; that is every half turn at least, and may be late by as much.
 *
 * The two halves of what was known count in ticks: a rest of counts that is no
 * tick yet is left to the next look. So all of this is 32-bit arithmetic.
 */
#include "oneshot.h"

#include "executor/panic.h"
#include "executor/timer.h"

#ifndef DZ_ONESHOT_BITS
#define DZ_ONESHOT_BITS 32
#endif

#ifndef DZ_ONESHOT_PER_TICK
#define DZ_ONESHOT_PER_TICK 1
#endif

_Static_assert(DZ_ONESHOT_BITS >= 8 && DZ_ONESHOT_BITS <= 32,
    "a counter has 8 to 32 bits");

#define MASK (UINT32_MAX >> (32 - DZ_ONESHOT_BITS))

/* Half a turn. */
#define FURTHEST (MASK / 2 / DZ_ONESHOT_PER_TICK)

_Static_assert(FURTHEST >= 1, "half a turn of the counter is less than a tick");

/* Touched in critical sections only. */
static struct {
    uint64_t ticks;                    /* a time less than a turn ago */
    uint32_t count;                    /* what the counter was then */
    struct dz_port_executor interrupt; /* all zero: not started */
} clock;

static uint32_t ticks_since(void)
{
    return ((dz_oneshot_count() - clock.count) & MASK) / DZ_ONESHOT_PER_TICK;
}

uint64_t dz_port_now(void)
{
    dz_key key = dz_port_enter();
    uint64_t now = clock.ticks + ticks_since();

    dz_port_exit(key);
    return now;
}

/* Makes the present known. */
static void look(void)
{
    uint32_t since = ticks_since();

    clock.ticks += since;
    clock.count += since * DZ_ONESHOT_PER_TICK;
}

static uint32_t ticks_until(uint64_t at)
{
    if (at <= clock.ticks)
        return 0;
    return at - clock.ticks < FURTHEST ? (uint32_t)(at - clock.ticks)
                                       : FURTHEST;
}

/* If it came while we armed it, the hardware may have missed it. If it did not,
 * the interrupt comes twice, which harms nobody. */
void dz_port_set_alarm(uint64_t at)
{
    uint32_t until;

    if (clock.interrupt.set == NULL)
        dz_panic("a timer is used before dz_oneshot_start", __FILE__, __LINE__);
    look();
    until = ticks_until(at);
    dz_oneshot_arm((clock.count + until * DZ_ONESHOT_PER_TICK) & MASK);
    if (until <= ticks_since())
        *clock.interrupt.set = clock.interrupt.bit;
}

void dz_oneshot_start(int interrupt, unsigned priority)
{
    clock.interrupt = dz_port_pend_of(interrupt);
    dz_port_enable(interrupt, priority);
    dz_timers_expire();
}
