/* SPDX-License-Identifier: MIT */
#include "sync/watch.h"

#include "executor/join.h"
#include "executor/select.h"
#include "sim/test.h"

enum { TASKS = 4 };

/* Every raw mutex under both policies, but for the one of the example. */
#define FOR_EACH_KIND(X)                           \
    X(noop_queue, DZ_NOOP, DZ_QUEUE)               \
    X(thread_queue, DZ_THREAD_MODE, DZ_QUEUE)      \
    X(noop_slot, DZ_NOOP, DZ_SINGLE_SLOT)          \
    X(thread_slot, DZ_THREAD_MODE, DZ_SINGLE_SLOT) \
    X(slot_watch, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT)

#define DEFINE(name, mutex, policy)                  \
    DZ_WATCH_DEFINE_POLICY(name, int, mutex, policy) \
    static struct name name;

FOR_EACH_KIND(DEFINE)

DZ_WATCH_DEFINE(level_watch, int, DZ_CRITICAL_SECTION)
static struct level_watch levels;

/* A watch of which the tests know no more than what they look up here. */
struct kind {
    void *watch;
    size_t size;
    const struct dz_watch_type *type;
};

#define ENTRY(name, mutex, policy) {&name, sizeof(name), &name##_type},

static const struct kind kinds[] = {
    FOR_EACH_KIND(ENTRY){&levels, sizeof(levels), &level_watch_type}};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), SLOT = 4, QUEUE = 5 };

#define FOR_ALL_KINDS \
    for (const struct kind *kind = kinds; kind < kinds + KINDS; kind++)

#define FOR_ALL_QUEUES FOR_ALL_KINDS if (kind->type->object.policy == DZ_QUEUE)

static struct dz_executor executor;
static struct dz_watch_sender sender;

/* A task that looks until it has got as many values as it wants. */
struct looker {
    struct dz_task task;
    struct dz_watch_receiver receiver;
    enum dz_poll (*look)(struct looker *self);
    int wanted;
    int count;
    int values[8];
    int least; /* of a value that it takes */
    int asked; /* how often its predicate was */
    int polls;
};

static int order[TASKS]; /* the slots of who got a value, one after another */
static int order_count;

static bool is_large(const void *value, void *argument)
{
    struct looker *self = argument;

    self->asked++;
    return *(const int *)value >= self->least;
}

static enum dz_poll get(struct looker *self)
{
    return dz_watch_receiver_get(&self->receiver, &self->values[self->count]);
}

static enum dz_poll changed(struct looker *self)
{
    return dz_watch_receiver_changed(
        &self->receiver, &self->values[self->count]);
}

static enum dz_poll get_large(struct looker *self)
{
    return dz_watch_receiver_get_and(
        &self->receiver, &self->values[self->count], is_large, self);
}

static enum dz_poll changed_large(struct looker *self)
{
    return dz_watch_receiver_changed_and(
        &self->receiver, &self->values[self->count], is_large, self);
}

static enum dz_poll look_poll(struct looker *self)
{
    self->polls++;
    strike_behind_wait();
    return self->look(self);
}

static enum dz_poll looker_poll(struct looker *self)
{
    async (self) {
        for (; self->count < self->wanted; self->count++) {
            await(look_poll(self));
            if (order_count < TASKS)
                order[order_count++] = (int)dz_task_slot(&self->task);
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(lookers, struct looker, looker_poll, TASKS)

static void begin(const struct kind *kind)
{
    memset(kind->watch, 0, kind->size);
    memset(lookers_slots, 0, sizeof(lookers_slots));
    order_count = 0;
    dz_executor_init(&executor, "test");
    sender = (struct dz_watch_sender){kind->watch, kind->type};
}

static struct dz_watch_receiver receiver(void)
{
    return (struct dz_watch_receiver){sender.watch, sender.type, 0};
}

static struct looker *spawn_not_run(
    enum dz_poll (*look)(struct looker *self), int wanted)
{
    struct looker *looker;

    assert_int_equal(lookers_claim(&looker), DZ_OK);
    looker->receiver = receiver();
    looker->look = look;
    looker->wanted = wanted;
    looker->least = 10;
    dz_executor_spawn(&executor, &looker->task);
    return looker;
}

static struct looker *spawn(
    enum dz_poll (*look)(struct looker *self), int wanted)
{
    struct looker *looker = spawn_not_run(look, wanted);

    dz_executor_poll(&executor);
    return looker;
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

static void send(int value)
{
    dz_watch_sender_send(sender, &value);
}

static bool add(void *value, void *argument)
{
    *(int *)value += *(int *)argument;
    return *(int *)argument != 0;
}

/* ---- The example of the header. */

static bool is_high(const int *value, void *argument)
{
    return *value > *(const int *)argument;
}

struct example {
    struct dz_task task;
    struct level_watch_receiver receiver;
    int level;
    int limit;
    int first;
};

static enum dz_poll example_poll(struct example *self)
{
    async (self) {
        self->receiver = level_watch_receiver(&levels);
        await(level_watch_receiver_changed(&self->receiver, &self->level));
        self->first = self->level;
        await(level_watch_receiver_changed_and(
            &self->receiver, &self->level, is_high, &self->limit));
    }
    return DZ_READY;
}

DZ_TASK_POOL(examples, struct example, example_poll, 1)

static void send_seven(void *argument)
{
    (void)argument;
    level_watch_send(&levels, 7);
}

static void the_example_of_the_header_works(void **state)
{
    struct example *example;

    (void)state;
    begin(&kinds[QUEUE]);
    assert_int_equal(examples_claim(&example), DZ_OK);
    example->limit = 8;
    dz_executor_spawn(&executor, &example->task);
    interrupt_now(send_seven, NULL);
    run_to_rest();
    assert_int_equal(example->first, 7);

    level_watch_send(&levels, 8);
    run_to_rest();
    assert_int_equal(example->level, 7);
    level_watch_send(&levels, 9);
    run_to_rest();
    assert_int_equal(example->level, 9);
}

/* ---- What is there, and who has seen it. */

static void each_receiver_gets_the_latest_value_once(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct dz_watch_receiver first;
        struct dz_watch_receiver second;
        int value = 0;

        begin(kind);
        first = receiver();
        second = receiver();
        send(1);
        send(2);
        assert_true(dz_watch_receiver_try_changed(&first, &value));
        assert_int_equal(value, 2);
        assert_false(dz_watch_receiver_try_changed(&first, &value));
        send(3);
        assert_true(dz_watch_receiver_try_changed(&first, &value));
        assert_int_equal(value, 3);
        assert_true(dz_watch_receiver_try_changed(&second, &value));
        assert_int_equal(value, 3);
        assert_false(dz_watch_receiver_try_changed(&second, &value));
    }
}

static void watch_sender_and_receiver_see_the_same(void **state)
{
    struct level_watch_receiver typed;
    struct looker large = {.least = 10};
    int value = 0;

    (void)state;
    begin(&kinds[QUEUE]);
    typed = level_watch_receiver(&levels);
    assert_false(level_watch_try_get(&levels, &value));
    assert_false(dz_watch_sender_try_get(sender, &value));
    assert_false(level_watch_receiver_try_get(&typed, &value));

    level_watch_send(&levels, 9);
    assert_true(level_watch_try_get(&levels, &value));
    assert_int_equal(value, 9);
    value = 0;
    assert_true(dz_watch_sender_try_get(sender, &value));
    assert_int_equal(value, 9);
    value = 0;
    assert_true(level_watch_receiver_try_get(&typed, &value));
    assert_int_equal(value, 9);
    assert_false(dz_watch_sender_try_get_and(sender, &value, is_large, &large));
    send(10);
    assert_true(dz_watch_sender_try_get_and(sender, &value, is_large, &large));
    assert_int_equal(value, 10);
}

static void try_get_looks_again_and_marks_as_seen(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct dz_watch_receiver own;
        int value = 0;

        begin(kind);
        own = receiver();
        send(1);
        for (int i = 0; i < 2; i++)
            assert_true(dz_watch_receiver_try_get(&own, &value));
        assert_false(dz_watch_receiver_try_changed(&own, &value));
    }
}

static void who_looks_without_a_receiver_leaves_it_unseen(void **state)
{
    struct dz_watch_receiver own;
    int value = 0;

    (void)state;
    begin(&kinds[QUEUE]);
    own = receiver();
    send(1);
    assert_true(dz_watch_sender_try_get(sender, &value));
    assert_true(dz_watch_receiver_try_changed(&own, &value));
}

/* A1: one rule, however the value came there. */
static void a_new_receiver_has_seen_nothing(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct looker *looker;

        begin(kind);
        send(1);
        looker = spawn(changed, 1);
        assert_int_equal(looker->count, 1);
        assert_int_equal(looker->values[0], 1);
        assert_int_equal(looker->polls, 1);
    }
}

static void a_copy_is_another_receiver(void **state)
{
    struct dz_watch_receiver first;
    struct dz_watch_receiver copy;
    int value = 0;

    (void)state;
    begin(&kinds[QUEUE]);
    first = receiver();
    send(1);
    assert_true(dz_watch_receiver_try_changed(&first, &value));
    copy = first;
    assert_false(dz_watch_receiver_try_changed(&copy, &value));
    send(2);
    assert_true(dz_watch_receiver_try_changed(&copy, &value));
    assert_true(dz_watch_receiver_try_changed(&first, &value));
}

/* P7: the two are one receiver, under two names. */
static void a_typed_receiver_and_its_untyped_form_are_one(void **state)
{
    struct level_watch_receiver typed;
    int value = 0;

    (void)state;
    begin(&kinds[QUEUE]);
    typed = level_watch_receiver(&levels);
    dz_watch_sender_send(level_watch_sender(&levels), &(int){5});
    assert_true(dz_watch_receiver_contains_value(&typed.receiver));
    assert_true(dz_watch_receiver_try_changed(&typed.receiver, &value));
    assert_int_equal(value, 5);
    assert_false(level_watch_receiver_try_changed(&typed, &value));
}

static void contains_value_tells_whether_there_is_one(void **state)
{
    struct level_watch_receiver typed;

    (void)state;
    begin(&kinds[QUEUE]);
    typed = level_watch_receiver(&levels);
    assert_false(level_watch_contains_value(&levels));
    assert_false(level_watch_receiver_contains_value(&typed));
    level_watch_send(&levels, 0);
    assert_true(level_watch_contains_value(&levels));
    assert_true(level_watch_receiver_contains_value(&typed));
    level_watch_clear(&levels);
    assert_false(level_watch_contains_value(&levels));
    assert_false(level_watch_receiver_contains_value(&typed));
}

static void a_cleared_value_is_nobodys(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct dz_watch_receiver own;
        struct looker *looker;
        int value = 0;

        begin(kind);
        own = receiver();
        send(1);
        dz_watch_sender_clear(sender);
        assert_false(dz_watch_sender_try_get(sender, &value));
        assert_false(dz_watch_receiver_try_get(&own, &value));
        assert_false(dz_watch_receiver_try_changed(&own, &value));
        looker = spawn(changed, 1);
        assert_int_equal(looker->count, 0);
        send(2);
        run_to_rest();
        assert_int_equal(looker->values[0], 2);
        assert_true(dz_watch_receiver_try_changed(&own, &value));
        assert_int_equal(value, 2);
    }
}

/* ---- Waiting. */

static void get_waits_only_for_the_first_value(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct looker *looker;

        begin(kind);
        looker = spawn(get, 3);
        assert_int_equal(looker->count, 0);
        send(1);
        run_to_rest();
        assert_int_equal(
            looker->count, 3); /* the same value, again and again */
        assert_int_equal(looker->values[0], 1);
        assert_int_equal(looker->values[2], 1);
    }
}

static void what_is_set_once_is_got_by_all_who_ask(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct looker *early[2];
        struct looker *late;

        begin(kind);
        early[0] = spawn(get, 1);
        early[1] = spawn(get, 1);
        send(1);
        late = spawn(get, 1);
        run_to_rest();
        assert_int_equal(early[0]->values[0], 1);
        assert_int_equal(early[1]->values[0], 1);
        assert_int_equal(late->values[0], 1);
        assert_int_equal(late->polls, 1);
    }
}

static void changed_waits_for_a_value_that_it_has_not_seen(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct looker *looker;

        begin(kind);
        looker = spawn(changed, 2);
        send(1);
        run_to_rest();
        assert_int_equal(looker->count, 1);
        send(1); /* the same once more is news */
        run_to_rest();
        assert_int_equal(looker->count, 2);
        assert_int_equal(looker->polls, 1 + 2 + 1);
    }
}

static void a_send_wakes_all_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct looker *looker[TASKS];

        begin(kind);
        for (int i = 0; i < TASKS; i++)
            looker[i] = spawn(i % 2 == 0 ? changed : get, 1);
        send(7);
        run_to_rest();
        assert_int_equal(order_count, TASKS);
        for (int i = 0; i < TASKS; i++) {
            assert_int_equal(order[i], i);
            assert_int_equal(looker[i]->values[0], 7);
            assert_int_equal(looker[i]->polls, 2);
        }
    }
}

static void sent_again_before_they_run_it_is_the_newer_one(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct looker *looker;

        begin(kind);
        looker = spawn(changed, 2);
        send(1);
        send(2);
        run_to_rest();
        assert_int_equal(looker->count, 1);
        assert_int_equal(looker->values[0], 2);
    }
}

/* W1 */
static void idle_receivers_are_polled_only_under_the_single_slot_policy(
    void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct looker *first;
        struct looker *second;
        struct looker *third = NULL;

        begin(&kinds[i == 0 ? QUEUE : SLOT]);
        if (i == 0) { /* it refuses what is there, and rests, too */
            send(1);
            third = spawn(changed_large, 1);
            dz_watch_sender_clear(sender);
        }
        first = spawn(changed, 1);
        second = spawn(get, 1);
        for (int round = 0; round < 1000; round++)
            dz_executor_poll(&executor);
        assert_int_equal(first->polls + second->polls, i == 0 ? 2 : 2 + 1000);
        if (third != NULL)
            assert_int_equal(third->polls, 1);
    }
}

/* W4: nothing that is for all can be swallowed by one. */
static void a_cancelled_receiver_costs_nobody_a_value(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct looker *looker[3];

        begin(kind);
        for (int i = 0; i < 3; i++)
            looker[i] = spawn(changed, 1);
        dz_waiter_cancel(&looker[1]->task.waiter);
        assert_int_equal(looker[0]->polls + looker[2]->polls, 2);
        send(1);
        dz_waiter_cancel(&looker[0]->task.waiter);
        run_to_rest();
        assert_int_equal(looker[1]->count, 0);
        assert_int_equal(looker[2]->values[0], 1);
        assert_int_equal(looker[2]->polls, 2);
    }
}

/* Who leaves must not let those go on who have looked already. */
static void a_receiver_that_leaves_wakes_nobody(void **state)
{
    struct looker *first;
    struct looker *second;

    (void)state;
    begin(&kinds[QUEUE]);
    send(1);
    first = spawn(changed, 2);
    second = spawn(changed, 2);
    dz_waiter_cancel(&first->task.waiter);
    run_to_rest();
    assert_int_equal(second->count, 1);
    assert_int_equal(second->polls, 2);
}

static void clear_takes_nothing_from_who_was_woken(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct looker *woken[2];
        struct looker *late;

        begin(kind);
        woken[0] = spawn(changed, 2);
        woken[1] = spawn(get, 1);
        send(1);
        dz_watch_sender_clear(sender);
        late = spawn_not_run(changed, 1);
        run_to_rest();
        assert_int_equal(woken[0]->count, 1);
        assert_int_equal(woken[0]->values[0], 1);
        assert_int_equal(woken[1]->values[0], 1);
        assert_int_equal(late->count, 0);
        send(2);
        run_to_rest();
        assert_int_equal(woken[0]->values[1], 2);
        assert_int_equal(late->values[0], 2);
    }
}

static void what_is_sent_behind_a_clear_goes_to_who_was_woken(void **state)
{
    struct looker *looker;

    (void)state;
    begin(&kinds[QUEUE]);
    looker = spawn(changed, 2);
    send(1);
    dz_watch_sender_clear(sender);
    send(2);
    run_to_rest();
    assert_int_equal(looker->count, 1);
    assert_int_equal(looker->values[0], 2);
}

/* S3, as upstream: with one slot, who was woken finds nothing, and waits. */
static void clear_leaves_who_was_woken_waiting_single_slot(void **state)
{
    struct looker *looker;

    (void)state;
    begin(&kinds[SLOT]);
    looker = spawn(changed, 1);
    send(1);
    dz_watch_sender_clear(sender);
    run_to_rest();
    assert_int_equal(looker->count, 0);
    send(2);
    run_to_rest();
    assert_int_equal(looker->values[0], 2);
}

/* A value that another wait of the receiver has delivered is not news. */
static void a_value_that_was_seen_meanwhile_is_not_delivered_again(void **state)
{
    struct looker *looker;
    int value = 0;

    (void)state;
    begin(&kinds[QUEUE]);
    looker = spawn(changed, 1);
    send(1);
    assert_true(dz_watch_receiver_try_changed(&looker->receiver, &value));
    run_to_rest();
    assert_int_equal(looker->count, 0);
    send(2);
    run_to_rest();
    assert_int_equal(looker->values[0], 2);
}

/* ---- Predicates. */

static void a_refused_value_stays_unseen(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct dz_watch_receiver own;
        struct looker large = {.least = 10};
        int value = -1;

        begin(kind);
        own = receiver();
        send(1);
        assert_false(
            dz_watch_receiver_try_changed_and(&own, &value, is_large, &large));
        assert_false(
            dz_watch_receiver_try_get_and(&own, &value, is_large, &large));
        assert_int_equal(value, -1);
        assert_int_equal(large.asked, 2);
        assert_true(dz_watch_receiver_try_changed(&own, &value));
        assert_int_equal(value, 1);
        send(10);
        assert_true(
            dz_watch_receiver_try_changed_and(&own, &value, is_large, &large));
        assert_int_equal(value, 10);
    }
}

static void who_refuses_waits_for_the_next_value(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        for (int i = 0; i < 2; i++) {
            struct looker *looker;

            begin(kind);
            send(1);
            looker = spawn(i == 0 ? changed_large : get_large, 1);
            send(2);
            run_to_rest();
            assert_int_equal(looker->count, 0);
            assert_int_equal(looker->values[0], 0);
            send(10);
            run_to_rest();
            assert_int_equal(looker->values[0], 10);
            assert_int_equal(looker->asked, 3);
            assert_int_equal(looker->polls, 3);
        }
    }
}

static void no_value_is_looked_at_twice_while_it_waits(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct looker *looker;

        begin(kind);
        send(1);
        looker = spawn(changed_large, 1);
        for (int i = 0; i < 3; i++) {
            dz_task_wake(&looker->task);
            dz_executor_poll(&executor);
        }
        assert_int_equal(looker->polls, 1 + 3);
        assert_int_equal(looker->asked, 1);
    }
}

static void who_refuses_keeps_nobody_else_from_it(void **state)
{
    struct looker *refusing;
    struct looker *taking;

    (void)state;
    begin(&kinds[QUEUE]);
    refusing = spawn(changed_large, 1);
    taking = spawn(changed, 1);
    send(1);
    run_to_rest();
    assert_int_equal(refusing->count, 0);
    assert_int_equal(taking->values[0], 1);
    dz_waiter_cancel(&refusing->task.waiter);
    assert_false(dz_queue_is_occupied(&sender.watch->queue));
}

/* ---- Modifying. */

static void a_modified_value_is_seen_once(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct dz_watch_receiver own;
        int value = 0;

        begin(kind);
        own = receiver();
        send(10);
        assert_true(dz_watch_sender_send_if_modified(sender, add, &(int){5}));
        assert_true(dz_watch_receiver_try_changed(&own, &value));
        assert_int_equal(value, 15);
        assert_false(dz_watch_receiver_try_changed(&own, &value));
    }
}

/* A3 */
static void what_is_not_modified_wakes_nobody(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct looker *looker;

        begin(kind);
        send(10);
        looker = spawn(changed, 2);
        run_to_rest();
        assert_false(dz_watch_sender_send_if_modified(sender, add, &(int){0}));
        run_to_rest();
        assert_int_equal(looker->polls, 2);
        assert_true(dz_watch_sender_send_if_modified(sender, add, &(int){1}));
        run_to_rest();
        assert_int_equal(looker->values[1], 11);
    }
}

static void add_typed(int *value, void *argument)
{
    *value += *(const int *)argument;
}

static bool add_typed_and_tell(int *value, void *argument)
{
    *value += *(const int *)argument;
    return *(const int *)argument != 0;
}

/* A3: the number went up without a value. Here nothing happens, and the caller
 * is told. */
static void an_unset_watch_is_not_modified(void **state)
{
    struct looker *looker;
    int one = 1;

    (void)state;
    begin(&kinds[QUEUE]);
    looker = spawn(changed, 1);
    assert_false(level_watch_send_modify(&levels, add_typed, &one));
    level_watch_send(&levels, 1);
    level_watch_clear(&levels);
    assert_false(
        level_watch_send_if_modified(&levels, add_typed_and_tell, &one));
    assert_int_equal(levels.value, 1);
    assert_false(level_watch_contains_value(&levels));
    run_to_rest();
    assert_int_equal(looker->values[0], 1);
}

static bool is_odd(const int *value, void *argument)
{
    (void)argument;
    return *value % 2 != 0;
}

static void the_typed_forms_hand_on_what_they_are_given(void **state)
{
    struct level_watch_receiver own;
    int two = 2;
    int none = 0;
    int value = 0;

    (void)state;
    begin(&kinds[QUEUE]);
    own = level_watch_receiver(&levels);
    level_watch_send(&levels, 1);
    assert_true(level_watch_try_get_and(&levels, &value, is_odd, NULL));
    assert_true(
        level_watch_receiver_try_changed_and(&own, &value, is_odd, NULL));
    assert_true(level_watch_receiver_try_get_and(&own, &value, is_odd, NULL));
    assert_int_equal(value, 1);
    assert_true(level_watch_send_modify(&levels, add_typed, &two));
    assert_true(level_watch_receiver_try_changed(&own, &value));
    assert_int_equal(value, 3);
    assert_true(level_watch_send_modify(&levels, add_typed, &none));
    assert_true(level_watch_receiver_try_changed(&own, &value));
    assert_false(
        level_watch_send_if_modified(&levels, add_typed_and_tell, &none));
    assert_true(
        level_watch_send_if_modified(&levels, add_typed_and_tell, &two));
    assert_true(level_watch_receiver_try_get(&own, &value));
    assert_int_equal(value, 5);
}

DZ_WATCH_DEFINE(name_watch, const char *, DZ_NOOP)

static bool is_short(const char *const *value, void *argument)
{
    (void)argument;
    return strlen(*value) < 4;
}

static void a_value_may_be_a_pointer(void **state)
{
    static struct name_watch names;
    const char *name = NULL;

    (void)state;
    name_watch_send(&names, "Ada");
    assert_true(name_watch_try_get_and(&names, &name, is_short, NULL));
    assert_string_equal(name, "Ada");
}

/* ---- In forks. */

struct either {
    struct dz_task task;
    struct dz_select2 select;
    struct level_watch_receiver receivers[2];
    int values[2];
    unsigned winner;
    bool done;
};

static enum dz_poll either_poll(struct either *self)
{
    async (self) {
        await(dz_select2(&self->select,
            level_watch_receiver_changed_and(
                &self->receivers[0], &self->values[0], is_odd, NULL),
            level_watch_receiver_get_and(
                &self->receivers[1], &self->values[1], is_odd, NULL)));
        self->winner = dz_select_winner(&self->select);
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(eithers, struct either, either_poll, 1)

static void a_losing_branch_waits_nowhere(void **state)
{
    struct either *either;
    struct looker *looker;
    int value;

    (void)state;
    begin(&kinds[QUEUE]);
    assert_int_equal(eithers_claim(&either), DZ_OK);
    for (int i = 0; i < 2; i++)
        either->receivers[i] = level_watch_receiver(&levels);
    dz_executor_spawn(&executor, &either->task);
    dz_executor_poll(&executor);
    looker = spawn(changed, 2);
    send(2);
    run_to_rest();
    assert_false(either->done);
    send(3);
    run_to_rest();
    assert_true(either->done);
    assert_int_equal(either->winner, 0);
    assert_int_equal(either->values[0], 3);
    assert_true(
        level_watch_receiver_try_changed(&either->receivers[1], &value));
    assert_int_equal(looker->count, 2);
    assert_int_equal(looker->polls, 1 + 2 + 1);
    assert_false(dz_queue_is_occupied(&levels.watch.queue));
}

/* ---- Contexts. */

static void send_from_handler(void *argument)
{
    int value = 0;

    dz_watch_sender_send(sender, argument);
    assert_true(dz_watch_sender_contains_value(sender));
    assert_true(dz_watch_sender_try_get(sender, &value));
    assert_int_equal(value, *(int *)argument);
    assert_true(dz_watch_sender_send_if_modified(sender, add, &(int){1}));
}

static void an_interrupt_sends_looks_and_modifies(void **state)
{
    struct looker *looker;
    int value = 9;

    (void)state;
    begin(&kinds[QUEUE]);
    looker = spawn(changed, 1);
    interrupt_now(send_from_handler, &value);
    run_to_rest();
    assert_int_equal(looker->values[0], 10);
}

/* W10 */
static void an_interrupt_behind_the_registration_is_not_lost(void **state)
{
    static const int which[] = {QUEUE, SLOT};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct looker *looker;
        int value = 9;

        begin(&kinds[which[i]]);
        prepare_strike(send_from_handler, &value);
        looker = spawn(changed, 1);
        assert_int_equal(has_struck_in_queue(), which[i] == QUEUE);
        assert_int_equal(looker->count, 0);
        run_to_rest();
        assert_int_equal(looker->values[0], 10);
    }
}

static void noop_in_second_context(void)
{
    begin(&kinds[0]);
    interrupt_now(send_from_handler, &(int){1});
    send(2);
}

static void thread_in_an_interrupt(void)
{
    begin(&kinds[1]);
    interrupt_now(send_from_handler, &(int){1});
}

static void get_in_an_interrupt(void *argument)
{
    struct dz_watch_receiver own = receiver();
    int value;

    (void)argument;
    walk_away_from(dz_watch_receiver_get(&own, &value));
}

static void wait_in_an_interrupt(void)
{
    begin(&kinds[QUEUE]);
    send(1);
    interrupt_now(get_in_an_interrupt, NULL);
}

static bool look_again(const void *value, void *argument)
{
    int other;

    (void)value;
    (void)argument;
    return dz_watch_sender_try_get(sender, &other);
}

static void use_the_watch_in_a_predicate(void)
{
    int value;

    begin(&kinds[QUEUE]);
    send(1);
    dz_watch_sender_try_get_and(sender, &value, look_again, NULL);
}

static bool send_again(void *value, void *argument)
{
    (void)value;
    (void)argument;
    send(1);
    return true;
}

static void use_the_watch_while_it_is_modified(void)
{
    begin(&kinds[QUEUE]);
    send(1);
    dz_watch_sender_send_if_modified(sender, send_again, NULL);
}

static void look_with_a_receiver_of_no_watch(void)
{
    struct level_watch_receiver own = {0};
    int value;

    level_watch_receiver_try_get(&own, &value);
}

static enum dz_poll careless(struct looker *self)
{
    struct dz_watch_receiver other = {
        &noop_queue.watch, &noop_queue_type, self->receiver.seen};

    walk_away_from(changed(self));
    return dz_watch_receiver_get(&other, &self->values[0]);
}

static void wait_elsewhere_without_cancel(void)
{
    begin(&kinds[QUEUE]);
    spawn(careless, 1);
}

static enum dz_poll by_another_receiver(struct looker *self)
{
    struct dz_watch_receiver other = self->receiver;

    walk_away_from(changed(self));
    return dz_watch_receiver_changed(&other, &self->values[0]);
}

static enum dz_poll for_any_value(struct looker *self)
{
    walk_away_from(changed(self));
    return get(self);
}

static enum dz_poll for_a_large_value(struct looker *self)
{
    walk_away_from(changed(self));
    return changed_large(self);
}

static void wait_again_by_another_receiver(void)
{
    begin(&kinds[QUEUE]);
    spawn(by_another_receiver, 1);
}

static void wait_again_for_any_value(void)
{
    begin(&kinds[QUEUE]);
    spawn(for_any_value, 1);
}

static void wait_again_for_a_large_value(void)
{
    begin(&kinds[QUEUE]);
    spawn(for_a_large_value, 1);
}

static void another_wait_without_cancel_panics(void **state)
{
    (void)state;
    assert_says(
        last_words_of(wait_again_by_another_receiver), "is an await missing?");
    assert_says(
        last_words_of(wait_again_for_any_value), "is an await missing?");
    assert_says(
        last_words_of(wait_again_for_a_large_value), "is an await missing?");
}

static void misuse_panics_with_its_reason(void **state)
{
    (void)state;
    assert_says(last_words_at(DZ_EXIT_RACE, noop_in_second_context),
        "noop_queue at 0x");
    assert_says(last_words_at(DZ_EXIT_RACE, thread_in_an_interrupt),
        "thread_queue at 0x");
    assert_says(last_words_of(wait_in_an_interrupt), "await outside a task");
    assert_says(last_words_of(use_the_watch_in_a_predicate),
        "an object is used while it is locked");
    assert_says(last_words_of(use_the_watch_while_it_is_modified),
        "an object is used while it is locked");
    assert_says(last_words_of(look_with_a_receiver_of_no_watch),
        "a receiver watches nothing");
    assert_says(
        last_words_of(wait_elsewhere_without_cancel), "is an await missing?");
}

RUN_TESTS(TEST(the_example_of_the_header_works),
    TEST(each_receiver_gets_the_latest_value_once),
    TEST(watch_sender_and_receiver_see_the_same),
    TEST(try_get_looks_again_and_marks_as_seen),
    TEST(who_looks_without_a_receiver_leaves_it_unseen),
    TEST(a_new_receiver_has_seen_nothing), TEST(a_copy_is_another_receiver),
    TEST(a_typed_receiver_and_its_untyped_form_are_one),
    TEST(contains_value_tells_whether_there_is_one),
    TEST(a_cleared_value_is_nobodys), TEST(get_waits_only_for_the_first_value),
    TEST(what_is_set_once_is_got_by_all_who_ask),
    TEST(changed_waits_for_a_value_that_it_has_not_seen),
    TEST(a_send_wakes_all_in_the_order_in_which_they_came),
    TEST(sent_again_before_they_run_it_is_the_newer_one),
    TEST(idle_receivers_are_polled_only_under_the_single_slot_policy),
    TEST(a_cancelled_receiver_costs_nobody_a_value),
    TEST(a_receiver_that_leaves_wakes_nobody),
    TEST(clear_takes_nothing_from_who_was_woken),
    TEST(what_is_sent_behind_a_clear_goes_to_who_was_woken),
    TEST(clear_leaves_who_was_woken_waiting_single_slot),
    TEST(a_value_that_was_seen_meanwhile_is_not_delivered_again),
    TEST(a_refused_value_stays_unseen),
    TEST(who_refuses_waits_for_the_next_value),
    TEST(no_value_is_looked_at_twice_while_it_waits),
    TEST(who_refuses_keeps_nobody_else_from_it),
    TEST(a_modified_value_is_seen_once),
    TEST(what_is_not_modified_wakes_nobody),
    TEST(an_unset_watch_is_not_modified),
    TEST(the_typed_forms_hand_on_what_they_are_given),
    TEST(a_value_may_be_a_pointer), TEST(a_losing_branch_waits_nowhere),
    TEST(an_interrupt_sends_looks_and_modifies),
    TEST(an_interrupt_behind_the_registration_is_not_lost),
    TEST(another_wait_without_cancel_panics),
    TEST(misuse_panics_with_its_reason))
