/* SPDX-License-Identifier: MIT */
#include "executor/deadline.h"

#include "executor/priority.h"
#include "sim/test.h"

/* A task that notes its letter each time it is polled, and then acts once. */
struct noter {
    struct dz_task task;
    struct dz_deadline deadline;
    char letter;
    unsigned yields; /* before it ends */
    void (*act)(void);
};

static enum dz_poll noter_poll(struct noter *self);

DZ_TASK_POOL_DEADLINE(noters, struct noter, noter_poll, 8)

static struct dz_executor executor;
static struct dz_deadline_queue queue;

/* What the tasks did, a letter for each poll. */
static char trail[64];

static void note(char letter)
{
    size_t len = strlen(trail);

    assert_true(len + 1 < sizeof(trail));
    trail[len] = letter;
    trail[len + 1] = '\0';
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

/* Starts a test: an executor, no tasks, nothing pended, and no trail. */
static void begin(void)
{
    memset(noters_slots, 0, sizeof(noters_slots));
    dz_executor_init_deadline(&executor, &queue, "test");
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

static struct noter *claim(char letter)
{
    struct noter *noter;

    assert_int_equal(noters_claim(&noter), DZ_OK);
    noter->letter = letter;
    return noter;
}

static struct noter *spawn(char letter, uint64_t deadline)
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
    spawn('c', 50);
    spawn('a', 0);
    spawn('e', UINT64_C(0x200000000));
    spawn('b', 10);
    spawn('d', UINT64_C(0x100000001));
    pass();
    assert_string_equal(trail, "abcde");
}

static void who_has_no_deadline_comes_last(void **state)
{
    (void)state;
    begin();
    dz_executor_spawn(&executor, &claim('y')->task);
    spawn('x', DZ_NO_DEADLINE - 1);
    dz_executor_spawn(&executor, &claim('z')->task);
    pass();
    assert_string_equal(trail, "xyz");
}

static void equals_run_in_the_order_of_their_wake_ups(void **state)
{
    (void)state;
    begin();
    for (int letter = 'a'; letter <= 'c'; letter++)
        spawn((char)letter, 7)->yields = 2;
    for (int i = 0; i < 3; i++)
        pass();
    assert_string_equal(trail, "abcabcabc");
}

static struct noter *x, *y, *z;

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
    spawn('b', 1)->act = hurry_y;
    x = spawn('x', 5);
    y = spawn('y', 6);
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
    spawn('b', 1)->act = postpone_x;
    x = spawn('x', 5);
    y = spawn('y', 6);
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
    dz_task_set_deadline(&x->task, 4);
    dz_task_set_deadline(&x->task, 5);
    pass();
    assert_string_equal(trail, "yzx");
}

static void setting_the_same_deadline_again_keeps_the_place(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    y = spawn('y', 5);
    dz_task_set_deadline(&x->task, 5);
    pass();
    assert_string_equal(trail, "xy");
}

static void hurry_y_in_handler(void *argument)
{
    (void)argument;
    hurry_y();
}

static void an_interrupt_may_change_a_deadline(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    y = spawn('y', 6);
    interrupt_now(hurry_y_in_handler, NULL);
    pass();
    assert_string_equal(trail, "yx");
}

/* E8: upstream stored the halves of a deadline one after the other. (That no
 * interrupt comes between them is shown by strike_test.) */
static void an_interrupt_within_a_change_finds_the_new_deadline(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    y = spawn('y', 6);
    interrupt_at_next_unmask(hurry_y_in_handler, NULL);
    dz_task_set_deadline(&y->task, UINT64_C(0x100000000));
    assert_int_equal(dz_task_deadline(&y->task), 2);
    pass();
    assert_string_equal(trail, "yx");
}

static void spawn_h(void)
{
    spawn('h', 0);
}

static void what_becomes_ready_in_a_pass_goes_before_what_is_later(void **state)
{
    (void)state;
    begin();
    spawn('a', 5)->act = spawn_h;
    spawn('l', 9);
    (void)was_pended();
    pass();
    assert_string_equal(trail, "ah");
    assert_true(was_pended());
    pass();
    assert_string_equal(trail, "ahl");
    assert_false(was_pended());
}

static volatile bool done;

static void be_done(void)
{
    done = true;
}

/* E6 */
static void a_task_that_always_yields_does_not_keep_a_pass_from_its_end(
    void **state)
{
    struct noter *noter;

    (void)state;
    begin();
    done = false;
    noter = spawn('h', 1);
    noter->act = be_done;
    noter->yields = 100;
    spawn('l', 2);
    dz_executor_run_until(&executor, &done);
    assert_string_equal(trail, "hh");
    assert_true(was_pended());
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
    x = y = z;
    z->act = wake_it_among_others;
    pass();
    assert_null(z->task.pool);
    assert_false(dz_executor_is_ready(&executor));
    assert_ptr_equal(claim('n'), z);
    dz_task_release(&z->task);
}

static void a_finished_task_leaves_its_place_among_equals(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 5);
    y = spawn('y', 5);
    x->yields = 9;
    y->yields = 9;
    pass();
    z = spawn('z', 2);
    z->act = wake_it_among_others;
    pass();
    assert_string_equal(trail, "xyzxy");
    assert_null(z->task.pool);
}

static void a_claimed_task_has_no_deadline(void **state)
{
    (void)state;
    begin();
    x = spawn('x', 42);
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
    x = spawn('x', 4);
    y = spawn('y', 4);
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

static void set_unclaimed(void)
{
    begin();
    dz_task_set_deadline(&noters_slots[0].task, 1);
}

static void a_deadline_of_a_free_slot_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(set_unclaimed), "not claimed, or has ended");
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
    (void)state;
    assert_says(last_words_of(nest), "run within itself");
}

RUN_TESTS(TEST(the_earliest_deadline_runs_first),
    TEST(who_has_no_deadline_comes_last),
    TEST(equals_run_in_the_order_of_their_wake_ups),
    TEST(a_deadline_moved_forward_while_ready_takes_effect_at_once),
    TEST(a_deadline_taken_back_while_ready_takes_effect_at_once),
    TEST(a_changed_task_goes_behind_its_new_equals),
    TEST(setting_the_same_deadline_again_keeps_the_place),
    TEST(an_interrupt_may_change_a_deadline),
    TEST(an_interrupt_within_a_change_finds_the_new_deadline),
    TEST(what_becomes_ready_in_a_pass_goes_before_what_is_later),
    TEST(a_task_that_always_yields_does_not_keep_a_pass_from_its_end),
    TEST(a_slot_is_free_at_once_though_a_wake_up_is_pending),
    TEST(a_finished_task_leaves_its_place_among_equals),
    TEST(a_claimed_task_has_no_deadline),
    TEST(executors_of_other_kinds_ignore_deadlines),
    TEST(it_ignores_priorities),
    TEST(spawning_a_task_without_a_deadline_panics),
    TEST(setting_a_deadline_that_there_is_no_place_for_panics),
    TEST(a_deadline_of_a_free_slot_panics),
    TEST(an_executor_that_is_run_within_itself_panics))
