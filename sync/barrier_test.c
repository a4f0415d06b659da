/* SPDX-License-Identifier: MIT */
#include "sync/barrier.h"

#include "sim/test.h"

enum { TASKS = 7 };

DZ_BARRIER_DEFINE(three_barrier, 3, DZ_CRITICAL_SECTION)
DZ_BARRIER_DEFINE(one_barrier, 1, DZ_CRITICAL_SECTION)
DZ_BARRIER_DEFINE(noop_barrier, 2, DZ_NOOP)
DZ_BARRIER_DEFINE(thread_barrier, 2, DZ_THREAD_MODE)

static struct three_barrier barrier;
static struct one_barrier one;
static struct noop_barrier noop;
static struct thread_barrier thread;
static struct dz_executor executor;

/* Comes as often as it is told, and can give up. */
struct comer {
    struct dz_task task;
    unsigned rounds;
    unsigned passed;
    unsigned polls;
    unsigned order; /* in which it passed last */
    bool gives_up;
};

static unsigned passed;

static enum dz_poll comer_poll(struct comer *self)
{
    self->polls++;
    while (!self->gives_up && self->passed < self->rounds) {
        if (three_barrier_wait(&barrier) == DZ_PENDING)
            return DZ_PENDING;
        self->passed++;
        self->order = ++passed;
    }
    return DZ_READY;
}

DZ_TASK_POOL(comers, struct comer, comer_poll, TASKS)

static int set_up(void **state)
{
    test_become_core(state);
    barrier = (struct three_barrier){.barrier = {.passes = 0}};
    memset(comers_slots, 0, sizeof(comers_slots));
    passed = 0;
    dz_executor_init(&executor, "test");
    return 0;
}

static struct comer *come(unsigned rounds)
{
    struct comer *comer;

    assert_int_equal(comers_claim(&comer), DZ_OK);
    comer->rounds = rounds;
    dz_executor_spawn(&executor, &comer->task);
    dz_executor_poll(&executor);
    return comer;
}

static void give_up(struct comer *comer)
{
    comer->gives_up = true;
    dz_task_wake(&comer->task);
    dz_executor_poll(&executor);
}

static void nobody_goes_on_until_all_have_come(void **state)
{
    (void)state;
    const struct comer *first = come(1);
    const struct comer *second = come(1);

    for (unsigned round = 0; round < 1000; round++)
        dz_executor_poll(&executor);
    assert_int_equal(passed, 0);
    assert_int_equal(first->polls, 1);
    assert_int_equal(second->polls, 1);
    assert_int_equal(three_barrier_waiting(&barrier), 2);
}

static void who_is_polled_again_has_not_come_again(void **state)
{
    (void)state;
    struct comer *first = come(1);

    come(1);
    dz_task_wake(&first->task);
    dz_executor_poll(&executor);
    dz_executor_poll(&executor);
    assert_int_equal(first->polls, 2);
    assert_int_equal(passed, 0);
    assert_int_equal(three_barrier_waiting(&barrier), 2);

    come(1);
    dz_executor_poll(&executor);
    assert_int_equal(passed, 3);
}

static void the_last_goes_on_at_once_and_the_others_in_order(void **state)
{
    (void)state;
    const struct comer *first = come(1);
    const struct comer *second = come(1);
    const struct comer *third = come(1);

    assert_int_equal(third->order, 1);
    assert_int_equal(third->polls, 1);
    dz_executor_poll(&executor);
    assert_int_equal(first->order, 2);
    assert_int_equal(second->order, 3);
    assert_int_equal(first->polls, 2);
    assert_int_equal(three_barrier_waiting(&barrier), 0);
}

static void who_comes_back_early_waits_for_the_next_round(void **state)
{
    (void)state;
    struct comer *eager = come(2);

    come(1);
    come(1);
    dz_executor_poll(&executor);
    assert_int_equal(eager->passed, 1);
    assert_int_equal(three_barrier_waiting(&barrier), 1);

    come(1);
    assert_int_equal(eager->passed, 1);
    come(1);
    dz_executor_poll(&executor);
    assert_int_equal(eager->passed, 2);
}

static void rounds_follow_one_another(void **state)
{
    const struct comer *all[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        all[i] = come(50);
    for (unsigned round = 0; round < 200; round++)
        dz_executor_poll(&executor);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(all[i]->passed, 50);
    assert_int_equal(three_barrier_waiting(&barrier), 0);
}

static void more_than_it_takes_wait_for_the_next_round(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 7; i++)
        come(1);
    dz_executor_poll(&executor);
    assert_int_equal(passed, 6);
    assert_int_equal(three_barrier_waiting(&barrier), 1);
}

static void who_is_cancelled_before_has_not_come(void **state)
{
    (void)state;
    struct comer *first = come(1);

    come(1);
    give_up(first);
    come(1);
    assert_int_equal(passed, 0);
    assert_int_equal(three_barrier_waiting(&barrier), 2);
    come(1);
    dz_executor_poll(&executor);
    assert_int_equal(passed, 3);
}

static void who_is_cancelled_behind_its_wake_up_has_come(void **state)
{
    (void)state;
    struct comer *first = come(1);
    const struct comer *second = come(1);

    first->gives_up = true; /* woken by the third, it will not look any more */
    come(1);
    dz_executor_poll(&executor);

    assert_int_equal(first->passed, 0);
    assert_int_equal(second->passed, 1);
    come(1);
    come(1);
    assert_int_equal(three_barrier_waiting(&barrier), 2);
}

static enum dz_poll alone_poll(struct comer *self)
{
    async (self) {
        await(one_barrier_wait(&one));
        await(one_barrier_wait(&one));
        self->passed = 2;
    }
    return DZ_READY;
}

DZ_TASK_POOL(loners, struct comer, alone_poll, 1)

static void a_barrier_for_one_holds_nobody_up(void **state)
{
    struct comer *comer;

    (void)state;
    assert_int_equal(loners_claim(&comer), DZ_OK);
    dz_executor_spawn(&executor, &comer->task);
    dz_executor_poll(&executor);
    assert_int_equal(comer->passed, 2);
}

static enum dz_poll pair_poll(struct comer *self)
{
    async (self) {
        await(noop_barrier_wait(&noop));
        await(thread_barrier_wait(&thread));
        self->passed = 2;
    }
    return DZ_READY;
}

DZ_TASK_POOL(pairs, struct comer, pair_poll, 2)

static void the_other_raw_mutexes_do_the_same(void **state)
{
    struct comer *pair[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pairs_claim(&pair[i]), DZ_OK);
        dz_executor_spawn(&executor, &pair[i]->task);
    }
    for (unsigned i = 0; i < 4; i++)
        dz_executor_poll(&executor);
    assert_int_equal(pair[0]->passed, 2);
    assert_int_equal(pair[1]->passed, 2);
}

static void count_in_a_handler(void *argument)
{
    *(unsigned *)argument = three_barrier_waiting(&barrier);
}

static void an_interrupt_counts_who_has_come(void **state)
{
    unsigned count = 9;

    (void)state;
    come(1);
    interrupt_now(count_in_a_handler, &count);
    assert_int_equal(count, 1);
}

static void wait_outside(void)
{
    walk_away_from(three_barrier_wait(&barrier));
}

static void waiting_outside_a_task_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(wait_outside), "await outside a task");
}

/* ---- The example of the header. */

DZ_BARRIER_DEFINE(start_barrier, 3, DZ_NOOP)
static struct start_barrier start;

static enum dz_poll starter_poll(struct comer *self)
{
    async (self) {
        await(start_barrier_wait(&start));
        passed++;
    }
    return DZ_READY;
}

DZ_TASK_POOL(starters, struct comer, starter_poll, 3)

static void the_example_of_the_header_works(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct comer *starter;

        assert_int_equal(passed, 0);
        assert_int_equal(starters_claim(&starter), DZ_OK);
        dz_executor_spawn(&executor, &starter->task);
        dz_executor_poll(&executor);
    }
    dz_executor_poll(&executor);
    assert_int_equal(passed, 3);
}

#define BARRIER_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, test_become_thread)

RUN_TESTS(BARRIER_TEST(nobody_goes_on_until_all_have_come),
    BARRIER_TEST(who_is_polled_again_has_not_come_again),
    BARRIER_TEST(the_last_goes_on_at_once_and_the_others_in_order),
    BARRIER_TEST(who_comes_back_early_waits_for_the_next_round),
    BARRIER_TEST(rounds_follow_one_another),
    BARRIER_TEST(more_than_it_takes_wait_for_the_next_round),
    BARRIER_TEST(who_is_cancelled_before_has_not_come),
    BARRIER_TEST(who_is_cancelled_behind_its_wake_up_has_come),
    BARRIER_TEST(a_barrier_for_one_holds_nobody_up),
    BARRIER_TEST(the_other_raw_mutexes_do_the_same),
    BARRIER_TEST(an_interrupt_counts_who_has_come),
    BARRIER_TEST(waiting_outside_a_task_panics),
    BARRIER_TEST(the_example_of_the_header_works))
