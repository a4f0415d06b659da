/* SPDX-License-Identifier: MIT */

/*
 * What goes wrong in drivers of such counters, and what is done here:
 *
 *  - A compare value that has passed when it is armed never matches. So we look
 *    at the clock again behind the arming, and pend the interrupt if need be.
 *  - A flag that is cleared at the end of the handler takes a new alarm with
 *    it. So the handler begins with that.
 *  - At the turn of the counter, a time made of two halves is one turn low
 *    until an interrupt has counted the turn. So nobody counts turns: the time
 *    is the last one that was known, and what the counter has moved on since,
 *    modulo a turn. That is right for a whole turn, whoever is masked or late.
 *  - A far alarm loses its upper bits. So the counter is never armed for more
 *    than half a turn ahead. The interrupt comes early then, which harms
 *    nobody, and makes the time known again: so it is also armed for no alarm.
 */
#include "sim/clock.h"

#include "executor/timer.h"
#include "sim/core.h"

enum { NS = 1000000000 }; /* in a second */

#define NEVER UINT64_MAX

/*
 * A look at the counter lets interrupts in, and they may move `base` on: so it
 * is loaded first. The other way round, the counter's value could be older than
 * the base, which would add a turn.
 */
uint64_t dz_clock_now(void)
{
    const struct dz_clock *clock = &dz_core_here()->clock;
    uint64_t base = clock->base;
    uint64_t counted = dz_counter_read(&clock->counter) - base;

    return base + (counted & clock->counter.mask);
}

static void arm(struct dz_core *core, uint64_t at)
{
    dz_counter_arm(&core->clock.counter, at);
    if (at <= dz_clock_now())
        dz_core_pend(core, DZ_IRQ_ALARM);
}

/* In a critical section, so `base` changes with nobody in between. */
void dz_clock_set_alarm(uint64_t at)
{
    struct dz_core *core = dz_core_here();
    struct dz_clock *clock = &core->clock;
    uint64_t now = dz_clock_now();
    uint64_t furthest = now + clock->counter.mask / 2;

    clock->base = now;
    clock->alarm = at;
    clock->counter.due.is_background = at == NEVER;
    clock->tick.is_background = at == NEVER;
    if (clock->period == 0)
        arm(core, at < furthest ? at : furthest);
    else if (at <= now)
        dz_core_pend(core, DZ_SYSTICK);
}

static void alarm_handler(void *argument)
{
    struct dz_clock *clock = argument;

    dz_counter_acknowledge(&clock->counter);
    dz_timers_expire();
}

static void tick_handler(void *argument)
{
    struct dz_clock *clock = argument;
    uint64_t now = dz_clock_now();

    clock->base = now;
    if (clock->alarm <= now)
        dz_timers_expire();
}

/* Where dues happen. Ticks that the core does not see in time merge. */
static void tick(struct dz_due *due)
{
    struct dz_clock *clock = container_of(due, struct dz_clock, tick);

    clock->next_tick += clock->period;
    dz_due_set(due, clock->next_tick);
    dz_core_pend(clock->counter.core, DZ_SYSTICK);
}

static void begin_tick(struct dz_core *core, uint32_t hz)
{
    struct dz_clock *clock = &core->clock;

    if (hz > NS)
        dz_panic("tick_hz is at most 10^9", __FILE__, __LINE__);
    clock->period = NS / hz;
    clock->next_tick = dz_machine_now() + clock->period;
    clock->tick = (struct dz_due){.fire = tick, .is_background = true};
    dz_core_bind(core, DZ_SYSTICK, tick_handler, clock);
    dz_due_set(&clock->tick, clock->next_tick);
}

/* The first base is the machine's time, so a core may start late. A counter
 * with all bits needs no interrupts to be followed. */
void dz_clock_begin(struct dz_core *core)
{
    const struct dz_machine *machine = dz_machine_running();
    struct dz_clock *clock = &core->clock;
    unsigned bits;

    if (machine == NULL)
        return;
    bits = machine->counter_bits != 0 ? machine->counter_bits : 64;
    dz_counter_open(&clock->counter, core, DZ_IRQ_ALARM, bits);
    clock->base = dz_instant_from_nanos(dz_machine_now()).ticks;
    clock->alarm = NEVER;
    dz_core_bind(core, DZ_IRQ_ALARM, alarm_handler, clock);
    if (machine->tick_hz != 0)
        begin_tick(core, machine->tick_hz);
    else if (bits < 64)
        dz_clock_set_alarm(NEVER);
}

void dz_clock_end(struct dz_core *core)
{
    struct dz_clock *clock = &core->clock;

    if (clock->counter.core == NULL)
        return;
    dz_due_clear(&clock->tick);
    dz_counter_close(&clock->counter);
    *clock = (struct dz_clock){.base = 0};
}
