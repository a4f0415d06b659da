/* SPDX-License-Identifier: MIT */
#include <sched.h>

#include "sim/test.h"

/*
 * Whether a signal is worth sending, in real time: `kick` of sim/real.c, in the
 * interleavings in which an interrupt would be lost if it was not cleared
 * before each look. The place at which another thread has to act in between is
 * reached by the linker's --wrap. A test that hangs has lost one.
 */

enum { SECOND_IRQ = 5, OFF_IRQ = 9 };

static struct dz_core core;
static atomic_bool is_ready;
static atomic_uint second_ran;

static void await_true(atomic_bool *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

static void count_second(void *argument)
{
    (void)argument;
    atomic_fetch_add(&second_ran, 1);
}

static void begin(uint8_t second_priority)
{
    core = (struct dz_core){.home = {.index = 0}};
    atomic_store(&is_ready, false);
    atomic_store(&second_ran, 0);
    dz_core_bind(&core, SECOND_IRQ, count_second, NULL);
    dz_core_set_priority(&core, SECOND_IRQ, second_priority);
}

static void await_sleep(void)
{
    while (!atomic_load(&core.real.is_asleep))
        sched_yield();
}

static void wait_for_interrupt(void *argument)
{
    (void)argument;
    dz_core_wait_for_interrupt(&core);
}

/* The first pend wakes the core, which sleeps on: it is disabled. */
static void a_pend_that_ends_no_sleep_hides_no_other(void **state)
{
    (void)state;
    begin(0);
    dz_core_start(&core, wait_for_interrupt, NULL);
    await_sleep();
    dz_core_pend(&core, OFF_IRQ);
    await_sleep();
    dz_core_pend(&core, SECOND_IRQ);
    dz_core_join(&core);
    assert_int_equal(atomic_load(&second_ran), 1);
}

static void lower_basepri_masked(void *argument)
{
    dz_key key;

    (void)argument;
    dz_core_set_basepri(&core, 64);
    key = dz_port_mask();
    dz_core_set_basepri(&core, 0);
    atomic_store(&is_ready, true);
    dz_core_wait_for_interrupt(&core);
    dz_port_unmask(key);
}

static void what_basepri_no_longer_masks_ends_a_sleep(void **state)
{
    (void)state;
    begin(100);
    dz_core_start(&core, lower_basepri_masked, NULL);
    await_true(&is_ready);
    await_sleep();
    dz_core_pend(&core, SECOND_IRQ);
    dz_core_join(&core);
    assert_int_equal(atomic_load(&second_ran), 1);
}

/*
 * A ring that comes while the core is masked is a note and no more. Whoever
 * pends behind the scan that obeys it has to ring anew.
 */

static atomic_bool is_armed;
static atomic_bool may_pend, is_pended;

int __real_dz_nvic_next(const struct dz_nvic *nvic, enum dz_primask primask);
int __wrap_dz_nvic_next(const struct dz_nvic *nvic, enum dz_primask primask);

/* The first scan is over, and the core has not said so yet. */
int __wrap_dz_nvic_next(const struct dz_nvic *nvic, enum dz_primask primask)
{
    int irq = __real_dz_nvic_next(nvic, primask);

    if (!atomic_exchange(&is_armed, false))
        return irq;
    atomic_store(&may_pend, true);
    await_true(&is_pended);
    return irq;
}

static void *pend_behind_the_scan(void *argument)
{
    await_true(&may_pend);
    dz_core_pend(&core, SECOND_IRQ);
    atomic_store(&is_pended, true);
    return argument;
}

static void unmask_and_sleep(void *argument)
{
    dz_key key = dz_port_mask();

    (void)argument;
    atomic_store(&is_ready, true);
    while (dz_port_core.deferred == 0)
        continue;
    atomic_store(&is_armed, true);
    dz_port_unmask(key);
    while (atomic_load(&second_ran) == 0)
        dz_port_wait();
}

static void a_ring_that_is_a_note_hides_no_other(void **state)
{
    pthread_t thread;

    (void)state;
    begin(0);
    pthread_create(&thread, NULL, pend_behind_the_scan, NULL);
    dz_core_start(&core, unmask_and_sleep, NULL);
    await_true(&is_ready);
    dz_core_pend(&core, OFF_IRQ);
    dz_core_join(&core);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&second_ran), 1);
}

RUN_TESTS(PLAIN_TEST(a_pend_that_ends_no_sleep_hides_no_other),
    PLAIN_TEST(what_basepri_no_longer_masks_ends_a_sleep),
    PLAIN_TEST(a_ring_that_is_a_note_hides_no_other))
