/* SPDX-License-Identifier: MIT */
#include "sync/signal.h"

#include "executor/select.h"
#include "sim/test.h"

enum { TASKS = 3 };

DZ_SIGNAL_DEFINE(level_signal, int, DZ_CRITICAL_SECTION)
DZ_SIGNAL_DEFINE(noop_signal, int, DZ_NOOP)
DZ_SIGNAL_DEFINE(thread_signal, int, DZ_THREAD_MODE)
DZ_SIGNAL_DEFINE_SINGLE_SLOT(slot_signal, int, DZ_CRITICAL_SECTION)

static struct level_signal level;
static struct noop_signal noop;
static struct thread_signal thread;
static struct slot_signal slot;
static struct dz_executor executor;

/* A task that waits twice. */
struct waiting {
    struct dz_task task;
    int value[2];
    int taken;
    int polls;
};

static enum dz_poll level_poll(struct waiting *self)
{
    self->polls++;
    strike_behind_wait();
    return level_signal_wait(&level, &self->value[self->taken]);
}

static enum dz_poll waiting_poll(struct waiting *self)
{
    async (self) {
        for (; self->taken < 2; self->taken++)
            await(level_poll(self));
    }
    return DZ_READY;
}

static enum dz_poll slot_poll(struct waiting *self)
{
    self->polls++;
    strike_behind_wait();
    return slot_signal_wait(&slot, &self->value[self->taken]);
}

static enum dz_poll slot_waiting_poll(struct waiting *self)
{
    async (self) {
        for (; self->taken < 2; self->taken++)
            await(slot_poll(self));
    }
    return DZ_READY;
}

DZ_TASK_POOL(waitings, struct waiting, waiting_poll, TASKS)
DZ_TASK_POOL(slot_waitings, struct waiting, slot_waiting_poll, TASKS)

static void begin(void)
{
    memset(&level, 0, sizeof(level));
    memset(&noop, 0, sizeof(noop));
    memset(&thread, 0, sizeof(thread));
    memset(&slot, 0, sizeof(slot));
    memset(waitings_slots, 0, sizeof(waitings_slots));
    memset(slot_waitings_slots, 0, sizeof(slot_waitings_slots));
    dz_executor_init(&executor, "test");
}

static struct waiting *spawn(const struct dz_pool *pool)
{
    struct waiting *waiting = dz_pool_claim(pool);

    assert_non_null(waiting);
    dz_executor_spawn(&executor, &waiting->task);
    dz_executor_poll(&executor);
    return waiting;
}

static void run_to_rest(void)
{
    int passes = 0;

    while (dz_executor_is_ready(&executor)) {
        dz_executor_poll(&executor);
        assert_true(++passes < 100);
    }
}

static void keeps_only_the_latest_value(void **state)
{
    int value = 0;

    (void)state;
    begin();
    level_signal_send(&level, 1);
    level_signal_send(&level, 2);
    assert_true(level_signal_is_sent(&level));
    assert_true(level_signal_try_take(&level, &value));
    assert_int_equal(value, 2);
    assert_false(level_signal_try_take(&level, &value));
    assert_false(level_signal_is_sent(&level));
}

static void every_raw_mutex_and_policy_delivers(void **state)
{
    int value = 0;

    (void)state;
    begin();
    noop_signal_send(&noop, 3);
    assert_true(noop_signal_try_take(&noop, &value));
    assert_int_equal(value, 3);
    thread_signal_send(&thread, 4);
    assert_true(thread_signal_try_take(&thread, &value));
    assert_int_equal(value, 4);
    slot_signal_send(&slot, 5);
    assert_true(slot_signal_try_take(&slot, &value));
    assert_int_equal(value, 5);
}

static void a_wait_takes_a_value_that_is_there(void **state)
{
    struct waiting *waiting;

    (void)state;
    begin();
    level_signal_send(&level, 1);
    waiting = spawn(&waitings);
    assert_int_equal(waiting->taken, 1);
    assert_int_equal(waiting->value[0], 1);
    assert_false(level_signal_is_sent(&level));
}

static void a_wait_ends_when_a_value_comes(void **state)
{
    struct waiting *waiting;

    (void)state;
    begin();
    waiting = spawn(&waitings);
    level_signal_send(&level, 1);
    run_to_rest();
    assert_int_equal(waiting->taken, 1);
    assert_int_equal(waiting->value[0], 1);
}

/* S3: signal twice before take: the last value wins, one delivery. */
static void sent_again_before_the_task_runs_it_is_one_delivery(void **state)
{
    static const struct dz_pool *const pools[] = {&waitings, &slot_waitings};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct waiting *waiting;

        begin();
        waiting = spawn(pools[i]);
        level_signal_send(&level, 1);
        level_signal_send(&level, 2);
        slot_signal_send(&slot, 1);
        slot_signal_send(&slot, 2);
        run_to_rest();
        assert_int_equal(waiting->taken, 1);
        assert_int_equal(waiting->value[0], 2);
        assert_int_equal(waiting->polls, 1 + 2);
    }
}

/* S2: the second waiter made upstream panic. Here the two are served in
 * order. */
static void any_number_of_tasks_may_wait(void **state)
{
    struct waiting *waiting[TASKS];

    (void)state;
    begin();
    for (int i = 0; i < TASKS; i++)
        waiting[i] = spawn(&waitings);
    for (int i = 0; i < TASKS; i++) {
        level_signal_send(&level, i);
        run_to_rest();
        assert_int_equal(waiting[i]->taken, 1);
        assert_int_equal(waiting[i]->value[0], i);
    }
}

/* S2: a second waiter under the single-slot policy may wait, too: the latest
 * one is registered. */
static void the_latest_may_wait_under_the_single_slot_policy(void **state)
{
    struct waiting *first;
    struct waiting *second;

    (void)state;
    begin();
    first = spawn(&slot_waitings);
    second = spawn(&slot_waitings);
    slot_signal_send(&slot, 1);
    for (int i = 0; i < 4; i++)
        dz_executor_poll(&executor);
    assert_int_equal(first->taken + second->taken, 1);
}

/* S3: under the single-slot policy, as upstream: it stays pending and still
 * gets the next. */
static void a_reset_before_the_woken_task_runs_leaves_it_waiting_single_slot(
    void **state)
{
    struct waiting *waiting;
    int value = 0;

    (void)state;
    begin();
    waiting = spawn(&slot_waitings);
    slot_signal_send(&slot, 1);
    slot_signal_reset(&slot);
    run_to_rest();
    assert_int_equal(waiting->taken, 0);
    slot_signal_send(&slot, 2);
    assert_true(slot_signal_try_take(&slot, &value));
    run_to_rest();
    assert_int_equal(waiting->taken, 0);
    slot_signal_send(&slot, 3);
    run_to_rest();
    assert_int_equal(waiting->taken, 1);
    assert_int_equal(waiting->value[0], 3);
}

/* S3 and decision 4: with a queue the value was given to the task when it was
 * sent. Whoever comes later finds nothing, and the next one is not lost. */
static void a_promised_value_survives_reset_and_try_take(void **state)
{
    struct waiting *waiting;
    int value = 0;

    (void)state;
    begin();
    waiting = spawn(&waitings);
    level_signal_send(&level, 1);
    assert_false(level_signal_is_sent(&level));
    level_signal_reset(&level);
    assert_false(level_signal_try_take(&level, &value));
    run_to_rest();
    assert_int_equal(waiting->value[0], 1);
    level_signal_send(&level, 2);
    run_to_rest();
    assert_int_equal(waiting->taken, 2);
    assert_int_equal(waiting->value[1], 2);
}

/* Decision 4: no unit is added, so no second waiter is woken for nothing. */
static void sent_again_while_promised_it_wakes_nobody_else(void **state)
{
    struct waiting *first;
    struct waiting *second;

    (void)state;
    begin();
    first = spawn(&waitings);
    second = spawn(&waitings);
    level_signal_send(&level, 1);
    level_signal_send(&level, 2);
    dz_executor_poll(&executor);
    assert_int_equal(first->value[0], 2);
    assert_int_equal(second->polls, 1);
}

static void reset_drops_a_value_that_nobody_waits_for(void **state)
{
    int value = 0;

    (void)state;
    begin();
    level_signal_send(&level, 1);
    level_signal_reset(&level);
    assert_false(level_signal_is_sent(&level));
    level_signal_reset(&level);
    level_signal_send(&level, 2);
    assert_true(level_signal_try_take(&level, &value));
    assert_int_equal(value, 2);
}

/* W4 */
static void a_cancelled_wait_leaves_the_value_to_the_next(void **state)
{
    struct waiting *first;
    struct waiting *second;

    (void)state;
    begin();
    first = spawn(&waitings);
    second = spawn(&waitings);
    level_signal_send(&level, 1);
    dz_waiter_cancel(&first->task.waiter);
    dz_executor_poll(&executor);
    assert_int_equal(second->value[0], 1);
}

static void a_cancelled_wait_leaves_the_value_in_the_signal(void **state)
{
    struct waiting *waiting;
    int value = 0;

    (void)state;
    begin();
    waiting = spawn(&waitings);
    level_signal_send(&level, 1);
    dz_waiter_cancel(&waiting->task.waiter);
    assert_true(level_signal_try_take(&level, &value));
    assert_int_equal(value, 1);
}

/* W1 for the signal. */
static void idle_waiters_are_polled_only_under_the_single_slot_policy(
    void **state)
{
    static const struct dz_pool *const pools[] = {&waitings, &slot_waitings};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct waiting *first;
        struct waiting *second;

        begin();
        first = spawn(pools[i]);
        second = spawn(pools[i]);
        for (int round = 0; round < 1000; round++)
            dz_executor_poll(&executor);
        assert_int_equal(first->polls + second->polls, i == 0 ? 2 : 2 + 1000);
    }
}

static void send_from_handler(void *argument)
{
    level_signal_send(&level, *(int *)argument);
}

static void an_interrupt_sends(void **state)
{
    struct waiting *waiting;
    int value = 9;

    (void)state;
    begin();
    waiting = spawn(&waitings);
    interrupt_now(send_from_handler, &value);
    run_to_rest();
    assert_int_equal(waiting->value[0], 9);
}

static void send_to_slot(void *argument)
{
    slot_signal_send(&slot, *(int *)argument);
}

/* W10 */
static void an_interrupt_behind_the_registration_is_not_lost(void **state)
{
    struct waiting *waiting;
    int value = 9;

    (void)state;
    begin();
    prepare_strike(send_from_handler, &value);
    waiting = spawn(&waitings);
    assert_true(has_struck_in_queue());
    assert_int_equal(waiting->taken, 0);
    run_to_rest();
    assert_int_equal(waiting->value[0], 9);

    prepare_strike(send_to_slot, &value);
    waiting = spawn(&slot_waitings);
    assert_int_equal(waiting->taken, 0);
    run_to_rest();
    assert_int_equal(waiting->value[0], 9);
}

static void send_to_noop(void *argument)
{
    (void)argument;
    noop_signal_send(&noop, 1);
}

static void send_to_thread(void *argument)
{
    (void)argument;
    thread_signal_send(&thread, 1);
}

static void noop_in_second_context(void)
{
    begin();
    interrupt_now(send_to_noop, NULL);
    noop_signal_send(&noop, 2);
}

static void thread_in_an_interrupt(void)
{
    begin();
    interrupt_now(send_to_thread, NULL);
}

static void misuse_names_the_signal(void **state)
{
    (void)state;
    assert_says(last_words_at(DZ_EXIT_RACE, noop_in_second_context),
        "noop_signal at 0x");
    assert_says(last_words_at(DZ_EXIT_RACE, thread_in_an_interrupt),
        "thread_signal at 0x");
}

enum button { BUTTON_NONE, BUTTON_A };

DZ_SIGNAL_DEFINE(button_signal, enum button, DZ_CRITICAL_SECTION)
static struct button_signal pressed;

static void press_in_interrupt(void *argument)
{
    (void)argument;
    button_signal_send(&pressed, BUTTON_A);
}

struct menu {
    struct dz_task task;
    enum button button;
};

static enum dz_poll menu_poll(struct menu *self)
{
    async (self) {
        await(button_signal_wait(&pressed, &self->button));
        await(dz_yield_poll());
    }
    return DZ_READY;
}

DZ_TASK_POOL(menus, struct menu, menu_poll, 1)

static void the_example_of_the_header_works(void **state)
{
    struct menu *menu;

    (void)state;
    dz_executor_init(&executor, "test");
    (void)menus_claim(&menu);
    dz_executor_spawn(&executor, &menu->task);
    dz_executor_poll(&executor);
    assert_int_equal(menu->button, BUTTON_NONE);

    interrupt_now(press_in_interrupt, NULL);
    dz_executor_poll(&executor);
    assert_int_equal(menu->button, BUTTON_A);
}

RUN_TESTS(TEST(keeps_only_the_latest_value),
    TEST(every_raw_mutex_and_policy_delivers),
    TEST(a_wait_takes_a_value_that_is_there),
    TEST(a_wait_ends_when_a_value_comes),
    TEST(sent_again_before_the_task_runs_it_is_one_delivery),
    TEST(any_number_of_tasks_may_wait),
    TEST(the_latest_may_wait_under_the_single_slot_policy),
    TEST(a_reset_before_the_woken_task_runs_leaves_it_waiting_single_slot),
    TEST(a_promised_value_survives_reset_and_try_take),
    TEST(sent_again_while_promised_it_wakes_nobody_else),
    TEST(reset_drops_a_value_that_nobody_waits_for),
    TEST(a_cancelled_wait_leaves_the_value_to_the_next),
    TEST(a_cancelled_wait_leaves_the_value_in_the_signal),
    TEST(idle_waiters_are_polled_only_under_the_single_slot_policy),
    TEST(an_interrupt_sends),
    TEST(an_interrupt_behind_the_registration_is_not_lost),
    TEST(misuse_names_the_signal), TEST(the_example_of_the_header_works))
