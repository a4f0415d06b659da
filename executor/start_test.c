/* SPDX-License-Identifier: MIT */

/*
 * start_test -- executors that an interrupt polls
 *
 * The test's thread is a core without signals: an interrupt runs as soon as it
 * is pended and nothing masks it, in the call that pends it.
 */

#include "executor/executor.h"
#include "executor/priority.h"
#include "executor/trail_test.h"

enum { URGENT_IRQ = 10, RELAXED_IRQ = 11, URGENT = 1, RELAXED = 2 };

/* A task that notes its letter in lower case, acts, and notes it in upper case.
 * Then it waits, and does the same after each wake-up. */
struct noter {
    struct dz_task task;
    char letter;
    bool is_waiting;
    void (*act)(void);
};

static enum dz_poll noter_poll(struct noter *self);

DZ_TASK_POOL(noters, struct noter, noter_poll, 4)

static struct dz_executor thread;
static struct dz_executor urgent;
static struct dz_executor relaxed;

static enum dz_poll wake_up_poll(bool *is_waiting)
{
    *is_waiting = !*is_waiting;
    return *is_waiting ? DZ_PENDING : DZ_READY;
}

static enum dz_poll noter_poll(struct noter *self)
{
    async (self) {
        for (;;) {
            note(self->letter);
            if (self->act != NULL)
                self->act();
            note(self->letter - 'a' + 'A');
            await(wake_up_poll(&self->is_waiting));
        }
    }
    return DZ_READY;
}

static struct noter *claim(char letter, void (*act)(void))
{
    struct noter *noter;

    assert_int_equal(noters_claim(&noter), DZ_OK);
    noter->letter = letter;
    noter->act = act;
    return noter;
}

static struct noter *spawn(
    struct dz_executor *executor, char letter, void (*act)(void))
{
    struct noter *noter = claim(letter, act);

    dz_executor_spawn(executor, &noter->task);
    return noter;
}

static void prepare(void)
{
    memset(noters_slots, 0, sizeof(noters_slots));
    dz_executor_init(&thread, "thread");
    dz_executor_init(&urgent, "urgent");
    dz_executor_init(&relaxed, "relaxed");
    trail[0] = '\0';
}

static void start_urgent(void)
{
    dz_executor_start(&urgent, URGENT_IRQ, URGENT);
}

static void begin(void)
{
    prepare();
    start_urgent();
    dz_executor_start(&relaxed, RELAXED_IRQ, RELAXED);
}

static struct noter *t, *u, *r;

static void wake_t(void)
{
    dz_task_wake(&t->task);
}

static void wake_u(void)
{
    dz_task_wake(&u->task);
}

static void wake_r(void)
{
    dz_task_wake(&r->task);
}

static void a_spawn_in_thread_mode_runs_at_once(void **state)
{
    (void)state;
    begin();
    spawn(&urgent, 'u', NULL);
    assert_string_equal(trail, "uU");
    assert_false(dz_executor_is_ready(&urgent));
}

static void its_task_preempts_a_task_of_thread_mode(void **state)
{
    (void)state;
    begin();
    u = spawn(&urgent, 'u', NULL);
    t = spawn(&thread, 't', wake_u);
    dz_executor_poll(&thread);
    assert_string_equal(trail, "uUtuUT");
}

static void the_more_urgent_one_preempts_the_other(void **state)
{
    (void)state;
    begin();
    u = spawn(&urgent, 'u', NULL);
    r = spawn(&relaxed, 'r', wake_u);
    assert_string_equal(trail, "uUruUR");
}

static void the_less_urgent_one_waits_for_the_other(void **state)
{
    (void)state;
    begin();
    r = spawn(&relaxed, 'r', NULL);
    u = spawn(&urgent, 'u', wake_r);
    assert_string_equal(trail, "rRuUrR");
}

/* A core may have bits of a priority that order, and do not preempt. */
static void each_priority_preempts_the_next(void **state)
{
    (void)state;
    for (unsigned priority = 0; priority < 3; priority++) {
        prepare();
        dz_executor_start(&urgent, URGENT_IRQ, priority);
        dz_executor_start(&relaxed, RELAXED_IRQ, priority + 1);
        u = spawn(&urgent, 'u', NULL);
        r = spawn(&relaxed, 'r', wake_u);
        assert_string_equal(trail, "uUruUR");
    }
}

static void three_levels_nest(void **state)
{
    (void)state;
    begin();
    u = spawn(&urgent, 'u', NULL);
    r = spawn(&relaxed, 'r', wake_u);
    t = spawn(&thread, 't', wake_r);
    trail[0] = '\0';
    dz_executor_poll(&thread);
    assert_string_equal(trail, "truURT");
}

static void masked_it_waits_for_the_end_of_the_critical_section(void **state)
{
    dz_key key;

    (void)state;
    begin();
    key = dz_port_enter();
    u = spawn(&urgent, 'u', NULL);
    assert_string_equal(trail, "");
    dz_port_exit(key);
    assert_string_equal(trail, "uU");
}

static void assert_t_is_current(void)
{
    wake_u();
    assert_ptr_equal(dz_task_current(), &t->task);
    assert_ptr_equal(dz_context_now().executor, &thread);
    assert_int_equal(dz_context_now().port, 0);
}

static void what_it_interrupts_is_as_it_was(void **state)
{
    (void)state;
    begin();
    u = spawn(&urgent, 'u', NULL);
    t = claim('t', assert_t_is_current);
    dz_executor_spawn(&thread, &t->task);
    dz_executor_poll(&thread);
    assert_string_equal(trail, "uUtuUT");
}

static void assert_u_is_current(void)
{
    assert_ptr_equal(dz_task_current(), &u->task);
    assert_ptr_equal(dz_context_now().executor, &urgent);
    assert_int_equal(dz_context_now().port, URGENT_IRQ + 16);
}

static void its_task_knows_where_it_runs(void **state)
{
    (void)state;
    begin();
    u = claim('u', assert_u_is_current);
    dz_executor_spawn(&urgent, &u->task);
    assert_string_equal(trail, "uU");
}

static void a_task_that_it_wakes_in_thread_mode_runs_in_the_next_pass(
    void **state)
{
    (void)state;
    begin();
    t = spawn(&thread, 't', NULL);
    dz_executor_poll(&thread);
    u = spawn(&urgent, 'u', wake_t);
    assert_string_equal(trail, "tTuU");
    assert_true(was_pended());
    dz_executor_poll(&thread);
    assert_string_equal(trail, "tTuUtT");
}

/* The executor that it interrupts looks at its queue again, or pends itself. */
static void the_task_that_it_interrupts_can_be_woken_by_it(void **state)
{
    (void)state;
    begin();
    t = spawn(&thread, 't', wake_u);
    u = spawn(&urgent, 'u', wake_t);
    trail[0] = '\0';
    dz_executor_poll(&thread);
    assert_string_equal(trail, "tuUT");
    assert_true(dz_executor_is_ready(&thread));
    assert_true(was_pended());
}

static unsigned rounds;

static void wake_u_three_times(void)
{
    if (++rounds < 4)
        wake_u();
}

/* E13: the poll under way is not entered again, but comes again. */
static void a_task_that_wakes_itself_runs_again_and_does_not_nest(void **state)
{
    (void)state;
    begin();
    rounds = 0;
    u = claim('u', wake_u_three_times);
    dz_executor_spawn(&urgent, &u->task);
    assert_string_equal(trail, "uUuUuUuU");
}

/* E11: an interrupt is made pending once for all that is ready. */
static void it_is_pended_once_until_its_queue_was_empty(void **state)
{
    dz_key key;

    (void)state;
    begin();
    u = spawn(&urgent, 'u', NULL);
    r = spawn(&urgent, 'r', NULL);
    trail[0] = '\0';
    key = dz_port_enter();
    wake_u();
    assert_true(take_pending(URGENT_IRQ));
    wake_r();
    assert_false(take_pending(URGENT_IRQ));
    pend_interrupt(URGENT_IRQ);
    dz_port_exit(key);
    assert_string_equal(trail, "uUrR");
}

/* E13: upstream panics for a spawn before the start. */
static void what_was_spawned_before_runs_at_the_start(void **state)
{
    (void)state;
    prepare();
    spawn(&urgent, 'u', NULL);
    spawn(&urgent, 'v', NULL);
    assert_string_equal(trail, "");
    dz_executor_start(&urgent, URGENT_IRQ, URGENT);
    assert_string_equal(trail, "uUvV");
}

static void a_task_of_thread_mode_may_start_another_executor(void **state)
{
    (void)state;
    prepare();
    spawn(&urgent, 'u', NULL);
    spawn(&thread, 't', start_urgent);
    dz_executor_poll(&thread);
    assert_string_equal(trail, "tuUT");
}

static void every_kind_can_be_started(void **state)
{
    static struct dz_priority_queue queue;
    struct noter *low;
    dz_key key;

    (void)state;
    prepare();
    dz_executor_init_priority(&urgent, &queue, "urgent");
    dz_executor_start(&urgent, URGENT_IRQ, URGENT);
    key = dz_port_enter();
    low = spawn(&urgent, 'l', NULL);
    u = claim('u', NULL);
    dz_task_set_priority(&u->task, 1);
    dz_executor_spawn(&urgent, &u->task);
    dz_port_exit(key);
    assert_string_equal(trail, "uUlL");
    dz_task_wake(&low->task);
    assert_string_equal(trail, "uUlLlL");
}

static void start_twice(void)
{
    begin();
    dz_executor_start(&urgent, RELAXED_IRQ, URGENT);
}

/* E13 */
static void starting_twice_panics(void **state)
{
    struct last_words words = last_words_of(start_twice);

    (void)state;
    assert_says(words, "an executor is started twice");
    assert_says(words, "object: urgent at 0x");
}

static void run_started(void)
{
    begin();
    dz_executor_run(&urgent);
}

static void poll_started(void)
{
    begin();
    dz_executor_poll(&urgent);
}

/* E13: its interrupt could come in the middle. */
static void running_a_started_executor_in_thread_mode_panics(void **state)
{
    struct last_words words = last_words_of(run_started);

    (void)state;
    assert_says(words, "leave it to its interrupt");
    assert_says(words, "object: urgent at 0x");
    assert_says(last_words_of(poll_started), "leave it to its interrupt");
}

static void start_thread(void)
{
    dz_executor_start(&thread, URGENT_IRQ, URGENT);
}

static void start_itself(void)
{
    prepare();
    spawn(&thread, 't', start_thread);
    dz_executor_poll(&thread);
}

static void starting_an_executor_that_runs_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(start_itself), "that a run loop runs");
}

static void poll_relaxed(void)
{
    dz_executor_poll(&relaxed);
}

static void spawn_u(void)
{
    dz_executor_spawn(&urgent, &u->task);
}

static void poll_it_from_above(void)
{
    begin();
    u = claim('u', poll_relaxed);
    r = claim('r', spawn_u);
    dz_executor_spawn(&relaxed, &r->task);
}

/* E13 */
static void a_poll_by_a_more_urgent_interrupt_panics_if_it_nests(void **state)
{
    (void)state;
    assert_says(last_words_of(poll_it_from_above), "run within itself");
}

static void start_unprepared(void)
{
    static struct dz_executor unprepared;

    dz_executor_start(&unprepared, URGENT_IRQ, URGENT);
}

static void starting_what_was_not_initialised_panics(void **state)
{
    (void)state;
    needs_host("the port does not look whose the executor is");
    assert_says(last_words_of(start_unprepared), "did not initialise it");
}

static void start_on_another_core(void)
{
    prepare();
    move_to_another_core();
    start_urgent();
}

/* E13: upstream pended the interrupt of the wrong core. */
static void starting_it_on_another_core_panics(void **state)
{
    (void)state;
    needs_host("there is one core");
    assert_says(last_words_of(start_on_another_core), "did not initialise it");
}

RUN_TESTS(TEST(a_spawn_in_thread_mode_runs_at_once),
    TEST(its_task_preempts_a_task_of_thread_mode),
    TEST(the_more_urgent_one_preempts_the_other),
    TEST(the_less_urgent_one_waits_for_the_other),
    TEST(each_priority_preempts_the_next), TEST(three_levels_nest),
    TEST(masked_it_waits_for_the_end_of_the_critical_section),
    TEST(what_it_interrupts_is_as_it_was), TEST(its_task_knows_where_it_runs),
    TEST(a_task_that_it_wakes_in_thread_mode_runs_in_the_next_pass),
    TEST(the_task_that_it_interrupts_can_be_woken_by_it),
    TEST(a_task_that_wakes_itself_runs_again_and_does_not_nest),
    TEST(it_is_pended_once_until_its_queue_was_empty),
    TEST(what_was_spawned_before_runs_at_the_start),
    TEST(a_task_of_thread_mode_may_start_another_executor),
    TEST(every_kind_can_be_started), TEST(starting_twice_panics),
    TEST(running_a_started_executor_in_thread_mode_panics),
    TEST(starting_an_executor_that_runs_panics),
    TEST(a_poll_by_a_more_urgent_interrupt_panics_if_it_nests),
    TEST(starting_what_was_not_initialised_panics),
    TEST(starting_it_on_another_core_panics))
