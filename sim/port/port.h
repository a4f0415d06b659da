/* SPDX-License-Identifier: MIT */
#ifndef PORT_H
#define PORT_H

/*
 * port -- the executor on a POSIX machine
 *
 * PORTING.md in executor/ says what each of these has to do. Here, PRIMASK is a
 * flag of the core: an interrupt that arrives while it is set leaves a note,
 * and whoever clears it runs the interrupts then. That costs two stores,
 * against a system call for pthread_sigmask.
 *
 * A core is a thread with signals (sim/real.h), or one of several on a thread
 * without (sim/virtual.h). A thread that is no core has no interrupts, and may
 * run an executor too: tests do.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/port/panic_text.h"

/* Every object that is defined here checks its user. */
#ifndef DZ_CHECKS
#define DZ_CHECKS 1
#endif

/* How many cores a program may have. With one, nothing is paid for others. */
#ifndef DZ_CORES
#define DZ_CORES 1
#endif

/* One for each thread. The model is the fastest one and keeps the linker from
 * putting the machine in a shared library, where a signal handler's first
 * access could allocate. */
#define DZ_PORT_LOCAL _Thread_local __attribute__((tls_model("local-exec")))

/* The barest machine that there can be: what a program forgets to pend, it
 * sleeps through. */
#define DZ_PORT_RETURN_SETS_EVENT 0

typedef int dz_key;

struct dz_executor;
struct dz_panic;
struct dz_task;

/* What other cores see of a core. */
struct dz_port_home {
    struct dz_task *inbox; /* what they have woken; in critical sections */
    void (*ring)(struct dz_port_home *home); /* NULL: not a core */
    unsigned index;                          /* of the core, from 0 */
};

/* What a machine does for its cores, each on the core that runs. */
struct dz_port_machine {
    bool is_virtual;                /* handlers are plain calls */
    void (*dispatch)(void);         /* runs what is pending */
    void (*wait)(void);             /* sleeps until an event */
    void (*pend)(int interrupt);    /* makes an interrupt pending */
    uint64_t (*now)(void);          /* ticks */
    void (*set_alarm)(uint64_t at); /* ticks */
    void (*start)(
        struct dz_executor *executor, int interrupt, unsigned priority);
};

/*
 * A core as it sees itself. Only the thread that runs the core, and signal
 * handlers on it, touch it: volatile and compiler fences are all the ordering
 * that is needed.
 */
struct dz_port_core {
    volatile int masked;       /* PRIMASK */
    volatile int deferred;     /* look for interrupts at the unmask */
    volatile int event;        /* the event register of WFE */
    bool is_locked;            /* it keeps other cores out */
    unsigned context;          /* what dz_port_context() says */
    struct dz_port_home *home; /* NULL: not a core, or not yet used */
    const struct dz_port_machine *machine; /* NULL: no interrupts */
};

struct dz_port_executor {
    struct dz_port_home *home; /* of the core that it runs on */
    int interrupt;             /* that runs it, or DZ_PORT_THREAD_MODE */
};

enum { DZ_PORT_THREAD_MODE = INT16_MIN };

/* The symbol has the number of cores in it, so that what was compiled for
 * another number does not link: its critical sections would not be ours. */
#define DZ_PORT_TEXT(tokens) #tokens
#define DZ_PORT_SYMBOL(cores) \
    __asm__("dz_port_core_for_" DZ_PORT_TEXT(cores) "_cores")

extern DZ_PORT_LOCAL struct dz_port_core dz_port_core DZ_PORT_SYMBOL(DZ_CORES);

/* Somebody who is told what the core traces (executor/trace.h): `event` is an
 * enum dz_event. Called in every context, who was added last first: who watches
 * a machine sees an event before the machine takes its time for it. */
typedef void dz_port_listener(
    unsigned event, const void *subject, const void *detail);

enum { DZ_PORT_LISTENERS = 8 };

/* While nobody else runs. */
void dz_port_listen(dz_port_listener *listener);
void dz_port_ignore(dz_port_listener *listener);

/* Writes the panic to standard error, and exits with DZ_EXIT_RACE if it names
 * two contexts, else with DZ_EXIT_PANIC. */
_Noreturn void dz_port_panic(const struct dz_panic *panic);
void dz_port_wait(void);
uint64_t dz_port_now(void);
void dz_port_set_alarm(uint64_t at);
void dz_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority);

/* The slow parts of what follows. */
_Noreturn void dz_port_foreign_thread(const struct dz_port_executor *executor)
    __attribute__((cold));
void dz_port_executor_init(struct dz_port_executor *executor);
void dz_port_dispatch(void) __attribute__((cold));
void dz_port_lock(void);
void dz_port_unlock(void);

/* Keeps interrupts off this core, and no other core out. */
static inline dz_key dz_port_mask(void)
{
    dz_key key = dz_port_core.masked;

    dz_port_core.masked = 1;
    atomic_signal_fence(memory_order_seq_cst);
    return key;
}

/* Storing the key and comparing it saves a branch over testing it first: 12
 * instructions of a critical-section ping-pong. */
static inline void dz_port_unmask(dz_key key)
{
    atomic_signal_fence(memory_order_seq_cst);
    dz_port_core.masked = key;
    if (__builtin_expect(dz_port_core.deferred > key, 0))
        dz_port_dispatch();
}

static inline dz_key dz_port_enter(void)
{
    dz_key key = dz_port_mask();

    if (DZ_CORES > 1 && key == 0)
        dz_port_lock();
    return key;
}

static inline void dz_port_exit(dz_key key)
{
    if (DZ_CORES > 1 && key == 0)
        dz_port_unlock();
    dz_port_unmask(key);
}

static inline unsigned dz_port_context(void)
{
    return dz_port_core.context;
}

static inline bool dz_port_is_thread_mode(void)
{
    return dz_port_core.context % DZ_CONTEXT_CORE == 0;
}

static inline bool dz_port_is_here(const struct dz_port_executor *executor)
{
    return executor->home == dz_port_core.home;
}

/* Of another core, it is reached by cores only: a thread that is none raises an
 * interrupt (dz_core_pend), whose handler does the rest. */
static inline struct dz_task **dz_port_inbox(
    const struct dz_port_executor *executor)
{
    if (!dz_port_is_here(executor) &&
        (executor->home == NULL || executor->home->ring == NULL ||
            dz_port_core.machine == NULL))
        dz_port_foreign_thread(executor);
    return &executor->home->inbox;
}

static inline void dz_port_ring(const struct dz_port_executor *executor)
{
    executor->home->ring(executor->home);
}

static inline void dz_port_pend(const struct dz_port_executor *executor)
{
    if (executor->home == NULL || !dz_port_is_here(executor))
        dz_port_foreign_thread(executor);
    if (executor->interrupt == DZ_PORT_THREAD_MODE)
        dz_port_core.event = 1;
    else
        dz_port_core.machine->pend(executor->interrupt);
}

#endif
