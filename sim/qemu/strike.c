/* SPDX-License-Identifier: MIT */

/*
 * strike -- an interrupt after every instruction (sim/strike.h)
 *
 * With -icount an instruction takes 256 ns, 6.4 counts of a timer, and an
 * interrupt comes at the very boundary at which its time is reached. So timer 0
 * is set to what n instructions take, rounded down, one instruction before the
 * scenario begins, and n grows. How late the interrupt came, because it had to
 * wait for the end of a critical section, is what the timer has counted since:
 * all positions in between are the one at the end, which is tried once.
 *
 * Whether a position was passed over is looked at each time: the instruction at
 * which an interrupt comes is the one behind that of the interrupt before, or
 * that was a branch.
 *
 * Whoever hangs is found by the watchdog, whose interrupt is the NMI: it comes
 * also while interrupts are off.
 */

#include "sim/strike.h"

#include <stdio.h>
#include <string.h>

#include "executor/executor.h"
#include "executor/panic.h"
#include "sim/qemu/board.h"

enum {
    PRIORITY = 1, /* the more urgent one */
    EXECUTOR_PRIORITY = 2,
    FIRST = 1,             /* behind the branch that leads to the scenario */
    LONGEST = BOARD_HZ,    /* a second, for one run */
    POSITIONS_MAX = 20000, /* of a scenario */
    CODE_MAX = 256 * 1024, /* bytes */
    FAILED = 1,
    CONTEXT = 0x1FF, /* of the program status: the exception number */
};

/* Where the interrupt came: what it has found on the stack. */
struct position {
    uint32_t pc;
    uint32_t context;
};

/* What the core pushes. */
struct stacked {
    uint32_t registers[6];
    uint32_t pc;
    uint32_t status;
};

static const struct strike *current;
static uint32_t target; /* instructions behind the start of the timer */
static uint32_t late;   /* counts by which the interrupt came later */
static uint32_t entry;  /* of these, those that it always takes */
static struct position struck, before;
static volatile bool has_struck;
static volatile bool is_last; /* the scenario has ended, or slept, before it */

volatile bool strike_event;
static volatile bool has_returned; /* an interrupt: an event, too */

/* What is in the vector table. */
void NMI_Handler(void);
void HardFault_Handler(void);
void TIMER0_Handler(void);
void SOFTWARE0_Handler(void);

/* Ends the program from any context. */
void strike_fail(const char *what)
{
    (void)dz_port_enter();
    if (current != NULL)
        printf("%s, interrupt after %lu instructions, ", current->name,
            (unsigned long)(target - FIRST));
    if (has_struck)
        printf("at %08lx: ", (unsigned long)struck.pc);
    printf("%s\n", what);
    board_exit(FAILED);
}

void dz_port_panic(const struct dz_panic *panic)
{
    (void)dz_port_enter();
    printf("%s:%d: panic: %s, %s\n", panic->file, panic->line, panic->reason,
        panic->object != NULL ? panic->object : "no object");
    strike_fail("a panic");
}

void NMI_Handler(void)
{
    strike_fail("it does not end");
}

void HardFault_Handler(void)
{
    strike_fail("a fault");
}

/* A halfword of code has a bit for each scenario, and one for all. */
struct halfwords {
    uint32_t words[CODE_MAX / 2 / 32];
    unsigned long count;
};

static struct halfwords here, everywhere;

static void note(struct halfwords *halfwords, uint32_t pc)
{
    uint32_t *word = &halfwords->words[pc / 2 / 32];
    uint32_t bit = UINT32_C(1) << pc / 2 % 32;

    halfwords->count += (*word & bit) == 0;
    *word |= bit;
}

/* The interrupt. The first thing is to see how late it is. */
void strike_interrupt(const struct stacked *stacked);
__attribute__((used)) void strike_interrupt(const struct stacked *stacked)
{
    late = UINT32_MAX - BOARD_TIMER0->value;
    BOARD_TIMER0->interrupt = 1;
    if (has_struck)
        return;
    has_struck = true;
    struck.pc = stacked->pc;
    struck.context = stacked->status & CONTEXT;
    current->handler();
    has_returned = DZ_PORT_RETURN_SETS_EVENT;
}

__attribute__((naked)) void TIMER0_Handler(void)
{
    __asm__ volatile("mov r0, sp\n\tldr r1, =strike_interrupt\n\tbx r1");
}

static struct dz_executor *started;

void SOFTWARE0_Handler(void)
{
    dz_executor_poll(started);
    has_returned = DZ_PORT_RETURN_SETS_EVENT;
}

void strike_start(struct dz_executor *executor)
{
    started = executor;
    dz_executor_start(executor, BOARD_SOFTWARE0_IRQ, EXECUTOR_PRIORITY);
}

/* Whether the timer is faster does not matter: the interrupt comes once. */
void strike_at_last(void)
{
    dz_key key = dz_port_enter();

    if (!has_struck) {
        is_last = true;
        board_pend(BOARD_TIMER0_IRQ);
    }
    dz_port_exit(key);
}

/* What WFE would do: take the event, or sleep until there is one. */
void strike_wait(void)
{
    dz_key key = dz_port_enter();
    bool is_event = strike_event || has_returned;

    if (dz_current != &dz_outside)
        strike_fail("asleep in the name of a task");
    if (!is_event && has_struck)
        strike_fail("a wake-up was lost");
    strike_event = false;
    has_returned = false;
    if (!is_event)
        strike_at_last();
    dz_port_exit(key);
}

bool strike_is_pended(void)
{
    return strike_event;
}

uint64_t strike_time;
uint64_t strike_alarm;

uint64_t dz_port_now(void)
{
    return strike_time;
}

void dz_port_set_alarm(uint64_t at)
{
    if (at <= strike_time)
        strike_fail("the alarm is late");
    strike_alarm = at;
}

/* Instructions that do not lead to the one behind them, with the second
 * halfword of long ones below the first. (Armv7-M Architecture Reference
 * Manual, A5.2 and A5.3.) */
static const struct {
    uint32_t mask;
    uint32_t value;
} branches[] = {
    {0xF0000000, 0xD0000000}, /* B with a condition */
    {0xF8000000, 0xE0000000}, /* B */
    {0xFF000000, 0x47000000}, /* BX, BLX */
    {0xFF000000, 0xBD000000}, /* POP of the program counter */
    {0xF5000000, 0xB1000000}, /* CBZ, CBNZ */
    {0xFF870000, 0x46870000}, /* MOV to the program counter */
    {0xF800D000, 0xF0009000}, /* B, long */
    {0xF800D000, 0xF000D000}, /* BL */
    {0xFA00D000, 0xF0008000}, /* B with a condition, long: in one of three */
    {0xF900D000, 0xF0008000}, /* bits it is told from MSR and its like */
    {0xF880D000, 0xF0008000},
    {0xFE508000, 0xE8108000}, /* LDM of the program counter */
    {0xFF70F000, 0xF850F000}, /* LDR of the program counter */
    {0xFFF0FFE0, 0xE8D0F000}, /* TBB, TBH */
};

static bool is_long(const uint16_t *code)
{
    return code[0] >> 11 >= 0x1D;
}

static bool is_branch(const uint16_t *code)
{
    uint32_t instruction = (uint32_t)code[0] << 16 | code[1];

    for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
        if ((instruction & branches[i].mask) == branches[i].value)
            return true;
    return false;
}

/* True: this is where the instruction of the position before leads. */
static bool is_behind(void)
{
    const uint16_t *code = (const uint16_t *)(uintptr_t)before.pc;

    if (struck.context != before.context || is_branch(code))
        return true;
    return struck.pc == before.pc + (is_long(code) ? 4 : 2);
}

/* How many positions were passed over for a critical section. */
static uint32_t look_at_position(void)
{
    uint32_t waited;

    if (struck.pc >= CODE_MAX)
        strike_fail("there is no code");
    note(&here, struck.pc);
    note(&everywhere, struck.pc);
    if (target == FIRST)
        entry = late;
    waited = ((late - entry) * 5 + 16) / 32;
    if (target == FIRST && struck.pc != ((uintptr_t)current->run & ~1U))
        strike_fail("the first position is not the first");
    if (target != FIRST && waited == 0 && !is_behind())
        strike_fail("a position was passed over");
    before = struck;
    return waited;
}

/* The timer goes on from the store. */
static void run_from(uint32_t counts)
{
    register void (*run)(void) __asm__("r4") = current->run;

    __asm__ volatile("str %1, %0\n\tblx %2"
                     : "=m"(BOARD_TIMER0->value)
                     : "r"(counts), "r"(run)
                     : "r0", "r1", "r2", "r3", "r12", "lr", "cc", "memory");
}

/* Until the scenario begins, an interrupt is one that comes too late. */
static void run_once(void)
{
    is_last = false;
    strike_event = false;
    has_returned = false;
    strike_time = 0;
    strike_alarm = UINT64_MAX;
    current->prepare();
    board_watch(LONGEST);
    has_struck = false;
    run_from(target * 32 / 5);
    if (!has_struck)
        strike_fail("strike_at_last is not called");
    current->check();
}

static void begin(const struct strike *scenario)
{
    current = scenario;
    here = (struct halfwords){.count = 0};
    has_struck = true;
    BOARD_TIMER0->reload = UINT32_MAX;
    BOARD_TIMER0->control = BOARD_TIMER_ENABLE | BOARD_TIMER_INTERRUPT;
    board_enable(BOARD_TIMER0_IRQ, PRIORITY);
}

static unsigned long total;

void strike_everywhere(const struct strike *scenario)
{
    unsigned long positions = 0;

    begin(scenario);
    for (target = FIRST;; target++) {
        run_once();
        if (is_last)
            break;
        if (++positions > POSITIONS_MAX)
            strike_fail("it neither ends nor sleeps without the interrupt");
        target += look_at_position();
    }
    board_watch(0);
    current = NULL;
    total += positions;
    printf("%s: %lu positions, %lu instructions\n", scenario->name, positions,
        here.count);
}

unsigned long strike_total(void)
{
    printf("%lu positions, %lu instructions\n", total, everywhere.count);
    return total;
}
