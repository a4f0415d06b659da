/* SPDX-License-Identifier: MIT */

/*
 * sleep -- on Linux: on a futex
 *
 *     who pends                        the core
 *                                      kick = NONE
 *     the pending bit, `kick`          is_asleep = 1
 *     if is_asleep was 1:              is it over?
 *         is_asleep = 0, wake          sleep while is_asleep is 1
 *     else: the doorbell
 *
 * All in one order. If the core's question comes before the pending bit is set,
 * it sleeps, and is woken; else whoever pends finds it awake, and rings. The
 * doorbell's handler leaves a note and clears is_asleep, so that neither a
 * sleep that is under way nor one that is about to begin goes on.
 */

/* For syscall(). */
#define _DEFAULT_SOURCE

#include "sim/sleep.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void dz_sleep(struct dz_core *core, bool (*is_over)(struct dz_core *core))
{
    atomic_int *word = &core->real.is_asleep;
    int saved = errno;

    for (;;) {
        atomic_store(&core->real.kick, DZ_NVIC_THREAD);
        atomic_store(word, 1);
        if (is_over(core))
            break;
        while (atomic_load(word) == 1)
            syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
        dz_port_core.deferred = 1;
    }
    /* Who found us asleep between the question and this has not rung. */
    if (atomic_exchange(word, 0) == 0)
        dz_port_core.deferred = 1;
    errno = saved;
}

bool dz_sleep_end(struct dz_core *core)
{
    atomic_int *word = &core->real.is_asleep;
    int saved = errno;
    int was_asleep = 1;

    if (!atomic_compare_exchange_strong(word, &was_asleep, 0))
        return false;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
    return true;
}
