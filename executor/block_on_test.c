/* SPDX-License-Identifier: MIT */
#include "executor/block_on.h"

#include "executor/select.h"
#include "executor/timer.h"
#include "executor/trail_test.h"
#include "sync/channel.h"

/* A machine that sleeps until the alarm, or until the test's interrupt, which
 * comes first. */

enum { ALARM_IRQ = 4, EXECUTOR_IRQ = 5 };

static uint64_t now;
static uint64_t alarm_at;
static unsigned sleeps;
static void (*in_sleep)(void *argument); /* a handler; once */

static uint64_t machine_now(void)
{
    return now;
}

static void machine_set_alarm(uint64_t at)
{
    alarm_at = at;
}

static void alarm_handler(void *argument)
{
    (void)argument;
    dz_timers_expire();
}

static void machine_wait(void)
{
    void (*handler)(void *argument) = in_sleep;

    sleeps++;
    in_sleep = NULL;
    if (handler != NULL) {
        interrupt_now(handler, NULL);
    } else {
        assert_int_not_equal(alarm_at, UINT64_MAX);
        now = alarm_at;
        pend_interrupt(ALARM_IRQ);
    }
}

static const struct test_clock machine_clock = {
    .now = machine_now,
    .set_alarm = machine_set_alarm,
    .wait = machine_wait,
};

DZ_CHANNEL_DEFINE(int_channel, int, 1, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(noop_channel, int, 2, DZ_NOOP)

static struct int_channel input;
static struct noop_channel noop;
static struct dz_executor executor;
static const int one = 1;

static void begin(void)
{
    use_clock(&machine_clock);
    bind_interrupt(ALARM_IRQ, alarm_handler, NULL);
    dz_local = (struct dz_local)DZ_LOCAL_INITIAL;
    now = 0;
    alarm_at = UINT64_MAX;
    sleeps = 0;
    in_sleep = NULL;
    memset(&input, 0, sizeof(input));
    memset(&noop, 0, sizeof(noop));
    dz_executor_init(&executor, "main");
    begin_trail();
}

static void send(void *argument)
{
    (void)argument;
    assert_true(int_channel_try_send(&input, &one));
}

/* What is blocked on: something, polled and counted. */
struct work {
    struct dz_frame frame;
    enum dz_poll (*poll)(struct work *self);
    struct dz_timer timer;
    struct dz_select2 select;
    int value;
    unsigned polls;
};

static enum dz_poll work_poll(void *argument)
{
    struct work *self = argument;

    self->polls++;
    return self->poll(self);
}

static void block_on_work(struct work *work)
{
    dz_block_on(work_poll, work);
}

static enum dz_poll receive_poll(struct work *self)
{
    return int_channel_receive(&input, &self->value);
}

static void what_is_ready_is_polled_once(void **state)
{
    struct work work = {.poll = receive_poll};

    (void)state;
    begin();
    send(NULL);
    block_on_work(&work);
    assert_int_equal(work.value, 1);
    assert_int_equal(work.polls, 1);
    assert_int_equal(sleeps, 0);
}

static void it_sleeps_until_an_interrupt_wakes_it(void **state)
{
    struct work work = {.poll = receive_poll};

    (void)state;
    begin();
    in_sleep = send;
    block_on_work(&work);
    assert_int_equal(work.value, 1);
    assert_int_equal(work.polls, 2);
    assert_int_equal(sleeps, 1);
}

static enum dz_poll naps_poll(struct work *self)
{
    async (self) {
        await(dz_timer_at(&self->timer, (struct dz_instant){10}));
        await(dz_timer_at(&self->timer, (struct dz_instant){30}));
    }
    return DZ_READY;
}

/* T12: upstream's timers panicked there. */
static void timers_work_in_it(void **state)
{
    struct work work = {.poll = naps_poll};

    (void)state;
    begin();
    block_on_work(&work);
    assert_int_equal(now, 30);
    assert_int_equal(work.polls, 3);
    assert_int_equal(sleeps, 2);
    assert_null(dz_local.timers.root);
}

static enum dz_poll select_poll(struct work *self)
{
    return dz_select2(&self->select,
        dz_timer_at(&self->timer, (struct dz_instant){10}),
        int_channel_receive(&input, &self->value));
}

static void selects_work_in_it(void **state)
{
    struct work work = {.poll = select_poll};

    (void)state;
    begin();
    in_sleep = send;
    block_on_work(&work);
    assert_int_equal(dz_select_winner(&work.select), 1);
    assert_null(dz_local.timers.root);

    block_on_work(&work);
    assert_int_equal(dz_select_winner(&work.select), 0);
    assert_null(input.channel.items.first);
}

static enum dz_poll fill_noop_poll(struct work *self)
{
    (void)self;
    return noop_channel_send(&noop, &one);
}

struct taker {
    struct dz_task task;
    int value;
};

static enum dz_poll taker_poll(struct taker *self)
{
    async (self) {
        await(noop_channel_receive(&noop, &self->value));
        note('t');
    }
    return DZ_READY;
}

DZ_TASK_POOL(takers, struct taker, taker_poll, 1)

static void spawn_taker(void)
{
    struct taker *taker;

    (void)takers_claim(&taker);
    dz_executor_spawn(&executor, &taker->task);
}

static void what_it_sets_up_a_task_may_use(void **state)
{
    struct work work = {.poll = fill_noop_poll};

    (void)state;
    begin();
    block_on_work(&work);
    spawn_taker();
    dz_executor_poll(&executor);
    assert_string_equal(trail, "t");

    block_on_work(&work);
    assert_int_equal(noop_channel_len(&noop), 1);
}

static enum dz_poll pause_poll(struct work *self)
{
    return dz_timer_at(&self->timer, (struct dz_instant){10});
}

static void tasks_of_thread_mode_run_behind_it(void **state)
{
    struct work work = {.poll = pause_poll};

    (void)state;
    begin();
    assert_true(noop_channel_try_send(&noop, &one));
    spawn_taker();
    block_on_work(&work);
    assert_string_equal(trail, "");
    assert_int_equal(sleeps, 1);

    dz_executor_poll(&executor);
    assert_string_equal(trail, "t");
}

struct feeder {
    struct dz_task task;
};

static enum dz_poll feeder_poll(struct feeder *self)
{
    async (self) {
        await(int_channel_send(&input, &one));
    }
    return DZ_READY;
}

DZ_TASK_POOL(feeders, struct feeder, feeder_poll, 1)

static void spawn_feeder(void *argument)
{
    struct feeder *feeder;

    (void)argument;
    (void)feeders_claim(&feeder);
    dz_executor_spawn(&executor, &feeder->task);
}

static void tasks_of_interrupts_run_meanwhile(void **state)
{
    struct work work = {.poll = receive_poll};

    (void)state;
    begin();
    dz_executor_start(&executor, EXECUTOR_IRQ, 2);
    in_sleep = spawn_feeder;
    block_on_work(&work);
    assert_int_equal(work.value, 1);
    assert_int_equal(sleeps, 1);
}

static struct dz_task *seen;

static enum dz_poll see_poll(struct work *self)
{
    (void)self;
    seen = dz_task_current();
    return DZ_READY;
}

static void a_late_wake_up_does_nothing(void **state)
{
    struct work work = {.poll = see_poll};

    (void)state;
    begin();
    block_on_work(&work);
    dz_task_wake(seen);
    assert_null(seen->pool);
    assert_ptr_equal(dz_current, &dz_outside);
    block_on_work(&work);
    assert_int_equal(work.polls, 2);
}

static void sleep_twice_a_core(void *argument)
{
    static struct work works[2];
    unsigned index = (unsigned)(uintptr_t)argument;

    works[index] = (struct work){.poll = naps_poll};
    block_on_work(&works[index]);
    assert_int_equal(works[index].polls, 3);
}

static void each_core_has_its_own(void **state)
{
    (void)state;
    needs_host("there is one core");
    run_on_two_cores(sleep_twice_a_core, sleep_twice_a_core);
}

static enum dz_poll nested_poll(struct work *self)
{
    struct work work = {.poll = receive_poll};

    (void)self;
    block_on_work(&work);
    return DZ_READY;
}

static void nest(void)
{
    struct work work = {.poll = nested_poll};

    begin();
    block_on_work(&work);
}

static void block_in_handler(void *argument)
{
    struct work work = {.poll = receive_poll};

    (void)argument;
    block_on_work(&work);
}

static void block_in_interrupt(void)
{
    begin();
    interrupt_now(block_in_handler, NULL);
}

static enum dz_poll blocker_poll(struct feeder *self)
{
    (void)self;
    block_in_handler(NULL);
    return DZ_READY;
}

DZ_TASK_POOL(blockers, struct feeder, blocker_poll, 1)

static void block_in_task(void)
{
    struct feeder *blocker;

    begin();
    (void)blockers_claim(&blocker);
    dz_executor_spawn(&executor, &blocker->task);
    dz_executor_poll(&executor);
}

static void within_another_a_task_or_a_handler_it_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(nest), "await instead");
    assert_says(last_words_of(block_in_interrupt), "await instead");
    assert_says(last_words_of(block_in_task), "await instead");
    assert_says(last_words_of(block_in_task), "object: blockers at 0x");
}

/* As if each poll were another thread. */
static enum dz_poll another_poll(struct work *self)
{
    struct work work = {.poll = another_poll};

    (void)self;
    dz_current = &dz_outside;
    block_on_work(&work);
    return DZ_READY;
}

static void block_too_often(void)
{
    begin();
    (void)another_poll(NULL);
}

static void on_more_threads_than_cores_it_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(block_too_often), "more threads than DZ_CORES");
}

DZ_CHANNEL_DEFINE(sample_channel, int, 1, DZ_CRITICAL_SECTION)

static struct sample_channel samples;

struct calibration {
    struct dz_frame frame;
    struct dz_timer timer;
    int offset;
};

static enum dz_poll calibrate_poll(void *argument)
{
    struct calibration *self = argument;

    async (self) {
        await(dz_timer_after(&self->timer, dz_duration_from_millis(5)));
        await(sample_channel_receive(&samples, &self->offset));
    }
    return DZ_READY;
}

static void the_example_of_the_header_works(void **state)
{
    struct calibration calibration = {.offset = 0};

    (void)state;
    begin();
    assert_true(sample_channel_try_send(&samples, &one));
    dz_block_on(calibrate_poll, &calibration);
    assert_int_equal(calibration.offset, 1);
    assert_int_equal(now, 5000);
}

RUN_TESTS(TEST(what_is_ready_is_polled_once),
    TEST(it_sleeps_until_an_interrupt_wakes_it), TEST(timers_work_in_it),
    TEST(selects_work_in_it), TEST(what_it_sets_up_a_task_may_use),
    TEST(tasks_of_thread_mode_run_behind_it),
    TEST(tasks_of_interrupts_run_meanwhile), TEST(a_late_wake_up_does_nothing),
    MACHINE_TEST(each_core_has_its_own),
    TEST(within_another_a_task_or_a_handler_it_panics),
    TEST(on_more_threads_than_cores_it_panics),
    TEST(the_example_of_the_header_works))
