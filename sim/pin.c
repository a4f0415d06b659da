/* SPDX-License-Identifier: MIT */

/*
 * All is in a machine lock: an edge, its interrupt, and what its watchers see
 * are one thing, whoever else writes.
 */
#include "sim/pin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/panic.h"
#include "sim/machine.h"

enum { LINE = 64 };

struct line {
    struct dz_pin taken;        /* the handle for dz_pin_take */
    const struct dz_pin *owner; /* NULL: nobody */
    enum dz_level level;
    bool is_output;
    struct dz_core *core;
    int irq;
    enum dz_edges edges;
};

static struct line lines[DZ_PINS];
static struct dz_watching watches[DZ_WATCHERS];

static void receive(struct dz_stream *stream, const uint8_t *bytes, size_t len);

static struct dz_stream stream = {
    .name = "pins",
    .keys = DZ_STREAM_LINES,
    .receive = receive,
};

/* ---- Levels and edges. */

static _Noreturn void panic_about(unsigned number, const char *what)
{
    static char reason[128];

    snprintf(reason, sizeof(reason), "pin %u %s", number, what);
    dz_panic(reason, __FILE__, __LINE__);
}

static _Noreturn void panic_taken(unsigned number)
{
    panic_about(number, "is taken twice: hand on the handle of its one owner");
}

static struct line *line_at(unsigned number)
{
    if (number >= DZ_PINS)
        panic_about(number, "does not exist: they are 0 to 63");
    lines[number].taken.number = number;
    return &lines[number];
}

static struct line *line_of(const struct dz_pin *pin)
{
    struct line *line = line_at(pin->number);

    if (line->owner == NULL)
        line->owner = pin;
    if (line->owner != pin)
        panic_taken(pin->number);
    return line;
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    char line[2 * LINE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    dz_stream_write(&stream, (const uint8_t *)line, strlen(line));
}

static void change(struct line *line, enum dz_level level)
{
    enum dz_edges edge = level == DZ_HIGH ? DZ_EDGE_RISING : DZ_EDGE_FALLING;
    unsigned number = (unsigned)(line - lines);

    if (line->level == level)
        return;
    line->level = level;
    if ((line->edges & edge) != 0)
        dz_core_pend(line->core, line->irq);
    if (line->is_output)
        say("pin %u %s %llu\n", number, level == DZ_HIGH ? "high" : "low",
            (unsigned long long)dz_machine_now());
    dz_watching_tell(watches, number, (uint8_t)level);
}

static enum dz_level opposite(enum dz_level level)
{
    return level == DZ_HIGH ? DZ_LOW : DZ_HIGH;
}

/* ---- For firmware. */

/* Begins an access. */
static struct line *enter(const struct dz_pin *pin, dz_key *key)
{
    dz_machine_access();
    *key = dz_machine_lock();
    return line_of(pin);
}

struct dz_pin *dz_pin_take(unsigned number)
{
    struct line *line;
    dz_key key;

    dz_machine_access();
    key = dz_machine_lock();
    line = line_at(number);
    if (line->owner != NULL)
        panic_taken(number);
    line->owner = &line->taken;
    dz_machine_unlock(key);
    return &line->taken;
}

void dz_pin_write(struct dz_pin *pin, enum dz_level level)
{
    dz_key key;
    struct line *line = enter(pin, &key);

    line->is_output = true;
    change(line, level);
    dz_machine_unlock(key);
}

void dz_pin_toggle(struct dz_pin *pin)
{
    dz_key key;
    struct line *line = enter(pin, &key);

    line->is_output = true;
    change(line, opposite(line->level));
    dz_machine_unlock(key);
}

enum dz_level dz_pin_read(struct dz_pin *pin)
{
    dz_key key;
    enum dz_level level = enter(pin, &key)->level;

    dz_machine_unlock(key);
    return level;
}

void dz_pin_interrupt(
    struct dz_pin *pin, struct dz_core *core, int irq, enum dz_edges edges)
{
    struct line *line;
    dz_key key;

    if (core == NULL && edges != DZ_EDGE_NONE)
        panic_about(pin->number, "has an interrupt that goes to no core");
    line = enter(pin, &key);
    line->core = core;
    line->irq = irq;
    line->edges = edges;
    dz_machine_unlock(key);
}

/* ---- For the world outside. */

void dz_pin_drive(unsigned number, enum dz_level level)
{
    dz_key key = dz_machine_lock();
    struct line *line = line_at(number);

    if (line->is_output)
        panic_about(number,
            "is an output, and driven from outside: drive it no more once "
            "firmware has written it");
    change(line, level);
    dz_machine_unlock(key);
}

enum dz_level dz_pin_level(unsigned number)
{
    dz_key key = dz_machine_lock();
    enum dz_level level = line_at(number)->level;

    dz_machine_unlock(key);
    return level;
}

bool dz_pin_is_output(unsigned number)
{
    dz_key key = dz_machine_lock();
    bool is_output = line_at(number)->is_output;

    dz_machine_unlock(key);
    return is_output;
}

void dz_pin_watch(dz_watcher *watcher, void *argument)
{
    dz_watching_add(watches, watcher, argument);
}

void dz_pin_unwatch(dz_watcher *watcher, void *argument)
{
    dz_watching_remove(watches, watcher, argument);
}

void dz_pin_reset(void)
{
    dz_key key = dz_machine_lock();

    memset(lines, 0, sizeof(lines));
    dz_machine_unlock(key);
}

/* ---- The stream of lines. */

/* The line that has not ended yet. What does not fit makes it nonsense. */
static char text[LINE];
static size_t text_len;

static void obey(unsigned number, const char *word)
{
    if (number >= DZ_PINS)
        say("error: pin %u does not exist: they are 0 to 63\n", number);
    else if (lines[number].is_output)
        say("error: pin %u is an output\n", number);
    else if (strcmp(word, "high") == 0)
        dz_pin_drive(number, DZ_HIGH);
    else if (strcmp(word, "low") == 0)
        dz_pin_drive(number, DZ_LOW);
    else if (strcmp(word, "toggle") == 0)
        dz_pin_drive(number, opposite(lines[number].level));
    else
        say("error: pin %u cannot go \"%s\": say high, low or toggle\n", number,
            word);
}

/* Lines without a word are passed over. */
static void obey_line(void)
{
    char number[4];
    char word[8];
    char rest;

    if (text[strspn(text, " \t\r")] == '\0')
        return;
    if (text_len < LINE &&
        sscanf(text, " pin %3[0-9] %7[a-z] %c", number, word, &rest) == 2)
        obey((unsigned)atoi(number), word);
    else
        say("error: not understood: say \"pin 3 high\", low or toggle\n");
}

static void receive(struct dz_stream *from, const uint8_t *bytes, size_t len)
{
    (void)from;
    for (; len > 0; len--, bytes++) {
        if (*bytes != '\n') {
            if (text_len < LINE)
                text[text_len++] = (char)*bytes;
            continue;
        }
        text[text_len < LINE ? text_len : LINE - 1] = '\0';
        obey_line();
        text_len = 0;
    }
}

bool dz_pin_open(const char *what, struct dz_stream_error *error)
{
    return dz_stream_open(&stream, what, error);
}

void dz_pin_close(void)
{
    dz_stream_close(&stream);
    text_len = 0;
}

const char *dz_pin_place(void)
{
    return dz_stream_place(&stream);
}
