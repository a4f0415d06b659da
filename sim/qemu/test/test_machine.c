/* SPDX-License-Identifier: MIT */

/*
 * test_machine -- tests, and their end, on a Cortex-M4
 *
 * A test is left by longjmp. Out of an interrupt there is no such way: the core
 * would not know that it has ended. So each level of interrupts has a place to
 * go to at its own end, from where it returns as it should, but into the step
 * that leaves the level below.
 */

#include "sim/test.h"

#include "sim/qemu/board.h"

/* (Armv7-M Architecture Reference Manual, B3.2 and B3.4.) */
#define SET_ENABLE ((volatile uint32_t *)UINT32_C(0xE000E100))
#define CLEAR_ENABLE ((volatile uint32_t *)UINT32_C(0xE000E180))
#define SET_PENDING ((volatile uint32_t *)UINT32_C(0xE000E200))
#define CLEAR_PENDING ((volatile uint32_t *)UINT32_C(0xE000E280))
#define PRIORITIES ((volatile uint32_t *)UINT32_C(0xE000E400))
#define ICSR ((volatile uint32_t *)UINT32_C(0xE000ED04))
#define VTOR ((volatile uint32_t *)UINT32_C(0xE000ED08))
#define SHCSR ((volatile uint32_t *)UINT32_C(0xE000ED24))
#define CFSR ((volatile uint32_t *)UINT32_C(0xE000ED28))

/* (B3.5.) */
#define MPU_CONTROL ((volatile uint32_t *)UINT32_C(0xE000ED94))
#define MPU_REGION ((volatile uint32_t *)UINT32_C(0xE000ED98))
#define MPU_BASE ((volatile uint32_t *)UINT32_C(0xE000ED9C))
#define MPU_ATTRIBUTES ((volatile uint32_t *)UINT32_C(0xE000EDA0))

#define PENDSV_CLEAR (UINT32_C(1) << 27)
#define SYSTICK_CLEAR (UINT32_C(1) << 25)
#define XPSR_EXCEPTION UINT32_C(0x1FF)
#define XPSR_ALIGNED (UINT32_C(1) << 9)
#define XPSR_THUMB (UINT32_C(1) << 24)

enum {
    EXCEPTIONS = 16,
    VECTORS = 48,
    FAULTS_ENABLE = 7 << 16,
    MPU_ENABLE = 1 | 4, /* elsewhere as without it */
    MPU_128_BYTES = 1 | 6 << 1,
};

/* ---- What happens where. */

struct test_port test_port;

static struct test_clock clock_in_use;

struct handler {
    void (*function)(void *argument);
    void *argument;
};

static struct handler handlers[VECTORS];

/* What the core has stored of what it interrupted (B1.5.6). */
struct frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

/* Where to go to leave a test_run, or an interrupt. */
struct level {
    jmp_buf end;
    struct level *outer;
};

static struct level *innermost;

/* What outlives the world in which it was written. */
struct ending {
    int code;
    char text[1024];
    char memory[]; /* .data and .bss, as they were */
};

static struct ending *ending;

static size_t memory_size(void)
{
    return (size_t)((char *)board_bss_end - (char *)board_data_start);
}

static void prepare_ending(void)
{
    if (ending == NULL)
        ending = malloc(sizeof(*ending) + memory_size());
    ending->text[0] = '\0';
}

const char *test_left_with(void)
{
    return ending->text;
}

/* ---- The interrupt controller. */

struct controller {
    uint32_t enabled;
    uint32_t pending;
    uint32_t priorities[8];
};

static struct controller read_controller(void)
{
    struct controller controller = {*SET_ENABLE, *SET_PENDING, {0}};

    for (int i = 0; i < 8; i++)
        controller.priorities[i] = PRIORITIES[i];
    return controller;
}

static void write_controller(const struct controller *controller)
{
    *CLEAR_ENABLE = UINT32_MAX;
    *CLEAR_PENDING = UINT32_MAX;
    *ICSR = PENDSV_CLEAR | SYSTICK_CLEAR;
    for (int i = 0; i < 8; i++)
        PRIORITIES[i] = controller->priorities[i];
    *SET_ENABLE = controller->enabled;
    *SET_PENDING = controller->pending;
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}

static void reset_controller(void)
{
    write_controller(&(struct controller){0});
}

/* ---- Leaving. */

static _Noreturn void leave_level(void)
{
    longjmp(innermost->end, 1);
}

void test_leave(int code)
{
    __asm__ volatile("cpsid i" : : : "memory");
    ending->code = code;
    leave_level();
}

/* When the interrupt returns, the level below is left. */
static void leave_below(struct frame *frame)
{
    frame->pc = (uint32_t)(uintptr_t)leave_level & ~UINT32_C(1);
    frame->xpsr = (frame->xpsr & (XPSR_EXCEPTION | XPSR_ALIGNED)) | XPSR_THUMB;
}

int test_run(void (*function)(void *argument), void *argument)
{
    struct level here = {.outer = innermost};

    prepare_ending();
    innermost = &here;
    if (setjmp(here.end) == 0) {
        function(argument);
        ending->code = TEST_RETURNED;
    } else {
        reset_controller();
        __asm__ volatile("cpsie i" : : : "memory");
    }
    innermost = here.outer;
    return ending->code;
}

void dz_port_panic(const struct dz_panic *panic)
{
    struct dz_panic_text text;

    dz_panic_describe(&text, panic);
    memcpy(ending->text, text.bytes, sizeof(text.bytes));
    test_leave(dz_panic_exit_code(panic));
}

/* ---- Interrupts. */

static const char *const exception_names[EXCEPTIONS] = {
    [2] = "NMI",
    [3] = "HardFault",
    [4] = "MemManage",
    [5] = "BusFault",
    [6] = "UsageFault",
    [11] = "SVC",
    [12] = "DebugMon",
    [14] = "PendSV",
    [15] = "SysTick",
};

static _Noreturn void refuse(unsigned exception, const struct frame *frame)
{
    char name[48];

    if (exception < EXCEPTIONS)
        snprintf(name, sizeof(name), "%s", exception_names[exception]);
    else
        snprintf(name, sizeof(name), "interrupt %u, which nobody has bound",
            exception - EXCEPTIONS);
    snprintf(ending->text, sizeof(ending->text),
        "%s: at 0x%08lx, called from 0x%08lx, with "
        "CFSR 0x%08lx",
        name, (unsigned long)frame->pc, (unsigned long)frame->lr,
        (unsigned long)*CFSR);
    *CFSR = UINT32_MAX;
    test_leave(TEST_FAULT);
}

static void pend_deferred(void)
{
    dz_port_exit(dz_port_enter());
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}

static void serve(const struct frame *frame)
{
    unsigned exception = dz_port_context();

    if (handlers[exception].function == NULL)
        refuse(exception, frame);
    handlers[exception].function(handlers[exception].argument);
}

void test_dispatch(struct frame *frame);

__attribute__((used)) void test_dispatch(struct frame *frame)
{
    struct level here = {.outer = innermost};

    innermost = &here;
    if (setjmp(here.end) == 0)
        serve(frame);
    else
        leave_below(frame);
    innermost = here.outer;
    if (DZ_PORT_RETURN_SETS_EVENT)
        test_port.event = true;
    pend_deferred();
}

/* In every vector. The link register stays what it is, so that test_dispatch
 * returns from the interrupt. */
__attribute__((naked)) static void enter(void)
{
    __asm__("mov r0, sp\n\tb test_dispatch");
}

void bind_interrupt(int irq, void (*handler)(void *argument), void *argument)
{
    handlers[irq + EXCEPTIONS] = (struct handler){handler, argument};
    *SET_ENABLE = UINT32_C(1) << irq;
}

void pend_interrupt(int irq)
{
    test_port.deferred |= UINT32_C(1) << irq;
    pend_deferred();
}

void pend_at_next_unmask(int irq)
{
    test_port.deferred |= UINT32_C(1) << irq;
}

bool take_pending(int irq)
{
    uint32_t bit = UINT32_C(1) << irq;
    bool was = (*SET_PENDING & bit) != 0;

    *CLEAR_PENDING = bit;
    return was;
}

bool is_masked(void)
{
    uint32_t primask;

    __asm__ volatile("mrs %0, primask" : "=r"(primask));
    return primask != 0;
}

bool was_pended(void)
{
    bool was = test_port.event;

    test_port.event = false;
    return was;
}

/* ---- The port. */

void use_clock(const struct test_clock *clock)
{
    clock_in_use = *clock;
}

uint64_t dz_port_now(void)
{
    return clock_in_use.now();
}

void dz_port_set_alarm(uint64_t at)
{
    clock_in_use.set_alarm(at);
}

/* The linker calls these instead of the port's (--wrap), which stay as they
 * are. */
void __real_dz_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority);
void __wrap_dz_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority);
void __real_dz_port_wait(void);
void __wrap_dz_port_wait(void);

static void poll(void *executor)
{
    dz_executor_poll(executor);
}

void __wrap_dz_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority)
{
    handlers[interrupt + EXCEPTIONS] = (struct handler){poll, executor};
    __real_dz_port_start(executor, interrupt, priority);
}

void __wrap_dz_port_wait(void)
{
    if (is_masked())
        __real_dz_port_wait(); /* panics */
    pend_deferred();
    if (test_port.event)
        __real_dz_port_wait();
    else if (clock_in_use.wait != NULL)
        clock_in_use.wait();
    else
        fail_msg("asleep, and no interrupt can come that would end it");
    test_port.event = false;
}

/* ---- Tests. */

/* Address 0 is where the board's vectors are, so that it may be read, and, in
 * QEMU, written. */
static void forbid_null(void)
{
    *MPU_REGION = 0;
    *MPU_BASE = 0;
    *MPU_ATTRIBUTES = MPU_128_BYTES;
    *MPU_CONTROL = MPU_ENABLE;
    *SHCSR |= FAULTS_ENABLE;
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}

int test_become_core(void **state)
{
    static void (*vectors[VECTORS])(void) __attribute__((aligned(256)));

    (void)state;
    for (int i = 0; i < VECTORS; i++)
        vectors[i] = enter;
    *VTOR = (uint32_t)(uintptr_t)vectors;
    forbid_null();
    reset_controller();
    memset(handlers, 0, sizeof(handlers));
    memset(&clock_in_use, 0, sizeof(clock_in_use));
    memset(&test_port, 0, sizeof(test_port));
    return 0;
}

int test_become_thread(void **state)
{
    (void)state;
    return 0;
}

void needs_host(const char *reason)
{
    print_message("left out: %s\n", reason);
    skip();
}

struct misuse {
    void (*commit)(void);
};

static void commit(void *misuse)
{
    ((const struct misuse *)misuse)->commit();
}

/* Nothing that the compiler holds in a register is from before the memory was
 * given back: this file is not compiled together with any other. */
struct last_words last_words_at(int code, void (*misuse)(void))
{
    struct controller controller = read_controller();
    struct last_words words;
    int left;

    memcpy(ending->memory, board_data_start, memory_size());
    left = test_run(commit, &(struct misuse){misuse});
    memcpy(board_data_start, ending->memory, memory_size());
    write_controller(&controller);
    strcpy(words.text, ending->text);
    ending->text[0] = '\0';
    if (left != code)
        fail_msg("left with %d and not %d: %s", left, code, words.text);
    return words;
}
