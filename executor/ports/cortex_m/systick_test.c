/* SPDX-License-Identifier: MIT */

/*
 * systick_test -- the tick driver alone, on the board
 *
 * What it is compared with is the board's own counter, and arithmetic: SysTick
 * turns over every 5000 cycles, when the time is a multiple of 200 us.
 */

#include "executor/ports/cortex_m/clock_test.h"
#include "executor/ports/cortex_m/systick.h"
#include "executor/timer.h"

enum {
    INTERRUPT_HZ = 5000,
    TICKS = DZ_TICK_HZ / INTERRUPT_HZ,
    INSTRUCTIONS = 782, /* in a period of 5000 cycles, at 6.4 each */
    PRIORITY = 2,
    MORE_URGENT = 1,
};

#define NEVER UINT64_MAX

void SysTick_Handler(void);
void TIMER0_Handler(void);

static volatile unsigned interrupts;
static volatile unsigned expirations;
static volatile uint64_t expired_at;
static uint64_t next_alarm;

void SysTick_Handler(void)
{
    interrupts++;
    dz_systick_handler();
}

/* In place of the queue's. */
void dz_timers_expire(void)
{
    dz_key key;

    expired_at = dz_port_now();
    expirations++;
    key = dz_port_enter();
    dz_port_set_alarm(next_alarm);
    next_alarm = NEVER;
    dz_port_exit(key);
}

static void set_alarm(uint64_t at)
{
    dz_key key = dz_port_enter();

    dz_port_set_alarm(at);
    dz_port_exit(key);
}

static void ask_for_the_time(void)
{
    (void)dz_port_now();
}

static void ask_for_an_alarm(void)
{
    dz_port_set_alarm(1);
}

static void it_is_not_used_before_it_is_started(void **state)
{
    (void)state;
    assert_says(last_words_of(ask_for_the_time), "before dz_systick_start");
    assert_says(last_words_of(ask_for_an_alarm), "before dz_systick_start");
}

static void start_without_a_clock(void)
{
    dz_systick_start(0, INTERRUPT_HZ, PRIORITY);
}

static void start_with_an_odd_clock(void)
{
    dz_systick_start(32768, 1, PRIORITY);
}

static void start_between_multiples(void)
{
    dz_systick_start(BOARD_HZ + 1, INTERRUPT_HZ, PRIORITY);
}

static void start_without_interrupts(void)
{
    dz_systick_start(BOARD_HZ, 0, PRIORITY);
}

static void start_with_broken_ticks(void)
{
    dz_systick_start(BOARD_HZ, 3000, PRIORITY);
}

static void start_with_a_long_period(void)
{
    dz_systick_start(BOARD_HZ, 1, PRIORITY);
}

/* What counts down from 0 does not count. */
static void start_with_a_period_of_one(void)
{
    dz_systick_start(DZ_TICK_HZ, DZ_TICK_HZ, PRIORITY);
}

static void start_with_a_priority_too_many(void)
{
    dz_systick_start(BOARD_HZ, INTERRUPT_HZ, 256);
}

static void rates_that_do_not_go_together_panic(void **state)
{
    (void)state;
    assert_says(last_words_of(start_without_a_clock), "core's clock");
    assert_says(last_words_of(start_with_an_odd_clock), "core's clock");
    assert_says(last_words_of(start_between_multiples), "core's clock");
    assert_says(last_words_of(start_without_interrupts), "SysTick's rate");
    assert_says(last_words_of(start_with_broken_ticks), "SysTick's rate");
    assert_says(last_words_of(start_with_a_period_of_one), "of one cycle");
    assert_says(last_words_of(start_with_a_long_period), "2^24");
    assert_says(last_words_of(start_with_a_priority_too_many), "priority");
}

static void the_time_begins_at_0(void **state)
{
    uint32_t begun = board_count();

    (void)state;
    dz_systick_start(BOARD_HZ, INTERRUPT_HZ, PRIORITY);
    know_the_time();
    assert_in_range(known, 0, (known_behind - begun) / COUNTS_PER_TICK);
}

static void the_time_is_that_of_the_counter(void **state)
{
    (void)state;
    know_the_time();
    for (unsigned i = 0; i < 20000; i++)
        look();
}

static void a_look_at_any_offset_from_a_turn_is_right(void **state)
{
    (void)state;
    know_the_time();
    for (uint32_t offset = 0; offset < 2 * INSTRUCTIONS; offset++) {
        unsigned before = interrupts;

        while (interrupts == before)
            continue;
        test_delay_instructions(offset);
        look();
    }
}

/* Whoever looks counts the turns, so nobody misses SysTick's handler. */
static void a_look_at_any_offset_is_right_with_interrupts_off(void **state)
{
    unsigned before;
    dz_key key = dz_port_enter();

    (void)state;
    know_the_time();
    before = interrupts;
    for (uint32_t offset = 0; offset < INSTRUCTIONS - 450; offset++) {
        for (unsigned i = 0; i < 8; i++) {
            test_delay_instructions(offset);
            look();
        }
    }
    assert_int_equal(interrupts, before);
    dz_port_exit(key);
}

static volatile unsigned strikes;

void TIMER0_Handler(void)
{
    BOARD_TIMER0->interrupt = 1;
    BOARD_TIMER0->control = 0;
    look();
    strikes++;
}

/* Also before SysTick's handler begins, behind the entry to it. */
static void a_look_that_preempts_anything_is_right(void **state)
{
    (void)state;
    know_the_time();
    board_enable(BOARD_TIMER0_IRQ, MORE_URGENT);
    BOARD_TIMER0->reload = UINT32_MAX;
    for (uint32_t offset = 0; offset < 3 * INSTRUCTIONS; offset++) {
        unsigned before = strikes;
        unsigned tick = interrupts;

        while (interrupts == tick)
            continue;
        BOARD_TIMER0->value = offset * 32 / 5 + 1;
        BOARD_TIMER0->control = BOARD_TIMER_ENABLE | BOARD_TIMER_INTERRUPT;
        while (strikes == before)
            look();
    }
}

/* The handler looks a little behind the tick: what is due by then, is due. */
static void the_alarm_comes_with_the_first_tick_that_is_not_before_it(
    void **state)
{
    (void)state;
    for (uint64_t ahead = 1; ahead < 3 * TICKS; ahead++) {
        unsigned before = expirations;
        uint64_t at = dz_port_now() + 2 * A_LOOK + ahead;
        uint64_t tick = (at + TICKS - 1) / TICKS * TICKS;

        set_alarm(at);
        while (expirations == before)
            continue;
        assert_in_range(expired_at, at, tick + A_LOOK);
        assert_int_equal(expirations, before + 1);
    }
}

static void an_alarm_of_the_past_comes_behind_the_critical_section(void **state)
{
    (void)state;
    for (uint64_t ago = 0; ago < 2 * TICKS; ago++) {
        unsigned before = expirations;
        dz_key key = dz_port_enter();
        uint64_t at = dz_port_now() - ago;

        uint64_t left;

        dz_port_set_alarm(at);
        test_delay(5);
        assert_int_equal(expirations, before);
        left = dz_port_now();
        dz_port_exit(key);
        test_delay(5);
        assert_int_equal(expirations, before + 1);
        assert_in_range(expired_at, left, left + 2 * A_LOOK);
    }
}

static void an_alarm_that_is_due_when_it_has_come_comes_again(void **state)
{
    unsigned before = expirations;

    (void)state;
    next_alarm = 1;
    set_alarm(0);
    test_delay(5);
    assert_int_equal(expirations, before + 2);
}

static void an_alarm_that_is_replaced_does_not_come(void **state)
{
    unsigned before = expirations;
    uint64_t now = dz_port_now();

    (void)state;
    set_alarm(now + 2 * TICKS);
    set_alarm(now + 10 * TICKS);
    while (dz_port_now() < now + 9 * TICKS)
        assert_int_equal(expirations, before);
    while (expirations == before)
        continue;
    assert_in_range(expired_at, now + 10 * TICKS, now + 11 * TICKS + A_LOOK);
}

static void no_alarm_never_comes(void **state)
{
    unsigned before = expirations;
    unsigned ticks = interrupts;

    (void)state;
    set_alarm(dz_port_now() + 2 * TICKS);
    set_alarm(NEVER);
    while (interrupts < ticks + 100)
        assert_int_equal(expirations, before);
}

static void started_again_the_time_goes_on(void **state)
{
    uint64_t before = dz_port_now();

    (void)state;
    dz_systick_start(BOARD_HZ, INTERRUPT_HZ / 10, PRIORITY);
    assert_in_range(dz_port_now(), before, before + 4 * A_LOOK + 1);
    last_seen = before;
    know_the_time();
    for (unsigned i = 0; i < 20000; i++)
        look();
    dz_systick_start(
        BOARD_HZ, INTERRUPT_HZ * (DZ_TICK_HZ > INTERRUPT_HZ ? 5 : 1), PRIORITY);
    assert_true(dz_port_now() >= last_seen);
    know_the_time();
    for (unsigned i = 0; i < 2000; i++)
        look();
}

RUN_TESTS(TEST(it_is_not_used_before_it_is_started),
    TEST(rates_that_do_not_go_together_panic), TEST(the_time_begins_at_0),
    TEST(the_time_is_that_of_the_counter),
    TEST(a_look_at_any_offset_from_a_turn_is_right),
    TEST(a_look_at_any_offset_is_right_with_interrupts_off),
    TEST(a_look_that_preempts_anything_is_right),
    TEST(the_alarm_comes_with_the_first_tick_that_is_not_before_it),
    TEST(an_alarm_of_the_past_comes_behind_the_critical_section),
    TEST(an_alarm_that_is_due_when_it_has_come_comes_again),
    TEST(an_alarm_that_is_replaced_does_not_come), TEST(no_alarm_never_comes),
    TEST(started_again_the_time_goes_on))
