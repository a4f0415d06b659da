/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_SORTED_TEST_H
#define EXECUTOR_SORTED_TEST_H

/*
 * sorted_test -- what executors by priority and by deadline have in common
 *
 * Tasks that note what they do, and the tests that both kinds pass. A file that
 * includes this says what its kind is, and adds what only that kind has:
 *
 *     DZ_TASK_POOL(noters, struct noter, noter_poll, 8)
 *     static void begin_kind(void) { ... }
 *     static void set_urgency(struct dz_task *task, unsigned urgency) { ... }
 *
 *     RUN_TESTS(SORTED_TESTS, TEST(...))
 */

#include "executor/deadline.h"
#include "executor/trail_test.h"

/* A task that notes its letter each time it is polled, and then acts once. */
struct noter {
    struct dz_task task;
    struct dz_deadline deadline; /* if its pool is one with deadlines */
    char letter;
    unsigned yields; /* before it ends */
    void (*act)(void);
};

static struct dz_executor executor;

/* What the file brings: its tasks; `executor` anew, with all tasks gone; the
 * urgency of a claimed task, of which 9 runs first and 0 last. */
static inline enum dz_status noters_claim(struct noter **noter);
static void begin_kind(void);
static void set_urgency(struct dz_task *task, unsigned urgency);

static enum dz_poll noter_poll(struct noter *self)
{
    async (self) {
        note(self->letter);
        if (self->act != NULL)
            self->act();
        for (; self->yields > 0; self->yields--) {
            await(dz_yield_poll());
            note(self->letter);
        }
    }
    return DZ_READY;
}

/* Starts a test: an executor, no tasks, nothing pended, and no trail. */
static void begin(void)
{
    begin_kind();
    begin_trail();
}

static void pass(void)
{
    dz_executor_poll(&executor);
}

static struct noter *claim(char letter)
{
    struct noter *noter;

    assert_int_equal(noters_claim(&noter), DZ_OK);
    noter->letter = letter;
    return noter;
}

static struct noter *spawn(char letter, unsigned urgency)
{
    struct noter *noter = claim(letter);

    set_urgency(&noter->task, urgency);
    dz_executor_spawn(&executor, &noter->task);
    return noter;
}

static struct noter *x, *y, *z;

static void equals_run_in_the_order_of_their_wake_ups(void **state)
{
    (void)state;
    begin();
    spawn('a', 7)->yields = 2;
    spawn('b', 7)->yields = 2;
    spawn('c', 7)->yields = 2;
    for (int i = 0; i < 3; i++)
        pass();
    assert_string_equal(trail, "abcabcabc");
}

static void a_changed_task_goes_behind_its_new_equals(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    y = spawn('y', 4);
    z = spawn('z', 5);
    set_urgency(&x->task, 4);
    set_urgency(&x->task, 5);
    pass();
    assert_string_equal(trail, "zxy");
}

static void setting_the_same_again_keeps_the_place(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    y = spawn('y', 5);
    set_urgency(&x->task, 5);
    pass();
    assert_string_equal(trail, "xy");
}

/* Of three equals, the one at `place` leaves and comes back, more urgent
 * meanwhile. */
static void leave_and_return(unsigned place, const char *expected)
{
    struct noter *equals[3];

    begin();
    for (unsigned i = 0; i < 3; i++)
        equals[i] = spawn((char)('a' + (int)i), 5);
    set_urgency(&equals[place]->task, 6);
    set_urgency(&equals[place]->task, 5);
    pass();
    assert_string_equal(trail, expected);
}

static void the_others_keep_their_order_when_one_leaves(void **state)
{
    (void)state;
    leave_and_return(0, "bca");
    leave_and_return(1, "acb");
    leave_and_return(2, "abc");
}

static void a_change_while_it_is_not_ready_counts_later(void **state)
{
    (void)state;
    begin();
    x = claim('x');
    set_urgency(&x->task, 1);
    y = spawn('y', 4);
    set_urgency(&x->task, 5);
    dz_executor_spawn(&executor, &x->task);
    pass();
    assert_string_equal(trail, "xy");
}

static void raise_and_wake_x(void)
{
    set_urgency(&x->task, 6);
    dz_task_wake(&x->task);
}

static void a_task_may_change_its_own_place(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    x->act = raise_and_wake_x;
    x->yields = 1;
    y = spawn('y', 5);
    pass();
    assert_string_equal(trail, "xx");
    pass();
    assert_string_equal(trail, "xxy");
}

static void raise_y_in_handler(void *argument)
{
    (void)argument;
    set_urgency(&y->task, 8);
}

static void an_interrupt_may_change_a_place(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    y = spawn('y', 4);
    interrupt_now(raise_y_in_handler, NULL);
    pass();
    assert_string_equal(trail, "yx");
}

static void spawn_h(void)
{
    spawn('h', 9);
}

static void what_becomes_ready_in_a_pass_goes_before_what_is_less_urgent(
    void **state)
{
    (void)state;
    begin();
    spawn('a', 5)->act = spawn_h;
    spawn('l', 1);
    (void)was_pended();
    pass();
    assert_string_equal(trail, "ah");
    assert_true(was_pended());
    pass();
    assert_string_equal(trail, "ahl");
    assert_false(was_pended());
}

/* E6: upstream stayed in one pass until nothing was ready. */
static void a_task_that_always_yields_does_not_keep_a_pass_from_its_end(
    void **state)
{
    (void)state;
    begin();
    spawn('h', 9)->yields = 5;
    spawn('l', 1);
    pass();
    assert_string_equal(trail, "hh");
    pass();
    assert_string_equal(trail, "hhhh");
    pass();
    assert_string_equal(trail, "hhhhhh");
    pass();
    assert_string_equal(trail, "hhhhhhl");
}

static volatile bool done;

static void be_done(void)
{
    done = true;
}

/* E6: nor a run loop. */
static void run_until_ends_though_a_task_always_yields(void **state)
{
    (void)state;
    begin();
    done = false;
    x = spawn('h', 9);
    x->act = be_done;
    x->yields = 100;
    spawn('l', 1);
    dz_executor_run_until(&executor, &done);
    assert_string_equal(trail, "hh");
    assert_true(was_pended());
    assert_ptr_equal(dz_current, &dz_outside);
}

static void be_done_and_spawn_y(void)
{
    done = true;
    y = spawn('y', 5);
}

static void spawn_x_in_handler(void *argument)
{
    (void)argument;
    x = spawn('x', 5);
    x->act = be_done_and_spawn_y;
}

static void spawn_x_in_wait(void)
{
    interrupt_now(spawn_x_in_handler, NULL);
}

static uint64_t no_time(void)
{
    return 0;
}

static void set_no_alarm(uint64_t at)
{
    (void)at;
}

static void a_run_loop_sleeps_until_a_task_is_ready(void **state)
{
    static const struct test_clock clock = {
        .now = no_time,
        .set_alarm = set_no_alarm,
        .wait = spawn_x_in_wait,
    };

    (void)state;
    begin();
    use_clock(&clock);
    done = false;
    dz_executor_run_until(&executor, &done);
    assert_string_equal(trail, "x");
    assert_true(dz_executor_is_ready(&executor));
    pass();
    assert_string_equal(trail, "xy");
}

/* Spawns x as another core does: it is in the inbox of this one. */
static void a_task_on_its_way_from_another_core_can_be_changed(void **state)
{
    struct dz_task *inbox;

    (void)state;
    begin();
    x = claim('x');
    x->task.executor = &executor;
    inbox = &x->task;
    set_urgency(&x->task, 4);
    set_urgency(&x->task, 5);
    spawn('y', 5);
    spawn('z', 5);
    set_urgency(&x->task, 6);
    dz_executor_receive(&inbox);
    pass();
    assert_string_equal(trail, "xyz");
}

static void yielding_lets_equals_go_first(void **state)
{
    (void)state;
    begin();
    spawn('a', 5)->yields = 1;
    spawn('b', 5);
    pass();
    pass();
    assert_string_equal(trail, "aba");
}

/* E11 */
static void it_is_pended_once_until_its_queue_was_empty(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    assert_true(was_pended());
    y = spawn('y', 5);
    assert_false(was_pended());
    pass();
    assert_false(was_pended());
    spawn('x', 5);
    assert_true(was_pended());
    pass();
}

static void wake_x_and_y(void)
{
    dz_task_wake(&x->task);
    dz_task_wake(&y->task);
}

static void wake_ups_in_a_pass_pend_at_its_end_if_they_are_left(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    x->yields = 1;
    y = spawn('y', 5);
    y->yields = 1;
    spawn('b', 5)->act = wake_x_and_y;
    (void)was_pended();
    pass();
    assert_string_equal(trail, "xyb");
    assert_true(was_pended());
    pass();
    assert_false(was_pended());
}

static void wake_itself(void)
{
    dz_task_wake(&z->task);
}

static void wake_it_among_others(void)
{
    dz_task_wake(&x->task);
    dz_task_wake(&z->task);
    dz_task_wake(&y->task);
}

/* E2 */
static void a_slot_is_free_at_once_though_a_wake_up_is_pending(void **state)
{
    (void)state;
    begin();
    z = spawn('z', 5);
    z->act = wake_itself;
    (void)was_pended();
    pass();
    assert_null(z->task.pool);
    assert_false(dz_executor_is_ready(&executor));
    assert_false(was_pended());
    assert_ptr_equal(claim('n'), z);
    dz_task_release(&z->task);
}

static void a_finished_task_leaves_its_place_among_equals(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    x->yields = 9;
    y = spawn('y', 5);
    y->yields = 9;
    pass();
    z = spawn('z', 9);
    z->act = wake_it_among_others;
    pass();
    assert_string_equal(trail, "xyzxy");
    assert_null(z->task.pool);
}

static void change_a_free_slot(void)
{
    begin();
    x = claim('x');
    dz_task_release(&x->task);
    set_urgency(&x->task, 1);
}

static void a_change_of_a_free_slot_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(change_a_free_slot), "not claimed, or has ended");
}

static void nest(void)
{
    begin();
    spawn('x', 1)->act = pass;
    pass();
}

/* E13 */
static void an_executor_that_is_run_within_itself_panics(void **state)
{
    struct last_words words = last_words_of(nest);

    (void)state;
    assert_says(words, "run within itself");
    assert_says(words, "object: test at 0x");
}

static void run_another(void)
{
    static struct dz_executor other;
    static const volatile bool never;

    dz_executor_init(&other, "other");
    dz_executor_run_until(&other, &never);
}

static void nest_run_loops(void)
{
    begin();
    spawn('x', 1)->act = run_another;
    pass();
}

static void a_run_loop_in_a_task_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(nest_run_loops), "a run loop within another");
}

/* For RUN_TESTS. */
#define SORTED_TESTS                                                        \
    TEST(equals_run_in_the_order_of_their_wake_ups),                        \
        TEST(a_changed_task_goes_behind_its_new_equals),                    \
        TEST(setting_the_same_again_keeps_the_place),                       \
        TEST(the_others_keep_their_order_when_one_leaves),                  \
        TEST(a_change_while_it_is_not_ready_counts_later),                  \
        TEST(a_task_may_change_its_own_place),                              \
        TEST(an_interrupt_may_change_a_place),                              \
        TEST(what_becomes_ready_in_a_pass_goes_before_what_is_less_urgent), \
        TEST(a_task_that_always_yields_does_not_keep_a_pass_from_its_end),  \
        TEST(run_until_ends_though_a_task_always_yields),                   \
        TEST(a_run_loop_sleeps_until_a_task_is_ready),                      \
        TEST(a_task_on_its_way_from_another_core_can_be_changed),           \
        TEST(yielding_lets_equals_go_first),                                \
        TEST(it_is_pended_once_until_its_queue_was_empty),                  \
        TEST(wake_ups_in_a_pass_pend_at_its_end_if_they_are_left),          \
        TEST(a_slot_is_free_at_once_though_a_wake_up_is_pending),           \
        TEST(a_finished_task_leaves_its_place_among_equals),                \
        TEST(a_change_of_a_free_slot_panics),                               \
        TEST(an_executor_that_is_run_within_itself_panics),                 \
        TEST(a_run_loop_in_a_task_panics)

#endif
