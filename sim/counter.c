/* SPDX-License-Identifier: MIT */
#include "sim/counter.h"

#include "executor/task.h"
#include "sim/core.h"

enum { NS = 1000000000 }; /* in a second */

static void match(struct dz_due *due)
{
    struct dz_counter *counter = container_of(due, struct dz_counter, due);

    dz_core_raise(counter->core, counter->irq);
}

void dz_counter_open(
    struct dz_counter *counter, struct dz_core *core, int irq, unsigned bits)
{
    if (bits < 2 || bits > 64)
        dz_panic("a counter has 2 to 64 bits", __FILE__, __LINE__);
    *counter = (struct dz_counter){
        .due = {.fire = match},
        .core = core,
        .irq = irq,
        .mask = UINT64_MAX >> (64 - bits),
    };
}

void dz_counter_close(struct dz_counter *counter)
{
    dz_due_clear(&counter->due);
}

/* As if it had all bits. */
static uint64_t ticks_now(void)
{
    return dz_instant_from_nanos(dz_machine_now()).ticks;
}

uint64_t dz_counter_read(const struct dz_counter *counter)
{
    dz_machine_look();
    return ticks_now() & counter->mask;
}

/* From 1 tick ahead to a whole turn. A turn of 64 bits saturates, which is
 * never. The tick begins when its number of ns is complete: rounded up. */
void dz_counter_arm(struct dz_counter *counter, uint64_t compare)
{
    uint64_t at;

    dz_machine_access();
    at = ticks_now();
    (void)dz_ticks_add(&at, (compare - at - 1) & counter->mask);
    (void)dz_ticks_add(&at, 1);
    (void)dz_ticks_scale(&at, NS, DZ_TICK_HZ, DZ_ROUND_UP);
    dz_due_set(&counter->due, at);
}

void dz_counter_acknowledge(struct dz_counter *counter)
{
    dz_machine_access();
    dz_core_lower(counter->core, counter->irq);
}
