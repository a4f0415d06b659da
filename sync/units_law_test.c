/* SPDX-License-Identifier: MIT */

/*
 * units_law_test -- units of two kinds, and their glue, against two numbers
 *
 * Two objects, so that branches of one task wait in different places, and go
 * from the one to the other.
 */

#include "sync/law.h"
#include "sync/wait.h"

enum { A, B, KINDS }; /* the lines, too */

struct stock {
    struct dz_units units;
    DZ_OWNER
};

struct stock_type {
    struct dz_object object;
    int initial;
};

static const struct stock_type stock_types[] = {
    {DZ_OBJECT(stock, DZ_CRITICAL_SECTION, DZ_QUEUE), 1},
    {DZ_OBJECT(stock, DZ_THREAD_MODE, DZ_QUEUE), 2},
    {DZ_OBJECT(stock, DZ_NOOP, DZ_QUEUE), 0},
    {DZ_OBJECT(stock, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT), 1},
};

static const struct dz_object *const types[] = {
    &stock_types[0].object,
    &stock_types[1].object,
    &stock_types[2].object,
    &stock_types[3].object,
};

static struct stock stocks[KINDS];
static const struct stock_type *type;

/* ---- The model. */

static int left[KINDS];

static unsigned kind_of(const struct law_call *call)
{
    return call->operation->line;
}

static bool reserve(struct law_call *call)
{
    if (left[kind_of(call)] == 0)
        return false;
    left[kind_of(call)]--;
    return true;
}

static void give_back(struct law_call *call)
{
    left[kind_of(call)]++;
}

static bool give_model(struct law_call *call)
{
    give_back(call);
    return true;
}

/* Where there are too many, nobody ever waits. */
static bool may_give(const struct law_call *call)
{
    return left[kind_of(call)] < 3;
}

/* ---- The units. */

static bool take(struct law_call *call)
{
    struct stock *stock = &stocks[kind_of(call)];
    dz_key key = dz_wait_lock_to_take(stock, &type->object);
    bool is_ours =
        dz_wait_take(&stock->units, stock, &type->object, type->initial);

    dz_unlock(stock, &type->object, key);
    return is_ours;
}

static bool try_take(struct law_call *call)
{
    struct stock *stock = &stocks[kind_of(call)];
    dz_key key = dz_lock(stock, &type->object);
    bool is_ours = dz_units_try_take(&stock->units, type->initial);

    dz_unlock(stock, &type->object, key);
    return is_ours;
}

static bool give(struct law_call *call)
{
    struct stock *stock = &stocks[kind_of(call)];
    dz_key key = dz_lock(stock, &type->object);

    dz_wait_give_unlock(&stock->units, stock, &type->object, key);
    return true;
}

static const struct law_operation operations[] = {
    {"take_a", LAW_WAITS, A, 8, .real = take, .reserve = reserve,
        .give_back = give_back},
    {"take_b", LAW_WAITS, B, 8, .real = take, .reserve = reserve,
        .give_back = give_back},
    {"try_take_a", LAW_TRIES, A, 2, .real = try_take, .reserve = reserve},
    {"try_take_b", LAW_TRIES, B, 2, .real = try_take, .reserve = reserve},
    {"give_a", LAW_ACTS, A, 6, .real = give, .may = may_give,
        .perform = give_model},
    {"give_b", LAW_ACTS, B, 6, .real = give, .may = may_give,
        .perform = give_model},
};

static void reset(const struct dz_object *chosen)
{
    type = (const struct stock_type *)(const void *)chosen;
    for (unsigned i = 0; i < KINDS; i++) {
        stocks[i] = (struct stock){0};
        left[i] = type->initial;
    }
}

static void compare(void)
{
    for (unsigned i = 0; i < KINDS; i++) {
        struct dz_units *units = &stocks[i].units;
        unsigned waiting = 0;

        law_check((int)dz_units_free(units, type->initial) == left[i]);
        if (!law_has_queues())
            continue;
        for (struct dz_waiter *at = units->first; at != NULL; at = at->next)
            waiting++;
        law_check(waiting == law_waiting(i));
        law_check(waiting == 0 || left[i] == 0);
    }
}

int main(void)
{
    static const struct law law = {
        .name = "units",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}
