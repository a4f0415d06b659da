/* SPDX-License-Identifier: MIT */

/* blink_button_uart -- an LED blinks, and stays on while a button is held; each
 * change of the button puts a line in a queue, which a third task writes to a
 * UART. sim/examples/blink_button_uart.stim is a hand at the button. */

#include <stdio.h>

#include "doze.h"
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

static struct edge_signal changed;
static struct ready_signal ready;
static struct line_channel lines;
static enum dz_level button; /* of the tasks */

static void button_handler(void *argument)
{
    (void)argument;
    edge_signal_send(&changed, dz_pin_read(dz_pin_3));
}

/* It comes as long as there is room: it is on only while somebody waits. */
static void uart_handler(void *argument)
{
    dz_uart_interrupt(dz_uart_0, argument, UART_IRQ, 0);
    ready_signal_send(&ready, DZ_UART_READY);
}

struct board {
    struct dz_task task;
    struct dz_ticker ticker;
    bool is_on;
    unsigned presses;
    unsigned events;
    struct line line;
    const char *next;
};

static enum dz_poll blink_poll(struct board *self)
{
    async (self) {
        dz_ticker_init(
            &self->ticker, dz_duration_from_millis(100), DZ_TICKER_SKIP);
        for (;;) {
            await(dz_ticker_poll(&self->ticker));
            self->is_on = !self->is_on || button == DZ_HIGH;
            dz_pin_write(dz_pin_5, self->is_on ? DZ_HIGH : DZ_LOW);
        }
    }
    return DZ_READY;
}

static enum dz_poll button_poll(struct board *self)
{
    async (self) {
        for (;;) {
            await(edge_signal_wait(&changed, &button));
            self->presses += button == DZ_HIGH;
            snprintf(self->line.text, sizeof(self->line.text), "press %u %s\n",
                self->presses, button == DZ_HIGH ? "begins" : "ends");
            await(line_channel_send(&lines, &self->line));
        }
    }
    return DZ_READY;
}

static enum dz_poll write_poll(struct board *self)
{
    async (self) {
        for (;;) {
            await(line_channel_receive(&lines, &self->line));
            for (self->next = self->line.text; *self->next != '\0';) {
                if (dz_uart_try_write(dz_uart_0, (uint8_t)*self->next)) {
                    self->next++;
                    continue;
                }
                dz_uart_interrupt(
                    dz_uart_0, dz_core_here(), UART_IRQ, DZ_UART_READY);
                await(ready_signal_wait(&ready, &self->events));
            }
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(blinkers, struct board, blink_poll, 1)
DZ_TASK_POOL(buttons, struct board, button_poll, 1)
DZ_TASK_POOL(writers, struct board, write_poll, 1)

static void firmware(unsigned core)
{
    static struct dz_executor executor;
    struct board *tasks[3];

    (void)core;
    dz_core_bind(dz_core_here(), BUTTON_IRQ, button_handler, NULL);
    dz_core_bind(dz_core_here(), UART_IRQ, uart_handler, dz_core_here());
    dz_pin_interrupt(dz_pin_3, dz_core_here(), BUTTON_IRQ, DZ_EDGE_BOTH);
    dz_uart_set_fifo(dz_uart_0, 1);
    dz_executor_init(&executor, "main");
    (void)blinkers_claim(&tasks[0]);
    (void)buttons_claim(&tasks[1]);
    (void)writers_claim(&tasks[2]);
    for (int i = 0; i < 3; i++)
        dz_executor_spawn(&executor, &tasks[i]->task);
    dz_executor_run(&executor);
}

int main(int argc, char **argv)
{
    static const struct dz_program program = {
        .name = "blink_button_uart", .firmware = firmware};

    return dz_program_main(argc, argv, &program);
}
