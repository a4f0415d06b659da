/* SPDX-License-Identifier: MIT */

/*
 * priority_channel_test -- the order, and what depends on it
 *
 * What a priority channel shares with a channel, channel_test.c tests with
 * both.
 */

#include "sync/priority_channel.h"

#include "sim/test_random.h"

enum { CAPACITY = 4, TASKS = 4, STEPS = 300000 };

/* The key is the order; what it is called tells equals apart. */
struct item {
    int key;
    char name;
};

static bool is_less(const struct item *one, const struct item *other)
{
    return one->key < other->key;
}

static bool is_greater(const struct item *one, const struct item *other)
{
    return one->key > other->key;
}

#define FOR_EACH_KIND(X)                                        \
    X(min_noop, is_less, DZ_NOOP, DZ_QUEUE)                     \
    X(min_thread, is_less, DZ_THREAD_MODE, DZ_QUEUE)            \
    X(min_critical, is_less, DZ_CRITICAL_SECTION, DZ_QUEUE)     \
    X(min_noop_slot, is_less, DZ_NOOP, DZ_SINGLE_SLOT)          \
    X(min_thread_slot, is_less, DZ_THREAD_MODE, DZ_SINGLE_SLOT) \
    X(min_critical_slot, is_less, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT)

#define DEFINE(name, goes_first, mutex, policy)                 \
    DZ_PRIORITY_CHANNEL_DEFINE_POLICY(                          \
        name, struct item, CAPACITY, goes_first, mutex, policy) \
    static struct name name;

FOR_EACH_KIND(DEFINE)
DZ_PRIORITY_CHANNEL_DEFINE(
    max_critical, struct item, CAPACITY, is_greater, DZ_CRITICAL_SECTION)
DZ_PRIORITY_CHANNEL_DEFINE_SINGLE_SLOT(
    max_slot, struct item, CAPACITY, is_greater, DZ_CRITICAL_SECTION)

struct kind {
    void *channel;
    size_t size;
    const struct dz_channel_type *type;
};

#define ENTRY(name, goes_first, mutex, policy) \
    {&name, sizeof(name), &name##_type},

/* All of them the least first. */
static const struct kind kinds[] = {FOR_EACH_KIND(ENTRY)};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

#define FOR_ALL_KINDS \
    for (const struct kind *kind = kinds; kind < kinds + KINDS; kind++)

#define FOR_ALL_QUEUES FOR_ALL_KINDS if (kind->type->object.policy == DZ_QUEUE)

static struct dz_executor executor;
static struct dz_sender sender;
static struct dz_receiver receiver;

/* A task that sends an item, or receives one. */
struct worker {
    struct dz_task task;
    struct item item;
    bool is_done;
};

static enum dz_poll sending_poll(struct worker *self)
{
    async (self) {
        await(dz_sender_send(sender, &self->item));
        self->is_done = true;
    }
    return DZ_READY;
}

static enum dz_poll receive(struct worker *self)
{
    strike_behind_wait();
    return dz_receiver_receive(receiver, &self->item);
}

static enum dz_poll receiving_poll(struct worker *self)
{
    async (self) {
        await(receive(self));
        self->is_done = true;
    }
    return DZ_READY;
}

static enum dz_poll ready_poll(struct worker *self)
{
    async (self) {
        await(dz_sender_ready(sender));
        self->is_done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(sendings, struct worker, sending_poll, TASKS)
DZ_TASK_POOL(receivings, struct worker, receiving_poll, TASKS)
DZ_TASK_POOL(readies, struct worker, ready_poll, 1)

static void begin(const struct kind *kind)
{
    memset(kind->channel, 0, kind->size);
    memset(sendings_slots, 0, sizeof(sendings_slots));
    memset(receivings_slots, 0, sizeof(receivings_slots));
    memset(readies_slots, 0, sizeof(readies_slots));
    dz_executor_init(&executor, "test");
    sender = (struct dz_sender){kind->channel, kind->type};
    receiver = (struct dz_receiver){kind->channel, kind->type};
}

static struct worker *spawn(const struct dz_pool *pool, int key, char name)
{
    struct worker *worker = dz_pool_claim(pool);

    assert_non_null(worker);
    worker->item = (struct item){key, name};
    dz_executor_spawn(&executor, &worker->task);
    dz_executor_poll(&executor);
    return worker;
}

static void run_to_rest(void)
{
    for (int passes = 0; dz_executor_is_ready(&executor); passes++) {
        assert_true(passes < 1000);
        dz_executor_poll(&executor);
    }
}

static bool try_send(int key, char name)
{
    return dz_sender_try_send(sender, &(struct item){key, name});
}

static void send(int key, char name)
{
    assert_true(try_send(key, name));
}

/* Takes all that is there, and compares the names. */
static void assert_comes_out(const char *names)
{
    char got[CAPACITY + 1] = "";
    struct item item;

    for (int i = 0; dz_receiver_try_receive(receiver, &item); i++)
        got[i] = item.name;
    assert_string_equal(got, names);
}

/* Whether an item's name is in a string; and who was asked about. */
struct asking {
    const char *unwanted;
    char asked[CAPACITY + 1];
};

static bool is_unwanted(const void *item, void *argument)
{
    struct asking *asking = argument;
    const struct item *asked = item;

    asking->asked[strlen(asking->asked)] = asked->name;
    return strchr(asking->unwanted, asked->name) != NULL;
}

static unsigned remove_if(struct asking *asking)
{
    return dz_channel_remove_if(
        sender.channel, sender.type, is_unwanted, asking);
}

static unsigned remove_all_of(const char *unwanted)
{
    return remove_if(&(struct asking){unwanted, ""});
}

/* Upstream's send_priority. */
static void the_least_comes_out_first(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        send(3, 'c');
        send(1, 'a');
        send(4, 'd');
        send(2, 'b');
        assert_comes_out("abcd");
    }
}

static void the_greatest_comes_out_first_if_the_order_says_so(void **state)
{
    static struct max_critical queue;
    static struct max_slot slot;
    struct item item;

    (void)state;
    for (int key = 1; key <= 3; key++) {
        assert_true(max_critical_try_send(&queue, &(struct item){key, ' '}));
        assert_true(max_slot_try_send(&slot, &(struct item){key, ' '}));
    }
    for (int key = 3; key >= 1; key--) {
        assert_true(max_critical_try_receive(&queue, &item));
        assert_int_equal(item.key, key);
        assert_true(max_slot_try_receive(&slot, &item));
        assert_int_equal(item.key, key);
    }
}

/* C7: upstream, in any order. */
static void equals_come_out_in_the_order_in_which_they_went_in(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        for (int round = 0; round < 5; round++) {
            send(2, 'c');
            send(1, 'a');
            send(2, 'd');
            send(1, 'b');
            assert_comes_out("abcd");
        }
    }
}

static void an_equal_goes_behind_those_that_were_there_before(void **state)
{
    struct item item;

    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        send(1, 'a');
        send(1, 'b');
        assert_true(dz_receiver_try_receive(receiver, &item));
        send(1, 'c');
        send(0, 'x');
        send(1, 'd');
        assert_comes_out("xbcd");
    }
}

static void a_peek_shows_what_comes_out_next(void **state)
{
    struct item item = {0, '-'};

    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        item.name = '-';
        assert_false(dz_receiver_peek(receiver, &item));
        assert_int_equal(item.name, '-');
        send(2, 'b');
        send(1, 'a');
        for (int i = 0; i < 2; i++) {
            assert_true(dz_receiver_peek(receiver, &item));
            assert_int_equal(item.name, 'a');
        }
        assert_comes_out("ab");
    }
}

/* C3: upstream, it never is. */
static void ready_to_send_is_ready_until_it_is_full(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        for (int key = 0; key < CAPACITY; key++) {
            assert_true(spawn(&readies, 0, ' ')->is_done);
            send(-key, ' ');
        }
        assert_false(spawn(&readies, 0, ' ')->is_done);
    }
}

static void a_woken_receiver_gets_the_most_urgent_there_is_by_then(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        struct worker *second;

        begin(kind);
        first = spawn(&receivings, 0, ' ');
        second = spawn(&receivings, 0, ' ');
        send(3, 'c');
        send(2, 'b');
        send(1, 'a');
        assert_int_equal(dz_receiver_len(receiver), 1);
        run_to_rest();
        assert_int_equal(first->item.name, 'a');
        assert_int_equal(second->item.name, 'b');
        assert_comes_out("c");
    }
}

/* C4, C5: the order is that of what is in the channel. */
static void waiting_senders_are_served_in_order_whatever_they_send(void **state)
{
    struct item item;

    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker[3];

        begin(kind);
        for (int i = 0; i < CAPACITY; i++)
            send(5, ' ');
        worker[0] = spawn(&sendings, 7, 'x');
        worker[1] = spawn(&sendings, 9, 'y');
        worker[2] = spawn(&sendings, 8, 'z');
        for (int i = 0; i < 3; i++) {
            assert_false(worker[i]->is_done);
            assert_true(dz_receiver_try_receive(receiver, &item));
            assert_false(try_send(0, '!'));
            run_to_rest();
            assert_true(worker[i]->is_done);
        }
        assert_comes_out(" xzy");
    }
}

/* W4. */
static void a_cancelled_receiver_leaves_the_order_as_it_was(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker;

        begin(kind);
        worker = spawn(&receivings, 0, ' ');
        send(2, 'b');
        send(1, 'a');
        dz_waiter_cancel(&worker->task.waiter);
        assert_int_equal(dz_receiver_len(receiver), 2);
        assert_comes_out("ab");
    }
}

static void clear_leaves_the_most_urgent_to_those_who_were_woken(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        struct worker *second;

        begin(kind);
        first = spawn(&receivings, 0, ' ');
        second = spawn(&receivings, 0, ' ');
        send(2, 'b');
        send(4, 'd');
        send(3, 'c');
        send(1, 'a');
        dz_sender_clear(sender);
        assert_int_equal(dz_receiver_len(receiver), 0);
        assert_int_equal(dz_sender_free(sender), CAPACITY - 2);
        run_to_rest();
        assert_int_equal(first->item.name, 'a');
        assert_int_equal(second->item.name, 'b');
        assert_int_equal(dz_sender_free(sender), CAPACITY);
    }
}

static void remove_if_takes_out_what_it_is_told(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        send(3, 'c');
        send(1, 'a');
        send(4, 'd');
        send(2, 'b');
        assert_int_equal(remove_all_of("ac"), 2);
        assert_int_equal(dz_receiver_len(receiver), 2);
        assert_int_equal(dz_sender_free(sender), CAPACITY - 2);
        send(3, 'x');
        send(0, 'y');
        assert_comes_out("ybxd");
    }
}

static void remove_if_asks_once_about_each_the_most_urgent_first(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct asking asking = {"bc", ""};

        begin(kind);
        send(3, 'c');
        send(1, 'a');
        send(4, 'd');
        send(2, 'b');
        assert_int_equal(remove_if(&asking), 2);
        assert_string_equal(asking.asked, "abcd");
    }
}

static void remove_if_finds_nothing_in_an_empty_channel(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct asking asking = {"a", ""};

        begin(kind);
        assert_int_equal(remove_if(&asking), 0);
        assert_string_equal(asking.asked, "");
        assert_int_equal(dz_sender_free(sender), CAPACITY);
    }
}

static void remove_if_can_empty_it(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < CAPACITY; i++)
                send(i % 2, 'a');
            assert_int_equal(remove_all_of("a"), CAPACITY);
            assert_true(dz_sender_is_empty(sender));
            assert_int_equal(dz_sender_free(sender), CAPACITY);
        }
        send(2, 'b');
        assert_comes_out("b");
    }
}

static void remove_if_leaves_the_most_urgent_to_those_who_were_woken(
    void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct asking asking = {"ac", ""};
        struct worker *worker;

        begin(kind);
        worker = spawn(&receivings, 0, ' ');
        send(3, 'c');
        send(2, 'b');
        send(1, 'a');
        assert_int_equal(remove_if(&asking), 1);
        assert_string_equal(asking.asked, "bc");
        run_to_rest();
        assert_int_equal(worker->item.name, 'a');
        assert_comes_out("b");
    }
}

/* C1. */
static void remove_if_lets_a_sender_go_on_for_each(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker[3];

        begin(kind);
        for (int i = 0; i < CAPACITY; i++)
            send(i, "abab"[i]);
        for (int i = 0; i < 3; i++)
            worker[i] = spawn(&sendings, i, 'x');
        assert_int_equal(remove_all_of("b"), 2);
        assert_int_equal(dz_sender_free(sender), 0);
        assert_false(try_send(0, '!'));
        run_to_rest();
        assert_true(worker[0]->is_done && worker[1]->is_done);
        assert_false(worker[2]->is_done);
        assert_int_equal(remove_all_of("x"), 2);
        run_to_rest();
        assert_true(worker[2]->is_done);
        assert_int_equal(dz_sender_free(sender), 1);
    }
}

static void remove_if_wakes_the_sender_under_the_single_slot_policy(
    void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker;

        begin(kind);
        for (int i = 0; i < CAPACITY; i++)
            send(i, 'a');
        worker = spawn(&sendings, 0, 'x');
        assert_int_equal(remove_all_of("a"), CAPACITY);
        run_to_rest();
        assert_true(worker->is_done);
        assert_comes_out("x");
    }
}

static void what_removes_nothing_wakes_nobody(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        for (int i = 0; i < CAPACITY; i++)
            send(i, 'a');
        (void)spawn(&sendings, 0, 'x');
        assert_int_equal(remove_all_of("b"), 0);
        assert_false(dz_executor_is_ready(&executor));
        assert_comes_out("aaaa");
    }
}

/* A promised slot stays with the sender that was woken for it. */
static void remove_if_leaves_promised_slots_alone(void **state)
{
    struct item item;

    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker;

        begin(kind);
        for (int i = 0; i < CAPACITY; i++)
            send(i, 'a');
        worker = spawn(&sendings, 9, 'x');
        assert_true(dz_receiver_try_receive(receiver, &item));
        assert_int_equal(remove_all_of("a"), CAPACITY - 1);
        assert_int_equal(dz_sender_free(sender), CAPACITY - 1);
        run_to_rest();
        assert_true(worker->is_done);
        assert_comes_out("x");
    }
}

static bool has_key(const struct item *item, void *key)
{
    return item->key == *(const int *)key;
}

static void a_typed_channel_and_its_handles_are_the_same(void **state)
{
    struct dz_sender out = min_noop_sender(&min_noop);
    struct dz_receiver in = min_noop_receiver(&min_noop);
    struct item item = {2, 'b'};
    int key = 3;

    (void)state;
    begin(&kinds[0]);
    assert_int_equal(min_noop_capacity(&min_noop), CAPACITY);
    assert_true(min_noop_try_send(&min_noop, &item));
    assert_true(dz_sender_try_send(out, &(struct item){1, 'a'}));
    assert_true(dz_sender_try_send(out, &(struct item){3, 'c'}));
    assert_int_equal(min_noop_remove_if(&min_noop, has_key, &key), 1);
    assert_int_equal(min_noop_free(&min_noop), 2);
    assert_true(min_noop_peek(&min_noop, &item));
    assert_int_equal(item.name, 'a');
    assert_true(dz_receiver_try_receive(in, &item));
    assert_int_equal(item.name, 'a');
    assert_true(min_noop_try_receive(&min_noop, &item));
    assert_int_equal(item.name, 'b');
    assert_true(dz_receiver_is_empty(in));
    min_noop_clear(&min_noop);
    assert_false(min_noop_is_full(&min_noop));
}

/* ---- In interrupts. */

static void send_in_handler(void *argument)
{
    assert_true(min_critical_try_send(&min_critical, argument));
}

static void an_interrupt_overtakes_what_a_task_sends(void **state)
{
    struct item urgent = {0, 'u'};

    (void)state;
    begin(&kinds[2]);
    interrupt_at_next_unmask(send_in_handler, &urgent);
    send(1, 'a');
    assert_comes_out("ua");
}

static void remove_in_handler(void *argument)
{
    assert_int_equal(
        min_critical_remove_if(&min_critical, has_key, argument), 1);
}

static void an_interrupt_removes(void **state)
{
    struct worker *worker;
    int key = 2;

    (void)state;
    begin(&kinds[2]);
    for (int i = 0; i < CAPACITY; i++)
        send(i, "abcd"[i]);
    worker = spawn(&sendings, 9, 'x');
    interrupt_now(remove_in_handler, &key);
    run_to_rest();
    assert_true(worker->is_done);
    assert_comes_out("abdx");
}

/* W10: the value comes right behind the look that found nothing. */
static void an_interrupt_behind_the_registration_is_not_lost(void **state)
{
    const struct worker *worker;
    struct item urgent = {0, 'u'};

    (void)state;
    begin(&kinds[2]);
    prepare_strike(send_in_handler, &urgent);
    worker = spawn(&receivings, 0, ' ');
    assert_true(has_struck_in_queue());
    assert_false(worker->is_done);
    run_to_rest();
    assert_int_equal(worker->item.name, 'u');
}

/* ---- Misuse. */

static bool peeks_at_it(const struct item *item, void *argument)
{
    struct item other;

    (void)item;
    return min_critical_peek(argument, &other);
}

static void use_it_while_it_removes(void)
{
    begin(&kinds[2]);
    send(1, 'a');
    (void)min_critical_remove_if(&min_critical, peeks_at_it, &min_critical);
}

static bool looks_into_it(const struct item *one, const struct item *other);
DZ_PRIORITY_CHANNEL_DEFINE(
    looked_into, struct item, 2, looks_into_it, DZ_THREAD_MODE)
static struct looked_into looked_into;

static bool looks_into_it(const struct item *one, const struct item *other)
{
    return one->key < other->key && looked_into_is_full(&looked_into);
}

static void use_it_while_it_compares(void)
{
    struct item item = {1, 'a'};

    (void)looked_into_try_send(&looked_into, &item);
    item.key = 0;
    (void)looked_into_try_send(&looked_into, &item);
}

static void what_is_called_under_the_lock_must_not_use_the_channel(void **state)
{
    struct last_words words = last_words_of(use_it_while_it_removes);

    (void)state;
    assert_says(words, "an object is used while it is locked");
    assert_says(words, "object: min_critical at 0x");
    words = last_words_of(use_it_while_it_compares);
    assert_says(words, "an object is used while it is locked");
    assert_says(words, "object: looked_into at 0x");
}

static void clear_thread_mode_in_handler(void *argument)
{
    min_thread_clear(argument);
}

static void clear_thread_mode_in_an_interrupt(void)
{
    interrupt_now(clear_thread_mode_in_handler, &min_thread);
}

static void remove_in_second_context(void *argument)
{
    (void)min_noop_remove_if(&min_noop, has_key, argument);
}

static void use_noop_in_two_contexts(void)
{
    int key = 1;

    begin(&kinds[0]);
    (void)spawn(&sendings, 1, 'a');
    interrupt_now(remove_in_second_context, &key);
}

static void receive_in_handler(void *argument)
{
    struct item item;

    walk_away_from(min_critical_receive(argument, &item));
}

static void receive_in_an_interrupt(void)
{
    interrupt_now(receive_in_handler, &min_critical);
}

static void misuse_from_a_wrong_context_names_the_channel(void **state)
{
    struct last_words words =
        last_words_at(DZ_EXIT_RACE, clear_thread_mode_in_an_interrupt);

    (void)state;
    assert_says(words, "a thread-mode object is used in an interrupt");
    assert_says(words, "object: min_thread at 0x");
    words = last_words_at(DZ_EXIT_RACE, use_noop_in_two_contexts);
    assert_says(words, "a noop object is used in a second context");
    assert_says(words, "object: min_noop at 0x");
    words = last_words_of(receive_in_an_interrupt);
    assert_says(words, "await outside a task");
    assert_says(words, "object: min_critical at 0x");
}

static bool is_always_first(const struct item *one, const struct item *other)
{
    return one != NULL && other != NULL;
}

DZ_PRIORITY_CHANNEL_DEFINE(
    absurd, struct item, CAPACITY, is_always_first, DZ_NOOP)

static void an_order_that_contradicts_itself_loses_nothing(void **state)
{
    static struct absurd absurd;
    struct item item;
    int sum = 0;

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < CAPACITY; i++)
            assert_true(absurd_try_send(&absurd, &(struct item){1, ' '}));
        assert_true(absurd_is_full(&absurd));
        while (absurd_try_receive(&absurd, &item))
            sum += item.key;
    }
    assert_int_equal(sum, 3 * CAPACITY);
}

static bool is_larger(const uint16_t *one, const uint16_t *other)
{
    return *one > *other;
}

DZ_PRIORITY_CHANNEL_DEFINE(largest, uint16_t, DZ_UNITS_MAX, is_larger, DZ_NOOP)

/* Twice, so that the links have been used. Each goes in front of all others. */
static void the_largest_channel_has_a_link_for_each(void **state)
{
    static struct largest largest;
    uint16_t value;

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (value = 0; value < DZ_UNITS_MAX; value++)
            assert_true(largest_try_send(&largest, &value));
        assert_false(largest_try_send(&largest, &value));
        for (unsigned expected = DZ_UNITS_MAX; expected > 0; expected--) {
            assert_true(largest_try_receive(&largest, &value));
            assert_int_equal(value, expected - 1);
        }
        assert_true(largest_is_empty(&largest));
    }
}

/* ---- At random, against an array that is kept sorted. */

static struct {
    struct item items[CAPACITY];
    unsigned count;
} model;

static void model_insert(struct item item)
{
    unsigned i = model.count++;

    for (; i > 0 && model.items[i - 1].key > item.key; i--)
        model.items[i] = model.items[i - 1];
    model.items[i] = item;
}

static void model_take(unsigned i)
{
    model.count--;
    for (; i < model.count; i++)
        model.items[i] = model.items[i + 1];
}

static unsigned model_remove(int key)
{
    unsigned before = model.count;

    for (unsigned i = model.count; i > 0; i--) {
        if (model.items[i - 1].key == key)
            model_take(i - 1);
    }
    return before - model.count;
}

static void send_at_random(void)
{
    struct item item = {(int)dice(3), (char)('a' + dice(26))};
    bool fits = model.count < CAPACITY;

    if (fits)
        model_insert(item);
    check(min_noop_try_send(&min_noop, &item) == fits);
}

static void receive_at_random(void)
{
    bool is_there = model.count > 0;
    struct item item = {0, ' '};

    check(min_noop_try_receive(&min_noop, &item) == is_there);
    if (!is_there)
        return;
    check(item.key == model.items[0].key && item.name == model.items[0].name);
    model_take(0);
}

static void look(void)
{
    struct item item = {0, ' '};

    check(min_noop_len(&min_noop) == model.count);
    check(min_noop_free(&min_noop) == CAPACITY - model.count);
    check(min_noop_peek(&min_noop, &item) == (model.count > 0));
    check(model.count == 0 || item.name == model.items[0].name);
}

static void remove_at_random(void)
{
    int key = (int)dice(3);
    unsigned count = model_remove(key);

    check(min_noop_remove_if(&min_noop, has_key, &key) == count);
}

static void is_what_a_sorted_array_is(void **state)
{
    long steps = random_steps(STEPS);

    (void)state;
    random_begin();
    begin(&kinds[0]);
    model.count = 0;
    for (step = 0; step < steps; step++) {
        unsigned what = dice(20);

        if (what < 10)
            send_at_random();
        else if (what < 17)
            receive_at_random();
        else if (what < 19)
            remove_at_random();
        else if (dice(4) == 0) {
            model.count = 0;
            min_noop_clear(&min_noop);
        }
        look();
    }
}

/* ---- The example of the header. */

struct job {
    unsigned due;
    int device;
};

static bool is_sooner(const struct job *one, const struct job *other)
{
    return one->due < other->due;
}

DZ_PRIORITY_CHANNEL_DEFINE(job_queue, struct job, 8, is_sooner, DZ_NOOP)
static struct job_queue jobs;

struct machinist {
    struct dz_task task;
    struct job job;
    int devices[2];
    int count;
};

static enum dz_poll machinist_poll(struct machinist *self)
{
    async (self) {
        for (; self->count < 2; self->count++) {
            await(job_queue_receive(&jobs, &self->job));
            self->devices[self->count] = self->job.device;
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(machinists, struct machinist, machinist_poll, 1)

static void the_example_of_the_header_works(void **state)
{
    struct job job = {20, 1};
    struct machinist *machinist;

    (void)state;
    dz_executor_init(&executor, "test");
    (void)machinists_claim(&machinist);
    dz_executor_spawn(&executor, &machinist->task);
    run_to_rest();
    (void)job_queue_try_send(&jobs, &job);
    job = (struct job){10, 2};
    (void)job_queue_try_send(&jobs, &job);
    run_to_rest();
    assert_int_equal(machinist->devices[0], 2);
    assert_int_equal(machinist->devices[1], 1);
}

RUN_TESTS(TEST(the_least_comes_out_first),
    TEST(the_greatest_comes_out_first_if_the_order_says_so),
    TEST(equals_come_out_in_the_order_in_which_they_went_in),
    TEST(an_equal_goes_behind_those_that_were_there_before),
    TEST(a_peek_shows_what_comes_out_next),
    TEST(ready_to_send_is_ready_until_it_is_full),
    TEST(a_woken_receiver_gets_the_most_urgent_there_is_by_then),
    TEST(waiting_senders_are_served_in_order_whatever_they_send),
    TEST(a_cancelled_receiver_leaves_the_order_as_it_was),
    TEST(clear_leaves_the_most_urgent_to_those_who_were_woken),
    TEST(remove_if_takes_out_what_it_is_told),
    TEST(remove_if_asks_once_about_each_the_most_urgent_first),
    TEST(remove_if_finds_nothing_in_an_empty_channel),
    TEST(remove_if_can_empty_it),
    TEST(remove_if_leaves_the_most_urgent_to_those_who_were_woken),
    TEST(remove_if_lets_a_sender_go_on_for_each),
    TEST(remove_if_wakes_the_sender_under_the_single_slot_policy),
    TEST(what_removes_nothing_wakes_nobody),
    TEST(remove_if_leaves_promised_slots_alone),
    TEST(a_typed_channel_and_its_handles_are_the_same),
    TEST(an_interrupt_overtakes_what_a_task_sends), TEST(an_interrupt_removes),
    TEST(an_interrupt_behind_the_registration_is_not_lost),
    TEST(what_is_called_under_the_lock_must_not_use_the_channel),
    TEST(misuse_from_a_wrong_context_names_the_channel),
    TEST(an_order_that_contradicts_itself_loses_nothing),
    TEST(the_largest_channel_has_a_link_for_each),
    TEST(is_what_a_sorted_array_is), TEST(the_example_of_the_header_works))
