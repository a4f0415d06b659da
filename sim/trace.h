/* SPDX-License-Identifier: MIT */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

/*
 * trace -- what has happened on the machine, for people and for comparison
 *
 *     dz_machine_start(...);
 *     dz_trace_begin(&(struct dz_trace_options){
 *         .json = "trace.json", .vcd = "pins.vcd", .stream = -1});
 *     ...                                    cores start, run, and end
 *     dz_trace_end();
 *     dz_machine_stop();
 *
 * It hears the events of the core and its interrupts (executor/trace.h), and
 * what peripherals tell it. The last DZ_TRACE_LENGTH of them are always in
 * memory, which costs some tens of ns for each. Asked for, there are
 *  - a file for ui.perfetto.dev (sim/perfetto.h) with cores, interrupts, tasks,
 *    locks, and who has woken whom;
 *  - a file in VCD, the format of waveform viewers, with the pins (sim/vcd.h);
 *  - a number that is the same if all events are, and in all likelihood another
 *    if they are not;
 *  - a stream of records, for a second process that compares two runs.
 *
 * What is guaranteed
 *  - In virtual time nothing is lost, and number and stream are the same for
 *    every run with the same seed, on every machine and with every compiler:
 *    times, kinds, cores, names and numbers are in them, and no address.
 *  - In real time an event never waits, in whatever context it happens: the
 *    machine's loop writes the files. Events that come faster than it writes
 *    are lost, counted, and told of; files stay well formed.
 *  - A task is told from others by the whole address of its slot while the
 *    program runs, and is written as its pool's name and its slot.
 *
 * What to know
 *  - Names are read when they are written, in real time a little later than the
 *    event: strings stay where they are until the trace ends.
 *  - Cores are told apart by their home.index.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "executor/trace.h"

/* What peripherals tell, beyond enum dz_event. */
enum {
    DZ_TRACE_PIN = DZ_EVENTS, /* a pin has changed */
    DZ_TRACE_NOTE,            /* see dz_trace_note */
    DZ_TRACE_KINDS
};

enum {
    DZ_TRACE_LENGTH = 1 << 16, /* events that are kept in memory */
    DZ_TRACE_NAME = 48,        /* bytes of a name in the stream */
    DZ_TRACE_TEXT = 128,       /* and of a line about it */
    DZ_TRACE_BOARD = -1,       /* no core: peripherals, and plain threads */
};

struct dz_trace_options {
    const char *json; /* the file for Perfetto, or NULL */
    const char *vcd;  /* the file for waveform viewers, or NULL */
    int stream;       /* a file descriptor, which stays open, or -1 */
    bool is_hashed;   /* dz_trace_hash() is asked for */
};

/* Behind dz_machine_start, before any core starts. False: a file cannot be
 * opened, errno says why, and there is no trace. */
bool dz_trace_begin(const struct dz_trace_options *options);

/* When all cores have ended; an exit() before that does it, too. 0, or -1 if
 * something could not be written. */
int dz_trace_end(void);

/* Of all events since dz_trace_begin; in real time, of those that the loop has
 * come to. */
uint64_t dz_trace_hash(void);

/* How many events since dz_trace_begin are in no file. In virtual time none. */
uint64_t dz_trace_lost(void);

/* A peripheral's event, such as ("uart", "uart0 sends", byte). Strings that
 * stay. Any thread, any context, like the next one. */
void dz_trace_note(const char *kind, const char *name, uint64_t value);

/* A pin, 0 to 63, has got a level, 0 or 1, from inside or outside. */
void dz_trace_pin(unsigned number, unsigned level);

/* An event of the stream, as it lies in memory, without padding. */
struct dz_trace_event {
    uint64_t hash;      /* of all events up to this one */
    uint64_t time;      /* ns */
    uint64_t value;     /* of a task: its slot; of an await: its line; of an
                           interrupt: its dz_port_context(); of a pin: twice its
                           number, and its level; of a note: what it says */
    uint32_t kind;      /* enum dz_event, or one of the above */
    int16_t core;       /* where it happened, or DZ_TRACE_BOARD */
    uint16_t exception; /* in which the core was, 0: thread mode */
    char name[DZ_TRACE_NAME]; /* cut short; what is cut off is in the hash */
};

/* One readable line. */
void dz_trace_print(FILE *file, const struct dz_trace_event *event);

/* The last `count` events in memory, or as many as there are, without hash: for
 * reports and debuggers. What is being written meanwhile is left out. */
void dz_trace_print_last(FILE *file, unsigned count);

/* For those who write files: what happens, and to whom. Such a text has room in
 * DZ_TRACE_TEXT bytes. */
void dz_trace_text(char *text, size_t size, const struct dz_trace_event *event);
void dz_trace_subject(
    char *text, size_t size, const struct dz_trace_event *event);

#endif
