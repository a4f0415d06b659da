/* SPDX-License-Identifier: MIT */
#ifndef SIM_UART_H
#define SIM_UART_H

/*
 * uart -- the serial ports of the simulated machine, 0 to 3
 *
 *     DZ_UART(0)                                     at the top level of a file
 *
 *     dz_uart_interrupt(dz_uart_0, core, UART_IRQ, DZ_UART_RECEIVED);
 *     while (dz_uart_try_read(dz_uart_0, &byte))     in its handler
 *         ...
 *
 * Each has one owner, as a pin has: see sim/pin.h. The symbol that the linker
 * finds twice is dz_uart_0_is_taken.
 *
 * A byte is 10 bits on the wire (8N1) and takes 10 / baud seconds, in whole ns,
 * rounded down; 115200 baud if nothing else is set. Both directions have a FIFO
 * of 16 bytes, or of what is set.
 *  - The transmitter has a shift register behind its FIFO: so an idle one takes
 *    17 bytes at once, and then one each byte time. A byte leaves the machine
 *    when its last bit has.
 *  - What comes from outside waits there, without limit, then comes in at the
 *    baud rate. (A stream that has much to say is made to wait.) It waits for
 *    the owner, too: nothing comes in before firmware has first used its
 *    handle. A byte that finds the FIFO full is lost, and counted: that is an
 *    overrun.
 *
 * Its interrupt is a level: the line is asserted as long as one of the events
 * that it was set for is so. The handler changes that, by reading, by writing,
 * or by another dz_uart_interrupt, or it will be called again and again.
 *
 * The other end is opened by dz_uart_open, as one of the streams of
 * sim/stream.h. Without, what is sent is heard by the watchers only.
 *
 * All that firmware calls costs an access (sim/machine.h), and may be called in
 * any context of a core.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core.h"
#include "sim/stream.h"
#include "sim/watch.h"

enum { DZ_UARTS = 4, DZ_UART_FIFO = 16, DZ_UART_BAUD = 115200 };

enum dz_uart_event {
    DZ_UART_RECEIVED = 1, /* there is a byte to read */
    DZ_UART_READY = 2,    /* a byte can be written */
    DZ_UART_IDLE = 4,     /* all that was written is out */
};

/* A handle. */
struct dz_uart {
    unsigned number;
};

/* `number` is digits, or a macro that stands for digits. */
#define DZ_UART(number) DZ_UART_OF_DIGITS(number)
#define DZ_UART_OF_DIGITS(digits)                                           \
    extern struct dz_uart dz_uart_##digits##_is_taken;                      \
    struct dz_uart dz_uart_##digits##_is_taken = {digits##u};               \
    static struct dz_uart *const dz_uart_##digits __attribute__((unused)) = \
        &dz_uart_##digits##_is_taken;

/* For firmware. */

/* Panics if the UART is taken already. */
struct dz_uart *dz_uart_take(unsigned number);

/* From the next byte on, in both directions. */
void dz_uart_set_baud(struct dz_uart *uart, uint32_t baud);

/* The size of both FIFOs, 1 to DZ_UART_FIFO. What is in them stays. */
void dz_uart_set_fifo(struct dz_uart *uart, unsigned size);

/* False: the FIFO is full. */
bool dz_uart_try_write(struct dz_uart *uart, uint8_t byte);

/* False: the FIFO is empty. */
bool dz_uart_try_read(struct dz_uart *uart, uint8_t *byte);

/* How many bytes were lost since this was last asked. */
uint32_t dz_uart_take_overrun(struct dz_uart *uart);

/* The events, a sum of enum dz_uart_event, that are so now. */
unsigned dz_uart_events(struct dz_uart *uart);

/* The line goes to `irq` of the core, for these events; what was set before is
 * replaced. No events: no interrupt. */
void dz_uart_interrupt(
    struct dz_uart *uart, struct dz_core *core, int irq, unsigned events);

/* For the world outside. */

/* The stream of sim/stream.h. Not within a machine lock. False: `error` says
 * why. */
bool dz_uart_open(
    unsigned number, const char *what, struct dz_stream_error *error);
void dz_uart_close(unsigned number);

/* Where it is: dz_stream_place. */
const char *dz_uart_place(unsigned number);

/* The bytes come from outside, behind those that are waiting there. In a due or
 * a dz_machine_call. */
void dz_uart_inject(unsigned number, const uint8_t *bytes, size_t len);

/* Called for each byte that is sent, when its last bit is, within a machine
 * lock, where dues happen. It may inject. */
void dz_uart_watch(dz_watcher *watcher, void *argument);
void dz_uart_unwatch(dz_watcher *watcher, void *argument);

/* As when the power comes on: nobody's, with empty FIFOs, nothing waiting
 * outside, no interrupts. Watchers and streams stay. While no core runs: before
 * firmware that takes UARTs is started again, and before the machine stops.
 * Not within a machine lock. */
void dz_uart_reset(void);

#endif
