/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>

#include "sim/host.h"
#include "sim/test.h"
#include "sim/timer.h"
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

/* A million events from four threads. What one pend means for another is that
 * they may share a run of the handler; the events are counted by their sources,
 * and none is left behind. */
enum { SOURCES = 4, EVENTS = 250000, SOURCE_IRQ = 8 };

static struct dz_core storm_core;
static atomic_uint waiting[SOURCES];
static unsigned collected[SOURCES];

static void collect(void *argument)
{
    unsigned source = (unsigned)(uintptr_t)argument;

    collected[source] += atomic_exchange(&waiting[source], 0);
}

static void *raise_events(void *argument)
{
    unsigned source = (unsigned)(uintptr_t)argument;

    for (int i = 0; i < EVENTS; i++) {
        atomic_fetch_add(&waiting[source], 1);
        dz_core_pend(&storm_core, SOURCE_IRQ + (int)source);
    }
    return NULL;
}

static bool all_quiet(void)
{
    for (int source = 0; source < SOURCES; source++)
        if (dz_nvic_is_pending(&storm_core.nvic, SOURCE_IRQ + source))
            return false;
    return true;
}

static void a_storm_from_four_threads_loses_no_event(void **state)
{
    pthread_t threads[SOURCES];

    (void)state;
    for (unsigned i = 0; i < SOURCES; i++) {
        int irq = SOURCE_IRQ + (int)i;

        dz_core_bind(&storm_core, irq, collect, (void *)(uintptr_t)i);
        dz_core_set_priority(&storm_core, irq, (uint8_t)(i * 64));
    }
    dz_core_start(&storm_core, sleep_for_ever, NULL);
    for (unsigned i = 0; i < SOURCES; i++)
        pthread_create(&threads[i], NULL, raise_events, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < SOURCES; i++)
        pthread_join(threads[i], NULL);
    while (!all_quiet())
        sched_yield();
    dz_core_stop(&storm_core);
    for (unsigned i = 0; i < SOURCES; i++)
        assert_int_equal(collected[i], EVENTS);
}

/* P8: a handler that runs is preempted by a signal, and only by what is more
 * urgent. It would never end if it was not. */

enum { URGENT_IRQ = 5, LAZY_IRQ = 6 };

static struct dz_core nested_core;
static atomic_bool is_inside;
static atomic_bool has_preempted;
static atomic_bool may_leave;
static volatile bool was_overtaken;

static void preempt(void *argument)
{
    (void)argument;
    atomic_store(&has_preempted, true);
}

static void be_lazy(void *argument)
{
    (void)argument;
    if (!atomic_load(&may_leave))
        was_overtaken = true;
    atomic_fetch_add(&handled, 1);
}

static void wait_inside(void *argument)
{
    (void)argument;
    atomic_store(&is_inside, true);
    while (!atomic_load(&has_preempted))
        continue;
    while (!atomic_load(&may_leave))
        continue;
}

static void await_flag(atomic_bool *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

static void only_what_is_more_urgent_preempts_from_outside(void **state)
{
    (void)state;
    atomic_store(&handled, 0);
    dz_core_bind(&nested_core, IRQ, wait_inside, NULL);
    dz_core_bind(&nested_core, URGENT_IRQ, preempt, NULL);
    dz_core_bind(&nested_core, LAZY_IRQ, be_lazy, NULL);
    dz_core_set_priority(&nested_core, IRQ, 128);
    dz_core_set_priority(&nested_core, URGENT_IRQ, 64);
    dz_core_set_priority(&nested_core, LAZY_IRQ, 128);
    dz_core_start(&nested_core, sleep_for_ever, NULL);
    dz_core_pend(&nested_core, IRQ);
    await_flag(&is_inside);
    dz_core_pend(&nested_core, LAZY_IRQ);
    dz_core_pend(&nested_core, URGENT_IRQ);
    await_flag(&has_preempted);
    atomic_store(&may_leave, true);
    while (atomic_load(&handled) == 0)
        sched_yield();
    dz_core_stop(&nested_core);
    assert_false(was_overtaken);
}

/* P8: however many signals come, frames nest no deeper than there are
 * priorities. Each handler looks how far below the first one it stands. */

enum { LEVELS = 8, FLOODS = 200000 };

static struct dz_core deep_core;
static char *volatile top; /* NULL: main has not begun */
static volatile size_t deepest;
static volatile unsigned depth, most;

static void measure_depth(void *argument)
{
    char here = 0;
    size_t below = top == NULL ? 0 : (size_t)(top - &here);

    (void)argument;
    if (++depth > most)
        most = depth;
    if (below > deepest)
        deepest = below;
    for (volatile int i = 0; i < 200; i++)
        continue;
    depth--;
}

static void sleep_at_the_top(void *argument)
{
    char here = 0;

    top = &here;
    sleep_for_ever(argument);
}

static void *flood(void *argument)
{
    unsigned start = (unsigned)(uintptr_t)argument;

    for (unsigned i = 0; i < FLOODS; i++)
        dz_core_pend(&deep_core, (int)((start + i * 5) % LEVELS));
    return NULL;
}

static void signals_nest_no_deeper_than_there_are_priorities(void **state)
{
    enum { FRAME = 16384 }; /* bytes: a signal's with all registers, and more */
    pthread_t threads[2];

    (void)state;
    for (int irq = 0; irq < LEVELS; irq++) {
        dz_core_bind(&deep_core, irq, measure_depth, NULL);
        dz_core_set_priority(&deep_core, irq, (uint8_t)(irq * 32));
    }
    dz_core_start(&deep_core, sleep_at_the_top, NULL);
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, flood, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    dz_core_stop(&deep_core);
    assert_true(most <= LEVELS);
    assert_true(deepest <= (LEVELS + 1) * FRAME);
}

/* P4: thread mode and a handler allocate and print, each in a host section. */

static FILE *paper;

static void use_library(void *argument)
{
    dz_key key = dz_host_enter();
    char *memory = malloc(3000 + atomic_load(&handled) % 1000);

    (void)argument;
    fprintf(paper, "%u\n", atomic_load(&handled));
    free(memory);
    dz_host_exit(key);
    atomic_fetch_add(&handled, 1);
}

static void use_library_often(void *argument)
{
    while (atomic_load(&handled) < 60000)
        use_library(argument);
}

static void a_host_section_makes_the_hosts_library_safe(void **state)
{
    static struct dz_core core;

    (void)state;
    paper = tmpfile();
    assert_non_null(paper);
    atomic_store(&handled, 0);
    dz_core_bind(&core, IRQ, use_library, NULL);
    dz_core_start(&core, use_library_often, NULL);
    while (atomic_load(&handled) < 60000)
        dz_core_pend(&core, IRQ);
    dz_core_join(&core);
    fclose(paper);
}

/* A due each 100 ns takes longer than that: the loop still lets others in. */
static void a_storm_of_dues_lets_others_in(void **state)
{
    static struct dz_core core;
    static struct dz_sim_timer timer;

    (void)state;
    dz_machine_start(&(struct dz_machine){.time = DZ_TIME_REAL});
    dz_core_bind(&core, IRQ, count_handled, NULL);
    dz_core_start(&core, sleep_for_ever, NULL);
    dz_sim_timer_open(&timer, &core, IRQ);
    dz_sim_timer_start(&timer, 1, 100);
    while (atomic_load(&timer.raised_in_all) < 1000)
        sched_yield();
    dz_sim_timer_stop(&timer);
    dz_core_stop(&core);
    dz_machine_stop();
}

static void wait_masked(void *argument)
{
    dz_key key = dz_port_mask();

    atomic_store(&is_inside, true);
    dz_core_wait_for_interrupt(argument);
    atomic_store(&has_preempted, atomic_load(&handled) != 0);
    dz_port_unmask(key);
}

static void wfi_wakes_on_a_masked_interrupt_and_does_not_run_it(void **state)
{
    static struct dz_core core;

    (void)state;
    atomic_store(&handled, 0);
    atomic_store(&has_preempted, true);
    atomic_store(&is_inside, false);
    dz_core_bind(&core, IRQ, count_handled, NULL);
    dz_core_start(&core, wait_masked, &core);
    await_flag(&is_inside);
    dz_core_pend(&core, IRQ);
    dz_core_join(&core);
    assert_false(atomic_load(&has_preempted));
    assert_int_equal(atomic_load(&handled), 1);
}

RUN_TESTS(PLAIN_TEST(a_core_that_never_sleeps_stops_too),
    PLAIN_TEST(a_core_stops_in_the_middle_of_interrupts),
    PLAIN_TEST(no_wake_up_is_lost_on_the_way_to_sleep),
    PLAIN_TEST(a_storm_of_interrupts_ends_with_all_of_them_seen),
    PLAIN_TEST(a_storm_from_four_threads_loses_no_event),
    PLAIN_TEST(only_what_is_more_urgent_preempts_from_outside),
    PLAIN_TEST(signals_nest_no_deeper_than_there_are_priorities),
    PLAIN_TEST(a_storm_of_dues_lets_others_in),
    PLAIN_TEST(a_host_section_makes_the_hosts_library_safe),
    PLAIN_TEST(wfi_wakes_on_a_masked_interrupt_and_does_not_run_it),
    PLAIN_TEST(an_interrupt_leaves_errno_alone),
    PLAIN_TEST(no_interrupt_strikes_in_a_critical_section))
