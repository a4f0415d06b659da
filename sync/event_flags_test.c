/* SPDX-License-Identifier: MIT */
#include "sync/event_flags.h"

#include "executor/select.h"
#include "sim/test.h"

enum { TASKS = 5 };

DZ_EVENT_FLAGS_DEFINE(flag_event, DZ_CRITICAL_SECTION)
DZ_EVENT_FLAGS_DEFINE(noop_event, DZ_NOOP)
DZ_EVENT_FLAGS_DEFINE(thread_event, DZ_THREAD_MODE)
DZ_EVENT_FLAGS_DEFINE_SINGLE_SLOT(slot_event, DZ_CRITICAL_SECTION)

static struct flag_event event;
static struct noop_event noop;
static struct thread_event thread;
static struct slot_event slot;
static struct dz_executor executor;

/* Waits once. */
struct waiting {
    struct dz_task task;
    enum dz_flags_wait how;
    uint32_t mask;
    uint32_t flags;
    unsigned polls;
    unsigned order; /* who was served first has 1 */
    bool gives_up;
};

static unsigned served;

static enum dz_poll waiting_poll(struct waiting *self)
{
    self->polls++;
    if (self->gives_up)
        return DZ_READY;
    strike_behind_wait();
    if (dz_event_flags_poll(&event.event_flags, &flag_event_type,
            dz_event_flags_request(self->how, self->mask),
            &self->flags) == DZ_PENDING)
        return DZ_PENDING;
    self->order = ++served;
    return DZ_READY;
}

DZ_TASK_POOL(waitings, struct waiting, waiting_poll, TASKS)

static int set_up(void **state)
{
    test_become_core(state);
    event = (struct flag_event){.event_flags = {.flags = 0}};
    noop = (struct noop_event){.event_flags = {.flags = 0}};
    thread = (struct thread_event){.event_flags = {.flags = 0}};
    slot = (struct slot_event){.event_flags = {.flags = 0}};
    memset(waitings_slots, 0, sizeof(waitings_slots));
    served = 0;
    dz_executor_init(&executor, "test");
    return 0;
}

static struct waiting *wait_for(enum dz_flags_wait how, uint32_t mask)
{
    struct waiting *waiting;

    assert_int_equal(waitings_claim(&waiting), DZ_OK);
    waiting->how = how;
    waiting->mask = mask;
    dz_executor_spawn(&executor, &waiting->task);
    dz_executor_poll(&executor);
    return waiting;
}

static void give_up(struct waiting *waiting)
{
    waiting->gives_up = true;
    dz_task_wake(&waiting->task);
    dz_executor_poll(&executor);
}

static void one_set_lets_all_waiters_go_on(void **state)
{
    const struct waiting *all[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        all[i] = wait_for(DZ_FLAGS_ANY, 4);

    flag_event_set(&event, 4);
    dz_executor_poll(&executor);

    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(all[i]->order, i + 1);
        assert_int_equal(all[i]->flags, 4);
        assert_int_equal(all[i]->polls, 2);
    }
    assert_int_equal(flag_event_now(&event), 4);
}

static void any_is_one_of_the_mask_and_all_is_all(void **state)
{
    (void)state;
    const struct waiting *any = wait_for(DZ_FLAGS_ANY, 3);
    const struct waiting *all = wait_for(DZ_FLAGS_ALL, 3);

    flag_event_set(&event, 8);
    flag_event_set(&event, 2);
    dz_executor_poll(&executor);
    assert_int_equal(any->flags, 2);
    assert_int_equal(all->order, 0);
    assert_int_equal(all->polls, 1);

    flag_event_set(&event, 1);
    dz_executor_poll(&executor);
    assert_int_equal(all->order, 2);
    assert_int_equal(all->flags, 3);
}

static void what_is_set_already_is_not_waited_for(void **state)
{
    (void)state;
    flag_event_set(&event, 6);

    const struct waiting *waiting = wait_for(DZ_FLAGS_ANY, 12);

    assert_int_equal(waiting->polls, 1);
    assert_int_equal(waiting->flags, 4);
    waiting = wait_for(DZ_FLAGS_ALL, 6);
    assert_int_equal(waiting->polls, 1);
    assert_int_equal(waiting->flags, 6);
}

static void a_flag_is_taken_by_one(void **state)
{
    (void)state;
    const struct waiting *first = wait_for(DZ_FLAGS_TAKE_ANY, 1);
    const struct waiting *second = wait_for(DZ_FLAGS_TAKE_ANY, 1);
    const struct waiting *looker = wait_for(DZ_FLAGS_ANY, 1);

    flag_event_set(&event, 1);
    dz_executor_poll(&executor);
    assert_int_equal(first->order, 1);
    assert_int_equal(second->polls, 1);
    assert_int_equal(looker->polls, 1);
    assert_int_equal(flag_event_now(&event), 0);

    flag_event_set(&event, 1);
    flag_event_set(&event, 1);
    dz_executor_poll(&executor);
    assert_int_equal(second->order, 2);
    assert_int_equal(looker->order, 3);
    assert_int_equal(flag_event_now(&event), 1);
}

static void take_all_takes_the_whole_mask_at_once(void **state)
{
    (void)state;
    const struct waiting *both = wait_for(DZ_FLAGS_TAKE_ALL, 3);
    const struct waiting *one = wait_for(DZ_FLAGS_TAKE_ANY, 1);

    flag_event_set(&event, 1);
    dz_executor_poll(&executor);
    assert_int_equal(both->polls, 1);
    assert_int_equal(one->order, 1); /* it can go on, so it does */

    flag_event_set(&event, 2);
    flag_event_set(&event, 1);
    dz_executor_poll(&executor);
    assert_int_equal(both->flags, 3);
    assert_int_equal(flag_event_now(&event), 0);
}

static void flags_cleared_before_the_task_runs_are_still_its_own(void **state)
{
    (void)state;
    const struct waiting *waiting = wait_for(DZ_FLAGS_ANY, 7);

    flag_event_set(&event, 2);
    flag_event_clear(&event, 2);
    flag_event_set(&event, 1);
    dz_executor_poll(&executor);

    assert_int_equal(waiting->flags, 2);
    assert_int_equal(waiting->polls, 2);
}

static void what_was_taken_is_not_seen_by_others(void **state)
{
    (void)state;
    wait_for(DZ_FLAGS_TAKE_ANY, 3);

    flag_event_set(&event, 3);
    assert_int_equal(flag_event_now(&event), 0);
    assert_int_equal(flag_event_try_take_any(&event, 3), 0);
    flag_event_set(&event, 2);
    assert_int_equal(flag_event_try_take_all(&event, 3), 0);
    assert_int_equal(flag_event_try_take_any(&event, 3), 2);
    flag_event_set(&event, 3);
    assert_int_equal(flag_event_try_take_all(&event, 3), 3);
    assert_int_equal(flag_event_now(&event), 0);
}

/* W4 */
static void what_a_cancelled_task_took_goes_to_the_next(void **state)
{
    (void)state;
    struct waiting *first = wait_for(DZ_FLAGS_TAKE_ALL, 3);
    const struct waiting *second = wait_for(DZ_FLAGS_TAKE_ANY, 2);

    flag_event_set(&event, 3);
    give_up(first);
    dz_executor_poll(&executor);

    assert_int_equal(second->flags, 2);
    assert_int_equal(flag_event_now(&event), 1);
}

static void a_cancelled_look_takes_nothing_and_gives_nothing(void **state)
{
    (void)state;
    struct waiting *first = wait_for(DZ_FLAGS_ANY, 1);
    struct waiting *second = wait_for(DZ_FLAGS_TAKE_ANY, 2);

    flag_event_set(&event, 1);
    flag_event_clear(&event, 1);
    give_up(first);
    give_up(second);

    assert_int_equal(flag_event_now(&event), 0);
    assert_false(dz_executor_is_ready(&executor));
}

static void no_flags_are_there_at_once(void **state)
{
    static const enum dz_flags_wait ways[] = {
        DZ_FLAGS_ANY, DZ_FLAGS_ALL, DZ_FLAGS_TAKE_ANY, DZ_FLAGS_TAKE_ALL};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const struct waiting *waiting = wait_for(ways[i], 0);

        assert_int_equal(waiting->polls, 1);
        assert_int_equal(waiting->order, i + 1);
        assert_int_equal(waiting->flags, 0);
    }
}

static void nothing_set_wakes_nobody(void **state)
{
    (void)state;
    wait_for(DZ_FLAGS_ANY, DZ_FLAGS_MASK);

    flag_event_set(&event, 0);
    flag_event_clear(&event, DZ_FLAGS_MASK);

    assert_false(dz_executor_is_ready(&executor));
}

/* W1 */
static void waiters_are_not_polled_while_nothing_happens(void **state)
{
    unsigned polls = 0;

    (void)state;
    for (unsigned i = 0; i < TASKS; i++)
        wait_for((enum dz_flags_wait)(i % 4), 1);
    flag_event_set(&event, 2);
    for (unsigned round = 0; round < 1000; round++)
        dz_executor_poll(&executor);
    for (unsigned i = 0; i < TASKS; i++)
        polls += waitings_slots[i].polls;
    assert_int_equal(polls, TASKS);
}

/* The two forms of wait are two branches, with a variable each. */
struct choosing {
    struct dz_task task;
    struct dz_select2 select;
    uint32_t up;
    uint32_t down;
};

static enum dz_poll choosing_poll(struct choosing *self)
{
    async (self) {
        await(
            dz_select2(&self->select, flag_event_take_any(&event, 1, &self->up),
                flag_event_take_any(&event, 2, &self->down)));
    }
    return DZ_READY;
}

DZ_TASK_POOL(choosings, struct choosing, choosing_poll, 1)

static void a_losing_branch_sets_again_what_it_took(void **state)
{
    struct choosing *choosing;

    (void)state;
    assert_int_equal(choosings_claim(&choosing), DZ_OK);
    dz_executor_spawn(&executor, &choosing->task);
    dz_executor_poll(&executor);

    flag_event_set(&event, 3);
    assert_int_equal(flag_event_now(&event), 0);
    dz_executor_poll(&executor);

    assert_int_equal(dz_select_winner(&choosing->select), 0);
    assert_int_equal(flag_event_now(&event), 2);
}

struct slot_waiting {
    struct dz_task task;
    uint32_t flags;
    unsigned polls;
    bool done;
};

static enum dz_poll slot_take_poll(struct slot_waiting *self)
{
    self->polls++;
    return slot_event_take_any(&slot, 1, &self->flags);
}

static enum dz_poll slot_waiting_poll(struct slot_waiting *self)
{
    async (self) {
        await(slot_take_poll(self));
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(slot_waitings, struct slot_waiting, slot_waiting_poll, 2)

static void two_keep_each_other_busy_under_the_single_slot_policy(void **state)
{
    struct slot_waiting *waitings_[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(slot_waitings_claim(&waitings_[i]), DZ_OK);
        dz_executor_spawn(&executor, &waitings_[i]->task);
    }
    for (unsigned round = 0; round < 100; round++)
        dz_executor_poll(&executor);
    assert_true(waitings_[0]->polls + waitings_[1]->polls >= 100);

    for (unsigned i = 0; i < 2; i++) {
        slot_event_set(&slot, 1);
        for (unsigned round = 0; round < 4; round++)
            dz_executor_poll(&executor);
    }
    assert_true(waitings_[0]->done && waitings_[1]->done);
}

/* An empty slot would have to be filled again by another poll. */
static void nothing_set_wakes_not_even_a_slot(void **state)
{
    struct slot_waiting *waiting;

    (void)state;
    assert_int_equal(slot_waitings_claim(&waiting), DZ_OK);
    dz_executor_spawn(&executor, &waiting->task);
    dz_executor_poll(&executor);

    slot_event_set(&slot, 0);
    assert_false(dz_executor_is_ready(&executor));

    slot_event_set(&slot, 1);
    dz_executor_poll(&executor);
    assert_true(waiting->done);
    assert_int_equal(waiting->polls, 2);
}

static void set_from_handler(void *argument)
{
    (void)argument;
    flag_event_set(&event, 1);
}

static void an_interrupt_sets(void **state)
{
    (void)state;
    const struct waiting *waiting = wait_for(DZ_FLAGS_TAKE_ANY, 1);

    interrupt_now(set_from_handler, NULL);
    dz_executor_poll(&executor);
    assert_int_equal(waiting->flags, 1);
}

/* W10 */
static void an_interrupt_right_behind_the_registration_is_not_lost(void **state)
{
    (void)state;
    prepare_strike(set_from_handler, NULL);

    const struct waiting *waiting = wait_for(DZ_FLAGS_ALL, 1);

    assert_true(has_struck_in_queue());
    assert_int_equal(waiting->order, 0);
    dz_executor_poll(&executor);
    assert_int_equal(waiting->order, 1);
}

static void set_thread_event(void *argument)
{
    (void)argument;
    thread_event_set(&thread, 1);
}

static void thread_in_an_interrupt(void)
{
    interrupt_now(set_thread_event, NULL);
}

static void the_other_raw_mutexes_do_the_same(void **state)
{
    (void)state;
    noop_event_set(&noop, 3);
    assert_int_equal(noop_event_try_take_all(&noop, 3), 3);
    thread_event_set(&thread, 3);
    thread_event_clear(&thread, 1);
    assert_int_equal(thread_event_now(&thread), 2);
    assert_says(last_words_at(DZ_EXIT_RACE, thread_in_an_interrupt),
        "a thread-mode object is used in an interrupt");
}

static void wait_outside(void)
{
    uint32_t flags;

    walk_away_from(flag_event_wait_any(&event, 1, &flags));
}

static void waiting_outside_a_task_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(wait_outside), "await outside a task");
}

static void set_too_many(void)
{
    flag_event_set(&event, DZ_FLAGS_MASK + 1);
}

static void wait_for_too_many(void)
{
    uint32_t flags;

    walk_away_from(flag_event_wait_any(&event, DZ_FLAGS_MASK + 1, &flags));
}

static void take_too_many(void)
{
    (void)flag_event_try_take_all(&event, UINT32_MAX);
}

static void flags_beyond_the_mask_panic(void **state)
{
    (void)state;
    assert_says(last_words_of(set_too_many), "there are 30");
    assert_says(last_words_of(wait_for_too_many), "there are 30");
    assert_says(last_words_of(take_too_many), "there are 30");
}

/* ---- The example of the header. */

DZ_EVENT_FLAGS_DEFINE(link_flags, DZ_CRITICAL_SECTION)
static struct link_flags uplink;

enum { LINK_UP = 1, LINK_FAULT = 2 };

struct monitor {
    struct dz_task task;
    uint32_t flags;
};

static enum dz_poll monitor_poll(struct monitor *self)
{
    async (self) {
        await(link_flags_wait_any(&uplink, LINK_UP | LINK_FAULT, &self->flags));
        link_flags_clear(&uplink, LINK_UP);
    }
    return DZ_READY;
}

DZ_TASK_POOL(monitors, struct monitor, monitor_poll, 1)

static void link_handler(void *argument)
{
    (void)argument;
    link_flags_set(&uplink, LINK_UP);
}

static void the_example_of_the_header_works(void **state)
{
    struct monitor *monitor;

    (void)state;
    assert_int_equal(monitors_claim(&monitor), DZ_OK);
    dz_executor_spawn(&executor, &monitor->task);
    dz_executor_poll(&executor);
    interrupt_now(link_handler, NULL);
    dz_executor_poll(&executor);
    assert_int_equal(monitor->flags, LINK_UP);
    assert_int_equal(link_flags_now(&uplink), 0);
}

#define EVENT_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, test_become_thread)

RUN_TESTS(EVENT_TEST(one_set_lets_all_waiters_go_on),
    EVENT_TEST(any_is_one_of_the_mask_and_all_is_all),
    EVENT_TEST(what_is_set_already_is_not_waited_for),
    EVENT_TEST(a_flag_is_taken_by_one),
    EVENT_TEST(take_all_takes_the_whole_mask_at_once),
    EVENT_TEST(flags_cleared_before_the_task_runs_are_still_its_own),
    EVENT_TEST(what_was_taken_is_not_seen_by_others),
    EVENT_TEST(what_a_cancelled_task_took_goes_to_the_next),
    EVENT_TEST(a_cancelled_look_takes_nothing_and_gives_nothing),
    EVENT_TEST(no_flags_are_there_at_once),
    EVENT_TEST(nothing_set_wakes_nobody),
    EVENT_TEST(waiters_are_not_polled_while_nothing_happens),
    EVENT_TEST(a_losing_branch_sets_again_what_it_took),
    EVENT_TEST(two_keep_each_other_busy_under_the_single_slot_policy),
    EVENT_TEST(nothing_set_wakes_not_even_a_slot),
    EVENT_TEST(an_interrupt_sets),
    EVENT_TEST(an_interrupt_right_behind_the_registration_is_not_lost),
    EVENT_TEST(the_other_raw_mutexes_do_the_same),
    EVENT_TEST(waiting_outside_a_task_panics),
    EVENT_TEST(flags_beyond_the_mask_panic),
    EVENT_TEST(the_example_of_the_header_works))
