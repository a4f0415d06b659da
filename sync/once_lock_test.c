/* SPDX-License-Identifier: MIT */
#include "sync/once_lock.h"

#include "sim/test.h"

enum { TASKS = 4 };

struct pair {
    int first;
    int second;
};

DZ_ONCE_LOCK_DEFINE(pair_lock, struct pair, DZ_CRITICAL_SECTION)
DZ_ONCE_LOCK_DEFINE(noop_lock, int, DZ_NOOP)
DZ_ONCE_LOCK_DEFINE(thread_lock, int, DZ_THREAD_MODE)
DZ_ONCE_LOCK_DEFINE_SINGLE_SLOT(slot_lock, int, DZ_CRITICAL_SECTION)

static const struct pair pair = {1, 2};
static const struct pair other = {3, 4};
static struct pair_lock lock;
static struct noop_lock noop;
static struct thread_lock thread;
static struct slot_lock slot;
static struct dz_executor executor;

struct getter {
    struct dz_task task;
    const struct pair *pair;
    unsigned polls;
    unsigned order;
    bool gives_up;
};

static unsigned got;

static enum dz_poll getter_poll(struct getter *self)
{
    self->polls++;
    if (self->gives_up)
        return DZ_READY;
    strike_behind_wait();
    if (pair_lock_get(&lock, &self->pair) == DZ_PENDING)
        return DZ_PENDING;
    self->order = ++got;
    return DZ_READY;
}

DZ_TASK_POOL(getters, struct getter, getter_poll, TASKS)

static int set_up(void **state)
{
    test_become_core(state);
    memset(&lock, 0, sizeof(lock));
    memset(&noop, 0, sizeof(noop));
    memset(&thread, 0, sizeof(thread));
    memset(&slot, 0, sizeof(slot));
    memset(getters_slots, 0, sizeof(getters_slots));
    got = 0;
    dz_executor_init(&executor, "test");
    return 0;
}

static struct getter *get(void)
{
    struct getter *getter;

    assert_int_equal(getters_claim(&getter), DZ_OK);
    dz_executor_spawn(&executor, &getter->task);
    dz_executor_poll(&executor);
    return getter;
}

static void the_first_value_stays(void **state)
{
    (void)state;
    assert_null(pair_lock_try_get(&lock));
    assert_false(pair_lock_is_set(&lock));

    assert_true(pair_lock_init(&lock, &pair));
    assert_false(pair_lock_init(&lock, &other));

    assert_true(pair_lock_is_set(&lock));
    assert_int_equal(pair_lock_try_get(&lock)->first, 1);
    assert_int_equal(pair_lock_try_get(&lock)->second, 2);
}

static void what_is_set_already_is_not_waited_for(void **state)
{
    (void)state;
    pair_lock_init(&lock, &pair);

    const struct getter *getter = get();

    assert_int_equal(getter->polls, 1);
    assert_ptr_equal(getter->pair, pair_lock_try_get(&lock));
}

/* O1 */
static void getters_sleep_until_it_is_set_and_are_all_woken(void **state)
{
    const struct getter *all[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        all[i] = get();
    for (unsigned round = 0; round < 1000; round++)
        dz_executor_poll(&executor);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(all[i]->polls, 1);

    pair_lock_init(&lock, &pair);
    dz_executor_poll(&executor);

    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(all[i]->polls, 2);
        assert_int_equal(all[i]->order, i + 1);
        assert_int_equal(all[i]->pair->second, 2);
    }
}

static unsigned made;

static void make_other(struct pair *value)
{
    made++;
    *value = other;
}

static void get_or_init_makes_it_once(void **state)
{
    (void)state;
    made = 0;

    const struct getter *getter = get();

    assert_int_equal(pair_lock_get_or_init(&lock, make_other)->first, 3);
    assert_int_equal(pair_lock_get_or_init(&lock, make_other)->second, 4);
    dz_executor_poll(&executor);

    assert_int_equal(made, 1);
    assert_int_equal(getter->pair->first, 3);
}

static void what_is_taken_can_be_set_again(void **state)
{
    struct pair taken;

    (void)state;
    assert_false(pair_lock_try_take(&lock, &taken));
    pair_lock_init(&lock, &pair);

    assert_true(pair_lock_try_take(&lock, &taken));
    assert_int_equal(taken.second, 2);
    assert_false(pair_lock_is_set(&lock));
    assert_true(pair_lock_init(&lock, &other));
    assert_int_equal(pair_lock_try_get(&lock)->first, 3);
}

static void what_is_promised_is_not_taken(void **state)
{
    struct pair taken;

    (void)state;
    const struct getter *first = get();
    const struct getter *second = get();

    pair_lock_init(&lock, &pair);
    assert_false(pair_lock_try_take(&lock, &taken));
    dz_executor_poll(&executor);
    assert_int_equal(first->polls + second->polls, 4);
    assert_true(pair_lock_try_take(&lock, &taken));
}

static void a_cancelled_getter_gives_its_promise_back(void **state)
{
    struct pair taken;

    (void)state;
    struct getter *granted = get();
    struct getter *waiting;

    pair_lock_init(&lock, &pair);
    granted->gives_up = true;
    dz_executor_poll(&executor);
    assert_true(pair_lock_try_take(&lock, &taken));

    waiting = get();
    waiting->gives_up = true;
    dz_task_wake(&waiting->task);
    dz_executor_poll(&executor);
    pair_lock_init(&lock, &pair);
    assert_false(dz_executor_is_ready(&executor));
    assert_true(pair_lock_try_take(&lock, &taken));
}

static void init_in_a_handler(void *argument)
{
    pair_lock_init(&lock, argument);
}

static void an_interrupt_sets_it(void **state)
{
    struct pair value = pair;

    (void)state;
    const struct getter *getter = get();

    interrupt_now(init_in_a_handler, &value);
    dz_executor_poll(&executor);
    assert_int_equal(getter->pair->first, 1);
}

/* W10 */
static void an_interrupt_right_behind_the_registration_is_not_lost(void **state)
{
    struct pair value = pair;

    (void)state;
    prepare_strike(init_in_a_handler, &value);

    const struct getter *getter = get();

    assert_true(has_struck_in_queue());
    assert_int_equal(getter->order, 0);
    dz_executor_poll(&executor);
    assert_int_equal(getter->order, 1);
}

static void use_it_while_it_is_made(struct pair *value)
{
    (void)value;
    (void)pair_lock_try_get(&lock);
}

static void lead_back(void)
{
    (void)pair_lock_get_or_init(&lock, use_it_while_it_is_made);
}

/* As a target has it: without the check of the lock itself. */
static const struct dz_once_lock_type bare_type = {
    {"bare", __FILE__, __LINE__, DZ_CRITICAL_SECTION, DZ_QUEUE, 0},
    DZ_QUEUE_TYPE(dz_once_lock_grant, dz_once_lock_give_back, DZ_IN_ORDER),
    sizeof(int), offsetof(struct slot_lock, value)};

static void init_while_it_is_made(void *value, void *argument)
{
    (void)argument;
    (void)dz_once_lock_init(dz_once_lock_of(&slot), &bare_type, value);
}

static void lead_back_unchecked(void)
{
    (void)dz_once_lock_get_or_init(
        dz_once_lock_of(&slot), &bare_type, init_while_it_is_made, NULL);
}

static void to_use_it_while_it_is_made_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(lead_back), "used while it is locked");
    assert_says(last_words_of(lead_back_unchecked),
        "used by the function that makes its value");
}

static void get_outside(void)
{
    const struct pair *value;

    walk_away_from(pair_lock_get(&lock, &value));
}

static void getting_outside_a_task_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(get_outside), "await outside a task");
}

struct slot_getter {
    struct dz_task task;
    const int *value;
};

static enum dz_poll slot_getter_poll(struct slot_getter *self)
{
    async (self) {
        await(slot_lock_get(&slot, &self->value));
        got++;
    }
    return DZ_READY;
}

DZ_TASK_POOL(slot_getters, struct slot_getter, slot_getter_poll, 2)

static void both_get_it_under_the_single_slot_policy(void **state)
{
    struct slot_getter *getter;
    int value = 5;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(slot_getters_claim(&getter), DZ_OK);
        dz_executor_spawn(&executor, &getter->task);
    }
    for (unsigned i = 0; i < 10; i++)
        dz_executor_poll(&executor);
    slot_lock_init(&slot, &value);
    for (unsigned i = 0; i < 4; i++)
        dz_executor_poll(&executor);
    assert_int_equal(got, 2);
    assert_true(slot_lock_try_take(&slot, &value));
}

static void the_other_raw_mutexes_do_the_same(void **state)
{
    int value = 7;

    (void)state;
    assert_true(noop_lock_init(&noop, &value));
    assert_int_equal(*noop_lock_try_get(&noop), 7);
    assert_true(thread_lock_init(&thread, &value));
    assert_int_equal(*thread_lock_try_get(&thread), 7);
}

/* ---- The example of the header. */

struct config {
    int baud;
};

DZ_ONCE_LOCK_DEFINE(config_lock, struct config, DZ_CRITICAL_SECTION)
static struct config_lock config;

static int used;

static void use(int baud)
{
    used = baud;
}

struct user {
    struct dz_task task;
    const struct config *config;
};

static enum dz_poll user_poll(struct user *self)
{
    async (self) {
        await(config_lock_get(&config, &self->config));
        use(self->config->baud);
    }
    return DZ_READY;
}

DZ_TASK_POOL(users, struct user, user_poll, 1)

static void the_example_of_the_header_works(void **state)
{
    struct config found = {115200};
    struct user *user;

    (void)state;
    assert_int_equal(users_claim(&user), DZ_OK);
    dz_executor_spawn(&executor, &user->task);
    dz_executor_poll(&executor);
    (void)config_lock_init(&config, &found);
    dz_executor_poll(&executor);
    assert_int_equal(used, 115200);
}

#define ONCE_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, test_become_thread)

RUN_TESTS(ONCE_TEST(the_first_value_stays),
    ONCE_TEST(what_is_set_already_is_not_waited_for),
    ONCE_TEST(getters_sleep_until_it_is_set_and_are_all_woken),
    ONCE_TEST(get_or_init_makes_it_once),
    ONCE_TEST(what_is_taken_can_be_set_again),
    ONCE_TEST(what_is_promised_is_not_taken),
    ONCE_TEST(a_cancelled_getter_gives_its_promise_back),
    ONCE_TEST(an_interrupt_sets_it),
    ONCE_TEST(an_interrupt_right_behind_the_registration_is_not_lost),
    ONCE_TEST(to_use_it_while_it_is_made_panics),
    ONCE_TEST(getting_outside_a_task_panics),
    ONCE_TEST(both_get_it_under_the_single_slot_policy),
    ONCE_TEST(the_other_raw_mutexes_do_the_same),
    ONCE_TEST(the_example_of_the_header_works))
