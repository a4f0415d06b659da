/* SPDX-License-Identifier: MIT */
#include "sim/port/panic_text.h"

#include <stdarg.h>
#include <stdio.h>

#include "executor/executor.h"

enum { EXCEPTIONS = 16 }; /* before interrupt 0 */

static void append(struct dz_panic_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct dz_panic_text *text, const char *format, ...)
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

/* Interrupts are named as in the NVIC. */
static void append_context(
    struct dz_panic_text *text, const struct dz_context *context)
{
    int exception = (int)(context->port % DZ_CONTEXT_CORE);
    unsigned core = context->port / DZ_CONTEXT_CORE;

    if (context->executor != NULL)
        append(text, "a task of executor \"%s\" in ", context->executor->name);
    if (exception != 0)
        append(text, "interrupt %d", exception - EXCEPTIONS);
    else
        append(text, "thread mode");
    if (core != 0)
        append(text, " of core %u", core);
}

/* The task that did it, and where to look for it. */
static void append_task(struct dz_panic_text *text, const struct dz_task *task)
{
    append(text, "\n  by: task %s, ", task->pool->name);
    if (task->frame.line == 0)
        append(text, "defined at %s:%d, before its first wait",
            task->pool->file, task->pool->line);
    else
        append(text, "behind its wait at %s:%d", task->pool->file,
            task->frame.line);
}

void dz_panic_describe(struct dz_panic_text *text, const struct dz_panic *panic)
{
    text->len = 0;
    append(text, "%s:%d: panic: %s", panic->file, panic->line, panic->reason);
    if (panic->object != NULL)
        append(text, "\n  object: %s at %p", panic->object, panic->address);
    append(text, "\n  here: ");
    append_context(text, &panic->context);
    if (panic->second != NULL) {
        append(text, "\n  other: ");
        append_context(text, panic->second);
    }
    if (panic->task != NULL && panic->task != panic->address)
        append_task(text, panic->task);
    append(text, "\n");
}

static bool is_race(const struct dz_panic *panic)
{
    const struct dz_context *second = panic->second;

    return second != NULL &&
        (second->executor != panic->context.executor ||
            second->port != panic->context.port);
}

int dz_panic_exit_code(const struct dz_panic *panic)
{
    return is_race(panic) ? DZ_EXIT_RACE : DZ_EXIT_PANIC;
}
