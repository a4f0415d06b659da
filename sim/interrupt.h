/* SPDX-License-Identifier: MIT */
#ifndef SIM_INTERRUPT_H
#define SIM_INTERRUPT_H

/*
 * interrupt -- a driver names the interrupt it needs; firmware binds it
 *
 *     DZ_REQUIRE_INTERRUPT(uart0)                      console.c, the driver
 *     ...
 *     dz_interrupt_attach(&dz_interrupt_uart0, core, &console);
 *     dz_uart_interrupt(uart, core, dz_interrupt_uart0.irq, DZ_UART_RECEIVED);
 *
 *     DZ_BIND_INTERRUPT(uart0, 5, console_handler)     main.c, the firmware
 *
 * The name is the driver's; it ties the two together in the linker. What nobody
 * binds does not link ("undefined reference to dz_interrupt_uart0"), and what
 * is bound twice does not either ("multiple definition"). Both stand at the
 * top level of a file, without a semicolon.
 */

#include "sim/core.h"

struct dz_interrupt {
    int irq;
    void (*handler)(void *argument);
};

/* The driver's file does not link without it, whether it is used or not. */
#define DZ_REQUIRE_INTERRUPT(name)                             \
    extern const struct dz_interrupt dz_interrupt_##name;      \
    static const struct dz_interrupt *const dz_requires_##name \
        __attribute__((used)) = &dz_interrupt_##name;

/* In one file of the program. */
#define DZ_BIND_INTERRUPT(name, number, function)         \
    extern const struct dz_interrupt dz_interrupt_##name; \
    const struct dz_interrupt dz_interrupt_##name = {     \
        .irq = (number),                                  \
        .handler = (function),                            \
    };

/* Gives the core the handler, and the handler its argument. As dz_core_bind. */
static inline void dz_interrupt_attach(
    const struct dz_interrupt *interrupt, struct dz_core *core, void *argument)
{
    dz_core_bind(core, interrupt->irq, interrupt->handler, argument);
}

#endif
