/* SPDX-License-Identifier: MIT */
#ifndef BENCH_QEMU_SHOT_H
#define BENCH_QEMU_SHOT_H

/*
 * shot -- an interrupt at a chosen instruction, and how long it is since then
 *
 *     shot_begin();
 *     shot_handler = handler;
 *     shot_arm(400);            strikes 400 instructions from here
 *     ...
 *     late = shot_age(measure_stamp());
 *
 * The handler is an ordinary function. What enters it notes where the interrupt
 * struck and clears its flag; that is not counted: the age of a shot is the
 * number of instructions since the handler's first one, as if the vector table
 * had the handler itself.
 *
 * With shot_arm_probe a second, less urgent interrupt becomes pending while the
 * handler runs. It is entered when the handler has returned, so it knows how
 * long that was. An executor in an interrupt has to be less urgent still.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
    SHOT_PRIORITY = 0x20,
    SHOT_PROBE_PRIORITY = 0x40,
    SHOT_LOWER_PRIORITY = 0x60, /* for who must not delay the probe */
};

extern void (*shot_handler)(void);

/* Enables both interrupts, and finds out how long it is from shot_arm to the
 * handler. Ends the program if that is not the same wherever it strikes. */
void shot_begin(void);

void shot_arm(uint32_t instructions);
void shot_arm_probe(uint32_t instructions);

/* Instructions from the handler's first one to a stamp. */
uint32_t shot_age(uint32_t stamp);

/* Instructions of the handler, behind shot_arm_probe, when it has returned. */
uint32_t shot_handler_length(void);

/* Whether the last shot struck just behind a WFE, where hardware wakes. */
bool shot_woke_the_core(void);

#endif
