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

struct look {
    uint64_t progress; /* at the last look */
    unsigned in_vain;
};

/* Of the handler alone, once it is installed. */
static struct look seen[DZ_CORES];
static struct look seen_rounds[DZ_CORES];
static uint64_t patience;
static unsigned core_count;

static void set_timer(uint64_t us)
{
    struct timeval time = {
        .tv_sec = (time_t)(us / 1000000),
        .tv_usec = (suseconds_t)(us % 1000000),
    };
    struct itimerval timer = {.it_interval = time, .it_value = time};

    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static volatile sig_atomic_t exit_code;

static void give_up(int number)
{
    (void)number;
    _exit(exit_code);
}

/* The traces are written at exit. What we have interrupted may hold what that
 * needs. */
void dz_watchdog_end(unsigned core, const char *fault, int code)
{
    set_timer(0);
    exit_code = code;
    dz_report_stuck(core, fault);
    signal(SIGALRM, give_up);
    alarm(2);
    exit(code);
}

static void end(unsigned core, const char *fault)
{
    char text[96];

    snprintf(text, sizeof(text), "%s for %" PRIu64 " ms of CPU time", fault,
        patience / 1000000);
    dz_watchdog_end(core, text, DZ_EXIT_BUSY_LOOP);
}

/* True: what is looked at has not got on in too many looks. */
static bool is_stuck(struct look *look, uint64_t progress)
{
    if (look->progress != progress)
        look->in_vain = 0;
    look->progress = progress;
    return ++look->in_vain > LOOKS;
}

/* One core runs at a time, here. */
static void look_at_time(void)
{
    if (is_stuck(&seen[0], dz_machine_now()))
        end(dz_port_context() / DZ_CONTEXT_CORE,
            "virtual time has stood still");
}

static void look_at_work(unsigned core)
{
    if (!dz_report_is_working(core))
        seen[core].in_vain = 0;
    else if (is_stuck(&seen[core], dz_report_progress(core)))
        end(core, "has been in the same poll or handler");
}

/* Handlers that end, and come again and again. */
static void look_at_rounds(unsigned core)
{
    unsigned rounds = dz_program_core(core)->rounds;

    if (rounds % 2 == 0)
        seen_rounds[core].in_vain = 0;
    else if (is_stuck(&seen_rounds[core], rounds))
        end(core, "has not come back to thread mode");
}

static void look_at_cores(void)
{
    for (unsigned i = 0; i < core_count; i++) {
        look_at_work(i);
        look_at_rounds(i);
    }
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

void dz_watchdog_start(uint64_t ns, unsigned cores)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    uint64_t us = ns / LOOKS / 1000;

    patience = ns;
    core_count = cores;
    for (unsigned i = 0; i < DZ_CORES; i++) {
        seen[i].in_vain = 0;
        seen_rounds[i].in_vain = 0;
    }
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
