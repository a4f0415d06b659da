/* SPDX-License-Identifier: MIT */

/* event_flags_law_test -- event flags against a word, and who waits for what */

#include "sync/event_flags.h"
#include "sync/law.h"

enum { MASKS = 8 }; /* three flags */

DZ_EVENT_FLAGS_DEFINE(critical_flags, DZ_CRITICAL_SECTION)
DZ_EVENT_FLAGS_DEFINE(thread_flags, DZ_THREAD_MODE)
DZ_EVENT_FLAGS_DEFINE(noop_flags, DZ_NOOP)
DZ_EVENT_FLAGS_DEFINE_SINGLE_SLOT(slot_flags, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_flags_type.object,
    &thread_flags_type.object,
    &noop_flags_type.object,
    &slot_flags_type.object,
};

static struct critical_flags object;
static const struct dz_event_flags_type *type;

/* ---- The model. */

static uint32_t flags;

static bool some_are_set(struct law_call *call)
{
    call->model[0] = flags & call->argument;
    return call->argument == 0 || call->model[0] != 0;
}

static bool all_are_set(struct law_call *call)
{
    call->model[0] = call->argument;
    return (flags & call->argument) == call->argument;
}

static bool take_some(struct law_call *call)
{
    if (!some_are_set(call))
        return false;
    flags &= ~call->model[0];
    return true;
}

static bool take_all(struct law_call *call)
{
    if (!all_are_set(call))
        return false;
    flags &= ~call->model[0];
    return true;
}

static void put_back(struct law_call *call)
{
    flags |= call->model[0];
}

static bool tell(struct law_call *call)
{
    call->expected[0] = call->model[0];
    return true;
}

static bool is_the_same(struct law_call *call, const struct law_call *walked)
{
    call->model[0] = walked->model[0];
    return call->operation == walked->operation &&
        call->argument == walked->argument;
}

/* What was granted may be an answer to both. */
static bool has_its_answer(struct law_call *call, const struct law_call *walked)
{
    uint32_t granted = walked->model[0];

    return is_the_same(call, walked) ||
        (call->operation == walked->operation && granted != 0 &&
            (granted & ~call->argument) == 0);
}

static bool set_model(struct law_call *call)
{
    flags |= call->argument;
    return true;
}

static bool clear_model(struct law_call *call)
{
    flags &= ~call->argument;
    return true;
}

/* ---- The event flags. */

static bool wait_for(struct law_call *call, enum dz_flags_wait how)
{
    return dz_event_flags_poll(&object.event_flags, type,
               dz_event_flags_request(how, call->argument),
               call->got) == DZ_READY;
}

static bool wait_any(struct law_call *call)
{
    return wait_for(call, DZ_FLAGS_ANY);
}

static bool wait_all(struct law_call *call)
{
    return wait_for(call, DZ_FLAGS_ALL);
}

static bool take_any_real(struct law_call *call)
{
    return wait_for(call, DZ_FLAGS_TAKE_ANY);
}

static bool take_all_real(struct law_call *call)
{
    return wait_for(call, DZ_FLAGS_TAKE_ALL);
}

static bool try_for(struct law_call *call, enum dz_flags_wait how)
{
    call->got[0] = dz_event_flags_try(
        &object.event_flags, type, dz_event_flags_request(how, call->argument));
    return call->got[0] != 0 || call->argument == 0;
}

static bool try_take_any(struct law_call *call)
{
    return try_for(call, DZ_FLAGS_TAKE_ANY);
}

static bool try_take_all(struct law_call *call)
{
    return try_for(call, DZ_FLAGS_TAKE_ALL);
}

static bool set_real(struct law_call *call)
{
    dz_event_flags_set(&object.event_flags, type, call->argument);
    return true;
}

static bool clear_real(struct law_call *call)
{
    dz_event_flags_clear(&object.event_flags, type, call->argument);
    return true;
}

static const struct law_operation operations[] = {
    {"wait_any", LAW_WAITS, 0, 4, MASKS, wait_any, .reserve = some_are_set,
        .perform = tell, .goes_on = has_its_answer},
    {"wait_all", LAW_WAITS, 0, 4, MASKS, wait_all, .reserve = all_are_set,
        .perform = tell, .goes_on = is_the_same},
    {"take_any", LAW_WAITS, 0, 4, MASKS, take_any_real, .reserve = take_some,
        .perform = tell, .give_back = put_back, .goes_on = has_its_answer},
    {"take_all", LAW_WAITS, 0, 4, MASKS, take_all_real, .reserve = take_all,
        .perform = tell, .give_back = put_back, .goes_on = is_the_same},
    {"try_take_any", LAW_TRIES, 0, 3, MASKS, try_take_any, .reserve = take_some,
        .perform = tell},
    {"try_take_all", LAW_TRIES, 0, 3, MASKS, try_take_all, .reserve = take_all,
        .perform = tell},
    {"set", LAW_ACTS, 0, 8, MASKS, set_real, .perform = set_model},
    {"clear", LAW_ACTS, 0, 2, MASKS, clear_real, .perform = clear_model},
};

static void reset(const struct dz_object *chosen)
{
    object = (struct critical_flags){0};
    type = (const struct dz_event_flags_type *)(const void *)chosen;
    flags = 0;
}

static void compare(void)
{
    law_check(dz_event_flags_now(&object.event_flags, type) == flags);
}

int main(void)
{
    static const struct law law = {
        .name = "event_flags",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
        .who_can = 1,
    };

    return law_run(&law);
}
