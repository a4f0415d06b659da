/* SPDX-License-Identifier: MIT */

/* setitimer is beyond the base of POSIX.1-2008. */
#define _XOPEN_SOURCE 700

#include "sim/watchdog.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "port.h"
#include "sim/core.h"
#include "sim/machine.h"
#include "sim/program.h"
#include "sim/report.h"

enum { LOOKS = 5 }; /* so many in vain, and the program is stuck */

/* Of the handler alone, once it is installed. */
static struct {
    uint64_t progress; /* at the last look */
    unsigned in_vain;
} seen[DZ_CORES];
static uint64_t patience;

static void give_up(int number)
{
    (void)number;
    _exit(DZ_EXIT_BUSY_LOOP);
}

/* The traces are written at exit. If what we have interrupted holds what that
 * needs, we leave without them. */
static void end(unsigned core, const char *fault)
{
    char text[96];

    snprintf(text, sizeof(text), "%s for %" PRIu64 " ms of CPU time", fault,
        patience / 1000000);
    dz_report_stuck(core, text);
    signal(SIGALRM, give_up);
    alarm(2);
    exit(DZ_EXIT_BUSY_LOOP);
}

/* True: what `index` stands for has not got on in too many looks. */
static bool is_stuck(unsigned index, uint64_t progress)
{
    if (seen[index].progress != progress)
        seen[index].in_vain = 0;
    seen[index].progress = progress;
    return ++seen[index].in_vain > LOOKS;
}

/* One core runs at a time, here. */
static void look_at_time(void)
{
    if (is_stuck(0, dz_machine_now()))
        end(dz_port_context() / DZ_CONTEXT_CORE,
            "virtual time has stood still");
}

static void look_at_cores(void)
{
    for (unsigned i = 0; i < DZ_CORES; i++)
        if (!dz_report_is_working(i))
            seen[i].in_vain = 0;
        else if (is_stuck(i, dz_report_progress(i)))
            end(i, "has been in the same poll or handler");
}

/* On any thread: it only reads, until the end. In virtual time that is the
 * machine's thread. */
static void tick(int number)
{
    int saved = errno;

    (void)number;
    if (dz_machine_running()->time == DZ_TIME_VIRTUAL)
        look_at_time();
    else
        look_at_cores();
    errno = saved;
}

static void set_timer(uint64_t us)
{
    struct timeval time = {
        .tv_sec = (time_t)(us / 1000000),
        .tv_usec = (suseconds_t)(us % 1000000),
    };
    struct itimerval timer = {.it_interval = time, .it_value = time};

    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

void dz_watchdog_start(uint64_t ns)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    uint64_t us = ns / LOOKS / 1000;

    patience = ns;
    for (unsigned i = 0; i < DZ_CORES; i++)
        seen[i].in_vain = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGVTALRM, &action, NULL);
    set_timer(us > 0 ? us : 1);
}

/* One that is under way already finds nobody stuck: no core runs. */
void dz_watchdog_stop(void)
{
    set_timer(0);
    signal(SIGVTALRM, SIG_IGN);
}
