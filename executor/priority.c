/* SPDX-License-Identifier: MIT */
#include "executor/priority.h"

/*
 * The tasks of a priority form a circle, which is reached by its last one. A
 * task that is alone has no next one: `next` must not point to the task itself,
 * which would mean that it is not queued.
 */

static struct dz_priority_queue *priority_queue_of(struct dz_run_queue *queue)
{
    return container_of(queue, struct dz_priority_queue, queue);
}

/* The task behind another in the circle. */
static struct dz_task *behind(struct dz_task *task)
{
    return task->next != NULL ? task->next : task;
}

static bool append(struct dz_run_queue *run_queue, struct dz_task *task)
{
    struct dz_priority_queue *queue = priority_queue_of(run_queue);
    struct dz_task **last = &queue->last[task->priority];

    task->next = NULL;
    if (*last != NULL) {
        task->next = behind(*last);
        (*last)->next = task;
    }
    *last = task;
    queue->ready |= UINT64_C(1) << task->priority;
    return run_queue->count++ == 0;
}

/* Takes out the task behind `before`. A priority without tasks is not ready. */
static struct dz_task *take_behind(
    struct dz_priority_queue *queue, struct dz_task *before)
{
    struct dz_task *task = behind(before);
    struct dz_task **last = &queue->last[task->priority];

    queue->queue.count--;
    if (task == before) {
        *last = NULL;
        queue->ready &= ~(UINT64_C(1) << task->priority);
        return task;
    }
    before->next = task->next == before ? NULL : task->next;
    if (*last == task)
        *last = before;
    return task;
}

static struct dz_task *take(struct dz_run_queue *run_queue)
{
    struct dz_priority_queue *queue = priority_queue_of(run_queue);
    int highest = DZ_PRIORITIES - 1 - __builtin_clzll(queue->ready);

    return take_behind(queue, queue->last[highest]);
}

static bool remove_task(struct dz_run_queue *run_queue, struct dz_task *task)
{
    struct dz_priority_queue *queue = priority_queue_of(run_queue);
    struct dz_task *last = queue->last[task->priority];
    struct dz_task *before = last;

    if (last == NULL)
        return false;
    while (behind(before) != task) {
        before = behind(before);
        if (before == last)
            return false;
    }
    (void)take_behind(queue, before);
    return true;
}

static const struct dz_run_queue_type type = {
    append, take, remove_task, &dz_sorted_loops};

void dz_executor_init_priority(struct dz_executor *executor,
    struct dz_priority_queue *queue, const char *name)
{
    *queue = (struct dz_priority_queue){.queue = {.type = &type}};
    dz_executor_init(executor, name);
    executor->queue = &queue->queue;
}

/* The queue that may hold the task, or NULL. */
static struct dz_run_queue *queue_of(const struct dz_task *task)
{
    struct dz_executor *executor = task->executor;

    if (executor == NULL || executor->queue == NULL ||
        executor->queue->type != &type)
        return NULL;
    return executor->queue;
}

/* A task that is on its way from another core is in no run queue, though its
 * state alone does not tell: so we look. */
static void change(struct dz_task *task, uint8_t priority)
{
    struct dz_run_queue *queue = queue_of(task);
    bool is_queued =
        queue != NULL && task->next != task && remove_task(queue, task);

    task->priority = priority;
    if (is_queued)
        (void)append(queue, task);
}

void dz_task_set_priority(struct dz_task *task, unsigned priority)
{
    dz_key key = dz_port_enter();

    if (task->pool == NULL)
        dz_panic("a task is given a priority that was not claimed, or has "
                 "ended",
            __FILE__, __LINE__);
    if (priority >= DZ_PRIORITIES)
        dz_task_panic(task, "there is no priority above 63");
    if (priority != task->priority)
        change(task, (uint8_t)priority);
    dz_port_exit(key);
}
