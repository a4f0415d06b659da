// SPDX-License-Identifier: MIT
#include "bench/bench.h"

#include <benchmark/benchmark.h>

#ifdef __linux__
#include <sys/personality.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace
{

using Run = benchmark::BenchmarkReporter::Run;
using Runs = std::vector<Run>;

double mean(const std::vector<double> &values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) /
        static_cast<double>(values.size());
}

double median(const std::vector<double> &unsorted)
{
    std::vector<double> values = unsorted;
    size_t middle = values.size() / 2;

    std::sort(values.begin(), values.end());
    if (values.size() % 2 != 0)
        return values[middle];
    return (values[middle - 1] + values[middle]) / 2;
}

double deviation(const std::vector<double> &values)
{
    double centre = mean(values);
    double sum = 0;

    for (double value : values)
        sum += (value - centre) * (value - centre);
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double minimum(const std::vector<double> &values)
{
    return *std::min_element(values.begin(), values.end());
}

double maximum(const std::vector<double> &values)
{
    return *std::max_element(values.begin(), values.end());
}

struct Aggregate {
    const char *name;
    double (*of)(const std::vector<double> &values);
};

constexpr Aggregate aggregates[] = {
    {"mean", mean},
    {"median", median},
    {"stddev", deviation},
    {"min", minimum},
    {"max", maximum},
};

// One figure of all repetitions. A reporter divides a time by the iterations;
// those of an aggregate are its repetitions, as Google Benchmark has it.
template <typename Figure>
double aggregate(const Runs &runs, const Aggregate &kind, Figure figure)
{
    std::vector<double> values;

    for (const Run &run : runs)
        values.push_back(figure(run));
    return kind.of(values);
}

Run aggregate_run(const Runs &runs, const Aggregate &kind)
{
    auto count = static_cast<double>(runs.size());
    Run result = runs.front();

    result.run_type = Run::RT_Aggregate;
    result.aggregate_name = kind.name;
    result.iterations = static_cast<benchmark::IterationCount>(runs.size());
    result.real_accumulated_time =
        count * aggregate(runs, kind, [](const Run &run) {
            return run.real_accumulated_time /
                static_cast<double>(run.iterations);
        });
    result.cpu_accumulated_time =
        count * aggregate(runs, kind, [](const Run &run) {
            return run.cpu_accumulated_time /
                static_cast<double>(run.iterations);
        });
    for (auto &counter : result.counters) {
        const std::string &name = counter.first;

        counter.second.value = aggregate(runs, kind,
            [&name](const Run &run) { return run.counters.at(name).value; });
    }
    return result;
}

// Google Benchmark does all repetitions of one benchmark before the next, or
// mixes them at random. A machine that changes its speed in between then hits
// some more than others, and ratios of medians go astray. Here every benchmark
// is registered once for each repetition, and so they take turns; this brings
// the repetitions of each together again for whoever prints them.
class Together : public benchmark::BenchmarkReporter
{
  public:
    explicit Together(benchmark::BenchmarkReporter *inner) : inner_(inner)
    {
    }

    bool ReportContext(const Context &context) override
    {
        inner_->SetOutputStream(&GetOutputStream());
        inner_->SetErrorStream(&GetErrorStream());
        return inner_->ReportContext(context);
    }

    void ReportRuns(const Runs &runs) override
    {
        for (const Run &run : runs) {
            std::string name = run.benchmark_name();

            if (by_name_.find(name) == by_name_.end())
                names_.push_back(name);
            by_name_[name].push_back(run);
        }
    }

    void Finalize() override
    {
        for (const std::string &name : names_)
            report(by_name_[name]);
        inner_->Finalize();
    }

  private:
    void report(Runs &runs)
    {
        for (size_t i = 0; i < runs.size(); i++) {
            runs[i].repetitions = static_cast<int64_t>(runs.size());
            runs[i].repetition_index = static_cast<int64_t>(i);
        }
        inner_->ReportRuns(runs);
        if (runs.size() == 1)
            return;
        for (const Aggregate &kind : aggregates)
            inner_->ReportRuns({aggregate_run(runs, kind)});
    }

    std::unique_ptr<benchmark::BenchmarkReporter> inner_;
    std::vector<std::string> names_;
    std::map<std::string, Runs> by_name_;
};

// Starts the program again with the same memory layout in every run. With a
// random layout, one run in sixty gave two hot cache lines the same tag in the
// processor's way predictor, and one benchmark took more than twice its time.
// Where this is not allowed, the layout stays as it is.
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

void register_benches(const struct bench_suite &suite, bool quick)
{
    for (size_t i = 0; i < suite.count; i++) {
        const struct bench *bench = &suite.benches[i];
        uint64_t rounds =
            quick ? std::max<uint64_t>(bench->rounds / 10, 1) : bench->rounds;

        benchmark::RegisterBenchmark(bench->name, run_bench, bench, rounds);
    }
}

// The value of a flag --NAME or --NAME=VALUE, which is taken out of the
// arguments if `take`; null if it is not there.
const char *find_flag(
    std::vector<char *> &arguments, const std::string &flag, bool take)
{
    for (auto at = arguments.begin() + 1; at != arguments.end(); ++at) {
        const char *argument = *at;

        if (std::strncmp(argument, flag.c_str(), flag.size()) != 0)
            continue;
        argument += flag.size();
        if (*argument != '\0' && *argument != '=')
            continue;
        if (take)
            arguments.erase(at);
        return *argument == '=' ? argument + 1 : argument;
    }
    return nullptr;
}

// How often each benchmark runs; 0 if the flag is no such number.
unsigned long repetitions(std::vector<char *> &arguments, unsigned otherwise)
{
    const char *text = find_flag(arguments, "--benchmark_repetitions", true);
    char *end;
    unsigned long count;

    if (text == nullptr)
        return otherwise;
    count = std::strtoul(text, &end, 10);
    return *end == '\0' && count <= 1000 ? count : 0;
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
    std::vector<char *> arguments(argv, argv + argc);
    // The caller may override it: the last one counts.
    std::string min_time = "--benchmark_min_time=0.000001";
    bool quick = find_flag(arguments, "--quick", true) != nullptr;
    bool lists = find_flag(arguments, "--benchmark_list_tests", false);
    bool writes = find_flag(arguments, "--benchmark_out", false);
    unsigned long count = repetitions(arguments, suite.repetitions);

    if (count == 0) {
        std::fprintf(stderr, "--benchmark_repetitions takes a number\n");
        return 2;
    }
    arguments.insert(arguments.begin() + 1, min_time.data());
    argc = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    benchmark::Initialize(&argc, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(argc, arguments.data()))
        return 2;
    benchmark::AddCustomContext("compiler", BENCH_COMPILER);
    benchmark::AddCustomContext("flags", BENCH_FLAGS);
    for (unsigned long i = 0; i < (lists ? 1 : count); i++)
        register_benches(suite, quick);

    Together display(benchmark::CreateDefaultDisplayReporter());
    Together file(new benchmark::JSONReporter);

    benchmark::RunSpecifiedBenchmarks(&display, writes ? &file : nullptr);
    benchmark::Shutdown();
    return 0;
}
