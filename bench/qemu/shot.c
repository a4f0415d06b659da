/* SPDX-License-Identifier: MIT */
#include "bench/qemu/shot.h"

#include <stdlib.h>

#include "bench/qemu/measure.h"

/* A timer counts 32 times in 5 instructions. Rounded down, it is due within the
 * last of the instructions asked for, and strikes at the boundary behind it. */
enum { COUNTS = 32, INSTRUCTIONS = 5 };

/* The probe is due while the shot is being entered. */
enum { PROBE_LAG = 4 };

#define NEVER UINT32_MAX

/* Tried in the calibration: each fraction of a count, several times. */
enum { NEAREST = 100, TRIES = 50 };

/* Not static: the assembler knows them by name. */
void (*shot_handler)(void);
extern volatile uint32_t shot_struck_at; /* the interrupted program counter */
extern volatile uint32_t shot_probed_at; /* a stamp */
volatile uint32_t shot_struck_at;
volatile uint32_t shot_probed_at;

static uint32_t armed_at; /* a stamp */
static uint32_t armed_for;
static uint32_t entry; /* from the stamp to the handler, armed for 0 */

void TIMER0_Handler(void);
void TIMER1_Handler(void);

/* In assembler, so that nothing changes what it takes. The seventh word of an
 * exception's frame is the program counter; the address is that of
 * BOARD_TIMER0->interrupt. */
__attribute__((naked)) void TIMER0_Handler(void)
{
    __asm__(".syntax unified\n\t"
            "ldr r0, [sp, #24]\n\t"
            "ldr r1, =shot_struck_at\n\t"
            "str r0, [r1]\n\t"
            "ldr r0, =0x4000000c\n\t"
            "movs r1, #1\n\t"
            "str r1, [r0]\n\t"
            "ldr r0, =shot_handler\n\t"
            "ldr r0, [r0]\n\t"
            "bx r0\n\t"
            ".ltorg");
}

/* Looks at the counter with the third instruction, as measure_stamp() does. The
 * addresses are BOARD_COUNTER and that of BOARD_TIMER1->interrupt. */
__attribute__((naked)) void TIMER1_Handler(void)
{
    __asm__(".syntax unified\n\t"
            "ldr r0, =0x40002004\n\t"
            "nop\n\t"
            "ldr r0, [r0]\n\t"
            "mvns r0, r0\n\t"
            "ldr r1, =shot_probed_at\n\t"
            "str r0, [r1]\n\t"
            "ldr r0, =0x4000100c\n\t"
            "movs r1, #1\n\t"
            "str r1, [r0]\n\t"
            "bx lr\n\t"
            ".ltorg");
}

static uint32_t counts_of(uint32_t instructions)
{
    return instructions * COUNTS / INSTRUCTIONS;
}

static __attribute__((noinline)) void arm(
    uint32_t instructions, uint32_t probe_counts)
{
    uint32_t counts = counts_of(instructions);

    armed_for = instructions;
    armed_at = measure_stamp();
    BOARD_TIMER0->value = counts;
    BOARD_TIMER1->value = probe_counts;
}

void shot_arm(uint32_t instructions)
{
    arm(instructions, NEVER);
}

void shot_arm_probe(uint32_t instructions)
{
    arm(instructions, counts_of(instructions + PROBE_LAG));
}

static uint32_t since_arming(uint32_t stamp)
{
    return measure_instructions(armed_at, stamp) - MEASURE_STAMP - armed_for;
}

uint32_t shot_age(uint32_t stamp)
{
    return since_arming(stamp) - entry;
}

uint32_t shot_handler_length(void)
{
    return shot_age(shot_probed_at);
}

bool shot_woke_the_core(void)
{
    return measure_is_behind_wfe(shot_struck_at);
}

/* The probe's handler is one that looks at the counter at once. */
static uint32_t measure_entry(uint32_t instructions)
{
    uint32_t before = shot_probed_at;

    shot_arm(instructions);
    while (shot_probed_at == before)
        continue;
    return since_arming(shot_probed_at);
}

static void enable(struct board_timer *timer, int interrupt, uint8_t priority)
{
    timer->value = NEVER;
    timer->control = BOARD_TIMER_ENABLE | BOARD_TIMER_INTERRUPT;
    board_enable(interrupt, priority);
}

void shot_begin(void)
{
    enable(BOARD_TIMER0, BOARD_TIMER0_IRQ, SHOT_PRIORITY);
    enable(BOARD_TIMER1, BOARD_TIMER1_IRQ, SHOT_PROBE_PRIORITY);
    shot_handler = TIMER1_Handler;
    entry = measure_entry(NEAREST);
    for (uint32_t i = 1; i < TRIES; i++)
        if (measure_entry(NEAREST + i) != entry)
            abort();
}
