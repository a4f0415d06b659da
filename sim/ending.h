/* SPDX-License-Identifier: MIT */
#ifndef SIM_ENDING_H
#define SIM_ENDING_H

/*
 * ending -- a run ends before its firmware does
 *
 * Because something asks for it, or with Ctrl-C or SIGTERM. Every core is asked
 * to stop, and obeys when it next can. One that cannot (it neither sleeps nor,
 * in real time, comes back to thread mode) is reported as a busy loop after two
 * seconds of the host's time, or at once with a second Ctrl-C; then the process
 * exits with the code that was meant. With a third, it exits then and there.
 */

/* Instead of a code. */
enum {
    DZ_ENDING_NONE = -1, /* nobody has asked */
    DZ_ENDING_STOP = -2, /* the code is that of what was expected */
};

/* While no core runs, in a machine. Cores are those of dz_program_core. */
void dz_ending_begin(unsigned cores);
void dz_ending_end(void);

/* Asks for it with a code, or DZ_ENDING_STOP. If somebody has asked already,
 * nothing changes. Returns at once. Any thread, any context. */
void dz_ending_ask(int code);

/* What was asked for. */
int dz_ending_code(void);

#endif
