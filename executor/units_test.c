/* SPDX-License-Identifier: MIT */
#include "executor/units.h"

#include "executor/select.h"
#include "sim/test.h"

/* The barest primitive there is: permits behind a critical section. */
struct permits {
    struct dz_units units;
};

enum { INITIALLY = 0, VISITORS = 5 };

static enum dz_poll permits_poll(struct permits *self)
{
    dz_key key = dz_port_enter();
    bool is_ours = dz_units_take(&self->units, INITIALLY, DZ_CHECKS);

    dz_port_exit(key);
    return is_ours ? DZ_READY : DZ_PENDING;
}

static bool permits_try_take(struct permits *self)
{
    dz_key key = dz_port_enter();
    bool is_ours = dz_units_try_take(&self->units, INITIALLY);

    dz_port_exit(key);
    return is_ours;
}

static void permits_give(struct permits *self)
{
    dz_key key = dz_port_enter();

    dz_units_give(&self->units);
    dz_port_exit(key);
}

static unsigned permits_free(const struct permits *self)
{
    return dz_units_free(&self->units, INITIALLY);
}

static struct permits permits;
static struct permits others;
static struct permits stop;
static struct dz_executor executor;

/* A task that takes permits, and can be told to stop. */
struct visitor {
    struct dz_task task;
    struct dz_select2 select;
    unsigned taken;
    unsigned polls;
    bool stopped;
};

static enum dz_poll counted_permits_poll(struct visitor *self)
{
    self->polls++;
    strike_behind_wait();
    return permits_poll(&permits);
}

static enum dz_poll visitor_poll(struct visitor *self)
{
    async (self) {
        for (;;) {
            await(dz_select2(&self->select, counted_permits_poll(self),
                permits_poll(&stop)));
            if (dz_select_winner(&self->select) == 1) {
                self->stopped = true;
                return dz_finish(self);
            }
            self->taken++;
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(visitors, struct visitor, visitor_poll, VISITORS)

static struct visitor *visitor[VISITORS];

/* `count` visitors wait for a permit, in order. */
static void begin(unsigned count)
{
    permits = (struct permits){.units = {.free = 0}};
    others = permits;
    stop = permits;
    dz_executor_init(&executor, "test");
    memset(visitors_slots, 0, sizeof(visitors_slots));
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(visitors_claim(&visitor[i]), DZ_OK);
        dz_executor_spawn(&executor, &visitor[i]->task);
    }
    dz_executor_poll(&executor);
}

/* Takes a visitor's select out of the queues, as if it had lost: what a task
 * does to a branch. Its place among those that are to stop stays out of it. */
static void cancel(unsigned i)
{
    dz_waiter_cancel(&visitor[i]->select.branches[0].waiter);
}

static void a_unit_goes_to_who_waited_longest(void **state)
{
    (void)state;
    begin(3);
    for (unsigned i = 0; i < 3; i++) {
        permits_give(&permits);
        dz_executor_poll(&executor);
        for (unsigned j = 0; j < 3; j++)
            assert_int_equal(visitor[j]->taken, j <= i ? 1 : 0);
    }
}

static void units_that_nobody_waits_for_are_free(void **state)
{
    (void)state;
    begin(0);
    permits_give(&permits);
    permits_give(&permits);
    assert_int_equal(permits_free(&permits), 2);
    assert_true(permits_try_take(&permits));
    assert_true(permits_try_take(&permits));
    assert_false(permits_try_take(&permits));
}

/* Decision 3: what others see is what is not promised. */
static void a_promised_unit_is_not_free(void **state)
{
    (void)state;
    begin(1);
    permits_give(&permits);
    assert_int_equal(permits_free(&permits), 0);
    assert_false(permits_try_take(&permits));
    dz_executor_poll(&executor);
    assert_int_equal(visitor[0]->taken, 1);
}

/* W1: upstream, two waiters wake each other for ever. */
static void waiters_are_not_polled_while_nothing_happens(void **state)
{
    (void)state;
    begin(5);
    for (int i = 0; i < 1000; i++)
        dz_executor_poll(&executor);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(visitor[i]->polls, 1);
    assert_false(dz_executor_is_ready(&executor));
}

/* W2: and so those of the lower priority, who hold the lock, never ran. */
static void waiters_of_one_executor_leave_the_other_alone(void **state)
{
    static struct dz_executor urgent;

    (void)state;
    begin(0);
    dz_executor_init(&urgent, "urgent");
    for (unsigned i = 0; i < 2; i++) {
        (void)visitors_claim(&visitor[i]);
        dz_executor_spawn(&urgent, &visitor[i]->task);
    }
    dz_executor_poll(&urgent);
    assert_false(dz_executor_is_ready(&urgent));
    permits_give(&permits);
    dz_executor_poll(&urgent);
    permits_give(&permits);
    dz_executor_poll(&urgent);
    assert_int_equal(visitor[0]->taken, 1);
    assert_int_equal(visitor[1]->taken, 1);
}

/* W3: who gives a unit and wants it again at once comes behind who waits. */
static void nobody_barges_past_a_waiter(void **state)
{
    (void)state;
    begin(1);
    permits_give(&permits);
    assert_false(permits_try_take(&permits));
    dz_executor_poll(&executor);
    assert_int_equal(visitor[0]->taken, 1);
}

/* W4: the hazard of every queue. */
static void a_grant_that_is_cancelled_goes_to_the_next(void **state)
{
    (void)state;
    begin(3);
    permits_give(&permits);
    cancel(0);
    dz_executor_poll(&executor);
    assert_int_equal(visitor[1]->taken, 1);
    assert_int_equal(visitor[2]->taken, 0);
}

static void a_grant_that_is_cancelled_is_free_if_nobody_waits(void **state)
{
    (void)state;
    begin(1);
    permits_give(&permits);
    cancel(0);
    assert_int_equal(permits_free(&permits), 1);
}

static void a_waiter_leaves_the_queue_from_any_place(void **state)
{
    (void)state;
    for (unsigned gone = 0; gone < 4; gone++) {
        begin(4);
        cancel(gone);
        for (unsigned i = 0; i < 3; i++)
            permits_give(&permits);
        assert_int_equal(permits_free(&permits), 0);
        assert_int_equal(visitor[gone]->select.branches[0].waiter.place, 0);
        for (unsigned i = 0; i < 4; i++) {
            uintptr_t place = visitor[i]->select.branches[0].waiter.place;

            if (i != gone)
                assert_int_equal(place, (uintptr_t)&permits + DZ_PLACE_GRANTED);
        }
    }
}

static void the_queue_is_whole_when_two_have_left_it(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 5; first++) {
        for (unsigned second = 0; second < 5; second++) {
            begin(5);
            cancel(first);
            cancel(second);
            for (unsigned i = 0; i < 5; i++)
                permits_give(&permits);
            assert_int_equal(permits_free(&permits), first == second ? 1 : 2);
        }
    }
}

static void who_left_can_queue_again_behind_the_others(void **state)
{
    (void)state;
    for (unsigned gone = 0; gone < 4; gone++) {
        begin(4);
        cancel(gone);
        dz_task_wake(&visitor[gone]->task);
        dz_executor_poll(&executor);
        for (unsigned i = 0; i < 4; i++)
            permits_give(&permits);
        assert_null(permits.units.first);
        assert_int_equal(permits_free(&permits), 0);
        dz_executor_poll(&executor);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(visitor[i]->taken, 1);
    }
}

/* Without a select, so that its waiter comes back as the queue has left it. */
struct regular {
    struct dz_task task;
    unsigned taken;
};

static enum dz_poll regular_poll(struct regular *self)
{
    async (self) {
        for (;;) {
            await(permits_poll(&permits));
            self->taken++;
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(regulars, struct regular, regular_poll, 3)

static void who_was_served_can_queue_again_behind_the_others(void **state)
{
    (void)state;
    begin(0);
    memset(regulars_slots, 0, sizeof(regulars_slots));
    for (unsigned i = 0; i < 3; i++) {
        struct regular *regular;

        (void)regulars_claim(&regular);
        dz_executor_spawn(&executor, &regular->task);
    }
    dz_executor_poll(&executor);

    for (unsigned i = 0; i < 9; i++) {
        permits_give(&permits);
        dz_executor_poll(&executor);

        assert_int_equal(regulars_slots[i % 3].taken, i / 3 + 1);
    }
    for (unsigned i = 0; i < 3; i++)
        permits_give(&permits);
    assert_null(permits.units.first);
}

/* W5: who polls again and again has one place. */
static void polling_again_keeps_the_place(void **state)
{
    (void)state;
    begin(2);
    for (int i = 0; i < 10; i++) {
        dz_task_wake(&visitor[0]->task);
        dz_executor_poll(&executor);
    }
    permits_give(&permits);
    dz_executor_poll(&executor);
    assert_int_equal(visitor[0]->taken, 1);
    assert_int_equal(visitor[1]->polls, 1);
}

static void cancel_in_handler(void *argument)
{
    dz_waiter_cancel(argument);
}

static void cancel_from_an_interrupt(void)
{
    begin(1);
    interrupt_now(cancel_in_handler, &visitor[0]->select.branches[0].waiter);
}

static void only_its_task_cancels_a_wait(void **state)
{
    struct last_words words = last_words_of(cancel_from_an_interrupt);

    (void)state;
    assert_says(words, "a wait is cancelled, but not by its task");
    assert_says(words, "visitors");
}

struct wanderer {
    struct dz_task task;
    bool cancels;
    unsigned step;
};

/* Polls for a permit once, and goes on to wait for another. */
static enum dz_poll wanderer_poll(struct wanderer *self)
{
    async (self) {
        walk_away_from(permits_poll(&permits));
        self->step = 1;
        if (self->cancels)
            dz_cancel();
        await(permits_poll(&others));
        self->step = 2;
    }
    return DZ_READY;
}

DZ_TASK_POOL(wanderers, struct wanderer, wanderer_poll, 1)

static struct wanderer *wander(bool cancels)
{
    struct wanderer *wanderer;

    memset(wanderers_slots, 0, sizeof(wanderers_slots));
    (void)wanderers_claim(&wanderer);
    wanderer->cancels = cancels;
    dz_executor_spawn(&executor, &wanderer->task);
    dz_executor_poll(&executor);
    return wanderer;
}

/* Decision 6: the explicit cancel. */
static void cancel_gives_up_a_place_that_is_not_waited_at(void **state)
{
    struct wanderer *wanderer;

    (void)state;
    begin(0);
    wanderer = wander(true);
    permits_give(&permits);
    assert_int_equal(permits_free(&permits), 1);
    permits_give(&others);
    dz_executor_poll(&executor);
    assert_int_equal(wanderer->step, 2);
}

static void walk_away(void)
{
    begin(0);
    (void)wander(false);
}

/* Decision 6: the debug build says so. */
static void walking_away_without_cancel_panics_with_checks(void **state)
{
    struct last_words words = last_words_of(walk_away);

    (void)state;
    assert_says(words, "without dz_cancel() between them");
    assert_says(words, "wanderers");
    assert_says(words, "executor \"test\"");
}

/* Likewise, and goes on to wait for something of another kind. */
static enum dz_poll yielder_poll(struct wanderer *self)
{
    async (self) {
        walk_away_from(permits_poll(&permits));
        await(dz_yield_poll());
        self->step = 2;
    }
    return DZ_READY;
}

DZ_TASK_POOL(yielders, struct wanderer, yielder_poll, 1)

static void walk_away_to_a_yield(void)
{
    struct wanderer *wanderer;

    begin(0);
    (void)yielders_claim(&wanderer);
    dz_executor_spawn(&executor, &wanderer->task);
    dz_executor_poll(&executor);
}

static void walking_away_to_a_place_of_another_kind_panics_too(void **state)
{
    struct last_words words = last_words_of(walk_away_to_a_yield);

    (void)state;
    assert_says(words, "without dz_cancel() between them");
    assert_says(words, "yielders");
}

struct quitter {
    struct dz_task task;
};

static enum dz_poll quitter_poll(struct quitter *self)
{
    (void)self;
    walk_away_from(permits_poll(&permits));
    return DZ_READY;
}

DZ_TASK_POOL(quitters, struct quitter, quitter_poll, 1)

static void a_task_that_ends_leaves_the_queue(void **state)
{
    struct quitter *quitter;

    (void)state;
    begin(0);
    (void)quitters_claim(&quitter);
    dz_executor_spawn(&executor, &quitter->task);
    dz_executor_poll(&executor);
    permits_give(&permits);
    assert_int_equal(permits_free(&permits), 1);
}

static void give_a_permit(void *argument)
{
    permits_give(argument);
}

/* The grant comes between the look and the sleep of the task: W10. */
static void an_interrupt_right_behind_the_registration_is_not_lost(void **state)
{
    (void)state;
    begin(0);
    (void)visitors_claim(&visitor[0]);
    dz_executor_spawn(&executor, &visitor[0]->task);
    prepare_strike(give_a_permit, &permits);
    dz_executor_poll(&executor);
    assert_true(has_struck_in_queue());
    assert_int_equal(visitor[0]->taken, 0);
    dz_executor_poll(&executor);
    assert_int_equal(visitor[0]->taken, 1);
}

/* The one poll in vain that there is: the interrupt grants to a branch that
 * the same poll cancels, because the other branch wins. */
static void a_grant_to_a_branch_that_loses_in_that_poll_is_passed_on(
    void **state)
{
    (void)state;
    begin(2);
    permits_give(&stop);
    permits_give(&permits);
    dz_executor_poll(&executor);
    assert_int_equal(visitor[0]->taken, 1);
    dz_executor_poll(&executor);
    assert_int_equal(
        visitor[0]->stopped + visitor[1]->stopped + permits_free(&stop), 1);
}

/* Looks once, and then waits for something else. */
struct glancer {
    struct dz_task task;
    bool is_interrupted; /* between the look and its end */
    bool was_ready;
    bool is_done;
};

static enum dz_poll glancer_poll(struct glancer *self)
{
    async (self) {
        if (self->is_interrupted)
            interrupt_at_next_unmask(give_a_permit, &permits);
        self->was_ready = dz_poll_once(permits_poll(&permits));
        await(permits_poll(&others));
        self->is_done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(glancers, struct glancer, glancer_poll, 1)

static struct glancer *glance(bool is_interrupted)
{
    struct glancer *glancer;

    memset(glancers_slots, 0, sizeof(glancers_slots));
    (void)glancers_claim(&glancer);
    glancer->is_interrupted = is_interrupted;
    dz_executor_spawn(&executor, &glancer->task);
    dz_executor_poll(&executor);
    assert_false(glancer->is_done);
    return glancer;
}

static void who_looks_once_takes_what_is_ready(void **state)
{
    (void)state;
    begin(0);
    permits_give(&permits);
    assert_true(glance(false)->was_ready);
    assert_int_equal(permits_free(&permits), 0);
}

static void who_looks_once_in_vain_waits_for_nothing(void **state)
{
    struct glancer *glancer;

    (void)state;
    begin(0);
    glancer = glance(false);
    assert_false(glancer->was_ready);
    assert_null(permits.units.first);
    permits_give(&permits);
    assert_int_equal(permits_free(&permits), 1);
    assert_false(dz_executor_is_ready(&executor));

    permits_give(&others);
    dz_executor_poll(&executor);
    assert_true(glancer->is_done);
}

static void a_grant_between_the_look_and_its_end_is_passed_on(void **state)
{
    (void)state;
    begin(0);
    assert_false(glance(true)->was_ready);
    assert_int_equal(permits_free(&permits), 1);
}

static void poll_outside(void)
{
    begin(0);
    walk_away_from(permits_poll(&permits));
}

static void waiting_outside_tasks_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(poll_outside), "await outside a task");
}

static void handler_that_waits(void *argument)
{
    walk_away_from(permits_poll(argument));
}

struct victim {
    struct dz_task task;
};

static enum dz_poll victim_poll(struct victim *self)
{
    (void)self;
    interrupt_now(handler_that_waits, &permits);
    return DZ_READY;
}

DZ_TASK_POOL(victims, struct victim, victim_poll, 1)

static void wait_in_a_handler(void)
{
    struct victim *victim;

    begin(0);
    (void)victims_claim(&victim);
    dz_executor_spawn(&executor, &victim->task);
    dz_executor_poll(&executor);
}

/* Decision 5: not in the name of the task that is interrupted. */
static void waiting_in_an_interrupt_handler_panics(void **state)
{
    struct last_words words;

    (void)state;
    needs_host("the hardware calls handlers: nobody turns dz_current away");
    words = last_words_of(wait_in_a_handler);
    assert_says(words, "await outside a task");
    assert_says(words, "here: interrupt 3");
}

static void in_handler_current_is_outside(void *argument)
{
    *(bool *)argument = dz_current == &dz_outside;
}

static void a_handler_does_not_see_the_interrupted_tasks_waiter(void **state)
{
    struct dz_waiter waiter = {.next = NULL};
    bool is_outside = false;

    (void)state;
    needs_host("the hardware calls handlers: nobody turns dz_current away");
    dz_current = &waiter;
    interrupt_now(in_handler_current_is_outside, &is_outside);
    assert_true(is_outside);
    assert_ptr_equal(dz_current, &waiter);
    dz_current = &dz_outside;
}

/* Decision 7: grants in FIFO order, collected in the order of running. */
static void promised_units_are_collected_in_the_order_of_running(void **state)
{
    static struct dz_executor urgent;

    (void)state;
    begin(1);
    dz_executor_init(&urgent, "urgent");
    (void)visitors_claim(&visitor[1]);
    dz_executor_spawn(&urgent, &visitor[1]->task);
    dz_executor_poll(&urgent);
    permits_give(&permits);
    permits_give(&permits);
    dz_executor_poll(&urgent);
    assert_int_equal(visitor[1]->taken, 1);
    assert_int_equal(visitor[0]->taken, 0);
    dz_executor_poll(&executor);
    assert_int_equal(visitor[0]->taken, 1);
}

RUN_TESTS(TEST(a_unit_goes_to_who_waited_longest),
    TEST(units_that_nobody_waits_for_are_free),
    TEST(a_promised_unit_is_not_free),
    TEST(waiters_are_not_polled_while_nothing_happens),
    TEST(waiters_of_one_executor_leave_the_other_alone),
    TEST(nobody_barges_past_a_waiter),
    TEST(a_grant_that_is_cancelled_goes_to_the_next),
    TEST(a_grant_that_is_cancelled_is_free_if_nobody_waits),
    TEST(a_waiter_leaves_the_queue_from_any_place),
    TEST(the_queue_is_whole_when_two_have_left_it),
    TEST(who_left_can_queue_again_behind_the_others),
    TEST(who_was_served_can_queue_again_behind_the_others),
    TEST(only_its_task_cancels_a_wait), TEST(polling_again_keeps_the_place),
    TEST(cancel_gives_up_a_place_that_is_not_waited_at),
    TEST(walking_away_without_cancel_panics_with_checks),
    TEST(walking_away_to_a_place_of_another_kind_panics_too),
    TEST(a_task_that_ends_leaves_the_queue),
    TEST(an_interrupt_right_behind_the_registration_is_not_lost),
    TEST(a_grant_to_a_branch_that_loses_in_that_poll_is_passed_on),
    TEST(who_looks_once_takes_what_is_ready),
    TEST(who_looks_once_in_vain_waits_for_nothing),
    TEST(a_grant_between_the_look_and_its_end_is_passed_on),
    TEST(waiting_outside_tasks_panics),
    TEST(waiting_in_an_interrupt_handler_panics),
    TEST(a_handler_does_not_see_the_interrupted_tasks_waiter),
    TEST(promised_units_are_collected_in_the_order_of_running))
