/* SPDX-License-Identifier: MIT */
#ifndef SIM_LOOP_H
#define SIM_LOOP_H

/*
 * loop -- the outside world: a libuv loop, and in real time the clock
 *
 * In real time the loop has a thread of its own, which has every signal
 * blocked: what is due and all I/O happens there. In virtual time the machine
 * lets it turn when it needs input from outside.
 */

#include <uv.h>

#include "sim/machine.h"

void dz_loop_start(enum dz_time time);

/* All that was opened on it is closed. */
void dz_loop_stop(void);

/* For handles that are opened in a dz_machine_call. */
uv_loop_t *dz_loop_uv(void);

/* In virtual time: turns once. */
void dz_loop_turn(uv_run_mode mode);

bool dz_loop_has_input(void);

/* Sends to the loop, which in virtual time is to turn soon, whether it has an
 * input or not. Any thread, any context, signal handlers too. */
void dz_loop_ring(uv_async_t *bell);

/* In virtual time: true once behind each ring. */
bool dz_loop_take_ring(void);

/* In real time; see sim/machine.h. */
uint64_t dz_loop_now(void);
dz_key dz_loop_lock(void);
void dz_loop_unlock(dz_key key);
void dz_loop_call(void (*request)(void *argument), void *argument);
void dz_loop_due_set(struct dz_due *due, uint64_t at);
void dz_loop_due_clear(struct dz_due *due);

/* What wakes the loop at an instant, a file for each way to do it. */
void dz_alarm_open(uv_loop_t *uv, void (*ring)(void));
void dz_alarm_close(void);

/* `at` is in ns on the clock of uv_hrtime(); replaces what was set. Any thread,
 * one at a time. */
void dz_alarm_set(uint64_t at);

#endif
