/* SPDX-License-Identifier: MIT */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

/*
 * stream -- bytes to and from the world outside the machine
 *
 *     stdio       standard input and output. Only one stream can have them. A
 *                 UART on a terminal gets each key as it is typed, without
 *                 echo; Ctrl-C still ends the program. The terminal is put
 *                 back at exit.
 *     pty         a new pseudo-terminal; its name is printed
 *     pty:LINK    the same, with a symbolic link LINK to it, which is removed
 *                 at the close. A file that is there already stays, and is an
 *                 error, unless it is such a link that leads nowhere: it was
 *                 left by a program that crashed, and is replaced.
 *     tcp:PORT    listens on 127.0.0.1. One client at a time, others after it.
 *                 Port 0 is any free one; the number is printed.
 *     file:PATH   what is sent is written to PATH, nothing is received. What
 *                 was in the file is replaced, as the shell's > does: the log
 *                 of a run is that run's.
 *
 * Who is at the other end may come and go: its end is not ours. When standard
 * input ends, nothing more is received, and sending goes on.
 *
 * What is sent while nobody is there to read it is gone, as on a wire; a client
 * that is there but has not read for a while loses what does not fit, and a
 * note says so. Standard output is waited for.
 *
 * In virtual time, what comes from outside comes at another instant in each
 * run: a note says so, once. (SIGPIPE is ignored from the first open on.)
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why an open failed, and what to do about it. */
struct dz_stream_error {
    char text[512];
};

enum dz_stream_keys {
    DZ_STREAM_LINES, /* a terminal edits and echoes a line, then sends it */
    DZ_STREAM_KEYS,  /* a terminal sends each key as it is */
};

struct dz_stream_link;

/* Filled in by the owner, but for `link`. It stays until it is closed. */
struct dz_stream {
    const char *name; /* in what is printed: "uart 0" */
    enum dz_stream_keys keys;
    /* Bytes have come. In a machine lock, where dues happen. */
    void (*receive)(struct dz_stream *stream, const uint8_t *bytes, size_t len);
    struct dz_stream_link *link; /* NULL: not open */
};

/* The most that `receive` gets in one call. */
enum { DZ_STREAM_CHUNK = 1024 };

/* False: `error` says why. Any thread, but not within a machine lock, like the
 * close. */
bool dz_stream_open(
    struct dz_stream *stream, const char *what, struct dz_stream_error *error);

/* Of one that is not open: nothing happens. */
void dz_stream_close(struct dz_stream *stream);

/* Sends, in a machine lock. If it is not open: nothing happens. */
void dz_stream_write(
    struct dz_stream *stream, const uint8_t *bytes, size_t len);

/* Nothing is received until the resume; it waits outside. Where dues happen. */
void dz_stream_pause(struct dz_stream *stream);
void dz_stream_resume(struct dz_stream *stream);

/* Where the other side finds it: the name of the pseudo-terminal, or
 * "127.0.0.1:PORT", or what it was opened with. "" if it is not open. */
const char *dz_stream_place(const struct dz_stream *stream);

#endif
