/* SPDX-License-Identifier: MIT */
#ifndef SIM_PORT_PANIC_TEXT_H
#define SIM_PORT_PANIC_TEXT_H

/*
 * panic_text -- a panic in words, for ports that have a C library
 *
 * It knows no port: contexts are numbered as the simulated cores number them,
 * and as a Cortex-M's IPSR does, which is the same on core 0.
 */

#include <stddef.h>

struct dz_panic;

enum {
    DZ_EXIT_PANIC = 1,     /* the exit code of a program that panicked; */
    DZ_EXIT_RACE = 5,      /* and if two contexts used an object that is not
                              guarded against that */
    DZ_CONTEXT_CORE = 512, /* dz_port_context() is the exception number, and
                              this for each core before ours */
};

struct dz_panic_text {
    char bytes[1024]; /* ends in a newline and a '\0' */
    size_t len;       /* without the '\0' */
};

/* Any context. */
void dz_panic_describe(
    struct dz_panic_text *text, const struct dz_panic *panic);

/* DZ_EXIT_RACE if the panic names two contexts, else DZ_EXIT_PANIC. */
int dz_panic_exit_code(const struct dz_panic *panic);

#endif
