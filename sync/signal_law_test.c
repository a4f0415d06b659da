/* SPDX-License-Identifier: MIT */

/*
 * signal_law_test -- a signal against a value and a flag
 */

#include "sync/law.h"
#include "sync/signal.h"

enum { VALUES = 100 };

DZ_SIGNAL_DEFINE(critical_signal, uint32_t, DZ_CRITICAL_SECTION)
DZ_SIGNAL_DEFINE(thread_signal, uint32_t, DZ_THREAD_MODE)
DZ_SIGNAL_DEFINE(noop_signal, uint32_t, DZ_NOOP)
DZ_SIGNAL_DEFINE_SINGLE_SLOT(slot_signal, uint32_t, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_signal_type.object,
    &thread_signal_type.object,
    &noop_signal_type.object,
    &slot_signal_type.object,
};

static struct critical_signal object;
static const struct dz_signal_type *type;

/* ---- The model. */

static enum {
    EMPTY,
    FREE,     /* a value is there, for whoever comes, */
    PROMISED, /* or for somebody who was woken */
} state;
static uint32_t latest;

static bool reserve(struct law_call *call)
{
    (void)call;
    if (state != FREE)
        return false;
    state = PROMISED;
    return true;
}

static void give_back(struct law_call *call)
{
    (void)call;
    state = FREE;
}

static bool take(struct law_call *call)
{
    call->expected[0] = latest;
    state = EMPTY;
    return true;
}

static bool store(struct law_call *call)
{
    latest = call->argument;
    if (state == EMPTY)
        state = FREE;
    return true;
}

static bool drop(struct law_call *call)
{
    (void)call;
    if (state == FREE)
        state = EMPTY;
    return true;
}

/* ---- The signal. */

static bool wait(struct law_call *call)
{
    return dz_signal_wait(&object.signal, type, call->got) == DZ_READY;
}

static bool try_take(struct law_call *call)
{
    return dz_signal_try_take(&object.signal, type, call->got);
}

static bool send(struct law_call *call)
{
    uint32_t value = call->argument;

    dz_signal_send(&object.signal, type, &value);
    return true;
}

static bool reset_signal(struct law_call *call)
{
    (void)call;
    dz_signal_reset(&object.signal, type);
    return true;
}

static const struct law_operation operations[] = {
    {"wait", LAW_WAITS, .weight = 8, .real = wait, .reserve = reserve,
        .perform = take, .give_back = give_back},
    {"send", LAW_ACTS, .weight = 8, .arguments = VALUES, .real = send,
        .perform = store},
    {"try_take", LAW_TRIES, .weight = 2, .real = try_take, .reserve = reserve,
        .perform = take},
    {"reset", LAW_ACTS, .weight = 2, .real = reset_signal, .perform = drop},
};

static void reset(const struct dz_object *chosen)
{
    object = (struct critical_signal){0};
    type = (const struct dz_signal_type *)(const void *)chosen;
    state = EMPTY;
}

static void compare(void)
{
    law_check(dz_signal_is_sent(&object.signal, type) == (state == FREE));
}

int main(void)
{
    static const struct law law = {
        .name = "signal",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}
