/* SPDX-License-Identifier: MIT */

/*
 * All is in a machine lock: a core and whatever happens outside touch the same
 * FIFOs, and the level of the interrupt has to be that of their state.
 */
#include "sim/uart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/panic.h"
#include "executor/task.h"
#include "sim/machine.h"

enum {
    BITS = 10,           /* of a byte on the wire */
    OUTSIDE_MUCH = 4096, /* bytes waiting, at which a stream is made to wait */
};

struct fifo {
    uint8_t bytes[DZ_UART_FIFO];
    unsigned first;
    unsigned count;
};

/* What has come from outside and is not on the wire yet. */
struct queue {
    uint8_t *bytes;
    size_t first;
    size_t count;
    size_t capacity;
};

struct port {
    struct dz_uart taken;        /* the handle for dz_uart_take */
    const struct dz_uart *owner; /* NULL: nobody */
    uint32_t baud;               /* 0: no power yet */
    unsigned fifo_size;

    struct fifo sending;
    bool is_shifting;  /* a byte is on its way out */
    uint8_t shifted;   /* that one */
    uint64_t sent_at;  /* when it will be out */
    struct dz_due out; /* it is */

    struct queue outside;
    bool is_arriving;    /* the first of them is on its way in */
    uint64_t arrives_at; /* when it will be in */
    struct dz_due in;    /* it is */
    struct fifo received;
    uint32_t overrun;

    struct dz_core *core;
    int irq;
    unsigned events;
    bool is_asserted;

    struct dz_stream stream;
};

static struct port ports[DZ_UARTS];
static struct dz_watching watches[DZ_WATCHERS];

static void fifo_put(struct fifo *fifo, uint8_t byte)
{
    fifo->bytes[(fifo->first + fifo->count++) % DZ_UART_FIFO] = byte;
}

static uint8_t fifo_take(struct fifo *fifo)
{
    uint8_t byte = fifo->bytes[fifo->first];

    fifo->first = (fifo->first + 1) % DZ_UART_FIFO;
    fifo->count--;
    return byte;
}

static void queue_make_room(struct queue *queue, size_t len)
{
    if (queue->first != 0)
        memmove(queue->bytes, queue->bytes + queue->first, queue->count);
    queue->first = 0;
    if (queue->count + len <= queue->capacity)
        return;
    queue->capacity = 2 * (queue->count + len);
    queue->bytes = realloc(queue->bytes, queue->capacity);
    if (queue->bytes == NULL)
        dz_panic("no memory for what waits outside a UART", __FILE__, __LINE__);
}

static void queue_put(struct queue *queue, const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return;
    if (queue->first + queue->count + len > queue->capacity)
        queue_make_room(queue, len);
    memcpy(queue->bytes + queue->first + queue->count, bytes, len);
    queue->count += len;
}

static uint8_t queue_take(struct queue *queue)
{
    queue->count--;
    return queue->bytes[queue->first++];
}

static uint64_t byte_time(const struct port *port)
{
    return UINT64_C(1000000000) * BITS / port->baud;
}

static unsigned events_of(const struct port *port)
{
    unsigned events = 0;

    if (port->received.count > 0)
        events |= DZ_UART_RECEIVED;
    if (port->sending.count < port->fifo_size)
        events |= DZ_UART_READY;
    if (!port->is_shifting)
        events |= DZ_UART_IDLE;
    return events;
}

/* After every change of what the level depends on. */
static void set_level(struct port *port)
{
    bool is_on = (events_of(port) & port->events) != 0;

    if (is_on == port->is_asserted)
        return;
    port->is_asserted = is_on;
    if (is_on)
        dz_core_raise(port->core, port->irq);
    else
        dz_core_lower(port->core, port->irq);
}

/* ---- The transmitter. */

static void start_sending(struct port *port, uint64_t at)
{
    if (port->is_shifting || port->sending.count == 0)
        return;
    port->is_shifting = true;
    port->shifted = fifo_take(&port->sending);
    port->sent_at = at + byte_time(port);
    dz_due_set(&port->out, port->sent_at);
}

/* The next byte follows at once: it begins when this one was to end, however
 * late we are. */
static void end_sending(struct dz_due *due)
{
    struct port *port = container_of(due, struct port, out);

    dz_stream_write(&port->stream, &port->shifted, 1);
    dz_watching_tell(watches, port->taken.number, port->shifted);
    port->is_shifting = false;
    start_sending(port, port->sent_at);
    set_level(port);
}

/* ---- The receiver. */

/* Nobody's UART is switched off. */
static void start_arrival(struct port *port, uint64_t at)
{
    if (port->owner == NULL || port->is_arriving || port->outside.count == 0)
        return;
    port->is_arriving = true;
    port->arrives_at = at + byte_time(port);
    dz_due_set(&port->in, port->arrives_at);
}

static void end_arrival(struct dz_due *due)
{
    struct port *port = container_of(due, struct port, in);
    uint8_t byte = queue_take(&port->outside);

    if (port->received.count < port->fifo_size)
        fifo_put(&port->received, byte);
    else if (port->overrun < UINT32_MAX)
        port->overrun++;
    if (port->outside.count < OUTSIDE_MUCH)
        dz_stream_resume(&port->stream);
    port->is_arriving = false;
    start_arrival(port, port->arrives_at);
    set_level(port);
}

static void come_from_outside(
    struct port *port, const uint8_t *bytes, size_t len)
{
    queue_put(&port->outside, bytes, len);
    start_arrival(port, dz_machine_now());
}

static void receive(struct dz_stream *stream, const uint8_t *bytes, size_t len)
{
    struct port *port = container_of(stream, struct port, stream);

    come_from_outside(port, bytes, len);
    if (port->outside.count >= OUTSIDE_MUCH)
        dz_stream_pause(stream);
}

/* ---- Power and owners. */

static void power_on(struct port *port)
{
    static const char *const names[DZ_UARTS] = {
        "uart 0", "uart 1", "uart 2", "uart 3"};
    unsigned number = (unsigned)(port - ports);
    struct dz_stream_link *link = port->stream.link;

    free(port->outside.bytes);
    *port = (struct port){
        .taken = {number},
        .baud = DZ_UART_BAUD,
        .fifo_size = DZ_UART_FIFO,
        .out = {.fire = end_sending},
        .in = {.fire = end_arrival},
        .stream = {.name = names[number],
            .keys = DZ_STREAM_KEYS,
            .receive = receive,
            .link = link},
    };
}

static struct port *port_at(unsigned number)
{
    if (number >= DZ_UARTS)
        dz_panic("there is no UART of this number: they are 0 to 3", __FILE__,
            __LINE__);
    if (ports[number].baud == 0)
        power_on(&ports[number]);
    return &ports[number];
}

static _Noreturn void panic_taken(unsigned number)
{
    static char reason[64];

    snprintf(reason, sizeof(reason),
        "uart %u is taken twice: hand on the handle of its one owner", number);
    dz_panic(reason, __FILE__, __LINE__);
}

static struct port *port_of(const struct dz_uart *uart)
{
    struct port *port = port_at(uart->number);

    if (port->owner == uart)
        return port;
    if (port->owner != NULL)
        panic_taken(uart->number);
    port->owner = uart;
    start_arrival(port, dz_machine_now());
    return port;
}

struct dz_uart *dz_uart_take(unsigned number)
{
    struct port *port;
    dz_key key;

    dz_machine_access();
    key = dz_machine_lock();
    port = port_at(number);
    if (port->owner != NULL)
        panic_taken(number);
    port_of(&port->taken);
    dz_machine_unlock(key);
    return &port->taken;
}

static void reset_here(void *argument)
{
    (void)argument;
    for (unsigned number = 0; number < DZ_UARTS; number++) {
        struct port *port = port_at(number);

        dz_due_clear(&port->out);
        dz_due_clear(&port->in);
        if (port->is_asserted)
            dz_core_lower(port->core, port->irq);
        power_on(port);
        dz_stream_resume(&port->stream);
    }
}

void dz_uart_reset(void)
{
    dz_machine_call(reset_here, NULL);
}

/* ---- For firmware. */

/* Begins an access. */
static struct port *enter(const struct dz_uart *uart, dz_key *key)
{
    dz_machine_access();
    *key = dz_machine_lock();
    return port_of(uart);
}

void dz_uart_set_baud(struct dz_uart *uart, uint32_t baud)
{
    dz_key key;

    if (baud == 0)
        dz_panic("a UART has a baud rate of 0", __FILE__, __LINE__);
    enter(uart, &key)->baud = baud;
    dz_machine_unlock(key);
}

void dz_uart_set_fifo(struct dz_uart *uart, unsigned size)
{
    struct port *port;
    dz_key key;

    if (size == 0 || size > DZ_UART_FIFO)
        dz_panic("the FIFO of a UART has a size of 1 to DZ_UART_FIFO", __FILE__,
            __LINE__);
    port = enter(uart, &key);
    port->fifo_size = size;
    set_level(port);
    dz_machine_unlock(key);
}

bool dz_uart_try_write(struct dz_uart *uart, uint8_t byte)
{
    dz_key key;
    struct port *port = enter(uart, &key);
    bool has_room = port->sending.count < port->fifo_size;

    if (has_room)
        fifo_put(&port->sending, byte);
    start_sending(port, dz_machine_now());
    set_level(port);
    dz_machine_unlock(key);
    return has_room;
}

bool dz_uart_try_read(struct dz_uart *uart, uint8_t *byte)
{
    dz_key key;
    struct port *port = enter(uart, &key);
    bool has_byte = port->received.count > 0;

    if (has_byte)
        *byte = fifo_take(&port->received);
    set_level(port);
    dz_machine_unlock(key);
    return has_byte;
}

uint32_t dz_uart_take_overrun(struct dz_uart *uart)
{
    dz_key key;
    struct port *port = enter(uart, &key);
    uint32_t overrun = port->overrun;

    port->overrun = 0;
    dz_machine_unlock(key);
    return overrun;
}

unsigned dz_uart_events(struct dz_uart *uart)
{
    dz_key key;
    unsigned events = events_of(enter(uart, &key));

    dz_machine_unlock(key);
    return events;
}

/* The line is asserted anew, for a core that has forgotten it meanwhile. */
void dz_uart_interrupt(
    struct dz_uart *uart, struct dz_core *core, int irq, unsigned events)
{
    struct port *port;
    dz_key key;

    if (core == NULL && events != 0)
        dz_panic("the interrupt of a UART goes to no core", __FILE__, __LINE__);
    port = enter(uart, &key);
    if (port->is_asserted)
        dz_core_lower(port->core, port->irq);
    port->is_asserted = false;
    port->core = core;
    port->irq = irq;
    port->events = events;
    set_level(port);
    dz_machine_unlock(key);
}

/* ---- For the world outside. */

static struct dz_stream *stream_at(unsigned number)
{
    dz_key key = dz_machine_lock();
    struct dz_stream *stream = &port_at(number)->stream;

    dz_machine_unlock(key);
    return stream;
}

bool dz_uart_open(
    unsigned number, const char *what, struct dz_stream_error *error)
{
    return dz_stream_open(stream_at(number), what, error);
}

void dz_uart_close(unsigned number)
{
    dz_stream_close(stream_at(number));
}

const char *dz_uart_place(unsigned number)
{
    return dz_stream_place(stream_at(number));
}

void dz_uart_inject(unsigned number, const uint8_t *bytes, size_t len)
{
    dz_key key = dz_machine_lock();

    come_from_outside(port_at(number), bytes, len);
    dz_machine_unlock(key);
}

void dz_uart_watch(dz_watcher *watcher, void *argument)
{
    dz_watching_add(watches, watcher, argument);
}

void dz_uart_unwatch(dz_watcher *watcher, void *argument)
{
    dz_watching_remove(watches, watcher, argument);
}
