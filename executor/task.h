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
 * What is guaranteed
 *  - The frame is all zero behind its task when it is claimed.
 *  - A slot is free again as soon as its task has returned, even with a
 *    wake-up pending: that wake-up is gone.
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
    enum dz_poll (*poll)(struct dz_task *task);
    const char *name;
    const char *file; /* and line of the pool's definition */
    int line;
    void *slots;
    size_t size; /* of a slot, in bytes */
    size_t count;
    bool has_deadlines; /* see deadline.h */
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

/* The name of the task's pool, and which slot of it the task is. */
const char *dz_task_name(const struct dz_task *task);
size_t dz_task_slot(const struct dz_task *task);

/* Panics with the task's name, its file and the line it waits at, or that of
 * its pool if it has not waited yet. */
_Noreturn void dz_task_panic(const struct dz_task *task, const char *reason)
    __attribute__((cold));

/* Reserves a slot, or returns NULL when all are in use. Any context. */
void *dz_pool_claim(const struct dz_pool *pool);

/* The last step of a task's end: its slot may be claimed again. Whatever was
 * written to it comes before, for other cores, too. The executor's. */
void dz_task_free(struct dz_task *task);

/* Gives back a slot that was claimed and not spawned. Any context. */
void dz_task_release(struct dz_task *task);

/*
 * Defines a static pool of `count` slots for frames of `type`, and
 *
 *     enum dz_status NAME_claim(type **frame);   DZ_OK or DZ_BUSY, any context
 *
 * `body` is the async function: enum dz_poll body(type *self).
 */
#define DZ_TASK_POOL(NAME, type, body, count) \
    DZ_TASK_POOL_OF(NAME, type, body, count, false)

/* All that pools have in common. */
#define DZ_TASK_POOL_OF(NAME, type, body, count, has_deadlines)                \
    _Static_assert(offsetof(type, task) == 0, "a frame starts with its task"); \
    static type NAME##_slots[count];                                           \
    static enum dz_poll NAME##_poll(struct dz_task *task)                      \
    {                                                                          \
        return body(container_of(task, type, task));                           \
    }                                                                          \
    static const struct dz_pool NAME = {NAME##_poll, #NAME, __FILE__,          \
        __LINE__, NAME##_slots, sizeof(type), count, has_deadlines};           \
    static inline                                                              \
        __attribute__((unused)) enum dz_status NAME##_claim(type **frame)      \
    {                                                                          \
        *frame = dz_pool_claim(&NAME);                                         \
        return *frame != NULL ? DZ_OK : DZ_BUSY;                               \
    }

#endif
