/* SPDX-License-Identifier: MIT */

/*
 * schedule_test -- each kind of executor against a slow model, in lock step
 *
 * Tasks, thread mode and interrupts wake and spawn tasks and change priorities
 * and deadlines at random; tasks end, some with a wake-up pending. Interrupts
 * strike where interrupts are switched on, so between any two steps.
 *
 * The model keeps an array of who is ready, since when, and looks through all
 * of it for the task to run next. It makes its step right before the code under
 * test makes the same one: an interrupt comes behind both or before both.
 *
 * Each kind is polled by the test, and once more by an interrupt of its own,
 * which then preempts what makes a task ready.
 */

#include "executor/deadline.h"
#include "executor/priority.h"
#include "sim/test_random.h"

enum { WORKERS = 12, IRQ = 5, EXECUTOR_IRQ = 6, STEPS = 50000 };

enum kind { FIFO, PRIORITY, DEADLINE };

static struct {
    long interrupts;
    long polls;
    long passes;
    long moved;         /* changed while ready */
    long ended;         /* tasks */
    long ended_pending; /* of them, with a wake-up pending */
} counted;

/* ---- The model. */

enum state { ENDED, CLAIMED, WAITING, READY };

struct model {
    enum state state;
    unsigned priority;
    uint64_t deadline;
    long since; /* when it became ready */
};

static enum kind kind;
static bool is_started; /* an interrupt polls */
static struct model models[WORKERS];
static long now;            /* events so far */
static unsigned turns;      /* that the pass under way has left */
static struct model *taken; /* already, for the next turn */

static unsigned count_ready(void)
{
    unsigned count = 0;

    for (int i = 0; i < WORKERS; i++)
        count += models[i].state == READY;
    return count;
}

static bool goes_first(const struct model *model, const struct model *other)
{
    if (kind == PRIORITY && model->priority != other->priority)
        return model->priority > other->priority;
    if (kind == DEADLINE && model->deadline != other->deadline)
        return model->deadline < other->deadline;
    return model->since < other->since;
}

static struct model *model_take(void)
{
    struct model *first = NULL;

    for (int i = 0; i < WORKERS; i++) {
        if (models[i].state != READY)
            continue;
        if (first == NULL || goes_first(&models[i], first))
            first = &models[i];
    }
    check(first != NULL);
    check(turns > 0);
    turns--;
    first->state = WAITING;
    return first;
}

static void model_ready(struct model *model)
{
    model->state = READY;
    model->since = now++;
}

static bool model_wake(struct model *model)
{
    if (model->state != WAITING)
        return false;
    model_ready(model);
    return true;
}

/* What is ready goes behind its new equals. */
static void model_move(struct model *model)
{
    if (model->state != READY)
        return;
    model->since = now++;
    counted.moved++;
}

/* ---- What is under test. */

struct worker {
    struct dz_task task;
    struct dz_deadline deadline;
};

static struct dz_executor executor;
static struct dz_priority_queue priority_queue;
static struct dz_deadline_queue deadline_queue;
static enum dz_poll work_poll(struct worker *self);

DZ_TASK_POOL_DEADLINE(workers, struct worker, work_poll, WORKERS)

/* Lets an interrupt strike when interrupts are next switched on. */
static void arm(unsigned odds)
{
    if (dice(odds) != 0)
        return;
    pend_at_next_unmask(IRQ);
}

static void wake(unsigned i)
{
    (void)model_wake(&models[i]);
    arm(3);
    dz_task_wake(&workers_slots[i].task);
}

/* Few different ones, so that many are equal; the ends of the range, and of the
 * words that it may be kept in. */
static void set_priority(unsigned i)
{
    static const unsigned priorities[] = {0, 1, 31, 32, 62, 63};
    unsigned priority = priorities[dice(6)];

    if (models[i].state == ENDED)
        return;
    if (models[i].priority != priority && kind == PRIORITY)
        model_move(&models[i]);
    models[i].priority = priority;
    arm(3);
    dz_task_set_priority(&workers_slots[i].task, priority);
}

static void set_deadline(unsigned i)
{
    static const uint64_t deadlines[] = {0, 7, UINT32_MAX, UINT64_C(1) << 32,
        DZ_NO_DEADLINE - 1, DZ_NO_DEADLINE};
    uint64_t deadline = deadlines[dice(6)];

    if (models[i].state == ENDED)
        return;
    if (models[i].deadline != deadline && kind == DEADLINE)
        model_move(&models[i]);
    models[i].deadline = deadline;
    arm(3);
    dz_task_set_deadline(&workers_slots[i].task, deadline);
}

/* Some are given a priority and a deadline beforehand. */
static void spawn(void)
{
    struct worker *worker;
    unsigned i;

    if (workers_claim(&worker) == DZ_BUSY)
        return;
    i = (unsigned)dz_task_slot(&worker->task);
    check(models[i].state == ENDED);
    models[i] = (struct model){.state = CLAIMED, .deadline = DZ_NO_DEADLINE};
    if (dice(2) == 0)
        set_priority(i);
    if (dice(2) == 0)
        set_deadline(i);
    model_ready(&models[i]);
    arm(3);
    dz_executor_spawn(&executor, &worker->task);
}

/* Something that any context may do. */
static void disturb(void)
{
    unsigned i = dice(WORKERS);

    switch (dice(8)) {
    case 0:
        spawn();
        break;
    case 1:
    case 2:
        set_priority(i);
        break;
    case 3:
    case 4:
        set_deadline(i);
        break;
    default:
        wake(i);
        break;
    }
}

static void strike(void *argument)
{
    (void)argument;
    counted.interrupts++;
    disturb();
    arm(4);
}

/* If no interrupt can come between this and the next task's turn, but behind
 * its being taken, then that is now. */
static void take_next(void)
{
    if (turns == 0)
        return;
    taken = model_take();
    arm(2);
}

static enum dz_poll end(struct model *model)
{
    counted.ended++;
    counted.ended_pending += model->state == READY;
    model->state = ENDED;
    arm(2);
    return DZ_READY;
}

static enum dz_poll work_poll(struct worker *self)
{
    struct model *model = &models[dz_task_slot(&self->task)];

    if (taken == NULL)
        taken = model_take();
    check(taken == model);
    taken = NULL;
    counted.polls++;
    for (unsigned i = dice(3); i > 0; i--)
        disturb();
    if (dice(4) == 0)
        wake((unsigned)(model - models));
    /* What is still armed comes before the next one is taken. */
    dz_port_exit(dz_port_enter());
    if (dice(6) == 0)
        return end(model);
    take_next();
    return DZ_PENDING;
}

static void pass(void *argument)
{
    (void)argument;
    counted.passes++;
    turns = count_ready();
    take_next();
    dz_executor_poll(&executor);
    check(turns == 0);
    check(taken == NULL);
}

static void compare(void)
{
    check(dz_executor_is_ready(&executor) == (count_ready() != 0));
    check(!is_started || count_ready() == 0);
    for (int i = 0; i < WORKERS; i++) {
        const struct worker *worker = &workers_slots[i];

        check((models[i].state == ENDED) == (worker->task.pool == NULL));
        if (models[i].state == ENDED)
            continue;
        check(dz_task_priority(&worker->task) == models[i].priority);
        check(dz_task_deadline(&worker->task) == models[i].deadline);
    }
}

/* ---- The runs. */

static void begin(void)
{
    random_begin();
    memset(models, 0, sizeof(models));
    memset(workers_slots, 0, sizeof(workers_slots));
    memset(&counted, 0, sizeof(counted));
    if (kind == FIFO)
        dz_executor_init(&executor, "test");
    else if (kind == PRIORITY)
        dz_executor_init_priority(&executor, &priority_queue, "test");
    else
        dz_executor_init_deadline(&executor, &deadline_queue, "test");
    bind_interrupt(IRQ, strike, NULL);
    if (!is_started)
        return;
    dz_executor_start(&executor, EXECUTOR_IRQ, 1);
    bind_interrupt(EXECUTOR_IRQ, pass, NULL);
}

static void run(enum kind of, bool in_an_interrupt)
{
    long steps = random_steps(STEPS);

    kind = of;
    is_started = in_an_interrupt;
    begin();
    for (step = 0; step < steps; step++) {
        disturb();
        if (!is_started && dice(3) == 0)
            pass(NULL);
        if (step % 1000 == 0)
            show_thread_mode();
        compare();
    }
    print_message("%ld steps, %ld interrupts, %ld passes, %ld "
                  "polls, %ld moved, %ld ended, %ld of them pending\n",
        step, counted.interrupts, counted.passes, counted.polls, counted.moved,
        counted.ended, counted.ended_pending);
    /* The test reached what it is about. */
    check(steps < STEPS || counted.interrupts > steps / 4);
    check(steps < STEPS || counted.polls > steps / 4);
    check(steps < STEPS || counted.ended_pending > steps / 1000);
    check(steps < STEPS || kind == FIFO || counted.moved > steps / 1000);
}

static void polled_by_the_test(void **state)
{
    (void)state;
    run(FIFO, false);
    run(PRIORITY, false);
    run(DEADLINE, false);
}

static void polled_by_an_interrupt(void **state)
{
    (void)state;
    run(FIFO, true);
    run(PRIORITY, true);
    run(DEADLINE, true);
}

RUN_TESTS(TEST(polled_by_the_test), TEST(polled_by_an_interrupt))
