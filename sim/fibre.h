/* SPDX-License-Identifier: MIT */
#ifndef SIM_FIBRE_H
#define SIM_FIBRE_H

/*
 * fibre -- a call stack that one thread leaves and comes back to
 *
 * The cores of the machine in virtual time are fibres of one thread. The
 * address and thread sanitizers are told about each change; Valgrind notices,
 * since stacks lie further apart than any call moves the stack pointer.
 */

#include <stddef.h>
#include <ucontext.h>

enum {
    DZ_FIBRE_STACK = 1 << 20,    /* bytes that can be used */
    DZ_FIBRE_DISTANCE = 4 << 20, /* bytes from stack to stack; below the stack
                                    they are a guard */
};

/* All zero: the thread's own stack, as it is when a fibre is first entered. */
struct dz_fibre {
    ucontext_t context;
    void (*entry)(void *argument);
    void *argument;
    void *memory;       /* NULL: the thread's own stack */
    const void *bottom; /* of the stack, and its size: for the sanitizers */
    size_t size;
    void *fake_stack; /* the address sanitizer's */
    void *handle;     /* the thread sanitizer's */
};

/* Prepares a fibre that calls `entry`, which never returns. */
void dz_fibre_create(
    struct dz_fibre *fibre, void (*entry)(void *argument), void *argument);

/* Leaves the fibre that runs, `from`, for another, until somebody comes back.
 * errno is not kept. */
void dz_fibre_change(struct dz_fibre *from, struct dz_fibre *to);

/* The same for the last time. */
_Noreturn void dz_fibre_end(struct dz_fibre *from, struct dz_fibre *to);

/* Frees the stack of a fibre that is never entered again. */
void dz_fibre_free(struct dz_fibre *fibre);

#endif
