/* SPDX-License-Identifier: MIT */

/*
 * law_test -- a law test finds what is wrong, and says it in few words
 *
 * The signal is right here, and its model, or what is called, is made wrong; of
 * what a signal has not, a semaphore is. The file is built twice: without
 * DZ_CHECKS, workers walk away.
 */

#include "sim/test.h"
#include "sync/law.h"
#include "sync/semaphore.h"
#include "sync/signal.h"

DZ_SIGNAL_DEFINE(latest_signal, uint32_t, DZ_CRITICAL_SECTION)
DZ_SIGNAL_DEFINE(thread_signal, uint32_t, DZ_THREAD_MODE)

static const struct dz_object *const types[] = {
    &latest_signal_type.object,
    &thread_signal_type.object,
};

static enum {
    NO_FAULT,
    KEEPS_AT_CANCEL, /* what is cancelled keeps what it was granted */
    TAKES_PROMISE,   /* a reset drops what is promised */
    OLDEST_VALUE,    /* a value is not replaced by a newer one */
    PANICS,          /* the real operation does */
    CRASHES,         /* likewise */
    NEVER_SENDS,     /* the most important operation is left out */
    SENDS_IN_ONE,    /* likewise, but in one configuration */
    NEVER_WAITS,     /* what is there is plenty, in one configuration */
    GRANTS_SECOND,   /* the second in line before the first, not without it */
    WALKS_ON,        /* a wait for more goes on as one for less */
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
    if (fault == SENDS_IN_ONE)
        return &type->object == types[0];
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

/* ---- A semaphore, of which whoever can take permits does. */

DZ_GREEDY_SEMAPHORE_DEFINE(critical_permits, 0, DZ_CRITICAL_SECTION)
DZ_GREEDY_SEMAPHORE_DEFINE(thread_permits, 0, DZ_THREAD_MODE)

static const struct dz_object *const permit_types[] = {
    &critical_permits_type.object,
    &thread_permits_type.object,
};

static struct critical_permits permits;
static const struct dz_semaphore_type *permits_type;
static unsigned left;
static bool is_passed_over; /* the first of two that can go on */

static bool reserve_permits(struct law_call *call)
{
    is_passed_over = fault == GRANTS_SECOND && !is_passed_over &&
        law_waiting(0) == 2 && left >= 4;
    if (is_passed_over || left < 1 + call->argument)
        return false;
    left -= 1 + call->argument;
    return true;
}

static void give_permits_back(struct law_call *call)
{
    left += 1 + call->argument;
}

static bool asks_for_as_many(
    struct law_call *call, const struct law_call *walked)
{
    return fault == WALKS_ON || call->argument == walked->argument;
}

static bool release_model(struct law_call *call)
{
    left += call->argument;
    return true;
}

static bool acquire_real(struct law_call *call)
{
    return dz_semaphore_acquire(&permits.semaphore, permits_type,
               1 + call->argument) == DZ_READY;
}

static bool release_real(struct law_call *call)
{
    dz_semaphore_release(&permits.semaphore, permits_type, call->argument);
    return true;
}

static const struct law_operation permit_operations[] = {
    {"acquire", LAW_WAITS, .weight = 4, .arguments = 2, .real = acquire_real,
        .reserve = reserve_permits, .give_back = give_permits_back,
        .goes_on = asks_for_as_many},
    {"release", LAW_ACTS, .weight = 2, .arguments = 5, .real = release_real,
        .perform = release_model},
};

static void reset_permits(const struct dz_object *chosen)
{
    bool are_plenty = fault == NEVER_WAITS && chosen == permit_types[1];

    permits = (struct critical_permits){0};
    permits_type = (const struct dz_semaphore_type *)(const void *)chosen;
    left = are_plenty ? 1000 : 0;
    dz_semaphore_release(&permits.semaphore, permits_type, left);
    is_passed_over = false;
}

static void compare_permits(void)
{
    law_check(dz_semaphore_free(&permits.semaphore, permits_type) == left);
}

static int run_permits(void)
{
    static const struct law law = {
        .name = "permits",
        .operations = permit_operations,
        .operation_count = LAW_COUNT(permit_operations),
        .types = permit_types,
        .type_count = LAW_COUNT(permit_types),
        .reset = reset_permits,
        .compare = compare_permits,
        .who_can = 1,
    };

    return law_run(&law);
}

/* ---- What it says. */

static void run_and_leave(void)
{
    fclose(stdout);
    _exit(run());
}

static void run_permits_and_leave(void)
{
    fclose(stdout);
    _exit(run_permits());
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
    assert_steps(&words, 8);
    assert_says(words, "reset is done\n");
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

static void is_not_content_with_what_comes_to_its_end_in_one_configuration(
    void **state)
{
    (void)state;
    fault = SENDS_IN_ONE;

    last_words_at(1, run_and_leave);
}

static void is_not_content_with_what_waits_in_one_configuration(void **state)
{
    (void)state;
    fault = NEVER_WAITS;

    last_words_at(1, run_permits_and_leave);
}

static void a_semaphore_keeps_the_laws(void **state)
{
    struct last_words words;

    (void)state;
    fault = NO_FAULT;

    words = last_words_at(0, run_permits_and_leave);

    assert_string_equal(words.text, "");
}

static void finds_wake_ups_in_another_order_than_that_of_the_grants(
    void **state)
{
    struct last_words words;

    (void)state;
    fault = GRANTS_SECOND;

    words = last_words_at(1, run_permits_and_leave);

    /* Two waits, a pass; release. */
    assert_steps(&words, 12);
    assert_says(words, "tasks are woken in the order of their grants");
}

/* With DZ_CHECKS nobody does. */
static void finds_what_is_wrong_once_a_wait_is_walked_away_from(void **state)
{
    struct last_words words;

    (void)state;
    fault = WALKS_ON;

    words = last_words_at(DZ_CHECKS ? 0 : 1, run_permits_and_leave);

    if (DZ_CHECKS)
        return;
    /* Wait, a pass; walk away, a pass; wait for another number, a pass. */
    assert_steps(&words, 12);
    assert_says(words, "is walked away from\n");
}

RUN_TESTS(PLAIN_TEST(the_example_of_the_header_works),
    PLAIN_TEST(finds_a_promise_that_is_lost_when_a_wait_is_cancelled),
    PLAIN_TEST(finds_a_promise_that_is_taken_away),
    PLAIN_TEST(finds_a_wrong_result),
    PLAIN_TEST(finds_the_shortest_way_to_a_panic),
    PLAIN_TEST(finds_the_shortest_way_to_a_crash),
    PLAIN_TEST(is_not_content_with_an_operation_that_never_came_to_its_end),
    PLAIN_TEST(is_not_content_with_what_comes_to_its_end_in_one_configuration),
    PLAIN_TEST(is_not_content_with_what_waits_in_one_configuration),
    PLAIN_TEST(a_semaphore_keeps_the_laws),
    PLAIN_TEST(finds_wake_ups_in_another_order_than_that_of_the_grants),
    PLAIN_TEST(finds_what_is_wrong_once_a_wait_is_walked_away_from))
