/* SPDX-License-Identifier: MIT */
#include "executor/deadline.h"

#include "executor/priority.h"
#include "executor/sorted_test.h"

DZ_TASK_POOL_DEADLINE(noters, struct noter, noter_poll, 8)

static struct dz_deadline_queue queue;

static void begin_kind(void)
{
    memset(noters_slots, 0, sizeof(noters_slots));
    dz_executor_init_deadline(&executor, &queue, "test");
}

static void set_urgency(struct dz_task *task, unsigned urgency)
{
    dz_task_set_deadline(task, 9 - urgency);
}

static struct noter *spawn_due(char letter, uint64_t deadline)
{
    struct noter *noter = claim(letter);

    dz_task_set_deadline(&noter->task, deadline);
    dz_executor_spawn(&executor, &noter->task);
    return noter;
}

static void the_earliest_deadline_runs_first(void **state)
{
    (void)state;
    begin();
    spawn_due('c', 50);
    spawn_due('a', 0);
    spawn_due('e', UINT64_C(0x200000000));
    spawn_due('b', 10);
    spawn_due('d', UINT64_C(0x100000001));
    pass();
    assert_string_equal(trail, "abcde");
}

static void who_has_no_deadline_comes_last(void **state)
{
    (void)state;
    begin();
    dz_executor_spawn(&executor, &claim('y')->task);
    spawn_due('x', DZ_NO_DEADLINE - 1);
    dz_executor_spawn(&executor, &claim('z')->task);
    pass();
    assert_string_equal(trail, "xyz");
}

static void hurry_y(void)
{
    dz_task_set_deadline(&y->task, 2);
}

/* E5: upstream ran x first, since the queue was not sorted again. */
static void a_deadline_moved_forward_while_ready_takes_effect_at_once(
    void **state)
{
    (void)state;
    begin();
    spawn_due('b', 1)->act = hurry_y;
    x = spawn_due('x', 5);
    y = spawn_due('y', 6);
    pass();
    assert_string_equal(trail, "byx");
}

static void postpone_x(void)
{
    dz_task_set_deadline(&x->task, DZ_NO_DEADLINE);
}

static void a_deadline_taken_back_while_ready_takes_effect_at_once(void **state)
{
    (void)state;
    begin();
    spawn_due('b', 1)->act = postpone_x;
    x = spawn_due('x', 5);
    y = spawn_due('y', 6);
    pass();
    assert_string_equal(trail, "byx");
}

static void hurry_y_in_handler(void *argument)
{
    (void)argument;
    hurry_y();
}

/* E8: upstream stored the halves of a deadline one after the other. (That no
 * interrupt comes between them is shown by strike_test.) */
static void an_interrupt_within_a_change_finds_the_new_deadline(void **state)
{
    (void)state;
    begin();
    x = spawn_due('x', 5);
    y = spawn_due('y', 6);
    interrupt_at_next_unmask(hurry_y_in_handler, NULL);
    dz_task_set_deadline(&y->task, UINT64_C(0x100000000));
    assert_int_equal(dz_task_deadline(&y->task), 2);
    pass();
    assert_string_equal(trail, "yx");
}

static void a_claimed_task_has_no_deadline(void **state)
{
    (void)state;
    begin();
    x = spawn_due('x', 42);
    pass();
    y = claim('y');
    assert_ptr_equal(x, y);
    assert_true(dz_task_deadline(&y->task) == DZ_NO_DEADLINE);
    dz_task_release(&y->task);
}

/* On executors of other kinds, deadlines count for nothing. */
static void spawn_two_on(struct dz_executor *other)
{
    x = claim('x');
    y = claim('y');
    dz_executor_spawn(other, &x->task);
    dz_executor_spawn(other, &y->task);
    dz_task_set_deadline(&y->task, 3);
    dz_executor_poll(other);
}

static void executors_of_other_kinds_ignore_deadlines(void **state)
{
    static struct dz_executor other;
    static struct dz_priority_queue other_queue;

    (void)state;
    begin();
    dz_executor_init(&other, "fifo");
    spawn_two_on(&other);
    dz_executor_init_priority(&other, &other_queue, "priority");
    spawn_two_on(&other);
    assert_string_equal(trail, "xyxy");
}

static void it_ignores_priorities(void **state)
{
    (void)state;
    begin();
    x = spawn_due('x', 4);
    y = spawn_due('y', 4);
    dz_task_set_priority(&y->task, 9);
    pass();
    assert_string_equal(trail, "xy");
}

struct plain {
    struct dz_task task;
};

static enum dz_poll plain_poll(struct plain *self)
{
    (void)self;
    return DZ_READY;
}

DZ_TASK_POOL(plains, struct plain, plain_poll, 1)

static void spawn_plain(void)
{
    struct plain *plain;

    begin();
    (void)plains_claim(&plain);
    dz_executor_spawn(&executor, &plain->task);
}

static void spawning_a_task_without_a_deadline_panics(void **state)
{
    struct last_words words = last_words_of(spawn_plain);

    (void)state;
    assert_says(words, "define its pool by DZ_TASK_POOL_DEADLINE");
    assert_says(words, "object: plains at 0x");
}

static void set_plain(void)
{
    struct plain *plain;

    (void)plains_claim(&plain);
    dz_task_set_deadline(&plain->task, 1);
}

static void setting_a_deadline_that_there_is_no_place_for_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(set_plain), "no place for a deadline");
}

struct reply {
    struct dz_task task;
    struct dz_deadline deadline;
};

static enum dz_poll reply_poll(struct reply *self)
{
    (void)self;
    note('r');
    return DZ_READY;
}

DZ_TASK_POOL_DEADLINE(replies, struct reply, reply_poll, 4)

static void a_pool_with_deadlines_is_busy_when_all_its_slots_are(void **state)
{
    struct reply *reply;

    (void)state;
    begin();
    for (int i = 0; i < 4; i++)
        assert_int_equal(replies_claim(&reply), DZ_OK);
    assert_int_equal(replies_claim(&reply), DZ_BUSY);
    for (int i = 0; i < 4; i++)
        dz_task_release(&replies_slots[i].task);
}

static void the_example_of_the_header_works(void **state)
{
    const uint64_t now = 1000;
    struct reply *reply;

    (void)state;
    begin();
    dz_executor_init_deadline(&executor, &queue, "main");
    spawn_due('z', now + 251);
    (void)replies_claim(&reply);
    dz_task_set_deadline(&reply->task, now + 250);
    dz_executor_spawn(&executor, &reply->task);
    spawn_due('a', now + 249);
    pass();
    assert_string_equal(trail, "arz");
}

RUN_TESTS(SORTED_TESTS, TEST(the_earliest_deadline_runs_first),
    TEST(who_has_no_deadline_comes_last),
    TEST(a_deadline_moved_forward_while_ready_takes_effect_at_once),
    TEST(a_deadline_taken_back_while_ready_takes_effect_at_once),
    TEST(an_interrupt_within_a_change_finds_the_new_deadline),
    TEST(a_claimed_task_has_no_deadline),
    TEST(executors_of_other_kinds_ignore_deadlines),
    TEST(it_ignores_priorities),
    TEST(spawning_a_task_without_a_deadline_panics),
    TEST(setting_a_deadline_that_there_is_no_place_for_panics),
    TEST(a_pool_with_deadlines_is_busy_when_all_its_slots_are),
    TEST(the_example_of_the_header_works))
