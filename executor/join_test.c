/* SPDX-License-Identifier: MIT */
#include "executor/join.h"

#include "executor/fork_test.h"
#include "executor/select.h"
#include "sync/channel.h"

/* One task for all forms and for what can become of a join. */
DZ_JOIN_DEFINE(array_join, 4)

struct trial {
    struct dz_task task;
    enum dz_poll (*poll)(struct trial *self);
    union {
        struct dz_join2 two;
        struct dz_join3 three;
        struct dz_join4 four;
        struct dz_join5 five;
        struct dz_join6 six;
        struct array_join array;
    };
    struct dz_join2 inner;
    struct dz_select2 select;
    struct dz_select2 nested;
    struct dz_frame frame;
    struct child children[4];
    unsigned polls;
    unsigned times; /* that it is done */
};

static struct trial *trial;

static enum dz_poll counted_trial_poll(struct trial *self)
{
    self->polls++;
    return self->poll(self);
}

/* The yield is there for a look at what is left while the task goes on. */
static enum dz_poll trial_poll(struct trial *self)
{
    async (self) {
        for (;;) {
            await(counted_trial_poll(self));
            self->times++;
            await(dz_yield_poll());
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(trials, struct trial, trial_poll, 1)

static void begin(enum dz_poll (*poll)(struct trial *self))
{
    begin_afresh();
    memset(trials_slots, 0, sizeof(trials_slots));
    (void)trials_claim(&trial);
    trial->poll = poll;
    for (unsigned i = 0; i < 4; i++)
        trial->children[i].source = i;
    dz_executor_spawn(&executor, &trial->task);
    pass();
}

static void give_and_pass(unsigned source)
{
    give(source);
    pass();
}

static enum dz_poll two_poll(struct trial *self)
{
    return dz_join2(&self->two, counted_poll(0), counted_poll(1));
}

static enum dz_poll three_poll(struct trial *self)
{
    return dz_join3(
        &self->three, counted_poll(0), counted_poll(1), counted_poll(2));
}

static enum dz_poll four_poll(struct trial *self)
{
    return dz_join4(&self->four, counted_poll(0), counted_poll(1),
        counted_poll(2), counted_poll(3));
}

static enum dz_poll five_poll(struct trial *self)
{
    return dz_join5(&self->five, counted_poll(0), counted_poll(1),
        counted_poll(2), counted_poll(3), counted_poll(4));
}

static enum dz_poll six_poll(struct trial *self)
{
    return dz_join6(&self->six, counted_poll(0), counted_poll(1),
        counted_poll(2), counted_poll(3), counted_poll(4), counted_poll(5));
}

static enum dz_poll array_poll(struct trial *self)
{
    return dz_join_array(&self->array, counted_array_poll, self);
}

static const struct form {
    enum dz_poll (*poll)(struct trial *self);
    unsigned count;
} forms[] = {
    {two_poll, 2},
    {three_poll, 3},
    {four_poll, 4},
    {five_poll, 5},
    {six_poll, 6},
    {array_poll, 4},
};

enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* From the `last` branch on and round, so each is the last once. */
static void every_form_is_ready_when_its_last_branch_is(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FORMS; i++) {
        unsigned count = forms[i].count;

        for (unsigned last = 0; last < count; last++) {
            begin(forms[i].poll);
            for (unsigned k = 1; k < count; k++)
                give_and_pass((last + k) % count);
            assert_int_equal(trial->times, 0);
            give_and_pass(last);
            assert_int_equal(trial->times, 1);
            nobody_waits_anywhere();
        }
    }
}

static void a_branch_that_is_done_is_not_polled_again(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FORMS; i++) {
        begin(forms[i].poll);
        for (unsigned k = 0; k < forms[i].count; k++)
            give_and_pass(k);
        /* At first, and then each time until it is done. */
        for (unsigned k = 0; k < forms[i].count; k++)
            assert_int_equal(polled[k], k + 2);
    }
}

static void a_branch_that_is_done_waits_nowhere(void **state)
{
    (void)state;
    begin(three_poll);
    give_and_pass(1);
    assert_true(somebody_waits_at(0));
    assert_false(somebody_waits_at(1));
    assert_true(somebody_waits_at(2));
    give_and_pass(1);
    assert_int_equal(left_at(1), 1);
    assert_int_equal(trial->polls, 2);
}

static void what_is_ready_at_once_takes_one_poll(void **state)
{
    (void)state;
    begin(two_poll);
    give(0);
    give(1);
    pass();
    assert_int_equal(trial->times, 1);
    give(0);
    give(1);
    pass();
    assert_int_equal(trial->times, 2);
    assert_int_equal(trial->polls, 3);
}

static void a_join_starts_afresh_when_it_is_awaited_again(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FORMS; i++) {
        begin(forms[i].poll);
        for (unsigned k = 0; k < forms[i].count; k++)
            give_and_pass(k);
        pass(); /* waits again */
        for (unsigned k = forms[i].count; k-- > 0;) {
            assert_true(somebody_waits_at(k));
            assert_int_equal(trial->times, 1);
            give_and_pass(k);
        }
        assert_int_equal(trial->times, 2);
    }
}

static void one_wake_up_is_one_poll(void **state)
{
    (void)state;
    begin(six_poll);
    give(3);
    give(5);
    pass();
    pass();
    assert_int_equal(trial->polls, 2);
}

static enum dz_poll nested_poll(struct trial *self)
{
    return dz_join2(&self->two,
        dz_join2(&self->inner, counted_poll(0), counted_poll(1)),
        counted_poll(2));
}

static void joins_nest(void **state)
{
    (void)state;
    begin(nested_poll);
    give_and_pass(1);
    give_and_pass(0);
    give_and_pass(2);
    assert_int_equal(trial->times, 1);
    assert_int_equal(polled[0], 3);
    assert_int_equal(polled[1], 2);
    assert_int_equal(polled[2], 4);
}

/* Each child waits twice. */
static enum dz_poll child_of_array_poll(void *argument, unsigned branch)
{
    struct child *self = &((struct trial *)argument)->children[branch];

    async (self) {
        await(source_poll(self->source));
        await(source_poll(self->source));
    }
    return DZ_READY;
}

static enum dz_poll children_poll(struct trial *self)
{
    return dz_join_array(&self->array, child_of_array_poll, self);
}

static void children_run_at_their_own_pace(void **state)
{
    static const unsigned order[] = {3, 0, 0, 2, 3, 1, 2};

    (void)state;
    begin(children_poll);
    for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        give_and_pass(order[i]);
    assert_int_equal(trial->times, 0);
    give_and_pass(1);
    assert_int_equal(trial->times, 1);
}

DZ_JOIN_DEFINE(large_join, UINT8_MAX)

static struct large_join large;

static enum dz_poll first_source_poll(void *argument, unsigned branch)
{
    (void)argument;
    (void)branch;
    return source_poll(0);
}

static enum dz_poll large_poll(struct trial *self)
{
    return dz_join_array(&large, first_source_poll, self);
}

static void it_may_have_255_branches(void **state)
{
    (void)state;
    begin(large_poll);
    for (unsigned i = 1; i < UINT8_MAX; i++)
        give(0);
    pass();
    assert_int_equal(trial->times, 0);
    give_and_pass(0);
    assert_int_equal(trial->times, 1);
    assert_int_equal(left_at(0), 0);
    nobody_waits_anywhere();
}

/* ---- Joins that are cancelled. */

static enum dz_poll join_or_stop_poll(struct trial *self)
{
    return dz_select2(&self->select,
        dz_join3(&self->three, source_poll(0), source_poll(1),
            dz_select2(&self->nested, source_poll(2), source_poll(3))),
        source_poll(4));
}

static void a_join_in_a_select_can_win(void **state)
{
    (void)state;
    begin(join_or_stop_poll);
    give_and_pass(3);
    give_and_pass(0);
    assert_int_equal(trial->times, 0);
    give_and_pass(1);
    assert_int_equal(trial->times, 1);
    assert_int_equal(dz_select_winner(&trial->select), 0);
    assert_int_equal(dz_select_winner(&trial->nested), 1);
    nobody_waits_anywhere();
}

/* F4, in a join: all is gone when the task goes on. */
static void a_losing_join_cancels_its_branches(void **state)
{
    (void)state;
    begin(join_or_stop_poll);
    give_and_pass(1);
    give_and_pass(4);
    assert_int_equal(trial->times, 1);
    assert_int_equal(dz_select_winner(&trial->select), 1);
    nobody_waits_anywhere();
}

static enum dz_poll stop_or_join_poll(struct trial *self)
{
    return dz_select2(&self->select, source_poll(4),
        dz_join4(&self->four, source_poll(0), source_poll(1), source_poll(1),
            dz_join2(&self->inner, source_poll(2), source_poll(2))));
}

/* W4, in a join. */
static void a_losing_join_passes_its_grants_on(void **state)
{
    (void)state;
    begin(stop_or_join_poll);
    give_and_pass(0);
    give(1);
    give(2);
    give_and_pass(4);
    assert_int_equal(trial->times, 1);
    assert_int_equal(left_at(0), 0); /* was collected */
    assert_int_equal(left_at(1), 1);
    assert_int_equal(left_at(2), 1);
    assert_int_equal(trial->polls, 3);
    nobody_waits_anywhere();
}

/* By hand: the one branch is done and holds something, the other waits. */
static enum dz_poll cancelled_poll(struct trial *self)
{
    give(0);
    walk_away_from(
        dz_join2(&self->two, acquire_poll(&self->children[0]), source_poll(1)));
    assert_true(lock_is_held);
    dz_cancel();
    return DZ_READY;
}

static void cancel_leaves_a_join_and_gives_back_what_it_holds(void **state)
{
    (void)state;
    begin(cancelled_poll);
    assert_int_equal(trial->times, 1);
    assert_false(lock_is_held);
    assert_string_equal(drops, "o");
    nobody_waits_anywhere();
}

struct leaver {
    struct dz_task task;
    struct dz_join2 join;
    struct child child;
};

static enum dz_poll leaver_poll(struct leaver *self)
{
    walk_away_from(
        dz_join2(&self->join, child_poll(&self->child), source_poll(1)));
    return DZ_READY;
}

DZ_TASK_POOL(leavers, struct leaver, leaver_poll, 1)

static void a_task_that_ends_in_a_join_leaves_all_queues(void **state)
{
    struct leaver *leaver;

    (void)state;
    begin_afresh();
    (void)leavers_claim(&leaver);
    dz_executor_spawn(&executor, &leaver->task);
    pass();
    assert_string_equal(drops, "io");
    nobody_waits_anywhere();
}

static enum dz_poll impatient_poll(unsigned source)
{
    walk_away_from(source_poll(source));
    return DZ_READY;
}

static enum dz_poll impatient_and_patient_poll(struct trial *self)
{
    return dz_join2(&self->two, impatient_poll(0), source_poll(1));
}

/* As at the end of a task. */
static void a_branch_that_walks_away_at_its_end_waits_nowhere(void **state)
{
    (void)state;
    begin(impatient_and_patient_poll);
    assert_int_equal(trial->times, 0);
    assert_false(somebody_waits_at(0));
    assert_true(somebody_waits_at(1));
}

/* ---- What branches hold. */

/* acquire_poll with the other guard, so that drops tell them apart. */
static enum dz_poll acquire_inner_poll(struct child *self)
{
    async (self) {
        await(source_poll(self->source));
        dz_guard_enter(&self->inner, drop_inner);
    }
    return DZ_READY;
}

static enum dz_poll holders_or_stop_poll(struct trial *self)
{
    return dz_select2(&self->select,
        dz_join3(&self->three, acquire_poll(&self->children[0]),
            acquire_inner_poll(&self->children[1]),
            child_poll(&self->children[2])),
        source_poll(4));
}

/* Those that are done and the one that is not, each newest first. */
static void a_losing_join_gives_back_what_its_branches_hold(void **state)
{
    (void)state;
    begin(holders_or_stop_poll);
    give_and_pass(1);
    give_and_pass(0);
    assert_string_equal(drops, "");
    give_and_pass(4);
    assert_int_equal(trial->times, 1);
    assert_string_equal(drops, "oiio");
    nobody_waits_anywhere();
}

static void drop_before(struct dz_guard *guard)
{
    (void)guard;
    note_drop('b');
}

/* A guard from before the join, and two that its branches leave behind. */
static enum dz_poll acquire_both_poll(struct dz_frame *self)
{
    async (self) {
        dz_guard_enter(&trial->children[2].outer, drop_before);
        await(dz_join2(&trial->two, acquire_poll(&trial->children[0]),
            acquire_inner_poll(&trial->children[1])));
        await(source_poll(2));
        dz_guard_leave(&trial->children[0].outer);
        dz_guard_leave(&trial->children[1].inner);
        dz_guard_leave(&trial->children[2].outer);
    }
    return DZ_READY;
}

static enum dz_poll acquire_both_or_stop_poll(struct trial *self)
{
    return dz_select2(
        &self->select, acquire_both_poll(&self->frame), source_poll(4));
}

static void what_the_branches_hold_is_their_parents_in_the_end(void **state)
{
    (void)state;
    begin(acquire_both_or_stop_poll);
    give_and_pass(1);
    give_and_pass(0);
    give_and_pass(4);
    assert_int_equal(trial->times, 1);
    assert_string_equal(drops, "oib");
    nobody_waits_anywhere();
}

static void what_was_handed_over_can_be_left(void **state)
{
    (void)state;
    begin(acquire_both_or_stop_poll);
    give_and_pass(0);
    give_and_pass(1);
    give_and_pass(2);
    assert_int_equal(trial->times, 1);
    assert_int_equal(dz_select_winner(&trial->select), 0);
    assert_string_equal(drops, "");
}

/* The outermost branch, which nobody can cancel, takes it and forgets it. */
static enum dz_poll acquire_and_leave_poll(struct trial *self)
{
    return acquire_both_poll(&self->frame);
}

static void what_is_handed_over_to_a_task_can_be_left(void **state)
{
    (void)state;
    begin(acquire_and_leave_poll);
    for (unsigned i = 0; i < 3; i++)
        give_and_pass(i);
    assert_int_equal(trial->times, 1);
    assert_null(trial->children[0].outer.drop);
    assert_string_equal(drops, "");
}

static enum dz_poll leave_foreign_poll(void)
{
    dz_guard_leave(&trial->children[0].outer);
    return DZ_READY;
}

static enum dz_poll thief_poll(struct trial *self)
{
    give(0);
    return dz_join2(
        &self->two, acquire_poll(&self->children[0]), leave_foreign_poll());
}

static void steal_a_guard(void)
{
    begin(thief_poll);
}

static void what_a_branch_holds_at_its_end_is_its_own_until_then(void **state)
{
    (void)state;
    assert_says(last_words_of(steal_a_guard), "in another branch");
}

enum { MOTORS = 3 };

DZ_JOIN_DEFINE(motor_join, MOTORS)

struct event {
    int number;
};

DZ_CHANNEL_DEFINE(event_channel, struct event, 1, DZ_CRITICAL_SECTION)

static struct event_channel events;

static enum dz_poll flash_write_poll(struct child *self)
{
    return child_poll(self);
}

struct saver {
    struct dz_task task;
    struct dz_join2 join;
    struct child write;
    struct event event;
};

static enum dz_poll saver_poll(struct saver *self)
{
    async (self) {
        await(dz_join2(&self->join, flash_write_poll(&self->write),
            event_channel_send(&events, &self->event)));
    }
    return DZ_READY;
}

struct robot {
    struct dz_task task;
    struct motor_join join;
    unsigned motors[MOTORS]; /* the source that says it has stopped */
};

static enum dz_poll motor_stop_poll(const unsigned *motor)
{
    return source_poll(*motor);
}

static enum dz_poll motor_poll(void *argument, unsigned branch)
{
    struct robot *self = argument;

    return motor_stop_poll(&self->motors[branch]);
}

static enum dz_poll robot_poll(struct robot *self)
{
    async (self) {
        await(dz_join_array(&self->join, motor_poll, self));
    }
    return DZ_READY;
}

DZ_TASK_POOL(savers, struct saver, saver_poll, 1)
DZ_TASK_POOL(robots, struct robot, robot_poll, 1)

static void the_example_of_the_header_works(void **state)
{
    struct event full = {1};
    struct saver *saver;
    struct robot *robot;

    (void)state;
    begin_afresh();
    assert_true(event_channel_try_send(&events, &full));
    (void)savers_claim(&saver);
    (void)robots_claim(&robot);
    for (unsigned i = 0; i < MOTORS; i++)
        robot->motors[i] = i + 1;
    dz_executor_spawn(&executor, &saver->task);
    dz_executor_spawn(&executor, &robot->task);
    for (unsigned i = 0; i < MOTORS; i++)
        give_and_pass(i);
    assert_true(event_channel_try_receive(&events, &full));
    assert_non_null(saver->task.pool);
    assert_non_null(robot->task.pool);

    give_and_pass(MOTORS);
    assert_null(saver->task.pool);
    assert_null(robot->task.pool);
    assert_int_equal(event_channel_len(&events), 1);
}

RUN_TESTS(TEST(every_form_is_ready_when_its_last_branch_is),
    TEST(a_branch_that_is_done_is_not_polled_again),
    TEST(a_branch_that_is_done_waits_nowhere),
    TEST(what_is_ready_at_once_takes_one_poll),
    TEST(a_join_starts_afresh_when_it_is_awaited_again),
    TEST(one_wake_up_is_one_poll), TEST(joins_nest),
    TEST(children_run_at_their_own_pace), TEST(it_may_have_255_branches),
    TEST(a_join_in_a_select_can_win), TEST(a_losing_join_cancels_its_branches),
    TEST(a_losing_join_passes_its_grants_on),
    TEST(cancel_leaves_a_join_and_gives_back_what_it_holds),
    TEST(a_task_that_ends_in_a_join_leaves_all_queues),
    TEST(a_branch_that_walks_away_at_its_end_waits_nowhere),
    TEST(a_losing_join_gives_back_what_its_branches_hold),
    TEST(what_the_branches_hold_is_their_parents_in_the_end),
    TEST(what_was_handed_over_can_be_left),
    TEST(what_is_handed_over_to_a_task_can_be_left),
    TEST(what_a_branch_holds_at_its_end_is_its_own_until_then),
    TEST(the_example_of_the_header_works))
