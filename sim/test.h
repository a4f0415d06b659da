/* SPDX-License-Identifier: MIT */
#ifndef SIM_TEST_H
#define SIM_TEST_H

/*
 * test -- cmocka, and what our tests share
 *
 * A test file includes this and nothing else of cmocka, names its tests as
 * sentences, and ends in RUN_TESTS.
 *
 *     TEST            runs on a core: interrupts come where the test lets them
 *     MACHINE_TEST    there is a machine, and the test starts its own cores
 *     PLAIN_TEST      the test starts what it needs
 *
 * The same file runs on simulated cores and on a target. What differs between
 * them is in test_machine.h, of which the include path has exactly one, as of
 * port.h; both have what is listed here.
 *
 *     struct last_words last_words_at(int code, void (*misuse)(void))
 *             runs `misuse` in a world of its own and returns what it said.
 *             Fails unless that ended with this exit code
 *     void leave_program(int code)
 *             in there: ends it with this code
 *
 *     void bind_interrupt(int irq, void (*)(void *), void *argument)
 *             gives an interrupt its handler and enables it
 *     void pend_interrupt(int irq)
 *             it runs here and now, if nothing masks it
 *     void pend_at_next_unmask(int irq)
 *             it runs when interrupts are next switched on: inside the
 *             operation that is called next, at the end of its critical section
 *     bool take_pending(int irq)
 *             whether it is pending; then it is not any more
 *     bool is_masked(void)
 *             whether this is in a critical section
 *     bool was_pended(void)
 *             whether the event is set that ends dz_port_wait, as an executor of
 *             thread mode sets it when it is pended, and an interrupt when it
 *             returns; then it is not any more
 *     void show_thread_mode(void)
 *             to a machine that ends programs which stay in interrupts
 *
 *     struct test_clock { now, set_alarm, wait }
 *     void use_clock(const struct test_clock *)
 *             for this test, dz_port_now, dz_port_set_alarm, and dz_port_wait
 *             with no event set, are these
 *
 *     void needs_host(const char *reason)
 *             first in a test: elsewhere it is left out, and that is said
 *     void run_on_two_cores(void (*first)(void *), void (*second)(void *))
 *             till both have returned; the argument is the core's index
 *     void move_to_another_core(void)
 *     void become_plain_thread(void)
 *             for good: in misuse only
 *     void run_on_plain_thread(void *(*)(void *), void *argument)
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "executor/executor.h"

/* What a program says before it panics. */
struct last_words {
    char text[4096];
};

#include "test_machine.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_become_core, test_become_thread)
#define MACHINE_TEST(name) \
    cmocka_unit_test_setup_teardown(name, test_begin_machine, test_end_machine)
#define PLAIN_TEST(name) cmocka_unit_test(name)

#define RUN_TESTS(...)                                          \
    int main(void)                                              \
    {                                                           \
        static const struct CMUnitTest tests[] = {__VA_ARGS__}; \
                                                                \
        return cmocka_run_group_tests(tests, NULL, NULL);       \
    }

/* Polls something, and does not wait for it. */
static inline void walk_away_from(enum dz_poll poll)
{
    (void)poll;
}

enum { TEST_IRQ = 3 };

/* Runs a handler as an interrupt, here and now, if nothing masks it. */
static inline void interrupt_now(
    void (*handler)(void *argument), void *argument)
{
    bind_interrupt(TEST_IRQ, handler, argument);
    pend_interrupt(TEST_IRQ);
}

/* Runs a handler as an interrupt when interrupts are next switched on: inside
 * the operation that is called next, at the end of its critical section. */
static inline void interrupt_at_next_unmask(
    void (*handler)(void *argument), void *argument)
{
    bind_interrupt(TEST_IRQ, handler, argument);
    pend_at_next_unmask(TEST_IRQ);
}

/* What strikes right behind the registration of a waiter. If a test armed it
 * before a pass, it would strike in a critical section of the executor's own.
 */
static struct {
    void (*handler)(void *argument);
    void *argument;
    const struct dz_waiter *waiter;
    uintptr_t place; /* of the waiter when it struck; 0: none, or a slot */
} test_strike;

static inline void test_strike_handler(void *argument)
{
    (void)argument;
    test_strike.place = test_strike.waiter->place;
    test_strike.handler(test_strike.argument);
}

/* In a test: this is what will strike, once. */
static inline void prepare_strike(
    void (*handler)(void *argument), void *argument)
{
    test_strike.handler = handler;
    test_strike.argument = argument;
    test_strike.waiter = NULL;
    test_strike.place = 0;
}

/* In a poll function, right before it calls what waits, in one critical
 * section. */
static inline void strike_behind_wait(void)
{
    if (test_strike.handler == NULL || test_strike.waiter != NULL)
        return;
    test_strike.waiter = dz_current;
    interrupt_at_next_unmask(test_strike_handler, NULL);
}

/* True: it has struck, when the waiter was in a queue. */
static inline bool has_struck_in_queue(void)
{
    return test_strike.place != 0;
}

/* What a panic says. */
static inline struct last_words last_words_of(void (*misuse)(void))
{
    return last_words_at(DZ_EXIT_PANIC, misuse);
}

#define assert_says(words, part)                                     \
    do {                                                             \
        if (strstr((words).text, part) == NULL)                      \
            fail_msg("\"%s\" is not in \"%s\"", part, (words).text); \
    } while (0)

/* It names a line of this file. */
#define assert_says_place(words, line)                             \
    do {                                                           \
        char place[128];                                           \
                                                                   \
        snprintf(place, sizeof(place), "%s:%d: ", __FILE__, line); \
        assert_says(words, place);                                 \
    } while (0)

#endif
