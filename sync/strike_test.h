/* SPDX-License-Identifier: MIT */
#ifndef SYNC_STRIKE_TEST_H
#define SYNC_STRIKE_TEST_H

/*
 * strike_test -- what the files of scenarios share (sim/strike.h)
 *
 *     strike_test.c        the executor's own, and main
 *     strike_lines.c       waiting at each primitive; compiled for each policy
 *     strike_operations.c  two operations of each that never wait; likewise
 *     strike_pingpong.c    the ping-pong; compiled for each raw mutex and
 * policy
 */

#include <string.h>

#include "executor/deadline.h"
#include "executor/priority.h"
#include "sim/strike.h"

#define must(condition)                               \
    do {                                              \
        if (!(condition))                             \
            strike_fail(#condition " does not hold"); \
    } while (0)

#define strike_clear(object) memset(&(object), 0, sizeof(object))

/* All scenarios are struck with every kind of executor. */
enum strike_kind {
    STRIKE_FIFO,
    STRIKE_PRIORITY,
    STRIKE_DEADLINE,
    STRIKE_INTERRUPT, /* FIFO, polled by an interrupt */
};

extern enum strike_kind strike_kind;
extern struct dz_executor executor;
extern struct dz_executor upper; /* for tasks that a handler polls */
extern volatile bool done;
extern int received; /* in all */
extern int total;    /* of what was received */
static const int value_one = 1;
static const int value_two = 2;

/* All of the above as at the start. What a file has of its own, it clears
 * itself. */
void begin_scenario(void);

/* From here on the executor's interrupt polls it, if it has one. */
void start_executor(void);

/* Does nothing for an executor with an interrupt. */
void run_passes(int passes);

void run_until_done(void);

/* Each of a few tasks has its turns, before the interrupt and behind it. */
void poll_often(void);

/* Each of several. */
void poll_long(void);

/* In the interrupt, or behind it all. */
void poll_upper(void);

/* Their last element has no name. */
extern const struct strike strike_lines_queue[];
extern const struct strike strike_lines_single_slot[];
extern const struct strike strike_operations_queue[];
extern const struct strike strike_operations_single_slot[];
extern const struct strike strike_pingpong_noop_queue[];
extern const struct strike strike_pingpong_noop_single_slot[];
extern const struct strike strike_pingpong_thread_mode_queue[];
extern const struct strike strike_pingpong_thread_mode_single_slot[];
extern const struct strike strike_pingpong_critical_section_queue[];
extern const struct strike strike_pingpong_critical_section_single_slot[];

#endif
