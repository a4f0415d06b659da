/* SPDX-License-Identifier: MIT */
#ifndef CLOCK_TEST_H
#define CLOCK_TEST_H

/*
 * clock_test -- the time as the board's own counter sees it
 */

#include "executor/ports/cortex_m/port_test.h"
#include "executor/time.h"

enum {
    COUNTS_PER_TICK = BOARD_HZ / DZ_TICK_HZ,
    A_LOOK = 1600 / COUNTS_PER_TICK, /* what a handler, or a look, may take */
};

/* When the time was known: the counter before and behind the look. */
static uint32_t known_before, known_behind;
static uint64_t known;

static inline void know_the_time(void)
{
    known_before = board_count();
    known = dz_port_now();
    known_behind = board_count();
}

static uint64_t last_seen;

/* The time is that of the counter, but for what a tick is rounded, and never
 * before one that was seen. */
static inline void look(void)
{
    uint64_t seen = last_seen;
    uint32_t before = board_count();
    uint64_t now = dz_port_now();
    uint32_t behind = board_count();

    assert_true(now >= seen);
    assert_in_range(now - known,
        (int64_t)((before - known_behind) / COUNTS_PER_TICK) - 1,
        (behind - known_before) / COUNTS_PER_TICK + 1);
    last_seen = now;
}

#endif
