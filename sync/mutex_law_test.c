/* SPDX-License-Identifier: MIT */

/*
 * mutex_law_test -- a mutex against two flags
 *
 * The lock is free, or reserved for somebody, who then holds it. Whoever holds
 * it may unlock, and anybody in its name.
 */

#include "sync/law.h"
#include "sync/mutex.h"

DZ_MUTEX_DEFINE(critical_mutex, uint32_t, DZ_CRITICAL_SECTION)
DZ_MUTEX_DEFINE(thread_mutex, uint32_t, DZ_THREAD_MODE)
DZ_MUTEX_DEFINE(noop_mutex, uint32_t, DZ_NOOP)
DZ_MUTEX_DEFINE_SINGLE_SLOT(slot_mutex, uint32_t, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_mutex_object,
    &thread_mutex_object,
    &noop_mutex_object,
    &slot_mutex_object,
};

static struct critical_mutex mutex;
static const struct dz_object *type;

/* ---- The model. */

static bool is_free; /* and reserved for nobody */
static bool is_held;

static bool reserve_lock(struct law_call *call)
{
    (void)call;
    if (!is_free)
        return false;
    is_free = false;
    return true;
}

static void free_lock(struct law_call *call)
{
    (void)call;
    is_free = true;
}

static bool hold(struct law_call *call)
{
    (void)call;
    is_held = true;
    return true;
}

static bool may_unlock(const struct law_call *call)
{
    (void)call;
    return is_held;
}

static bool end_hold(struct law_call *call)
{
    is_held = false;
    free_lock(call);
    return true;
}

/* ---- The mutex. */

static bool lock(struct law_call *call)
{
    (void)call;
    return dz_mutex_lock(&mutex.lock, type) == DZ_READY;
}

static bool try_lock(struct law_call *call)
{
    (void)call;
    return dz_mutex_try_lock(&mutex.lock, type);
}

static bool unlock(struct law_call *call)
{
    (void)call;
    dz_mutex_unlock(&mutex.lock, type);
    return true;
}

static const struct law_operation operations[] = {
    {"lock", LAW_WAITS, .weight = 6, .real = lock, .reserve = reserve_lock,
        .perform = hold, .give_back = free_lock},
    {"try_lock", LAW_TRIES, .weight = 2, .real = try_lock,
        .reserve = reserve_lock, .perform = hold},
    {"unlock", LAW_ACTS, .weight = 8, .real = unlock, .may = may_unlock,
        .perform = end_hold},
};

static void reset(const struct dz_object *chosen)
{
    mutex = (struct critical_mutex){0};
    type = chosen;
    is_free = true;
    is_held = false;
}

static void compare(void)
{
    law_check(dz_units_free(&mutex.lock.locks, 1) == (is_free ? 1 : 0));
    law_check((mutex.lock.locks.index != 0) == is_held);
}

int main(void)
{
    static const struct law law = {
        .name = "mutex",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}
