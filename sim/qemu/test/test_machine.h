/* SPDX-License-Identifier: MIT */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

/*
 * test_machine -- what tests ask of the machine: a Cortex-M4
 *
 * sim/test.h says what each of these does. Interrupts are the core's own: they
 * are made pending in the NVIC, and come when the hardware lets them.
 *
 * Misuse is committed in this very program. What it does to .data and .bss is
 * undone; the way back from the panic is longjmp, out of any number of
 * interrupts. A fault, and an interrupt that nobody has bound, end a test, too,
 * and say where. The first 128 bytes are no memory, so that a null pointer is a
 * fault.
 */

#include "executor/executor.h"
#include "port.h"

/* How a world of its own was left. */
enum {
    TEST_RETURNED = 0,
    TEST_FAULT = 70,
    TEST_FAILED = 71,
    TEST_SKIPPED = 72,
};

/* Calls a function; returns the code with which it was left, or
 * TEST_RETURNED. In thread mode. May be nested. */
int test_run(void (*function)(void *argument), void *argument);

/* Leaves the innermost test_run, from any context, also with interrupts off.
 * Behind that, they are on, and none is enabled. */
_Noreturn void test_leave(int code);

/* What was said about it: of a panic or a fault. Until the next test_run. */
const char *test_left_with(void);

/* An interrupt controller as it is after reset, and no clock. */
int test_become_core(void **state);
int test_become_thread(void **state);

#define test_begin_machine test_become_core
#define test_end_machine test_become_thread

void bind_interrupt(int irq, void (*handler)(void *argument), void *argument);
void pend_interrupt(int irq);
void pend_at_next_unmask(int irq);
bool take_pending(int irq);
bool is_masked(void);
bool was_pended(void);

static inline void show_thread_mode(void)
{
}

struct test_clock {
    uint64_t (*now)(void);
    void (*set_alarm)(uint64_t at);
    void (*wait)(void); /* NULL: there is nothing to wait for */
};

void use_clock(const struct test_clock *clock);

void needs_host(const char *reason);

/* Never called, behind needs_host. */

static inline void run_on_two_cores(
    void (*first)(void *argument), void (*second)(void *argument))
{
    first(NULL);
    second(NULL);
}

static inline void move_to_another_core(void)
{
}

static inline void become_plain_thread(void)
{
}

static inline void run_on_plain_thread(
    void *(*function)(void *argument), void *argument)
{
    (void)function(argument);
}

static inline void leave_program(int code)
{
    test_leave(code);
}

struct last_words last_words_at(int code, void (*misuse)(void));

#endif
