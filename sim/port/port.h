/* SPDX-License-Identifier: MIT */
#ifndef PORT_H
#define PORT_H

/*
 * port -- the executor on a POSIX machine
 *
 * PORTING.md in executor/ says what each of these has to do. Here, PRIMASK is a
 * flag of the thread that is the core: a signal that arrives while it is set
 * leaves a note, and whoever clears it runs the interrupts then. That costs two
 * stores, against a system call for pthread_sigmask.
 *
 * A thread that is no core (see sim/core.h) has no interrupts, and may run an
 * executor too: tests do.
 */

#include <stdatomic.h>
#include <stdbool.h>

/* Every object that is defined here checks its user. */
#ifndef DZ_CHECKS
#define DZ_CHECKS 1
#endif

/* One for each core, which is a thread. The model is the fastest one and keeps
 * the linker from putting the machine in a shared library, where a signal
 * handler's first access could allocate. */
#define DZ_PORT_LOCAL _Thread_local __attribute__((tls_model("local-exec")))

typedef int dz_key;

/*
 * A core as its own thread sees it. Only that thread, and signal handlers that
 * run on it, touch it: volatile and compiler fences are all the ordering that
 * is needed.
 */
struct dz_port_core {
    volatile int masked;    /* PRIMASK */
    volatile int deferred;  /* a signal came while masked */
    volatile int event;     /* the event register of WFE */
    unsigned interrupt;     /* its number and 1; a handler restores it */
    void (*dispatch)(void); /* runs what is pending; NULL: no interrupts */
    void (*wait)(void);     /* sleeps until an event; NULL: no interrupts */
};

struct dz_port_executor {
    struct dz_port_core *core; /* the thread that it runs on */
};

extern DZ_PORT_LOCAL struct dz_port_core dz_port_core;

struct dz_panic;

enum { DZ_EXIT_PANIC = 1 }; /* the exit code of a program that panicked */

/* Writes the panic to standard error and exits with DZ_EXIT_PANIC. */
_Noreturn void dz_port_panic(const struct dz_panic *panic);
void dz_port_wait(void);

/* Panics: a task was woken or spawned by a thread that is not its core. */
_Noreturn void dz_port_foreign_thread(const struct dz_port_executor *executor)
    __attribute__((cold));

/* Runs the interrupts that were deferred. */
void dz_port_dispatch(void) __attribute__((cold));

static inline dz_key dz_port_enter(void)
{
    dz_key key = dz_port_core.masked;

    dz_port_core.masked = 1;
    atomic_signal_fence(memory_order_seq_cst);
    return key;
}

/* Storing the key and comparing it saves a branch over testing it first: 12
 * instructions of a critical-section ping-pong. */
static inline void dz_port_exit(dz_key key)
{
    atomic_signal_fence(memory_order_seq_cst);
    dz_port_core.masked = key;
    if (__builtin_expect(dz_port_core.deferred > key, 0))
        dz_port_dispatch();
}

static inline unsigned dz_port_context(void)
{
    return dz_port_core.interrupt;
}

static inline void dz_port_executor_init(struct dz_port_executor *executor)
{
    executor->core = &dz_port_core;
}

/* Other threads raise an interrupt (dz_core_pend) whose handler does the rest.
 */
static inline void dz_port_pend(struct dz_port_executor *executor)
{
    if (executor->core != &dz_port_core)
        dz_port_foreign_thread(executor);
    dz_port_core.event = 1;
}

#endif
