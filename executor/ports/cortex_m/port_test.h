/* SPDX-License-Identifier: MIT */
#ifndef PORT_TEST_H
#define PORT_TEST_H

/*
 * port_test -- what the tests of the port share
 *
 * They run on the board that QEMU emulates, and use the port as a program does:
 * with nothing between the test and the core. So they bring the few functions
 * of cmocka that they need, whose names and meaning are cmocka's.
 */

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "executor/executor.h"
#include "executor/panic.h"
#include "sim/qemu/board.h"

struct test {
    const char *name;
    void (*run)(void **state);
};

/* A test that fails ends the program. */
static const struct test *test_now;

static inline _Noreturn void test_fail(const char *what, int line)
{
    char text[200];

    snprintf(
        text, sizeof(text), "%s, line %d: %s\n", test_now->name, line, what);
    board_print(text);
    board_exit(1);
}

static inline void test_compare(
    int64_t left, int64_t least, int64_t most, int line)
{
    char text[100];

    if (left >= least && left <= most)
        return;
    snprintf(text, sizeof(text), "%ld is not in %ld to %ld", (long)left,
        (long)least, (long)most);
    test_fail(text, line);
}

#define assert_true(condition) \
    ((condition) ? (void)0 : test_fail(#condition, __LINE__))
#define assert_false(condition) assert_true(!(condition))
#define assert_in_range(value, least, most) \
    test_compare((int64_t)(value), (int64_t)(least), (int64_t)(most), __LINE__)
#define assert_int_equal(left, right) assert_in_range(left, right, right)
#define assert_string_equal(left, right) assert_true(strcmp(left, right) == 0)

#define TEST(name)  \
    {               \
#name, name \
    }

#define RUN_TESTS(...)                                          \
    int main(void)                                              \
    {                                                           \
        static const struct test tests[] = {__VA_ARGS__};       \
                                                                \
        return test_run(tests, sizeof(tests) / sizeof(*tests)); \
    }

static inline int test_run(const struct test *tests, size_t count)
{
    for (test_now = tests; test_now < tests + count; test_now++) {
        void *state = NULL;

        board_print("[ RUN      ] ");
        board_print(test_now->name);
        board_print("\n");
        test_now->run(&state);
    }
    board_print("passed\n");
    return 0;
}

/* The way back out of a panic, in thread mode. */
static jmp_buf test_return;
static bool test_expects_panic;
static const char *volatile test_last_words;

_Noreturn void dz_port_panic(const struct dz_panic *panic)
{
    if (!test_expects_panic)
        test_fail(panic->reason, panic->line);
    test_last_words = panic->reason;
    longjmp(test_return, 1);
}

/* What it says in a panic. */
static inline const char *last_words_of(void (*misuse)(void))
{
    test_last_words = "it did not panic";
    test_expects_panic = true;
    if (setjmp(test_return) == 0)
        misuse();
    test_expects_panic = false;
    __asm__ volatile("cpsie i" : : : "memory");
    return test_last_words;
}

#define assert_says(words, part) assert_true(strstr(words, part) != NULL)

/* 2 instructions for each turn, and at least one. */
static inline void test_delay(uint32_t turns)
{
    turns++;
    __asm__ volatile(".syntax unified\n"
                     "1: subs %0, %0, #1\n\tbne 1b"
                     : "+l"(turns)
                     :
                     : "cc");
}

/* One instruction more for each that is counted. */
static inline void test_delay_instructions(uint32_t count)
{
    if (count % 2 != 0)
        __asm__ volatile("nop");
    test_delay(count / 2);
}

#endif
