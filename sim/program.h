/* SPDX-License-Identifier: MIT */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

/*
 * program -- what makes a firmware a program: a command line, an exit code
 *
 *     static void firmware(unsigned core) { ... }       its main function
 *
 *     int main(int argc, char **argv)
 *     {
 *         return dz_program_main(argc, argv,
 *             &(struct dz_program){.name = "blink", .firmware = firmware});
 *     }
 *
 * Each core of the machine runs the firmware (dz_core_here() says which one it
 * is on). --help lists the options. By default the machine is in real time and
 * nothing is connected to it.
 *
 * The run is over when the firmware has returned on every core, when
 * --stop-after has passed, when something calls dz_program_end, or with
 * Ctrl-C. Then the cores are stopped, the peripherals closed, and the traces
 * written. A core that does not stop (sim/ending.h) is reported, and the
 * process ends without it. One line on standard error says how it ended, when,
 * and the hash of all events: two runs with the same hash were the same.
 *
 * Whatever ends the run early (an assertion, a panic, a deadlock) says so on
 * standard error; the exit code says which kind it was.
 */

#include "port.h"

/* The first that applies. Ctrl-C and a SIGTERM exit with 130 and 143, as a
 * shell shows a program that died of them. */
enum dz_exit_code {
    DZ_EXIT_PASS = 0,
    /* DZ_EXIT_PANIC = 1: an expectation or assertion failed, or a panic */
    DZ_EXIT_DEADLOCK = 2,  /* all asleep, nothing is scheduled */
    DZ_EXIT_BUSY_LOOP = 3, /* a core neither sleeps nor gets on */
    DZ_EXIT_TIMEOUT = 4,   /* --stop-after; an expectation was open */
    /* DZ_EXIT_RACE = 5: a panic, since two contexts used what is not guarded */
    DZ_EXIT_NOT_DETERMINISTIC = 6, /* --check-determinism; two runs differed */
    DZ_EXIT_USAGE = 64,            /* a bad option or stimulus; nothing ran */
};

struct dz_program {
    const char *name;                /* for messages */
    void (*firmware)(unsigned core); /* counted from 0 */
    unsigned cores;                  /* that it can use; 0: one */
};

/* Runs a program to its end and returns its exit code. Once, by main. */
int dz_program_main(int argc, char **argv, const struct dz_program *program);

/* A core of the program that runs. */
struct dz_core *dz_program_core(unsigned index);

/* Ends the run with an exit code; if it ends already, nothing changes. Returns
 * at once. Any thread, any context. */
void dz_program_end(int code);

#endif
