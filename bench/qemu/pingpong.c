/* SPDX-License-Identifier: MIT */

/*
 * pingpong -- one of the variants of bench/pingpong.c, which is the program's
 *
 * Each has a program of its own, as those of Embassy and FreeRTOS had: what an
 * optimiser sees at link time, and then puts inline because nobody else calls
 * it, is part of what is measured.
 *
 *     PINGPONG         the name of the benchmark function
 *     PINGPONG_NAME    and that of the result
 */

#include "bench/experiments.h"
#include "bench/qemu/measure.h"

int main(void)
{
    static const struct bench benches[] = {
        {PINGPONG_NAME, PINGPONG, MEASURE_ROUNDS},
    };

    measure(benches, sizeof(benches) / sizeof(benches[0]));
    return 0;
}
