/* SPDX-License-Identifier: MIT */
#include "executor/priority.h"

#include "executor/sorted_test.h"

DZ_TASK_POOL(noters, struct noter, noter_poll, DZ_PRIORITIES)

static struct dz_priority_queue queue;

static void begin_kind(void)
{
    memset(noters_slots, 0, sizeof(noters_slots));
    dz_executor_init_priority(&executor, &queue, "test");
}

static void set_urgency(struct dz_task *task, unsigned urgency)
{
    dz_task_set_priority(task, urgency);
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

static void raise_y(void)
{
    dz_task_set_priority(&y->task, 8);
}

/* E5: upstream ran x first, since the queue was not sorted again. */
static void a_priority_raised_while_ready_takes_effect_at_once(void **state)
{
    (void)state;
    begin();
    spawn('b', 9)->act = raise_y;
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
    spawn('b', 9)->act = lower_x;
    x = spawn('x', 5);
    y = spawn('y', 4);
    pass();
    assert_string_equal(trail, "byx");
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
    x = claim('x');
    y = claim('y');
    dz_task_set_priority(&x->task, 1);
    dz_task_set_priority(&y->task, 9);
    dz_executor_spawn(&fifo, &x->task);
    dz_executor_spawn(&fifo, &y->task);
    dz_task_set_priority(&x->task, 0);
    dz_executor_poll(&fifo);
    assert_string_equal(trail, "xy");
}

static void set_too_high(void)
{
    begin();
    dz_task_set_priority(&claim('x')->task, DZ_PRIORITIES);
}

static void a_priority_above_63_panics(void **state)
{
    struct last_words words = last_words_of(set_too_high);

    (void)state;
    assert_says(words, "no priority above 63");
    assert_says(words, "object: noters at 0x");
}

DZ_TASK_POOL(alarms, struct noter, noter_poll, 1)

static void the_example_of_the_header_works(void **state)
{
    struct noter *alarm;

    (void)state;
    begin();
    dz_executor_init_priority(&executor, &queue, "main");
    spawn('x', 8);
    (void)alarms_claim(&alarm);
    alarm->letter = 'a';
    dz_task_set_priority(&alarm->task, 9);
    dz_executor_spawn(&executor, &alarm->task);
    pass();
    assert_string_equal(trail, "ax");
}

RUN_TESTS(SORTED_TESTS, TEST(the_highest_priority_runs_first),
    TEST(every_priority_has_its_place),
    TEST(a_priority_raised_while_ready_takes_effect_at_once),
    TEST(a_priority_lowered_while_ready_takes_effect_at_once),
    TEST(a_claimed_task_has_priority_0),
    TEST(a_fifo_executor_ignores_priorities), TEST(a_priority_above_63_panics),
    TEST(the_example_of_the_header_works))
