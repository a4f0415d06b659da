/* SPDX-License-Identifier: MIT */
#include "sim/timer.h"

#include <stddef.h>

#include "executor/panic.h"
#include "executor/task.h"

static void expire(struct dz_due *due)
{
    struct dz_sim_timer *timer = container_of(due, struct dz_sim_timer, due);

    atomic_store(&timer->raised_at, dz_machine_now());
    atomic_fetch_add(&timer->raised_in_all, 1);
    if (timer->period != 0) {
        timer->next += timer->period;
        dz_due_set(due, timer->next);
    }
    dz_core_pend(timer->core, timer->irq);
}

static void check_open(const struct dz_sim_timer *timer)
{
    if (timer->core == NULL)
        dz_panic("the timer was not opened", __FILE__, __LINE__);
}

void dz_sim_timer_open(
    struct dz_sim_timer *timer, struct dz_core *core, int irq)
{
    *timer = (struct dz_sim_timer){
        .due = {.fire = expire},
        .core = core,
        .irq = irq,
    };
}

void dz_sim_timer_start(
    struct dz_sim_timer *timer, uint64_t delay, uint64_t period)
{
    check_open(timer);
    dz_machine_access();
    dz_due_clear(&timer->due);
    timer->period = period;
    timer->next = dz_machine_now() + delay;
    dz_due_set(&timer->due, timer->next);
}

void dz_sim_timer_stop(struct dz_sim_timer *timer)
{
    check_open(timer);
    dz_machine_access();
    dz_due_clear(&timer->due);
}
