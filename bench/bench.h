/* SPDX-License-Identifier: MIT */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

/*
 * bench -- Google Benchmark for programs in C
 *
 *     static void nothing(struct bench_run *run)
 *     {
 *         for (uint64_t i = 0; i < run->rounds; i++)
 *             ...
 *     }
 *
 *     static const struct bench benches[] = {{"nothing", nothing, 1000}};
 *
 *     return bench_main(argc, argv,
 *         (struct bench_suite){benches, .count = 1, .repetitions = 7});
 *
 * The program then understands all flags of Google Benchmark, and --quick.
 * A benchmark brings its own loop; its time is divided by the rounds. The
 * benchmarks take turns, one repetition each, so that a machine that changes
 * its speed treats them alike; with more than one repetition, mean, median,
 * stddev, min and max are given. --benchmark_out is always JSON.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_COUNTERS = 8 };

struct bench_counter {
    const char *name;
    double value;
};

struct bench_run {
    uint64_t rounds; /* how many to do */
    struct bench_counter counters[BENCH_COUNTERS];
    unsigned count; /* of counters */
};

struct bench {
    const char *name;
    void (*run)(struct bench_run *run);
    uint64_t rounds; /* of one repetition; a tenth with --quick */
};

struct bench_suite {
    const struct bench *benches;
    size_t count;
    unsigned repetitions; /* unless --benchmark_repetitions says otherwise */
};

/* Reports a figure beside the time. At most BENCH_COUNTERS of them. */
void bench_count(struct bench_run *run, const char *name, double value);

/* Runs what the flags select. Returns the exit code: 0, or 2 for a flag that
 * is not understood. */
int bench_main(int argc, char **argv, struct bench_suite suite);

#ifdef __cplusplus
}
#endif

#endif
