/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_FORK_TEST_H
#define EXECUTOR_FORK_TEST_H

/*
 * fork_test -- what the tests of selects and joins share
 *
 * Sources of units to wait at, and children that hold a lock.
 */

#include "executor/fork.h"
#include "executor/units.h"
#include "sim/test.h"

enum { SOURCES = 6 };

/* Sources of units, each with a queue. */
static struct dz_units sources[SOURCES];
static struct dz_executor executor;

static inline enum dz_poll source_poll(unsigned i)
{
    dz_key key = dz_port_enter();
    bool is_ours = dz_units_take(&sources[i], 0, DZ_CHECKS);

    dz_port_exit(key);
    return is_ours ? DZ_READY : DZ_PENDING;
}

static inline void give(unsigned i)
{
    dz_key key = dz_port_enter();

    dz_units_give(&sources[i]);
    dz_port_exit(key);
}

/* Units that nobody waits for, so nobody is promised them. */
static inline unsigned left_at(unsigned i)
{
    return dz_units_free(&sources[i], 0);
}

static inline bool somebody_waits_at(unsigned i)
{
    return sources[i].first != NULL;
}

static inline void nobody_waits_anywhere(void)
{
    for (unsigned i = 0; i < SOURCES; i++)
        assert_false(somebody_waits_at(i));
}

static unsigned polled[SOURCES]; /* how often */

static inline enum dz_poll counted_poll(unsigned i)
{
    polled[i]++;
    return source_poll(i);
}

static inline enum dz_poll counted_array_poll(void *argument, unsigned branch)
{
    (void)argument;
    return counted_poll(branch);
}

/* A lock, held by a child across its wait. */
static bool lock_is_held;
static char drops[8]; /* in which order guards were dropped */

static inline void note_drop(char letter)
{
    drops[strlen(drops)] = letter;
}

struct child {
    struct dz_frame frame;
    struct dz_guard outer;
    struct dz_guard inner;
    unsigned source;
};

static unsigned left_at_drop; /* at source 0 */

static inline void drop_outer(struct dz_guard *guard)
{
    (void)guard;
    left_at_drop = left_at(0);
    lock_is_held = false;
    note_drop('o');
}

static inline void drop_inner(struct dz_guard *guard)
{
    (void)guard;
    note_drop('i');
}

static inline enum dz_poll child_poll(struct child *self)
{
    async (self) {
        lock_is_held = true;
        dz_guard_enter(&self->outer, drop_outer);
        dz_guard_enter(&self->inner, drop_inner);
        await(source_poll(self->source));
        dz_guard_leave(&self->inner);
        dz_guard_leave(&self->outer);
        lock_is_held = false;
    }
    return DZ_READY;
}

/* Takes a lock and is done: the lock is what it returns. */
static inline enum dz_poll acquire_poll(struct child *self)
{
    async (self) {
        await(source_poll(self->source));
        lock_is_held = true;
        dz_guard_enter(&self->outer, drop_outer);
    }
    return DZ_READY;
}

/* Everything as it was before the first test. */
static inline void begin_afresh(void)
{
    memset(sources, 0, sizeof(sources));
    memset(polled, 0, sizeof(polled));
    memset(drops, 0, sizeof(drops));
    lock_is_held = false;
    dz_executor_init(&executor, "test");
}

static inline void pass(void)
{
    dz_executor_poll(&executor);
}

#endif
