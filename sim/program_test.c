/* SPDX-License-Identifier: MIT */

/*
 * Each test runs this very program again, as one of the firmwares below (by
 * name, in the environment), and looks at its exit code and at what it says.
 */
#include "sim/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>

#include <uv.h>

#include "doze.h"
#include "sim/pin.h"
#include "sim/program.h"
#include "sim/trace.h"
#include "sim/uart.h"

DZ_PIN(3)
DZ_PIN(5)
DZ_UART(0)

DZ_CHANNEL_DEFINE(word_channel, unsigned, 2, DZ_NOOP)
DZ_SIGNAL_DEFINE(go_signal, unsigned, DZ_CRITICAL_SECTION)

static struct word_channel words;
static struct go_signal go;
static struct go_signal never;
static struct dz_executor executor;
static struct dz_executor other;

enum { BUTTON_IRQ = 3, UART_IRQ = 4, WILD_IRQ = 7 };

/* The firmwares. */

static void return_at_once(unsigned core)
{
    (void)core;
}

struct any {
    struct dz_task task;
    unsigned value;
    struct dz_timer timer;
    struct dz_select2 select;
    struct {
        struct dz_frame frame;
        unsigned value;
    } child;
};

#define TASK(name) DZ_TASK_POOL(name##s, struct any, name##_poll, 2)

#define SPAWN(executor, name)                        \
    do {                                             \
        struct any *any;                             \
                                                     \
        if (name##s_claim(&any) == DZ_OK)            \
            dz_executor_spawn(executor, &any->task); \
    } while (0)

static enum dz_poll feeder_poll(struct any *self)
{
    async (self) {
        self->value = 1;
        await(word_channel_send(&words, &self->value));
    }
    return DZ_READY;
}
TASK(feeder)

/* The second word never comes. */
enum { CHILD_LINE = __LINE__ + 5 };
static enum dz_poll take_two_poll(struct dz_frame *self, unsigned *value)
{
    async (self) {
        await(word_channel_receive(&words, value));
        await(word_channel_receive(&words, value));
    }
    return DZ_READY;
}

enum { READER_LINE = __LINE__ + 4 };
static enum dz_poll reader_poll(struct any *self)
{
    async (self) {
        await(take_two_poll(&self->child.frame, &self->child.value));
    }
    return DZ_READY;
}
TASK(reader)

static enum dz_poll either_poll(struct any *self)
{
    return dz_select2(&self->select, go_signal_wait(&go, &self->value),
        go_signal_wait(&never, &self->value));
}

enum { CHOOSER_LINE = __LINE__ + 4 };
static enum dz_poll chooser_poll(struct any *self)
{
    async (self) {
        await(either_poll(self));
    }
    return DZ_READY;
}
TASK(chooser)

static void fall_asleep(unsigned core)
{
    (void)core;
    dz_executor_init(&executor, "main");
    SPAWN(&executor, reader);
    SPAWN(&executor, reader);
    SPAWN(&executor, feeder);
    SPAWN(&executor, chooser);
    dz_executor_run(&executor);
}

/* The select is won, and the branch that lost is no longer waited for. */
static enum dz_poll fickle_poll(struct any *self)
{
    async (self) {
        await(dz_select2(&self->select, go_signal_wait(&never, &self->value),
            go_signal_wait(&go, &self->value)));
        await(word_channel_receive(&words, &self->value));
    }
    return DZ_READY;
}
TASK(fickle)

/* Won at once, and then asked again in the same poll. */
static enum dz_poll insistent_poll(struct any *self)
{
    async (self) {
        for (;;)
            await(either_poll(self));
    }
    return DZ_READY;
}
TASK(insistent)

static void insist(unsigned core)
{
    (void)core;
    dz_executor_init(&executor, "main");
    SPAWN(&executor, insistent);
    go_signal_send(&never, 1);
    dz_executor_run(&executor);
}

static void change_its_mind(unsigned core)
{
    (void)core;
    dz_executor_init(&executor, "main");
    SPAWN(&executor, fickle);
    go_signal_send(&go, 1);
    dz_executor_run(&executor);
}

/* An interrupt sends the signal once. */
static enum dz_poll listener_poll(struct any *self)
{
    async (self) {
        await(go_signal_wait(&go, &self->value));
        await(go_signal_wait(&go, &self->value));
    }
    return DZ_READY;
}
TASK(listener)

static enum dz_poll stubborn_poll(struct any *self)
{
    (void)self;
    return DZ_PENDING;
}
TASK(stubborn)

static void go_handler(void *argument)
{
    (void)argument;
    go_signal_send(&go, 1);
}

/* Core 0 never runs its task. */
static void sleep_in_many_ways(unsigned core)
{
    if (core == 0) {
        dz_executor_init(&executor, "main");
        SPAWN(&executor, chooser);
        dz_core_wait_for_interrupt(dz_core_here());
        return;
    }
    dz_core_bind(dz_core_here(), BUTTON_IRQ, go_handler, NULL);
    dz_core_pend(dz_core_here(), BUTTON_IRQ);
    dz_executor_init(&other, "other");
    SPAWN(&other, listener);
    SPAWN(&other, stubborn);
    SPAWN(&other, stubborn);
    dz_executor_run(&other);
}

static volatile bool is_spinning = true;

enum { SPINNER_LINE = __LINE__ + 4 };
static enum dz_poll spinner_poll(struct any *self)
{
    async (self) {
        await(dz_yield_poll());
        while (is_spinning)
            continue;
    }
    return DZ_READY;
}
TASK(spinner)

static void spin(unsigned core)
{
    (void)core;
    dz_executor_init(&executor, "main");
    SPAWN(&executor, spinner);
    dz_executor_run(&executor);
}

static void spin_on_core_1(unsigned core)
{
    static struct dz_executor idle;

    if (core == 1)
        spin(core);
    dz_executor_init(&idle, "idle");
    dz_executor_run(&idle);
}

enum { LATE_SPINNER_LINE = __LINE__ + 4 };
static enum dz_poll late_spinner_poll(struct any *self)
{
    async (self) {
        await(go_signal_wait(&go, &self->value));
        while (is_spinning)
            continue;
    }
    return DZ_READY;
}
TASK(late_spinner)

static enum dz_poll goer_poll(struct any *self)
{
    (void)self;
    go_signal_send(&go, 1);
    return DZ_READY;
}
TASK(goer)

static void spin_when_told(unsigned core)
{
    (void)core;
    dz_executor_init(&executor, "main");
    SPAWN(&executor, late_spinner);
    SPAWN(&executor, goer);
    dz_executor_run(&executor);
}

static void spin_before_all(unsigned core)
{
    (void)core;
    while (is_spinning)
        continue;
}

static enum dz_poll nester_poll(struct any *self)
{
    (void)self;
    dz_core_pend(dz_core_here(), UART_IRQ);
    return DZ_READY;
}
TASK(nester)

/* The spinner yields once. */
static void other_handler(void *argument)
{
    (void)argument;
    dz_executor_poll(&other);
    dz_executor_poll(&other);
}

static void spin_in_a_handler(unsigned core)
{
    (void)core;
    dz_executor_init(&other, "other");
    dz_core_bind(dz_core_here(), UART_IRQ, other_handler, NULL);
    SPAWN(&other, spinner);
    dz_executor_init(&executor, "main");
    SPAWN(&executor, nester);
    dz_executor_run(&executor);
}

static void watch_pin(void)
{
    while (dz_pin_read(dz_pin_3) == DZ_LOW)
        continue;
}

static enum dz_poll watcher_poll(struct any *self)
{
    (void)self;
    watch_pin();
    return DZ_READY;
}
TASK(watcher)

static void watch_a_pin(unsigned core)
{
    (void)core;
    dz_executor_init(&executor, "main");
    SPAWN(&executor, watcher);
    dz_executor_run(&executor);
}

static void wild_handler(void *argument)
{
    (void)argument;
    watch_pin();
}

static void run_wild(unsigned core)
{
    (void)core;
    dz_core_bind(dz_core_here(), WILD_IRQ, wild_handler, NULL);
    dz_core_pend(dz_core_here(), WILD_IRQ);
}

static void misbehave(unsigned core)
{
    (void)core;
    dz_panic("out of cheese", "dairy.c", 12);
}

static void end_with_7(unsigned core)
{
    (void)core;
    dz_program_end(7);
    dz_program_end(8);
    dz_executor_init(&executor, "main");
    dz_executor_run(&executor);
}

static void differ(unsigned core)
{
    (void)core;
    dz_trace_note("test", "start", 1);
    dz_trace_note("test", "process", (uint64_t)getpid());
}

enum { YIELDER_LINE = __LINE__ + 5 };
static enum dz_poll yielder_poll(struct any *self)
{
    async (self) {
        for (;;)
            await(dz_yield_poll());
    }
    return DZ_READY;
}
TASK(yielder)

static void yield_for_ever(unsigned core)
{
    (void)core;
    dz_executor_init(&executor, "main");
    SPAWN(&executor, yielder);
    dz_executor_run(&executor);
}

static bool is_over;

static enum dz_poll timer_poll(struct any *self)
{
    async (self) {
        await(dz_timer_after(&self->timer, dz_duration_from_micros(3200)));
        is_over = true;
    }
    return DZ_READY;
}
TASK(timer)

static void wait_for_3200_us(unsigned core)
{
    (void)core;
    dz_executor_init(&executor, "main");
    SPAWN(&executor, timer);
    dz_executor_run_until(&executor, &is_over);
}

/* Three times, and time is over. */
static enum dz_poll waiter_poll(struct any *self)
{
    async (self) {
        for (;;)
            await(dz_timer_after(
                &self->timer, dz_duration_from_secs(20 * 24 * 3600)));
    }
    return DZ_READY;
}
TASK(waiter)

static void wait_for_20_days(unsigned core)
{
    (void)core;
    dz_executor_init(&executor, "main");
    SPAWN(&executor, waiter);
    dz_executor_run(&executor);
}

static void sleep_for_ever(unsigned core)
{
    (void)core;
    dz_executor_init(&executor, "main");
    dz_executor_run(&executor);
}

/* By another process, when we sleep already, or so. */
static void be_interrupted_soon(void)
{
    static const struct timespec moment = {.tv_nsec = 50000000};

    if (fork() != 0)
        return;
    nanosleep(&moment, NULL);
    kill(getppid(), SIGINT);
    _exit(0);
}

static void interrupt_the_program(unsigned core)
{
    be_interrupted_soon();
    sleep_for_ever(core);
}

static void terminate_the_program(unsigned core)
{
    kill(getpid(), SIGTERM);
    yield_for_ever(core);
}

/* All cores meet before they return. */
static void count_cores(unsigned core)
{
    static atomic_uint here;

    assert_ptr_equal(dz_core_here(), dz_program_core(core));
    atomic_fetch_or(&here, 1u << core);
    while (atomic_load(&here) != 3)
        dz_machine_access();
}

static void echo_handler(void *argument)
{
    uint8_t byte;

    (void)argument;
    while (dz_uart_try_read(dz_uart_0, &byte))
        dz_uart_try_write(dz_uart_0, (uint8_t)(byte >= 'a' ? byte - 32 : byte));
}

static void follow_handler(void *argument)
{
    (void)argument;
    dz_pin_write(dz_pin_5, dz_pin_read(dz_pin_3));
}

/* Two interrupts come that nobody wants. */
static void forget_to_enable(unsigned core)
{
    (void)core;
    dz_core_bind(dz_core_here(), BUTTON_IRQ, follow_handler, NULL);
    dz_core_disable(dz_core_here(), BUTTON_IRQ);
    dz_pin_interrupt(dz_pin_3, dz_core_here(), BUTTON_IRQ, DZ_EDGE_BOTH);
    dz_uart_interrupt(dz_uart_0, dz_core_here(), UART_IRQ, DZ_UART_READY);
    dz_executor_init(&executor, "main");
    dz_executor_run(&executor);
}

/* The UART answers in capitals, pin 5 follows pin 3. */
static void echo(unsigned core)
{
    (void)core;
    dz_core_bind(dz_core_here(), UART_IRQ, echo_handler, NULL);
    dz_core_bind(dz_core_here(), BUTTON_IRQ, follow_handler, NULL);
    dz_uart_interrupt(dz_uart_0, dz_core_here(), UART_IRQ, DZ_UART_RECEIVED);
    dz_pin_interrupt(dz_pin_3, dz_core_here(), BUTTON_IRQ, DZ_EDGE_BOTH);
    dz_executor_init(&executor, "main");
    dz_executor_run(&executor);
}

/* Nobody reads what the UART has received, so its line stays asserted. */
static void ignore_handler(void *argument)
{
    (void)argument;
}

static void ignore_the_uart(unsigned core)
{
    (void)core;
    dz_core_bind(dz_core_here(), UART_IRQ, ignore_handler, NULL);
    dz_uart_interrupt(dz_uart_0, dz_core_here(), UART_IRQ, DZ_UART_RECEIVED);
    dz_executor_init(&executor, "main");
    dz_executor_run(&executor);
}

static void yield_in_an_interrupt(unsigned core)
{
    (void)core;
    dz_executor_init(&other, "other");
    dz_executor_start(&other, UART_IRQ, 1);
    SPAWN(&other, yielder);
    dz_executor_init(&executor, "main");
    dz_executor_run(&executor);
}

static void be_interrupted_while_yielding(unsigned core)
{
    kill(getpid(), SIGINT);
    yield_in_an_interrupt(core);
}

static void be_interrupted_while_spinning(unsigned core)
{
    be_interrupted_soon();
    spin(core);
}

/* Two that come together are one. */
static void be_interrupted_twice(unsigned core)
{
    uint64_t later = uv_hrtime() + 400000000;

    raise(SIGTERM);
    raise(SIGTERM);
    while (uv_hrtime() < later)
        continue;
    raise(SIGTERM);
    spin_before_all(core);
}

static void be_interrupted_while_watching(unsigned core)
{
    (void)core;
    kill(getpid(), SIGINT);
    watch_pin();
}

static const struct dz_program firmwares[] = {
    {"ignores the UART", ignore_the_uart, 0},
    {"yields in an interrupt", yield_in_an_interrupt, 0},
    {"is interrupted while yielding", be_interrupted_while_yielding, 0},
    {"is interrupted while spinning", be_interrupted_while_spinning, 0},
    {"is interrupted twice", be_interrupted_twice, 0},
    {"is interrupted while watching", be_interrupted_while_watching, 0},
    {"returns", return_at_once, 0},
    {"falls asleep", fall_asleep, 0},
    {"changes its mind", change_its_mind, 0},
    {"sleeps in many ways", sleep_in_many_ways, 2},
    {"insists", insist, 0},
    {"spins", spin, 0},
    {"spins in a handler", spin_in_a_handler, 0},
    {"spins on core 1", spin_on_core_1, 2},
    {"spins when told", spin_when_told, 0},
    {"spins before all", spin_before_all, 0},
    {"watches a pin", watch_a_pin, 0},
    {"runs wild", run_wild, 0},
    {"misbehaves", misbehave, 0},
    {"ends with 7", end_with_7, 0},
    {"differs", differ, 0},
    {"yields", yield_for_ever, 0},
    {"sleeps", sleep_for_ever, 0},
    {"waits for 20 days", wait_for_20_days, 0},
    {"waits for 3200 us", wait_for_3200_us, 0},
    {"is interrupted", interrupt_the_program, 0},
    {"is terminated", terminate_the_program, 0},
    {"counts cores", count_cores, 2},
    {"echoes", echo, 0},
    {"forgets to enable", forget_to_enable, 0},
};

/* The tests. */

struct outcome {
    int code;
    struct last_words words;
};

static _Noreturn void become(const char *firmware, char *arguments[])
{
    char path[4096];
    size_t size = sizeof(path);

    setenv("DOZE_FIRMWARE", firmware, 1);
    if (uv_exepath(path, &size) == 0)
        execv(path, arguments);
    _exit(99);
}

/* What it says on both streams, in one piece. Arguments end in NULL. */
static struct outcome run(const char *firmware, ...)
{
    struct outcome outcome;
    char *arguments[16] = {"program"};
    va_list list;
    int ends[2];
    int status;
    pid_t child;

    va_start(list, firmware);
    for (size_t i = 1; (arguments[i] = va_arg(list, char *)) != NULL; i++)
        continue;
    va_end(list);
    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        become(firmware, arguments);
    }
    close(ends[1]);
    read_all(ends[0], &outcome.words);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

static void assert_exits(struct outcome outcome, int expected)
{
    if (outcome.code != expected)
        fail_msg("exit code %d: %s", outcome.code, outcome.words.text);
}

static void assert_names(
    const struct outcome *outcome, int line, const char *function)
{
    char place[128];

    snprintf(place, sizeof(place), "%s:%d: %s\n", __FILE__, line, function);
    assert_says(outcome->words, place);
}

static void a_firmware_that_returns_passes(void **state)
{
    struct outcome real = run("returns", NULL);
    struct outcome virtual = run("returns", "--time", "virtual", NULL);

    (void)state;
    assert_exits(real, 0);
    assert_exits(virtual, 0);
    assert_says(
        virtual.words, "returns: exit code 0 (pass) at 0.000000000 s, events ");
}

/* The first reader took the one word. That the second one waits is no use. */
static void a_deadlock_names_what_every_task_waits_for_and_where(void **state)
{
    struct outcome outcome = run("falls asleep", "--time", "virtual", NULL);

    (void)state;
    assert_exits(outcome, 2);
    assert_says(outcome.words, "deadlock at 0.0000");
    assert_says(outcome.words,
        "  task readers, slot 0, executor \"main\", core 0\n"
        "    waits for word_channel #1; ");
    assert_says(outcome.words, "; last used by task feeders, slot 0\n");
    assert_says(outcome.words, "; last used by task readers, slot 0\n");
    assert_names(&outcome, CHILD_LINE, "take_two_poll");
    assert_names(&outcome, READER_LINE, "reader_poll");
    assert_says(outcome.words,
        "  task choosers, slot 0, executor \"main\", core 0\n"
        "    waits for go_signal #1; nobody else has used it\n");
    assert_says(
        outcome.words, "    waits for go_signal #2; nobody else has used it\n");
    assert_names(&outcome, CHOOSER_LINE, "chooser_poll");
    assert_null(strstr(outcome.words.text, "\n  task feeders"));
}

/* Innermost first, and in the order of the spawns. */
static void a_deadlock_report_is_in_order(void **state)
{
    struct outcome outcome = run("falls asleep", "--time", "virtual", NULL);
    const char *reader = strstr(outcome.words.text, "task readers");
    const char *child = strstr(outcome.words.text, ": take_two_poll");
    const char *parent = strstr(outcome.words.text, ": reader_poll");
    const char *chooser = strstr(outcome.words.text, "task choosers");

    (void)state;
    assert_non_null(reader);
    assert_true(reader < child);
    assert_true(child < parent);
    assert_true(parent < chooser);
}

static void a_branch_that_lost_is_not_reported(void **state)
{
    struct outcome outcome = run("changes its mind", "--time", "virtual", NULL);

    (void)state;
    assert_exits(outcome, 2);
    assert_says(outcome.words, "waits for word_channel #1; ");
    assert_null(strstr(outcome.words.text, "go_signal"));
}

static void a_branch_that_waits_again_is_reported_once(void **state)
{
    struct outcome outcome = run("insists", "--time", "virtual", NULL);
    const char *first = strstr(outcome.words.text, "waits for go_signal");
    const char *second =
        first ? strstr(first + 1, "waits for go_signal") : NULL;

    (void)state;
    assert_non_null(second);
    assert_null(strstr(second + 1, "waits for go_signal"));
}

static void a_deadlock_report_knows_cores_slots_and_interrupts(void **state)
{
    struct outcome outcome =
        run("sleeps in many ways", "--time", "virtual", NULL);

    (void)state;
    assert_exits(outcome, 2);
    assert_says(outcome.words,
        "  task choosers, slot 0, executor \"main\", core 0\n"
        "    has not run yet: sim/program_test.c:");
    assert_says(outcome.words,
        "  task listeners, slot 0, executor \"other\", core 1\n"
        "    waits for go_signal #1; last used by interrupt 3 on core 1\n");
    assert_says(outcome.words,
        "  task stubborns, slot 1, executor \"other\", core 1\n"
        "    waits for something unknown: ");
}

static void a_task_that_touches_nothing_is_a_busy_loop(void **state)
{
    struct outcome virtual = run(
        "spins", "--time", "virtual", "--patience", "200ms", NULL);
    struct outcome real = run("spins", "--patience", "200ms", NULL);

    (void)state;
    assert_exits(virtual, 3);
    assert_says(virtual.words,
        "core 0: virtual time has stood still for 200 ms of CPU time\n"
        "  in a poll of task spinners, slot 0");
    assert_names(&virtual, SPINNER_LINE, "spinner_poll");
    assert_exits(real, 3);
    assert_says(real.words,
        "core 0: has been in the same poll or handler for 200 ms of CPU time\n"
        "  in a poll of task spinners, slot 0");
}

static void a_task_that_spins_was_resumed_at_an_await(void **state)
{
    struct outcome outcome = run(
        "spins when told", "--time", "virtual", "--patience", "200ms", NULL);
    char place[128];

    (void)state;
    snprintf(place, sizeof(place),
        "resumed here:\n    waited for go_signal #1; last used by task "
        "goers, slot 0\n      %s:%d: late_spinner_poll\n",
        __FILE__, LATE_SPINNER_LINE);
    assert_exits(outcome, 3);
    assert_says(outcome.words, place);
}

static void what_a_spinning_task_interrupts_is_named(void **state)
{
    struct outcome outcome = run(
        "spins in a handler", "--time", "virtual", "--patience", "200ms", NULL);
    const char *handler =
        strstr(outcome.words.text, "in interrupt 4 on core 0");
    const char *inner = strstr(outcome.words.text, "a poll of task spinners");
    const char *outer = strstr(outcome.words.text, "a poll of task nesters");

    (void)state;
    assert_exits(outcome, 3);
    assert_non_null(handler);
    assert_true(handler < inner);
    assert_true(inner < outer);
}

static void the_core_that_spins_is_named(void **state)
{
    struct outcome virtual = run(
        "spins on core 1", "--time", "virtual", "--patience", "200ms", NULL);
    struct outcome real = run("spins on core 1", "--patience", "200ms", NULL);

    (void)state;
    assert_exits(virtual, 3);
    assert_says(virtual.words, ": core 1: ");
    assert_exits(real, 3);
    assert_says(real.words, ": core 1: ");
}

static void a_loop_outside_tasks_is_a_busy_loop_in_virtual_time(void **state)
{
    struct outcome outcome = run(
        "spins before all", "--time", "virtual", "--patience", "200ms", NULL);

    (void)state;
    assert_exits(outcome, 3);
    assert_says(outcome.words, "outside tasks and interrupts");
}

/* At 100 ns a look, 10 s are 10^8 looks: a dearer pin makes it fewer. */
static void a_task_that_watches_a_pin_for_ever_is_a_busy_loop(void **state)
{
    struct outcome outcome = run("watches a pin", "--time", "virtual",
        "--costs", "access=1000000", NULL);

    (void)state;
    assert_exits(outcome, 3);
    assert_says(outcome.words,
        "for 10 s of virtual time\n"
        "  in a poll of task watchers, slot 0, from its "
        "beginning: ");
}

static void a_handler_that_never_returns_is_a_busy_loop(void **state)
{
    struct outcome outcome = run(
        "runs wild", "--time", "virtual", "--costs", "access=1000000", NULL);

    (void)state;
    assert_exits(outcome, 3);
    assert_says(outcome.words, "  in interrupt 7 on core 0\n");
}

static void a_panic_exits_with_1(void **state)
{
    struct outcome outcome = run("misbehaves", NULL);

    (void)state;
    assert_exits(outcome, 1);
    assert_says(outcome.words, "dairy.c:12: panic: out of cheese");
}

static void a_program_can_end_itself_once(void **state)
{
    (void)state;
    assert_exits(run("ends with 7", NULL), 7);
    assert_exits(run("ends with 7", "--time", "virtual", NULL), 7);
}

static void signals_end_the_run(void **state)
{
    (void)state;
    assert_exits(run("is interrupted", NULL), 130);
    assert_exits(
        run("is interrupted", "--time", "virtual", "--uart0", "tcp:0", NULL),
        130);
    assert_exits(run("is terminated", NULL), 143);
    assert_exits(run("is terminated", "--time", "virtual", NULL), 143);
}

static void stop_after_ends_the_run(void **state)
{
    struct outcome virtual = run(
        "yields", "--time", "virtual", "--stop-after", "20ms", NULL);

    (void)state;
    assert_exits(virtual, 0);
    assert_says(virtual.words, "exit code 0 (pass) at 0.0200");
    assert_exits(run("yields", "--stop-after", "20ms", NULL), 0);
    assert_exits(
        run("yields", "--stop-after", "300ms", "--patience", "50ms", NULL), 0);
    assert_exits(run("sleeps", "--stop-after", "20ms", NULL), 0);
    assert_exits(
        run("sleeps", "--time", "virtual", "--stop-after", "1h", NULL), 0);
}

/* At 2^52 ns. */
static void virtual_time_has_an_end(void **state)
{
    struct outcome late = run("waits for 20 days", "--time", "virtual", NULL);
    struct outcome stopped = run("waits for 20 days", "--time", "virtual",
        "--stop-after", "1250h", NULL);
    struct outcome refused =
        run("sleeps", "--stop-after", "1251h", "--time", "virtual", NULL);

    (void)state;
    assert_exits(late, 4);
    assert_says(late.words,
        "timeout at 4503599.627370495 s: virtual time has reached its end (52 "
        "days)\n"
        "  task waiters, slot 0");
    assert_exits(stopped, 0);
    assert_exits(refused, 64);
    assert_says(refused.words,
        "--stop-after is too large: virtual time ends after 52 days (1250h)\n");
}

static void with_a_tick_a_timer_ends_at_one(void **state)
{
    struct outcome tickless = run("waits for 3200 us", "--time", "virtual",
        "--costs", "poll=0,handler=0,clock=0,access=0", NULL);
    struct outcome tick = run("waits for 3200 us", "--time", "virtual",
        "--costs", "poll=0,handler=0,clock=0,access=0", "--tick", NULL);

    (void)state;
    assert_exits(tickless, 0);
    assert_says(tickless.words, "exit code 0 (pass) at 0.003200000 s");
    assert_exits(tick, 0);
    assert_says(tick.words, "exit code 0 (pass) at 0.004000000 s");
}

static void every_core_runs_the_firmware(void **state)
{
    (void)state;
    assert_exits(run("counts cores", NULL), 0);
    assert_exits(run("counts cores", "--time", "virtual", NULL), 0);
}

static void two_runs_that_are_the_same_are_said_to_be(void **state)
{
    struct outcome outcome = run("yields", "--time", "virtual", "--stop-after",
        "20ms", "--check-determinism", NULL);

    (void)state;
    assert_exits(outcome, 0);
    assert_says(outcome.words, "deterministic: two runs of ");
}

/* Though the second one is not heard. */
static void a_deadlock_may_be_deterministic(void **state)
{
    struct outcome outcome =
        run("falls asleep", "--time", "virtual", "--check-determinism", NULL);

    (void)state;
    assert_exits(outcome, 2);
    assert_says(outcome.words, "deterministic: two runs of ");
}

/* What it is for, the machine cannot know: firmware may wait for a button. */
static void sleeping_until_stop_after_is_noted(void **state)
{
    struct outcome asleep =
        run("falls asleep", "--time", "virtual", "--stop-after", "1s", NULL);
    struct outcome awake =
        run("yields", "--time", "virtual", "--stop-after", "20ms", NULL);

    (void)state;
    assert_exits(asleep, 0);
    assert_says(asleep.words, "note: from 0.00000");
    assert_null(strstr(awake.words.text, "note"));
}

static void the_first_difference_of_two_runs_is_printed(void **state)
{
    struct outcome outcome = run("differs", "--time", "virtual", "--stop-after",
        "1s", "--check-determinism", NULL);

    (void)state;
    assert_exits(outcome, 6);
    assert_says(outcome.words, "not deterministic: two runs differ behind ");
    assert_says(outcome.words, "  first run : ");
    assert_says(outcome.words, "  second run: ");
    assert_says(outcome.words, "process");
    assert_null(strstr(outcome.words.text, "start"));
}

/* Stimuli. */

/* Another option may follow. */
static struct outcome run_firmware_with(const char *firmware, const char *time,
    const char *text, const char *option, const char *value)
{
    char path[] = "stimulus_XXXXXX";
    int file = mkstemp(path);
    struct outcome outcome;

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    outcome =
        run(firmware, "--time", time, "--stimulus", path, option, value, NULL);
    unlink(path);
    return outcome;
}

static struct outcome run_stimulus(const char *time, const char *text)
{
    return run_firmware_with("echoes", time, text, "--stop-after", "1s");
}

static void what_is_expected_and_happens_passes(void **state)
{
    static const char text[] =
        "# a comment\n"
        "\n"
        "at 1ms pin 3 high # and another\n"
        "  at 1ms expect pin 5 high within 1ms\n"
        "at 5ms expect pin 5 high within 0ns\n"
        "at 10ms every 10ms pin 3 toggle\n"
        "at 11ms expect pin 5 low\n"
        "at 21ms expect pin 5 high within 1us\n"
        "at 2ms uart 0 send \"a\\x62\\\"\\n\"\n"
        "at 2ms expect uart 0 \"AB\\\"\\x0a\" within 20ms\n"
        "at 2ms expect uart 0 \"B\" within 20ms\n";

    (void)state;
    assert_exits(run_stimulus("virtual", text), 0);
}

static void a_level_that_is_there_already_is_enough(void **state)
{
    static const char text[] = "at 1ms pin 3 high\n"
                               "at 5ms expect pin 5 high\n"
                               "at 5ms expect pin 5 high within 1ms\n";

    (void)state;
    assert_exits(run_stimulus("virtual", text), 0);
}

/* The first edges may come before the firmware listens. */
static void stimuli_work_in_real_time(void **state)
{
    static const char text[] = "at 1ms every 20ms pin 3 toggle\n"
                               "at 1ms expect pin 5 high\n"
                               "at 2ms uart 0 send \"hello\"\n"
                               "at 2ms expect uart 0 \"HELLO\"\n";

    (void)state;
    assert_exits(run_stimulus("real", text), 0);
}

/* Both are sent in the same instant, whatever the seed. */
static void stimuli_of_one_instant_come_in_the_order_of_the_file(void **state)
{
    static const char text[] = "at 1ms uart 0 send \"a\"\n"
                               "at 1ms uart 0 send \"b\"\n"
                               "at 1ms uart 0 send \"c\"\n"
                               "at 1ms uart 0 send \"d\"\n"
                               "at 1ms expect uart 0 \"ABCD\" within 10ms\n";

    (void)state;
    assert_exits(run_stimulus("virtual", text), 0);
}

static void an_expectation_that_is_late_fails_at_once_and_says_so(void **state)
{
    struct outcome pin = run_stimulus("virtual",
        "at 1ms pin 3 high\n"
        "at 2ms expect pin 5 low within 5ms\n");
    struct outcome uart = run_stimulus("virtual",
        "at 1ms uart 0 send \"hallo\"\n"
        "at 1ms expect uart 0 \"HELLO\" within 20ms\n");

    (void)state;
    assert_exits(pin, 1);
    assert_says(pin.words,
        ":2: not met: at 2ms expect pin 5 low within 5ms: "
        "the pin is high\n");
    assert_says(pin.words, "exit code 1 (failed) at 0.007");
    assert_exits(uart, 1);
    assert_says(uart.words, "since, the UART has sent \"HALLO\"\n");
}

/* More than an expectation remembers. */
static void a_text_is_found_behind_many_others(void **state)
{
    char text[1024];
    char many[251];

    (void)state;
    memset(many, 'a', sizeof(many));
    many[250] = '\0';
    snprintf(text, sizeof(text),
        "at 1ms expect uart 0 \"HELLO WORLD\" within 1s\n"
        "at 1ms uart 0 send \"%s\"\n"
        "at 1ms uart 0 send \"hello world\"\n",
        many);
    assert_exits(run_stimulus("virtual", text), 0);
}

static void an_expectation_fails_in_real_time_too(void **state)
{
    struct outcome outcome =
        run_stimulus("real", "at 1ms expect pin 5 high within 1ms\n");

    (void)state;
    assert_exits(outcome, 1);
    assert_says(outcome.words, ": the pin is low\n");
}

/* What was sent before its time does not count. */
static void an_expectation_counts_from_its_time(void **state)
{
    struct outcome outcome = run_stimulus("virtual",
        "at 1ms uart 0 send \"a\"\n"
        "at 100ms expect uart 0 \"A\" within 20ms\n");

    (void)state;
    assert_exits(outcome, 1);
    assert_says(outcome.words, "the UART has sent nothing since\n");
}

static void an_expectation_that_is_open_at_the_end_is_a_timeout(void **state)
{
    struct outcome open =
        run_stimulus("virtual", "at 100ms expect pin 5 high\n");
    struct outcome early = run_stimulus("virtual", "at 2s expect pin 5 low\n");
    struct outcome real =
        run_stimulus("real", "at 900ms expect pin 5 high within 1h\n");

    (void)state;
    assert_exits(open, 4);
    assert_says(open.words, "exit code 4 (timeout) at 1.0000");
    assert_says(open.words,
        ":1: not met: at 100ms expect pin 5 high: the pin "
        "is low\n");
    assert_exits(early, 4);
    assert_says(early.words, ": its time has not come\n");
    assert_exits(real, 4);
}

static void a_firmware_that_returns_too_early_fails_expectations(void **state)
{
    char path[] = "stimulus_XXXXXX";
    int file = mkstemp(path);
    struct outcome outcome;

    (void)state;
    assert_true(file >= 0);
    dprintf(file, "at 2s expect pin 5 low\n");
    close(file);
    outcome = run("returns", "--time", "virtual", "--stimulus", path, NULL);
    unlink(path);
    assert_exits(outcome, 1);
}

static void a_stimulus_that_drives_an_output_is_named(void **state)
{
    struct outcome outcome = run_stimulus("virtual",
        "at 1ms pin 3 high\n"
        "at 2ms pin 5 toggle\n");

    (void)state;
    assert_exits(outcome, 1);
    assert_says(outcome.words,
        ":2: pin 5 is an output, since firmware has written it; nobody else "
        "can drive it: at 2ms pin 5 toggle\n");
    assert_says(outcome.words, "exit code 1 (failed) at 0.002");
}

struct mistake {
    const char *text;
    const char *message;
};

static void a_mistake_in_a_stimulus_is_shown_with_its_place(void **state)
{
    static const struct mistake mistakes[] = {
        {"on 1ms pin 3 high", ":1:1: \"on\"; expected here: at\n"},
        {"\nat 1 pin 3 high", ":2:4: \"1\"; expected here: a time, "},
        {"at 1.5s pin 3 high", ":1:4: \"1.5s\"; expected here: a time, "},
        {"at 99999999999h pin 3 high", ":1:4: 99999999999h is too large\n"},
        {"at 99999999999999999999ns pin 3 high",
            ":1:4: 99999999999999999999ns is too large\n"},
        {"at 1251h pin 3 high",
            ":1:4: 1251h is too large: virtual time ends after 52 days"},
        {"at", ":1:3: the line ends; expected here: a time, "},
        {"at 1s every 0s pin 3 high",
            ":1:13: \"0s\"; expected here: a time "
            "that is not 0\n"},
        {"at 1s port 3 high",
            ":1:7: \"port\"; expected here: every, pin, uart "
            "or expect\n"},
        {"at 1s pin 64 high",
            ":1:11: \"64\"; expected here: the number of a "
            "pin, 0 to 63\n"},
        {"at 1s pin 3 up",
            ":1:13: \"up\"; expected here: high, low or "
            "toggle\n"},
        {"at 1s pin 3 high low",
            ":1:18: \"low\"; expected here: the end of "
            "the line\n"},
        {"at 1s uart 4 send \"a\"",
            ":1:12: \"4\"; expected here: the number of "
            "a UART, 0 to 3\n"},
        {"at 1s uart 0 write \"a\"", ":1:14: \"write\"; expected here: send\n"},
        {"at 1s uart 0 send a",
            ":1:19: \"a\"; expected here: a text, such as "},
        {"at 1s uart 0 send \"\"", "expected here: a text that is not empty\n"},
        {"at 1s uart 0 send \"a",
            ":1:21: the line ends; expected here: a \" at "
            "the end"},
        {"at 1s uart 0 send \"\\q\"",
            ":1:21: \"q\"; expected here: one of n r "
            "t 0 "},
        {"at 1s expect led", ":1:14: \"led\"; expected here: pin or uart\n"},
        {"at 1s expect pin 5 toggle",
            ":1:20: \"toggle\"; expected here: high "
            "or low\n"},
        {"at 1s expect pin 5 low in 5ms",
            ":1:24: \"in\"; expected here: "
            "within, or the end"},
        {"at 1s expect pin 5 low within",
            "the line ends; expected here: a "
            "time, "},
        {"at 1s every 1s expect pin 5 low",
            ":1:16: \"expect\"; expected here: pin or uart, for an expectation "
            "comes only once\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
        struct outcome outcome = run_stimulus("virtual", mistakes[i].text);

        assert_exits(outcome, 64);
        assert_says(outcome.words, mistakes[i].message);
    }
}

/* A run that ends, and a core that does not. */

static const char unread[] = "at 1ms uart 0 send \"a\"\n"
                             "at 20ms expect pin 5 high within 5ms\n";

static void an_interrupt_that_comes_again_and_again_can_be_ended(void **state)
{
    struct outcome real =
        run_firmware_with("ignores the UART", "real", unread, NULL, NULL);
    struct outcome virtual = run_firmware_with(
        "ignores the UART", "virtual", unread, NULL, NULL);

    (void)state;
    assert_exits(real, 1);
    assert_says(real.words, ": the pin is low\nbusy loop at ");
    assert_says(real.words,
        ": core 0: goes on though the run has ended: it neither sleeps nor "
        "comes back to thread mode\n");
    assert_says(real.words, " interrupt 4 on core 0\n");
    assert_exits(virtual, 1);
    assert_says(virtual.words, "exit code 1 (failed) at 0.025");
}

static void interrupts_without_end_are_a_busy_loop(void **state)
{
    struct outcome line = run_firmware_with("ignores the UART", "real",
        "at 1ms uart 0 send \"a\"\n", "--patience", "200ms");
    struct outcome real =
        run("yields in an interrupt", "--patience", "200ms", NULL);
    struct outcome virtual = run("yields in an interrupt", "--time", "virtual",
        "--costs", "poll=1000000", NULL);

    (void)state;
    assert_exits(line, 3);
    assert_says(line.words,
        "core 0: has not come back to thread mode for 200 ms of CPU time\n");
    assert_says(line.words, " interrupt 4 on core 0\n");
    assert_exits(real, 3);
    assert_says(real.words, " a poll of task yielders, slot 0 ");
    assert_names(&real, YIELDER_LINE, "yielder_poll");
    assert_exits(virtual, 3);
    assert_says(virtual.words,
        "core 0: has not come back to thread mode for 10 s of virtual time\n"
        "  in interrupt 4 on core 0\n");
    assert_names(&virtual, YIELDER_LINE, "yielder_poll");
}

/* On a busy host, the stop may come before the firmware has begun, which then
 * ends well: it is told later, then. */
static struct outcome stop_once_it_yields(void)
{
    static char *const times[] = {"20ms", "200ms", "2s", "20s"};
    struct outcome outcome = {.code = 0};

    for (unsigned i = 0; outcome.code == 0 && i < 4; i++)
        outcome = run("yields in an interrupt", "--stop-after", times[i], NULL);
    return outcome;
}

static void tasks_of_interrupts_that_never_wait_can_be_ended(void **state)
{
    struct outcome real = stop_once_it_yields();
    struct outcome virtual = run("yields in an interrupt", "--time", "virtual",
        "--stop-after", "20ms", NULL);

    (void)state;
    assert_exits(real, 3);
    assert_says(real.words, "core 0: goes on though the run has ended");
    assert_exits(virtual, 0);
    assert_says(virtual.words, "exit code 0 (pass) at 0.0200");
    assert_exits(
        run("is interrupted while yielding", "--time", "virtual", NULL), 130);
}

static void a_signal_ends_what_looks_at_peripherals(void **state)
{
    struct outcome outcome =
        run("is interrupted while watching", "--time", "virtual", NULL);

    (void)state;
    assert_exits(outcome, 130);
    assert_says(outcome.words, "exit code 130 (Ctrl-C) at 0.0000");
}

static void a_signal_ends_what_touches_nothing_a_little_later(void **state)
{
    struct outcome outcome =
        run("is interrupted while spinning", "--time", "virtual", NULL);

    (void)state;
    assert_exits(outcome, 130);
    assert_says(outcome.words, "core 0: goes on though the run has ended");
    assert_names(&outcome, SPINNER_LINE, "spinner_poll");
}

static void a_second_signal_ends_it_at_once(void **state)
{
    struct outcome real = run("is interrupted twice", NULL);
    struct outcome virtual = run(
        "is interrupted twice", "--time", "virtual", NULL);

    (void)state;
    assert_exits(real, 143);
    assert_says(real.words, "busy loop at 0.");
    assert_exits(virtual, 143);
    assert_says(virtual.words, "busy loop at 0.");
}

static void interrupts_that_are_pending_in_vain_are_reported(void **state)
{
    static const char bound[] =
        "  interrupt 3 on core 0 is pending, but not enabled: ";
    static const char unbound[] =
        "  interrupt 4 on core 0 is pending, but not bound to a handler: ";
    struct outcome deadlock = run_firmware_with(
        "forgets to enable", "virtual", "at 1ms pin 3 high\n", NULL, NULL);
    struct outcome timeout = run_firmware_with("forgets to enable", "virtual",
        "at 1ms pin 3 high\n"
        "at 1ms expect pin 5 high\n",
        "--stop-after", "1s");

    (void)state;
    assert_exits(deadlock, 2);
    assert_says(deadlock.words, bound);
    assert_says(deadlock.words, unbound);
    assert_exits(timeout, 4);
    assert_says(timeout.words, bound);
    assert_says(timeout.words, unbound);
}

/* Options. */

static void a_mistake_on_the_command_line_names_itself_and_the_remedy(
    void **state)
{
    static const struct {
        const char *option;
        const char *value;
        const char *message;
    } mistakes[] = {
        {"--frobnicate", NULL,
            "yields: there is no option --frobnicate; see --help\n"},
        {"--seed", NULL, "--seed needs a value; see --help\n"},
        {"-x", NULL, "there is no option -x; see --help\n"},
        {"extra", NULL, "there is no option extra; see --help\n"},
        {"--time", "soon", "--time soon: give real or virtual\n"},
        {"--seed", "x", "--seed x: give a whole number, at most "},
        {"--seed", "-1", "--seed -1: give a whole number"},
        {"--seed", "99999999999999999999", "give a whole number"},
        {"--stop-after", "5",
            "--stop-after 5: give a whole number with its "
            "unit, one of ns, us, ms, s, min, h; such as "
            "--stop-after 500ms\n"},
        {"--patience", "1us", "--patience 1us: give at least 1ms\n"},
        {"--cores", "2", "--cores 2: this firmware runs on 1 to 1 cores\n"},
        {"--cores", "0", "--cores 0: this firmware runs on 1 to 1 cores\n"},
        {"--costs", "pole=3", "--costs pole=3: give any of poll=NS,"},
        {"--costs", "poll=3x", "--costs poll=3x: give any of poll=NS,"},
        {"--costs", "poll=9999999999", "give a whole number, at most "},
        {"--uart0", "radio:3", "--uart0 radio:3: "},
        {"--pins", "radio:3", "--pins radio:3: "},
        {"--stop-after", "99999999999h",
            "--stop-after 99999999999h is too large\n"},
        {"--stimulus", "/", "/: Is a directory\n"},
        {"--stimulus", "nowhere.stim", "nowhere.stim: No such file"},
        {"--trace", "nowhere/trace.json",
            "--trace nowhere/trace.json: No such file"},
        {"--vcd", "nowhere/pins.vcd", "--vcd nowhere/pins.vcd: No such file"},
        {"--check-determinism", NULL, "add --time virtual\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
        struct outcome outcome =
            run("yields", mistakes[i].option, mistakes[i].value, NULL);

        assert_exits(outcome, 64);
        assert_says(outcome.words, mistakes[i].message);
    }
}

static void two_runs_are_not_compared_when_they_cannot_be_the_same(void **state)
{
    struct outcome open = run("yields", "--time", "virtual", "--stop-after",
        "1s", "--uart2", "tcp:0", "--check-determinism", NULL);
    struct outcome lost = run("yields", "--time", "virtual", "--stop-after",
        "1s", "--trace", "nowhere/trace.json", "--check-determinism", NULL);

    (void)state;
    assert_exits(open, 64);
    assert_says(open.words, "input from outside is never the same twice");
    assert_exits(lost, 64);
    assert_says(lost.words, "No such file");
}

static void a_trace_that_cannot_be_written_is_no_pass(void **state)
{
    struct outcome outcome;

    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    outcome = run("yields", "--time", "virtual", "--stop-after", "20ms",
        "--trace", "/dev/full", NULL);
    assert_exits(outcome, 64);
    assert_says(outcome.words, "the trace could not be written\n");
}

static void help_lists_all_options_and_exit_codes(void **state)
{
    static const char *const parts[] = {"--time real|virtual", "--seed N",
        "--stop-after TIME", "--cores N", "--costs ", "--tick ", "--uart0 ",
        "--uart3 ", "--pins ", "--stimulus FILE", "--trace FILE", "--vcd FILE",
        "--check-determinism", "--patience TIME", "\n   0  ", "\n   1  ",
        "\n   2  deadlock", "\n   3  busy loop", "\n   4  timeout",
        "\n   5  race", "\n   6  not deterministic", "\n  64  ", "\n 130  "};
    struct outcome outcome = run("yields", "--help", NULL);
    struct outcome brief = run("yields", "-h", NULL);

    (void)state;
    assert_exits(outcome, 0);
    assert_exits(brief, 0);
    assert_string_equal(brief.words.text, outcome.words.text);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        assert_says(outcome.words, parts[i]);
    assert_null(strstr(outcome.words.text, "-run"));
}

static int test_all(void)
{
    static const struct CMUnitTest tests[] = {
        PLAIN_TEST(a_firmware_that_returns_passes),
        PLAIN_TEST(a_deadlock_names_what_every_task_waits_for_and_where),
        PLAIN_TEST(a_deadlock_report_is_in_order),
        PLAIN_TEST(a_branch_that_lost_is_not_reported),
        PLAIN_TEST(a_branch_that_waits_again_is_reported_once),
        PLAIN_TEST(a_deadlock_report_knows_cores_slots_and_interrupts),
        PLAIN_TEST(a_task_that_touches_nothing_is_a_busy_loop),
        PLAIN_TEST(a_task_that_spins_was_resumed_at_an_await),
        PLAIN_TEST(what_a_spinning_task_interrupts_is_named),
        PLAIN_TEST(the_core_that_spins_is_named),
        PLAIN_TEST(a_loop_outside_tasks_is_a_busy_loop_in_virtual_time),
        PLAIN_TEST(a_task_that_watches_a_pin_for_ever_is_a_busy_loop),
        PLAIN_TEST(a_handler_that_never_returns_is_a_busy_loop),
        PLAIN_TEST(a_panic_exits_with_1),
        PLAIN_TEST(a_program_can_end_itself_once),
        PLAIN_TEST(signals_end_the_run),
        PLAIN_TEST(stop_after_ends_the_run),
        PLAIN_TEST(virtual_time_has_an_end),
        PLAIN_TEST(with_a_tick_a_timer_ends_at_one),
        PLAIN_TEST(every_core_runs_the_firmware),
        PLAIN_TEST(two_runs_that_are_the_same_are_said_to_be),
        PLAIN_TEST(a_deadlock_may_be_deterministic),
        PLAIN_TEST(sleeping_until_stop_after_is_noted),
        PLAIN_TEST(the_first_difference_of_two_runs_is_printed),
        PLAIN_TEST(what_is_expected_and_happens_passes),
        PLAIN_TEST(a_level_that_is_there_already_is_enough),
        PLAIN_TEST(stimuli_work_in_real_time),
        PLAIN_TEST(stimuli_of_one_instant_come_in_the_order_of_the_file),
        PLAIN_TEST(an_expectation_that_is_late_fails_at_once_and_says_so),
        PLAIN_TEST(a_text_is_found_behind_many_others),
        PLAIN_TEST(an_expectation_fails_in_real_time_too),
        PLAIN_TEST(an_expectation_counts_from_its_time),
        PLAIN_TEST(an_expectation_that_is_open_at_the_end_is_a_timeout),
        PLAIN_TEST(a_firmware_that_returns_too_early_fails_expectations),
        PLAIN_TEST(a_stimulus_that_drives_an_output_is_named),
        PLAIN_TEST(a_mistake_in_a_stimulus_is_shown_with_its_place),
        PLAIN_TEST(interrupts_that_are_pending_in_vain_are_reported),
        PLAIN_TEST(an_interrupt_that_comes_again_and_again_can_be_ended),
        PLAIN_TEST(interrupts_without_end_are_a_busy_loop),
        PLAIN_TEST(tasks_of_interrupts_that_never_wait_can_be_ended),
        PLAIN_TEST(a_signal_ends_what_looks_at_peripherals),
        PLAIN_TEST(a_signal_ends_what_touches_nothing_a_little_later),
        PLAIN_TEST(a_second_signal_ends_it_at_once),
        PLAIN_TEST(a_mistake_on_the_command_line_names_itself_and_the_remedy),
        PLAIN_TEST(two_runs_are_not_compared_when_they_cannot_be_the_same),
        PLAIN_TEST(a_trace_that_cannot_be_written_is_no_pass),
        PLAIN_TEST(help_lists_all_options_and_exit_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    const char *name = getenv("DOZE_FIRMWARE");

    if (name == NULL)
        return test_all();
    for (size_t i = 0; i < sizeof(firmwares) / sizeof(*firmwares); i++)
        if (strcmp(name, firmwares[i].name) == 0)
            return dz_program_main(argc, argv, &firmwares[i]);
    return 99;
}
