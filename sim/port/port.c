/* SPDX-License-Identifier: MIT */
#include "port.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "executor/executor.h"

DZ_PORT_LOCAL struct dz_port_core dz_port_core;

void dz_port_dispatch(void)
{
    if (dz_port_core.dispatch != NULL)
        dz_port_core.dispatch();
    else
        dz_port_core.deferred = 0;
}

void dz_port_foreign_thread(const struct dz_port_executor *executor)
{
    dz_port_panic(&(struct dz_panic){
        .reason = executor->core == NULL
            ? "an executor is used that was not initialised"
            : "a task is woken or spawned by a thread that is not its core; "
              "raise an interrupt instead",
        .file = __FILE__,
        .line = __LINE__,
    });
}

void dz_port_wait(void)
{
    static const struct dz_panic deadlock = {
        .reason = "asleep, and no interrupt can come that would end it",
        .file = __FILE__,
        .line = __LINE__,
    };

    static const struct dz_panic masked = {
        .reason = "the executor waits with interrupts off, or in an interrupt; "
                  "is a task awaiting with a lock held?",
        .file = __FILE__,
        .line = __LINE__,
    };

    if (dz_port_core.masked != 0 || dz_port_core.interrupt != 0)
        dz_port_panic(&masked);
    if (dz_port_core.event == 0) {
        if (dz_port_core.wait == NULL)
            dz_port_panic(&deadlock);
        dz_port_core.wait();
    }
    dz_port_core.event = 0;
}

struct text {
    char bytes[1024];
    size_t len;
};

static void append(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct text *text, const char *format, ...)
{
    size_t room = sizeof(text->bytes) - text->len;
    va_list arguments;
    int len;

    va_start(arguments, format);
    len = vsnprintf(text->bytes + text->len, room, format, arguments);
    va_end(arguments);
    if (len > 0)
        text->len += (size_t)len < room ? (size_t)len : room - 1;
}

/* Interrupts are counted from 1 as dz_port_context does, and named as in the
 * NVIC, from 0. */
static void append_context(struct text *text, const struct dz_context *context)
{
    if (context->executor != NULL)
        append(text, "a task of executor \"%s\" in ", context->executor->name);
    if (context->interrupt != 0)
        append(text, "interrupt %u", context->interrupt - 1);
    else
        append(text, "thread mode");
}

static void describe(struct text *text, const struct dz_panic *panic)
{
    append(text, "%s:%d: panic: %s", panic->file, panic->line, panic->reason);
    if (panic->object != NULL)
        append(text, "\n  object: %s at %p", panic->object, panic->address);
    append(text, "\n  here: ");
    append_context(text, &panic->context);
    if (panic->second == NULL)
        return;
    append(text, "\n  other: ");
    append_context(text, panic->second);
}

void dz_port_panic(const struct dz_panic *panic)
{
    struct text text = {.len = 0};

    describe(&text, panic);
    append(&text, "\n");
    (void)!write(STDERR_FILENO, text.bytes, text.len);
    /* In a signal's frame, whatever exit() does could wait for what was
     * interrupted. */
    if (dz_port_core.interrupt != 0)
        _exit(DZ_EXIT_PANIC);
    exit(DZ_EXIT_PANIC);
}
