/* SPDX-License-Identifier: MIT */
#ifndef BENCH_COUNT_H
#define BENCH_COUNT_H

/*
 * count -- events of the executor per round
 *
 * With DZ_TRACE, count_end reports how many wakes, polls, pends and sleeps
 * there were since count_begin, divided by the rounds. Without, both are
 * nothing: time and counts are never taken in the same run.
 */

#include "bench/bench.h"
#include "executor/trace.h"

void count_events_begin(void);
void count_events_end(struct bench_run *run);

/* How many events of a kind there were since count_begin. */
uint64_t count_of(enum dz_event event);

DZ_INLINE void count_begin(void)
{
    if (DZ_TRACE)
        count_events_begin();
}

DZ_INLINE void count_end(struct bench_run *run)
{
    if (DZ_TRACE)
        count_events_end(run);
}

#endif
