/* SPDX-License-Identifier: MIT */
#include "sync/pubsub.h"

#include "executor/cancel.h"
#include "executor/select.h"
#include "sim/test.h"

enum { TASKS = 4, CAPACITY = 4 };

/* Every raw mutex under both policies, of capacity 1 and of capacity 4. */
#define FOR_EACH_KIND(X)                                              \
    X(noop_queue_1, 1, DZ_NOOP, DZ_QUEUE)                             \
    X(thread_queue_1, 1, DZ_THREAD_MODE, DZ_QUEUE)                    \
    X(critical_queue_1, 1, DZ_CRITICAL_SECTION, DZ_QUEUE)             \
    X(noop_slot_1, 1, DZ_NOOP, DZ_SINGLE_SLOT)                        \
    X(thread_slot_1, 1, DZ_THREAD_MODE, DZ_SINGLE_SLOT)               \
    X(critical_slot_1, 1, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT)        \
    X(noop_queue_4, CAPACITY, DZ_NOOP, DZ_QUEUE)                      \
    X(thread_queue_4, CAPACITY, DZ_THREAD_MODE, DZ_QUEUE)             \
    X(noop_slot_4, CAPACITY, DZ_NOOP, DZ_SINGLE_SLOT)                 \
    X(thread_slot_4, CAPACITY, DZ_THREAD_MODE, DZ_SINGLE_SLOT)        \
    X(critical_slot_4, CAPACITY, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT) \
    X(critical_queue_2, 2, DZ_CRITICAL_SECTION, DZ_QUEUE)             \
    X(critical_queue_4, CAPACITY, DZ_CRITICAL_SECTION, DZ_QUEUE)

#define DEFINE(name, capacity, mutex, policy)                   \
    DZ_PUBSUB_DEFINE_POLICY(name, int, capacity, mutex, policy) \
    static struct name name;

FOR_EACH_KIND(DEFINE)

/* A pubsub of which the tests know no more than what they look up here. */
struct kind {
    void *pubsub;
    size_t size;
    const struct dz_pubsub_type *type;
};

#define ENTRY(name, capacity, mutex, policy) \
    {&name, sizeof(name), &name##_type},

static const struct kind kinds[] = {FOR_EACH_KIND(ENTRY)};

enum {
    NOOP_1 = 0,
    THREAD_1 = 1,
    QUEUE_1 = 2,
    SLOT_1 = 5,
    QUEUE_2 = 11,
    QUEUE_4 = 12,
    KINDS = sizeof(kinds) / sizeof(kinds[0]),
};

#define FOR_ALL_KINDS \
    for (const struct kind *kind = kinds; kind < kinds + KINDS; kind++)

#define FOR_ALL_QUEUES FOR_ALL_KINDS if (kind->type->object.policy == DZ_QUEUE)

static struct dz_executor executor;
static struct dz_publisher publisher;

/* A task that publishes `count` messages from `value` on, or reads them. */
struct worker {
    struct dz_task task;
    struct dz_subscriber *subscriber;
    int value;
    int count;
    int done; /* how many so far */
    int polls;
    int received[8];
    unsigned lagged[8];
};

static enum dz_poll publish_poll(struct worker *self)
{
    self->polls++;
    strike_behind_wait();
    return dz_publisher_publish(publisher, &self->value);
}

static enum dz_poll publishing_poll(struct worker *self)
{
    async (self) {
        for (; self->done < self->count; self->done++, self->value++)
            await(publish_poll(self));
    }
    return DZ_READY;
}

static enum dz_poll next_poll(struct worker *self)
{
    self->polls++;
    strike_behind_wait();
    return dz_subscriber_next(self->subscriber, &self->received[self->done]);
}

static enum dz_poll reading_poll(struct worker *self)
{
    async (self) {
        for (; self->done < self->count; self->done++) {
            await(next_poll(self));
            self->lagged[self->done] = self->subscriber->lagged;
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(publishings, struct worker, publishing_poll, TASKS)
DZ_TASK_POOL(readings, struct worker, reading_poll, TASKS)

static struct dz_subscriber subscribers[TASKS];

static void begin(const struct kind *kind)
{
    memset(kind->pubsub, 0, kind->size);
    memset(publishings_slots, 0, sizeof(publishings_slots));
    memset(readings_slots, 0, sizeof(readings_slots));
    memset(subscribers, 0, sizeof(subscribers));
    dz_executor_init(&executor, "test");
    publisher = (struct dz_publisher){kind->pubsub, kind->type};
}

/* Begins with so many subscribers. */
static void begin_with(const struct kind *kind, int count)
{
    begin(kind);
    for (int i = 0; i < count; i++)
        dz_subscriber_subscribe(&subscribers[i], publisher);
}

static struct worker *spawn_not_run(const struct dz_pool *pool, int count)
{
    struct worker *worker = dz_pool_claim(pool);

    assert_non_null(worker);
    worker->count = count;
    dz_executor_spawn(&executor, &worker->task);
    return worker;
}

static struct worker *spawn_publishing(int value, int count)
{
    struct worker *worker = spawn_not_run(&publishings, count);

    worker->value = value;
    dz_executor_poll(&executor);
    return worker;
}

static struct worker *spawn_reading(int subscriber, int count)
{
    struct worker *worker = spawn_not_run(&readings, count);

    worker->subscriber = &subscribers[subscriber];
    dz_executor_poll(&executor);
    return worker;
}

/* Until nothing is ready. A busy loop fails the test. */
static void run_to_rest(void)
{
    int passes = 0;

    while (dz_executor_is_ready(&executor)) {
        dz_executor_poll(&executor);
        assert_true(++passes < 1000);
    }
}

static bool try_publish(int message)
{
    return dz_publisher_try_publish(publisher, &message);
}

/* Publishes `count` messages from `first` on. */
static void publish_immediately(int first, int count)
{
    for (int i = 0; i < count; i++) {
        int message = first + i;

        dz_publisher_publish_immediate(publisher, &message);
    }
}

/* Publishes from `first` on, until no more fits. */
static void fill(int first)
{
    while (try_publish(first))
        first++;
}

/* The next message of a subscriber, or -1. */
static int read_now(int subscriber)
{
    int message = -1;

    (void)dz_subscriber_try_next(&subscribers[subscriber], &message);
    return message;
}

/* ---- The example of the header. */

struct news {
    int number;
};

DZ_PUBSUB_DEFINE(news_pubsub, struct news, 4, DZ_CRITICAL_SECTION)
static struct news_pubsub news;

struct reader {
    struct dz_frame frame;
    struct dz_guard guard;
    struct news_pubsub_subscriber subscriber;
    struct news item;
    unsigned missed;
};

static void reader_unsubscribe(struct dz_guard *guard)
{
    news_pubsub_unsubscribe(
        &container_of(guard, struct reader, guard)->subscriber);
}

static enum dz_poll reader_poll(struct reader *self)
{
    async (self) {
        news_pubsub_subscribe(&news, &self->subscriber);
        dz_guard_enter(&self->guard, reader_unsubscribe);
        await(news_pubsub_next(&self->subscriber, &self->item));
        self->missed += news_pubsub_lagged(&self->subscriber);
        dz_guard_leave(&self->guard);
        news_pubsub_unsubscribe(&self->subscriber);
    }
    return DZ_READY;
}

static enum dz_poll timeout_poll(const bool *is_over)
{
    return *is_over ? DZ_READY : DZ_PENDING;
}

struct reading_task {
    struct dz_task task;
    struct dz_select2 select;
    struct reader reader;
    bool is_over;
    bool done;
};

static enum dz_poll reading_task_poll(struct reading_task *self)
{
    async (self) {
        await(dz_select2(&self->select, timeout_poll(&self->is_over),
            reader_poll(&self->reader)));
        self->done = true;
    }
    return DZ_READY;
}

struct writer {
    struct dz_task task;
    struct news item;
};

static enum dz_poll writer_poll(struct writer *self)
{
    async (self) {
        await(news_pubsub_publish(&news, &self->item));
    }
    return DZ_READY;
}

DZ_TASK_POOL(reading_tasks, struct reading_task, reading_task_poll, 1)
DZ_TASK_POOL(writers, struct writer, writer_poll, 1)

static struct reading_task *begin_example(void)
{
    struct reading_task *task;

    memset(&news, 0, sizeof(news));
    memset(reading_tasks_slots, 0, sizeof(reading_tasks_slots));
    memset(writers_slots, 0, sizeof(writers_slots));
    dz_executor_init(&executor, "test");
    assert_int_equal(reading_tasks_claim(&task), DZ_OK);
    dz_executor_spawn(&executor, &task->task);
    dz_executor_poll(&executor);
    return task;
}

static void publish_five(void *argument)
{
    (void)argument;
    for (int i = 0; i < 5; i++) {
        struct news item = {i};

        news_pubsub_publish_immediate(&news, &item);
    }
}

static void the_example_of_the_header_works(void **state)
{
    struct reading_task *task;
    struct writer *writer;

    (void)state;
    task = begin_example();
    assert_int_equal(writers_claim(&writer), DZ_OK);
    writer->item.number = 9;
    dz_executor_spawn(&executor, &writer->task);
    run_to_rest();
    assert_true(task->done);
    assert_int_equal(task->reader.item.number, 9);
    assert_int_equal(task->reader.missed, 0);
    assert_true(news_pubsub_is_empty(&news));

    task = begin_example();
    interrupt_now(publish_five, NULL);
    run_to_rest();
    assert_int_equal(task->reader.item.number, 1);
    assert_int_equal(task->reader.missed, 1);
    assert_true(news_pubsub_is_empty(&news));
}

static void a_guard_unsubscribes_when_the_branch_is_cancelled(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct reading_task *task = begin_example();

        if (i == 1) /* with a message that it was promised */
            publish_five(NULL);
        task->is_over = true;
        dz_task_wake(&task->task);
        run_to_rest();
        assert_true(task->done);
        assert_int_equal(task->reader.item.number, 0);
        assert_null(news.pubsub.first);
        assert_null(task->reader.subscriber.subscriber.pubsub);
        assert_true(news_pubsub_is_empty(&news));
        assert_int_equal(news_pubsub_free(&news), 4);
    }
}

struct cancelled_reader {
    struct dz_task task;
    struct dz_cancellation cancellation;
    struct reader reader;
};

static enum dz_poll cancelled_reader_poll(struct cancelled_reader *self)
{
    return reader_poll(&self->reader);
}

DZ_TASK_POOL_CANCELLABLE(
    cancelled_readers, struct cancelled_reader, cancelled_reader_poll, 1)

static void a_guard_unsubscribes_when_the_task_is_cancelled(void **state)
{
    struct cancelled_reader *reader;

    (void)state;
    memset(&news, 0, sizeof(news));
    dz_executor_init(&executor, "test");
    assert_int_equal(cancelled_readers_claim(&reader), DZ_OK);
    dz_executor_spawn(&executor, &reader->task);
    dz_executor_poll(&executor);
    assert_non_null(news.pubsub.first);

    dz_task_cancel(&reader->task);
    run_to_rest();

    assert_null(news.pubsub.first);
}

/* ---- Who gets what. */

static void every_subscriber_gets_every_message_in_order(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        int message = 0;

        begin_with(kind, 3);
        for (int round = 0; round < 10; round++) {
            int first = message;

            while (try_publish(message))
                message++;
            for (int i = 0; i < 3; i++) {
                for (int expected = first; expected < message; expected++)
                    assert_int_equal(read_now(i), expected);
                assert_int_equal(read_now(i), -1);
            }
        }
        assert_int_equal(message, 10 * kind->type->capacity);
    }
}

static void a_subscriber_gets_only_what_comes_after_it(void **state)
{
    begin_with(&kinds[QUEUE_4], 1);

    (void)state;
    assert_true(try_publish(1));
    dz_subscriber_subscribe(&subscribers[1], publisher);
    assert_true(try_publish(2));
    assert_int_equal(read_now(1), 2);
    assert_int_equal(read_now(1), -1);
    assert_int_equal(read_now(0), 1);
    assert_int_equal(read_now(0), 2);
}

static void without_subscribers_a_message_is_discarded(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct worker *worker;

        begin(kind);
        for (int i = 0; i < 6; i++)
            assert_true(try_publish(i));
        publish_immediately(0, 6);
        worker = spawn_publishing(0, 6);
        assert_int_equal(worker->done, 6);
        assert_int_equal(worker->polls, 6);
        assert_int_equal(dz_publisher_len(publisher), 0);
        assert_int_equal(dz_publisher_free(publisher), kind->type->capacity);
        dz_subscriber_subscribe(&subscribers[0], publisher);
        assert_int_equal(read_now(0), -1);
    }
}

static void a_full_pubsub_takes_no_more(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin_with(kind, 1);
        for (unsigned i = 0; i < kind->type->capacity; i++)
            assert_true(try_publish(1));
        assert_false(try_publish(1));
        assert_int_equal(dz_publisher_free(publisher), 0);
        assert_int_equal(dz_publisher_len(publisher), kind->type->capacity);
        assert_int_equal(spawn_publishing(1, 1)->done, 0);
    }
}

static void available_counts_what_a_subscriber_has_not_read(void **state)
{
    (void)state;
    begin_with(&kinds[QUEUE_4], 1);
    assert_int_equal(dz_subscriber_available(&subscribers[0]), 0);
    assert_true(try_publish(1));
    dz_subscriber_subscribe(&subscribers[1], publisher);
    assert_true(try_publish(2));
    assert_int_equal(dz_subscriber_available(&subscribers[0]), 2);
    assert_int_equal(dz_subscriber_available(&subscribers[1]), 1);
    read_now(0);
    assert_int_equal(dz_subscriber_available(&subscribers[0]), 1);
    publish_immediately(3, 9);
    assert_int_equal(dz_subscriber_available(&subscribers[0]), 4);
    assert_int_equal(dz_subscriber_available(&subscribers[1]), 4);
}

static void len_counts_what_somebody_has_not_read(void **state)
{
    (void)state;
    begin_with(&kinds[QUEUE_4], 2);
    assert_int_equal(dz_publisher_len(publisher), 0);
    for (int i = 0; i < 3; i++)
        assert_true(try_publish(i));
    assert_int_equal(dz_publisher_len(publisher), 3);
    read_now(0);
    read_now(0);
    assert_int_equal(dz_publisher_len(publisher), 3);
    read_now(1);
    assert_int_equal(dz_publisher_len(publisher), 2);
    assert_int_equal(dz_publisher_free(publisher), 2);
    read_now(0);
    read_now(1);
    assert_int_equal(dz_publisher_len(publisher), 1);
    read_now(1);
    assert_int_equal(dz_publisher_len(publisher), 0);
}

static void it_is_empty_when_the_last_subscriber_has_left(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin_with(kind, 2);
        fill(0);
        dz_subscriber_unsubscribe(&subscribers[0]);
        assert_int_equal(dz_publisher_len(publisher), kind->type->capacity);
        dz_subscriber_unsubscribe(&subscribers[1]);
        assert_int_equal(dz_publisher_len(publisher), 0);
        assert_int_equal(dz_publisher_free(publisher), kind->type->capacity);
    }
}

static void the_typed_forms_hand_on_what_they_are_given(void **state)
{
    struct news_pubsub_subscriber subscriber = {0};
    struct news item = {1};

    (void)state;
    memset(&news, 0, sizeof(news));
    news_pubsub_subscribe(&news, &subscriber);
    assert_true(news_pubsub_is_empty(&news));
    assert_int_equal(news_pubsub_capacity(&news), 4);
    assert_true(news_pubsub_try_publish(&news, &item));
    assert_int_equal(news_pubsub_len(&news), 1);
    assert_int_equal(news_pubsub_free(&news), 3);
    item.number = 2;
    /* P7: the typed and the untyped are one. */
    assert_true(dz_publisher_try_publish(news_pubsub_publisher(&news), &item));
    assert_int_equal(news_pubsub_available(&subscriber), 2);
    assert_true(news_pubsub_try_next(&subscriber, &item));
    assert_int_equal(item.number, 1);
    assert_true(dz_subscriber_try_next(&subscriber.subscriber, &item));
    assert_int_equal(item.number, 2);
    assert_false(news_pubsub_try_next(&subscriber, &item));
    for (int i = 0; i < 4; i++)
        news_pubsub_publish_immediate(&news, &item);
    assert_true(news_pubsub_is_full(&news));
    news_pubsub_clear(&news);
    assert_true(news_pubsub_is_empty(&news));
    news_pubsub_unsubscribe(&subscriber);
    news_pubsub_subscribe(&news, &subscriber);
    news_pubsub_unsubscribe(&subscriber);
}

DZ_PUBSUB_DEFINE(name_pubsub, const char *, 1, DZ_NOOP)

static void a_message_may_be_a_pointer(void **state)
{
    static struct name_pubsub names;
    struct name_pubsub_subscriber subscriber = {0};
    const char *name = "Ada";

    (void)state;
    name_pubsub_subscribe(&names, &subscriber);
    assert_true(name_pubsub_try_publish(&names, &name));
    name = NULL;
    assert_true(name_pubsub_try_next(&subscriber, &name));
    assert_string_equal(name, "Ada");
}

/* ---- Lag. */

/* P5: the lag comes with the message, in the same poll. */
static void who_lags_is_told_once_and_then_gets_the_oldest_kept(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        int capacity = kind->type->capacity;
        struct worker *worker;

        begin_with(kind, 2);
        publish_immediately(42, 6);
        worker = spawn_reading(0, capacity);
        assert_int_equal(worker->done, capacity);
        assert_int_equal(worker->polls, capacity);
        assert_int_equal(worker->lagged[0], 6 - capacity);
        for (int i = 0; i < capacity; i++) {
            assert_int_equal(worker->received[i], 42 + 6 - capacity + i);
            assert_true(i == 0 || worker->lagged[i] == 0);
        }
        publish_immediately(1, 1);
        assert_int_equal(read_now(0), 1);
        assert_int_equal(subscribers[0].lagged, 0);
    }
}

static void only_who_had_not_read_it_lags(void **state)
{
    (void)state;
    begin_with(&kinds[QUEUE_4], 2);
    publish_immediately(0, 4);
    assert_int_equal(read_now(0), 0);
    publish_immediately(4, 1);
    assert_int_equal(read_now(0), 1);
    assert_int_equal(subscribers[0].lagged, 0);
    assert_int_equal(read_now(1), 1);
    assert_int_equal(subscribers[1].lagged, 1);
}

static void lag_ends_at_65535(void **state)
{
    (void)state;
    begin_with(&kinds[QUEUE_1], 1);
    publish_immediately(0, 1 + 65535 + 5);
    assert_int_equal(read_now(0), 65535 + 5);
    assert_int_equal(subscribers[0].lagged, 65535);
}

DZ_PUBSUB_DEFINE(huge_pubsub, uint8_t, DZ_UNITS_MAX, DZ_CRITICAL_SECTION)

/* The positions go round several times, and all counts to their ends. */
static void the_largest_capacity_counts_right(void **state)
{
    static struct huge_pubsub huge;
    struct huge_pubsub_subscriber slow = {0};
    struct huge_pubsub_subscriber fast = {0};
    uint8_t message = 0;

    (void)state;
    huge_pubsub_subscribe(&huge, &slow);
    huge_pubsub_subscribe(&huge, &fast);
    for (long i = 0; i < 3L * DZ_UNITS_MAX + 7; i++) {
        uint8_t sent = (uint8_t)(i % 251);

        huge_pubsub_publish_immediate(&huge, &sent);
        assert_true(huge_pubsub_try_next(&fast, &message));
        assert_int_equal(message, sent);
    }
    assert_int_equal(huge_pubsub_available(&slow), DZ_UNITS_MAX);
    assert_int_equal(huge_pubsub_len(&huge), DZ_UNITS_MAX);
    assert_true(huge_pubsub_is_full(&huge));
    assert_true(huge_pubsub_try_next(&slow, &message));
    assert_int_equal(huge_pubsub_lagged(&slow), 65535);
    assert_int_equal(message, (2L * DZ_UNITS_MAX + 7) % 251);
    assert_int_equal(huge_pubsub_len(&huge), DZ_UNITS_MAX - 1);
}

/* ---- Counts after somebody has left: P1. */

/* P1, S1 */
static void a_lagged_subscriber_that_leaves_frees_all(void **state)
{
    const struct worker *worker;

    (void)state;
    begin_with(&kinds[QUEUE_2], 1);
    publish_immediately(0, 4);
    dz_subscriber_unsubscribe(&subscribers[0]);
    assert_int_equal(dz_publisher_len(publisher), 0);
    dz_subscriber_subscribe(&subscribers[1], publisher);
    worker = spawn_publishing(9, 1);
    assert_int_equal(worker->done, 1);
    assert_int_equal(read_now(1), 9);
    assert_int_equal(dz_publisher_len(publisher), 0);
}

/* P1, S2 */
static void a_slow_subscriber_that_leaves_frees_what_others_have_read(
    void **state)
{
    const struct worker *worker;

    (void)state;
    begin_with(&kinds[QUEUE_2], 2);
    for (int i = 0; i < 3; i++) {
        publish_immediately(i, 1);
        assert_int_equal(read_now(1), i);
    }
    assert_int_equal(dz_publisher_len(publisher), 2);
    worker = spawn_publishing(3, 1);
    assert_int_equal(worker->done, 0);
    dz_subscriber_unsubscribe(&subscribers[0]);
    assert_int_equal(dz_publisher_len(publisher), 0);
    run_to_rest();
    assert_int_equal(worker->done, 1);
    assert_int_equal(read_now(1), 3);
}

/* P1, S3 */
static void who_leaves_behind_a_clear_frees_all(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin_with(kind, 1);
        publish_immediately(0, 1);
        dz_publisher_clear(publisher);
        publish_immediately(1, 2);
        dz_subscriber_unsubscribe(&subscribers[0]);
        assert_int_equal(dz_publisher_len(publisher), 0);
        assert_int_equal(dz_publisher_free(publisher), kind->type->capacity);
    }
}

/* The first, one in the middle, the last; slow and fast. */
struct leaving {
    struct dz_task task;
    struct dz_subscriber *subscriber;
    int message;
    bool has_left;
};

static enum dz_poll leaving_poll(struct leaving *self)
{
    walk_away_from(dz_subscriber_next(self->subscriber, &self->message));
    dz_cancel();
    dz_subscriber_unsubscribe(self->subscriber);
    self->has_left = true;
    return DZ_READY;
}

DZ_TASK_POOL(leavings, struct leaving, leaving_poll, 1)

/* A slot does not know who has waited. */
static void who_has_cancelled_its_wait_may_leave(void **state)
{
    struct leaving *leaving;

    (void)state;
    FOR_ALL_KINDS
    {
        begin_with(kind, 1);
        assert_int_equal(leavings_claim(&leaving), DZ_OK);
        leaving->subscriber = &subscribers[0];
        dz_executor_spawn(&executor, &leaving->task);
        dz_executor_poll(&executor);
        assert_true(leaving->has_left);
    }
}

static void anyone_may_leave(void **state)
{
    (void)state;
    for (int leaving = 0; leaving < 3; leaving++) {
        for (int slow = 0; slow < 3; slow++) {
            int len = leaving == slow ? 1 : 2;

            begin_with(&kinds[QUEUE_4], 3);
            publish_immediately(0, 2);
            for (int i = 0; i < 3; i++) {
                if (i != slow)
                    assert_int_equal(read_now(i), 0);
            }
            dz_subscriber_unsubscribe(&subscribers[leaving]);
            assert_int_equal(dz_publisher_len(publisher), len);
            publish_immediately(2, 1);
            for (int i = 0; i < 3; i++) {
                if (i == leaving)
                    continue;
                for (int next = i == slow ? 0 : 1; next < 3; next++)
                    assert_int_equal(read_now(i), next);
            }
            assert_int_equal(dz_publisher_len(publisher), 0);
        }
    }
}

/* ---- Waiting. */

static void a_waiting_subscriber_gets_what_is_published(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker[2];

        begin_with(kind, 2);
        for (int i = 0; i < 2; i++)
            worker[i] = spawn_reading(i, 1);
        run_to_rest();
        assert_true(try_publish(42));
        run_to_rest();
        for (int i = 0; i < 2; i++) {
            assert_int_equal(worker[i]->received[0], 42);
            assert_int_equal(worker[i]->polls, 2);
        }
    }
}

static void more_messages_than_fit_pass_from_one_task_to_two(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct worker *publishing;
        const struct worker *reading[2];

        begin_with(kind, 2);
        for (int i = 0; i < 2; i++)
            reading[i] = spawn_reading(i, 8);
        publishing = spawn_publishing(1, 8);
        run_to_rest();
        assert_int_equal(publishing->done, 8);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(reading[0]->received[i], 1 + i);
            assert_int_equal(reading[1]->received[i], 1 + i);
            assert_int_equal(reading[0]->lagged[i], 0);
        }
    }
}

static void who_waits_is_woken_in_the_order_of_subscription(void **state)
{
    (void)state;
    begin(&kinds[QUEUE_4]);
    for (int i = 0; i < TASKS; i++)
        dz_subscriber_subscribe(&subscribers[TASKS - 1 - i], publisher);
    for (int i = 0; i < TASKS; i++)
        spawn_reading(i, 1);
    assert_true(try_publish(1));
    for (int i = 0; i < TASKS; i++) {
        const struct dz_task *task = executor.first;

        for (int before = 0; before < i; before++)
            task = task->next;
        assert_ptr_equal(task, &readings_slots[TASKS - 1 - i].task);
    }
    run_to_rest();
}

static void a_read_that_frees_nothing_wakes_nobody(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct worker *worker;

        begin_with(kind, 2);
        fill(0);
        worker = spawn_publishing(9, 1);
        assert_int_equal(read_now(0), 0);
        run_to_rest();
        assert_int_equal(worker->polls, 1);
        assert_int_equal(read_now(1), 0);
        run_to_rest();
        assert_int_equal(worker->polls, 2);
    }
}

/* P6: every freed slot woke all publishers, and anyone won. */
static void a_freed_slot_wakes_the_first_publisher_alone(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct worker *worker[3];

        begin_with(kind, 1);
        fill(0);
        for (int i = 0; i < 3; i++)
            worker[i] = spawn_publishing(100 + i, 1);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(read_now(0) >= 0, true);
            run_to_rest();
            for (int other = 0; other < 3; other++) {
                assert_int_equal(worker[other]->done, other <= i ? 1 : 0);
                assert_int_equal(worker[other]->polls, other <= i ? 2 : 1);
            }
        }
        for (int i = 0; i < kind->type->capacity - 3; i++)
            read_now(0);
        while (dz_subscriber_available(&subscribers[0]) > 1)
            read_now(0);
        assert_int_equal(read_now(0), 102);
    }
}

static void a_promised_slot_is_nobody_elses(void **state)
{
    const struct worker *worker;

    (void)state;
    begin_with(&kinds[QUEUE_1], 1);
    fill(0);
    worker = spawn_publishing(7, 1);
    assert_int_equal(read_now(0), 0);
    assert_int_equal(dz_publisher_free(publisher), 0);
    assert_int_equal(dz_publisher_len(publisher), 0);
    assert_false(try_publish(8));
    run_to_rest();
    assert_int_equal(worker->done, 1);
    assert_int_equal(read_now(0), 7);
}

static void who_publishes_immediately_may_use_a_promised_slot(void **state)
{
    const struct worker *worker;

    (void)state;
    begin_with(&kinds[QUEUE_1], 1);
    fill(0);
    worker = spawn_publishing(7, 1);
    assert_int_equal(read_now(0), 0);
    publish_immediately(8, 1);
    assert_int_equal(dz_publisher_len(publisher), 1);
    run_to_rest();
    assert_int_equal(worker->done, 1);
    assert_int_equal(worker->polls, 2);
    assert_int_equal(dz_publisher_len(publisher), 1);
    assert_int_equal(read_now(0), 7);
    assert_int_equal(subscribers[0].lagged, 1);
    assert_int_equal(dz_publisher_free(publisher), 1);
}

static void a_promised_slot_that_was_used_may_be_free_again(void **state)
{
    const struct worker *worker;

    (void)state;
    begin_with(&kinds[QUEUE_1], 1);
    fill(0);
    worker = spawn_publishing(7, 1);
    assert_int_equal(read_now(0), 0);
    publish_immediately(8, 1);
    assert_int_equal(read_now(0), 8);
    run_to_rest();
    assert_int_equal(worker->done, 1);
    assert_int_equal(read_now(0), 7);
    assert_int_equal(subscribers[0].lagged, 0);
}

static void all_publishers_go_on_when_the_last_subscriber_leaves(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct worker *worker[TASKS];

        begin_with(kind, 1);
        fill(0);
        for (int i = 0; i < TASKS; i++)
            worker[i] = spawn_publishing(i, 1);
        dz_subscriber_unsubscribe(&subscribers[0]);
        assert_true(try_publish(9));
        run_to_rest();
        for (int i = 0; i < TASKS; i++) {
            assert_int_equal(worker[i]->done, 1);
            assert_int_equal(worker[i]->polls, 2);
        }
        assert_int_equal(dz_publisher_free(publisher), kind->type->capacity);
    }
}

/* Though nothing is freed by that: it was empty, and its slot promised. */
static void who_waits_behind_a_promise_goes_on_without_subscribers(void **state)
{
    const struct worker *first;
    const struct worker *second;

    (void)state;
    begin_with(&kinds[QUEUE_1], 1);
    fill(0);
    first = spawn_publishing(1, 1);
    second = spawn_publishing(2, 1);
    read_now(0);
    dz_subscriber_unsubscribe(&subscribers[0]);
    dz_executor_poll(&executor);
    assert_int_equal(first->done, 1);
    assert_int_equal(second->done, 1);
}

static void the_publisher_goes_on_without_subscribers_single_slot(void **state)
{
    const struct worker *worker;

    (void)state;
    begin_with(&kinds[SLOT_1], 1);
    fill(0);
    worker = spawn_publishing(1, 3);
    dz_subscriber_unsubscribe(&subscribers[0]);
    run_to_rest();
    assert_int_equal(worker->done, 3);
}

/* W1 */
static void idle_waiters_are_polled_only_under_the_single_slot_policy(
    void **state)
{
    static const int which[] = {QUEUE_1, SLOT_1};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct worker *publishing[2];
        const struct worker *reading[2];

        begin_with(&kinds[which[i]], 2);
        fill(0);
        read_now(1);
        for (int k = 0; k < 2; k++) {
            publishing[k] = spawn_publishing(1, 1);
            reading[k] = spawn_reading(1, 1); /* both with the same */
        }
        for (int round = 0; round < 1000; round++)
            dz_executor_poll(&executor);
        assert_int_equal(publishing[0]->polls + publishing[1]->polls > 2, i);
        assert_int_equal(reading[0]->polls + reading[1]->polls > 2, i);
    }
}

static void two_that_wait_with_one_subscriber_get_one_message_each(void **state)
{
    const struct worker *first;
    const struct worker *second;

    (void)state;
    begin_with(&kinds[QUEUE_4], 1);
    first = spawn_reading(0, 1);
    second = spawn_reading(0, 1);
    assert_true(try_publish(1));
    run_to_rest();
    assert_int_equal(first->received[0], 1);
    assert_int_equal(second->polls, 1);
    assert_true(try_publish(2));
    run_to_rest();
    assert_int_equal(second->received[0], 2);
}

/* W4 */
static void a_cancelled_publisher_passes_its_slot_on(void **state)
{
    struct worker *first;
    const struct worker *second;

    (void)state;
    begin_with(&kinds[QUEUE_1], 1);
    fill(0);
    first = spawn_publishing(1, 1);
    second = spawn_publishing(2, 1);
    read_now(0);
    dz_waiter_cancel(&first->task.waiter);
    dz_executor_poll(&executor);
    assert_int_equal(second->done, 1);
    assert_int_equal(read_now(0), 2);
    assert_int_equal(read_now(0), -1);
}

static void a_cancelled_publish_has_published_nothing(void **state)
{
    struct worker *worker;

    (void)state;
    begin_with(&kinds[QUEUE_1], 1);
    fill(0);
    worker = spawn_publishing(1, 1);
    read_now(0);
    dz_waiter_cancel(&worker->task.waiter);
    assert_int_equal(read_now(0), -1);
    assert_int_equal(dz_publisher_free(publisher), 1);
}

/* W4 */
static void a_cancelled_reader_leaves_the_message_unread(void **state)
{
    struct worker *first;
    const struct worker *second;

    (void)state;
    begin_with(&kinds[QUEUE_4], 1);
    first = spawn_reading(0, 1);
    second = spawn_reading(0, 1);
    assert_true(try_publish(1));
    assert_int_equal(dz_subscriber_available(&subscribers[0]), 0);
    dz_waiter_cancel(&first->task.waiter);
    run_to_rest();
    assert_int_equal(second->received[0], 1);

    begin_with(&kinds[QUEUE_4], 1);
    first = spawn_reading(0, 1);
    assert_true(try_publish(1));
    dz_waiter_cancel(&first->task.waiter);
    assert_int_equal(dz_subscriber_available(&subscribers[0]), 1);
    assert_int_equal(read_now(0), 1);
    assert_int_equal(dz_publisher_len(publisher), 0);
}

/* ---- Clear. */

/* P3 */
static void clear_is_no_lag(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin_with(kind, 2);
        fill(0);
        dz_publisher_clear(publisher);
        assert_int_equal(dz_publisher_len(publisher), 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(dz_subscriber_available(&subscribers[i]), 0);
            assert_int_equal(read_now(i), -1);
        }
        assert_true(try_publish(9));
        for (int i = 0; i < 2; i++) {
            assert_int_equal(read_now(i), 9);
            assert_int_equal(subscribers[i].lagged, 0);
        }
    }
}

static void what_was_lost_before_a_clear_is_told(void **state)
{
    (void)state;
    begin_with(&kinds[QUEUE_2], 1);
    publish_immediately(0, 5);
    dz_publisher_clear(publisher);
    assert_true(try_publish(9));
    assert_int_equal(read_now(0), 9);
    assert_int_equal(subscribers[0].lagged, 3);
}

/* C1 */
static void clear_wakes_as_many_publishers_as_it_frees_slots(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct worker *worker[TASKS];
        int freed = kind->type->capacity;

        begin_with(kind, 1);
        fill(0);
        for (int i = 0; i < TASKS; i++)
            worker[i] = spawn_publishing(10 + i, 1);
        dz_publisher_clear(publisher);
        run_to_rest();
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(worker[i]->done, i < freed ? 1 : 0);
        assert_int_equal(read_now(0), 10);
    }
}

static void clear_wakes_the_publisher_under_the_single_slot_policy(void **state)
{
    const struct worker *worker;

    (void)state;
    begin_with(&kinds[SLOT_1], 1);
    fill(0);
    worker = spawn_publishing(1, 1);
    dz_publisher_clear(publisher);
    run_to_rest();
    assert_int_equal(worker->done, 1);
    assert_int_equal(read_now(0), 1);
}

static void clear_leaves_a_message_to_who_was_promised_one(void **state)
{
    const struct worker *worker;

    (void)state;
    begin_with(&kinds[QUEUE_4], 2);
    worker = spawn_reading(0, 1);
    publish_immediately(1, 3);
    dz_publisher_clear(publisher);
    assert_int_equal(dz_publisher_len(publisher), 1);
    assert_int_equal(dz_subscriber_available(&subscribers[1]), 0);
    assert_int_equal(read_now(1), -1);
    run_to_rest();
    assert_int_equal(worker->received[0], 3);
    assert_int_equal(worker->lagged[0], 0);
    assert_int_equal(read_now(0), -1);
    assert_int_equal(dz_publisher_len(publisher), 0);
}

static void a_promised_message_that_is_overwritten_is_lag(void **state)
{
    const struct worker *worker;

    (void)state;
    begin_with(&kinds[QUEUE_1], 1);
    worker = spawn_reading(0, 1);
    publish_immediately(1, 3);
    run_to_rest();
    assert_int_equal(worker->received[0], 3);
    assert_int_equal(worker->lagged[0], 2);
    assert_int_equal(worker->polls, 2);
}

/* ---- Contexts. */

static void do_all_in_a_handler(void *argument)
{
    int message = *(int *)argument;

    dz_subscriber_subscribe(&subscribers[3], publisher);
    assert_true(dz_publisher_try_publish(publisher, &message));
    assert_int_equal(read_now(3), message);
    message++;
    dz_publisher_publish_immediate(publisher, &message);
    assert_int_equal(dz_subscriber_available(&subscribers[3]), 1);
    dz_subscriber_unsubscribe(&subscribers[3]);
}

static void an_interrupt_publishes_subscribes_and_reads(void **state)
{
    const struct worker *worker;
    int message = 5;

    (void)state;
    begin_with(&kinds[QUEUE_4], 1);
    worker = spawn_reading(0, 2);
    interrupt_now(do_all_in_a_handler, &message);
    run_to_rest();
    assert_int_equal(worker->received[0], 5);
    assert_int_equal(worker->received[1], 6);
}

static void clear_in_a_handler(void *argument)
{
    (void)argument;
    dz_publisher_clear(publisher);
}

/* W10 */
static void an_interrupt_behind_the_registration_is_not_lost(void **state)
{
    static const int which[] = {QUEUE_1, SLOT_1};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct worker *worker;
        int message = 9;

        begin_with(&kinds[which[i]], 1);
        prepare_strike(do_all_in_a_handler, &message);
        worker = spawn_reading(0, 1);
        assert_int_equal(has_struck_in_queue(), which[i] == QUEUE_1);
        assert_int_equal(worker->done, 0);
        run_to_rest();
        assert_int_equal(worker->done, 1);

        begin_with(&kinds[which[i]], 1);
        fill(0);
        prepare_strike(clear_in_a_handler, NULL);
        worker = spawn_publishing(1, 1);
        assert_int_equal(has_struck_in_queue(), which[i] == QUEUE_1);
        assert_int_equal(worker->done, 0);
        run_to_rest();
        assert_int_equal(worker->done, 1);
    }
}

static void clear_a_noop_pubsub_in_two_contexts(void)
{
    begin(&kinds[NOOP_1]);
    interrupt_now(clear_in_a_handler, NULL);
    dz_publisher_clear(publisher);
}

static void clear_a_thread_mode_pubsub_in_an_interrupt(void)
{
    begin(&kinds[THREAD_1]);
    interrupt_now(clear_in_a_handler, NULL);
}

static void publish_in_a_handler(void *argument)
{
    walk_away_from(dz_publisher_publish(publisher, argument));
}

static void wait_to_publish_in_an_interrupt(void)
{
    begin_with(&kinds[QUEUE_1], 1);
    fill(0);
    interrupt_now(publish_in_a_handler, &(int){1});
}

static void next_in_a_handler(void *argument)
{
    walk_away_from(dz_subscriber_next(&subscribers[0], argument));
}

static void wait_for_a_message_in_an_interrupt(void)
{
    begin_with(&kinds[QUEUE_1], 1);
    interrupt_now(next_in_a_handler, &(int){1});
}

static void subscribe_twice(void)
{
    begin_with(&kinds[QUEUE_1], 1);
    dz_subscriber_subscribe(&subscribers[0], publisher);
}

static void unsubscribe_twice(void)
{
    begin_with(&kinds[QUEUE_1], 1);
    dz_subscriber_unsubscribe(&subscribers[0]);
    dz_subscriber_unsubscribe(&subscribers[0]);
}

static void read_without_subscribing(void)
{
    begin(&kinds[QUEUE_1]);
    read_now(0);
}

static void wait_without_subscribing(void)
{
    begin(&kinds[QUEUE_1]);
    spawn_reading(0, 1);
}

static void count_without_subscribing(void)
{
    begin(&kinds[QUEUE_1]);
    dz_subscriber_available(&subscribers[0]);
}

static void leave_while_a_branch_waits(void)
{
    begin_with(&kinds[QUEUE_1], 1);
    spawn_reading(0, 1);
    dz_subscriber_unsubscribe(&subscribers[0]);
}

static void leave_while_a_branch_is_promised_a_message(void)
{
    begin_with(&kinds[QUEUE_1], 1);
    spawn_reading(0, 1);
    try_publish(1);
    dz_subscriber_unsubscribe(&subscribers[0]);
}

static void leave_with_a_copy(void)
{
    struct dz_subscriber copy;

    begin_with(&kinds[QUEUE_1], 1);
    copy = subscribers[0];
    dz_subscriber_unsubscribe(&copy);
}

static void misuse_panics_with_its_reason(void **state)
{
    (void)state;
    assert_says(
        last_words_at(DZ_EXIT_RACE, clear_a_noop_pubsub_in_two_contexts),
        "noop_queue_1 at 0x");
    assert_says(
        last_words_at(DZ_EXIT_RACE, clear_a_thread_mode_pubsub_in_an_interrupt),
        "thread_queue_1 at 0x");
    assert_says(
        last_words_of(wait_to_publish_in_an_interrupt), "await outside a task");
    assert_says(last_words_of(wait_for_a_message_in_an_interrupt),
        "await outside a task");
    assert_says(last_words_of(subscribe_twice), "is subscribed already");
    assert_says(last_words_of(unsubscribe_twice), "that is not subscribed");
    assert_says(
        last_words_of(read_without_subscribing), "that is not subscribed");
    assert_says(
        last_words_of(wait_without_subscribing), "that is not subscribed");
    assert_says(
        last_words_of(count_without_subscribing), "that is not subscribed");
    assert_says(
        last_words_of(leave_while_a_branch_waits), "a branch waits with it");
    assert_says(last_words_of(leave_while_a_branch_is_promised_a_message),
        "a branch waits with it");
    assert_says(last_words_of(leave_with_a_copy), "that was copied");
}

RUN_TESTS(TEST(the_example_of_the_header_works),
    TEST(a_guard_unsubscribes_when_the_branch_is_cancelled),
    TEST(a_guard_unsubscribes_when_the_task_is_cancelled),
    TEST(every_subscriber_gets_every_message_in_order),
    TEST(a_subscriber_gets_only_what_comes_after_it),
    TEST(without_subscribers_a_message_is_discarded),
    TEST(a_full_pubsub_takes_no_more),
    TEST(available_counts_what_a_subscriber_has_not_read),
    TEST(len_counts_what_somebody_has_not_read),
    TEST(it_is_empty_when_the_last_subscriber_has_left),
    TEST(the_typed_forms_hand_on_what_they_are_given),
    TEST(a_message_may_be_a_pointer),
    TEST(who_lags_is_told_once_and_then_gets_the_oldest_kept),
    TEST(only_who_had_not_read_it_lags), TEST(lag_ends_at_65535),
    TEST(the_largest_capacity_counts_right),
    TEST(a_lagged_subscriber_that_leaves_frees_all),
    TEST(a_slow_subscriber_that_leaves_frees_what_others_have_read),
    TEST(who_leaves_behind_a_clear_frees_all),
    TEST(who_has_cancelled_its_wait_may_leave), TEST(anyone_may_leave),
    TEST(a_waiting_subscriber_gets_what_is_published),
    TEST(more_messages_than_fit_pass_from_one_task_to_two),
    TEST(who_waits_is_woken_in_the_order_of_subscription),
    TEST(a_read_that_frees_nothing_wakes_nobody),
    TEST(a_freed_slot_wakes_the_first_publisher_alone),
    TEST(a_promised_slot_is_nobody_elses),
    TEST(who_publishes_immediately_may_use_a_promised_slot),
    TEST(a_promised_slot_that_was_used_may_be_free_again),
    TEST(all_publishers_go_on_when_the_last_subscriber_leaves),
    TEST(who_waits_behind_a_promise_goes_on_without_subscribers),
    TEST(the_publisher_goes_on_without_subscribers_single_slot),
    TEST(idle_waiters_are_polled_only_under_the_single_slot_policy),
    TEST(two_that_wait_with_one_subscriber_get_one_message_each),
    TEST(a_cancelled_publisher_passes_its_slot_on),
    TEST(a_cancelled_publish_has_published_nothing),
    TEST(a_cancelled_reader_leaves_the_message_unread), TEST(clear_is_no_lag),
    TEST(what_was_lost_before_a_clear_is_told),
    TEST(clear_wakes_as_many_publishers_as_it_frees_slots),
    TEST(clear_wakes_the_publisher_under_the_single_slot_policy),
    TEST(clear_leaves_a_message_to_who_was_promised_one),
    TEST(a_promised_message_that_is_overwritten_is_lag),
    TEST(an_interrupt_publishes_subscribes_and_reads),
    TEST(an_interrupt_behind_the_registration_is_not_lost),
    TEST(misuse_panics_with_its_reason))
