/* SPDX-License-Identifier: MIT */
#include "sim/nvic.h"

#include "sim/test.h"

static struct dz_nvic nvic;

static void begin(void)
{
    memset(&nvic, 0, sizeof(nvic));
    for (unsigned line = 0; line < DZ_NVIC_LINES; line++)
        dz_nvic_set_priority(&nvic, line, 128);
}

static void nothing_is_next_at_first(void **state)
{
    (void)state;
    begin();
    assert_int_equal(dz_nvic_next(&nvic), DZ_NVIC_NONE);
}

static void a_pending_interrupt_waits_until_it_is_enabled(void **state)
{
    (void)state;
    begin();
    dz_nvic_pend(&nvic, 7);
    assert_int_equal(dz_nvic_next(&nvic), DZ_NVIC_NONE);
    dz_nvic_enable(&nvic, 7);
    assert_int_equal(dz_nvic_next(&nvic), 7);
}

/* P14: the choice was latched when the interrupt was raised. */
static void a_pending_interrupt_that_is_disabled_does_not_run(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);
    dz_nvic_pend(&nvic, 7);
    dz_nvic_disable(&nvic, 7);
    assert_int_equal(dz_nvic_next(&nvic), DZ_NVIC_NONE);
    assert_true(dz_nvic_is_pending(&nvic, 7));
    dz_nvic_enable(&nvic, 7);
    assert_int_equal(dz_nvic_next(&nvic), 7);
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
    assert_int_equal(dz_nvic_next(&nvic), DZ_NVIC_NONE);
}

static void pended_while_it_is_active_it_runs_again(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 7);
    dz_nvic_pend(&nvic, 7);
    dz_nvic_enter(&nvic, 7);
    dz_nvic_pend(&nvic, 7);
    assert_int_equal(dz_nvic_next(&nvic), DZ_NVIC_NONE);
    dz_nvic_exit(&nvic, 7);
    assert_int_equal(dz_nvic_next(&nvic), 7);
}

static void the_more_urgent_goes_first(void **state)
{
    (void)state;
    begin();
    dz_nvic_enable(&nvic, 3);
    dz_nvic_enable(&nvic, 60);
    dz_nvic_set_priority(&nvic, 60, 5);
    dz_nvic_pend(&nvic, 3);
    dz_nvic_pend(&nvic, 60);
    assert_int_equal(dz_nvic_next(&nvic), 60);
}

static void the_lower_number_goes_first_among_equals(void **state)
{
    (void)state;
    begin();
    for (unsigned line = 63; line > 0; line--) {
        dz_nvic_enable(&nvic, line);
        dz_nvic_pend(&nvic, line);
        assert_int_equal(dz_nvic_next(&nvic), line);
    }
}

static void only_a_more_urgent_one_preempts(void **state)
{
    (void)state;
    begin();
    for (unsigned line = 1; line <= 3; line++)
        dz_nvic_enable(&nvic, line);
    dz_nvic_set_priority(&nvic, 1, 10);
    dz_nvic_set_priority(&nvic, 2, 20);
    dz_nvic_set_priority(&nvic, 3, 20);
    dz_nvic_pend(&nvic, 2);
    dz_nvic_enter(&nvic, 2);
    dz_nvic_pend(&nvic, 3);
    assert_int_equal(dz_nvic_next(&nvic), DZ_NVIC_NONE);
    dz_nvic_pend(&nvic, 1);
    assert_int_equal(dz_nvic_next(&nvic), 1);
    dz_nvic_enter(&nvic, 1);
    assert_int_equal(dz_nvic_next(&nvic), DZ_NVIC_NONE);
    dz_nvic_exit(&nvic, 1);
    assert_int_equal(dz_nvic_next(&nvic), DZ_NVIC_NONE);
    dz_nvic_exit(&nvic, 2);
    assert_int_equal(dz_nvic_next(&nvic), 3);
}

static void pend_too_far(void)
{
    begin();
    dz_nvic_pend(&nvic, DZ_NVIC_LINES);
}

static void an_interrupt_that_does_not_exist_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(pend_too_far), "no interrupt of this number");
}

/* The same rules once more, slow and obvious: one look at every line. */
static int obvious_next(const struct dz_nvic *model)
{
    int best = DZ_NVIC_NONE;
    unsigned limit = DZ_NVIC_THREAD;

    for (int line = 0; line < DZ_NVIC_LINES; line++) {
        if ((model->active >> line & 1) != 0 && model->priority[line] < limit)
            limit = model->priority[line];
    }
    for (int line = DZ_NVIC_LINES - 1; line >= 0; line--) {
        bool is_there = (model->pending >> line & 1) != 0 &&
            (model->enabled >> line & 1) != 0 &&
            (model->active >> line & 1) == 0;

        if (!is_there || model->priority[line] >= limit)
            continue;
        if (best == DZ_NVIC_NONE ||
            model->priority[line] <= model->priority[best])
            best = line;
    }
    return best;
}

static void agrees_with_the_obvious_rules_in_random_states(void **state)
{
    uint64_t random = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t words[3];

        begin();
        for (int k = 0; k < 3; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            words[k] = random;
        }
        nvic.pending = words[0];
        nvic.enabled = words[1];
        nvic.active = words[2] & words[2] >> 7 & words[2] >> 13;
        for (unsigned line = 0; line < DZ_NVIC_LINES; line++)
            nvic.priority[line] = (uint8_t)(words[line % 3] >> (line % 50) & 7);
        assert_int_equal(dz_nvic_next(&nvic), obvious_next(&nvic));
    }
}

RUN_TESTS(TEST(nothing_is_next_at_first),
    TEST(a_pending_interrupt_waits_until_it_is_enabled),
    TEST(a_pending_interrupt_that_is_disabled_does_not_run),
    TEST(pending_twice_it_is_entered_once),
    TEST(pended_while_it_is_active_it_runs_again),
    TEST(the_more_urgent_goes_first),
    TEST(the_lower_number_goes_first_among_equals),
    TEST(only_a_more_urgent_one_preempts),
    TEST(an_interrupt_that_does_not_exist_panics),
    TEST(agrees_with_the_obvious_rules_in_random_states))
