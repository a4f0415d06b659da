/* SPDX-License-Identifier: MIT */

/*
 * Tasks and objects are remembered by their address, each in a table that only
 * grows: a task's memory is static, and whoever reuses an address takes over
 * its entry. So any core may add one at any time, with one compare-and-swap
 * and no lock. An entry itself is written by one core at a time: that of the
 * task, or that which holds the object's lock. A report in real time may read
 * what a core writes at that moment, and print something half old.
 */
#include "sim/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/executor.h"
#include "executor/trace.h"
#include "sim/core.h"
#include "sim/machine.h"
#include "sim/program.h"
#include "sim/virtual.h"

enum {
    TASKS = 1024,
    OBJECTS = 4096,
    STEPS = 16,      /* of one task's last poll */
    NESTED = 16,     /* handlers of one core */
    EXCEPTIONS = 16, /* before interrupt 0 */
    LOST = 16,       /* interrupts that are told of */
};

/* Something that a poll told: what a branch waits for, or an await. */
struct step {
    const void *subject; /* the object, or the struct dz_await_place */
    const char *name;    /* of the object; NULL: an await */
    const struct dz_waiter *waiter; /* of the branch that waits, and */
    uintptr_t place; /* where it was queued; NULL: it is settled that it does */
};

struct task {
    unsigned order; /* of its spawn, from 1; 0: not alive */
    const struct dz_pool *pool;
    const char *name;
    struct task *outer; /* that was being polled when this poll began */
    unsigned polls;
    bool has_told; /* the steps are of the last poll, not of an older one */
    unsigned len;
    struct step steps[STEPS];
};

/* Who used it and did not have to wait: 0, nobody; TASK + index; INTERRUPT +
 * its context. */
struct object {
    const char *name;
    unsigned order;  /* of when it was first seen, from 1; 0: not yet */
    bool has_lock;   /* so others can use it */
    bool has_waited; /* since its lock was taken */
    unsigned user;   /* the last, */
    unsigned other;  /* and the last before that was somebody else */
};

/* What a core does. */
struct work {
    struct task *polled; /* the innermost */
    unsigned depth;      /* of the handlers that run */
    unsigned contexts[NESTED];
    const struct dz_core *core; /* NULL: it has not started */
    struct task *left;          /* the last that a handler polled */
    volatile unsigned progress;
};

enum { OUTSIDE = 1, TASK = 1 << 16, INTERRUPT = 1 << 17 };

static _Atomic(const void *) task_keys[TASKS];
static _Atomic(const void *) object_keys[OBJECTS];
static struct task tasks[TASKS];
static struct object objects[OBJECTS];
static atomic_uint spawned;
static atomic_uint seen;      /* objects */
static atomic_uint forgotten; /* events for which there was no room */
static struct work works[DZ_CORES];

/* Interrupts that are pending in vain: the first of them, and how many. */
static struct lost {
    int irq;
    unsigned core;
    bool is_bound;
} vain[LOST];
static unsigned vain_count;

/* The index of an address, which is added if it is new. -1: no room. */
static int find(_Atomic(const void *) *keys, unsigned size, const void *key)
{
    unsigned first = (unsigned)(((uintptr_t)key >> 3) * 2654435761u % size);

    for (unsigned i = 0; i < size; i++) {
        unsigned index = (first + i) % size;
        const void *found = NULL;

        if (atomic_compare_exchange_strong(&keys[index], &found, key) ||
            found == key)
            return (int)index;
    }
    atomic_fetch_add(&forgotten, 1);
    return -1;
}

static struct task *task_at(const void *address)
{
    int index = find(task_keys, TASKS, address);

    return index < 0 ? NULL : &tasks[index];
}

/* NULL: no room. An address that has become another type's is a new object. */
static struct object *object_at(const void *address, const char *name)
{
    int index = find(object_keys, OBJECTS, address);
    struct object *object = &objects[index < 0 ? 0 : index];

    if (index < 0)
        return NULL;
    if (object->order == 0 ||
        (object->name != name && strcmp(object->name, name) != 0))
        *object = (struct object){
            .name = name,
            .order = atomic_fetch_add(&seen, 1) + 1,
        };
    return object;
}

static struct work *work_here(void)
{
    return &works[dz_port_context() / DZ_CONTEXT_CORE % DZ_CORES];
}

static unsigned user_now(void)
{
    if (dz_current->task != NULL)
        return TASK + (unsigned)(find(task_keys, TASKS, dz_current->task) + 1);
    if (!dz_port_is_thread_mode())
        return INTERRUPT + dz_port_context();
    return OUTSIDE;
}

static void on_spawn(const struct dz_task *task)
{
    struct task *entry = task_at(task);

    if (entry == NULL)
        return;
    *entry = (struct task){
        .order = atomic_fetch_add(&spawned, 1) + 1,
        .pool = task->pool,
        .name = dz_task_name(task),
    };
}

static void on_poll(const struct dz_task *task)
{
    struct task *entry = task_at(task);

    if (entry == NULL)
        return;
    entry->outer = work_here()->polled;
    entry->polls++;
    entry->has_told = false;
    work_here()->polled = entry;
}

/* A branch that was cancelled, or went on to wait for something else, within
 * that same poll is where it no longer was then. A grant since then leaves it
 * there. */
static bool is_stale(const struct task *task, const struct step *step)
{
    const struct step *end = task->steps + task->len;

    if (step->waiter == NULL)
        return false;
    for (const struct step *later = step + 1; later < end; later++)
        if (later->name != NULL && later->waiter == step->waiter)
            return true;
    return (step->waiter->place | DZ_PLACE_GRANTED) !=
        (step->place | DZ_PLACE_GRANTED);
}

/* At the end of the poll: in the next one, a branch that was granted goes on,
 * and where it was is still what there is to show. Awaits behind a wait are
 * that branch's, up to the next wait. */
static void drop_stale(struct task *task)
{
    unsigned kept = 0;
    bool is_kept = true;

    for (unsigned i = 0; i < task->len; i++) {
        struct step *step = &task->steps[i];

        if (step->name != NULL)
            is_kept = !is_stale(task, step);
        if (is_kept)
            task->steps[kept++] = *step;
    }
    for (unsigned i = 0; i < kept; i++)
        task->steps[i].waiter = NULL;
    task->len = kept;
}

static void on_polled(const struct dz_task *task)
{
    struct work *work = work_here();

    if (work->polled == NULL)
        return;
    work->polled->name = dz_task_name(task);
    if (work->polled->has_told)
        drop_stale(work->polled);
    if (work->depth > 0)
        work->left = work->polled;
    work->polled = work->polled->outer;
}

static void on_end(const struct dz_task *task)
{
    struct task *entry = task_at(task);

    if (entry != NULL)
        entry->order = 0;
}

/* What the poll before told is kept until this one tells something: a report
 * from the middle of a poll says where it began. */
static void add_step(const void *subject, const char *name)
{
    struct task *entry = work_here()->polled;

    if (entry == NULL)
        return;
    if (!entry->has_told)
        entry->len = 0;
    entry->has_told = true;
    if (entry->len < STEPS)
        entry->steps[entry->len++] = (struct step){
            .subject = subject,
            .name = name,
            .waiter = dz_current,
            .place = dz_current->place,
        };
}

static void on_lock(const void *address, const char *name)
{
    struct object *object = object_at(address, name);

    if (object == NULL)
        return;
    object->has_lock = true;
    object->has_waited = false;
}

static void on_wait(const void *address, const char *name)
{
    struct object *object = object_at(address, name);

    if (object != NULL)
        object->has_waited = true;
    add_step(address, name);
}

static void on_unlock(const void *address, const char *name)
{
    struct object *object = object_at(address, name);
    unsigned user;

    if (object == NULL || object->has_waited)
        return;
    user = user_now();
    if (user != object->user)
        object->other = object->user;
    object->user = user;
}

static void on_start(const struct dz_core *core)
{
    works[core->home.index % DZ_CORES].core = core;
}

static void on_enter(void)
{
    struct work *work = work_here();

    if (work->depth < NESTED)
        work->contexts[work->depth] = dz_port_context();
    work->depth++;
}

static void on_leave(void)
{
    struct work *work = work_here();

    if (work->depth > 0)
        work->depth--;
}

static void count_progress(unsigned event)
{
    if (event == DZ_EVENT_POLL || event == DZ_EVENT_POLLED ||
        event == DZ_EVENT_INTERRUPT_ENTER || event == DZ_EVENT_INTERRUPT_EXIT)
        work_here()->progress++;
}

static void listen(unsigned event, const void *subject, const void *detail)
{
    count_progress(event);
    switch (event) {
    case DZ_EVENT_SPAWN:
        on_spawn(subject);
        break;
    case DZ_EVENT_POLL:
        on_poll(subject);
        break;
    case DZ_EVENT_POLLED:
        on_polled(subject);
        break;
    case DZ_EVENT_END:
        on_end(subject);
        break;
    case DZ_EVENT_LOCK:
        on_lock(subject, detail);
        break;
    case DZ_EVENT_UNLOCK:
        on_unlock(subject, detail);
        break;
    case DZ_EVENT_WAIT:
        on_wait(subject, detail);
        break;
    case DZ_EVENT_AWAIT:
        add_step(subject, NULL);
        break;
    case DZ_EVENT_INTERRUPT_ENTER:
        on_enter();
        break;
    case DZ_EVENT_INTERRUPT_EXIT:
        on_leave();
        break;
    case DZ_EVENT_START:
        on_start(subject);
        break;
    default:
        break;
    }
}

void dz_report_begin(void)
{
    for (unsigned i = 0; i < TASKS; i++)
        atomic_store(&task_keys[i], NULL);
    for (unsigned i = 0; i < OBJECTS; i++) {
        atomic_store(&object_keys[i], NULL);
        objects[i] = (struct object){.user = 0};
    }
    for (unsigned i = 0; i < TASKS; i++)
        tasks[i].order = 0;
    for (unsigned i = 0; i < DZ_CORES; i++)
        works[i] = (struct work){.polled = NULL};
    atomic_store(&spawned, 0);
    atomic_store(&seen, 0);
    vain_count = 0;
    atomic_store(&forgotten, 0);
    dz_port_listen(listen);
}

void dz_report_end(void)
{
    dz_port_ignore(listen);
}

/* In any context: no stdio stream, no memory. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    char text[512];
    va_list arguments;
    int len;

    va_start(arguments, format);
    len = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (len > (int)sizeof(text) - 1)
        len = (int)sizeof(text) - 1;
    if (len > 0)
        (void)!write(STDERR_FILENO, text, (size_t)len);
}

static void say_time(void)
{
    uint64_t now = dz_machine_running() != NULL ? dz_machine_now() : 0;

    say("at %" PRIu64 ".%09" PRIu64 " s", now / 1000000000, now % 1000000000);
}

static const struct dz_task *address_of(const struct task *task)
{
    return atomic_load(&task_keys[task - tasks]);
}

static void say_task(const struct task *task)
{
    const char *first = task->pool->slots;
    const char *address = (const char *)address_of(task);

    say("task %s, slot %u", task->name,
        (unsigned)((size_t)(address - first) / task->pool->size));
}

static void say_interrupt(unsigned context)
{
    say("interrupt %d on core %u",
        (int)(context % DZ_CONTEXT_CORE) - EXCEPTIONS,
        context / DZ_CONTEXT_CORE);
}

static void say_user(unsigned user)
{
    if (user == OUTSIDE)
        say("code outside tasks");
    else if (user & INTERRUPT)
        say_interrupt(user - INTERRUPT);
    else if (user == TASK)
        say("a task too many to remember");
    else
        say_task(&tasks[user - TASK - 1]);
}

/* Which one of its type it is, in the order in which they were first seen. An
 * address would be another one in each run. */
static unsigned number_of(const struct object *object)
{
    unsigned number = 1;

    for (unsigned i = 0; i < OBJECTS; i++)
        if (objects[i].order != 0 && objects[i].order < object->order &&
            strcmp(objects[i].name, object->name) == 0)
            number++;
    return number;
}

/* Nobody waits for himself: of interest is who was there last of the others. */
static void say_other_user(const struct task *task, const struct object *object)
{
    unsigned self = TASK + (unsigned)(task - tasks) + 1;
    unsigned user = object->user != self ? object->user : object->other;

    if (user != 0) {
        say("; last used by ");
        say_user(user);
    } else if (object->has_lock) {
        say("; nobody else has used it");
    }
}

static void say_wait(
    const struct task *task, const struct step *step, const char *verb)
{
    const struct object *object = object_at(step->subject, step->name);

    say("    %s %s", verb, step->name);
    if (object != NULL) {
        say(" #%u", number_of(object));
        say_other_user(task, object);
    }
    say("\n");
}

static void say_await(const struct dz_await_place *place)
{
    say("      %s:%d: %s\n", place->file, place->line, place->function);
}

/* Within a poll, some may be stale already. */
static void say_steps(const struct task *task, const char *verb)
{
    bool is_shown = true;

    for (unsigned i = 0; i < task->len; i++) {
        const struct step *step = &task->steps[i];

        if (step->name != NULL)
            is_shown = !is_stale(task, step);
        if (!is_shown)
            continue;
        if (step->name != NULL)
            say_wait(task, step, verb);
        else
            say_await(step->subject);
    }
}

static void say_all_of(const struct task *task)
{
    const struct dz_executor *executor = address_of(task)->executor;

    say("  ");
    say_task(task);
    if (executor != NULL && executor->port.home != NULL)
        say(", executor \"%s\", core %u", executor->name,
            executor->port.home->index);
    say("\n");
    if (task->polls == 0)
        say("    has not run yet: %s:%d\n", task->pool->file, task->pool->line);
    else if (task->len == 0)
        say("    waits for something unknown: its poll of %s:%d is pending "
            "without an await\n",
            task->pool->file, task->pool->line);
    else
        say_steps(task, "waits for");
}

/* The live task that was spawned next behind `order`, or NULL. */
static const struct task *next_task(unsigned order)
{
    const struct task *next = NULL;

    for (unsigned i = 0; i < TASKS; i++)
        if (tasks[i].order > order &&
            (next == NULL || tasks[i].order < next->order))
            next = &tasks[i];
    return next;
}

/* Nobody has enabled it. */
static void keep_interrupt(const struct dz_core *core, int irq)
{
    if (vain_count == LOST || !dz_nvic_is_pending(&core->nvic, irq) ||
        dz_nvic_is_enabled(&core->nvic, irq))
        return;
    vain[vain_count++] = (struct lost){
        .irq = irq,
        .core = core->home.index,
        .is_bound = core->vectors[dz_nvic_index(irq)].handler != NULL,
    };
}

void dz_report_keep_interrupts(void)
{
    vain_count = 0;
    for (unsigned i = 0; i < DZ_CORES; i++)
        for (int irq = 0; works[i].core != NULL && irq < DZ_NVIC_IRQS; irq++)
            keep_interrupt(works[i].core, irq);
}

static void say_interrupts(void)
{
    for (unsigned i = 0; i < vain_count; i++)
        say("  interrupt %d on core %u is pending, but %s\n", vain[i].irq,
            vain[i].core,
            vain[i].is_bound ? "not enabled: dz_core_enable()"
                             : "not bound to a handler: dz_core_bind()");
}

void dz_report_tasks(void)
{
    const struct task *task = next_task(0);

    if (task == NULL)
        say("  no task is alive\n");
    for (; task != NULL; task = next_task(task->order))
        say_all_of(task);
    say_interrupts();
    if (atomic_load(&forgotten) != 0)
        say("  there is more: this report has room for %d tasks and %d "
            "objects\n",
            TASKS, OBJECTS);
}

void dz_report_deadlock(void)
{
    say("deadlock ");
    say_time();
    say(": all cores sleep, and nothing is scheduled that could wake one\n");
    dz_report_keep_interrupts();
    dz_report_tasks();
    exit(DZ_EXIT_DEADLOCK);
}

void dz_report_end_of_time(void)
{
    say("timeout ");
    say_time();
    say(": virtual time has reached its end (52 days)\n");
    dz_report_keep_interrupts();
    dz_report_tasks();
    exit(DZ_EXIT_TIMEOUT);
}

/* A task that was resumed stands where it last waited. */
static void say_poll(const struct task *task, const char *where)
{
    say("  %s a poll of ", where);
    say_task(task);
    say(task->len == 0 ? ", from its beginning: %s:%d\n"
                       : " (%s:%d), resumed here:\n",
        task->pool->file, task->pool->line);
    say_steps(task, "waited for");
}

/* Interrupts that follow one another leave gaps, in which the core seems to do
 * what they interrupted: what ended last stands for them. */
static bool is_in_gap(const struct work *work)
{
    return work->depth == 0 && work->core != NULL &&
        work->core->rounds % 2 != 0;
}

static void say_work(const struct work *work)
{
    unsigned depth = work->depth < NESTED ? work->depth : NESTED;
    bool is_behind = is_in_gap(work);
    bool is_in_interrupts = depth > 0 || is_behind;

    if (!is_in_interrupts && work->polled == NULL)
        say("  outside tasks and interrupts\n");
    if (is_behind) {
        say("  behind ");
        say_interrupt(work->contexts[0]);
        say("\n");
    }
    while (depth > 0) {
        say("  in ");
        say_interrupt(work->contexts[--depth]);
        say("\n");
    }
    for (const struct task *task = work->polled; task != NULL;
         task = task->outer)
        say_poll(task, "in");
    if (is_in_interrupts && work->left != NULL && work->left != work->polled)
        say_poll(work->left, "behind");
}

/* What it tells of fits together: the core may go on meanwhile. */
void dz_report_stuck(unsigned core, const char *fault)
{
    struct work work = works[core];

    say("busy loop ");
    say_time();
    say(": core %u: %s\n", core, fault);
    say_work(&work);
}

void dz_report_busy_loop(const char *fault)
{
    char text[80];

    snprintf(text, sizeof(text), "has %s for %d s of virtual time", fault,
        (int)(DZ_VIRTUAL_PATIENCE / 1000000000));
    dz_report_stuck(dz_port_context() / DZ_CONTEXT_CORE, text);
    exit(DZ_EXIT_BUSY_LOOP);
}

unsigned dz_report_progress(unsigned core)
{
    return works[core].progress;
}

bool dz_report_is_working(unsigned core)
{
    return works[core].depth != 0 || works[core].polled != NULL;
}
