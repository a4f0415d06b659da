/* SPDX-License-Identifier: MIT */
#include "sim/qemu/board.h"

#include <string.h>

/* The dual timer's first timer, UART 0, and the watchdog. (DDI0479.) */
#define COUNTER_CONTROL ((volatile uint32_t *)UINT32_C(0x40002008))
#define UART_DATA ((volatile uint32_t *)UINT32_C(0x40004000))
#define UART_STATE ((volatile uint32_t *)UINT32_C(0x40004004))
#define UART_CONTROL ((volatile uint32_t *)UINT32_C(0x40004008))
#define UART_DIVIDER ((volatile uint32_t *)UINT32_C(0x40004010))
#define WATCHDOG_LOAD ((volatile uint32_t *)UINT32_C(0x40008000))
#define WATCHDOG_CONTROL ((volatile uint32_t *)UINT32_C(0x40008008))

enum {
    COUNTER_ENABLE = 0x80, /* free-running, no interrupt, not prescaled, */
    COUNTER_32_BITS = 0x2,
    UART_FULL = 1,
    UART_TRANSMIT = 1,
    UART_FASTEST = 16,
    WATCHDOG_INTERRUPT = 1, /* it counts, and interrupts */
};

/* The core's interrupt controller. */
#define SET_ENABLE ((volatile uint32_t *)UINT32_C(0xE000E100))
#define SET_PENDING ((volatile uint32_t *)UINT32_C(0xE000E200))
#define PRIORITIES ((volatile uint32_t *)UINT32_C(0xE000E400))

void board_begin(void)
{
    *COUNTER_CONTROL = COUNTER_ENABLE | COUNTER_32_BITS;
}

void board_enable(int interrupt, uint8_t priority)
{
    unsigned number = (unsigned)interrupt;
    unsigned shift = number % 4 * 8;
    volatile uint32_t *word = &PRIORITIES[number / 4];

    *word = (*word & ~(UINT32_C(0xFF) << shift)) | (uint32_t)priority << shift;
    SET_ENABLE[number / 32] = UINT32_C(1) << number % 32;
}

void board_pend(int interrupt)
{
    unsigned number = (unsigned)interrupt;

    SET_PENDING[number / 32] = UINT32_C(1) << number % 32;
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}

/* To load it is to begin anew. */
void board_watch(uint32_t counts)
{
    *WATCHDOG_LOAD = counts;
    *WATCHDOG_CONTROL = counts != 0 ? WATCHDOG_INTERRUPT : 0;
}

void board_write(const char *text, size_t len)
{
    *UART_DIVIDER = UART_FASTEST;
    *UART_CONTROL = UART_TRANSMIT;
    for (size_t i = 0; i < len; i++) {
        while (*UART_STATE & UART_FULL)
            continue;
        *UART_DATA = (unsigned char)text[i];
    }
}

void board_print(const char *text)
{
    board_write(text, strlen(text));
}
