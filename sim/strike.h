/* SPDX-License-Identifier: MIT */
#ifndef SIM_STRIKE_H
#define SIM_STRIKE_H

/*
 * strike -- an interrupt before every access to memory, one after the other
 *
 * Code that is compiled with -fsanitize=thread calls a function before each
 * access that could be shared. The sanitizer's own are not linked; ours are
 * here, and count. A scenario is run again and again, with one interrupt before
 * its first access, its second, and so on, until it ends before the interrupt.
 * (The technique is that of the Linux kernel's KCSAN.) What a library does,
 * memset above all, is not seen inside.
 *
 * The machine is the barest that PORTING.md allows: returning from an interrupt
 * sets no event. While interrupts are off, the interrupt waits for the end of
 * the critical section. If the firmware sleeps first, it comes then. A sleep
 * behind the interrupt, with no event, is a lost wake-up and fails the test.
 *
 * Time stands. A scenario's handler may be the alarm: it moves the time on and
 * calls dz_timers_expire.
 */

#include <stdint.h>

extern uint64_t strike_time;  /* 0 at first */
extern uint64_t strike_alarm; /* what it is set to; UINT64_MAX: none */

struct strike {
    const char *name;
    void (*prepare)(void); /* not struck */
    void (*run)(void);     /* struck */
    void (*handler)(void); /* the interrupt, once */
    void (*check)(void);   /* behind it all, not struck */
};

/* Runs it at every access, and returns at how many. */
unsigned long strike_everywhere(const struct strike *strike);

/* Lets the interrupt come now, if it has not come yet. For a scenario's end. */
void strike_at_last(void);

#endif
