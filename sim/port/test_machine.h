/* SPDX-License-Identifier: MIT */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

/*
 * test_machine -- what tests ask of the machine: a simulated core
 *
 * sim/test.h says what each of these does. The thread is a core without
 * signals (sim/core.h). With DOZE_TIME=virtual in the environment, it is one in
 * virtual time, else in real time. Misuse is committed in a process of its own.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/executor.h"
#include "sim/core.h"
#include "sim/machine.h"

static struct dz_core test_core;

static inline bool test_is_virtual(void)
{
    const char *time = getenv("DOZE_TIME");

    return time != NULL && strcmp(time, "virtual") == 0;
}

static inline void test_start_machine(void)
{
    dz_machine_start(&(struct dz_machine){
        .time = test_is_virtual() ? DZ_TIME_VIRTUAL : DZ_TIME_REAL,
        .costs = DZ_COSTS_DEFAULT,
    });
}

/* What follows has cmocka's prototype of a fixture. */

static inline int test_begin_machine(void **state)
{
    (void)state;
    test_start_machine();
    return 0;
}

static inline int test_end_machine(void **state)
{
    (void)state;
    dz_machine_stop();
    return 0;
}

/* In real time no machine: these tests need no clock, and no second thread
 * where they fork. */
static inline int test_become_core(void **state)
{
    (void)state;
    if (test_is_virtual())
        test_start_machine();
    dz_core_enter(&test_core);
    return 0;
}

static inline int test_become_thread(void **state)
{
    (void)state;
    dz_core_leave(&test_core);
    if (test_is_virtual())
        dz_machine_stop();
    return 0;
}

/* ---- Interrupts. */

static inline void bind_interrupt(
    int irq, void (*handler)(void *argument), void *argument)
{
    dz_core_bind(&test_core, irq, handler, argument);
}

static inline void pend_interrupt(int irq)
{
    dz_core_pend(&test_core, irq);
}

static inline void pend_at_next_unmask(int irq)
{
    dz_nvic_pend(&test_core.nvic, irq);
    dz_port_core.deferred = 1;
}

static inline bool take_pending(int irq)
{
    bool was = dz_nvic_is_pending(&test_core.nvic, irq);

    dz_nvic_clear_pending(&test_core.nvic, irq);
    return was;
}

static inline bool is_masked(void)
{
    return dz_port_core.masked != 0;
}

static inline bool was_pended(void)
{
    bool was = dz_port_core.event != 0;

    dz_port_core.event = 0;
    return was;
}

/* In virtual time, a machine that is always in interrupts is stuck. */
static inline void show_thread_mode(void)
{
    if (test_is_virtual())
        dz_machine_compute(1);
}

/* ---- The clock, and sleep. */

struct test_clock {
    uint64_t (*now)(void);
    void (*set_alarm)(uint64_t at);
    void (*wait)(void); /* NULL: the machine's */
};

static inline void use_clock(const struct test_clock *clock)
{
    static struct dz_port_machine machine;

    machine = *dz_port_core.machine;
    machine.now = clock->now;
    machine.set_alarm = clock->set_alarm;
    if (clock->wait != NULL)
        machine.wait = clock->wait;
    dz_port_core.machine = &machine;
}

/* ---- What only a host has. */

static inline void needs_host(const char *reason)
{
    (void)reason;
}

static inline void run_on_two_cores(
    void (*first)(void *argument), void (*second)(void *argument))
{
    static struct dz_core cores[2];

    for (unsigned i = 0; i < 2; i++) {
        cores[i] = (struct dz_core){.home = {.index = i}};
        dz_core_start(&cores[i], i == 0 ? first : second, (void *)(uintptr_t)i);
    }
    for (unsigned i = 0; i < 2; i++)
        dz_core_join(&cores[i]);
}

static inline void move_to_another_core(void)
{
    static struct dz_core other;

    dz_core_leave(&test_core);
    dz_core_enter(&other);
}

static inline void become_plain_thread(void)
{
    dz_core_leave(&test_core);
}

static inline void run_on_plain_thread(
    void *(*function)(void *argument), void *argument)
{
    pthread_t thread;

    pthread_create(&thread, NULL, function, argument);
    pthread_join(thread, NULL);
}

/* ---- Misuse. */

static inline void leave_program(int code)
{
    _exit(code);
}

static inline void read_all(int from, struct last_words *words)
{
    size_t len = 0;
    ssize_t got;

    while ((got = read(
                from, words->text + len, sizeof(words->text) - 1 - len)) > 0)
        len += (size_t)got;
    words->text[len] = '\0';
}

/* The leak sanitizer asks at exit. What exits on a core's stack, in virtual
 * time, leaves another one behind, which it does not search. */
static bool test_leaks;
__attribute__((weak)) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return test_leaks;
}

static inline struct last_words last_words_at(int code, void (*misuse)(void))
{
    struct last_words words;
    int ends[2];
    int status;
    pid_t child;

    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        test_leaks = true;
        misuse();
        _exit(0);
    }
    close(ends[1]);
    read_all(ends[0], &words);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        fail_msg(
            "status %d and not exit code %d: %s", status, code, words.text);
    return words;
}

#endif
