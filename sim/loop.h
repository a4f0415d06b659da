/* SPDX-License-Identifier: MIT */
#ifndef SIM_LOOP_H
#define SIM_LOOP_H

/*
 * loop -- the thread on which all peripherals live
 *
 * One libuv loop on a thread of its own, which has every signal blocked. What
 * happens on it touches no task and no executor: it raises interrupts
 * (dz_core_pend). Peripherals (sim/timer.h) are built on it.
 *
 * Stop what runs on the loop, then the cores, then the loop.
 */

#include <pthread.h>
#include <stdbool.h>
#include <uv.h>

/* All zero until it is started. */
struct dz_loop {
    uv_loop_t uv;
    uv_async_t bell; /* a request is there */
    pthread_t thread;
    bool is_started;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    void (*request)(void *argument); /* NULL: none */
    void *argument;
    unsigned served; /* requests so far */
};

void dz_loop_start(struct dz_loop *loop);

/* Ends the thread. All peripherals are closed. */
void dz_loop_stop(struct dz_loop *loop);

/* Runs a function on the loop's thread and returns when it has returned. Any
 * other thread; on a core in any context, with interrupts off meanwhile. */
void dz_loop_call(
    struct dz_loop *loop, void (*request)(void *argument), void *argument);

#endif
