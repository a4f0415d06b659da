/* SPDX-License-Identifier: MIT */

/*
 * semaphore_law_test -- semaphores against a number, and who waits for how much
 */

#include "sync/law.h"
#include "sync/semaphore.h"

enum { PERMITS = 2, LINE = 0 };

DZ_SEMAPHORE_DEFINE(critical_fair, PERMITS, DZ_CRITICAL_SECTION)
DZ_SEMAPHORE_DEFINE(thread_fair, PERMITS, DZ_THREAD_MODE)
DZ_SEMAPHORE_DEFINE(noop_fair, PERMITS, DZ_NOOP)
DZ_SEMAPHORE_DEFINE_SINGLE_SLOT(slot_fair, PERMITS, DZ_CRITICAL_SECTION)
DZ_GREEDY_SEMAPHORE_DEFINE(critical_greedy, PERMITS, DZ_CRITICAL_SECTION)
DZ_GREEDY_SEMAPHORE_DEFINE(thread_greedy, PERMITS, DZ_THREAD_MODE)
DZ_GREEDY_SEMAPHORE_DEFINE(noop_greedy, PERMITS, DZ_NOOP)
DZ_GREEDY_SEMAPHORE_DEFINE_SINGLE_SLOT(
    slot_greedy, PERMITS, DZ_CRITICAL_SECTION)

static const struct dz_object *const fair_types[] = {
    &critical_fair_type.object,
    &thread_fair_type.object,
    &noop_fair_type.object,
    &slot_fair_type.object,
};

static const struct dz_object *const greedy_types[] = {
    &critical_greedy_type.object,
    &thread_greedy_type.object,
    &noop_greedy_type.object,
    &slot_greedy_type.object,
};

static struct critical_fair object;
static const struct dz_semaphore_type *type;
static bool is_fair;

/* ---- The model. Those who wait ask for one more than their argument, since
 * who asks for nothing does not stand in the line. */

static unsigned free_permits; /* promised to nobody */

static unsigned wanted(const struct law_call *call)
{
    return call->argument + 1;
}

static bool reserve(struct law_call *call)
{
    if (free_permits < wanted(call))
        return false;
    free_permits -= wanted(call);
    return true;
}

static void give_back(struct law_call *call)
{
    free_permits += wanted(call);
}

static bool is_the_same(struct law_call *call, const struct law_call *walked)
{
    return call->operation == walked->operation &&
        call->argument == walked->argument;
}

static bool take_the_rest(struct law_call *call)
{
    call->expected[0] = wanted(call) + free_permits;
    free_permits = 0;
    return true;
}

/* Nobody takes any in front of those who wait, not even who asks for none. */
static bool take_what_is_there(struct law_call *call)
{
    if (is_fair && law_waiting(LINE) > 0)
        return true;
    call->expected[0] = free_permits;
    free_permits = 0;
    return true;
}

static bool add(struct law_call *call)
{
    free_permits += call->argument;
    return true;
}

static bool replace(struct law_call *call)
{
    free_permits = call->argument;
    return true;
}

/* ---- The semaphore. */

static bool acquire(struct law_call *call)
{
    return dz_semaphore_acquire(&object.semaphore, type, wanted(call)) ==
        DZ_READY;
}

static bool try_acquire(struct law_call *call)
{
    return dz_semaphore_try_acquire(&object.semaphore, type, wanted(call));
}

static bool acquire_all(struct law_call *call)
{
    unsigned count;

    if (dz_semaphore_acquire_all(
            &object.semaphore, type, wanted(call), &count) == DZ_PENDING)
        return false;
    call->got[0] = count;
    return true;
}

static bool try_acquire_all(struct law_call *call)
{
    unsigned count;
    bool is_ours = dz_semaphore_try_acquire_all(
        &object.semaphore, type, wanted(call), &count);

    call->got[0] = count;
    return is_ours;
}

static bool acquire_none(struct law_call *call)
{
    (void)call;
    return dz_semaphore_acquire(&object.semaphore, type, 0) == DZ_READY;
}

static bool try_acquire_none(struct law_call *call)
{
    (void)call;
    return dz_semaphore_try_acquire(&object.semaphore, type, 0);
}

static bool acquire_all_or_none(struct law_call *call)
{
    unsigned count = 0;
    bool is_ready = dz_semaphore_acquire_all(
                        &object.semaphore, type, 0, &count) == DZ_READY;

    call->got[0] = count;
    return is_ready;
}

static bool try_acquire_all_or_none(struct law_call *call)
{
    unsigned count;
    bool is_ours =
        dz_semaphore_try_acquire_all(&object.semaphore, type, 0, &count);

    call->got[0] = count;
    return is_ours;
}

static bool release(struct law_call *call)
{
    dz_semaphore_release(&object.semaphore, type, call->argument);
    return true;
}

static bool set(struct law_call *call)
{
    dz_semaphore_set(&object.semaphore, type, call->argument);
    return true;
}

static const struct law_operation operations[] = {
    {"acquire", LAW_WAITS, LINE, 10, 4, acquire, .reserve = reserve,
        .give_back = give_back, .goes_on = is_the_same},
    {"acquire_all", LAW_WAITS, LINE, 6, 3, acquire_all, .reserve = reserve,
        .perform = take_the_rest, .give_back = give_back,
        .goes_on = is_the_same},
    {"try_acquire", LAW_TRIES, LINE, 4, 3, try_acquire, .reserve = reserve},
    {"try_acquire_all", LAW_TRIES, LINE, 2, 3, try_acquire_all,
        .reserve = reserve, .perform = take_the_rest},
    {"acquire(0)", LAW_ACTS, LINE, 1, .real = acquire_none},
    {"try_acquire(0)", LAW_ACTS, LINE, 1, .real = try_acquire_none},
    {"acquire_all(0)", LAW_ACTS, LINE, 1, .real = acquire_all_or_none,
        .perform = take_what_is_there},
    {"try_acquire_all(0)", LAW_ACTS, LINE, 1, .real = try_acquire_all_or_none,
        .perform = take_what_is_there},
    {"release", LAW_ACTS, LINE, 16, 4, release, .perform = add},
    {"set", LAW_ACTS, LINE, 3, 6, set, .perform = replace},
};

static void reset(const struct dz_object *chosen)
{
    object = (struct critical_fair){0};
    type = (const struct dz_semaphore_type *)(const void *)chosen;
    free_permits = PERMITS;
}

static void compare(void)
{
    law_check(dz_semaphore_free(&object.semaphore, type) == free_permits);
}

int main(void)
{
    static const struct law fair = {
        .name = "semaphore",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = fair_types,
        .type_count = LAW_COUNT(fair_types),
        .reset = reset,
        .compare = compare,
    };
    static const struct law greedy = {
        .name = "semaphore",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = greedy_types,
        .type_count = LAW_COUNT(greedy_types),
        .reset = reset,
        .compare = compare,
        .who_can = 1U << LINE,
    };
    int code;

    is_fair = true;
    code = law_run(&fair);
    if (code != 0)
        return code;
    is_fair = false;
    return law_run(&greedy);
}
