/* SPDX-License-Identifier: MIT */

/*
 * machine_test -- that tests on the target can fail, and come back
 *
 * What is tested is this folder: that whatever ends a test early, from however
 * deep in interrupts, is told, and leaves nothing behind.
 */

#include "sim/test.h"

enum { OUTER_IRQ = 7, INNER_IRQ = 6, RELAXED = 3, OTHER_IRQ = 20 };

static struct dz_executor relaxed;
static unsigned changed = 1; /* in .data */
static unsigned counter;     /* in .bss */

static void ignore(void *argument)
{
    (void)argument;
}

static void count(void *argument)
{
    (void)argument;
    counter++;
}

/* ---- What may go wrong. */

static void panic(void)
{
    dz_panic("test", __FILE__, __LINE__);
}

static void write_to_null(void)
{
    static volatile uint32_t *volatile null;

    *null = 1;
}

static void read_from_null(void)
{
    static const volatile uint32_t *volatile null;

    (void)*null;
}

static void run_undefined(void)
{
    __asm__ volatile("udf #0");
}

static void pend_unbound(void)
{
    bind_interrupt(OTHER_IRQ, NULL, NULL);
    pend_interrupt(OTHER_IRQ);
}

static void fail_an_assertion(void)
{
    assert_int_equal(1, 2);
}

/* ---- Where it goes wrong: in thread mode, in a handler, in a handler that
 * preempts another, within a critical section there. */

static void (*wrong)(void);

static void go_wrong(void *argument)
{
    (void)argument;
    wrong();
}

static void go_wrong_masked(void *argument)
{
    (void)argument;
    (void)dz_port_enter();
    wrong();
}

static void go_wrong_in_a_handler(void)
{
    interrupt_now(go_wrong, NULL);
}

static void preempt(void *argument)
{
    (void)argument;
    bind_interrupt(INNER_IRQ, go_wrong_masked, NULL);
    pend_interrupt(INNER_IRQ);
}

static void go_wrong_deep_inside(void)
{
    dz_executor_init(&relaxed, "relaxed");
    dz_executor_start(&relaxed, OUTER_IRQ, RELAXED);
    bind_interrupt(OUTER_IRQ, preempt, NULL);
    pend_interrupt(OUTER_IRQ);
}

/* Behind each of them, interrupts come as before. */
static void everywhere(void (*what)(void), int code, const char *said)
{
    static void (*const places[])(void) = {
        panic, go_wrong_in_a_handler, go_wrong_deep_inside};

    for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct last_words words;

        wrong = what;
        counter = 0;
        words = last_words_at(code, i == 0 ? what : places[i]);
        assert_says(words, said);
        assert_false(is_masked());
        assert_int_equal(dz_port_context(), 0);
        interrupt_now(count, NULL);
        assert_int_equal(counter, 1);
    }
}

static void a_panic_comes_back_from_everywhere(void **state)
{
    (void)state;
    everywhere(panic, DZ_EXIT_PANIC, "panic: test");
}

static void a_null_pointer_is_a_fault_that_is_named(void **state)
{
    (void)state;
    assert_says(last_words_at(TEST_FAULT, write_to_null), "MemManage");
    assert_says(last_words_at(TEST_FAULT, read_from_null), "MemManage");
    everywhere(write_to_null, TEST_FAULT, ": at 0x");
}

static void an_undefined_instruction_is_a_fault_that_is_named(void **state)
{
    (void)state;
    assert_says(last_words_at(TEST_FAULT, run_undefined), "UsageFault");
    everywhere(run_undefined, TEST_FAULT, ": at 0x");
}

static void an_interrupt_that_nobody_bound_is_named(void **state)
{
    struct last_words words = last_words_at(TEST_FAULT, pend_unbound);

    (void)state;
    assert_says(words, "interrupt 20");
}

static void a_failed_assertion_comes_back_from_everywhere(void **state)
{
    (void)state;
    everywhere(fail_an_assertion, TEST_FAILED, "");
}

static void sleep_for_ever(void)
{
    static const volatile bool never;

    dz_executor_init(&relaxed, "relaxed");
    dz_executor_run_until(&relaxed, &never);
}

static void a_sleep_that_nothing_ends_is_a_failure(void **state)
{
    (void)state;
    (void)last_words_at(TEST_FAILED, sleep_for_ever);
}

static void change_memory(void)
{
    changed = 2;
    counter = 3;
    leave_program(4);
}

static void misuse_leaves_memory_as_it_was(void **state)
{
    (void)state;
    changed = 1;
    counter = 0;
    (void)last_words_at(4, change_memory);
    assert_int_equal(changed, 1);
    assert_int_equal(counter, 0);
}

static void pend_and_leave(void)
{
    (void)dz_port_enter();
    bind_interrupt(OTHER_IRQ, count, NULL);
    pend_interrupt(OTHER_IRQ);
    pend_at_next_unmask(TEST_IRQ);
    leave_program(0);
}

static void misuse_leaves_interrupts_as_they_were(void **state)
{
    dz_key key;

    (void)state;
    counter = 0;
    bind_interrupt(TEST_IRQ, count, NULL);
    bind_interrupt(OUTER_IRQ, ignore, NULL);
    key = dz_port_enter();
    pend_interrupt(TEST_IRQ);
    dz_port_exit(key);
    assert_int_equal(counter, 1);
    (void)last_words_at(0, pend_and_leave);
    assert_int_equal(counter, 1);
    assert_false(take_pending(OTHER_IRQ));
    pend_interrupt(TEST_IRQ);
    assert_int_equal(counter, 2);
}

static void note_mask(void *argument)
{
    *(bool *)argument = is_masked();
    counter++;
}

static void what_is_deferred_comes_at_the_end_of_the_outermost_section(
    void **state)
{
    bool was_masked = true;
    dz_key outer, inner;

    (void)state;
    counter = 0;
    interrupt_at_next_unmask(note_mask, &was_masked);
    assert_int_equal(counter, 0);
    outer = dz_port_enter();
    inner = dz_port_enter();
    dz_port_exit(inner);
    assert_int_equal(counter, 0);
    dz_port_exit(outer);
    assert_int_equal(counter, 1);
    assert_false(was_masked);
    dz_port_exit(dz_port_enter());
    assert_int_equal(counter, 1);
}

static void what_is_left_out_says_so(void **state)
{
    (void)state;
    needs_host("to show how that looks");
    fail();
}

RUN_TESTS(TEST(a_panic_comes_back_from_everywhere),
    TEST(a_null_pointer_is_a_fault_that_is_named),
    TEST(an_undefined_instruction_is_a_fault_that_is_named),
    TEST(an_interrupt_that_nobody_bound_is_named),
    TEST(a_failed_assertion_comes_back_from_everywhere),
    TEST(a_sleep_that_nothing_ends_is_a_failure),
    TEST(misuse_leaves_memory_as_it_was),
    TEST(misuse_leaves_interrupts_as_they_were),
    TEST(what_is_deferred_comes_at_the_end_of_the_outermost_section),
    TEST(what_is_left_out_says_so))
