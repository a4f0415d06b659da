/* SPDX-License-Identifier: MIT */
#include "executor/timer.h"

#include "sim/test_random.h"
#include "sync/channel.h"

/*
 * A machine whose time the test moves. Its alarm is an interrupt of the test's
 * core, and comes as PORTING.md says: once, at its instant or at once, unless
 * it is held back, as hardware and masks may do.
 */

#define NEVER UINT64_MAX

enum { ALARM_IRQ = 4, LOG = 64, FIRED = 0 };

static uint64_t now;
static uint64_t alarm_at; /* what was set last; FIRED: it has come since */
static uint64_t alarms[LOG];
static unsigned alarm_count;
static bool is_held_back;

static uint64_t machine_now(void)
{
    return now;
}

/* Setting what is set already is a fault: it costs accesses to a peripheral. */
static void machine_set_alarm(uint64_t at)
{
    assert_true(is_masked());
    assert_int_not_equal(at, alarm_at);
    alarms[alarm_count++ % LOG] = at;
    alarm_at = at;
    if (at <= now && !is_held_back)
        pend_interrupt(ALARM_IRQ);
}

static const struct test_clock machine_clock = {
    .now = machine_now,
    .set_alarm = machine_set_alarm,
};

static void alarm_handler(void *argument)
{
    (void)argument;
    alarm_at = FIRED;
    dz_timers_expire();
}

/* Time jumps: what is due on the way is late. */
static void jump(uint64_t to)
{
    now = to;
    if (alarm_at <= now && !is_held_back)
        pend_interrupt(ALARM_IRQ);
}

static struct dz_executor executor;

static void run(void)
{
    for (int passes = 0; dz_executor_is_ready(&executor); passes++) {
        assert_true(passes < 1000);
        dz_executor_poll(&executor);
    }
}

/* Time passes: what is due runs at its instant. */
static void pass_until(uint64_t to)
{
    while (alarm_at <= to) {
        jump(alarm_at);
        run();
    }
    jump(to);
    run();
}

/* What the tasks did, and when: "a10 b20" */
static char trail[256];

static void note(char letter)
{
    size_t len = strlen(trail);

    assert_true(len + 32 < sizeof(trail));
    snprintf(trail + len, sizeof(trail) - len, "%s%c%llu", len > 0 ? " " : "",
        letter, (unsigned long long)now);
}

/* What the test before left waiting is gone. */
static void clear_pools(void);

static void begin(void)
{
    clear_pools();
    use_clock(&machine_clock);
    bind_interrupt(ALARM_IRQ, alarm_handler, NULL);
    dz_local = (struct dz_local)DZ_LOCAL_INITIAL;
    dz_executor_init(&executor, "test");
    now = 0;
    alarm_at = NEVER;
    alarm_count = 0;
    is_held_back = false;
    trail[0] = '\0';
}

static void assert_alarms(const uint64_t *expected, unsigned count)
{
    assert_int_equal(alarm_count, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(alarms[i], expected[i]);
}

#define ASSERT_ALARMS(...)                                            \
    do {                                                              \
        static const uint64_t expected[] = {__VA_ARGS__};             \
                                                                      \
        assert_alarms(expected, sizeof(expected) / sizeof(uint64_t)); \
    } while (0)

static void nothing_is_queued(void)
{
    assert_null(dz_local.timers.root);
    assert_int_equal(dz_local.timers.count, 0);
    assert_int_equal(alarm_at, NEVER);
}

static struct dz_instant at(uint64_t ticks)
{
    return (struct dz_instant){ticks};
}

static struct dz_duration ticks(uint64_t count)
{
    return (struct dz_duration){count};
}

/* ---- Timers. */

enum sleep {
    SLEEP_AT,
    SLEEP_AFTER,
    SLEEP_WALK_AWAY, /* polls the timer and ends */
    SLEEP_CANCEL,    /* polls the timer, cancels it, and sleeps for 100 */
    SLEEP_SELECT,    /* `at` or `second`, whatever comes first */
    SLEEP_TWICE,     /* `at` and then `second` */
};

struct sleeper {
    struct dz_task task;
    struct dz_timer timer;
    struct dz_timer other;
    struct dz_select2 select;
    enum sleep sleep;
    uint64_t at;
    uint64_t second;
    char letter;
    unsigned polls;
};

static enum dz_poll walk(struct sleeper *self)
{
    walk_away_from(dz_timer_at(&self->timer, at(self->at)));
    if (self->sleep == SLEEP_WALK_AWAY)
        return DZ_READY;
    dz_cancel();
    self->sleep = SLEEP_AFTER;
    self->at = 100;
    return dz_timer_after(&self->timer, ticks(100));
}

static enum dz_poll sleep_poll(struct sleeper *self)
{
    switch (self->sleep) {
    case SLEEP_AFTER:
        return dz_timer_after(&self->timer, ticks(self->at));
    case SLEEP_WALK_AWAY:
    case SLEEP_CANCEL:
        return walk(self);
    case SLEEP_SELECT:
        return dz_select2(&self->select,
            dz_timer_at(&self->timer, at(self->at)),
            dz_timer_at(&self->other, at(self->second)));
    case SLEEP_AT:
    case SLEEP_TWICE:
    default:
        return dz_timer_at(&self->timer, at(self->at));
    }
}

static enum dz_poll sleeper_poll(struct sleeper *self)
{
    self->polls++;
    async (self) {
        await(sleep_poll(self));
        note(self->letter);
        if (self->sleep != SLEEP_TWICE)
            return dz_finish(self);
        await(dz_timer_at(&self->timer, at(self->second)));
        note(self->letter);
    }
    return DZ_READY;
}

DZ_TASK_POOL(sleepers, struct sleeper, sleeper_poll, 8)

static struct sleeper *sleep_twice(
    char letter, enum sleep sleep, uint64_t first, uint64_t second)
{
    struct sleeper *sleeper;

    assert_int_equal(sleepers_claim(&sleeper), DZ_OK);
    sleeper->letter = letter;
    sleeper->sleep = sleep;
    sleeper->at = first;
    sleeper->second = second;
    dz_executor_spawn(&executor, &sleeper->task);
    return sleeper;
}

static struct sleeper *sleep_for(char letter, enum sleep sleep, uint64_t time)
{
    return sleep_twice(letter, sleep, time, 0);
}

/* Yields until it has had some turns. */
struct yielder {
    struct dz_task task;
    unsigned turns;
    char letter;
};

static enum dz_poll yielder_poll(struct yielder *self)
{
    async (self) {
        for (; self->turns > 0; self->turns--) {
            note(self->letter);
            await(dz_yield_poll());
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(yielders, struct yielder, yielder_poll, 1)

static void yield_for(char letter, unsigned turns)
{
    struct yielder *yielder;

    assert_int_equal(yielders_claim(&yielder), DZ_OK);
    yielder->letter = letter;
    yielder->turns = turns;
    dz_executor_spawn(&executor, &yielder->task);
}

static void a_task_is_woken_at_its_instant_and_not_before(void **state)
{
    struct sleeper *sleeper;

    (void)state;
    begin();
    sleeper = sleep_for('a', SLEEP_AT, 10);
    run();

    pass_until(9);
    assert_string_equal(trail, "");
    assert_int_equal(sleeper->polls, 1);
    pass_until(100);
    assert_string_equal(trail, "a10");
    assert_int_equal(sleeper->polls, 2);
    nothing_is_queued();
}

/* T11 */
static void the_clock_starts_at_the_first_poll(void **state)
{
    (void)state;
    begin();
    sleep_for('a', SLEEP_AFTER, 10);
    jump(5);
    run();

    pass_until(100);
    assert_string_equal(trail, "a15");
}

/* T2 */
static void a_later_timer_leaves_the_alarm_alone(void **state)
{
    (void)state;
    begin();
    sleep_for('a', SLEEP_AT, 10);
    run();
    sleep_for('b', SLEEP_AT, 50);
    run();
    ASSERT_ALARMS(10);

    pass_until(10);
    ASSERT_ALARMS(10, 50);
    pass_until(50);
    ASSERT_ALARMS(10, 50, NEVER);
    assert_string_equal(trail, "a10 b50");
}

static void an_earlier_timer_sets_the_alarm_anew(void **state)
{
    (void)state;
    begin();
    sleep_for('a', SLEEP_AT, 50);
    sleep_for('b', SLEEP_AT, 10);
    sleep_for('c', SLEEP_AT, 10);
    run();

    pass_until(100);
    ASSERT_ALARMS(50, 10, 50, NEVER);
    assert_string_equal(trail, "b10 c10 a50");
}

static void equals_are_woken_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    begin();
    for (char letter = 'a'; letter <= 'f'; letter++)
        sleep_for(letter, SLEEP_AT, 10);
    sleep_for('x', SLEEP_AT, 9);
    run();

    pass_until(100);
    assert_string_equal(trail, "x9 a10 b10 c10 d10 e10 f10");
    ASSERT_ALARMS(10, 9, 10, NEVER);
}

static void what_is_late_is_woken_in_the_order_in_which_it_was_due(void **state)
{
    (void)state;
    begin();
    sleep_for('a', SLEEP_AT, 30);
    sleep_for('b', SLEEP_AT, 10);
    sleep_for('c', SLEEP_AT, 40);
    sleep_for('d', SLEEP_AT, 20);
    sleep_for('e', SLEEP_AT, 50);
    run();

    jump(40);
    run();
    assert_string_equal(trail, "b40 d40 a40 c40");
    ASSERT_ALARMS(30, 10, 50);
}

/* T5 */
static void what_is_due_already_yields_once(void **state)
{
    struct sleeper *sleepers_here[3];

    (void)state;
    begin();
    now = 20;
    sleepers_here[0] = sleep_for('a', SLEEP_AT, 10);
    sleepers_here[1] = sleep_for('b', SLEEP_AT, 20);
    sleepers_here[2] = sleep_for('c', SLEEP_AFTER, 0);
    yield_for('y', 1);
    run();

    assert_string_equal(trail, "y20 a20 b20 c20");
    for (int i = 0; i < 3; i++)
        assert_int_equal(sleepers_here[i]->polls, 2);
    assert_int_equal(alarm_count, 0);
}

/* The alarm's interrupt could not come yet: whoever waits for the past keeps
 * behind what was due before, and before what was due behind. */
static void what_is_due_already_does_not_overtake_what_is_queued(void **state)
{
    (void)state;
    begin();
    sleep_for('a', SLEEP_AT, 10);
    run();
    is_held_back = true;
    jump(20);
    sleep_for('b', SLEEP_AT, 10);
    sleep_for('c', SLEEP_AT, 15);
    sleep_for('d', SLEEP_AT, 9);
    run();
    assert_string_equal(trail, "d20");

    is_held_back = false;
    jump(20);
    run();
    assert_string_equal(trail, "d20 a20 b20 c20");
    ASSERT_ALARMS(10, NEVER);
}

static void never_is_not_queued(void **state)
{
    struct sleeper *sleeper;

    (void)state;
    begin();
    now = 100;
    sleep_for('a', SLEEP_AT, NEVER);
    sleep_for('b', SLEEP_AFTER, NEVER);
    sleeper = sleep_for('c', SLEEP_AFTER, NEVER - 100);
    sleep_for('d', SLEEP_AFTER, NEVER - 101);
    run();
    ASSERT_ALARMS(NEVER - 1);
    assert_int_equal(dz_local.timers.count, 1);

    dz_task_wake(&sleeper->task);
    pass_until(NEVER - 1);
    assert_int_equal(sleeper->polls, 2);
    assert_string_equal(trail, "d18446744073709551614");
}

static void a_wait_that_is_polled_again_keeps_its_place(void **state)
{
    struct sleeper *first;

    (void)state;
    begin();
    first = sleep_for('a', SLEEP_AFTER, 10);
    sleep_for('b', SLEEP_AT, 10);
    run();
    jump(5);
    dz_task_wake(&first->task);
    run();
    assert_int_equal(first->polls, 2);

    pass_until(100);
    assert_string_equal(trail, "a10 b10");
    ASSERT_ALARMS(10, NEVER);
}

static void a_timer_serves_again_and_again(void **state)
{
    (void)state;
    begin();
    sleep_twice('a', SLEEP_TWICE, 10, 30);
    sleep_twice('b', SLEEP_TWICE, 20, 5);
    run();

    pass_until(100);
    assert_string_equal(trail, "a10 b20 b20 a30");
}

/* E4 */
static void a_task_that_ends_takes_its_timer_along(void **state)
{
    struct sleeper *sleeper;

    (void)state;
    begin();
    sleeper = sleep_for('a', SLEEP_WALK_AWAY, 10);
    run();
    nothing_is_queued();

    assert_ptr_equal(sleep_for('b', SLEEP_AT, 20), sleeper);
    pass_until(15);
    assert_int_equal(sleeper->polls, 1);
    pass_until(100);
    assert_string_equal(trail, "a0 b20");
    ASSERT_ALARMS(10, NEVER, 20, NEVER);
}

static void a_timer_that_is_cancelled_is_forgotten(void **state)
{
    struct sleeper *sleeper;

    (void)state;
    begin();
    sleeper = sleep_for('a', SLEEP_CANCEL, 10);
    run();
    ASSERT_ALARMS(10, NEVER, 100);

    pass_until(99);
    assert_int_equal(sleeper->polls, 1);
    pass_until(100);
    assert_string_equal(trail, "a100");
}

static void the_alarm_moves_only_if_the_earliest_is_cancelled(void **state)
{
    (void)state;
    begin();
    sleep_for('a', SLEEP_AT, 20);
    sleep_for('b', SLEEP_AT, 40);
    run();
    sleep_for('c', SLEEP_WALK_AWAY, 30);
    run();
    ASSERT_ALARMS(20);
    sleep_for('d', SLEEP_WALK_AWAY, 20);
    run();
    ASSERT_ALARMS(20);
    sleep_for('e', SLEEP_WALK_AWAY, 10);
    run();
    ASSERT_ALARMS(20, 10, 20);
}

static void an_earliest_with_an_equal_leaves_the_alarm_as_it_is(void **state)
{
    struct sleeper *first;

    (void)state;
    begin();
    first = sleep_twice('a', SLEEP_SELECT, 20, 10);
    sleep_for('b', SLEEP_AT, 20);
    run();
    pass_until(10);
    assert_string_equal(trail, "a10");
    assert_null(first->task.pool);

    pass_until(100);
    assert_string_equal(trail, "a10 b20");
    ASSERT_ALARMS(20, 10, 20, NEVER);
}

/* T4: the later one is there, whoever polls it or not, until it is cancelled.
 */
static void both_timers_of_a_select_are_queued(void **state)
{
    struct sleeper *sleeper;

    (void)state;
    begin();
    sleeper = sleep_twice('a', SLEEP_SELECT, 50, 10);
    run();
    assert_int_equal(dz_local.timers.count, 2);
    jump(10);
    assert_int_equal(dz_local.timers.count, 1);
    assert_int_equal(alarm_at, 50);

    run();
    assert_string_equal(trail, "a10");
    assert_int_equal(dz_select_winner(&sleeper->select), 1);
    assert_int_equal(sleeper->polls, 2);
    nothing_is_queued();
}

static void two_timers_that_expire_together_are_one_wake_up(void **state)
{
    struct sleeper *sleeper;

    (void)state;
    begin();
    sleeper = sleep_twice('a', SLEEP_SELECT, 50, 10);
    run();

    jump(60);
    run();
    assert_string_equal(trail, "a60");
    assert_int_equal(dz_select_winner(&sleeper->select), 0);
    assert_int_equal(sleeper->polls, 2);
}

static void an_early_look_at_the_queue_does_no_harm(void **state)
{
    struct sleeper *sleeper;

    (void)state;
    begin();
    sleeper = sleep_for('a', SLEEP_AT, 10);
    run();
    jump(5);
    alarm_handler(NULL);
    run();
    assert_int_equal(sleeper->polls, 1);
    ASSERT_ALARMS(10, 10);

    pass_until(100);
    assert_string_equal(trail, "a10");
    alarm_handler(NULL);
    nothing_is_queued();
}

/* As a port does that runs several cores on one thread. */
static void the_queue_moves_with_the_cores_local_variables(void **state)
{
    struct dz_local elsewhere;

    (void)state;
    begin();
    sleep_for('a', SLEEP_AT, 10);
    sleep_for('b', SLEEP_AT, 20);
    run();
    elsewhere = dz_local;
    dz_local = (struct dz_local)DZ_LOCAL_INITIAL;
    alarm_handler(NULL);
    assert_int_equal(alarm_at, NEVER);

    dz_local = elsewhere;
    jump(30);
    alarm_handler(NULL);
    run();
    assert_string_equal(trail, "a30 b30");
}

/* T3 */
enum { MANY = 10000, STRIDE = 7919 }; /* without a common divisor */

struct one_of_many {
    struct dz_task task;
    struct dz_timer timer;
    unsigned polls;
};

static unsigned woken;

static enum dz_poll one_of_many_poll(struct one_of_many *self)
{
    uint64_t due = 1 + dz_task_slot(&self->task) * STRIDE % MANY;

    self->polls++;
    async (self) {
        await(dz_timer_at(&self->timer, at(due)));
        assert_int_equal(now, due);
        assert_int_equal(self->polls, 2);
        woken++;
    }
    return DZ_READY;
}

DZ_TASK_POOL(many, struct one_of_many, one_of_many_poll, MANY)

static void ten_thousand_timers_all_find_room(void **state)
{
    struct one_of_many *one;

    (void)state;
    begin();
    while (many_claim(&one) == DZ_OK)
        dz_executor_spawn(&executor, &one->task);
    run();
    assert_int_equal(dz_local.timers.count, MANY);
    assert_int_equal(woken, 0);

    pass_until(MANY);
    assert_int_equal(woken, MANY);
    nothing_is_queued();
}

/* ---- Tickers. */

struct ticking {
    struct dz_task task;
    struct dz_ticker ticker;
    struct dz_select2 select;
    unsigned ticks; /* wanted */
    unsigned polls;
    bool has_event; /* ends a wait for a tick */
};

static enum dz_poll event_poll(bool *has_event)
{
    return *has_event ? (*has_event = false, DZ_READY) : DZ_PENDING;
}

static enum dz_poll ticking_poll(struct ticking *self)
{
    self->polls++;
    async (self) {
        for (; self->ticks > 0; self->ticks--) {
            await(dz_select2(&self->select, event_poll(&self->has_event),
                dz_ticker_poll(&self->ticker)));
            note(dz_select_winner(&self->select) == 0 ? 'e' : 't');
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(tickings, struct ticking, ticking_poll, 2)

static struct ticking *tick(
    uint64_t period, enum dz_ticker_policy policy, unsigned count)
{
    struct ticking *ticking;

    assert_int_equal(tickings_claim(&ticking), DZ_OK);
    ticking->ticks = count;
    dz_ticker_init(&ticking->ticker, ticks(period), policy);
    dz_executor_spawn(&executor, &ticking->task);
    run();
    return ticking;
}

static void the_first_tick_is_a_period_from_init(void **state)
{
    static const enum dz_ticker_policy policies[] = {
        DZ_TICKER_BURST, DZ_TICKER_SKIP, DZ_TICKER_DELAY};

    (void)state;
    for (int i = 0; i < 3; i++) {
        begin();
        now = 3;
        tick(10, policies[i], 3);

        pass_until(100);
        assert_string_equal(trail, "t13 t23 t33");
        ASSERT_ALARMS(13, NEVER, 23, NEVER, 33, NEVER);
    }
}

/* With ticks due at 10, 20, 30, 40, and 45 reached at once. */
static void a_burst_delivers_every_tick_and_keeps_the_phase(void **state)
{
    (void)state;
    begin();
    tick(10, DZ_TICKER_BURST, 6);

    jump(45);
    run();
    pass_until(100);
    assert_string_equal(trail, "t45 t45 t45 t45 t50 t60");
}

static void skipping_drops_late_ticks_and_keeps_the_phase(void **state)
{
    (void)state;
    begin();
    tick(10, DZ_TICKER_SKIP, 3);

    jump(45);
    run();
    pass_until(100);
    assert_string_equal(trail, "t45 t50 t60");
}

static void a_delay_starts_a_period_from_the_late_tick(void **state)
{
    (void)state;
    begin();
    tick(10, DZ_TICKER_DELAY, 3);

    jump(45);
    run();
    pass_until(100);
    assert_string_equal(trail, "t45 t55 t65");
}

/* 40 is an instant of a tick itself: that one has come, the next is at 50. */
static void lateness_of_whole_periods_is_no_tick_more_or_less(void **state)
{
    static const char *const expected[] = {
        [DZ_TICKER_BURST] = "t40 t40 t40 t40 t50",
        [DZ_TICKER_SKIP] = "t40 t50 t60 t70 t80",
        [DZ_TICKER_DELAY] = "t40 t50 t60 t70 t80",
    };

    (void)state;
    for (unsigned policy = 0; policy < 3; policy++) {
        begin();
        tick(10, (enum dz_ticker_policy)policy, 5);

        jump(40);
        run();
        pass_until(100);
        assert_string_equal(trail, expected[policy]);
    }
}

/* T5 */
static void late_ticks_yield_each(void **state)
{
    struct ticking *ticking;

    (void)state;
    begin();
    ticking = tick(10, DZ_TICKER_BURST, 3);
    now = 35;
    yield_for('y', 3);
    jump(35);
    run();

    assert_string_equal(trail, "y35 t35 y35 t35 y35 t35");
    assert_int_equal(ticking->polls, 4);
}

static void wake_event(struct ticking *ticking)
{
    ticking->has_event = true;
    dz_task_wake(&ticking->task);
    run();
}

static void a_cancelled_wait_loses_no_tick(void **state)
{
    struct ticking *ticking;

    (void)state;
    begin();
    ticking = tick(10, DZ_TICKER_SKIP, 5);
    jump(5);
    wake_event(ticking);
    ticking->has_event = true;
    pass_until(10);
    assert_string_equal(trail, "e5 e10 t10");

    pass_until(100);
    assert_string_equal(trail, "e5 e10 t10 t20 t30");
}

static void a_reset_ticker_starts_afresh(void **state)
{
    struct ticking *ticking;

    (void)state;
    begin();
    (void)tickings_claim(&ticking);
    ticking->ticks = 2;
    dz_ticker_init(&ticking->ticker, ticks(10), DZ_TICKER_BURST);
    now = 7;
    dz_ticker_reset(&ticking->ticker);
    dz_executor_spawn(&executor, &ticking->task);
    run();

    pass_until(100);
    assert_string_equal(trail, "t17 t27");
}

static void a_ticker_can_be_set_to_an_instant(void **state)
{
    struct ticking *ticking;

    (void)state;
    begin();
    (void)tickings_claim(&ticking);
    ticking->ticks = 3;
    now = 4;
    dz_ticker_init(&ticking->ticker, ticks(10), DZ_TICKER_BURST);
    dz_ticker_reset_at(&ticking->ticker, at(4));
    dz_executor_spawn(&executor, &ticking->task);
    run();

    pass_until(100);
    assert_string_equal(trail, "t4 t14 t24");
}

/* T6 */
static void a_tick_beyond_the_end_of_time_never_comes(void **state)
{
    (void)state;
    begin();
    now = 5;
    tick(NEVER - 4, DZ_TICKER_BURST, 2);
    tick(NEVER - 6, DZ_TICKER_SKIP, 2);
    ASSERT_ALARMS(NEVER - 1);

    pass_until(NEVER - 1);
    assert_string_equal(trail, "t18446744073709551614");
    nothing_is_queued();
}

/* ---- Timeouts. */

struct timed {
    struct dz_task task;
    struct dz_timeout timeout;
    struct dz_timeout outer;
    struct dz_timer timer;
    bool has_event;
    bool is_deadline;
    uint64_t limit;
    uint64_t outer_limit; /* 0: none */
    unsigned rounds;
    unsigned inner_polls;
};

static enum dz_poll inner_poll(struct timed *self)
{
    self->inner_polls++;
    return event_poll(&self->has_event);
}

static enum dz_poll limited_poll(struct timed *self)
{
    if (self->outer_limit != 0)
        return dz_timeout(&self->outer, ticks(self->outer_limit),
            dz_timeout(&self->timeout, ticks(self->limit), inner_poll(self)));
    if (self->is_deadline)
        return dz_deadline(&self->timeout, at(self->limit), inner_poll(self));
    return dz_timeout(&self->timeout, ticks(self->limit), inner_poll(self));
}

static enum dz_poll timed_poll(struct timed *self)
{
    async (self) {
        for (; self->rounds > 0; self->rounds--) {
            await(limited_poll(self));
            note(self->outer_limit != 0 && dz_timeout_is_expired(&self->outer)
                    ? 'O'
                    : dz_timeout_is_expired(&self->timeout) ? 'X'
                                                            : 'r');
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(timeds, struct timed, timed_poll, 1)

static struct timed *limit_to(uint64_t limit, unsigned rounds)
{
    struct timed *timed;

    assert_int_equal(timeds_claim(&timed), DZ_OK);
    timed->limit = limit;
    timed->rounds = rounds;
    dz_executor_spawn(&executor, &timed->task);
    return timed;
}

static void bring_event(struct timed *timed)
{
    timed->has_event = true;
    dz_task_wake(&timed->task);
}

static void what_comes_in_time_wins(void **state)
{
    struct timed *timed;

    (void)state;
    begin();
    timed = limit_to(10, 1);
    run();
    jump(9);
    bring_event(timed);
    run();

    assert_string_equal(trail, "r9");
    nothing_is_queued();
}

static void what_is_ready_at_once_sets_no_alarm(void **state)
{
    (void)state;
    begin();
    limit_to(10, 1)->has_event = true;
    run();

    assert_string_equal(trail, "r0");
    assert_int_equal(alarm_count, 0);
}

static void what_comes_too_late_has_expired(void **state)
{
    (void)state;
    begin();
    limit_to(10, 2);
    now = 5;
    run();

    pass_until(100);
    assert_string_equal(trail, "X15 X25");
    nothing_is_queued();
}

static void a_deadline_is_an_instant(void **state)
{
    (void)state;
    begin();
    limit_to(10, 1)->is_deadline = true;
    now = 5;
    run();

    pass_until(100);
    assert_string_equal(trail, "X10");
}

static void what_comes_with_the_deadline_wins(void **state)
{
    struct timed *timed;

    (void)state;
    begin();
    timed = limit_to(10, 1);
    run();
    jump(10);
    bring_event(timed);
    run();

    assert_string_equal(trail, "r10");
}

static void no_time_at_all_is_two_polls_and_a_turn_for_others(void **state)
{
    struct timed *timed;

    (void)state;
    begin();
    timed = limit_to(0, 2);
    yield_for('y', 2);
    run();
    assert_string_equal(trail, "y0 X0 y0 X0");
    assert_int_equal(timed->inner_polls, 4);

    trail[0] = '\0';
    timed = limit_to(0, 1);
    dz_executor_poll(&executor);
    timed->has_event = true;
    run();
    assert_string_equal(trail, "r0");
    assert_int_equal(alarm_count, 0);
}

static void timeouts_nest(void **state)
{
    struct timed *timed;

    (void)state;
    begin();
    timed = limit_to(20, 1);
    timed->outer_limit = 10;
    run();
    pass_until(50);
    timed = limit_to(10, 1);
    timed->outer_limit = 20;
    run();
    pass_until(100);

    assert_string_equal(trail, "O10 X60");
    nothing_is_queued();
}

/* The branch that loses may wait for a timer, too. */
struct stopped {
    struct dz_task task;
    struct dz_timeout timeout;
    struct dz_timer timer;
};

static enum dz_poll stopped_poll(struct stopped *self)
{
    async (self) {
        await(dz_timeout(&self->timeout, ticks(10),
            dz_timer_after(&self->timer, ticks(30))));
        note('X');
        assert_true(dz_timeout_is_expired(&self->timeout));
        assert_false(dz_heap_holds(&self->timer.node));
        await(dz_timer_at(&self->timer, at(12)));
        note('a');
    }
    return DZ_READY;
}

DZ_TASK_POOL(stoppeds, struct stopped, stopped_poll, 1)

static void what_has_expired_is_cancelled_at_once(void **state)
{
    struct stopped *stopped;

    (void)state;
    begin();
    (void)stoppeds_claim(&stopped);
    dz_executor_spawn(&executor, &stopped->task);
    run();
    assert_int_equal(dz_local.timers.count, 2);

    pass_until(100);
    assert_string_equal(trail, "X10 a12");
    ASSERT_ALARMS(30, 10, 30, NEVER, 12, NEVER);
}

static void clear_pools(void)
{
    memset(sleepers_slots, 0, sizeof(sleepers_slots));
    memset(tickings_slots, 0, sizeof(tickings_slots));
    memset(timeds_slots, 0, sizeof(timeds_slots));
}

/* ---- Misuse. */

static void ticker_without_period(void)
{
    static struct dz_ticker ticker;

    begin();
    dz_ticker_init(&ticker, ticks(0), DZ_TICKER_BURST);
}

static void ticker_without_init(void)
{
    struct ticking *ticking;

    begin();
    (void)tickings_claim(&ticking);
    ticking->ticks = 1;
    dz_executor_spawn(&executor, &ticking->task);
    run();
}

static void ticker_set_while_awaited(void)
{
    struct ticking *ticking;

    begin();
    ticking = tick(10, DZ_TICKER_BURST, 1);
    dz_ticker_reset(&ticking->ticker);
}

/* It has come, but was not taken. */
static void ticker_set_before_the_tick_is_taken(void)
{
    struct ticking *ticking;

    begin();
    ticking = tick(10, DZ_TICKER_BURST, 1);
    jump(10);
    dz_ticker_reset(&ticking->ticker);
}

struct greedy {
    struct dz_task task;
    struct dz_select2 select;
    struct dz_timer timer;
};

static enum dz_poll greedy_poll(struct greedy *self)
{
    async (self) {
        await(dz_select2(&self->select, dz_timer_at(&self->timer, at(10)),
            dz_timer_at(&self->timer, at(20))));
    }
    return DZ_READY;
}

DZ_TASK_POOL(greedies, struct greedy, greedy_poll, 1)

static void one_timer_twice(void)
{
    struct greedy *greedy;

    begin();
    (void)greedies_claim(&greedy);
    dz_executor_spawn(&executor, &greedy->task);
    run();
}

static struct dz_timer nobodys;

static void timer_outside(void)
{
    begin();
    walk_away_from(dz_timer_at(&nobodys, at(10)));
}

static void wait_in_interrupt(void *argument)
{
    (void)argument;
    walk_away_from(dz_timer_after(&nobodys, ticks(10)));
}

static void timer_in_interrupt(void)
{
    begin();
    interrupt_now(wait_in_interrupt, NULL);
}

static void misuse_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(ticker_without_period), "a period of 0");
    assert_says(last_words_of(ticker_without_init), "not initialised");
    assert_says(last_words_of(ticker_set_while_awaited), "dz_cancel() first");
    assert_says(last_words_of(ticker_set_before_the_tick_is_taken),
        "dz_cancel() first");
    assert_says(last_words_of(one_timer_twice), "give each its own");
    assert_says(last_words_of(timer_outside), "await outside a task");
    assert_says(last_words_of(timer_in_interrupt), "await outside a task");
}

/*
 * ---- At random, against a model.
 *
 * Workers wait in all ways that there are, and are cancelled; time steps, jumps
 * and passes while they run, and the alarm comes within operations. The model
 * is a plain array of who waits until when. Whenever nothing is ready, nobody
 * waits for what is past, all others wait, and the alarm is the least of all.
 */

enum { WORKERS = 9, WAITS = 3, STEPS = 200000 };

enum {
    WALK_AWAY = 7, /* kinds of wait */
    WALK_AWAY_AND_END,
    KINDS,
};

struct wait {
    const struct dz_timer *timer; /* NULL: no more waits */
    uint64_t due;
    uint64_t order; /* of all that began to wait */
};

struct worker {
    struct dz_task task;
    struct dz_timer first;
    struct dz_timer second;
    struct dz_ticker ticker;
    struct dz_select2 select;
    struct dz_select3 select3;
    struct dz_timeout timeout;
    struct dz_timeout outer;
    unsigned kind;
    bool is_waiting;
    bool takes_events;
    bool has_event;
    bool had_event;
    struct wait waits[WAITS];
    uint64_t tick;   /* the model's next one */
    uint64_t period; /* and how it goes on */
    unsigned policy;
};

static struct dz_pool workers;
static struct worker workers_slots[WORKERS];
static uint64_t order;
static long finished[KINDS];
static bool is_disturbed;       /* time passed while the tasks ran */
static unsigned ended[WORKERS]; /* whose waits ended since time passed, ... */
static unsigned ended_count;    /* ... the first ones */

/* Time passes within the next operation; the alarm comes at the end of its
 * critical section, or a little later still. */
static void disturb(void)
{
    if (dice(8) != 0)
        return;
    is_disturbed = true;
    now += dice(4);
    if (alarm_at > now)
        return;
    pend_at_next_unmask(ALARM_IRQ);
}

static uint64_t some_instant(void)
{
    return now + 6 + dice(24) - dice(12);
}

static uint64_t some_instant_or_never(void)
{
    return dice(8) == 0 ? NEVER : some_instant();
}

/* The model: notes a wait that begins. */
static void model_wait(
    struct worker *self, const struct dz_timer *timer, uint64_t due)
{
    unsigned i = 0;

    while (self->waits[i].timer != NULL && self->waits[i].timer != timer)
        i++;
    check(i < WAITS);
    if (self->waits[i].timer != NULL)
        return;
    self->waits[i] = (struct wait){timer, due, order++};
}

static struct dz_instant model_at(
    struct worker *self, const struct dz_timer *timer, uint64_t instant)
{
    model_wait(self, timer, instant);
    return at(instant);
}

static struct dz_duration model_after(
    struct worker *self, const struct dz_timer *timer, unsigned length)
{
    model_wait(self, timer, now + length);
    return ticks(length);
}

static enum dz_poll at_poll(
    struct worker *self, struct dz_timer *timer, uint64_t instant)
{
    disturb();
    return dz_timer_at(timer, model_at(self, timer, instant));
}

static enum dz_poll after_poll(struct worker *self, struct dz_timer *timer)
{
    disturb();
    return dz_timer_after(timer, model_after(self, timer, dice(24)));
}

static uint64_t tick_behind(const struct worker *self, uint64_t tick)
{
    switch (self->policy) {
    case DZ_TICKER_SKIP:
        while (tick <= now)
            tick += self->period;
        return tick;
    case DZ_TICKER_DELAY:
        return now + self->period;
    default:
        return tick + self->period;
    }
}

static enum dz_poll tick_poll(struct worker *self)
{
    disturb();
    model_wait(self, &self->ticker.timer, self->tick);
    if (dz_ticker_poll(&self->ticker) == DZ_PENDING)
        return DZ_PENDING;
    self->tick = tick_behind(self, self->tick);
    return DZ_READY;
}

static enum dz_poll take_event(struct worker *self)
{
    self->takes_events = true;
    self->had_event = self->has_event;
    return event_poll(&self->has_event);
}

static enum dz_poll limit_poll(struct worker *self)
{
    return dz_deadline(&self->timeout,
        model_at(self, &self->timeout.timer, some_instant_or_never()),
        take_event(self));
}

static enum dz_poll limits_poll(struct worker *self)
{
    return dz_timeout(&self->outer,
        model_after(self, &self->outer.timer, dice(24)),
        dz_deadline(&self->timeout,
            model_at(self, &self->timeout.timer, some_instant_or_never()),
            at_poll(self, &self->first, some_instant_or_never())));
}

/* Polls, and then waits for something else, or ends. */
static enum dz_poll walk_away_poll(struct worker *self)
{
    if (!self->is_waiting) {
        walk_away_from(dz_timer_at(&self->first, at(some_instant_or_never())));
        disturb();
        if (self->kind == WALK_AWAY_AND_END)
            return DZ_READY;
        dz_cancel();
    }
    return after_poll(self, &self->second);
}

static enum dz_poll kind_poll(struct worker *self)
{
    switch (self->kind) {
    case 0:
        return at_poll(self, &self->first, some_instant());
    case 1:
        return after_poll(self, &self->first);
    case 2:
        return tick_poll(self);
    case 3:
        return limit_poll(self);
    case 4:
        return limits_poll(self);
    case 5:
        return dz_select2(&self->select,
            at_poll(self, &self->first, some_instant_or_never()),
            after_poll(self, &self->second));
    case 6:
        return dz_select3(&self->select3, take_event(self), tick_poll(self),
            at_poll(self, &self->first, some_instant_or_never()));
    default:
        return walk_away_poll(self);
    }
}

static enum dz_poll wait_poll(struct worker *self)
{
    enum dz_poll result = kind_poll(self);

    self->is_waiting = result == DZ_PENDING;
    return result;
}

static uint64_t due_of(const struct worker *self)
{
    uint64_t due = NEVER;

    for (unsigned i = 0; i < WAITS && self->waits[i].timer != NULL; i++)
        due = self->waits[i].due < due ? self->waits[i].due : due;
    return due;
}

static void end_wait(struct worker *self)
{
    check(self->kind == WALK_AWAY_AND_END || self->had_event ||
        due_of(self) <= now);
    memset(self->waits, 0, sizeof(self->waits));
    self->takes_events = false;
    self->had_event = false;
    finished[self->kind]++;
}

static void set_ticker(struct worker *self)
{
    self->period = 1 + dice(12);
    self->policy = dice(3);
    self->tick = now + self->period;
    dz_ticker_init(&self->ticker, ticks(self->period),
        (enum dz_ticker_policy)self->policy);
}

static enum dz_poll work_poll(struct worker *self)
{
    async (self) {
        for (;;) {
            if (self->period == 0 || dice(16) == 0)
                set_ticker(self);
            self->kind = dice(KINDS);
            await(wait_poll(self));
            end_wait(self);
            if (self->kind == WALK_AWAY_AND_END)
                return dz_finish(self);
        }
    }
    return DZ_READY;
}

/* No poll of a worker that waits is in vain, but for one behind a wait that it
 * gave up when its time had just come. */
static enum dz_poll workers_body(struct dz_task *task)
{
    struct worker *self = (struct worker *)(void *)task;
    bool was_waiting = self->is_waiting;
    bool may_be_in_vain = is_disturbed || self->kind == WALK_AWAY;
    uint64_t first = self->waits[0].order;
    enum dz_poll result = work_poll(self);
    bool has_ended = !self->is_waiting || self->waits[0].order != first;

    check(!was_waiting || has_ended || may_be_in_vain);
    if (was_waiting && has_ended && ended_count < WORKERS)
        ended[ended_count++] = (unsigned)(self - workers_slots);
    return result;
}

static void workers_poll(struct dz_task *task)
{
    dz_pool_poll(task->pool, task, workers_body);
}

static bool is_waiting_in_model(const struct worker *worker)
{
    return worker->task.pool != NULL && worker->is_waiting;
}

/* Nothing is ready. */
static void compare(void)
{
    uint64_t earliest = NEVER;
    unsigned count = 0;

    for (unsigned i = 0; i < WORKERS; i++) {
        const struct worker *worker = &workers_slots[i];

        if (!is_waiting_in_model(worker))
            continue;
        check(due_of(worker) > now);
        check(!worker->has_event || !worker->takes_events);
        for (unsigned k = 0; k < WAITS && worker->waits[k].timer != NULL; k++)
            count += worker->waits[k].due != NEVER;
        if (due_of(worker) < earliest)
            earliest = due_of(worker);
    }
    check(dz_local.timers.count == count);
    check(alarm_at == earliest);
}

/* What a worker waits for first. */
static struct wait first_wait(const struct worker *worker)
{
    struct wait first = worker->waits[0];

    for (unsigned i = 1; i < WAITS && worker->waits[i].timer != NULL; i++) {
        if (worker->waits[i].due < first.due)
            first = worker->waits[i];
    }
    return first;
}

static bool is_due_before(const struct worker *worker, struct wait other)
{
    struct wait wait = first_wait(worker);

    return wait.due != other.due ? wait.due < other.due
                                 : wait.order < other.order;
}

/* Who is woken by `until`, the first to be due first: the least again and
 * again. */
static unsigned expect_order(uint64_t until, unsigned *expected)
{
    bool taken[WORKERS] = {false};
    unsigned count = 0;

    for (;;) {
        unsigned best = WORKERS;

        for (unsigned i = 0; i < WORKERS; i++) {
            const struct worker *worker = &workers_slots[i];

            if (taken[i] || !is_waiting_in_model(worker) ||
                due_of(worker) > until)
                continue;
            if (best == WORKERS ||
                is_due_before(worker, first_wait(&workers_slots[best])))
                best = i;
        }
        if (best == WORKERS)
            return count;
        taken[best] = true;
        expected[count++] = best;
    }
}

/* The first pass runs those that were woken, in the order in which they were
 * due. */
static void let_time_pass(void)
{
    uint64_t until = now + (dice(4) == 0 ? dice(40) : dice(4));
    unsigned expected[WORKERS];
    unsigned count = expect_order(until, expected);

    ended_count = 0;
    is_disturbed = false;
    jump(until);
    dz_executor_poll(&executor);
    check(ended_count == count);
    check(memcmp(ended, expected, count * sizeof(*expected)) == 0);
    run();
}

static void bring_an_event(void)
{
    struct worker *worker = &workers_slots[dice(WORKERS)];

    if (!is_waiting_in_model(worker) || !worker->takes_events)
        return;
    worker->has_event = true;
    dz_task_wake(&worker->task);
    run();
}

static void fill_workers(void)
{
    struct worker *worker;

    while ((worker = dz_pool_claim(&workers)) != NULL)
        dz_executor_spawn(&executor, &worker->task);
    run();
}

static void does_what_the_model_does_at_every_step(void **state)
{
    long steps = random_steps(STEPS);

    (void)state;
    begin();
    random_begin();
    workers = (struct dz_pool){
        .poll = workers_poll,
        .name = "workers",
        .file = __FILE__,
        .line = __LINE__,
        .slots = workers_slots,
        .size = sizeof(struct worker),
        .count = WORKERS,
    };
    for (step = 0; step < steps; step++) {
        fill_workers();
        compare();
        let_time_pass();
        compare();
        if (dice(3) == 0)
            bring_an_event();
    }
    print_message("waits ended:");
    for (unsigned i = 0; i < KINDS; i++)
        print_message(" %ld", finished[i]);
    print_message("\n");
    for (unsigned i = 0; i < KINDS; i++)
        check(steps < STEPS || finished[i] > steps / 100);
}

struct event {
    int number;
};

DZ_CHANNEL_DEFINE(event_channel, struct event, 1, DZ_CRITICAL_SECTION)

static struct event_channel events;
static const struct dz_instant instant = {30000};
static const struct dz_duration period = {5000};

struct sampler {
    struct dz_task task;
    struct dz_timer timer;
    struct dz_ticker ticker;
    unsigned samples;
};

static void sample(struct sampler *self)
{
    self->samples++;
}

static enum dz_poll sampler_poll(struct sampler *self)
{
    async (self) {
        await(dz_timer_after(&self->timer, dz_duration_from_millis(10)));
        note('a');
        await(dz_timer_at(&self->timer, instant));
        note('b');
        dz_ticker_init(&self->ticker, period, DZ_TICKER_SKIP);
        for (;;) {
            await(dz_ticker_poll(&self->ticker));
            sample(self);
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(samplers, struct sampler, sampler_poll, 1)

struct listener {
    struct dz_task task;
    struct dz_timeout timeout;
    struct event event;
};

static enum dz_poll listener_poll(struct listener *self)
{
    async (self) {
        for (;;) {
            await(dz_timeout(&self->timeout, dz_duration_from_secs(1),
                event_channel_receive(&events, &self->event)));
            if (dz_timeout_is_expired(&self->timeout))
                return dz_finish(self);
            note('e');
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(listeners, struct listener, listener_poll, 1)

static void the_example_of_the_header_works(void **state)
{
    struct event event = {1};
    struct sampler *sampler;
    struct listener *listener;

    (void)state;
    begin();
    (void)samplers_claim(&sampler);
    (void)listeners_claim(&listener);
    dz_executor_spawn(&executor, &sampler->task);
    dz_executor_spawn(&executor, &listener->task);
    run();
    pass_until(40000);
    assert_int_equal(sampler->samples, 2);

    assert_true(event_channel_try_send(&events, &event));
    run();
    pass_until(1039999);
    assert_non_null(listener->task.pool);
    pass_until(1040000);
    assert_null(listener->task.pool);
    assert_int_equal(sampler->samples, 202);
    assert_string_equal(trail, "a10000 b30000 e40000");
}

RUN_TESTS(TEST(a_task_is_woken_at_its_instant_and_not_before),
    TEST(the_clock_starts_at_the_first_poll),
    TEST(a_later_timer_leaves_the_alarm_alone),
    TEST(an_earlier_timer_sets_the_alarm_anew),
    TEST(equals_are_woken_in_the_order_in_which_they_came),
    TEST(what_is_late_is_woken_in_the_order_in_which_it_was_due),
    TEST(what_is_due_already_yields_once),
    TEST(what_is_due_already_does_not_overtake_what_is_queued),
    TEST(never_is_not_queued),
    TEST(a_wait_that_is_polled_again_keeps_its_place),
    TEST(a_timer_serves_again_and_again),
    TEST(a_task_that_ends_takes_its_timer_along),
    TEST(a_timer_that_is_cancelled_is_forgotten),
    TEST(the_alarm_moves_only_if_the_earliest_is_cancelled),
    TEST(an_earliest_with_an_equal_leaves_the_alarm_as_it_is),
    TEST(both_timers_of_a_select_are_queued),
    TEST(two_timers_that_expire_together_are_one_wake_up),
    TEST(an_early_look_at_the_queue_does_no_harm),
    TEST(the_queue_moves_with_the_cores_local_variables),
    TEST(ten_thousand_timers_all_find_room),
    TEST(the_first_tick_is_a_period_from_init),
    TEST(a_burst_delivers_every_tick_and_keeps_the_phase),
    TEST(skipping_drops_late_ticks_and_keeps_the_phase),
    TEST(a_delay_starts_a_period_from_the_late_tick),
    TEST(lateness_of_whole_periods_is_no_tick_more_or_less),
    TEST(late_ticks_yield_each), TEST(a_cancelled_wait_loses_no_tick),
    TEST(a_reset_ticker_starts_afresh), TEST(a_ticker_can_be_set_to_an_instant),
    TEST(a_tick_beyond_the_end_of_time_never_comes),
    TEST(what_comes_in_time_wins), TEST(what_is_ready_at_once_sets_no_alarm),
    TEST(what_comes_too_late_has_expired), TEST(a_deadline_is_an_instant),
    TEST(what_comes_with_the_deadline_wins),
    TEST(no_time_at_all_is_two_polls_and_a_turn_for_others),
    TEST(timeouts_nest), TEST(what_has_expired_is_cancelled_at_once),
    TEST(misuse_panics), TEST(does_what_the_model_does_at_every_step),
    TEST(the_example_of_the_header_works))
