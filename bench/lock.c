/* SPDX-License-Identifier: MIT */

/*
 * lock -- what a lock/unlock pair of each raw mutex costs
 *
 * pthread_sigmask is what a host simulator pays that masks its interrupts with
 * the operating system's means.
 */

#include <pthread.h>
#include <signal.h>

#include "bench/experiments.h"
#include "sync/raw_mutex.h"

/* Keeps the compiler from taking anything across. */
static inline void barrier(void)
{
    __asm__ volatile("" ::: "memory");
}

static const struct dz_object noop_object = {.mutex = DZ_NOOP};
static const struct dz_object thread_mode_object = {.mutex = DZ_THREAD_MODE};
static const struct dz_object critical_section_object = {
    .mutex = DZ_CRITICAL_SECTION,
};

DZ_INLINE void lock_and_unlock(uint64_t rounds, const struct dz_object *object)
{
    for (uint64_t i = 0; i < rounds; i++) {
        dz_key key = dz_lock(NULL, object);

        barrier();
        dz_unlock(NULL, object, key);
        barrier();
    }
}

void lock_noop(struct bench_run *run)
{
    lock_and_unlock(run->rounds, &noop_object);
}

void lock_thread_mode(struct bench_run *run)
{
    lock_and_unlock(run->rounds, &thread_mode_object);
}

void lock_critical_section(struct bench_run *run)
{
    lock_and_unlock(run->rounds, &critical_section_object);
}

void lock_pthread_sigmask(struct bench_run *run)
{
    sigset_t all;
    sigset_t old;

    sigfillset(&all);
    for (uint64_t i = 0; i < run->rounds; i++) {
        pthread_sigmask(SIG_SETMASK, &all, &old);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
}
