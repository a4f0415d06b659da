/* SPDX-License-Identifier: MIT */
#include "sync/semaphore.h"

#include "executor/select.h"
#include "sim/test.h"
#include "sync/signal.h"

enum { TASKS = 5, PERMITS = 3 };

/* The last is greedy, whatever it says: a waker slot knows no order. */
#define FOR_EACH_KIND(X)                                          \
    X(noop_fair, DZ_NOOP, DZ_QUEUE, DZ_IN_ORDER)                  \
    X(thread_fair, DZ_THREAD_MODE, DZ_QUEUE, DZ_IN_ORDER)         \
    X(critical_fair, DZ_CRITICAL_SECTION, DZ_QUEUE, DZ_IN_ORDER)  \
    X(noop_greedy, DZ_NOOP, DZ_QUEUE, DZ_WHO_CAN)                 \
    X(thread_greedy, DZ_THREAD_MODE, DZ_QUEUE, DZ_WHO_CAN)        \
    X(critical_greedy, DZ_CRITICAL_SECTION, DZ_QUEUE, DZ_WHO_CAN) \
    X(noop_slot, DZ_NOOP, DZ_SINGLE_SLOT, DZ_WHO_CAN)             \
    X(thread_slot, DZ_THREAD_MODE, DZ_SINGLE_SLOT, DZ_WHO_CAN)    \
    X(critical_slot, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT, DZ_IN_ORDER)

#define DEFINE(name, mutex, policy, service)                          \
    DZ_SEMAPHORE_DEFINE_POLICY(name, PERMITS, mutex, policy, service) \
    static struct name name;

FOR_EACH_KIND(DEFINE)

/* A semaphore of which the tests know no more than what they look up here. */
struct kind {
    void *semaphore;
    size_t size;
    const struct dz_semaphore_type *type;
};

#define ENTRY(name, mutex, policy, service) {&name, sizeof(name), &name##_type},

static const struct kind kinds[] = {FOR_EACH_KIND(ENTRY)};

enum {
    KINDS = sizeof(kinds) / sizeof(kinds[0]),
    FAIR = 2,
    GREEDY = 5,
    SLOT = 8,
};

static const struct kind *kind;
static struct dz_executor executor;
static struct dz_executor high;

static enum dz_poll acquire(unsigned count)
{
    return dz_semaphore_acquire(
        dz_semaphore_of(kind->semaphore), kind->type, count);
}

static enum dz_poll acquire_all(unsigned min, unsigned *count)
{
    return dz_semaphore_acquire_all(
        dz_semaphore_of(kind->semaphore), kind->type, min, count);
}

static bool try_acquire(unsigned count)
{
    return dz_semaphore_try_acquire(
        dz_semaphore_of(kind->semaphore), kind->type, count);
}

static bool try_acquire_all(unsigned min, unsigned *count)
{
    return dz_semaphore_try_acquire_all(
        dz_semaphore_of(kind->semaphore), kind->type, min, count);
}

static void release(unsigned count)
{
    dz_semaphore_release(dz_semaphore_of(kind->semaphore), kind->type, count);
}

static void set(unsigned count)
{
    dz_semaphore_set(dz_semaphore_of(kind->semaphore), kind->type, count);
}

static unsigned free_permits(void)
{
    return dz_semaphore_free(dz_semaphore_of(kind->semaphore), kind->type);
}

enum wish {
    COUNT,   /* so many */
    ALL,     /* so many, and what else is free */
    GIVE_UP, /* at its next poll */
};

struct taker {
    struct dz_task task;
    enum wish wish;
    unsigned count;
    unsigned got; /* UINT_MAX: nothing yet */
    int polls;
};

static struct taker *served[TASKS]; /* in what order */
static int served_count;

static enum dz_poll wish_poll(struct taker *self)
{
    self->polls++;
    if (self->wish == GIVE_UP)
        return DZ_READY;
    strike_behind_wait();
    if (self->wish == ALL)
        return acquire_all(self->count, &self->got);
    if (acquire(self->count) == DZ_PENDING)
        return DZ_PENDING;
    self->got = self->count;
    return DZ_READY;
}

static enum dz_poll taker_poll(struct taker *self)
{
    async (self) {
        await(wish_poll(self));
        if (self->wish != GIVE_UP)
            served[served_count++] = self;
    }
    return DZ_READY;
}

DZ_TASK_POOL(takers, struct taker, taker_poll, TASKS)

/* With so many permits free. */
static void begin(const struct kind *chosen, unsigned permits)
{
    kind = chosen;
    memset(kind->semaphore, 0, kind->size);
    memset(takers_slots, 0, sizeof(takers_slots));
    served_count = 0;
    dz_executor_init(&executor, "test");
    dz_executor_init(&high, "high");
    set(permits);
}

static struct taker *spawn_on(
    struct dz_executor *which, enum wish wish, unsigned count)
{
    struct taker *taker = dz_pool_claim(&takers);

    assert_non_null(taker);
    taker->wish = wish;
    taker->count = count;
    taker->got = UINT_MAX;
    dz_executor_spawn(which, &taker->task);
    dz_executor_poll(which);
    return taker;
}

static struct taker *spawn(unsigned count)
{
    return spawn_on(&executor, COUNT, count);
}

static void run_to_rest(struct dz_executor *which)
{
    int passes = 0;

    while (dz_executor_is_ready(which)) {
        dz_executor_poll(which);
        assert_true(++passes < 100);
    }
}

static bool is_served(const struct taker *taker)
{
    return taker->got != UINT_MAX;
}

/* It ends before it is served, which cancels its wait. */
static void give_up(struct taker *taker)
{
    taker->wish = GIVE_UP;
    dz_task_wake(&taker->task);
    dz_executor_poll(&executor);
}

#define FOR_ALL_KINDS for (unsigned each = 0; each < KINDS; each++)
#define FOR_ALL_QUEUES \
    FOR_ALL_KINDS if (kinds[each].type->object.policy == DZ_QUEUE)

static void all_zero_it_has_its_initial_permits(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each], 0);
        memset(kind->semaphore, 0, kind->size);
        assert_int_equal(free_permits(), PERMITS);
        assert_true(try_acquire(PERMITS));
        assert_int_equal(free_permits(), 0);
        assert_false(try_acquire(1));
    }
}

static void what_is_released_can_be_acquired(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each], 3);
        assert_true(try_acquire(1));
        assert_false(try_acquire(3));
        assert_int_equal(free_permits(), 2);
        release(1);
        assert_true(try_acquire(3));
    }
}

/* More may be released than there were at first. */
static void release_adds_permits(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each], 3);
        release(2);
        assert_int_equal(free_permits(), 5);
        assert_true(try_acquire(5));
    }
}

static void what_is_free_is_taken_without_waiting(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct taker *taker;

        begin(&kinds[each], 3);
        taker = spawn(2);
        assert_int_equal(taker->got, 2);
        assert_int_equal(taker->polls, 1);
        assert_int_equal(free_permits(), 1);
    }
}

static void who_finds_too_few_waits_for_enough(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct taker *taker;

        begin(&kinds[each], 3);
        assert_true(try_acquire(1));
        taker = spawn(3);
        run_to_rest(&executor);
        assert_false(is_served(taker));
        release(1);
        run_to_rest(&executor);
        assert_int_equal(taker->got, 3);
        assert_int_equal(taker->polls, 2);
        assert_int_equal(free_permits(), 0);
    }
}

static void all_that_are_free_are_taken(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        unsigned count;

        begin(&kinds[each], 3);
        assert_int_equal(spawn_on(&executor, ALL, 1)->got, 3);
        assert_int_equal(free_permits(), 0);
        assert_false(try_acquire_all(1, &count));
        assert_int_equal(count, 0);
        release(3);
        assert_true(try_acquire_all(1, &count));
        assert_int_equal(count, 3);
        assert_int_equal(free_permits(), 0);
    }
}

static void acquire_all_waits_for_the_least_it_takes(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct taker *taker;

        begin(&kinds[each], 1);
        taker = spawn_on(&executor, ALL, 2);
        run_to_rest(&executor);
        assert_false(is_served(taker));
        assert_int_equal(free_permits(), 1);
        release(1);
        run_to_rest(&executor);
        assert_int_equal(taker->got, 2);
    }
}

/* When it goes on and not when it was woken; and nothing of what is promised
 * to others. */
static void acquire_all_takes_what_is_free_when_it_goes_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct taker *first;
        const struct taker *second;

        begin(&kinds[each], 0);
        first = spawn_on(&executor, ALL, 1);
        second = spawn(2);
        release(3);
        assert_int_equal(free_permits(), 0);
        release(4);
        run_to_rest(&executor);
        assert_int_equal(first->got, 5);
        assert_int_equal(second->got, 2);
        assert_int_equal(free_permits(), 0);
    }
}

/* M1: the first that was served did not wake the second. */
static void the_first_that_is_served_does_not_keep_the_second(void **state)
{
    const struct taker *b;
    const struct taker *c;

    (void)state;
    begin(&kinds[FAIR], 3);
    assert_true(try_acquire(2));
    b = spawn(2);
    c = spawn(1);
    release(2);
    run_to_rest(&executor);
    assert_true(is_served(b));
    assert_true(is_served(c));
    assert_int_equal(free_permits(), 0);
}

/* M1 */
static void one_release_serves_all_it_is_enough_for(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct taker *b;
        const struct taker *c;
        const struct taker *d;

        begin(&kinds[each], 0);
        b = spawn(2);
        c = spawn(1);
        d = spawn(1);
        release(3);
        run_to_rest(&executor);
        assert_true(is_served(b));
        assert_true(is_served(c));
        assert_false(is_served(d));
        assert_int_equal(b->polls + c->polls + d->polls, 3 + 2);
    }
}

/* M2: the first in line gives up, and those behind it go on. */
static void a_first_in_line_that_is_cancelled_lets_the_next_go_on(void **state)
{
    struct taker *a;
    const struct taker *b;
    const struct taker *c;

    (void)state;
    begin(&kinds[FAIR], 1);
    a = spawn(2);
    b = spawn(1);
    c = spawn(1);
    assert_false(is_served(b));
    give_up(a);
    run_to_rest(&executor);
    assert_true(is_served(b));
    assert_false(is_served(c));
    assert_int_equal(free_permits(), 0);
}

/* W4 */
static void a_promise_that_is_cancelled_serves_those_who_can_go_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct taker *a;
        const struct taker *b;
        const struct taker *c;

        begin(&kinds[each], 0);
        a = spawn(2);
        b = spawn(1);
        c = spawn_on(&executor, ALL, 1);
        release(2);
        give_up(a);
        run_to_rest(&executor);
        assert_int_equal(b->got, 1);
        assert_int_equal(c->got, 1);
        assert_int_equal(free_permits(), 0);
    }
}

/* W4: what acquire_all was promised is the least it asked for. */
static void an_acquire_all_that_is_cancelled_gives_its_promise_back(
    void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct taker *taker;

        begin(&kinds[each], 0);
        taker = spawn_on(&executor, ALL, 2);
        release(3);
        assert_int_equal(free_permits(), 1);
        give_up(taker);
        assert_int_equal(free_permits(), 3);
    }
}

static void a_waiter_that_is_cancelled_takes_nothing(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        struct taker *taker;

        begin(&kinds[each], 1);
        taker = spawn(2);
        give_up(taker);
        release(1);
        assert_int_equal(free_permits(), 2);
    }
}

static void fair_a_small_request_waits_behind_a_large_one(void **state)
{
    unsigned count;
    const struct taker *large;
    const struct taker *small;

    (void)state;
    begin(&kinds[FAIR], 2);
    large = spawn(3);
    small = spawn(1);
    run_to_rest(&executor);
    assert_false(is_served(small));
    assert_false(try_acquire(1));
    assert_false(try_acquire_all(1, &count));
    assert_int_equal(free_permits(), 2);
    release(1);
    run_to_rest(&executor);
    assert_true(is_served(large));
    assert_false(is_served(small));
    release(1);
    run_to_rest(&executor);
    assert_true(is_served(small));
}

static void greedy_a_small_request_passes_a_large_one(void **state)
{
    static const unsigned greedy[] = {GREEDY, SLOT};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct taker *large;
        unsigned count;

        begin(&kinds[greedy[i]], 2);
        large = spawn(3);
        assert_true(is_served(spawn(1)));
        assert_true(try_acquire_all(1, &count));
        assert_int_equal(count, 1);
        release(3);
        run_to_rest(&executor);
        assert_true(is_served(large));
    }
}

static void greedy_those_who_can_are_served_in_order(void **state)
{
    const struct taker *taker[4];

    (void)state;
    begin(&kinds[GREEDY], 0);
    taker[0] = spawn(3);
    taker[1] = spawn(1);
    taker[2] = spawn(2);
    taker[3] = spawn(1);
    release(2);
    run_to_rest(&executor);
    assert_int_equal(served_count, 2);
    assert_ptr_equal(served[0], taker[1]);
    assert_ptr_equal(served[1], taker[3]);
    release(5);
    run_to_rest(&executor);
    assert_int_equal(served_count, 4);
    assert_ptr_equal(served[2], taker[0]);
    assert_ptr_equal(served[3], taker[2]);
}

static void fair_waiters_are_served_in_order(void **state)
{
    const struct taker *taker[4];

    (void)state;
    begin(&kinds[FAIR], 0);
    for (int i = 0; i < 4; i++)
        taker[i] = spawn(i % 2 == 0 ? 2 : 1);
    for (int i = 0; i < 6; i++) {
        release(1);
        run_to_rest(&executor);
    }
    assert_int_equal(served_count, 4);
    for (int i = 0; i < 4; i++)
        assert_ptr_equal(served[i], taker[i]);
}

/* W3 */
static void what_is_promised_is_taken_by_nobody_else(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        unsigned count;
        const struct taker *taker;

        begin(&kinds[each], 0);
        taker = spawn(2);
        release(2);
        assert_int_equal(free_permits(), 0);
        assert_false(try_acquire(1));
        assert_false(try_acquire_all(1, &count));
        assert_false(is_served(spawn(1)));
        assert_true(is_served(taker));
        assert_int_equal(taker->polls, 2);
    }
}

static void barging_is_possible_only_under_the_single_slot_policy(void **state)
{
    const struct taker *taker;

    (void)state;
    begin(&kinds[SLOT], 0);
    taker = spawn(1);
    release(1);
    assert_true(try_acquire(1));
    run_to_rest(&executor);
    assert_false(is_served(taker));
    assert_int_equal(taker->polls, 2);
}

/* M5: those that are out come on top of it. */
static void set_does_not_know_those_that_are_out(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each], 3);
        assert_true(try_acquire(2));
        set(2);
        assert_int_equal(free_permits(), 2);
        release(2);
        assert_int_equal(free_permits(), 4);
    }
}

/* M5 */
static void set_leaves_a_promise_with_its_waiter(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct taker *first;
        struct taker *second;

        begin(&kinds[each], 0);
        first = spawn(2);
        second = spawn(2);
        release(4);
        set(0);
        assert_int_equal(free_permits(), 0);
        run_to_rest(&executor);
        assert_int_equal(first->got, 2);
        assert_int_equal(second->got, 2);
    }
}

/* M5: a promise that is given back comes on top, too. */
static void set_does_not_know_those_that_are_promised(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct taker *taker;

        begin(&kinds[each], 0);
        taker = spawn(2);
        release(2);
        set(5);
        assert_int_equal(free_permits(), 5);
        give_up(taker);
        assert_int_equal(free_permits(), 7);
    }
}

static void set_serves_exactly_those_who_can_go_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct taker *taker[4];
        int polls = 0;

        begin(&kinds[each], 0);
        for (int i = 0; i < 4; i++)
            taker[i] = spawn(2);
        set(5);
        assert_int_equal(free_permits(), 1);
        run_to_rest(&executor);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(is_served(taker[i]), i < 2);
            polls += taker[i]->polls;
        }
        assert_int_equal(polls, 4 + 2);
    }
}

static void set_to_fewer_wakes_nobody(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct taker *taker;

        begin(&kinds[each], 2);
        taker = spawn(3);
        set(1);
        assert_false(dz_executor_is_ready(&executor));
        release(1);
        assert_false(dz_executor_is_ready(&executor));
        release(1);
        run_to_rest(&executor);
        assert_true(is_served(taker));
    }
}

/* M5: acquire_all(0) is ready at once, with what there is. */
static void a_request_for_none_never_waits(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        unsigned count = 9;

        begin(&kinds[each], 0);
        assert_int_equal(spawn(0)->got, 0);
        assert_int_equal(spawn_on(&executor, ALL, 0)->got, 0);
        assert_true(try_acquire(0));
        assert_true(try_acquire_all(0, &count));
        assert_int_equal(count, 0);
        release(2);
        assert_int_equal(spawn_on(&executor, ALL, 0)->got, 2);
        assert_int_equal(free_permits(), 0);
    }
}

static void a_request_for_none_passes_those_who_wait_and_wakes_nobody(
    void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        bool is_fair = kinds[each].type->queue.service == DZ_IN_ORDER;
        unsigned count = 9;
        const struct taker *taker;

        begin(&kinds[each], 2);
        taker = spawn(3);
        assert_int_equal(spawn(0)->got, 0);
        assert_true(try_acquire(0));
        release(0);
        assert_true(try_acquire_all(0, &count));
        assert_int_equal(count, is_fair ? 0 : 2);
        assert_int_equal(spawn_on(&executor, ALL, 0)->got, 0);
        assert_false(dz_executor_is_ready(&executor));
        assert_int_equal(taker->polls, 1);
    }
}

static void to_release_none_wakes_not_even_a_slot(void **state)
{
    const struct taker *taker;

    (void)state;
    begin(&kinds[SLOT], 0);
    taker = spawn(1);
    release(0);
    assert_false(dz_executor_is_ready(&executor));
    assert_int_equal(taker->polls, 1);
}

/* W1: two idle waiters wake each other for ever. */
static void idle_waiters_are_polled_only_under_the_single_slot_policy(
    void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct taker *first;
        const struct taker *second;

        begin(&kinds[each], 1);
        first = spawn(2);
        second = spawn(3);
        for (int i = 0; i < 1000; i++)
            dz_executor_poll(&executor);
        if (kinds[each].type->object.policy == DZ_QUEUE)
            assert_int_equal(first->polls + second->polls, 2);
        else
            assert_true(first->polls + second->polls > 1000);
    }
}

/* W2: and so an executor of lower priority never gets to release. */
static void two_waiters_on_a_higher_executor_let_the_holder_run(void **state)
{
    static const unsigned queues[] = {FAIR, GREEDY};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct taker *first;
        const struct taker *second;

        begin(&kinds[queues[i]], 1);
        assert_true(is_served(spawn(1)));
        first = spawn_on(&high, COUNT, 1);
        second = spawn_on(&high, COUNT, 1);
        assert_false(dz_executor_is_ready(&high));
        release(1);
        run_to_rest(&high);
        assert_true(is_served(first));
        assert_false(is_served(second));
        release(1);
        run_to_rest(&high);
        assert_true(is_served(second));
    }
}

static void release_in_handler(void *argument)
{
    release(*(unsigned *)argument);
}

static void an_interrupt_releases(void **state)
{
    unsigned count = 2;
    const struct taker *taker;

    (void)state;
    begin(&kinds[FAIR], 0);
    taker = spawn(2);
    interrupt_now(release_in_handler, &count);
    run_to_rest(&executor);
    assert_true(is_served(taker));
}

/* W10 */
static void an_interrupt_behind_the_registration_is_not_lost(void **state)
{
    static const unsigned critical[] = {FAIR, GREEDY, SLOT};
    unsigned count = 1;

    (void)state;
    for (int i = 0; i < 3; i++) {
        const struct taker *taker;

        begin(&kinds[critical[i]], 0);
        prepare_strike(release_in_handler, &count);
        taker = spawn(1);
        assert_int_equal(has_struck_in_queue(), critical[i] != SLOT);
        assert_false(is_served(taker));
        run_to_rest(&executor);
        assert_true(is_served(taker));
    }
}

static void try_in_handler(void *argument)
{
    unsigned *got = argument;

    assert_true(try_acquire(1));
    assert_true(try_acquire_all(1, got));
    set(4);
    *got = *got * 10 + free_permits();
}

static void an_interrupt_tries_and_sets(void **state)
{
    unsigned got;

    (void)state;
    begin(&kinds[FAIR], 3);
    interrupt_now(try_in_handler, &got);
    assert_int_equal(got, 24);
}

/* A select with a branch that waits for permits. */
struct choosy {
    struct dz_task task;
    struct dz_select2 select;
};

static enum dz_poll choosy_poll(struct choosy *self)
{
    return dz_select2(&self->select, acquire(2), acquire(1));
}

DZ_TASK_POOL(choosies, struct choosy, choosy_poll, 1)

static void a_losing_branch_gives_up_its_request(void **state)
{
    static const unsigned winners[] = {1, 0}; /* fair: the first in line */
    struct choosy *choosy;

    (void)state;
    for (int i = 0; i < 2; i++) {
        memset(choosies_slots, 0, sizeof(choosies_slots));
        begin(&kinds[i == 0 ? GREEDY : FAIR], 0);
        (void)choosies_claim(&choosy);
        dz_executor_spawn(&executor, &choosy->task);
        dz_executor_poll(&executor);
        release(1);
        release(1);
        run_to_rest(&executor);
        assert_int_equal(dz_select_winner(&choosy->select), winners[i]);
        assert_int_equal(free_permits(), i == 0 ? 1 : 0);
    }
}

static void as_many_permits_as_there_can_be(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each], DZ_SEMAPHORE_MAX);
        assert_int_equal(free_permits(), DZ_SEMAPHORE_MAX);
        assert_true(try_acquire(DZ_SEMAPHORE_MAX));
        assert_int_equal(free_permits(), 0);
        release(1);
        release(DZ_SEMAPHORE_MAX - 1);
        assert_int_equal(free_permits(), DZ_SEMAPHORE_MAX);
    }
}

static void wait_for_as_many_as_there_can_be(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct taker *taker;

        begin(&kinds[each], 0);
        taker = spawn(DZ_SEMAPHORE_MAX);
        release(DZ_SEMAPHORE_MAX);
        run_to_rest(&executor);
        assert_int_equal(taker->got, DZ_SEMAPHORE_MAX);
        taker = spawn_on(&executor, ALL, DZ_SEMAPHORE_MAX);
        release(DZ_SEMAPHORE_MAX);
        run_to_rest(&executor);
        assert_int_equal(taker->got, DZ_SEMAPHORE_MAX);
    }
}

/* One is promised to it when all others come. */
static void acquire_all_takes_no_more_than_there_can_be(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct taker *taker;

        begin(&kinds[each], 0);
        taker = spawn_on(&executor, ALL, 1);
        release(1);
        release(DZ_SEMAPHORE_MAX);

        run_to_rest(&executor);

        assert_int_equal(taker->got, DZ_SEMAPHORE_MAX);
        assert_int_equal(free_permits(), 1);
    }
}

static void what_a_cancelled_waiter_has_no_room_for_is_dropped(void **state)
{
    static const struct {
        unsigned promised, set, left;
    } cases[] = {
        {1, DZ_SEMAPHORE_MAX, DZ_SEMAPHORE_MAX},
        {5, DZ_SEMAPHORE_MAX - 2, DZ_SEMAPHORE_MAX},
        {5, DZ_SEMAPHORE_MAX - 6, DZ_SEMAPHORE_MAX - 1},
    };

    (void)state;
    FOR_ALL_QUEUES
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct taker *taker;

        begin(&kinds[each], 0);
        taker = spawn(cases[i].promised);
        release(cases[i].promised);
        set(cases[i].set);

        give_up(taker);

        assert_int_equal(free_permits(), cases[i].left);
    }
}

static void release_too_many(void)
{
    begin(&kinds[FAIR], 1);
    release(DZ_SEMAPHORE_MAX);
}

/* The sum would be a small number. */
static void release_so_many_that_it_wraps(void)
{
    begin(&kinds[FAIR], 3);
    release(UINT_MAX);
}

static void set_too_many(void)
{
    begin(&kinds[FAIR], 0);
    set(DZ_SEMAPHORE_MAX + 1U);
}

static void try_too_many(void)
{
    begin(&kinds[GREEDY], 1);
    (void)try_acquire(DZ_SEMAPHORE_MAX + 2U); /* its request would be for one */
}

static void try_all_too_many(void)
{
    unsigned count;

    begin(&kinds[GREEDY], 1);
    (void)try_acquire_all(UINT_MAX, &count);
}

static void wait_for_too_many(void)
{
    begin(&kinds[FAIR], 1);
    spawn(DZ_SEMAPHORE_MAX + 1U);
}

static void wait_for_all_too_many(void)
{
    begin(&kinds[FAIR], 1);
    spawn_on(&executor, ALL, DZ_SEMAPHORE_MAX + 1U);
}

/* M5: nothing was checked. */
static void more_permits_than_there_can_be_panic(void **state)
{
    static void (*const misuses[])(void) = {release_too_many,
        release_so_many_that_it_wraps, set_too_many, try_too_many,
        try_all_too_many, wait_for_too_many, wait_for_all_too_many};

    (void)state;
    for (size_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
        struct last_words words = last_words_of(misuses[i]);

        assert_says(words, "more than DZ_SEMAPHORE_MAX permits");
        assert_says(words,
            misuses[i] == try_too_many || misuses[i] == try_all_too_many
                ? "critical_greedy at 0x"
                : "critical_fair at 0x");
    }
}

static enum dz_poll careless_poll(struct taker *self)
{
    self->wish = self->polls++ == 0 ? COUNT : ALL;
    return self->wish == COUNT ? acquire(2) : acquire_all(2, &self->got);
}

DZ_TASK_POOL(careless_takers, struct taker, careless_poll, 1)

static void ask_for_something_else(void)
{
    struct taker *taker;

    begin(&kinds[FAIR], 0);
    (void)careless_takers_claim(&taker);
    dz_executor_spawn(&executor, &taker->task);
    dz_executor_poll(&executor);
    dz_task_wake(&taker->task);
    dz_executor_poll(&executor);
}

static void another_request_without_cancel_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(ask_for_something_else), "is an await missing?");
}

static void wait_outside(void)
{
    begin(&kinds[FAIR], 3);
    walk_away_from(acquire(1));
}

static void wait_for_all_outside(void)
{
    unsigned count;

    begin(&kinds[GREEDY], 3);
    walk_away_from(acquire_all(1, &count));
}

static void wait_in_handler(void *argument)
{
    (void)argument;
    walk_away_from(acquire(1));
}

static void wait_in_an_interrupt(void)
{
    begin(&kinds[FAIR], 3);
    interrupt_now(wait_in_handler, NULL);
}

static void waiting_outside_tasks_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(wait_outside), "critical_fair at 0x");
    assert_says(last_words_of(wait_outside), "await outside a task");
    assert_says(last_words_of(wait_for_all_outside), "await outside a task");
    assert_says(last_words_of(wait_in_an_interrupt), "await outside a task");
}

static unsigned one = 1;

static void noop_in_second_context(void)
{
    begin(&kinds[0], 0);
    interrupt_now(release_in_handler, &one);
    release(1);
}

static void thread_in_an_interrupt(void)
{
    begin(&kinds[1], 0);
    interrupt_now(release_in_handler, &one);
}

static void misuse_names_the_semaphore(void **state)
{
    (void)state;
    assert_says(
        last_words_at(DZ_EXIT_RACE, noop_in_second_context), "noop_fair at 0x");
    assert_says(last_words_at(DZ_EXIT_RACE, thread_in_an_interrupt),
        "thread_fair at 0x");
}

DZ_SEMAPHORE_DEFINE(two_fair, 2, DZ_CRITICAL_SECTION)
DZ_GREEDY_SEMAPHORE_DEFINE(two_greedy, 2U, DZ_NOOP)
DZ_SEMAPHORE_DEFINE_SINGLE_SLOT(none_fair, 0, DZ_CRITICAL_SECTION)
DZ_GREEDY_SEMAPHORE_DEFINE_SINGLE_SLOT(
    many_greedy, DZ_SEMAPHORE_MAX, DZ_THREAD_MODE)

struct two {
    struct dz_task task;
    struct two_greedy *permits;
    unsigned count;
};

static enum dz_poll two_poll(struct two *self)
{
    async (self) {
        await(two_greedy_acquire(self->permits, 1));
        await(two_greedy_acquire_all(self->permits, 1, &self->count));
    }
    return DZ_READY;
}

DZ_TASK_POOL(two_takers, struct two, two_poll, 1)

static void the_typed_functions_are_these(void **state)
{
    static struct two_greedy greedy;
    static struct two_fair fair;
    static struct none_fair none;
    static struct many_greedy many;
    struct two *two;
    unsigned count;

    (void)state;
    dz_executor_init(&executor, "test");
    (void)two_takers_claim(&two);
    two->permits = &greedy;
    dz_executor_spawn(&executor, &two->task);
    dz_executor_poll(&executor);
    assert_int_equal(two->count, 1);
    assert_int_equal(two_greedy_type.queue.service, DZ_WHO_CAN);

    assert_int_equal(two_fair_type.queue.service, DZ_IN_ORDER);
    assert_true(two_fair_try_acquire(&fair, 1));
    assert_true(two_fair_try_acquire_all(&fair, 1, &count));
    two_fair_set(&fair, 4);
    two_fair_release(&fair, 1);
    assert_int_equal(two_fair_free(&fair), 5);

    assert_int_equal(none_fair_free(&none), 0);
    assert_int_equal(many_greedy_free(&many), DZ_SEMAPHORE_MAX);
}

DZ_SIGNAL_DEFINE(stop_signal, int, DZ_CRITICAL_SECTION)

static struct stop_signal stop;
static struct stop_signal sent;

static enum dz_poll link_send_poll(unsigned count)
{
    int value;

    (void)count;
    return stop_signal_wait(&sent, &value);
}

/* clang-format off */
DZ_SEMAPHORE_DEFINE(buffer_permits, 8, DZ_CRITICAL_SECTION)
static struct buffer_permits buffers;
/* clang-format on */

struct upload {
    struct dz_frame frame;
    struct dz_guard guard;
    unsigned count;
};

static void upload_drop(struct dz_guard *guard)
{
    struct upload *self = container_of(guard, struct upload, guard);

    buffer_permits_release(&buffers, self->count);
}

static enum dz_poll upload_poll(struct upload *self)
{
    async (self) {
        await(buffer_permits_acquire_all(&buffers, 2, &self->count));
        dz_guard_enter(&self->guard, upload_drop);
        await(link_send_poll(self->count));
        dz_guard_leave(&self->guard);
        buffer_permits_release(&buffers, self->count);
    }
    return DZ_READY;
}

struct session {
    struct dz_task task;
    struct dz_select2 select;
    struct upload upload;
    int reason;
    bool is_over;
};

static enum dz_poll session_poll(struct session *self)
{
    async (self) {
        await(dz_select2(&self->select, upload_poll(&self->upload),
            stop_signal_wait(&stop, &self->reason)));
        self->is_over = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(sessions, struct session, session_poll, 1)

static struct session *begin_session(void)
{
    struct session *session;

    memset(&buffers, 0, sizeof(buffers));
    memset(&stop, 0, sizeof(stop));
    memset(&sent, 0, sizeof(sent));
    memset(sessions_slots, 0, sizeof(sessions_slots));
    dz_executor_init(&executor, "test");
    (void)sessions_claim(&session);
    dz_executor_spawn(&executor, &session->task);
    dz_executor_poll(&executor);
    return session;
}

static void the_example_of_the_header_works(void **state)
{
    const struct session *session = begin_session();

    (void)state;
    assert_int_equal(session->upload.count, 8);
    assert_int_equal(buffer_permits_free(&buffers), 0);
    stop_signal_send(&sent, 0);
    run_to_rest(&executor);
    assert_true(session->is_over);
    assert_int_equal(buffer_permits_free(&buffers), 8);
}

static void a_child_that_is_cancelled_gives_its_permits_back(void **state)
{
    const struct session *session = begin_session();

    (void)state;
    stop_signal_send(&stop, 1);
    run_to_rest(&executor);
    assert_true(session->is_over);
    assert_int_equal(buffer_permits_free(&buffers), 8);
}

static enum dz_poll keep_poll(struct upload *self)
{
    async (self) {
        await(buffer_permits_acquire(&buffers, self->count));
        dz_guard_enter(&self->guard, upload_drop);
        dz_guard_leave(&self->guard);
        await(link_send_poll(self->count));
    }
    return DZ_READY;
}

static enum dz_poll keeper_poll(struct session *self)
{
    self->upload.count = 2;
    return dz_select2(&self->select, keep_poll(&self->upload),
        stop_signal_wait(&stop, &self->reason));
}

DZ_TASK_POOL(keeping_sessions, struct session, keeper_poll, 1)

/* Upstream's disarm: who leaves the guard keeps the permits. */
static void without_its_guard_a_child_keeps_its_permits(void **state)
{
    struct session *keeper;

    (void)state;
    memset(&buffers, 0, sizeof(buffers));
    memset(&stop, 0, sizeof(stop));
    memset(&sent, 0, sizeof(sent));
    dz_executor_init(&executor, "test");
    (void)keeping_sessions_claim(&keeper);
    dz_executor_spawn(&executor, &keeper->task);
    dz_executor_poll(&executor);
    stop_signal_send(&stop, 1);
    run_to_rest(&executor);
    assert_int_equal(buffer_permits_free(&buffers), 6);
    buffer_permits_release(&buffers, 2);
    assert_int_equal(buffer_permits_free(&buffers), 8);
}

RUN_TESTS(TEST(all_zero_it_has_its_initial_permits),
    TEST(what_is_released_can_be_acquired), TEST(release_adds_permits),
    TEST(what_is_free_is_taken_without_waiting),
    TEST(who_finds_too_few_waits_for_enough), TEST(all_that_are_free_are_taken),
    TEST(acquire_all_waits_for_the_least_it_takes),
    TEST(acquire_all_takes_what_is_free_when_it_goes_on),
    TEST(the_first_that_is_served_does_not_keep_the_second),
    TEST(one_release_serves_all_it_is_enough_for),
    TEST(a_first_in_line_that_is_cancelled_lets_the_next_go_on),
    TEST(a_promise_that_is_cancelled_serves_those_who_can_go_on),
    TEST(an_acquire_all_that_is_cancelled_gives_its_promise_back),
    TEST(a_waiter_that_is_cancelled_takes_nothing),
    TEST(fair_a_small_request_waits_behind_a_large_one),
    TEST(greedy_a_small_request_passes_a_large_one),
    TEST(greedy_those_who_can_are_served_in_order),
    TEST(fair_waiters_are_served_in_order),
    TEST(what_is_promised_is_taken_by_nobody_else),
    TEST(barging_is_possible_only_under_the_single_slot_policy),
    TEST(set_does_not_know_those_that_are_out),
    TEST(set_leaves_a_promise_with_its_waiter),
    TEST(set_does_not_know_those_that_are_promised),
    TEST(set_serves_exactly_those_who_can_go_on),
    TEST(set_to_fewer_wakes_nobody), TEST(a_request_for_none_never_waits),
    TEST(a_request_for_none_passes_those_who_wait_and_wakes_nobody),
    TEST(to_release_none_wakes_not_even_a_slot),
    TEST(idle_waiters_are_polled_only_under_the_single_slot_policy),
    TEST(two_waiters_on_a_higher_executor_let_the_holder_run),
    TEST(an_interrupt_releases),
    TEST(an_interrupt_behind_the_registration_is_not_lost),
    TEST(an_interrupt_tries_and_sets),
    TEST(a_losing_branch_gives_up_its_request),
    TEST(as_many_permits_as_there_can_be),
    TEST(wait_for_as_many_as_there_can_be),
    TEST(acquire_all_takes_no_more_than_there_can_be),
    TEST(what_a_cancelled_waiter_has_no_room_for_is_dropped),
    TEST(more_permits_than_there_can_be_panic),
    TEST(another_request_without_cancel_panics),
    TEST(waiting_outside_tasks_panics), TEST(misuse_names_the_semaphore),
    TEST(the_typed_functions_are_these), TEST(the_example_of_the_header_works),
    TEST(a_child_that_is_cancelled_gives_its_permits_back),
    TEST(without_its_guard_a_child_keeps_its_permits))
