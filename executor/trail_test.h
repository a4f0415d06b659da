/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_TRAIL_TEST_H
#define EXECUTOR_TRAIL_TEST_H

/*
 * trail_test -- what tests of executors see: who ran, and what was pended
 */

#include "sim/test.h"

/* What the tasks did, a letter for each step. */
static char trail[128];

static inline void note(int letter)
{
    size_t len = strlen(trail);

    assert_true(len + 1 < sizeof(trail));
    trail[len] = (char)letter;
    trail[len + 1] = '\0';
}

/* No trail, and nothing pended. */
static inline void begin_trail(void)
{
    trail[0] = '\0';
    (void)was_pended();
}

#endif
