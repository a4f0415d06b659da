/* SPDX-License-Identifier: MIT */
#ifndef SIM_STIMULUS_H
#define SIM_STIMULUS_H

/*
 * stimulus -- what happens to a machine from outside, and what it has to do
 *
 * A text file, an event on each line:
 *
 *     # the button is pressed, and bounces
 *     at 100ms pin 3 high
 *     at 101ms pin 3 low
 *     at 1s every 500ms pin 3 toggle
 *     at 2s uart 0 send "hello\n"
 *     at 100ms expect pin 5 high within 5ms
 *     at 2s expect uart 0 "HELLO" within 20ms
 *
 * A time is a whole number with its unit, one of ns, us, ms, s, min, h. Times
 * are those of the machine and count from its start; in virtual time, they end
 * with it, after 52 days. A text may contain \n, \r,
 * \t, \0, \\, \" and \xHH.
 *
 * An expectation is open from its time on. It is met when the pin has the level
 * (it may have it already), or the UART has sent the text since. If it is not
 * met in the time behind `within`, the run ends at once with DZ_EXIT_PANIC and
 * a message that names the line. One without `within` has until the end of the
 * run. To drive a pin that firmware has written ends the run likewise.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Reads a file and schedules what is in it. False: it says on standard error,
 * with file, line and column, what is wrong. When the machine has started, and
 * no core has. */
bool dz_stimulus_open(const char *path);

/* Forgets all of it. While no core runs. */
void dz_stimulus_close(void);

/* Tells standard error of every expectation that is not met, and returns how
 * many there are. While no core runs. */
unsigned dz_stimulus_report_open(void);

enum dz_time_error {
    DZ_TIME_GOOD,
    DZ_TIME_NONE,      /* it is no time */
    DZ_TIME_TOO_LARGE, /* for 64 bits */
};

/* Reads a time such as 100ms, in ns. */
enum dz_time_error dz_time_parse(const char *text, uint64_t *ns);

#endif
