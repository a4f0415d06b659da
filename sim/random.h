/* SPDX-License-Identifier: MIT */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

/*
 * random -- dice that fall alike on every machine
 *
 * The state is set by whoever wants the same numbers again. It must not be 0.
 */

#include <stdint.h>

static uint64_t random_state;

/* xorshift64 (Marsaglia 2003). */
static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* 0 to sides - 1. */
static inline unsigned dice(unsigned sides)
{
    return (unsigned)(random_bits() >> 11) % sides;
}

#endif
