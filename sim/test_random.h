/* SPDX-License-Identifier: MIT */
#ifndef SIM_TEST_RANDOM_H
#define SIM_TEST_RANDOM_H

/*
 * test_random -- random tests, which can be replayed and made longer
 *
 *     long steps = random_steps(STEPS);
 *
 *     random_begin();
 *     for (step = 0; step < steps; step++) {
 *         do_one_of(dice(6));
 *         check(what_is() == what_the_model_says());
 *     }
 *
 * DOZE_SEED and DOZE_STEPS in the environment replace the seed, which else is
 * 1, and the number of steps, which else is the test's own.
 */

#include "sim/random.h"
#include "sim/test.h"

static uint64_t seed;
static long step;

/* For what a test finds out at random, so that it can be found again. */
#define check(condition)                                                  \
    do {                                                                  \
        if (!(condition))                                                 \
            fail_msg("%s, line %d: step %ld, replay with DOZE_SEED=%llu", \
                #condition, __LINE__, step, (unsigned long long)seed);    \
    } while (0)

static inline uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    char *end;
    uint64_t number;

    if (text == NULL)
        return otherwise;
    number = strtoull(text, &end, 0);
    if (end == text || *end != '\0')
        fail_msg("%s=%s is not a number", variable, text);
    return number;
}

static inline long random_steps(long otherwise)
{
    return (long)number_from("DOZE_STEPS", (uint64_t)otherwise);
}

/* Every run begins with it, and so with the same numbers. */
static inline void random_begin(void)
{
    seed = number_from("DOZE_SEED", 1);
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    step = 0;
    print_message("DOZE_SEED=%llu\n", (unsigned long long)seed);
}

#endif
