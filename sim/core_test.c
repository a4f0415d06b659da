/* SPDX-License-Identifier: MIT */
#include "sim/core.h"

#include <errno.h>
#include <sched.h>

#include "sim/test.h"
#include "sim/timer.h"
#include "sync/channel.h"

/* These tests start cores of their own, so the thread that runs them is none.
 * None of them looks at a clock: what hangs is ended by ctest. */
#define PLAIN_TEST(name) cmocka_unit_test(name)

enum { IRQ = 4, URGENT_IRQ = 5, TIMES = 200 };

DZ_CHANNEL_DEFINE(number_channel, uint32_t, 4, DZ_CRITICAL_SECTION)

static struct number_channel numbers;
static struct dz_executor executor;
static atomic_uint handled;

static void count_handled(void *argument)
{
    (void)argument;
    atomic_fetch_add(&handled, 1);
}

static void return_at_once(void *argument)
{
    (void)argument;
}

static void sleep_for_ever(void *argument)
{
    static const volatile bool never;

    (void)argument;
    dz_executor_init(&executor, "core");
    dz_executor_run_until(&executor, &never);
}

static void a_core_runs_its_main_and_ends(void **state)
{
    static struct dz_core core;

    (void)state;
    dz_core_start(&core, return_at_once, NULL);
    dz_core_join(&core);
}

static void cores_start_and_stop_many_times_in_one_process(void **state)
{
    static struct dz_core core;

    (void)state;
    dz_core_bind(&core, IRQ, count_handled, NULL);
    for (int i = 0; i < TIMES; i++) {
        dz_core_start(&core, sleep_for_ever, NULL);
        dz_core_pend(&core, IRQ);
        dz_core_stop(&core);
    }
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

static void pend_masked_and_end(void *argument)
{
    (void)dz_port_enter();
    dz_core_pend(argument, IRQ);
}

static void what_is_pending_at_the_end_is_forgotten(void **state)
{
    static struct dz_core core;

    (void)state;
    atomic_store(&handled, 0);
    dz_core_bind(&core, IRQ, count_handled, NULL);
    dz_core_start(&core, pend_masked_and_end, &core);
    dz_core_join(&core);
    dz_core_start(&core, return_at_once, NULL);
    dz_core_join(&core);
    assert_int_equal(atomic_load(&handled), 0);
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

static void several_cores_run_at_the_same_time(void **state)
{
    static struct dz_core cores[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        dz_core_start(&cores[i], return_at_once, NULL);
    for (int i = 0; i < 4; i++)
        dz_core_join(&cores[i]);
}

static void what_was_pended_before_the_start_runs_then(void **state)
{
    static struct dz_core core;

    (void)state;
    atomic_store(&handled, 0);
    dz_core_bind(&core, IRQ, count_handled, NULL);
    dz_core_pend(&core, IRQ);
    assert_int_equal(atomic_load(&handled), 0);
    dz_core_start(&core, return_at_once, NULL);
    dz_core_join(&core);
    assert_int_equal(atomic_load(&handled), 1);
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

/* On the thread of the test, as a core without signals. */

static char order[16];

static void note(char letter)
{
    order[strlen(order)] = letter;
}

static void urgent_handler(void *argument)
{
    (void)argument;
    note('u');
}

static void preempted_handler(void *argument)
{
    (void)argument;
    note('<');
    dz_core_pend(&test_core, URGENT_IRQ);
    note('>');
}

static void begin_preemption(uint8_t urgency)
{
    memset(order, 0, sizeof(order));
    dz_core_bind(&test_core, IRQ, preempted_handler, NULL);
    dz_core_bind(&test_core, URGENT_IRQ, urgent_handler, NULL);
    dz_nvic_set_priority(&test_core.nvic, IRQ, 128);
    dz_nvic_set_priority(&test_core.nvic, URGENT_IRQ, urgency);
}

static void a_more_urgent_interrupt_preempts_at_once(void **state)
{
    (void)state;
    begin_preemption(64);
    dz_core_pend(&test_core, IRQ);
    assert_string_equal(order, "<u>");
}

static void an_equally_urgent_interrupt_runs_behind_it(void **state)
{
    (void)state;
    begin_preemption(128);
    dz_core_pend(&test_core, IRQ);
    assert_string_equal(order, "<>u");
}

static void a_masked_interrupt_runs_when_the_mask_goes(void **state)
{
    dz_key key = dz_port_enter();

    (void)state;
    begin_preemption(128);
    dz_core_pend(&test_core, URGENT_IRQ);
    assert_string_equal(order, "");
    dz_port_exit(key);
    assert_string_equal(order, "u");
}

static void note_context(void *argument)
{
    *(unsigned *)argument = dz_port_context();
}

static void a_handler_knows_which_interrupt_it_is(void **state)
{
    unsigned context = 0;

    (void)state;
    assert_int_equal(dz_port_context(), 0);
    dz_core_bind(&test_core, 9, note_context, &context);
    dz_core_pend(&test_core, 9);
    assert_int_equal(context, 9 + 1);
    assert_int_equal(dz_port_context(), 0);
}

static void returning_from_an_interrupt_sets_the_event(void **state)
{
    unsigned context;

    (void)state;
    dz_core_bind(&test_core, 9, note_context, &context);
    dz_port_core.event = 0;
    dz_core_pend(&test_core, 9);
    assert_int_equal(dz_port_core.event, 1);
    dz_port_wait(); /* returns at once, and takes the event */
    assert_int_equal(dz_port_core.event, 0);
}

static void a_pending_interrupt_runs_when_it_is_bound(void **state)
{
    (void)state;
    atomic_store(&handled, 0);
    dz_core_pend(&test_core, 12);
    assert_int_equal(atomic_load(&handled), 0);
    dz_core_bind(&test_core, 12, count_handled, NULL);
    assert_int_equal(atomic_load(&handled), 1);
}

static void a_pending_interrupt_runs_when_it_is_enabled_again(void **state)
{
    (void)state;
    atomic_store(&handled, 0);
    dz_core_bind(&test_core, 12, count_handled, NULL);
    dz_core_disable(&test_core, 12);
    dz_core_pend(&test_core, 12);
    assert_int_equal(atomic_load(&handled), 0);
    dz_core_enable(&test_core, 12);
    assert_int_equal(atomic_load(&handled), 1);
}

static void raise_priority(void *argument)
{
    (void)argument;
    note('<');
    dz_core_pend(&test_core, URGENT_IRQ);
    note('-');
    dz_core_set_priority(&test_core, URGENT_IRQ, 1);
    note('>');
}

static void a_pending_interrupt_that_becomes_urgent_preempts(void **state)
{
    (void)state;
    begin_preemption(128);
    dz_core_bind(&test_core, IRQ, raise_priority, NULL);
    dz_core_pend(&test_core, IRQ);
    assert_string_equal(order, "<-u>");
}

static void fail_and_set_errno(void *argument)
{
    (void)argument;
    errno = EDOM;
}

static void a_pend_of_ones_own_leaves_errno_alone(void **state)
{
    (void)state;
    dz_core_bind(&test_core, IRQ, fail_and_set_errno, NULL);
    errno = 0;
    dz_core_pend(&test_core, IRQ);
    assert_int_equal(errno, 0);
}

static void pend_unbound(void)
{
    dz_nvic_enable(&test_core.nvic, 11);
    dz_core_pend(&test_core, 11);
}

static void an_interrupt_without_a_handler_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(pend_unbound), "an interrupt without a handler");
}

static void start_twice(void)
{
    static struct dz_core core;

    dz_core_start(&core, sleep_for_ever, NULL);
    dz_core_start(&core, sleep_for_ever, NULL);
}

static void starting_a_core_twice_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(start_twice), "a core is started twice");
}

static void stop_itself(void *argument)
{
    dz_core_stop(argument);
}

static void core_stops_itself(void)
{
    static struct dz_core core;

    dz_core_start(&core, stop_itself, &core);
    dz_core_join(&core);
}

static void a_core_that_stops_itself_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(core_stops_itself), "joins or stops itself");
}

static void join_unstarted(void)
{
    static struct dz_core core;

    dz_core_join(&core);
}

static void joining_a_core_that_does_not_run_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(join_unstarted), "does not run");
}

/* The timer on the loop thread. */

static void the_timer_interrupts_until_it_is_stopped(void **state)
{
    static struct dz_core core;
    static struct dz_loop loop;
    static struct dz_sim_timer timer;

    (void)state;
    begin_listening(&core, 20);
    dz_loop_start(&loop);
    dz_sim_timer_open(&timer, &loop, &core, IRQ);
    dz_sim_timer_start(&timer, 1, 1);
    dz_core_join(&core);
    dz_sim_timer_stop(&timer);
    assert_true(atomic_load(&timer.raised_in_all) >= 20);
    dz_sim_timer_close(&timer);
    dz_loop_stop(&loop);
}

static struct dz_loop firmware_loop;
static struct dz_sim_timer firmware_timer;

static void start_timer_and_hear(void *argument)
{
    dz_sim_timer_start(&firmware_timer, 1, 0);
    hear(argument);
}

static void firmware_starts_a_one_shot_timer_itself(void **state)
{
    static struct dz_core core;

    (void)state;
    memset(&numbers, 0, sizeof(numbers));
    wanted = 1;
    dz_core_bind(&core, IRQ, send_one, NULL);
    dz_loop_start(&firmware_loop);
    dz_sim_timer_open(&firmware_timer, &firmware_loop, &core, IRQ);
    dz_core_start(&core, start_timer_and_hear, NULL);
    dz_core_join(&core);
    assert_int_equal(atomic_load(&firmware_timer.raised_in_all), 1);
    dz_sim_timer_close(&firmware_timer);
    dz_loop_stop(&firmware_loop);
}

/* Two timers of one loop: when the second fires, the first has had its time. */
static atomic_uint laps;

static void count_lap(void *argument)
{
    (void)argument;
    atomic_fetch_add(&laps, 1);
}

static void await_lap(struct dz_sim_timer *timer)
{
    unsigned before = atomic_load(&laps);

    dz_sim_timer_start(timer, 20, 0);
    while (atomic_load(&laps) == before)
        sched_yield();
}

static void a_timer_fires_once_a_period_and_not_when_it_is_stopped(void **state)
{
    static struct dz_core core;
    static struct dz_loop loop;
    static struct dz_sim_timer timer;
    static struct dz_sim_timer lap;
    uint64_t raised;

    (void)state;
    dz_core_bind(&core, IRQ, count_handled, NULL);
    dz_core_bind(&core, URGENT_IRQ, count_lap, NULL);
    dz_core_start(&core, sleep_for_ever, NULL);
    dz_loop_start(&loop);
    dz_sim_timer_open(&timer, &loop, &core, IRQ);
    dz_sim_timer_open(&lap, &loop, &core, URGENT_IRQ);
    dz_sim_timer_start(&timer, 1, 0);
    await_lap(&lap);
    assert_int_equal(atomic_load(&timer.raised_in_all), 1);
    dz_sim_timer_start(&timer, 1, 1);
    await_lap(&lap);
    assert_true(atomic_load(&timer.raised_in_all) > 2);
    dz_sim_timer_stop(&timer);
    raised = atomic_load(&timer.raised_in_all);
    await_lap(&lap);
    assert_int_equal(atomic_load(&timer.raised_in_all), raised);
    dz_sim_timer_close(&timer);
    dz_sim_timer_close(&lap);
    dz_core_stop(&core);
    dz_loop_stop(&loop);
}

static void a_closed_timer_is_ones_own_again(void **state)
{
    static struct dz_core core;
    static struct dz_loop loop;
    struct dz_sim_timer timer = {.loop = NULL};

    (void)state;
    dz_loop_start(&loop);
    for (int i = 0; i < TIMES; i++) {
        dz_sim_timer_open(&timer, &loop, &core, IRQ);
        dz_sim_timer_close(&timer);
        memset(&timer, 0xa5, sizeof(timer));
        memset(&timer, 0, sizeof(timer));
    }
    dz_loop_stop(&loop);
}

static unsigned calls; /* by the loop's thread alone */

static void count_call(void *argument)
{
    (void)argument;
    calls++;
}

static void *call_often(void *argument)
{
    for (int i = 0; i < 1000; i++)
        dz_loop_call(argument, count_call, NULL);
    return NULL;
}

static void several_threads_may_call_the_loop(void **state)
{
    static struct dz_loop loop;
    pthread_t threads[3];

    (void)state;
    calls = 0;
    dz_loop_start(&loop);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, call_often, &loop);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    dz_loop_stop(&loop);
    assert_int_equal(calls, 3000);
}

static void the_loop_starts_and_stops_many_times(void **state)
{
    static struct dz_core core;
    struct dz_loop loop = {.is_started = false};
    struct dz_sim_timer timer = {.loop = NULL};

    (void)state;
    for (int i = 0; i < TIMES; i++) {
        dz_loop_start(&loop);
        dz_sim_timer_open(&timer, &loop, &core, IRQ);
        dz_sim_timer_start(&timer, 1000000, 0);
        dz_sim_timer_close(&timer);
        dz_loop_stop(&loop);
    }
}

static void stop_with_an_open_timer(void)
{
    static struct dz_core core;
    static struct dz_loop loop;
    static struct dz_sim_timer timer;

    dz_loop_start(&loop);
    dz_sim_timer_open(&timer, &loop, &core, IRQ);
    dz_sim_timer_start(&timer, 1000000, 0);
    dz_loop_stop(&loop);
}

static struct dz_loop unstarted;

static void call_unstarted(void)
{
    dz_loop_call(&unstarted, count_call, NULL);
}

static void start_unopened(void)
{
    static struct dz_sim_timer timer;

    dz_sim_timer_start(&timer, 1, 1);
}

static void start_loop_twice(void)
{
    static struct dz_loop loop;

    dz_loop_start(&loop);
    dz_loop_start(&loop);
}

static void open_twice(void)
{
    static struct dz_core core;
    static struct dz_loop loop;
    static struct dz_sim_timer timer;

    dz_loop_start(&loop);
    dz_sim_timer_open(&timer, &loop, &core, IRQ);
    dz_sim_timer_open(&timer, &loop, &core, IRQ);
}

static void close_twice(void)
{
    static struct dz_core core;
    static struct dz_loop loop;
    static struct dz_sim_timer timer;

    dz_loop_start(&loop);
    dz_sim_timer_open(&timer, &loop, &core, IRQ);
    dz_sim_timer_close(&timer);
    dz_sim_timer_close(&timer);
}

static void the_order_of_starting_is_checked(void **state)
{
    (void)state;
    assert_says(last_words_of(start_loop_twice), "the loop is started twice");
    assert_says(last_words_of(open_twice), "a timer is opened twice");
    assert_says(last_words_of(close_twice), "the timer was not opened");
    assert_says(last_words_of(call_unstarted), "the loop was not started");
    assert_says(last_words_of(start_unopened), "the timer was not opened");
}

static void stopping_the_loop_with_an_open_timer_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(stop_with_an_open_timer), "a peripheral is open");
}

RUN_TESTS(PLAIN_TEST(a_core_runs_its_main_and_ends),
    PLAIN_TEST(cores_start_and_stop_many_times_in_one_process),
    PLAIN_TEST(a_core_that_never_sleeps_stops_too),
    PLAIN_TEST(a_core_stops_in_the_middle_of_interrupts),
    PLAIN_TEST(what_is_pending_at_the_end_is_forgotten),
    PLAIN_TEST(several_cores_run_at_the_same_time),
    PLAIN_TEST(what_was_pended_before_the_start_runs_then),
    PLAIN_TEST(no_wake_up_is_lost_on_the_way_to_sleep),
    PLAIN_TEST(a_storm_of_interrupts_ends_with_all_of_them_seen),
    PLAIN_TEST(an_interrupt_leaves_errno_alone),
    PLAIN_TEST(no_interrupt_strikes_in_a_critical_section),
    TEST(a_more_urgent_interrupt_preempts_at_once),
    TEST(an_equally_urgent_interrupt_runs_behind_it),
    TEST(a_masked_interrupt_runs_when_the_mask_goes),
    TEST(a_handler_knows_which_interrupt_it_is),
    TEST(returning_from_an_interrupt_sets_the_event),
    TEST(a_pending_interrupt_runs_when_it_is_bound),
    TEST(a_pending_interrupt_runs_when_it_is_enabled_again),
    TEST(a_pending_interrupt_that_becomes_urgent_preempts),
    TEST(a_pend_of_ones_own_leaves_errno_alone),
    TEST(an_interrupt_without_a_handler_panics),
    PLAIN_TEST(starting_a_core_twice_panics),
    PLAIN_TEST(a_core_that_stops_itself_panics),
    PLAIN_TEST(joining_a_core_that_does_not_run_panics),
    PLAIN_TEST(the_timer_interrupts_until_it_is_stopped),
    PLAIN_TEST(firmware_starts_a_one_shot_timer_itself),
    PLAIN_TEST(a_timer_fires_once_a_period_and_not_when_it_is_stopped),
    PLAIN_TEST(a_closed_timer_is_ones_own_again),
    PLAIN_TEST(several_threads_may_call_the_loop),
    PLAIN_TEST(the_order_of_starting_is_checked),
    PLAIN_TEST(the_loop_starts_and_stops_many_times),
    PLAIN_TEST(stopping_the_loop_with_an_open_timer_panics))
