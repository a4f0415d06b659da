// SPDX-License-Identifier: MIT
#include "bench/bench.h"

#include <benchmark/benchmark.h>

#ifdef __linux__
#include <sys/personality.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace
{

double minimum(const std::vector<double> &values)
{
    return *std::min_element(values.begin(), values.end());
}

double maximum(const std::vector<double> &values)
{
    return *std::max_element(values.begin(), values.end());
}

// Starts the program again with the same memory layout in every run. In one
// run in a hundred, a random layout gave two hot cache lines the same tag in
// the processor's way predictor, and one benchmark took twice its time. Where
// this is not allowed, the layout stays as it is.
void fix_layout(char **argv)
{
#ifdef __linux__
    int before = personality(0xffffffff);

    if (before == -1 || (before & ADDR_NO_RANDOMIZE) != 0)
        return;
    personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE);
    if ((personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0)
        execv("/proc/self/exe", argv);
#else
    (void)argv;
#endif
}

// One batch is one repetition. The batch is longer than what Google Benchmark
// asks for at first, and the least time that it wants (see bench_main) is over
// before the batch is: so there is exactly one.
void run_bench(
    benchmark::State &state, const struct bench *bench, uint64_t rounds)
{
    struct bench_run run = {};

    run.rounds = rounds;
    while (state.KeepRunningBatch(static_cast<int64_t>(rounds)))
        bench->run(&run);
    for (unsigned i = 0; i < run.count; i++)
        state.counters[run.counters[i].name] = run.counters[i].value;
}

void register_bench(const struct bench *bench, bool quick)
{
    uint64_t rounds =
        quick ? std::max<uint64_t>(bench->rounds / 10, 1) : bench->rounds;

    benchmark::RegisterBenchmark(bench->name, run_bench, bench, rounds)
        ->ComputeStatistics("min", minimum)
        ->ComputeStatistics("max", maximum);
}

// Takes a flag of our own out of the arguments.
bool take_flag(std::vector<char *> &arguments, const char *flag)
{
    auto at = std::find_if(arguments.begin() + 1, arguments.end(),
        [flag](const char *argument) { return !std::strcmp(argument, flag); });

    if (at == arguments.end())
        return false;
    arguments.erase(at);
    return true;
}

} // namespace

extern "C" void bench_count(
    struct bench_run *run, const char *name, double value)
{
    if (run->count == BENCH_COUNTERS) {
        std::fprintf(stderr, "more than %d counters\n", BENCH_COUNTERS);
        std::abort();
    }
    run->counters[run->count++] = {name, value};
}

extern "C" int bench_main(int argc, char **argv, struct bench_suite suite)
{
    fix_layout(argv);
    // Flags that the caller may override. Repetitions are interleaved at
    // random, so that a disturbance hits all benchmarks alike and ratios hold.
    std::vector<std::string> defaults = {
        std::string("--benchmark_enable_random_interleaving=") +
            (suite.repetitions ? "true" : "false"),
        "--benchmark_min_time=0.000001",
        std::string("--benchmark_repetitions=") +
            (suite.repetitions ? suite.repetitions : "1"),
    };
    std::vector<char *> arguments(argv, argv + argc);
    bool quick = take_flag(arguments, "--quick");

    for (std::string &flag : defaults)
        arguments.insert(arguments.begin() + 1, flag.data());
    argc = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    benchmark::Initialize(&argc, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(argc, arguments.data()))
        return 2;
    benchmark::AddCustomContext("compiler", BENCH_COMPILER);
    benchmark::AddCustomContext("flags", BENCH_FLAGS);
    for (size_t i = 0; i < suite.count; i++)
        register_bench(&suite.benches[i], quick);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
