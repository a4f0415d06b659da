/* SPDX-License-Identifier: MIT */

/*
 * strike_lines -- who waits at each primitive, and an interrupt that uses it
 *
 * This file is compiled once for each variant, which is given by the build:
 *
 *     STRIKE_POLICY    DZ_QUEUE or DZ_SINGLE_SLOT
 *     STRIKE_ALL       the name of the table of scenarios
 *
 * Two kinds of scenario: a line of tasks of one executor, which the interrupt
 * lets go on; and two tasks, the second of which is of an executor that the
 * interrupt polls, so that it is there with all that only a task may do. At a
 * single slot, never more than one waits: two would keep each other busy for
 * ever.
 */

#include "executor/select.h"
#include "sync/barrier.h"
#include "sync/channel.h"
#include "sync/event_flags.h"
#include "sync/mutex.h"
#include "sync/once_lock.h"
#include "sync/pipe.h"
#include "sync/priority_channel.h"
#include "sync/pubsub.h"
#include "sync/rpc.h"
#include "sync/rwlock.h"
#include "sync/semaphore.h"
#include "sync/signal.h"
#include "sync/strike_test.h"
#include "sync/watch.h"
#include "sync/zerocopy.h"

/* How many stand in a line where there is a choice. */
enum {
    HAS_LINES = STRIKE_POLICY == DZ_QUEUE,
    LINE = HAS_LINES ? 3 : 1,
    TASKS = 3,
    WORDS = 2, /* of which an item is made; they are equal */
};

struct item {
    int words[WORDS];
};

/* The least goes first, the tens count. */
static bool goes_first(const int *item, const int *another)
{
    return *item / 10 < *another / 10;
}

static int made; /* how often a once lock's value was */

static void make_item(struct item *item)
{
    made++;
    for (int i = 0; i < WORDS; i++)
        item->words[i] = 1;
}

DZ_BARRIER_DEFINE(pair_barrier, 2, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE_POLICY(
    narrow_channel, int, 1, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_CHANNEL_DEFINE_POLICY(
    wide_channel, int, 4, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_EVENT_FLAGS_DEFINE_POLICY(both_flags, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_MUTEX_DEFINE_POLICY(bus_mutex, int, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_ONCE_LOCK_DEFINE_POLICY(
    item_once, struct item, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_PIPE_DEFINE_POLICY(byte_pipe, 4, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_PRIORITY_CHANNEL_DEFINE_POLICY(
    job_queue, int, 4, goes_first, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_PUBSUB_DEFINE_POLICY(news_pubsub, int, 4, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_PUBSUB_DEFINE_POLICY(
    narrow_pubsub, int, 1, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_RPC_DEFINE_POLICY(ten_service, int, int, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_RWLOCK_DEFINE_POLICY(route_lock, int, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_SEMAPHORE_DEFINE_POLICY(
    pair_permits, 0, DZ_CRITICAL_SECTION, STRIKE_POLICY, DZ_IN_ORDER)
DZ_SIGNAL_DEFINE_POLICY(int_signal, int, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_WATCH_DEFINE_POLICY(level_watch, int, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_ZEROCOPY_DEFINE_POLICY(
    item_channel, struct item, 2, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_ZEROCOPY_DEFINE_POLICY(
    narrow_items, struct item, 1, DZ_CRITICAL_SECTION, STRIKE_POLICY)

static struct objects {
    struct pair_barrier barrier;
    struct narrow_channel narrow;
    struct wide_channel wide;
    struct both_flags flags;
    struct bus_mutex mutex;
    struct item_once once;
    struct byte_pipe pipe;
    struct job_queue jobs;
    struct news_pubsub pubsub;
    struct narrow_pubsub narrow_pubsub;
    struct ten_service service;
    struct route_lock lock;
    struct pair_permits permits;
    struct int_signal latest;
    struct level_watch watch;
    struct item_channel items;
    struct narrow_items narrow_items;
} objects;

struct work;

/* What a task has is its own also when it runs in the interrupt. */
struct queued {
    struct dz_task task;
    struct dz_deadline deadline;
    const struct work *work;
    struct dz_select2 select;
    struct level_watch_receiver receiver;
    struct news_pubsub_subscriber subscriber;
    struct narrow_pubsub_subscriber narrow_subscriber;
    const struct item *found;
    struct item *item;
    const int *locked;
    int *written;
    uint32_t flags;
    uint8_t bytes[3];
    size_t progress;
    unsigned count;
    int value;
    int turn; /* from 0 */
    int sum;
};

struct work {
    enum dz_poll (*wait)(struct queued *self);
    void (*use)(struct queued *self); /* a little later */
    int turns;
};

static enum dz_poll queued_poll(struct queued *self)
{
    async (self) {
        for (; self->turn < self->work->turns; self->turn++) {
            await(self->work->wait(self));
            await(dz_yield_poll());
            self->work->use(self);
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL_DEADLINE(queueds, struct queued, queued_poll, TASKS)

static void clear(void)
{
    begin_scenario();
    strike_clear(objects);
    strike_clear(queueds_slots);
    made = 0;
}

static struct queued *spawn_on(
    struct dz_executor *where, const struct work *work)
{
    struct queued *queued = dz_pool_claim(&queueds);

    must(queued != NULL);
    queued->work = work;
    queued->receiver = level_watch_receiver(&objects.watch);
    dz_executor_spawn(where, &queued->task);
    return queued;
}

static struct queued *spawn(const struct work *work)
{
    return spawn_on(&executor, work);
}

static void spawn_line(const struct work *work)
{
    for (int i = 0; i < LINE; i++)
        spawn(work);
}

static int turns(void)
{
    int all = 0;

    for (int i = 0; i < TASKS; i++)
        all += queueds_slots[i].turn;
    return all;
}

static int sum_of_all(void)
{
    int all = 0;

    for (int i = 0; i < TASKS; i++)
        all += queueds_slots[i].sum;
    return all;
}

static void sum_value(struct queued *self)
{
    self->sum += self->value;
}

/* Each is one more than the one before, from 1. */
static void value_is_next(struct queued *self)
{
    must(self->value == self->turn + 1);
}

/* -- The second task is of an executor that the interrupt polls. Both have all
 * their turns in the end, and all that they check on the way holds. */

static void contend(const struct work *mine, const struct work *others)
{
    clear();
    spawn(mine);
    spawn_on(&upper, others);
}

/* So that it holds what it got while the others run on. */
static void poll_upper_once(void)
{
    dz_executor_poll(&upper);
}

/* As often as it takes, and twice more. */
static void all_had_their_turns(void)
{
    for (int i = 0; i < 12; i++) {
        run_passes(1);
        dz_executor_poll(&upper);
    }
    for (int i = 0; i < TASKS; i++) {
        must(queueds_slots[i].task.pool == NULL);
        must(queueds_slots[i].work == NULL ||
            queueds_slots[i].turn == queueds_slots[i].work->turns);
    }
}

/* -- Channel. */

static enum dz_poll narrow_send(struct queued *self)
{
    self->value = self->turn + 1;
    return narrow_channel_send(&objects.narrow, &self->value);
}

static enum dz_poll narrow_receive(struct queued *self)
{
    return narrow_channel_receive(&objects.narrow, &self->value);
}

static enum dz_poll wide_receive(struct queued *self)
{
    return wide_channel_receive(&objects.wide, &self->value);
}

static void do_nothing(struct queued *self)
{
    (void)self;
}

static const struct work sending = {narrow_send, do_nothing, 3};
static const struct work receiving = {narrow_receive, value_is_next, 3};
static const struct work receiving_two = {wide_receive, sum_value, 2};

static void prepare_sending(void)
{
    contend(&sending, &receiving);
}

static void prepare_receiving(void)
{
    contend(&receiving, &sending);
}

/* Nobody else sends, and nobody else receives: what is ready stays so. */

static enum dz_poll ready_to_send(struct queued *self)
{
    (void)self;
    return narrow_channel_ready_to_send(&objects.narrow);
}

static enum dz_poll ready_to_receive(struct queued *self)
{
    (void)self;
    return narrow_channel_ready_to_receive(&objects.narrow);
}

static void send_now(struct queued *self)
{
    self->value = self->turn + 1;
    must(narrow_channel_try_send(&objects.narrow, &self->value));
}

static void receive_now(struct queued *self)
{
    must(narrow_channel_try_receive(&objects.narrow, &self->value));
    value_is_next(self);
}

static const struct work sending_when_ready = {ready_to_send, send_now, 3};
static const struct work receiving_when_ready = {
    ready_to_receive, receive_now, 3};

static void prepare_ready_to_send(void)
{
    contend(&sending_when_ready, &receiving_when_ready);
}

static void prepare_ready_to_receive(void)
{
    contend(&receiving_when_ready, &sending_when_ready);
}

static void prepare_two(void)
{
    clear();
    spawn(&receiving_two);
}

static void send_one(void)
{
    must(wide_channel_try_send(&objects.wide, &value_one));
    poll_often();
}

static void send_two(void)
{
    must(wide_channel_try_send(&objects.wide, &value_two));
}

static void both_came(void)
{
    must(turns() == 2 && sum_of_all() == 3);
    must(wide_channel_free(&objects.wide) == 4);
}

static void prepare_room(void)
{
    clear();
    spawn(&sending);
}

static int taken_by_handler;

/* What is taken comes in order. */
static void take_all(void)
{
    int value = 0, last = 0;

    start_executor();
    for (int i = 0; i < 6; i++) {
        run_passes(1);
        if (!narrow_channel_try_receive(&objects.narrow, &value))
            continue;
        must(value > last);
        last = value;
        received++;
        total += value;
    }
    strike_at_last();
}

static void take_one(void)
{
    taken_by_handler = 0;
    (void)narrow_channel_try_receive(&objects.narrow, &taken_by_handler);
}

static void three_were_taken(void)
{
    must(received + (taken_by_handler != 0) == 3);
    must(total + taken_by_handler == 1 + 2 + 3);
    must(narrow_channel_free(&objects.narrow) == 1);
}

/* -- Signal. */

static enum dz_poll signal_wait(struct queued *self)
{
    return int_signal_wait(&objects.latest, &self->value);
}

static enum dz_poll yield(struct queued *self)
{
    (void)self;
    return dz_yield_poll();
}

static void signal_send(struct queued *self)
{
    int_signal_send(&objects.latest, self->turn + 1);
}

static const struct work signalled = {signal_wait, sum_value, 1};
static const struct work signalling = {yield, signal_send, 2};

static void prepare_signal(void)
{
    clear();
    spawn(&signalled);
}

static void signal_one(void)
{
    int_signal_send(&objects.latest, 1);
    poll_often();
}

static void signal_two(void)
{
    int_signal_send(&objects.latest, 2);
}

/* The two that it was not told of are those that were overwritten. */
static void one_was_signalled(void)
{
    int value = sum_of_all();
    int rest = 0;

    must(turns() == 1 && (value == 1 || value == 2));
    must(!int_signal_try_take(&objects.latest, &rest) ||
        (value == 1 && rest == 2));
}

static void prepare_signalled(void)
{
    contend(&signalled, &signalling);
}

static void prepare_signalling(void)
{
    contend(&signalling, &signalled);
}

/* -- RwLock. */

static enum dz_poll read_wait(struct queued *self)
{
    return route_lock_read(&objects.lock, &self->locked);
}

/* Nobody has written meanwhile. */
static void end_reading(struct queued *self)
{
    must(*self->locked == total);
    route_lock_unlock_read(&objects.lock);
}

static enum dz_poll write_wait(struct queued *self)
{
    return route_lock_write(&objects.lock, &self->written);
}

static void end_writing(struct queued *self)
{
    must(++*self->written == ++total);
    route_lock_unlock_write(&objects.lock);
}

static const struct work reading = {read_wait, end_reading, 2};
static const struct work writing = {write_wait, end_writing, 1};

static void prepare_rwlock(void)
{
    clear();
    spawn(&reading);
    spawn(&writing);
    if (HAS_LINES)
        spawn(&reading);
}

static const int *kept; /* what the interrupt reads, for a while */

static void try_to_write(void)
{
    int *value = route_lock_try_write(&objects.lock);

    if (value == NULL) {
        kept = route_lock_try_read(&objects.lock);
        return;
    }
    must(++*value == ++total);
    route_lock_unlock_write(&objects.lock);
}

static void read_and_write(void)
{
    poll_often();
    if (kept != NULL)
        route_lock_unlock_read(&objects.lock);
    kept = NULL;
    run_passes(9);
}

static void prepare_written(void)
{
    clear();
    spawn(&writing);
    if (HAS_LINES)
        spawn(&reading);
    must(route_lock_try_write(&objects.lock) != NULL);
}

static void unlock_written(void)
{
    route_lock_unlock_write(&objects.lock);
}

static void all_have_locked(void)
{
    int before;

    all_had_their_turns();
    before = total;
    try_to_write();
    must(total == before + 1);
}

static void prepare_reader(void)
{
    contend(&reading, &writing);
}

static void prepare_writer(void)
{
    contend(&writing, &reading);
}

/* -- Semaphore. */

static enum dz_poll pair_wait(struct queued *self)
{
    (void)self;
    return pair_permits_acquire(&objects.permits, 2);
}

static enum dz_poll permit_wait(struct queued *self)
{
    (void)self;
    return pair_permits_acquire(&objects.permits, 1);
}

/* Gives way, and leaves those behind it in line what it does not take. */
static enum dz_poll impatient_wait(struct queued *self)
{
    return dz_select2(&self->select, pair_wait(self), dz_yield_poll());
}

static void give_pair_back(struct queued *self)
{
    (void)self;
    pair_permits_release(&objects.permits, 2);
}

static void give_back_what_it_has(struct queued *self)
{
    if (dz_select_winner(&self->select) == 0)
        give_pair_back(self);
}

static const struct work pair = {pair_wait, do_nothing, 1};
static const struct work permit = {permit_wait, do_nothing, 1};
static const struct work holding = {pair_wait, give_pair_back, 2};
static const struct work impatient = {impatient_wait, give_back_what_it_has, 2};

static enum dz_poll all_wait(struct queued *self)
{
    return pair_permits_acquire_all(&objects.permits, 1, &self->count);
}

/* One, if the other came when only that was promised. */
static void give_all_back(struct queued *self)
{
    must(self->count == 1 || self->count == 2);
    pair_permits_release(&objects.permits, self->count);
}

static const struct work holding_all = {all_wait, give_all_back, 2};

static void prepare_holders_of_all(void)
{
    contend(&holding_all, &holding_all);
    pair_permits_release(&objects.permits, 2);
}

static void prepare_set(void)
{
    clear();
    spawn_on(&upper, &pair);
}

static void set_permits(void)
{
    pair_permits_set(&objects.permits, 2);
    strike_at_last();
}

static void prepare_permits(void)
{
    clear();
    spawn(&pair);
    if (HAS_LINES)
        spawn(&permit);
}

static void prepare_impatient(void)
{
    clear();
    spawn(&impatient);
    spawn(&permit);
}

static void release_one(void)
{
    pair_permits_release(&objects.permits, 1);
    poll_often();
}

static void release_twice(void)
{
    pair_permits_release(&objects.permits, 1);
    pair_permits_release(&objects.permits, 1);
}

static void permits_are_taken(void)
{
    all_had_their_turns();
    must(pair_permits_free(&objects.permits) == (HAS_LINES ? 0 : 1));
}

static void two_permits_are_left(void)
{
    all_had_their_turns();
    must(pair_permits_free(&objects.permits) == 2);
}

static void prepare_holders(void)
{
    contend(&holding, &holding);
    pair_permits_release(&objects.permits, 2);
}

/* -- Event flags. */

static enum dz_poll flags_wait(struct queued *self)
{
    return both_flags_take_all(&objects.flags, 3, &self->flags);
}

static enum dz_poll any_flag_wait(struct queued *self)
{
    return both_flags_take_any(&objects.flags, 3, &self->flags);
}

static void sum_flags(struct queued *self)
{
    self->sum += (int)self->flags;
}

static void set_next_flag(struct queued *self)
{
    both_flags_set(&objects.flags, 1U << self->turn);
}

static const struct work flagged = {flags_wait, sum_flags, 1};
static const struct work flagged_twice = {any_flag_wait, sum_flags, 2};
static const struct work flagging = {yield, set_next_flag, 2};

static void prepare_flags(void)
{
    clear();
    spawn(&flagged);
}

static void prepare_any_flag(void)
{
    clear();
    spawn(&flagged_twice);
}

static void set_one(void)
{
    both_flags_set(&objects.flags, 1);
    poll_often();
}

static void set_two(void)
{
    both_flags_set(&objects.flags, 2);
}

static void both_flags_were_taken(void)
{
    must(turns() > 0 && sum_of_all() == 3);
    must(both_flags_now(&objects.flags) == 0);
}

static void prepare_flagged(void)
{
    contend(&flagged, &flagging);
}

static void prepare_flagging(void)
{
    contend(&flagging, &flagged);
}

/* -- Watch. */

static enum dz_poll level_wait(struct queued *self)
{
    return level_watch_receiver_changed(&self->receiver, &self->value);
}

static void level_send(struct queued *self)
{
    level_watch_send(&objects.watch, self->turn + 1);
}

static const struct work level = {level_wait, sum_value, 1};
static const struct work levelling = {yield, level_send, 2};

static void prepare_watch(void)
{
    clear();
    spawn_line(&level);
}

static void send_level(void)
{
    level_watch_send(&objects.watch, 2);
}

static void wait_and_send(void)
{
    start_executor();
    run_passes(1);
    level_watch_send(&objects.watch, 1);
    poll_often();
}

/* Each the one that was the latest when it ran. */
static void all_have_seen_one(void)
{
    must(turns() == LINE);
    must(sum_of_all() >= LINE && sum_of_all() <= 2 * LINE);
}

static void prepare_watching(void)
{
    contend(&level, &levelling);
}

static void prepare_levelling(void)
{
    contend(&levelling, &level);
}

/* -- Publish and subscribe. */

static enum dz_poll news_wait(struct queued *self)
{
    return news_pubsub_next(&self->subscriber, &self->value);
}

static enum dz_poll narrow_news_wait(struct queued *self)
{
    return narrow_pubsub_next(&self->narrow_subscriber, &self->value);
}

static enum dz_poll publish(struct queued *self)
{
    self->value = self->turn + 1;
    return narrow_pubsub_publish(&objects.narrow_pubsub, &self->value);
}

static const struct work news = {news_wait, sum_value, 2};
static const struct work reading_news = {narrow_news_wait, value_is_next, 3};
static const struct work publishing = {publish, do_nothing, 3};

enum { SUBSCRIBERS = HAS_LINES ? 2 : 1 };

static void prepare_pubsub(void)
{
    clear();
    for (int i = 0; i < SUBSCRIBERS; i++)
        news_pubsub_subscribe(&objects.pubsub, &spawn(&news)->subscriber);
}

static void publish_one(void)
{
    must(news_pubsub_try_publish(&objects.pubsub, &value_one));
    poll_often();
}

static void publish_two(void)
{
    news_pubsub_publish_immediate(&objects.pubsub, &value_two);
}

static void all_have_read_both(void)
{
    must(turns() == 2 * SUBSCRIBERS && sum_of_all() == 3 * SUBSCRIBERS);
    must(news_pubsub_is_empty(&objects.pubsub));
}

static void prepare_publishing(void)
{
    contend(&publishing, &reading_news);
    narrow_pubsub_subscribe(
        &objects.narrow_pubsub, &queueds_slots[1].narrow_subscriber);
}

static void prepare_reading_news(void)
{
    contend(&reading_news, &publishing);
    narrow_pubsub_subscribe(
        &objects.narrow_pubsub, &queueds_slots[0].narrow_subscriber);
}

/* -- Mutex, that waits and that does not. */

static enum dz_poll mutex_wait(struct queued *self)
{
    return bus_mutex_lock(&objects.mutex, &self->written);
}

static void unlock_mutex(struct queued *self)
{
    must(++*self->written == ++total);
    bus_mutex_unlock(&objects.mutex);
}

static const struct work locking = {mutex_wait, unlock_mutex, 1};
static const struct work locking_twice = {mutex_wait, unlock_mutex, 2};

static void prepare_mutex(void)
{
    clear();
    spawn_line(&locking);
    must(bus_mutex_try_lock(&objects.mutex) != NULL);
}

static void unlock_for_others(void)
{
    bus_mutex_unlock(&objects.mutex);
}

static void all_had_the_mutex(void)
{
    all_had_their_turns();
    must(total == turns());
    must(bus_mutex_try_lock(&objects.mutex) != NULL);
}

static void prepare_lockers(void)
{
    contend(&locking_twice, &locking_twice);
}

/* -- Pipe. */

static enum dz_poll pipe_wait(struct queued *self)
{
    return byte_pipe_read_exact(
        &objects.pipe, self->bytes, sizeof(self->bytes), &self->progress);
}

static enum dz_poll pipe_write(struct queued *self)
{
    return byte_pipe_write_all(&objects.pipe, "abc", 3, &self->progress);
}

/* Those of each write come together. */
static void look_at_bytes(struct queued *self)
{
    must(memcmp(self->bytes, "abc", 3) == 0 ||
        memcmp(self->bytes, "bca", 3) == 0);
}

static void look_for_abc(struct queued *self)
{
    must(memcmp(self->bytes, "abc", 3) == 0);
}

static const struct work piped = {pipe_wait, look_at_bytes, 1};
static const struct work piping_out = {pipe_wait, look_for_abc, 3};
static const struct work piping_in = {pipe_write, do_nothing, 3};

static void prepare_pipe(void)
{
    clear();
    spawn(&piped);
}

static void write_one(void)
{
    must(byte_pipe_try_write_all(&objects.pipe, "a", 1));
    poll_often();
}

static void write_two(void)
{
    must(byte_pipe_try_write_all(&objects.pipe, "bc", 2));
}

static void three_bytes_were_read(void)
{
    must(turns() == 1 && byte_pipe_is_empty(&objects.pipe));
}

static void prepare_piping_in(void)
{
    contend(&piping_in, &piping_out);
}

static void prepare_piping_out(void)
{
    contend(&piping_out, &piping_in);
}

/* -- Barrier. */

static enum dz_poll barrier_wait(struct queued *self)
{
    (void)self;
    return pair_barrier_wait(&objects.barrier);
}

/* Nobody goes on without the other. */
static void look_at_others_turn(struct queued *self)
{
    int apart = queueds_slots[0].turn - queueds_slots[1].turn;

    (void)self;
    must(apart >= -1 && apart <= 1);
}

static const struct work meeting = {barrier_wait, look_at_others_turn, 3};

static void prepare_barrier(void)
{
    clear();
    spawn(&meeting);
    spawn(&meeting);
}

static void count_who_waits(void)
{
    must(pair_barrier_waiting(&objects.barrier) <= 1);
}

static void nobody_waits(void)
{
    all_had_their_turns();
    must(pair_barrier_waiting(&objects.barrier) == 0);
}

static void prepare_meeting(void)
{
    contend(&meeting, &meeting);
}

/* -- Once lock. */

static enum dz_poll once_wait(struct queued *self)
{
    return item_once_get(&objects.once, &self->found);
}

static void look_at_item(struct queued *self)
{
    must(self->found->words[0] == self->found->words[1]);
    self->value = self->found->words[0];
}

static const struct work getting = {once_wait, look_at_item, 1};
static int winner; /* whose value it is */

static void set_once(int value)
{
    const struct item item = {{value, value}};

    if (!item_once_init(&objects.once, &item))
        return;
    must(winner == 0);
    winner = value;
}

static void prepare_once(void)
{
    clear();
    winner = 0;
    spawn_line(&getting);
}

static void set_once_to_one(void)
{
    set_once(1);
    poll_often();
}

static void set_once_to_two(void)
{
    set_once(2);
}

static void prepare_awaited(void)
{
    contend(&getting, &getting);
    winner = 0;
}

static void poll_and_set(void)
{
    poll_often();
    set_once(1);
    run_passes(3);
}

static void make_once(void)
{
    const struct item *item = item_once_get_or_init(&objects.once, make_item);

    must(item->words[0] == (made != 0 ? 1 : 2));
    must(item->words[1] == item->words[0]);
    poll_often();
}

static void all_have_got_it(void)
{
    int value = made != 0 ? 1 : winner;

    all_had_their_turns();
    must(made + (winner != 0) == 1);
    for (int i = 0; i < TASKS; i++)
        must(queueds_slots[i].work == NULL || queueds_slots[i].value == value);
    must(item_once_is_set(&objects.once));
}

/* -- Priority channel. */

static enum dz_poll job_wait(struct queued *self)
{
    return job_queue_receive(&objects.jobs, &self->value);
}

static void append_value(struct queued *self)
{
    self->sum = self->sum * 100 + self->value;
}

static const struct work working = {job_wait, append_value, 3};

static void prepare_jobs(void)
{
    clear();
    spawn(&working);
}

static void send_job(int value)
{
    must(job_queue_try_send(&objects.jobs, &value));
}

static void send_equal_jobs(void)
{
    send_job(20);
    send_job(21);
    poll_often();
}

static void send_urgent_job(void)
{
    send_job(10);
}

/* The urgent one wherever it came, the two equals in order. */
static void jobs_came_in_order(void)
{
    int order = sum_of_all();

    must(turns() == 3 && job_queue_free(&objects.jobs) == 4);
    must(order == 102021 || order == 201021 || order == 202110);
}

static void work_of_both(struct queued *self)
{
    send_job(30 + self->turn);
}

static const struct work bringing = {yield, work_of_both, 3};

static void prepare_bringing(void)
{
    contend(&bringing, &working);
}

static void prepare_working(void)
{
    contend(&working, &bringing);
}

static void equal_jobs_came_in_order(void)
{
    all_had_their_turns();
    must(sum_of_all() == 303132);
}

/* -- Remote procedure calls. The service multiplies by ten. */

static enum dz_poll call(struct queued *self)
{
    self->value = self->turn + 1;
    return ten_service_call(&objects.service, &self->value, &self->sum);
}

static void look_at_response(struct queued *self)
{
    must(self->sum == 10 * (self->turn + 1));
}

static enum dz_poll serve_wait(struct queued *self)
{
    return ten_service_receive(&objects.service, &self->value);
}

static void reply(struct queued *self)
{
    int response = 10 * self->value;

    ten_service_reply(&objects.service, &response);
}

enum { CALLERS = HAS_LINES ? 2 : 1 };

static const struct work calling = {call, look_at_response, 1};
static const struct work calling_twice = {call, look_at_response, 2};
static const struct work serving = {serve_wait, reply, CALLERS + 1};
static const struct work serving_one = {serve_wait, reply, 1};
static const struct work serving_two = {serve_wait, reply, 2};
static bool is_posted;

static void prepare_calls(void)
{
    clear();
    is_posted = false;
    spawn(&serving);
    for (int i = 0; i < CALLERS; i++)
        spawn(&calling);
}

static void post(void)
{
    is_posted = ten_service_try_post(&objects.service, &value_two);
}

/* And what was posted. */
static void all_were_served(void)
{
    must(turns() == 2 * CALLERS + is_posted);
    must(queueds_slots[0].turn == CALLERS + is_posted);
    for (int i = 1; i <= CALLERS; i++)
        must(queueds_slots[i].task.pool == NULL);
}

static void prepare_callers(void)
{
    clear();
    spawn_line(&calling);
}

static void serve_one(void)
{
    int request, response;

    if (!ten_service_try_receive(&objects.service, &request))
        return;
    response = 10 * request;
    ten_service_reply(&objects.service, &response);
}

static void serve_often(void)
{
    start_executor();
    for (int i = 0; i < 2 * LINE; i++) {
        run_passes(2);
        serve_one();
    }
    strike_at_last();
}

/* Somebody is about to wait for what a reply, or a put back, gives. */

static void prepare_posted(void)
{
    clear();
    spawn_on(&upper, &calling);
    must(ten_service_try_post(&objects.service, &value_two));
}

static void serve_posted(void)
{
    serve_one();
    strike_at_last();
}

static void call_was_served(void)
{
    poll_upper();
    serve_one();
    all_had_their_turns();
}

static void prepare_put_back(void)
{
    clear();
    spawn_on(&upper, &serving_one);
    must(ten_service_try_post(&objects.service, &value_two));
}

static void put_back(void)
{
    int request;

    if (ten_service_try_receive(&objects.service, &request))
        ten_service_put_back(&objects.service);
    strike_at_last();
}

static void service_rests(void)
{
    all_had_their_turns();
    must(ten_service_try_post(&objects.service, &value_one));
}

static void prepare_calling(void)
{
    contend(&calling_twice, &serving_two);
}

static void prepare_serving(void)
{
    contend(&serving_two, &calling_twice);
}

/* -- Zero-copy. */

static void fill(struct item *item, int value)
{
    for (int i = 0; i < WORDS; i++)
        item->words[i] = value;
}

static enum dz_poll reserve(struct queued *self)
{
    return narrow_items_reserve(&objects.narrow_items, &self->item);
}

static void fill_and_send(struct queued *self)
{
    fill(self->item, self->turn + 1);
    narrow_items_send(&objects.narrow_items, self->item);
}

static enum dz_poll narrow_item_wait(struct queued *self)
{
    return narrow_items_receive(&objects.narrow_items, &self->item);
}

static void look_and_release(struct queued *self)
{
    must(self->item->words[0] == self->turn + 1);
    must(self->item->words[1] == self->turn + 1);
    narrow_items_release(&objects.narrow_items, self->item);
}

static enum dz_poll item_wait(struct queued *self)
{
    return item_channel_receive(&objects.items, &self->item);
}

static void sum_and_release(struct queued *self)
{
    must(self->item->words[0] == self->item->words[1]);
    self->sum += self->item->words[0];
    item_channel_release(&objects.items, self->item);
}

static const struct work reserving = {reserve, fill_and_send, 3};
static const struct work draining = {narrow_item_wait, look_and_release, 3};
static const struct work draining_two = {item_wait, sum_and_release, 2};

static void prepare_items(void)
{
    clear();
    spawn(&draining_two);
}

static void send_item(int value)
{
    struct item *item = item_channel_try_reserve(&objects.items);

    must(item != NULL);
    fill(item, value);
    item_channel_send(&objects.items, item);
}

static void send_item_of_one(void)
{
    send_item(1);
    poll_often();
}

static void send_item_of_two(void)
{
    send_item(2);
}

static void both_items_came(void)
{
    must(turns() == 2 && sum_of_all() == 3);
    must(item_channel_free(&objects.items) == 2);
}

static void prepare_reserving(void)
{
    contend(&reserving, &draining);
}

static void prepare_draining(void)
{
    contend(&draining, &reserving);
}

/* What it takes in the middle, it gives back. */
static void reserve_and_discard(void)
{
    struct item *item = narrow_items_try_reserve(&objects.narrow_items);

    if (item == NULL)
        return;
    fill(item, -1);
    narrow_items_discard(&objects.narrow_items, item);
}

static void receive_and_put_back(void)
{
    struct item *item = narrow_items_try_receive(&objects.narrow_items);

    if (item != NULL)
        narrow_items_put_back(&objects.narrow_items, item);
}

static void prepare_both_items(void)
{
    clear();
    spawn(&reserving);
    spawn(&draining);
}

static void drain_long(void)
{
    poll_long();
    run_passes(12);
}

static void no_item_is_left(void)
{
    all_had_their_turns();
    must(narrow_items_free(&objects.narrow_items) == 1);
}

const struct strike STRIKE_ALL[] = {
    {"channel", prepare_two, send_one, send_two, both_came},
    {"channel, room", prepare_room, take_all, take_one, three_were_taken},
    {"channel, two executors", prepare_sending, poll_long, poll_upper,
        all_had_their_turns},
    {"channel, two others", prepare_receiving, poll_long, poll_upper,
        all_had_their_turns},
    {"channel, ready to send", prepare_ready_to_send, poll_long, poll_upper,
        all_had_their_turns},
    {"channel, ready to receive", prepare_ready_to_receive, poll_long,
        poll_upper, all_had_their_turns},
    {"signal", prepare_signal, signal_one, signal_two, one_was_signalled},
    {"signal, two executors", prepare_signalled, poll_long, poll_upper,
        all_had_their_turns},
    {"signal, two others", prepare_signalling, poll_long, poll_upper,
        all_had_their_turns},
    {"rwlock", prepare_rwlock, read_and_write, try_to_write, all_have_locked},
    {"rwlock, unlocked", prepare_written, poll_long, unlock_written,
        all_have_locked},
    {"rwlock, two executors", prepare_reader, poll_long, poll_upper,
        all_have_locked},
    {"rwlock, two others", prepare_writer, poll_long, poll_upper,
        all_have_locked},
    {"semaphore", prepare_permits, release_one, release_twice,
        permits_are_taken},
    {"semaphore, impatient", prepare_impatient, release_one, release_twice,
        two_permits_are_left},
    {"semaphore, two executors", prepare_holders, poll_long, poll_upper,
        two_permits_are_left},
    {"semaphore, held", prepare_holders, poll_long, poll_upper_once,
        two_permits_are_left},
    {"mutex, held", prepare_lockers, poll_long, poll_upper_once,
        all_had_the_mutex},
    {"rwlock, read", prepare_writer, poll_long, poll_upper_once,
        all_have_locked},
    {"rwlock, written", prepare_reader, poll_long, poll_upper_once,
        all_have_locked},
    {"semaphore, all of it", prepare_holders_of_all, poll_long, poll_upper_once,
        two_permits_are_left},
    {"semaphore, set", prepare_set, set_permits, poll_upper,
        all_had_their_turns},
    {"event flags", prepare_flags, set_one, set_two, both_flags_were_taken},
    {"event flags, any", prepare_any_flag, set_one, set_two,
        both_flags_were_taken},
    {"event flags, two executors", prepare_flagged, poll_long, poll_upper,
        all_had_their_turns},
    {"event flags, two others", prepare_flagging, poll_long, poll_upper,
        all_had_their_turns},
    {"watch", prepare_watch, wait_and_send, send_level, all_have_seen_one},
    {"watch, two executors", prepare_watching, poll_long, poll_upper,
        all_had_their_turns},
    {"watch, two others", prepare_levelling, poll_long, poll_upper,
        all_had_their_turns},
    {"pubsub", prepare_pubsub, publish_one, publish_two, all_have_read_both},
    {"pubsub, two executors", prepare_publishing, poll_long, poll_upper,
        all_had_their_turns},
    {"pubsub, two others", prepare_reading_news, poll_long, poll_upper,
        all_had_their_turns},
    {"mutex", prepare_mutex, poll_long, unlock_for_others, all_had_the_mutex},
    {"mutex, two executors", prepare_lockers, poll_long, poll_upper,
        all_had_the_mutex},
    {"pipe", prepare_pipe, write_one, write_two, three_bytes_were_read},
    {"pipe, two executors", prepare_piping_in, poll_long, poll_upper,
        all_had_their_turns},
    {"pipe, two others", prepare_piping_out, poll_long, poll_upper,
        all_had_their_turns},
    {"once lock", prepare_once, set_once_to_one, set_once_to_two,
        all_have_got_it},
    {"once lock, made", prepare_once, make_once, set_once_to_two,
        all_have_got_it},
    {"once lock, awaited", prepare_once, poll_long, set_once_to_two,
        all_have_got_it},
    {"once lock, two executors", prepare_awaited, poll_and_set, poll_upper,
        all_have_got_it},
    {"priority channel", prepare_jobs, send_equal_jobs, send_urgent_job,
        jobs_came_in_order},
    {"priority channel, two executors", prepare_bringing, poll_long, poll_upper,
        equal_jobs_came_in_order},
    {"priority channel, two others", prepare_working, poll_long, poll_upper,
        equal_jobs_came_in_order},
    {"rpc", prepare_calls, poll_long, post, all_were_served},
    {"rpc, served", prepare_callers, serve_often, serve_one, service_rests},
    {"rpc, two executors", prepare_calling, poll_long, poll_upper,
        service_rests},
    {"rpc, two others", prepare_serving, poll_long, poll_upper, service_rests},
    {"rpc, posted", prepare_posted, serve_posted, poll_upper, call_was_served},
    {"rpc, put back", prepare_put_back, put_back, poll_upper, service_rests},
    {"zero-copy", prepare_items, send_item_of_one, send_item_of_two,
        both_items_came},
    {"zero-copy, two executors", prepare_reserving, poll_long, poll_upper,
        no_item_is_left},
    {"zero-copy, two others", prepare_draining, poll_long, poll_upper,
        no_item_is_left},
    {"zero-copy, discarded", prepare_both_items, drain_long,
        reserve_and_discard, no_item_is_left},
    {"zero-copy, put back", prepare_both_items, drain_long,
        receive_and_put_back, no_item_is_left},
    /* This has no policy, and is struck twice. */
    {"barrier", prepare_barrier, poll_long, count_who_waits, nobody_waits},
    {"barrier, two executors", prepare_meeting, poll_long, poll_upper,
        nobody_waits},
    {.name = NULL},
};
