/* SPDX-License-Identifier: MIT */

/*
 * law_test -- a law test finds what is wrong, and says it in few words
 *
 * The signal is right here, and its model, or what is called, is made wrong.
 */

#include "sim/test.h"
#include "sync/law.h"
#include "sync/signal.h"

DZ_SIGNAL_DEFINE(latest_signal, uint32_t, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {&latest_signal_type.object};

static enum {
    NO_FAULT,
    KEEPS_AT_CANCEL, /* what is cancelled keeps what it was granted */
    TAKES_PROMISE,   /* a reset drops what is promised */
    OLDEST_VALUE,    /* a value is not replaced by a newer one */
    PANICS,          /* the real operation does */
    CRASHES,         /* likewise */
    NEVER_SENDS,     /* the most important operation is left out */
} fault;

/* ---- The example of the header, and its faults. */

static struct latest_signal object;
static const struct dz_signal_type *type;

static uint32_t value;
static bool is_held;
static bool is_free;

static bool reserve(struct law_call *call)
{
    bool is_available = is_free;

    (void)call;
    is_free = false;
    return is_available;
}

static void give_back(struct law_call *call)
{
    (void)call;
    if (fault == KEEPS_AT_CANCEL)
        return;
    is_free = true;
}

static bool take_model(struct law_call *call)
{
    call->expected[0] = value;
    is_held = false;
    return true;
}

static bool send_model(struct law_call *call)
{
    if (fault == OLDEST_VALUE && is_held)
        return true;
    value = call->argument;
    is_free = is_free || !is_held;
    is_held = true;
    return true;
}

static bool wait_real(struct law_call *call)
{
    return dz_signal_wait(&object.signal, type, call->got) == DZ_READY;
}

static bool try_take_real(struct law_call *call)
{
    return dz_signal_try_take(&object.signal, type, call->got);
}

static bool send_real(struct law_call *call)
{
    uint32_t sent = call->argument;

    dz_signal_send(&object.signal, type, &sent);
    return true;
}

static bool may_send(const struct law_call *call)
{
    (void)call;
    return fault != NEVER_SENDS;
}

static bool reset_model(struct law_call *call)
{
    (void)call;
    if (is_free || fault == TAKES_PROMISE)
        is_held = false;
    is_free = false;
    return true;
}

static bool reset_real(struct law_call *call)
{
    (void)call;
    if (fault == PANICS)
        dz_panic("deliberate", __FILE__, __LINE__);
    if (fault == CRASHES)
        abort();
    dz_signal_reset(&object.signal, type);
    return true;
}

static const struct law_operation operations[] = {
    {"wait", LAW_WAITS, .weight = 4, .real = wait_real, .reserve = reserve,
        .perform = take_model, .give_back = give_back},
    {"try_take", LAW_TRIES, .weight = 2, .real = try_take_real,
        .reserve = reserve, .perform = take_model},
    {"send", LAW_ACTS, .weight = 4, .arguments = 100, .real = send_real,
        .perform = send_model, .may = may_send},
    {"reset", LAW_ACTS, .weight = 1, .real = reset_real,
        .perform = reset_model},
};

static void reset(const struct dz_object *chosen)
{
    object = (struct latest_signal){0};
    type = (const struct dz_signal_type *)(const void *)chosen;
    is_held = false;
    is_free = false;
}

static void compare(void)
{
    law_check(dz_signal_is_sent(&object.signal, type) == is_free);
}

static int run(void)
{
    static const struct law law = {
        .name = "latest",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}

/* ---- What it says. */

static void run_and_leave(void)
{
    fclose(stdout);
    _exit(run());
}

static void assert_steps(const struct last_words *words, int most)
{
    const char *at = strstr(words->text, "DZ_QUEUE), ");

    assert_non_null(at);
    at += strlen("DZ_QUEUE), ");
    if (atoi(at) < 1 || atoi(at) > most)
        fail_msg("not 1 to %d steps: %s", most, words->text);
}

static void the_example_of_the_header_works(void **state)
{
    struct last_words words;

    (void)state;
    fault = NO_FAULT;

    words = last_words_at(0, run_and_leave);

    assert_string_equal(words.text, "");
}

static void finds_a_promise_that_is_lost_when_a_wait_is_cancelled(void **state)
{
    struct last_words words;

    (void)state;
    fault = KEEPS_AT_CANCEL;

    words = last_words_at(1, run_and_leave);

    /* Wait, a pass; send; stop. */
    assert_steps(&words, 4);
    assert_says(words, "   1  worker 0 begins ");
    assert_says(words, "wait is granted\n");
    assert_says(words, "wait is cancelled\n");
    assert_says(words, "Again: DOZE_SEED=");
}

static void finds_a_promise_that_is_taken_away(void **state)
{
    struct last_words words;

    (void)state;
    fault = TAKES_PROMISE;

    words = last_words_at(1, run_and_leave);

    /* Wait, a pass; send; reset; send, which wakes nobody; a pass. */
    assert_steps(&words, 6);
    assert_says(words, "outside tasks: reset\n");
}

static void finds_a_wrong_result(void **state)
{
    struct last_words words;

    (void)state;
    fault = OLDEST_VALUE;

    words = last_words_at(1, run_and_leave);

    /* Two values, a wait, a pass. */
    assert_steps(&words, 4);
    assert_says(words, "the results are equal");
}

static void finds_the_shortest_way_to_a_panic(void **state)
{
    struct last_words words;

    (void)state;
    fault = PANICS;

    words = last_words_at(1, run_and_leave);

    assert_steps(&words, 1);
    assert_says(words, "   1  outside tasks: reset\n");
    assert_says(words, "deliberate");
}

static void finds_the_shortest_way_to_a_crash(void **state)
{
    struct last_words words;

    (void)state;
    fault = CRASHES;

    words = last_words_at(1, run_and_leave);

    assert_steps(&words, 1);
    assert_says(words, "signal 6");
}

static void is_not_content_with_an_operation_that_never_came_to_its_end(
    void **state)
{
    (void)state;
    fault = NEVER_SENDS;

    last_words_at(1, run_and_leave);
}

RUN_TESTS(PLAIN_TEST(the_example_of_the_header_works),
    PLAIN_TEST(finds_a_promise_that_is_lost_when_a_wait_is_cancelled),
    PLAIN_TEST(finds_a_promise_that_is_taken_away),
    PLAIN_TEST(finds_a_wrong_result),
    PLAIN_TEST(finds_the_shortest_way_to_a_panic),
    PLAIN_TEST(finds_the_shortest_way_to_a_crash),
    PLAIN_TEST(is_not_content_with_an_operation_that_never_came_to_its_end))
