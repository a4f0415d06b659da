/* SPDX-License-Identifier: MIT */

/*
 * real -- cores in real time: each is a thread, and signals are its doorbell
 *
 * The signal (SIGURG, which debuggers pass on unasked, and which nobody else
 * uses) says "look" and nothing else. It is sent with pthread_kill to the
 * core's thread, never to the process. Many pends may share one signal.
 *
 * Handlers run in the signal's frame, or where interrupts are switched on, and
 * return; they never switch stacks. The signal is blocked in its own handler,
 * but for the time of the simulated handler that it runs. By then a simulated
 * priority has been raised, and a signal that finds nothing more urgent returns
 * at once. So there are at most as many frames as priorities, and one.
 *
 * `kick` keeps signals away that could run nothing. It is the urgency below
 * which nobody has to ring: that of the interrupt that runs, for the core
 * looks again when it ends; or that of the signal which is on its way.
 *
 *     who pends                            the core
 *     the pending bit is set               kick = NONE
 *     if more urgent than kick:            looks at the pending bits
 *         kick = its urgency, ring         kick = what runs now
 *
 * All in one order, so one of the two sees the other. A ring that comes between
 * the look and the last line is delivered all the same, and the core looks
 * again.
 *
 * How a core sleeps depends on the host: sim/sleep.h.
 */

#ifdef __CYGWIN__
#error "Cygwin delivers signals in another way: build this under WSL 2"
#endif

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>

#include "executor/panic.h"
#include "sim/clock.h"
#include "sim/core.h"
#include "sim/sleep.h"

enum { NO_KICK = DZ_NVIC_THREAD };

static sigset_t doorbell_set(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, DZ_DOORBELL);
    return set;
}

static void mask_doorbell(int how)
{
    sigset_t set = doorbell_set();

    pthread_sigmask(how, &set, NULL);
}

/* Before each scan: a signal may have left a note and no more, and whoever sent
 * it has told others that theirs is not needed. */
static void begin_scan(struct dz_core *core)
{
    atomic_store(&core->real.kick, NO_KICK);
}

/* Still masked, so that no handler changes the priority between the two. */
static void end_scan(struct dz_core *core)
{
    atomic_store(&core->real.kick, dz_nvic_execution_priority(&core->nvic));
}

/* Masked, it leaves a note to the core, which looks when it unmasks. */
static void doorbell(int number)
{
    struct dz_core *core = dz_core_here();
    bool was_blocked;

    (void)number;
    if (core == NULL)
        return;
    if (dz_port_core.masked != 0) {
        dz_port_core.deferred = 1;
        (void)dz_sleep_end(core);
        return;
    }
    was_blocked = core->real.is_blocked;
    core->real.is_blocked = true;
    dz_core_run_pending(core);
    core->real.is_blocked = was_blocked;
}

/* Within a simulated handler the doorbell is open: it is blocked before only if
 * we are in its handler, and afterwards again. */
static int open_doorbell(struct dz_core *core)
{
    int was_blocked = core->real.is_blocked;

    end_scan(core);
    core->real.is_blocked = false;
    if (was_blocked)
        mask_doorbell(SIG_UNBLOCK);
    return was_blocked;
}

static void close_doorbell(struct dz_core *core, int was_blocked)
{
    if (was_blocked)
        mask_doorbell(SIG_BLOCK);
    core->real.is_blocked = was_blocked;
    begin_scan(core);
}

/* From here on nobody sends a signal to this thread. */
static void leave_thread(struct dz_core *core)
{
    atomic_store(&core->real.is_running, false);
    while (atomic_load(&core->real.kickers) != 0)
        sched_yield();
}

static void end(struct dz_core *core)
{
    leave_thread(core);
    pthread_exit(NULL);
}

static void dispatch(void)
{
    struct dz_core *core = dz_core_here();

    dz_core_run_pending(core);
    if (atomic_load(&core->is_stopped) && dz_port_is_thread_mode())
        end(core);
}

/* Who kicks says so before looking at is_running, and the core looks for
 * kickers after clearing it: one of the two sees the other. */
static void kick(struct dz_core *core, unsigned urgency)
{
    unsigned enough = atomic_load(&core->real.kick);

    while (urgency < enough &&
        !atomic_compare_exchange_weak(&core->real.kick, &enough, urgency))
        continue;
    if (urgency >= enough)
        return;
    atomic_fetch_add(&core->real.kickers, 1);
    if (atomic_load(&core->real.is_running) && !dz_sleep_end(core))
        pthread_kill(core->real.thread, DZ_DOORBELL);
    atomic_fetch_sub(&core->real.kickers, 1);
}

static void ring(struct dz_core *core, int irq)
{
    if (dz_core_here() != core)
        kick(core, dz_nvic_priority(&core->nvic, irq));
    else if (dz_port_core.masked != 0)
        dz_port_core.deferred = 1;
    else
        dz_core_run_pending(core);
}

/* The thread looks after it can be sent signals: who pended earlier is seen by
 * the look, and who pends later rings. */
static void *core_thread(void *argument)
{
    struct dz_core *core = argument;

    while (!atomic_load(&core->real.may_go_on))
        sched_yield();
    dz_core_begin(core);
    mask_doorbell(SIG_UNBLOCK);
    dz_port_unmask(0);
    core->main(core->argument);
    leave_thread(core);
    return NULL;
}

static void install_doorbell(void)
{
    struct sigaction action = {.sa_handler = doorbell, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(DZ_DOORBELL, &action, NULL);
}

static void start(struct dz_core *core)
{
    sigset_t set = doorbell_set();
    sigset_t old;

    install_doorbell();
    core->real.is_blocked = false;
    atomic_store(&core->real.kick, NO_KICK);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    if (pthread_create(&core->real.thread, NULL, core_thread, core) != 0)
        dz_panic("no thread for a core", __FILE__, __LINE__);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    atomic_store(&core->real.is_running, true);
    atomic_store(&core->real.may_go_on, true);
}

static void join(struct dz_core *core)
{
    pthread_join(core->real.thread, NULL);
    atomic_store(&core->real.is_running, false);
    atomic_store(&core->real.may_go_on, false);
}

/* A signal in any case: there may be nothing pending. */
static void stop(struct dz_core *core)
{
    atomic_store(&core->real.kick, NO_KICK);
    kick(core, 0);
}

static void enter(struct dz_core *core)
{
    core->real.is_blocked = false;
    dz_core_begin(core);
    dz_port_unmask(0);
}

static void leave(struct dz_core *core)
{
    (void)core;
}

const struct dz_core_machine dz_real_machine = {
    .port =
        {
            .dispatch = dispatch,
            .wait = dz_core_port_wait,
            .pend = dz_core_port_pend,
            .now = dz_clock_now,
            .set_alarm = dz_clock_set_alarm,
            .start = dz_core_port_start,
        },
    .ring = ring,
    .begin_scan = begin_scan,
    .end_scan = end_scan,
    .start = start,
    .join = join,
    .stop = stop,
    .enter = enter,
    .leave = leave,
    .open = open_doorbell,
    .close = close_doorbell,
    .sleep = dz_sleep,
};
