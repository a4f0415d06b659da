/* SPDX-License-Identifier: MIT */

/*
 * rpc_law_test -- a service against a few variables
 *
 * The job in flight waits for a service, or a service is at work, or there is a
 * response. Its caller stands in front of the line in which the others wait to
 * hand in. Once that caller is gone, the response is as good as no job.
 */

#include "sync/law.h"
#include "sync/rpc.h"

enum { CALLERS = 0, SERVICES = 1, VALUES = 100 };

DZ_RPC_DEFINE(critical_service, uint32_t, uint32_t, DZ_CRITICAL_SECTION)
DZ_RPC_DEFINE(thread_service, uint32_t, uint32_t, DZ_THREAD_MODE)
DZ_RPC_DEFINE(noop_service, uint32_t, uint32_t, DZ_NOOP)
DZ_RPC_DEFINE_SINGLE_SLOT(slot_service, uint32_t, uint32_t, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_service_type.object,
    &thread_service_type.object,
    &noop_service_type.object,
    &slot_service_type.object,
};

static struct critical_service service;
static const struct dz_rpc_type *type;

/* ---- The model. */

static bool is_idle;                  /* nothing in flight, or promised to be */
static bool has_job;                  /* that is promised to no service */
static bool is_at_work;               /* a service */
static bool has_replied;              /* and nobody has the response */
static const struct law_call *caller; /* whose job it is; NULL: a post's */
static uint32_t request;
static uint32_t response;

static bool has_handed_in(const struct law_call *call)
{
    return call->model[0] != 0;
}

static bool take_flag(bool *flag)
{
    bool was_set = *flag;

    *flag = false;
    return was_set;
}

/* The caller waits still, and for this response: a new call of its has not
 * handed in. */
static bool is_awaited(void)
{
    return caller != NULL && has_handed_in(caller) && law_is_waiting(caller);
}

static bool reserve_turn(struct law_call *call)
{
    if (has_handed_in(call))
        return take_flag(&has_replied);
    return take_flag(&is_idle) || (!is_awaited() && take_flag(&has_replied));
}

static void pass_turn(struct law_call *call)
{
    if (has_handed_in(call))
        has_replied = true;
    else
        is_idle = true;
}

static bool post_model(struct law_call *call)
{
    caller = NULL;
    request = call->argument;
    has_job = true;
    return true;
}

static bool call_model(struct law_call *call)
{
    if (!has_handed_in(call)) {
        (void)post_model(call);
        caller = call;
        call->model[0] = 1;
        return false;
    }
    call->expected[0] = response;
    is_idle = true;
    return true;
}

/* Whatever the question: it is handed in once. */
static bool is_the_call(struct law_call *call, const struct law_call *walked)
{
    if (caller == walked)
        caller = call;
    call->model[0] = walked->model[0];
    return true;
}

static bool reserve_job(struct law_call *call)
{
    (void)call;
    return take_flag(&has_job);
}

static bool begin_work(struct law_call *call)
{
    is_at_work = true;
    call->expected[0] = request;
    return true;
}

static void pass_job(struct law_call *call)
{
    (void)call;
    has_job = true;
}

static bool may_reply(const struct law_call *call)
{
    (void)call;
    return is_at_work;
}

static bool reply_model(struct law_call *call)
{
    is_at_work = false;
    has_replied = true;
    response = call->argument;
    return true;
}

static bool put_back_model(struct law_call *call)
{
    is_at_work = false;
    pass_job(call);
    return true;
}

/* ---- The service. */

static bool call_real(struct law_call *call)
{
    uint32_t value = call->argument;

    return dz_rpc_call(&service.rpc, type, &value, call->got) == DZ_READY;
}

static bool try_post(struct law_call *call)
{
    uint32_t value = call->argument;

    return dz_rpc_try_post(&service.rpc, type, &value);
}

static bool receive(struct law_call *call)
{
    return dz_rpc_receive(&service.rpc, type, call->got) == DZ_READY;
}

static bool try_receive(struct law_call *call)
{
    return dz_rpc_try_receive(&service.rpc, type, call->got);
}

static bool reply(struct law_call *call)
{
    uint32_t value = call->argument;

    dz_rpc_reply(&service.rpc, type, &value);
    return true;
}

static bool put_back(struct law_call *call)
{
    (void)call;
    dz_rpc_put_back(&service.rpc, type);
    return true;
}

static const struct law_operation operations[] = {
    {"call", LAW_WAITS, CALLERS, 8, VALUES, call_real, .reserve = reserve_turn,
        .perform = call_model, .give_back = pass_turn, .goes_on = is_the_call},
    {"try_post", LAW_TRIES, CALLERS, 2, VALUES, try_post,
        .reserve = reserve_turn, .perform = post_model},
    {"receive", LAW_WAITS, SERVICES, 4, .real = receive, .reserve = reserve_job,
        .perform = begin_work, .give_back = pass_job},
    {"try_receive", LAW_TRIES, SERVICES, 3, .real = try_receive,
        .reserve = reserve_job, .perform = begin_work},
    {"reply", LAW_ACTS, SERVICES, 10, VALUES, reply, may_reply,
        .perform = reply_model},
    {"put_back", LAW_ACTS, SERVICES, 3, .real = put_back, .may = may_reply,
        .perform = put_back_model},
};

static void reset(const struct dz_object *chosen)
{
    service = (struct critical_service){0};
    type = (const struct dz_rpc_type *)(const void *)chosen;
    is_idle = true;
    caller = NULL;
    has_job = false;
    is_at_work = false;
    has_replied = false;
}

static void compare(void)
{
    bool has_turn = is_idle || (has_replied && !is_awaited());

    law_check(dz_units_free(&service.rpc.permits, 1) == (has_turn ? 1 : 0));
    law_check(dz_units_free(&service.rpc.jobs, 0) == (has_job ? 1 : 0));
    law_check((service.rpc.permits.index != DZ_RPC_RESTING) == is_at_work);
}

int main(void)
{
    static const struct law law = {
        .name = "rpc",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}
