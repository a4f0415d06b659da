/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_BLOCK_ON_H
#define EXECUTOR_BLOCK_ON_H

/*
 * block_on -- wait for something outside tasks
 *
 * For start-up code, and for programs that have one thing to do:
 *
 *     static enum dz_poll calibrate_poll(void *argument)
 *     {
 *         struct calibration *self = argument;
 *
 *         async (self) {
 *             await(dz_timer_after(&self->timer, dz_duration_from_millis(5)));
 *             await(sample_channel_receive(&samples, &self->offset));
 *         }
 *         return DZ_READY;
 *     }
 *
 *     dz_block_on(calibrate_poll, &calibration);
 *
 * In a task, await what is to be done instead.
 *
 * What is guaranteed
 *  - It is polled by a task of its own, on an executor of its own. So timers,
 *    channels, selects, guards and all the others work in it.
 *  - It is polled at first and after each wake-up. Meanwhile the core sleeps.
 *  - To objects that check their user, it is code outside tasks: a DZ_NOOP
 *    object that was used in it can be left to an executor.
 *
 * What to know
 *  - Tasks of other executors in thread mode of this core do not run meanwhile.
 *    What waits for one of them waits for ever. Those of interrupts run.
 *  - Each core may be in one of these at a time.
 */

#include "executor/async.h"

/* Polls until it is ready. Panics in a task and in a handler. Thread mode. */
void dz_block_on(enum dz_poll (*poll)(void *argument), void *argument);

#endif
