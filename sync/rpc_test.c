/* SPDX-License-Identifier: MIT */
#include "sync/rpc.h"

#include "executor/select.h"
#include "sim/test.h"
#include "sync/signal.h"

enum { TASKS = 4 };

#define FOR_EACH_KIND(X)                           \
    X(noop, DZ_NOOP, DZ_QUEUE)                     \
    X(thread, DZ_THREAD_MODE, DZ_QUEUE)            \
    X(critical, DZ_CRITICAL_SECTION, DZ_QUEUE)     \
    X(noop_slot, DZ_NOOP, DZ_SINGLE_SLOT)          \
    X(thread_slot, DZ_THREAD_MODE, DZ_SINGLE_SLOT) \
    X(critical_slot, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT)

#define DEFINE(name, mutex, policy)                     \
    DZ_RPC_DEFINE_POLICY(name, int, int, mutex, policy) \
    static struct name name;

FOR_EACH_KIND(DEFINE)

/* A service of which the tests know no more than what they look up here. */
struct kind {
    void *service;
    size_t size;
    const struct dz_rpc_type *type;
};

#define ENTRY(name, mutex, policy) {&name, sizeof(name), &name##_type},

static const struct kind kinds[] = {FOR_EACH_KIND(ENTRY)};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), QUEUES = 3, CRITICAL = 2 };

static const struct kind *kind;
static struct dz_executor executor;

static struct dz_rpc *service(void)
{
    return dz_rpc_of(kind->service);
}

static bool try_post(int request)
{
    return dz_rpc_try_post(service(), kind->type, &request);
}

static void reply(int response)
{
    dz_rpc_reply(service(), kind->type, &response);
}

static void put_back(void)
{
    dz_rpc_put_back(service(), kind->type);
}

/* -1: no job. */
static int try_receive(void)
{
    int request;

    return dz_rpc_try_receive(service(), kind->type, &request) ? request : -1;
}

/* A task that calls, again and again, or receives once. */
struct worker {
    struct dz_task task;
    int request;
    int response;
    int count; /* of calls to be made */
    int done;  /* so far */
    int polls;
    bool is_cancelled;
};

static enum dz_poll call(struct worker *self)
{
    if (self->is_cancelled)
        return DZ_READY;
    self->polls++;
    strike_behind_wait();
    return dz_rpc_call(service(), kind->type, &self->request, &self->response);
}

static enum dz_poll caller_poll(struct worker *self)
{
    async (self) {
        for (; self->done < self->count; self->done++)
            await(call(self));
    }
    return DZ_READY;
}

static enum dz_poll receive(struct worker *self)
{
    self->polls++;
    strike_behind_wait();
    return dz_rpc_receive(service(), kind->type, &self->request);
}

static enum dz_poll receiver_poll(struct worker *self)
{
    async (self) {
        await(receive(self));
        self->done++;
    }
    return DZ_READY;
}

DZ_TASK_POOL(callers, struct worker, caller_poll, TASKS)
DZ_TASK_POOL(receivers, struct worker, receiver_poll, TASKS)

static void begin(const struct kind *chosen)
{
    kind = chosen;
    memset(kind->service, 0, kind->size);
    memset(callers_slots, 0, sizeof(callers_slots));
    memset(receivers_slots, 0, sizeof(receivers_slots));
    dz_executor_init(&executor, "test");
}

static void run_to_rest(void)
{
    int passes = 0;

    while (dz_executor_is_ready(&executor)) {
        dz_executor_poll(&executor);
        assert_true(++passes < 1000);
    }
}

static struct worker *start(const struct dz_pool *pool, int request)
{
    struct worker *worker = dz_pool_claim(pool);

    assert_non_null(worker);
    worker->request = request;
    worker->count = 1;
    dz_executor_spawn(&executor, &worker->task);
    return worker;
}

static struct worker *spawn(const struct dz_pool *pool, int request)
{
    struct worker *worker = start(pool, request);

    run_to_rest();
    return worker;
}

static void cancel(struct worker *worker)
{
    worker->is_cancelled = true;
    dz_waiter_cancel(&worker->task.waiter);
}

#define FOR_ALL_KINDS for (unsigned each = 0; each < KINDS; each++)
#define FOR_ALL_QUEUES for (unsigned each = 0; each < QUEUES; each++)

/* Section 3: basic. */
static void a_caller_gets_the_response_to_its_request(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *caller;

        begin(&kinds[each]);
        caller = spawn(&callers, 20);
        assert_int_equal(caller->done, 0);
        assert_int_equal(try_receive(), 20);
        assert_int_equal(try_receive(), -1);
        reply(21);
        run_to_rest();
        assert_int_equal(caller->done, 1);
        assert_int_equal(caller->response, 21);
        assert_int_equal(caller->polls, 2);
    }
}

static void a_waiting_service_is_woken_by_a_call(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *receiver;

        begin(&kinds[each]);
        receiver = spawn(&receivers, 0);
        (void)spawn(&callers, 4);
        assert_int_equal(receiver->done, 1);
        assert_int_equal(receiver->request, 4);
        assert_int_equal(receiver->polls, 2);
    }
}

static void callers_are_served_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *caller[3];

        begin(&kinds[each]);
        for (int i = 0; i < 3; i++)
            caller[i] = spawn(&callers, i);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(try_receive(), i);
            reply(10 + i);
            run_to_rest();
            assert_int_equal(caller[i]->response, 10 + i);
            assert_int_equal(caller[i]->polls, i == 0 ? 2 : 3);
        }
    }
}

/* X1: two blocked callers wake each other for ever. */
static void blocked_callers_and_services_cost_no_polls(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        begin(&kinds[each]);
        for (int i = 0; i < 3; i++)
            (void)spawn(&callers, i);
        assert_int_equal(try_receive(), 0);
        for (int i = 0; i < 3; i++)
            (void)spawn(&receivers, 0);
        for (int i = 0; i < 1000; i++) {
            assert_false(dz_executor_is_ready(&executor));
            dz_executor_poll(&executor);
        }
        for (int i = 0; i < 3; i++) {
            assert_int_equal(callers_slots[i].polls, 1);
            assert_int_equal(receivers_slots[i].polls, 1);
        }
    }
}

/* X1, and the same for services. */
static void idle_waiters_are_polled_only_under_the_single_slot_policy(
    void **state)
{
    const struct dz_pool *const pools[] = {&callers, &receivers};

    (void)state;
    FOR_ALL_KINDS
    {
        for (int i = 0; i < 2; i++) {
            struct worker *worker[2];

            begin(&kinds[each]);
            assert_true(try_post(9));
            assert_int_equal(try_receive(), 9);
            worker[0] = spawn(pools[i], 0);
            worker[1] = start(pools[i], 0);
            for (int round = 0; round < 1000; round++)
                dz_executor_poll(&executor);
            if (kind->type->object.policy == DZ_QUEUE)
                assert_int_equal(worker[0]->polls + worker[1]->polls, 2);
            else
                assert_true(worker[0]->polls + worker[1]->polls > 1000);
        }
    }
}

/* What the other policy is there to show. */
static void under_the_single_slot_policy_another_may_be_faster(void **state)
{
    (void)state;
    for (unsigned each = QUEUES; each < KINDS; each++) {
        struct worker *caller;

        begin(&kinds[each]);
        assert_true(try_post(9));
        assert_int_equal(try_receive(), 9);
        caller = spawn(&callers, 1);
        reply(0);
        assert_true(try_post(8));
        run_to_rest();
        assert_int_equal(try_receive(), 8);
        reply(0);
        run_to_rest();
        assert_int_equal(try_receive(), 1);
        reply(2);
        run_to_rest();
        assert_int_equal(caller->response, 2);
    }
}

/* W3: a caller that calls again at once goes to the end of the line. */
static void who_calls_in_a_loop_starves_nobody(void **state)
{
    struct worker *greedy;
    struct worker *caller;

    (void)state;
    begin(&kinds[CRITICAL]);
    greedy = spawn(&callers, 1);
    greedy->count = 3;
    caller = spawn(&callers, 2);
    assert_int_equal(try_receive(), 1);
    reply(0);
    assert_false(try_post(9));
    run_to_rest();
    assert_false(try_post(9));
    assert_int_equal(try_receive(), 2);
    reply(0);
    run_to_rest();
    assert_int_equal(caller->done, 1);
    assert_int_equal(greedy->done, 1);
    assert_int_equal(try_receive(), 1);
}

/* Section 3: cancel_before_acquire_then_next_call. */
static void a_call_that_is_cancelled_in_line_is_never_served(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *caller[3];

        begin(&kinds[each]);
        for (int i = 0; i < 3; i++)
            caller[i] = spawn(&callers, i);
        cancel(caller[1]);
        assert_int_equal(try_receive(), 0);
        reply(0);
        run_to_rest();
        assert_int_equal(try_receive(), 2);
        reply(5);
        run_to_rest();
        assert_int_equal(caller[2]->response, 5);
        assert_true(try_post(1));
    }
}

/* W4: the right to hand in is promised, and its caller is cancelled. */
static void a_call_that_is_cancelled_when_it_is_its_turn_passes_it_on(
    void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *caller[2];

        begin(&kinds[each]);
        assert_true(try_post(7));
        for (int i = 0; i < 2; i++)
            caller[i] = spawn(&callers, i);
        assert_int_equal(try_receive(), 7);
        reply(0);
        cancel(caller[0]);
        assert_int_equal(try_receive(), -1);
        assert_true(caller[1]->task.waiter.place & DZ_PLACE_GRANTED);
        cancel(caller[1]);
        assert_true(try_post(8));
    }
}

/* Section 3: cancel_after_submit_no_leak. At each point of the job. */
static void a_call_that_is_cancelled_when_handed_in_is_served_all_the_same(
    void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        for (int point = 0; point < 3; point++) {
            struct worker *first;
            struct worker *second;

            begin(&kinds[each]);
            first = spawn(&callers, 1);
            second = spawn(&callers, 2);
            if (point == 0)
                cancel(first); /* no service has it yet */
            assert_int_equal(try_receive(), 1);
            if (point == 1)
                cancel(first); /* a service is at work */
            reply(11);
            if (point == 2)
                cancel(first); /* the response is there */
            assert_true(dz_executor_is_ready(&executor));
            run_to_rest();
            assert_int_equal(first->response, 0);
            assert_int_equal(try_receive(), 2);
            reply(12);
            run_to_rest();
            assert_int_equal(second->response, 12);
            assert_true(try_post(3));
        }
    }
}

/* Between the two steps in which a caller is cancelled, others of a higher
 * priority are served, and one more hands in. That one has no response yet. */
static void what_happens_while_a_caller_is_cancelled_is_not_its_business(
    void **state)
{
    struct worker *caller[4];

    (void)state;
    for (int others = 0; others < 3; others++) {
        begin(&kinds[CRITICAL]);
        for (int i = 0; i < 4; i++)
            caller[i] = spawn(&callers, i);
        dz_waiter_withdraw(&caller[0]->task.waiter);
        for (int i = 0; i <= others; i++) {
            assert_int_equal(try_receive(), i);
            reply(0);
            run_to_rest();
        }
        cancel(caller[0]);
        assert_false(dz_executor_is_ready(&executor));
        assert_int_equal(caller[others + 1]->done, 0);
        assert_int_equal(try_receive(), others + 1);
        reply(12);
        run_to_rest();
        assert_int_equal(caller[others + 1]->response, 12);
    }
}

/* The caller of a dropped job calls anew: it is a new call, at the end. */
static void a_caller_that_was_cancelled_gets_the_response_to_its_new_call(
    void **state)
{
    struct worker *caller;

    (void)state;
    begin(&kinds[CRITICAL]);
    caller = spawn(&callers, 1);
    cancel(caller);
    caller->is_cancelled = false;
    caller->request = 2;
    dz_task_wake(&caller->task);
    run_to_rest();
    assert_int_equal(try_receive(), 1);
    reply(11);
    run_to_rest();
    assert_int_equal(caller->done, 0);
    assert_int_equal(try_receive(), 2);
    reply(12);
    run_to_rest();
    assert_int_equal(caller->response, 12);
}

/* Section 3: poll_after_completion_panics. Here as for all that is awaited. */
static void a_poll_after_the_response_is_a_new_call(void **state)
{
    struct worker *caller;

    (void)state;
    begin(&kinds[CRITICAL]);
    caller = spawn(&callers, 1);
    caller->count = 5;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(try_receive(), 1);
        reply(i);
        run_to_rest();
        assert_int_equal(caller->done, i + 1);
        assert_int_equal(caller->response, i);
    }
    assert_int_equal(try_receive(), -1);
}

/* A poll for another reason than the response does no harm. */
static void a_caller_that_is_polled_in_between_keeps_its_place(void **state)
{
    struct worker *caller;

    (void)state;
    begin(&kinds[CRITICAL]);
    caller = spawn(&callers, 1);
    for (int i = 0; i < 3; i++) {
        dz_task_wake(&caller->task);
        run_to_rest();
    }
    assert_int_equal(try_receive(), 1);
    dz_task_wake(&caller->task);
    run_to_rest();
    assert_int_equal(caller->done, 0);
    reply(2);
    run_to_rest();
    assert_int_equal(caller->done, 1);
    assert_int_equal(try_receive(), -1);
}

/* Section 3: try_call_immediate. */
static void a_post_is_served_and_waited_for_by_nobody(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *caller;

        begin(&kinds[each]);
        assert_true(try_post(1));
        assert_false(try_post(2));
        caller = spawn(&callers, 3);
        assert_int_equal(try_receive(), 1);
        assert_false(try_post(2));
        reply(11);
        run_to_rest();
        assert_int_equal(try_receive(), 3);
        assert_false(try_post(2));
        reply(13);
        assert_false(try_post(2));
        run_to_rest();
        assert_int_equal(caller->response, 13);
        assert_true(try_post(2));
    }
}

/* Section 3: restart_with_pending_job. */
static void a_service_that_comes_late_finds_the_job(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *receiver;

        begin(&kinds[each]);
        receiver = spawn(&receivers, 0);
        cancel(receiver);
        (void)spawn(&callers, 6);
        assert_int_equal(receiver->done, 0);
        receiver = spawn(&receivers, 0);
        assert_int_equal(receiver->request, 6);
    }
}

/* W4: a service that was promised the job is cancelled. */
static void a_cancelled_service_passes_the_job_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        struct worker *second;

        begin(&kinds[each]);
        first = spawn(&receivers, 0);
        second = spawn(&receivers, 0);
        assert_true(try_post(5));
        assert_int_equal(try_receive(), -1);
        cancel(first);
        assert_true(second->task.waiter.place & DZ_PLACE_GRANTED);
        cancel(second);
        assert_int_equal(try_receive(), 5);
    }
}

/* Section 3: concurrent_run_panics. Here the second one waits its turn. */
static void two_services_take_turns(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct worker *first;
        struct worker *second;

        begin(&kinds[each]);
        first = spawn(&receivers, 0);
        second = spawn(&receivers, 0);
        (void)spawn(&callers, 1);
        (void)spawn(&callers, 2);
        assert_int_equal(first->request, 1);
        assert_int_equal(second->done, 0);
        reply(11);
        run_to_rest();
        assert_int_equal(second->request, 2);
        assert_int_equal(callers_slots[0].response, 11);
    }
}

/* Section 3: restart_after_cancel_mid_job, restart_many_cycles. */
static void a_job_that_is_put_back_is_the_next_to_be_received(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct worker *first;
        struct worker *second;

        begin(&kinds[each]);
        first = spawn(&callers, 1);
        second = spawn(&callers, 2);
        for (int i = 0; i < 100; i++) {
            assert_int_equal(try_receive(), 1);
            put_back();
            run_to_rest();
        }
        assert_int_equal(try_receive(), 1);
        reply(11);
        run_to_rest();
        assert_int_equal(first->response, 11);
        assert_int_equal(first->polls, 2);
        assert_int_equal(try_receive(), 2);
        reply(12);
        run_to_rest();
        assert_int_equal(second->response, 12);
    }
}

static void a_job_that_is_put_back_goes_to_a_waiting_service(void **state)
{
    struct worker *receiver;

    (void)state;
    begin(&kinds[CRITICAL]);
    assert_true(try_post(3));
    assert_int_equal(try_receive(), 3);
    receiver = spawn(&receivers, 0);
    put_back();
    run_to_rest();
    assert_int_equal(receiver->request, 3);
}

static void a_job_whose_caller_is_gone_can_be_put_back(void **state)
{
    struct worker *caller;

    (void)state;
    begin(&kinds[CRITICAL]);
    caller = spawn(&callers, 1);
    assert_int_equal(try_receive(), 1);
    cancel(caller);
    put_back();
    assert_false(try_post(9));
    assert_int_equal(try_receive(), 1);
    reply(0);
    assert_true(try_post(9));
}

/* The example of the header: a service that may be cancelled at work. */
struct adc_setup {
    int channel;
};

DZ_RPC_DEFINE(adc_service, struct adc_setup, int, DZ_NOOP)
static struct adc_service adc;

DZ_SIGNAL_DEFINE(int_signal, int, DZ_CRITICAL_SECTION)

static struct int_signal conversion;
static int conversions_begun;

struct user {
    struct dz_task task;
    struct adc_setup setup;
    int level;
};

static enum dz_poll user_poll(struct user *self)
{
    async (self) {
        await(adc_service_call(&adc, &self->setup, &self->level));
    }
    return DZ_READY;
}

struct server {
    struct dz_frame frame;
    struct dz_guard guard;
    struct dz_frame reading;
    struct adc_setup setup;
    int level;
};

static enum dz_poll convert_poll(struct dz_frame *self, int *level)
{
    async (self) {
        conversions_begun++;
        await(int_signal_wait(&conversion, level));
    }
    return DZ_READY;
}

static struct server *server;

static enum dz_poll adc_read_poll(const struct adc_setup *setup, int *level)
{
    enum dz_poll poll = convert_poll(&server->reading, level);

    *level += setup->channel;
    return poll;
}

static void server_drop(struct dz_guard *guard)
{
    (void)guard;
    adc_service_put_back(&adc);
}

static enum dz_poll server_poll(struct server *self)
{
    async (self) {
        for (;;) {
            await(adc_service_receive(&adc, &self->setup));
            dz_guard_enter(&self->guard, server_drop);
            await(adc_read_poll(&self->setup, &self->level));
            dz_guard_leave(&self->guard);
            adc_service_reply(&adc, &self->level);
        }
    }
    return DZ_READY;
}

/* Runs the server until it is told to stop, and then again. */
struct supervisor {
    struct dz_task task;
    struct dz_select2 select;
    struct server server;
    struct int_signal stop;
    int reason;
    int stops;
};

static enum dz_poll supervisor_poll(struct supervisor *self)
{
    async (self) {
        for (;; self->stops++) {
            memset(&self->server, 0, sizeof(self->server));
            await(dz_select2(&self->select, server_poll(&self->server),
                int_signal_wait(&self->stop, &self->reason)));
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(users, struct user, user_poll, TASKS)
DZ_TASK_POOL(supervisors, struct supervisor, supervisor_poll, 1)

static struct user *spawn_user(int channel)
{
    struct user *user;

    assert_int_equal(users_claim(&user), DZ_OK);
    user->setup.channel = channel;
    dz_executor_spawn(&executor, &user->task);
    run_to_rest();
    return user;
}

static struct supervisor *begin_serving(void)
{
    struct supervisor *supervisor;

    memset(&adc, 0, sizeof(adc));
    memset(&conversion, 0, sizeof(conversion));
    memset(users_slots, 0, sizeof(users_slots));
    memset(supervisors_slots, 0, sizeof(supervisors_slots));
    conversions_begun = 0;
    dz_executor_init(&executor, "test");
    (void)supervisors_claim(&supervisor);
    server = &supervisor->server;
    dz_executor_spawn(&executor, &supervisor->task);
    run_to_rest();
    return supervisor;
}

static void the_example_of_the_header_works(void **state)
{
    struct user *first;
    struct user *second;

    (void)state;
    (void)begin_serving();
    first = spawn_user(1);
    second = spawn_user(2);
    int_signal_send(&conversion, 100);
    run_to_rest();
    assert_int_equal(first->level, 101);
    assert_int_equal(second->level, 0);
    int_signal_send(&conversion, 200);
    run_to_rest();
    assert_int_equal(second->level, 202);
    assert_int_equal(conversions_begun, 2);
}

/* Section 3: restart_after_cancel_mid_job, with a guard. */
static void a_service_that_is_cancelled_at_work_begins_anew(void **state)
{
    struct supervisor *supervisor;
    struct user *first;
    struct user *second;

    (void)state;
    supervisor = begin_serving();
    first = spawn_user(1);
    second = spawn_user(2);
    for (int i = 0; i < 50; i++) {
        int_signal_send(&supervisor->stop, 1);
        run_to_rest();
    }
    assert_int_equal(supervisor->stops, 50);
    assert_int_equal(conversions_begun, 51);
    int_signal_send(&conversion, 100);
    run_to_rest();
    int_signal_send(&conversion, 200);
    run_to_rest();
    assert_int_equal(first->level, 101);
    assert_int_equal(second->level, 202);
}

/* Section 3: different_return_types, zero_sized_return. */
DZ_RPC_DEFINE(led_service, bool, char, DZ_CRITICAL_SECTION)

static struct led_service led;

struct blinker {
    struct dz_task task;
    bool is_on;
    bool done;
};

static enum dz_poll blinker_poll(struct blinker *self)
{
    async (self) {
        await(led_service_call(&led, &self->is_on, NULL));
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(blinkers, struct blinker, blinker_poll, 1)

static void a_service_can_have_nothing_to_say(void **state)
{
    struct blinker *blinker;
    bool is_on = false;

    (void)state;
    dz_executor_init(&executor, "test");
    (void)blinkers_claim(&blinker);
    blinker->is_on = true;
    dz_executor_spawn(&executor, &blinker->task);
    run_to_rest();
    assert_true(led_service_try_receive(&led, &is_on));
    assert_true(is_on);
    led_service_reply(&led, NULL);
    run_to_rest();
    assert_true(blinker->done);
    assert_true(led_service_try_post(&led, &is_on));
}

/* Walks away from another wait, and calls. */
struct stray {
    struct dz_task task;
    int value;
};

static enum dz_poll stray_poll(struct stray *self)
{
    int request = 1;

    walk_away_from(int_signal_wait(&conversion, &self->value));
    return dz_rpc_call(service(), kind->type, &request, &self->value);
}

DZ_TASK_POOL(strays, struct stray, stray_poll, 1)

static void call_while_waiting_elsewhere(void)
{
    struct stray *stray;

    (void)strays_claim(&stray);
    dz_executor_spawn(&executor, &stray->task);
    run_to_rest();
}

static void a_call_by_who_still_waits_elsewhere_panics(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each]);
        memset(&conversion, 0, sizeof(conversion));
        assert_says(last_words_of(call_while_waiting_elsewhere),
            "is an await missing?");
    }
}

static void reply_in_handler(void *argument)
{
    int request;
    int response = 33;

    *(bool *)argument = critical_try_receive(&critical, &request);
    critical_reply(&critical, &response);
}

/* W10: the reply comes right behind the hand-in. */
static void an_interrupt_can_serve(void **state)
{
    struct worker *caller;
    bool has_served = false;

    (void)state;
    begin(&kinds[CRITICAL]);
    prepare_strike(reply_in_handler, &has_served);
    caller = spawn(&callers, 1);
    assert_true(has_struck_in_queue());
    assert_true(has_served);
    assert_int_equal(caller->response, 33);
    assert_int_equal(caller->polls, 2);
}

static void post_in_handler(void *argument)
{
    int request = 8;

    *(bool *)argument = critical_try_post(&critical, &request);
}

/* W10 */
static void an_interrupt_can_post(void **state)
{
    struct worker *receiver;
    bool was_taken = false;

    (void)state;
    begin(&kinds[CRITICAL]);
    prepare_strike(post_in_handler, &was_taken);
    receiver = spawn(&receivers, 0);
    assert_true(has_struck_in_queue());
    assert_true(was_taken);
    assert_int_equal(receiver->request, 8);
    assert_int_equal(receiver->polls, 2);
    interrupt_now(post_in_handler, &was_taken);
    assert_false(was_taken);
}

/* W11: within the reply, it is still the caller's turn. */
static void an_interrupt_within_a_reply_finds_the_service_busy(void **state)
{
    bool was_taken = true;

    (void)state;
    begin(&kinds[CRITICAL]);
    (void)spawn(&callers, 1);
    assert_int_equal(try_receive(), 1);
    interrupt_at_next_unmask(post_in_handler, &was_taken);
    reply(2);
    assert_false(was_taken);
}

static void reply_without_a_job(void)
{
    reply(1);
}

static void reply_before_it_is_received(void)
{
    (void)try_post(1);
    reply(1);
}

static void reply_twice(void)
{
    (void)spawn(&callers, 1);
    (void)try_receive();
    reply(1);
    reply(1);
}

static void put_back_without_a_job(void)
{
    put_back();
}

static void put_back_twice(void)
{
    (void)try_post(1);
    (void)try_receive();
    put_back();
    put_back();
}

static void put_back_after_the_reply(void)
{
    (void)try_post(1);
    (void)try_receive();
    reply(1);
    put_back();
}

static void a_reply_without_a_job_panics(void **state)
{
    void (*const misuses[])(void) = {reply_without_a_job,
        reply_before_it_is_received, reply_twice, put_back_without_a_job,
        put_back_twice, put_back_after_the_reply};

    (void)state;
    for (unsigned i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
        struct last_words words;

        begin(&kinds[CRITICAL]);
        words = last_words_of(misuses[i]);
        assert_says(
            words, "a job is replied to or put back that was not received");
        assert_says(words, "object: critical at 0x");
    }
}

static void call_in_handler(void *argument)
{
    int value = 0;

    (void)argument;
    walk_away_from(critical_call(&critical, &value, &value));
}

static void call_in_an_interrupt(void)
{
    interrupt_now(call_in_handler, NULL);
}

static void receive_in_handler(void *argument)
{
    int value;

    (void)argument;
    walk_away_from(critical_receive(&critical, &value));
}

static void receive_in_an_interrupt(void)
{
    interrupt_now(receive_in_handler, NULL);
}

static void post_to_thread_mode(void *argument)
{
    int value = 0;

    (void)argument;
    (void)thread_try_post(&thread, &value);
}

static void post_to_thread_mode_in_an_interrupt(void)
{
    interrupt_now(post_to_thread_mode, NULL);
}

static void misuse_in_a_handler_names_the_service(void **state)
{
    struct last_words words = last_words_of(call_in_an_interrupt);

    (void)state;
    assert_says(words, "await outside a task");
    assert_says(words, "object: critical at 0x");
    assert_says(last_words_of(receive_in_an_interrupt), "await outside a task");
    words = last_words_at(DZ_EXIT_RACE, post_to_thread_mode_in_an_interrupt);
    assert_says(words, "a thread-mode object is used in an interrupt");
}

RUN_TESTS(TEST(a_caller_gets_the_response_to_its_request),
    TEST(a_waiting_service_is_woken_by_a_call),
    TEST(callers_are_served_in_the_order_in_which_they_came),
    TEST(blocked_callers_and_services_cost_no_polls),
    TEST(idle_waiters_are_polled_only_under_the_single_slot_policy),
    TEST(under_the_single_slot_policy_another_may_be_faster),
    TEST(who_calls_in_a_loop_starves_nobody),
    TEST(a_call_that_is_cancelled_in_line_is_never_served),
    TEST(a_call_that_is_cancelled_when_it_is_its_turn_passes_it_on),
    TEST(a_call_that_is_cancelled_when_handed_in_is_served_all_the_same),
    TEST(what_happens_while_a_caller_is_cancelled_is_not_its_business),
    TEST(a_caller_that_was_cancelled_gets_the_response_to_its_new_call),
    TEST(a_poll_after_the_response_is_a_new_call),
    TEST(a_caller_that_is_polled_in_between_keeps_its_place),
    TEST(a_post_is_served_and_waited_for_by_nobody),
    TEST(a_service_that_comes_late_finds_the_job),
    TEST(a_cancelled_service_passes_the_job_on), TEST(two_services_take_turns),
    TEST(a_job_that_is_put_back_is_the_next_to_be_received),
    TEST(a_job_that_is_put_back_goes_to_a_waiting_service),
    TEST(a_job_whose_caller_is_gone_can_be_put_back),
    TEST(the_example_of_the_header_works),
    TEST(a_service_that_is_cancelled_at_work_begins_anew),
    TEST(a_service_can_have_nothing_to_say),
    TEST(a_call_by_who_still_waits_elsewhere_panics),
    TEST(an_interrupt_can_serve), TEST(an_interrupt_can_post),
    TEST(an_interrupt_within_a_reply_finds_the_service_busy),
    TEST(a_reply_without_a_job_panics),
    TEST(misuse_in_a_handler_names_the_service))
