/* SPDX-License-Identifier: MIT */
#ifndef SIM_PIN_H
#define SIM_PIN_H

/*
 * pin -- the GPIO pins of the simulated machine, 0 to 63
 *
 *     DZ_PIN(3)                                      at the top level of a file
 *     DZ_PIN(5)
 *
 *     dz_pin_interrupt(dz_pin_3, core, BUTTON_IRQ, DZ_EDGE_RISING);
 *     dz_pin_write(dz_pin_5, DZ_HIGH);
 *
 * Each pin has one owner. DZ_PIN(3) makes its file the owner of pin 3, and the
 * handle `dz_pin_3` known in it. Two of them in a program do not link: the
 * linker says that dz_pin_3_is_taken is defined twice. Where the number is
 * known only when the program runs, dz_pin_take(number) returns the handle, and
 * panics if the pin is taken; so does the first use of a DZ_PIN that was taken
 * in this way before.
 *
 * A pin is low and an input, which the world outside drives (dz_pin_drive),
 * until firmware writes it: then it is an output for ever. To drive an output
 * from outside is a short circuit, and panics.
 *
 * An edge makes an interrupt pending, as dz_core_pend does: edges that come
 * faster than the handler runs merge.
 *
 * From outside, by dz_pin_open: a stream of lines, from a keyboard, a script,
 * or a socket (sim/stream.h):
 *
 *     pin 3 high          drives it; also: low, toggle
 *     pin 5 high 1250000  is answered when firmware changes an output, with
 *                         the time in ns
 *     error: ...          is answered to what makes no sense
 *
 * All that firmware calls costs an access (sim/machine.h), and may be called in
 * any context of a core.
 */

#include <stdbool.h>
#include <stdint.h>

#include "sim/core.h"
#include "sim/stream.h"
#include "sim/watch.h"

enum { DZ_PINS = 64 };

enum dz_level {
    DZ_LOW,
    DZ_HIGH,
};

enum dz_edges {
    DZ_EDGE_NONE = 0,
    DZ_EDGE_RISING = 1,
    DZ_EDGE_FALLING = 2,
    DZ_EDGE_BOTH = 3,
};

/* A handle. */
struct dz_pin {
    unsigned number;
};

/* `number` is digits, or a macro that stands for digits. (An enumerator does
 * not compile: the symbol has to have the number in it.) */
#define DZ_PIN(number) DZ_PIN_OF_DIGITS(number)
#define DZ_PIN_OF_DIGITS(digits)                                          \
    extern struct dz_pin dz_pin_##digits##_is_taken;                      \
    struct dz_pin dz_pin_##digits##_is_taken = {digits##u};               \
    static struct dz_pin *const dz_pin_##digits __attribute__((unused)) = \
        &dz_pin_##digits##_is_taken;

/* For firmware. */

/* Panics if the pin is taken already. */
struct dz_pin *dz_pin_take(unsigned number);

void dz_pin_write(struct dz_pin *pin, enum dz_level level);
void dz_pin_toggle(struct dz_pin *pin);
enum dz_level dz_pin_read(struct dz_pin *pin);

/* From now on these edges, whoever makes them, pend `irq` of the core; what was
 * set before is replaced. */
void dz_pin_interrupt(
    struct dz_pin *pin, struct dz_core *core, int irq, enum dz_edges edges);

/* For the world outside. Any thread, any context. */

void dz_pin_drive(unsigned number, enum dz_level level);
enum dz_level dz_pin_level(unsigned number);
bool dz_pin_is_output(unsigned number);

/* Called at every change, whoever makes it, one at a time, in their order,
 * within a machine lock: on the core or where dues happen. It may drive other
 * pins, and takes no time. */
void dz_pin_watch(dz_watcher *watcher, void *argument);
void dz_pin_unwatch(dz_watcher *watcher, void *argument);

/* The stream of lines. Not within a machine lock. */
bool dz_pin_open(const char *what, struct dz_stream_error *error);
void dz_pin_close(void);

/* Where it is: dz_stream_place. */
const char *dz_pin_place(void);

/* As when the power comes on: nobody's, low, inputs, without interrupts.
 * Watchers and the stream stay, and are told of no change. While no core runs,
 * before firmware that takes pins is started again. */
void dz_pin_reset(void);

#endif
