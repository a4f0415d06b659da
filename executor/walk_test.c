/* SPDX-License-Identifier: MIT */

/*
 * walk_test -- a wait that is left without dz_cancel(), with checks off
 *
 * This file is compiled as a target ships it, with DZ_CHECKS=0. Then to walk
 * away from a wait is safe, and silent: the place moves, and a grant is passed
 * on.
 */

#include "executor/units.h"
#include "sim/test.h"

static struct dz_units first;
static struct dz_units second;
static struct dz_executor executor;

static enum dz_poll poll(struct dz_units *units)
{
    dz_key key = dz_port_enter();
    bool is_ours = dz_units_take(units, 0, DZ_CHECKS);

    dz_port_exit(key);
    return is_ours ? DZ_READY : DZ_PENDING;
}

static void give(struct dz_units *units)
{
    dz_key key = dz_port_enter();

    dz_units_give(units);
    dz_port_exit(key);
}

struct walker {
    struct dz_task task;
    bool is_granted_first;
    bool done;
};

static enum dz_poll walker_poll(struct walker *self)
{
    async (self) {
        walk_away_from(poll(&first));
        if (self->is_granted_first)
            give(&first);
        await(poll(&second));
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(walkers, struct walker, walker_poll, 1)

static struct walker *walk(bool is_granted_first)
{
    struct walker *walker;

    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
    memset(walkers_slots, 0, sizeof(walkers_slots));
    dz_executor_init(&executor, "test");
    (void)walkers_claim(&walker);
    walker->is_granted_first = is_granted_first;
    dz_executor_spawn(&executor, &walker->task);
    dz_executor_poll(&executor);
    return walker;
}

static void waiting_elsewhere_moves_the_place(void **state)
{
    struct walker *walker = walk(false);

    (void)state;
    assert_null(first.first);
    assert_ptr_equal(second.first, &walker->task.waiter);
    give(&second);
    dz_executor_poll(&executor);
    assert_true(walker->done);
}

static void waiting_elsewhere_passes_a_grant_on(void **state)
{
    struct walker *walker = walk(true);

    (void)state;
    assert_int_equal(dz_units_free(&first, 0), 1);
    assert_ptr_equal(second.first, &walker->task.waiter);
}

RUN_TESTS(TEST(waiting_elsewhere_moves_the_place),
    TEST(waiting_elsewhere_passes_a_grant_on))
