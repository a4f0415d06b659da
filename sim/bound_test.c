/* SPDX-License-Identifier: MIT */

/* bound_test -- binds the interrupt that taken_test.c needs */

#include "sim/interrupt.h"

static void handler(void *argument)
{
    (void)argument;
}

DZ_BIND_INTERRUPT(uart0, 5, handler)
