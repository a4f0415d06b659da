/* SPDX-License-Identifier: MIT */
#ifndef BENCH_QEMU_CLOCK_H
#define BENCH_QEMU_CLOCK_H

/*
 * clock -- the time driver of a program, and when its interrupt came
 *
 * clock_tick.c and clock_oneshot.c are the two drivers of the port, on the
 * board. What enters the interrupt (clock.c) notes when and where it struck;
 * that is not counted: the age of the interrupt is the number of instructions
 * since the first one of clock_handler, as if the vector table had that itself.
 */

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_PRIORITY = 0x20 };

/* A vector's name is a constant of the build: CLOCK_VECTOR. */
void clock_handler(void);

/* Starts the driver, in a program whose tick is the board's: BOARD_HZ. */
void clock_begin(void);

/* Instructions from the handler's first one to a stamp. */
uint32_t clock_age(uint32_t stamp);

/* Whether it struck just behind a WFE, where hardware wakes. */
bool clock_woke_the_core(void);

/* How many there were. */
extern volatile uint32_t clock_interrupts;

#endif
