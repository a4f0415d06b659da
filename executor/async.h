/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_ASYNC_H
#define EXECUTOR_ASYNC_H

/*
 * async -- a function that resumes where it left off
 *
 * An async function keeps what must survive a wait in a frame: a struct whose
 * first member is a `struct dz_frame` or, for a task, a `struct dz_task`. Its
 * body stands in an async block. An await in it returns DZ_PENDING to the
 * caller until what it waits for is ready; the next call goes on at that await.
 *
 *     struct echo {
 *         struct dz_frame frame;
 *         struct line line;
 *     };
 *
 *     static enum dz_poll echo_poll(struct echo *self)
 *     {
 *         async (self) {
 *             await(line_channel_receive(&input, &self->line));
 *             await(line_channel_send(&output, &self->line));
 *         }
 *         return DZ_READY;
 *     }
 *
 * The caller embeds the frame in its own and awaits it like anything else:
 * `await(echo_poll(&self->echo));`.
 *
 * What is guaranteed
 *  - A frame of zero bytes has not started. A body that reaches the end of its
 *    block starts afresh at its next call, so one child frame serves again and
 *    again.
 *  - A debugger shows in frame.line the line of the await it stands at.
 *
 * What to know
 *  - async and await are for a function whose parameter is called self.
 *  - Locals do not survive an await: keep them in the frame. gcc
 *    (-Wjump-misses-init, -Wmaybe-uninitialized) and clang
 *    (-Wconditional-uninitialized) each catch slips that the other misses.
 *  - An await in a nested switch panics, with its own file and line, as soon
 *    as it is resumed. Use if, or give the inner switch a function.
 *  - Leave from the middle with `return dz_finish(self);`. A plain return
 *    would resume at the last await.
 *  - At most one await on a line ("duplicate case value"), all of them in the
 *    async block ("case label not within a switch"), and no file longer than
 *    65535 lines: compile errors.
 *  - A poll that is not awaited is a warning: the task would go on without what
 *    it did not wait for.
 */

#include <stdint.h>

#include "executor/compiler.h"
#include "executor/panic.h"
#include "executor/trace.h"

enum dz_poll {
    DZ_PENDING, /* not yet: call again after a wake-up */
    DZ_READY,   /* done */
};

/* First member of every frame. */
struct dz_frame {
    uint16_t line; /* of the await it stands at; 0: not started */
};

/* Makes a frame start afresh at its next call. Cancelling the branch that
 * polled it does not (see fork.h): reset a cancelled child before you await
 * it again. */
DZ_INLINE void dz_frame_reset(struct dz_frame *frame)
{
    frame->line = 0;
}

#define dz_frame_of(self) ((struct dz_frame *)(void *)(self))

/* Leaves an async function early: `return dz_finish(self);`. */
#define dz_finish(self) (dz_frame_reset(dz_frame_of(self)), DZ_READY)

/*
 * The switch jumps to the await at which the frame stands. Its default is
 * reached by a line that has no case here: that case is in a nested switch.
 * The loop runs once; it is there to reset the frame behind the block.
 */
#define async(self)                                            \
    for (int dz_once_ = 1; dz_once_ != 0;                      \
         dz_once_ = 0, dz_frame_reset(dz_frame_of(self)))      \
        switch (dz_frame_of(self)->line)                       \
        case 0:                                                \
            if (0) {                                           \
            default:                                           \
                dz_panic("await in a nested switch", __FILE__, \
                    dz_frame_of(self)->line);                  \
            } else

/* Tells who watches where the task waits. */
#define dz_trace_await(file, line)                                             \
    do {                                                                       \
        static const struct dz_await_place dz_place_ = {file, __func__, line}; \
                                                                               \
        dz_trace(DZ_EVENT_AWAIT, &dz_place_, (const void *)0);                 \
    } while (0)

/* Polls the expression now and at every resumption until it is ready. What a
 * try_ operation returns is no poll: nobody would wake the task. (An enum is
 * one of the three types, as the compiler chooses.) */
#define await(expression)                                                  \
    do {                                                                   \
        _Static_assert(_Generic((expression), int : 1, unsigned : 1,       \
                           unsigned char : 1, default : 0),                \
            "await needs a poll: not a bool, not a pointer");              \
        _Static_assert(__LINE__ <= UINT16_MAX, "file too long for await"); \
        __attribute__((fallthrough));                                      \
    case __LINE__:                                                         \
        if ((expression) == DZ_PENDING) {                                  \
            dz_frame_of(self)->line = (uint16_t)__LINE__;                  \
            dz_trace_await(__FILE__, __LINE__);                            \
            return DZ_PENDING;                                             \
        }                                                                  \
    } while (0)

#endif
