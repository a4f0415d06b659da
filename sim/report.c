/* SPDX-License-Identifier: MIT */
#include "sim/report.h"

#include <stdlib.h>

#include "executor/panic.h"

void dz_report_deadlock(void)
{
    dz_panic("asleep, and no interrupt can come that would end it", __FILE__,
        __LINE__);
}

void dz_report_busy_loop(void)
{
    dz_panic("busy loop", __FILE__, __LINE__);
}
