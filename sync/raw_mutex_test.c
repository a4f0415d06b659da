/* SPDX-License-Identifier: MIT */
#include "sync/raw_mutex.h"

#include "sim/test.h"
#include "sync/blocking_mutex.h"
#include "sync/channel.h"
#include "sync/event_flags.h"
#include "sync/rpc.h"
#include "sync/semaphore.h"

static struct dz_executor first;
static struct dz_executor second;

/* A channel of each kind. */
DZ_CHANNEL_DEFINE(noop_channel, int, 1, DZ_NOOP)
static const int noop_line = __LINE__ - 1;
DZ_CHANNEL_DEFINE(thread_channel, int, 1, DZ_THREAD_MODE)
static const int thread_line = __LINE__ - 1;
DZ_CHANNEL_DEFINE(critical_channel, int, 1, DZ_CRITICAL_SECTION)

static struct noop_channel noop;
static struct thread_channel thread;
static struct critical_channel critical;

static void send_noop(void *argument)
{
    int value = 1;

    (void)argument;
    (void)noop_channel_try_send(&noop, &value);
}

static void send_thread(void *argument)
{
    int value = 1;

    (void)argument;
    (void)thread_channel_try_send(&thread, &value);
}

static void send_critical(void *argument)
{
    int value = 1;

    (void)argument;
    (void)critical_channel_try_send(&critical, &value);
}

/* A task that does one thing, on the executor of one's choice. */
struct doer {
    struct dz_task task;
    void (*thing)(void *argument);
};

static enum dz_poll doer_poll(struct doer *self)
{
    self->thing(NULL);
    return DZ_READY;
}

DZ_TASK_POOL(doers, struct doer, doer_poll, 1)

static void do_in_task_of(struct dz_executor *executor, const char *name,
    void (*thing)(void *argument))
{
    struct doer *doer;

    dz_executor_init(executor, name);
    assert_int_equal(doers_claim(&doer), DZ_OK);
    doer->thing = thing;
    dz_executor_spawn(executor, &doer->task);
    dz_executor_poll(executor);
}

static void thread_mode_in_an_interrupt(void)
{
    interrupt_now(send_thread, NULL);
}

static void a_thread_mode_object_in_an_interrupt_panics(void **state)
{
    struct last_words words =
        last_words_at(DZ_EXIT_RACE, thread_mode_in_an_interrupt);

    (void)state;
    assert_says_place(words, thread_line);
    assert_says(words, "a thread-mode object is used in an interrupt");
    assert_says(words, "object: thread_channel at 0x");
    assert_says(words, "here: interrupt 3");
    assert_says(words, "other: thread mode");
}

static void take_the_noop_lock(void *argument)
{
    (void)argument;
    (void)dz_lock(&noop, &noop_channel_type.object);
    interrupt_now(send_noop, NULL);
}

static void noop_in_an_interrupt_while_locked(void)
{
    do_in_task_of(&first, "first", take_the_noop_lock);
}

static void a_noop_object_in_an_interrupt_while_locked_panics(void **state)
{
    struct last_words words =
        last_words_at(DZ_EXIT_RACE, noop_in_an_interrupt_while_locked);

    (void)state;
    assert_says_place(words, noop_line);
    assert_says(words, "an object is used while it is locked");
    assert_says(words, "object: noop_channel at 0x");
    /* Whose task it is that was interrupted, the port may say, too. */
    assert_says(words, "interrupt 3\n");
    assert_says(words, "other: a task of executor \"first\" in thread mode");
}

static void noop_from_two_executors(void)
{
    do_in_task_of(&first, "first", send_noop);
    do_in_task_of(&second, "second", send_noop);
}

static void a_noop_object_from_a_second_executor_panics(void **state)
{
    struct last_words words =
        last_words_at(DZ_EXIT_RACE, noop_from_two_executors);

    (void)state;
    assert_says_place(words, noop_line);
    assert_says(words, "a noop object is used in a second context");
    assert_says(words, "object: noop_channel at 0x");
    assert_says(words, "here: a task of executor \"second\" in thread mode");
    assert_says(words, "other: a task of executor \"first\" in thread mode");
}

static void noop_from_a_task_and_an_interrupt(void)
{
    do_in_task_of(&first, "first", send_noop);
    interrupt_now(send_noop, NULL);
}

static void a_noop_object_of_an_executor_in_an_interrupt_panics(void **state)
{
    struct last_words words =
        last_words_at(DZ_EXIT_RACE, noop_from_a_task_and_an_interrupt);

    (void)state;
    assert_says(words, "a noop object is used in a second context");
    assert_says(words, "here: interrupt 3");
    assert_says(words, "other: a task of executor \"first\" in thread mode");
}

static void noop_from_an_interrupt_and_a_task(void)
{
    interrupt_now(send_noop, NULL);
    do_in_task_of(&first, "first", send_noop);
}

static void a_noop_object_of_an_interrupt_in_a_task_panics(void **state)
{
    (void)state;
    assert_says(last_words_at(DZ_EXIT_RACE, noop_from_an_interrupt_and_a_task),
        "a noop object is used in a second context");
}

static void code_outside_tasks_may_set_a_noop_object_up(void **state)
{
    int value = 0;

    (void)state;
    memset(&noop, 0, sizeof(noop));
    send_noop(NULL);
    noop_channel_clear(&noop);
    do_in_task_of(&first, "first", send_noop);
    assert_true(noop_channel_try_receive(&noop, &value));
    assert_int_equal(value, 1);
}

static void all_of_thread_mode_may_use_a_thread_mode_object(void **state)
{
    (void)state;
    memset(&thread, 0, sizeof(thread));
    do_in_task_of(&first, "first", send_thread);
    assert_int_equal(thread_channel_len(&thread), 1);
    thread_channel_clear(&thread);
    do_in_task_of(&second, "second", send_thread);
    assert_int_equal(thread_channel_len(&thread), 1);
}

static void everybody_may_use_a_critical_section_object(void **state)
{
    (void)state;
    memset(&critical, 0, sizeof(critical));
    do_in_task_of(&first, "first", send_critical);
    critical_channel_clear(&critical);
    do_in_task_of(&second, "second", send_critical);
    critical_channel_clear(&critical);
    interrupt_now(send_critical, NULL);
    assert_int_equal(critical_channel_len(&critical), 1);
}

static void in_interrupt(void *argument)
{
    *(unsigned *)argument = dz_port_context();
}

static void a_critical_section_holds_interrupts_off(void **state)
{
    unsigned context = 0;
    dz_key key;

    (void)state;
    key = dz_lock(&critical, &critical_channel_type.object);
    interrupt_now(in_interrupt, &context);
    assert_int_equal(context, 0);
    dz_unlock(&critical, &critical_channel_type.object, key);
    assert_int_equal(context, 16 + 3);
}

static void critical_sections_nest(void **state)
{
    unsigned context = 0;
    dz_key outer = dz_port_enter();
    dz_key inner = dz_port_enter();

    (void)state;
    interrupt_now(in_interrupt, &context);
    dz_port_exit(inner);
    assert_int_equal(context, 0);
    dz_port_exit(outer);
    assert_int_equal(context, 16 + 3);
}

struct receiver {
    struct dz_task task;
    int value;
};

static enum dz_poll receiver_poll(struct receiver *self)
{
    async (self)
        await(thread_channel_receive(&thread, &self->value));
    return DZ_READY;
}

DZ_TASK_POOL(receivers, struct receiver, receiver_poll, 1)

/* It is no critical section that is given back there. */
static void a_thread_mode_object_that_wakes_leaves_interrupts_off(void **state)
{
    struct receiver *receiver;
    unsigned context = 0;
    dz_key key;

    (void)state;
    memset(&thread, 0, sizeof(thread));
    dz_executor_init(&first, "first");
    assert_int_equal(receivers_claim(&receiver), DZ_OK);
    dz_executor_spawn(&first, &receiver->task);
    dz_executor_poll(&first);

    key = dz_port_enter();
    interrupt_now(in_interrupt, &context);
    send_thread(NULL);
    assert_int_equal(context, 0);
    dz_port_exit(key);

    assert_int_equal(context, 16 + 3);
    dz_executor_poll(&first);
    assert_null(receiver->task.pool);
}

struct stats {
    unsigned errors;
    unsigned overruns;
};

DZ_BLOCKING_MUTEX_DEFINE(noop_stats, struct stats, DZ_NOOP)
DZ_BLOCKING_MUTEX_DEFINE(thread_stats, struct stats, DZ_THREAD_MODE)
DZ_BLOCKING_MUTEX_DEFINE(critical_stats, struct stats, DZ_CRITICAL_SECTION)

static struct noop_stats noop_mutex;
static struct thread_stats thread_mutex;
static struct critical_stats critical_mutex;

static void a_blocking_mutex_keeps_its_value(void **state)
{
    dz_key key;

    (void)state;
    noop_stats_lock(&noop_mutex, &key)->errors = 1;
    noop_stats_unlock(&noop_mutex, key);
    thread_stats_lock(&thread_mutex, &key)->errors = 2;
    thread_stats_unlock(&thread_mutex, key);
    critical_stats_lock(&critical_mutex, &key)->errors = 3;
    critical_stats_unlock(&critical_mutex, key);
    assert_int_equal(noop_stats_lock(&noop_mutex, &key)->errors, 1);
    noop_stats_unlock(&noop_mutex, key);
    assert_int_equal(thread_stats_lock(&thread_mutex, &key)->errors, 2);
    thread_stats_unlock(&thread_mutex, key);
    assert_int_equal(critical_stats_lock(&critical_mutex, &key)->errors, 3);
    critical_stats_unlock(&critical_mutex, key);
}

static void count_overrun(void *argument)
{
    dz_key key;

    (void)argument;
    critical_stats_lock(&critical_mutex, &key)->overruns++;
    critical_stats_unlock(&critical_mutex, key);
}

static void an_interrupt_waits_for_a_locked_blocking_mutex(void **state)
{
    struct stats *stats;
    dz_key key;

    (void)state;
    stats = critical_stats_lock(&critical_mutex, &key);
    stats->overruns = 0;
    interrupt_now(count_overrun, NULL);
    assert_int_equal(stats->overruns, 0);
    critical_stats_unlock(&critical_mutex, key);
    assert_int_equal(critical_mutex.value.overruns, 1);
}

struct careless {
    struct dz_task task;
};

static void lock_twice(void)
{
    dz_key key;

    (void)critical_stats_lock(&critical_mutex, &key);
    (void)critical_stats_lock(&critical_mutex, &key);
}

static void locking_a_blocking_mutex_twice_panics(void **state)
{
    struct last_words words = last_words_of(lock_twice);

    (void)state;
    assert_says(words, "an object is used while it is locked");
    assert_says(words, "object: critical_stats at 0x");
}

static void unlock_twice(void)
{
    dz_key key;

    (void)critical_stats_lock(&critical_mutex, &key);
    critical_stats_unlock(&critical_mutex, key);
    critical_stats_unlock(&critical_mutex, key);
}

static void unlocking_a_blocking_mutex_twice_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(unlock_twice), "unlocked that is not locked");
}

static enum dz_poll careless_task_poll(struct careless *self)
{
    async (self) {
        await(dz_yield_poll());
        unlock_twice();
    }
    return DZ_READY;
}

enum { CARELESS_LINE = __LINE__ - 6 };

DZ_TASK_POOL(careless_tasks, struct careless, careless_task_poll, 1)

static void unlock_twice_in_a_task(void)
{
    struct careless *careless;

    dz_executor_init(&first, "first");
    if (careless_tasks_claim(&careless) == DZ_BUSY)
        return;
    dz_executor_spawn(&first, &careless->task);
    dz_executor_poll(&first);
    dz_executor_poll(&first);
}

/* The mistake is not where the object is defined. */
static void misuse_in_a_task_names_the_task_and_where_it_was(void **state)
{
    struct last_words words = last_words_of(unlock_twice_in_a_task);
    char by[160];

    (void)state;
    snprintf(by, sizeof(by),
        "\n  by: task careless_tasks, behind its wait at %s:%d\n", __FILE__,
        CARELESS_LINE);
    assert_says(words, by);
}

static void lock_noop_in_interrupt(void *argument)
{
    dz_key key;

    (void)argument;
    (void)noop_stats_lock(&noop_mutex, &key);
}

static void lock_noop_and_interrupt(void)
{
    dz_key key;

    (void)noop_stats_lock(&noop_mutex, &key);
    interrupt_now(lock_noop_in_interrupt, NULL);
}

static void an_interrupt_that_locks_a_locked_noop_mutex_panics(void **state)
{
    struct last_words words =
        last_words_at(DZ_EXIT_RACE, lock_noop_and_interrupt);

    (void)state;
    assert_says(words, "an object is used while it is locked");
    assert_says(words, "here: interrupt 3");
    assert_says(words, "other: thread mode");
}

static void thread_mutex_in_interrupt(void *argument)
{
    dz_key key;

    (void)argument;
    (void)thread_stats_lock(&thread_mutex, &key);
}

static void thread_mutex_and_interrupt(void)
{
    interrupt_now(thread_mutex_in_interrupt, NULL);
}

static void a_thread_mode_mutex_in_an_interrupt_panics(void **state)
{
    (void)state;
    assert_says(last_words_at(DZ_EXIT_RACE, thread_mutex_and_interrupt),
        "object: thread_stats at 0x");
}

DZ_BLOCKING_MUTEX_DEFINE(stats_mutex, struct stats, DZ_CRITICAL_SECTION)
static struct stats_mutex stats;

static void overrun(void)
{
    dz_key key;
    struct stats *locked = stats_mutex_lock(&stats, &key);

    locked->overruns++;
    stats_mutex_unlock(&stats, key);
}

static void the_example_of_the_header_works(void **state)
{
    (void)state;
    overrun();
    overrun();
    assert_int_equal(stats.value.overruns, 2);
}

/* One object for each way to wait: for a unit, in a queue, in a queue by means
 * of its own, and in both. */
#define DEFINE_WAITS(mutex, raw_mutex)                                     \
    DZ_CHANNEL_DEFINE(mutex##_items, int, 1, raw_mutex)                    \
    DZ_SEMAPHORE_DEFINE(mutex##_permits, 1, raw_mutex)                     \
    DZ_EVENT_FLAGS_DEFINE(mutex##_flags, raw_mutex)                        \
    DZ_RPC_DEFINE(mutex##_service, int, int, raw_mutex)                    \
    static struct mutex##_items mutex##_items;                             \
    static struct mutex##_permits mutex##_permits;                         \
    static struct mutex##_flags mutex##_flags;                             \
    static struct mutex##_service mutex##_service;                         \
    static void mutex##_use(void *argument)                                \
    {                                                                      \
        (void)argument;                                                    \
        mutex##_items_clear(&mutex##_items);                               \
        (void)mutex##_permits_try_acquire(&mutex##_permits, 1);            \
        mutex##_flags_clear(&mutex##_flags, 1);                            \
        (void)mutex##_service_try_receive(&mutex##_service, &(int){0});    \
    }                                                                      \
    static void mutex##_wait(void *argument)                               \
    {                                                                      \
        uint32_t flags = 0;                                                \
        int value = 0;                                                     \
        enum dz_poll poll;                                                 \
                                                                           \
        if (wait_for == 0)                                                 \
            poll = mutex##_items_receive(&mutex##_items, &value);          \
        else if (wait_for == 1)                                            \
            poll = mutex##_permits_acquire(&mutex##_permits, 1);           \
        else if (wait_for == 2)                                            \
            poll = mutex##_flags_wait_any(&mutex##_flags, 1, &flags);      \
        else                                                               \
            poll = mutex##_service_call(&mutex##_service, &value, &value); \
        walk_away_from(poll);                                              \
        (void)argument;                                                    \
    }                                                                      \
    static void mutex##_wait_in_an_interrupt(void)                         \
    {                                                                      \
        do_in_task_of(&first, "first", mutex##_use);                       \
        interrupt_now(mutex##_wait, NULL);                                 \
    }

static int wait_for;

DEFINE_WAITS(noop, DZ_NOOP)
DEFINE_WAITS(thread, DZ_THREAD_MODE)
DEFINE_WAITS(critical, DZ_CRITICAL_SECTION)

/* The thread-mode object comes first, then the await, then the owner. */
static void a_wait_in_an_interrupt_says_the_same_of_all_objects(void **state)
{
    (void)state;
    for (wait_for = 0; wait_for < 4; wait_for++) {
        assert_says(last_words_at(DZ_EXIT_RACE, thread_wait_in_an_interrupt),
            "a thread-mode object is used in an interrupt");
        assert_says(
            last_words_of(noop_wait_in_an_interrupt), "await outside a task");
        assert_says(last_words_of(critical_wait_in_an_interrupt),
            "await outside a task");
    }
}

/* Of a task that it interrupts, whichever that is. */
static void strike_now(void *argument)
{
    (void)argument;
    interrupt_now(send_noop, NULL);
}

static void a_noop_object_of_an_interrupt_does_not_care_for_tasks(void **state)
{
    struct doer *doer;

    (void)state;
    noop = (struct noop_channel){0};
    dz_executor_init(&first, "first");
    dz_executor_init(&second, "second");
    (void)doers_claim(&doer);
    doer->thing = strike_now;
    dz_executor_spawn(&first, &doer->task);
    dz_executor_poll(&first);
    (void)doers_claim(&doer);
    doer->thing = strike_now;
    dz_executor_spawn(&second, &doer->task);
    dz_executor_poll(&second);
}

RUN_TESTS(TEST(a_thread_mode_object_in_an_interrupt_panics),
    TEST(a_noop_object_in_an_interrupt_while_locked_panics),
    TEST(a_noop_object_from_a_second_executor_panics),
    TEST(a_noop_object_of_an_executor_in_an_interrupt_panics),
    TEST(a_noop_object_of_an_interrupt_in_a_task_panics),
    TEST(code_outside_tasks_may_set_a_noop_object_up),
    TEST(all_of_thread_mode_may_use_a_thread_mode_object),
    TEST(everybody_may_use_a_critical_section_object),
    TEST(a_critical_section_holds_interrupts_off), TEST(critical_sections_nest),
    TEST(a_thread_mode_object_that_wakes_leaves_interrupts_off),
    TEST(a_blocking_mutex_keeps_its_value),
    TEST(misuse_in_a_task_names_the_task_and_where_it_was),
    TEST(an_interrupt_waits_for_a_locked_blocking_mutex),
    TEST(locking_a_blocking_mutex_twice_panics),
    TEST(unlocking_a_blocking_mutex_twice_panics),
    TEST(an_interrupt_that_locks_a_locked_noop_mutex_panics),
    TEST(a_thread_mode_mutex_in_an_interrupt_panics),
    TEST(a_wait_in_an_interrupt_says_the_same_of_all_objects),
    TEST(the_example_of_the_header_works),
    TEST(a_noop_object_of_an_interrupt_does_not_care_for_tasks))
