/* SPDX-License-Identifier: MIT */
#include "executor/async.h"

#include "sim/test.h"
#include "sync/channel.h"

/* Ready at the `needed`-th poll. */
struct countdown {
    int needed;
};

static enum dz_poll countdown_poll(struct countdown *self)
{
    return --self->needed <= 0 ? DZ_READY : DZ_PENDING;
}

struct steps {
    struct dz_frame frame;
    struct countdown first;
    struct countdown second;
    int trail; /* a decimal digit for each place that was passed */
};

static int second_await; /* its line */

static enum dz_poll steps_poll(struct steps *self)
{
    async (self) {
        self->trail = self->trail * 10 + 1;
        await(countdown_poll(&self->first));
        self->trail = self->trail * 10 + 2;
        second_await = __LINE__ + 1;
        await(countdown_poll(&self->second));
        self->trail = self->trail * 10 + 3;
    }
    return DZ_READY;
}

static void goes_on_at_the_await_where_it_stands(void **state)
{
    struct steps steps = {.first = {2}, .second = {3}};

    (void)state;
    assert_int_equal(steps_poll(&steps), DZ_PENDING);
    assert_int_equal(steps.trail, 1);
    assert_int_equal(steps_poll(&steps), DZ_PENDING);
    assert_int_equal(steps.trail, 12);
    assert_int_equal(steps_poll(&steps), DZ_PENDING);
    assert_int_equal(steps.trail, 12);
    assert_int_equal(steps_poll(&steps), DZ_READY);
    assert_int_equal(steps.trail, 123);
}

static void runs_through_what_is_ready_without_returning(void **state)
{
    struct steps steps = {.first = {1}, .second = {1}};

    (void)state;
    assert_int_equal(steps_poll(&steps), DZ_READY);
    assert_int_equal(steps.trail, 123);
}

static void starts_afresh_when_it_is_called_after_its_end(void **state)
{
    struct steps steps = {.first = {1}, .second = {2}};

    (void)state;
    assert_int_equal(steps_poll(&steps), DZ_PENDING);
    assert_int_equal(steps_poll(&steps), DZ_READY);
    assert_int_equal(steps_poll(&steps), DZ_READY);
    assert_int_equal(steps.trail, 123123);
}

static void a_debugger_sees_the_line_it_waits_at(void **state)
{
    struct steps steps = {.first = {1}, .second = {2}};

    (void)state;
    assert_int_equal(steps.frame.line, 0);
    (void)steps_poll(&steps);
    assert_int_equal(steps.frame.line, second_await);
}

static void reset_makes_it_start_afresh(void **state)
{
    struct steps steps = {.first = {2}, .second = {2}};

    (void)state;
    (void)steps_poll(&steps);
    dz_frame_reset(&steps.frame);
    (void)steps_poll(&steps);
    assert_int_equal(steps.trail, 112);
}

struct parent {
    struct dz_frame frame;
    struct steps child;
    int round;
    bool leaves_early;
    bool reached_its_end;
};

static enum dz_poll parent_poll(struct parent *self)
{
    async (self) {
        for (self->round = 0; self->round < 2; self->round++) {
            self->child.first.needed = 2;
            self->child.second.needed = 1;
            await(steps_poll(&self->child));
            if (self->leaves_early)
                return dz_finish(self);
        }
        self->reached_its_end = true;
    }
    return DZ_READY;
}

static void a_child_frame_serves_again_and_again(void **state)
{
    struct parent parent = {.round = 0};

    (void)state;
    assert_int_equal(parent_poll(&parent), DZ_PENDING);
    assert_int_equal(parent_poll(&parent), DZ_PENDING);
    assert_int_equal(parent_poll(&parent), DZ_READY);
    assert_int_equal(parent.child.trail, 123123);
    assert_true(parent.reached_its_end);
}

static void finish_leaves_from_the_middle_and_starts_afresh(void **state)
{
    struct parent parent = {.leaves_early = true};

    (void)state;
    (void)parent_poll(&parent);
    assert_int_equal(parent_poll(&parent), DZ_READY);
    assert_false(parent.reached_its_end);
    assert_int_equal(parent.frame.line, 0);
}

struct nested {
    struct dz_frame frame;
    int kind;
    struct countdown countdown;
};

static int nested_await; /* its line */

static enum dz_poll nested_poll(struct nested *self)
{
    async (self) {
        switch (self->kind) {
        case 7:
            nested_await = __LINE__ + 1;
            await(countdown_poll(&self->countdown));
            break;
        default:
            break;
        }
    }
    return DZ_READY;
}

static void await_in_a_nested_switch(void)
{
    struct nested nested = {.kind = 7, .countdown = {2}};

    (void)nested_poll(&nested);
    (void)nested_poll(&nested);
}

static void an_await_in_a_nested_switch_panics_with_its_line(void **state)
{
    struct last_words words = last_words_of(await_in_a_nested_switch);

    struct nested nested = {.kind = 7, .countdown = {2}};

    (void)state;
    (void)nested_poll(&nested);
    assert_says(words, "await in a nested switch");
    assert_says_place(words, nested_await);
    assert_says(words, "thread mode");
}

struct line {
    char text[8];
};

DZ_CHANNEL_DEFINE(line_channel, struct line, 1, DZ_CRITICAL_SECTION)

static struct line_channel input, output;

struct echo {
    struct dz_frame frame;
    struct line line;
};

static enum dz_poll echo_poll(struct echo *self)
{
    async (self) {
        await(line_channel_receive(&input, &self->line));
        await(line_channel_send(&output, &self->line));
    }
    return DZ_READY;
}

/* Embeds the frame in its own. */
struct console {
    struct dz_task task;
    struct echo echo;
};

static enum dz_poll console_poll(struct console *self)
{
    async (self) {
        await(echo_poll(&self->echo));
    }
    return DZ_READY;
}

DZ_TASK_POOL(consoles, struct console, console_poll, 1)

static void the_example_of_the_header_works(void **state)
{
    static struct dz_executor executor;
    struct line line = {"hello"};
    struct line echoed;
    struct console *console;

    (void)state;
    dz_executor_init(&executor, "test");
    (void)consoles_claim(&console);
    dz_executor_spawn(&executor, &console->task);
    dz_executor_poll(&executor);
    assert_false(line_channel_try_receive(&output, &echoed));

    assert_true(line_channel_try_send(&input, &line));
    dz_executor_poll(&executor);

    assert_true(line_channel_try_receive(&output, &echoed));
    assert_string_equal(echoed.text, "hello");
}

RUN_TESTS(TEST(goes_on_at_the_await_where_it_stands),
    TEST(runs_through_what_is_ready_without_returning),
    TEST(starts_afresh_when_it_is_called_after_its_end),
    TEST(a_debugger_sees_the_line_it_waits_at),
    TEST(reset_makes_it_start_afresh),
    TEST(a_child_frame_serves_again_and_again),
    TEST(finish_leaves_from_the_middle_and_starts_afresh),
    TEST(an_await_in_a_nested_switch_panics_with_its_line),
    TEST(the_example_of_the_header_works))
