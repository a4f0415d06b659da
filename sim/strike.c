/* SPDX-License-Identifier: MIT */
#include "sim/strike.h"

#include <stdbool.h>

#include "executor/executor.h"
#include "sim/test.h"

enum { LINE = 6 };

static const struct strike *current;
static unsigned long accesses; /* so far in this run */
static unsigned long target;   /* strike before this one */
static bool is_armed;          /* accesses count */
static bool has_struck;
static bool is_waiting; /* for interrupts to be switched on */

/* As hardware would, without an event on return. */
static void strike_now(void)
{
    struct dz_waiter *interrupted = dz_current;
    int event = dz_port_core.event;

    is_waiting = false;
    has_struck = true;
    dz_port_core.context = LINE + 16;
    dz_current = &dz_outside;
    dz_port_core.event = 0;
    current->handler();
    dz_port_core.event |= event;
    dz_current = interrupted;
    dz_port_core.context = 0;
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
}

static void sleep_until_strike(void)
{
    if (dz_current != &dz_outside)
        fail_msg("%s: asleep in the name of a task", current->name);
    if (dz_port_core.event != 0)
        return;
    if (has_struck)
        fail_msg("%s: a wake-up was lost, interrupt before access %lu",
            current->name, target);
    strike_now();
}

void strike_at_last(void)
{
    if (!has_struck)
        strike_now();
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
        fail_msg("%s: the alarm is late, interrupt before access %lu",
            current->name, target);
    strike_alarm = at;
}

static const struct dz_port_machine machine = {
    .dispatch = dispatch,
    .wait = sleep_until_strike,
    .now = now,
    .set_alarm = set_alarm,
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
    strike_time = 0;
    strike_alarm = UINT64_MAX;
    scenario->prepare();
    is_armed = true;
    scenario->run();
    is_armed = false;
    scenario->check();
    return accesses > target;
}

unsigned long strike_everywhere(const struct strike *scenario)
{
    for (target = 0; run_once(scenario); target++)
        continue;
    print_message("%s: %lu accesses\n", scenario->name, target);
    return target;
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
