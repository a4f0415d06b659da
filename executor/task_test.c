/* SPDX-License-Identifier: MIT */
#include "executor/task.h"

#include "sim/test.h"

static struct dz_executor executor;

static void pass(void)
{
    dz_executor_poll(&executor);
}

static unsigned leds; /* that are on, a bit for each */

struct blink {
    struct dz_task task;
    unsigned led;
};

static enum dz_poll blink_poll(struct blink *self)
{
    async (self) {
        leds |= 1U << self->led;
        await(dz_yield_poll());
        leds &= ~(1U << self->led);
    }
    return DZ_READY;
}

DZ_TASK_POOL(blinkers, struct blink, blink_poll, 4)

static void start_blinking(void)
{
    struct blink *blink;

    if (blinkers_claim(&blink) == DZ_BUSY)
        return;
    blink->led = 3;
    dz_executor_spawn(&executor, &blink->task);
}

struct motor {
    struct dz_task task;
    const char *name;
    const char *seen; /* what it saw itself called */
    bool renames;
};

static enum dz_poll motor_poll(struct motor *self)
{
    async (self) {
        if (self->renames)
            self->name = "renamed";
        self->seen = dz_task_name(dz_task_current());
        await(dz_yield_poll());
    }
    return DZ_READY;
}

DZ_TASK_POOL_WITH(
    motors, struct motor, motor_poll, 2, DZ_WITH_NAME(struct motor))

static struct motor *motor;

static void begin(void)
{
    memset(motors_slots, 0, sizeof(motors_slots));
    dz_executor_init(&executor, "test");
    (void)motors_claim(&motor);
}

static void a_task_without_a_name_has_that_of_its_pool(void **state)
{
    struct blink *blink;

    (void)state;
    begin();
    assert_int_equal(blinkers_claim(&blink), DZ_OK);
    assert_string_equal(dz_task_name(&blink->task), "blinkers");
    assert_string_equal(dz_task_name(&motor->task), "motors");
    dz_task_release(&blink->task);
}

static void each_task_may_have_a_name_of_its_own(void **state)
{
    struct motor *other;

    (void)state;
    begin();
    (void)motors_claim(&other);
    motor->name = "left";
    other->name = "right";
    dz_executor_spawn(&executor, &motor->task);
    dz_executor_spawn(&executor, &other->task);
    pass();
    assert_string_equal(motor->seen, "left");
    assert_string_equal(other->seen, "right");
    assert_int_equal(dz_task_slot(&other->task), 1);
}

static void a_task_may_name_itself(void **state)
{
    (void)state;
    begin();
    motor->renames = true;
    dz_executor_spawn(&executor, &motor->task);
    pass();
    assert_string_equal(motor->seen, "renamed");
}

static void a_name_is_gone_when_its_slot_is_claimed_again(void **state)
{
    struct motor *first;

    (void)state;
    begin();
    first = motor;
    motor->renames = true;
    dz_executor_spawn(&executor, &motor->task);
    pass();
    pass();
    (void)motors_claim(&motor);
    assert_ptr_equal(motor, first);
    assert_string_equal(dz_task_name(&motor->task), "motors");
}

static void spawn_named_twice(void)
{
    begin();
    motor->name = "left";
    dz_executor_spawn(&executor, &motor->task);
    dz_executor_spawn(&executor, &motor->task);
}

static enum dz_poll lost_poll(struct motor *self)
{
    self->name = "lost";
    dz_panic("it went astray", __FILE__, __LINE__);
}

DZ_TASK_POOL_WITH(losts, struct motor, lost_poll, 1, DZ_WITH_NAME(struct motor))

static void panic_in_a_named_task(void)
{
    struct motor *lost;

    begin();
    (void)losts_claim(&lost);
    dz_executor_spawn(&executor, &lost->task);
    pass();
}

static void panics_use_its_name(void **state)
{
    (void)state;
    assert_says(last_words_of(spawn_named_twice), "object: left at 0x");
    assert_says(last_words_of(panic_in_a_named_task), "object: lost at 0x");
}

static void the_example_of_the_header_works(void **state)
{
    (void)state;
    dz_executor_init(&executor, "test");
    for (int i = 0; i < 5; i++)
        start_blinking();
    pass();
    assert_int_equal(leds, 1U << 3);
    pass();
    assert_int_equal(leds, 0);
    assert_false(dz_executor_is_ready(&executor));

    begin();
    motor->name = "left";
    assert_string_equal(dz_task_name(&motor->task), "left");
}

RUN_TESTS(TEST(a_task_without_a_name_has_that_of_its_pool),
    TEST(each_task_may_have_a_name_of_its_own), TEST(a_task_may_name_itself),
    TEST(a_name_is_gone_when_its_slot_is_claimed_again),
    TEST(panics_use_its_name), TEST(the_example_of_the_header_works))
