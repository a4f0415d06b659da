/* SPDX-License-Identifier: MIT */
#include "executor/select.h"

#include "executor/fork_test.h"
#include "sync/channel.h"
#include "sync/signal.h"

enum shape {
    TWO,         /* 0 or 1 */
    NESTED,      /* (0 or 1) or 2 */
    NESTED_DEEP, /* ((0 or 1) or 2) or 3 */
    CHILD,       /* a child that holds a lock and waits for 0, or 1 */
    LAST_CHILD,  /* 1, or a child that holds a lock and waits for 0 */
    ACQUIRE,     /* (take a lock by 0, or 1), then 2 with it held; or 3 */
};

struct selecting {
    struct dz_task task;
    enum shape shape;
    struct dz_select2 outer;
    struct dz_select2 middle;
    struct dz_select2 inner;
    struct child child;
    struct dz_frame acquiring;
    unsigned polls;
    unsigned winner;
    bool done;
};

static struct selecting *last; /* the task of the test */

static enum dz_poll acquire_then_wait_poll(struct dz_frame *self)
{
    async (self) {
        await(dz_select2(
            &last->inner, acquire_poll(&last->child), source_poll(1)));
        await(source_poll(2));
        dz_guard_leave(&last->child.outer);
        lock_is_held = false;
    }
    return DZ_READY;
}

static enum dz_poll shape_poll(struct selecting *self)
{
    switch (self->shape) {
    case TWO:
        return dz_select2(&self->outer, source_poll(0), source_poll(1));
    case NESTED:
        return dz_select2(&self->outer,
            dz_select2(&self->inner, source_poll(0), source_poll(1)),
            source_poll(2));
    case NESTED_DEEP:
        return dz_select2(&self->outer,
            dz_select2(&self->middle,
                dz_select2(&self->inner, source_poll(0), source_poll(1)),
                source_poll(2)),
            source_poll(3));
    case CHILD:
        return dz_select2(
            &self->outer, child_poll(&self->child), source_poll(1));
    case LAST_CHILD:
        return dz_select2(
            &self->outer, source_poll(1), child_poll(&self->child));
    case ACQUIRE:
    default:
        return dz_select2(&self->outer,
            acquire_then_wait_poll(&self->acquiring), source_poll(3));
    }
}

static enum dz_poll counted_shape_poll(struct selecting *self)
{
    self->polls++;
    return shape_poll(self);
}

static enum dz_poll selecting_poll(struct selecting *self)
{
    async (self) {
        await(counted_shape_poll(self));
        self->winner = dz_select_winner(&self->outer);
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(selectings, struct selecting, selecting_poll, 1)

static void begin(enum shape shape)
{
    begin_afresh();
    memset(selectings_slots, 0, sizeof(selectings_slots));
    (void)selectings_claim(&last);
    last->shape = shape;
    dz_executor_spawn(&executor, &last->task);
    dz_executor_poll(&executor);
}

static void the_branch_that_is_ready_wins_and_the_others_leave(void **state)
{
    (void)state;
    for (unsigned winner = 0; winner < 2; winner++) {
        begin(TWO);
        assert_true(somebody_waits_at(0));
        assert_true(somebody_waits_at(1));
        give(winner);
        pass();
        assert_true(last->done);
        assert_int_equal(last->winner, winner);
        nobody_waits_anywhere();
    }
}

static void the_first_of_two_that_are_ready_wins(void **state)
{
    (void)state;
    begin(TWO);
    give(0);
    give(1);
    pass();
    assert_int_equal(last->winner, 0);
}

/* W4, in a select: the loser had been granted a unit. */
static void a_loser_passes_its_grant_on(void **state)
{
    (void)state;
    begin(TWO);
    give(1);
    give(0);
    pass();
    assert_int_equal(last->winner, 0);
    assert_int_equal(left_at(1), 1);
    assert_int_equal(left_at(0), 0);
}

static void a_branch_that_is_ready_at_once_leaves_no_trace(void **state)
{
    (void)state;
    begin(TWO);
    give(0);
    pass();
    memset(selectings_slots, 0, sizeof(selectings_slots));
    give(1);
    (void)selectings_claim(&last);
    last->shape = TWO;
    dz_executor_spawn(&executor, &last->task);
    pass();
    assert_true(last->done);
    assert_int_equal(last->winner, 1);
    nobody_waits_anywhere();
}

static void one_wake_up_is_one_poll(void **state)
{
    (void)state;
    begin(NESTED_DEEP);
    pass();
    pass();
    give(2);
    pass();
    assert_int_equal(last->polls, 2);
}

/* Decision 1: a losing branch may itself contain a select. */
static void a_losing_select_cancels_its_branches(void **state)
{
    (void)state;
    begin(NESTED);
    give(2);
    pass();
    assert_true(last->done);
    assert_int_equal(last->winner, 1);
    nobody_waits_anywhere();
}

static void selects_nest_as_deep_as_one_likes(void **state)
{
    static const unsigned winners[] = {0, 0, 0, 1};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        begin(NESTED_DEEP);
        give(i);
        pass();
        assert_true(last->done);
        assert_int_equal(last->winner, winners[i]);
        nobody_waits_anywhere();
    }
}

static void a_losing_select_passes_the_grants_of_its_branches_on(void **state)
{
    (void)state;
    begin(NESTED_DEEP);
    /* All four are granted before the task runs; the innermost first wins. */
    for (unsigned i = 4; i-- > 0;)
        give(i);
    pass();
    assert_int_equal(left_at(0), 0);
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(left_at(i), 1);
}

/* Decision 1: a child that holds a lock gives it back, newest guard first. */
static void a_losing_child_gives_back_what_it_holds(void **state)
{
    (void)state;
    begin(CHILD);
    assert_true(lock_is_held);
    give(1);
    pass();
    assert_int_equal(last->winner, 1);
    assert_false(lock_is_held);
    assert_string_equal(drops, "io");
    nobody_waits_anywhere();
}

/* Holds something, and no more when it waits. */
struct tenant {
    struct dz_task task;
    struct dz_select2 select;
    struct dz_frame frame;
    struct dz_guard guard;
};

static enum dz_poll moved_out_poll(struct tenant *tenant)
{
    struct dz_frame *self = &tenant->frame;

    async (self) {
        dz_guard_enter(&tenant->guard, drop_outer);
        dz_guard_leave(&tenant->guard);
        await(source_poll(2));
    }
    return DZ_READY;
}

static enum dz_poll tenant_poll(struct tenant *self)
{
    async (self) {
        await(dz_select2(&self->select, moved_out_poll(self), source_poll(3)));
    }
    return DZ_READY;
}

DZ_TASK_POOL(tenants, struct tenant, tenant_poll, 1)

static void a_losing_child_does_not_give_back_what_it_has_left(void **state)
{
    struct tenant *tenant;

    (void)state;
    begin(TWO);
    (void)tenants_claim(&tenant);
    dz_executor_spawn(&executor, &tenant->task);
    pass();

    give(3);
    pass();

    assert_int_equal(dz_select_winner(&tenant->select), 1);
    assert_string_equal(drops, "");
    assert_null(tenant->select.branches[0].guards);
}

/* The innermost first: its grant is passed on before its lock is given back. */
static void a_losing_child_passes_on_before_it_gives_back(void **state)
{
    (void)state;
    begin(LAST_CHILD);
    give(0);
    give(1);
    pass();
    assert_int_equal(last->winner, 0);
    assert_string_equal(drops, "io");
    assert_int_equal(left_at_drop, 1);
}

static void a_winning_child_gives_it_back_itself(void **state)
{
    (void)state;
    begin(CHILD);
    give(0);
    pass();
    assert_int_equal(last->winner, 0);
    assert_false(lock_is_held);
    assert_string_equal(drops, "");
}

/* What the winner holds goes to the branch around it, and is given back when
 * that one loses. */
static void what_the_winner_holds_is_its_parents(void **state)
{
    (void)state;
    begin(ACQUIRE);
    give(0);
    pass();
    assert_true(lock_is_held);
    give(3);
    pass();
    assert_true(last->done);
    assert_int_equal(last->winner, 1);
    assert_false(lock_is_held);
    assert_string_equal(drops, "o");
    nobody_waits_anywhere();
}

static void what_was_handed_over_can_be_left(void **state)
{
    (void)state;
    begin(ACQUIRE);
    give(0);
    pass();
    give(2);
    pass();
    assert_true(last->done);
    assert_int_equal(last->winner, 0);
    assert_string_equal(drops, "");
}

/* Two branches that wait at the same source: what the one gives up must not
 * wake its own task through the other. */
struct twin {
    struct dz_task task;
    struct dz_select3 select;
    unsigned polls;
};

static enum dz_poll twin_select_poll(struct twin *self)
{
    self->polls++;
    return dz_select3(
        &self->select, source_poll(0), source_poll(1), source_poll(1));
}

static enum dz_poll twin_poll(struct twin *self)
{
    async (self) {
        await(twin_select_poll(self));
        await(source_poll(2));
    }
    return DZ_READY;
}

DZ_TASK_POOL(twins, struct twin, twin_poll, 1)

static void a_loser_does_not_pass_its_grant_to_another_loser(void **state)
{
    struct twin *twin;

    (void)state;
    begin(TWO);
    give(0);
    pass();
    (void)twins_claim(&twin);
    dz_executor_spawn(&executor, &twin->task);
    pass();
    give(0);
    give(1);
    pass();
    assert_int_equal(twin->polls, 2);
    assert_false(dz_executor_is_ready(&executor));
    assert_int_equal(left_at(1), 1);
}

/* A holder awaits a select, and is cancelled in turn: what it held itself, and
 * what the select's winner left with it, is given back. */
struct holder {
    struct dz_task task;
    struct dz_select2 outer;
    struct dz_select2 inner;
    struct dz_frame frame;
    struct dz_guard guard;
    struct child child;
    bool done;
};

static struct holder *holder;

static enum dz_poll hold_poll(struct dz_frame *self)
{
    async (self) {
        dz_guard_enter(&holder->guard, drop_inner);
        await(dz_select2(
            &holder->inner, acquire_poll(&holder->child), source_poll(1)));
        await(source_poll(2));
    }
    return DZ_READY;
}

static enum dz_poll holder_poll(struct holder *self)
{
    async (self) {
        await(
            dz_select2(&self->outer, hold_poll(&self->frame), source_poll(3)));
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(holders, struct holder, holder_poll, 1)

static void what_a_branch_held_before_an_inner_select_it_still_holds(
    void **state)
{
    (void)state;
    begin(TWO);
    give(0);
    pass();
    (void)holders_claim(&holder);
    dz_executor_spawn(&executor, &holder->task);
    pass();
    give(0);
    pass();
    assert_true(lock_is_held);
    give(3);
    pass();
    assert_true(holder->done);
    assert_string_equal(drops, "oi");
    assert_false(lock_is_held);
}

struct rooted {
    struct dz_task task;
    struct child child;
};

static enum dz_poll rooted_poll(struct rooted *self)
{
    async (self) {
        await(child_poll(&self->child));
    }
    return DZ_READY;
}

DZ_TASK_POOL(rooteds, struct rooted, rooted_poll, 1)

static void guards_outside_selects_cost_nothing_and_do_nothing(void **state)
{
    struct rooted *rooted;

    (void)state;
    begin(TWO);
    (void)rooteds_claim(&rooted);
    rooted->child.source = 2;
    dz_executor_spawn(&executor, &rooted->task);
    pass();
    assert_true(lock_is_held);
    give(2);
    pass();
    assert_false(lock_is_held);
    assert_string_equal(drops, "");
}

/* The task ends in the middle of a select that it polled once by hand. */
struct leaver {
    struct dz_task task;
    struct dz_select2 select;
};

static enum dz_poll leaver_poll(struct leaver *self)
{
    walk_away_from(dz_select2(&self->select, source_poll(0), source_poll(1)));
    return DZ_READY;
}

DZ_TASK_POOL(leavers, struct leaver, leaver_poll, 1)

static void a_task_that_ends_in_a_select_leaves_all_queues(void **state)
{
    struct leaver *leaver;

    (void)state;
    begin(TWO);
    give(0);
    pass();
    (void)leavers_claim(&leaver);
    dz_executor_spawn(&executor, &leaver->task);
    pass();
    nobody_waits_anywhere();
}

/* dz_cancel() out of a select, and then the same select again. */
struct again {
    struct dz_task task;
    struct dz_select2 select;
    bool done;
};

static enum dz_poll again_poll(struct again *self)
{
    async (self) {
        walk_away_from(
            dz_select2(&self->select, source_poll(0), source_poll(1)));
        dz_cancel();
        await(source_poll(2));
        await(dz_select2(&self->select, source_poll(0), source_poll(1)));
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(agains, struct again, again_poll, 1)

static void a_select_that_was_cancelled_is_out_of_the_way(void **state)
{
    struct again *again;

    (void)state;
    begin(TWO);
    give(0);
    pass();
    (void)agains_claim(&again);
    dz_executor_spawn(&executor, &again->task);
    pass();
    assert_false(somebody_waits_at(0));
    give(2);
    pass();
    give(1);
    pass();
    assert_true(again->done);
    assert_int_equal(dz_select_winner(&again->select), 1);
    nobody_waits_anywhere();
}

/* One task for all forms: it selects once, or for ever, and notes who won. */
DZ_SELECT_DEFINE(array_select, 4)

struct trial {
    struct dz_task task;
    enum dz_poll (*poll)(struct trial *self);
    union {
        struct dz_fork select;
        struct dz_select2 two;
        struct dz_select3 three;
        struct dz_select4 four;
        struct dz_select5 five;
        struct dz_select6 six;
        struct array_select array;
    };
    struct dz_select2 inner;
    struct child children[4];
    bool repeats;
    char winners[16];
};

static struct trial *trial;

static enum dz_poll two_poll(struct trial *self)
{
    return dz_select2(&self->two, counted_poll(0), counted_poll(1));
}

static enum dz_poll three_poll(struct trial *self)
{
    return dz_select3(
        &self->three, counted_poll(0), counted_poll(1), counted_poll(2));
}

static enum dz_poll four_poll(struct trial *self)
{
    return dz_select4(&self->four, counted_poll(0), counted_poll(1),
        counted_poll(2), counted_poll(3));
}

static enum dz_poll five_poll(struct trial *self)
{
    return dz_select5(&self->five, counted_poll(0), counted_poll(1),
        counted_poll(2), counted_poll(3), counted_poll(4));
}

static enum dz_poll six_poll(struct trial *self)
{
    return dz_select6(&self->six, counted_poll(0), counted_poll(1),
        counted_poll(2), counted_poll(3), counted_poll(4), counted_poll(5));
}

static enum dz_poll array_poll(struct trial *self)
{
    return dz_select_array(&self->array, counted_array_poll, self);
}

static enum dz_poll fair_poll(struct trial *self)
{
    return dz_select_fair(&self->array, counted_array_poll, self);
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
    {fair_poll, 4},
};

enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* The yield is there for a look at what is left while the task goes on. */
static enum dz_poll trial_poll(struct trial *self)
{
    async (self) {
        do {
            await(self->poll(self));
            self->winners[strlen(self->winners)] =
                (char)('0' + dz_select_winner(self));
        } while (self->repeats);
        await(dz_yield_poll());
    }
    return DZ_READY;
}

DZ_TASK_POOL(trials, struct trial, trial_poll, 1)

static void try_form(enum dz_poll (*poll)(struct trial *self))
{
    begin_afresh();
    memset(trials_slots, 0, sizeof(trials_slots));
    (void)trials_claim(&trial);
    trial->poll = poll;
    for (unsigned i = 0; i < 4; i++)
        trial->children[i].source = i;
    dz_executor_spawn(&executor, &trial->task);
}

static void any_branch_of_any_form_can_win_and_the_others_leave(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FORMS; i++) {
        for (unsigned winner = 0; winner < forms[i].count; winner++) {
            const char expected[] = {(char)('0' + winner), '\0'};

            try_form(forms[i].poll);
            pass();
            assert_string_equal(trial->winners, "");
            give(winner);
            pass();
            assert_string_equal(trial->winners, expected);
            nobody_waits_anywhere();
        }
    }
}

static void branches_behind_the_winner_are_not_polled(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FORMS; i++) {
        for (unsigned winner = 0; winner < forms[i].count; winner++) {
            try_form(forms[i].poll);
            pass();
            give(winner);
            pass();
            for (unsigned k = 0; k < forms[i].count; k++)
                assert_int_equal(polled[k], k <= winner ? 2 : 1);
        }
    }
}

static void give_all_but_the_second_three(void)
{
    for (unsigned i = 0; i < 3; i++) {
        give(0);
        give(2);
        give(3);
    }
    give(1);
}

/* F3, what the order means: it is one of priority. */
static void who_stands_in_front_goes_first_however_often_it_won(void **state)
{
    static enum dz_poll (*const in_order[])(struct trial * self) = {
        four_poll, array_poll};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        try_form(in_order[i]);
        trial->repeats = true;
        give_all_but_the_second_three();
        pass();
        assert_string_equal(trial->winners, "0001222333");
    }
}

/* F3: who is always ready does not starve the rest. */
static void a_fair_select_gives_every_branch_its_turn(void **state)
{
    (void)state;
    try_form(fair_poll);
    trial->repeats = true;
    give_all_but_the_second_three();
    pass();
    assert_string_equal(trial->winners, "0123023023");
}

static void a_fair_select_begins_behind_the_last_winner(void **state)
{
    (void)state;
    try_form(fair_poll);
    trial->repeats = true;
    give(2);
    pass();
    /* All are ready at once, and each time that it waits. */
    for (unsigned i = 0; i < 4; i++)
        give(i);
    pass();
    give(3);
    give(1);
    pass();
    assert_string_equal(trial->winners, "2301231");
}

/* Two units are needed, so the first wakes the task in vain. */
static const struct child *seen[4];

static enum dz_poll twice_poll(struct child *self)
{
    async (self) {
        dz_guard_enter(&self->outer, drop_outer);
        await(source_poll(self->source));
        await(source_poll(self->source));
        dz_guard_leave(&self->outer);
    }
    return DZ_READY;
}

static enum dz_poll child_of_array_poll(void *argument, unsigned branch)
{
    struct trial *self = argument;

    if (seen[branch] == NULL)
        seen[branch] = &self->children[branch];
    assert_ptr_equal(seen[branch], &self->children[branch]);
    return twice_poll(&self->children[branch]);
}

static enum dz_poll children_poll(struct trial *self)
{
    return dz_select_fair(&self->array, child_of_array_poll, self);
}

static void all_wait_in_their_own_place(void)
{
    for (unsigned i = 0; i < 4; i++) {
        assert_ptr_equal(sources[i].first, &trial->array.branches[i].waiter);
        assert_ptr_equal(
            trial->array.branches[i].guards, &trial->children[i].outer);
    }
}

/* F1: neither children that wait nor their waiters and guards are moved. */
static void the_branches_of_an_array_stay_where_they_are(void **state)
{
    (void)state;
    try_form(children_poll);
    pass();
    all_wait_in_their_own_place();
    for (unsigned i = 0; i < 4; i++) {
        give(i);
        pass();
        all_wait_in_their_own_place();
    }
    give(2);
    pass();
    assert_string_equal(trial->winners, "2");
    assert_string_equal(drops, "ooo");
    nobody_waits_anywhere();
}

static enum dz_poll child_or_nested_poll(struct trial *self)
{
    return dz_select4(&self->four, child_poll(&self->children[0]),
        dz_select2(&self->inner, source_poll(1), source_poll(2)),
        source_poll(3), source_poll(4));
}

/* F4: losers, and what is inside them, are gone when the task goes on, though
 * the select is still there. */
static void losers_are_cancelled_before_the_task_goes_on(void **state)
{
    (void)state;
    try_form(child_or_nested_poll);
    pass();
    assert_true(lock_is_held);
    give(3);
    pass();
    assert_string_equal(trial->winners, "2");
    assert_non_null(trial->task.pool); /* not at its end yet */
    assert_string_equal(drops, "io");
    assert_false(lock_is_held);
    nobody_waits_anywhere();
}

/* What a task may do wrong with a guard, in a branch and outside of any. */
struct misuser {
    struct dz_task task;
    struct dz_select2 select;
    struct dz_select2 inner;
    void (*misuse)(void);
};

static enum dz_poll misuse_poll(void (*misuse)(void))
{
    misuse();
    return DZ_READY;
}

static enum dz_poll misuser_poll(struct misuser *self)
{
    async (self) {
        await(dz_select2(
            &self->select, misuse_poll(self->misuse), source_poll(0)));
    }
    return DZ_READY;
}

DZ_TASK_POOL(misusers, struct misuser, misuser_poll, 1)

static void in_a_branch(void (*misuse)(void))
{
    struct misuser *misuser;

    dz_executor_init(&executor, "test");
    (void)misusers_claim(&misuser);
    misuser->misuse = misuse;
    dz_executor_spawn(&executor, &misuser->task);
    pass();
}

static struct dz_guard misused;

static void enter_twice(void)
{
    dz_guard_enter(&misused, drop_outer);
    dz_guard_enter(&misused, drop_outer);
}

static void leave_unentered(void)
{
    dz_guard_leave(&misused);
}

static void leave_elsewhere(void)
{
    misused.drop = drop_outer; /* as if it were another branch's */
    dz_guard_leave(&misused);
}

static void guard_entered_twice(void)
{
    in_a_branch(enter_twice);
}

static void guard_left_unentered(void)
{
    in_a_branch(leave_unentered);
}

static void guard_left_elsewhere(void)
{
    in_a_branch(leave_elsewhere);
}

static void misused_guards_panic(void **state)
{
    (void)state;
    assert_says(last_words_of(guard_entered_twice), "that was not left");
    assert_says(last_words_of(guard_left_unentered), "that was not entered");
    assert_says(last_words_of(guard_left_elsewhere), "in another branch");
}

static void guard_outside(void)
{
    static struct dz_guard guard;

    dz_guard_enter(&guard, drop_outer);
}

static void a_guard_outside_tasks_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(guard_outside), "no task runs here");
}

enum { LANES = 3 };

DZ_SELECT_DEFINE(lane_select, LANES)

struct event {
    int number;
};

DZ_CHANNEL_DEFINE(event_channel, struct event, 2, DZ_CRITICAL_SECTION)
DZ_SIGNAL_DEFINE(stop_signal, int, DZ_CRITICAL_SECTION)

static struct event_channel events;
static struct event_channel lanes[LANES];
static struct stop_signal stop;

struct server {
    struct dz_task task;
    struct dz_select2 select;
    struct event event;
    int reason;
};

static enum dz_poll server_poll(struct server *self)
{
    async (self) {
        for (;;) {
            await(dz_select2(&self->select,
                event_channel_receive(&events, &self->event),
                stop_signal_wait(&stop, &self->reason)));
            if (dz_select_winner(&self->select) == 1)
                return dz_finish(self);
        }
    }
    return DZ_READY;
}

struct merger {
    struct dz_task task;
    struct lane_select select;
    struct event event;
    int sum;
};

static enum dz_poll lane_poll(void *argument, unsigned branch)
{
    struct merger *self = argument;

    return event_channel_receive(&lanes[branch], &self->event);
}

static enum dz_poll merger_poll(struct merger *self)
{
    async (self) {
        for (;;) {
            await(dz_select_fair(&self->select, lane_poll, self));
            self->sum += self->event.number;
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(servers, struct server, server_poll, 1)
DZ_TASK_POOL(mergers, struct merger, merger_poll, 1)

static void the_example_of_the_header_works(void **state)
{
    struct event event = {1};
    struct server *server;
    struct merger *merger;

    (void)state;
    begin_afresh();
    (void)servers_claim(&server);
    (void)mergers_claim(&merger);
    dz_executor_spawn(&executor, &server->task);
    dz_executor_spawn(&executor, &merger->task);
    assert_true(event_channel_try_send(&events, &event));
    pass();
    assert_int_equal(server->event.number, 1);
    assert_non_null(server->task.pool);

    stop_signal_send(&stop, 7);
    for (unsigned i = 0; i < LANES; i++, event.number *= 10)
        assert_true(event_channel_try_send(&lanes[i], &event));
    pass();
    assert_null(server->task.pool);
    assert_int_equal(server->reason, 7);
    assert_int_equal(merger->sum, 111);
}

RUN_TESTS(TEST(the_branch_that_is_ready_wins_and_the_others_leave),
    TEST(the_first_of_two_that_are_ready_wins),
    TEST(a_loser_passes_its_grant_on),
    TEST(a_branch_that_is_ready_at_once_leaves_no_trace),
    TEST(one_wake_up_is_one_poll), TEST(a_losing_select_cancels_its_branches),
    TEST(selects_nest_as_deep_as_one_likes),
    TEST(a_losing_select_passes_the_grants_of_its_branches_on),
    TEST(a_losing_child_gives_back_what_it_holds),
    TEST(a_losing_child_does_not_give_back_what_it_has_left),
    TEST(a_losing_child_passes_on_before_it_gives_back),
    TEST(a_winning_child_gives_it_back_itself),
    TEST(what_the_winner_holds_is_its_parents),
    TEST(what_was_handed_over_can_be_left),
    TEST(guards_outside_selects_cost_nothing_and_do_nothing),
    TEST(a_task_that_ends_in_a_select_leaves_all_queues),
    TEST(a_loser_does_not_pass_its_grant_to_another_loser),
    TEST(what_a_branch_held_before_an_inner_select_it_still_holds),
    TEST(a_select_that_was_cancelled_is_out_of_the_way),
    TEST(any_branch_of_any_form_can_win_and_the_others_leave),
    TEST(branches_behind_the_winner_are_not_polled),
    TEST(who_stands_in_front_goes_first_however_often_it_won),
    TEST(a_fair_select_gives_every_branch_its_turn),
    TEST(a_fair_select_begins_behind_the_last_winner),
    TEST(the_branches_of_an_array_stay_where_they_are),
    TEST(losers_are_cancelled_before_the_task_goes_on),
    TEST(misused_guards_panic), TEST(a_guard_outside_tasks_panics),
    TEST(the_example_of_the_header_works))
