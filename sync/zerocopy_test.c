/* SPDX-License-Identifier: MIT */
#include "sync/zerocopy.h"

#include "executor/select.h"
#include "sim/test.h"
#include "sync/signal.h"

enum { TASKS = 4, CAPACITY = 3 };

/* Larger than a word, and no power of two. */
struct frame {
    int value;
    int more[2];
};

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

#define DEFINE(name, capacity, mutex, policy)                              \
    DZ_ZEROCOPY_DEFINE_POLICY(name, struct frame, capacity, mutex, policy) \
    static struct name name;

FOR_EACH_KIND(DEFINE)

/* A channel of which the tests know no more than what they look up here. */
struct kind {
    void *channel;
    size_t size;
    const struct dz_zerocopy_type *type;
};

#define ENTRY(name, capacity, mutex, policy) \
    {&name, sizeof(name), &name##_type},

static const struct kind kinds[] = {FOR_EACH_KIND(ENTRY)};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), CRITICAL_1 = 2, CRITICAL = 8 };

static const struct kind *kind;
static struct dz_executor executor;

static struct dz_zerocopy_sender sender;
static struct dz_zerocopy_receiver receiver;

static struct frame *try_reserve(void)
{
    return dz_zerocopy_sender_try_reserve(sender);
}

static struct frame *try_receive(void)
{
    return dz_zerocopy_receiver_try_receive(receiver);
}

static void send(struct frame *frame)
{
    dz_zerocopy_sender_send(sender, frame);
}

static void discard(struct frame *frame)
{
    dz_zerocopy_sender_discard(sender, frame);
}

static void release(struct frame *frame)
{
    dz_zerocopy_receiver_release(receiver, frame);
}

static void put_back(struct frame *frame)
{
    dz_zerocopy_receiver_put_back(receiver, frame);
}

static void clear(void)
{
    dz_zerocopy_clear(sender.channel, sender.type);
}

static unsigned len(void)
{
    return dz_zerocopy_receiver_len(receiver);
}

static unsigned free_slots(void)
{
    return dz_zerocopy_sender_free(sender);
}

static bool try_send_value(int value)
{
    struct frame *frame = try_reserve();

    if (frame == NULL)
        return false;
    frame->value = value;
    send(frame);
    return true;
}

/* -1: empty. */
static int try_receive_value(void)
{
    struct frame *frame = try_receive();
    int value;

    if (frame == NULL)
        return -1;
    value = frame->value;
    release(frame);
    return value;
}

/* A task that gets one slot, and leaves the rest to the test. */
struct worker {
    struct dz_task task;
    struct frame *frame; /* NULL: not yet */
    int polls;
};

static enum dz_poll reserve(struct worker *self)
{
    void *item;
    enum dz_poll poll = dz_zerocopy_sender_reserve(sender, &item);

    self->polls++;
    self->frame = item;
    return poll;
}

static enum dz_poll receive(struct worker *self)
{
    enum dz_poll poll;
    void *item;

    strike_behind_wait();
    poll = dz_zerocopy_receiver_receive(receiver, &item);
    self->polls++;
    self->frame = item;
    return poll;
}

static enum dz_poll reserving_poll(struct worker *self)
{
    async (self)
        await(reserve(self));
    return DZ_READY;
}

static enum dz_poll receiving_poll(struct worker *self)
{
    async (self)
        await(receive(self));
    return DZ_READY;
}

DZ_TASK_POOL(reservings, struct worker, reserving_poll, TASKS)
DZ_TASK_POOL(receivings, struct worker, receiving_poll, TASKS)

static void begin(const struct kind *chosen)
{
    kind = chosen;
    memset(kind->channel, 0, kind->size);
    sender = (struct dz_zerocopy_sender){kind->channel, kind->type};
    receiver = (struct dz_zerocopy_receiver){kind->channel, kind->type};
    memset(reservings_slots, 0, sizeof(reservings_slots));
    memset(receivings_slots, 0, sizeof(receivings_slots));
    dz_executor_init(&executor, "test");
}

static void run_to_rest(void)
{
    int passes = 0;

    while (dz_executor_is_ready(&executor)) {
        dz_executor_poll(&executor);
        assert_true(++passes < 100);
    }
}

static struct worker *spawn(const struct dz_pool *pool)
{
    struct worker *worker = dz_pool_claim(pool);

    assert_non_null(worker);
    dz_executor_spawn(&executor, &worker->task);
    dz_executor_poll(&executor);
    return worker;
}

static void fill(void)
{
    int value = 100;

    while (try_send_value(value))
        value++;
}

#define FOR_ALL_KINDS for (unsigned each = 0; each < KINDS; each++)
#define FOR_ALL_QUEUES \
    FOR_ALL_KINDS if (kinds[each].type->object.policy == DZ_QUEUE)

/* C10: len returned the capacity. */
static void len_and_free_are_exact_across_wrap_and_full(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        int next = 0;
        int expected = 0;

        begin(&kinds[each]);
        assert_int_equal(free_slots(), kind->type->capacity);
        for (int round = 0; round < 10; round++) {
            while (try_send_value(next))
                assert_int_equal(len(), ++next - expected);
            assert_int_equal(len(), kind->type->capacity);
            assert_int_equal(free_slots(), 0);
            assert_int_equal(try_receive_value(), expected++);
            assert_int_equal(len(), kind->type->capacity - 1);
            assert_int_equal(free_slots(), 1);
        }
    }
}

static void an_empty_channel_has_nothing_to_give(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each]);
        assert_null(try_receive());
        assert_int_equal(len(), 0);
    }
}

/* Section 4: upstream, a second try_send gives the same slot again. */
static void slots_that_are_held_are_all_different(void **state)
{
    struct frame *held[CAPACITY];

    (void)state;
    FOR_ALL_KINDS
    {
        unsigned count = 0;

        begin(&kinds[each]);
        while (count < kind->type->capacity)
            held[count++] = try_reserve();
        assert_null(try_reserve());
        for (unsigned i = 0; i < count; i++) {
            assert_non_null(held[i]);
            for (unsigned j = 0; j < i; j++)
                assert_ptr_not_equal(held[i], held[j]);
        }
    }
}

static void what_is_reserved_is_not_there_until_it_is_sent(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct frame *frame;

        begin(&kinds[each]);
        frame = try_reserve();
        frame->value = 5;
        assert_int_equal(len(), 0);
        assert_int_equal(free_slots(), kind->type->capacity - 1);
        assert_null(try_receive());
        send(frame);
        assert_int_equal(len(), 1);
        assert_ptr_equal(try_receive(), frame);
        assert_int_equal(frame->value, 5);
    }
}

static void items_come_out_as_they_were_sent_and_not_as_reserved(void **state)
{
    struct frame *frame[CAPACITY];

    (void)state;
    begin(&kinds[CRITICAL]);
    for (int i = 0; i < CAPACITY; i++)
        (frame[i] = try_reserve())->value = i;
    send(frame[1]);
    send(frame[2]);
    send(frame[0]);
    assert_int_equal(try_receive_value(), 1);
    assert_int_equal(try_receive_value(), 2);
    assert_int_equal(try_receive_value(), 0);
    assert_int_equal(try_receive_value(), -1);
}

static void received_slots_are_released_in_any_order(void **state)
{
    struct frame *frame[CAPACITY];

    (void)state;
    begin(&kinds[CRITICAL]);
    fill();
    for (int i = 0; i < CAPACITY; i++)
        frame[i] = try_receive();
    release(frame[1]);
    assert_ptr_equal(try_reserve(), frame[1]);
    assert_null(try_reserve());
    release(frame[2]);
    release(frame[0]);
    assert_int_equal(free_slots(), 2);
    assert_int_equal(frame[0]->value, 100);
    assert_int_equal(frame[2]->value, 102);
}

static void items_pass_one_that_is_held(void **state)
{
    struct frame *frame;

    (void)state;
    begin(&kinds[CRITICAL]);
    assert_true(try_send_value(1));
    frame = try_receive();
    for (int i = 2; i < 10; i++) {
        assert_true(try_send_value(i));
        assert_int_equal(try_receive_value(), i);
    }
    assert_int_equal(frame->value, 1);
    assert_int_equal(try_receive_value(), -1);
}

/* C11: dropping a slot for sending publishes nothing. */
static void what_is_discarded_was_never_sent(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each]);
        discard(try_reserve());
        assert_int_equal(len(), 0);
        assert_int_equal(free_slots(), kind->type->capacity);
        assert_true(try_send_value(3));
        assert_int_equal(try_receive_value(), 3);
        assert_int_equal(try_receive_value(), -1);
    }
}

/* C11: dropping a slot for receiving leaves the item unread. */
static void what_is_put_back_comes_next(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each]);
        fill();
        put_back(try_receive());
        assert_int_equal(len(), kind->type->capacity);
        assert_int_equal(free_slots(), 0);
        for (int i = 0; i < kind->type->capacity; i++)
            assert_int_equal(try_receive_value(), 100 + i);
        assert_int_equal(try_receive_value(), -1);
    }
}

static void an_only_item_that_is_put_back_is_the_newest_too(void **state)
{
    (void)state;
    begin(&kinds[CRITICAL]);
    assert_true(try_send_value(1));
    put_back(try_receive());
    assert_true(try_send_value(2));
    assert_int_equal(try_receive_value(), 1);
    assert_int_equal(try_receive_value(), 2);
}

static void a_waiting_receiver_gets_what_is_sent(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker;

        begin(&kinds[each]);
        worker = spawn(&receivings);
        assert_true(try_send_value(42));
        run_to_rest();
        assert_int_equal(worker->frame->value, 42);
        assert_int_equal(worker->polls, 2);
    }
}

static void a_waiting_sender_gets_the_slot_that_comes_free(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker;

        begin(&kinds[each]);
        fill();
        worker = spawn(&reservings);
        assert_null(worker->frame);
        assert_int_equal(try_receive_value(), 100);
        run_to_rest();
        assert_non_null(worker->frame);
        assert_int_equal(worker->polls, 2);
        send(worker->frame);
    }
}

static void what_is_discarded_goes_to_a_waiting_sender(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct frame *frame;
        struct worker *worker;

        begin(&kinds[each]);
        frame = try_reserve();
        fill();
        worker = spawn(&reservings);
        discard(frame);
        run_to_rest();
        assert_ptr_equal(worker->frame, frame);
    }
}

static void what_is_put_back_goes_to_a_waiting_receiver(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct frame *frame;
        struct worker *worker;

        begin(&kinds[each]);
        assert_true(try_send_value(1));
        frame = try_receive();
        worker = spawn(&receivings);
        put_back(frame);
        run_to_rest();
        assert_ptr_equal(worker->frame, frame);
    }
}

/* C12: upstream has one of each. */
static void many_senders_and_receivers_are_served_in_order(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *sending[3];
        struct worker *receiving[3];

        begin(&kinds[each]);
        for (int i = 0; i < 3; i++)
            receiving[i] = spawn(&receivings);
        for (int i = 0; i < 3; i++) {
            assert_true(try_send_value(i));
            run_to_rest();
            assert_int_equal(receiving[i]->frame->value, i);
            release(receiving[i]->frame);
        }
        fill();
        for (int i = 0; i < 3; i++)
            sending[i] = spawn(&reservings);
        for (int i = 0; i < 3; i++) {
            assert_int_not_equal(try_receive_value(), -1);
            run_to_rest();
            assert_non_null(sending[i]->frame);
            assert_true(i == 2 || sending[i + 1]->frame == NULL);
            sending[i]->frame->value = i;
            send(sending[i]->frame);
        }
    }
}

/* W1 */
static void idle_waiters_are_polled_only_under_the_single_slot_policy(
    void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *first;
        struct worker *second;

        begin(&kinds[each]);
        fill();
        first = spawn(&reservings);
        second = spawn(&reservings);
        for (int i = 0; i < 1000; i++)
            dz_executor_poll(&executor);
        if (kind->type->object.policy == DZ_QUEUE)
            assert_int_equal(first->polls + second->polls, 2);
        else
            assert_true(first->polls + second->polls > 1000);
    }
}

/* W3 */
static void what_is_promised_counts_neither_as_free_nor_as_there(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker;

        begin(&kinds[each]);
        worker = spawn(&receivings);
        assert_true(try_send_value(1));
        assert_int_equal(len(), 0);
        assert_int_equal(free_slots(), kind->type->capacity - 1);
        assert_null(try_receive());
        run_to_rest();
        assert_int_equal(worker->frame->value, 1);
    }
}

/* W4 on both sides. */
static void a_cancelled_receiver_passes_its_item_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        struct worker *second;

        begin(&kinds[each]);
        first = spawn(&receivings);
        second = spawn(&receivings);
        assert_true(try_send_value(6));
        dz_waiter_cancel(&first->task.waiter);
        assert_true(second->task.waiter.place & DZ_PLACE_GRANTED);
        dz_waiter_cancel(&second->task.waiter);
        assert_int_equal(len(), 1);
        assert_int_equal(try_receive_value(), 6);
    }
}

static void a_cancelled_sender_passes_its_slot_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        struct worker *second;

        begin(&kinds[each]);
        fill();
        first = spawn(&reservings);
        second = spawn(&reservings);
        assert_int_equal(try_receive_value(), 100);
        dz_waiter_cancel(&first->task.waiter);
        assert_true(second->task.waiter.place & DZ_PLACE_GRANTED);
        dz_waiter_cancel(&second->task.waiter);
        assert_int_equal(free_slots(), 1);
        assert_non_null(try_reserve());
    }
}

/* C8: upstream, both sides get the same element. */
static void clear_leaves_alone_what_is_held(void **state)
{
    struct frame *received;
    struct frame *reserved;

    (void)state;
    begin(&kinds[CRITICAL]);
    assert_true(try_send_value(7));
    assert_true(try_send_value(8));
    received = try_receive();
    reserved = try_reserve();
    clear();
    assert_int_equal(len(), 0);
    assert_int_equal(free_slots(), CAPACITY - 2);
    fill();
    assert_null(try_reserve());
    assert_int_equal(received->value, 7);
    release(received);
    reserved->value = 9;
    send(reserved);
    assert_int_equal(try_receive_value(), 100);
    assert_int_equal(try_receive_value(), 9);
    assert_int_equal(free_slots(), CAPACITY);
}

static void clear_leaves_a_promised_item_with_its_receiver(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker;

        begin(&kinds[each]);
        worker = spawn(&receivings);
        fill();
        clear();
        assert_int_equal(len(), 0);
        assert_int_equal(free_slots(), kind->type->capacity - 1);
        run_to_rest();
        assert_int_equal(worker->frame->value, 100);
        release(worker->frame);
        fill();
        for (int i = 0; i < kind->type->capacity; i++)
            assert_int_equal(try_receive_value(), 100 + i);
    }
}

/* C1 */
static void clear_wakes_as_many_senders_as_it_frees_slots(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker[TASKS];

        begin(&kinds[each]);
        fill();
        for (int i = 0; i < TASKS; i++)
            worker[i] = spawn(&reservings);
        clear();
        assert_int_equal(free_slots(), 0);
        run_to_rest();
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(
                worker[i]->frame != NULL, i < kind->type->capacity);
    }
}

static void clear_wakes_the_sender_under_the_single_slot_policy(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *worker;

        begin(&kinds[each]);
        fill();
        worker = spawn(&reservings);
        clear();
        run_to_rest();
        assert_non_null(worker->frame);
    }
}

static void clearing_an_empty_channel_changes_nothing(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each]);
        clear();
        assert_int_equal(free_slots(), kind->type->capacity);
        fill();
        assert_int_equal(len(), kind->type->capacity);
    }
}

/* The example of the header: a reader that may be cancelled while it holds a
 * slot, and a writer. */
struct packet {
    int value;
};

DZ_ZEROCOPY_DEFINE(packet_channel, struct packet, 4, DZ_CRITICAL_SECTION)
static struct packet_channel packets;

DZ_SIGNAL_DEFINE(int_signal, int, DZ_CRITICAL_SECTION)

static struct int_signal radio;
static struct int_signal stop;
static int logged;

static enum dz_poll radio_read_poll(struct packet *self)
{
    return int_signal_wait(&radio, &self->value);
}

static void log_packet(const struct packet *packet)
{
    logged = packet->value;
}

struct reader {
    struct dz_frame frame;
    struct dz_guard guard;
    struct packet *packet;
};

static void reader_drop(struct dz_guard *guard)
{
    struct reader *self = container_of(guard, struct reader, guard);

    packet_channel_discard(&packets, self->packet);
}

static enum dz_poll reader_poll(struct reader *self)
{
    async (self) {
        await(packet_channel_reserve(&packets, &self->packet));
        dz_guard_enter(&self->guard, reader_drop);
        await(radio_read_poll(self->packet)); /* may be cancelled here */
        dz_guard_leave(&self->guard);
        packet_channel_send(&packets, self->packet);
    }
    return DZ_READY;
}

struct reading {
    struct dz_task task;
    struct dz_select2 select;
    struct reader reader;
    int reason;
};

static enum dz_poll reading_poll(struct reading *self)
{
    async (self)
        await(dz_select2(&self->select, reader_poll(&self->reader),
            int_signal_wait(&stop, &self->reason)));
    return DZ_READY;
}

struct writer {
    struct dz_task task;
    struct packet *packet;
};

static enum dz_poll writer_poll(struct writer *self)
{
    async (self) {
        await(packet_channel_receive(&packets, &self->packet));
        log_packet(self->packet);
        packet_channel_release(&packets, self->packet);
    }
    return DZ_READY;
}

DZ_TASK_POOL(readings, struct reading, reading_poll, 1)
DZ_TASK_POOL(writers, struct writer, writer_poll, 1)

static void begin_reading(void)
{
    struct reading *reading;

    memset(&packets, 0, sizeof(packets));
    memset(&radio, 0, sizeof(radio));
    memset(&stop, 0, sizeof(stop));
    dz_executor_init(&executor, "test");
    (void)readings_claim(&reading);
    dz_executor_spawn(&executor, &reading->task);
    run_to_rest();
}

static void the_example_of_the_header_works(void **state)
{
    struct writer *writer;

    (void)state;
    begin_reading();
    (void)writers_claim(&writer);
    dz_executor_spawn(&executor, &writer->task);
    run_to_rest();
    int_signal_send(&radio, 12);
    run_to_rest();
    assert_int_equal(logged, 12);
    assert_int_equal(packet_channel_free(&packets), 4);
    assert_null(writer->task.pool);
}

static void a_guard_discards_what_a_cancelled_holder_reserved(void **state)
{
    (void)state;
    begin_reading();
    assert_int_equal(packet_channel_free(&packets), 3);
    int_signal_send(&stop, 1);
    run_to_rest();
    assert_int_equal(packet_channel_free(&packets), 4);
    assert_true(packet_channel_is_empty(&packets));
}

static void a_typed_channel_and_its_handles_are_the_same(void **state)
{
    struct packet *first;
    struct packet *second;

    (void)state;
    memset(&packets, 0, sizeof(packets));
    assert_int_equal(packet_channel_capacity(&packets), 4);
    first = packet_channel_try_reserve(&packets);
    second = packet_channel_try_reserve(&packets);
    packet_channel_send(&packets, second);
    dz_zerocopy_sender_discard(packet_channel_sender(&packets), first);
    assert_int_equal(packet_channel_len(&packets), 1);
    assert_ptr_equal(packet_channel_try_receive(&packets), second);
    packet_channel_put_back(&packets, second);
    assert_ptr_equal(packet_channel_try_receive(&packets), second);
    dz_zerocopy_receiver_release(packet_channel_receiver(&packets), second);
    while ((first = packet_channel_try_reserve(&packets)) != NULL)
        packet_channel_send(&packets, first);
    assert_true(packet_channel_is_full(&packets));
    packet_channel_clear(&packets);
    assert_true(packet_channel_is_empty(&packets));
    assert_int_equal(packet_channel_free(&packets), 4);
}

static void send_in_handler(void *argument)
{
    (void)argument;
    assert_true(try_send_value(4));
}

/* W10: the item comes right behind the look that found nothing. */
static void an_interrupt_behind_the_registration_is_not_lost(void **state)
{
    struct worker *worker;

    (void)state;
    begin(&kinds[CRITICAL_1]);
    prepare_strike(send_in_handler, NULL);
    worker = spawn(&receivings);
    assert_true(has_struck_in_queue());
    run_to_rest();
    assert_int_equal(worker->frame->value, 4);
    assert_int_equal(worker->polls, 2);
}

/* W11 */
static void an_interrupt_within_a_send_finds_the_channel_consistent(
    void **state)
{
    struct worker *first;
    struct worker *second;
    struct frame *frame;

    (void)state;
    begin(&kinds[CRITICAL]);
    first = spawn(&receivings);
    second = spawn(&receivings);
    frame = try_reserve();
    frame->value = 3;
    interrupt_at_next_unmask(send_in_handler, NULL);
    send(frame);
    run_to_rest();
    assert_int_equal(first->frame->value, 3);
    assert_int_equal(second->frame->value, 4);
}

/* C11: every way to end a slot that is not held in that way. */
static void send_twice(void)
{
    struct frame *frame = try_reserve();

    send(frame);
    send(frame);
}

static void discard_what_was_sent(void)
{
    struct frame *frame = try_reserve();

    send(frame);
    discard(frame);
}

static void send_what_was_received(void)
{
    (void)try_send_value(1);
    send(try_receive());
}

static void send_what_was_never_reserved(void)
{
    send(&critical_queue_3.items[0]);
}

static void send_something_else(void)
{
    static struct frame other;

    send(&other);
}

static void send_nothing(void)
{
    send(NULL);
}

static void send_what_lies_behind(void)
{
    send(&critical_queue_3.items[0] + CAPACITY);
}

/* What would be its link is in an item. */
static void send_what_lies_far_behind(void)
{
    struct frame *frame = critical_queue_3.items;

    memset(frame, 0xff, sizeof(critical_queue_3.items));
    send((struct frame *)(void *)((char *)frame + 5 * sizeof(*frame)));
}

static void send_a_part(void)
{
    send((struct frame *)(void *)&try_reserve()->more[0]);
}

static void release_twice(void)
{
    struct frame *frame;

    (void)try_send_value(1);
    frame = try_receive();
    release(frame);
    release(frame);
}

static void release_what_was_reserved(void)
{
    release(try_reserve());
}

static void put_back_what_was_reserved(void)
{
    put_back(try_reserve());
}

static void put_back_twice(void)
{
    struct frame *frame;

    (void)try_send_value(1);
    frame = try_receive();
    put_back(frame);
    put_back(frame);
}

static void a_slot_that_is_not_held_panics(void **state)
{
    void (*const misuses[])(void) = {send_twice, discard_what_was_sent,
        send_what_was_received, send_what_was_never_reserved,
        send_what_lies_far_behind, send_what_lies_behind, send_something_else,
        send_nothing, send_a_part, release_twice, release_what_was_reserved,
        put_back_what_was_reserved, put_back_twice};

    (void)state;
    for (unsigned i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
        struct last_words words;

        begin(&kinds[CRITICAL]);
        words = last_words_of(misuses[i]);
        assert_says(words,
            i < 9 ? "an item is sent or discarded that is not reserved"
                  : "an item is released or put back that was not received");
        assert_says(words, "object: critical_queue_3 at 0x");
    }
}

static void reserve_in_handler(void *argument)
{
    struct frame *frame;

    (void)argument;
    walk_away_from(critical_queue_3_reserve(&critical_queue_3, &frame));
}

static void wait_in_an_interrupt(void)
{
    interrupt_now(reserve_in_handler, NULL);
}

static void reserve_thread_mode_in_handler(void *argument)
{
    (void)argument;
    (void)thread_queue_1_try_reserve(&thread_queue_1);
}

static void use_thread_mode_in_an_interrupt(void)
{
    interrupt_now(reserve_thread_mode_in_handler, NULL);
}

static void misuse_in_a_handler_names_the_channel(void **state)
{
    struct last_words words = last_words_of(wait_in_an_interrupt);

    (void)state;
    assert_says(words, "await outside a task");
    assert_says(words, "object: critical_queue_3 at 0x");
    words = last_words_at(DZ_EXIT_RACE, use_thread_mode_in_an_interrupt);
    assert_says(words, "a thread-mode object is used in an interrupt");
}

RUN_TESTS(TEST(len_and_free_are_exact_across_wrap_and_full),
    TEST(an_empty_channel_has_nothing_to_give),
    TEST(slots_that_are_held_are_all_different),
    TEST(what_is_reserved_is_not_there_until_it_is_sent),
    TEST(items_come_out_as_they_were_sent_and_not_as_reserved),
    TEST(received_slots_are_released_in_any_order),
    TEST(items_pass_one_that_is_held), TEST(what_is_discarded_was_never_sent),
    TEST(what_is_put_back_comes_next),
    TEST(an_only_item_that_is_put_back_is_the_newest_too),
    TEST(a_waiting_receiver_gets_what_is_sent),
    TEST(a_waiting_sender_gets_the_slot_that_comes_free),
    TEST(what_is_discarded_goes_to_a_waiting_sender),
    TEST(what_is_put_back_goes_to_a_waiting_receiver),
    TEST(many_senders_and_receivers_are_served_in_order),
    TEST(idle_waiters_are_polled_only_under_the_single_slot_policy),
    TEST(what_is_promised_counts_neither_as_free_nor_as_there),
    TEST(a_cancelled_receiver_passes_its_item_on),
    TEST(a_cancelled_sender_passes_its_slot_on),
    TEST(clear_leaves_alone_what_is_held),
    TEST(clear_leaves_a_promised_item_with_its_receiver),
    TEST(clear_wakes_as_many_senders_as_it_frees_slots),
    TEST(clear_wakes_the_sender_under_the_single_slot_policy),
    TEST(clearing_an_empty_channel_changes_nothing),
    TEST(the_example_of_the_header_works),
    TEST(a_guard_discards_what_a_cancelled_holder_reserved),
    TEST(a_typed_channel_and_its_handles_are_the_same),
    TEST(an_interrupt_behind_the_registration_is_not_lost),
    TEST(an_interrupt_within_a_send_finds_the_channel_consistent),
    TEST(a_slot_that_is_not_held_panics),
    TEST(misuse_in_a_handler_names_the_channel))
