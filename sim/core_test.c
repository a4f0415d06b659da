/* SPDX-License-Identifier: MIT */
#include "sim/core.h"

#include <errno.h>

#include "sim/test.h"
#include "sim/timer.h"

enum { IRQ = 4, URGENT_IRQ = 5, TIMES = 1000 };

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

static void pend_masked_and_end(void *argument)
{
    (void)dz_port_mask();
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

static void a_masked_priority_runs_when_basepri_goes(void **state)
{
    (void)state;
    begin_preemption(128);
    dz_core_set_basepri(&test_core, 128);
    dz_core_pend(&test_core, URGENT_IRQ);
    assert_string_equal(order, "");
    dz_core_set_basepri(&test_core, 0);
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
    assert_int_equal(context, 16 + 9);
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
    dz_core_enable(&test_core, 11);
    dz_core_pend(&test_core, 11);
}

static void an_interrupt_without_a_handler_panics(void **state)
{
    struct last_words words = last_words_of(pend_unbound);

    (void)state;
    assert_says(words, "an interrupt without a handler");
    assert_says(words, "interrupt 11");
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

/* Its interrupts are counted by their handler, so none that is raised merges
 * with one before: the core runs them one by one. */
static struct dz_core timer_core;
static struct dz_sim_timer timer;
static unsigned ticks_left;
static volatile bool is_over;

static void count_down(void *argument)
{
    (void)argument;
    if (--ticks_left > 0)
        return;
    dz_sim_timer_stop(&timer);
    is_over = true;
}

static void await_ticks(void *argument)
{
    (void)argument;
    dz_sim_timer_start(&timer, 1000000, ticks_left > 1 ? 1000000 : 0);
    while (!is_over)
        dz_port_wait();
}

static void run_ticks(unsigned ticks)
{
    ticks_left = ticks;
    is_over = false;
    dz_core_bind(&timer_core, IRQ, count_down, NULL);
    dz_sim_timer_open(&timer, &timer_core, IRQ);
    dz_core_start(&timer_core, await_ticks, NULL);
    dz_core_join(&timer_core);
}

static void the_timer_interrupts_until_it_is_stopped(void **state)
{
    uint64_t before = dz_machine_now();

    (void)state;
    run_ticks(20);
    assert_true(dz_machine_now() - before >= 20000000);
    assert_true(atomic_load(&timer.raised_in_all) >= 20);
}

static void a_one_shot_timer_interrupts_once(void **state)
{
    (void)state;
    run_ticks(1);
    assert_int_equal(atomic_load(&timer.raised_in_all), 1);
}

static void the_machine_starts_and_stops_many_times_in_one_process(void **state)
{
    static struct dz_core core;

    (void)state;
    atomic_store(&handled, 0);
    dz_core_bind(&core, IRQ, count_handled, NULL);
    for (int i = 0; i < TIMES; i++) {
        test_start_machine();
        dz_core_pend(&core, IRQ);
        dz_core_start(&core, return_at_once, NULL);
        dz_core_join(&core);
        dz_machine_stop();
    }
    assert_int_equal(atomic_load(&handled), TIMES);
}

static void start_unopened(void)
{
    static struct dz_sim_timer unopened;

    dz_sim_timer_start(&unopened, 1, 1);
}

static void a_timer_that_was_not_opened_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(start_unopened), "the timer was not opened");
}

RUN_TESTS(MACHINE_TEST(a_core_runs_its_main_and_ends),
    MACHINE_TEST(cores_start_and_stop_many_times_in_one_process),
    MACHINE_TEST(what_is_pending_at_the_end_is_forgotten),
    MACHINE_TEST(several_cores_run_at_the_same_time),
    MACHINE_TEST(what_was_pended_before_the_start_runs_then),
    TEST(a_more_urgent_interrupt_preempts_at_once),
    TEST(an_equally_urgent_interrupt_runs_behind_it),
    TEST(a_masked_interrupt_runs_when_the_mask_goes),
    TEST(a_masked_priority_runs_when_basepri_goes),
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
    MACHINE_TEST(the_timer_interrupts_until_it_is_stopped),
    MACHINE_TEST(a_one_shot_timer_interrupts_once),
    PLAIN_TEST(the_machine_starts_and_stops_many_times_in_one_process),
    PLAIN_TEST(a_timer_that_was_not_opened_panics))
