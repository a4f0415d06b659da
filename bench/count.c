/* SPDX-License-Identifier: MIT */
#include "bench/count.h"

#include "port.h"

static uint64_t counts[DZ_EVENTS];

static void count_event(unsigned event, const void *subject, const void *detail)
{
    (void)subject;
    (void)detail;
    counts[event]++;
}

void count_events_begin(void)
{
    for (unsigned i = 0; i < DZ_EVENTS; i++)
        counts[i] = 0;
    dz_port_listen(count_event);
}

uint64_t count_of(enum dz_event event)
{
    return counts[event];
}

void count_events_end(struct bench_run *run)
{
    static const char *const names[DZ_EVENTS] = {
        [DZ_EVENT_WAKE] = "wakes",
        [DZ_EVENT_PEND] = "pends",
        [DZ_EVENT_POLL] = "polls",
        [DZ_EVENT_IDLE] = "sleeps",
    };

    dz_port_ignore(count_event);
    for (unsigned i = 0; i < DZ_EVENTS; i++)
        if (names[i] != NULL)
            bench_count(run, names[i], (double)counts[i] / (double)run->rounds);
}
