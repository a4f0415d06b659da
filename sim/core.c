/* SPDX-License-Identifier: MIT */
#include "sim/core.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>

#include "executor/executor.h"

enum { DOORBELL = SIGURG };

/* The core that this thread is, NULL on other threads. */
static DZ_PORT_LOCAL struct dz_core *here;

/* Ends a change of the NVIC: what may run now runs. */
static void look_again(struct dz_core *core, dz_key key)
{
    if (here == core)
        dz_port_core.deferred = 1;
    dz_port_exit(key);
}

void dz_core_enable(struct dz_core *core, unsigned line)
{
    dz_key key = dz_port_enter();

    dz_nvic_enable(&core->nvic, line);
    look_again(core, key);
}

void dz_core_disable(struct dz_core *core, unsigned line)
{
    dz_key key = dz_port_enter();

    dz_nvic_disable(&core->nvic, line);
    look_again(core, key);
}

void dz_core_set_priority(struct dz_core *core, unsigned line, uint8_t priority)
{
    dz_key key = dz_port_enter();

    dz_nvic_set_priority(&core->nvic, line, priority);
    look_again(core, key);
}

/* The vector is there before the interrupt can come. One that is pending
 * already was passed over while it was disabled. */
void dz_core_bind(struct dz_core *core, unsigned line,
    void (*handler)(void *argument), void *argument)
{
    dz_key key = dz_port_enter();

    if (line < DZ_NVIC_LINES)
        core->vectors[line] = (struct dz_core_vector){handler, argument};
    dz_nvic_enable(&core->nvic, line);
    look_again(core, key);
}

/* Runs one handler, as the hardware would: in its own context, in the name of
 * no task, with interrupts on. Called and left masked. */
static void run_handler(struct dz_core *core, unsigned line)
{
    struct dz_core_vector *vector = &core->vectors[line];
    unsigned interrupted = dz_port_core.context;
    struct dz_waiter *current = dz_current;

    if (vector->handler == NULL)
        dz_panic("an interrupt without a handler", __FILE__, __LINE__);
    dz_nvic_enter(&core->nvic, line);
    dz_port_core.context = line + 16;
    dz_current = &dz_outside;
    dz_port_exit(0);
    vector->handler(vector->argument);
    (void)dz_port_enter();
    dz_current = current;
    dz_port_core.context = interrupted;
    dz_nvic_exit(&core->nvic, line);
    dz_port_core.event = 1;
}

/*
 * From here on nobody sends a signal to this thread. Who kicks says so before
 * looking at is_running, and we look for kickers after clearing it: one of the
 * two sees the other.
 */
static void leave_thread(struct dz_core *core)
{
    atomic_store(&core->is_running, false);
    while (atomic_load(&core->kickers) != 0)
        sched_yield();
}

/* In thread mode only: a handler returns to where it came from. */
static void end_if_stopped(struct dz_core *core)
{
    if (!atomic_load(&core->is_stopped) || !dz_port_is_thread_mode())
        return;
    leave_thread(core);
    pthread_exit(NULL);
}

/*
 * Runs all that may run now. Called unmasked. The note is cleared before the
 * scan: a signal during or behind the scan leaves a new one, and we go round
 * again. The wish to stop is a note that stays until thread mode obeys it.
 */
static void run_pending(struct dz_core *core)
{
    int saved = errno;

    do {
        int line;

        (void)dz_port_enter();
        dz_port_core.deferred = 0;
        while ((line = dz_nvic_next(&core->nvic)) != DZ_NVIC_NONE)
            run_handler(core, (unsigned)line);
        atomic_signal_fence(memory_order_seq_cst);
        dz_port_core.masked = 0;
        atomic_signal_fence(memory_order_seq_cst);
    } while (dz_port_core.deferred != 0);
    if (atomic_load(&core->is_stopped))
        dz_port_core.deferred = 1;
    errno = saved;
}

static void dispatch(void)
{
    run_pending(here);
    end_if_stopped(here);
}

/* Masked, it leaves a note to the thread. */
static void look_now(struct dz_core *core)
{
    if (dz_port_core.masked != 0)
        dz_port_core.deferred = 1;
    else
        run_pending(core);
}

/* The kick is cleared before anything is looked at: who pends later kicks
 * again. */
static void doorbell(int number)
{
    struct dz_core *core = here;

    (void)number;
    if (core == NULL)
        return;
    atomic_store(&core->is_kicked, false);
    look_now(core);
}

static sigset_t doorbell_set(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, DOORBELL);
    return set;
}

/* The doorbell is blocked from the look to the sleep. One that comes in
 * between is delivered by sigsuspend, which then returns. */
static void sleep_until_event(void)
{
    sigset_t set = doorbell_set();
    sigset_t old;
    sigset_t open;
    int saved = errno;

    pthread_sigmask(SIG_BLOCK, &set, &old);
    open = old;
    sigdelset(&open, DOORBELL);
    while (dz_port_core.event == 0 && dz_port_core.deferred == 0)
        sigsuspend(&open);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = saved;
    end_if_stopped(here);
}

static void kick(struct dz_core *core)
{
    atomic_fetch_add(&core->kickers, 1);
    if (atomic_load(&core->is_running) &&
        !atomic_exchange(&core->is_kicked, true))
        pthread_kill(core->thread, DOORBELL);
    atomic_fetch_sub(&core->kickers, 1);
}

void dz_core_pend(struct dz_core *core, unsigned line)
{
    dz_nvic_pend(&core->nvic, line);
    if (here == core)
        look_now(core);
    else
        kick(core);
}

static const struct dz_port_machine machine = {
    .dispatch = dispatch,
    .wait = sleep_until_event,
};

static void install_doorbell(void)
{
    struct sigaction action = {.sa_handler = doorbell, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(DOORBELL, &action, NULL);
}

void dz_core_enter(struct dz_core *core)
{
    if (here != NULL)
        dz_panic("a thread is two cores", __FILE__, __LINE__);
    dz_port_core =
        (struct dz_port_core){.machine = &machine, .home = &core->home};
    here = core;
}

/* What is left of the core's state means nothing to the next run. */
static void forget(struct dz_core *core)
{
    atomic_store(&core->nvic.pending, 0);
    core->nvic.active = 0;
    atomic_store(&core->is_stopped, false);
    atomic_store(&core->is_kicked, false);
    atomic_store(&core->may_go_on, false);
}

void dz_core_leave(struct dz_core *core)
{
    here = NULL;
    dz_port_core = (struct dz_port_core){.masked = 0};
    forget(core);
}

/* The thread looks after it can be sent signals: who pended earlier is seen by
 * the look, and who pends later rings. */
static void *core_thread(void *argument)
{
    struct dz_core *core = argument;
    sigset_t set = doorbell_set();

    while (!atomic_load(&core->may_go_on))
        sched_yield();
    dz_core_enter(core);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    run_pending(core);
    core->main(core->argument);
    leave_thread(core);
    return NULL;
}

void dz_core_start(
    struct dz_core *core, void (*main)(void *argument), void *argument)
{
    sigset_t set = doorbell_set();
    sigset_t old;

    if (core->is_started)
        dz_panic("a core is started twice", __FILE__, __LINE__);
    core->is_started = true;
    install_doorbell();
    core->main = main;
    core->argument = argument;
    pthread_sigmask(SIG_BLOCK, &set, &old);
    if (pthread_create(&core->thread, NULL, core_thread, core) != 0)
        dz_panic("no thread for a core", __FILE__, __LINE__);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    atomic_store(&core->is_running, true);
    atomic_store(&core->may_go_on, true);
}

static void check_other(const struct dz_core *core)
{
    if (here == core)
        dz_panic("a core joins or stops itself", __FILE__, __LINE__);
    if (!core->is_started)
        dz_panic("a core is joined or stopped that does not run", __FILE__,
            __LINE__);
}

void dz_core_join(struct dz_core *core)
{
    check_other(core);
    pthread_join(core->thread, NULL);
    atomic_store(&core->is_running, false);
    core->is_started = false;
    forget(core);
}

void dz_core_stop(struct dz_core *core)
{
    check_other(core);
    atomic_store(&core->is_stopped, true);
    kick(core);
    dz_core_join(core);
}
