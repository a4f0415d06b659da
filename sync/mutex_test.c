/* SPDX-License-Identifier: MIT */
#include "sync/mutex.h"

#include "executor/select.h"
#include "sim/test.h"
#include "sync/signal.h"

enum { TASKS = 4 };

#define FOR_EACH_KIND(X)                             \
    X(noop_queue, DZ_NOOP, DZ_QUEUE)                 \
    X(thread_queue, DZ_THREAD_MODE, DZ_QUEUE)        \
    X(critical_queue, DZ_CRITICAL_SECTION, DZ_QUEUE) \
    X(noop_slot, DZ_NOOP, DZ_SINGLE_SLOT)            \
    X(thread_slot, DZ_THREAD_MODE, DZ_SINGLE_SLOT)   \
    X(critical_slot, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT)

#define DEFINE(name, mutex, policy)                  \
    DZ_MUTEX_DEFINE_POLICY(name, int, mutex, policy) \
    static struct name name;

FOR_EACH_KIND(DEFINE)

/* A mutex of which the tests know no more than what they look up here. */
struct kind {
    void *mutex;
    size_t size;
    const struct dz_object *object;
};

#define ENTRY(name, mutex, policy) {&name, sizeof(name), &name##_object},

static const struct kind kinds[] = {FOR_EACH_KIND(ENTRY)};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), CRITICAL = 2 };

static const struct kind *kind;
static struct dz_executor executor;
static struct dz_executor high;

static enum dz_poll lock(void)
{
    return dz_mutex_lock(dz_mutex_of(kind->mutex), kind->object);
}

static bool try_lock(void)
{
    return dz_mutex_try_lock(dz_mutex_of(kind->mutex), kind->object);
}

static void unlock(void)
{
    dz_mutex_unlock(dz_mutex_of(kind->mutex), kind->object);
}

/* A task that locks, and leaves the unlock to the test. */
struct locker {
    struct dz_task task;
    int polls;
    int locked; /* how often */
};

static enum dz_poll counted_lock(struct locker *self)
{
    self->polls++;
    strike_behind_wait();
    return lock();
}

static enum dz_poll locker_poll(struct locker *self)
{
    async (self) {
        await(counted_lock(self));
        self->locked++;
    }
    return DZ_READY;
}

/* Unlocks and locks again without a yield, three times. */
static enum dz_poll greedy_poll(struct locker *self)
{
    async (self) {
        await(lock());
        await(dz_yield_poll());
        for (self->locked = 1; self->locked < 3; self->locked++) {
            unlock();
            await(counted_lock(self));
        }
        unlock();
    }
    return DZ_READY;
}

DZ_TASK_POOL(lockers, struct locker, locker_poll, TASKS)
DZ_TASK_POOL(greedies, struct locker, greedy_poll, 1)

static void begin(const struct kind *chosen)
{
    kind = chosen;
    memset(kind->mutex, 0, kind->size);
    memset(lockers_slots, 0, sizeof(lockers_slots));
    memset(greedies_slots, 0, sizeof(greedies_slots));
    dz_executor_init(&executor, "test");
    dz_executor_init(&high, "high");
}

static void run_to_rest(struct dz_executor *which)
{
    int passes = 0;

    while (dz_executor_is_ready(which)) {
        dz_executor_poll(which);
        assert_true(++passes < 100);
    }
}

static struct locker *spawn_on(
    struct dz_executor *which, const struct dz_pool *pool)
{
    struct locker *locker = dz_pool_claim(pool);

    assert_non_null(locker);
    dz_executor_spawn(which, &locker->task);
    dz_executor_poll(which);
    return locker;
}

static struct locker *spawn(void)
{
    return spawn_on(&executor, &lockers);
}

#define FOR_ALL_KINDS for (unsigned each = 0; each < KINDS; each++)
#define FOR_ALL_QUEUES FOR_ALL_KINDS if (kinds[each].object->policy == DZ_QUEUE)

static void only_a_free_lock_is_taken(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each]);
        assert_true(try_lock());
        assert_false(try_lock());
        unlock();
        assert_true(try_lock());
    }
}

static void a_free_lock_is_taken_without_waiting(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct locker *locker;

        begin(&kinds[each]);
        locker = spawn();
        assert_int_equal(locker->locked, 1);
        assert_int_equal(locker->polls, 1);
        assert_false(try_lock());
    }
}

static void who_finds_it_locked_waits_for_the_unlock(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct locker *locker;

        begin(&kinds[each]);
        assert_true(try_lock());
        locker = spawn();
        run_to_rest(&executor);
        assert_int_equal(locker->locked, 0);
        unlock();
        run_to_rest(&executor);
        assert_int_equal(locker->locked, 1);
        assert_int_equal(locker->polls, 2);
    }
}

static void the_lock_gives_the_value(void **state)
{
    static struct critical_queue counter = {.value = 41};
    int *value;

    (void)state;
    value = critical_queue_try_lock(&counter);
    assert_non_null(value);
    assert_null(critical_queue_try_lock(&counter));
    ++*value;
    critical_queue_unlock(&counter);
    value = critical_queue_try_lock(&counter);
    assert_int_equal(*value, 42);
}

struct reader {
    struct dz_task task;
    int *value;
};

static enum dz_poll reader_poll(struct reader *self)
{
    async (self) {
        await(critical_queue_lock(&critical_queue, &self->value));
        ++*self->value;
        critical_queue_unlock(&critical_queue);
    }
    return DZ_READY;
}

DZ_TASK_POOL(readers, struct reader, reader_poll, 1)

static void nobody_has_the_value_while_it_waits(void **state)
{
    struct reader *reader;
    int other = 0;
    int *value;

    (void)state;
    begin(&kinds[CRITICAL]);
    value = critical_queue_try_lock(&critical_queue);
    (void)readers_claim(&reader);
    reader->value = &other;
    dz_executor_spawn(&executor, &reader->task);
    run_to_rest(&executor);
    assert_null(reader->value);
    *value = 7;
    critical_queue_unlock(&critical_queue);
    run_to_rest(&executor);
    assert_int_equal(*critical_queue_try_lock(&critical_queue), 8);
}

static void waiters_are_served_in_order(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct locker *locker[3];

        begin(&kinds[each]);
        assert_true(try_lock());
        for (int i = 0; i < 3; i++)
            locker[i] = spawn();
        for (int i = 0; i < 3; i++) {
            unlock();
            run_to_rest(&executor);
            for (int j = 0; j < 3; j++)
                assert_int_equal(locker[j]->locked, j <= i);
        }
    }
}

/* W1: two idle waiters wake each other for ever. */
static void idle_waiters_are_polled_only_under_the_single_slot_policy(
    void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct locker *locker[2];
        enum dz_policy policy = kinds[each].object->policy;

        begin(&kinds[each]);
        assert_true(try_lock());
        for (int i = 0; i < 2; i++)
            locker[i] = spawn();
        for (int i = 0; i < 1000; i++)
            dz_executor_poll(&executor);
        if (policy == DZ_QUEUE)
            assert_int_equal(locker[0]->polls + locker[1]->polls, 2);
        else
            assert_true(locker[0]->polls + locker[1]->polls > 1000);
    }
}

/* W2: and so the executor that holds the lock never gets to run. */
static void two_waiters_on_a_higher_executor_let_the_holder_run(void **state)
{
    struct locker *locker[2];

    (void)state;
    begin(&kinds[CRITICAL]);
    assert_int_equal(spawn()->locked, 1);
    locker[0] = spawn_on(&high, &lockers);
    locker[1] = spawn_on(&high, &lockers);
    assert_false(dz_executor_is_ready(&high));
    for (int i = 0; i < 2; i++) {
        unlock();
        assert_true(dz_executor_is_ready(&high));
        dz_executor_poll(&high);
        assert_false(dz_executor_is_ready(&high));
        assert_int_equal(locker[0]->locked, 1);
        assert_int_equal(locker[1]->locked, i);
    }
}

/* W3: unlock hands over, so that the next lock of the same task waits. */
static void who_locks_in_a_loop_starves_nobody(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct locker *greedy;
        struct locker *locker;

        begin(&kinds[each]);
        greedy = dz_pool_claim(&greedies);
        dz_executor_spawn(&executor, &greedy->task);
        locker = spawn();
        run_to_rest(&executor);
        assert_int_equal(locker->locked, 1);
        assert_int_equal(greedy->locked, 1);
        unlock();
        run_to_rest(&executor);
        assert_int_equal(greedy->locked, 3);
        assert_true(try_lock());
    }
}

/* W3 */
static void a_promised_lock_is_taken_by_nobody_else(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct locker *first;
        struct locker *second;

        begin(&kinds[each]);
        assert_true(try_lock());
        first = spawn();
        unlock();
        assert_false(try_lock());
        second = dz_pool_claim(&lockers);
        dz_executor_spawn(&executor, &second->task);
        run_to_rest(&executor);
        assert_int_equal(first->locked, 1);
        assert_int_equal(second->locked, 0);
    }
}

/* What the other policy is there to show. */
static void under_the_single_slot_policy_another_may_be_faster(void **state)
{
    struct locker *locker;

    (void)state;
    FOR_ALL_KINDS
    {
        if (kinds[each].object->policy == DZ_QUEUE)
            continue;
        begin(&kinds[each]);
        assert_true(try_lock());
        locker = spawn();
        unlock();
        assert_true(try_lock());
        run_to_rest(&executor);
        assert_int_equal(locker->locked, 0);
        unlock();
        run_to_rest(&executor);
        assert_int_equal(locker->locked, 1);
    }
}

static void a_cancelled_waiter_leaves_the_line(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct locker *locker[3];

        begin(&kinds[each]);
        assert_true(try_lock());
        for (int i = 0; i < 3; i++)
            locker[i] = spawn();
        dz_waiter_cancel(&locker[1]->task.waiter);
        unlock();
        run_to_rest(&executor);
        assert_int_equal(locker[0]->locked, 1);
        unlock();
        run_to_rest(&executor);
        assert_int_equal(locker[1]->locked, 0);
        assert_int_equal(locker[2]->locked, 1);
    }
}

/* W4 */
static void a_cancelled_waiter_passes_the_lock_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct locker *first;
        struct locker *second;

        begin(&kinds[each]);
        assert_true(try_lock());
        first = spawn();
        second = spawn();
        unlock();
        dz_waiter_cancel(&first->task.waiter);
        assert_true(second->task.waiter.place & DZ_PLACE_GRANTED);
        assert_false(try_lock());
        dz_waiter_cancel(&second->task.waiter);
        assert_true(try_lock());
    }
}

/* W5: a task that selects in a loop stands in line once. */
struct either {
    struct dz_task task;
    struct dz_select2 select;
    int turns;
};

DZ_SIGNAL_DEFINE(turn_signal, int, DZ_CRITICAL_SECTION)

static struct turn_signal turn;

static enum dz_poll either_poll(struct either *self)
{
    async (self) {
        for (self->turns = 0; self->turns < 10; self->turns++)
            await(dz_select2(
                &self->select, lock(), turn_signal_wait(&turn, &self->turns)));
    }
    return DZ_READY;
}

DZ_TASK_POOL(eithers, struct either, either_poll, 1)

static void a_select_in_a_loop_stands_in_line_once(void **state)
{
    struct either *either;

    (void)state;
    begin(&kinds[CRITICAL]);
    memset(&turn, 0, sizeof(turn));
    assert_true(try_lock());
    (void)eithers_claim(&either);
    dz_executor_spawn(&executor, &either->task);
    run_to_rest(&executor);
    for (int i = 0; i < 8; i++) {
        turn_signal_send(&turn, i);
        run_to_rest(&executor);
        assert_null(dz_mutex_of(kind->mutex)->locks.first->next);
    }
    turn_signal_send(&turn, 9);
    run_to_rest(&executor);
    unlock();
    assert_true(try_lock());
}

/* The example of the header: a child that holds the lock across its wait, and
 * what it waits for. */
struct bus {
    int hz;
    int data;
};

DZ_MUTEX_DEFINE(bus_mutex, struct bus, DZ_NOOP)
static struct bus_mutex bus = {.value = {.hz = 400000}};

static struct turn_signal bus_done;

static enum dz_poll bus_read_poll(struct bus *self)
{
    return turn_signal_wait(&bus_done, &self->data);
}

struct reading {
    struct dz_frame frame;
    struct dz_guard guard;
    struct bus *bus;
};

static void reading_drop(struct dz_guard *guard)
{
    (void)guard;
    bus_mutex_unlock(&bus);
}

static enum dz_poll reading_poll(struct reading *self)
{
    async (self) {
        await(bus_mutex_lock(&bus, &self->bus));
        dz_guard_enter(&self->guard, reading_drop);
        await(bus_read_poll(self->bus)); /* may be cancelled here */
        dz_guard_leave(&self->guard);
        bus_mutex_unlock(&bus);
    }
    return DZ_READY;
}

/* A task that reads until it is told to stop. */
struct monitor {
    struct dz_task task;
    struct dz_select2 select;
    struct reading reading;
    struct turn_signal stop;
    int reason;
    int ended; /* how often */
};

static enum dz_poll monitor_poll(struct monitor *self)
{
    async (self) {
        await(dz_select2(&self->select, reading_poll(&self->reading),
            turn_signal_wait(&self->stop, &self->reason)));
        self->ended++;
    }
    return DZ_READY;
}

DZ_TASK_POOL(monitors, struct monitor, monitor_poll, 2)

static struct monitor *spawn_monitor(void)
{
    struct monitor *monitor;

    assert_int_equal(monitors_claim(&monitor), DZ_OK);
    dz_executor_spawn(&executor, &monitor->task);
    run_to_rest(&executor);
    return monitor;
}

static void begin_reading(void)
{
    begin(&kinds[CRITICAL]);
    memset(&bus.lock, 0, sizeof(bus.lock));
    memset(&bus_done, 0, sizeof(bus_done));
    memset(monitors_slots, 0, sizeof(monitors_slots));
}

static void the_example_of_the_header_works(void **state)
{
    struct monitor *monitor;

    (void)state;
    begin_reading();
    assert_int_equal(bus.value.hz, 400000);
    monitor = spawn_monitor();
    assert_null(bus_mutex_try_lock(&bus));
    turn_signal_send(&bus_done, 5);
    run_to_rest(&executor);
    assert_int_equal(monitor->ended, 1);
    assert_int_equal(bus_mutex_try_lock(&bus)->data, 5);
}

/* Section 3: mapped_guard_releases_lock_when_dropped. A guard knows how the
 * lock is given back, whatever part of the value its holder uses. */
static void a_guard_gives_the_lock_back_when_its_holder_is_cancelled(
    void **state)
{
    struct monitor *monitor;

    (void)state;
    begin_reading();
    monitor = spawn_monitor();
    assert_null(bus_mutex_try_lock(&bus));
    turn_signal_send(&monitor->stop, 1);
    run_to_rest(&executor);
    assert_int_equal(monitor->ended, 1);
    assert_int_equal(dz_select_winner(&monitor->select), 1);
    assert_non_null(bus_mutex_try_lock(&bus));
}

static void the_guard_of_a_cancelled_holder_hands_over(void **state)
{
    struct monitor *first;
    struct monitor *second;

    (void)state;
    begin_reading();
    first = spawn_monitor();
    second = spawn_monitor();
    assert_int_equal(
        second->select.branches[0].waiter.place, (uintptr_t)&bus.lock.locks);
    turn_signal_send(&first->stop, 1);
    run_to_rest(&executor);
    assert_ptr_equal(second->reading.bus, &bus.value);
    turn_signal_send(&bus_done, 6);
    run_to_rest(&executor);
    assert_int_equal(second->ended, 1);
    assert_int_equal(bus.value.data, 6);
    assert_non_null(bus_mutex_try_lock(&bus));
}

static void a_waiter_that_loses_a_select_passes_the_lock_on(void **state)
{
    struct monitor *first;
    struct monitor *second;

    (void)state;
    begin_reading();
    assert_non_null(bus_mutex_try_lock(&bus));
    first = spawn_monitor();
    second = spawn_monitor();
    /* The lock is promised to the first already when it is cancelled. */
    bus_mutex_unlock(&bus);
    dz_waiter_cancel(&first->task.waiter);
    run_to_rest(&executor);
    assert_ptr_equal(second->reading.bus, &bus.value);
}

static void lock_in_handler(void *argument)
{
    *(bool *)argument = critical_queue_try_lock(&critical_queue) != NULL;
}

static void unlock_in_handler(void *argument)
{
    (void)argument;
    critical_queue_unlock(&critical_queue);
}

static void an_interrupt_tries_and_hands_over(void **state)
{
    struct locker *locker;
    bool is_ours = false;

    (void)state;
    begin(&kinds[CRITICAL]);
    interrupt_now(lock_in_handler, &is_ours);
    assert_true(is_ours);
    interrupt_now(lock_in_handler, &is_ours);
    assert_false(is_ours);
    locker = spawn();
    interrupt_now(unlock_in_handler, NULL);
    run_to_rest(&executor);
    assert_int_equal(locker->locked, 1);
}

/* W10: the unlock comes right behind the look that found it locked. */
static void an_unlock_behind_the_registration_is_not_lost(void **state)
{
    struct locker *locker;

    (void)state;
    begin(&kinds[CRITICAL]);
    assert_true(try_lock());
    prepare_strike(unlock_in_handler, NULL);
    locker = spawn();
    assert_true(has_struck_in_queue());
    run_to_rest(&executor);
    assert_int_equal(locker->locked, 1);
    assert_int_equal(locker->polls, 2);
}

/* W11: who comes in between sees a mutex that is promised. */
static void an_interrupt_within_an_unlock_finds_it_promised(void **state)
{
    struct locker *locker;
    bool is_ours = true;

    (void)state;
    begin(&kinds[CRITICAL]);
    assert_true(try_lock());
    locker = spawn();
    interrupt_at_next_unmask(lock_in_handler, &is_ours);
    unlock();
    assert_false(is_ours);
    run_to_rest(&executor);
    assert_int_equal(locker->locked, 1);
}

static void unlock_a_free_mutex(void)
{
    begin(&kinds[CRITICAL]);
    unlock();
}

static void unlock_a_promised_mutex(void)
{
    begin(&kinds[CRITICAL]);
    (void)try_lock();
    (void)spawn();
    unlock();
    unlock();
}

static void an_unlock_too_many_panics(void **state)
{
    struct last_words words = last_words_of(unlock_a_free_mutex);

    (void)state;
    assert_says(words, "a mutex is unlocked that is not locked");
    assert_says(words, "object: critical_queue at 0x");
    assert_says(last_words_of(unlock_a_promised_mutex),
        "a mutex is unlocked that is not locked");
}

static void wait_in_handler(void *argument)
{
    int *value;

    (void)argument;
    walk_away_from(critical_queue_lock(&critical_queue, &value));
}

static void wait_in_an_interrupt(void)
{
    interrupt_now(wait_in_handler, NULL);
}

static void try_thread_mode_in_handler(void *argument)
{
    (void)argument;
    (void)thread_queue_try_lock(&thread_queue);
}

static void try_thread_mode_in_an_interrupt(void)
{
    interrupt_now(try_thread_mode_in_handler, NULL);
}

static void misuse_in_a_handler_names_the_mutex(void **state)
{
    struct last_words words = last_words_of(wait_in_an_interrupt);

    (void)state;
    assert_says(words, "await outside a task");
    assert_says(words, "object: critical_queue at 0x");
    words = last_words_at(DZ_EXIT_RACE, try_thread_mode_in_an_interrupt);
    assert_says(words, "a thread-mode object is used in an interrupt");
    assert_says(words, "object: thread_queue at 0x");
}

RUN_TESTS(TEST(only_a_free_lock_is_taken),
    TEST(a_free_lock_is_taken_without_waiting),
    TEST(who_finds_it_locked_waits_for_the_unlock),
    TEST(the_lock_gives_the_value), TEST(nobody_has_the_value_while_it_waits),
    TEST(waiters_are_served_in_order),
    TEST(idle_waiters_are_polled_only_under_the_single_slot_policy),
    TEST(two_waiters_on_a_higher_executor_let_the_holder_run),
    TEST(who_locks_in_a_loop_starves_nobody),
    TEST(a_promised_lock_is_taken_by_nobody_else),
    TEST(under_the_single_slot_policy_another_may_be_faster),
    TEST(a_cancelled_waiter_leaves_the_line),
    TEST(a_cancelled_waiter_passes_the_lock_on),
    TEST(a_select_in_a_loop_stands_in_line_once),
    TEST(the_example_of_the_header_works),
    TEST(a_guard_gives_the_lock_back_when_its_holder_is_cancelled),
    TEST(the_guard_of_a_cancelled_holder_hands_over),
    TEST(a_waiter_that_loses_a_select_passes_the_lock_on),
    TEST(an_interrupt_tries_and_hands_over),
    TEST(an_unlock_behind_the_registration_is_not_lost),
    TEST(an_interrupt_within_an_unlock_finds_it_promised),
    TEST(an_unlock_too_many_panics), TEST(misuse_in_a_handler_names_the_mutex))
