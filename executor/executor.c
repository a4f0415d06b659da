/* SPDX-License-Identifier: MIT */
#include "executor/executor.h"

#include <stdatomic.h>

#include "executor/trace.h"

/*
 * The run queue is a singly linked list. Who appends to it: wake, in a critical
 * section, from any context of this core. Who takes from it: the executor that
 * owns it, and nobody else.
 */

/* True: the queue was empty. In a critical section. */
DZ_INLINE bool enqueue(struct dz_executor *executor, struct dz_task *task)
{
    bool was_empty = executor->first == NULL;

    dz_trace(DZ_EVENT_WAKE, task, NULL);
    if (DZ_LIKELY(was_empty))
        executor->first = task;
    else
        executor->last->next = task;
    executor->last = task;
    return was_empty;
}

static void pend(struct dz_executor *executor)
{
    dz_trace(DZ_EVENT_PEND, executor, NULL);
    dz_port_pend(&executor->port);
}

/* To another core: a stack of tasks, and an interrupt for its first one. */
static void send(struct dz_task *task)
{
    struct dz_port_executor *port = &task->executor->port;
    struct dz_task **inbox = dz_port_inbox(port);

    task->next = *inbox;
    *inbox = task;
    if (task->next == NULL)
        dz_port_ring(port);
}

static void wake_here(struct dz_task *task)
{
    if (enqueue(task->executor, task))
        pend(task->executor);
}

static __attribute__((noinline)) void wake_elsewhere(
    struct dz_task *task, dz_key key)
{
    if (DZ_CORES > 1 && !dz_port_is_here(&task->executor->port))
        send(task);
    else
        wake_here(task);
    dz_port_exit(key);
}

/* The stack is turned round, so that who was woken first runs first. */
static struct dz_task *reverse(struct dz_task *task)
{
    struct dz_task *first = NULL;

    while (task != NULL) {
        struct dz_task *next = task->next;

        task->next = first;
        first = task;
        task = next;
    }
    return first;
}

void dz_executor_receive(struct dz_task **inbox)
{
    dz_key key = dz_port_enter();
    struct dz_task *task = reverse(*inbox);

    *inbox = NULL;
    while (task != NULL) {
        struct dz_task *next = task->next;

        task->next = NULL;
        wake_here(task);
        task = next;
    }
    dz_port_exit(key);
}

/*
 * Most wake-ups are for a task of the executor that runs. To compare first
 * does two things: nobody has to be pended, and the address of the queue does
 * not hang on loads from the woken task. (On an out-of-order host that chain
 * of loads bounded the ping-pong: 21 ns against 16 per round trip.)
 */
DZ_INLINE void wake_exit(struct dz_task *task, dz_key key)
{
    struct dz_executor *here = dz_local.running;

    if (DZ_LIKELY(task->next == task)) {
        task->next = NULL;
        if (DZ_UNLIKELY(task->executor != here)) {
            wake_elsewhere(task, key);
            return;
        }
        enqueue(here, task);
    }
    dz_port_exit(key);
}

void dz_task_wake(struct dz_task *task)
{
    wake_exit(task, dz_port_enter());
}

void dz_task_wake_exit(struct dz_task *task, dz_key key)
{
    wake_exit(task, key);
}

/*
 * Takes all that is ready. No critical section is needed: the queue is not
 * empty, so whatever interrupts us between the two lines appends behind its
 * last task, and that is part of what we take.
 */
DZ_INLINE struct dz_task *take_batch(struct dz_executor *executor)
{
    struct dz_task *batch = *(struct dz_task *volatile *)&executor->first;

    if (batch != NULL)
        *(struct dz_task *volatile *)&executor->first = NULL;
    /* Links are read behind this, when nobody appends any more. */
    atomic_signal_fence(memory_order_seq_cst);
    return batch;
}

/* Takes a task that was woken while it ran for the last time out of the queue.
 * Nobody but us removes tasks, so what stands before ours stays as it is while
 * we look for it with interrupts on. */
static void dequeue(struct dz_executor *executor, struct dz_task *task)
{
    struct dz_task *before = executor->first;
    dz_key key;

    /* It is there, so the end of the list is never reached. */
    while (before != task && before->next != task) /* NOLINT */
        before = before->next;
    key = dz_port_enter();
    if (before == task) {
        before = NULL;
        executor->first = task->next;
    } else {
        before->next = task->next;
    }
    if (executor->last == task)
        executor->last = before;
    task->next = NULL;
    dz_port_exit(key);
}

/* From here on a wake-up does nothing. False: one came before. */
static bool retire(struct dz_task *task)
{
    dz_key key = dz_port_enter();
    bool is_idle = task->next == task;

    if (is_idle)
        task->next = NULL;
    dz_port_exit(key);
    return is_idle;
}

/* The last step. In a critical section, for the sake of other cores. */
static void free_slot(struct dz_task *task)
{
    dz_key key = dz_port_enter();

    task->executor = NULL;
    task->pool = NULL;
    dz_port_exit(key);
}

/* A last wake-up from another core may still be on its way to our queue. */
static __attribute__((noinline, cold)) void finish(
    struct dz_executor *executor, struct dz_task *task)
{
    dz_waiter_cancel(&task->waiter);
    if (!retire(task)) {
        if (DZ_CORES > 1)
            dz_executor_receive(dz_port_inbox(&executor->port));
        dequeue(executor, task);
    }
    dz_trace(DZ_EVENT_END, task, NULL);
    free_slot(task);
}

/*
 * From here on a wake-up queues the task again. With other cores about, one of
 * them may set something without a lock and then wake the task: either it sees
 * this store, or the task, which runs after it, sees what was set. The critical
 * section keeps the two apart.
 */
DZ_INLINE void make_wakeable(struct dz_task *task)
{
    dz_key key = {0};

    if (DZ_CORES > 1)
        key = dz_port_enter();
    *(struct dz_task *volatile *)&task->next = task;
    if (DZ_CORES > 1)
        dz_port_exit(key);
}

DZ_INLINE bool poll_task(struct dz_task *task)
{
    bool is_done;

    make_wakeable(task);
    dz_current = &task->waiter;
    dz_trace(DZ_EVENT_POLL, task, NULL);
    is_done = task->pool->poll(task) != DZ_PENDING;
    dz_trace(DZ_EVENT_POLLED, task, NULL);
    return is_done;
}

DZ_INLINE void poll_batch(struct dz_executor *executor, struct dz_task *next)
{
    do {
        struct dz_task *task = next;

        next = task->next;
        if (DZ_UNLIKELY(poll_task(task)))
            finish(executor, task);
    } while (next != NULL);
}

static void begin(struct dz_executor *executor)
{
    if (executor->polled)
        dz_panic("an executor is run within itself", __FILE__, __LINE__);
    executor->polled = true;
    dz_local.running = executor;
}

/* What is ready and was not pended, because we ran, is pended now. */
static void end(struct dz_executor *executor, struct dz_executor *outer)
{
    dz_key key = dz_port_enter();

    executor->polled = false;
    dz_local.running = outer;
    if (dz_executor_is_ready(executor))
        pend(executor);
    dz_port_exit(key);
}

void dz_executor_poll(struct dz_executor *executor)
{
    struct dz_executor *outer = dz_local.running;
    struct dz_waiter *current = dz_current;
    struct dz_task *batch;

    begin(executor);
    batch = take_batch(executor);
    if (batch != NULL)
        poll_batch(executor, batch);
    dz_current = current;
    end(executor, outer);
}

/* A wake-up that comes while `running` is NULL pends, so that the wait returns
 * at once; one that came before is seen by the last look at the queue. */
static void idle(struct dz_executor *executor)
{
    *(struct dz_executor *volatile *)&dz_local.running = NULL;
    if (!dz_executor_is_ready(executor)) {
        dz_trace(DZ_EVENT_IDLE, executor, NULL);
        dz_port_wait();
    }
    *(struct dz_executor *volatile *)&dz_local.running = executor;
}

void dz_executor_run_until(
    struct dz_executor *executor, const volatile bool *done)
{
    if (dz_local.running != NULL || !dz_port_is_thread_mode())
        dz_panic("a run loop within another, or in an interrupt", __FILE__,
            __LINE__);
    begin(executor);
    while (!*done) {
        struct dz_task *batch = take_batch(executor);

        if (DZ_LIKELY(batch != NULL)) {
            poll_batch(executor, batch);
            continue;
        }
        dz_current = &dz_outside;
        idle(executor);
    }
    dz_current = &dz_outside;
    end(executor, NULL);
}

void dz_executor_run(struct dz_executor *executor)
{
    static const bool never;

    for (;;)
        dz_executor_run_until(executor, &never);
}

void dz_executor_init(struct dz_executor *executor, const char *name)
{
    *executor = (struct dz_executor){.name = name};
    dz_port_executor_init(&executor->port);
}

void dz_executor_spawn(struct dz_executor *executor, struct dz_task *task)
{
    dz_key key = dz_port_enter();

    if (task->pool == NULL)
        dz_panic("a task is spawned that was not claimed", __FILE__, __LINE__);
    if (task->executor != NULL)
        dz_task_panic(task, "a task is spawned twice");
    task->executor = executor;
    task->next = task;
    dz_trace(DZ_EVENT_SPAWN, task, NULL);
    dz_task_wake_exit(task, key);
}

struct dz_context dz_context_now(void)
{
    const struct dz_task *task = dz_current->task;

    return (struct dz_context){
        .executor = task != NULL ? task->executor : NULL,
        .port = dz_port_context(),
    };
}
