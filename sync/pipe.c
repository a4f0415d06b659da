/* SPDX-License-Identifier: MIT */
#include "sync/pipe.h"

/*
 * A grant is a turn, not a number of bytes: who has it moves what can be moved
 * when it runs, which is never less than when it was woken. Only clear has to
 * know how many bytes were promised.
 *
 * The turn to write has somebody in line only while there is no room, the turn
 * to read only while there are no bytes; or while another has it. So try_
 * operations and counts need not look at the lines.
 */

/* What a request is for. Polled again, a branch asks for the same. */
enum kind {
    PART,  /* as many as can be moved */
    ALL,   /* all, one part after the other */
    SHOWN, /* a look, and the turn behind it */
};

enum { KIND_BITS = 2 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Never 0: a request is for one byte or more. What is beyond the capacity is no
 * matter: it cannot be had at once. */
static uintptr_t request_of(
    const struct dz_pipe_type *type, size_t count, enum kind kind)
{
    return smaller(count, type->capacity) << KIND_BITS | kind;
}

bool dz_pipe_grant_writing(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request)
{
    struct dz_pipe *self = container_of(queue, struct dz_pipe, writers);

    (void)request;
    if (self->is_writing ||
        self->len == container_of(type, struct dz_pipe_type, writing)->capacity)
        return false;
    self->is_writing = true;
    return true;
}

void dz_pipe_end_writing(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    (void)type;
    (void)request;
    container_of(queue, struct dz_pipe, writers)->is_writing = false;
}

static bool grant_reading(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request)
{
    struct dz_pipe *self = container_of(queue, struct dz_pipe, readers);

    (void)type;
    if (self->promised != 0 || self->len == 0)
        return false;
    self->promised = (uint16_t)smaller(*request >> KIND_BITS, self->len);
    return true;
}

static void end_reading(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    (void)type;
    (void)request;
    container_of(queue, struct dz_pipe, readers)->promised = 0;
}

/* Not in struct dz_pipe_type, as its counterpart: it knows all it needs. */
static const struct dz_queue_type reading =
    DZ_QUEUE_TYPE(grant_reading, end_reading, DZ_IN_ORDER);

/* What other primitives inline into each operation, a pipe has once for all of
 * them. There are many, and none is short: a call more is no matter. */
static dz_key lock(struct dz_pipe *self, const struct dz_pipe_type *type)
{
    return dz_lock(self, &type->object);
}

static void unlock(
    struct dz_pipe *self, const struct dz_pipe_type *type, dz_key key)
{
    dz_unlock(self, &type->object, key);
}

static dz_key wait_lock(struct dz_pipe *self, const struct dz_pipe_type *type,
    const struct dz_queue *queue, uintptr_t request)
{
    return dz_wait_lock(self, &type->object, queue, request);
}

static enum dz_poll wait_unlock(struct dz_pipe *self,
    const struct dz_pipe_type *type, dz_key key, enum dz_poll poll)
{
    return dz_wait_unlock(self, &type->object, key, poll);
}

static enum dz_poll ask(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request, enum dz_policy policy)
{
    return dz_wait_ask(queue, type, request, policy);
}

static dz_key lock_to_write(
    struct dz_pipe_writer writer, size_t count, enum kind kind)
{
    return wait_lock(writer.pipe, writer.type, &writer.pipe->writers,
        request_of(writer.type, count, kind));
}

static enum dz_poll ask_to_write(
    struct dz_pipe_writer writer, size_t count, enum kind kind)
{
    return ask(&writer.pipe->writers, &writer.type->writing,
        request_of(writer.type, count, kind), writer.type->object.policy);
}

static dz_key lock_to_read(
    struct dz_pipe_reader reader, size_t count, enum kind kind)
{
    return wait_lock(reader.pipe, reader.type, &reader.pipe->readers,
        request_of(reader.type, count, kind));
}

static enum dz_poll ask_to_read(
    struct dz_pipe_reader reader, size_t count, enum kind kind)
{
    return ask(&reader.pipe->readers, &reading,
        request_of(reader.type, count, kind), reader.type->object.policy);
}

/* Waits on, in front of those who came later: the turn is kept. */
static void stay_in_front(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request, enum dz_policy policy)
{
    if (policy == DZ_QUEUE)
        dz_queue_prepend(queue, type, request);
    else
        dz_waker_register(&queue->waker);
}

/* The last step under the lock of whatever moved bytes or ended a turn. The
 * conditions are those of the grants; the single slot, which has none, would
 * wake the very writer that waits on for room. */
static void serve(struct dz_pipe *self, const struct dz_pipe_type *type)
{
    if (self->len > 0)
        dz_wait_serve(&self->readers, type->object.policy);
    if (self->len < type->capacity)
        dz_wait_serve(&self->writers, type->object.policy);
}

static uint8_t *bytes_of(struct dz_pipe *self, const struct dz_pipe_type *type)
{
    return (uint8_t *)self + type->bytes;
}

/* The index `count` bytes behind the first, which is at most once around. */
static size_t index_behind(
    const struct dz_pipe *self, const struct dz_pipe_type *type, size_t count)
{
    size_t index = self->first + count;

    return index < type->capacity ? index : index - type->capacity;
}

/* Copies as many as fit behind the last byte, in two pieces if the end of the
 * buffer comes between. */
static size_t put(struct dz_pipe_writer writer, const void *bytes, size_t len)
{
    struct dz_pipe *self = writer.pipe;
    size_t capacity = writer.type->capacity;
    size_t count = smaller(len, capacity - self->len);
    size_t index = index_behind(self, writer.type, self->len);
    size_t piece = smaller(count, capacity - index);
    uint8_t *buffer = bytes_of(self, writer.type);

    __builtin_memcpy(buffer + index, bytes, piece);
    __builtin_memcpy(buffer, (const uint8_t *)bytes + piece, count - piece);
    self->len = (uint16_t)(self->len + count);
    return count;
}

/* The first `count` bytes have been read. */
static void drop(
    struct dz_pipe *self, const struct dz_pipe_type *type, size_t count)
{
    self->first = (uint16_t)index_behind(self, type, count);
    self->len = (uint16_t)(self->len - count);
}

/* Copies as many as there are from the first on, likewise. */
static size_t get(struct dz_pipe_reader reader, void *bytes, size_t len)
{
    struct dz_pipe *self = reader.pipe;
    size_t count = smaller(len, self->len);
    size_t piece = smaller(count, (size_t)reader.type->capacity - self->first);
    const uint8_t *buffer = bytes_of(self, reader.type);

    __builtin_memcpy(bytes, buffer + self->first, piece);
    __builtin_memcpy((uint8_t *)bytes + piece, buffer, count - piece);
    drop(self, reader.type, count);
    return count;
}

/* How many bytes are left of a transfer that has come so far. */
static size_t left_of(const struct dz_pipe *self,
    const struct dz_pipe_type *type, size_t len, size_t progress)
{
    if (progress > len)
        dz_object_misuse(self, &type->object,
            "more progress than bytes: set it to 0 before another transfer "
            "begins");
    return len - progress;
}

enum dz_poll dz_pipe_writer_write(
    struct dz_pipe_writer writer, const void *bytes, size_t len, size_t *count)
{
    enum dz_poll poll;
    dz_key key;

    *count = 0;
    if (len == 0)
        return DZ_READY;
    key = lock_to_write(writer, len, PART);
    poll = ask_to_write(writer, len, PART);
    if (poll == DZ_READY) {
        writer.pipe->is_writing = false;
        *count = put(writer, bytes, len);
        serve(writer.pipe, writer.type);
    }
    return wait_unlock(writer.pipe, writer.type, key, poll);
}

/* The turn is ours: writes what fits, and waits on if that is not all. */
static enum dz_poll write_on(struct dz_pipe_writer writer, const void *bytes,
    size_t len, size_t *progress)
{
    const struct dz_pipe_type *type = writer.type;
    size_t left = len - *progress;

    writer.pipe->is_writing = false;
    *progress += put(writer, (const uint8_t *)bytes + *progress, left);
    left = len - *progress;
    if (left > 0)
        stay_in_front(&writer.pipe->writers, &type->writing,
            request_of(type, left, ALL), type->object.policy);
    else
        *progress = 0;
    serve(writer.pipe, type);
    return left > 0 ? DZ_PENDING : DZ_READY;
}

enum dz_poll dz_pipe_writer_write_all(struct dz_pipe_writer writer,
    const void *bytes, size_t len, size_t *progress)
{
    size_t left = left_of(writer.pipe, writer.type, len, *progress);
    enum dz_poll poll;
    dz_key key;

    if (left == 0) {
        *progress = 0;
        return DZ_READY;
    }
    key = lock_to_write(writer, left, ALL);
    poll = ask_to_write(writer, left, ALL);
    if (poll == DZ_READY)
        poll = write_on(writer, bytes, len, progress);
    return wait_unlock(writer.pipe, writer.type, key, poll);
}

/* Room that nobody is promised. */
static size_t free_of(struct dz_pipe_writer writer)
{
    return writer.pipe->is_writing
        ? 0
        : (size_t)writer.type->capacity - writer.pipe->len;
}

/* Bytes that nobody is promised. */
static size_t len_of(struct dz_pipe_reader reader)
{
    return reader.pipe->promised != 0 ? 0 : reader.pipe->len;
}

size_t dz_pipe_writer_try_write(
    struct dz_pipe_writer writer, const void *bytes, size_t len)
{
    dz_key key = lock(writer.pipe, writer.type);
    size_t count = smaller(len, free_of(writer));

    if (count > 0) {
        put(writer, bytes, count);
        serve(writer.pipe, writer.type);
    }
    unlock(writer.pipe, writer.type, key);
    return count;
}

bool dz_pipe_writer_try_write_all(
    struct dz_pipe_writer writer, const void *bytes, size_t len)
{
    dz_key key = lock(writer.pipe, writer.type);
    bool fits = len <= free_of(writer);

    if (fits && len > 0) {
        put(writer, bytes, len);
        serve(writer.pipe, writer.type);
    }
    unlock(writer.pipe, writer.type, key);
    return fits;
}

size_t dz_pipe_writer_free(struct dz_pipe_writer writer)
{
    dz_key key = lock(writer.pipe, writer.type);
    size_t count = free_of(writer);

    unlock(writer.pipe, writer.type, key);
    return count;
}

enum dz_poll dz_pipe_reader_read(
    struct dz_pipe_reader reader, void *bytes, size_t len, size_t *count)
{
    enum dz_poll poll;
    dz_key key;

    *count = 0;
    if (len == 0)
        return DZ_READY;
    key = lock_to_read(reader, len, PART);
    poll = ask_to_read(reader, len, PART);
    if (poll == DZ_READY) {
        reader.pipe->promised = 0;
        *count = get(reader, bytes, len);
        serve(reader.pipe, reader.type);
    }
    return wait_unlock(reader.pipe, reader.type, key, poll);
}

/* The turn is ours: reads what is there, and waits on if that is not all. */
static enum dz_poll read_on(
    struct dz_pipe_reader reader, void *bytes, size_t len, size_t *progress)
{
    const struct dz_pipe_type *type = reader.type;
    size_t left = len - *progress;

    reader.pipe->promised = 0;
    *progress += get(reader, (uint8_t *)bytes + *progress, left);
    left = len - *progress;
    if (left > 0)
        stay_in_front(&reader.pipe->readers, &reading,
            request_of(type, left, ALL), type->object.policy);
    else
        *progress = 0;
    serve(reader.pipe, type);
    return left > 0 ? DZ_PENDING : DZ_READY;
}

enum dz_poll dz_pipe_reader_read_exact(
    struct dz_pipe_reader reader, void *bytes, size_t len, size_t *progress)
{
    size_t left = left_of(reader.pipe, reader.type, len, *progress);
    enum dz_poll poll;
    dz_key key;

    if (left == 0) {
        *progress = 0;
        return DZ_READY;
    }
    key = lock_to_read(reader, left, ALL);
    poll = ask_to_read(reader, left, ALL);
    if (poll == DZ_READY)
        poll = read_on(reader, bytes, len, progress);
    return wait_unlock(reader.pipe, reader.type, key, poll);
}

size_t dz_pipe_reader_try_read(
    struct dz_pipe_reader reader, void *bytes, size_t len)
{
    dz_key key = lock(reader.pipe, reader.type);
    size_t count = smaller(len, len_of(reader));

    if (count > 0) {
        get(reader, bytes, count);
        serve(reader.pipe, reader.type);
    }
    unlock(reader.pipe, reader.type, key);
    return count;
}

/* The turn is ours, and stays so: promises all that is shown. */
static void show(
    struct dz_pipe_reader reader, const uint8_t **bytes, size_t *len)
{
    struct dz_pipe *self = reader.pipe;

    *bytes = bytes_of(self, reader.type) + self->first;
    *len = smaller(self->len, (size_t)reader.type->capacity - self->first);
    self->promised = (uint16_t)*len;
    self->is_shown = true;
}

enum dz_poll dz_pipe_reader_fill(
    struct dz_pipe_reader reader, const uint8_t **bytes, size_t *len)
{
    dz_key key = lock_to_read(reader, reader.type->capacity, SHOWN);
    enum dz_poll poll = ask_to_read(reader, reader.type->capacity, SHOWN);

    if (poll == DZ_READY)
        show(reader, bytes, len);
    return wait_unlock(reader.pipe, reader.type, key, poll);
}

bool dz_pipe_reader_try_fill(
    struct dz_pipe_reader reader, const uint8_t **bytes, size_t *len)
{
    dz_key key = lock(reader.pipe, reader.type);
    bool has_bytes = len_of(reader) > 0;

    if (has_bytes)
        show(reader, bytes, len);
    unlock(reader.pipe, reader.type, key);
    return has_bytes;
}

void dz_pipe_reader_consume(struct dz_pipe_reader reader, size_t count)
{
    struct dz_pipe *self = reader.pipe;
    dz_key key = lock(self, reader.type);

    if (!self->is_shown)
        dz_object_misuse(self, &reader.type->object,
            "consume: nothing is shown; fill first");
    if (count > self->promised)
        dz_object_misuse(
            self, &reader.type->object, "consume: more bytes than fill showed");
    self->is_shown = false;
    self->promised = 0;
    drop(self, reader.type, count);
    serve(self, reader.type);
    unlock(self, reader.type, key);
}

size_t dz_pipe_reader_len(struct dz_pipe_reader reader)
{
    dz_key key = lock(reader.pipe, reader.type);
    size_t count = len_of(reader);

    unlock(reader.pipe, reader.type, key);
    return count;
}

/* The newest are dropped: what is promised is in front. */
void dz_pipe_reader_clear(struct dz_pipe_reader reader)
{
    struct dz_pipe *self = reader.pipe;
    dz_key key = lock(self, reader.type);

    self->len = self->promised;
    serve(self, reader.type);
    unlock(self, reader.type, key);
}
