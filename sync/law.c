/* SPDX-License-Identifier: MIT */
/* For MAP_ANONYMOUS, which is beyond the base of POSIX.1-2008. */
#define _DEFAULT_SOURCE

#include "sync/law.h"

#include <stdio.h>
#include <sys/mman.h>

#include "executor/join.h"
#include "executor/select.h"
#include "sim/test_random.h"

enum {
    IRQ = 5,
    STEPS = 100000,
    EPISODE = 200, /* steps */
    BRANCHES = 3,
    CALLS = LAW_WORKERS * BRANCHES,
    PATIENCE = 20,     /* s for an episode, */
    LESS_PATIENCE = 3, /* and for one while the shortest is looked for */
    EXIT_LAW = 20,     /* a law was broken, and said so */
};

/* ---- An episode is data: who does what, and what strikes meanwhile. */

enum verb {
    NOTHING,
    ACT,     /* an operation, right here */
    PASS,    /* a pass of the executor */
    REST,    /* passes until nothing is ready */
    BEGIN,   /* a worker: operations; if it is busy: a poll in vain */
    INSTEAD, /* a worker: stops what it does, and begins operations */
    STOP,    /* a worker: dz_cancel() */
    END,     /* a worker: its task ends, in the middle of what it does */
};

enum shape {
    SINGLE, /* a */
    SELECT, /* dz_select2(a, b) */
    NESTED, /* dz_select2(dz_select2(a, b), c) */
    JOIN,   /* dz_join2(a, b) */
    SHAPES,
};

static const unsigned branches_of[SHAPES] = {1, 2, 3, 2};

struct choice {
    uint8_t operation;
    uint16_t argument;
};

struct order {
    uint8_t verb;
    uint8_t worker;
    uint8_t shape;
    struct choice choices[BRANCHES];
};

struct move {
    struct order order;
    struct order interrupt; /* strikes at the k-th look for one; 0: never */
    uint8_t strikes_at;
};

struct episode {
    struct move moves[EPISODE];
    unsigned count;
};

/* What a child tells its parent, in shared memory. */
static struct {
    long episode; /* that runs */
    long interrupts;
    long polls;
    long grants;
    long passed_on; /* grants whose wait was cancelled */
    long completed[UINT8_MAX];
    long waited[UINT8_MAX];
} * told;

static const struct law *law;
static const struct dz_object *object; /* the configuration */
static bool is_loud;                   /* tells what happens */

#define say(...) ((void)(is_loud && fprintf(stderr, __VA_ARGS__)))

/* ---- Who waits, and who has a promise. */

enum state {
    IDLE,
    WAITING,
    GRANTED,
};

struct worker {
    struct law_call calls[BRANCHES];
    struct order order; /* what it was told */
    enum shape shape;   /* of what it does */
    bool is_told;
    bool is_busy;
    bool is_live;
    bool is_due;        /* it was woken */
    bool is_in_transit; /* and taken out of the run queue, not polled yet */
};

struct frame {
    struct dz_task task;
    struct dz_select2 select;
    struct dz_select2 inner;
    struct dz_join2 join;
};

/* Its heads wait for the end of a cancellation, which may let them go on: see
 * withdraw. */
struct line {
    struct law_call *calls[CALLS];
    unsigned count;
    bool is_held;
};

static struct line lines[LAW_LINES];
static struct worker workers[LAW_WORKERS];
static struct frame frames[LAW_WORKERS];
static struct dz_pool pools[LAW_WORKERS]; /* of one slot each */
static struct dz_executor executor;
static unsigned countdown; /* looks for an interrupt until it strikes */
static struct order interrupt;
static bool is_between_polls;      /* in a pass, but in no worker */
static struct law_call *cancelled; /* what is being cancelled, or NULL */

void law_broken(const char *what, const char *file, int line)
{
    say("\n%s law (%s:%d): %s\n", law->name, file, line, what);
    _exit(EXIT_LAW);
}

static void say_who(unsigned who)
{
    if (who == LAW_OUTSIDE)
        say("        ");
    else if (who == LAW_INTERRUPT)
        say("        interrupt: ");
    else
        say("        worker %u: ", who);
}

static void say_operation(
    const struct law_operation *operation, unsigned argument)
{
    say("%s", operation->name);
    if (operation->arguments > 0)
        say("(%u)", argument);
}

static void say_event(const struct law_call *call, const char *event)
{
    say_who(call->who);
    say_operation(call->operation, call->argument);
    say(" %s\n", event);
}

bool law_has_queues(void)
{
    return object->policy == DZ_QUEUE;
}

unsigned law_waiting(unsigned line)
{
    return lines[line].count;
}

static struct line *line_of(const struct law_call *call)
{
    return &lines[call->operation->line];
}

static bool is_blocked_by_head(const struct line *line)
{
    return (law->who_can >> (line - lines) & 1) == 0;
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

static bool could_go_on(struct law_call *call)
{
    if (!reserve(call))
        return false;
    give_back(call);
    return true;
}

static bool is_queued(unsigned i)
{
    return frames[i].task.next != &frames[i].task;
}

static void grant(struct law_call *call)
{
    leave_line(call);
    call->state = GRANTED;
    told->grants++;
    say_event(call, "is granted");
    call->giver = cancelled;
    call->given_in = told->polls;
    workers[call->who].is_due = true;
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

/* With what is reserved. False: not done, and in front of its line. */
static bool perform(struct law_call *call)
{
    const struct law_operation *operation = call->operation;

    while (operation->perform != NULL && !operation->perform(call)) {
        if (!reserve(call)) {
            insert(call, 0);
            return false;
        }
    }
    call->state = IDLE;
    return true;
}

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
        told->waited[call->operation - law->operations]++;
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

static bool is_in_lock_step(void)
{
    return object->mutex == DZ_CRITICAL_SECTION || dz_port_is_thread_mode();
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

static void compare_wakes(unsigned i)
{
    const struct worker *worker = &workers[i];

    if (!worker->is_live)
        return;
    if (is_queued(i) && !worker->is_due) {
        say("worker %u was woken without a grant\n", i);
        law_broken("a wake-up is a grant", __FILE__, __LINE__);
    }
    if ((!is_queued(i) && worker->is_due) ||
        (worker->is_in_transit && dz_port_is_thread_mode())) {
        say("worker %u was not woken\n", i);
        law_broken("a grant is a wake-up", __FILE__, __LINE__);
    }
}

static void compare(void)
{
    for (unsigned i = 0; i < LAW_WORKERS && law_has_queues(); i++)
        compare_wakes(i);
    law->compare();
}

static bool has_held_lines(void)
{
    for (unsigned i = 0; i < LAW_LINES; i++) {
        if (lines[i].is_held)
            return true;
    }
    return false;
}

static void mask(void)
{
    dz_port_core.masked = 1;
    if (is_between_polls && !dz_port_is_thread_mode())
        note_transit();
}

/* What is pending stays so: it comes at the next look. */
static void unmask(void)
{
    dz_port_core.masked = 0;
}

/* Between the model's step and the real one nothing may come: what strikes
 * does so at the first look for an interrupt in the real one, or later. */
static void model_begin(void)
{
    mask();
    if (!has_held_lines() && is_in_lock_step())
        compare();
}

static void look_for_interrupts(void)
{
    if (countdown > 0)
        dz_port_core.deferred = 1;
}

/* The linker puts this in the place of the function by which a core looks for
 * interrupts, so that one strikes at a chosen look. */
void __real_dz_core_run_pending(struct dz_core *core);
void __wrap_dz_core_run_pending(struct dz_core *core);

void __wrap_dz_core_run_pending(struct dz_core *core)
{
    if (countdown > 0 && !has_held_lines() && --countdown == 0)
        dz_nvic_pend(&test_core.nvic, IRQ);
    __real_dz_core_run_pending(core);
    look_for_interrupts();
}

static void compare_results(
    const struct law_call *call, bool expected, bool is_done)
{
    say_event(call, is_done ? "is done" : "is not done");
    if (is_done != expected)
        law_broken(expected ? "it could be done" : "it could not be done",
            __FILE__, __LINE__);
    told->completed[call->operation - law->operations] += is_done;
    if (is_done &&
        memcmp(call->got, call->expected, sizeof(call->expected)) != 0) {
        say("expected %u %u %u..., got %u %u %u...\n", call->expected[0],
            call->expected[1], call->expected[2], call->got[0], call->got[1],
            call->got[2]);
        law_broken("the results are equal", __FILE__, __LINE__);
    }
}

static bool may(const struct law_call *call)
{
    return call->operation->may == NULL || call->operation->may(call);
}

static enum dz_poll call_poll(struct law_call *call)
{
    bool expected;
    bool is_done;

    model_begin();
    if (call->state == IDLE && !may(call)) {
        unmask();
        return DZ_READY;
    }
    call->waiter = dz_current;
    expected = model_call(call);
    unmask();
    is_done = call->operation->real(call);
    compare_results(call, expected, is_done);
    return is_done || call->operation->kind != LAW_WAITS ? DZ_READY
                                                         : DZ_PENDING;
}

static void begin_call(
    struct law_call *call, const struct choice *choice, unsigned who)
{
    *call = (struct law_call){
        .operation = &law->operations[choice->operation],
        .argument = choice->argument,
        .who = who,
    };
}

/* Right here, in whatever context. */
static void act(const struct choice *choice, unsigned who)
{
    struct law_call call;

    begin_call(&call, choice, who);
    if (call.operation->kind != LAW_WAITS && is_in_lock_step())
        walk_away_from(call_poll(&call));
}

/* ---- Cancellation: the model leaves when a select or the end of a task does.
 */

static struct law_call *call_of(const struct dz_waiter *waiter)
{
    for (unsigned i = 0; i < CALLS; i++) {
        struct law_call *call = &workers[i / BRANCHES].calls[i % BRANCHES];

        if (call->state != IDLE && call->waiter == waiter)
            return call;
    }
    return NULL;
}

static unsigned branch_of(const struct law_call *call)
{
    return (unsigned)(call - workers[call->who].calls);
}

/* What a branch gives up does not go to another one that is cancelled with it.
 * (That an inner select is over before the outer one is another matter.) */
static void check_giver(const struct law_call *call)
{
    const struct law_call *giver = call->giver;

    if (giver == NULL || giver->who != call->who ||
        call->given_in != told->polls ||
        (workers[call->who].shape == NESTED && branch_of(call) == 2))
        return;
    law_broken("a grant is passed on to a branch that is cancelled, too",
        __FILE__, __LINE__);
}

static void model_cancel(struct law_call *call)
{
    say_event(call, "is cancelled");
    leave_line(call);
    line_of(call)->is_held = false;
    cancelled = call;
    if (call->state == GRANTED) {
        check_giver(call);
        told->passed_on++;
        give_back(call);
    }
    call->state = IDLE;
    serve();
    cancelled = NULL;
}

void __real_dz_waiter_cancel(struct dz_waiter *waiter);
void __wrap_dz_waiter_cancel(struct dz_waiter *waiter);

void __wrap_dz_waiter_cancel(struct dz_waiter *waiter)
{
    struct law_call *call = call_of(waiter);
    bool was_between_polls = is_between_polls;

    if (call == NULL || dz_port_core.masked != 0) {
        __real_dz_waiter_cancel(waiter);
        return;
    }
    model_begin();
    model_cancel(call);
    is_between_polls = false;
    unmask();
    __real_dz_waiter_cancel(waiter);
    is_between_polls = was_between_polls;
}

/* The first step of a select's two. Who stood behind the waiter may now be able
 * to go on, but is not served before the second, and is no concern of others
 * until then: meanwhile nothing strikes. */
void __real_dz_waiter_withdraw(struct dz_waiter *waiter);
void __wrap_dz_waiter_withdraw(struct dz_waiter *waiter);

void __wrap_dz_waiter_withdraw(struct dz_waiter *waiter)
{
    struct law_call *call = call_of(waiter);
    struct line *line;

    if (call == NULL || call->state != WAITING || !law_has_queues()) {
        __real_dz_waiter_withdraw(waiter);
        return;
    }
    line = line_of(call);
    model_begin();
    leave_line(call);
    if (line->count > 0 && could_go_on(line->calls[0]))
        line->is_held = true;
    unmask();
    __real_dz_waiter_withdraw(waiter);
}

/* ---- Workers. They are told what to do, and woken. */

static enum dz_poll shape_poll(
    struct frame *frame, struct law_call *calls, enum shape shape)
{
    switch (shape) {
    case SELECT:
        return dz_select2(
            &frame->select, call_poll(&calls[0]), call_poll(&calls[1]));
    case NESTED:
        return dz_select2(&frame->select,
            dz_select2(
                &frame->inner, call_poll(&calls[0]), call_poll(&calls[1])),
            call_poll(&calls[2]));
    case JOIN:
        return dz_join2(
            &frame->join, call_poll(&calls[0]), call_poll(&calls[1]));
    case SINGLE:
    case SHAPES:
    default:
        return call_poll(&calls[0]);
    }
}

static bool take_order(struct worker *worker, struct order *order)
{
    dz_key key = dz_port_mask();
    bool is_told = worker->is_told;

    *order = worker->order;
    worker->is_told = false;
    dz_port_unmask(key);
    return is_told;
}

static void obey(struct worker *worker, const struct order *order)
{
    unsigned i = (unsigned)(worker - workers);

    if (worker->is_busy && order->verb == BEGIN)
        return;
    if (worker->is_busy)
        dz_cancel();
    worker->is_busy = order->verb == BEGIN || order->verb == INSTEAD;
    worker->shape = (enum shape)order->shape;
    for (unsigned k = 0; k < BRANCHES && worker->is_busy; k++)
        begin_call(&worker->calls[k], &order->choices[k], i);
}

static enum dz_poll work(struct frame *frame, struct worker *worker)
{
    struct order order;

    if (take_order(worker, &order)) {
        worker->is_live = order.verb != END;
        if (!worker->is_live)
            return DZ_READY;
        obey(worker, &order);
    }
    if (worker->is_busy)
        worker->is_busy =
            shape_poll(frame, worker->calls, worker->shape) == DZ_PENDING;
    return DZ_PENDING;
}

static enum dz_poll worker_poll(struct dz_task *task)
{
    struct frame *frame = container_of(task, struct frame, task);
    struct worker *worker = &workers[frame - frames];
    enum dz_poll result;

    told->polls++;
    mask();
    is_between_polls = false;
    worker->is_due = worker->is_in_transit && worker->is_due;
    worker->is_in_transit = false;
    unmask();
    result = work(frame, worker);
    is_between_polls = true;
    return result;
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
    if (dz_pool_claim(&pools[i]) == NULL)
        return;
    mask();
    workers[i].is_live = true;
    workers[i].is_busy = false;
    workers[i].is_due = true;
    workers[i].is_in_transit = false;
    unmask();
    dz_executor_spawn(&executor, &frames[i].task);
}

static void tell(const struct order *order)
{
    struct worker *worker = &workers[order->worker];

    if (!worker->is_live)
        spawn(order->worker);
    if (!worker->is_live || worker->is_told)
        return;
    mask();
    worker->order = *order;
    worker->is_told = true;
    worker->is_due = true;
    unmask();
    dz_task_wake(&frames[order->worker].task);
}

/* ---- Steps. */

static void say_order(const struct order *order)
{
    static const char *const verbs[] = {"nothing", "outside tasks:", "a pass",
        "come to rest", "begins", "stops, and begins", "stops", "ends"};
    static const char *const shapes[] = {
        "", "select of ", "nested selects of ", "join of "};
    unsigned count = order->verb == ACT ? 1 : branches_of[order->shape];

    if (order->verb >= BEGIN)
        say("worker %u ", order->worker);
    say("%s", verbs[order->verb]);
    if (order->verb != ACT && order->verb != BEGIN && order->verb != INSTEAD)
        return;
    say(" %s", order->verb == ACT ? "" : shapes[order->shape]);
    for (unsigned i = 0; i < count; i++) {
        say("%s", i == 0 ? "" : ", ");
        say_operation(&law->operations[order->choices[i].operation],
            order->choices[i].argument);
    }
}

static void say_move(unsigned number, const struct move *move)
{
    say("%4u  ", number);
    say_order(&move->order);
    if (move->strikes_at > 0) {
        say("; at switching-on %u an interrupt: ", move->strikes_at);
        say_order(&move->interrupt);
    }
    say("\n");
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
        struct law_call *call = &workers[i / BRANCHES].calls[i % BRANCHES];

        if (call->state == GRANTED)
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
    polls = told->polls;
    for (unsigned i = 0; i < 1000 && law_has_queues(); i++)
        pass();
    if (law_has_queues() && told->polls != polls)
        law_broken("idle rounds poll nobody", __FILE__, __LINE__);
}

static void carry_out(const struct order *order, unsigned who)
{
    switch ((enum verb)order->verb) {
    case NOTHING:
        break;
    case ACT:
        act(&order->choices[0], who);
        break;
    case PASS:
        pass();
        break;
    case REST:
        come_to_rest();
        break;
    case BEGIN:
    case INSTEAD:
    case STOP:
    case END:
    default:
        tell(order);
        break;
    }
}

static void strike(void *argument)
{
    (void)argument;
    told->interrupts++;
    carry_out(&interrupt, LAW_INTERRUPT);
}

static void make_move(const struct move *move)
{
    interrupt = move->interrupt;
    countdown = move->strikes_at;
    look_for_interrupts();
    carry_out(&move->order, LAW_OUTSIDE);
    countdown = 0;
    dz_port_exit(dz_port_enter());
    compare();
}

static void reset(void)
{
    memset(lines, 0, sizeof(lines));
    memset(workers, 0, sizeof(workers));
    memset(frames, 0, sizeof(frames));
    is_between_polls = false;
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
    law->reset(object);
}

static void run_episode(const struct episode *episode)
{
    reset();
    for (unsigned i = 0; i < episode->count; i++) {
        say_move(i + 1, &episode->moves[i]);
        make_move(&episode->moves[i]);
    }
    idle();
}

/* ---- Episodes from a seed. */

/* Those that never wait alone, if `kind` is not LAW_WAITS. */
static unsigned weight_of(unsigned operation, enum law_kind kind)
{
    if (kind != LAW_WAITS && law->operations[operation].kind == LAW_WAITS)
        return 0;
    return law->operations[operation].weight;
}

static struct choice choose(enum law_kind kind)
{
    unsigned total = 0;
    unsigned point;
    unsigned i = 0;

    for (unsigned k = 0; k < law->operation_count; k++)
        total += weight_of(k, kind);
    if (total == 0)
        return (struct choice){0};
    for (point = dice(total); point >= weight_of(i, kind); i++)
        point -= weight_of(i, kind);
    return (struct choice){(uint8_t)i,
        (uint16_t)dice(law->operations[i].arguments > 0
                ? law->operations[i].arguments
                : 1)};
}

/* Of those that every context can carry out. */
static struct order choose_order(unsigned odds_to_act)
{
    static const uint8_t verbs[] = {
        BEGIN, BEGIN, BEGIN, BEGIN, BEGIN, BEGIN, INSTEAD, STOP, STOP, END};
    static const uint8_t shapes[] = {
        SINGLE, SINGLE, SINGLE, SINGLE, SELECT, SELECT, NESTED, JOIN};
    struct order order = {.worker = (uint8_t)dice(LAW_WORKERS)};

    if (dice(100) < odds_to_act) {
        order.verb = ACT;
        order.choices[0] = choose(LAW_ACTS);
        return order;
    }
    order.verb = verbs[dice(sizeof(verbs))];
    order.shape = shapes[dice(sizeof(shapes))];
    for (unsigned i = 0; i < BRANCHES; i++)
        order.choices[i] = choose(LAW_WAITS);
    return order;
}

static struct move choose_move(void)
{
    struct move move = {.order = choose_order(30)};
    unsigned kind = dice(100);

    if (kind < 35)
        move.order = (struct order){.verb = PASS};
    else if (kind < 37)
        move.order = (struct order){.verb = REST};
    if (dice(2) == 0) {
        move.interrupt = choose_order(60);
        move.strikes_at = (uint8_t)(1 + dice(dice(20) + 1));
    }
    return move;
}

static struct episode choose_episode(long number)
{
    struct episode episode = {.count = EPISODE};

    random_state =
        (seed << 32 ^ (uint64_t)number) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (unsigned i = 0; i < EPISODE; i++)
        episode.moves[i] = choose_move();
    return episode;
}

/* The configurations by turns. */
static void choose_type(long number)
{
    object = law->types[(unsigned long)number % law->type_count];
}

/* ---- Children, in which a law is broken or the worst happens. */

static void become_core(void)
{
    dz_machine_start(&(struct dz_machine){
        .time = DZ_TIME_VIRTUAL, .costs = DZ_COSTS_DEFAULT});
    dz_core_enter(&test_core);
    dz_core_bind(&test_core, IRQ, strike, NULL);
}

static long first_episode;
static long last_episode;

static void run_episodes(void)
{
    for (long i = first_episode; i <= last_episode; i++) {
        struct episode episode = choose_episode(i);

        told->episode = i;
        alarm(PATIENCE);
        choose_type(i);
        run_episode(&episode);
    }
}

static struct episode candidate;

static void run_candidate(void)
{
    alarm(LESS_PATIENCE);
    run_episode(&candidate);
}

/* What a panic says is heard once, when it is told. */
static bool fails_in_child(void (*body)(void))
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        test_leaks = true;
        if (!is_loud && freopen("/dev/null", "w", stderr) == NULL)
            _exit(EXIT_LAW);
        become_core();
        body();
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child)
        return true;
    if (is_loud && WIFSIGNALED(status))
        say("\n%s law: signal %d\n", law->name, WTERMSIG(status));
    return status != 0;
}

static bool still_fails(const struct episode *shorter)
{
    candidate = *shorter;
    return fails_in_child(run_candidate);
}

/* ---- The shortest episode that fails. */

static struct episode without(
    const struct episode *episode, unsigned first, unsigned count)
{
    struct episode shorter = {.count = episode->count - count};

    for (unsigned i = 0; i < shorter.count; i++)
        shorter.moves[i] = episode->moves[i < first ? i : i + count];
    return shorter;
}

/* True: something could go. */
static bool drop_moves(struct episode *episode, unsigned count)
{
    bool is_shorter = false;

    for (unsigned i = 0; i + count <= episode->count;) {
        struct episode shorter = without(episode, i, count);

        if (!still_fails(&shorter)) {
            i += count;
            continue;
        }
        *episode = shorter;
        is_shorter = true;
    }
    return is_shorter;
}

/* True: the step does as well in its simpler form. */
static bool replace(
    struct episode *episode, unsigned at, const struct move *simpler)
{
    struct episode other = *episode;

    if (memcmp(&other.moves[at], simpler, sizeof(*simpler)) == 0)
        return false;
    other.moves[at] = *simpler;
    if (!still_fails(&other))
        return false;
    *episode = other;
    return true;
}

/* Ways in which an order is simpler. */
enum way {
    NOT_AT_ALL,
    BY_NO_TASK,
    WITHOUT_STOP,
    NO_MORE_THAN_STOP,
    NO_MORE_THAN_PASS,
    FIRST_BRANCH,
    SECOND_BRANCH,
    TWO_BRANCHES,
    LOWER_WORKER,
    ARGUMENT_ZERO,
    WAYS = ARGUMENT_ZERO + BRANCHES,
};

static struct order simpler_order(struct order order, enum way way)
{
    bool begins = order.verb == BEGIN || order.verb == INSTEAD;

    if (way == NOT_AT_ALL)
        order = (struct order){.verb = NOTHING};
    if (way == BY_NO_TASK && begins)
        order.verb = ACT;
    if (way == WITHOUT_STOP && begins)
        order.verb = BEGIN;
    if (way == NO_MORE_THAN_STOP && order.verb >= BEGIN)
        order.verb = STOP;
    if (way == NO_MORE_THAN_PASS && order.verb == REST)
        order.verb = PASS;
    if (way == SECOND_BRANCH)
        order.choices[0] = order.choices[1];
    if (way == FIRST_BRANCH || way == SECOND_BRANCH)
        order.shape = SINGLE;
    if (way == TWO_BRANCHES && order.shape == NESTED)
        order.shape = SELECT;
    if (way == LOWER_WORKER && order.worker > 0)
        order.worker--;
    if (way >= ARGUMENT_ZERO)
        order.choices[way - ARGUMENT_ZERO].argument = 0;
    return order;
}

static bool simplify_orders(struct episode *episode, unsigned at)
{
    bool is_simpler = false;

    for (unsigned way = 0; way < WAYS; way++) {
        struct move move = episode->moves[at];

        move.order = simpler_order(move.order, way);
        is_simpler |= replace(episode, at, &move);
        move = episode->moves[at];
        move.interrupt = simpler_order(move.interrupt, way);
        is_simpler |= replace(episode, at, &move);
    }
    return is_simpler;
}

/* What strikes in a move is a move of its own, before or behind it. */
static bool hoist_interrupt(struct episode *episode, unsigned at)
{
    struct episode other = *episode;
    struct move *move = &other.moves[at];

    if (move->strikes_at == 0 || other.count == EPISODE)
        return false;
    memmove(move + 1, move, (other.count++ - at) * sizeof(*move));
    move[0] = (struct move){.order = move[1].interrupt};
    move[1] = (struct move){.order = move[1].order};
    if (!still_fails(&other)) {
        struct move second = move[0];

        move[0] = move[1];
        move[1] = second;
    }
    if (!still_fails(&other))
        return false;
    *episode = other;
    return true;
}

static bool simplify_interrupt(struct episode *episode, unsigned at)
{
    struct move move = episode->moves[at];
    bool is_simpler = false;

    if (move.strikes_at == 0)
        return false;
    if (hoist_interrupt(episode, at))
        return true;
    do {
        move = episode->moves[at];
        move.strikes_at--;
    } while (replace(episode, at, &move) && (is_simpler = true) &&
        move.strikes_at > 0);
    return is_simpler;
}

static bool simplify(struct episode *episode)
{
    bool is_simpler = false;

    for (unsigned i = 0; i < episode->count; i++) {
        is_simpler |= simplify_orders(episode, i);
        is_simpler |= simplify_interrupt(episode, i);
    }
    return is_simpler;
}

/* Workers are alike: they are numbered in the order in which they appear. */
static void number_workers(struct episode *episode)
{
    uint8_t numbers[LAW_WORKERS];
    struct episode other = *episode;
    uint8_t count = 0;

    memset(numbers, LAW_WORKERS, sizeof(numbers));
    for (unsigned i = 0; i < 2 * other.count; i++) {
        struct move *move = &other.moves[i / 2];
        struct order *order = i % 2 == 0 ? &move->order : &move->interrupt;

        if (order->verb < BEGIN)
            continue;
        if (numbers[order->worker] == LAW_WORKERS)
            numbers[order->worker] = count++;
        order->worker = numbers[order->worker];
    }
    if (still_fails(&other))
        *episode = other;
}

static void shorten(struct episode *episode)
{
    bool is_simpler;

    do {
        is_simpler = false;
        for (unsigned count = episode->count / 2; count > 0; count /= 2)
            is_simpler |= drop_moves(episode, count);
        is_simpler |= simplify(episode);
    } while (is_simpler);
    number_workers(episode);
}

/* ---- The whole. */

static void tell_failure(long number)
{
    static const char *const mutexes[] = {
        "DZ_NOOP", "DZ_THREAD_MODE", "DZ_CRITICAL_SECTION"};
    struct episode episode = choose_episode(number);

    choose_type(number);
    if (still_fails(&episode))
        shorten(&episode);
    is_loud = true;
    say("The %s law is broken. %s (%s, %s), %u steps:\n", law->name,
        object->name, mutexes[object->mutex],
        law_has_queues() ? "DZ_QUEUE" : "DZ_SINGLE_SLOT", episode.count);
    if (!still_fails(&episode))
        say("alone it is not: it takes the episodes before it.\n");
    say("Again: DOZE_SEED=%llu DOZE_EPISODE=%ld sync_%s_law_test\n",
        (unsigned long long)seed, number, law->name);
    is_loud = false;
}

/* Whether the test reached what it is about. */
static bool is_thorough(void)
{
    bool is_enough = true;

    for (unsigned i = 0; i < law->operation_count; i++) {
        const struct law_operation *operation = &law->operations[i];

        print_message("    %-20s completed %7ld, waited %7ld\n",
            operation->name, told->completed[i], told->waited[i]);
        if (told->completed[i] == 0 ||
            (operation->kind == LAW_WAITS && told->waited[i] == 0))
            is_enough = false;
    }
    return is_enough;
}

static void choose_episodes(void)
{
    long count = random_steps(STEPS) / EPISODE + 1;

    last_episode = count * (long)law->type_count - 1;
    if (getenv("DOZE_EPISODE") != NULL) {
        first_episode = (long)number_from("DOZE_EPISODE", 0);
        last_episode = first_episode;
    }
}

int law_run(const struct law *chosen)
{
    law = chosen;
    told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED)
        return 1;
    random_begin();
    choose_episodes();
    if (fails_in_child(run_episodes)) {
        tell_failure(told->episode);
        return 1;
    }
    print_message("%s law: %ld episodes, %ld interrupts, %ld polls, %ld "
                  "grants, %ld passed on\n",
        law->name, last_episode - first_episode + 1, told->interrupts,
        told->polls, told->grants, told->passed_on);
    if (!is_thorough() && last_episode - first_episode >= 100) {
        print_message("%s law: an operation never came to its end, or never "
                      "waited\n",
            law->name);
        return 1;
    }
    return 0;
}
