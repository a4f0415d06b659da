/* SPDX-License-Identifier: MIT */
#ifndef SIM_QEMU_BOARD_H
#define SIM_QEMU_BOARD_H

/*
 * board -- an Arm MPS2 with the AN386 image, a Cortex-M4, as QEMU emulates it
 *
 *     qemu-system-arm -M mps2-an386 -icount shift=8,sleep=off -display none \
 *         -monitor none -serial stdio \
 *         -semihosting-config enable=on,target=native -kernel PROGRAM
 *
 * With -icount an instruction takes 2^8 ns, whatever it is, and all that the
 * program sees of time follows from that: a run is the same each time, and the
 * difference of two looks at the counter is a number of instructions.
 *
 * Addresses, interrupts and registers: Arm DAI0386 (the image) and DDI0479 (the
 * CMSDK peripherals). Handlers have their names in start.c; a program that
 * defines one of them has it in the vector table. Exit code 1 without a word is
 * a handler that nobody defined, a fault, or a panic of the port's panic.c
 * (panic.c here says more). The FPU is off: compile with -mfloat-abi=soft.
 */

#include <stddef.h>
#include <stdint.h>

/* Of the core, the timers and the counter. */
#define BOARD_HZ 25000000

/* External interrupts. Nothing is wired to the three of software. */
enum {
    BOARD_TIMER0_IRQ = 8,
    BOARD_TIMER1_IRQ = 9,
    BOARD_SOFTWARE0_IRQ = 29,
    BOARD_SOFTWARE1_IRQ = 30,
    BOARD_SOFTWARE2_IRQ = 31,
};

/* A CMSDK timer: counts down to 0, and goes on at `reload`. */
struct board_timer {
    volatile uint32_t control; /* BOARD_TIMER_... */
    volatile uint32_t value;
    volatile uint32_t reload;
    volatile uint32_t interrupt; /* 1 written: cleared */
};

enum { BOARD_TIMER_ENABLE = 1, BOARD_TIMER_INTERRUPT = 8 };

#define BOARD_TIMER0 ((struct board_timer *)UINT32_C(0x40000000))
#define BOARD_TIMER1 ((struct board_timer *)UINT32_C(0x40001000))

/* The value of timer 1 of the dual timer, which runs freely: down. */
#define BOARD_COUNTER ((volatile uint32_t *)UINT32_C(0x40002004))

/* Counts up at BOARD_HZ, and wraps. From 0 at the start of the program. */
static inline uint32_t board_count(void)
{
    return ~*BOARD_COUNTER;
}

/* Starts the counter. The start-up code calls it before main. */
void board_begin(void);

/* Enables an external interrupt, with what its priority register is to be. This
 * is twice what dz_port_enable and dz_executor_start call a priority here. */
void board_enable(int interrupt, uint8_t priority);

/* Makes it pending. */
void board_pend(int interrupt);

/* From now on, so many counts of BOARD_HZ without another call are an NMI, also
 * while interrupts are off. 0: not any more. */
void board_watch(uint32_t counts);

/* Writes to the UART. It takes as many instructions as the loop has. */
void board_write(const char *text, size_t len);
void board_print(const char *text);

/* Ends QEMU with this exit code, through semihosting. */
_Noreturn void board_exit(int code);

/* What the linker script knows. */
extern uint32_t board_data_start[], board_data_image[];
extern uint32_t board_bss_start[], board_bss_end[];
extern char board_heap_start[], board_heap_end[];
extern uint32_t board_stack_end[];

#endif
