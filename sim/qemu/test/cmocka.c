/* SPDX-License-Identifier: MIT */

/*
 * cmocka -- what is behind the macros of <cmocka.h> that our tests use
 *
 * The header is the installed one; the library is packaged for hosts only. The
 * report has cmocka's form, and the exit code is the number of tests that
 * failed. What a test uses that is not here, the linker names.
 */

#include "sim/test.h"

#include "sim/qemu/board.h"

static void print(const char *format, va_list arguments)
{
    static char text[8192];

    vsnprintf(text, sizeof(text), format, arguments);
    board_print(text);
}

void print_message(const char *const format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

void print_error(const char *const format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

/* ---- Assertions. */

void _fail(const char *const file, const int line)
{
    print_error("%s:%d: error: Failure!\n", file, line);
    test_leave(TEST_FAILED);
}

void _skip(const char *const file, const int line)
{
    (void)file;
    (void)line;
    test_leave(TEST_SKIPPED);
}

void _assert_true(const LargestIntegralType result,
    const char *const expression, const char *const file, const int line)
{
    if (result)
        return;
    print_error("%s\n", expression);
    _fail(file, line);
}

void _assert_int_equal(const LargestIntegralType a, const LargestIntegralType b,
    const char *const file, const int line)
{
    if (a == b)
        return;
    print_error(LargestIntegralTypePrintfFormat
        " != " LargestIntegralTypePrintfFormat "\n",
        a, b);
    _fail(file, line);
}

void _assert_int_not_equal(const LargestIntegralType a,
    const LargestIntegralType b, const char *const file, const int line)
{
    if (a != b)
        return;
    print_error(LargestIntegralTypePrintfFormat
        " == " LargestIntegralTypePrintfFormat "\n",
        a, b);
    _fail(file, line);
}

void _assert_in_range(const LargestIntegralType value,
    const LargestIntegralType minimum, const LargestIntegralType maximum,
    const char *const file, const int line)
{
    if (value >= minimum && value <= maximum)
        return;
    print_error(LargestIntegralTypePrintfFormatDecimal
        " is not within the range " LargestIntegralTypePrintfFormatDecimal
        "-" LargestIntegralTypePrintfFormatDecimal "\n",
        value, minimum, maximum);
    _fail(file, line);
}

void _assert_string_equal(const char *const a, const char *const b,
    const char *const file, const int line)
{
    if (strcmp(a, b) == 0)
        return;
    print_error("\"%s\" != \"%s\"\n", a, b);
    _fail(file, line);
}

void _assert_memory_equal(const void *const a, const void *const b,
    const size_t size, const char *const file, const int line)
{
    const unsigned char *left = a;
    const unsigned char *right = b;

    for (size_t i = 0; i < size; i++) {
        if (left[i] == right[i])
            continue;
        print_error("difference at offset %lu 0x%02x 0x%02x\n",
            (unsigned long)i, left[i], right[i]);
        _fail(file, line);
    }
}

/* ---- Running. */

/* A test, or a fixture of it, for test_run. */
struct call {
    const struct CMUnitTest *test;
    void *state;
    int result; /* of a fixture */
};

static void call_setup(void *argument)
{
    struct call *call = argument;

    if (call->test->setup_func != NULL)
        call->result = call->test->setup_func(&call->state);
}

static void call_test(void *argument)
{
    struct call *call = argument;

    call->test->test_func(&call->state);
}

static void call_teardown(void *argument)
{
    struct call *call = argument;

    if (call->test->teardown_func != NULL)
        call->result = call->test->teardown_func(&call->state);
}

/* A fixture that fails is a test that failed. */
static int run_part(void (*part)(void *argument), struct call *call)
{
    int code = test_run(part, call);

    if (test_left_with()[0] != '\0')
        print_error("%s\n", test_left_with());
    return code == TEST_RETURNED && call->result != 0 ? TEST_FAILED : code;
}

static int run_one(const struct CMUnitTest *test)
{
    struct call call = {.test = test, .state = test->initial_state};
    int code = run_part(call_setup, &call);
    int end;

    if (code != TEST_RETURNED)
        return code;
    code = run_part(call_test, &call);
    end = run_part(call_teardown, &call);
    return code != TEST_RETURNED ? code : end;
}

struct counts {
    size_t passed;
    size_t skipped;
    size_t failed;
};

static void count(struct counts *counts, int code, const char *name)
{
    switch (code) {
    case TEST_RETURNED:
        counts->passed++;
        print_message("[       OK ] %s\n", name);
        break;
    case TEST_SKIPPED:
        counts->skipped++;
        print_message("[  SKIPPED ] %s\n", name);
        break;
    default:
        counts->failed++;
        print_message("[  FAILED  ] %s\n", name);
        break;
    }
}

static void print_counts(const struct counts *counts, size_t all)
{
    print_message("[==========] %u test(s) run.\n", (unsigned)all);
    print_message("[  PASSED  ] %u test(s).\n", (unsigned)counts->passed);
    if (counts->skipped != 0)
        print_message("[  SKIPPED ] %u test(s).\n", (unsigned)counts->skipped);
    if (counts->failed != 0)
        print_message("[  FAILED  ] %u test(s).\n", (unsigned)counts->failed);
}

int _cmocka_run_group_tests(const char *group_name,
    const struct CMUnitTest *const tests, const size_t num_tests,
    CMFixtureFunction group_setup, CMFixtureFunction group_teardown)
{
    struct counts counts = {0};

    (void)group_name;
    if (group_setup != NULL || group_teardown != NULL)
        return -1;
    (void)test_become_core(NULL);
    print_message("[==========] Running %u test(s).\n", (unsigned)num_tests);
    for (size_t i = 0; i < num_tests; i++) {
        print_message("[ RUN      ] %s\n", tests[i].name);
        count(&counts, run_one(&tests[i]), tests[i].name);
    }
    print_counts(&counts, num_tests);
    return (int)counts.failed;
}
