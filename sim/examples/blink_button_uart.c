/* SPDX-License-Identifier: MIT */

/*
 * blink_button_uart -- the three tasks of a first board
 *
 * An LED blinks at a fixed rate, and stays on while a button is held. Each
 * change of the button puts a line of text in a queue. A third task writes what
 * is in the queue to a UART, byte by byte, with an interrupt for each.
 *
 *     ./blink_button_uart --uart0 stdio --pins tcp:4000
 *     ./blink_button_uart --time virtual --stop-after 2s \
 *         --stimulus blink_button_uart.stim --vcd pins.vcd
 */

#include <stdatomic.h>
#include <stdio.h>

#include "doze.h"
#include "sim/core.h"
#include "sim/pin.h"
#include "sim/program.h"
#include "sim/uart.h"

DZ_PIN(3) /* the button, high while it is held */
DZ_PIN(5) /* the LED */
DZ_UART(0)

enum { BUTTON_IRQ = 6, UART_IRQ = 37 };

struct line {
    char text[32];
};

DZ_SIGNAL_DEFINE(edge_signal, enum dz_level, DZ_CRITICAL_SECTION)
DZ_SIGNAL_DEFINE(ready_signal, unsigned, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(line_channel, struct line, 4, DZ_NOOP)

static struct edge_signal button_changed;
static struct ready_signal uart_ready;
static struct line_channel lines;
static atomic_bool is_held;

struct blink {
    struct dz_task task;
    struct dz_ticker ticker;
};

static enum dz_poll blink_poll(struct blink *self)
{
    async (self) {
        dz_ticker_init(
            &self->ticker, dz_duration_from_millis(100), DZ_TICKER_SKIP);
        for (;;) {
            await(dz_ticker_poll(&self->ticker));
            if (atomic_load(&is_held))
                dz_pin_write(dz_pin_5, DZ_HIGH);
            else
                dz_pin_toggle(dz_pin_5);
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(blinkers, struct blink, blink_poll, 1)

struct button {
    struct dz_task task;
    enum dz_level level;
    unsigned presses;
    struct line line;
};

static enum dz_poll button_poll(struct button *self)
{
    async (self) {
        for (;;) {
            await(edge_signal_wait(&button_changed, &self->level));
            atomic_store(&is_held, self->level == DZ_HIGH);
            self->presses += self->level == DZ_HIGH;
            snprintf(self->line.text, sizeof(self->line.text), "press %u %s\n",
                self->presses, self->level == DZ_HIGH ? "begins" : "ends");
            await(line_channel_send(&lines, &self->line));
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(buttons, struct button, button_poll, 1)

struct writer {
    struct dz_task task;
    struct line line;
    const char *next;
    unsigned ready;
};

/* The interrupt is a level: it comes as long as there is room, so it is on only
 * while somebody waits for it. */
static enum dz_poll writer_poll(struct writer *self)
{
    async (self) {
        for (;;) {
            await(line_channel_receive(&lines, &self->line));
            self->next = self->line.text;
            while (*self->next != '\0') {
                if (dz_uart_try_write(dz_uart_0, (uint8_t)*self->next)) {
                    self->next++;
                    continue;
                }
                dz_uart_interrupt(
                    dz_uart_0, dz_core_here(), UART_IRQ, DZ_UART_READY);
                await(ready_signal_wait(&uart_ready, &self->ready));
            }
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(writers, struct writer, writer_poll, 1)

static void button_handler(void *argument)
{
    (void)argument;
    edge_signal_send(&button_changed, dz_pin_read(dz_pin_3));
}

static void uart_handler(void *argument)
{
    (void)argument;
    dz_uart_interrupt(dz_uart_0, dz_core_here(), UART_IRQ, 0);
    ready_signal_send(&uart_ready, DZ_UART_READY);
}

static void firmware(unsigned core)
{
    static struct dz_executor executor;
    struct blink *blink;
    struct button *button;
    struct writer *writer;

    (void)core;
    dz_core_bind(dz_core_here(), BUTTON_IRQ, button_handler, NULL);
    dz_core_bind(dz_core_here(), UART_IRQ, uart_handler, NULL);
    dz_pin_interrupt(dz_pin_3, dz_core_here(), BUTTON_IRQ, DZ_EDGE_BOTH);
    dz_uart_set_fifo(dz_uart_0, 1);
    dz_executor_init(&executor, "main");
    if (blinkers_claim(&blink) == DZ_OK)
        dz_executor_spawn(&executor, &blink->task);
    if (buttons_claim(&button) == DZ_OK)
        dz_executor_spawn(&executor, &button->task);
    if (writers_claim(&writer) == DZ_OK)
        dz_executor_spawn(&executor, &writer->task);
    dz_executor_run(&executor);
}

int main(int argc, char **argv)
{
    return dz_program_main(argc, argv,
        &(struct dz_program){
            .name = "blink_button_uart",
            .firmware = firmware,
        });
}
