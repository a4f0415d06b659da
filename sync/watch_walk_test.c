/* SPDX-License-Identifier: MIT */

/*
 * watch_walk_test -- a fork that is left for the watch that it waits at
 *
 * This file is compiled as a target ships it, with DZ_CHECKS=0. Else to walk
 * away without dz_cancel() panics.
 */

#include "executor/select.h"
#include "sim/test.h"
#include "sync/watch.h"

DZ_WATCH_DEFINE(level_watch, int, DZ_CRITICAL_SECTION)

static struct level_watch level;
static struct dz_executor executor;

struct waiting {
    struct dz_task task;
    struct dz_select2 select;
    struct level_watch_receiver receivers[2];
    int value;
    int polls;
};

/* Gets what is there, and waits for the next. */
static enum dz_poll waiting_poll(struct waiting *self)
{
    self->polls++;
    walk_away_from(
        level_watch_receiver_changed(&self->receivers[0], &self->value));
    return level_watch_receiver_changed(&self->receivers[0], &self->value);
}

static enum dz_poll walker_poll(struct waiting *self)
{
    for (int i = 0; i < 2; i++)
        self->receivers[i].receiver.seen = 1;
    walk_away_from(dz_select2(&self->select,
        level_watch_receiver_changed(&self->receivers[0], &self->value),
        level_watch_receiver_changed(&self->receivers[1], &self->value)));
    return level_watch_receiver_get(&self->receivers[0], &self->value);
}

DZ_TASK_POOL(waitings, struct waiting, waiting_poll, 1)
DZ_TASK_POOL(walkers, struct waiting, walker_poll, 1)

static struct waiting *spawn(const struct dz_pool *pool)
{
    struct waiting *waiting = dz_pool_claim(pool);

    for (int i = 0; i < 2; i++)
        waiting->receivers[i] = level_watch_receiver(&level);
    dz_executor_spawn(&executor, &waiting->task);
    dz_executor_poll(&executor);
    return waiting;
}

static void who_has_looked_is_not_woken_by_who_walks_away(void **state)
{
    struct waiting *waiting;
    struct waiting *walker;

    (void)state;
    dz_executor_init(&executor, "test");
    level_watch_send(&level, 1);
    waiting = spawn(&waitings);
    assert_int_equal(waiting->value, 1);

    walker = spawn(&walkers);
    dz_executor_poll(&executor);

    assert_int_equal(walker->value, 1);
    assert_int_equal(waiting->polls, 1);
}

RUN_TESTS(TEST(who_has_looked_is_not_woken_by_who_walks_away))
