/* SPDX-License-Identifier: MIT */
#include "sim/clock.h"

#include "executor/panic.h"
#include "sim/core.h"
#include "sim/machine.h"

/* A look at the clock takes time. */
uint64_t dz_clock_now(void)
{
    dz_machine_look();
    return dz_machine_now() / 1000;
}

void dz_clock_set_alarm(uint64_t at)
{
    (void)at;
    dz_panic("no alarm yet", __FILE__, __LINE__);
}
