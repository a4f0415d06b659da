/* SPDX-License-Identifier: MIT */
#include "executor/deadline.h"

static struct dz_heap *heap_of(struct dz_run_queue *queue)
{
    return &container_of(queue, struct dz_deadline_queue, queue)->heap;
}

static struct dz_heap_node *node_of(const struct dz_task *task)
{
    if (task->pool == NULL)
        dz_panic("a deadline of a task that was not claimed, or has ended",
            __FILE__, __LINE__);
    if (!task->pool->has_deadlines)
        dz_task_panic(task,
            "a task has no place for a deadline; give its frame a struct "
            "dz_deadline, and define its pool by DZ_TASK_POOL_DEADLINE");
    return dz_deadline_of((struct dz_task *)task);
}

void dz_deadline_begin(struct dz_task *task)
{
    dz_deadline_of(task)->key = DZ_NO_DEADLINE;
}

static bool append(struct dz_run_queue *queue, struct dz_task *task)
{
    dz_heap_insert(heap_of(queue), node_of(task));
    return queue->count++ == 0;
}

static struct dz_task *take(struct dz_run_queue *queue)
{
    struct dz_heap_node *earliest = heap_of(queue)->root;

    dz_heap_remove(heap_of(queue), earliest);
    queue->count--;
    return &container_of(earliest, struct dz_deadline_frame, deadline.node)
                ->task;
}

static bool remove_task(struct dz_run_queue *queue, struct dz_task *task)
{
    struct dz_heap_node *node = node_of(task);
    bool is_queued = dz_heap_holds(node);

    if (is_queued) {
        dz_heap_remove(heap_of(queue), node);
        queue->count--;
    }
    return is_queued;
}

static const struct dz_run_queue_type type = {
    append, take, remove_task, &dz_sorted_loops};

void dz_executor_init_deadline(struct dz_executor *executor,
    struct dz_deadline_queue *queue, const char *name)
{
    *queue = (struct dz_deadline_queue){.queue = {.type = &type}};
    dz_executor_init(executor, name);
    executor->queue = &queue->queue;
}

/* The critical section is for the whole of the number, too, which takes two
 * stores on a 32-bit machine. A node that is in a heap is in that of its task's
 * executor. */
void dz_task_set_deadline(struct dz_task *task, uint64_t deadline)
{
    dz_key key = dz_port_enter();
    struct dz_heap_node *node = node_of(task);

    if (!dz_heap_holds(node)) {
        node->key = deadline;
    } else if (node->key != deadline) {
        dz_heap_remove(heap_of(task->executor->queue), node);
        node->key = deadline;
        dz_heap_insert(heap_of(task->executor->queue), node);
    }
    dz_port_exit(key);
}

uint64_t dz_task_deadline(const struct dz_task *task)
{
    dz_key key = dz_port_enter();
    uint64_t deadline = node_of(task)->key;

    dz_port_exit(key);
    return deadline;
}
