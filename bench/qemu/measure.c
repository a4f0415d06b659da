/* SPDX-License-Identifier: MIT */
#include "bench/qemu/measure.h"

#include <stdlib.h>

enum {
    STACK = 8192, /* painted */
    DECIMALS = 6, /* printed, unless they are 0 */
    MILLION = 1000000,
};

#define PAINT UINT32_C(0xA5C3E187)

#define ON_ITS_OWN __attribute__((noinline))

static void print_whole(uint64_t number, unsigned digits)
{
    char text[20];
    size_t at = sizeof(text);

    while (number != 0 || digits > 0) {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
        digits -= digits > 0;
    }
    board_write(text + at, sizeof(text) - at);
}

/* What is counted has that many decimals, or less: to round here is to find the
 * number that was meant. */
static void print_number(double value)
{
    uint64_t number = (uint64_t)((value < 0 ? -value : value) * MILLION + 0.5);
    unsigned decimals = (unsigned)(number % MILLION);
    unsigned digits = DECIMALS;

    if (value < 0)
        board_print("-");
    print_whole(number / MILLION, 1);
    if (decimals == 0)
        return;
    for (; decimals % 10 == 0; decimals /= 10)
        digits--;
    board_print(".");
    print_whole(decimals, digits);
}

static void print_counter(const char *name, double value)
{
    board_print(", \"");
    board_print(name);
    board_print("\": ");
    print_number(value);
}

static ON_ITS_OWN uint32_t instructions_of(
    const struct bench *bench, uint64_t rounds)
{
    struct bench_run run = {.rounds = rounds};
    uint32_t before = measure_stamp();

    bench->run(&run);
    return measure_instructions(before, measure_stamp());
}

/* Nothing is pushed in here between painting and the call, so what is found
 * used below is what the benchmark has used. */
static ON_ITS_OWN uint32_t stack_of(
    const struct bench *bench, struct bench_run *run)
{
    volatile uint32_t *top;
    volatile uint32_t *bottom;
    volatile uint32_t *at;

    __asm__ volatile("mov %0, sp" : "=r"(top));
    bottom = top - STACK / sizeof(*top);
    for (at = bottom; at != top; at++)
        *at = PAINT;
    bench->run(run);
    for (at = bottom; *at == PAINT && at != top; at++)
        continue;
    if (at == bottom)
        abort();
    return (uint32_t)((top - at) * (int)sizeof(*top));
}

void measure_report(const char *name, const struct bench_run *run)
{
    board_print("{\"name\": \"");
    board_print(name);
    board_print("\"");
    for (unsigned i = 0; i < run->count; i++)
        print_counter(run->counters[i].name, run->counters[i].value);
    board_print("}\n");
}

/* The difference of two runs: what comes before and behind the loop is not
 * counted. The run that was painted has found all as it is at the start of the
 * program; these two do not differ in that. */
static double instructions_of_round(const struct bench *bench)
{
    uint32_t once = instructions_of(bench, bench->rounds);
    uint32_t twice = instructions_of(bench, 2 * bench->rounds);

    return (double)(twice - once) / (double)bench->rounds;
}

static void measure_one(const struct bench *bench)
{
    struct bench_run run = {.rounds = bench->rounds};
    uint32_t stack = stack_of(bench, &run);

    if (bench->rounds > 0)
        bench_count(&run, "instructions", instructions_of_round(bench));
    bench_count(&run, "stack", stack);
    measure_report(bench->name, &run);
}

void measure(const struct bench *benches, size_t count)
{
    for (size_t i = 0; i < count; i++)
        measure_one(&benches[i]);
}

void bench_count(struct bench_run *run, const char *name, double value)
{
    if (run->count == BENCH_COUNTERS)
        abort();
    run->counters[run->count++] = (struct bench_counter){name, value};
}
