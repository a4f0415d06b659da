/* SPDX-License-Identifier: MIT */
#include "sync/waker.h"

#include "sim/test.h"

enum { TASKS = 4 };

static struct dz_executor executor;
static struct dz_waker waker;
static struct dz_task *slots[2];
static struct dz_multi_waker wakers;
static struct dz_atomic_waker atomic;

/* Registers wherever the test wants, each time it is polled. */
struct registering {
    struct dz_task task;
    void (*registers)(void);
    unsigned polls;
};

static enum dz_poll registering_poll(struct registering *self)
{
    self->polls++;
    if (self->registers == NULL)
        return DZ_READY;
    self->registers();
    return DZ_PENDING;
}

DZ_TASK_POOL(registerings, struct registering, registering_poll, TASKS)

static struct registering *task[TASKS];

static void register_in_waker(void)
{
    dz_waker_register(&waker);
}

static void register_in_wakers(void)
{
    dz_multi_waker_register(&wakers);
}

static void register_in_atomic(void)
{
    dz_atomic_waker_register(&atomic);
}

static void begin(unsigned count, void (*registers)(void))
{
    waker = (struct dz_waker){NULL};
    atomic = (struct dz_atomic_waker){{NULL}};
    wakers = (struct dz_multi_waker){slots, 2, 0};
    memset(registerings_slots, 0, sizeof(registerings_slots));
    dz_executor_init(&executor, "test");
    for (unsigned i = 0; i < count; i++) {
        (void)registerings_claim(&task[i]);
        task[i]->registers = registers;
        dz_executor_spawn(&executor, &task[i]->task);
    }
    dz_executor_poll(&executor);
}

static void a_wake_reaches_who_is_registered(void **state)
{
    (void)state;
    begin(1, register_in_waker);
    assert_true(dz_waker_is_occupied(&waker));
    dz_waker_wake(&waker);
    assert_false(dz_waker_is_occupied(&waker));
    dz_executor_poll(&executor);
    assert_int_equal(task[0]->polls, 2);
}

static void a_wake_of_nobody_does_nothing(void **state)
{
    (void)state;
    begin(0, NULL);
    dz_waker_wake(&waker);
    dz_multi_waker_wake(&wakers);
    dz_atomic_waker_wake(&atomic);
    assert_false(dz_executor_is_ready(&executor));
}

static void registering_again_wakes_nobody(void **state)
{
    static void (*const all[])(void) = {
        register_in_waker, register_in_wakers, register_in_atomic};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        begin(1, all[i]);
        dz_task_wake(&task[0]->task);
        dz_executor_poll(&executor);
        assert_int_equal(task[0]->polls, 2);
        assert_false(dz_executor_is_ready(&executor));
    }
}

/* What the single-slot policy is about. */
static void who_is_displaced_is_woken(void **state)
{
    (void)state;
    begin(2, register_in_waker);
    assert_ptr_equal(waker.task, task[1]);
    for (int i = 0; i < 1000; i++)
        dz_executor_poll(&executor);
    assert_int_equal(task[0]->polls + task[1]->polls, 2 + 1000);
}

/* W7: upstream forgot who was displaced. */
static void an_atomic_waker_wakes_who_is_displaced(void **state)
{
    (void)state;
    begin(2, register_in_atomic);
    assert_ptr_equal(atomic.waker.task, task[1]);
    task[0]->registers = NULL;
    dz_executor_poll(&executor);
    assert_int_equal(task[0]->polls, 2);
}

static void wake_atomic(void *argument)
{
    dz_atomic_waker_wake(argument);
}

static void an_atomic_waker_is_woken_by_an_interrupt(void **state)
{
    (void)state;
    begin(1, register_in_atomic);
    interrupt_now(wake_atomic, &atomic);
    dz_executor_poll(&executor);
    assert_int_equal(task[0]->polls, 2);
}

static void poll_urgent(void *argument)
{
    dz_executor_poll(argument);
}

/* W8: the woken task preempts the waker, is polled and registers again. Once:
 * upstream, one wake gave a thousand polls, and the waker never went on. */
static void a_registration_that_preempts_the_wake_is_not_woken_by_it(
    void **state)
{
    static struct dz_executor urgent;

    (void)state;
    begin(0, NULL);
    dz_executor_init(&urgent, "urgent");
    (void)registerings_claim(&task[0]);
    task[0]->registers = register_in_atomic;
    dz_executor_spawn(&urgent, &task[0]->task);
    dz_executor_poll(&urgent);
    interrupt_at_next_unmask(poll_urgent, &urgent);
    dz_atomic_waker_wake(&atomic);
    assert_int_equal(task[0]->polls, 2);
    dz_executor_poll(&urgent);
    assert_int_equal(task[0]->polls, 2);
    assert_ptr_equal(atomic.waker.task, task[0]);
}

static void a_multi_waker_wakes_all_in_order(void **state)
{
    (void)state;
    begin(2, register_in_wakers);
    assert_int_equal(wakers.count, 2);
    dz_multi_waker_wake(&wakers);
    assert_int_equal(wakers.count, 0);
    assert_ptr_equal(executor.first, &task[0]->task);
    assert_ptr_equal(executor.first->next, &task[1]->task);
}

/* W5: the same task, ten times. */
static void a_multi_waker_holds_a_task_once(void **state)
{
    (void)state;
    begin(1, register_in_wakers);
    for (int i = 0; i < 10; i++) {
        dz_task_wake(&task[0]->task);
        dz_executor_poll(&executor);
        assert_false(dz_executor_is_ready(&executor));
    }
    assert_int_equal(wakers.count, 1);
    assert_int_equal(task[0]->polls, 11);
}

static void a_full_multi_waker_wakes_all_and_starts_anew(void **state)
{
    (void)state;
    begin(3, register_in_wakers);
    assert_int_equal(wakers.count, 1);
    assert_ptr_equal(slots[0], task[2]);
    assert_ptr_equal(executor.first, &task[0]->task);
    assert_ptr_equal(executor.first->next, &task[1]->task);
}

static void register_without_slots(void)
{
    begin(0, NULL);
    wakers.capacity = 0;
    (void)registerings_claim(&task[0]);
    task[0]->registers = register_in_wakers;
    dz_executor_spawn(&executor, &task[0]->task);
    dz_executor_poll(&executor);
}

static void a_multi_waker_without_slots_panics(void **state)
{
    (void)state;
    assert_says(
        last_words_of(register_without_slots), "a multi waker without slots");
}

static void register_outside(void)
{
    begin(0, NULL);
    register_in_waker();
}

static void registering_outside_tasks_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(register_outside), "no task runs here");
}

RUN_TESTS(TEST(a_wake_reaches_who_is_registered),
    TEST(a_wake_of_nobody_does_nothing), TEST(registering_again_wakes_nobody),
    TEST(who_is_displaced_is_woken),
    TEST(an_atomic_waker_wakes_who_is_displaced),
    TEST(an_atomic_waker_is_woken_by_an_interrupt),
    TEST(a_registration_that_preempts_the_wake_is_not_woken_by_it),
    TEST(a_multi_waker_wakes_all_in_order),
    TEST(a_multi_waker_holds_a_task_once),
    TEST(a_full_multi_waker_wakes_all_and_starts_anew),
    TEST(a_multi_waker_without_slots_panics),
    TEST(registering_outside_tasks_panics))
