/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>

#include "sim/test.h"
#include "sync/channel.h"

/* Real signals against real threads. None of these tests looks at a clock: what
 * hangs is ended by ctest. */

enum { IRQ = 4, TIMES = 200 };

DZ_CHANNEL_DEFINE(number_channel, uint32_t, 4, DZ_CRITICAL_SECTION)

static struct number_channel numbers;
static struct dz_executor executor;
static atomic_uint handled;

static void count_handled(void *argument)
{
    (void)argument;
    atomic_fetch_add(&handled, 1);
}

static void sleep_for_ever(void *argument)
{
    static const volatile bool never;

    (void)argument;
    dz_executor_init(&executor, "core");
    dz_executor_run_until(&executor, &never);
}

/* An executor that is never idle: it stops as it leaves a critical section. */
struct spinner {
    struct dz_task task;
};

static enum dz_poll spinner_poll(struct spinner *self)
{
    async (self) {
        for (;;)
            await(dz_yield_poll());
    }
    return DZ_READY;
}

DZ_TASK_POOL(spinners, struct spinner, spinner_poll, 1)

static void spin(void *argument)
{
    struct spinner *spinner;

    (void)argument;
    memset(spinners_slots, 0, sizeof(spinners_slots));
    dz_executor_init(&executor, "core");
    (void)spinners_claim(&spinner);
    dz_executor_spawn(&executor, &spinner->task);
    dz_executor_run(&executor);
}

/* A stop that comes while interrupts run is not forgotten. */
static void a_core_stops_in_the_middle_of_interrupts(void **state)
{
    static struct dz_core core;

    (void)state;
    dz_core_bind(&core, IRQ, count_handled, NULL);
    for (int i = 0; i < 5000; i++) {
        dz_core_start(&core, spin, NULL);
        dz_core_pend(&core, IRQ);
        dz_core_stop(&core);
    }
}

static void a_core_that_never_sleeps_stops_too(void **state)
{
    static struct dz_core core;

    (void)state;
    for (int i = 0; i < TIMES; i++) {
        dz_core_start(&core, spin, NULL);
        dz_core_stop(&core);
    }
}

/* A task that receives `wanted` numbers, each of which an interrupt sends
 * that another thread raises. Only when the last has come is the next raised,
 * so that each has to end a sleep, or to come right before one. */
struct listener {
    struct dz_task task;
    uint32_t value;
    uint32_t heard;
    uint32_t wanted;
    bool done;
};

static atomic_uint heard_in_all;

static enum dz_poll listener_poll(struct listener *self)
{
    async (self) {
        for (; self->heard < self->wanted; self->heard++) {
            await(number_channel_receive(&numbers, &self->value));
            atomic_fetch_add(&heard_in_all, 1);
        }
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(listeners, struct listener, listener_poll, 1)

static uint32_t wanted;

static void hear(void *argument)
{
    struct listener *listener;

    (void)argument;
    dz_executor_init(&executor, "core");
    (void)listeners_claim(&listener);
    listener->wanted = wanted;
    dz_executor_spawn(&executor, &listener->task);
    dz_executor_run_until(&executor, &listener->done);
}

static void send_one(void *argument)
{
    uint32_t value = 1;

    (void)argument;
    (void)number_channel_try_send(&numbers, &value);
}

static void begin_listening(struct dz_core *core, uint32_t count)
{
    memset(&numbers, 0, sizeof(numbers));
    atomic_store(&heard_in_all, 0);
    wanted = count;
    dz_core_bind(core, IRQ, send_one, NULL);
    dz_core_start(core, hear, NULL);
}

/* E12, P15: a wake-up that falls between the last look and the sleep. */
static void no_wake_up_is_lost_on_the_way_to_sleep(void **state)
{
    static struct dz_core core;

    (void)state;
    begin_listening(&core, 20000);
    for (unsigned i = 0; i < 20000; i++) {
        dz_core_pend(&core, IRQ);
        while (atomic_load(&heard_in_all) != i + 1)
            sched_yield();
    }
    dz_core_join(&core);
}

/* P7: many pends share a doorbell; the last is never lost. */
static void a_storm_of_interrupts_ends_with_all_of_them_seen(void **state)
{
    static struct dz_core core;

    (void)state;
    atomic_store(&handled, 0);
    dz_core_bind(&core, IRQ, count_handled, NULL);
    dz_core_start(&core, sleep_for_ever, NULL);
    for (int i = 0; i < 100000; i++)
        dz_core_pend(&core, IRQ);
    while (dz_nvic_is_pending(&core.nvic, IRQ))
        sched_yield();
    dz_core_stop(&core);
    assert_true(atomic_load(&handled) >= 1);
    assert_true(atomic_load(&handled) <= 100000);
}

/* P11 */
static void clobber_errno(void *argument)
{
    (void)argument;
    errno = EDOM;
    atomic_fetch_add(&handled, 1);
}

static void watch_errno(void *argument)
{
    errno = 0;
    while (atomic_load(&handled) < 1000) {
        if (errno != 0)
            *(int *)argument = errno;
    }
}

static void an_interrupt_leaves_errno_alone(void **state)
{
    static struct dz_core core;
    int seen = 0;

    (void)state;
    atomic_store(&handled, 0);
    dz_core_bind(&core, IRQ, clobber_errno, NULL);
    dz_core_start(&core, watch_errno, &seen);
    while (atomic_load(&handled) < 1000)
        dz_core_pend(&core, IRQ);
    dz_core_join(&core);
    assert_int_equal(seen, 0);
}

/* The core counts in critical sections, the handler counts, and neither
 * disturbs the other, wherever the signal strikes. */
static struct {
    volatile unsigned counter;
    volatile bool is_inside;
    volatile unsigned intrusions;
} guarded;

static void intrude(void *argument)
{
    dz_key key = dz_port_enter();

    (void)argument;
    if (guarded.is_inside)
        guarded.intrusions++;
    guarded.counter++;
    dz_port_exit(key);
    atomic_fetch_add(&handled, 1);
}

static void count_guarded(void *argument)
{
    unsigned *own = argument;

    while (atomic_load(&handled) < 5000) {
        dz_key key = dz_port_enter();

        guarded.is_inside = true;
        guarded.counter++;
        guarded.is_inside = false;
        dz_port_exit(key);
        ++*own;
    }
}

static void no_interrupt_strikes_in_a_critical_section(void **state)
{
    static struct dz_core core;
    unsigned own = 0;

    (void)state;
    guarded.counter = 0;
    guarded.intrusions = 0;
    atomic_store(&handled, 0);
    dz_core_bind(&core, IRQ, intrude, NULL);
    dz_core_start(&core, count_guarded, &own);
    while (atomic_load(&handled) < 5000)
        dz_core_pend(&core, IRQ);
    dz_core_join(&core);
    assert_int_equal(guarded.intrusions, 0);
    assert_int_equal(guarded.counter, own + atomic_load(&handled));
}

RUN_TESTS(PLAIN_TEST(a_core_that_never_sleeps_stops_too),
    PLAIN_TEST(a_core_stops_in_the_middle_of_interrupts),
    PLAIN_TEST(no_wake_up_is_lost_on_the_way_to_sleep),
    PLAIN_TEST(a_storm_of_interrupts_ends_with_all_of_them_seen),
    PLAIN_TEST(an_interrupt_leaves_errno_alone),
    PLAIN_TEST(no_interrupt_strikes_in_a_critical_section))
