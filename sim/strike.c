/* SPDX-License-Identifier: MIT */
#include "sim/strike.h"

#include <stdio.h>
#include <stdlib.h>

#include "executor/executor.h"

enum { LINE = 6, STARTED_LINE = 7, EXCEPTIONS = 16 };

static const struct strike *current;
static unsigned long accesses; /* so far in this run */
static unsigned long target;   /* strike before this one */
static bool is_armed;          /* accesses count */
static bool has_struck;
static bool is_waiting; /* for interrupts to be switched on */

/* That was started, and whether its interrupt is pending. */
static struct dz_executor *started;
static bool is_due;

void strike_fail(const char *what)
{
    fflush(stdout);
    fprintf(stderr, "%s, interrupt before access %lu: %s\n",
        current != NULL ? current->name : "all", target, what);
    exit(EXIT_FAILURE);
}

/* As hardware would, without an event on return. */
static void interrupt(unsigned line, void (*handler)(void))
{
    struct dz_waiter *interrupted = dz_current;
    unsigned context = dz_port_core.context;

    dz_port_core.context = line + EXCEPTIONS;
    dz_current = &dz_outside;
    handler();
    dz_current = interrupted;
    dz_port_core.context = context;
}

static void poll_started(void)
{
    dz_executor_poll(started);
}

/* Nothing is below thread mode. */
static void run_started(void)
{
    while (is_due && dz_port_core.context == 0) {
        is_due = false;
        interrupt(STARTED_LINE, poll_started);
    }
}

static void strike_now(void)
{
    is_waiting = false;
    has_struck = true;
    interrupt(LINE, current->handler);
    run_started();
}

static void strike(void)
{
    if (dz_port_core.masked != 0) {
        is_waiting = true;
        dz_port_core.deferred = 1;
        return;
    }
    strike_now();
}

static void dispatch(void)
{
    dz_port_core.deferred = 0;
    if (is_waiting)
        strike_now();
    run_started();
}

static void pend(int number)
{
    (void)number;
    is_due = true;
    dz_port_core.deferred = 1;
}

static void start(struct dz_executor *executor, int number, unsigned priority)
{
    (void)priority;
    executor->port.interrupt = number;
}

void strike_start(struct dz_executor *executor)
{
    started = executor;
    dz_executor_start(executor, STARTED_LINE, 0);
}

static void sleep_until_strike(void)
{
    if (dz_current != &dz_outside)
        strike_fail("asleep in the name of a task");
    if (dz_port_core.event != 0)
        return;
    if (has_struck)
        strike_fail("a wake-up was lost");
    strike_now();
}

void strike_at_last(void)
{
    if (!has_struck)
        strike_now();
}

bool strike_is_pended(void)
{
    return dz_port_core.event != 0;
}

static void access_memory(void)
{
    if (!is_armed || has_struck || is_waiting)
        return;
    if (accesses++ == target)
        strike();
}

uint64_t strike_time;
uint64_t strike_alarm;

static uint64_t now(void)
{
    return strike_time;
}

static void set_alarm(uint64_t at)
{
    if (at <= strike_time)
        strike_fail("the alarm is late");
    strike_alarm = at;
}

static const struct dz_port_machine machine = {
    .dispatch = dispatch,
    .wait = sleep_until_strike,
    .pend = pend,
    .now = now,
    .set_alarm = set_alarm,
    .start = start,
};

static struct dz_port_home home;

/* True: the interrupt came before the scenario was at its end. */
static bool run_once(const struct strike *scenario)
{
    dz_port_core = (struct dz_port_core){
        .machine = &machine,
        .home = &home,
    };
    current = scenario;
    accesses = 0;
    has_struck = false;
    is_due = false;
    strike_time = 0;
    strike_alarm = UINT64_MAX;
    scenario->prepare();
    is_armed = true;
    scenario->run();
    is_armed = false;
    scenario->check();
    return accesses > target;
}

static unsigned long total;

void strike_everywhere(const struct strike *scenario)
{
    for (target = 0; run_once(scenario); target++)
        continue;
    current = NULL;
    total += target;
    printf("%s: %lu accesses\n", scenario->name, target);
}

unsigned long strike_total(void)
{
    printf("%lu accesses\n", total);
    return total;
}

/* What the compilers call. The address and the kind do not matter here. */

#define ACCESS(name)                   \
    void __tsan_##name(void *address); \
    void __tsan_##name(void *address)  \
    {                                  \
        (void)address;                 \
        access_memory();               \
    }

#define ACCESSES(size)                 \
    ACCESS(read##size)                 \
    ACCESS(write##size)                \
    ACCESS(unaligned_read##size)       \
    ACCESS(unaligned_write##size)      \
    ACCESS(read_write##size)           \
    ACCESS(unaligned_read_write##size) \
    ACCESS(volatile_read##size)        \
    ACCESS(volatile_write##size)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *address);
void __tsan_func_entry(void *address)
{
    (void)address;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

void __tsan_read_range(void *address, size_t size);
void __tsan_read_range(void *address, size_t size)
{
    (void)address;
    (void)size;
    access_memory();
}

void __tsan_write_range(void *address, size_t size);
void __tsan_write_range(void *address, size_t size)
{
    (void)address;
    (void)size;
    access_memory();
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

unsigned char __tsan_atomic8_exchange(
    volatile unsigned char *address, unsigned char value, int order);
unsigned char __tsan_atomic8_exchange(
    volatile unsigned char *address, unsigned char value, int order)
{
    (void)order;
    access_memory();
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);
}
