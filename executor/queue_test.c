/* SPDX-License-Identifier: MIT */

/*
 * queue_test -- requests of different size for one stock of permits
 *
 * The smallest primitive on top of a queue: `free` permits, of which a request
 * takes as many as it says.
 */

#include "executor/queue.h"
#include "executor/select.h"
#include "sim/test.h"

struct stock {
    struct dz_queue queue;
    unsigned free;
};

static bool stock_grant(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request)
{
    struct stock *stock = container_of(queue, struct stock, queue);

    (void)type;
    if (stock->free < *request)
        return false;
    stock->free -= (unsigned)*request;
    return true;
}

static void stock_give_back(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    (void)type;
    container_of(queue, struct stock, queue)->free += (unsigned)request;
}

static const struct dz_queue_type in_order =
    DZ_QUEUE_TYPE(stock_grant, stock_give_back, DZ_IN_ORDER);
static const struct dz_queue_type who_can =
    DZ_QUEUE_TYPE(stock_grant, stock_give_back, DZ_WHO_CAN);

static struct stock stock;
static const struct dz_queue_type *type;

static enum dz_poll acquire_poll(unsigned count)
{
    uintptr_t request = count;
    dz_key key;
    bool is_ours;

    dz_queue_turn_to(&stock.queue, request, DZ_CHECKS);
    key = dz_port_enter();
    is_ours = dz_queue_take(&stock.queue, type, &request);
    dz_port_exit(key);
    return is_ours ? DZ_READY : DZ_PENDING;
}

static void release(unsigned count)
{
    dz_key key = dz_port_enter();

    stock.free += count;
    dz_queue_serve(&stock.queue);
    dz_port_exit(key);
}

struct taker {
    struct dz_task task;
    struct dz_select2 select;
    unsigned count;
    unsigned other; /* of a second branch, 0: none */
    unsigned polls;
    bool is_served;
    bool gives_up; /* at its next poll */
};

static unsigned served[8]; /* who, in what order */
static unsigned served_count;

static enum dz_poll wait_poll(struct taker *self)
{
    strike_behind_wait();
    if (self->other == 0)
        return acquire_poll(self->count);
    return dz_select2(
        &self->select, acquire_poll(self->count), acquire_poll(self->other));
}

static enum dz_poll taker_poll(struct taker *self)
{
    self->polls++;
    if (self->gives_up)
        return DZ_READY;
    if (wait_poll(self) == DZ_PENDING)
        return DZ_PENDING;
    self->is_served = true;
    served[served_count++] = (unsigned)dz_task_slot(&self->task);
    return DZ_READY;
}

DZ_TASK_POOL(takers, struct taker, taker_poll, 6)

static struct dz_executor executor;
static struct dz_executor urgent; /* an interrupt's */

static void prepare(const struct dz_queue_type *queue_type, unsigned permits)
{
    type = queue_type;
    stock = (struct stock){.free = permits};
    memset(takers_slots, 0, sizeof(takers_slots));
    served_count = 0;
    dz_executor_init(&executor, "test");
    dz_executor_init(&urgent, "urgent");
}

static struct taker *spawn(unsigned count)
{
    struct taker *taker;

    assert_int_equal(takers_claim(&taker), DZ_OK);
    taker->count = count;
    dz_executor_spawn(&executor, &taker->task);
    dz_executor_poll(&executor);
    return taker;
}

static void give_up(struct taker *taker)
{
    taker->gives_up = true;
    dz_task_wake(&taker->task);
    dz_executor_poll(&executor);
}

static void what_is_there_is_taken_at_once(void **state)
{
    (void)state;
    prepare(&in_order, 3);

    const struct taker *taker = spawn(3);

    assert_true(taker->is_served);
    assert_int_equal(stock.free, 0);
}

static void in_order_the_first_holds_up_the_others(void **state)
{
    (void)state;
    prepare(&in_order, 1);

    const struct taker *large = spawn(2);
    const struct taker *small = spawn(1);

    assert_false(large->is_served);
    assert_false(small->is_served);
    release(1);
    dz_executor_poll(&executor);
    assert_true(large->is_served);
    assert_false(small->is_served);
    release(1);
    dz_executor_poll(&executor);
    assert_true(small->is_served);
}

static void polling_again_keeps_the_place_and_gets_nothing(void **state)
{
    (void)state;
    prepare(&in_order, 0);

    const struct taker *first = spawn(1);
    const struct taker *second = spawn(1);

    dz_task_wake(&takers_slots[0].task);
    dz_executor_poll(&executor);
    assert_int_equal(first->polls, 2);
    assert_false(first->is_served);
    release(1);
    dz_executor_poll(&executor);
    assert_true(first->is_served);
    assert_false(second->is_served);
}

static void one_release_serves_as_many_as_it_can(void **state)
{
    (void)state;
    prepare(&in_order, 0);
    for (unsigned count = 1; count <= 4; count++)
        spawn(count);

    release(7);
    dz_executor_poll(&executor);

    assert_int_equal(served_count, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(served[i], i);
    assert_int_equal(stock.free, 1);
}

static void who_can_passes_who_cannot(void **state)
{
    (void)state;
    prepare(&who_can, 0);

    const struct taker *large = spawn(3);
    const struct taker *small = spawn(1);
    const struct taker *medium = spawn(2);

    release(2);
    dz_executor_poll(&executor);
    assert_true(small->is_served);
    assert_false(medium->is_served);
    assert_false(large->is_served);
    release(2); /* three are free now */
    dz_executor_poll(&executor);
    assert_true(large->is_served);
    assert_false(medium->is_served);
}

static void who_is_granted_is_polled_once_and_others_not_at_all(void **state)
{
    (void)state;
    prepare(&in_order, 0);

    const struct taker *first = spawn(1);
    const struct taker *second = spawn(1);

    release(1);
    for (int i = 0; i < 1000; i++)
        dz_executor_poll(&executor);
    assert_int_equal(first->polls, 2);
    assert_int_equal(second->polls, 1);
}

static void nobody_takes_what_is_granted_to_another(void **state)
{
    uintptr_t request = 1;

    (void)state;
    prepare(&in_order, 0);
    spawn(2);

    release(2);
    assert_false(dz_queue_try_take(&stock.queue, type, &request));
    release(1);
    assert_true(dz_queue_try_take(&stock.queue, type, &request));
}

static void a_head_that_leaves_lets_the_next_go_on(void **state)
{
    (void)state;
    prepare(&in_order, 1);

    struct taker *large = spawn(2);
    const struct taker *small = spawn(1);

    give_up(large);
    dz_executor_poll(&executor);
    assert_true(small->is_served);
    assert_int_equal(stock.free, 0);
}

static void a_grant_that_is_cancelled_serves_all_it_can(void **state)
{
    (void)state;
    prepare(&in_order, 0);

    struct taker *large = spawn(2);
    const struct taker *first = spawn(1);
    const struct taker *second = spawn(1);

    release(2);
    give_up(large);
    dz_executor_poll(&executor);
    assert_true(first->is_served);
    assert_true(second->is_served);
    assert_int_equal(stock.free, 0);
}

/* Removes the first, the last, one in the middle, and the only one. */
static void anyone_may_leave_the_line(void **state)
{
    static const unsigned orders[][4] = {
        {0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
    struct taker *all[4];

    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        for (unsigned left = 0; left <= 4; left++) {
            unsigned next = 0;

            prepare(&in_order, 0);
            for (unsigned i = 0; i < 4; i++)
                all[i] = spawn(1);
            for (unsigned i = 0; i < left; i++)
                give_up(all[orders[k][i]]);
            release(4);
            dz_executor_poll(&executor);

            assert_int_equal(served_count, 4 - left);
            assert_int_equal(stock.free, left);
            for (unsigned i = 0; i < 4; i++)
                if (all[i]->is_served)
                    assert_int_equal(served[next++], i);
        }
    }
}

static void branches_that_lose_pass_nothing_to_each_other(void **state)
{
    struct taker *both;

    (void)state;
    prepare(&in_order, 0);
    assert_int_equal(takers_claim(&both), DZ_OK);
    both->count = 2;
    both->other = 1;
    dz_executor_spawn(&executor, &both->task);
    dz_executor_poll(&executor);
    release(1);
    assert_int_equal(stock.free, 1);

    /* Its first branch leaves the line; its second must not be granted then. */
    dz_waiter_withdraw(&both->select.branches[0].waiter);
    assert_int_equal(stock.free, 1);
    give_up(both);

    assert_int_equal(both->polls, 2);
    assert_int_equal(stock.free, 1);
    assert_false(dz_queue_is_occupied(&stock.queue));
    assert_false(dz_executor_is_ready(&executor));
}

static void release_one(void *argument)
{
    (void)argument;
    release(1);
}

/* W10 */
static void an_interrupt_behind_the_registration_is_not_lost(void **state)
{
    const struct taker *taker;

    (void)state;
    prepare(&in_order, 0);
    prepare_strike(release_one, NULL);

    taker = spawn(1);

    assert_true(has_struck_in_queue());
    assert_false(taker->is_served);
    dz_executor_poll(&executor);
    assert_true(taker->is_served);
    assert_int_equal(taker->polls, 2);
}

static void poll_urgent(void *argument)
{
    dz_executor_poll(argument);
}

static struct taker *spawn_urgently(unsigned count)
{
    struct taker *taker;

    assert_int_equal(takers_claim(&taker), DZ_OK);
    taker->count = count;
    dz_executor_spawn(&urgent, &taker->task);
    interrupt_now(poll_urgent, &urgent);
    return taker;
}

static struct taker *spawn_fork(unsigned count, unsigned other)
{
    struct taker *both;

    assert_int_equal(takers_claim(&both), DZ_OK);
    both->count = count;
    both->other = other;
    dz_executor_spawn(&executor, &both->task);
    dz_executor_poll(&executor);
    return both;
}

/* A cancellation has two steps, and interrupts come between. There, it is as if
 * the branches had left; but whom that lets go on is served in the second. */
static void who_comes_while_a_fork_is_cancelled_is_served_in_its_turn(
    void **state)
{
    (void)state;
    prepare(&in_order, 1);

    struct taker *both = spawn_fork(2, 3);
    const struct taker *behind = spawn(1);

    dz_waiter_withdraw(&both->task.waiter);
    const struct taker *newcomer = spawn_urgently(1);

    assert_false(newcomer->is_served);
    give_up(both);
    dz_executor_poll(&executor);
    dz_executor_poll(&urgent);
    assert_true(behind->is_served);
    assert_int_equal(newcomer->polls, 1);
    release(1);
    dz_executor_poll(&urgent);
    assert_true(newcomer->is_served);
    assert_int_equal(stock.free, 0);
}

static void who_comes_while_a_fork_is_cancelled_gets_what_that_gives_back(
    void **state)
{
    static const struct dz_queue_type *const types[] = {&in_order, &who_can};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        prepare(types[i], 0);

        struct taker *both = spawn_fork(1, 3);

        release(1); /* to its first branch */
        dz_waiter_withdraw(&both->task.waiter);
        const struct taker *newcomer = spawn_urgently(1);

        assert_false(newcomer->is_served);
        give_up(both);
        dz_executor_poll(&urgent);
        assert_true(newcomer->is_served);
        assert_int_equal(newcomer->polls, 2);
        assert_int_equal(stock.free, 0);
    }
}

/* Nothing of what is served, or taken, in between has to do with the fork: to
 * cancel it then serves nobody, and makes nothing free. */
static void who_is_served_while_a_fork_is_cancelled_stays_so(void **state)
{
    static const struct dz_queue_type *const types[] = {&in_order, &who_can};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        prepare(types[i], 0);

        struct taker *both = spawn_fork(1, 2);

        dz_waiter_withdraw(&both->task.waiter);
        const struct taker *first = spawn_urgently(1);
        const struct taker *second = spawn_urgently(1);

        interrupt_now(release_one, NULL);
        interrupt_now(poll_urgent, &urgent);
        assert_true(first->is_served);
        give_up(both);
        dz_executor_poll(&urgent);
        assert_int_equal(second->polls, 1);
        assert_int_equal(stock.free, 0);
        release(1);
        dz_executor_poll(&urgent);
        assert_true(second->is_served);
        assert_int_equal(served_count, 2);
    }
}

struct changer {
    struct dz_task task;
    unsigned count;
    bool is_served;
};

static enum dz_poll changer_poll(struct changer *self)
{
    if (acquire_poll(self->count) == DZ_READY) {
        self->is_served = true;
        return DZ_READY;
    }
    if (self->count == 2) {
        dz_cancel();
        self->count = 1;
        dz_task_wake(&self->task);
    }
    return DZ_PENDING;
}

DZ_TASK_POOL(changers, struct changer, changer_poll, 1)

static void another_request_goes_to_the_end_of_the_line(void **state)
{
    struct changer *changer;

    (void)state;
    prepare(&in_order, 0);
    assert_int_equal(changers_claim(&changer), DZ_OK);
    changer->count = 2;
    dz_executor_spawn(&executor, &changer->task);
    dz_executor_poll(&executor);

    const struct taker *taker = spawn(1);

    release(1);
    dz_executor_poll(&executor);
    assert_true(changer->is_served);
    assert_false(taker->is_served);
    release(1);
    dz_executor_poll(&executor);
    assert_true(taker->is_served);
}

static enum dz_poll careless_changer_poll(struct changer *self)
{
    self->count = 3 - self->count;
    return acquire_poll(self->count);
}

DZ_TASK_POOL(careless, struct changer, careless_changer_poll, 1)

static void ask_for_something_else_without_cancel(void)
{
    struct changer *changer;

    prepare(&in_order, 0);
    if (careless_claim(&changer) == DZ_BUSY)
        return;
    changer->count = 1;
    dz_executor_spawn(&executor, &changer->task);
    dz_executor_poll(&executor);
    dz_task_wake(&changer->task);
    dz_executor_poll(&executor);
}

static void another_request_without_cancel_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(ask_for_something_else_without_cancel),
        "is an await missing?");
}

static void in_front_goes_who_goes_on(void **state)
{
    struct dz_waiter *first;

    (void)state;
    prepare(&in_order, 0);
    spawn(1);
    dz_waiter_withdraw(&takers_slots[0].task.waiter);
    spawn(1);
    spawn(1);

    takers_slots[0].task.waiter.place = 0;
    dz_current = &takers_slots[0].task.waiter;
    dz_queue_prepend(&stock.queue, type, 1);
    dz_current = &dz_outside;

    first = stock.queue.last->next;
    assert_ptr_equal(first, &takers_slots[0].task.waiter);
    assert_ptr_equal(first->next, &takers_slots[1].task.waiter);
    assert_ptr_equal(stock.queue.last, &takers_slots[2].task.waiter);
}

RUN_TESTS(TEST(what_is_there_is_taken_at_once),
    TEST(in_order_the_first_holds_up_the_others),
    TEST(polling_again_keeps_the_place_and_gets_nothing),
    TEST(one_release_serves_as_many_as_it_can), TEST(who_can_passes_who_cannot),
    TEST(who_is_granted_is_polled_once_and_others_not_at_all),
    TEST(nobody_takes_what_is_granted_to_another),
    TEST(a_head_that_leaves_lets_the_next_go_on),
    TEST(a_grant_that_is_cancelled_serves_all_it_can),
    TEST(anyone_may_leave_the_line),
    TEST(branches_that_lose_pass_nothing_to_each_other),
    TEST(an_interrupt_behind_the_registration_is_not_lost),
    TEST(who_comes_while_a_fork_is_cancelled_is_served_in_its_turn),
    TEST(who_comes_while_a_fork_is_cancelled_gets_what_that_gives_back),
    TEST(who_is_served_while_a_fork_is_cancelled_stays_so),
    TEST(another_request_goes_to_the_end_of_the_line),
    TEST(another_request_without_cancel_panics),
    TEST(in_front_goes_who_goes_on))
