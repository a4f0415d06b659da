/* SPDX-License-Identifier: MIT */
#include "bench/qemu/clock.h"

#include "bench/qemu/measure.h"

/* Not static: the assembler knows them by name. */
extern volatile uint32_t clock_entered_at; /* a stamp */
extern volatile uint32_t clock_struck_at;  /* the interrupted program counter */
volatile uint32_t clock_entered_at;
volatile uint32_t clock_struck_at;
volatile uint32_t clock_interrupts;

/* Instructions of the entry from its look at the counter on. */
enum { ENTRY = 13 };

void CLOCK_VECTOR(void);

/* In assembler, so that nothing changes what it takes. The address is
 * BOARD_COUNTER; the seventh word of an exception's frame is the program
 * counter. */
__attribute__((naked)) void CLOCK_VECTOR(void)
{
    __asm__(".syntax unified\n\t"
            "ldr r0, =0x40002004\n\t"
            "ldr r0, [r0]\n\t"
            "mvns r0, r0\n\t"
            "ldr r1, =clock_entered_at\n\t"
            "str r0, [r1]\n\t"
            "ldr r0, [sp, #24]\n\t"
            "ldr r1, =clock_struck_at\n\t"
            "str r0, [r1]\n\t"
            "ldr r1, =clock_interrupts\n\t"
            "ldr r0, [r1]\n\t"
            "adds r0, #1\n\t"
            "str r0, [r1]\n\t"
            "ldr r0, =clock_handler\n\t"
            "bx r0\n\t"
            ".ltorg");
}

uint32_t clock_age(uint32_t stamp)
{
    return measure_instructions(clock_entered_at, stamp) - ENTRY -
        MEASURE_STAMP;
}

bool clock_woke_the_core(void)
{
    return measure_is_behind_wfe(clock_struck_at);
}
