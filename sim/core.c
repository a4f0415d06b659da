/* SPDX-License-Identifier: MIT */
#include "sim/core.h"

#include <errno.h>
#include <stddef.h>

#include "executor/executor.h"
#include "executor/trace.h"

const struct dz_core_machine *dz_core_machine = &dz_real_machine;

struct dz_core *dz_core_here(void)
{
    if (dz_port_core.machine == NULL)
        return NULL;
    return container_of(dz_port_core.home, struct dz_core, home);
}

static struct dz_core_vector *vector_of(struct dz_core *core, int irq)
{
    return &core->vectors[dz_nvic_index(irq)];
}

/* Ends a change of the NVIC: what may run now runs. */
static void look_again(struct dz_core *core, dz_key key)
{
    if (dz_core_here() == core)
        dz_port_core.deferred = 1;
    dz_port_unmask(key);
}

void dz_core_enable(struct dz_core *core, int irq)
{
    dz_key key = dz_port_mask();

    dz_nvic_enable(&core->nvic, irq);
    look_again(core, key);
}

void dz_core_disable(struct dz_core *core, int irq)
{
    dz_key key = dz_port_mask();

    dz_nvic_disable(&core->nvic, irq);
    look_again(core, key);
}

void dz_core_set_priority(struct dz_core *core, int irq, uint8_t priority)
{
    dz_key key = dz_port_mask();

    dz_nvic_set_priority(&core->nvic, irq, priority);
    look_again(core, key);
}

void dz_core_set_basepri(struct dz_core *core, uint8_t basepri)
{
    dz_key key = dz_port_mask();

    dz_nvic_set_basepri(&core->nvic, basepri);
    look_again(core, key);
}

void dz_core_clear_pending(struct dz_core *core, int irq)
{
    dz_key key = dz_port_mask();

    dz_nvic_clear_pending(&core->nvic, irq);
    look_again(core, key);
}

/* The vector is there before the interrupt can come. One that is pending
 * already was passed over while it was disabled. */
void dz_core_bind(struct dz_core *core, int irq,
    void (*handler)(void *argument), void *argument)
{
    dz_key key = dz_port_mask();

    *vector_of(core, irq) = (struct dz_core_vector){handler, argument};
    if (irq >= 0)
        dz_nvic_enable(&core->nvic, irq);
    look_again(core, key);
}

void dz_core_pend(struct dz_core *core, int irq)
{
    dz_trace(DZ_EVENT_INTERRUPT_PEND, core, vector_of(core, irq));
    dz_nvic_pend(&core->nvic, irq);
    dz_core_machine->ring(core, irq);
}

void dz_core_raise(struct dz_core *core, int irq)
{
    dz_trace(DZ_EVENT_INTERRUPT_PEND, core, vector_of(core, irq));
    dz_nvic_raise(&core->nvic, irq);
    dz_core_machine->ring(core, irq);
}

void dz_core_lower(struct dz_core *core, int irq)
{
    dz_nvic_lower(&core->nvic, irq);
}

/* Runs one handler, as the hardware would: in its own context, in the name of
 * no task, with interrupts on. Called and left masked. */
static void run_handler(struct dz_core *core, int irq)
{
    struct dz_core_vector *vector = vector_of(core, irq);
    unsigned interrupted = dz_port_core.context;
    struct dz_waiter *current = dz_current;
    int opened;

    dz_nvic_enter(&core->nvic, irq);
    dz_port_core.context =
        dz_nvic_exception(irq) + DZ_CONTEXT_CORE * core->home.index;
    dz_current = &dz_outside;
    if (vector->handler == NULL)
        dz_panic("an interrupt without a handler", __FILE__, __LINE__);
    dz_trace(DZ_EVENT_INTERRUPT_ENTER, core, vector);
    opened = dz_core_machine->open(core);
    dz_port_unmask(0);
    vector->handler(vector->argument);
    (void)dz_port_mask();
    dz_core_machine->close(core, opened);
    dz_trace(DZ_EVENT_INTERRUPT_EXIT, core, vector);
    dz_current = current;
    dz_port_core.context = interrupted;
    dz_nvic_exit(&core->nvic, irq);
    dz_port_core.event = 1;
}

/*
 * The note is cleared before the scan: what comes during or behind the scan
 * leaves a new one, and we go round again. The wish to stop is a note that
 * stays until thread mode obeys it.
 */
void dz_core_run_pending(struct dz_core *core)
{
    unsigned round = dz_port_is_thread_mode() ? 1 : 0;
    int saved = errno;

    core->rounds += round;
    do {
        int irq;

        (void)dz_port_mask();
        dz_port_core.deferred = 0;
        atomic_signal_fence(memory_order_seq_cst);
        dz_core_machine->begin_scan(core);
        while (
            (irq = dz_nvic_next(&core->nvic, DZ_PRIMASK_CLEAR)) != DZ_NVIC_NONE)
            run_handler(core, irq);
        dz_core_machine->end_scan(core);
        atomic_signal_fence(memory_order_seq_cst);
        dz_port_core.masked = 0;
        atomic_signal_fence(memory_order_seq_cst);
    } while (dz_port_core.deferred != 0);
    core->rounds += round;
    if (atomic_load(&core->is_stopped))
        dz_port_core.deferred = 1;
    errno = saved;
}

static bool has_event(struct dz_core *core)
{
    (void)core;
    return dz_port_core.event != 0 || dz_port_core.deferred != 0;
}

/* Whatever ends the sleep leaves a note, which the unmask obeys. */
void dz_core_port_wait(void)
{
    dz_key key = dz_port_mask();

    dz_core_machine->sleep(dz_core_here(), has_event);
    dz_port_unmask(key);
}

static bool is_woken(struct dz_core *core)
{
    return dz_nvic_wakes(&core->nvic) || atomic_load(&core->is_stopped);
}

void dz_core_wait_for_interrupt(struct dz_core *core)
{
    dz_key key = dz_port_mask();

    if (dz_port_core.is_locked)
        dz_panic("WFI in a critical section keeps other cores out for as long "
                 "as it sleeps: mask interrupts with dz_port_mask()",
            __FILE__, __LINE__);
    dz_core_machine->sleep(core, is_woken);
    dz_port_core.deferred = 1;
    dz_port_unmask(key);
}

void dz_core_port_pend(int interrupt)
{
    dz_core_pend(dz_core_here(), interrupt);
}

static void poll_executor(void *argument)
{
    dz_executor_poll(argument);
}

void dz_core_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority)
{
    struct dz_core *core = dz_core_here();

    executor->port.interrupt = interrupt;
    dz_core_set_priority(core, interrupt, (uint8_t)priority);
    dz_core_bind(core, interrupt, poll_executor, executor);
}

static void ring_inbox(struct dz_port_home *home)
{
    dz_core_pend(container_of(home, struct dz_core, home), DZ_IRQ_INBOX);
}

static void receive(void *argument)
{
    dz_executor_receive(argument);
}

void dz_core_begin(struct dz_core *core)
{
    core->home.ring = ring_inbox;
    dz_port_core = (struct dz_port_core){
        .masked = 1,
        .context = DZ_CONTEXT_CORE * core->home.index,
        .home = &core->home,
        .machine = &dz_core_machine->port,
    };
    dz_local = (struct dz_local)DZ_LOCAL_INITIAL;
    dz_trace(DZ_EVENT_START, core, NULL);
    dz_core_bind(core, DZ_IRQ_INBOX, receive, &core->home.inbox);
    dz_clock_begin(core);
}

/* What is left of the core's state means nothing to the next run. The inbox and
 * its interrupt go together: another core that finds something in the inbox
 * does not ring. */
static void forget(struct dz_core *core)
{
    dz_key key;

    dz_clock_end(core);
    key = dz_port_enter();
    dz_nvic_reset(&core->nvic);
    core->home.inbox = NULL;
    dz_port_exit(key);
    atomic_store(&core->is_stopped, false);
    core->is_started = false;
}

void dz_core_enter(struct dz_core *core)
{
    if (dz_core_here() != NULL)
        dz_panic("a thread is two cores", __FILE__, __LINE__);
    dz_core_machine->enter(core);
}

void dz_core_leave(struct dz_core *core)
{
    dz_core_machine->leave(core);
    dz_port_core = (struct dz_port_core){.masked = 0};
    dz_local = (struct dz_local)DZ_LOCAL_INITIAL;
    forget(core);
}

void dz_core_start(
    struct dz_core *core, void (*main)(void *argument), void *argument)
{
    if (core->is_started)
        dz_panic("a core is started twice", __FILE__, __LINE__);
    core->is_started = true;
    core->main = main;
    core->argument = argument;
    dz_core_machine->start(core);
}

static void check_other(const struct dz_core *core)
{
    if (dz_core_here() == core)
        dz_panic("a core joins or stops itself", __FILE__, __LINE__);
    if (!core->is_started)
        dz_panic("a core is joined or stopped that does not run", __FILE__,
            __LINE__);
}

void dz_core_join(struct dz_core *core)
{
    check_other(core);
    dz_core_machine->join(core);
    forget(core);
}

void dz_core_ask_to_stop(struct dz_core *core)
{
    atomic_store(&core->is_stopped, true);
    dz_core_machine->stop(core);
}

void dz_core_stop(struct dz_core *core)
{
    check_other(core);
    dz_core_ask_to_stop(core);
    dz_core_join(core);
}
