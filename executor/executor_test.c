/* SPDX-License-Identifier: MIT */
#include "executor/executor.h"

#include "executor/trail_test.h"

static struct dz_executor executor;

/* Starts a test: an executor, nothing pended, and no trail. */
static void begin(void)
{
    dz_executor_init(&executor, "test");
    begin_trail();
}

static void pass(void)
{
    dz_executor_poll(&executor);
}

/* A task that notes its letter each time it is polled. */
struct noter {
    struct dz_task task;
    char letter;
    unsigned rounds; /* how often it is polled before it ends */
    bool yields;     /* between rounds, instead of waiting for a wake */
    /* In each round, in this order: */
    struct dz_task *wakes;
    bool wakes_itself;
    struct dz_task *wakes_last;
};

/* Ready when it is polled again: whoever wakes the task. */
static enum dz_poll one_wake_up_poll(bool *is_waiting)
{
    *is_waiting = !*is_waiting;
    return *is_waiting ? DZ_PENDING : DZ_READY;
}

struct noting {
    struct noter noter;
    bool is_waiting;
};

static void do_round(struct noter *noter)
{
    note(noter->letter);
    if (noter->wakes != NULL)
        dz_task_wake(noter->wakes);
    if (noter->wakes_itself)
        dz_task_wake(&noter->task);
    if (noter->wakes_last != NULL)
        dz_task_wake(noter->wakes_last);
}

static enum dz_poll noting_poll(struct noting *self)
{
    async (self) {
        for (; self->noter.rounds > 1; self->noter.rounds--) {
            do_round(&self->noter);
            if (self->noter.yields)
                await(dz_yield_poll());
            else
                await(one_wake_up_poll(&self->is_waiting));
        }
        do_round(&self->noter);
    }
    return DZ_READY;
}

/* The frame's task is in its noter, so the pool is written out. */
enum { NOTERS = 6 };

static struct noting noters_slots[NOTERS];

static enum dz_poll noters_body(struct dz_task *task)
{
    return noting_poll((struct noting *)(void *)task);
}

static void noters_poll(struct dz_task *task)
{
    dz_pool_poll(task->pool, task, noters_body);
}

static const struct dz_pool noters = {
    .poll = noters_poll,
    .name = "noters",
    .file = __FILE__,
    .line = __LINE__,
    .slots = noters_slots,
    .size = sizeof(struct noting),
    .count = NOTERS,
};

static struct noter *claim(char letter, unsigned rounds)
{
    struct noting *noting = dz_pool_claim(&noters);

    assert_non_null(noting);
    noting->noter.letter = letter;
    noting->noter.rounds = rounds;
    return &noting->noter;
}

static struct noter *spawn(char letter, unsigned rounds)
{
    struct noter *noter = claim(letter, rounds);

    dz_executor_spawn(&executor, &noter->task);
    return noter;
}

static struct noter *spawn_yielding(char letter, unsigned rounds)
{
    struct noter *noter = claim(letter, rounds);

    noter->yields = true;
    dz_executor_spawn(&executor, &noter->task);
    return noter;
}

static bool is_free(const struct noter *noter)
{
    return noter->task.pool == NULL;
}

/* Leaves all slots free for the next test. */
static void end(void)
{
    for (int i = 0; i < NOTERS; i++) {
        struct noter *noter = &noters_slots[i].noter;

        while (!is_free(noter)) {
            noter->rounds = 2;
            noter->wakes = NULL;
            noter->wakes_itself = false;
            noter->wakes_last = NULL;
            dz_task_wake(&noter->task);
            pass();
        }
    }
}

static void a_pass_without_tasks_does_nothing(void **state)
{
    (void)state;
    begin();
    pass();
    assert_false(was_pended());
}

static void a_spawn_pends_once_and_the_task_runs_once(void **state)
{
    (void)state;
    begin();
    spawn('a', 1);
    assert_true(was_pended());
    pass();
    assert_string_equal(trail, "a");
    assert_false(was_pended());
    pass();
    assert_string_equal(trail, "a");
}

static void a_second_spawn_does_not_pend(void **state)
{
    (void)state;
    begin();
    spawn('a', 1);
    (void)was_pended();
    spawn('b', 1);
    assert_false(was_pended());
    pass();
    assert_string_equal(trail, "ab");
}

static void tasks_run_in_the_order_of_their_spawns_in_every_round(void **state)
{
    (void)state;
    begin();
    for (int letter = 'a'; letter <= 'd'; letter++)
        spawn_yielding((char)letter, 3);
    for (int i = 0; i < 3; i++)
        pass();
    assert_string_equal(trail, "abcdabcdabcd");
}

static void tasks_run_in_the_order_of_their_wake_ups(void **state)
{
    struct noter *noter[3];

    (void)state;
    begin();
    for (int i = 0; i < 3; i++)
        noter[i] = spawn((char)('a' + i), 2);
    pass();
    dz_task_wake(&noter[2]->task);
    dz_task_wake(&noter[0]->task);
    dz_task_wake(&noter[1]->task);
    pass();
    assert_string_equal(trail, "abccab");
}

static void three_wake_ups_before_it_runs_are_one_poll(void **state)
{
    struct noter *noter;

    (void)state;
    begin();
    noter = spawn('a', 3);
    pass();
    for (int i = 0; i < 3; i++)
        dz_task_wake(&noter->task);
    pass();
    pass();
    assert_string_equal(trail, "aa");
    end();
}

static void wake_ups_pend_once_until_the_queue_was_empty(void **state)
{
    struct noter *a;
    struct noter *b;

    (void)state;
    begin();
    a = spawn('a', 3);
    b = spawn('b', 3);
    pass();
    (void)was_pended();
    dz_task_wake(&a->task);
    assert_true(was_pended());
    dz_task_wake(&a->task);
    dz_task_wake(&b->task);
    assert_false(was_pended());
    pass();
    assert_false(was_pended());
    dz_task_wake(&b->task);
    assert_true(was_pended());
    end();
}

/* E1: the link of a task that wakes itself is that of the batch, too. */
static void a_task_that_wakes_itself_loses_nobody_behind_it(void **state)
{
    (void)state;
    begin();
    spawn('a', 2)->wakes_itself = true;
    spawn('b', 1);
    spawn('c', 1);
    pass();
    assert_string_equal(trail, "abc");
    pass();
    assert_string_equal(trail, "abca");
}

static void a_task_that_wakes_itself_is_polled_once_a_pass(void **state)
{
    (void)state;
    begin();
    spawn('a', 4)->wakes_itself = true;
    for (int i = 0; i < 3; i++) {
        (void)was_pended();
        pass();
        assert_true(was_pended());
    }
    assert_string_equal(trail, "aaa");
    end();
}

static void a_second_wake_up_of_itself_adds_no_poll(void **state)
{
    struct noter *noter;

    (void)state;
    begin();
    noter = spawn('a', 3);
    noter->wakes_itself = true;
    noter->wakes = &noter->task;
    pass();
    noter->wakes_itself = false;
    noter->wakes = NULL;
    pass();
    pass();
    assert_string_equal(trail, "aa");
    end();
}

/* E6: with a drain loop in poll, a yielding task would never leave it. */
static void a_task_that_always_yields_runs_once_a_pass(void **state)
{
    (void)state;
    begin();
    spawn_yielding('a', 1000);
    spawn_yielding('b', 3);
    for (int i = 0; i < 3; i++)
        pass();
    assert_string_equal(trail, "ababab");
    end();
}

static void what_becomes_ready_in_a_pass_is_left_to_the_next(void **state)
{
    struct noter *sleeper;

    (void)state;
    begin();
    sleeper = spawn('s', 2);
    pass();
    spawn('a', 1)->wakes = &sleeper->task;
    (void)was_pended();
    pass();
    assert_string_equal(trail, "sa");
    assert_true(was_pended());
    pass();
    assert_string_equal(trail, "sas");
}

/* E11: upstream pended the executor that was being polled, over and over. */
static void a_pass_that_leaves_nothing_behind_does_not_pend(void **state)
{
    struct noter *a;

    (void)state;
    begin();
    a = spawn('a', 3);
    spawn('b', 1)->wakes = &a->task;
    pass();
    assert_true(was_pended());
    pass();
    assert_false(was_pended());
    end();
}

static void waking_a_finished_task_does_nothing(void **state)
{
    struct noter *noter;

    (void)state;
    begin();
    noter = spawn('a', 1);
    pass();
    (void)was_pended();
    dz_task_wake(&noter->task);
    dz_task_wake(&noter->task);
    assert_false(was_pended());
    pass();
    assert_string_equal(trail, "a");
    assert_true(is_free(noter));
}

static void a_stale_wake_up_costs_the_slots_next_task_one_poll(void **state)
{
    struct noter *first;
    struct noter *second;

    (void)state;
    begin();
    first = spawn('a', 1);
    pass();
    second = spawn('b', 3);
    assert_ptr_equal(first, second);
    pass();
    dz_task_wake(&first->task);
    pass();
    pass();
    assert_string_equal(trail, "abb");
    end();
}

/* E2: upstream kept the slot busy until the next poll. */
static void a_slot_is_free_at_once_though_a_wake_up_is_pending(void **state)
{
    struct noter *noter;

    (void)state;
    begin();
    noter = spawn('a', 1);
    noter->wakes_itself = true;
    pass();
    assert_true(is_free(noter));
    assert_false(dz_executor_is_ready(&executor));
    assert_ptr_equal(spawn('b', 1), noter);
    pass();
    assert_string_equal(trail, "ab");
}

/* E2: and the dead task could not be spawned on another executor. */
static void it_can_be_spawned_on_another_executor_at_once(void **state)
{
    static struct dz_executor other;
    struct noter *noter;

    (void)state;
    begin();
    dz_executor_init(&other, "other");
    spawn('a', 1)->wakes_itself = true;
    pass();
    noter = claim('b', 1);
    dz_executor_spawn(&other, &noter->task);
    pass();
    assert_string_equal(trail, "a");
    dz_executor_poll(&other);
    assert_string_equal(trail, "ab");
}

/* The queue holds what woke while the task ran for the last time: it stands
 * first, in the middle, last, or alone in it. `after` runs in the next pass. */
static void finish_in_a_queue(
    bool has_before, bool has_behind, const char *after)
{
    struct noter *x;
    struct noter *y;
    struct noter *z;
    struct noter *dying;

    begin();
    x = spawn('x', 2);
    y = spawn('y', 2);
    z = spawn('z', 2);
    pass();
    dying = spawn('a', 1);
    dying->wakes = has_before ? &x->task : NULL;
    dying->wakes_itself = true;
    dying->wakes_last = has_behind ? &y->task : NULL;
    pass();
    assert_true(is_free(dying));
    dz_task_wake(&z->task);
    pass();
    pass();
    assert_string_equal(trail + 4, after);
    end();
}

static void a_finished_task_leaves_its_place_in_the_queue(void **state)
{
    (void)state;
    finish_in_a_queue(false, false, "z");
    finish_in_a_queue(false, true, "yz");
    finish_in_a_queue(true, false, "xz");
    finish_in_a_queue(true, true, "xyz");
}

static void a_pool_is_busy_when_all_its_slots_are(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < NOTERS; i++)
        spawn('a', 1);
    assert_null(dz_pool_claim(&noters));
    pass();
    assert_non_null(spawn('b', 1));
    pass();
}

struct plain {
    struct dz_task task;
    int argument;
    int *result;
};

static enum dz_poll plain_poll(struct plain *self)
{
    async (self) {
        *self->result += self->argument;
        self->argument = -1;
    }
    return DZ_READY;
}

DZ_TASK_POOL(plains, struct plain, plain_poll, 2)

static void arguments_are_written_in_place(void **state)
{
    struct plain *plain;
    int result = 0;

    (void)state;
    begin();
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(plains_claim(&plain), DZ_OK);
        assert_int_equal(plain->argument, 0);
        plain->argument = i * 10;
        plain->result = &result;
        dz_executor_spawn(&executor, &plain->task);
    }
    assert_int_equal(plains_claim(&plain), DZ_BUSY);
    pass();
    assert_int_equal(result, 30);
}

static void a_frame_is_all_zero_when_it_is_claimed_again(void **state)
{
    struct plain *plain;
    int result = 0;

    (void)state;
    begin();
    (void)plains_claim(&plain);
    plain->argument = 5;
    plain->result = &result;
    dz_executor_spawn(&executor, &plain->task);
    pass();
    (void)plains_claim(&plain);
    assert_int_equal(plain->argument, 0);
    assert_null(plain->result);
    assert_int_equal(plain->task.frame.line, 0);
    dz_task_release(&plain->task);
}

/* Leaves in the middle, by a plain return. */
struct rude {
    struct dz_task task;
};

static enum dz_poll rude_poll(struct rude *self)
{
    async (self) {
        await(dz_yield_poll());
        note('r');
        return DZ_READY;
    }
    return DZ_READY;
}

DZ_TASK_POOL(rudes, struct rude, rude_poll, 1)

static void a_new_task_starts_at_its_beginning(void **state)
{
    struct rude *rude;

    (void)state;
    begin();
    for (int i = 0; i < 2; i++) {
        (void)rudes_claim(&rude);
        assert_int_equal(rude->task.frame.line, 0);
        dz_executor_spawn(&executor, &rude->task);
        pass();
        pass();
    }
    assert_string_equal(trail, "rr");
}

static void release_unclaimed(void)
{
    dz_task_release(&plains_slots[0].task);
}

static void releasing_a_free_slot_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(release_unclaimed), "that was not claimed");
}

static void a_claimed_slot_can_be_given_back_unspawned(void **state)
{
    struct plain *first;
    struct plain *second;
    struct plain *third;

    (void)state;
    begin();
    (void)plains_claim(&first);
    (void)plains_claim(&second);
    dz_task_release(&first->task);
    assert_int_equal(plains_claim(&third), DZ_OK);
    assert_ptr_equal(third, first);
    dz_task_release(&second->task);
    dz_task_release(&third->task);
}

static void a_task_has_the_name_of_its_pool_and_a_slot(void **state)
{
    struct plain *first;
    struct plain *second;

    (void)state;
    begin();
    (void)plains_claim(&first);
    (void)plains_claim(&second);
    assert_string_equal(dz_task_name(&second->task), "plains");
    assert_int_equal(dz_task_slot(&first->task), 0);
    assert_int_equal(dz_task_slot(&second->task), 1);
    dz_task_release(&first->task);
    dz_task_release(&second->task);
}

struct finisher {
    struct dz_task task;
    volatile bool done;
    unsigned rounds;
};

static enum dz_poll finisher_poll(struct finisher *self)
{
    async (self) {
        for (; self->rounds > 0; self->rounds--)
            await(dz_yield_poll());
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(finishers, struct finisher, finisher_poll, 1)

static void run_until_ends_when_a_task_says_so(void **state)
{
    struct finisher *finisher;

    (void)state;
    begin();
    (void)finishers_claim(&finisher);
    finisher->rounds = 5;
    dz_executor_spawn(&executor, &finisher->task);
    dz_executor_run_until(&executor, &finisher->done);
    assert_true(finisher->done);
    assert_null(finisher->task.pool);
}

static void run_until_is_over_at_once_when_it_is_done(void **state)
{
    static const volatile bool done = true;

    (void)state;
    begin();
    spawn('a', 1);
    dz_executor_run_until(&executor, &done);
    assert_string_equal(trail, "");
    pass();
    assert_string_equal(trail, "a");
}

static void wake_it(void *argument)
{
    dz_task_wake(argument);
}

struct dozer {
    struct dz_task task;
    volatile bool done;
    bool is_waiting;
};

/* The run loop looks at its queue without a critical section, so the interrupt
 * comes behind that look. */
static enum dz_poll dozer_poll(struct dozer *self)
{
    async (self) {
        interrupt_at_next_unmask(wake_it, &self->task);
        await(one_wake_up_poll(&self->is_waiting));
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(dozers, struct dozer, dozer_poll, 1)

static void an_interrupt_behind_the_last_look_ends_the_wait(void **state)
{
    struct dozer *dozer;

    (void)state;
    begin();
    (void)dozers_claim(&dozer);
    dz_executor_spawn(&executor, &dozer->task);
    (void)was_pended();
    dz_executor_run_until(&executor, &dozer->done);
    assert_null(dozer->task.pool);
}

static void an_interrupt_wakes_a_task(void **state)
{
    struct noter *noter;

    (void)state;
    begin();
    noter = spawn('a', 2);
    pass();
    (void)was_pended();
    interrupt_now(wake_it, &noter->task);
    assert_true(was_pended());
    pass();
    assert_string_equal(trail, "aa");
}

/* An interrupt that wakes b falls into the end of the wake-up of a. */
static void an_interrupt_within_a_wake_up_loses_neither(void **state)
{
    struct noter *a;
    struct noter *b;

    (void)state;
    begin();
    a = spawn('a', 2);
    b = spawn('b', 2);
    pass();
    interrupt_at_next_unmask(wake_it, &b->task);
    dz_task_wake(&a->task);
    pass();
    assert_string_equal(trail, "abab");
}

/* The same task, woken by the interrupt and by what it interrupts. */
static void an_interrupt_within_a_wake_up_of_the_same_task_is_one_poll(
    void **state)
{
    struct noter *a;

    (void)state;
    begin();
    a = spawn('a', 3);
    pass();
    interrupt_at_next_unmask(wake_it, &a->task);
    dz_task_wake(&a->task);
    pass();
    pass();
    assert_string_equal(trail, "aa");
    end();
}

static void panic_in_a_handler(void *argument)
{
    (void)argument;
    dz_panic("a handler's reason", __FILE__, __LINE__);
}

struct struck {
    struct dz_task task;
};

/* The next critical section is that of its end. */
static enum dz_poll struck_poll(struct struck *self)
{
    (void)self;
    interrupt_at_next_unmask(panic_in_a_handler, NULL);
    return DZ_READY;
}

DZ_TASK_POOL(strucks, struct struck, struck_poll, 1)

static void end_under_a_handler_that_panics(void)
{
    struct struck *struck;

    begin();
    (void)strucks_claim(&struck);
    dz_executor_spawn(&executor, &struck->task);
    pass();
}

static void a_handler_finds_no_task_behind_the_end_of_one(void **state)
{
    (void)state;
    assert_says(
        last_words_of(end_under_a_handler_that_panics), "a handler's reason");
}

/* Sleeps until an interrupt wakes it, and then wakes another task. */
struct napper {
    struct dz_task task;
    bool is_waiting;
    struct dz_task *wakes;
    bool has_pended;
    volatile bool done;
};

static enum dz_poll napper_poll(struct napper *self)
{
    async (self) {
        await(one_wake_up_poll(&self->is_waiting));
        (void)was_pended();
        dz_task_wake(self->wakes);
        self->has_pended = was_pended();
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(nappers, struct napper, napper_poll, 1)

static struct napper *napper;
static const struct dz_waiter *current_in_wait;

static uint64_t no_time(void)
{
    return 0;
}

static void set_no_alarm(uint64_t at)
{
    (void)at;
}

static void wake_napper_in_wait(void)
{
    current_in_wait = dz_current;
    interrupt_now(wake_it, &napper->task);
}

static const struct test_clock clock_that_wakes = {
    .now = no_time,
    .set_alarm = set_no_alarm,
    .wait = wake_napper_in_wait,
};

/* Starts a run loop that waits once, behind the poll of a task. */
static void run_until_it_was_woken(void)
{
    begin();
    use_clock(&clock_that_wakes);
    (void)nappers_claim(&napper);
    napper->wakes = &spawn('a', 2)->task;
    dz_executor_spawn(&executor, &napper->task);
    current_in_wait = NULL;
    (void)was_pended();
    dz_executor_run_until(&executor, &napper->done);
    pass();
    assert_string_equal(trail, "aa");
}

static void a_run_loop_that_waits_is_outside_tasks(void **state)
{
    (void)state;
    run_until_it_was_woken();
    assert_ptr_equal(current_in_wait, &dz_outside);
}

static void a_run_loop_that_goes_on_is_not_pended(void **state)
{
    (void)state;
    run_until_it_was_woken();
    assert_false(napper->has_pended);
}

static void spawn_b(void *argument)
{
    dz_executor_spawn(&executor, argument);
}

static void an_interrupt_spawns_a_task(void **state)
{
    struct noter *b;

    (void)state;
    begin();
    spawn('a', 1);
    b = claim('b', 1);
    interrupt_now(spawn_b, &b->task);
    pass();
    assert_string_equal(trail, "ab");
}

static void spawn_twice(void)
{
    begin();
    dz_executor_spawn(&executor, &spawn('a', 2)->task);
}

static void spawning_a_task_twice_panics(void **state)
{
    struct last_words words = last_words_of(spawn_twice);

    (void)state;
    assert_says(words, "a task is spawned twice");
    assert_says(words, "noters");
}

static void spawn_unclaimed(void)
{
    begin();
    dz_executor_spawn(&executor, &noters_slots[0].noter.task);
}

static void spawning_a_slot_that_was_not_claimed_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(spawn_unclaimed), "was not claimed");
}

static void release_spawned(void)
{
    begin();
    dz_task_release(&spawn('a', 2)->task);
}

static void releasing_a_spawned_task_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(release_spawned), "a spawned task is released");
}

struct nester {
    struct dz_task task;
};

static enum dz_poll nester_poll(struct nester *self)
{
    (void)self;
    dz_executor_poll(&executor);
    return DZ_READY;
}

DZ_TASK_POOL(nesters, struct nester, nester_poll, 1)

static void nest(void)
{
    struct nester *nester;

    begin();
    (void)nesters_claim(&nester);
    dz_executor_spawn(&executor, &nester->task);
    pass();
}

/* E13: a nested poll. */
static void an_executor_that_is_run_within_itself_panics(void **state)
{
    struct last_words words = last_words_of(nest);

    (void)state;
    assert_says(words, "run within itself");
    assert_says(words, "a task of executor \"test\" in thread mode");
}

/* Runs another executor within its own turn. */
struct patron {
    struct dz_task task;
    struct dz_executor *other;
    struct dz_task *after; /* who runs behind that */
    struct dz_task *wakes; /* at last, if it is not NULL */
};

static enum dz_poll patron_poll(struct patron *self)
{
    dz_executor_poll(self->other);
    self->after = dz_task_current();
    if (self->wakes != NULL)
        dz_task_wake(self->wakes);
    return DZ_READY;
}

DZ_TASK_POOL(patrons, struct patron, patron_poll, 1)

static void a_task_that_polls_another_executor_is_itself_again(void **state)
{
    struct dz_executor other;
    struct patron *patron;

    (void)state;
    begin();
    dz_executor_init(&other, "other");
    dz_executor_spawn(&other, &claim('a', 1)->task);
    (void)patrons_claim(&patron);
    patron->other = &other;
    dz_executor_spawn(&executor, &patron->task);

    pass();

    assert_string_equal(trail, "a");
    assert_ptr_equal(patron->after, &patron->task);
}

static void a_task_that_has_polled_another_executor_can_pend_it(void **state)
{
    struct dz_executor other;
    struct patron *patron;
    struct noter *noter;

    (void)state;
    begin();
    dz_executor_init(&other, "other");
    noter = claim('a', 2);
    dz_executor_spawn(&other, &noter->task);
    (void)patrons_claim(&patron);
    patron->other = &other;
    patron->wakes = &noter->task;
    dz_executor_spawn(&executor, &patron->task);
    (void)was_pended();

    pass();

    assert_true(was_pended());
    dz_executor_poll(&other);
    assert_string_equal(trail, "aa");
}

/* Puts a waiting task in an inbox, as another core does that wakes it. */
static void send(struct dz_task **inbox, struct noter *noter)
{
    noter->task.next = *inbox;
    *inbox = &noter->task;
}

static void what_other_cores_wake_runs_in_the_order_of_its_wake_ups(
    void **state)
{
    struct dz_task *inbox = NULL;
    struct noter *a, *b, *c;

    (void)state;
    begin();
    a = spawn('a', 2);
    b = spawn('b', 2);
    c = spawn('c', 2);
    pass();
    begin_trail();

    send(&inbox, b);
    send(&inbox, c);
    send(&inbox, a);
    dz_executor_receive(&inbox);
    pass();

    assert_string_equal(trail, "bca");
    assert_null(inbox);
}

static void *spawn_on_a_thread(void *argument)
{
    dz_executor_spawn(&executor, argument);
    return NULL;
}

static void spawn_from_another_thread(void)
{
    begin();
    run_on_plain_thread(spawn_on_a_thread, &claim('a', 1)->task);
}

/* E14 */
static void spawning_from_another_thread_panics(void **state)
{
    (void)state;
    needs_host("there are no threads");
    assert_says(last_words_of(spawn_from_another_thread),
        "by a thread that is not its core");
}

static void run_until_pends_what_it_leaves_ready(void **state)
{
    struct finisher *finisher;
    struct noter *sleeper;

    (void)state;
    begin();
    sleeper = spawn('s', 2);
    pass();
    (void)finishers_claim(&finisher);
    spawn('w', 1)->wakes = &sleeper->task;
    dz_executor_spawn(&executor, &finisher->task);
    (void)was_pended();
    dz_executor_run_until(&executor, &finisher->done);
    assert_string_equal(trail, "sw");
    assert_true(was_pended());
    pass();
    assert_string_equal(trail, "sws");
}

static void run_nested(void *argument)
{
    static const volatile bool never;

    (void)argument;
    dz_executor_run_until(&executor, &never);
}

static void run_in_an_interrupt(void)
{
    begin();
    interrupt_now(run_nested, NULL);
}

static void a_run_loop_in_an_interrupt_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(run_in_an_interrupt),
        "a run loop within another, or in an interrupt");
}

static void wait_masked(void)
{
    begin();
    (void)dz_port_enter();
    run_nested(NULL);
}

static void waiting_with_interrupts_off_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(wait_masked), "with interrupts off");
}

static struct dz_executor unprepared;

static void spawn_on_unprepared(void)
{
    dz_executor_spawn(&unprepared, &claim('a', 1)->task);
}

static void an_executor_that_was_not_initialised_panics(void **state)
{
    (void)state;
    needs_host("the port does not look whose the executor is");
    assert_says(last_words_of(spawn_on_unprepared), "not initialised");
}

struct switching {
    struct dz_task task;
    int kind;
};

static int switched_await; /* its line */

static enum dz_poll switching_poll(struct switching *self)
{
    async (self) {
        switch (self->kind) {
        case 0:
            switched_await = __LINE__ + 1;
            await(dz_yield_poll());
            break;
        default:
            break;
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(switchings, struct switching, switching_poll, 1)

static void await_in_a_switch(void)
{
    struct switching *switching;

    begin();
    (void)switchings_claim(&switching);
    dz_executor_spawn(&executor, &switching->task);
    pass();
    pass();
}

static void an_await_in_a_tasks_nested_switch_names_the_task(void **state)
{
    struct last_words words = last_words_of(await_in_a_switch);
    struct switching *switching;

    (void)state;
    begin();
    (void)switchings_claim(&switching);
    dz_executor_spawn(&executor, &switching->task);
    pass(); /* learns the line */
    assert_says_place(words, switched_await);
    assert_says(words, "await in a nested switch");
    assert_says(words, "object: switchings at 0x");
    assert_says(words, "here: a task of executor \"test\" in thread mode");
}

static void current_outside(void)
{
    (void)dz_task_current();
}

static void there_is_no_current_task_outside_tasks(void **state)
{
    (void)state;
    assert_says(last_words_of(current_outside), "no task runs here");
}

static void yield_outside(void)
{
    walk_away_from(dz_yield_poll());
}

static void a_yield_outside_tasks_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(yield_outside), "await outside a task");
}

static void sleep_for_ever(void)
{
    static const volatile bool never;

    become_plain_thread();
    dz_executor_init(&executor, "test");
    dz_executor_run_until(&executor, &never);
}

static void a_thread_that_nothing_can_wake_panics_instead_of_sleeping(
    void **state)
{
    (void)state;
    needs_host("the port does not know what may end its sleep");
    assert_says(last_words_of(sleep_for_ever), "asleep, and no interrupt");
}

enum { UART_IRQ = 2, BLINKED = 42 };

struct blink {
    struct dz_task task;
    void (*act)(void);
};

static enum dz_poll blink_poll(struct blink *self)
{
    self->act();
    return DZ_READY;
}

DZ_TASK_POOL(blinkers, struct blink, blink_poll, 1)

static void prepare_to_blink(void (*act)(void))
{
    struct blink *blink;

    (void)blinkers_claim(&blink);
    blink->act = act;
    dz_executor_init(&executor, "main");
    dz_executor_spawn(&executor, &blink->task);
}

static void leave_process(void)
{
    leave_program(BLINKED);
}

static void blink_in_thread_mode(void)
{
    prepare_to_blink(leave_process);
    dz_executor_run(&executor);
}

static void note_blink(void)
{
    note(dz_port_is_thread_mode() ? 't' : 'i');
}

static void the_example_of_the_header_works(void **state)
{
    (void)state;
    begin();
    (void)last_words_at(BLINKED, blink_in_thread_mode);
    prepare_to_blink(note_blink);
    dz_executor_start(&executor, UART_IRQ, 2);
    assert_string_equal(trail, "i");
}

RUN_TESTS(TEST(a_pass_without_tasks_does_nothing),
    TEST(a_spawn_pends_once_and_the_task_runs_once),
    TEST(a_second_spawn_does_not_pend),
    TEST(tasks_run_in_the_order_of_their_spawns_in_every_round),
    TEST(tasks_run_in_the_order_of_their_wake_ups),
    TEST(three_wake_ups_before_it_runs_are_one_poll),
    TEST(wake_ups_pend_once_until_the_queue_was_empty),
    TEST(a_task_that_wakes_itself_loses_nobody_behind_it),
    TEST(a_task_that_wakes_itself_is_polled_once_a_pass),
    TEST(a_second_wake_up_of_itself_adds_no_poll),
    TEST(a_task_that_always_yields_runs_once_a_pass),
    TEST(what_becomes_ready_in_a_pass_is_left_to_the_next),
    TEST(a_pass_that_leaves_nothing_behind_does_not_pend),
    TEST(waking_a_finished_task_does_nothing),
    TEST(a_stale_wake_up_costs_the_slots_next_task_one_poll),
    TEST(a_slot_is_free_at_once_though_a_wake_up_is_pending),
    TEST(it_can_be_spawned_on_another_executor_at_once),
    TEST(a_finished_task_leaves_its_place_in_the_queue),
    TEST(a_pool_is_busy_when_all_its_slots_are),
    TEST(arguments_are_written_in_place),
    TEST(a_frame_is_all_zero_when_it_is_claimed_again),
    TEST(a_new_task_starts_at_its_beginning),
    TEST(releasing_a_free_slot_panics),
    TEST(a_claimed_slot_can_be_given_back_unspawned),
    TEST(a_task_has_the_name_of_its_pool_and_a_slot),
    TEST(run_until_ends_when_a_task_says_so),
    TEST(run_until_is_over_at_once_when_it_is_done),
    TEST(an_interrupt_behind_the_last_look_ends_the_wait),
    TEST(an_interrupt_wakes_a_task),
    TEST(an_interrupt_within_a_wake_up_loses_neither),
    TEST(an_interrupt_within_a_wake_up_of_the_same_task_is_one_poll),
    TEST(a_run_loop_that_waits_is_outside_tasks),
    TEST(a_run_loop_that_goes_on_is_not_pended),
    TEST(an_interrupt_spawns_a_task),
    TEST(a_handler_finds_no_task_behind_the_end_of_one),
    TEST(spawning_a_task_twice_panics),
    TEST(spawning_a_slot_that_was_not_claimed_panics),
    TEST(releasing_a_spawned_task_panics),
    TEST(an_executor_that_is_run_within_itself_panics),
    TEST(a_task_that_polls_another_executor_is_itself_again),
    TEST(a_task_that_has_polled_another_executor_can_pend_it),
    TEST(what_other_cores_wake_runs_in_the_order_of_its_wake_ups),
    TEST(spawning_from_another_thread_panics),
    TEST(run_until_pends_what_it_leaves_ready),
    TEST(a_run_loop_in_an_interrupt_panics),
    TEST(waiting_with_interrupts_off_panics),
    TEST(an_executor_that_was_not_initialised_panics),
    TEST(an_await_in_a_tasks_nested_switch_names_the_task),
    TEST(there_is_no_current_task_outside_tasks),
    TEST(a_yield_outside_tasks_panics),
    TEST(a_thread_that_nothing_can_wake_panics_instead_of_sleeping),
    TEST(the_example_of_the_header_works))
