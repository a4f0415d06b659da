/* SPDX-License-Identifier: MIT */
#ifndef SIM_CORE_H
#define SIM_CORE_H

/*
 * core -- a simulated CPU core and its interrupts
 *
 *     static void button_handler(void *argument) { ... }
 *     static void firmware(void *argument) { ... }
 *
 *     static struct dz_core core;
 *
 *     dz_core_bind(&core, BUTTON_IRQ, button_handler, NULL);
 *     dz_core_start(&core, firmware, NULL);
 *     ...                               elsewhere: dz_core_pend(&core, ...)
 *     dz_core_stop(&core);
 *
 * The same firmware runs on two machines (sim/machine.h says which one):
 *  - in real time, where a core is a thread, and an interrupt that comes from
 *    elsewhere is a signal to it (sim/real.c);
 *  - in virtual time, where all cores share one thread, and an interrupt is a
 *    call at a chosen point: when interrupts are switched on, when the core
 *    sleeps, at each poll of a task, each look at the clock, and each access to
 *    a peripheral (sim/virtual.c).
 *
 * What is guaranteed by both
 *  - What is pending is a bit in the NVIC; nobody who pends waits for the core,
 *    and none is lost. The choice is made when the core looks.
 *  - Handlers run to their end and return to where they came from. More urgent
 *    ones preempt less urgent ones, wherever they come from, and frames nest no
 *    deeper than there are priorities.
 *  - Returning from an interrupt sets the event register, as on the real thing.
 *  - errno is kept over every interrupt.
 *
 * What to know
 *  - A pend that comes when the core has ended is kept for its next start, or
 *    forgotten by the join.
 *  - In real time, a handler strikes anywhere, so what it shares with thread
 *    mode of the host's library (printf, malloc) is called in a host section:
 *    sim/host.h.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "executor/local.h"
#include "port.h"
#include "sim/clock.h"
#include "sim/fibre.h"
#include "sim/nvic.h"

/* Numbers that the machine itself uses, of the highest priority. */
enum {
    DZ_IRQ_INBOX = 239, /* another core has woken a task of this one */
    DZ_IRQ_ALARM = 238, /* the clock of this core: sim/clock.h */
};

/* A handler and its argument. An interrupt that is enabled without is fatal
 * when it comes. */
struct dz_core_vector {
    void (*handler)(void *argument);
    void *argument;
};

/* What a core in real time has: sim/real.c. */
struct dz_real_core {
    pthread_t thread;
    atomic_bool may_go_on;  /* `thread` is known */
    atomic_bool is_running; /* `thread` can be sent a signal */
    atomic_uint kickers;    /* who may be about to send one */
    atomic_int is_asleep;   /* sim/sleep_futex.c */
    atomic_uint kick;       /* what is less urgent sends none; all zero until
                               the core starts: nobody does */
    bool is_blocked;        /* the doorbell is: we are in its handler */
};

/* What a core in virtual time has: sim/virtual.c. */
struct dz_virtual_core {
    struct dz_fibre fibre;
    struct dz_port_core port; /* while another core runs: dz_port_core, */
    struct dz_local local;    /* and dz_local */
    uint64_t clock;           /* ns: how far it has come */
    uint64_t since;           /* ns: it computes from here to its clock;
                                 UINT64_MAX: it does not */
    uint64_t progress;        /* ns: when it last slept or began a poll, */
    uint64_t returned;        /* and when it was last in thread mode */
    bool is_asleep;
    bool is_ended;
};

/* All zero: a core that has not started, with nothing bound. */
struct dz_core {
    struct dz_port_home home;
    struct dz_nvic nvic;
    struct dz_core_vector vectors[DZ_NVIC_LINES]; /* of irq n: n + 2 */
    struct dz_clock clock;
    bool is_started;        /* and not joined yet; the starter's */
    atomic_bool is_stopped; /* asked to end */
    /* Odd while interrupts keep thread mode waiting, another number each time.
     * The core's; a watchdog looks at it. */
    volatile unsigned rounds;
    void (*main)(void *argument);
    void *argument;
    struct dz_real_core real;
    struct dz_virtual_core virtual;
};

/* Gives an interrupt its handler and enables it: if it is pending, it runs now.
 * Before the core starts, or on it, in any context. */
void dz_core_bind(struct dz_core *core, int irq,
    void (*handler)(void *argument), void *argument);

/* The NVIC's functions of the same names, for a core that runs: an interrupt
 * that may run now does so before these return. On the core, in any context. */
void dz_core_enable(struct dz_core *core, int irq);
void dz_core_disable(struct dz_core *core, int irq);
void dz_core_set_priority(struct dz_core *core, int irq, uint8_t priority);
void dz_core_set_basepri(struct dz_core *core, uint8_t basepri);
void dz_core_clear_pending(struct dz_core *core, int irq);

/* Makes an interrupt pending. Any thread, any context. On the core itself, it
 * runs before this returns if nothing masks it. Before the core starts, it is
 * kept until then. */
void dz_core_pend(struct dz_core *core, int irq);

/* Asserts a level-sensitive line, and lowers it: see dz_nvic_raise. Likewise.
 */
void dz_core_raise(struct dz_core *core, int irq);
void dz_core_lower(struct dz_core *core, int irq);

/* WFI: sleeps until an interrupt is pending that could run if interrupts were
 * on, whether they are or not (dz_port_mask; a critical section would keep
 * other cores out meanwhile). On the core, in thread mode. */
void dz_core_wait_for_interrupt(struct dz_core *core);

/* The core that the caller runs on, NULL on a thread that is none. */
struct dz_core *dz_core_here(void);

/* Starts `main` on the core. Panics if it is started already. */
void dz_core_start(
    struct dz_core *core, void (*main)(void *argument), void *argument);

/* Waits until `main` has returned, then forgets all that is pending or active.
 * The core may be started again. Not on the core itself. */
void dz_core_join(struct dz_core *core);

/* Makes the core end, wherever its main is, and joins it. That takes effect
 * when it sleeps, or when it next leaves a critical section in thread mode: an
 * executor does so all the time. In virtual time, a look at the clock or at a
 * peripheral is enough, and handlers that keep it from thread mode for more
 * than 1 ms are cut short. Memory stays as the core left it: firmware that is
 * to run again clears its pools and objects first, as start-up code does. Not
 * on the core itself. */
void dz_core_stop(struct dz_core *core);

/* The first half of dz_core_stop: asks, and does not wait. A core that has not
 * started ends as soon as it does. Any thread, any context, also on the core
 * itself. */
void dz_core_ask_to_stop(struct dz_core *core);

/* Makes the caller a core, and a plain thread again: for tests that want
 * interrupts at places of their choice. In real time, no signal comes from
 * elsewhere that the thread does not unblock itself. */
void dz_core_enter(struct dz_core *core);
void dz_core_leave(struct dz_core *core);

/* What follows is for the two machines. */

/* How a machine runs cores. */
struct dz_core_machine {
    struct dz_port_machine port;
    void (*ring)(struct dz_core *core, int irq); /* it is pending. Anywhere */
    void (*begin_scan)(struct dz_core *core);    /* of the NVIC, masked */
    void (*end_scan)(struct dz_core *core);      /* there is nothing to run */
    void (*start)(struct dz_core *core);
    void (*join)(struct dz_core *core);
    void (*stop)(struct dz_core *core); /* is_stopped was set */
    void (*enter)(struct dz_core *core);
    void (*leave)(struct dz_core *core);
    int (*open)(struct dz_core *core); /* around each handler, masked */
    void (*close)(struct dz_core *core, int opened);
    void (*sleep)(struct dz_core *core, bool (*is_over)(struct dz_core *core));
};

extern const struct dz_core_machine dz_real_machine;
extern const struct dz_core_machine dz_virtual_machine;

/* The one that runs cores now. */
extern const struct dz_core_machine *dz_core_machine;

/* Sets up what a core sees of itself, on the core, before anything else. Its
 * interrupts are off; dz_port_unmask(0) runs what is pending already. */
void dz_core_begin(struct dz_core *core);

/* Runs all that may run now. Called unmasked. */
void dz_core_run_pending(struct dz_core *core);

/* The fields of struct dz_port_machine that both have in common. */
void dz_core_port_wait(void);
void dz_core_port_pend(int interrupt);
void dz_core_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority);

#endif
