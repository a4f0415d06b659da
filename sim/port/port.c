/* SPDX-License-Identifier: MIT */
#include "port.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "executor/executor.h"
#include "executor/trace.h"

DZ_PORT_LOCAL struct dz_port_core dz_port_core;

/* The executor's dz_panic() is above the port. */
static _Noreturn void refuse(const char *reason, int line)
{
    dz_port_panic(&(struct dz_panic){
        .reason = reason,
        .context = {.port = dz_port_context()},
        .file = __FILE__,
        .line = line,
    });
}

void dz_port_dispatch(void)
{
    if (dz_port_core.machine != NULL)
        dz_port_core.machine->dispatch();
    else
        dz_port_core.deferred = 0;
}

/* Held within critical sections only, so by one core at a time, whose
 * interrupts wait. */
static atomic_flag lock = ATOMIC_FLAG_INIT;

void dz_port_lock(void)
{
    while (DZ_CORES > 1 &&
        atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        sched_yield();
    dz_port_core.is_locked = true;
}

void dz_port_unlock(void)
{
    dz_port_core.is_locked = false;
    if (DZ_CORES > 1)
        atomic_flag_clear_explicit(&lock, memory_order_release);
}

/* A thread that is no core has a home, too, so that executors know theirs. */
void dz_port_executor_init(struct dz_port_executor *executor)
{
    static DZ_PORT_LOCAL struct dz_port_home no_core;

    if (dz_port_core.home == NULL)
        dz_port_core.home = &no_core;
    *executor = (struct dz_port_executor){
        .home = dz_port_core.home,
        .interrupt = DZ_PORT_THREAD_MODE,
    };
}

static dz_port_listener *listeners[DZ_PORT_LISTENERS];

void dz_port_listen(dz_port_listener *listener)
{
    if (listeners[DZ_PORT_LISTENERS - 1] != NULL)
        refuse("too many listeners to the trace", __LINE__);
    for (unsigned i = DZ_PORT_LISTENERS - 1; i > 0; i--)
        listeners[i] = listeners[i - 1];
    listeners[0] = listener;
}

void dz_port_ignore(dz_port_listener *listener)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < DZ_PORT_LISTENERS; i++) {
        dz_port_listener *each = listeners[i];

        listeners[i] = NULL;
        if (each != listener)
            listeners[kept++] = each;
    }
}

void dz_port_trace(enum dz_event event, const void *subject, const void *detail)
{
    for (unsigned i = 0; i < DZ_PORT_LISTENERS && listeners[i] != NULL; i++)
        listeners[i](event, subject, detail);
}

static const struct dz_port_machine *machine(void)
{
    if (dz_port_core.machine == NULL)
        refuse("this thread is no core: it has no interrupts and no clock",
            __LINE__);
    return dz_port_core.machine;
}

uint64_t dz_port_now(void)
{
    return machine()->now();
}

void dz_port_set_alarm(uint64_t at)
{
    machine()->set_alarm(at);
}

void dz_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority)
{
    machine()->start(executor, interrupt, priority);
}

void dz_port_foreign_thread(const struct dz_port_executor *executor)
{
    dz_port_panic(&(struct dz_panic){
        .reason = executor->home == NULL
            ? "an executor is used that was not initialised"
            : "a task is woken or spawned by a thread that is not its core; "
              "raise an interrupt instead",
        .file = __FILE__,
        .line = __LINE__,
    });
}

void dz_port_wait(void)
{
    static const struct dz_panic deadlock = {
        .reason = "asleep, and no interrupt can come that would end it",
        .file = __FILE__,
        .line = __LINE__,
    };

    static const struct dz_panic masked = {
        .reason = "the executor waits with interrupts off, or in an interrupt; "
                  "is a task awaiting with a lock held?",
        .file = __FILE__,
        .line = __LINE__,
    };

    if (dz_port_core.masked != 0 || !dz_port_is_thread_mode())
        dz_port_panic(&masked);
    if (dz_port_core.event == 0) {
        if (dz_port_core.machine == NULL)
            dz_port_panic(&deadlock);
        dz_port_core.machine->wait();
    }
    dz_port_core.event = 0;
}

/* In a signal's frame, whatever exit() does could wait for what was
 * interrupted; and a handler that came within exit() could wait for that. */
static bool can_exit(void)
{
    (void)dz_port_mask();
    return dz_port_is_thread_mode() ||
        (dz_port_core.machine != NULL && dz_port_core.machine->is_virtual);
}

/* The first that panics ends the program. If it panics again on the way out,
 * there is no way but this; another core waits for its end. */
static _Noreturn void leave(int code)
{
    static atomic_flag is_leaving = ATOMIC_FLAG_INIT;
    static DZ_PORT_LOCAL bool is_ours;

    while (atomic_flag_test_and_set(&is_leaving) && !is_ours)
        pause();
    if (is_ours || !can_exit())
        _exit(code);
    is_ours = true;
    exit(code);
}

void dz_port_panic(const struct dz_panic *panic)
{
    struct dz_panic_text text;

    dz_panic_describe(&text, panic);
    (void)!write(STDERR_FILENO, text.bytes, text.len);
    leave(dz_panic_exit_code(panic));
}
