/* SPDX-License-Identifier: MIT */

/*
 * interrupts -- from a handler to the task that it wakes
 *
 * A task waits; an interrupt's handler wakes it, by itself or through a
 * primitive. The interrupt strikes at every instruction of an idle run loop,
 * once each, from one WFE to the next. In instructions:
 *
 *     to_task    from the handler's first one to the task's first one behind
 *                its await, where the core slept: just behind the WFE. (QEMU
 *                does not sleep in one: the run loop goes round and round.)
 *     min, max   the same, wherever it struck
 *     positions  how many there were
 *     handler    the handler with its return, where the core slept
 *
 * In .../interrupt the task is of an executor that an interrupt polls, and the
 * idle run loop is another's.
 *
 * wake_three_times: a handler that does so. further: instructions of the second
 * and the third wake-up; polls: of the task, for all three.
 */

#include <stdlib.h>

#include "bench/qemu/measure.h"
#include "bench/qemu/shot.h"
#include "sync/channel.h"
#include "sync/signal.h"

enum {
    SETTLED = 400,  /* instructions after which a run loop is idle */
    OFFSETS = 1000, /* tried, at most */
};

DZ_SIGNAL_DEFINE(number_signal, uint32_t, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(number_channel, uint32_t, 1, DZ_CRITICAL_SECTION)

static struct number_signal signal_;
static struct number_channel channel;
static struct dz_task *woken; /* by a handler that wakes by itself */
static struct dz_executor thread, urgent;

void SOFTWARE0_Handler(void);
void SOFTWARE0_Handler(void)
{
    dz_executor_poll(&urgent);
}

/* What waits for a wake-up, and nothing else. */
struct sleeper {
    struct dz_task task;
    bool sleeps;
};

DZ_INLINE enum dz_poll sleep_poll(struct sleeper *self)
{
    self->sleeps = !self->sleeps;
    return self->sleeps ? DZ_PENDING : DZ_READY;
}

/* One shot after the other. */
static struct {
    void (*arm)(uint32_t instructions);
    uint32_t offset;
    uint32_t rounds; /* of the run loop: how often one struck behind the WFE */
    uint32_t to_task, min, max, positions;
    uint32_t handler; /* if the probe is armed, too */
    bool is_over;
} shots;

/* Arms one when the last one has been heard. It is a task of the thread's
 * executor, so that the run loop is always as far behind it as the shot. */
static enum dz_poll gunner_poll(struct sleeper *self)
{
    async (self) {
        while (shots.rounds < 2) {
            if (++shots.offset == OFFSETS)
                abort();
            shots.arm(SETTLED + shots.offset);
            await(sleep_poll(self));
        }
        shots.is_over = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(gunners, struct sleeper, gunner_poll, 1)

static struct sleeper *gunner;

static void note(uint32_t age)
{
    if (shot_woke_the_core()) {
        shots.rounds++;
        shots.to_task = age;
        shots.handler = shot_handler_length();
    }
    if (shots.rounds != 1)
        return;
    shots.positions++;
    if (age < shots.min)
        shots.min = age;
    if (age > shots.max)
        shots.max = age;
}

/* Called by the task that was woken, as soon as it runs. False: that was the
 * last one. */
static __attribute__((noinline)) bool hear(uint32_t stamp)
{
    note(shot_age(stamp));
    dz_task_wake(&gunner->task);
    return shots.rounds < 2;
}

/* The tasks that are woken. */

struct listener {
    struct dz_task task;
    uint32_t number;
};

static enum dz_poll signal_listener_poll(struct listener *self)
{
    async (self) {
        do
            await(number_signal_wait(&signal_, &self->number));
        while (hear(measure_stamp()));
    }
    return DZ_READY;
}

static enum dz_poll channel_listener_poll(struct listener *self)
{
    async (self) {
        do
            await(number_channel_receive(&channel, &self->number));
        while (hear(measure_stamp()));
    }
    return DZ_READY;
}

static enum dz_poll sleeper_poll(struct sleeper *self)
{
    async (self) {
        do
            await(sleep_poll(self));
        while (hear(measure_stamp()));
    }
    return DZ_READY;
}

static unsigned polls;

static enum dz_poll counting_sleeper_poll(struct sleeper *self)
{
    polls++;
    return sleeper_poll(self);
}

DZ_TASK_POOL(signal_listeners, struct listener, signal_listener_poll, 1)
DZ_TASK_POOL(channel_listeners, struct listener, channel_listener_poll, 1)
DZ_TASK_POOL(sleepers, struct sleeper, sleeper_poll, 1)
DZ_TASK_POOL(counting_sleepers, struct sleeper, counting_sleeper_poll, 1)

static void signal_handler(void)
{
    number_signal_send(&signal_, 1);
}

static void channel_handler(void)
{
    const uint32_t number = 1;

    (void)number_channel_try_send(&channel, &number);
}

static void wake_handler(void)
{
    dz_task_wake(woken);
}

static void wake_thrice_handler(void)
{
    dz_task_wake(woken);
    dz_task_wake(woken);
    dz_task_wake(woken);
}

static void run_shots(struct dz_executor *executor, const struct dz_pool *pool,
    void (*arm)(uint32_t instructions))
{
    woken = dz_pool_claim(pool);
    if (woken == NULL || gunners_claim(&gunner) == DZ_BUSY)
        abort();
    shots.arm = arm;
    shots.offset = 0;
    shots.rounds = 0;
    shots.positions = 0;
    shots.min = UINT32_MAX;
    shots.max = 0;
    shots.is_over = false;
    dz_executor_spawn(executor, woken);
    dz_executor_spawn(&thread, &gunner->task);
    dz_executor_run_until(&thread, &shots.is_over);
}

static void isr_to_task(struct bench_run *run, void (*handler)(void),
    struct dz_executor *executor, const struct dz_pool *pool)
{
    shot_handler = handler;
    run_shots(executor, pool, shot_arm);
    bench_count(run, "to_task", shots.to_task);
    bench_count(run, "min", shots.min);
    bench_count(run, "max", shots.max);
    bench_count(run, "positions", shots.positions);
    run_shots(executor, pool, shot_arm_probe);
    bench_count(run, "handler", shots.handler);
}

#define DEFINE(name, pool)                                 \
    static void name##_to_thread(struct bench_run *run)    \
    {                                                      \
        isr_to_task(run, name##_handler, &thread, &pool);  \
    }                                                      \
    static void name##_to_interrupt(struct bench_run *run) \
    {                                                      \
        isr_to_task(run, name##_handler, &urgent, &pool);  \
    }

DEFINE(signal, signal_listeners)
DEFINE(channel, channel_listeners)
DEFINE(wake, sleepers)

static void wake_three_times(struct bench_run *run)
{
    uint32_t once;

    shot_handler = wake_handler;
    run_shots(&thread, &counting_sleepers, shot_arm_probe);
    once = shots.handler;
    shot_handler = wake_thrice_handler;
    polls = 0;
    run_shots(&thread, &counting_sleepers, shot_arm_probe);
    bench_count(run, "further", (shots.handler - once) / 2.0);
    bench_count(run, "polls", (double)(polls - 1) / shots.offset);
}

static const struct bench benches[] = {
    {"isr_to_task/wake", wake_to_thread, 0},
    {"isr_to_task/signal", signal_to_thread, 0},
    {"isr_to_task/channel", channel_to_thread, 0},
    {"isr_to_task/wake/interrupt", wake_to_interrupt, 0},
    {"isr_to_task/signal/interrupt", signal_to_interrupt, 0},
    {"isr_to_task/channel/interrupt", channel_to_interrupt, 0},
    {"wake_three_times", wake_three_times, 0},
};

int main(void)
{
    shot_begin();
    dz_executor_init(&thread, "thread");
    dz_executor_init(&urgent, "urgent");
    dz_executor_start(&urgent, BOARD_SOFTWARE0_IRQ, SHOT_LOWER_PRIORITY);
    measure(benches, sizeof(benches) / sizeof(benches[0]));
    return 0;
}
