/* SPDX-License-Identifier: MIT */

/*
 * sleep -- anywhere: in sigsuspend
 *
 * The doorbell is blocked from the first look to the sleep. One that comes in
 * between is delivered by sigsuspend, which then returns. Each look is preceded
 * by clearing `kick`, as each scan is (sim/real.c).
 */
#include "sim/sleep.h"

#include <errno.h>

void dz_sleep(struct dz_core *core, bool (*is_over)(struct dz_core *core))
{
    sigset_t set;
    sigset_t old;
    sigset_t open;
    int saved = errno;

    sigemptyset(&set);
    sigaddset(&set, DZ_DOORBELL);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    open = old;
    sigdelset(&open, DZ_DOORBELL);
    for (;;) {
        atomic_store(&core->real.kick, DZ_NVIC_THREAD);
        if (is_over(core))
            break;
        sigsuspend(&open);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = saved;
}

bool dz_sleep_end(struct dz_core *core)
{
    (void)core;
    return false;
}
