/* SPDX-License-Identifier: MIT */
#include "executor/task.h"

#include <stdatomic.h>

/* A slot is ours from the moment its pool is set, so the claim is one look and
 * one store in a critical section. The rest of the frame is cleared with
 * interrupts on; what stands before the pool is, in a free slot. */
static bool claim_slot(struct dz_task *task, const struct dz_pool *pool)
{
    dz_key key = dz_port_enter();
    bool is_free = task->pool == NULL;

    if (is_free)
        task->pool = pool;
    dz_port_exit(key);
    return is_free;
}

/* A slot is a few words, of which DZ_TASK_POOL makes sure, and memset is as
 * long as a small program. Volatile, or the compiler finds out what this is,
 * and calls it. */
static void clear(void *from, const void *end)
{
    typedef uintptr_t __attribute__((may_alias)) word;

    for (volatile word *next = from; next != end; next++)
        *next = 0;
}

struct dz_task *dz_pool_reserve(const struct dz_pool *pool)
{
    enum { CLEARED = offsetof(struct dz_task, executor) };
    char *slot = pool->slots;

    for (size_t i = 0; i < pool->count; i++, slot += pool->size) {
        struct dz_task *task = (struct dz_task *)(void *)slot;

        if (!claim_slot(task, pool))
            continue;
        clear(slot + CLEARED, slot + pool->size);
        task->waiter.task = task;
        return task;
    }
    return NULL;
}

void dz_task_free(struct dz_task *task)
{
    dz_key key = dz_port_enter();

    dz_frame_reset(&task->frame);
    task->priority = 0;
    task->executor = NULL;
    task->pool = NULL;
    dz_port_exit(key);
}

void dz_task_release(struct dz_task *task)
{
    if (task->pool == NULL)
        dz_panic("a slot is released that was not claimed", __FILE__, __LINE__);
    if (task->executor != NULL)
        dz_task_panic(task, "a spawned task is released");
    dz_task_free(task);
}

struct dz_task *dz_task_current(void)
{
    if (dz_current->task == NULL)
        dz_panic("no task runs here", __FILE__, __LINE__);
    return dz_current->task;
}

const char *dz_task_name(const struct dz_task *task)
{
    const struct dz_pool *pool = task->pool;
    const char *own = NULL;

    if (pool->name_at != 0)
        own =
            *(const char *const volatile *)((const char *)task + pool->name_at);
    return own != NULL ? own : pool->name;
}

size_t dz_task_slot(const struct dz_task *task)
{
    const char *first = task->pool->slots;

    return (size_t)((const char *)task - first) / task->pool->size;
}

DZ_INLINE _Noreturn void panic(struct dz_panic *panic)
{
    panic->context = dz_context_now();
    panic->task = dz_current->task;
    dz_panic_with(panic);
}

void dz_panic(const char *reason, const char *file, int line)
{
    const struct dz_task *task = dz_current->task;

    if (!DZ_PANIC_DETAILS)
        dz_port_panic(NULL);
    panic(&(struct dz_panic){
        .reason = reason,
        .object = task != NULL ? dz_task_name(task) : NULL,
        .address = task,
        .file = file,
        .line = line,
    });
}

void dz_task_panic(const struct dz_task *task, const char *reason)
{
    if (!DZ_PANIC_DETAILS)
        dz_port_panic(NULL);
    panic(&(struct dz_panic){
        .reason = reason,
        .object = dz_task_name(task),
        .address = task,
        .file = task->pool->file,
        .line = task->frame.line != 0 ? task->frame.line : task->pool->line,
    });
}
