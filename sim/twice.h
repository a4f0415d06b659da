/* SPDX-License-Identifier: MIT */
#ifndef SIM_TWICE_H
#define SIM_TWICE_H

/*
 * twice -- runs a program two times, to see that both do the same
 *
 * Each run is a process, at addresses of its own, and writes its events
 * (sim/trace.h) to a pipe. They are compared while they run, so nothing is
 * kept, and the first difference ends both. Only the first run is heard and
 * leaves files.
 */

/* Options that the two runs find in front of the others, with the number of a
 * file descriptor that takes the events. The second one throws all files away,
 * too. */
#define DZ_TWICE_FIRST "first-run"
#define DZ_TWICE_SECOND "second-run"

/* Runs the program of this process twice with its arguments. Returns the exit
 * code of the runs, or DZ_EXIT_NOT_DETERMINISTIC and says on standard error
 * what differed. */
int dz_twice_run(char **argv);

#endif
