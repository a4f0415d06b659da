/* SPDX-License-Identifier: MIT */
#ifndef SIM_CORE_H
#define SIM_CORE_H

/*
 * core -- a CPU core that is a thread, and its interrupts, which are signals
 *
 *     static void timer_handler(void *argument) { ... }
 *     static void firmware(void *argument) { ... }
 *
 *     static struct dz_core core;
 *
 *     dz_core_bind(&core, TIMER_IRQ, timer_handler, NULL);
 *     dz_core_start(&core, firmware, NULL);
 *     ...                               other threads: dz_core_pend(&core, ...)
 *     dz_core_stop(&core);
 *
 * How it works
 *  - An interrupt is a bit in the NVIC. The signal (SIGURG, which debuggers
 *    pass on unasked, and which nobody else uses) is a doorbell: it says
 *    "look", and it is sent with pthread_kill to the core's thread, never to
 *    the process. Many pends may share one signal; none is lost, since the
 *    core looks until there is nothing left.
 *  - Handlers run in the signal's frame and return. They never switch stacks.
 *    The signal is not delivered within itself: a handler is preempted by a
 *    more urgent interrupt that it pends itself, at once, and by one that
 *    comes from outside as soon as it ends. (A full NVIC follows.)
 *  - A core sleeps in sigsuspend with the doorbell blocked up to that moment,
 *    so no wake-up falls between the last look and the sleep. Returning from
 *    an interrupt sets the event register, as on the real thing.
 *  - errno is kept over every interrupt, and system calls are restarted where
 *    the system does that.
 *
 * What to know
 *  - A pend that comes when the core has ended is kept for its next start, or
 *    forgotten by the join.
 *  - Handlers call nothing that is not async-signal-safe, and thread-mode code
 *    that shares such a call with one makes it in a critical section.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "port.h"
#include "sim/nvic.h"

/* A handler and its argument. An interrupt that is not bound stays pending. */
struct dz_core_vector {
    void (*handler)(void *argument);
    void *argument;
};

/* All zero: a core that has not started, with nothing bound. */
struct dz_core {
    struct dz_port_home home;
    struct dz_nvic nvic;
    struct dz_core_vector vectors[DZ_NVIC_LINES];
    pthread_t thread;
    bool is_started;        /* and not joined yet; the starter's */
    atomic_bool may_go_on;  /* `thread` is known */
    atomic_bool is_running; /* `thread` can be sent a signal */
    atomic_uint kickers;    /* who may be about to send one */
    atomic_bool is_kicked;  /* a doorbell is on its way */
    atomic_bool is_stopped; /* asked to end */
    void (*main)(void *argument);
    void *argument;
};

/* Gives an interrupt its handler and enables it: if it is pending, it runs now.
 * Before the core starts, or on it, in any context. */
void dz_core_bind(struct dz_core *core, unsigned line,
    void (*handler)(void *argument), void *argument);

/* The NVIC's functions of the same names, for a core that runs: an interrupt
 * that may run now does so before these return. On the core, in any context. */
void dz_core_enable(struct dz_core *core, unsigned line);
void dz_core_disable(struct dz_core *core, unsigned line);
void dz_core_set_priority(
    struct dz_core *core, unsigned line, uint8_t priority);

/* Makes an interrupt pending. Any thread, any context. On the core itself, it
 * runs before this returns if nothing masks it. Before the core starts, it is
 * kept until then. */
void dz_core_pend(struct dz_core *core, unsigned line);

/* Starts `main` on a thread of its own. Panics if it is started already. */
void dz_core_start(
    struct dz_core *core, void (*main)(void *argument), void *argument);

/* Waits until `main` has returned, then forgets all that is pending or active.
 * The core may be started again. Not on the core itself. */
void dz_core_join(struct dz_core *core);

/* Makes the core end, wherever its main is, and joins it. That takes effect
 * when it sleeps, or when it next leaves a critical section in thread mode: an
 * executor does so all the time. Memory stays as the core left it: firmware
 * that is to run again clears its pools and objects first, as start-up code
 * does. Not on the core itself. */
void dz_core_stop(struct dz_core *core);

/* Makes the calling thread a core, and a plain thread again: for tests that
 * want interrupts at places of their choice. No signal comes from elsewhere
 * that the thread does not unblock itself. */
void dz_core_enter(struct dz_core *core);
void dz_core_leave(struct dz_core *core);

#endif
