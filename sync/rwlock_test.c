/* SPDX-License-Identifier: MIT */
#include "sync/rwlock.h"

#include "executor/select.h"
#include "sim/test.h"
#include "sync/signal.h"

enum { TASKS = 6 };

#define FOR_EACH_KIND(X)                             \
    X(noop_queue, DZ_NOOP, DZ_QUEUE)                 \
    X(thread_queue, DZ_THREAD_MODE, DZ_QUEUE)        \
    X(critical_queue, DZ_CRITICAL_SECTION, DZ_QUEUE) \
    X(noop_slot, DZ_NOOP, DZ_SINGLE_SLOT)            \
    X(thread_slot, DZ_THREAD_MODE, DZ_SINGLE_SLOT)   \
    X(critical_slot, DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT)

#define DEFINE(name, mutex, policy)                   \
    DZ_RWLOCK_DEFINE_POLICY(name, int, mutex, policy) \
    static struct name name;

FOR_EACH_KIND(DEFINE)

/* A lock of which the tests know no more than what they look up here. */
struct kind {
    void *lock;
    size_t size;
    const struct dz_rwlock_type *type;
};

#define ENTRY(name, mutex, policy) {&name, sizeof(name), &name##_type},

static const struct kind kinds[] = {FOR_EACH_KIND(ENTRY)};

enum {
    KINDS = sizeof(kinds) / sizeof(kinds[0]),
    NOOP = 0,
    THREAD = 1,
    CRITICAL = 2,
    SLOT = 5,
};

static const struct kind *kind;
static struct dz_executor executor;
static struct dz_executor high;

static enum dz_poll lock(enum dz_rwlock_request request)
{
    return dz_rwlock_lock(dz_rwlock_of(kind->lock), kind->type, request);
}

static bool try_lock(enum dz_rwlock_request request)
{
    return dz_rwlock_try_lock(dz_rwlock_of(kind->lock), kind->type, request);
}

static void unlock(enum dz_rwlock_request request)
{
    if (request == DZ_RWLOCK_READ)
        dz_rwlock_unlock_read(dz_rwlock_of(kind->lock), kind->type);
    else
        dz_rwlock_unlock_write(dz_rwlock_of(kind->lock), kind->type);
}

/* A task that locks, and leaves the unlock to the test. */
struct locker {
    struct dz_task task;
    enum dz_rwlock_request request;
    int polls;
    bool is_in;
    bool gives_up; /* at its next poll */
};

static enum dz_poll counted_lock(struct locker *self)
{
    self->polls++;
    if (self->gives_up)
        return DZ_READY;
    strike_behind_wait();
    return lock(self->request);
}

static enum dz_poll locker_poll(struct locker *self)
{
    async (self) {
        await(counted_lock(self));
        self->is_in = !self->gives_up;
    }
    return DZ_READY;
}

DZ_TASK_POOL(lockers, struct locker, locker_poll, TASKS)

static void begin(const struct kind *chosen)
{
    kind = chosen;
    memset(kind->lock, 0, kind->size);
    memset(lockers_slots, 0, sizeof(lockers_slots));
    dz_executor_init(&executor, "test");
    dz_executor_init(&high, "high");
}

static struct locker *spawn_on(
    struct dz_executor *which, enum dz_rwlock_request request)
{
    struct locker *locker = dz_pool_claim(&lockers);

    assert_non_null(locker);
    locker->request = request;
    dz_executor_spawn(which, &locker->task);
    dz_executor_poll(which);
    return locker;
}

static struct locker *spawn(enum dz_rwlock_request request)
{
    return spawn_on(&executor, request);
}

static void run_to_rest(struct dz_executor *which)
{
    int passes = 0;

    while (dz_executor_is_ready(which)) {
        dz_executor_poll(which);
        assert_true(++passes < 100);
    }
}

/* It ends before it has the lock, which cancels its wait. */
static void give_up(struct locker *locker)
{
    locker->gives_up = true;
    dz_task_wake(&locker->task);
    dz_executor_poll(&executor);
}

#define FOR_ALL_KINDS for (unsigned each = 0; each < KINDS; each++)
#define FOR_ALL_QUEUES \
    FOR_ALL_KINDS if (kinds[each].type->object.policy == DZ_QUEUE)

static void several_read_and_one_writes(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each]);
        assert_true(try_lock(DZ_RWLOCK_READ));
        assert_true(try_lock(DZ_RWLOCK_READ));
        assert_false(try_lock(DZ_RWLOCK_WRITE));
        unlock(DZ_RWLOCK_READ);
        assert_false(try_lock(DZ_RWLOCK_WRITE));
        unlock(DZ_RWLOCK_READ);
        assert_true(try_lock(DZ_RWLOCK_WRITE));
        assert_false(try_lock(DZ_RWLOCK_WRITE));
        assert_false(try_lock(DZ_RWLOCK_READ));
        unlock(DZ_RWLOCK_WRITE);
        assert_true(try_lock(DZ_RWLOCK_READ));
    }
}

static void a_free_lock_is_taken_without_waiting(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        begin(&kinds[each]);
        assert_true(spawn(DZ_RWLOCK_READ)->is_in);
        assert_true(spawn(DZ_RWLOCK_READ)->is_in);
        unlock(DZ_RWLOCK_READ);
        unlock(DZ_RWLOCK_READ);
        assert_true(spawn(DZ_RWLOCK_WRITE)->is_in);
        assert_false(try_lock(DZ_RWLOCK_READ));
    }
}

static void a_writer_waits_for_the_last_reader(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct locker *writer;

        begin(&kinds[each]);
        assert_true(try_lock(DZ_RWLOCK_READ));
        assert_true(try_lock(DZ_RWLOCK_READ));
        writer = spawn(DZ_RWLOCK_WRITE);
        unlock(DZ_RWLOCK_READ);
        run_to_rest(&executor);
        assert_false(writer->is_in);
        unlock(DZ_RWLOCK_READ);
        run_to_rest(&executor);
        assert_true(writer->is_in);
        assert_false(try_lock(DZ_RWLOCK_READ));
    }
}

static void a_reader_waits_for_the_writer(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct locker *reader;

        begin(&kinds[each]);
        assert_true(try_lock(DZ_RWLOCK_WRITE));
        reader = spawn(DZ_RWLOCK_READ);
        run_to_rest(&executor);
        assert_false(reader->is_in);
        unlock(DZ_RWLOCK_WRITE);
        run_to_rest(&executor);
        assert_true(reader->is_in);
        assert_int_equal(reader->polls, 2);
        assert_true(try_lock(DZ_RWLOCK_READ));
    }
}

/* L1: readers that keep coming starve no writer. */
static void a_reader_waits_behind_a_writer_that_waits(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct locker *writer;
        const struct locker *reader;

        begin(&kinds[each]);
        assert_true(try_lock(DZ_RWLOCK_READ));
        writer = spawn(DZ_RWLOCK_WRITE);
        reader = spawn(DZ_RWLOCK_READ);
        assert_false(reader->is_in);
        assert_false(try_lock(DZ_RWLOCK_READ));
        unlock(DZ_RWLOCK_READ);
        run_to_rest(&executor);
        assert_true(writer->is_in);
        assert_false(reader->is_in);
        unlock(DZ_RWLOCK_WRITE);
        run_to_rest(&executor);
        assert_true(reader->is_in);
    }
}

/* L1: as upstream. */
static void readers_pass_a_writer_under_the_single_slot_policy(void **state)
{
    const struct locker *writer;

    (void)state;
    begin(&kinds[SLOT]);
    assert_true(try_lock(DZ_RWLOCK_READ));
    writer = spawn(DZ_RWLOCK_WRITE);
    assert_true(spawn(DZ_RWLOCK_READ)->is_in);
    assert_true(try_lock(DZ_RWLOCK_READ));
    unlock(DZ_RWLOCK_READ);
    unlock(DZ_RWLOCK_READ);
    run_to_rest(&executor);
    assert_false(writer->is_in);
    unlock(DZ_RWLOCK_READ);
    run_to_rest(&executor);
    assert_true(writer->is_in);
}

/* W3: a writer that unlocks lets those in who wait, and not itself. */
static void what_is_promised_is_taken_by_nobody_else(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct locker *reader;
        const struct locker *writer;

        begin(&kinds[each]);
        assert_true(try_lock(DZ_RWLOCK_WRITE));
        reader = spawn(DZ_RWLOCK_READ);
        writer = spawn(DZ_RWLOCK_WRITE);
        unlock(DZ_RWLOCK_WRITE);
        assert_false(try_lock(DZ_RWLOCK_WRITE));
        assert_false(try_lock(DZ_RWLOCK_READ));
        run_to_rest(&executor);
        assert_true(reader->is_in);
        unlock(DZ_RWLOCK_READ);
        assert_false(try_lock(DZ_RWLOCK_WRITE));
        assert_false(try_lock(DZ_RWLOCK_READ));
        run_to_rest(&executor);
        assert_true(writer->is_in);
    }
}

static void readers_in_a_row_are_let_in_together(void **state)
{
    static const enum dz_rwlock_request line[] = {DZ_RWLOCK_READ,
        DZ_RWLOCK_READ, DZ_RWLOCK_READ, DZ_RWLOCK_WRITE, DZ_RWLOCK_READ,
        DZ_RWLOCK_READ};

    (void)state;
    FOR_ALL_QUEUES
    {
        const struct locker *locker[6];

        begin(&kinds[each]);
        assert_true(try_lock(DZ_RWLOCK_WRITE));
        for (int i = 0; i < 6; i++)
            locker[i] = spawn(line[i]);
        unlock(DZ_RWLOCK_WRITE);
        run_to_rest(&executor);
        for (int i = 0; i < 6; i++)
            assert_int_equal(locker[i]->is_in, i < 3);
        for (int i = 0; i < 3; i++)
            unlock(DZ_RWLOCK_READ);
        run_to_rest(&executor);
        for (int i = 0; i < 6; i++)
            assert_int_equal(locker[i]->is_in, i < 4);
        unlock(DZ_RWLOCK_WRITE);
        run_to_rest(&executor);
        for (int i = 0; i < 6; i++) {
            assert_true(locker[i]->is_in);
            assert_int_equal(locker[i]->polls, 2);
        }
    }
}

static void writers_are_let_in_one_by_one_in_order(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        const struct locker *writer[3];

        begin(&kinds[each]);
        assert_true(try_lock(DZ_RWLOCK_READ));
        for (int i = 0; i < 3; i++)
            writer[i] = spawn(DZ_RWLOCK_WRITE);
        unlock(DZ_RWLOCK_READ);
        for (int i = 0; i < 3; i++) {
            run_to_rest(&executor);
            for (int j = 0; j < 3; j++)
                assert_int_equal(writer[j]->is_in, j <= i);
            unlock(DZ_RWLOCK_WRITE);
        }
        assert_true(try_lock(DZ_RWLOCK_WRITE));
    }
}

/* M2 and L1: a writer that gives up was what the readers waited for. */
static void a_waiting_writer_that_is_cancelled_lets_readers_go_on(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct locker *writer;
        const struct locker *reader[2];
        const struct locker *other;

        begin(&kinds[each]);
        assert_true(try_lock(DZ_RWLOCK_READ));
        writer = spawn(DZ_RWLOCK_WRITE);
        reader[0] = spawn(DZ_RWLOCK_READ);
        reader[1] = spawn(DZ_RWLOCK_READ);
        other = spawn(DZ_RWLOCK_WRITE);
        give_up(writer);
        run_to_rest(&executor);
        assert_true(reader[0]->is_in);
        assert_true(reader[1]->is_in);
        assert_false(other->is_in);
        for (int i = 0; i < 3; i++)
            unlock(DZ_RWLOCK_READ);
        run_to_rest(&executor);
        assert_true(other->is_in);
    }
}

/* W4 */
static void a_promised_writer_that_is_cancelled_lets_the_next_in(void **state)
{
    static const enum dz_rwlock_request next[] = {
        DZ_RWLOCK_READ, DZ_RWLOCK_WRITE};

    (void)state;
    FOR_ALL_QUEUES
    {
        for (int i = 0; i < 2; i++) {
            struct locker *writer;
            const struct locker *first;
            const struct locker *second;

            begin(&kinds[each]);
            assert_true(try_lock(DZ_RWLOCK_READ));
            writer = spawn(DZ_RWLOCK_WRITE);
            first = spawn(next[i]);
            second = spawn(DZ_RWLOCK_READ);
            unlock(DZ_RWLOCK_READ);
            give_up(writer);
            run_to_rest(&executor);
            assert_true(first->is_in);
            assert_int_equal(second->is_in, next[i] == DZ_RWLOCK_READ);
        }
    }
}

/* W4 */
static void a_promised_reader_that_is_cancelled_lets_the_writer_in(void **state)
{
    (void)state;
    FOR_ALL_QUEUES
    {
        struct locker *reader[2];
        const struct locker *writer;

        begin(&kinds[each]);
        assert_true(try_lock(DZ_RWLOCK_WRITE));
        reader[0] = spawn(DZ_RWLOCK_READ);
        reader[1] = spawn(DZ_RWLOCK_READ);
        writer = spawn(DZ_RWLOCK_WRITE);
        unlock(DZ_RWLOCK_WRITE);
        give_up(reader[0]);
        run_to_rest(&executor);
        assert_true(reader[1]->is_in);
        assert_false(writer->is_in);
        unlock(DZ_RWLOCK_READ);
        run_to_rest(&executor);
        assert_true(writer->is_in);
    }
}

static void a_promise_that_is_cancelled_leaves_the_lock_free(void **state)
{
    static const enum dz_rwlock_request requests[] = {
        DZ_RWLOCK_READ, DZ_RWLOCK_WRITE};

    (void)state;
    FOR_ALL_KINDS
    {
        for (int i = 0; i < 2; i++) {
            struct locker *locker;

            begin(&kinds[each]);
            assert_true(try_lock(DZ_RWLOCK_WRITE));
            locker = spawn(requests[i]);
            unlock(DZ_RWLOCK_WRITE);
            give_up(locker);
            assert_true(try_lock(DZ_RWLOCK_WRITE));
            unlock(DZ_RWLOCK_WRITE);
        }
    }
}

static void as_many_read_as_can_be_counted_and_others_wait(void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct locker *reader;

        begin(&kinds[each]);
        for (int i = 0; i < DZ_RWLOCK_READERS_MAX; i++)
            assert_true(try_lock(DZ_RWLOCK_READ));
        assert_false(try_lock(DZ_RWLOCK_READ));
        reader = spawn(DZ_RWLOCK_READ);
        assert_false(reader->is_in);
        unlock(DZ_RWLOCK_READ);
        run_to_rest(&executor);
        assert_true(reader->is_in);
        assert_false(try_lock(DZ_RWLOCK_READ));
        for (int i = 0; i < DZ_RWLOCK_READERS_MAX; i++)
            unlock(DZ_RWLOCK_READ);
        assert_true(try_lock(DZ_RWLOCK_WRITE));
    }
}

/* W1: two idle waiters wake each other for ever. */
static void idle_waiters_are_polled_only_under_the_single_slot_policy(
    void **state)
{
    (void)state;
    FOR_ALL_KINDS
    {
        const struct locker *first;
        const struct locker *second;

        begin(&kinds[each]);
        assert_true(try_lock(DZ_RWLOCK_WRITE));
        first = spawn(DZ_RWLOCK_READ);
        second = spawn(DZ_RWLOCK_WRITE);
        for (int i = 0; i < 1000; i++)
            dz_executor_poll(&executor);
        if (kinds[each].type->object.policy == DZ_QUEUE)
            assert_int_equal(first->polls + second->polls, 2);
        else
            assert_true(first->polls + second->polls > 1000);
    }
}

/* W2: and so an executor of lower priority never gets to unlock. */
static void two_waiters_on_a_higher_executor_let_the_holder_run(void **state)
{
    const struct locker *first;
    const struct locker *second;

    (void)state;
    begin(&kinds[CRITICAL]);
    assert_true(spawn(DZ_RWLOCK_READ)->is_in);
    first = spawn_on(&high, DZ_RWLOCK_WRITE);
    second = spawn_on(&high, DZ_RWLOCK_READ);
    assert_false(dz_executor_is_ready(&high));
    unlock(DZ_RWLOCK_READ);
    run_to_rest(&high);
    assert_true(first->is_in);
    assert_false(second->is_in);
    unlock(DZ_RWLOCK_WRITE);
    run_to_rest(&high);
    assert_true(second->is_in);
}

static void unlock_in_handler(void *argument)
{
    unlock(*(enum dz_rwlock_request *)argument);
}

static void an_interrupt_tries_and_unlocks(void **state)
{
    static const enum dz_rwlock_request requests[] = {
        DZ_RWLOCK_READ, DZ_RWLOCK_WRITE};

    (void)state;
    for (int i = 0; i < 2; i++) {
        enum dz_rwlock_request request = requests[i];
        const struct locker *writer;

        begin(&kinds[CRITICAL]);
        assert_true(try_lock(request));
        writer = spawn(DZ_RWLOCK_WRITE);
        interrupt_now(unlock_in_handler, &request);
        run_to_rest(&executor);
        assert_true(writer->is_in);
    }
}

/* W10 */
static void an_interrupt_behind_the_registration_is_not_lost(void **state)
{
    static const unsigned critical[] = {CRITICAL, SLOT};
    enum dz_rwlock_request request = DZ_RWLOCK_WRITE;

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct locker *reader;

        begin(&kinds[critical[i]]);
        assert_true(try_lock(DZ_RWLOCK_WRITE));
        prepare_strike(unlock_in_handler, &request);
        reader = spawn(DZ_RWLOCK_READ);
        assert_int_equal(has_struck_in_queue(), critical[i] != SLOT);
        assert_false(reader->is_in);
        run_to_rest(&executor);
        assert_true(reader->is_in);
    }
}

/* A select that takes the lock either way. */
struct choosy {
    struct dz_task task;
    struct dz_select2 select;
};

static enum dz_poll choosy_poll(struct choosy *self)
{
    return dz_select2(
        &self->select, lock(DZ_RWLOCK_WRITE), lock(DZ_RWLOCK_READ));
}

DZ_TASK_POOL(choosies, struct choosy, choosy_poll, 1)

static void a_losing_branch_leaves_the_line(void **state)
{
    struct choosy *choosy;

    (void)state;
    memset(choosies_slots, 0, sizeof(choosies_slots));
    begin(&kinds[CRITICAL]);
    assert_true(try_lock(DZ_RWLOCK_READ));
    (void)choosies_claim(&choosy);
    dz_executor_spawn(&executor, &choosy->task);
    dz_executor_poll(&executor);
    unlock(DZ_RWLOCK_READ);
    run_to_rest(&executor);
    assert_int_equal(dz_select_winner(&choosy->select), 0);
    unlock(DZ_RWLOCK_WRITE);
    assert_true(try_lock(DZ_RWLOCK_WRITE));
}

static void unlock_read_unlocked(void)
{
    begin(&kinds[NOOP]);
    unlock(DZ_RWLOCK_READ);
}

static void unlock_write_unlocked(void)
{
    begin(&kinds[NOOP]);
    unlock(DZ_RWLOCK_WRITE);
}

static void unlock_read_written(void)
{
    begin(&kinds[NOOP]);
    (void)try_lock(DZ_RWLOCK_WRITE);
    unlock(DZ_RWLOCK_READ);
}

static void unlock_write_read(void)
{
    begin(&kinds[NOOP]);
    (void)try_lock(DZ_RWLOCK_READ);
    unlock(DZ_RWLOCK_WRITE);
}

static void unlock_read_twice(void)
{
    begin(&kinds[NOOP]);
    (void)try_lock(DZ_RWLOCK_READ);
    unlock(DZ_RWLOCK_READ);
    unlock(DZ_RWLOCK_READ);
}

static void unlock_write_twice(void)
{
    begin(&kinds[NOOP]);
    (void)try_lock(DZ_RWLOCK_WRITE);
    unlock(DZ_RWLOCK_WRITE);
    unlock(DZ_RWLOCK_WRITE);
}

static void unlock_read_promised(void)
{
    begin(&kinds[NOOP]);
    (void)try_lock(DZ_RWLOCK_WRITE);
    spawn(DZ_RWLOCK_READ);
    unlock(DZ_RWLOCK_WRITE);
    unlock(DZ_RWLOCK_READ);
}

static void unlock_write_promised(void)
{
    begin(&kinds[NOOP]);
    (void)try_lock(DZ_RWLOCK_WRITE);
    spawn(DZ_RWLOCK_WRITE);
    unlock(DZ_RWLOCK_WRITE);
    unlock(DZ_RWLOCK_WRITE);
}

static void to_unlock_what_is_not_locked_panics(void **state)
{
    static const struct {
        void (*misuse)(void);
        const char *reason;
    } cases[] = {
        {unlock_read_unlocked, "unlock_read of a lock that nobody has"},
        {unlock_write_unlocked, "unlock_write of a lock that nobody has"},
        {unlock_read_written, "unlock_read of a lock that nobody has"},
        {unlock_write_read, "unlock_write of a lock that nobody has"},
        {unlock_read_twice, "unlock_read of a lock that nobody has"},
        {unlock_write_twice, "unlock_write of a lock that nobody has"},
        {unlock_read_promised, "unlock_read of a lock that nobody has"},
        {unlock_write_promised, "unlock_write of a lock that nobody has"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct last_words words = last_words_of(cases[i].misuse);

        assert_says(words, cases[i].reason);
        assert_says(words, "noop_queue at 0x");
    }
}

static enum dz_poll careless_poll(struct locker *self)
{
    return lock(self->polls++ == 0 ? DZ_RWLOCK_READ : DZ_RWLOCK_WRITE);
}

DZ_TASK_POOL(careless_lockers, struct locker, careless_poll, 1)

static void ask_for_something_else(void)
{
    struct locker *locker;

    begin(&kinds[CRITICAL]);
    (void)try_lock(DZ_RWLOCK_WRITE);
    (void)careless_lockers_claim(&locker);
    dz_executor_spawn(&executor, &locker->task);
    dz_executor_poll(&executor);
    dz_task_wake(&locker->task);
    dz_executor_poll(&executor);
}

static void another_request_without_cancel_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(ask_for_something_else), "is an await missing?");
}

static void wait_outside(void)
{
    begin(&kinds[CRITICAL]);
    walk_away_from(lock(DZ_RWLOCK_READ));
}

static void wait_in_handler(void *argument)
{
    (void)argument;
    walk_away_from(lock(DZ_RWLOCK_WRITE));
}

static void wait_in_an_interrupt(void)
{
    begin(&kinds[CRITICAL]);
    interrupt_now(wait_in_handler, NULL);
}

static void waiting_outside_tasks_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(wait_outside), "critical_queue at 0x");
    assert_says(last_words_of(wait_outside), "await outside a task");
    assert_says(last_words_of(wait_in_an_interrupt), "await outside a task");
}

static void try_read_in_handler(void *argument)
{
    (void)argument;
    (void)try_lock(DZ_RWLOCK_READ);
}

static void noop_in_second_context(void)
{
    begin(&kinds[NOOP]);
    interrupt_now(try_read_in_handler, NULL);
    (void)try_lock(DZ_RWLOCK_READ);
}

static void thread_in_an_interrupt(void)
{
    begin(&kinds[THREAD]);
    interrupt_now(try_read_in_handler, NULL);
}

static void misuse_names_the_lock(void **state)
{
    (void)state;
    assert_says(last_words_at(DZ_EXIT_RACE, noop_in_second_context),
        "noop_queue at 0x");
    assert_says(last_words_at(DZ_EXIT_RACE, thread_in_an_interrupt),
        "thread_queue at 0x");
}

DZ_RWLOCK_DEFINE(text_lock, const char *, DZ_CRITICAL_SECTION)
DZ_RWLOCK_DEFINE_SINGLE_SLOT(slot_lock, int, DZ_CRITICAL_SECTION)

static void a_lock_gives_its_value_or_nothing(void **state)
{
    static struct text_lock note = {.value = "old"};
    static struct slot_lock slot;
    const char *const *read;
    const char **written;

    (void)state;
    read = text_lock_try_read(&note);
    assert_string_equal(*read, "old");
    assert_null(text_lock_try_write(&note));
    text_lock_unlock_read(&note);
    written = text_lock_try_write(&note);
    assert_null(text_lock_try_read(&note));
    *written = "new";
    text_lock_unlock_write(&note);
    assert_string_equal(*text_lock_try_read(&note), "new");

    assert_int_equal(*slot_lock_try_read(&slot), 0);
}

static struct text_lock text;

struct editor {
    struct dz_task task;
    const char *const *read;
    const char **written;
};

static enum dz_poll editor_poll(struct editor *self)
{
    async (self) {
        await(text_lock_write(&text, &self->written));
        *self->written = "written";
        text_lock_unlock_write(&text);
        await(dz_yield_poll());
        await(text_lock_read(&text, &self->read));
    }
    return DZ_READY;
}

DZ_TASK_POOL(editors, struct editor, editor_poll, 1)

static void nobody_has_the_value_while_it_waits(void **state)
{
    static const char *other = "other";
    struct editor *editor;

    (void)state;
    dz_executor_init(&executor, "test");
    (void)editors_claim(&editor);
    editor->read = &other;
    editor->written = &other;
    assert_non_null(text_lock_try_read(&text));
    dz_executor_spawn(&executor, &editor->task);
    dz_executor_poll(&executor);
    assert_null(editor->written);
    text_lock_unlock_read(&text);
    dz_executor_poll(&executor);
    assert_non_null(text_lock_try_write(&text));
    dz_executor_poll(&executor);
    assert_null(editor->read);
    text_lock_unlock_write(&text);
    run_to_rest(&executor);
    assert_string_equal(*editor->read, "written");
}

struct route {
    int hops;
};

DZ_SIGNAL_DEFINE(stop_signal, int, DZ_CRITICAL_SECTION)

static struct stop_signal stop;
static struct stop_signal sent;

static enum dz_poll send_poll(const struct route *to)
{
    int value;

    assert_int_equal(to->hops, 1);
    return stop_signal_wait(&sent, &value);
}

/* clang-format off */
DZ_RWLOCK_DEFINE(route_lock, struct route, DZ_NOOP)
static struct route_lock route = {.value = {.hops = 1}};
/* clang-format on */

struct sender {
    struct dz_frame frame;
    struct dz_guard guard;
    const struct route *route;
};

static void sender_drop(struct dz_guard *guard)
{
    (void)guard;
    route_lock_unlock_read(&route);
}

static enum dz_poll sender_poll(struct sender *self)
{
    async (self) {
        await(route_lock_read(&route, &self->route));
        dz_guard_enter(&self->guard, sender_drop);
        await(send_poll(self->route));
        dz_guard_leave(&self->guard);
        route_lock_unlock_read(&route);
    }
    return DZ_READY;
}

/* The same for a writer. */
struct updater {
    struct dz_frame frame;
    struct dz_guard guard;
    struct route *route;
};

static void updater_drop(struct dz_guard *guard)
{
    (void)guard;
    route_lock_unlock_write(&route);
}

static enum dz_poll updater_poll(struct updater *self)
{
    async (self) {
        await(route_lock_write(&route, &self->route));
        dz_guard_enter(&self->guard, updater_drop);
        await(send_poll(self->route));
        dz_guard_leave(&self->guard);
        route_lock_unlock_write(&route);
    }
    return DZ_READY;
}

struct session {
    struct dz_task task;
    struct dz_select2 select;
    struct sender sender;
    struct updater updater;
    int reason;
    bool writes;
    bool is_over;
};

static enum dz_poll work_poll(struct session *self)
{
    return self->writes ? updater_poll(&self->updater)
                        : sender_poll(&self->sender);
}

static enum dz_poll session_poll(struct session *self)
{
    async (self) {
        await(dz_select2(&self->select, work_poll(self),
            stop_signal_wait(&stop, &self->reason)));
        self->is_over = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(sessions, struct session, session_poll, 1)

static struct session *begin_session(enum dz_rwlock_request request)
{
    struct session *session;

    memset(&stop, 0, sizeof(stop));
    memset(&sent, 0, sizeof(sent));
    memset(sessions_slots, 0, sizeof(sessions_slots));
    dz_executor_init(&executor, "test");
    (void)sessions_claim(&session);
    session->writes = request == DZ_RWLOCK_WRITE;
    dz_executor_spawn(&executor, &session->task);
    dz_executor_poll(&executor);
    return session;
}

static void nobody_has_locked_the_route(void)
{
    assert_non_null(route_lock_try_write(&route));
    route_lock_unlock_write(&route);
}

static void the_example_of_the_header_works(void **state)
{
    const struct session *session = begin_session(DZ_RWLOCK_READ);

    (void)state;
    assert_null(route_lock_try_write(&route));
    assert_non_null(route_lock_try_read(&route));
    route_lock_unlock_read(&route);
    stop_signal_send(&sent, 0);
    run_to_rest(&executor);
    assert_true(session->is_over);
    nobody_has_locked_the_route();
}

static void a_child_that_is_cancelled_gives_the_lock_back(void **state)
{
    static const enum dz_rwlock_request requests[] = {
        DZ_RWLOCK_READ, DZ_RWLOCK_WRITE};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct session *session = begin_session(requests[i]);

        assert_null(route_lock_try_write(&route));
        stop_signal_send(&stop, 1);
        run_to_rest(&executor);
        assert_true(session->is_over);
        nobody_has_locked_the_route();
    }
}

RUN_TESTS(TEST(several_read_and_one_writes),
    TEST(a_free_lock_is_taken_without_waiting),
    TEST(a_writer_waits_for_the_last_reader),
    TEST(a_reader_waits_for_the_writer),
    TEST(a_reader_waits_behind_a_writer_that_waits),
    TEST(readers_pass_a_writer_under_the_single_slot_policy),
    TEST(what_is_promised_is_taken_by_nobody_else),
    TEST(readers_in_a_row_are_let_in_together),
    TEST(writers_are_let_in_one_by_one_in_order),
    TEST(a_waiting_writer_that_is_cancelled_lets_readers_go_on),
    TEST(a_promised_writer_that_is_cancelled_lets_the_next_in),
    TEST(a_promised_reader_that_is_cancelled_lets_the_writer_in),
    TEST(a_promise_that_is_cancelled_leaves_the_lock_free),
    TEST(as_many_read_as_can_be_counted_and_others_wait),
    TEST(idle_waiters_are_polled_only_under_the_single_slot_policy),
    TEST(two_waiters_on_a_higher_executor_let_the_holder_run),
    TEST(an_interrupt_tries_and_unlocks),
    TEST(an_interrupt_behind_the_registration_is_not_lost),
    TEST(a_losing_branch_leaves_the_line),
    TEST(to_unlock_what_is_not_locked_panics),
    TEST(another_request_without_cancel_panics),
    TEST(waiting_outside_tasks_panics), TEST(misuse_names_the_lock),
    TEST(a_lock_gives_its_value_or_nothing),
    TEST(nobody_has_the_value_while_it_waits),
    TEST(the_example_of_the_header_works),
    TEST(a_child_that_is_cancelled_gives_the_lock_back))
