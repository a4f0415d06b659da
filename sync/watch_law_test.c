/* SPDX-License-Identifier: MIT */

/*
 * watch_law_test -- a watch against a value, its number, and who has seen it
 *
 * Each worker has one receiver, and so have interrupts and what is outside
 * tasks. Of two branches of a worker that wait with the same receiver, the
 * first gets a value, and the other waits on.
 */

#include "sync/law.h"
#include "sync/watch.h"

enum { VALUES = 100, LEAST = 60 };

DZ_WATCH_DEFINE(critical_watch, uint32_t, DZ_CRITICAL_SECTION)
DZ_WATCH_DEFINE(thread_watch, uint32_t, DZ_THREAD_MODE)
DZ_WATCH_DEFINE(noop_watch, uint32_t, DZ_NOOP)
DZ_WATCH_DEFINE_SINGLE_SLOT(slot_watch, uint32_t, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_watch_type.object,
    &thread_watch_type.object,
    &noop_watch_type.object,
    &slot_watch_type.object,
};

static struct critical_watch object;
static struct dz_watch_sender sender;
static struct dz_watch_receiver receivers[LAW_INTERRUPT + 1];

/* ---- The model. */

static bool is_set;
static uint32_t latest;
static uint32_t number; /* of the latest value, from 1 */
static uint32_t seen[LAW_INTERRUPT + 1];

/* What a call has looked at and did not take. */
static uint32_t *refused(struct law_call *call)
{
    return &call->model[0];
}

static bool is_there(struct law_call *call)
{
    return is_set && number != *refused(call);
}

static bool is_new(struct law_call *call)
{
    return is_there(call) && number != seen[call->who];
}

static bool is_large(void)
{
    return latest >= LEAST;
}

static bool take(struct law_call *call)
{
    call->expected[0] = latest;
    seen[call->who] = number;
    return true;
}

static bool take_if(struct law_call *call, bool is_wanted)
{
    if (is_wanted)
        return take(call);
    *refused(call) = number;
    return false;
}

static bool take_large(struct law_call *call)
{
    return take_if(call, is_large());
}

static bool take_new(struct law_call *call)
{
    return take_if(call, number != seen[call->who]);
}

static bool take_new_large(struct law_call *call)
{
    return take_if(call, number != seen[call->who] && is_large());
}

/* The same wait goes on, behind the value that is there. */
static bool is_the_same(struct law_call *call, const struct law_call *walked)
{
    if (walked->operation != call->operation)
        return false;
    *refused(call) = number;
    return true;
}

static bool is_there_and_large(struct law_call *call)
{
    return is_there(call) && is_large();
}

static bool is_new_and_large(struct law_call *call)
{
    return is_new(call) && is_large();
}

static bool store(struct law_call *call)
{
    latest = call->argument;
    is_set = true;
    number++;
    return true;
}

static bool drop(struct law_call *call)
{
    (void)call;
    is_set = false;
    return true;
}

static bool is_changed_by(struct law_call *call)
{
    return is_set && call->argument != 0;
}

static bool add_model(struct law_call *call)
{
    latest += call->argument;
    number++;
    return true;
}

static bool look(struct law_call *call)
{
    call->expected[0] = latest;
    return true;
}

/* ---- The watch. */

static struct dz_watch_receiver *receiver(const struct law_call *call)
{
    return &receivers[call->who];
}

static bool accepts(const void *value, void *argument)
{
    (void)argument;
    return *(const uint32_t *)value >= LEAST;
}

static bool add(void *value, void *argument)
{
    *(uint32_t *)value += *(unsigned *)argument;
    return *(unsigned *)argument != 0;
}

static bool get(struct law_call *call)
{
    return dz_watch_receiver_get(receiver(call), call->got) == DZ_READY;
}

static bool get_and(struct law_call *call)
{
    return dz_watch_receiver_get_and(
               receiver(call), call->got, accepts, NULL) == DZ_READY;
}

static bool changed(struct law_call *call)
{
    return dz_watch_receiver_changed(receiver(call), call->got) == DZ_READY;
}

static bool changed_and(struct law_call *call)
{
    return dz_watch_receiver_changed_and(
               receiver(call), call->got, accepts, NULL) == DZ_READY;
}

static bool try_get(struct law_call *call)
{
    return dz_watch_receiver_try_get(receiver(call), call->got);
}

static bool try_get_and(struct law_call *call)
{
    return dz_watch_receiver_try_get_and(
        receiver(call), call->got, accepts, NULL);
}

static bool try_changed(struct law_call *call)
{
    return dz_watch_receiver_try_changed(receiver(call), call->got);
}

static bool try_changed_and(struct law_call *call)
{
    return dz_watch_receiver_try_changed_and(
        receiver(call), call->got, accepts, NULL);
}

static bool look_alone(struct law_call *call)
{
    return dz_watch_sender_try_get(sender, call->got);
}

static bool send(struct law_call *call)
{
    uint32_t value = call->argument;

    dz_watch_sender_send(sender, &value);
    return true;
}

static bool clear(struct law_call *call)
{
    (void)call;
    dz_watch_sender_clear(sender);
    return true;
}

static bool send_if_modified(struct law_call *call)
{
    return dz_watch_sender_send_if_modified(sender, add, &call->argument);
}

static const struct law_operation operations[] = {
    {"get", LAW_WAITS, .weight = 4, .real = get, .reserve = is_there,
        .perform = take, .goes_on = is_the_same},
    {"get_and", LAW_WAITS, .weight = 4, .real = get_and, .reserve = is_there,
        .perform = take_large, .goes_on = is_the_same},
    {"changed", LAW_WAITS, .weight = 8, .real = changed, .reserve = is_new,
        .perform = take_new, .goes_on = is_the_same},
    {"changed_and", LAW_WAITS, .weight = 8, .real = changed_and,
        .reserve = is_new, .perform = take_new_large, .goes_on = is_the_same},
    {"send", LAW_ACTS, .weight = 8, .arguments = VALUES, .real = send,
        .perform = store},
    {"send_if_modified", LAW_ACTS, .weight = 3, .arguments = 3,
        .real = send_if_modified, .reserve = is_changed_by,
        .perform = add_model},
    {"clear", LAW_ACTS, .weight = 4, .real = clear, .perform = drop},
    {"try_get", LAW_ACTS, .weight = 1, .real = try_get, .reserve = is_there,
        .perform = take},
    {"try_get_and", LAW_ACTS, .weight = 1, .real = try_get_and,
        .reserve = is_there_and_large, .perform = take},
    {"try_changed", LAW_ACTS, .weight = 1, .real = try_changed,
        .reserve = is_new, .perform = take},
    {"try_changed_and", LAW_ACTS, .weight = 1, .real = try_changed_and,
        .reserve = is_new_and_large, .perform = take},
    {"try_get alone", LAW_ACTS, .weight = 1, .real = look_alone,
        .reserve = is_there, .perform = look},
};

static void reset(const struct dz_object *chosen)
{
    object = (struct critical_watch){0};
    sender.watch = &object.watch;
    sender.type = (const struct dz_watch_type *)(const void *)chosen;
    is_set = false;
    number = 0;
    for (unsigned i = 0; i <= LAW_INTERRUPT; i++) {
        receivers[i] = (struct dz_watch_receiver){sender.watch, sender.type, 0};
        seen[i] = 0;
    }
}

static void compare(void)
{
    uint32_t value = 0;

    law_check(dz_watch_sender_contains_value(sender) == is_set);
    law_check(dz_watch_sender_try_get(sender, &value) == is_set);
    law_check(!is_set || value == latest);
}

int main(void)
{
    static const struct law law = {
        .name = "watch",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
        .who_can = 1,
        .behind = 1,
    };

    return law_run(&law);
}
