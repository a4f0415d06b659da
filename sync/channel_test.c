/* SPDX-License-Identifier: MIT */

/*
 * channel_test -- what channels and priority channels have in common
 *
 * A priority channel whose items are all equal is a channel, so the tests below
 * run with it, too. What is its own is in priority_channel_test.c.
 */

#include "sync/channel.h"

#include "executor/select.h"
#include "sim/test.h"
#include "sync/priority_channel.h"

enum { TASKS = 4, CAPACITY = 3 };

/* Every raw mutex under both policies, of capacity 1 and of capacity 3. */
#define FOR_EACH_KIND(X)                                         \
    X(noop_queue_1, 1, DZ_NOOP, DZ_QUEUE)                        \
    X(thread_queue_1, 1, DZ_THREAD_MODE, DZ_QUEUE)               \
    X(critical_queue_1, 1, DZ_CRITICAL_SECTION, DZ_QUEUE)        \
    X(noop_slot_1, 1, DZ_NOOP, DZ_SINGLE_SLOT)                   \
    X(thread_slot_1, 1, DZ_THREAD_MODE, DZ_SINGLE_SLOT)          \
    X(critical_slot_1, 1, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT)   \
    X(noop_queue_3, CAPACITY, DZ_NOOP, DZ_QUEUE)                 \
    X(thread_queue_3, CAPACITY, DZ_THREAD_MODE, DZ_QUEUE)        \
    X(critical_queue_3, CAPACITY, DZ_CRITICAL_SECTION, DZ_QUEUE) \
    X(noop_slot_3, CAPACITY, DZ_NOOP, DZ_SINGLE_SLOT)            \
    X(thread_slot_3, CAPACITY, DZ_THREAD_MODE, DZ_SINGLE_SLOT)   \
    X(critical_slot_3, CAPACITY, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT)

#define FOR_EACH_EQUAL_KIND(X)                                       \
    X(equal_noop_queue_1, 1, DZ_NOOP, DZ_QUEUE)                      \
    X(equal_thread_queue_1, 1, DZ_THREAD_MODE, DZ_QUEUE)             \
    X(equal_critical_slot_1, 1, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT) \
    X(equal_noop_slot_3, CAPACITY, DZ_NOOP, DZ_SINGLE_SLOT)          \
    X(equal_thread_slot_3, CAPACITY, DZ_THREAD_MODE, DZ_SINGLE_SLOT) \
    X(equal_critical_queue_3, CAPACITY, DZ_CRITICAL_SECTION, DZ_QUEUE)

static bool never(const int *one, const int *other)
{
    (void)one;
    (void)other;
    return false;
}

#define DEFINE(name, capacity, mutex, policy)                    \
    DZ_CHANNEL_DEFINE_POLICY(name, int, capacity, mutex, policy) \
    static struct name name;
#define DEFINE_EQUAL(name, capacity, mutex, policy) \
    DZ_PRIORITY_CHANNEL_DEFINE_POLICY(              \
        name, int, capacity, never, mutex, policy)  \
    static struct name name;

FOR_EACH_KIND(DEFINE)
FOR_EACH_EQUAL_KIND(DEFINE_EQUAL)

/* A channel of which the tests know no more than what they look up here. */
struct kind {
    void *channel;
    size_t size;
    const struct dz_channel_type *type;
};

#define ENTRY(name, capacity, mutex, policy) \
    {&name, sizeof(name), &name##_type},

static const struct kind kinds[] = {
    FOR_EACH_KIND(ENTRY) FOR_EACH_EQUAL_KIND(ENTRY)};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static struct dz_executor executor;
static struct dz_sender sender;
static struct dz_receiver receiver;

/* A task that sends `count` values from `value` on, or receives them. */
struct worker {
    struct dz_task task;
    int value;
    int count;
    int done; /* how many so far */
    int received[8];
};

static enum dz_poll sending_poll(struct worker *self)
{
    async (self) {
        for (; self->done < self->count; self->done++, self->value++)
            await(dz_sender_send(sender, &self->value));
    }
    return DZ_READY;
}

static enum dz_poll receive(struct worker *self)
{
    strike_behind_wait();
    return dz_receiver_receive(receiver, &self->received[self->done]);
}

static enum dz_poll receiving_poll(struct worker *self)
{
    async (self) {
        for (; self->done < self->count; self->done++)
            await(receive(self));
    }
    return DZ_READY;
}

static enum dz_poll ready_to_send_poll(struct worker *self)
{
    async (self) {
        await(dz_sender_ready(sender));
        self->done = 1;
    }
    return DZ_READY;
}

static enum dz_poll ready_to_receive_poll(struct worker *self)
{
    async (self) {
        await(dz_receiver_ready(receiver));
        self->done = 1;
    }
    return DZ_READY;
}

DZ_TASK_POOL(sendings, struct worker, sending_poll, TASKS)
DZ_TASK_POOL(receivings, struct worker, receiving_poll, TASKS)
DZ_TASK_POOL(ready_to_sends, struct worker, ready_to_send_poll, TASKS)
DZ_TASK_POOL(ready_to_receives, struct worker, ready_to_receive_poll, TASKS)

static void begin(const struct kind *kind)
{
    memset(kind->channel, 0, kind->size);
    memset(sendings_slots, 0, sizeof(sendings_slots));
    memset(receivings_slots, 0, sizeof(receivings_slots));
    memset(ready_to_sends_slots, 0, sizeof(ready_to_sends_slots));
    memset(ready_to_receives_slots, 0, sizeof(ready_to_receives_slots));
    dz_executor_init(&executor, "test");
    sender = (struct dz_sender){kind->channel, kind->type};
    receiver = (struct dz_receiver){kind->channel, kind->type};
}

static struct worker *spawn(const struct dz_pool *pool, int value, int count)
{
    struct worker *worker = dz_pool_claim(pool);

    assert_non_null(worker);
    worker->value = value;
    worker->count = count;
    dz_executor_spawn(&executor, &worker->task);
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

static void fill(void)
{
    int value = 100;

    while (dz_sender_try_send(sender, &value))
        value++;
}

#define FOR_ALL_KINDS \
    for (const struct kind *kind = kinds; kind < kinds + KINDS; kind++)

#define FOR_ALL_QUEUES FOR_ALL_KINDS if (kind->type->object.policy == DZ_QUEUE)

static void values_come_out_in_the_order_in_which_they_went_in(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        int next = 0;
        int expected = 0;
        int value;

        begin(kind);
        for (int round = 0; round < 10; round++) {
            while (dz_sender_try_send(sender, &next))
                next++;
            assert_true(dz_receiver_try_receive(receiver, &value));
            assert_int_equal(value, expected++);
        }
    }
}

static void a_full_channel_takes_no_more(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        int value = 1;

        begin(kind);
        for (unsigned i = 0; i < kind->type->capacity; i++)
            assert_true(dz_sender_try_send(sender, &value));
        assert_false(dz_sender_try_send(sender, &value));
        assert_int_equal(value, 1);
        assert_int_equal(dz_sender_free(sender), 0);
        assert_int_equal(dz_receiver_len(receiver), kind->type->capacity);
    }
}

static void an_empty_channel_has_nothing_to_give(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        int value = 7;

        begin(kind);
        assert_false(dz_receiver_try_receive(receiver, &value));
        assert_false(dz_receiver_peek(receiver, &value));
        assert_int_equal(value, 7);
        assert_int_equal(dz_sender_free(sender), kind->type->capacity);
    }
}

static void a_peek_takes_nothing(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        int value = 0;

        begin(kind);
        fill();
        for (int i = 0; i < 2; i++) {
            assert_true(dz_receiver_peek(receiver, &value));
            assert_int_equal(value, 100);
        }
        assert_int_equal(dz_receiver_len(receiver), kind->type->capacity);
    }
}

static void a_waiting_receiver_gets_what_is_tried_to_send(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker;
        int value = 42;

        begin(kind);
        worker = spawn(&receivings, 0, 1);
        run_to_rest();
        assert_true(dz_sender_try_send(sender, &value));
        run_to_rest();
        assert_int_equal(worker->received[0], 42);
    }
}

static void a_send_is_done_at_once_while_there_is_room(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker;

        begin(kind);
        worker = spawn(&sendings, 1, 1);
        dz_executor_poll(&executor);
        assert_int_equal(worker->done, 1);
        assert_int_equal(dz_receiver_len(receiver), 1);
    }
}

static void waiting_senders_finish_when_there_is_room(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *first;
        struct worker *second;
        int value;

        if (kind->type->object.policy == DZ_SINGLE_SLOT)
            continue; /* two of them do not come to rest */
        begin(kind);
        fill();
        first = spawn(&sendings, 1, 1);
        second = spawn(&sendings, 2, 1);
        run_to_rest();
        assert_int_equal(first->done + second->done, 0);
        assert_true(dz_receiver_try_receive(receiver, &value));
        run_to_rest();
        assert_int_equal(first->done, 1);
        assert_true(dz_receiver_try_receive(receiver, &value));
        run_to_rest();
        assert_int_equal(second->done, 1);
    }
}

static void more_values_than_fit_pass_between_two_tasks(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *sending;
        struct worker *receiving;

        begin(kind);
        receiving = spawn(&receivings, 0, 8);
        sending = spawn(&sendings, 1, 8);
        run_to_rest();
        assert_int_equal(sending->done, 8);
        for (int i = 0; i < 8; i++)
            assert_int_equal(receiving->received[i], 1 + i);
    }
}

/* C1: clear did not wake the senders. */
static void clear_wakes_as_many_senders_as_it_frees_slots(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker[TASKS];
        int freed = kind->type->capacity;
        int done = 0;

        begin(kind);
        fill();
        for (int i = 0; i < TASKS; i++)
            worker[i] = spawn(&sendings, i, 1);
        run_to_rest();
        dz_channel_clear(sender.channel, sender.type);
        run_to_rest();
        for (int i = 0; i < TASKS; i++) {
            assert_int_equal(worker[i]->done, i < freed ? 1 : 0);
            done += worker[i]->done;
        }
        assert_int_equal(dz_receiver_len(receiver), done);
    }
}

static void clear_wakes_the_sender_under_the_single_slot_policy(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker;

        begin(kind);
        fill();
        worker = spawn(&sendings, 1, 1);
        run_to_rest();
        dz_channel_clear(sender.channel, sender.type);
        run_to_rest();
        assert_int_equal(worker->done, 1);
        assert_int_equal(dz_receiver_len(receiver), 1);
    }
}

static void a_cleared_channel_is_as_new(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        int value = 5;

        begin(kind);
        for (int round = 0; round < 5; round++) {
            fill();
            (void)dz_receiver_try_receive(receiver, &value);
            dz_channel_clear(sender.channel, sender.type);
            assert_int_equal(dz_receiver_len(receiver), 0);
            assert_int_equal(dz_sender_free(sender), kind->type->capacity);
            value = round;
            assert_true(dz_sender_try_send(sender, &value));
            value = -1;
            assert_true(dz_receiver_try_receive(receiver, &value));
            assert_int_equal(value, round);
        }
    }
}

/* C4: upstream, the values of waiting senders arrive 3, 2, 1. */
static void waiting_senders_are_served_in_order(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        int value;

        begin(kind);
        fill();
        for (int i = 1; i <= 3; i++)
            (void)spawn(&sendings, i, 1);
        run_to_rest();
        for (unsigned i = 0; i < kind->type->capacity; i++) {
            assert_true(dz_receiver_try_receive(receiver, &value));
            run_to_rest();
        }
        for (int i = 1; i <= 3; i++) {
            assert_true(dz_receiver_try_receive(receiver, &value));
            assert_int_equal(value, i);
            run_to_rest();
        }
    }
}

static void waiting_receivers_are_served_in_order(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker[3];

        begin(kind);
        for (int i = 0; i < 3; i++)
            worker[i] = spawn(&receivings, 0, 1);
        run_to_rest();
        for (int i = 0; i < 3; i++) {
            assert_true(dz_sender_try_send(sender, &i));
            run_to_rest();
            assert_int_equal(worker[i]->received[0], i);
        }
    }
}

/* C5: upstream, a later sender takes the slot of the one that was woken. */
static void a_slot_is_kept_for_the_sender_that_was_woken(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker;
        int value = 9;

        begin(kind);
        fill();
        worker = spawn(&sendings, 1, 1);
        run_to_rest();
        assert_true(dz_receiver_try_receive(receiver, &value));
        assert_false(dz_sender_try_send(sender, &value));
        run_to_rest();
        assert_int_equal(worker->done, 1);
    }
}

/* Decision 3: full for a sender and empty for a receiver at the same time. */
static void what_is_promised_counts_neither_as_free_nor_as_there(void **state)
{
    int value = 3;

    (void)state;
    begin(&kinds[2]); /* critical section, queue, capacity 1 */
    assert_int_equal(kinds[2].type->capacity, 1);
    (void)spawn(&receivings, 0, 1);
    run_to_rest();
    assert_true(dz_sender_try_send(sender, &value));
    assert_true(critical_queue_1_is_full(&critical_queue_1));
    assert_true(critical_queue_1_is_empty(&critical_queue_1));
    assert_int_equal(critical_queue_1_len(&critical_queue_1), 0);
    assert_int_equal(critical_queue_1_free(&critical_queue_1), 0);
    assert_false(dz_receiver_peek(receiver, &value));
    assert_false(dz_receiver_try_receive(receiver, &value));
    assert_false(dz_sender_try_send(sender, &value));
    run_to_rest();
    assert_true(critical_queue_1_is_empty(&critical_queue_1));
    assert_int_equal(critical_queue_1_free(&critical_queue_1), 1);
}

/* Decision 4: clear drops only what is not promised: the newest. */
static void clear_leaves_a_promised_item_with_its_receiver(void **state)
{
    struct worker *worker;

    (void)state;
    FOR_ALL_QUEUES
    {
        begin(kind);
        worker = spawn(&receivings, 0, 1);
        run_to_rest();
        fill();
        dz_channel_clear(sender.channel, sender.type);
        assert_int_equal(dz_receiver_len(receiver), 0);
        assert_int_equal(dz_sender_free(sender), kind->type->capacity - 1);
        run_to_rest();
        assert_int_equal(worker->received[0], 100);
        assert_int_equal(dz_sender_free(sender), kind->type->capacity);
    }
}

static void clear_leaves_a_promised_slot_with_its_sender(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker;
        int value;

        begin(kind);
        fill();
        worker = spawn(&sendings, 1, 1);
        run_to_rest();
        assert_true(dz_receiver_try_receive(receiver, &value));
        dz_channel_clear(sender.channel, sender.type);
        assert_int_equal(dz_sender_free(sender), kind->type->capacity - 1);
        run_to_rest();
        assert_int_equal(worker->done, 1);
        assert_true(dz_receiver_try_receive(receiver, &value));
        assert_int_equal(value, 1);
    }
}

/* C13: waiting for room, and for a value. */
static void ready_waits_until_there_is_a_unit(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker;
        int value = 1;

        begin(kind);
        worker = spawn(&ready_to_receives, 0, 0);
        run_to_rest();
        assert_int_equal(worker->done, 0);
        assert_true(dz_sender_try_send(sender, &value));
        run_to_rest();
        assert_int_equal(worker->done, 1);
        assert_true(dz_receiver_try_receive(receiver, &value));
        fill();
        worker = spawn(&ready_to_sends, 0, 0);
        run_to_rest();
        assert_int_equal(worker->done, 0);
        assert_true(dz_receiver_try_receive(receiver, &value));
        run_to_rest();
        assert_int_equal(worker->done, 1);
        assert_true(dz_sender_try_send(sender, &value));
    }
}

/* C3: upstream, it is never ready in a priority channel. */
static void ready_to_send_is_ready_while_a_slot_is_free(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        int value = 1;

        begin(kind);
        for (unsigned i = 0; i < kind->type->capacity; i++) {
            struct worker *worker = spawn(&ready_to_sends, 0, 0);

            dz_executor_poll(&executor);
            assert_int_equal(worker->done, 1);
            assert_true(dz_sender_try_send(sender, &value));
        }
        assert_int_equal(spawn(&ready_to_sends, 0, 0)->done, 0);
        dz_executor_poll(&executor);
        assert_int_equal(dz_sender_free(sender), 0);
        assert_non_null(sender.channel->slots.first);
    }
}

/* C13: Ready is no reservation, and takes nothing from those behind it. */
static void ready_passes_the_unit_to_the_next_in_line(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *ready;
        struct worker *worker;
        int value = 1;

        begin(kind);
        ready = spawn(&ready_to_receives, 0, 0);
        worker = spawn(&receivings, 0, 1);
        run_to_rest();
        assert_true(dz_sender_try_send(sender, &value));
        run_to_rest();
        assert_int_equal(ready->done, 1);
        assert_int_equal(worker->received[0], 1);
        assert_false(dz_receiver_try_receive(receiver, &value));
    }
}

/* C13: upstream registered though it was ready, and displaced a waiter. */
static void ready_at_once_registers_nobody(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        (void)spawn(&ready_to_sends, 0, 0);
        run_to_rest();
        assert_null(sender.channel->slots.first);
        assert_int_equal(dz_sender_free(sender), kind->type->capacity);
    }
}

/* W1 for the channel: 1000 idle rounds cost nothing under the queue policy,
 * and never end under the other. */
static void idle_waiters_are_polled_only_under_the_single_slot_policy(
    void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        int passes = 0;

        begin(kind);
        (void)spawn(&receivings, 0, 1);
        (void)spawn(&receivings, 0, 1);
        dz_executor_poll(&executor);
        for (int i = 0; i < 1000; i++) {
            passes += dz_executor_is_ready(&executor);
            dz_executor_poll(&executor);
        }
        assert_int_equal(
            passes, kind->type->object.policy == DZ_QUEUE ? 0 : 1000);
    }
}

static struct worker *woken_then_cancelled(struct worker *worker)
{
    dz_waiter_cancel(&worker->task.waiter);
    return worker;
}

/* W4 on both sides. */
static void a_cancelled_receiver_passes_its_item_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        struct worker *second;
        int value = 6;

        begin(kind);
        first = spawn(&receivings, 0, 1);
        second = spawn(&receivings, 0, 1);
        run_to_rest();
        assert_true(dz_sender_try_send(sender, &value));
        assert_ptr_equal(woken_then_cancelled(first), first);
        assert_true(second->task.waiter.place & DZ_PLACE_GRANTED);
        dz_waiter_cancel(&second->task.waiter);
        assert_int_equal(dz_receiver_len(receiver), 1);
    }
}

static void a_cancelled_sender_passes_its_slot_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        struct worker *second;
        int value;

        begin(kind);
        fill();
        first = spawn(&sendings, 1, 1);
        second = spawn(&sendings, 2, 1);
        run_to_rest();
        assert_true(dz_receiver_try_receive(receiver, &value));
        assert_ptr_equal(woken_then_cancelled(first), first);
        assert_true(second->task.waiter.place & DZ_PLACE_GRANTED);
        dz_waiter_cancel(&second->task.waiter);
        assert_int_equal(dz_sender_free(sender), 1);
    }
}

struct either {
    struct dz_task task;
    struct dz_select2 select;
    int value;
    int other;
};

static enum dz_poll either_poll(struct either *self)
{
    async (self) {
        await(dz_select2(&self->select,
            critical_queue_1_send(&critical_queue_1, &self->value),
            critical_queue_3_receive(&critical_queue_3, &self->other)));
    }
    return DZ_READY;
}

DZ_TASK_POOL(eithers, struct either, either_poll, 1)

static void a_send_that_is_cancelled_has_sent_nothing(void **state)
{
    struct either *either;
    int value = 8;

    (void)state;
    begin(&kinds[2]);
    memset(&critical_queue_3, 0, sizeof(critical_queue_3));
    fill();
    (void)eithers_claim(&either);
    either->value = 77;
    dz_executor_spawn(&executor, &either->task);
    run_to_rest();
    assert_true(critical_queue_3_try_send(&critical_queue_3, &value));
    run_to_rest();
    assert_int_equal(dz_select_winner(&either->select), 1);
    assert_int_equal(either->other, 8);
    assert_true(critical_queue_1_try_receive(&critical_queue_1, &value));
    assert_int_equal(value, 100);
    assert_true(critical_queue_1_is_empty(&critical_queue_1));
    assert_int_equal(critical_queue_1_free(&critical_queue_1), 1);
}

static void a_receive_that_is_cancelled_has_taken_nothing(void **state)
{
    struct either *either;
    int value = 8;

    (void)state;
    begin(&kinds[2]);
    memset(&critical_queue_3, 0, sizeof(critical_queue_3));
    fill();
    (void)eithers_claim(&either);
    either->value = 77;
    either->other = -1;
    dz_executor_spawn(&executor, &either->task);
    run_to_rest();
    assert_true(critical_queue_1_try_receive(&critical_queue_1, &value));
    run_to_rest();
    assert_int_equal(dz_select_winner(&either->select), 0);
    assert_int_equal(either->other, -1);
    assert_true(critical_queue_3_try_send(&critical_queue_3, &value));
    assert_int_equal(critical_queue_3_len(&critical_queue_3), 1);
}

/* Until it is sent, the value is the caller's, who may change it. */
static void a_value_is_copied_when_it_is_sent(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker;
        int value;

        begin(kind);
        fill();
        worker = spawn(&sendings, 1, 1);
        run_to_rest();
        dz_channel_clear(sender.channel, sender.type);
        worker->value = 2;
        run_to_rest();
        worker->value = 3;
        assert_true(dz_receiver_try_receive(receiver, &value));
        assert_int_equal(value, 2);
    }
}

static void send_from_handler(void *argument)
{
    (void)critical_queue_1_try_send(&critical_queue_1, argument);
}

static void send_to_sender(void *argument)
{
    assert_true(dz_sender_try_send(sender, argument));
}

/* W10: the value comes right behind the look that found nothing. */
static void an_interrupt_behind_the_registration_is_not_lost(void **state)
{
    int value = 4;

    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker;

        if (kind->type->object.mutex != DZ_CRITICAL_SECTION)
            continue;
        begin(kind);
        prepare_strike(send_to_sender, &value);
        worker = spawn(&receivings, 0, 1);
        dz_executor_poll(&executor);
        assert_int_equal(worker->done, 0);
        assert_int_equal(
            has_struck_in_queue(), kind->type->object.policy == DZ_QUEUE);
        run_to_rest();
        assert_int_equal(worker->received[0], 4);
    }
}

/* W11: the wake-up's own interrupt uses the channel that is being used. */
static void an_interrupt_within_a_send_finds_the_channel_consistent(
    void **state)
{
    struct worker *first;
    struct worker *second;
    int value[2] = {1, 2};

    (void)state;
    begin(&kinds[8]); /* critical section, queue, capacity 3 */
    assert_int_equal(kinds[8].type->capacity, 3);
    first = spawn(&receivings, 0, 1);
    second = spawn(&receivings, 0, 1);
    run_to_rest();
    critical_queue_1 = (struct critical_queue_1){.items = {0}};
    interrupt_at_next_unmask(send_from_handler, &value[1]);
    assert_true(dz_sender_try_send(sender, &value[0]));
    assert_int_equal(critical_queue_1_len(&critical_queue_1), 1);
    assert_true(dz_sender_try_send(sender, &value[1]));
    run_to_rest();
    assert_int_equal(first->received[0], 1);
    assert_int_equal(second->received[0], 2);
}

static void receive_in_handler(void *argument)
{
    int value;

    (void)argument;
    walk_away_from(critical_queue_1_receive(&critical_queue_1, &value));
}

static void receive_in_an_interrupt(void)
{
    interrupt_now(receive_in_handler, NULL);
}

static void waiting_in_a_handler_names_the_channel(void **state)
{
    struct last_words words = last_words_of(receive_in_an_interrupt);

    (void)state;
    assert_says(words, "await outside a task");
    assert_says(words, "object: critical_queue_1 at 0x");
    assert_says(words, "here: interrupt 3");
}

static void a_typed_channel_and_its_handles_are_the_same(void **state)
{
    struct dz_sender out = noop_queue_3_sender(&noop_queue_3);
    struct dz_receiver in = noop_queue_3_receiver(&noop_queue_3);
    int value = 1;

    (void)state;
    begin(&kinds[6]);
    assert_int_equal(noop_queue_3_capacity(&noop_queue_3), CAPACITY);
    assert_true(noop_queue_3_try_send(&noop_queue_3, &value));
    value = 2;
    assert_true(dz_sender_try_send(out, &value));
    assert_int_equal(noop_queue_3_len(&noop_queue_3), 2);
    assert_true(noop_queue_3_peek(&noop_queue_3, &value));
    assert_int_equal(value, 1);
    assert_true(dz_receiver_try_receive(in, &value));
    assert_int_equal(value, 1);
    assert_true(noop_queue_3_try_receive(&noop_queue_3, &value));
    assert_int_equal(value, 2);
    assert_false(noop_queue_3_is_full(&noop_queue_3));
    assert_true(noop_queue_3_is_empty(&noop_queue_3));
}

/* Whoever has one half knows as much as who has the channel. */
static void both_handles_tell_and_clear(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        unsigned capacity = kind->type->capacity;
        struct dz_sender out;
        struct dz_receiver in;

        begin(kind);
        out = sender;
        in = receiver;
        assert_int_equal(dz_sender_capacity(out), capacity);
        assert_int_equal(dz_receiver_capacity(in), capacity);
        for (int round = 0; round < 2; round++) {
            assert_true(dz_sender_is_empty(out) && dz_receiver_is_empty(in));
            assert_false(dz_sender_is_full(out) || dz_receiver_is_full(in));
            assert_int_equal(dz_receiver_free(in), capacity);
            fill();
            assert_false(dz_sender_is_empty(out) || dz_receiver_is_empty(in));
            assert_true(dz_sender_is_full(out) && dz_receiver_is_full(in));
            assert_int_equal(dz_sender_len(out), capacity);
            if (round == 0)
                dz_sender_clear(out);
            else
                dz_receiver_clear(in);
        }
        assert_int_equal(dz_sender_free(out), capacity);
    }
}

struct event {
    int number;
};

DZ_CHANNEL_DEFINE(event_channel, struct event, 8, DZ_CRITICAL_SECTION)
static struct event_channel events;

static void send_in_interrupt(void *argument)
{
    struct event event = {1};

    (void)argument;
    assert_true(event_channel_try_send(&events, &event));
}

/* Sends one more than what it receives first, and receives that. */
struct successor {
    struct dz_task task;
    struct event event;
};

static enum dz_poll successor_poll(struct successor *self)
{
    async (self) {
        await(event_channel_receive(&events, &self->event));
        self->event.number++;
        await(event_channel_send(&events, &self->event));
    }
    return DZ_READY;
}

DZ_TASK_POOL(successors, struct successor, successor_poll, 1)

static void the_example_of_the_header_works(void **state)
{
    struct successor *successor;
    struct event event;

    (void)state;
    dz_executor_init(&executor, "test");
    (void)successors_claim(&successor);
    dz_executor_spawn(&executor, &successor->task);
    run_to_rest();
    interrupt_now(send_in_interrupt, NULL);
    run_to_rest();
    assert_true(event_channel_try_receive(&events, &event));
    assert_int_equal(event.number, 2);
}

RUN_TESTS(TEST(values_come_out_in_the_order_in_which_they_went_in),
    TEST(a_full_channel_takes_no_more),
    TEST(an_empty_channel_has_nothing_to_give), TEST(a_peek_takes_nothing),
    TEST(a_waiting_receiver_gets_what_is_tried_to_send),
    TEST(a_send_is_done_at_once_while_there_is_room),
    TEST(waiting_senders_finish_when_there_is_room),
    TEST(more_values_than_fit_pass_between_two_tasks),
    TEST(clear_wakes_as_many_senders_as_it_frees_slots),
    TEST(clear_wakes_the_sender_under_the_single_slot_policy),
    TEST(a_cleared_channel_is_as_new),
    TEST(waiting_senders_are_served_in_order),
    TEST(waiting_receivers_are_served_in_order),
    TEST(a_slot_is_kept_for_the_sender_that_was_woken),
    TEST(what_is_promised_counts_neither_as_free_nor_as_there),
    TEST(clear_leaves_a_promised_item_with_its_receiver),
    TEST(clear_leaves_a_promised_slot_with_its_sender),
    TEST(ready_waits_until_there_is_a_unit),
    TEST(ready_to_send_is_ready_while_a_slot_is_free),
    TEST(ready_passes_the_unit_to_the_next_in_line),
    TEST(ready_at_once_registers_nobody),
    TEST(idle_waiters_are_polled_only_under_the_single_slot_policy),
    TEST(a_cancelled_receiver_passes_its_item_on),
    TEST(a_cancelled_sender_passes_its_slot_on),
    TEST(a_send_that_is_cancelled_has_sent_nothing),
    TEST(a_receive_that_is_cancelled_has_taken_nothing),
    TEST(a_value_is_copied_when_it_is_sent), TEST(both_handles_tell_and_clear),
    TEST(an_interrupt_behind_the_registration_is_not_lost),
    TEST(an_interrupt_within_a_send_finds_the_channel_consistent),
    TEST(waiting_in_a_handler_names_the_channel),
    TEST(a_typed_channel_and_its_handles_are_the_same),
    TEST(the_example_of_the_header_works))
