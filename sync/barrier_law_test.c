/* SPDX-License-Identifier: MIT */

/* barrier_law_test -- a barrier against the number of those who have come */

#include "sync/barrier.h"
#include "sync/law.h"

DZ_BARRIER_DEFINE(critical_barrier, 3, DZ_CRITICAL_SECTION)
DZ_BARRIER_DEFINE(thread_barrier, 3, DZ_THREAD_MODE)
DZ_BARRIER_DEFINE(noop_barrier, 2, DZ_NOOP)
DZ_BARRIER_DEFINE(single_barrier, 1, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_barrier_type.object, &thread_barrier_type.object,
    &noop_barrier_type.object, &single_barrier_type.object, /* nobody waits */
};

static struct critical_barrier object;
static const struct dz_barrier_type *type;

/* ---- The model: places in the rounds that are complete. */

static unsigned places;

/* Who is not in line yet completes it, or does not. */
static bool reserve(struct law_call *call)
{
    if (places == 0 && call->model[0] == 0 && law_waiting(0) + 1 == type->count)
        places = type->count;
    call->model[0] = 1;
    if (places == 0)
        return false;
    places--;
    return true;
}

/* It has come. */
static bool is_there(struct law_call *call, const struct law_call *walked)
{
    call->model[0] = walked->model[0];
    return true;
}

/* ---- The barrier. */

static bool wait_real(struct law_call *call)
{
    (void)call;
    return dz_barrier_wait(&object.barrier, type) == DZ_READY;
}

static const struct law_operation operations[] = {
    {"wait", LAW_WAITS, 0, 8, .real = wait_real, .reserve = reserve,
        .goes_on = is_there, .never = 1U << 3},
};

static void reset(const struct dz_object *chosen)
{
    object = (struct critical_barrier){0};
    type = (const struct dz_barrier_type *)(const void *)chosen;
    places = 0;
}

static void compare(void)
{
    law_check(dz_barrier_waiting(&object.barrier, type) == law_waiting(0));
    law_check(law_waiting(0) < type->count);
}

int main(void)
{
    static const struct law law = {
        .name = "barrier",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
        .who_can = 1, /* the one who comes may complete the round */
    };

    return law_run(&law);
}
