/* SPDX-License-Identifier: MIT */

/*
 * walk_test -- a fork that is left for an object that it uses itself
 *
 * This file is compiled as a target ships it, with DZ_CHECKS=0. Else to walk
 * away without dz_cancel() panics. What the fork's branches hold, their guards
 * give back while the object's lock is taken.
 */

#include "executor/select.h"
#include "sim/test.h"
#include "sync/channel.h"
#include "sync/mutex.h"
#include "sync/pubsub.h"
#include "sync/semaphore.h"
#include "sync/watch.h"
#include "sync/zerocopy.h"

DZ_WATCH_DEFINE(level_watch, int, DZ_CRITICAL_SECTION)

static struct level_watch level;
static struct dz_executor executor;

struct waiting {
    struct dz_task task;
    struct dz_select2 select;
    struct level_watch_receiver receivers[2];
    int value;
    int polls;
};

/* Gets what is there, and waits for the next. */
static enum dz_poll waiting_poll(struct waiting *self)
{
    self->polls++;
    walk_away_from(
        level_watch_receiver_changed(&self->receivers[0], &self->value));
    return level_watch_receiver_changed(&self->receivers[0], &self->value);
}

static enum dz_poll walker_poll(struct waiting *self)
{
    for (int i = 0; i < 2; i++)
        self->receivers[i].receiver.seen = 1;
    walk_away_from(dz_select2(&self->select,
        level_watch_receiver_changed(&self->receivers[0], &self->value),
        level_watch_receiver_changed(&self->receivers[1], &self->value)));
    return level_watch_receiver_get(&self->receivers[0], &self->value);
}

DZ_TASK_POOL(waitings, struct waiting, waiting_poll, 1)
DZ_TASK_POOL(walkers, struct waiting, walker_poll, 1)

static struct waiting *spawn(const struct dz_pool *pool)
{
    struct waiting *waiting = dz_pool_claim(pool);

    for (int i = 0; i < 2; i++)
        waiting->receivers[i] = level_watch_receiver(&level);
    dz_executor_spawn(&executor, &waiting->task);
    dz_executor_poll(&executor);
    return waiting;
}

static void who_has_looked_is_not_woken_by_who_walks_away(void **state)
{
    struct waiting *waiting;
    struct waiting *walker;

    (void)state;
    dz_executor_init(&executor, "test");
    level_watch_send(&level, 1);
    waiting = spawn(&waitings);
    assert_int_equal(waiting->value, 1);

    walker = spawn(&walkers);
    dz_executor_poll(&executor);

    assert_int_equal(walker->value, 1);
    assert_int_equal(waiting->polls, 1);
}

DZ_MUTEX_DEFINE(bus_mutex, int, DZ_CRITICAL_SECTION)
DZ_ZEROCOPY_DEFINE(packet_channel, int, 1, DZ_CRITICAL_SECTION)
DZ_PUBSUB_DEFINE(news_pubsub, int, 2, DZ_CRITICAL_SECTION)

static struct bus_mutex bus;
static struct packet_channel packets;
static struct news_pubsub news;
static struct news_pubsub_subscriber subscriber;

/* A child that gets something of an object, holds it, and waits for ever. */
struct holder {
    struct dz_frame frame;
    struct dz_guard guard;
    void (*drop)(struct dz_guard *guard);
    enum dz_poll (*get)(struct holder *self);
    int *mutex_value;
    int *packet;
    int message;
};

static enum dz_poll holder_poll(struct holder *self)
{
    async (self) {
        await(self->get(self));
        dz_guard_enter(&self->guard, self->drop);
        await(DZ_PENDING);
    }
    return DZ_READY;
}

/* Waits for a select of the holder, and then for what the holder has got. */
struct leaver {
    struct dz_task task;
    struct dz_select2 select;
    struct holder holder;
    struct holder again;
    bool is_leaving;
    bool done;
};

static enum dz_poll leaver_poll(struct leaver *self)
{
    if (!self->is_leaving)
        return dz_select2(
            &self->select, holder_poll(&self->holder), DZ_PENDING);
    if (self->again.get(&self->again) == DZ_PENDING)
        return DZ_PENDING;
    self->done = true;
    return DZ_READY;
}

DZ_TASK_POOL(leavers, struct leaver, leaver_poll, 1)

/* A task that waits for the mutex in line. */
struct locker {
    struct dz_task task;
    int *value;
    int polls;
};

static enum dz_poll locker_poll(struct locker *self)
{
    self->polls++;
    return bus_mutex_lock(&bus, &self->value);
}

DZ_TASK_POOL(lockers, struct locker, locker_poll, 1)

static struct leaver *begin(enum dz_poll (*get)(struct holder *self),
    void (*drop)(struct dz_guard *guard))
{
    struct leaver *leaver;

    memset(&bus, 0, sizeof(bus));
    memset(&packets, 0, sizeof(packets));
    memset(&news, 0, sizeof(news));
    memset(&subscriber, 0, sizeof(subscriber));
    memset(leavers_slots, 0, sizeof(leavers_slots));
    memset(lockers_slots, 0, sizeof(lockers_slots));
    dz_executor_init(&executor, "test");
    (void)leavers_claim(&leaver);
    leaver->holder.get = leaver->again.get = get;
    leaver->holder.drop = drop;
    dz_executor_spawn(&executor, &leaver->task);
    dz_executor_poll(&executor);
    return leaver;
}

static void walk_away(struct leaver *leaver)
{
    leaver->is_leaving = true;
    dz_task_wake(&leaver->task);
    dz_executor_poll(&executor);
}

static enum dz_poll lock(struct holder *self)
{
    return bus_mutex_lock(&bus, &self->mutex_value);
}

static void unlock(struct dz_guard *guard)
{
    (void)guard;
    bus_mutex_unlock(&bus);
}

static void a_mutex_that_the_fork_holds_is_locked_anew(void **state)
{
    struct leaver *leaver = begin(lock, unlock);

    (void)state;
    walk_away(leaver);

    assert_true(leaver->done);
    assert_ptr_equal(leaver->again.mutex_value, &bus.value);
    assert_null(bus_mutex_try_lock(&bus));
    bus_mutex_unlock(&bus);
    assert_non_null(bus_mutex_try_lock(&bus));
}

static void a_mutex_that_the_fork_holds_goes_to_who_stands_in_line(void **state)
{
    struct leaver *leaver = begin(lock, unlock);
    struct locker *locker;

    (void)state;
    (void)lockers_claim(&locker);
    dz_executor_spawn(&executor, &locker->task);
    dz_executor_poll(&executor);
    walk_away(leaver);
    dz_executor_poll(&executor);

    assert_ptr_equal(locker->value, &bus.value);
    assert_int_equal(locker->polls, 2);
    assert_false(leaver->done);
    bus_mutex_unlock(&bus);
    dz_executor_poll(&executor);
    assert_true(leaver->done);
}

static enum dz_poll reserve(struct holder *self)
{
    return packet_channel_reserve(&packets, &self->packet);
}

static void discard(struct dz_guard *guard)
{
    packet_channel_discard(
        &packets, container_of(guard, struct holder, guard)->packet);
}

static void send(struct dz_guard *guard)
{
    packet_channel_send(
        &packets, container_of(guard, struct holder, guard)->packet);
}

static enum dz_poll receive(struct holder *self)
{
    return packet_channel_receive(&packets, &self->packet);
}

static void the_slot_that_the_fork_holds_is_reserved_anew(void **state)
{
    struct leaver *leaver = begin(reserve, discard);

    (void)state;
    walk_away(leaver);

    assert_true(leaver->done);
    assert_int_equal(packet_channel_free(&packets), 0);
    packet_channel_send(&packets, leaver->again.packet);
    assert_ptr_equal(
        packet_channel_try_receive(&packets), leaver->again.packet);
    assert_null(packet_channel_try_receive(&packets));
}

static void what_the_fork_sends_at_its_end_is_received(void **state)
{
    struct leaver *leaver = begin(reserve, send);

    (void)state;
    leaver->again.get = receive;
    walk_away(leaver);

    assert_true(leaver->done);
    assert_ptr_equal(leaver->again.packet, leaver->holder.packet);
    packet_channel_release(&packets, leaver->again.packet);
    assert_non_null(packet_channel_try_reserve(&packets));
    assert_null(packet_channel_try_reserve(&packets));
}

static enum dz_poll subscribe(struct holder *self)
{
    (void)self;
    news_pubsub_subscribe(&news, &subscriber);
    return DZ_READY;
}

static void unsubscribe(struct dz_guard *guard)
{
    (void)guard;
    news_pubsub_unsubscribe(&subscriber);
}

static enum dz_poll next(struct holder *self)
{
    return news_pubsub_next(&subscriber, &self->message);
}

static void walk_away_to_a_subscriber_that_leaves(void)
{
    struct leaver *leaver = begin(subscribe, unsubscribe);

    leaver->again.get = next;
    news_pubsub_publish_immediate(&news, &(int){1});
    walk_away(leaver);
}

static void a_subscriber_that_the_fork_unsubscribes_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(walk_away_to_a_subscriber_that_leaves),
        "a subscriber is used that is not subscribed");
}

/* Waits for a unit, and in a queue. */
DZ_MUTEX_DEFINE(thread_mutex, int, DZ_THREAD_MODE)
DZ_WATCH_DEFINE(thread_watch, int, DZ_THREAD_MODE)

static void lock_in_handler(void *argument)
{
    static struct thread_mutex mutex;
    int *value;

    (void)argument;
    walk_away_from(thread_mutex_lock(&mutex, &value));
}

static void watch_in_handler(void *argument)
{
    static struct thread_watch watch;
    struct thread_watch_receiver receiver = thread_watch_receiver(&watch);
    int value;

    (void)argument;
    walk_away_from(thread_watch_receiver_get(&receiver, &value));
}

static void lock_in_an_interrupt(void)
{
    interrupt_now(lock_in_handler, NULL);
}

static void watch_in_an_interrupt(void)
{
    interrupt_now(watch_in_handler, NULL);
}

static void a_thread_mode_object_comes_before_an_await(void **state)
{
    (void)state;
    assert_says(last_words_at(DZ_EXIT_RACE, lock_in_an_interrupt),
        "a thread-mode object is used in an interrupt");
    assert_says(last_words_at(DZ_EXIT_RACE, watch_in_an_interrupt),
        "a thread-mode object is used in an interrupt");
}

/* ---- From a queue to a single slot, of either family. */

DZ_MUTEX_DEFINE(queue_mutex, int, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE_SINGLE_SLOT(slot_channel, int, 1, DZ_CRITICAL_SECTION)
DZ_SEMAPHORE_DEFINE_SINGLE_SLOT(slot_semaphore, 0, DZ_CRITICAL_SECTION)

static struct queue_mutex queue_lock;
static struct slot_channel slot_values;
static struct slot_semaphore slot_permits;

struct mover {
    struct dz_task task;
    int *locked;
    int value;
};

static enum dz_poll channel_mover_poll(struct mover *self)
{
    walk_away_from(queue_mutex_lock(&queue_lock, &self->locked));
    return slot_channel_receive(&slot_values, &self->value);
}

static enum dz_poll semaphore_mover_poll(struct mover *self)
{
    walk_away_from(queue_mutex_lock(&queue_lock, &self->locked));
    return slot_semaphore_acquire(&slot_permits, 1);
}

DZ_TASK_POOL(channel_movers, struct mover, channel_mover_poll, 1)
DZ_TASK_POOL(semaphore_movers, struct mover, semaphore_mover_poll, 1)

static void who_goes_on_to_a_single_slot_leaves_the_line(void **state)
{
    static const struct dz_pool *const pools[] = {
        &channel_movers, &semaphore_movers};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct mover *mover = dz_pool_claim(pools[i]);

        dz_executor_init(&executor, "test");
        assert_non_null(queue_mutex_try_lock(&queue_lock));
        dz_executor_spawn(&executor, &mover->task);
        dz_executor_poll(&executor);

        queue_mutex_unlock(&queue_lock);
        assert_non_null(queue_mutex_try_lock(&queue_lock));
        queue_mutex_unlock(&queue_lock);
    }
}

RUN_TESTS(TEST(who_goes_on_to_a_single_slot_leaves_the_line),
    TEST(who_has_looked_is_not_woken_by_who_walks_away),
    TEST(a_mutex_that_the_fork_holds_is_locked_anew),
    TEST(a_mutex_that_the_fork_holds_goes_to_who_stands_in_line),
    TEST(the_slot_that_the_fork_holds_is_reserved_anew),
    TEST(what_the_fork_sends_at_its_end_is_received),
    TEST(a_subscriber_that_the_fork_unsubscribes_panics),
    TEST(a_thread_mode_object_comes_before_an_await))
