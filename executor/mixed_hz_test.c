/* SPDX-License-Identifier: MIT */

/*
 * mixed_hz_test -- counts in other ticks than the library, so must not link
 *
 * The test executor/mixed_hz passes when the linker complains.
 */

#include "executor/time.h"

int main(int argc, char **argv)
{
    (void)argv;
    return (int)dz_instant_as_secs(dz_instant_from_ticks((uint64_t)argc));
}
