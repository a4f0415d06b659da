/* SPDX-License-Identifier: MIT */
#include "sim/program.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/panic.h"
#include "sim/core.h"
#include "sim/ending.h"
#include "sim/machine.h"
#include "sim/pin.h"
#include "sim/report.h"
#include "sim/stimulus.h"
#include "sim/trace.h"
#include "sim/twice.h"
#include "sim/uart.h"
#include "sim/virtual.h"
#include "sim/watchdog.h"

static struct {
    struct dz_machine machine;
    uint64_t stop_after; /* ns; UINT64_MAX: never */
    uint64_t patience;   /* ns of CPU time */
    unsigned cores;
    const char *uarts[DZ_UARTS];
    const char *pins;
    const char *stimulus;
    const char *trace;
    const char *vcd;
    int stream; /* of --first-run and --second-run; -1: neither */
    bool is_second_run;
    bool is_checked; /* --check-determinism */
} options;

static const struct dz_program *program;
static struct dz_core cores[DZ_CORES];
static struct dz_due stop;
static uint64_t at_rest = UINT64_MAX; /* since when, at the stop */

static _Noreturn void misuse(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static void misuse(const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "%s: ", program->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(DZ_EXIT_USAGE);
}

struct option_type {
    const char *name;
    const char *value; /* what it looks like; NULL: takes none */
    const char *help;  /* NULL: not for people */
    void (*set)(const struct option_type *type, const char *value);
};

static uint64_t number_of(
    const struct option_type *type, const char *text, uint64_t max)
{
    char *end;
    unsigned long long number;

    errno = 0;
    number = strtoull(text, &end, 0);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 ||
        number > max)
        misuse("--%s %s: give a whole number, at most %" PRIu64, type->name,
            text, max);
    return number;
}

static uint64_t time_of(const struct option_type *type, const char *text)
{
    uint64_t ns;
    enum dz_time_error error = dz_time_parse(text, &ns);

    if (error == DZ_TIME_TOO_LARGE)
        misuse("--%s %s is too large", type->name, text);
    if (error == DZ_TIME_NONE)
        misuse("--%s %s: give a whole number with its unit, one of ns, us, ms, "
               "s, min, h; such as --%s 500ms",
            type->name, text, type->name);
    return ns;
}

static void set_time(const struct option_type *type, const char *value)
{
    if (strcmp(value, "real") == 0)
        options.machine.time = DZ_TIME_REAL;
    else if (strcmp(value, "virtual") == 0)
        options.machine.time = DZ_TIME_VIRTUAL;
    else
        misuse("--%s %s: give real or virtual", type->name, value);
}

static void set_seed(const struct option_type *type, const char *value)
{
    options.machine.seed = number_of(type, value, UINT64_MAX);
}

static void set_stop_after(const struct option_type *type, const char *value)
{
    options.stop_after = time_of(type, value);
}

static void set_patience(const struct option_type *type, const char *value)
{
    options.patience = time_of(type, value);
    if (options.patience < 1000000)
        misuse("--%s %s: give at least 1ms", type->name, value);
}

static unsigned most_cores(void)
{
    return program->cores != 0 ? program->cores : 1;
}

static void set_cores(const struct option_type *type, const char *value)
{
    uint64_t count = number_of(type, value, UINT_MAX);

    if (count == 0 || count > most_cores())
        misuse("--%s %s: this firmware runs on 1 to %u cores", type->name,
            value, most_cores());
    options.cores = (unsigned)count;
}

static uint32_t *cost_called(const char *name)
{
    struct dz_costs *costs = &options.machine.costs;

    if (strcmp(name, "poll") == 0)
        return &costs->poll;
    if (strcmp(name, "handler") == 0)
        return &costs->handler;
    if (strcmp(name, "clock") == 0)
        return &costs->clock;
    return strcmp(name, "access") == 0 ? &costs->access : NULL;
}

static void set_costs(const struct option_type *type, const char *value)
{
    const char *rest = value;

    do {
        char name[16];
        char number[16];
        int len = 0;
        uint32_t *cost = NULL;

        if (sscanf(rest, "%15[a-z]=%15[0-9]%n", name, number, &len) == 2)
            cost = cost_called(name);
        if (cost == NULL || (rest[len] != ',' && rest[len] != '\0'))
            misuse("--%s %s: give any of poll=NS,handler=NS,clock=NS,access=NS",
                type->name, value);
        *cost = (uint32_t)number_of(type, number, UINT32_MAX);
        rest += len;
    } while (*rest++ == ',');
}

static void set_tick(const struct option_type *type, const char *value)
{
    (void)type;
    (void)value;
    options.machine.tick_hz = 1000;
}

static void set_uart(const struct option_type *type, const char *value)
{
    options.uarts[type->name[strlen(type->name) - 1] - '0'] = value;
}

static void set_pins(const struct option_type *type, const char *value)
{
    (void)type;
    options.pins = value;
}

static void set_stimulus(const struct option_type *type, const char *value)
{
    (void)type;
    options.stimulus = value;
}

static void set_trace(const struct option_type *type, const char *value)
{
    (void)type;
    options.trace = value;
}

static void set_vcd(const struct option_type *type, const char *value)
{
    (void)type;
    options.vcd = value;
}

static void set_check(const struct option_type *type, const char *value)
{
    (void)type;
    (void)value;
    options.is_checked = true;
}

static void set_run(const struct option_type *type, const char *value)
{
    options.stream = (int)number_of(type, value, INT_MAX);
    options.is_second_run = strcmp(type->name, DZ_TWICE_SECOND) == 0;
}

static void print_help(const struct option_type *type, const char *value);

static const struct option_type types[] = {
    {"time", "real|virtual",
        "real (the default): as fast as the host's clock; virtual: as fast "
        "as\nit goes, the same in each run, for at most 52 days",
        set_time},
    {"seed", "N",
        "chooses the order of what is due at the same instant of virtual time",
        set_seed},
    {"stop-after", "TIME", "ends the run, such as 5s, 300ms, 1h",
        set_stop_after},
    {"cores", "N", "runs on so many cores", set_cores},
    {"costs", "poll=NS,...",
        "what takes how long in virtual time, in ns: poll (of a task), "
        "handler\n(of an interrupt), clock (a look at it), access (to a "
        "peripheral)",
        set_costs},
    {"tick", NULL,
        "a clock that interrupts each ms, and not only when a timer is due",
        set_tick},
    {"uart0", "WHERE",
        "connects a UART: stdio, pty, pty:LINK, tcp:PORT, file:PATH", set_uart},
    {"uart1", "WHERE", "likewise", set_uart},
    {"uart2", "WHERE", "likewise", set_uart},
    {"uart3", "WHERE", "likewise", set_uart},
    {"pins", "WHERE",
        "connects the pins likewise, for lines such as pin 3 high", set_pins},
    {"stimulus", "FILE",
        "what happens from outside, and what is expected, by time:\n"
        "  at 100ms pin 3 high            (or low, toggle)\n"
        "  at 1s every 500ms pin 3 toggle\n"
        "  at 2s uart 0 send \"hello\\n\"\n"
        "  at 100ms expect pin 5 high within 5ms\n"
        "  at 2s expect uart 0 \"HELLO\" within 20ms",
        set_stimulus},
    {"trace", "FILE", "writes all events for https://ui.perfetto.dev",
        set_trace},
    {"vcd", "FILE", "writes the pins for a waveform viewer", set_vcd},
    {"check-determinism", NULL,
        "runs twice, and compares the two runs event by event", set_check},
    {"patience", "TIME",
        "how much CPU time may pass before it is a busy loop (10s)",
        set_patience},
    {"help", NULL, "prints this; so does -h", print_help},
    {DZ_TWICE_FIRST, "FD", NULL, set_run},
    {DZ_TWICE_SECOND, "FD", NULL, set_run},
};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

/* Each line of the help in its column. */
static void print_type(const struct option_type *type)
{
    const char *help = type->help;
    char name[40];

    snprintf(name, sizeof(name), "--%s %s", type->name,
        type->value != NULL ? type->value : "");
    printf("  %-20s ", name);
    for (; *help != '\0'; help++)
        if (*help == '\n')
            printf("\n%24s", "");
        else
            putchar(*help);
    putchar('\n');
}

static void print_help(const struct option_type *type, const char *value)
{
    (void)type;
    (void)value;
    printf("usage: %s [option]...\n\nOptions:\n", program->name);
    for (unsigned i = 0; i < TYPES; i++)
        if (types[i].help != NULL)
            print_type(&types[i]);
    puts("\nExit codes:\n"
         "   0  all as expected, or nothing was expected\n"
         "   1  an expectation or assertion failed, or a panic\n"
         "   2  deadlock: all cores sleep, and nothing is scheduled (virtual "
         "time)\n"
         "   3  busy loop: a core neither sleeps nor gets on\n"
         "   4  timeout: --stop-after, and an expectation was still open; or "
         "virtual\n      time has reached its end\n"
         "   5  race: two contexts use something without a lock\n"
         "   6  not deterministic: --check-determinism found a difference\n"
         "  64  a bad option or stimulus; nothing ran\n"
         " 130  Ctrl-C; 143: SIGTERM. What goes on for 2 s nevertheless, or "
         "at a\n      second Ctrl-C, is reported as a busy loop");
    exit(fflush(stdout) == 0 ? DZ_EXIT_PASS : DZ_EXIT_USAGE);
}

static void parse_options(int argc, char **argv)
{
    struct option table[TYPES + 1] = {{.name = NULL}};
    int index;

    for (int i = 0; i < TYPES; i++) {
        table[i].name = types[i].name;
        table[i].has_arg =
            types[i].value != NULL ? required_argument : no_argument;
        table[i].val = i + 256;
    }
    opterr = 0;
    while ((index = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (index == ':')
            misuse("%s needs a value; see --help", argv[optind - 1]);
        if (index == 'h')
            print_help(NULL, NULL);
        if (index < 256)
            misuse("there is no option %s; see --help", argv[optind - 1]);
        types[index - 256].set(&types[index - 256], optarg);
    }
    if (optind < argc)
        misuse("there is no option %s; see --help", argv[optind]);
}

static bool is_file(const char *where)
{
    return where == NULL || strncmp(where, "file:", 5) == 0;
}

/* What does not go together; not least, what would make two runs differ,
 * whatever the firmware does. */
static void check_options(void)
{
    bool is_closed = is_file(options.pins);

    if (options.machine.time == DZ_TIME_VIRTUAL &&
        options.stop_after != UINT64_MAX &&
        options.stop_after >= DZ_VIRTUAL_END)
        misuse(
            "--stop-after is too large: virtual time ends after 52 days (1250h)");
    for (unsigned i = 0; i < DZ_UARTS; i++)
        is_closed = is_closed && is_file(options.uarts[i]);
    if (!options.is_checked)
        return;
    if (options.machine.time != DZ_TIME_VIRTUAL)
        misuse("--check-determinism: real time is never the same twice; add "
               "--time virtual");
    if (!is_closed)
        misuse("--check-determinism: input from outside is never the same "
               "twice; connect UARTs and pins to files only, and use "
               "--stimulus");
}

struct dz_core *dz_program_core(unsigned index)
{
    if (index >= options.cores)
        dz_panic(
            "the program runs on fewer cores than that", __FILE__, __LINE__);
    return &cores[index];
}

void dz_program_end(int code)
{
    dz_ending_ask(code);
}

static void stop_now(struct dz_due *due)
{
    (void)due;
    if (options.machine.time == DZ_TIME_VIRTUAL)
        at_rest = dz_virtual_at_rest();
    dz_report_keep_interrupts();
    dz_ending_ask(DZ_ENDING_STOP);
}

/* The second of two runs leaves no files. */
static const char *path_of(const char *path)
{
    return options.is_second_run ? NULL : path;
}

/* Ends the program if that fails. */
static void try_to_write(const char *option, const char *path)
{
    FILE *file = path != NULL ? fopen(path, "a") : NULL;

    if (file != NULL)
        fclose(file);
    else if (path != NULL)
        misuse("--%s %s: %s", option, path, strerror(errno));
}

static void begin_trace(void)
{
    struct dz_trace_options trace = {
        .json = path_of(options.trace),
        .vcd = path_of(options.vcd),
        .stream = options.stream,
        .is_hashed = options.machine.time == DZ_TIME_VIRTUAL,
    };

    if (dz_trace_begin(&trace))
        return;
    try_to_write("trace", trace.json);
    try_to_write("vcd", trace.vcd);
    misuse("the trace cannot begin");
}

static void open_outside(void)
{
    struct dz_stream_error error;

    for (unsigned i = 0; i < DZ_UARTS; i++)
        if (path_of(options.uarts[i]) != NULL &&
            !dz_uart_open(i, options.uarts[i], &error))
            misuse("--uart%u %s: %s", i, options.uarts[i], error.text);
    if (path_of(options.pins) != NULL && !dz_pin_open(options.pins, &error))
        misuse("--pins %s: %s", options.pins, error.text);
    if (options.stimulus != NULL && !dz_stimulus_open(options.stimulus))
        exit(DZ_EXIT_USAGE);
}

static void close_outside(void)
{
    dz_stimulus_close();
    dz_pin_close();
    for (unsigned i = 0; i < DZ_UARTS; i++)
        dz_uart_close(i);
}

static void begin(void)
{
    dz_machine_start(&options.machine);
    begin_trace();
    dz_report_begin();
    open_outside();
    stop.fire = stop_now;
    if (options.stop_after != UINT64_MAX)
        dz_due_set(&stop, options.stop_after);
    dz_ending_begin(options.cores);
    dz_watchdog_start(options.patience, options.cores);
}

static void run_firmware(void *core)
{
    program->firmware(((struct dz_core *)core)->home.index);
}

static void run_cores(void)
{
    for (unsigned i = 0; i < options.cores; i++) {
        cores[i].home.index = i;
        dz_core_start(&cores[i], run_firmware, &cores[i]);
    }
    for (unsigned i = 0; i < options.cores; i++)
        dz_core_join(&cores[i]);
}

/* The exit code. Expectations that are open fail if no time is left for them
 * because the firmware is at its end. */
static int conclude(void)
{
    int code = dz_ending_code();

    if (code >= 0)
        return code;
    if (dz_stimulus_report_open() == 0)
        return DZ_EXIT_PASS;
    if (code == DZ_ENDING_NONE)
        return DZ_EXIT_PANIC;
    dz_report_tasks();
    return DZ_EXIT_TIMEOUT;
}

static void print_time(uint64_t ns)
{
    fprintf(stderr, "%" PRIu64 ".%09" PRIu64 " s", ns / 1000000000,
        ns % 1000000000);
}

static const char *word_for(int code)
{
    static const char *const words[] = {
        [DZ_EXIT_PASS] = " (pass)",
        [DZ_EXIT_PANIC] = " (failed)",
        [DZ_EXIT_DEADLOCK] = " (deadlock)",
        [DZ_EXIT_BUSY_LOOP] = " (busy loop)",
        [DZ_EXIT_TIMEOUT] = " (timeout)",
        [DZ_EXIT_RACE] = " (race)",
        [DZ_EXIT_NOT_DETERMINISTIC] = " (not deterministic)",
    };

    if (code == DZ_EXIT_USAGE)
        return " (usage)";
    if (code == 130)
        return " (Ctrl-C)";
    if (code == 143)
        return " (SIGTERM)";
    return code < (int)(sizeof(words) / sizeof(*words)) ? words[code] : "";
}

/* With --stop-after, something is always scheduled, so a deadlock looks like
 * firmware that has nothing to do. */
static void print_summary(int code, uint64_t now)
{
    if (at_rest != UINT64_MAX) {
        fprintf(stderr, "%s: note: from ", program->name);
        print_time(at_rest);
        fputs(" on, all cores slept, and nothing was scheduled but the end; "
              "without --stop-after that is a deadlock\n",
            stderr);
    }
    fprintf(
        stderr, "%s: exit code %d%s at ", program->name, code, word_for(code));
    print_time(now);
    if (options.machine.time == DZ_TIME_VIRTUAL)
        fprintf(stderr, ", events %016" PRIx64, dz_trace_hash());
    fputc('\n', stderr);
}

/* Peripherals come before the loop that they live on. What they raise for a
 * core that has ended is dropped. */
static int finish(void)
{
    uint64_t now = dz_machine_now();
    int code = conclude();
    bool is_written;

    dz_watchdog_stop();
    dz_ending_end();
    dz_due_clear(&stop);
    close_outside();
    dz_report_end();
    is_written = dz_trace_end() == 0;
    dz_machine_stop();
    print_summary(code, now);
    if (!is_written)
        fprintf(stderr, "%s: the trace could not be written\n", program->name);
    return code == DZ_EXIT_PASS && !is_written ? DZ_EXIT_USAGE : code;
}

int dz_program_main(int argc, char **argv, const struct dz_program *self)
{
    program = self;
    if (most_cores() > DZ_CORES)
        dz_panic(
            "the program has more cores than DZ_CORES", __FILE__, __LINE__);
    options.machine.costs = (struct dz_costs)DZ_COSTS_DEFAULT;
    options.stop_after = UINT64_MAX;
    options.patience = UINT64_C(10000000000);
    options.cores = most_cores();
    options.stream = -1;
    parse_options(argc, argv);
    check_options();
    if (options.is_checked && options.stream < 0)
        return dz_twice_run(argv);
    begin();
    run_cores();
    return finish();
}
