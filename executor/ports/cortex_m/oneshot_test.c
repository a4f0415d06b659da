/* SPDX-License-Identifier: MIT */

/*
 * oneshot_test -- the one-shot driver alone, over a counter that is simulated
 *
 * The counter is a number that the test moves on, so that it is at any position
 * of its turn, and moves on within the driver, too. Its compare register has
 * the faults that some have: a value that is reached while it is written, or
 * before, does not match until the next turn. Truth has 64 bits.
 */

#include "executor/ports/cortex_m/oneshot.h"
#include "executor/ports/cortex_m/port_test.h"
#include "executor/timer.h"

#ifndef DZ_ONESHOT_BITS
#define DZ_ONESHOT_BITS 32
#endif

#ifndef DZ_ONESHOT_PER_TICK
#define DZ_ONESHOT_PER_TICK 1
#endif

#define NEVER UINT64_MAX
#define TURN (UINT64_C(1) << DZ_ONESHOT_BITS)
#define TICKS_IN_TURN (TURN / DZ_ONESHOT_PER_TICK)

/* The time, in counts, at which the interrupt may still come. */
#define HALF (TURN / 2)

enum { STEPS = 30000, SEED = 1 };

void SOFTWARE0_Handler(void);

static volatile uint64_t counts;        /* the truth */
static volatile uint64_t counted;       /* when the driver looked last */
static volatile uint64_t match = NEVER; /* when the compare register matches */
static unsigned slowness; /* counts that a look or a write may take */
static volatile uint64_t alarm = NEVER;
static volatile unsigned served;
static volatile uint64_t served_at; /* ticks */
static volatile unsigned in_vain;

static uint32_t dice(uint32_t sides)
{
    static uint32_t random = SEED;

    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    return random % sides;
}

static void take_time(void)
{
    if (slowness != 0)
        counts += dice(slowness);
}

/* Upper bits are somebody else's. */
uint32_t dz_oneshot_count(void)
{
    take_time();
    counted = counts;
    return (uint32_t)(counts & (TURN - 1)) | (uint32_t) ~(TURN - 1);
}

void dz_oneshot_arm(uint32_t at)
{
    assert_int_equal(at & ~(uint32_t)(TURN - 1), 0);
    take_time();
    match = counts + 1 + ((at - counts - 1) & (TURN - 1));
    take_time();
}

/* In place of the queue's. */
void dz_timers_expire(void)
{
    dz_key key = dz_port_enter();
    uint64_t now = dz_port_now();

    if (alarm <= now) {
        served++;
        served_at = now;
        alarm = NEVER;
    } else {
        in_vain++;
    }
    dz_port_set_alarm(alarm);
    dz_port_exit(key);
}

void SOFTWARE0_Handler(void)
{
    dz_timers_expire();
}

static void set_alarm(uint64_t at)
{
    dz_key key = dz_port_enter();

    alarm = at;
    dz_port_set_alarm(at);
    dz_port_exit(key);
}

/* Time passes; what matches meanwhile is late, by less than `late` counts. */
static void pass(uint64_t ahead, uint32_t late)
{
    uint64_t until = counts + ahead;

    while (match < until) {
        dz_key key = dz_port_enter();

        if (match > counts)
            counts = match;
        match += TURN;
        board_pend(BOARD_SOFTWARE0_IRQ);
        counts += dice(late);
        dz_port_exit(key);
    }
    if (until > counts)
        counts = until;
}

static void check_time(void)
{
    uint64_t now = dz_port_now();

    assert_true(now == counted / DZ_ONESHOT_PER_TICK);
}

static void set_an_alarm(void)
{
    dz_port_set_alarm(1);
}

static void an_alarm_needs_a_start(void **state)
{
    (void)state;
    assert_says(last_words_of(set_an_alarm), "before dz_oneshot_start");
}

static void the_time_is_there_before_the_start(void **state)
{
    (void)state;
    check_time();
    counts += 1000 % TURN;
    check_time();
    dz_oneshot_start(BOARD_SOFTWARE0_IRQ, 1);
    check_time();
}

static void the_time_has_no_turns(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        pass(1 + dice(TURN < 3000 ? (uint32_t)TURN : 3000), 1);
        check_time();
        pass(TURN / 7, 1);
        check_time();
    }
}

/* Somebody has held off the counter's interrupt for up to half a turn. */
static void the_time_is_right_however_late_the_interrupt_is(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        pass(dice((uint32_t)HALF), (uint32_t)HALF - 1);
        check_time();
    }
}

static void without_an_alarm_it_comes_every_half_turn(void **state)
{
    unsigned before;

    (void)state;
    set_alarm(NEVER);
    before = in_vain;
    pass(100 * TURN, 1);
    assert_in_range(in_vain - before, 200, 210);
}

/* At every distance, from every position near the end of a turn. */
static void the_alarm_comes_when_its_tick_begins(void **state)
{
    (void)state;
    for (uint64_t position = 0; position < 64; position++) {
        for (uint64_t ahead = 1; ahead < 64; ahead++) {
            uint64_t at;

            pass(2 * TURN - 32 + position - counts % TURN, 1);
            at = dz_port_now() + ahead;
            set_alarm(at);
            served = 0;
            pass(at * DZ_ONESHOT_PER_TICK - counts, 1);
            assert_int_equal(served, 0);
            pass(1, 1);
            assert_int_equal(served, 1);
            assert_true(served_at == at);
        }
    }
}

static void an_alarm_of_the_past_comes_behind_the_critical_section(void **state)
{
    (void)state;
    for (uint64_t ago = 0; ago < 100; ago++) {
        dz_key key = dz_port_enter();

        served = 0;
        set_alarm(dz_port_now() - ago);
        assert_int_equal(served, 0);
        dz_port_exit(key);
        assert_int_equal(served, 1);
    }
}

static void an_alarm_may_be_many_turns_away(void **state)
{
    uint64_t at = dz_port_now() + 9 * TICKS_IN_TURN + 7;

    (void)state;
    set_alarm(at);
    served = 0;
    pass(at * DZ_ONESHOT_PER_TICK - counts, 1);
    assert_int_equal(served, 0);
    pass(1, 1);
    assert_int_equal(served, 1);
}

static void an_alarm_that_is_replaced_does_not_come(void **state)
{
    uint64_t now = dz_port_now();

    (void)state;
    served = 0;
    set_alarm(now + 10);
    set_alarm(now + 20);
    pass(15 * DZ_ONESHOT_PER_TICK, 1);
    assert_int_equal(served, 0);
    set_alarm(NEVER);
    pass(5 * TURN, 1);
    assert_int_equal(served, 0);
}

static uint64_t some_instant(uint64_t now)
{
    switch (dice(6)) {
    case 0:
        return dice(100) < now ? now - dice(100) : 0;
    case 1:
        return now + dice(4);
    case 2:
        return now + dice(200);
    case 3:
        return now + dice((uint32_t)(TICKS_IN_TURN - 1));
    case 4:
        return now + TICKS_IN_TURN * dice(5) + dice(3);
    default:
        return NEVER;
    }
}

/* The counter moves on while the driver looks and arms. Whenever interrupts are
 * on, nothing is due, up to what the last looks took. */
static void nothing_that_is_due_is_missed(void **state)
{
    unsigned before = in_vain;
    uint64_t begun = counts;

    (void)state;
    slowness = 4;
    served = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        set_alarm(some_instant(dz_port_now()));
        pass(dice((uint32_t)HALF), dice(8) == 0 ? (uint32_t)HALF - 64 : 1);
        check_time();
        pass(dice(8), 1);
        check_time();
        pass(1, 1);
        assert_true(alarm > (counts - 1) / DZ_ONESHOT_PER_TICK);
    }
    slowness = 0;
    assert_true(served > STEPS / 4);
    assert_true(in_vain - before <= STEPS + 2 * (counts - begun) / TURN);
}

RUN_TESTS(TEST(an_alarm_needs_a_start),
    TEST(the_time_is_there_before_the_start), TEST(the_time_has_no_turns),
    TEST(the_time_is_right_however_late_the_interrupt_is),
    TEST(without_an_alarm_it_comes_every_half_turn),
    TEST(the_alarm_comes_when_its_tick_begins),
    TEST(an_alarm_of_the_past_comes_behind_the_critical_section),
    TEST(an_alarm_may_be_many_turns_away),
    TEST(an_alarm_that_is_replaced_does_not_come),
    TEST(nothing_that_is_due_is_missed))
