/* SPDX-License-Identifier: MIT */
#include "executor/executor.h"

#include <stdatomic.h>

#include "executor/trace.h"

/*
 * The FIFO run queue is a singly linked list. Who appends to it: wake, in a
 * critical section, from any context of this core. Who takes from it: the
 * executor that owns it, and nobody else.
 *
 * The other kinds are behind executor->queue, and all that is done to them is
 * done in critical sections. `first` stays NULL in their executors, so that
 * what is hot here does not ask for the kind.
 */

/* True: the queue was empty. In a critical section. */
DZ_INLINE bool enqueue(struct dz_executor *executor, struct dz_task *task)
{
    bool was_empty = executor->first == NULL;

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

DZ_INLINE void wake_here(struct dz_task *task)
{
    struct dz_executor *executor = task->executor;
    struct dz_run_queue *queue = executor->queue;
    bool was_empty;

    dz_trace(DZ_EVENT_WAKE, task, NULL);
    was_empty = queue == NULL ? enqueue(executor, task)
                              : queue->type->append(queue, task);

    if (was_empty && executor->state != DZ_EXECUTOR_POLLED)
        pend(executor);
}

/* Of a task that is not queued, in a critical section, which ends. */
static __attribute__((noinline)) void wake_anywhere(
    struct dz_task *task, dz_key key)
{
    task->next = NULL;
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
 * Most wake-ups are for a task of the executor that runs, that is FIFO (for the
 * other kinds, `running` is what no task's executor is), and has nothing else
 * to run. To compare first does two things: nobody has to be pended, and the
 * address of the queue does not hang on loads from the woken task. (On an
 * out-of-order host that chain of loads bounded the ping-pong: 21 ns against 16
 * per round trip.)
 *
 * What is opaque is the test for next == task. If gcc saw that the two are
 * equal, it would keep both: four instructions more on a Cortex-M.
 */
void dz_task_wake_exit(struct dz_task *task, dz_key key)
{
    struct dz_executor *here = dz_local.running;
    uintptr_t queued = (uintptr_t)task->next ^ (uintptr_t)task;

    if (DZ_LIKELY(dz_opaque(queued) == 0)) {
        if (DZ_UNLIKELY(task->executor != here || here->first != NULL)) {
            wake_anywhere(task, key);
            return;
        }
        dz_trace(DZ_EVENT_WAKE, task, NULL);
        task->next = NULL;
        here->first = task;
        here->last = task;
    }
    dz_port_exit(key);
}

void dz_task_wake(struct dz_task *task)
{
    dz_task_wake_exit(task, dz_port_enter());
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

/* It is there, so the end of the list is never reached. */
static void dequeue_fifo(struct dz_executor *executor, struct dz_task *task)
{
    struct dz_task *before = NULL;
    struct dz_task *other = executor->first;

    for (; other != task; other = other->next) /* NOLINT */
        before = other;
    if (before == NULL)
        executor->first = task->next;
    else
        before->next = task->next;
    if (executor->last == task)
        executor->last = before;
}

/* Takes a task that was woken while it ran for the last time out of the queue.
 */
static void dequeue(struct dz_executor *executor, struct dz_task *task)
{
    struct dz_run_queue *queue = executor->queue;

    if (queue == NULL)
        dequeue_fifo(executor, task);
    else
        (void)queue->type->remove(queue, task);
}

/*
 * Behind the search and what it finds, a wake-up does nothing: no state but one
 * says that it has to do anything. A last one from another core may still be on
 * its way to our queue.
 *
 * Nobody is the current branch any more: who interrupts us behind this must not
 * find a task that is gone, or another one in its slot.
 */
void dz_task_end(struct dz_task *task)
{
    struct dz_executor *executor = task->executor;
    dz_key key;

    dz_waiter_cancel(&task->waiter);
    key = dz_port_enter();
    dz_current = &dz_outside;
    if (DZ_CORES > 1 && task->next != task)
        dz_executor_receive(dz_port_inbox(&executor->port));
    if (task->next != task)
        dequeue(executor, task);
    task->next = NULL;
    dz_trace(DZ_EVENT_END, task, NULL);
    dz_task_free(task);
    dz_port_exit(key);
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

DZ_INLINE void poll_task(struct dz_task *task)
{
    dz_current = &task->waiter;
    dz_trace(DZ_EVENT_POLL, task, NULL);
    task->pool->poll(task);
}

DZ_INLINE void poll_batch(struct dz_task *next)
{
    do {
        struct dz_task *task = next;

        next = task->next;
        make_wakeable(task);
        poll_task(task);
    } while (next != NULL);
}

/* The most urgent task, wakeable: whoever looks at its state from now on sees
 * that it is not queued. */
static struct dz_task *take_sorted(struct dz_run_queue *queue)
{
    dz_key key = dz_port_enter();
    struct dz_task *task = queue->type->take(queue);

    task->next = task;
    dz_port_exit(key);
    return task;
}

static __attribute__((cold)) _Noreturn void executor_panic(
    const struct dz_executor *executor, const char *reason, int line)
{
    dz_panic_with(&(struct dz_panic){
        .reason = reason,
        .object = executor->name,
        .address = executor,
        .context = dz_context_now(),
        .task = dz_current->task,
        .file = __FILE__,
        .line = line,
    });
}

/* Volatile: in this order, and before or behind the look at the queue. */
DZ_INLINE void change_state(struct dz_executor *executor,
    enum dz_executor_state state, struct dz_executor *running)
{
    *(volatile uint8_t *)&executor->state = (uint8_t)state;
    *(struct dz_executor *volatile *)&dz_local.running = running;
}

/* Who `running` is while an executor is polled. */
DZ_INLINE struct dz_executor *fifo_or_null(struct dz_executor *executor)
{
    return executor->queue == NULL ? executor : NULL;
}

static __attribute__((cold, noinline)) _Noreturn void refuse(
    const struct dz_executor *executor)
{
    if (executor->state != DZ_EXECUTOR_STOPPED)
        executor_panic(executor, "an executor is run within itself", __LINE__);
    executor_panic(executor,
        "an executor that was started is run in thread mode; leave it to its "
        "interrupt",
        __LINE__);
}

DZ_INLINE void begin(struct dz_executor *executor)
{
    if (executor->state != DZ_EXECUTOR_STOPPED ||
        (executor->is_started && dz_port_is_thread_mode()))
        refuse(executor);
    change_state(executor, DZ_EXECUTOR_POLLED, fifo_or_null(executor));
}

/* What is ready and was not pended, because we ran, is pended now. */
DZ_INLINE void end(struct dz_executor *executor, struct dz_executor *outer)
{
    dz_key key = dz_port_enter();

    change_state(executor, DZ_EXECUTOR_STOPPED, outer);
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
        poll_batch(batch);
    else if (executor->queue != NULL)
        executor->queue->type->loops->poll(executor);
    dz_current = current;
    end(executor, outer);
}

/*
 * From the change of the state on, a wake-up pends, so that the wait returns at
 * once, or comes in time for the last look at the queue. Where interrupts set
 * the event by themselves, neither is needed: whoever wakes a task behind the
 * run loop's look is one, and the wait returns behind it.
 */
DZ_INLINE void idle(struct dz_executor *executor, struct dz_executor *running)
{
    dz_current = &dz_outside;
    if (DZ_PORT_RETURN_SETS_EVENT) {
        dz_trace(DZ_EVENT_IDLE, executor, NULL);
        dz_port_wait();
        return;
    }
    change_state(executor, DZ_EXECUTOR_IDLE, NULL);
    if (!dz_executor_is_ready(executor)) {
        dz_trace(DZ_EVENT_IDLE, executor, NULL);
        dz_port_wait();
    }
    change_state(executor, DZ_EXECUTOR_POLLED, running);
}

/* As a byte: gcc masks a volatile bool before it looks at it. */
DZ_INLINE bool is_over(const volatile bool *done)
{
    return done != NULL && *(const volatile unsigned char *)done;
}

DZ_INLINE void run_fifo(struct dz_executor *executor, const volatile bool *done)
{
    while (!is_over(done)) {
        struct dz_task *batch = take_batch(executor);

        if (DZ_UNLIKELY(batch == NULL)) {
            idle(executor, executor);
            continue;
        }
        poll_batch(batch);
    }
}

/* Each poll uses up one of the tasks that were ready, and nobody takes out more
 * than that: one is left for each turn. */
static void poll_sorted(struct dz_executor *executor)
{
    for (unsigned turns = executor->queue->count; turns > 0; turns--)
        poll_task(take_sorted(executor->queue));
}

static void run_sorted(struct dz_executor *executor, const volatile bool *done)
{
    while (!is_over(done)) {
        if (dz_executor_is_ready(executor))
            poll_sorted(executor);
        else
            idle(executor, NULL);
    }
}

const struct dz_run_loops dz_sorted_loops = {poll_sorted, run_sorted};

/* `done` is NULL: never. */
DZ_INLINE void run(struct dz_executor *executor, const volatile bool *done)
{
    if (dz_current != &dz_outside || !dz_port_is_thread_mode())
        dz_panic("a run loop within another, or in an interrupt", __FILE__,
            __LINE__);
    begin(executor);
    if (executor->queue == NULL)
        run_fifo(executor, done);
    else
        executor->queue->type->loops->run(executor, done);
}

void dz_executor_run_until(
    struct dz_executor *executor, const volatile bool *done)
{
    run(executor, done);
    dz_current = &dz_outside;
    end(executor, NULL);
}

void dz_executor_run(struct dz_executor *executor)
{
    run(executor, NULL);
    __builtin_unreachable();
}

void dz_executor_init(struct dz_executor *executor, const char *name)
{
    executor->first = NULL;
    executor->name = name;
    executor->queue = NULL;
    executor->state = DZ_EXECUTOR_STOPPED;
    executor->is_started = false;
    executor->is_outside = false;
    dz_port_executor_init(&executor->port);
}

static void check_start(const struct dz_executor *executor)
{
    if (executor->is_started)
        executor_panic(executor, "an executor is started twice", __LINE__);
    if (executor->state != DZ_EXECUTOR_STOPPED)
        executor_panic(executor,
            "an executor is started that a run loop runs, too", __LINE__);
    if (!dz_port_is_here(&executor->port))
        executor_panic(executor,
            "an executor is started on a core that did not initialise it",
            __LINE__);
}

/* What became ready before has pended thread mode, which it does not concern.
 */
void dz_executor_start(
    struct dz_executor *executor, int interrupt, unsigned priority)
{
    dz_key key;

    check_start(executor);
    executor->is_started = true;
    dz_port_start(executor, interrupt, priority);
    key = dz_port_enter();
    if (dz_executor_is_ready(executor))
        pend(executor);
    dz_port_exit(key);
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
    const struct dz_executor *executor = task != NULL ? task->executor : NULL;

    if (executor != NULL && executor->is_outside)
        executor = NULL;
    return (struct dz_context){
        .executor = executor,
        .port = dz_port_context(),
    };
}
