/* SPDX-License-Identifier: MIT */

/*
 * start -- the vector table, and what runs before main
 *
 * Handlers are weak: who defines one has it in the table. The others end the
 * program with an exit code that says so.
 */

#include "sim/qemu/board.h"

enum { UNEXPECTED = 70 }; /* EX_SOFTWARE of sysexits.h */

int main(void);
void Reset_Handler(void);
void Default_Handler(void);

void Default_Handler(void)
{
    board_exit(UNEXPECTED);
}

#define HANDLER(name) \
    void name(void) __attribute__((weak, alias("Default_Handler")));

HANDLER(NMI_Handler)
HANDLER(HardFault_Handler)
HANDLER(MemManage_Handler)
HANDLER(BusFault_Handler)
HANDLER(UsageFault_Handler)
HANDLER(SVC_Handler)
HANDLER(DebugMon_Handler)
HANDLER(PendSV_Handler)
HANDLER(SysTick_Handler)
HANDLER(TIMER0_Handler)
HANDLER(TIMER1_Handler)
HANDLER(SOFTWARE0_Handler)
HANDLER(SOFTWARE1_Handler)
HANDLER(SOFTWARE2_Handler)

/* Where the core looks: the stack, then the handlers of Armv7-M's exceptions
 * and of the 32 interrupts that the image has. */
union vector {
    void (*handler)(void);
    uint32_t *stack;
};

extern const union vector board_vectors[48];

__attribute__((section(".vectors"), used))
const union vector board_vectors[48] = {
    {.stack = board_stack_end},
    {Reset_Handler},
    {NMI_Handler},
    {HardFault_Handler},
    {MemManage_Handler},
    {BusFault_Handler},
    {UsageFault_Handler},
    [11] = {SVC_Handler},
    [12] = {DebugMon_Handler},
    [14] = {PendSV_Handler},
    [15] = {SysTick_Handler},
    [16 + BOARD_TIMER0_IRQ] = {TIMER0_Handler},
    [16 + BOARD_TIMER1_IRQ] = {TIMER1_Handler},
    [16 + BOARD_SOFTWARE0_IRQ] = {SOFTWARE0_Handler},
    [16 + BOARD_SOFTWARE1_IRQ] = {SOFTWARE1_Handler},
    [16 + BOARD_SOFTWARE2_IRQ] = {SOFTWARE2_Handler},
};

void Reset_Handler(void)
{
    const uint32_t *from = board_data_image;

    for (uint32_t *to = board_data_start; to < board_data_end; to++)
        *to = *from++;
    for (uint32_t *to = board_bss_start; to < board_bss_end; to++)
        *to = 0;
    board_begin();
    board_exit(main());
}
