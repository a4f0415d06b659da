/* SPDX-License-Identifier: MIT */

/*
 * pubsub_law_test -- a pubsub against the list of what each has yet to get
 *
 * Each worker has one subscriber, and so have interrupts and what is outside
 * tasks. Messages are numbered in the order in which they are published; those
 * that are in any list are those in the pubsub.
 */

#include <string.h>

#include "sync/law.h"
#include "sync/pubsub.h"

enum {
    CAPACITY = 3,
    SUBSCRIBERS = LAW_INTERRUPT + 1,
    PUBLISHING = 0, /* lines */
    READING = 1,
    VALUES = 100,
};

DZ_PUBSUB_DEFINE(critical_pubsub, uint32_t, CAPACITY, DZ_CRITICAL_SECTION)
DZ_PUBSUB_DEFINE(thread_pubsub, uint32_t, CAPACITY, DZ_THREAD_MODE)
DZ_PUBSUB_DEFINE(noop_pubsub, uint32_t, CAPACITY, DZ_NOOP)
DZ_PUBSUB_DEFINE_SINGLE_SLOT(
    slot_pubsub, uint32_t, CAPACITY, DZ_CRITICAL_SECTION)
DZ_PUBSUB_DEFINE(narrow_pubsub, uint32_t, 1, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_pubsub_type.object,
    &thread_pubsub_type.object,
    &noop_pubsub_type.object,
    &slot_pubsub_type.object,
    &narrow_pubsub_type.object,
};

static struct critical_pubsub object; /* the largest */
static struct dz_publisher publisher;
static struct dz_subscriber subscribers[SUBSCRIBERS];

/* ---- The model. */

struct message {
    uint32_t number;
    uint32_t value;
};

static struct list {
    struct message messages[CAPACITY];
    unsigned count;
    unsigned promised; /* of them */
    uint32_t lost;
    bool is_subscribed;
} lists[SUBSCRIBERS];

static unsigned promised_slots;
static uint32_t published;

static struct list *list_of(const struct law_call *call)
{
    return &lists[call->who];
}

static void forget_first(struct list *list)
{
    memmove(list->messages, list->messages + 1,
        sizeof(list->messages) - sizeof(list->messages[0]));
    list->count--;
}

static bool has(const struct list *list, uint32_t number)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->messages[i].number == number)
            return true;
    }
    return false;
}

static bool is_in_any(uint32_t number)
{
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        if (has(&lists[i], number))
            return true;
    }
    return false;
}

static unsigned count_messages(void)
{
    unsigned count = 0;

    for (uint32_t number = 1; number <= published; number++)
        count += is_in_any(number);
    return count;
}

static uint32_t oldest(void)
{
    uint32_t number = 1;

    while (!is_in_any(number))
        number++;
    return number;
}

static bool has_subscribers(void)
{
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        if (lists[i].is_subscribed)
            return true;
    }
    return false;
}

static void lose(uint32_t number)
{
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        if (!has(&lists[i], number))
            continue;
        law_check(lists[i].messages[0].number == number);
        forget_first(&lists[i]);
        lists[i].lost++;
    }
}

static bool put(struct law_call *call)
{
    if (count_messages() == publisher.type->capacity)
        lose(oldest());
    published++;
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        if (lists[i].is_subscribed)
            lists[i].messages[lists[i].count++] =
                (struct message){published, call->argument};
    }
    return true;
}

static bool reserve_slot(struct law_call *call)
{
    (void)call;
    if (has_subscribers() &&
        count_messages() + promised_slots >= publisher.type->capacity)
        return false;
    promised_slots++;
    return true;
}

static void free_slot(struct law_call *call)
{
    (void)call;
    promised_slots--;
}

static bool use_slot(struct law_call *call)
{
    promised_slots--;
    return put(call);
}

static bool reserve_message(struct law_call *call)
{
    struct list *list = list_of(call);

    if (list->count == list->promised)
        return false;
    list->promised++;
    return true;
}

static void free_message(struct law_call *call)
{
    list_of(call)->promised--;
}

static bool get(struct law_call *call)
{
    struct list *list = list_of(call);

    list->promised--;
    call->expected[0] = list->messages[0].value;
    call->expected[1] = list->lost;
    list->lost = 0;
    forget_first(list);
    return true;
}

static bool drop(struct law_call *call)
{
    (void)call;
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        while (lists[i].count > lists[i].promised)
            forget_first(&lists[i]);
    }
    return true;
}

static bool join(struct law_call *call)
{
    *list_of(call) = (struct list){.is_subscribed = true};
    return true;
}

static bool leave(struct law_call *call)
{
    *list_of(call) = (struct list){0};
    return true;
}

/* ---- What is no misuse. */

static bool is_subscribed(const struct law_call *call)
{
    return lists[call->who].is_subscribed;
}

static bool is_not_subscribed(const struct law_call *call)
{
    return !lists[call->who].is_subscribed;
}

/* With a single slot nobody knows who waits. */
static bool may_leave(const struct law_call *call)
{
    return law_has_queues() && is_subscribed(call) &&
        lists[call->who].promised == 0 &&
        subscribers[call->who].messages.first == NULL;
}

/* ---- The pubsub. */

static bool publish(struct law_call *call)
{
    uint32_t value = call->argument;

    return dz_publisher_publish(publisher, &value) == DZ_READY;
}

static bool try_publish(struct law_call *call)
{
    uint32_t value = call->argument;

    return dz_publisher_try_publish(publisher, &value);
}

static bool publish_immediate(struct law_call *call)
{
    uint32_t value = call->argument;

    dz_publisher_publish_immediate(publisher, &value);
    return true;
}

static bool tell_lag(struct law_call *call, bool is_ours)
{
    if (is_ours)
        call->got[1] = subscribers[call->who].lagged;
    return is_ours;
}

static bool next(struct law_call *call)
{
    return tell_lag(call,
        dz_subscriber_next(&subscribers[call->who], call->got) == DZ_READY);
}

static bool try_next(struct law_call *call)
{
    return tell_lag(
        call, dz_subscriber_try_next(&subscribers[call->who], call->got));
}

static bool clear(struct law_call *call)
{
    (void)call;
    dz_publisher_clear(publisher);
    return true;
}

static bool subscribe(struct law_call *call)
{
    dz_subscriber_subscribe(&subscribers[call->who], publisher);
    return true;
}

static bool unsubscribe(struct law_call *call)
{
    dz_subscriber_unsubscribe(&subscribers[call->who]);
    return true;
}

static const struct law_operation operations[] = {
    {"publish", LAW_WAITS, PUBLISHING, 6, VALUES, publish,
        .reserve = reserve_slot, .perform = use_slot, .give_back = free_slot},
    {"try_publish", LAW_TRIES, PUBLISHING, 2, VALUES, try_publish,
        .reserve = reserve_slot, .perform = use_slot},
    {"publish_immediate", LAW_ACTS, PUBLISHING, 2, VALUES, publish_immediate,
        .perform = put},
    {"next", LAW_WAITS, READING, 16, .real = next, .may = is_subscribed,
        .reserve = reserve_message, .perform = get, .give_back = free_message},
    {"try_next", LAW_TRIES, READING, 12, .real = try_next, .may = is_subscribed,
        .reserve = reserve_message, .perform = get},
    {"clear", LAW_ACTS, PUBLISHING, 2, .real = clear, .perform = drop},
    {"subscribe", LAW_ACTS, READING, 4, .real = subscribe,
        .may = is_not_subscribed, .perform = join},
    {"unsubscribe", LAW_ACTS, READING, 6, .real = unsubscribe, .may = may_leave,
        .perform = leave, .never = 1U << 3}, /* slot_pubsub */
};

static void reset(const struct dz_object *chosen)
{
    object = (struct critical_pubsub){0};
    publisher.pubsub = &object.pubsub;
    publisher.type = (const struct dz_pubsub_type *)(const void *)chosen;
    memset(subscribers, 0, sizeof(subscribers));
    memset(lists, 0, sizeof(lists));
    promised_slots = 0;
    published = 0;
}

static void compare(void)
{
    unsigned used = count_messages() + promised_slots;
    unsigned capacity = publisher.type->capacity;

    law_check(dz_publisher_len(publisher) == count_messages());
    law_check(dz_publisher_free(publisher) ==
        (used < capacity ? capacity - used : 0));
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        law_check(lists[i].is_subscribed == (subscribers[i].pubsub != NULL));
        if (lists[i].is_subscribed)
            law_check(dz_subscriber_available(&subscribers[i]) ==
                lists[i].count - lists[i].promised);
    }
}

int main(void)
{
    static const struct law law = {
        .name = "pubsub",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
        .who_can = 1U << READING,
        .any_order = 1U << READING, /* they are several queues */
    };

    return law_run(&law);
}
