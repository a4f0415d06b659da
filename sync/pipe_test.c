/* SPDX-License-Identifier: MIT */
#include "sync/pipe.h"

#include "executor/select.h"
#include "sim/test.h"

enum { TASKS = 4, CAPACITY = 4, LONGEST = 16 };

/* Every raw mutex under both policies. */
#define FOR_EACH_KIND(X)                                       \
    X(critical_queue, CAPACITY, DZ_CRITICAL_SECTION, DZ_QUEUE) \
    X(noop_queue, CAPACITY, DZ_NOOP, DZ_QUEUE)                 \
    X(thread_queue, CAPACITY, DZ_THREAD_MODE, DZ_QUEUE)        \
    X(noop_slot, CAPACITY, DZ_NOOP, DZ_SINGLE_SLOT)            \
    X(thread_slot, CAPACITY, DZ_THREAD_MODE, DZ_SINGLE_SLOT)   \
    X(critical_slot, CAPACITY, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT)

/* Every capacity up to five. */
#define FOR_EACH_SIZE(X)            \
    X(size_1, 1, DZ_NOOP, DZ_QUEUE) \
    X(size_2, 2, DZ_NOOP, DZ_QUEUE) \
    X(size_3, 3, DZ_NOOP, DZ_QUEUE) \
    X(size_4, 4, DZ_NOOP, DZ_QUEUE) \
    X(size_5, 5, DZ_NOOP, DZ_QUEUE)

#define DEFINE(name, capacity, mutex, policy)            \
    DZ_PIPE_DEFINE_POLICY(name, capacity, mutex, policy) \
    static struct name name;

FOR_EACH_KIND(DEFINE)
FOR_EACH_SIZE(DEFINE)

/* A pipe of which the tests know no more than what they look up here. */
struct kind {
    void *pipe;
    size_t size;
    const struct dz_pipe_type *type;
};

#define ENTRY(name, capacity, mutex, policy) \
    {&name, sizeof(name), &name##_type},

static const struct kind kinds[] = {FOR_EACH_KIND(ENTRY)};
static const struct kind sizes[] = {FOR_EACH_SIZE(ENTRY)};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), SIZES = 5 };

#define FOR_ALL_KINDS \
    for (const struct kind *kind = kinds; kind < kinds + KINDS; kind++)

#define FOR_ALL_QUEUES FOR_ALL_KINDS if (kind->type->object.policy == DZ_QUEUE)

static struct dz_executor executor;
static struct dz_pipe_writer writer;
static struct dz_pipe_reader reader;

/* A task that makes one transfer. */
struct worker {
    struct dz_task task;
    char bytes[LONGEST];
    size_t len;
    size_t count; /* what was transferred in the end */
    size_t progress;
    const uint8_t *shown;
    unsigned polls;
    bool is_done;
    bool gives_up; /* at its next poll */
};

static enum dz_poll write_poll(struct worker *self)
{
    return dz_pipe_writer_write(writer, self->bytes, self->len, &self->count);
}

static enum dz_poll write_all_poll(struct worker *self)
{
    return dz_pipe_writer_write_all(
        writer, self->bytes, self->len, &self->progress);
}

static enum dz_poll read_poll(struct worker *self)
{
    return dz_pipe_reader_read(reader, self->bytes, self->len, &self->count);
}

static enum dz_poll read_exact_poll(struct worker *self)
{
    return dz_pipe_reader_read_exact(
        reader, self->bytes, self->len, &self->progress);
}

static enum dz_poll fill_poll(struct worker *self)
{
    return dz_pipe_reader_fill(reader, &self->shown, &self->count);
}

static enum dz_poll work(
    struct worker *self, enum dz_poll (*poll)(struct worker *self))
{
    self->polls++;
    if (self->gives_up)
        return DZ_READY;
    strike_behind_wait();
    if (poll(self) == DZ_PENDING)
        return DZ_PENDING;
    self->is_done = true;
    return DZ_READY;
}

#define DEFINE_WORKERS(name, poll)                       \
    static enum dz_poll name##_work(struct worker *self) \
    {                                                    \
        return work(self, poll);                         \
    }                                                    \
    DZ_TASK_POOL(name, struct worker, name##_work, TASKS)

DEFINE_WORKERS(writes, write_poll)
DEFINE_WORKERS(write_alls, write_all_poll)
DEFINE_WORKERS(reads, read_poll)
DEFINE_WORKERS(read_exacts, read_exact_poll)
DEFINE_WORKERS(fills, fill_poll)

static void begin(const struct kind *kind)
{
    memset(kind->pipe, 0, kind->size);
    memset(writes_slots, 0, sizeof(writes_slots));
    memset(write_alls_slots, 0, sizeof(write_alls_slots));
    memset(reads_slots, 0, sizeof(reads_slots));
    memset(read_exacts_slots, 0, sizeof(read_exacts_slots));
    memset(fills_slots, 0, sizeof(fills_slots));
    dz_executor_init(&executor, "test");
    writer = (struct dz_pipe_writer){kind->pipe, kind->type};
    reader = (struct dz_pipe_reader){kind->pipe, kind->type};
}

/* Runs it up to where it waits. */
static struct worker *spawn(const struct dz_pool *pool, size_t len)
{
    struct worker *worker = dz_pool_claim(pool);

    assert_non_null(worker);
    worker->len = len;
    dz_executor_spawn(&executor, &worker->task);
    dz_executor_poll(&executor);
    return worker;
}

static struct worker *spawn_with(const struct dz_pool *pool, const char *bytes)
{
    struct worker *worker = dz_pool_claim(pool);

    assert_non_null(worker);
    worker->len = strlen(bytes);
    memcpy(worker->bytes, bytes, worker->len);
    dz_executor_spawn(&executor, &worker->task);
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

/* A task that ends in the middle of a wait is cancelled. */
static void give_up(struct worker *worker)
{
    worker->gives_up = true;
    dz_task_wake(&worker->task);
    dz_executor_poll(&executor);
}

static void put(const char *bytes)
{
    assert_true(dz_pipe_writer_try_write_all(writer, bytes, strlen(bytes)));
}

/* What is in the pipe comes out of it, and is this. */
static void assert_comes(const char *expected)
{
    char bytes[LONGEST + 1] = "";

    dz_pipe_reader_try_read(reader, bytes, LONGEST);
    assert_string_equal(bytes, expected);
}

/* Moves the beginning of the empty pipe. */
static void rotate(unsigned steps)
{
    char byte = 'x';

    for (; steps > 0; steps--) {
        assert_int_equal(dz_pipe_writer_try_write(writer, &byte, 1), 1);
        assert_int_equal(dz_pipe_reader_try_read(reader, &byte, 1), 1);
    }
}

static void bytes_come_out_in_the_order_in_which_they_went_in(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);

        put("ab");
        put("c");
        assert_comes("abc");
        put("defg");
        assert_comes("defg");
        assert_comes("");
    }
}

/* I4: upstream says "full", and has written a part. */
static void all_or_nothing_is_tried(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);

        assert_false(dz_pipe_writer_try_write_all(writer, "abcdef", 6));
        assert_int_equal(dz_pipe_reader_len(reader), 0);
        put("a");
        assert_false(dz_pipe_writer_try_write_all(writer, "bcde", 4));
        assert_true(dz_pipe_writer_try_write_all(writer, "bcd", 3));
        assert_comes("abcd");
    }
}

static void a_full_pipe_takes_no_more(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);

        assert_int_equal(dz_pipe_writer_try_write(writer, "abcdef", 6), 4);
        assert_int_equal(dz_pipe_writer_try_write(writer, "g", 1), 0);
        assert_int_equal(dz_pipe_writer_free(writer), 0);
        assert_int_equal(dz_pipe_reader_len(reader), 4);
        assert_comes("abcd");
    }
}

static void an_empty_pipe_has_nothing_to_give(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const uint8_t *shown;
        size_t len;
        char byte = 'z';

        begin(kind);

        assert_int_equal(dz_pipe_reader_try_read(reader, &byte, 1), 0);
        assert_int_equal(byte, 'z');
        assert_false(dz_pipe_reader_try_fill(reader, &shown, &len));
        assert_int_equal(dz_pipe_reader_len(reader), 0);
        assert_int_equal(dz_pipe_writer_free(writer), CAPACITY);
    }
}

/* What one write and one read do to `held` bytes that begin at `first`. */
static void transfer(const struct kind *kind, unsigned first, size_t held)
{
    static const char bytes[] = "abcdefghijklmn";
    size_t capacity = kind->type->capacity;

    for (size_t written = 0; written <= capacity + 1; written++) {
        for (size_t read = 0; read <= capacity + 1; read++) {
            size_t room = capacity - held;
            size_t in = written < room ? written : room;
            size_t out = read < held + in ? read : held + in;
            char got[LONGEST] = "";

            begin(kind);
            rotate(first);
            dz_pipe_writer_try_write(writer, bytes, held);
            assert_int_equal(
                dz_pipe_writer_try_write(writer, bytes + held, written), in);
            assert_int_equal(dz_pipe_reader_len(reader), held + in);
            assert_int_equal(dz_pipe_reader_try_read(reader, got, read), out);
            assert_memory_equal(got, bytes, out);
            assert_int_equal(got[out], '\0');
            assert_int_equal(
                dz_pipe_writer_free(writer), capacity - (held + in - out));
        }
    }
}

/* I2: nothing is short at the end of the buffer. */
static void a_transfer_is_never_short_at_the_end_of_the_buffer(void **state)
{
    (void)state;
    for (const struct kind *kind = sizes; kind < sizes + SIZES; kind++) {
        for (unsigned first = 0; first < kind->type->capacity; first++)
            for (size_t held = 0; held <= kind->type->capacity; held++)
                transfer(kind, first, held);
    }
}

/* I2 for what is awaited: of three, the one in the middle is in use. */
static void a_wait_is_never_short_at_the_end_of_the_buffer(void **state)
{
    struct worker *worker;

    (void)state;
    begin(&sizes[2]);
    rotate(1);
    put("a");

    worker = spawn_with(&writes, "bc");
    assert_int_equal(worker->count, 2);
    worker = spawn(&reads, 3);
    assert_int_equal(worker->count, 3);
    assert_memory_equal(worker->bytes, "abc", 3);
}

static void look_at(const struct kind *kind, unsigned first, unsigned held)
{
    static const char bytes[] = "abcde";
    unsigned end = kind->type->capacity - first;
    size_t expected = held < end ? held : end;
    const uint8_t *shown;
    char rest[LONGEST];
    size_t len;

    begin(kind);
    rotate(first);
    dz_pipe_writer_try_write(writer, bytes, held);
    assert_true(dz_pipe_reader_try_fill(reader, &shown, &len));
    assert_int_equal(len, expected);
    assert_memory_equal(shown, bytes, expected);
    dz_pipe_reader_consume(reader, expected);
    assert_int_equal(
        dz_pipe_reader_try_read(reader, rest, LONGEST), held - expected);
    assert_memory_equal(rest, bytes + expected, held - expected);
}

static void a_fill_shows_the_bytes_up_to_the_end_of_the_buffer(void **state)
{
    (void)state;
    for (const struct kind *kind = sizes; kind < sizes + SIZES; kind++) {
        for (unsigned first = 0; first < kind->type->capacity; first++)
            for (unsigned held = 1; held <= kind->type->capacity; held++)
                look_at(kind, first, held);
    }
}

static void a_write_waits_for_room_and_a_read_for_bytes(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *reading;
        struct worker *writing;

        begin(kind);
        reading = spawn(&reads, 3);
        assert_false(reading->is_done);
        put("ab");
        run_to_rest();
        assert_int_equal(reading->count, 2);
        assert_memory_equal(reading->bytes, "ab", 2);

        put("cdef");
        writing = spawn_with(&writes, "gh");
        assert_false(writing->is_done);
        reading = spawn(&reads, 1);
        run_to_rest();
        assert_true(writing->is_done);
        assert_int_equal(writing->count, 1);
        assert_comes("defg");
    }
}

static void a_transfer_is_done_at_once_if_it_can(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);

        assert_int_equal(spawn_with(&writes, "ab")->count, 2);
        assert_true(spawn_with(&write_alls, "cd")->is_done);
        assert_int_equal(spawn(&reads, 1)->count, 1);
        assert_true(spawn(&read_exacts, 3)->is_done);
    }
}

static void more_bytes_than_fit_pass_between_two_tasks(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *reading;
        struct worker *writing;

        begin(kind);
        rotate(3);
        reading = spawn(&read_exacts, 14);
        writing = spawn_with(&write_alls, "abcdefghijklmn");
        run_to_rest();

        assert_true(writing->is_done);
        assert_true(reading->is_done);
        assert_memory_equal(reading->bytes, "abcdefghijklmn", 14);
        assert_int_equal(dz_pipe_reader_len(reader), 0);
        assert_int_equal(dz_pipe_writer_free(writer), CAPACITY);
    }
}

/* So that the next transfer needs no preparation. */
static void progress_is_zero_again_when_all_is_done(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *reading;
        struct worker *writing;

        begin(kind);
        writing = spawn_with(&write_alls, "abcdef");
        assert_int_equal(writing->progress, 4);
        reading = spawn(&read_exacts, 6);
        run_to_rest();

        assert_true(writing->is_done && reading->is_done);
        assert_int_equal(writing->progress, 0);
        assert_int_equal(reading->progress, 0);
    }
}

/* I3: upstream, "AAAABBBBBBAA" comes out. */
static void the_bytes_of_two_writers_do_not_mix(void **state)
{
    static const struct dz_pool *const pools[] = {&reads, &read_exacts};

    (void)state;
    FOR_ALL_QUEUES
    {
        for (int i = 0; i < 2; i++) {
            char all[LONGEST] = "";
            size_t len = 0;

            begin(kind);
            (void)spawn_with(&write_alls, "AAAAAA");
            (void)spawn_with(&write_alls, "BBBBBB");
            (void)spawn_with(&writes, "C");
            while (len < 13) {
                struct worker *reading = spawn(pools[i], 1);

                run_to_rest();
                assert_true(reading->is_done);
                all[len++] = reading->bytes[0];
            }
            assert_string_equal(all, "AAAAAABBBBBBC");
        }
    }
}

/* I3, with a writer that waits for nothing: an interrupt, say. */
static void nobody_tries_to_write_into_the_bytes_of_another(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        char byte;

        begin(kind);
        (void)spawn_with(&write_alls, "abcdef");
        assert_int_equal(dz_pipe_reader_try_read(reader, &byte, 1), 1);
        assert_int_equal(dz_pipe_writer_try_write(writer, "x", 1), 0);
        assert_false(dz_pipe_writer_try_write_all(writer, "x", 1));
        run_to_rest();
        assert_comes("bcde");
        run_to_rest();
        assert_comes("f");
        assert_int_equal(dz_pipe_writer_try_write(writer, "x", 1), 1);
    }
}

static void the_bytes_for_one_reader_go_to_no_other(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        struct worker *second;
        char byte;

        begin(kind);
        first = spawn(&read_exacts, 6);
        second = spawn(&reads, 6);
        put("abcd");
        assert_int_equal(dz_pipe_reader_try_read(reader, &byte, 1), 0);
        run_to_rest();
        put("efgh");
        run_to_rest();

        assert_memory_equal(first->bytes, "abcdef", 6);
        assert_int_equal(second->count, 2);
        assert_memory_equal(second->bytes, "gh", 2);
    }
}

static void waiting_writers_are_served_in_order(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        begin(kind);
        put("1234");
        (void)spawn_with(&writes, "a");
        (void)spawn_with(&write_alls, "bc");
        (void)spawn_with(&writes, "d");
        assert_comes("1234");
        run_to_rest();
        assert_comes("abcd");
    }
}

static void waiting_readers_are_served_in_order(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *reading[3];

        begin(kind);
        for (int i = 0; i < 3; i++)
            reading[i] = spawn(&reads, 1);
        put("abc");
        run_to_rest();
        for (int i = 0; i < 3; i++)
            assert_int_equal(reading[i]->bytes[0], "abc"[i]);
    }
}

/* An interrupt delivers byte by byte, and the task runs late. */
static void a_woken_reader_takes_what_has_come_since(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *reading;

        begin(kind);
        reading = spawn(&reads, 8);
        put("a");
        put("b");
        put("c");
        run_to_rest();
        assert_int_equal(reading->count, 3);
        assert_int_equal(reading->polls, 2);
    }
}

static void what_is_promised_counts_neither_as_free_nor_as_there(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const uint8_t *shown;
        size_t len;

        begin(kind);
        put("abcd");
        (void)spawn_with(&writes, "e");
        dz_pipe_reader_clear(reader);
        assert_int_equal(dz_pipe_writer_free(writer), 0);
        run_to_rest();
        assert_int_equal(dz_pipe_writer_free(writer), 3);

        assert_comes("e");
        (void)spawn(&reads, 1);
        put("ab");
        assert_int_equal(dz_pipe_reader_len(reader), 0);
        assert_false(dz_pipe_reader_try_fill(reader, &shown, &len));
        run_to_rest();
        assert_int_equal(dz_pipe_reader_len(reader), 1);
    }
}

static void clear_lets_the_waiting_writers_go_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        begin(kind);
        put("1234");
        (void)spawn_with(&write_alls, "abc");
        (void)spawn_with(&writes, "de");
        dz_pipe_reader_clear(reader);
        run_to_rest();
        assert_comes("abcd");
    }
}

static void clear_wakes_the_writer_under_the_single_slot_policy(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        put("1234");
        (void)spawn_with(&writes, "ab");
        dz_pipe_reader_clear(reader);
        run_to_rest();
        assert_comes("ab");
    }
}

static void a_cleared_pipe_is_as_new(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(kind);
        for (unsigned i = 0; i < 2 * CAPACITY; i++) {
            rotate(i);
            put("abc");
            dz_pipe_reader_clear(reader);
            assert_int_equal(dz_pipe_reader_len(reader), 0);
            assert_int_equal(dz_pipe_writer_free(writer), CAPACITY);
            put("defg");
            assert_comes("defg");
        }
    }
}

/* It was woken with two bytes, and asked for three. */
static void clear_leaves_promised_bytes_with_their_reader(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *reading;

        begin(kind);
        reading = spawn(&reads, 3);
        put("ab");
        put("c");
        dz_pipe_reader_clear(reader);
        put("d");
        run_to_rest();
        assert_int_equal(reading->count, 3);
        assert_memory_equal(reading->bytes, "abd", 3);
    }
}

static void clear_drops_what_a_reader_did_not_ask_for(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *reading;

        begin(kind);
        reading = spawn(&reads, 1);
        put("ab");
        dz_pipe_reader_clear(reader);
        run_to_rest();
        assert_int_equal(reading->bytes[0], 'a');
        assert_comes("");
    }
}

static void clear_leaves_what_is_shown(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const uint8_t *shown;
        size_t len;

        begin(kind);
        put("ab");
        assert_true(dz_pipe_reader_try_fill(reader, &shown, &len));
        put("c");
        dz_pipe_reader_clear(reader);
        put("d");
        assert_memory_equal(shown, "ab", len);
        dz_pipe_reader_consume(reader, 1);
        assert_comes("bd");
    }
}

/* Of an empty pipe there is nothing to drop, and so nobody to wake. */
static void clear_wakes_no_reader(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *reading;

        begin(kind);
        reading = spawn(&reads, 1);
        dz_pipe_reader_clear(reader);
        run_to_rest();
        assert_int_equal(reading->polls, 1);
    }
}

static void zero_bytes_pass_at_once_and_wake_nobody(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *waiting;

        begin(kind);
        waiting = spawn(&reads, 1);
        assert_true(spawn(&reads, 0)->is_done);
        assert_true(spawn(&read_exacts, 0)->is_done);
        assert_true(spawn(&writes, 0)->is_done);
        assert_true(spawn(&write_alls, 0)->is_done);
        assert_int_equal(dz_pipe_writer_try_write(writer, "", 0), 0);
        assert_true(dz_pipe_writer_try_write_all(writer, "", 0));
        assert_int_equal(dz_pipe_reader_try_read(reader, NULL, 0), 0);
        run_to_rest();
        assert_int_equal(waiting->polls, 1);
        put("abcd");
        run_to_rest();
        put("e");
        waiting = spawn_with(&writes, "f");
        assert_true(spawn(&writes, 0)->is_done);
        assert_true(dz_pipe_writer_try_write_all(writer, "", 0));
        run_to_rest();
        assert_int_equal(waiting->polls, 1);
    }
}

static void zero_bytes_wake_nobody_who_waits_for_the_turn(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct worker *waiting;
        const uint8_t *shown;
        size_t len;

        begin(kind);
        put("ab");
        assert_true(dz_pipe_reader_try_fill(reader, &shown, &len));
        waiting = spawn(&reads, 1);
        assert_true(dz_pipe_writer_try_write_all(writer, "", 0));
        assert_int_equal(dz_pipe_writer_try_write(writer, "", 0), 0);
        run_to_rest();
        assert_int_equal(waiting->polls, 1);
    }
}

static void zero_bytes_take_no_turn_from_who_has_it(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        begin(kind);
        put("1234");
        (void)spawn_with(&writes, "a");
        dz_pipe_reader_clear(reader);
        assert_true(dz_pipe_writer_try_write_all(writer, "", 0));
        assert_int_equal(dz_pipe_writer_try_write(writer, "x", 1), 0);
        run_to_rest();
        assert_comes("a");
    }
}

/* W1 for the pipe. */
static void idle_waiters_are_polled_only_under_the_single_slot_policy(
    void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        bool is_queue = kind->type->object.policy == DZ_QUEUE;
        unsigned passes = 0;

        begin(kind);
        (void)spawn(&reads, 1);
        (void)spawn(&read_exacts, 2);
        if (is_queue)
            (void)spawn(&fills, 0);
        for (int i = 0; i < 1000; i++) {
            passes += dz_executor_is_ready(&executor);
            dz_executor_poll(&executor);
        }
        assert_int_equal(passes, is_queue ? 0 : 1000);
    }
}

static void one_that_waits_in_the_middle_is_not_polled(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *writing;

        begin(kind);
        writing = spawn_with(&write_alls, "abcdef");
        run_to_rest();
        assert_int_equal(writing->polls, 1);
        assert_comes("abcd");
        run_to_rest();
        assert_int_equal(writing->polls, 2);

        writing = spawn(&read_exacts, 4);
        run_to_rest();
        assert_int_equal(writing->polls, 1);
        assert_int_equal(writing->progress, 2);
    }
}

/* W4 in line, with the turn, and in the middle of a transfer. */
static void a_cancelled_writer_passes_its_turn_on(void **state)
{
    static const struct dz_pool *const pools[] = {&writes, &write_alls};

    (void)state;
    FOR_ALL_QUEUES
    {
        for (int i = 0; i < 2; i++) {
            struct worker *first;
            const struct worker *second;

            begin(kind);
            put("1234");
            first = spawn_with(pools[i], "aaaaa");
            second = spawn_with(pools[i], "b");
            give_up(first);
            assert_int_equal(second->polls, 1);
            dz_pipe_reader_clear(reader);
            run_to_rest();
            assert_comes("b");

            put("1234");
            first = spawn_with(pools[i], "aaaaa");
            second = spawn_with(pools[i], "b");
            dz_pipe_reader_clear(reader);
            give_up(first);
            run_to_rest();
            assert_true(second->is_done);
            assert_comes("b");
        }
    }
}

static void a_cancelled_write_all_says_how_far_it_came(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        const struct worker *second;

        begin(kind);
        first = spawn_with(&write_alls, "abcdefghijkl");
        second = spawn_with(&write_alls, "z");
        assert_comes("abcd");
        dz_executor_poll(&executor);
        assert_int_equal(first->progress, 8);
        give_up(first);
        assert_int_equal(first->progress, 8);
        assert_comes("efgh");
        run_to_rest();
        assert_true(second->is_done);
        assert_comes("z");
    }
}

static void a_cancelled_transfer_goes_on_from_where_it_stood(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *again;
        struct worker *worker;
        size_t progress;

        begin(kind);
        worker = spawn_with(&write_alls, "abcdef");
        give_up(worker);
        progress = worker->progress;
        assert_comes("abcd");
        again = dz_pool_claim(&write_alls);
        memcpy(again->bytes, "abcdef", 6);
        again->len = 6;
        again->progress = progress;
        dz_executor_spawn(&executor, &again->task);
        run_to_rest();
        assert_comes("ef");
    }
}

static void a_cancelled_reader_passes_its_turn_on(void **state)
{
    static const struct dz_pool *const pools[] = {&reads, &read_exacts, &fills};

    (void)state;
    FOR_ALL_QUEUES
    {
        for (int i = 0; i < 3; i++) {
            struct worker *first;
            const struct worker *second;

            begin(kind);
            first = spawn(pools[i], 5);
            second = spawn(&reads, 1);
            put("a");
            give_up(first);
            run_to_rest();
            assert_int_equal(second->bytes[0], 'a');

            first = spawn(pools[i], 5);
            give_up(first);
            put("b");
            assert_comes("b");
        }
    }
}

static void a_cancelled_read_has_taken_nothing(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *worker;

        begin(kind);
        worker = spawn(&reads, 4);
        put("ab");
        give_up(worker);
        assert_comes("ab");
    }
}

static void a_cancelled_read_exact_has_taken_its_progress(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        const struct worker *second;

        begin(kind);
        put("ab");
        first = spawn(&read_exacts, 6);
        second = spawn(&reads, 6);
        put("cd");
        give_up(first);
        run_to_rest();
        assert_int_equal(first->progress, 2);
        assert_memory_equal(first->bytes, "ab", 2);
        assert_int_equal(second->count, 2);
        assert_memory_equal(second->bytes, "cd", 2);
    }
}

/* Upstream's read_buf, but for its idempotence: here the turn is held. */
static void a_fill_holds_the_turn_until_it_is_consumed(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct worker *filling;
        const struct worker *reading;
        const uint8_t *shown;
        size_t len;
        char byte;

        begin(kind);
        filling = spawn(&fills, 0);
        put("abc");
        run_to_rest();
        assert_int_equal(filling->count, 3);
        reading = spawn(&reads, 8);
        assert_int_equal(dz_pipe_reader_try_read(reader, &byte, 1), 0);
        assert_false(dz_pipe_reader_try_fill(reader, &shown, &len));
        run_to_rest();
        assert_int_equal(reading->polls, 1);
        assert_memory_equal(filling->shown, "abc", 3);

        dz_pipe_reader_consume(reader, 2);
        run_to_rest();
        assert_int_equal(reading->count, 1);
        assert_int_equal(reading->bytes[0], 'c');
    }
}

static void what_is_written_behind_the_bytes_shown_does_not_touch_them(
    void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const uint8_t *shown;
        size_t len;

        begin(kind);
        rotate(3);
        put("ab");
        assert_true(dz_pipe_reader_try_fill(reader, &shown, &len));
        assert_int_equal(len, 1);
        (void)spawn_with(&write_alls, "cdefg");
        assert_int_equal(shown[0], 'a');
        assert_int_equal(dz_pipe_writer_free(writer), 0);

        dz_pipe_reader_consume(reader, 1);
        run_to_rest();
        assert_comes("bcde");
        run_to_rest();
        assert_comes("fg");
    }
}

static void nothing_consumed_is_shown_again(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const uint8_t *shown;
        const uint8_t *again;
        size_t len;

        begin(kind);
        put("ab");
        assert_true(dz_pipe_reader_try_fill(reader, &shown, &len));
        dz_pipe_reader_consume(reader, 0);
        put("c");
        assert_true(dz_pipe_reader_try_fill(reader, &again, &len));
        assert_ptr_equal(again, shown);
        assert_int_equal(len, 3);
    }
}

static void nothing_consumed_wakes_no_writer(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *writing;
        const uint8_t *shown;
        size_t len;

        begin(kind);
        put("abcd");
        writing = spawn_with(&writes, "e");
        assert_true(dz_pipe_reader_try_fill(reader, &shown, &len));
        dz_pipe_reader_consume(reader, 0);
        run_to_rest();
        assert_int_equal(writing->polls, 1);
    }
}

static void consume_without_a_fill(void)
{
    begin(&kinds[0]);
    (void)spawn(&reads, 1);
    put("a"); /* promised to the reader, but not shown */
    dz_pipe_reader_consume(reader, 0);
}

static void consume_twice(void)
{
    const uint8_t *shown;
    size_t len;

    begin(&kinds[0]);
    put("a");
    (void)dz_pipe_reader_try_fill(reader, &shown, &len);
    dz_pipe_reader_consume(reader, 0);
    dz_pipe_reader_consume(reader, 1);
}

static void consume_more_than_is_shown(void)
{
    const uint8_t *shown;
    size_t len;

    begin(&kinds[0]);
    put("a");
    (void)dz_pipe_reader_try_fill(reader, &shown, &len);
    put("b");
    dz_pipe_reader_consume(reader, 2);
}

static void consuming_what_is_not_shown_panics(void **state)
{
    struct last_words words = last_words_of(consume_without_a_fill);

    (void)state;
    assert_says(words, "consume: nothing is shown; fill first");
    assert_says(words, "object: critical_queue at 0x");
    assert_says(
        last_words_of(consume_twice), "consume: nothing is shown; fill first");
    assert_says(last_words_of(consume_more_than_is_shown),
        "consume: more bytes than fill showed");
}

static void write_with_another_one_s_progress(void)
{
    struct worker *worker;

    begin(&kinds[0]);
    worker = dz_pool_claim(&write_alls);
    worker->len = 3;
    worker->progress = 4;
    dz_executor_spawn(&executor, &worker->task);
    dz_executor_poll(&executor);
}

static void progress_of_another_transfer_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(write_with_another_one_s_progress),
        "more progress than bytes");
}

static enum dz_poll change_poll(struct worker *self)
{
    if (self->polls == 1)
        return read_poll(self);
    return read_exact_poll(self);
}

DEFINE_WORKERS(careless, change_poll)

static void read_in_another_way_without_cancel(void)
{
    struct worker *worker;

    begin(&kinds[0]);
    worker = spawn(&careless, 2);
    dz_task_wake(&worker->task);
    dz_executor_poll(&executor);
}

static void another_kind_of_transfer_without_cancel_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(read_in_another_way_without_cancel),
        "is an await missing?");
}

static void read_in_handler(void *argument)
{
    size_t count;
    char byte;

    (void)argument;
    walk_away_from(critical_queue_read(&critical_queue, &byte, 1, &count));
}

static void read_in_an_interrupt(void)
{
    interrupt_now(read_in_handler, NULL);
}

static void try_in_handler(void *argument)
{
    (void)argument;
    (void)thread_queue_try_write(&thread_queue, "a", 1);
}

static void try_a_thread_pipe_in_an_interrupt(void)
{
    interrupt_now(try_in_handler, NULL);
}

static void try_noop_in_handler(void *argument)
{
    (void)argument;
    (void)noop_queue_try_write(&noop_queue, "a", 1);
}

static void try_the_noop_pipe_of_a_task_in_an_interrupt(void)
{
    begin(&kinds[1]);
    (void)spawn(&reads, 1);
    interrupt_now(try_noop_in_handler, NULL);
}

static void misuse_in_a_handler_names_the_pipe(void **state)
{
    struct last_words words = last_words_of(read_in_an_interrupt);

    (void)state;
    assert_says(words, "await outside a task");
    assert_says(words, "object: critical_queue at 0x");
    assert_says(words, "here: interrupt 3");
    words = last_words_at(DZ_EXIT_RACE, try_a_thread_pipe_in_an_interrupt);
    assert_says(words, "a thread-mode object is used in an interrupt");
    assert_says(words, "object: thread_queue at 0x");
    words = last_words_at(
        DZ_EXIT_RACE, try_the_noop_pipe_of_a_task_in_an_interrupt);
    assert_says(words, "a noop object is used in a second context");
    assert_says(words, "object: noop_queue at 0x");
}

static void write_from_handler(void *argument)
{
    (void)critical_queue_try_write_all(
        &critical_queue, argument, strlen(argument));
}

/* W10: the byte comes right behind the look that found nothing. */
static void an_interrupt_behind_the_registration_is_not_lost(void **state)
{
    static const struct dz_pool *const pools[] = {&reads, &read_exacts, &fills};
    static char text[] = "a";

    (void)state;
    for (int i = 0; i < 3; i++) {
        const struct worker *worker;

        begin(&kinds[0]);
        prepare_strike(write_from_handler, text);
        worker = spawn(pools[i], 1);
        assert_true(has_struck_in_queue());
        assert_false(worker->is_done);
        run_to_rest();
        assert_true(worker->is_done);
    }
}

/* W11: the end of a write's own lock lets the next write in. */
static void an_interrupt_within_a_write_finds_the_pipe_consistent(void **state)
{
    static char text[] = "b";
    const struct worker *worker;

    (void)state;
    begin(&kinds[0]);
    worker = spawn(&reads, 4);
    interrupt_at_next_unmask(write_from_handler, text);
    put("a");
    run_to_rest();
    assert_int_equal(worker->count, 2);
    assert_memory_equal(worker->bytes, "ab", 2);
}

static void a_typed_pipe_and_its_handles_are_the_same(void **state)
{
    struct dz_pipe_writer in = noop_queue_writer(&noop_queue);
    struct dz_pipe_writer copy = in;
    struct dz_pipe_reader out = noop_queue_reader(&noop_queue);
    const uint8_t *shown;
    size_t len;
    char bytes[LONGEST];

    (void)state;
    begin(&kinds[1]);
    assert_int_equal(noop_queue_capacity(&noop_queue), CAPACITY);
    assert_true(noop_queue_is_empty(&noop_queue));
    assert_int_equal(noop_queue_try_write(&noop_queue, "a", 1), 1);
    assert_int_equal(dz_pipe_writer_try_write(in, "b", 1), 1);
    assert_int_equal(dz_pipe_writer_try_write(copy, "c", 1), 1);
    assert_int_equal(noop_queue_len(&noop_queue), 3);
    assert_int_equal(noop_queue_free(&noop_queue), 1);
    assert_true(noop_queue_try_write_all(&noop_queue, "d", 1));
    assert_true(noop_queue_is_full(&noop_queue));
    assert_int_equal(dz_pipe_reader_try_read(out, bytes, 1), 1);
    assert_int_equal(noop_queue_try_read(&noop_queue, bytes + 1, 1), 1);
    assert_true(noop_queue_try_fill(&noop_queue, &shown, &len));
    assert_memory_equal(shown, "cd", 2);
    noop_queue_consume(&noop_queue, 1);
    assert_int_equal(noop_queue_len(&noop_queue), 1);
    noop_queue_clear(&noop_queue);
    assert_true(noop_queue_is_empty(&noop_queue));
}

/* ---- The example in the header. */

DZ_PIPE_DEFINE(uart_pipe, 64, DZ_CRITICAL_SECTION)
static struct uart_pipe rx;
static struct uart_pipe tx;

static unsigned lost;

static void receive_byte(void *argument)
{
    uint8_t byte = *(const uint8_t *)argument;

    if (uart_pipe_try_write(&rx, &byte, 1) == 0)
        lost++;
}

struct echo {
    struct dz_task task;
    char line[16];
    size_t len;
    size_t progress;
};

static enum dz_poll echo_poll(struct echo *self)
{
    async (self) {
        for (;;) {
            await(uart_pipe_read(&rx, self->line, 16, &self->len));
            await(uart_pipe_write_all(
                &tx, self->line, self->len, &self->progress));
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(echoes, struct echo, echo_poll, 1)

struct parser {
    struct dz_task task;
    struct dz_guard guard;
    struct dz_select2 select;
    const uint8_t *bytes;
    size_t len;
    size_t parsed;
    size_t other; /* ends the parser */
    char byte;
};

static bool is_hung_up;

static enum dz_poll parse_poll(struct parser *self)
{
    if (is_hung_up)
        return DZ_PENDING;
    self->parsed = self->len;
    return DZ_READY;
}

static void stop_parsing(struct dz_guard *guard)
{
    (void)guard;
    uart_pipe_consume(&rx, 0);
}

static enum dz_poll parse_all_poll(struct parser *self)
{
    async (self) {
        await(uart_pipe_fill(&rx, &self->bytes, &self->len));
        dz_guard_enter(&self->guard, stop_parsing);
        await(parse_poll(self));
        dz_guard_leave(&self->guard);
        uart_pipe_consume(&rx, self->parsed);
    }
    return DZ_READY;
}

static enum dz_poll parser_poll(struct parser *self)
{
    return dz_select2(&self->select, parse_all_poll(self),
        uart_pipe_read(&tx, &self->byte, 1, &self->other));
}

DZ_TASK_POOL(parsers, struct parser, parser_poll, 1)

static struct parser *spawn_parser(void)
{
    struct parser *parser;

    memset(&rx, 0, sizeof(rx));
    memset(&tx, 0, sizeof(tx));
    memset(parsers_slots, 0, sizeof(parsers_slots));
    dz_executor_init(&executor, "test");
    assert_int_equal(parsers_claim(&parser), DZ_OK);
    dz_executor_spawn(&executor, &parser->task);
    return parser;
}

static void a_guard_gives_up_the_turn_of_who_is_cancelled(void **state)
{
    struct parser *parser = spawn_parser();
    char bytes[2];

    (void)state;
    is_hung_up = true;
    assert_true(uart_pipe_try_write_all(&rx, "ab", 2));
    run_to_rest();
    assert_int_equal(parser->len, 2);
    assert_int_equal(uart_pipe_try_read(&rx, bytes, 2), 0);
    assert_true(uart_pipe_try_write_all(&tx, "!", 1));
    run_to_rest();
    assert_int_equal(dz_select_winner(&parser->select), 1);
    assert_int_equal(uart_pipe_try_read(&rx, bytes, 2), 2);
}

static void the_example_of_the_header_works(void **state)
{
    static uint8_t bytes[] = "hello";
    const struct parser *parser = spawn_parser();
    struct echo *echo;
    char line[6] = "";

    (void)state;
    is_hung_up = false;
    assert_true(uart_pipe_try_write_all(&rx, "ab", 2));
    run_to_rest();
    assert_int_equal(parser->parsed, 2);
    assert_true(uart_pipe_is_empty(&rx));

    (void)echoes_claim(&echo);
    dz_executor_spawn(&executor, &echo->task);
    for (int i = 0; i < 5; i++) {
        interrupt_now(receive_byte, &bytes[i]);
        run_to_rest();
    }
    assert_int_equal(uart_pipe_try_read(&tx, line, 6), 5);
    assert_string_equal(line, "hello");
    assert_int_equal(lost, 0);
}

RUN_TESTS(TEST(bytes_come_out_in_the_order_in_which_they_went_in),
    TEST(all_or_nothing_is_tried), TEST(a_full_pipe_takes_no_more),
    TEST(an_empty_pipe_has_nothing_to_give),
    TEST(a_transfer_is_never_short_at_the_end_of_the_buffer),
    TEST(a_wait_is_never_short_at_the_end_of_the_buffer),
    TEST(a_fill_shows_the_bytes_up_to_the_end_of_the_buffer),
    TEST(a_write_waits_for_room_and_a_read_for_bytes),
    TEST(a_transfer_is_done_at_once_if_it_can),
    TEST(more_bytes_than_fit_pass_between_two_tasks),
    TEST(progress_is_zero_again_when_all_is_done),
    TEST(the_bytes_of_two_writers_do_not_mix),
    TEST(nobody_tries_to_write_into_the_bytes_of_another),
    TEST(the_bytes_for_one_reader_go_to_no_other),
    TEST(waiting_writers_are_served_in_order),
    TEST(waiting_readers_are_served_in_order),
    TEST(a_woken_reader_takes_what_has_come_since),
    TEST(what_is_promised_counts_neither_as_free_nor_as_there),
    TEST(clear_lets_the_waiting_writers_go_on),
    TEST(clear_wakes_the_writer_under_the_single_slot_policy),
    TEST(a_cleared_pipe_is_as_new),
    TEST(clear_leaves_promised_bytes_with_their_reader),
    TEST(clear_drops_what_a_reader_did_not_ask_for),
    TEST(clear_leaves_what_is_shown), TEST(clear_wakes_no_reader),
    TEST(zero_bytes_pass_at_once_and_wake_nobody),
    TEST(zero_bytes_wake_nobody_who_waits_for_the_turn),
    TEST(zero_bytes_take_no_turn_from_who_has_it),
    TEST(idle_waiters_are_polled_only_under_the_single_slot_policy),
    TEST(one_that_waits_in_the_middle_is_not_polled),
    TEST(a_cancelled_writer_passes_its_turn_on),
    TEST(a_cancelled_write_all_says_how_far_it_came),
    TEST(a_cancelled_transfer_goes_on_from_where_it_stood),
    TEST(a_cancelled_reader_passes_its_turn_on),
    TEST(a_cancelled_read_has_taken_nothing),
    TEST(a_cancelled_read_exact_has_taken_its_progress),
    TEST(a_fill_holds_the_turn_until_it_is_consumed),
    TEST(what_is_written_behind_the_bytes_shown_does_not_touch_them),
    TEST(nothing_consumed_is_shown_again),
    TEST(nothing_consumed_wakes_no_writer),
    TEST(consuming_what_is_not_shown_panics),
    TEST(progress_of_another_transfer_panics),
    TEST(another_kind_of_transfer_without_cancel_panics),
    TEST(misuse_in_a_handler_names_the_pipe),
    TEST(an_interrupt_behind_the_registration_is_not_lost),
    TEST(an_interrupt_within_a_write_finds_the_pipe_consistent),
    TEST(a_typed_pipe_and_its_handles_are_the_same),
    TEST(a_guard_gives_up_the_turn_of_who_is_cancelled),
    TEST(the_example_of_the_header_works))
