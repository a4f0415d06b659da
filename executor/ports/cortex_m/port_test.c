/* SPDX-License-Identifier: MIT */

/*
 * port_test -- critical sections, contexts, interrupt executors, and panics
 *
 * Built once for critical sections by PRIMASK, and once by BASEPRI. The core
 * that QEMU emulates has 32 interrupts, and eight bits of priority, of which
 * seven preempt: the port's priority 1 is 2 in the register. Addresses
 * and bits of registers are the manual's (Armv7-M Architecture Reference
 * Manual, B3.2 and B3.4), written down once more.
 */

#include "executor/ports/cortex_m/port_test.h"
#include "executor/timer.h"

#define REGISTER(address) (*(volatile uint32_t *)UINT32_C(address))
#define ENABLED REGISTER(0xE000E100)
#define SET_PENDING REGISTER(0xE000E200)
#define CLEAR_PENDING REGISTER(0xE000E280)
#define PRIORITIES(interrupt) \
    (*(volatile uint8_t *)(UINT32_C(0xE000E400) + (interrupt)))
#define ICSR REGISTER(0xE000ED04)
#define PENDSV_PRIORITY (*(volatile uint8_t *)UINT32_C(0xE000ED22))
#define SYSTICK_PRIORITY (*(volatile uint8_t *)UINT32_C(0xE000ED23))

#define ICSR_PENDSV UINT32_C(0x10000000)
#define ICSR_CLEAR_PENDSV UINT32_C(0x08000000)
#define ICSR_SYSTICK UINT32_C(0x04000000)
#define ICSR_CLEAR_SYSTICK UINT32_C(0x02000000)

/* The port's priorities, and what else the board is given. BASEPRI is 0x40
 * where it is used. */
enum {
    URGENT = 0x20,
    RELAXED = 0x40,
    RAW_ABOVE = 0x3F,
    RAW_MIDDLE = 0x60,
};

/* Of exceptions (B1.5.2). */
enum { PENDSV_EXCEPTION = 14, EXCEPTIONS = 16 };

void PendSV_Handler(void);
void SOFTWARE0_Handler(void);
void SOFTWARE1_Handler(void);
void SOFTWARE2_Handler(void);
void TIMER0_Handler(void);

/* No timers here, but the executor's library has a queue of them. */

uint64_t dz_port_now(void)
{
    return 0;
}

void dz_port_set_alarm(uint64_t at)
{
    (void)at;
}

static char trail[64];

static void note(char letter)
{
    size_t len = strlen(trail);

    assert_true(len + 1 < sizeof(trail));
    trail[len] = letter;
    trail[len + 1] = '\0';
}

/* Takes a note of its start in lower case, of its end in upper case. */
struct noter {
    struct dz_task task;
    char letter;
    bool is_waiting;
    void (*act)(void);
    unsigned context;
};

static enum dz_poll wake_up_poll(bool *is_waiting)
{
    *is_waiting = !*is_waiting;
    return *is_waiting ? DZ_PENDING : DZ_READY;
}

static enum dz_poll noter_poll(struct noter *self)
{
    async (self) {
        for (;;) {
            note(self->letter);
            self->context = dz_port_context();
            if (self->act != NULL)
                self->act();
            note((char)(self->letter - 'a' + 'A'));
            await(wake_up_poll(&self->is_waiting));
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(noters, struct noter, noter_poll, 3)

static struct dz_executor thread, urgent, relaxed;
static struct noter *t, *u, *r;
static void (*in_handler)(void);
static volatile unsigned above;

void SOFTWARE0_Handler(void)
{
    dz_executor_poll(&urgent);
}

void PendSV_Handler(void)
{
    dz_executor_poll(&relaxed);
}

void SOFTWARE1_Handler(void)
{
    note('(');
    in_handler();
    note(')');
}

/* More urgent than what may call into the executor. */
void SOFTWARE2_Handler(void)
{
    above++;
}

static struct noter *spawn(struct dz_executor *executor, char letter)
{
    struct noter *noter = NULL;

    assert_int_equal(noters_claim(&noter), DZ_OK);
    noter->letter = letter;
    dz_executor_spawn(executor, &noter->task);
    return noter;
}

static void begin(void)
{
    memset(noters_slots, 0, sizeof(noters_slots));
    trail[0] = '\0';
    dz_executor_init(&thread, "thread");
    dz_executor_init(&urgent, "urgent");
    dz_executor_init(&relaxed, "relaxed");
    dz_executor_start(&urgent, BOARD_SOFTWARE0_IRQ, URGENT);
    dz_executor_start(&relaxed, DZ_PORT_PENDSV, RELAXED);
    board_enable(BOARD_SOFTWARE1_IRQ, RAW_MIDDLE);
    board_enable(BOARD_SOFTWARE2_IRQ, RAW_ABOVE);
    t = spawn(&thread, 't');
    u = spawn(&urgent, 'u');
    r = spawn(&relaxed, 'r');
    dz_executor_poll(&thread);
    trail[0] = '\0';
}

static void start_at(int interrupt, unsigned priority)
{
    static struct dz_executor executor;

    dz_executor_init(&executor, "executor");
    dz_executor_start(&executor, interrupt, priority);
}

static unsigned above_within;

static void pend_above(void)
{
    board_pend(BOARD_SOFTWARE2_IRQ);
    above_within = above;
}

static void wake_t(void)
{
    dz_task_wake(&t->task);
}

static void wake_u(void)
{
    dz_task_wake(&u->task);
}

static void wake_r(void)
{
    dz_task_wake(&r->task);
}

/* All that is pending, PendSV and SysTick in two bits of interrupts that the
 * board does not have. Clears it. */
static uint64_t take_pending(void)
{
    uint64_t pending = SET_PENDING;

    if (ICSR & ICSR_PENDSV)
        pending |= UINT64_C(1) << 40;
    if (ICSR & ICSR_SYSTICK)
        pending |= UINT64_C(1) << 41;
    CLEAR_PENDING = UINT32_MAX;
    ICSR = ICSR_CLEAR_PENDSV | ICSR_CLEAR_SYSTICK;
    return pending;
}

static uint64_t pended_by(const struct dz_port_executor *executor)
{
    uint64_t pending;

    __asm__ volatile("cpsid i" : : : "memory");
    dz_port_pend(executor);
    pending = take_pending();
    __asm__ volatile("cpsie i" : : : "memory");
    return pending;
}

static void each_interrupt_is_pended_alone(void **state)
{
    struct dz_port_executor executor;

    (void)state;
    for (int i = 0; i < 32; i++) {
        executor = dz_port_pend_of(i);
        assert_true(pended_by(&executor) == UINT64_C(1) << i);
    }
    executor = dz_port_pend_of(DZ_PORT_PENDSV);
    assert_true(pended_by(&executor) == UINT64_C(1) << 40);
    executor = dz_port_pend_of(DZ_PORT_SYSTICK);
    assert_true(pended_by(&executor) == UINT64_C(1) << 41);
}

static void interrupts_beyond_32_have_registers_of_their_own(void **state)
{
    struct dz_port_executor executor = dz_port_pend_of(32);

    (void)state;
    assert_int_equal((uintptr_t)executor.set, 0xE000E204);
    assert_int_equal(executor.bit, 1);
    executor = dz_port_pend_of(239);
    assert_int_equal((uintptr_t)executor.set, 0xE000E21C);
    assert_int_equal(executor.bit, 0x8000);
}

static void thread_mode_pends_no_interrupt(void **state)
{
    struct dz_port_executor executor;

    (void)state;
    dz_port_executor_init(&executor);
    assert_true(pended_by(&executor) == 0);
}

static void a_start_gives_the_priority_and_enables(void **state)
{
    static struct dz_executor executor;

    (void)state;
    PRIORITIES(4) = 1;
    PRIORITIES(5) = 2;
    PRIORITIES(7) = 3;
    SYSTICK_PRIORITY = 4;
    dz_executor_init(&executor, "executor");
    dz_executor_start(&executor, 6, 0x31);
    dz_executor_init(&executor, "executor");
    dz_executor_start(&executor, DZ_PORT_PENDSV, 0x42);
    assert_int_equal(ENABLED, 1 << 6);
    assert_int_equal(PRIORITIES(4), 1);
    assert_int_equal(PRIORITIES(5), 2);
    assert_int_equal(PRIORITIES(6), 0x62);
    assert_int_equal(PRIORITIES(7), 3);
    assert_int_equal(PENDSV_PRIORITY, 0x84);
    assert_int_equal(SYSTICK_PRIORITY, 4);
}

static void contexts_are_exception_numbers(void **state)
{
    (void)state;
    begin();
    assert_int_equal(dz_port_context(), 0);
    assert_true(dz_port_is_thread_mode());
    assert_int_equal(t->context, 0);
    assert_int_equal(u->context, EXCEPTIONS + BOARD_SOFTWARE0_IRQ);
    assert_int_equal(r->context, PENDSV_EXCEPTION);
}

static void a_task_of_an_interrupt_runs_at_once(void **state)
{
    (void)state;
    begin();
    wake_u();
    assert_string_equal(trail, "uU");
    wake_r();
    assert_string_equal(trail, "uUrR");
}

static void what_is_more_urgent_preempts(void **state)
{
    (void)state;
    begin();
    r->act = wake_u;
    t->act = wake_r;
    wake_t();
    dz_executor_poll(&thread);
    assert_string_equal(trail, "truURT");
}

static void the_next_priority_preempts(void **state)
{
    (void)state;
    begin();
    start_at(BOARD_SOFTWARE2_IRQ, RELAXED - 1);
    above = 0;
    r->act = pend_above;
    wake_r();
    assert_string_equal(trail, "rR");
    assert_int_equal(above_within, 1);
}

static void what_is_less_urgent_waits(void **state)
{
    (void)state;
    begin();
    u->act = wake_r;
    wake_u();
    assert_string_equal(trail, "uUrR");
}

static void a_handler_wakes_both_sides_of_it(void **state)
{
    (void)state;
    begin();
    in_handler = wake_r;
    board_pend(BOARD_SOFTWARE1_IRQ);
    assert_string_equal(trail, "()rR");
    trail[0] = '\0';
    in_handler = wake_u;
    board_pend(BOARD_SOFTWARE1_IRQ);
    assert_string_equal(trail, "(uU)");
}

static void a_task_that_is_woken_twice_runs_once(void **state)
{
    (void)state;
    begin();
    __asm__ volatile("cpsid i" : : : "memory");
    wake_r();
    wake_r();
    __asm__ volatile("cpsie i\n\tisb" : : : "memory");
    assert_string_equal(trail, "rR");
}

static unsigned turns;

static void wake_r_twice(void)
{
    if (turns++ < 2)
        wake_r();
}

/* The handler is not entered again: it is pended once more. */
static void what_is_woken_while_it_runs_runs_again(void **state)
{
    (void)state;
    begin();
    turns = 0;
    r->act = wake_r_twice;
    wake_r();
    assert_string_equal(trail, "rRrRrR");
}

static void sections_nest(void **state)
{
    dz_key outer, inner;

    (void)state;
    begin();
    outer = dz_port_enter();
    inner = dz_port_enter();
    wake_u();
    wake_r();
    dz_port_exit(inner);
    assert_string_equal(trail, "");
    dz_port_exit(outer);
    __asm__ volatile("isb" : : : "memory");
    assert_string_equal(trail, "uUrR");
}

static void hold_off(void)
{
    dz_key key = dz_port_enter();

    wake_u();
    note('-');
    dz_port_exit(key);
    note('+');
}

static void sections_of_a_handler_hold_off_what_is_more_urgent(void **state)
{
    (void)state;
    begin();
    in_handler = hold_off;
    board_pend(BOARD_SOFTWARE1_IRQ);
    assert_string_equal(trail, "(-uU+)");
}

static void sections_hold_off_what_they_mask(void **state)
{
    unsigned before = above;
    dz_key key;

    (void)state;
    begin();
    key = dz_port_enter();
    board_pend(BOARD_SOFTWARE2_IRQ);
    assert_int_equal(above, before + (DZ_PORT_BASEPRI != 0));
    dz_port_exit(key);
    assert_int_equal(above, before + 1);
}

static uint32_t mask(void)
{
    uint32_t mask;

    if (DZ_PORT_BASEPRI != 0)
        __asm__ volatile("mrs %0, basepri" : "=r"(mask) : : "memory");
    else
        __asm__ volatile("mrs %0, primask" : "=r"(mask) : : "memory");
    return mask;
}

static void set_mask(uint32_t mask)
{
    if (DZ_PORT_BASEPRI != 0)
        __asm__ volatile("msr basepri, %0" : : "r"(mask) : "memory");
    else
        __asm__ volatile("msr primask, %0" : : "r"(mask) : "memory");
}

static void what_masks_more_is_left_and_restored(void **state)
{
    uint32_t more = DZ_PORT_BASEPRI != 0 ? 0x10 : 1;
    uint32_t less = DZ_PORT_BASEPRI != 0 ? 0x70 : 0;
    dz_key key;

    (void)state;
    set_mask(more);
    key = dz_port_enter();
    assert_int_equal(mask(), more);
    dz_port_exit(key);
    assert_int_equal(mask(), more);
    set_mask(less);
    key = dz_port_enter();
    assert_int_equal(mask(), DZ_PORT_BASEPRI != 0 ? DZ_PORT_BASEPRI : 1);
    dz_port_exit(key);
    assert_int_equal(mask(), less);
    set_mask(0);
}

static void start_in_svc(void)
{
    start_at(-5, RELAXED);
}

static void start_in_an_absent_interrupt(void)
{
    start_at(32, RELAXED);
}

/* What would be its priority, is CPUID (B3.2.3), and not 0. */
static void start_beyond_the_registers(void)
{
    start_at(0xD00 - 0x400, RELAXED);
}

static void start_with_eight_bits(void)
{
    start_at(1, 0x80);
}

/* Twice this is 0, for whoever counts in 32 bits. */
static void start_with_a_huge_priority(void)
{
    start_at(1, UINT32_C(1) << 31);
}

static void the_least_urgent_priority_is_the_last(void **state)
{
    (void)state;
    start_at(1, 0x7F);
    assert_int_equal(PRIORITIES(1), 0xFE);
}

static void start_above_the_mask(void)
{
    start_at(1, (unsigned)DZ_PORT_BASEPRI / 2 - 1);
}

static void what_the_core_lacks_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(start_in_svc), "other than PendSV and SysTick");
    assert_says(last_words_of(start_in_an_absent_interrupt),
        "an interrupt is used that the core does not have");
    assert_says(last_words_of(start_beyond_the_registers),
        "an interrupt is used that the core does not have");
    assert_says(last_words_of(start_with_eight_bits), "too few bits");
    assert_says(last_words_of(start_with_a_huge_priority), "too few bits");
}

static void an_executor_above_the_mask_panics(void **state)
{
    (void)state;
    if (DZ_PORT_BASEPRI == 0)
        return;
    start_at(1, DZ_PORT_BASEPRI / 2);
    assert_says(last_words_of(start_above_the_mask), "more urgent");
}

static void run_with_interrupts_off(void)
{
    dz_executor_init(&thread, "thread");
    set_mask(1);
    dz_executor_run(&thread);
}

static void waiting_with_interrupts_off_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(run_with_interrupts_off), "interrupts off");
    set_mask(0);
    dz_local = (struct dz_local)DZ_LOCAL_INITIAL;
}

static volatile bool is_done;

static void finish(void)
{
    is_done = true;
}

void TIMER0_Handler(void)
{
    BOARD_TIMER0->control = 0;
    BOARD_TIMER0->interrupt = 1;
    wake_t();
}

/* At every instruction, before the wait and within it. */
static void an_interrupt_ends_the_wait(void **state)
{
    (void)state;
    begin();
    t->act = finish;
    board_enable(BOARD_TIMER0_IRQ, RAW_MIDDLE);
    BOARD_TIMER0->reload = UINT32_MAX;
    for (uint32_t instructions = 0; instructions < 300; instructions++) {
        is_done = false;
        trail[0] = '\0';
        BOARD_TIMER0->value = instructions * 32 / 5 + 1;
        BOARD_TIMER0->control = BOARD_TIMER_ENABLE | BOARD_TIMER_INTERRUPT;
        dz_executor_run_until(&thread, &is_done);
        assert_string_equal(trail, "tT");
    }
}

RUN_TESTS(TEST(each_interrupt_is_pended_alone),
    TEST(interrupts_beyond_32_have_registers_of_their_own),
    TEST(thread_mode_pends_no_interrupt),
    TEST(a_start_gives_the_priority_and_enables),
    TEST(contexts_are_exception_numbers),
    TEST(a_task_of_an_interrupt_runs_at_once),
    TEST(what_is_more_urgent_preempts), TEST(the_next_priority_preempts),
    TEST(what_is_less_urgent_waits), TEST(a_handler_wakes_both_sides_of_it),
    TEST(a_task_that_is_woken_twice_runs_once),
    TEST(what_is_woken_while_it_runs_runs_again), TEST(sections_nest),
    TEST(sections_of_a_handler_hold_off_what_is_more_urgent),
    TEST(sections_hold_off_what_they_mask),
    TEST(what_masks_more_is_left_and_restored),
    TEST(the_least_urgent_priority_is_the_last),
    TEST(what_the_core_lacks_panics), TEST(an_executor_above_the_mask_panics),
    TEST(waiting_with_interrupts_off_panics), TEST(an_interrupt_ends_the_wait))
