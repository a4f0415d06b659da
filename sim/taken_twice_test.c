/* SPDX-License-Identifier: MIT */

/* taken_twice_test -- wants what taken_test.c owns */

#include "sim/pin.h"
#include "sim/uart.h"

#define BUTTON 3

DZ_PIN(BUTTON)
DZ_UART(0)
