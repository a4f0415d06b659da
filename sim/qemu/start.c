/* SPDX-License-Identifier: MIT */

/*
 * start -- the vector table, and what runs before main
 *
 * Handlers are weak: who defines one has it in the table. The others end the
 * program with exit code 1.
 */

#include "sim/qemu/board.h"

int main(void);
void Reset_Handler(void);
void Default_Handler(void);

/* (Arm IHI 0105, Semihosting for AArch32 and AArch64: SYS_EXIT_EXTENDED.) */
void board_exit(int code)
{
    enum { EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026 };
    const uint32_t block[] = {APPLICATION_EXIT, (uint32_t)code};
    register uint32_t r0 __asm__("r0") = EXIT_EXTENDED;
    register const uint32_t *r1 __asm__("r1") = block;

    for (;;)
        __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

/* (The same: SYS_EXIT with ADP_Stopped_RunTimeErrorUnknown. QEMU ends with 1.)
 * In as few bytes as it takes, for it is in every program. */
__attribute__((naked)) void Default_Handler(void)
{
    __asm__ volatile("movs r0, #0x18\n\t"
                     "ldr r1, =0x20023\n\t"
                     "bkpt 0xab");
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
    uint32_t *to = board_data_start;

    while (to != board_bss_start)
        *to++ = *from++;
    while (to != board_bss_end)
        *to++ = 0;
    board_begin();
    board_exit(main());
}
