/* SPDX-License-Identifier: MIT */

/*
 * clock_test -- the time drivers and the counter under them
 *
 * Compiled for several tick rates. T9 and T10 are faults of others: DESIGN.md.
 */
#include "sim/clock.h"

#include "executor/timer.h"
#include "executor/trace.h"
#include "sim/program.h"
#include "sim/test.h"

enum { SLEEPERS = 5, CORES = 3, TICK_HZ = 1000 };

#define NS UINT64_C(1000000000)
#define MS UINT64_C(1000000)

/* Durations are rounded up to ticks. */
static uint64_t ticks_of_ms(uint64_t ms)
{
    return (ms * DZ_TICK_HZ + 999) / 1000;
}

/* What the clock ought to say. The driver has no part in it. */
static uint64_t machine_ticks(void)
{
    return dz_machine_now() * DZ_TICK_HZ / NS;
}

/* ---- A core whose tasks each wait once. */

struct board {
    struct dz_core core;
    struct dz_executor executor;
    uint64_t waits[SLEEPERS]; /* ticks; 0: nobody waits */
    uint64_t slept[SLEEPERS]; /* ticks */
    unsigned ranks[SLEEPERS]; /* who woke first */
    unsigned sleepers, woken;
    volatile bool done;
};

static struct board boards[CORES];

struct sleeper {
    struct dz_task task;
    struct dz_timer timer;
    struct board *board;
    uint64_t began;
    unsigned number;
};

static enum dz_poll sleeper_poll(struct sleeper *self)
{
    struct board *board = self->board;

    async (self) {
        self->began = machine_ticks();
        await(dz_timer_after(
            &self->timer, dz_duration_from_ticks(board->waits[self->number])));
        board->slept[self->number] = machine_ticks() - self->began;
        board->ranks[self->number] = board->woken++;
        board->done = board->woken == board->sleepers;
    }
    return DZ_READY;
}

DZ_TASK_POOL(sleepers, struct sleeper, sleeper_poll, CORES *SLEEPERS)

/* On a core, where a test cannot fail. */
static void spawn_sleeper(struct board *board, unsigned number)
{
    struct sleeper *sleeper;

    if (sleepers_claim(&sleeper) == DZ_BUSY)
        abort();
    sleeper->board = board;
    sleeper->number = number;
    dz_executor_spawn(&board->executor, &sleeper->task);
}

static void sleep_on(void *argument)
{
    struct board *board = argument;

    dz_executor_init(&board->executor, "clock");
    for (unsigned i = 0; i < board->sleepers; i++)
        spawn_sleeper(board, i);
    dz_executor_run_until(&board->executor, &board->done);
}

static struct board *board_with(unsigned core, const uint64_t *waits)
{
    struct board *board = &boards[core];

    memset(board, 0, sizeof(*board));
    board->core.home.index = core;
    for (unsigned i = 0; i < SLEEPERS && waits[i] != 0; i++)
        board->waits[board->sleepers++] = waits[i];
    return board;
}

static void start_in(enum dz_time time, struct dz_machine machine)
{
    memset(sleepers_slots, 0, sizeof(sleepers_slots));
    machine.time = time;
    dz_machine_start(&machine);
}

static void start(struct dz_machine machine)
{
    start_in(test_is_virtual() ? DZ_TIME_VIRTUAL : DZ_TIME_REAL, machine);
}

/* Runs the waits on one core and gives back what came of them. */
static const struct board *run_waits(const uint64_t *waits)
{
    struct board *board = board_with(0, waits);

    dz_core_start(&board->core, sleep_on, board);
    dz_core_join(&board->core);
    dz_machine_stop();
    return board;
}

#define RUN_WAITS(...) run_waits((const uint64_t[SLEEPERS]){__VA_ARGS__})

/* ---- Both drivers, in both times. */

static const struct dz_machine tickless = {.costs = DZ_COSTS_DEFAULT};
static const struct dz_machine ticking = {
    .costs = DZ_COSTS_DEFAULT,
    .tick_hz = TICK_HZ,
};

static void nobody_wakes_before_10_ms(struct dz_machine machine)
{
    start(machine);
    assert_true(RUN_WAITS(ticks_of_ms(10))->slept[0] >= ticks_of_ms(10));
}

static void a_wait_is_not_too_short(void **state)
{
    (void)state;
    nobody_wakes_before_10_ms(tickless);
}

static void a_wait_is_not_too_short_with_a_tick(void **state)
{
    (void)state;
    nobody_wakes_before_10_ms(ticking);
}

static void the_earliest_wakes_first(struct dz_machine machine)
{
    const struct board *board;

    start(machine);
    board = RUN_WAITS(ticks_of_ms(20), ticks_of_ms(5), ticks_of_ms(15),
        ticks_of_ms(5), ticks_of_ms(10));
    assert_int_equal(board->ranks[1], 0);
    assert_int_equal(board->ranks[3], 1);
    assert_int_equal(board->ranks[4], 2);
    assert_int_equal(board->ranks[2], 3);
    assert_int_equal(board->ranks[0], 4);
}

static void timers_wake_in_order(void **state)
{
    (void)state;
    the_earliest_wakes_first(tickless);
}

static void timers_wake_in_order_with_a_tick(void **state)
{
    (void)state;
    the_earliest_wakes_first(ticking);
}

static void each_core_has_an_alarm(struct dz_machine machine)
{
    static const uint64_t ms[CORES] = {20, 5, 10};

    start(machine);
    for (unsigned i = 0; i < CORES; i++) {
        struct board *board =
            board_with(i, (const uint64_t[SLEEPERS]){ticks_of_ms(ms[i])});

        dz_core_start(&board->core, sleep_on, board);
    }
    for (unsigned i = 0; i < CORES; i++) {
        dz_core_join(&boards[i].core);
        assert_true(boards[i].slept[0] >= ticks_of_ms(ms[i]));
    }
    dz_machine_stop();
}

static void three_cores_wait_each_for_its_own(void **state)
{
    (void)state;
    each_core_has_an_alarm(tickless);
}

static void three_cores_wait_each_for_its_own_with_a_tick(void **state)
{
    (void)state;
    each_core_has_an_alarm(ticking);
}

static void sleep_for_ever(void *argument)
{
    static const volatile bool never;
    static struct dz_executor executor;

    (void)argument;
    dz_executor_init(&executor, "clock");
    dz_executor_run_until(&executor, &never);
}

/* The core, started again in the same machine, in another, and in none. */
static void a_clock_ends_with_its_core(void **state)
{
    struct board *board = &boards[0];

    (void)state;
    for (int i = 0; i < 4; i++) {
        if (i % 2 == 0)
            start(ticking);
        (void)board_with(0, (const uint64_t[SLEEPERS]){ticks_of_ms(10)});
        dz_core_start(&board->core, sleep_on, board);
        dz_core_join(&board->core);
        dz_core_start(&board->core, sleep_for_ever, NULL);
        dz_core_stop(&board->core);
        if (i % 2 == 1)
            dz_machine_stop();
    }
    dz_core_enter(&board->core);
    dz_core_leave(&board->core);
}

/* ---- In virtual time, where all is exact. */

static unsigned interrupts;

static void count_interrupts(
    unsigned event, const void *subject, const void *detail)
{
    (void)subject;
    (void)detail;
    interrupts += event == DZ_EVENT_INTERRUPT_ENTER;
}

/* In virtual time, counting interrupts. */
static const struct board *count_waits(
    struct dz_machine machine, const uint64_t *waits)
{
    const struct board *board;

    interrupts = 0;
    start_in(DZ_TIME_VIRTUAL, machine);
    dz_port_listen(count_interrupts);
    board = run_waits(waits);
    dz_port_ignore(count_interrupts);
    return board;
}

#define COUNT_WAITS(machine, ...) \
    count_waits(machine, (const uint64_t[SLEEPERS]){__VA_ARGS__})

static const struct dz_machine free_of_charge = {.tick_hz = 0};

static void a_tickless_alarm_comes_at_its_tick(void **state)
{
    const struct board *board;

    (void)state;
    board = COUNT_WAITS(free_of_charge, 1, 2, 3333, 70000, 70001);
    for (unsigned i = 0; i < SLEEPERS; i++)
        assert_int_equal(board->slept[i], board->waits[i]);
    assert_int_equal(interrupts, 5);
}

/* 20.5 ms after 0, 21 ms is the first tick of the driver. */
static void with_a_tick_an_alarm_waits_for_it(void **state)
{
    const struct board *board;

    (void)state;
    board = COUNT_WAITS(
        ((struct dz_machine){.tick_hz = TICK_HZ}), ticks_of_ms(41) / 2);
    assert_int_equal(board->slept[0], UINT64_C(21) * DZ_TICK_HZ / 1000);
    assert_int_equal(interrupts, 21);
}

/* An eighth of a second is a whole number of ticks at every rate here. */
static void an_alarm_may_come_with_its_tick(void **state)
{
    const struct board *board =
        COUNT_WAITS((struct dz_machine){.tick_hz = TICK_HZ}, DZ_TICK_HZ / 8);

    (void)state;
    assert_int_equal(board->slept[0], DZ_TICK_HZ / 8);
}

static void set_an_alarm_of_the_past(struct dz_machine machine)
{
    struct board *board = board_with(0, (const uint64_t[SLEEPERS]){0});
    dz_key key;

    interrupts = 0;
    start_in(DZ_TIME_VIRTUAL, machine);
    dz_core_enter(&board->core);
    dz_port_listen(count_interrupts);
    key = dz_port_enter();
    dz_port_set_alarm(0);
    assert_int_equal(interrupts, 0);
    dz_port_exit(key);
    assert_int_equal(interrupts, 1);
    dz_port_ignore(count_interrupts);
    dz_core_leave(&board->core);
    dz_machine_stop();
}

static void an_alarm_of_the_past_comes_at_once(void **state)
{
    (void)state;
    set_an_alarm_of_the_past(free_of_charge);
    set_an_alarm_of_the_past((struct dz_machine){.tick_hz = TICK_HZ});
}

static void compute_10_ms(void *argument)
{
    struct dz_instant *now = argument;

    now[0] = dz_instant_now();
    dz_machine_compute(10 * MS);
    now[1] = dz_instant_now();
}

static void time_is_as_fine_with_a_tick_as_without(void **state)
{
    struct board *board = board_with(0, (const uint64_t[SLEEPERS]){0});
    struct dz_instant now[2];

    (void)state;
    start_in(DZ_TIME_VIRTUAL, (struct dz_machine){.tick_hz = 3});
    dz_core_start(&board->core, compute_10_ms, now);
    dz_core_join(&board->core);
    dz_machine_stop();
    assert_int_equal(now[0].ticks, 0);
    assert_int_equal(now[1].ticks, DZ_TICK_HZ / 100);
}

struct hour {
    struct dz_task task;
    struct dz_ticker ticker;
    volatile bool done;
    unsigned count;
};

static enum dz_poll hour_poll(struct hour *self)
{
    async (self) {
        dz_ticker_init(
            &self->ticker, dz_duration_from_secs(1), DZ_TICKER_BURST);
        while (dz_instant_as_secs(dz_instant_now()) < 3600) {
            await(dz_ticker_poll(&self->ticker));
            self->count++;
        }
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(hours, struct hour, hour_poll, 1)

static void count_seconds(void *argument)
{
    struct hour *hour = argument;
    static struct dz_executor executor;

    dz_executor_init(&executor, "clock");
    dz_executor_spawn(&executor, &hour->task);
    dz_executor_run_until(&executor, &hour->done);
}

static void an_hour_has_3600_seconds(void **state)
{
    struct board *board = board_with(0, (const uint64_t[SLEEPERS]){0});
    struct hour *hour;

    (void)state;
    memset(hours_slots, 0, sizeof(hours_slots));
    assert_int_equal(hours_claim(&hour), DZ_OK);
    start_in(DZ_TIME_VIRTUAL, tickless);
    dz_core_start(&board->core, count_seconds, hour);
    dz_core_join(&board->core);
    assert_true(dz_machine_now() >= 3600 * NS);
    assert_true(dz_machine_now() < 3601 * NS);
    dz_machine_stop();
    assert_int_equal(hour->count, 3600);
}

static void sleep_with(struct dz_machine machine)
{
    static struct dz_core core;

    start_in(DZ_TIME_VIRTUAL, machine);
    dz_core_start(&core, sleep_for_ever, NULL);
    dz_core_join(&core);
}

static void sleep_with_a_tick(void)
{
    sleep_with(ticking);
}

static void sleep_with_a_short_counter(void)
{
    sleep_with((struct dz_machine){.counter_bits = 16});
}

static void a_clock_alone_does_not_keep_a_sleeping_machine_going(void **state)
{
    (void)state;
    assert_says(last_words_at(DZ_EXIT_DEADLOCK, sleep_with_a_tick),
        "nothing is scheduled");
    assert_says(last_words_at(DZ_EXIT_DEADLOCK, sleep_with_a_short_counter),
        "nothing is scheduled");
}

/* ---- T9: what counters do to those who drive them. */

enum { BITS = 16, TURN = 1 << BITS };

/* Each look at the clock, access to the counter, poll and handler takes some
 * ticks, so that time passes between any two steps of the driver. */
static struct dz_machine slow(unsigned ticks)
{
    uint32_t price = (uint32_t)(ticks * NS / DZ_TICK_HZ + 1);

    return (struct dz_machine){
        .costs = {.poll = price,
            .handler = price,
            .clock = price,
            .access = price},
        .counter_bits = BITS,
    };
}

/* Whoever is missed comes half a turn later. */
static void assert_in_time(const struct board *board)
{
    for (unsigned i = 0; i < board->sleepers; i++) {
        assert_true(board->slept[i] >= board->waits[i]);
        assert_true(board->slept[i] < board->waits[i] + TURN / 4);
    }
}

static void an_alarm_that_is_armed_too_late_comes_at_once_T9(void **state)
{
    (void)state;
    for (uint64_t wait = 1; wait < 100; wait++)
        assert_in_time(COUNT_WAITS(slow(5), wait));
}

/* The second one is due at every point of the first one's handler. */
static void an_alarm_within_the_handler_of_another_is_not_lost_T9(void **state)
{
    (void)state;
    for (uint64_t apart = 0; apart < 100; apart++)
        assert_in_time(COUNT_WAITS(slow(5), 1000, 1000 + apart));
}

/* From 2 ticks before each half of a turn to 2 behind it, with interrupts off,
 * so that the one that is due there waits. */
static void look_around_turns(void *argument)
{
    unsigned *wrong = argument;

    for (uint64_t half = 1; half < 10; half++) {
        uint64_t at = half * TURN / 2 - 2;
        dz_key key;

        while (dz_instant_now().ticks < at - TURN / 4)
            dz_machine_compute(TURN / 8 * NS / DZ_TICK_HZ);
        key = dz_port_enter();
        dz_machine_compute(at * NS / DZ_TICK_HZ + 1 - dz_machine_now());
        for (int i = 0; i < 4; i++) {
            *wrong += dz_instant_now().ticks != at + (unsigned)i;
            dz_machine_compute(NS / DZ_TICK_HZ + 1);
        }
        dz_port_exit(key);
    }
}

static void time_is_right_at_the_turn_with_interrupts_off_T9(void **state)
{
    struct board *board = board_with(0, (const uint64_t[SLEEPERS]){0});
    unsigned wrong = 0;

    (void)state;
    start_in(DZ_TIME_VIRTUAL, (struct dz_machine){.counter_bits = BITS});
    dz_core_start(&board->core, look_around_turns, &wrong);
    dz_core_join(&board->core);
    dz_machine_stop();
    assert_int_equal(wrong, 0);
}

/* Twice in each turn an interrupt comes for it. */
static void an_alarm_further_than_a_turn_is_met_T9(void **state)
{
    struct dz_machine machine = {.counter_bits = BITS};
    const struct board *board =
        COUNT_WAITS(machine, TURN - 1, TURN, TURN + 1, 20 * TURN + 7);

    (void)state;
    for (unsigned i = 0; i < board->sleepers; i++)
        assert_int_equal(board->slept[i], board->waits[i]);
    assert_true(interrupts >= 40);
    assert_true(interrupts <= 45);
}

static void a_tick_follows_a_short_counter(void **state)
{
    struct dz_machine machine = {.tick_hz = 100, .counter_bits = BITS};
    const struct board *board = COUNT_WAITS(machine, 20 * TURN + 7);

    (void)state;
    assert_true(board->slept[0] >= board->waits[0]);
    assert_true(board->slept[0] <= board->waits[0] + DZ_TICK_HZ / 100 + 1);
}

/* Nobody waits for ten turns, and another core keeps the machine going. */
static void wait_for_ever_then_look(void *argument)
{
    unsigned *wrong = argument;

    while (dz_machine_now() < 10 * TURN * NS / DZ_TICK_HZ)
        dz_core_wait_for_interrupt(dz_core_here());
    *wrong = dz_instant_now().ticks != machine_ticks();
}

static void an_idle_core_loses_no_turn_T9(void **state)
{
    struct board *idle = board_with(0, (const uint64_t[SLEEPERS]){0});
    struct board *other = board_with(1, (const uint64_t[SLEEPERS]){11 * TURN});
    unsigned wrong = 1;

    (void)state;
    start_in(DZ_TIME_VIRTUAL, (struct dz_machine){.counter_bits = BITS});
    dz_core_start(&idle->core, wait_for_ever_then_look, &wrong);
    dz_core_start(&other->core, sleep_on, other);
    dz_core_join(&idle->core);
    dz_core_join(&other->core);
    dz_machine_stop();
    assert_int_equal(wrong, 0);
    assert_int_equal(other->slept[0], 11 * TURN);
}

static void look(void *argument)
{
    *(struct dz_instant *)argument = dz_instant_now();
}

static void a_core_that_starts_late_knows_the_time(void **state)
{
    struct board *early = board_with(0, (const uint64_t[SLEEPERS]){9 * TURN});
    struct board *late = board_with(1, (const uint64_t[SLEEPERS]){0});
    struct dz_instant now;

    (void)state;
    start_in(DZ_TIME_VIRTUAL, (struct dz_machine){.counter_bits = BITS});
    dz_core_start(&early->core, sleep_on, early);
    dz_core_join(&early->core);
    dz_core_start(&late->core, look, &now);
    dz_core_join(&late->core);
    dz_machine_stop();
    assert_int_equal(now.ticks, 9 * TURN);
}

/* ---- T10: the machine is the mock. */

/* In ticks, moved by hand, on the test's own thread. */
static void computing_moves_the_one_clock_T10(void **state)
{
    struct board *board =
        board_with(0, (const uint64_t[SLEEPERS]){DZ_TICK_HZ / 4});
    uint64_t before;

    (void)state;
    start_in(DZ_TIME_VIRTUAL, free_of_charge);
    dz_core_enter(&board->core);
    dz_executor_init(&board->executor, "clock");
    spawn_sleeper(board, 0);
    dz_executor_poll(&board->executor);
    before = dz_instant_now().ticks;
    dz_machine_compute(NS / 4 - 1);
    assert_false(dz_executor_is_ready(&board->executor));
    dz_machine_compute(1);
    assert_true(dz_executor_is_ready(&board->executor));
    assert_int_equal(dz_instant_now().ticks - before, DZ_TICK_HZ / 4);
    dz_executor_poll(&board->executor);
    assert_true(board->done);
    dz_core_leave(&board->core);
    dz_machine_stop();
}

/* What waited when the machine stopped is queued by nobody, and can wait
 * again. */
static void a_machine_that_is_started_anew_is_at_0_T10(void **state)
{
    struct board *board = board_with(0, (const uint64_t[SLEEPERS]){DZ_TICK_HZ});

    (void)state;
    for (int i = 0; i < 2; i++) {
        start_in(DZ_TIME_VIRTUAL, free_of_charge);
        dz_core_enter(&board->core);
        assert_int_equal(dz_instant_now().ticks, 0);
        dz_executor_init(&board->executor, "clock");
        spawn_sleeper(board, 0);
        dz_executor_poll(&board->executor);
        dz_machine_compute(NS / 2);
        assert_int_equal(dz_instant_now().ticks, DZ_TICK_HZ / 2);
        dz_core_leave(&board->core);
        dz_machine_stop();
    }
    start_in(DZ_TIME_VIRTUAL, free_of_charge);
    assert_int_equal(RUN_WAITS(DZ_TICK_HZ)->slept[0], DZ_TICK_HZ);
}

/* ---- The counter alone. */

static struct dz_core counting_core;
static struct dz_counter counter;
static unsigned matches;

static void match(void *argument)
{
    (void)argument;
    matches++;
    dz_counter_acknowledge(&counter);
}

static void begin_counter(void)
{
    start_in(DZ_TIME_VIRTUAL, free_of_charge);
    dz_core_enter(&counting_core);
    dz_core_bind(&counting_core, 5, match, NULL);
    dz_counter_open(&counter, &counting_core, 5, BITS);
    matches = 0;
}

static void end_counter(void)
{
    dz_counter_close(&counter);
    dz_core_leave(&counting_core);
    dz_machine_stop();
}

/* To the first ns of a tick. */
static void compute_until_tick(uint64_t tick)
{
    uint64_t at = (tick * NS + DZ_TICK_HZ - 1) / DZ_TICK_HZ;

    dz_machine_compute(at - dz_machine_now());
}

static void a_counter_turns_over(void **state)
{
    (void)state;
    begin_counter();
    compute_until_tick(TURN - 1);
    assert_int_equal(dz_counter_read(&counter), TURN - 1);
    compute_until_tick(TURN);
    assert_int_equal(dz_counter_read(&counter), 0);
    end_counter();
}

static void it_matches_once_at_the_value_it_is_armed_with(void **state)
{
    (void)state;
    begin_counter();
    dz_counter_arm(&counter, 7 * TURN + 3); /* takes the low bits */
    compute_until_tick(3);
    assert_int_equal(matches, 1);
    compute_until_tick(TURN + 4);
    assert_int_equal(matches, 1);
    end_counter();
}

static void it_matches_not_before(void **state)
{
    (void)state;
    begin_counter();
    dz_counter_arm(&counter, 3);
    compute_until_tick(3);
    assert_int_equal(matches, 1);
    dz_counter_arm(&counter, 10);
    compute_until_tick(10);
    dz_machine_compute(0);
    assert_int_equal(matches, 2);
    end_counter();
}

static void the_present_value_matches_after_a_turn(void **state)
{
    (void)state;
    begin_counter();
    compute_until_tick(3);
    dz_counter_arm(&counter, 3);
    compute_until_tick(TURN + 2);
    assert_int_equal(matches, 0);
    compute_until_tick(TURN + 3);
    assert_int_equal(matches, 1);
    end_counter();
}

static void open_too_wide(void)
{
    start_in(DZ_TIME_VIRTUAL, (struct dz_machine){.counter_bits = 65});
    dz_core_enter(&counting_core);
}

static void tick_too_fast(void)
{
    start_in(DZ_TIME_VIRTUAL, (struct dz_machine){.tick_hz = UINT32_MAX});
    dz_core_enter(&counting_core);
}

static void look_without_a_machine(void)
{
    dz_core_enter(&counting_core);
    (void)dz_instant_now();
}

static void misuse_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(open_too_wide), "2 to 64 bits");
    assert_says(last_words_of(tick_too_fast), "tick_hz is at most");
    assert_says(last_words_of(look_without_a_machine), "there is no machine");
}

RUN_TESTS(PLAIN_TEST(a_wait_is_not_too_short),
    PLAIN_TEST(a_wait_is_not_too_short_with_a_tick),
    PLAIN_TEST(timers_wake_in_order),
    PLAIN_TEST(timers_wake_in_order_with_a_tick),
    PLAIN_TEST(three_cores_wait_each_for_its_own),
    PLAIN_TEST(three_cores_wait_each_for_its_own_with_a_tick),
    PLAIN_TEST(a_clock_ends_with_its_core),
    PLAIN_TEST(a_tickless_alarm_comes_at_its_tick),
    PLAIN_TEST(with_a_tick_an_alarm_waits_for_it),
    PLAIN_TEST(an_alarm_may_come_with_its_tick),
    PLAIN_TEST(an_alarm_of_the_past_comes_at_once),
    PLAIN_TEST(time_is_as_fine_with_a_tick_as_without),
    PLAIN_TEST(an_hour_has_3600_seconds),
    PLAIN_TEST(a_clock_alone_does_not_keep_a_sleeping_machine_going),
    PLAIN_TEST(an_alarm_that_is_armed_too_late_comes_at_once_T9),
    PLAIN_TEST(an_alarm_within_the_handler_of_another_is_not_lost_T9),
    PLAIN_TEST(time_is_right_at_the_turn_with_interrupts_off_T9),
    PLAIN_TEST(an_alarm_further_than_a_turn_is_met_T9),
    PLAIN_TEST(a_tick_follows_a_short_counter),
    PLAIN_TEST(an_idle_core_loses_no_turn_T9),
    PLAIN_TEST(a_core_that_starts_late_knows_the_time),
    PLAIN_TEST(computing_moves_the_one_clock_T10),
    PLAIN_TEST(a_machine_that_is_started_anew_is_at_0_T10),
    PLAIN_TEST(a_counter_turns_over),
    PLAIN_TEST(it_matches_once_at_the_value_it_is_armed_with),
    PLAIN_TEST(it_matches_not_before),
    PLAIN_TEST(the_present_value_matches_after_a_turn),
    PLAIN_TEST(misuse_panics))
