/* SPDX-License-Identifier: MIT */

/*
 * An episode in lock step. The model knows who waits in which line and who has
 * a promise. A call is one operation under way on both sides: the model's step,
 * with interrupts off, and at once the real one, in whose first critical
 * section they come on again.
 *
 * Who is woken is known exactly: a worker is in the run queue if, and only if,
 * it was granted something or told something since its last poll began. That is
 * compared before each step, and finds a poll in vain and a lost wake-up where
 * they arise, not where they show. So is the order in that queue.
 *
 * A worker that walks away from its calls has no part in them any more, but
 * they stand where they are, on both sides. They end with the next call that
 * waits with the same waiter.
 *
 * The single slot has no lines, no grants, and wake-ups that nobody can
 * foretell: there, only what each operation does is compared, and what is true
 * at rest.
 */
#include "sync/law_episode.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "executor/executor.h"
#include "executor/join.h"
#include "executor/select.h"
#include "sync/law_machine.h"

enum {
    CALLS_EACH = 2 * LAW_BRANCHES,
    CALLS = LAW_WORKERS * CALLS_EACH,
    VARIABLES = 3, /* two by turns, and one for what nobody walks away from */
};

static const unsigned branches_of[LAW_SHAPES] = {1, 2, 3, 2};

struct law_told *law_told;
const struct law *law_now;
unsigned law_type;
const struct dz_object *law_object;
bool law_is_loud;

/* ---- Who waits, and who has a promise. */

enum state {
    IDLE,
    WAITING,
    GRANTED,
    WITHDRAWN, /* out of its line, and about to be cancelled */
};

/* Wake-ups are numbered. Those of one step on the model's side that are not for
 * the same line may come in any order. */
struct wake {
    long number;
    long step;
    unsigned line; /* LAW_LINES: it was told something */
    bool is_by_interrupt;
};

/* What is known of a task, beside its frame: an order may come when the task
 * has ended, and its slot is nobody's. */
struct worker {
    struct law_call calls[2][LAW_BRANCHES];
    unsigned half; /* its calls; the others are those it walked away from */
    uint32_t variables[VARIABLES][LAW_BRANCHES][LAW_WORDS];
    struct law_order order; /* what it was told */
    enum law_shape shape;   /* of what it does */
    bool is_told;
    bool is_busy;
    bool is_live;
    bool is_due;        /* it was woken: */
    struct wake wake;   /* when */
    bool is_in_transit; /* and taken out of the run queue, not polled yet */
};

struct frame {
    struct dz_task task;
    struct dz_select2 select;
    struct dz_select2 inner;
    struct dz_join2 join;
};

/* Those who were granted nothing yet, the first in front. */
struct line {
    struct law_call *calls[CALLS];
    unsigned count;
    bool is_held; /* nobody is served until a cancellation is complete: see
                     __wrap_dz_waiter_withdraw */
};

static struct line lines[LAW_LINES];
static struct worker workers[LAW_WORKERS];
static struct frame frames[LAW_WORKERS];
static struct dz_pool pools[LAW_WORKERS]; /* of one slot each */
static struct dz_executor executor;
static struct law_order interrupt;
static long steps; /* on the model's side */
static long wakes;
static bool is_between_polls;      /* in a pass, but in no worker */
static struct law_call *cancelled; /* what is being cancelled, or NULL */
static struct law_call *turning;   /* what leaves another place, or NULL */

void law_say(const char *format, ...)
{
    va_list arguments;

    if (!law_is_loud)
        return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

void law_say_type(void)
{
    static const char *const mutexes[] = {
        "DZ_NOOP", "DZ_THREAD_MODE", "DZ_CRITICAL_SECTION"};

    law_say("The %s law is broken. %s (%s, %s)", law_now->name,
        law_object->name, mutexes[law_object->mutex],
        law_has_queues() ? "DZ_QUEUE" : "DZ_SINGLE_SLOT");
}

static void say_who(unsigned who)
{
    if (who == LAW_OUTSIDE)
        law_say("        ");
    else if (who == LAW_INTERRUPT)
        law_say("        interrupt: ");
    else
        law_say("        worker %u: ", who);
}

static void say_operation(
    const struct law_operation *operation, unsigned argument)
{
    law_say("%s", operation->name);
    if (operation->arguments > 0)
        law_say("(%u)", argument);
}

/* FNV-1a (Fowler, Noll and Vo 1991), byte by byte, whatever their order in
 * memory is. */
static void digest(uint32_t number)
{
    uint32_t sum = law_told->digests[law_type];

    for (unsigned shift = 0; shift < 32; shift += 8)
        sum = (sum ^ (number >> shift & 0xff)) * UINT32_C(0x01000193);
    law_told->digests[law_type] = sum;
}

/* Told, and part of what makes two runs the same. */
static void say_event(const struct law_call *call, const char *event)
{
    digest(call->who);
    digest((uint32_t)(call->operation - law_now->operations));
    digest(call->argument);
    for (const char *at = event; *at != '\0'; at++)
        digest((uint32_t)*at);
    say_who(call->who);
    say_operation(call->operation, call->argument);
    law_say(" %s\n", event);
}

bool law_has_queues(void)
{
    return law_object->policy == DZ_QUEUE;
}

unsigned law_waiting(unsigned line)
{
    return lines[line].count;
}

static struct law_call *call_number(unsigned i)
{
    unsigned k = i % CALLS_EACH;

    return &workers[i / CALLS_EACH].calls[k / LAW_BRANCHES][k % LAW_BRANCHES];
}

static struct law_call *calls_of(struct worker *worker)
{
    return worker->calls[worker->half];
}

static struct law_call *walked_of(struct worker *worker)
{
    return worker->calls[1 - worker->half];
}

static bool is_walked(const struct law_call *call)
{
    const struct law_call *walked = walked_of(&workers[call->who]);

    return call >= walked && call < walked + LAW_BRANCHES;
}

bool law_is_waiting(const struct law_call *call)
{
    return call->state == WAITING || call->state == GRANTED;
}

static struct line *line_of(const struct law_call *call)
{
    return &lines[call->operation->line];
}

static bool is_blocked_by_head(const struct line *line)
{
    return (law_now->who_can >> (line - lines) & 1) == 0;
}

static void insert(struct law_call *call, unsigned at)
{
    struct line *line = line_of(call);

    call->state = WAITING;
    if (!law_has_queues())
        return;
    for (unsigned i = line->count++; i > at; i--)
        line->calls[i] = line->calls[i - 1];
    line->calls[at] = call;
}

/* Who has been granted something stands in none. */
static void leave_line(struct law_call *call)
{
    struct line *line = line_of(call);
    unsigned i = 0;

    while (i < line->count && line->calls[i] != call)
        i++;
    if (i == line->count)
        return;
    for (line->count--; i < line->count; i++)
        line->calls[i] = line->calls[i + 1];
}

static bool reserve(struct law_call *call)
{
    return call->operation->reserve == NULL || call->operation->reserve(call);
}

static void give_back(struct law_call *call)
{
    if (call->operation->give_back != NULL)
        call->operation->give_back(call);
}

/* Without a trace: give_back undoes reserve. */
static bool could_go_on(struct law_call *call)
{
    if (!reserve(call))
        return false;
    give_back(call);
    return true;
}

/* A task that runs or waits points to itself: executor/task.h. */
static bool is_queued(unsigned i)
{
    return frames[i].task.next != &frames[i].task;
}

static unsigned number_of(const struct dz_task *task)
{
    return (unsigned)((const struct frame *)(const void *)task - frames);
}

/* Who is queued already stays where it is. An interrupt may come before the
 * wake-up of the step that it comes in. */
static void note_wake(struct worker *worker, unsigned line)
{
    unsigned i = (unsigned)(worker - workers);

    if (worker->is_due && (is_queued(i) || worker->wake.step == steps))
        return;
    worker->is_due = true;
    worker->wake = (struct wake){
        .number = ++wakes,
        .step = steps,
        .line = line,
        .is_by_interrupt = !dz_port_is_thread_mode(),
    };
}

static void grant(struct law_call *call)
{
    leave_line(call);
    call->state = GRANTED;
    law_told->grants++;
    say_event(call, "is granted");
    call->giver = cancelled != NULL && !is_walked(cancelled) ? cancelled : NULL;
    call->given_in = law_told->polls;
    note_wake(&workers[call->who], call->operation->line);
}

/* True: somebody was served. */
static bool serve_line(struct line *line)
{
    bool is_served = false;

    for (unsigned i = 0; i < line->count;) {
        if (reserve(line->calls[i])) {
            grant(line->calls[i]);
            is_served = true;
        } else if (is_blocked_by_head(line)) {
            break;
        } else {
            i++;
        }
    }
    return is_served;
}

/* Until nobody can go on: what one line was served may let another go on. */
static void serve(void)
{
    bool is_served;

    do {
        is_served = false;
        for (unsigned i = 0; i < LAW_LINES; i++) {
            if (!lines[i].is_held && serve_line(&lines[i]))
                is_served = true;
        }
    } while (is_served);
}

/* ---- The model's side of an operation. */

static bool goes_behind(const struct law_call *call)
{
    return (law_now->behind >> call->operation->line & 1) != 0;
}

/* With what is reserved. False: not done, and in its line again. */
static bool perform(struct law_call *call)
{
    const struct law_operation *operation = call->operation;

    while (operation->perform != NULL && !operation->perform(call)) {
        if (!reserve(call)) {
            insert(call, goes_behind(call) ? line_of(call)->count : 0);
            return false;
        }
    }
    call->state = IDLE;
    return true;
}

/* Who comes new does not barge past those who wait, not even by trying. */
static bool take_turn(struct law_call *call)
{
    const struct line *line = line_of(call);

    if (call->operation->kind != LAW_ACTS && line->count > 0 &&
        is_blocked_by_head(line))
        return false;
    return reserve(call);
}

/* True: done. */
static bool model_begin_call(struct law_call *call)
{
    if (take_turn(call))
        return perform(call);
    if (call->operation->kind == LAW_WAITS) {
        insert(call, line_of(call)->count);
        law_told->waited[law_type][call->operation - law_now->operations]++;
    }
    return false;
}

static bool model_call(struct law_call *call)
{
    bool is_done = false;

    if (call->state == IDLE)
        is_done = model_begin_call(call);
    else if (call->state == GRANTED || (!law_has_queues() && reserve(call)))
        is_done = perform(call);
    serve();
    return is_done;
}

/* ---- Lock step. */

/* An interrupt may find an object that it must not touch half changed. */
static bool is_in_lock_step(void)
{
    return law_object->mutex == DZ_CRITICAL_SECTION || dz_port_is_thread_mode();
}

/* An interrupt may come between a run queue and the poll. A worker that it
 * wakes there is polled once more. */
static void note_transit(void)
{
    for (unsigned i = 0; i < LAW_WORKERS; i++) {
        struct worker *worker = &workers[i];

        if (!worker->is_live || !worker->is_due || is_queued(i))
            continue;
        worker->is_due = false;
        worker->is_in_transit = true;
    }
}

/* In thread mode between two steps nobody is on the way to a poll. */
static void compare_wakes(unsigned i)
{
    const struct worker *worker = &workers[i];

    if (!worker->is_live)
        return;
    if (is_queued(i) && !worker->is_due) {
        law_say("worker %u was woken without a grant\n", i);
        law_broken("a wake-up is a grant", __FILE__, __LINE__);
    }
    if ((!is_queued(i) && worker->is_due) ||
        (worker->is_in_transit && dz_port_is_thread_mode())) {
        law_say("worker %u was not woken\n", i);
        law_broken("a grant is a wake-up", __FILE__, __LINE__);
    }
}

static bool is_in_any_order(const struct wake *one, const struct wake *other)
{
    if (one->step == other->step)
        return one->line != other->line ||
            (law_now->any_order >> one->line & 1) != 0;
    return one->is_by_interrupt != other->is_by_interrupt &&
        law_object->mutex != DZ_CRITICAL_SECTION;
}

/* Who becomes ready stands behind those who are. An interrupt may come in the
 * middle of an operation that does not keep it out. */
static void compare_order(const struct dz_task *task)
{
    unsigned i = number_of(task);

    for (const struct dz_task *at = task->next; at != NULL; at = at->next) {
        const struct wake *late = &workers[number_of(at)].wake;

        if (late->number > workers[i].wake.number ||
            is_in_any_order(late, &workers[i].wake))
            continue;
        law_say("worker %u was granted before worker %u\n", number_of(at), i);
        law_broken(
            "tasks are woken in the order of their grants", __FILE__, __LINE__);
    }
}

static void compare(void)
{
    for (unsigned i = 0; i < LAW_WORKERS && law_has_queues(); i++)
        compare_wakes(i);
    for (const struct dz_task *task = executor.first;
         task != NULL && law_has_queues(); task = task->next)
        compare_order(task);
    law_now->compare();
}

static bool has_held_lines(void)
{
    for (unsigned i = 0; i < LAW_LINES; i++) {
        if (lines[i].is_held)
            return true;
    }
    return false;
}

/* Not dz_port_enter: its end would be a look for interrupts, before the real
 * step. */
static dz_key mask(void)
{
    dz_key key = law_mask();

    steps++;
    if (is_between_polls && !dz_port_is_thread_mode())
        note_transit();
    return key;
}

/* Between the model's step and the real one nothing may come: what strikes
 * does so at the first look for an interrupt in the real one, or later. */
static dz_key model_begin(void)
{
    dz_key key = mask();

    if (!has_held_lines() && is_in_lock_step())
        compare();
    return key;
}

/* Not in the middle of a cancellation: see __wrap_dz_waiter_withdraw. */
bool law_may_strike(void)
{
    return !has_held_lines();
}

static void compare_results(const struct law_call *call, bool is_done)
{
    say_event(call, is_done ? "is done" : "is not done");
    for (unsigned i = 0; i < LAW_WORDS && is_done; i++)
        digest(call->got[i]);
    if (is_done != call->is_expected)
        law_broken(
            call->is_expected ? "it could be done" : "it could not be done",
            __FILE__, __LINE__);
    law_told->completed[law_type][call->operation - law_now->operations] +=
        is_done;
    if (is_done &&
        memcmp(call->got, call->expected, sizeof(call->expected)) != 0) {
        law_say("expected %" PRIu32 " %" PRIu32 " %" PRIu32 "..., got %" PRIu32
                " %" PRIu32 " %" PRIu32 "...\n",
            call->expected[0], call->expected[1], call->expected[2],
            call->got[0], call->got[1], call->got[2]);
        law_broken("the results are equal", __FILE__, __LINE__);
    }
}

/* ---- What ends a wait: it is cancelled; or walked away from, and left. */

/* NULL: an idle waiter, or one of the harness's forks. */
static struct law_call *call_of(const struct dz_waiter *waiter)
{
    for (unsigned i = 0; i < CALLS; i++) {
        struct law_call *call = call_number(i);

        if (call->state != IDLE && call->waiter == waiter)
            return call;
    }
    return NULL;
}

/* What a branch gives up does not go to another one that is cancelled with it.
 * (That an inner select is over before the outer one is another matter.) */
static void check_giver(const struct law_call *call)
{
    const struct law_call *giver = call->giver;

    if (giver == NULL || giver->who != call->who ||
        call->given_in != law_told->polls ||
        (workers[call->who].shape == LAW_NESTED &&
            call == &calls_of(&workers[call->who])[2]))
        return;
    law_broken("a grant is passed on to a branch that is cancelled, too",
        __FILE__, __LINE__);
}

/* The others are served even if it only stood in line: it may have been the
 * head that held them up. */
static void model_cancel(struct law_call *call)
{
    say_event(call, "is cancelled");
    leave_line(call);
    line_of(call)->is_held = false;
    cancelled = call;
    if (call->state == GRANTED) {
        check_giver(call);
        law_told->passed_on++;
        give_back(call);
    }
    call->state = IDLE;
    serve();
    cancelled = NULL;
}

static void replace_in_line(struct law_call *old, struct law_call *call)
{
    struct line *line = line_of(old);

    for (unsigned i = 0; i < line->count; i++) {
        if (line->calls[i] == old)
            line->calls[i] = call;
    }
}

/* If not, it takes nothing over. */
static bool goes_on(struct law_call *call, const struct law_call *walked)
{
    const struct law_operation *operation = call->operation;

    if (operation->line == walked->operation->line &&
        (operation->goes_on == NULL || operation->goes_on(call, walked)))
        return true;
    memset(call->model, 0, sizeof(call->model));
    return false;
}

static void take_over(struct law_call *call, struct law_call *walked)
{
    say_event(walked, "is gone on with");
    call->state = walked->state;
    replace_in_line(walked, call);
    walked->state = IDLE;
}

/* All branches leave their lines first. */
static void leave_fork(struct law_call *walked)
{
    for (unsigned i = 0; i < LAW_BRANCHES; i++) {
        if (walked[i].state != IDLE)
            leave_line(&walked[i]);
    }
    for (unsigned i = 0; i < LAW_BRANCHES; i++) {
        if (walked[i].state != IDLE)
            model_cancel(&walked[i]);
    }
}

/* With this waiter, or with those of a fork within it, the worker stands
 * somewhere else. */
static bool stands_elsewhere(const struct law_call *call)
{
    const struct law_call *walked = walked_of(&workers[call->who]);

    if (call_of(call->waiter) != NULL)
        return true;
    for (unsigned i = 0; i < LAW_BRANCHES; i++) {
        if (walked[i].state != IDLE)
            return call->waiter == &frames[call->who].task.waiter;
    }
    return false;
}

/* Ahead of the first poll of a call that waits. */
static void turn_to(struct law_call *call)
{
    struct law_call *walked = call_of(call->waiter);

    if (walked != NULL && goes_on(call, walked))
        take_over(call, walked);
    else if (stands_elsewhere(call))
        turning = call;
}

/* A call leaves that place first, in a step of its own, or within its lock. In
 * the first case, and if that is a fork, the wrappers below see the steps in
 * which its branches do. */
void __real_dz_waiter_leave(struct dz_waiter *waiter, int checks);
void __wrap_dz_waiter_leave(struct dz_waiter *waiter, int checks);
bool __real_dz_waiter_turn_to(uintptr_t place, int checks);
bool __wrap_dz_waiter_turn_to(uintptr_t place, int checks);

static struct law_call *begin_to_leave(const struct dz_waiter *waiter)
{
    struct law_call *call = turning;
    struct law_call *walked = call_of(waiter);
    dz_key key;

    turning = NULL;
    if (walked != NULL) {
        key = model_begin();
        model_cancel(walked);
        law_unmask(key);
    } else if (law_is_masked() && call != NULL) {
        leave_fork(walked_of(&workers[call->who]));
    }
    return call;
}

static void end_leaving(struct law_call *call)
{
    dz_key key;

    if (call == NULL)
        return;
    key = model_begin();
    call->is_expected = model_call(call);
    law_unmask(key);
}

void __wrap_dz_waiter_leave(struct dz_waiter *waiter, int checks)
{
    struct law_call *call = begin_to_leave(waiter);

    __real_dz_waiter_leave(waiter, checks);
    end_leaving(call);
}

bool __wrap_dz_waiter_turn_to(uintptr_t place, int checks)
{
    struct law_call *call;
    bool is_turned;

    if (dz_current->place == place)
        return __real_dz_waiter_turn_to(place, checks);
    call = begin_to_leave(dz_current);
    is_turned = __real_dz_waiter_turn_to(place, checks);
    end_leaving(call);
    return is_turned;
}

static void first_poll(struct law_call *call)
{
    call->waiter = dz_current;
    memcpy(call->expected, call->got, sizeof(call->expected));
    if (call->operation->kind == LAW_WAITS)
        turn_to(call);
}

static bool may(const struct law_call *call)
{
    return call->operation->may == NULL || call->operation->may(call);
}

/* Polls, or does what never waits: one step on both sides. */
static enum dz_poll call_poll(struct law_call *call)
{
    dz_key key = model_begin();
    bool is_done;

    call->is_over = true;
    if (call->state == IDLE && !may(call)) {
        law_unmask(key);
        return DZ_READY;
    }
    if (call->state == IDLE)
        first_poll(call);
    if (turning != call)
        call->is_expected = model_call(call);
    law_unmask(key);
    is_done = call->operation->real(call);
    if (turning == call)
        law_broken("who waits elsewhere leaves its place", __FILE__, __LINE__);
    compare_results(call, is_done);
    call->is_over = is_done || call->operation->kind != LAW_WAITS;
    return call->is_over ? DZ_READY : DZ_PENDING;
}

/* Of who has walked away, they are the object's until it waits again. */
static bool are_in_use(const uint32_t *variables)
{
    for (unsigned i = 0; i < CALLS; i++) {
        const struct law_call *call = call_number(i);

        if (call->state != IDLE && call->got == variables)
            return true;
    }
    return false;
}

static void begin_call(struct law_call *call, const struct law_choice *choice,
    unsigned who, uint32_t *variables)
{
    *call = (struct law_call){
        .operation = &law_now->operations[choice->operation],
        .argument = choice->argument,
        .who = who,
        .got = variables,
    };
    if (!are_in_use(variables))
        memset(variables, 0, sizeof(call->expected));
}

/* Right here, in whatever context. */
static void act(const struct law_choice *choice, unsigned who)
{
    uint32_t variables[LAW_WORDS];
    struct law_call call;

    begin_call(&call, choice, who, variables);
    if (call.operation->kind != LAW_WAITS && is_in_lock_step())
        (void)call_poll(&call);
}

/* ---- Cancellation: the model leaves when a select or the end of a task does.
 */

void __real_dz_waiter_cancel(struct dz_waiter *waiter);
void __wrap_dz_waiter_cancel(struct dz_waiter *waiter);

void __wrap_dz_waiter_cancel(struct dz_waiter *waiter)
{
    struct law_call *call = call_of(waiter);
    bool was_between_polls = is_between_polls;
    dz_key key;

    if (call == NULL || law_is_masked()) {
        __real_dz_waiter_cancel(waiter);
        return;
    }
    key = model_begin();
    model_cancel(call);
    is_between_polls = false;
    law_unmask(key);
    __real_dz_waiter_cancel(waiter);
    is_between_polls = was_between_polls;
}

/* The first step of a select's two. Who stood behind the waiter may now be able
 * to go on, but is not served before the second, and is no concern of others
 * until then: meanwhile nothing strikes. With a single slot, what is there for
 * the waiter, and perhaps for nobody else, stays so until the second. */
void __real_dz_waiter_withdraw(struct dz_waiter *waiter);
void __wrap_dz_waiter_withdraw(struct dz_waiter *waiter);

void __wrap_dz_waiter_withdraw(struct dz_waiter *waiter)
{
    struct law_call *call = call_of(waiter);
    struct line *line;
    dz_key key;

    if (call == NULL || call->state != WAITING) {
        __real_dz_waiter_withdraw(waiter);
        return;
    }
    line = line_of(call);
    key = model_begin();
    leave_line(call);
    if (law_has_queues() || !could_go_on(call))
        call->state = WITHDRAWN;
    if (line->count > 0 && could_go_on(line->calls[0]))
        line->is_held = true;
    law_unmask(key);
    __real_dz_waiter_withdraw(waiter);
}

/* A fork takes the place of what its worker walked away from. */
bool __real_dz_waiter_enter(struct dz_canceller *canceller);
bool __wrap_dz_waiter_enter(struct dz_canceller *canceller);

bool __wrap_dz_waiter_enter(struct dz_canceller *canceller)
{
    struct law_call *walked = call_of(dz_current);

    if (walked != NULL) {
        dz_key key = model_begin();

        model_cancel(walked);
        law_unmask(key);
    }
    return __real_dz_waiter_enter(canceller);
}

/* ---- Workers. They are told what to do, and woken. */

static enum dz_poll shape_poll(
    struct frame *frame, struct law_call *calls, enum law_shape shape)
{
    switch (shape) {
    case LAW_SELECT:
        return dz_select2(
            &frame->select, call_poll(&calls[0]), call_poll(&calls[1]));
    case LAW_NESTED:
        return dz_select2(&frame->select,
            dz_select2(
                &frame->inner, call_poll(&calls[0]), call_poll(&calls[1])),
            call_poll(&calls[2]));
    case LAW_JOIN:
        return dz_join2(
            &frame->join, call_poll(&calls[0]), call_poll(&calls[1]));
    case LAW_SINGLE:
    case LAW_SHAPES:
    default:
        return call_poll(&calls[0]);
    }
}

/* A join takes all of its branches, the others one. */
static bool is_over(struct worker *worker)
{
    const struct law_call *calls = calls_of(worker);
    unsigned count = branches_of[worker->shape];
    unsigned over = 0;

    for (unsigned i = 0; i < count; i++)
        over += calls[i].is_over;
    return over >= (worker->shape == LAW_JOIN ? count : 1);
}

static void go_on(struct frame *frame, struct worker *worker)
{
    worker->is_busy =
        shape_poll(frame, calls_of(worker), worker->shape) == DZ_PENDING;
    if (worker->is_busy == is_over(worker))
        law_broken("a select ends with one branch, a join with all", __FILE__,
            __LINE__);
}

static bool take_order(struct worker *worker, struct law_order *order)
{
    dz_key key = dz_port_enter();
    bool is_told = worker->is_told;

    *order = worker->order;
    worker->is_told = false;
    dz_port_exit(key);
    return is_told;
}

/* The places within nested selects, and in a join of which one branch is done,
 * are not what this is about. With a single slot nobody has a place. */
static void walk_away(struct worker *worker)
{
    dz_key key;

    if (!worker->is_busy)
        return;
    if (!law_has_queues() || worker->shape == LAW_NESTED ||
        worker->shape == LAW_JOIN) {
        dz_cancel();
        return;
    }
    key = mask();
    for (unsigned i = 0; i < branches_of[worker->shape]; i++) {
        law_told->walks++;
        say_event(&calls_of(worker)[i], "is walked away from");
    }
    worker->half = 1 - worker->half;
    law_unmask(key);
}

static uint32_t *variables_of(
    struct worker *worker, const struct law_order *order, unsigned branch)
{
    const struct law_operation *operation =
        &law_now->operations[order->choices[branch].operation];

    if (operation->kind != LAW_WAITS || order->shape == LAW_NESTED)
        return worker->variables[VARIABLES - 1][branch];
    return worker->variables[order->variables][branch];
}

static bool begins(const struct worker *worker, const struct law_order *order)
{
    return order->verb == LAW_BEGIN || order->verb == LAW_INSTEAD ||
        (order->verb == LAW_WALK && !worker->is_busy);
}

/* An order to begin, for a worker that is busy by now, is a wake-up for
 * nothing, which must change nothing either. */
static void obey(struct worker *worker, const struct law_order *order)
{
    unsigned i = (unsigned)(worker - workers);

    if (worker->is_busy && order->verb == LAW_BEGIN)
        return;
    if (order->verb == LAW_WALK)
        walk_away(worker);
    else if (order->verb != LAW_BEGIN)
        dz_cancel();
    worker->is_busy = begins(worker, order);
    worker->shape = (enum law_shape)order->shape;
    for (unsigned k = 0; k < LAW_BRANCHES && worker->is_busy; k++)
        begin_call(&calls_of(worker)[k], &order->choices[k], i,
            variables_of(worker, order, k));
}

/* The body of a task. It ends in the middle of what it does, if it is told to:
 * the executor cancels that. */
static enum dz_poll work(struct frame *frame, struct worker *worker)
{
    struct law_order order;

    if (take_order(worker, &order)) {
        worker->is_live = order.verb != LAW_END;
        if (!worker->is_live)
            return DZ_READY;
        obey(worker, &order);
    }
    if (worker->is_busy)
        go_on(frame, worker);
    return DZ_PENDING;
}

/* What woke it is used up, unless it came behind the run queue. */
static enum dz_poll worker_body(struct dz_task *task)
{
    struct frame *frame = container_of(task, struct frame, task);
    struct worker *worker = &workers[frame - frames];
    enum dz_poll result;
    dz_key key;

    law_told->polls++;
    key = mask();
    digest((uint32_t)(worker - workers));
    is_between_polls = false;
    worker->is_due = worker->is_in_transit && worker->is_due;
    worker->is_in_transit = false;
    law_unmask(key);
    result = work(frame, worker);
    is_between_polls = true;
    return result;
}

static void worker_poll(struct dz_task *task)
{
    dz_pool_poll(task->pool, task, worker_body);
}

static void pass(void)
{
    is_between_polls = true;
    dz_executor_poll(&executor);
    is_between_polls = false;
}

/* Interrupts come when the task is queued. */
static void spawn(unsigned i)
{
    dz_key key;

    if (dz_pool_claim(&pools[i]) == NULL)
        return;
    key = mask();
    workers[i].is_live = true;
    workers[i].is_busy = false;
    workers[i].is_due = false;
    note_wake(&workers[i], LAW_LINES);
    workers[i].is_in_transit = false;
    law_unmask(key);
    dz_executor_spawn(&executor, &frames[i].task);
}

/* Any context. A second order before the first was taken is lost. */
static void tell(const struct law_order *order)
{
    struct worker *worker = &workers[order->worker];
    dz_key key;

    if (!worker->is_live)
        spawn(order->worker);
    if (!worker->is_live || worker->is_told)
        return;
    key = mask();
    worker->order = *order;
    worker->is_told = true;
    note_wake(worker, LAW_LINES);
    law_unmask(key);
    dz_task_wake(&frames[order->worker].task);
}

/* ---- Steps. */

static void say_order(const struct law_order *order)
{
    static const char *const verbs[] = {"nothing", "outside tasks:", "a pass",
        "come to rest", "begins", "stops, and begins", "stops", "ends",
        "walks away, or begins"};
    static const char *const shapes[] = {
        "", "select of ", "nested selects of ", "join of "};
    unsigned count = order->verb == LAW_ACT ? 1 : branches_of[order->shape];

    if (order->verb >= LAW_BEGIN)
        law_say("worker %u ", order->worker);
    law_say("%s", verbs[order->verb]);
    if (order->verb != LAW_ACT && order->verb != LAW_BEGIN &&
        order->verb != LAW_INSTEAD && order->verb != LAW_WALK)
        return;
    law_say("%s %s", order->variables == 0 ? "" : ", with other variables,",
        order->verb == LAW_ACT ? "" : shapes[order->shape]);
    for (unsigned i = 0; i < count; i++) {
        law_say("%s", i == 0 ? "" : ", ");
        say_operation(&law_now->operations[order->choices[i].operation],
            order->choices[i].argument);
    }
}

static void say_move(unsigned number, const struct law_move *move)
{
    law_say("%4u  ", number);
    say_order(&move->order);
    if (move->strikes_at > 0) {
        law_say("; at switching-on %u an interrupt: ", move->strikes_at);
        say_order(&move->interrupt);
    }
    law_say("\n");
}

/* All that is promised is collected once nothing is ready any more. A single
 * slot does not come to rest; in so many passes everybody has had a turn. */
static void come_to_rest(void)
{
    unsigned limit = law_has_queues() ? 1000 : 4 * LAW_WORKERS;
    unsigned passes = 0;

    while (passes++ < limit && dz_executor_is_ready(&executor))
        pass();
    if (law_has_queues() && passes > limit)
        law_broken("all come to rest", __FILE__, __LINE__);
    for (unsigned i = 0; i < CALLS; i++) {
        struct law_call *call = call_number(i);

        if (call->state == GRANTED && !is_walked(call))
            law_broken("at rest nobody has a promise", __FILE__, __LINE__);
        if (call->state == WAITING && !law_has_queues() && could_go_on(call))
            law_broken("at rest nobody could go on", __FILE__, __LINE__);
    }
}

/* What has come to rest costs nothing. */
static void idle(void)
{
    long polls;

    come_to_rest();
    compare();
    polls = law_told->polls;
    for (unsigned i = 0; i < 1000 && law_has_queues(); i++)
        pass();
    if (law_has_queues() && law_told->polls != polls)
        law_broken("idle rounds poll nobody", __FILE__, __LINE__);
}

static void carry_out(const struct law_order *order, unsigned who)
{
    switch ((enum law_verb)order->verb) {
    case LAW_NOTHING:
        break;
    case LAW_ACT:
        act(&order->choices[0], who);
        break;
    case LAW_PASS:
        pass();
        break;
    case LAW_REST:
        come_to_rest();
        break;
    case LAW_BEGIN:
    case LAW_INSTEAD:
    case LAW_STOP:
    case LAW_END:
    case LAW_WALK:
    default:
        tell(order);
        break;
    }
}

void law_strike(void)
{
    law_told->interrupts++;
    digest(LAW_INTERRUPT);
    carry_out(&interrupt, LAW_INTERRUPT);
}

/* An interrupt whose time does not come is dropped with its step, so that each
 * step stands for itself. */
static void make_move(const struct law_move *move)
{
    interrupt = move->interrupt;
    law_strike_at(move->strikes_at);
    carry_out(&move->order, LAW_OUTSIDE);
    law_strike_at(0);
    compare();
}

/* Tasks of the last episode are forgotten where they stand: the queues that
 * they stood in are, too. */
static void reset(void)
{
    memset(lines, 0, sizeof(lines));
    memset(workers, 0, sizeof(workers));
    memset(frames, 0, sizeof(frames));
    is_between_polls = false;
    turning = NULL;
    dz_executor_init(&executor, "law");
    for (unsigned i = 0; i < LAW_WORKERS; i++)
        pools[i] = (struct dz_pool){
            .poll = worker_poll,
            .name = "worker",
            .file = __FILE__,
            .line = __LINE__,
            .slots = &frames[i],
            .size = sizeof(frames[i]),
            .count = 1,
        };
    law_now->reset(law_object);
}

void law_run_episode(const struct law_episode *episode)
{
    reset();
    for (unsigned i = 0; i < episode->count; i++) {
        say_move(i + 1, &episode->moves[i]);
        make_move(&episode->moves[i]);
    }
    idle();
}
