/* SPDX-License-Identifier: MIT */
#ifndef SIM_TEST_H
#define SIM_TEST_H

/*
 * test -- cmocka, and what our tests share
 *
 * A test file includes this and nothing else of cmocka, names its tests as
 * sentences, and ends in RUN_TESTS.
 *
 *     TEST            the thread is a core without signals (sim/core.h):
 *                     interrupts come where the test lets them
 *     MACHINE_TEST    there is a machine, and the test starts its own cores
 *     PLAIN_TEST      the test starts what it needs
 *
 * With DOZE_TIME=virtual in the environment, the first two are in virtual time,
 * else in real time.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "executor/executor.h"
#include "sim/core.h"
#include "sim/machine.h"

static struct dz_core test_core;

static inline bool test_is_virtual(void)
{
    const char *time = getenv("DOZE_TIME");

    return time != NULL && strcmp(time, "virtual") == 0;
}

static inline void test_start_machine(void)
{
    dz_machine_start(&(struct dz_machine){
        .time = test_is_virtual() ? DZ_TIME_VIRTUAL : DZ_TIME_REAL,
        .costs = DZ_COSTS_DEFAULT,
    });
}

/* What follows has cmocka's prototype of a fixture. */

static inline int test_begin_machine(void **state)
{
    (void)state;
    test_start_machine();
    return 0;
}

static inline int test_end_machine(void **state)
{
    (void)state;
    dz_machine_stop();
    return 0;
}

/* In real time no machine: these tests need no clock, and no second thread
 * where they fork. */
static inline int test_become_core(void **state)
{
    (void)state;
    if (test_is_virtual())
        test_start_machine();
    dz_core_enter(&test_core);
    return 0;
}

static inline int test_become_thread(void **state)
{
    (void)state;
    dz_core_leave(&test_core);
    if (test_is_virtual())
        dz_machine_stop();
    return 0;
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, test_become_core, test_become_thread)
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

/* Runs a handler as an interrupt, here and now, if nothing masks it. */
static inline void interrupt_now(
    void (*handler)(void *argument), void *argument)
{
    dz_core_bind(&test_core, 3, handler, argument);
    dz_core_pend(&test_core, 3);
}

/* Runs a handler as an interrupt when interrupts are next switched on: inside
 * the operation that is called next, at the end of its critical section. */
static inline void interrupt_at_next_unmask(
    void (*handler)(void *argument), void *argument)
{
    dz_core_bind(&test_core, 3, handler, argument);
    dz_nvic_pend(&test_core.nvic, 3);
    dz_port_core.deferred = 1;
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

/* What a program says before it panics. */
struct last_words {
    char text[4096];
};

static inline void read_all(int from, struct last_words *words)
{
    size_t len = 0;
    ssize_t got;

    while ((got = read(
                from, words->text + len, sizeof(words->text) - 1 - len)) > 0)
        len += (size_t)got;
    words->text[len] = '\0';
}

/* The leak sanitizer asks at exit. What exits on a core's stack, in virtual
 * time, leaves another one behind, which it does not search. */
static bool test_leaks;
__attribute__((weak)) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return test_leaks;
}

/* Runs `misuse` in a process of its own and returns what it wrote to standard
 * error. Fails unless that process ended with this exit code. */
static inline struct last_words last_words_at(int code, void (*misuse)(void))
{
    struct last_words words;
    int ends[2];
    int status;
    pid_t child;

    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        test_leaks = true;
        misuse();
        _exit(0);
    }
    close(ends[1]);
    read_all(ends[0], &words);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        fail_msg(
            "status %d and not exit code %d: %s", status, code, words.text);
    return words;
}

/* The same for a panic. */
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
