/* SPDX-License-Identifier: MIT */

/*
 * Cores are fibres of one thread. Whoever has nothing to do, or has come
 * further than something else, takes a step: the earliest of what is due
 * happens, or the core that is furthest behind goes on, until it takes a step
 * itself and comes back to us. The thread's own stack, the host, is one of the
 * fibres: it goes on when a core ends.
 *
 * What happens on the core that runs is exact. A core that holds the lock of
 * a critical section is not left (others would wait for that lock for ever):
 * its time adds up until the section ends.
 */
#include "sim/virtual.h"

#include <errno.h>

#include "executor/executor.h"
#include "executor/trace.h"
#include "sim/clock.h"
#include "sim/core.h"
#include "sim/loop.h"
#include "sim/report.h"

/* A core that is to stop, and was last in thread mode before so many ns, does
 * not wait for its handlers. */
enum { CUT_SHORT = 1000000 };

static struct dz_heap dues;
static struct dz_core *cores[DZ_CORES]; /* that run */
static unsigned core_count;
static struct dz_core *running; /* NULL: the host */
static struct dz_fibre host;
static uint64_t now;   /* of the last due, and of the host */
static bool is_firing; /* a due happens */
static uint64_t dealt; /* random numbers so far */
static uint64_t seed;
static unsigned charges; /* made while an input is open */

/* A number for each call, the same in each run: the finaliser of splitmix64
 * (Steele, Lea, Flood, OOPSLA 2014) over a counter. */
static uint64_t deal(void)
{
    uint64_t x = seed + ++dealt * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t dz_virtual_now(void)
{
    return is_firing || running == NULL ? now : running->virtual.clock;
}

bool dz_virtual_is_firing(void)
{
    return is_firing;
}

void dz_virtual_due_set(struct dz_due *due, uint64_t at)
{
    uint64_t order = deal() >> (64 - DZ_VIRTUAL_SEED_BITS);

    dz_virtual_due_clear(due);
    if (at < dz_virtual_now())
        at = dz_virtual_now();
    if (at > DZ_VIRTUAL_END)
        at = DZ_VIRTUAL_END;
    due->node.key = at << DZ_VIRTUAL_SEED_BITS | order;
    dz_heap_insert(&dues, &due->node);
}

void dz_virtual_due_clear(struct dz_due *due)
{
    if (dz_heap_holds(&due->node))
        dz_heap_remove(&dues, &due->node);
}

static uint64_t next_due(void)
{
    return dues.root == NULL ? UINT64_MAX
                             : dues.root->key >> DZ_VIRTUAL_SEED_BITS;
}

/* A peripheral acts. What it raises leaves a note: interrupts are off. */
static void fire(void)
{
    struct dz_due *due = container_of(dues.root, struct dz_due, node);
    dz_key key = dz_port_core.masked;

    now = next_due();
    dz_heap_remove(&dues, &due->node);
    dz_port_core.masked = 1;
    is_firing = true;
    if (now == DZ_VIRTUAL_END)
        dz_report_end_of_time();
    due->fire(due);
    is_firing = false;
    dz_port_core.masked = key;
}

/* The core that is furthest behind, of those that do not sleep and are not
 * running. */
static struct dz_core *next_core(void)
{
    struct dz_core *next = NULL;

    for (unsigned i = 0; i < core_count; i++) {
        struct dz_core *core = cores[i];

        if (core == running || core->virtual.is_asleep)
            continue;
        if (next == NULL || core->virtual.clock < next->virtual.clock)
            next = core;
    }
    return next;
}

static struct dz_fibre *fibre_of(struct dz_core *core)
{
    return core == NULL ? &host : &core->virtual.fibre;
}

/* What a core has of its own in the thread's memory goes with it. */
static void change_to(struct dz_core *next)
{
    struct dz_core *self = running;
    struct dz_port_core port = dz_port_core;
    struct dz_local local = dz_local;

    if (self != NULL)
        self->virtual.port = port;
    running = next;
    dz_fibre_change(fibre_of(self), fibre_of(next));
    running = self;
    dz_port_core = self != NULL ? self->virtual.port : port;
    dz_local = local;
}

/* Lets the earliest thing happen that is not behind `limit`. False: there is
 * none. */
static bool step(uint64_t limit)
{
    struct dz_core *core = next_core();
    uint64_t due = next_due();
    int saved = errno;

    if (dues.root != NULL && due <= limit &&
        (core == NULL || due <= core->virtual.clock)) {
        fire();
        errno = saved;
        return true;
    }
    if (core == NULL || core->virtual.clock >= limit)
        return false;
    change_to(core);
    errno = saved;
    return true;
}

/* When what comes from outside comes: no core that could run is beyond it, or
 * when all sleep, none at all. */
static uint64_t present(void)
{
    struct dz_core *next = next_core();
    uint64_t latest = now;

    if (next != NULL)
        return next->virtual.clock > now ? next->virtual.clock : now;
    for (unsigned i = 0; i < core_count; i++) {
        if (cores[i]->virtual.clock > latest)
            latest = cores[i]->virtual.clock;
    }
    return latest;
}

/* As a due happens, at the present; `now` may have dues to catch up on. */
static void turn(uv_run_mode mode)
{
    uint64_t last = now;
    dz_key key = dz_port_core.masked;
    int saved = errno;

    now = present();
    dz_port_core.masked = 1;
    is_firing = true;
    dz_loop_turn(mode);
    is_firing = false;
    dz_port_core.masked = key;
    now = last;
    errno = saved;
}

/* The core that takes steps while it sleeps sleeps no longer. */
static bool is_woken(void)
{
    return running != NULL && !running->virtual.is_asleep;
}

/* One of these dues is not in the background, of which each core has two at
 * most: few are looked at. */
static bool has_foreground(const struct dz_heap_node *node)
{
    if (node == NULL)
        return false;
    return !container_of(node, const struct dz_due, node)->is_background ||
        has_foreground(node->children[0]) || has_foreground(node->children[1]);
}

uint64_t dz_virtual_at_rest(void)
{
    uint64_t since = 0;

    if (has_foreground(dues.root) || dz_loop_has_input())
        return UINT64_MAX;
    for (unsigned i = 0; i < core_count; i++) {
        if (!cores[i]->virtual.is_asleep)
            return UINT64_MAX;
        if (cores[i]->virtual.clock > since)
            since = cores[i]->virtual.clock;
    }
    return since;
}

/* Whatever is next, be it from outside. Else nothing will ever happen. */
static void step_or_wait(void)
{
    bool has_input = dz_loop_has_input();

    if (dz_loop_take_ring() || has_input)
        turn(UV_RUN_NOWAIT);
    if (is_woken())
        return;
    if (next_core() != NULL || has_foreground(dues.root)) {
        (void)step(UINT64_MAX);
        return;
    }
    if (!has_input)
        dz_report_deadlock();
    turn(UV_RUN_ONCE);
}

/* A busy loop ends a run. Interrupts that never let thread mode go on are one,
 * too, be it a loop of polls. */
static void look_for_end(struct dz_core *core)
{
    if (core->virtual.clock - core->virtual.progress > DZ_VIRTUAL_PATIENCE)
        dz_report_busy_loop("neither slept nor begun a poll");
    if (dz_port_is_thread_mode())
        core->virtual.returned = core->virtual.clock;
    if (core->virtual.clock - core->virtual.returned > DZ_VIRTUAL_PATIENCE)
        dz_report_busy_loop("not come back to thread mode");
    if (core->virtual.clock >= DZ_VIRTUAL_END)
        dz_report_end_of_time();
}

static void subtract(const struct dz_core *core)
{
    unsigned i = 0;

    while (cores[i] != core)
        i++;
    cores[i] = cores[--core_count];
}

/* The host, which may be waiting for this, goes on. */
static void end_core(struct dz_core *core)
{
    core->virtual.is_ended = true;
    if (now < core->virtual.clock)
        now = core->virtual.clock;
    subtract(core);
    running = NULL;
    dz_fibre_end(&core->virtual.fibre, &host);
}

/* Unmasked. Handlers have a moment to end; if they go on, what they interrupted
 * is on the core's own stack, which nobody will miss, and no lock is held. */
static bool can_end(const struct dz_core *core)
{
    return dz_port_is_thread_mode() ||
        core->virtual.clock - core->virtual.returned > CUT_SHORT;
}

/*
 * Brings the core from `since` to its clock. Meanwhile it computes, which
 * nobody can see: others go on, as far as that. An interrupt takes the core
 * back to the instant at which it came, and what was left of the computation is
 * done when its handler has returned.
 */
static void compute(struct dz_core *core, uint64_t since)
{
    uint64_t end = core->virtual.clock;

    for (;;) {
        bool has_stepped;
        uint64_t left;

        core->virtual.since = since;
        dz_port_core.masked = 1;
        has_stepped = step(end);
        dz_port_core.masked = 0;
        core->virtual.since = UINT64_MAX;
        left = end - core->virtual.clock;
        if (dz_port_core.deferred != 0)
            dz_core_run_pending(core);
        since = core->virtual.clock;
        core->virtual.clock += left;
        end = core->virtual.clock;
        if (!has_stepped)
            break;
    }
    if (atomic_load(&core->is_stopped) && can_end(core))
        end_core(core);
}

/* What never sleeps hears from outside too, from time to time, and at once what
 * is urgent. */
static void hear_outside(void)
{
    if (dz_loop_take_ring() || (dz_loop_has_input() && ++charges % 256 == 0))
        turn(UV_RUN_NOWAIT);
}

void dz_virtual_charge(uint64_t ns)
{
    struct dz_core *core = running;

    if (core == NULL || is_firing)
        return;
    look_for_end(core);
    if (dz_port_core.masked == 0)
        hear_outside();
    core->virtual.clock += ns;
    if (dz_port_core.masked != 0)
        dz_port_core.deferred = 1;
    else
        compute(core, core->virtual.clock - ns);
}

static void dispatch(void)
{
    hear_outside();
    compute(running, running->virtual.clock);
}

/* A core that sleeps wakes; one that computes is taken back to this instant. */
static void interrupt(struct dz_core *core)
{
    uint64_t at = dz_virtual_now();

    if (core->virtual.is_asleep) {
        core->virtual.is_asleep = false;
        if (core->virtual.clock < at)
            core->virtual.clock = at;
    } else if (core->virtual.since != UINT64_MAX) {
        if (at < core->virtual.since)
            at = core->virtual.since;
        if (core->virtual.clock > at)
            core->virtual.clock = at;
    }
}

static void ring(struct dz_core *core, int irq)
{
    (void)irq;
    if (core == running)
        dz_port_core.deferred = 1;
    else
        core->virtual.port.deferred = 1;
    interrupt(core);
    if (core == running && dz_port_core.masked == 0)
        dz_core_run_pending(core);
}

static void sleep_until(
    struct dz_core *core, bool (*is_over)(struct dz_core *core))
{
    while (!is_over(core)) {
        core->virtual.is_asleep = true;
        step_or_wait();
    }
    core->virtual.is_asleep = false;
    core->virtual.progress = core->virtual.clock;
    core->virtual.returned = core->virtual.clock;
}

static void add(struct dz_core *core)
{
    if (core_count == DZ_CORES)
        dz_panic("more cores are started than DZ_CORES", __FILE__, __LINE__);
    core->virtual.clock = dz_virtual_now();
    core->virtual.progress = core->virtual.clock;
    core->virtual.returned = core->virtual.clock;
    core->virtual.since = UINT64_MAX;
    core->virtual.is_asleep = false;
    core->virtual.is_ended = false;
    core->virtual.port = (struct dz_port_core){.masked = 0};
    cores[core_count++] = core;
}

static void run_core(void *argument)
{
    struct dz_core *core = argument;

    dz_core_begin(core);
    dz_port_unmask(0);
    core->main(core->argument);
    end_core(core);
}

static void start(struct dz_core *core)
{
    if (running != NULL && running->virtual.fibre.memory == NULL)
        dz_panic("in virtual time, a core that a thread has entered is the "
                 "only one",
            __FILE__, __LINE__);
    add(core);
    dz_fibre_create(&core->virtual.fibre, run_core, core);
}

static void join(struct dz_core *core)
{
    if (running != NULL)
        dz_panic("in virtual time, a core cannot join or stop another",
            __FILE__, __LINE__);
    while (!core->virtual.is_ended)
        step_or_wait();
    dz_fibre_free(&core->virtual.fibre);
}

static void stop(struct dz_core *core)
{
    if (!core->virtual.is_ended)
        ring(core, DZ_IRQ_INBOX);
}

/* The thread's own stack becomes a core. */
static void enter(struct dz_core *core)
{
    if (core_count != 0)
        dz_panic("in virtual time, a thread enters a core only if no other was "
                 "started",
            __FILE__, __LINE__);
    add(core);
    core->virtual.fibre = (struct dz_fibre){.memory = NULL};
    running = core;
    dz_core_begin(core);
    dz_port_unmask(0);
}

static void leave(struct dz_core *core)
{
    subtract(core);
    now = core->virtual.clock;
    running = NULL;
}

/* Nobody else looks while the core does. */
static void scan(struct dz_core *core)
{
    (void)core;
}

static int open_handler(struct dz_core *core)
{
    (void)core;
    dz_virtual_charge(dz_machine_running()->costs.handler);
    return 0;
}

static void close_handler(struct dz_core *core, int opened)
{
    (void)core;
    (void)opened;
}

/* Of the core's events, a poll takes time, and is no busy loop. With several
 * cores it takes at least 1 ns, or one that is never idle would keep the others
 * from their turn. */
static void charge_poll(unsigned event, const void *subject, const void *detail)
{
    uint32_t cost = dz_machine_running()->costs.poll;

    (void)subject;
    (void)detail;
    if (event != DZ_EVENT_POLL)
        return;
    if (running != NULL)
        running->virtual.progress = running->virtual.clock;
    dz_virtual_charge(cost == 0 && core_count > 1 ? 1 : cost);
}

void dz_virtual_start(const struct dz_machine *machine)
{
    dz_port_listen(charge_poll);
    seed = machine->seed;
    dealt = 0;
    charges = 0;
    now = 0;
    dues = (struct dz_heap){.root = NULL};
}

void dz_virtual_stop(void)
{
    dz_port_ignore(charge_poll);
    if (core_count != 0)
        dz_panic(
            "the machine is stopped while a core runs", __FILE__, __LINE__);
}

const struct dz_core_machine dz_virtual_machine = {
    .port =
        {
            .is_virtual = true,
            .dispatch = dispatch,
            .wait = dz_core_port_wait,
            .pend = dz_core_port_pend,
            .now = dz_clock_now,
            .set_alarm = dz_clock_set_alarm,
            .start = dz_core_port_start,
        },
    .ring = ring,
    .begin_scan = scan,
    .end_scan = scan,
    .start = start,
    .join = join,
    .stop = stop,
    .enter = enter,
    .leave = leave,
    .open = open_handler,
    .close = close_handler,
    .sleep = sleep_until,
};
