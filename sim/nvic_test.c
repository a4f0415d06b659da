/* SPDX-License-Identifier: MIT */

/*
 * Each rule of the architecture alone, a device and a core at the same time,
 * and long random sequences in lock step with a slow model of the same rules.
 */

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "sim/nvic.h"
#include "sim/test_random.h"

static struct dz_nvic nvic;

static void begin(void)
{
    memset(&nvic, 0, sizeof(nvic));
}

static void set_up(int irq, uint8_t priority)
{
    dz_nvic_enable(&nvic, irq);
    dz_nvic_set_priority(&nvic, irq, priority);
}

static void pend_and_enter(int irq)
{
    dz_nvic_pend(&nvic, irq);
    dz_nvic_enter(&nvic, irq);
}

static void assert_next(int irq)
{
    assert_int_equal(dz_nvic_next(&nvic, DZ_PRIMASK_CLEAR), irq);
}

/* ---- Numbers */

static void exceptions_are_numbered_as_in_ipsr(void **state)
{
    (void)state;
    assert_int_equal(dz_nvic_exception(DZ_NVIC_NONE), 0);
    assert_int_equal(dz_nvic_exception(DZ_PENDSV), 14);
    assert_int_equal(dz_nvic_exception(DZ_SYSTICK), 15);
    assert_int_equal(dz_nvic_exception(0), 16);
    assert_int_equal(dz_nvic_exception(DZ_NVIC_IRQS - 1), 255);
}

static void pend_too_far(void)
{
    dz_nvic_pend(&nvic, DZ_NVIC_IRQS);
}

static void raise_too_far(void)
{
    dz_nvic_raise(&nvic, DZ_NVIC_IRQS);
}

static void enable_a_fault(void)
{
    dz_nvic_enable(&nvic, DZ_PENDSV - 1);
}

static void look_for_none(void)
{
    (void)dz_nvic_is_pending(&nvic, DZ_NVIC_NONE);
}

static void an_interrupt_that_does_not_exist_panics(void **state)
{
    (void)state;
    begin();
    assert_says(last_words_of(pend_too_far),
        "there is no interrupt 240: they are 0 to 239");
    assert_says(
        last_words_of(raise_too_far), "there is no interrupt 240: they");
    assert_says(
        last_words_of(enable_a_fault), "there is no interrupt -3: they");
    assert_says(
        last_words_of(look_for_none), "there is no interrupt -16: they");
}

/* ---- Pending and enabled */

static void nothing_is_next_at_first(void **state)
{
    (void)state;
    begin();

    assert_next(DZ_NVIC_NONE);
    assert_false(dz_nvic_wakes(&nvic));
    assert_int_equal(dz_nvic_execution_priority(&nvic), DZ_NVIC_THREAD);
    assert_false(dz_nvic_is_enabled(&nvic, 0));
}

static void a_pending_interrupt_waits_until_it_is_enabled(void **state)
{
    (void)state;
    begin();

    dz_nvic_pend(&nvic, 7);

    assert_next(DZ_NVIC_NONE);
    dz_nvic_enable(&nvic, 7);
    assert_next(7);
}

/* P14: the choice was latched when the interrupt was raised. */
static void a_pending_interrupt_that_is_disabled_does_not_run(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);
    dz_nvic_pend(&nvic, 7);

    dz_nvic_disable(&nvic, 7);

    assert_next(DZ_NVIC_NONE);
    assert_true(dz_nvic_is_pending(&nvic, 7));
    dz_nvic_enable(&nvic, 7);
    assert_next(7);
}

static void pendsv_and_systick_are_always_enabled(void **state)
{
    (void)state;
    begin();

    dz_nvic_pend(&nvic, DZ_SYSTICK);
    assert_next(DZ_SYSTICK);
    dz_nvic_pend(&nvic, DZ_PENDSV);
    assert_next(DZ_PENDSV);

    assert_true(dz_nvic_is_enabled(&nvic, DZ_PENDSV));
    assert_true(dz_nvic_is_enabled(&nvic, DZ_SYSTICK));
}

static void disable_systick(void)
{
    dz_nvic_disable(&nvic, DZ_SYSTICK);
}

static void disable_pendsv(void)
{
    dz_nvic_disable(&nvic, DZ_PENDSV);
}

static void disabling_pendsv_or_systick_panics(void **state)
{
    (void)state;
    begin();
    assert_says(last_words_of(disable_systick), "cannot be disabled");
    assert_says(last_words_of(disable_pendsv), "cannot be disabled");
}

static void pending_twice_it_is_entered_once(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);

    dz_nvic_pend(&nvic, 7);
    dz_nvic_pend(&nvic, 7);
    dz_nvic_enter(&nvic, 7);
    dz_nvic_exit(&nvic, 7);

    assert_next(DZ_NVIC_NONE);
}

static void pended_while_it_is_active_it_runs_again(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);
    pend_and_enter(7);

    dz_nvic_pend(&nvic, 7);

    assert_next(DZ_NVIC_NONE);
    dz_nvic_exit(&nvic, 7);
    assert_next(7);
}

static void what_is_cleared_does_not_run(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);
    dz_nvic_pend(&nvic, 7);
    dz_nvic_pend(&nvic, DZ_SYSTICK);

    dz_nvic_clear_pending(&nvic, 7);
    dz_nvic_clear_pending(&nvic, DZ_SYSTICK);

    assert_false(dz_nvic_is_pending(&nvic, 7));
    assert_next(DZ_NVIC_NONE);
}

static void it_is_active_from_enter_to_exit(void **state)
{
    (void)state;
    begin();
    set_up(7, 20);
    set_up(8, 10);

    pend_and_enter(7);
    pend_and_enter(8);

    assert_true(dz_nvic_is_active(&nvic, 7));
    assert_true(dz_nvic_is_active(&nvic, 8));
    assert_false(dz_nvic_is_pending(&nvic, 7));
    dz_nvic_exit(&nvic, 8);
    assert_true(dz_nvic_is_active(&nvic, 7));
    assert_false(dz_nvic_is_active(&nvic, 8));
    dz_nvic_exit(&nvic, 7);
    assert_false(dz_nvic_is_active(&nvic, 7));
}

/* ---- Priority */

static void the_more_urgent_goes_first(void **state)
{
    (void)state;
    begin();
    set_up(3, 128);
    set_up(200, 5);
    dz_nvic_set_priority(&nvic, DZ_PENDSV, 255);

    dz_nvic_pend(&nvic, DZ_PENDSV);
    assert_next(DZ_PENDSV);
    dz_nvic_pend(&nvic, 3);
    assert_next(3);
    dz_nvic_pend(&nvic, 200);
    assert_next(200);
}

static void the_lower_number_goes_first_among_equals(void **state)
{
    (void)state;
    begin();
    for (int irq = DZ_NVIC_IRQS - 1; irq >= DZ_PENDSV; irq--) {
        set_up(irq, 64);

        dz_nvic_pend(&nvic, irq);

        assert_next(irq);
    }
}

static void only_a_more_urgent_one_preempts(void **state)
{
    (void)state;
    begin();
    set_up(1, 10);
    set_up(2, 20);
    set_up(0, 20);
    pend_and_enter(2);

    dz_nvic_pend(&nvic, 0);
    assert_next(DZ_NVIC_NONE);
    dz_nvic_pend(&nvic, 1);
    assert_next(1);
    dz_nvic_enter(&nvic, 1);
    assert_next(DZ_NVIC_NONE);
    dz_nvic_exit(&nvic, 1);
    assert_next(DZ_NVIC_NONE);
    dz_nvic_exit(&nvic, 2);
    assert_next(0);
}

/* Late arrival (B1.5): nothing is decided until it is entered. */
static void the_choice_changes_until_it_is_entered(void **state)
{
    (void)state;
    begin();
    set_up(1, 10);
    set_up(2, 20);
    dz_nvic_pend(&nvic, 2);
    assert_next(2);

    dz_nvic_pend(&nvic, 1);
    assert_next(1);
    dz_nvic_set_priority(&nvic, 1, 30);
    assert_next(2);
}

static void the_execution_priority_is_that_of_the_most_urgent(void **state)
{
    (void)state;
    begin();
    set_up(1, 10);
    set_up(2, 20);

    pend_and_enter(2);
    assert_int_equal(dz_nvic_execution_priority(&nvic), 20);
    pend_and_enter(1);
    assert_int_equal(dz_nvic_execution_priority(&nvic), 10);
    dz_nvic_exit(&nvic, 1);
    assert_int_equal(dz_nvic_execution_priority(&nvic), 20);
    dz_nvic_exit(&nvic, 2);
    assert_int_equal(dz_nvic_execution_priority(&nvic), DZ_NVIC_THREAD);
}

static void a_new_priority_of_an_active_one_counts_at_once(void **state)
{
    (void)state;
    begin();
    set_up(1, 10);
    set_up(2, 20);
    set_up(3, 15);
    pend_and_enter(2);
    pend_and_enter(1);
    dz_nvic_pend(&nvic, 3);

    /* The one that runs is now the least urgent, but 2 is active below it. */
    dz_nvic_set_priority(&nvic, 1, 30);
    assert_int_equal(dz_nvic_execution_priority(&nvic), 20);
    assert_next(3);
    dz_nvic_set_priority(&nvic, 2, 15);
    assert_next(DZ_NVIC_NONE);
}

static void it_does_not_preempt_itself_when_made_more_urgent(void **state)
{
    (void)state;
    begin();
    set_up(1, 10);
    pend_and_enter(1);

    dz_nvic_pend(&nvic, 1);
    dz_nvic_set_priority(&nvic, 1, 5);

    assert_next(DZ_NVIC_NONE);
}

static void only_the_top_bits_of_a_priority_are_kept(void **state)
{
    /* 0x23 is 0010 0011, 0xff all ones. */
    static const struct {
        uint8_t bits, from_23, from_ff;
    } kept[] = {
        {2, 0x00, 0xc0}, {3, 0x20, 0xe0}, {4, 0x20, 0xf0}, {5, 0x20, 0xf8},
        {6, 0x20, 0xfc}, {7, 0x22, 0xfe}, {8, 0x23, 0xff},
        {0, 0x23, 0xff}, /* 8 when nothing is said */
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        begin();
        nvic.priority_bits = kept[i].bits;

        dz_nvic_set_priority(&nvic, 7, 0x23);
        dz_nvic_set_priority(&nvic, DZ_SYSTICK, 0xff);

        assert_int_equal(dz_nvic_priority(&nvic, 7), kept[i].from_23);
        assert_int_equal(dz_nvic_priority(&nvic, DZ_SYSTICK), kept[i].from_ff);
    }
}

static void priorities_that_differ_in_dropped_bits_are_equal(void **state)
{
    (void)state;
    begin();
    nvic.priority_bits = 3;
    set_up(1, 0x3f);
    set_up(2, 0x20);
    dz_nvic_pend(&nvic, 2);

    dz_nvic_pend(&nvic, 1);

    assert_next(1);
    dz_nvic_enter(&nvic, 1);
    assert_next(DZ_NVIC_NONE);
}

static void have_one_bit(void)
{
    nvic.priority_bits = 1;
    dz_nvic_set_priority(&nvic, 1, 0);
}

static void have_nine_bits(void)
{
    nvic.priority_bits = 9;
    dz_nvic_set_basepri(&nvic, 0);
}

static void fewer_than_2_or_more_than_8_priority_bits_panic(void **state)
{
    (void)state;
    begin();
    assert_says(last_words_of(have_one_bit), "2 to 8 priority bits");
    assert_says(last_words_of(have_nine_bits), "2 to 8 priority bits");
}

/* ---- Masks */

static void primask_holds_back_even_the_most_urgent(void **state)
{
    (void)state;
    begin();
    dz_nvic_set_priority(&nvic, DZ_SYSTICK, 0);

    dz_nvic_pend(&nvic, DZ_SYSTICK);

    assert_int_equal(dz_nvic_next(&nvic, DZ_PRIMASK_SET), DZ_NVIC_NONE);
    assert_next(DZ_SYSTICK);
}

static void basepri_masks_its_own_priority_and_what_is_less_urgent(void **state)
{
    (void)state;
    begin();
    set_up(1, 63);
    set_up(2, 64);
    set_up(3, 65);
    dz_nvic_pend(&nvic, 2);
    dz_nvic_pend(&nvic, 3);

    dz_nvic_set_basepri(&nvic, 64);

    assert_next(DZ_NVIC_NONE);
    dz_nvic_pend(&nvic, 1);
    assert_next(1);
}

static void basepri_of_zero_masks_nothing(void **state)
{
    (void)state;
    begin();
    set_up(2, 255);
    dz_nvic_pend(&nvic, 2);
    dz_nvic_set_basepri(&nvic, 1);
    assert_next(DZ_NVIC_NONE);

    dz_nvic_set_basepri(&nvic, 0);

    assert_next(2);
}

static void basepri_drops_the_bits_that_priorities_drop(void **state)
{
    (void)state;
    begin();
    nvic.priority_bits = 3;
    set_up(2, 0x40);
    dz_nvic_pend(&nvic, 2);

    dz_nvic_set_basepri(&nvic, 0x5f);
    assert_int_equal(dz_nvic_execution_priority(&nvic), 0x40);
    assert_next(DZ_NVIC_NONE);
    dz_nvic_set_basepri(&nvic, 0x1f); /* nothing is left of it */
    assert_next(2);
}

static void basepri_and_what_is_active_mask_together(void **state)
{
    (void)state;
    begin();
    set_up(1, 50);
    pend_and_enter(1);

    dz_nvic_set_basepri(&nvic, 60);
    assert_int_equal(dz_nvic_execution_priority(&nvic), 50);
    dz_nvic_set_basepri(&nvic, 40);
    assert_int_equal(dz_nvic_execution_priority(&nvic), 40);
    dz_nvic_exit(&nvic, 1);
    assert_int_equal(dz_nvic_execution_priority(&nvic), 40);
}

/* ---- What ends a WFI */

/* P15. wakes() is not told of PRIMASK: what may not run may still wake. */
static void what_primask_holds_back_wakes(void **state)
{
    (void)state;
    begin();
    set_up(7, 64);

    dz_nvic_pend(&nvic, 7);

    assert_int_equal(dz_nvic_next(&nvic, DZ_PRIMASK_SET), DZ_NVIC_NONE);
    assert_true(dz_nvic_wakes(&nvic));
}

static void what_is_disabled_does_not_wake(void **state)
{
    (void)state;
    begin();
    dz_nvic_pend(&nvic, 7);
    assert_false(dz_nvic_wakes(&nvic));
}

static void what_basepri_masks_does_not_wake(void **state)
{
    (void)state;
    begin();
    set_up(7, 64);
    dz_nvic_pend(&nvic, 7);

    dz_nvic_set_basepri(&nvic, 64);

    assert_false(dz_nvic_wakes(&nvic));
}

static void what_would_not_preempt_does_not_wake(void **state)
{
    (void)state;
    begin();
    set_up(6, 64);
    set_up(7, 64);
    pend_and_enter(6);

    dz_nvic_pend(&nvic, 7);

    assert_false(dz_nvic_wakes(&nvic));
}

/* ---- Lines */

static void an_asserted_line_pends(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);

    dz_nvic_raise(&nvic, 7);

    assert_true(dz_nvic_is_pending(&nvic, 7));
    assert_next(7);
}

static void a_line_that_is_asserted_already_has_no_edge(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);
    dz_nvic_raise(&nvic, 7);
    dz_nvic_enter(&nvic, 7);

    dz_nvic_raise(&nvic, 7);

    assert_false(dz_nvic_is_pending(&nvic, 7));
    dz_nvic_lower(&nvic, 7);
    dz_nvic_exit(&nvic, 7);
    assert_next(DZ_NVIC_NONE);
}

static void it_runs_until_its_line_is_lowered(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);
    dz_nvic_raise(&nvic, 7);

    for (int i = 0; i < 3; i++) {
        assert_next(7);
        dz_nvic_enter(&nvic, 7);
        assert_false(dz_nvic_is_pending(&nvic, 7));
        if (i == 2)
            dz_nvic_lower(&nvic, 7);
        dz_nvic_exit(&nvic, 7);
    }

    assert_next(DZ_NVIC_NONE);
    assert_false(dz_nvic_is_pending(&nvic, 7));
}

static void lowering_the_line_leaves_it_pending(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);
    dz_nvic_raise(&nvic, 7);

    dz_nvic_lower(&nvic, 7);

    assert_next(7);
    dz_nvic_clear_pending(&nvic, 7);
    assert_next(DZ_NVIC_NONE);
}

static void clearing_does_nothing_while_the_line_is_asserted(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);
    dz_nvic_raise(&nvic, 7);

    dz_nvic_clear_pending(&nvic, 7);
    assert_next(7);

    /* Nor while it is active: the state is left as it is. */
    dz_nvic_enter(&nvic, 7);
    dz_nvic_pend(&nvic, 7);
    dz_nvic_clear_pending(&nvic, 7);
    assert_true(dz_nvic_is_pending(&nvic, 7));
}

static void a_pulse_while_it_is_active_makes_it_run_again(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);
    dz_nvic_raise(&nvic, 7);
    dz_nvic_enter(&nvic, 7);
    dz_nvic_lower(&nvic, 7);

    dz_nvic_raise(&nvic, 7);
    dz_nvic_lower(&nvic, 7);

    dz_nvic_exit(&nvic, 7);
    assert_next(7);
}

static void a_line_leaves_its_neighbours_alone(void **state)
{
    (void)state;
    begin();
    for (int irq = 0; irq < DZ_NVIC_IRQS; irq++) {
        dz_nvic_raise(&nvic, irq);

        for (int other = DZ_PENDSV; other < DZ_NVIC_IRQS; other++)
            assert_int_equal(dz_nvic_is_pending(&nvic, other), other == irq);
        dz_nvic_lower(&nvic, irq);
        dz_nvic_clear_pending(&nvic, irq);
    }
}

static void raise_pendsv(void)
{
    dz_nvic_raise(&nvic, DZ_PENDSV);
}

static void lower_systick(void)
{
    dz_nvic_lower(&nvic, DZ_SYSTICK);
}

static void pendsv_and_systick_have_no_line(void **state)
{
    (void)state;
    begin();
    assert_says(last_words_of(raise_pendsv), "have no line: pend them");
    assert_says(last_words_of(lower_systick), "have no line: pend them");
}

/* ---- Entering and leaving */

/* The loop of a back end; its log is "number(", what preempts, ")". */
static char trace[64];

static void note(const char *text)
{
    size_t len = strlen(trace);

    snprintf(trace + len, sizeof(trace) - len, "%s", text);
}

static void run_all(void);

static void trace_handler(int irq)
{
    char text[16];

    snprintf(text, sizeof(text), "%d(", irq);
    note(text);
    if (irq == 5) { /* one that preempts, and one that waits */
        dz_nvic_pend(&nvic, 9);
        dz_nvic_pend(&nvic, 3);
        run_all();
    }
    note(")");
}

static void run_all(void)
{
    int irq;

    while ((irq = dz_nvic_next(&nvic, DZ_PRIMASK_CLEAR)) != DZ_NVIC_NONE) {
        dz_nvic_enter(&nvic, irq);
        trace_handler(irq);
        dz_nvic_exit(&nvic, irq);
    }
}

/* B1.5.12: 9 follows 5 with no thread mode in between, and so before anything
 * that thread mode would do; 7 was pending all the time and is less urgent. */
static void interrupts_are_chained_tail_to_head(void **state)
{
    (void)state;
    begin();
    set_up(3, 10);
    set_up(5, 20);
    set_up(7, 30);
    set_up(9, 20);
    trace[0] = '\0';
    dz_nvic_pend(&nvic, 7);
    dz_nvic_pend(&nvic, 5);

    run_all();

    assert_string_equal(trace, "5(3())9()7()");
    assert_int_equal(dz_nvic_execution_priority(&nvic), DZ_NVIC_THREAD);
}

static void exit_out_of_order(void)
{
    set_up(1, 10);
    set_up(2, 20);
    pend_and_enter(2);
    pend_and_enter(1);
    dz_nvic_exit(&nvic, 2);
}

static void exit_in_thread_mode(void)
{
    dz_nvic_exit(&nvic, DZ_PENDSV);
}

static void an_exit_that_does_not_match_its_entry_panics(void **state)
{
    (void)state;
    begin();
    assert_says(last_words_of(exit_out_of_order), "not the last to be entered");
    assert_says(
        last_words_of(exit_in_thread_mode), "not the last to be entered");
}

static void enter_what_is_not_pending(void)
{
    dz_nvic_enable(&nvic, 1);
    dz_nvic_enter(&nvic, 1);
}

static void enter_what_is_disabled(void)
{
    pend_and_enter(1);
}

static void enter_what_is_active(void)
{
    dz_nvic_enable(&nvic, 1);
    pend_and_enter(1);
    pend_and_enter(1);
}

static void an_entry_that_was_not_next_panics(void **state)
{
    (void)state;
    begin();
    assert_says(
        last_words_of(enter_what_is_not_pending), "dz_nvic_next did not name");
    assert_says(
        last_words_of(enter_what_is_disabled), "dz_nvic_next did not name");
    assert_says(
        last_words_of(enter_what_is_active), "dz_nvic_next did not name");
}

static void reset_forgets_what_goes_on_and_keeps_the_set_up(void **state)
{
    (void)state;
    begin();
    set_up(7, 20);
    set_up(8, 10);
    dz_nvic_raise(&nvic, 7);
    dz_nvic_enter(&nvic, 7);
    dz_nvic_pend(&nvic, 200);
    dz_nvic_set_basepri(&nvic, 5);

    dz_nvic_reset(&nvic);

    assert_int_equal(dz_nvic_execution_priority(&nvic), DZ_NVIC_THREAD);
    assert_false(dz_nvic_is_active(&nvic, 7));
    assert_false(dz_nvic_is_pending(&nvic, 200));
    assert_int_equal(dz_nvic_priority(&nvic, 8), 10);
    pend_and_enter(7);
    dz_nvic_exit(&nvic, 7); /* its line is low now */
    assert_next(DZ_NVIC_NONE);
}

/* ---- At the same time: a signal makes a core interrupt a device between any
 * two instructions, or the other way round. The device makes a request and
 * raises its line; the core serves it once, and lowers the line. */

enum { DEVICE = 4, NOTE = 5, OTHER = 6, STRIKES = 500 };

/* Both sides are one thread and its signal handler. */
static volatile int requested;
static volatile int served;
static volatile int in_vain;
static volatile int masked; /* the core, while the device is the thread */
static volatile int strikes;

static pthread_t struck;
static atomic_bool is_over;

/* The pause is there so that the other one gets somewhere in between. */
static void *strike_all_the_time(void *argument)
{
    static const struct timespec pause = {.tv_nsec = 1000};

    (void)argument;
    while (!atomic_load(&is_over)) {
        pthread_kill(struck, SIGUSR1);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static pthread_t begin_strikes(void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler};
    pthread_t thread;

    begin();
    dz_nvic_enable(&nvic, DEVICE);
    requested = served = in_vain = strikes = 0;
    masked = 1;
    struck = pthread_self();
    atomic_store(&is_over, false);
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    assert_int_equal(
        pthread_create(&thread, NULL, strike_all_the_time, NULL), 0);
    return thread;
}

static void end_strikes(pthread_t thread)
{
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
}

static void serve(void)
{
    dz_nvic_lower(&nvic, DEVICE);
    if (served == requested)
        in_vain++;
    served = requested;
}

static void serve_all(void)
{
    int irq;

    while ((irq = dz_nvic_next(&nvic, DZ_PRIMASK_CLEAR)) != DZ_NVIC_NONE) {
        dz_nvic_enter(&nvic, irq);
        serve();
        dz_nvic_exit(&nvic, irq);
    }
}

/* It also exits once at a moment that the device knows nothing of, and leaves
 * a note in the same word. */
static void core_strikes(int number)
{
    (void)number;
    if (masked != 0)
        return;
    strikes++;
    pend_and_enter(DEVICE);
    dz_nvic_exit(&nvic, DEVICE);
    serve_all();
    dz_nvic_pend(&nvic, NOTE);
}

static void a_core_that_strikes_anywhere_serves_each_request_once(void **state)
{
    pthread_t thread = begin_strikes(core_strikes);

    (void)state;
    while (strikes < STRIKES) {
        int before = strikes;

        masked = 0;
        requested++;
        dz_nvic_raise(&nvic, DEVICE);
        dz_nvic_pend(&nvic, OTHER);
        dz_nvic_lower(&nvic, OTHER);
        masked = 1;

        serve_all();
        assert_int_equal(served, requested);
        assert_int_equal(in_vain, 0);
        assert_int_equal(dz_nvic_is_pending(&nvic, NOTE), strikes != before);
        dz_nvic_clear_pending(&nvic, NOTE);
    }
    end_strikes(thread);
}

static void device_strikes(int number)
{
    (void)number;
    strikes++;
    if (served != requested)
        return;
    requested++;
    dz_nvic_raise(&nvic, DEVICE);
}

static void a_device_that_strikes_anywhere_is_served_once(void **state)
{
    pthread_t thread = begin_strikes(device_strikes);

    (void)state;
    dz_nvic_enable(&nvic, OTHER);
    while (strikes < STRIKES) {
        dz_nvic_clear_pending(&nvic, DEVICE); /* in vain */
        pend_and_enter(OTHER);
        dz_nvic_exit(&nvic, OTHER);
        serve_all();
    }
    end_strikes(thread);
    serve_all();

    assert_int_equal(served, requested);
    assert_int_equal(in_vain, 0);
}

/* ---- Random sequences against a model: one struct for each exception, by its
 * number, and the manual's way to look at all of them each time. */

enum { STEPS = 200000, FIRST_EXCEPTION = 14, EXCEPTIONS = 256 };

struct exception {
    unsigned priority;
    bool is_pending;
    bool is_enabled;
    bool is_active;
    bool is_high; /* its line */
};

static struct {
    struct exception exceptions[EXCEPTIONS];
    unsigned basepri;
    unsigned step;                /* between two priorities */
    unsigned entered[EXCEPTIONS]; /* in this order */
    unsigned depth;
} model;

/* Those that a run uses, if not all: few, and at the ends of words. */
static const int few[] = {DZ_PENDSV, DZ_SYSTICK, 0, 29, 30, 61, 62, 239};

static struct {
    long entered;
    long preempted;   /* entered while another was active */
    long pended_anew; /* by the line, at exit */
    long chained;
    long masked; /* by PRIMASK alone */
    unsigned depth;
} counted;

static struct exception *model_of(int irq)
{
    return &model.exceptions[irq + 16];
}

/* An interrupt whose line is high is pending unless it is active. */
static void model_sample_lines(void)
{
    for (unsigned n = 0; n < EXCEPTIONS; n++) {
        struct exception *exception = &model.exceptions[n];

        if (exception->is_high && !exception->is_active)
            exception->is_pending = true;
    }
}

/* The manual's ExecutionPriority(), without groups. */
static unsigned model_execution_priority(enum dz_primask primask)
{
    unsigned highest = 256;
    unsigned boosted = 256;

    for (unsigned n = 2; n < EXCEPTIONS; n++) {
        const struct exception *exception = &model.exceptions[n];

        if (exception->is_active && exception->priority < highest)
            highest = exception->priority;
    }
    if (model.basepri != 0)
        boosted = model.basepri;
    if (primask == DZ_PRIMASK_SET)
        boosted = 0;
    return boosted < highest ? boosted : highest;
}

/* Priority and number as one number, of which the smallest wins. */
static int model_next(enum dz_primask primask)
{
    unsigned winner = model_execution_priority(primask) * EXCEPTIONS;
    bool is_there = false;

    for (unsigned n = 2; n < EXCEPTIONS; n++) {
        const struct exception *exception = &model.exceptions[n];
        unsigned rank = exception->priority * EXCEPTIONS + n;

        if (!exception->is_pending || !exception->is_enabled || rank >= winner)
            continue;
        winner = rank;
        is_there = true;
    }
    return is_there ? (int)(winner % EXCEPTIONS) - 16 : DZ_NVIC_NONE;
}

static void change_pending(int irq)
{
    if (dice(3) != 0) {
        model_of(irq)->is_pending = true;
        dz_nvic_pend(&nvic, irq);
        return;
    }
    if (!model_of(irq)->is_high)
        model_of(irq)->is_pending = false;
    dz_nvic_clear_pending(&nvic, irq);
}

static void change_line(int irq)
{
    struct exception *exception = model_of(irq);

    if (irq < 0)
        return;
    if (dice(2) == 0) {
        exception->is_high = false;
        dz_nvic_lower(&nvic, irq);
        return;
    }
    if (!exception->is_high)
        exception->is_pending = true;
    exception->is_high = true;
    dz_nvic_raise(&nvic, irq);
}

static void change_enabled(int irq)
{
    if (dice(3) != 0 || irq < 0) {
        model_of(irq)->is_enabled = true;
        dz_nvic_enable(&nvic, irq);
    } else {
        model_of(irq)->is_enabled = false;
        dz_nvic_disable(&nvic, irq);
    }
}

static void change_priority(int irq)
{
    unsigned priority = dice(256);

    model_of(irq)->priority = priority / model.step * model.step;
    dz_nvic_set_priority(&nvic, irq, (uint8_t)priority);
}

static void change_basepri(void)
{
    unsigned basepri = dice(2) == 0 ? 0 : dice(256);

    model.basepri = basepri / model.step * model.step;
    dz_nvic_set_basepri(&nvic, (uint8_t)basepri);
}

static void enter_next(void)
{
    int irq = model_next(DZ_PRIMASK_CLEAR);
    unsigned n = (unsigned)(irq + 16);

    if (irq == DZ_NVIC_NONE)
        return;
    counted.entered++;
    counted.preempted += model.depth > 0;
    model.exceptions[n].is_pending = false;
    model.exceptions[n].is_active = true;
    model.entered[model.depth++] = n;
    if (model.depth > counted.depth)
        counted.depth = model.depth;
    dz_nvic_enter(&nvic, irq);
}

/* Half of the time the next one follows at once, if there is one. */
static void exit_last(void)
{
    unsigned n;

    if (model.depth == 0)
        return;
    n = model.entered[--model.depth];
    model.exceptions[n].is_active = false;
    counted.pended_anew +=
        model.exceptions[n].is_high && !model.exceptions[n].is_pending;
    model_sample_lines();
    dz_nvic_exit(&nvic, (int)n - 16);
    if (dice(2) == 0) {
        counted.chained += model_next(DZ_PRIMASK_CLEAR) != DZ_NVIC_NONE;
        enter_next();
    }
}

static void reset_both(void)
{
    for (unsigned n = 0; n < EXCEPTIONS; n++) {
        model.exceptions[n].is_pending = false;
        model.exceptions[n].is_active = false;
        model.exceptions[n].is_high = false;
    }
    model.basepri = 0;
    model.depth = 0;
    dz_nvic_reset(&nvic);
}

static void do_something(int irq)
{
    switch (dice(16)) {
    case 0:
    case 1:
    case 2:
        change_pending(irq);
        break;
    case 3:
    case 4:
    case 5:
        change_line(irq);
        break;
    case 6:
        change_enabled(irq);
        break;
    case 7:
        change_priority(irq);
        break;
    case 8:
        change_basepri();
        break;
    case 9:
    case 10:
    case 11:
        exit_last();
        break;
    case 12:
        if (dice(10) == 0)
            reset_both();
        break;
    default:
        enter_next();
        break;
    }
    model_sample_lines();
}

static void compare_one(int irq)
{
    const struct exception *exception = model_of(irq);

    check(dz_nvic_is_pending(&nvic, irq) == exception->is_pending);
    check(dz_nvic_is_enabled(&nvic, irq) == exception->is_enabled);
    check(dz_nvic_is_active(&nvic, irq) == exception->is_active);
    check(dz_nvic_priority(&nvic, irq) == exception->priority);
}

static void compare(int irq)
{
    int next = model_next(DZ_PRIMASK_CLEAR);
    int masked_next = model_next(DZ_PRIMASK_SET);

    check(dz_nvic_next(&nvic, DZ_PRIMASK_CLEAR) == next);
    check(dz_nvic_next(&nvic, DZ_PRIMASK_SET) == masked_next);
    check(dz_nvic_wakes(&nvic) == (next != DZ_NVIC_NONE));
    check(dz_nvic_execution_priority(&nvic) ==
        model_execution_priority(DZ_PRIMASK_CLEAR));
    counted.masked += next != masked_next;
    compare_one(irq);
    for (int i = DZ_PENDSV; step % 64 == 0 && i < DZ_NVIC_IRQS; i++)
        compare_one(i);
}

static void begin_run(uint8_t bits)
{
    begin();
    memset(&model, 0, sizeof(model));
    memset(&counted, 0, sizeof(counted));
    random_begin();
    print_message("%u priority bits\n", bits);
    nvic.priority_bits = bits;
    model.step = 256u >> (bits == 0 ? 8 : bits);
    model_of(DZ_PENDSV)->is_enabled = true;
    model_of(DZ_SYSTICK)->is_enabled = true;
}

static void report(void)
{
    print_message("%ld steps, %ld entered, %ld of them "
                  "preempting, %u deep, %ld chained, %ld pended anew, "
                  "%ld masked\n",
        step, counted.entered, counted.preempted, counted.depth,
        counted.chained, counted.pended_anew, counted.masked);
}

static int any(void)
{
    return (int)dice(DZ_NVIC_LINES) + DZ_PENDSV;
}

static int one_of_few(void)
{
    return few[dice(sizeof(few) / sizeof(few[0]))];
}

/* The last checks: the run reached what it is about. */
static void run(uint8_t bits, int (*pick)(void))
{
    long steps = random_steps(STEPS);

    begin_run(bits);
    for (step = 0; step < steps; step++) {
        int irq = pick();

        do_something(irq);
        compare(irq);
    }
    report();
    check(steps < STEPS || counted.entered > steps / 20);
    check(steps < STEPS || counted.preempted > steps / 500);
    check(steps < STEPS || counted.chained > steps / 100);
    check(steps < STEPS || counted.pended_anew > steps / 1000);
    check(steps < STEPS || counted.masked > steps / 20);
    check(steps < STEPS || counted.depth >= 3);
}

static void few_interrupts_do_what_the_model_does(void **state)
{
    (void)state;
    run(2, one_of_few);
    run(3, one_of_few);
    run(5, one_of_few);
    run(0, one_of_few);
}

static void all_interrupts_do_what_the_model_does(void **state)
{
    (void)state;
    run(2, any);
    run(4, any);
    run(8, any);
}

RUN_TESTS(TEST(exceptions_are_numbered_as_in_ipsr),
    TEST(an_interrupt_that_does_not_exist_panics),
    TEST(nothing_is_next_at_first),
    TEST(a_pending_interrupt_waits_until_it_is_enabled),
    TEST(a_pending_interrupt_that_is_disabled_does_not_run),
    TEST(pendsv_and_systick_are_always_enabled),
    TEST(disabling_pendsv_or_systick_panics),
    TEST(pending_twice_it_is_entered_once),
    TEST(pended_while_it_is_active_it_runs_again),
    TEST(what_is_cleared_does_not_run), TEST(it_is_active_from_enter_to_exit),
    TEST(the_more_urgent_goes_first),
    TEST(the_lower_number_goes_first_among_equals),
    TEST(only_a_more_urgent_one_preempts),
    TEST(the_choice_changes_until_it_is_entered),
    TEST(the_execution_priority_is_that_of_the_most_urgent),
    TEST(a_new_priority_of_an_active_one_counts_at_once),
    TEST(it_does_not_preempt_itself_when_made_more_urgent),
    TEST(only_the_top_bits_of_a_priority_are_kept),
    TEST(priorities_that_differ_in_dropped_bits_are_equal),
    TEST(fewer_than_2_or_more_than_8_priority_bits_panic),
    TEST(primask_holds_back_even_the_most_urgent),
    TEST(basepri_masks_its_own_priority_and_what_is_less_urgent),
    TEST(basepri_of_zero_masks_nothing),
    TEST(basepri_drops_the_bits_that_priorities_drop),
    TEST(basepri_and_what_is_active_mask_together),
    TEST(what_primask_holds_back_wakes), TEST(what_is_disabled_does_not_wake),
    TEST(what_basepri_masks_does_not_wake),
    TEST(what_would_not_preempt_does_not_wake), TEST(an_asserted_line_pends),
    TEST(a_line_that_is_asserted_already_has_no_edge),
    TEST(it_runs_until_its_line_is_lowered),
    TEST(lowering_the_line_leaves_it_pending),
    TEST(clearing_does_nothing_while_the_line_is_asserted),
    TEST(a_pulse_while_it_is_active_makes_it_run_again),
    TEST(a_line_leaves_its_neighbours_alone),
    TEST(pendsv_and_systick_have_no_line),
    TEST(interrupts_are_chained_tail_to_head),
    TEST(an_exit_that_does_not_match_its_entry_panics),
    TEST(an_entry_that_was_not_next_panics),
    TEST(reset_forgets_what_goes_on_and_keeps_the_set_up),
    TEST(a_core_that_strikes_anywhere_serves_each_request_once),
    TEST(a_device_that_strikes_anywhere_is_served_once),
    TEST(few_interrupts_do_what_the_model_does),
    TEST(all_interrupts_do_what_the_model_does))
