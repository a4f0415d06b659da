/* SPDX-License-Identifier: MIT */
#include "executor/priority.h"

#include "sim/test.h"

/* A task that notes its letter each time it is polled, and then acts once. */
struct noter {
    struct dz_task task;
    char letter;
    unsigned yields; /* before it ends */
    void (*act)(void);
};

static enum dz_poll noter_poll(struct noter *self);

DZ_TASK_POOL(noters, struct noter, noter_poll, DZ_PRIORITIES)

static struct dz_executor executor;
static struct dz_priority_queue queue;

/* What the tasks did, a letter for each poll. */
static char trail[128];

static void note(char letter)
{
    size_t len = strlen(trail);

    assert_true(len + 1 < sizeof(trail));
    trail[len] = letter;
    trail[len + 1] = '\0';
}

/* Starts a test: an executor, no tasks, nothing pended, and no trail. */
static void begin(void)
{
    memset(noters_slots, 0, sizeof(noters_slots));
    dz_executor_init_priority(&executor, &queue, "test");
    dz_port_core.event = 0;
    trail[0] = '\0';
}

/* True once for each pend. (An interrupt does the same when it returns.) */
static bool was_pended(void)
{
    bool was = dz_port_core.event != 0;

    dz_port_core.event = 0;
    return was;
}

static void pass(void)
{
    dz_executor_poll(&executor);
}

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

static struct noter *claim(char letter, unsigned priority)
{
    struct noter *noter;

    assert_int_equal(noters_claim(&noter), DZ_OK);
    noter->letter = letter;
    dz_task_set_priority(&noter->task, priority);
    return noter;
}

static struct noter *spawn(char letter, unsigned priority)
{
    struct noter *noter = claim(letter, priority);

    dz_executor_spawn(&executor, &noter->task);
    return noter;
}

static struct noter *spawn_acting(
    char letter, unsigned priority, void (*act)(void))
{
    struct noter *noter = claim(letter, priority);

    noter->act = act;
    dz_executor_spawn(&executor, &noter->task);
    return noter;
}

static struct noter *spawn_yielding(
    char letter, unsigned priority, unsigned yields)
{
    struct noter *noter = claim(letter, priority);

    noter->yields = yields;
    dz_executor_spawn(&executor, &noter->task);
    return noter;
}

static void the_highest_priority_runs_first(void **state)
{
    (void)state;
    begin();
    spawn('b', 4);
    spawn('d', 0);
    spawn('a', 63);
    spawn('c', 1);
    pass();
    assert_string_equal(trail, "abcd");
}

static void equals_run_in_the_order_of_their_wake_ups(void **state)
{
    (void)state;
    begin();
    spawn_yielding('a', 7, 2);
    spawn_yielding('b', 7, 2);
    spawn_yielding('c', 7, 2);
    for (int i = 0; i < 3; i++)
        pass();
    assert_string_equal(trail, "abcabcabc");
}

/* In an order without a pattern: 29 and 64 have no common divisor. */
static void every_priority_has_its_place(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < DZ_PRIORITIES; i++)
        spawn((char)('!' + 29 * i % 64), 29 * i % 64);
    pass();
    for (unsigned i = 0; i < DZ_PRIORITIES; i++)
        assert_int_equal(trail[i], '!' + 63 - (int)i);
}

static struct noter *x, *y, *z;

static void raise_y(void)
{
    dz_task_set_priority(&y->task, 8);
}

/* E5: upstream ran x first, since the queue was not sorted again. */
static void a_priority_raised_while_ready_takes_effect_at_once(void **state)
{
    (void)state;
    begin();
    spawn_acting('b', 9, raise_y);
    x = spawn('x', 5);
    y = spawn('y', 4);
    pass();
    assert_string_equal(trail, "byx");
}

static void lower_x(void)
{
    dz_task_set_priority(&x->task, 1);
}

static void a_priority_lowered_while_ready_takes_effect_at_once(void **state)
{
    (void)state;
    begin();
    spawn_acting('b', 9, lower_x);
    x = spawn('x', 5);
    y = spawn('y', 4);
    pass();
    assert_string_equal(trail, "byx");
}

static void a_changed_task_goes_behind_its_new_equals(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    y = spawn('y', 4);
    z = spawn('z', 5);
    dz_task_set_priority(&x->task, 4);
    dz_task_set_priority(&x->task, 5);
    pass();
    assert_string_equal(trail, "zxy");
}

static void setting_the_same_priority_again_keeps_the_place(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    y = spawn('y', 5);
    dz_task_set_priority(&x->task, 5);
    pass();
    assert_string_equal(trail, "xy");
}

/* Of three equals, the one at `place` leaves for a higher priority, and comes
 * back. */
static void leave_and_return(unsigned place, const char *expected)
{
    struct noter *equals[3];

    begin();
    for (unsigned i = 0; i < 3; i++)
        equals[i] = spawn((char)('a' + (int)i), 5);
    dz_task_set_priority(&equals[place]->task, 6);
    dz_task_set_priority(&equals[place]->task, 5);
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

static void a_priority_changed_while_it_is_not_ready_counts_later(void **state)
{
    (void)state;
    begin();
    x = claim('x', 1);
    y = spawn('y', 4);
    dz_task_set_priority(&x->task, 5);
    dz_executor_spawn(&executor, &x->task);
    pass();
    assert_string_equal(trail, "xy");
}

static void raise_and_wake_boss(void)
{
    dz_task_set_priority(&x->task, 6);
    dz_task_wake(&x->task);
}

static void a_task_may_change_its_own_priority(void **state)
{
    (void)state;
    begin();
    x = spawn_acting('x', 5, raise_and_wake_boss);
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
    raise_y();
}

static void an_interrupt_may_change_a_priority(void **state)
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

static void what_becomes_ready_in_a_pass_goes_before_what_is_lower(void **state)
{
    (void)state;
    begin();
    spawn_acting('a', 5, spawn_h);
    spawn('l', 1);
    pass();
    assert_string_equal(trail, "ah");
    assert_true(was_pended());
    pass();
    assert_string_equal(trail, "ahl");
}

/* E6: upstream stayed in one pass until nothing was ready. */
static void a_task_that_always_yields_does_not_keep_a_pass_from_its_end(
    void **state)
{
    (void)state;
    begin();
    spawn_yielding('h', 9, 5);
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
    spawn_acting('h', 9, be_done)->yields = 100;
    spawn('l', 1);
    dz_executor_run_until(&executor, &done);
    assert_string_equal(trail, "hh");
    assert_true(was_pended());
}

static void yielding_lets_equals_go_first(void **state)
{
    (void)state;
    begin();
    spawn_yielding('a', 5, 1);
    spawn('b', 5);
    pass();
    pass();
    assert_string_equal(trail, "aba");
}

static void wake_x_and_y(void)
{
    dz_task_wake(&x->task);
    dz_task_wake(&y->task);
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

static void wake_ups_in_a_pass_pend_at_its_end_if_they_are_left(void **state)
{
    (void)state;
    begin();
    x = spawn_yielding('x', 5, 1);
    y = spawn_yielding('y', 5, 1);
    spawn_acting('b', 5, wake_x_and_y);
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
    z = spawn_acting('z', 5, wake_itself);
    (void)was_pended();
    pass();
    assert_null(z->task.pool);
    assert_false(dz_executor_is_ready(&executor));
    assert_false(was_pended());
    assert_ptr_equal(claim('n', 5), z);
    dz_task_release(&z->task);
}

static void a_finished_task_leaves_its_place_among_equals(void **state)
{
    (void)state;
    begin();
    x = spawn_yielding('x', 5, 9);
    y = spawn_yielding('y', 5, 9);
    pass();
    z = spawn_acting('z', 9, wake_it_among_others);
    pass();
    assert_string_equal(trail, "xyzxy");
    assert_null(z->task.pool);
}

static void a_claimed_task_has_priority_0(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 42);
    pass();
    (void)noters_claim(&y);
    assert_ptr_equal(x, y);
    assert_int_equal(dz_task_priority(&y->task), 0);
    dz_task_release(&y->task);
}

static void a_fifo_executor_ignores_priorities(void **state)
{
    static struct dz_executor fifo;

    (void)state;
    begin();
    dz_executor_init(&fifo, "fifo");
    x = claim('x', 1);
    y = claim('y', 9);
    dz_executor_spawn(&fifo, &x->task);
    dz_executor_spawn(&fifo, &y->task);
    dz_task_set_priority(&x->task, 0);
    dz_executor_poll(&fifo);
    assert_string_equal(trail, "xy");
}

static void set_too_high(void)
{
    begin();
    claim('x', DZ_PRIORITIES);
}

static void a_priority_above_63_panics(void **state)
{
    struct last_words words = last_words_of(set_too_high);

    (void)state;
    assert_says(words, "no priority above 63");
    assert_says(words, "object: noters at 0x");
}

static void set_unclaimed(void)
{
    begin();
    dz_task_set_priority(&noters_slots[0].task, 1);
}

static void a_priority_of_a_free_slot_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(set_unclaimed), "not claimed, or has ended");
}

static void nest(void)
{
    begin();
    spawn_acting('x', 1, pass);
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
    spawn_acting('x', 1, run_another);
    pass();
}

static void a_run_loop_in_a_task_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(nest_run_loops), "a run loop within another");
}

RUN_TESTS(TEST(the_highest_priority_runs_first),
    TEST(equals_run_in_the_order_of_their_wake_ups),
    TEST(every_priority_has_its_place),
    TEST(a_priority_raised_while_ready_takes_effect_at_once),
    TEST(a_priority_lowered_while_ready_takes_effect_at_once),
    TEST(a_changed_task_goes_behind_its_new_equals),
    TEST(setting_the_same_priority_again_keeps_the_place),
    TEST(the_others_keep_their_order_when_one_leaves),
    TEST(a_priority_changed_while_it_is_not_ready_counts_later),
    TEST(a_task_may_change_its_own_priority),
    TEST(an_interrupt_may_change_a_priority),
    TEST(what_becomes_ready_in_a_pass_goes_before_what_is_lower),
    TEST(a_task_that_always_yields_does_not_keep_a_pass_from_its_end),
    TEST(run_until_ends_though_a_task_always_yields),
    TEST(yielding_lets_equals_go_first),
    TEST(it_is_pended_once_until_its_queue_was_empty),
    TEST(wake_ups_in_a_pass_pend_at_its_end_if_they_are_left),
    TEST(a_slot_is_free_at_once_though_a_wake_up_is_pending),
    TEST(a_finished_task_leaves_its_place_among_equals),
    TEST(a_claimed_task_has_priority_0),
    TEST(a_fifo_executor_ignores_priorities), TEST(a_priority_above_63_panics),
    TEST(a_priority_of_a_free_slot_panics),
    TEST(an_executor_that_is_run_within_itself_panics),
    TEST(a_run_loop_in_a_task_panics))
