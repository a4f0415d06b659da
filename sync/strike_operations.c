/* SPDX-License-Identifier: MIT */

/*
 * strike_operations -- one operation that never waits, in the middle of another
 *
 * No task takes part. What holds is what follows if the one came before the
 * other, or behind it. This file is compiled once for each variant, which is
 * given by the build:
 *
 *     STRIKE_POLICY    DZ_QUEUE or DZ_SINGLE_SLOT
 *     STRIKE_ALL       the name of the table of scenarios
 */

#include "sync/blocking_mutex.h"
#include "sync/channel.h"
#include "sync/event_flags.h"
#include "sync/lazy_lock.h"
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

/* Whole while its words are equal. More than one instruction can move. */
enum { WORDS = 5 };

struct item {
    int words[WORDS];
};

static const struct item first = {{1, 1, 1, 1, 1}};
static const struct item second = {{2, 2, 2, 2, 2}};

static bool goes_first(const struct item *item, const struct item *another)
{
    return item->words[0] < another->words[0];
}

static int made; /* how often the lazy lock's value was */

static void make_item(struct item *item)
{
    made++;
    *item = first;
}

DZ_BLOCKING_MUTEX_DEFINE(item_mutex, struct item, DZ_CRITICAL_SECTION)
DZ_LAZY_LOCK_DEFINE(item_lazy, struct item, make_item, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE_POLICY(
    item_channel, struct item, 2, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_EVENT_FLAGS_DEFINE_POLICY(flags, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_MUTEX_DEFINE_POLICY(bus_mutex, int, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_ONCE_LOCK_DEFINE_POLICY(
    item_once, struct item, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_PIPE_DEFINE_POLICY(byte_pipe, 4, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_PRIORITY_CHANNEL_DEFINE_POLICY(
    job_queue, struct item, 2, goes_first, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_PUBSUB_DEFINE_POLICY(
    news_pubsub, struct item, 2, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_RPC_DEFINE_POLICY(
    item_service, struct item, int, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_RWLOCK_DEFINE_POLICY(route_lock, int, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_SEMAPHORE_DEFINE_POLICY(
    permits, 0, DZ_CRITICAL_SECTION, STRIKE_POLICY, DZ_IN_ORDER)
DZ_SIGNAL_DEFINE_POLICY(
    item_signal, struct item, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_WATCH_DEFINE_POLICY(
    item_watch, struct item, DZ_CRITICAL_SECTION, STRIKE_POLICY)
DZ_ZEROCOPY_DEFINE_POLICY(
    slots, struct item, 2, DZ_CRITICAL_SECTION, STRIKE_POLICY)

static struct objects {
    struct item_mutex blocking;
    struct item_lazy lazy;
    struct item_channel channel;
    struct flags flags;
    struct bus_mutex mutex;
    struct item_once once;
    struct byte_pipe pipe;
    struct job_queue jobs;
    struct news_pubsub pubsub;
    struct item_service service;
    struct route_lock lock;
    struct permits permits;
    struct item_signal latest;
    struct item_watch watch;
    struct slots slots;
} objects;

static struct item_watch_receiver watching;
static struct news_pubsub_subscriber subscriber;

/* What the two have got. */
static struct item item, others_item;
static bool has_got, other_has_got;
static struct item *slot, *others_slot;

static void clear(void)
{
    begin_scenario();
    strike_clear(objects);
    strike_clear(subscriber);
    strike_clear(item);
    strike_clear(others_item);
    watching = item_watch_receiver(&objects.watch);
    has_got = false;
    other_has_got = false;
    slot = NULL;
    others_slot = NULL;
    made = 0;
}

/* 0 if it is that of `clear`. */
static int value_of(const struct item *some)
{
    for (int i = 1; i < WORDS; i++)
        must(some->words[i] == some->words[0]);
    return some->words[0];
}

static void raise_item(struct item *some)
{
    for (int i = 0; i < WORDS; i++)
        some->words[i]++;
}

/* -- Blocking mutex and lazy lock. */

static void raise_words(void)
{
    dz_key key;
    struct item *locked = item_mutex_lock(&objects.blocking, &key);

    must(value_of(locked) < 4);
    raise_item(locked);
    item_mutex_unlock(&objects.blocking, key);
}

static void raise_often(void)
{
    for (int i = 0; i < 3; i++)
        raise_words();
    strike_at_last();
}

static void words_were_raised(void)
{
    must(value_of(&objects.blocking.value) == 4);
}

static void use_lazy(void)
{
    must(value_of(item_lazy_get(&objects.lazy)) == 1);
    must(item_lazy_is_made(&objects.lazy));
}

static void use_lazy_twice(void)
{
    use_lazy();
    use_lazy();
    strike_at_last();
}

static void it_was_made_once(void)
{
    must(made == 1);
}

/* -- Channel. */

static void prepare_channel(void)
{
    clear();
    must(item_channel_try_send(&objects.channel, &first));
}

static void clear_channel(void)
{
    item_channel_clear(&objects.channel);
    strike_at_last();
}

static void send_second(void)
{
    must(item_channel_try_send(&objects.channel, &second));
}

/* The second is there, or it was cleared, too. */
static void channel_is_sound(void)
{
    unsigned len = item_channel_len(&objects.channel);

    must(len <= 1 && item_channel_free(&objects.channel) == 2 - len);
    has_got = item_channel_try_receive(&objects.channel, &item);
    must(has_got == (len == 1) && value_of(&item) == 2 * (int)len);
}

static void peek(void)
{
    has_got = item_channel_peek(&objects.channel, &item);
    strike_at_last();
}

/* Also in the slot that the first was in. */
static void exchange(void)
{
    must(item_channel_try_receive(&objects.channel, &others_item));
    send_second();
    send_second();
}

static void one_was_seen(void)
{
    must(has_got && value_of(&item) >= 1 && value_of(&item) <= 2);
    must(value_of(&others_item) == 1);
    item_channel_clear(&objects.channel);
    must(item_channel_free(&objects.channel) == 2);
}

/* -- Priority channel. */

static void prepare_jobs(void)
{
    clear();
    must(job_queue_try_send(&objects.jobs, &second));
}

static bool is_second(const struct item *job, void *argument)
{
    (void)argument;
    return value_of(job) == 2;
}

static void remove_second(void)
{
    must(job_queue_remove_if(&objects.jobs, is_second, NULL) == 1);
    strike_at_last();
}

static void send_first(void)
{
    must(job_queue_try_send(&objects.jobs, &first));
}

static void first_is_left(void)
{
    must(job_queue_len(&objects.jobs) == 1);
    must(job_queue_free(&objects.jobs) == 1);
    must(job_queue_try_receive(&objects.jobs, &item) && value_of(&item) == 1);
}

/* -- Event flags. */

static void prepare_flags(void)
{
    clear();
    flags_set(&objects.flags, 1);
}

static void change_flags(void)
{
    flags_set(&objects.flags, 2);
    flags_clear(&objects.flags, 1);
    must(flags_try_take_any(&objects.flags, 1 | 2) == 2);
    flags_set(&objects.flags, 1 | 2);
    must(flags_try_take_all(&objects.flags, 1 | 2) != 0);
    strike_at_last();
}

static void set_another_flag(void)
{
    flags_set(&objects.flags, 4);
}

static void the_other_is_left(void)
{
    must(flags_now(&objects.flags) == 4);
}

/* -- Locks. Not both have it, and whoever has it gives it back. */

static void try_mutex(void)
{
    has_got = bus_mutex_try_lock(&objects.mutex) != NULL;
    strike_at_last();
}

static void try_mutex_too(void)
{
    other_has_got = bus_mutex_try_lock(&objects.mutex) != NULL;
}

static void one_has_the_mutex(void)
{
    must(has_got != other_has_got);
    bus_mutex_unlock(&objects.mutex);
    must(bus_mutex_try_lock(&objects.mutex) != NULL);
}

static void write_often(void)
{
    for (int i = 0; i < 3; i++) {
        int *value = route_lock_try_write(&objects.lock);

        if (value == NULL)
            continue;
        ++*value;
        total++;
        route_lock_unlock_write(&objects.lock);
    }
    strike_at_last();
}

static void read_often(void)
{
    for (int i = 0; i < 3; i++) {
        if (route_lock_try_read(&objects.lock) == NULL)
            continue;
        route_lock_unlock_read(&objects.lock);
    }
    strike_at_last();
}

/* It keeps it. */
static void try_to_read(void)
{
    other_has_got = route_lock_try_read(&objects.lock) != NULL;
}

static void lock_is_read(void)
{
    const int *value;

    if (!other_has_got)
        try_to_read();
    must(route_lock_try_write(&objects.lock) == NULL);
    route_lock_unlock_read(&objects.lock);
    value = route_lock_try_write(&objects.lock);
    must(value != NULL && *value == total);
}

/* -- Once lock. */

static void prepare_once(void)
{
    clear();
    must(item_once_init(&objects.once, &first));
}

static void take_once(void)
{
    has_got = item_once_try_take(&objects.once, &item);
    strike_at_last();
}

static void set_again(void)
{
    other_has_got = item_once_init(&objects.once, &second);
}

static void take_once_too(void)
{
    other_has_got = item_once_try_take(&objects.once, &others_item);
}

static void one_has_taken(void)
{
    must(has_got != other_has_got && !item_once_is_set(&objects.once));
    must(value_of(&item) + value_of(&others_item) == 1);
}

static void first_was_taken(void)
{
    must(has_got && value_of(&item) == 1);
    must(item_once_is_set(&objects.once) == other_has_got);
    must(!other_has_got || value_of(item_once_try_get(&objects.once)) == 2);
}

/* -- Pipe. */

static void prepare_pipe(void)
{
    clear();
    must(byte_pipe_try_write(&objects.pipe, "abc", 3) == 3);
}

static void clear_pipe(void)
{
    byte_pipe_clear(&objects.pipe);
    strike_at_last();
}

static void write_byte(void)
{
    must(byte_pipe_try_write(&objects.pipe, "d", 1) == 1);
}

static void pipe_is_sound(void)
{
    size_t len = byte_pipe_len(&objects.pipe);
    char byte = 'd';

    must(len <= 1 && byte_pipe_free(&objects.pipe) == 4 - len);
    must(byte_pipe_try_read(&objects.pipe, &byte, 1) == len && byte == 'd');
}

static void read_in_place(void)
{
    const uint8_t *bytes;
    size_t len;

    must(byte_pipe_try_fill(&objects.pipe, &bytes, &len));
    must(len >= 3 && memcmp(bytes, "abc", 3) == 0);
    byte_pipe_consume(&objects.pipe, 3);
    strike_at_last();
}

static void read_pipe(void)
{
    char bytes[3];

    must(byte_pipe_try_read(&objects.pipe, bytes, 3) == 3);
    must(memcmp(bytes, "abc", 3) == 0);
    strike_at_last();
}

static void last_byte_is_left(void)
{
    must(byte_pipe_len(&objects.pipe) == 1);
    pipe_is_sound();
}

/* -- Publish and subscribe. */

static void prepare_pubsub(void)
{
    clear();
    news_pubsub_subscribe(&objects.pubsub, &subscriber);
    must(news_pubsub_try_publish(&objects.pubsub, &first));
}

static void read_news(void)
{
    must(news_pubsub_try_next(&subscriber, &item) && value_of(&item) == 1);
    strike_at_last();
}

static void clear_news(void)
{
    news_pubsub_clear(&objects.pubsub);
    strike_at_last();
}

static void subscribe(void)
{
    news_pubsub_subscribe(&objects.pubsub, &subscriber);
    strike_at_last();
}

static void unsubscribe(void)
{
    news_pubsub_unsubscribe(&subscriber);
    strike_at_last();
}

static void publish_second(void)
{
    news_pubsub_publish_immediate(&objects.pubsub, &second);
}

static void second_is_news(void)
{
    must(news_pubsub_available(&subscriber) == 1);
    must(news_pubsub_try_next(&subscriber, &item) && value_of(&item) == 2);
    must(news_pubsub_free(&objects.pubsub) == 2);
}

static void second_is_news_or_was_missed(void)
{
    if (news_pubsub_available(&subscriber) != 0)
        second_is_news();
    must(news_pubsub_lagged(&subscriber) == 0);
    must(news_pubsub_free(&objects.pubsub) == 2);
}

static void no_news_are_left(void)
{
    must(news_pubsub_is_empty(&objects.pubsub));
    must(news_pubsub_free(&objects.pubsub) == 2);
}

/* -- Remote procedure calls. */

static void post_first(void)
{
    has_got = item_service_try_post(&objects.service, &first);
    strike_at_last();
}

static void post_second(void)
{
    other_has_got = item_service_try_post(&objects.service, &second);
}

static void one_was_posted(void)
{
    must(has_got != other_has_got);
    must(item_service_try_receive(&objects.service, &item));
    must(value_of(&item) == (has_got ? 1 : 2));
}

static void prepare_job(void)
{
    clear();
    must(item_service_try_post(&objects.service, &first));
}

static void put_back(void)
{
    if (item_service_try_receive(&objects.service, &item))
        item_service_put_back(&objects.service);
    strike_at_last();
}

static void work(void)
{
    other_has_got = item_service_try_receive(&objects.service, &others_item);
    if (other_has_got)
        item_service_reply(&objects.service, NULL);
}

static void it_was_done_once(void)
{
    if (!other_has_got)
        work();
    must(value_of(&others_item) == 1);
    must(!item_service_try_receive(&objects.service, &item));
    must(item_service_try_post(&objects.service, &second));
}

/* -- Semaphore. */

static void prepare_permits(void)
{
    clear();
    permits_release(&objects.permits, 1);
}

static void try_permit(void)
{
    has_got = permits_try_acquire(&objects.permits, 1);
    strike_at_last();
}

static void try_all_permits(void)
{
    unsigned count;

    has_got = permits_try_acquire_all(&objects.permits, 1, &count);
    must(count == has_got);
    strike_at_last();
}

static void try_permit_too(void)
{
    other_has_got = permits_try_acquire(&objects.permits, 1);
}

static void one_has_the_permit(void)
{
    must(has_got != other_has_got && permits_free(&objects.permits) == 0);
}

static void release_often(void)
{
    permits_release(&objects.permits, 1);
    permits_release(&objects.permits, 1);
    strike_at_last();
}

static void two_are_free(void)
{
    must(permits_free(&objects.permits) == 3U - other_has_got);
}

static void set_permits(void)
{
    permits_set(&objects.permits, 3);
    strike_at_last();
}

static void two_or_three_are_free(void)
{
    unsigned count = permits_free(&objects.permits);

    must(other_has_got && (count == 2 || count == 3));
}

/* -- Signal. */

static void prepare_signal(void)
{
    clear();
    item_signal_send(&objects.latest, first);
}

static void take_signal(void)
{
    must(item_signal_try_take(&objects.latest, &item));
    strike_at_last();
}

static void reset_signal(void)
{
    item_signal_reset(&objects.latest);
    strike_at_last();
}

static void signal_first(void)
{
    item_signal_send(&objects.latest, first);
    strike_at_last();
}

static void signal_second(void)
{
    item_signal_send(&objects.latest, second);
}

static void second_was_taken_or_is_left(void)
{
    int value = value_of(&item);

    must(value == 1 || value == 2);
    must(item_signal_is_sent(&objects.latest) == (value == 1));
    must(!item_signal_try_take(&objects.latest, &item) || value_of(&item) == 2);
}

static void second_is_left_or_was_dropped(void)
{
    must(!item_signal_try_take(&objects.latest, &item) || value_of(&item) == 2);
}

static void one_is_left(void)
{
    must(item_signal_try_take(&objects.latest, &item));
    must(value_of(&item) == 1 || value_of(&item) == 2);
}

/* -- Watch. */

static void prepare_watch(void)
{
    clear();
    item_watch_send(&objects.watch, first);
}

static void modify_item(struct item *some, void *argument)
{
    (void)argument;
    raise_item(some);
}

static bool raise_if(struct item *some, void *argument)
{
    (void)argument;
    raise_item(some);
    return true;
}

static void modify(void)
{
    must(item_watch_send_modify(&objects.watch, modify_item, NULL));
    must(item_watch_send_if_modified(&objects.watch, raise_if, NULL));
    strike_at_last();
}

static void modify_once(void)
{
    must(item_watch_send_modify(&objects.watch, modify_item, NULL));
}

static void it_was_modified_thrice(void)
{
    must(item_watch_receiver_try_changed(&watching, &item));
    must(value_of(&item) == 4);
    must(!item_watch_receiver_try_changed(&watching, &item));
}

static void look_at_watch(void)
{
    has_got = item_watch_try_get(&objects.watch, &item);
    must(has_got && value_of(&item) != 0);
    must(item_watch_receiver_try_get(&watching, &item) && value_of(&item) != 0);
    (void)item_watch_receiver_try_changed(&watching, &item);
    strike_at_last();
}

static void clear_watch(void)
{
    item_watch_clear(&objects.watch);
    strike_at_last();
}

static void send_to_watch(void)
{
    item_watch_send(&objects.watch, second);
}

static void watch_has_second(void)
{
    must(item_watch_try_get(&objects.watch, &item) && value_of(&item) == 2);
}

static void watch_has_second_or_none(void)
{
    must(!item_watch_try_get(&objects.watch, &item) || value_of(&item) == 2);
}

/* -- Zero-copy. */

static void reserve_slot(void)
{
    slot = slots_try_reserve(&objects.slots);
    strike_at_last();
}

static void reserve_slot_too(void)
{
    others_slot = slots_try_reserve(&objects.slots);
}

static void both_have_a_slot(void)
{
    must(slot != NULL && others_slot != NULL && slot != others_slot);
    slots_discard(&objects.slots, slot);
    slots_discard(&objects.slots, others_slot);
    must(slots_free(&objects.slots) == 2);
}

static void send_slot(const struct item *value)
{
    struct item *reserved = slots_try_reserve(&objects.slots);

    must(reserved != NULL);
    *reserved = *value;
    slots_send(&objects.slots, reserved);
}

static void prepare_slot(void)
{
    clear();
    send_slot(&first);
}

static void prepare_both_slots(void)
{
    prepare_slot();
    send_slot(&second);
}

static void receive_slot(void)
{
    slot = slots_try_receive(&objects.slots);
    strike_at_last();
}

static void receive_slot_too(void)
{
    others_slot = slots_try_receive(&objects.slots);
}

static void both_have_received(void)
{
    must(slot != NULL && others_slot != NULL && slot != others_slot);
    must(value_of(slot) + value_of(others_slot) == 3);
    slots_release(&objects.slots, slot);
    slots_release(&objects.slots, others_slot);
    must(slots_free(&objects.slots) == 2);
}

static void put_slot_back(void)
{
    slot = slots_try_receive(&objects.slots);
    if (slot != NULL)
        slots_put_back(&objects.slots, slot);
    strike_at_last();
}

static void one_is_received(void)
{
    slot = slots_try_receive(&objects.slots);
    both_have_received();
}

static void clear_slots(void)
{
    slots_clear(&objects.slots);
    strike_at_last();
}

static void send_second_slot(void)
{
    send_slot(&second);
}

static void slots_are_sound(void)
{
    unsigned len = slots_len(&objects.slots);

    must(len <= 1 && slots_free(&objects.slots) == 2 - len);
    slot = slots_try_receive(&objects.slots);
    must((slot != NULL) == (len == 1));
    must(slot == NULL || value_of(slot) == 2);
}

const struct strike STRIKE_ALL[] = {
    {"blocking mutex", clear, raise_often, raise_words, words_were_raised},
    {"lazy lock", clear, use_lazy_twice, use_lazy, it_was_made_once},
    {"channel: clear", prepare_channel, clear_channel, send_second,
        channel_is_sound},
    {"channel: peek", prepare_channel, peek, exchange, one_was_seen},
    {"priority channel: remove", prepare_jobs, remove_second, send_first,
        first_is_left},
    {"event flags: change", prepare_flags, change_flags, set_another_flag,
        the_other_is_left},
    {"mutex: try", clear, try_mutex, try_mutex_too, one_has_the_mutex},
    {"rwlock: write", clear, write_often, try_to_read, lock_is_read},
    {"rwlock: read", clear, read_often, try_to_read, lock_is_read},
    {"once lock: take", prepare_once, take_once, set_again, first_was_taken},
    {"once lock: both take", prepare_once, take_once, take_once_too,
        one_has_taken},
    {"pipe: clear", prepare_pipe, clear_pipe, write_byte, pipe_is_sound},
    {"pipe: fill", prepare_pipe, read_in_place, write_byte, last_byte_is_left},
    {"pipe: read", prepare_pipe, read_pipe, write_byte, last_byte_is_left},
    {"pubsub: next", prepare_pubsub, read_news, publish_second, second_is_news},
    {"pubsub: clear", prepare_pubsub, clear_news, publish_second,
        second_is_news_or_was_missed},
    {"pubsub: subscribe", clear, subscribe, publish_second,
        second_is_news_or_was_missed},
    {"pubsub: unsubscribe", prepare_pubsub, unsubscribe, publish_second,
        no_news_are_left},
    {"rpc: post", clear, post_first, post_second, one_was_posted},
    {"rpc: put back", prepare_job, put_back, work, it_was_done_once},
    {"semaphore: try", prepare_permits, try_permit, try_permit_too,
        one_has_the_permit},
    {"semaphore: try all", prepare_permits, try_all_permits, try_permit_too,
        one_has_the_permit},
    {"semaphore: release", prepare_permits, release_often, try_permit_too,
        two_are_free},
    {"semaphore: set", prepare_permits, set_permits, try_permit_too,
        two_or_three_are_free},
    {"signal: take", prepare_signal, take_signal, signal_second,
        second_was_taken_or_is_left},
    {"signal: reset", prepare_signal, reset_signal, signal_second,
        second_is_left_or_was_dropped},
    {"signal: send", clear, signal_first, signal_second, one_is_left},
    {"watch: modify", prepare_watch, modify, modify_once,
        it_was_modified_thrice},
    {"watch: get", prepare_watch, look_at_watch, send_to_watch,
        watch_has_second},
    {"watch: clear", prepare_watch, clear_watch, send_to_watch,
        watch_has_second_or_none},
    {"zero-copy: reserve", clear, reserve_slot, reserve_slot_too,
        both_have_a_slot},
    {"zero-copy: receive", prepare_both_slots, receive_slot, receive_slot_too,
        both_have_received},
    {"zero-copy: put back", prepare_both_slots, put_slot_back, receive_slot_too,
        one_is_received},
    {"zero-copy: clear", prepare_slot, clear_slots, send_second_slot,
        slots_are_sound},
    {.name = NULL},
};
