/* SPDX-License-Identifier: MIT */

/*
 * pipe_law_test -- a pipe against an array
 *
 * One at a time has the turn to write, if there is room, and one the turn to
 * read, if there are bytes. The bytes of a call tell whose they are, so bytes
 * of two writers that mix are found.
 */

#include <string.h>

#include "sync/law.h"
#include "sync/pipe.h"

enum { CAPACITY = 3, WRITERS = 0, READERS = 1, LENGTHS = 6 };

DZ_PIPE_DEFINE(critical_pipe, CAPACITY, DZ_CRITICAL_SECTION)
DZ_PIPE_DEFINE(thread_pipe, CAPACITY, DZ_THREAD_MODE)
DZ_PIPE_DEFINE(noop_pipe, CAPACITY, DZ_NOOP)
DZ_PIPE_DEFINE_SINGLE_SLOT(slot_pipe, CAPACITY, DZ_CRITICAL_SECTION)
DZ_PIPE_DEFINE(narrow_pipe, 1, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_pipe_type.object,
    &thread_pipe_type.object,
    &noop_pipe_type.object,
    &slot_pipe_type.object,
    &narrow_pipe_type.object,
};

static struct critical_pipe object; /* the largest */
static struct dz_pipe_writer writer;
static struct dz_pipe_reader reader;

/* ---- The model. */

static uint8_t bytes[CAPACITY];
static unsigned capacity;
static unsigned count; /* of bytes */
static unsigned first; /* where the first would be in a ring */
static bool is_writing;
static bool is_reading;
static unsigned promised; /* bytes, to who has the turn to read */
static unsigned shown;    /* by a fill; 0: none */

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* 1 to LENGTHS: more than fit, too. */
static unsigned len_of(const struct law_call *call)
{
    return call->argument + 1;
}

static uint8_t byte_of(const struct law_call *call, unsigned i)
{
    return (uint8_t)(16 * (call->who + 1) + i);
}

/* How much of it is done. */
static uint32_t *done(struct law_call *call)
{
    return &call->model[0];
}

static bool reserve_room(struct law_call *call)
{
    (void)call;
    if (is_writing || count == capacity)
        return false;
    is_writing = true;
    return true;
}

static bool reserve_all_room(struct law_call *call)
{
    return len_of(call) <= capacity - count && reserve_room(call);
}

static void give_room_back(struct law_call *call)
{
    (void)call;
    is_writing = false;
}

static bool write_model(struct law_call *call)
{
    while (*done(call) < len_of(call) && count < capacity)
        bytes[count++] = byte_of(call, (*done(call))++);
    call->expected[0] = *done(call);
    is_writing = false;
    return true;
}

static bool write_all_model(struct law_call *call)
{
    return write_model(call) && *done(call) == len_of(call);
}

static bool reserve_bytes(struct law_call *call)
{
    if (is_reading || count == 0)
        return false;
    is_reading = true;
    promised = smaller(count, len_of(call) - *done(call));
    return true;
}

static bool reserve_all_bytes(struct law_call *call)
{
    if (is_reading || count == 0)
        return false;
    (void)call;
    is_reading = true;
    promised = count;
    return true;
}

static void give_bytes_back(struct law_call *call)
{
    (void)call;
    is_reading = false;
    promised = 0;
}

static void drop_first(unsigned n)
{
    memmove(bytes, bytes + n, CAPACITY - n);
    count -= n;
    first = (first + n) % capacity;
}

static bool read_model(struct law_call *call)
{
    unsigned n = smaller(count, len_of(call) - *done(call));

    for (unsigned i = 0; i < n; i++)
        call->expected[1 + (*done(call))++] = bytes[i];
    call->expected[0] = *done(call);
    drop_first(n);
    give_bytes_back(call);
    return true;
}

static bool read_exact_model(struct law_call *call)
{
    return read_model(call) && *done(call) == len_of(call);
}

/* The turn stays taken. */
static bool fill_model(struct law_call *call)
{
    shown = smaller(count, capacity - first);
    promised = shown;
    call->expected[0] = shown;
    for (unsigned i = 0; i < shown; i++)
        call->expected[1 + i] = bytes[i];
    return true;
}

static bool may_consume(const struct law_call *call)
{
    return shown > 0 && call->argument <= shown;
}

static bool consume_model(struct law_call *call)
{
    drop_first(call->argument);
    shown = 0;
    give_bytes_back(call);
    return true;
}

/* It asks for as many in the same way. */
static bool is_the_same(struct law_call *call, const struct law_call *walked)
{
    return call->operation == walked->operation &&
        smaller(len_of(call), capacity) ==
        smaller(len_of(walked) - walked->model[0], capacity);
}

/* What is promised was there first, and stays. */
static bool clear_model(struct law_call *call)
{
    (void)call;
    count = promised;
    return true;
}

/* ---- The pipe. */

/* What a call needs while it lasts. */
struct transfer {
    size_t progress;
    uint8_t bytes[LENGTHS];
};

static struct transfer *transfer_of(struct law_call *call)
{
    struct transfer *transfer = (struct transfer *)(void *)call->real.bytes;

    _Static_assert(sizeof(*transfer) <= sizeof(call->real), "it has room");
    return transfer;
}

static const uint8_t *bytes_of(struct law_call *call)
{
    struct transfer *transfer = transfer_of(call);

    for (unsigned i = 0; i < LENGTHS; i++)
        transfer->bytes[i] = byte_of(call, i);
    return transfer->bytes;
}

static void tell(struct law_call *call, const uint8_t *from, size_t len)
{
    call->got[0] = (uint32_t)len;
    for (size_t i = 0; i < len; i++)
        call->got[1 + i] = from[i];
}

static bool real_write(struct law_call *call)
{
    size_t written;
    enum dz_poll poll =
        dz_pipe_writer_write(writer, bytes_of(call), len_of(call), &written);

    call->got[0] = (uint32_t)written;
    return poll == DZ_READY;
}

static bool real_write_all(struct law_call *call)
{
    size_t *progress = &transfer_of(call)->progress;
    bool is_done = dz_pipe_writer_write_all(writer, bytes_of(call),
                       len_of(call), progress) == DZ_READY;

    law_check(*progress == (is_done ? 0 : *done(call)));
    call->got[0] = len_of(call);
    return is_done;
}

static bool real_try_write(struct law_call *call)
{
    call->got[0] = (uint32_t)dz_pipe_writer_try_write(
        writer, bytes_of(call), len_of(call));
    return call->got[0] > 0;
}

static bool real_try_write_all(struct law_call *call)
{
    call->got[0] = len_of(call);
    return dz_pipe_writer_try_write_all(writer, bytes_of(call), len_of(call));
}

static bool real_read(struct law_call *call)
{
    uint8_t *to = transfer_of(call)->bytes;
    size_t len;
    enum dz_poll poll = dz_pipe_reader_read(reader, to, len_of(call), &len);

    tell(call, to, len);
    return poll == DZ_READY;
}

static bool real_read_exact(struct law_call *call)
{
    struct transfer *transfer = transfer_of(call);
    bool is_done = dz_pipe_reader_read_exact(reader, transfer->bytes,
                       len_of(call), &transfer->progress) == DZ_READY;

    law_check(transfer->progress == (is_done ? 0 : *done(call)));
    tell(call, transfer->bytes, is_done ? len_of(call) : 0);
    return is_done;
}

static bool real_try_read(struct law_call *call)
{
    uint8_t *to = transfer_of(call)->bytes;
    size_t len = dz_pipe_reader_try_read(reader, to, len_of(call));

    tell(call, to, len);
    return len > 0;
}

static bool real_fill(struct law_call *call)
{
    const uint8_t *at;
    size_t len;

    if (dz_pipe_reader_fill(reader, &at, &len) == DZ_PENDING)
        return false;
    tell(call, at, len);
    return true;
}

static bool real_try_fill(struct law_call *call)
{
    const uint8_t *at;
    size_t len;

    if (!dz_pipe_reader_try_fill(reader, &at, &len))
        return false;
    tell(call, at, len);
    return true;
}

static bool real_consume(struct law_call *call)
{
    dz_pipe_reader_consume(reader, call->argument);
    return true;
}

static bool real_clear(struct law_call *call)
{
    (void)call;
    dz_pipe_reader_clear(reader);
    return true;
}

/* Whoever waits: for nothing nobody has to. */
static bool move_nothing(struct law_call *call)
{
    size_t len = 0;

    (void)call;
    return dz_pipe_writer_write(writer, "", 0, &len) == DZ_READY &&
        dz_pipe_writer_write_all(writer, "", 0, &len) == DZ_READY &&
        dz_pipe_writer_try_write(writer, "", 0) == 0 &&
        dz_pipe_writer_try_write_all(writer, "", 0) &&
        dz_pipe_reader_read(reader, &len, 0, &len) == DZ_READY &&
        dz_pipe_reader_read_exact(reader, &len, 0, &len) == DZ_READY &&
        dz_pipe_reader_try_read(reader, &len, 0) == 0;
}

static const struct law_operation operations[] = {
    {"write", LAW_WAITS, WRITERS, 6, LENGTHS, real_write,
        .reserve = reserve_room, .perform = write_model,
        .give_back = give_room_back, .goes_on = is_the_same},
    {"write_all", LAW_WAITS, WRITERS, 8, LENGTHS, real_write_all,
        .reserve = reserve_room, .perform = write_all_model,
        .give_back = give_room_back, .goes_on = is_the_same},
    {"read", LAW_WAITS, READERS, 6, LENGTHS, real_read,
        .reserve = reserve_bytes, .perform = read_model,
        .give_back = give_bytes_back, .goes_on = is_the_same},
    {"read_exact", LAW_WAITS, READERS, 8, LENGTHS, real_read_exact,
        .reserve = reserve_bytes, .perform = read_exact_model,
        .give_back = give_bytes_back, .goes_on = is_the_same},
    {"fill", LAW_WAITS, READERS, 3, .real = real_fill,
        .reserve = reserve_all_bytes, .perform = fill_model,
        .give_back = give_bytes_back, .goes_on = is_the_same},
    {"try_write", LAW_TRIES, WRITERS, 5, LENGTHS, real_try_write,
        .reserve = reserve_room, .perform = write_model},
    {"try_write_all", LAW_TRIES, WRITERS, 5, LENGTHS, real_try_write_all,
        .reserve = reserve_all_room, .perform = write_model},
    {"try_read", LAW_TRIES, READERS, 8, LENGTHS, real_try_read,
        .reserve = reserve_bytes, .perform = read_model},
    {"try_fill", LAW_TRIES, READERS, 2, .real = real_try_fill,
        .reserve = reserve_all_bytes, .perform = fill_model},
    {"consume", LAW_ACTS, READERS, 20, CAPACITY + 1, real_consume, may_consume,
        .perform = consume_model},
    {"clear", LAW_ACTS, READERS, 1, .real = real_clear, .perform = clear_model},
    {"nothing", LAW_ACTS, READERS, 1, .real = move_nothing},
};

static void reset(const struct dz_object *chosen)
{
    const struct dz_pipe_type *type =
        (const struct dz_pipe_type *)(const void *)chosen;

    object = (struct critical_pipe){0};
    writer = (struct dz_pipe_writer){&object.pipe, type};
    reader = (struct dz_pipe_reader){&object.pipe, type};
    capacity = type->capacity;
    count = first = promised = shown = 0;
    is_writing = is_reading = false;
}

static void compare(void)
{
    unsigned room = is_writing ? 0 : capacity - count;
    unsigned there = is_reading ? 0 : count;

    law_check(dz_pipe_writer_free(writer) == room);
    law_check(dz_pipe_reader_len(reader) == there);
    law_check(law_waiting(WRITERS) == 0 || room == 0);
    law_check(law_waiting(READERS) == 0 || there == 0);
}

int main(void)
{
    static const struct law law = {
        .name = "pipe",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}
