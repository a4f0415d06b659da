/* SPDX-License-Identifier: MIT */
#ifndef SYNC_LAW_MACHINE_H
#define SYNC_LAW_MACHINE_H

/*
 * law machine -- what episodes need of whatever they run on
 *
 * That is a core, whose one interrupt strikes at a chosen look, and somebody
 * who notices if the worst happens. A core looks for interrupts where a
 * critical section ends that is in no other, in any context. A program links
 * one of two:
 *
 *     law_host.c    the simulated core in virtual time: there, an interrupt is
 *                   a call. Each attempt is a child process, and an episode
 *                   that fails is made shorter (law_shorten.c).
 *     law_board.c   the core that QEMU emulates. The program is compiled with
 *                   law_port/port.h, so that the interrupt becomes pending in
 *                   the instant before it is let through: a real exception. The
 *                   first failure ends the program. It says how the host comes
 *                   to the same.
 *
 * Where they look at the same places, the same seed has the same digests: on
 * the host that is the form with one core and without a trace, *_law_lean.
 */

#include <stdbool.h>

#include "port.h"

/* Interrupts off, as they were: neither is a look, nor a critical section. */
dz_key law_mask(void);
void law_unmask(dz_key key);
bool law_is_masked(void);

/* At the so-many-th look from now on at which it may, the interrupt strikes,
 * once. 0: it does not. Thread mode, unmasked. */
void law_strike_at(unsigned look);

/* The episode that begins now hangs if it lasts much longer than others. */
void law_watch(void);

/* Runs episodes. False: a law was broken, or there was a panic, a crash or a
 * hang, and that has been told. Or it has been told, and ends the program. */
bool law_survives(void (*run)(void));

/* Called by these: the handler, */
void law_strike(void);
/* and what lets it come. */
bool law_may_strike(void);

#endif
