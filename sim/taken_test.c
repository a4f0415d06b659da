/* SPDX-License-Identifier: MIT */

/*
 * taken_test -- owns a pin and a UART, and needs an interrupt
 *
 * It links with bound_test.c. The tests sim/taken_... pass when the linker
 * complains: with taken_twice_test.c, or without bound_test.c.
 */

#include "sim/interrupt.h"
#include "sim/pin.h"
#include "sim/uart.h"

DZ_PIN(3)
DZ_UART(0)
DZ_REQUIRE_INTERRUPT(uart0)

int main(void)
{
    return 0;
}
