/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_TASK_H
#define EXECUTOR_TASK_H

/*
 * task -- an async function that an executor runs, and the pool it comes from
 *
 * A task is a frame whose first member is a `struct dz_task task`. Its memory
 * is a slot of a static pool, which lies in .bss: nothing is allocated, and
 * what does not fit is found by the linker.
 *
 *     struct blink {
 *         struct dz_task task;
 *         unsigned led;
 *     };
 *
 *     static enum dz_poll blink_poll(struct blink *self) { ... }
 *
 *     DZ_TASK_POOL(blinkers, struct blink, blink_poll, 4)
 *
 *     struct blink *blink;
 *
 *     if (blinkers_claim(&blink) == DZ_BUSY)
 *         return;                                  four are blinking already
 *     blink->led = 3;                              arguments, in place
 *     dz_executor_spawn(&executor, &blink->task);
 *
 * A slot is claimed before its arguments are there. One that is not spawned
 * after all is given back by dz_task_release; nothing else frees it.
 *
 * What a task may have besides, it has in its frame: a deadline (deadline.h), a
 * cancellation (cancel.h), a name of its own. Its pool says so, and other tasks
 * pay nothing:
 *
 *     struct motor {
 *         struct dz_task task;
 *         const char *name;
 *     };
 *
 *     DZ_TASK_POOL_WITH(motors, struct motor, motor_poll, 2,
 *         DZ_WITH_NAME(struct motor))
 *
 *     motor->name = "left";                    at any time from the claim on
 *
 * What is guaranteed
 *  - The frame is all zero behind its task when it is claimed: no name either.
 *  - A slot is free again as soon as its task has returned, even with a
 *    wake-up pending: that wake-up is gone. (To find it takes longer the more
 *    tasks are ready, with interrupts off.)
 *  - A finished task may be woken by anyone at any time; nothing happens. If
 *    its slot is in use again, the new task is polled once more than needed.
 *  - A task woken any number of times before it runs is polled once. One that
 *    is woken while it is polled is polled again.
 */

#include <stdbool.h>

#include "executor/waiter.h"

#define container_of(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

struct dz_task;

enum dz_status {
    DZ_OK = 0,
    DZ_BUSY = -1, /* every slot of the pool is in use */
};

/* What the tasks of a pool have in common. In flash. */
struct dz_pool {
    void (*poll)(struct dz_task *task); /* by dz_pool_poll */
    const char *name;
    const char *file; /* and line of the pool's definition */
    int line;
    void *slots;
    size_t size; /* of a slot, in bytes */
    size_t count;
    bool has_deadlines;     /* see deadline.h */
    size_t name_at;         /* the offset of a task's own name; 0: none */
    size_t cancellation_at; /* see cancel.h; 0: none */
};

/*
 * `next` is all the state of a task, so that one compare tells whether a
 * wake-up has to do anything: it points to the task itself while it runs or
 * waits. Any other value: in a run queue, not spawned yet, or finished.
 */
struct dz_task {
    struct dz_frame frame;
    uint8_t priority; /* see priority.h */
    struct dz_task *next;
    const struct dz_pool *pool;   /* NULL: a free slot */
    struct dz_executor *executor; /* NULL until it is spawned */
    struct dz_waiter waiter;      /* of the task's outermost branch */
};

/* Makes the task run once more. Any context, any number of times, for live
 * tasks and dead ones. */
void dz_task_wake(struct dz_task *task);

/* The same from within a critical section, which ends. A call less than
 * dz_task_wake and dz_port_exit. */
void dz_task_wake_exit(struct dz_task *task, dz_key key);

/* The task that runs now on this core. Panics outside tasks. */
struct dz_task *dz_task_current(void);

/* The task's own name, or that of its pool; and which slot of it the task is.
 * Of a slot that is claimed: what has ended has no pool any more. The text is
 * not copied, and who got it reads it when it likes: it stays, also when the
 * task has ended. */
const char *dz_task_name(const struct dz_task *task);
size_t dz_task_slot(const struct dz_task *task);

/* Panics with the task's name, its file and the line it waits at, or that of
 * its pool if it has not waited yet. */
_Noreturn void dz_task_panic(const struct dz_task *task, const char *reason)
    __attribute__((cold));

/* Reserves a slot, or returns NULL when all are in use. Any context. */
struct dz_task *dz_pool_reserve(const struct dz_pool *pool);

/* Gives a task its first deadline: none. In deadline.c. */
void dz_deadline_begin(struct dz_task *task);

/* Reserves a slot and prepares what else is in it. Any context. */
DZ_INLINE void *dz_pool_claim(const struct dz_pool *pool)
{
    struct dz_task *task = dz_pool_reserve(pool);

    if (pool->has_deadlines && task != NULL)
        dz_deadline_begin(task);
    return task;
}

/* The last step of a task's end: its slot may be claimed again. Whatever was
 * written to it comes before, for other cores, too. The executor's. */
void dz_task_free(struct dz_task *task);

/* Gives back a slot that was claimed and not spawned. Any context. */
void dz_task_release(struct dz_task *task);

/* Ends a task: it leaves what it waits for, and its slot is free. The
 * executor's, through dz_pool_poll. */
void dz_task_end(struct dz_task *task) __attribute__((cold));

/* Polls a task of a pool with cancellations: cancel.c. */
enum dz_poll dz_cancellable_poll(
    struct dz_task *task, enum dz_poll (*body)(struct dz_task *task));

/* Polls a task, and ends it if that was the last time. The pool is a constant,
 * so the compiler keeps one of the two calls. Here, and not in the executor, it
 * sees whether a body ever returns: a program all of whose tasks go on for ever
 * has no code for ends. */
DZ_INLINE void dz_pool_poll(const struct dz_pool *pool, struct dz_task *task,
    enum dz_poll (*body)(struct dz_task *task))
{
    enum dz_poll poll = pool->cancellation_at == 0
        ? body(task)
        : dz_cancellable_poll(task, body);

    dz_trace(DZ_EVENT_POLLED, task, NULL);
    if (DZ_UNLIKELY(poll != DZ_PENDING))
        dz_task_end(task);
}

/*
 * Defines a static pool of `count` slots for frames of `type`, and
 *
 *     enum dz_status NAME_claim(type **frame);   DZ_OK or DZ_BUSY, any context
 *
 * `body` is the async function: enum dz_poll body(type *self).
 */
#define DZ_TASK_POOL(NAME, type, body, count) \
    DZ_TASK_POOL_WITH(NAME, type, body, count, .name_at = 0)

/* The same for tasks that have more. Behind the count stand, in any order, one
 * or several of
 *
 *     DZ_WITH_NAME(type)           const char *name;
 *     DZ_WITH_DEADLINE(type)       struct dz_deadline deadline;
 *     DZ_WITH_CANCELLATION(type)   struct dz_cancellation cancellation;
 *
 * and the frame has that member. */
#define DZ_TASK_POOL_WITH(NAME, type, body, how_many, ...)                     \
    _Static_assert(offsetof(type, task) == 0, "a frame starts with its task"); \
    _Static_assert(sizeof(type) % sizeof(uintptr_t) == 0,                      \
        "a frame is cleared by words: it must not be packed");                 \
    static type NAME##_slots[how_many];                                        \
    static const struct dz_pool NAME;                                          \
    static enum dz_poll NAME##_body(struct dz_task *task)                      \
    {                                                                          \
        return body(container_of(task, type, task));                           \
    }                                                                          \
    static void NAME##_poll(struct dz_task *task)                              \
    {                                                                          \
        dz_pool_poll(&NAME, task, NAME##_body);                                \
    }                                                                          \
    static const struct dz_pool NAME = {.poll = NAME##_poll,                   \
        .name = #NAME,                                                         \
        .file = __FILE__,                                                      \
        .line = __LINE__,                                                      \
        .slots = NAME##_slots,                                                 \
        .size = sizeof(type),                                                  \
        .count = how_many,                                                     \
        __VA_ARGS__};                                                          \
    static inline                                                              \
        __attribute__((unused)) enum dz_status NAME##_claim(type **frame)      \
    {                                                                          \
        *frame = dz_pool_claim(&NAME);                                         \
        return *frame != NULL ? DZ_OK : DZ_BUSY;                               \
    }

#define DZ_WITH_NAME(type) \
    .name_at = _Generic(((type *)0)->name, const char * : offsetof(type, name))

#endif
