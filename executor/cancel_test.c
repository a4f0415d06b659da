/* SPDX-License-Identifier: MIT */
#include "executor/cancel.h"

#include <stdatomic.h>

#include "executor/deadline.h"
#include "executor/fork_test.h"
#include "executor/join.h"
#include "executor/priority.h"
#include "executor/select.h"

/* A task that waits for source 1, and holds a lock meanwhile, in a branch of a
 * select or a join; or in none. */
enum shape { PLAIN, IN_SELECT, IN_JOIN, WALKING, KEEPING };

struct job {
    struct dz_task task;
    struct dz_deadline deadline;
    const char *name;
    struct dz_cancellation cancellation;
    enum shape shape;
    void (*act)(void);
    struct child child;
    struct dz_select2 select;
    struct dz_join2 join;
};

static unsigned begun; /* how often the body did */
static unsigned ended; /* and came to its end */
static struct job *job;

static enum dz_poll shape_poll(struct job *self)
{
    if (self->shape == IN_SELECT)
        return dz_select2(
            &self->select, child_poll(&self->child), source_poll(2));
    if (self->shape == IN_JOIN)
        return dz_join2(&self->join, child_poll(&self->child), source_poll(2));
    if (self->shape == KEEPING)
        return acquire_poll(&self->child);
    return child_poll(&self->child);
}

static enum dz_poll job_poll(struct job *self)
{
    async (self) {
        begun++;
        if (self->act != NULL)
            self->act();
        if (self->shape == WALKING)
            return dz_finish(self);
        await(shape_poll(self));
        ended++;
    }
    return DZ_READY;
}

DZ_TASK_POOL_WITH(jobs, struct job, job_poll, 2, DZ_WITH_DEADLINE(struct job),
    DZ_WITH_NAME(struct job), DZ_WITH_CANCELLATION(struct job))

static void begin(void)
{
    begin_afresh();
    memset(jobs_slots, 0, sizeof(jobs_slots));
    begun = 0;
    ended = 0;
}

static void claim(enum shape shape)
{
    assert_int_equal(jobs_claim(&job), DZ_OK);
    job->shape = shape;
    job->child.source = 1;
}

static void spawn(enum shape shape)
{
    claim(shape);
    dz_executor_spawn(&executor, &job->task);
}

static void cancel(void)
{
    dz_task_cancel(&job->task);
}

static void cancel_in_interrupt(void *argument)
{
    (void)argument;
    cancel();
}

static bool is_free(void)
{
    return job->task.pool == NULL;
}

static void nothing_is_left(void)
{
    assert_true(is_free());
    assert_false(lock_is_held);
    nobody_waits_anywhere();
    assert_false(dz_executor_is_ready(&executor));
}

static void it_gives_back_what_it_holds_the_newest_first(void **state)
{
    (void)state;
    begin();
    spawn(PLAIN);
    pass();
    assert_true(lock_is_held);

    cancel();
    pass();
    nothing_is_left();
    assert_string_equal(drops, "io");
    assert_int_equal(begun, 1);
    assert_int_equal(ended, 0);
}

static void branches_are_cancelled_with_it(void **state)
{
    (void)state;
    for (enum shape shape = IN_SELECT; shape <= IN_JOIN; shape++) {
        begin();
        spawn(shape);
        pass();
        assert_true(somebody_waits_at(1) && somebody_waits_at(2));

        cancel();
        pass();
        nothing_is_left();
        assert_string_equal(drops, "io");
    }
}

static void what_it_was_granted_goes_to_the_next(void **state)
{
    struct job *next;

    (void)state;
    begin();
    spawn(PLAIN);
    next = job;
    spawn(PLAIN);
    pass();
    give(1);
    dz_task_cancel(&next->task);
    pass();
    assert_null(next->task.pool);
    pass();
    assert_int_equal(ended, 1);
    assert_int_equal(left_at(1), 0);
}

/* Its guard looks at source 0. */
static void what_it_was_granted_is_passed_on_before_it_gives_back(void **state)
{
    (void)state;
    begin();
    spawn(PLAIN);
    job->child.source = 0;
    pass();
    give(0);
    cancel();
    left_at_drop = 7;
    pass();
    assert_int_equal(left_at_drop, 1);
    nothing_is_left();
}

static void cancelled_before_its_first_poll_it_never_runs(void **state)
{
    (void)state;
    begin();
    spawn(PLAIN);
    cancel();
    pass();
    nothing_is_left();
    assert_int_equal(begun, 0);
}

static void cancelled_before_it_is_spawned_it_never_runs(void **state)
{
    (void)state;
    begin();
    claim(PLAIN);
    cancel();
    assert_false(dz_executor_is_ready(&executor));
    dz_executor_spawn(&executor, &job->task);
    pass();
    nothing_is_left();
    assert_int_equal(begun, 0);
}

static void cancelled_and_released_the_slot_is_as_new(void **state)
{
    (void)state;
    begin();
    claim(PLAIN);
    cancel();
    dz_task_release(&job->task);
    spawn(PLAIN);
    pass();
    assert_int_equal(begun, 1);
    assert_false(is_free());
}

static void it_ends_once_however_often_it_is_cancelled(void **state)
{
    (void)state;
    begin();
    spawn(PLAIN);
    pass();
    cancel();
    cancel();
    pass();
    cancel();
    pass();
    nothing_is_left();
    assert_string_equal(drops, "io");
}

static void a_new_task_in_its_slot_is_not_cancelled(void **state)
{
    (void)state;
    begin();
    spawn(PLAIN);
    pass();
    cancel();
    pass();
    cancel();
    spawn(PLAIN);
    pass();
    give(1);
    pass();
    nothing_is_left();
    assert_int_equal(begun, 2);
    assert_int_equal(ended, 1);
}

static void it_cancels_itself_at_its_next_wait(void **state)
{
    (void)state;
    begin();
    spawn(PLAIN);
    job->act = cancel;
    pass();
    assert_true(lock_is_held);
    pass();
    nothing_is_left();
    assert_int_equal(ended, 0);
}

static void what_it_need_not_wait_for_it_still_does(void **state)
{
    (void)state;
    begin();
    give(1);
    spawn(PLAIN);
    job->act = cancel;
    pass();
    nothing_is_left();
    assert_int_equal(ended, 1);
    assert_string_equal(drops, "");
}

static void interrupt(void)
{
    interrupt_now(cancel_in_interrupt, NULL);
}

static void an_interrupt_cancels_it_while_it_runs(void **state)
{
    (void)state;
    for (enum shape shape = PLAIN; shape <= WALKING; shape++) {
        begin();
        spawn(shape);
        job->act = interrupt;
        pass();
        pass();
        nothing_is_left();
        assert_int_equal(begun, 1);
        assert_int_equal(ended, 0);
    }
}

/* A plain task would take it along. */
static void what_it_holds_at_its_end_it_gives_back(void **state)
{
    (void)state;
    begin();
    give(1);
    spawn(KEEPING);
    pass();
    nothing_is_left();
    assert_int_equal(ended, 1);
    assert_string_equal(drops, "o");
}

static struct dz_priority_queue priority_queue;
static struct dz_deadline_queue deadline_queue;

static void begin_priority(void)
{
    dz_executor_init_priority(&executor, &priority_queue, "test");
}

static void begin_deadline(void)
{
    dz_executor_init_deadline(&executor, &deadline_queue, "test");
}

/* It is queued when it is cancelled, and leaves the queue from the middle. */
static void every_kind_of_executor_ends_it(void **state)
{
    static void (*const begins[])(void) = {begin_priority, begin_deadline};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin();
        begins[i]();
        spawn(IN_SELECT);
        job->act = cancel;
        dz_task_set_deadline(&job->task, 5);
        pass();
        pass();
        nothing_is_left();
        assert_int_equal(begun, 1);
        assert_int_equal(ended, 0);
    }
}

enum { OTHER_CORES_ROUNDS = 500 };

struct hamster {
    struct dz_task task;
    struct dz_cancellation cancellation;
    struct dz_guard guard;
};

static atomic_uint hamsters; /* that have begun and not ended */
static atomic_uint released;
static volatile bool is_over;

static void hamster_leave(struct dz_guard *guard)
{
    (void)guard;
    atomic_fetch_sub(&hamsters, 1);
    if (atomic_fetch_add(&released, 1) + 1 == OTHER_CORES_ROUNDS)
        is_over = true;
}

static enum dz_poll hamster_poll(struct hamster *self)
{
    async (self) {
        atomic_fetch_add(&hamsters, 1);
        dz_guard_enter(&self->guard, hamster_leave);
        for (;;)
            await(dz_yield_poll());
    }
    return DZ_READY;
}

DZ_TASK_POOL_CANCELLABLE(wheel, struct hamster, hamster_poll, 1)

static struct dz_executor far_executor;
static atomic_bool is_open;

static void run_wheel(void *argument)
{
    (void)argument;
    dz_executor_init(&far_executor, "far");
    atomic_store(&is_open, true);
    dz_executor_run_until(&far_executor, &is_over);
}

/* Sleeps now and then: in virtual time, other cores run meanwhile. */
static void give_way(void)
{
    (void)dz_port_now();
}

static void spawn_and_cancel(void *argument)
{
    struct hamster *hamster;

    (void)argument;
    while (!atomic_load(&is_open))
        give_way();
    while (!is_over) {
        while (wheel_claim(&hamster) != DZ_OK && !is_over)
            give_way();
        if (is_over)
            return;
        dz_executor_spawn(&far_executor, &hamster->task);
        while (atomic_load(&hamsters) == 0)
            give_way();
        dz_task_cancel(&hamster->task);
    }
}

static void another_core_cancels_it(void **state)
{
    (void)state;
    needs_host("there is one core");
    memset(wheel_slots, 0, sizeof(wheel_slots));
    atomic_store(&hamsters, 0);
    run_on_two_cores(run_wheel, spawn_and_cancel);
    assert_int_equal(hamsters, 0);
    assert_int_equal(released, OTHER_CORES_ROUNDS);
}

struct plain {
    struct dz_task task;
};

static enum dz_poll plain_poll(struct plain *self)
{
    async (self) {
        await(dz_yield_poll());
    }
    return DZ_READY;
}

DZ_TASK_POOL(plains, struct plain, plain_poll, 1)

static void cancel_plain(void)
{
    struct plain *plain;

    begin();
    (void)plains_claim(&plain);
    dz_executor_spawn(&executor, &plain->task);
    dz_task_cancel(&plain->task);
}

static void cancelling_what_cannot_be_panics(void **state)
{
    struct last_words words = last_words_of(cancel_plain);

    (void)state;
    assert_says(words, "DZ_TASK_POOL_CANCELLABLE");
    assert_says(words, "object: plains at 0x");
}

struct download {
    struct dz_task task;
    struct dz_cancellation cancellation;
};

static enum dz_poll download_poll(struct download *self)
{
    async (self) {
        await(source_poll(0));
    }
    return DZ_READY;
}

DZ_TASK_POOL_CANCELLABLE(downloads, struct download, download_poll, 2)

static void the_example_of_the_header_works(void **state)
{
    struct download *download;

    (void)state;
    begin();
    (void)downloads_claim(&download);
    dz_executor_spawn(&executor, &download->task);
    pass();
    assert_true(somebody_waits_at(0));

    dz_task_cancel(&download->task);
    pass();
    assert_null(download->task.pool);
    nobody_waits_anywhere();
}

RUN_TESTS(TEST(it_gives_back_what_it_holds_the_newest_first),
    TEST(branches_are_cancelled_with_it),
    TEST(what_it_was_granted_goes_to_the_next),
    TEST(what_it_was_granted_is_passed_on_before_it_gives_back),
    TEST(cancelled_before_its_first_poll_it_never_runs),
    TEST(cancelled_before_it_is_spawned_it_never_runs),
    TEST(cancelled_and_released_the_slot_is_as_new),
    TEST(it_ends_once_however_often_it_is_cancelled),
    TEST(a_new_task_in_its_slot_is_not_cancelled),
    TEST(it_cancels_itself_at_its_next_wait),
    TEST(what_it_need_not_wait_for_it_still_does),
    TEST(an_interrupt_cancels_it_while_it_runs),
    TEST(what_it_holds_at_its_end_it_gives_back),
    TEST(every_kind_of_executor_ends_it), MACHINE_TEST(another_core_cancels_it),
    TEST(cancelling_what_cannot_be_panics),
    TEST(the_example_of_the_header_works))
