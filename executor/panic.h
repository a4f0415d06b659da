/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_PANIC_H
#define EXECUTOR_PANIC_H

/*
 * panic -- what the core says when the program breaks a rule
 *
 * Misuse is never an error code. It ends in the one port hook, dz_port_panic,
 * in every build, with all that is known: the rule, the object, the contexts,
 * the file and the line. The core formats nothing, so that a port prints only
 * what it can afford.
 */

#include <stddef.h>

#include "executor/compiler.h"
#include "port.h"

/* 0: a panic says nothing, and dz_port_panic is given NULL. For flash that has
 * no room for the texts: all of the program is built alike, with link-time
 * optimisation, or what is passed to dz_panic stays. */
#ifndef DZ_PANIC_DETAILS
#define DZ_PANIC_DETAILS 1
#endif

struct dz_executor;
struct dz_task;

/* Where code runs. */
struct dz_context {
    const struct dz_executor *executor; /* whose task; NULL outside tasks */
    unsigned port;                      /* what dz_port_context() says */
};

struct dz_panic {
    const char *reason;              /* the rule that was broken */
    const char *object;              /* name of the object's type, or NULL */
    const void *address;             /* of the object, or NULL */
    struct dz_context context;       /* where it was broken */
    const struct dz_context *second; /* the other context, or NULL */
    const struct dz_task *task;      /* that runs, or NULL outside tasks; its
                                        frame has the line it waited at last */
    const char *file;                /* of the await or of the object's type */
    int line;
};

/* The context of the caller. Any context. */
struct dz_context dz_context_now(void) __attribute__((pure));

/* Panics with a reason, a place, and the task that runs, if one does. Any
 * context. */
_Noreturn void dz_panic(const char *reason, const char *file, int line)
    __attribute__((cold));

/* Panics with all that is known. For those who write what can panic. */
DZ_INLINE _Noreturn void dz_panic_with(const struct dz_panic *panic)
{
    dz_port_panic(DZ_PANIC_DETAILS ? panic : NULL);
}

#endif
