/* SPDX-License-Identifier: MIT */
#ifndef SYNC_PIPE_H
#define SYNC_PIPE_H

/*
 * pipe -- a stream of bytes between any number of tasks
 *
 * Writers wait while it is full, readers while it is empty. What is read has
 * no relation to the pieces in which it was written. Use a channel
 * (sync/channel.h) for messages that are to stay whole.
 *
 *     DZ_PIPE_DEFINE(uart_pipe, 64, DZ_CRITICAL_SECTION)
 *     static struct uart_pipe rx;                   no ; behind the macro
 *     static struct uart_pipe tx;
 *
 *     if (uart_pipe_try_write(&rx, &byte, 1) == 0)             any context
 *         lost++;
 *     await(uart_pipe_read(&rx, self->line, 16, &self->len));  in a task
 *     await(uart_pipe_write_all(&tx, self->line, self->len, &self->progress));
 *
 * "Any context" is any context that the raw mutex allows. A struct of all zero
 * is an empty pipe.
 *
 * What is guaranteed
 *  - Bytes come out in the order in which they went in. Waiting writers are
 *    served in the order in which they came, and so are waiting readers.
 *  - One at a time has the turn to write, and one the turn to read: who is
 *    woken has it until it has run. Nobody on that side gets in meanwhile. So
 *    the bytes of two writers never mix, whatever order tasks run in.
 *  - write and read wait until there is room for one byte, or one byte, and
 *    then move as many as they can, also across the end of the buffer.
 *  - write_all and read_exact move all bytes, even more than the capacity. They
 *    do so as room and bytes come, and stay at the head of the line until they
 *    are done: nothing of another one comes between.
 *  - try_write_all writes all or nothing.
 *  - Zero bytes are written and read at once, while others wait, too. That
 *    wakes nobody.
 *  - clear drops what is not promised to a reader that was woken, nor shown by
 *    a fill.
 *  - len and free are what try_read and try_write would get now: 0 while
 *    another has the turn. So a pipe can be full and empty at the same time.
 *
 * Progress
 *  write_all and read_exact count in `progress` how many bytes they moved. It
 *  is 0 before the first poll, and again when all is done, so that one field in
 *  the frame serves for one transfer after the other. Cancelled, it says how
 *  far they came, and the same call goes on from there. To begin something
 *  else, set it to 0.
 *
 * Reading in place
 *  fill shows the bytes at the front, up to the end of the buffer, and keeps
 *  the turn to read until consume, which drops the first n of them. Those shown
 *  stay where they are till then; more may be written behind them. Who is
 *  cancelled in between has to give up the turn, or nobody reads any more:
 *
 *     static void stop_parsing(struct dz_guard *guard)
 *     {
 *         (void)guard;
 *         uart_pipe_consume(&rx, 0);
 *     }
 *
 *     await(uart_pipe_fill(&rx, &self->bytes, &self->len));
 *     dz_guard_enter(&self->guard, stop_parsing);
 *     await(parse_poll(self));                      may be cancelled here
 *     dz_guard_leave(&self->guard);
 *     uart_pipe_consume(&rx, self->parsed);
 *
 *  A second fill waits until the first is consumed, even in the same task, as
 *  with a mutex. To see more, consume first, 0 bytes if need be.
 *
 * Bytes are copied under the object's lock, as many as one call moves. Who
 * cannot have interrupts off for so long writes less at once, or reads in
 * place. To wait for a level, as Embassy's wait_full does, is left out: others
 * read before who waited runs, and read_exact asks for n bytes better.
 *
 * DZ_PIPE_DEFINE_SINGLE_SLOT defines the same with one waker slot on each side
 * in place of the queues, for comparison: there, a write_all that waits keeps
 * no turn, bytes of several writers mix, and several waiters never let the core
 * sleep.
 */

#include "sync/wait.h"

/* The bytes lie behind it, in the typed struct. */
struct dz_pipe {
    struct dz_queue writers;
    struct dz_queue readers;
    uint16_t first;    /* index of the oldest byte */
    uint16_t len;      /* how many there are */
    uint16_t promised; /* how many of them are for who has the turn to read; 0:
                          nobody has it */
    bool is_shown;     /* it has it by a fill */
    bool is_writing;   /* a writer was woken, and has the turn to write */
};

/* What all pipes of a type have in common. In flash. */
struct dz_pipe_type {
    struct dz_object object;
    struct dz_queue_type writing; /* its grant has to know the capacity */
    uint16_t capacity;
    size_t bytes; /* their offset in the typed struct */
};

/*
 * The two ends of a pipe of which neither the capacity nor the raw mutex nor
 * the policy is known. Copy them at will. The functions of the typed pipe are
 * these: they are compiled once for all pipes.
 */
struct dz_pipe_writer {
    struct dz_pipe *pipe;
    const struct dz_pipe_type *type;
};

struct dz_pipe_reader {
    struct dz_pipe *pipe;
    const struct dz_pipe_type *type;
};

/* The pipe in its typed struct, in such a way that the compiler knows of the
 * bytes behind it. */
#define dz_pipe_of(self) ((struct dz_pipe *)(void *)(self))

/* Writes as many of `len` bytes as fit, at least one, and says how many. */
DZ_AWAITED enum dz_poll dz_pipe_writer_write(
    struct dz_pipe_writer writer, const void *bytes, size_t len, size_t *count);

/* Writes all `len` bytes. */
DZ_AWAITED enum dz_poll dz_pipe_writer_write_all(struct dz_pipe_writer writer,
    const void *bytes, size_t len, size_t *progress);

/* Writes as many as fit, and returns how many. */
size_t dz_pipe_writer_try_write(
    struct dz_pipe_writer writer, const void *bytes, size_t len);

/* Writes all, or returns false. */
bool dz_pipe_writer_try_write_all(
    struct dz_pipe_writer writer, const void *bytes, size_t len);

size_t dz_pipe_writer_free(struct dz_pipe_writer writer);

/* Reads as many bytes as there are, at least one and `len` at most, and says
 * how many. */
DZ_AWAITED enum dz_poll dz_pipe_reader_read(
    struct dz_pipe_reader reader, void *bytes, size_t len, size_t *count);

/* Reads `len` bytes. */
DZ_AWAITED enum dz_poll dz_pipe_reader_read_exact(
    struct dz_pipe_reader reader, void *bytes, size_t len, size_t *progress);

/* Reads as many as there are, and returns how many. */
size_t dz_pipe_reader_try_read(
    struct dz_pipe_reader reader, void *bytes, size_t len);

/* Shows the bytes at the front, at least one. Consume must follow. */
DZ_AWAITED enum dz_poll dz_pipe_reader_fill(
    struct dz_pipe_reader reader, const uint8_t **bytes, size_t *len);
bool dz_pipe_reader_try_fill(
    struct dz_pipe_reader reader, const uint8_t **bytes, size_t *len);

/* Drops the first `count` of the bytes shown, and ends the turn. Panics if
 * nothing is shown, or less. Any context, in the name of who filled. */
void dz_pipe_reader_consume(struct dz_pipe_reader reader, size_t count);

size_t dz_pipe_reader_len(struct dz_pipe_reader reader);

/* Drops what is not promised, and wakes a writer that can go on then. */
void dz_pipe_reader_clear(struct dz_pipe_reader reader);

/* For the macro below: the turn to write. */
bool dz_pipe_grant_writing(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request);
void dz_pipe_end_writing(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request);

/*
 * Defines `struct NAME`, a pipe of `count` bytes, from 1 to UINT16_MAX. Its
 * functions:
 *
 *   in a task, awaited; *count is 0 until it is ready, *progress is as above,
 *   and what fill shows is written when it is ready
 *     enum dz_poll NAME_write(self, const void *bytes, len, size_t *count)
 *     enum dz_poll NAME_write_all(self, const void *bytes, len,
 *         size_t *progress)
 *     enum dz_poll NAME_read(self, void *bytes, len, size_t *count)
 *     enum dz_poll NAME_read_exact(self, void *bytes, len, size_t *progress)
 *     enum dz_poll NAME_fill(self, const uint8_t **bytes, size_t *len)
 *
 *   any context that the raw mutex allows
 *     size_t NAME_try_write(self, const void *bytes, len)      0: full
 *     bool NAME_try_write_all(self, const void *bytes, len)    false: no room
 *     size_t NAME_try_read(self, void *bytes, len)             0: empty
 *     bool NAME_try_fill(self, const uint8_t **bytes, size_t *len)
 *                                            false: empty, and nothing is shown
 *     void NAME_consume(self, size_t count)
 *     void NAME_clear(self)
 *     size_t NAME_len(self), NAME_free(self)
 *     bool NAME_is_empty(self), NAME_is_full(self)
 *
 *   anywhere
 *     size_t NAME_capacity(self)
 *     struct dz_pipe_writer NAME_writer(self)
 *     struct dz_pipe_reader NAME_reader(self)
 */
#define DZ_PIPE_DEFINE(NAME, count, mutex) \
    DZ_PIPE_DEFINE_POLICY(NAME, count, mutex, DZ_QUEUE)

#define DZ_PIPE_DEFINE_SINGLE_SLOT(NAME, count, mutex) \
    DZ_PIPE_DEFINE_POLICY(NAME, count, mutex, DZ_SINGLE_SLOT)

#define DZ_PIPE_DEFINE_POLICY(NAME, count, mutex, policy)                      \
    _Static_assert((count) >= 1 && (count) + 0L <= UINT16_MAX,                 \
        "a pipe's capacity is from 1 to UINT16_MAX");                          \
    struct NAME {                                                              \
        struct dz_pipe pipe;                                                   \
        DZ_OWNER                                                               \
        uint8_t bytes[count];                                                  \
    };                                                                         \
    static const struct dz_pipe_type NAME##_type = {                           \
        DZ_OBJECT(NAME, mutex, policy),                                        \
        DZ_QUEUE_TYPE(                                                         \
            dz_pipe_grant_writing, dz_pipe_end_writing, DZ_IN_ORDER),          \
        count, offsetof(struct NAME, bytes)};                                  \
    DZ_INLINE struct dz_pipe_writer NAME##_writer(struct NAME *self)           \
    {                                                                          \
        return (struct dz_pipe_writer){dz_pipe_of(self), &NAME##_type};        \
    }                                                                          \
    DZ_INLINE struct dz_pipe_reader NAME##_reader(struct NAME *self)           \
    {                                                                          \
        return (struct dz_pipe_reader){dz_pipe_of(self), &NAME##_type};        \
    }                                                                          \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_write(                            \
        struct NAME *self, const void *bytes, size_t len, size_t *written)     \
    {                                                                          \
        return dz_pipe_writer_write(NAME##_writer(self), bytes, len, written); \
    }                                                                          \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_write_all(                        \
        struct NAME *self, const void *bytes, size_t len, size_t *progress)    \
    {                                                                          \
        return dz_pipe_writer_write_all(                                       \
            NAME##_writer(self), bytes, len, progress);                        \
    }                                                                          \
    DZ_INLINE size_t NAME##_try_write(                                         \
        struct NAME *self, const void *bytes, size_t len)                      \
    {                                                                          \
        return dz_pipe_writer_try_write(NAME##_writer(self), bytes, len);      \
    }                                                                          \
    DZ_INLINE bool NAME##_try_write_all(                                       \
        struct NAME *self, const void *bytes, size_t len)                      \
    {                                                                          \
        return dz_pipe_writer_try_write_all(NAME##_writer(self), bytes, len);  \
    }                                                                          \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_read(                             \
        struct NAME *self, void *bytes, size_t len, size_t *got)               \
    {                                                                          \
        return dz_pipe_reader_read(NAME##_reader(self), bytes, len, got);      \
    }                                                                          \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_read_exact(                       \
        struct NAME *self, void *bytes, size_t len, size_t *progress)          \
    {                                                                          \
        return dz_pipe_reader_read_exact(                                      \
            NAME##_reader(self), bytes, len, progress);                        \
    }                                                                          \
    DZ_INLINE size_t NAME##_try_read(                                          \
        struct NAME *self, void *bytes, size_t len)                            \
    {                                                                          \
        return dz_pipe_reader_try_read(NAME##_reader(self), bytes, len);       \
    }                                                                          \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_fill(                             \
        struct NAME *self, const uint8_t **bytes, size_t *len)                 \
    {                                                                          \
        return dz_pipe_reader_fill(NAME##_reader(self), bytes, len);           \
    }                                                                          \
    DZ_INLINE bool NAME##_try_fill(                                            \
        struct NAME *self, const uint8_t **bytes, size_t *len)                 \
    {                                                                          \
        return dz_pipe_reader_try_fill(NAME##_reader(self), bytes, len);       \
    }                                                                          \
    DZ_INLINE void NAME##_consume(struct NAME *self, size_t used)              \
    {                                                                          \
        dz_pipe_reader_consume(NAME##_reader(self), used);                     \
    }                                                                          \
    DZ_INLINE void NAME##_clear(struct NAME *self)                             \
    {                                                                          \
        dz_pipe_reader_clear(NAME##_reader(self));                             \
    }                                                                          \
    DZ_INLINE size_t NAME##_len(struct NAME *self)                             \
    {                                                                          \
        return dz_pipe_reader_len(NAME##_reader(self));                        \
    }                                                                          \
    DZ_INLINE size_t NAME##_free(struct NAME *self)                            \
    {                                                                          \
        return dz_pipe_writer_free(NAME##_writer(self));                       \
    }                                                                          \
    DZ_INLINE bool NAME##_is_empty(struct NAME *self)                          \
    {                                                                          \
        return NAME##_len(self) == 0;                                          \
    }                                                                          \
    DZ_INLINE bool NAME##_is_full(struct NAME *self)                           \
    {                                                                          \
        return NAME##_free(self) == 0;                                         \
    }                                                                          \
    DZ_INLINE size_t NAME##_capacity(const struct NAME *self)                  \
    {                                                                          \
        (void)self;                                                            \
        return count;                                                          \
    }

#endif
