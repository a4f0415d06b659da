/* SPDX-License-Identifier: MIT */
#ifndef SYNC_LAW_EPISODE_H
#define SYNC_LAW_EPISODE_H

/*
 * law episode -- what law_run.c chooses, law_shorten.c shortens, and law.c
 * carries out
 *
 * An episode is data: who does what, and what strikes meanwhile. The same
 * episode does the same, in whatever process, and on whatever machine.
 */

#include "sync/law.h"

enum {
    LAW_STEPS = 200, /* of an episode */
    LAW_BRANCHES = 3,
    LAW_TYPES = 16,
    LAW_OPERATIONS = 32,
};

enum law_verb {
    LAW_NOTHING,
    LAW_ACT,     /* an operation, right here */
    LAW_PASS,    /* a pass of the executor */
    LAW_REST,    /* passes until nothing is ready */
    LAW_BEGIN,   /* a worker: operations; if it is busy: a poll in vain */
    LAW_INSTEAD, /* a worker: stops what it does, and begins operations */
    LAW_STOP,    /* a worker: dz_cancel() */
    LAW_END,     /* a worker: its task ends, in the middle of what it does */
    LAW_WALK,    /* a worker: forgets what it does, without dz_cancel(); if it
                    is not busy: begins operations */
};

enum law_shape {
    LAW_SINGLE, /* a */
    LAW_SELECT, /* dz_select2(a, b) */
    LAW_NESTED, /* dz_select2(dz_select2(a, b), c) */
    LAW_JOIN,   /* dz_join2(a, b) */
    LAW_SHAPES,
};

/* An operation and its argument. */
struct law_choice {
    uint8_t operation;
    uint16_t argument;
};

struct law_order {
    uint8_t verb;
    uint8_t worker;
    uint8_t shape;
    uint8_t variables; /* 0 or 1: which ones */
    struct law_choice choices[LAW_BRANCHES];
};

/* A step. */
struct law_move {
    struct law_order order;
    struct law_order interrupt;
    uint8_t strikes_at; /* which look for an interrupt; 0: none */
};

struct law_episode {
    struct law_move moves[LAW_STEPS];
    unsigned count;
};

/* What the episodes tell whoever had them run. */
struct law_told {
    long episode; /* that runs */
    long interrupts;
    long polls;
    long grants;
    long passed_on; /* grants whose wait was cancelled */
    long walks;     /* waits that were walked away from */
    long completed[LAW_TYPES][LAW_OPERATIONS];
    long waited[LAW_TYPES][LAW_OPERATIONS];
    uint32_t digests[LAW_TYPES]; /* of all that happened, in its order */
};

extern struct law_told *law_told; /* the machine's: sync/law_machine.h */
extern const struct law *law_now;
extern unsigned law_type;                  /* the configuration: its number, */
extern const struct dz_object *law_object; /* and what it is */
extern bool law_is_loud;                   /* what happens is told */
extern uint32_t law_seed; /* the lower half of what was given */

/* To standard error, if law_is_loud. */
void law_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Begins a report: "The ... law is broken.", and in which configuration. */
void law_say_type(void);

/* Does as the seed says, in the configuration whose turn it is. */
struct law_episode law_choose_episode(long number);

void law_run_episode(const struct law_episode *episode);

/* The same with as few steps as possible, and these as simple as possible, for
 * which law_still_fails() is true: that is the machine's. */
void law_shorten(struct law_episode *episode);
bool law_still_fails(const struct law_episode *episode);

#endif
