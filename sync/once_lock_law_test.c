/* SPDX-License-Identifier: MIT */

/* once_lock_law_test -- a once lock against a value and who it is promised to
 */

#include "sync/law.h"
#include "sync/once_lock.h"

enum { VALUES = 100 };

DZ_ONCE_LOCK_DEFINE(critical_lock, uint32_t, DZ_CRITICAL_SECTION)
DZ_ONCE_LOCK_DEFINE(thread_lock, uint32_t, DZ_THREAD_MODE)
DZ_ONCE_LOCK_DEFINE(noop_lock, uint32_t, DZ_NOOP)
DZ_ONCE_LOCK_DEFINE_SINGLE_SLOT(slot_lock, uint32_t, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_lock_type.object,
    &thread_lock_type.object,
    &noop_lock_type.object,
    &slot_lock_type.object,
};

static struct critical_lock object;
static const struct dz_once_lock_type *type;

/* ---- The model. */

static bool is_set;
static uint32_t value;
static unsigned promised;

static bool promise(struct law_call *call)
{
    (void)call;
    promised += is_set;
    return is_set;
}

static void take_promise_back(struct law_call *call)
{
    (void)call;
    promised--;
}

static bool get_model(struct law_call *call)
{
    promised--;
    call->expected[0] = value;
    return true;
}

static bool look(struct law_call *call)
{
    call->expected[0] = value;
    return is_set;
}

static bool is_unset(struct law_call *call)
{
    (void)call;
    return !is_set;
}

static bool set_model(struct law_call *call)
{
    is_set = true;
    value = call->argument;
    return true;
}

static bool set_if_unset(struct law_call *call)
{
    if (!is_set)
        set_model(call);
    call->expected[0] = value;
    return true;
}

static bool is_promised_to_nobody(struct law_call *call)
{
    (void)call;
    return is_set && promised == 0;
}

static bool take_model(struct law_call *call)
{
    is_set = false;
    call->expected[0] = value;
    return true;
}

/* ---- The once lock. */

static bool tell(struct law_call *call, const uint32_t *found)
{
    if (found == NULL)
        return false;
    call->got[0] = *found;
    return true;
}

static bool get_real(struct law_call *call)
{
    const void *found;

    if (dz_once_lock_get(&object.once_lock, type, &found) == DZ_PENDING)
        return false;
    return tell(call, found);
}

static bool try_get(struct law_call *call)
{
    return tell(call, dz_once_lock_try_get(&object.once_lock, type));
}

static bool init(struct law_call *call)
{
    uint32_t made = call->argument;

    return dz_once_lock_init(&object.once_lock, type, &made);
}

static void make(void *made, void *argument)
{
    *(uint32_t *)made = *(const uint32_t *)argument;
}

static bool get_or_init(struct law_call *call)
{
    uint32_t to_make = call->argument;

    return tell(call,
        dz_once_lock_get_or_init(&object.once_lock, type, make, &to_make));
}

static bool take(struct law_call *call)
{
    return dz_once_lock_try_take(&object.once_lock, type, call->got);
}

static const struct law_operation operations[] = {
    {"get", LAW_WAITS, 0, 12, .real = get_real, .reserve = promise,
        .perform = get_model, .give_back = take_promise_back},
    {"try_get", LAW_ACTS, 0, 2, .real = try_get, .reserve = look},
    {"init", LAW_ACTS, 0, 2, VALUES, init, .reserve = is_unset,
        .perform = set_model},
    {"get_or_init", LAW_ACTS, 0, 1, VALUES, get_or_init,
        .perform = set_if_unset},
    {"try_take", LAW_ACTS, 0, 8, .real = take, .reserve = is_promised_to_nobody,
        .perform = take_model},
};

static void reset(const struct dz_object *chosen)
{
    object = (struct critical_lock){0};
    type = (const struct dz_once_lock_type *)(const void *)chosen;
    is_set = false;
    promised = 0;
}

static void compare(void)
{
    law_check((object.once_lock.is_set != 0) == is_set);
    law_check(object.once_lock.promised == promised);
}

int main(void)
{
    static const struct law law = {
        .name = "once_lock",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}
