/* SPDX-License-Identifier: MIT */
#ifndef SIM_STRIKE_H
#define SIM_STRIKE_H

/*
 * strike -- an interrupt at every position, one after the other
 *
 * A scenario is run again and again, with one interrupt at its first position,
 * its second, and so on, until it ends before the interrupt. What a position is
 * depends on the machine.
 *
 * On the host (sim/strike.c) it is an access to memory. Code that is compiled
 * with -fsanitize=thread calls a function before each access that could be
 * shared. The sanitizer's own are not linked; ours are there, and count. (The
 * technique is that of the Linux kernel's KCSAN.) What a library does, memset
 * above all, is not seen inside.
 *
 * On the board of sim/qemu (sim/qemu/strike.c) it is an instruction, as the
 * compiler has left it, of a program without instrumentation.
 *
 * Both are the barest machine that PORTING.md allows: returning from an
 * interrupt sets no event, unless the port says that it does. While interrupts
 * are off, the interrupt waits for the end of the critical section. If the
 * firmware sleeps first, it comes then. A sleep behind the interrupt, with no
 * event, is a lost wake-up and fails.
 *
 * Time stands. A scenario's handler may be the alarm: it moves the time on and
 * calls dz_timers_expire.
 *
 * There is no cmocka in here: who fails may be an interrupt handler, from which
 * nobody can jump back into a test.
 */

#include <stdbool.h>
#include <stdint.h>

struct dz_executor;

extern uint64_t strike_time;  /* 0 at first */
extern uint64_t strike_alarm; /* what it is set to; UINT64_MAX: none */

struct strike {
    const char *name;
    void (*prepare)(void); /* not struck */
    void (*run)(void);     /* struck */
    void (*handler)(void); /* the interrupt, once */
    void (*check)(void);   /* behind it all, not struck */
};

/* Runs it with an interrupt at every position, and says how many these were. */
void strike_everywhere(const struct strike *strike);

/* Says how many positions there were in all, and returns it. */
unsigned long strike_total(void);

/* Lets the interrupt come now, if it has not come yet. For a scenario's end. */
void strike_at_last(void);

/* Leaves an executor to an interrupt, less urgent than the one that strikes. */
void strike_start(struct dz_executor *executor);

/* True: thread mode was pended since it slept last. */
bool strike_is_pended(void);

/* Ends the program, with the scenario, the position, and what is wrong. Any
 * context. */
_Noreturn void strike_fail(const char *what);

#endif
