/* SPDX-License-Identifier: MIT */

/*
 * priority_channel_law_test -- a priority channel against a sorted array
 *
 * A slot or an item is free, or reserved for somebody. Values are taken from
 * the front, whoever takes them; those that are reserved are the first ones.
 */

#include <string.h>

#include "sync/law.h"
#include "sync/priority_channel.h"

enum { CAPACITY = 4, SENDERS = 0, RECEIVERS = 1, VALUES = 40, KEYS = 4 };

/* Ten values are equal, and yet differ. */
static uint32_t key_of(uint32_t value)
{
    return value % KEYS;
}

static bool is_less(const uint32_t *one, const uint32_t *other)
{
    return key_of(*one) < key_of(*other);
}

static bool is_greater(const uint32_t *one, const uint32_t *other)
{
    return key_of(*one) > key_of(*other);
}

DZ_PRIORITY_CHANNEL_DEFINE(
    critical_min, uint32_t, CAPACITY, is_less, DZ_CRITICAL_SECTION)
DZ_PRIORITY_CHANNEL_DEFINE(
    critical_max, uint32_t, CAPACITY, is_greater, DZ_CRITICAL_SECTION)
DZ_PRIORITY_CHANNEL_DEFINE(
    thread_min, uint32_t, CAPACITY, is_less, DZ_THREAD_MODE)
DZ_PRIORITY_CHANNEL_DEFINE(
    thread_max, uint32_t, CAPACITY, is_greater, DZ_THREAD_MODE)
DZ_PRIORITY_CHANNEL_DEFINE(noop_min, uint32_t, CAPACITY, is_less, DZ_NOOP)
DZ_PRIORITY_CHANNEL_DEFINE(noop_max, uint32_t, CAPACITY, is_greater, DZ_NOOP)
DZ_PRIORITY_CHANNEL_DEFINE_SINGLE_SLOT(
    slot_min, uint32_t, CAPACITY, is_less, DZ_CRITICAL_SECTION)
DZ_PRIORITY_CHANNEL_DEFINE_SINGLE_SLOT(
    slot_max, uint32_t, CAPACITY, is_greater, DZ_CRITICAL_SECTION)
DZ_PRIORITY_CHANNEL_DEFINE(
    narrow_min, uint32_t, 1, is_less, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_min_type.object,
    &critical_max_type.object,
    &thread_min_type.object,
    &thread_max_type.object,
    &noop_min_type.object,
    &noop_max_type.object,
    &slot_min_type.object,
    &slot_max_type.object,
    &narrow_min_type.object,
};

static struct critical_min object; /* the largest */
static const struct dz_channel_type *type;

/* ---- The model. */

static bool greatest_first;
static uint32_t values[CAPACITY]; /* in the order in which they come out */
static unsigned count;            /* of values */
static unsigned free_slots;       /* reserved for nobody */
static unsigned free_values;      /* likewise */

static bool reserve_slot(struct law_call *call)
{
    (void)call;
    if (free_slots == 0)
        return false;
    free_slots--;
    return true;
}

static void free_slot(struct law_call *call)
{
    (void)call;
    free_slots++;
}

static bool stays_before(uint32_t there, uint32_t newcomer)
{
    if (greatest_first)
        return key_of(there) >= key_of(newcomer);
    return key_of(there) <= key_of(newcomer);
}

static bool put(struct law_call *call)
{
    unsigned i = count;

    for (; i > 0 && !stays_before(values[i - 1], call->argument); i--)
        values[i] = values[i - 1];
    values[i] = call->argument;
    count++;
    free_values++;
    return true;
}

static bool reserve_value(struct law_call *call)
{
    (void)call;
    if (free_values == 0)
        return false;
    free_values--;
    return true;
}

static void free_value(struct law_call *call)
{
    (void)call;
    free_values++;
}

static void take_out(unsigned i)
{
    count--;
    free_slots++;
    memmove(&values[i], &values[i + 1], (CAPACITY - 1 - i) * sizeof(values[0]));
}

static bool get(struct law_call *call)
{
    call->expected[0] = values[0];
    take_out(0);
    return true;
}

/* Ready is no reservation. */
static bool slot_is_ready(struct law_call *call)
{
    free_slot(call);
    return true;
}

static bool value_is_ready(struct law_call *call)
{
    free_value(call);
    return true;
}

static bool has_value(struct law_call *call)
{
    call->expected[0] = values[0];
    return free_values > 0;
}

/* Of the free values, which are the last. */
static bool drop_values(struct law_call *call)
{
    (void)call;
    count -= free_values;
    free_slots += free_values;
    free_values = 0;
    return true;
}

static bool drop_key(struct law_call *call)
{
    unsigned reserved = count - free_values;

    for (unsigned i = count; i > reserved; i--) {
        if (key_of(values[i - 1]) != call->argument)
            continue;
        take_out(i - 1);
        free_values--;
        call->expected[0]++;
    }
    return true;
}

/* ---- The channel. */

static bool send(struct law_call *call)
{
    uint32_t value = call->argument;

    return dz_channel_send(&object.channel, type, &value) == DZ_READY;
}

static bool try_send(struct law_call *call)
{
    uint32_t value = call->argument;

    return dz_channel_try_send(&object.channel, type, &value);
}

static bool receive(struct law_call *call)
{
    return dz_channel_receive(&object.channel, type, call->got) == DZ_READY;
}

static bool try_receive(struct law_call *call)
{
    return dz_channel_try_receive(&object.channel, type, call->got);
}

static bool peek(struct law_call *call)
{
    return dz_channel_peek(&object.channel, type, call->got);
}

static bool ready_to_send(struct law_call *call)
{
    (void)call;
    return dz_channel_ready(&object.channel, type, &object.channel.slots,
               type->capacity) == DZ_READY;
}

static bool ready_to_receive(struct law_call *call)
{
    (void)call;
    return dz_channel_ready(&object.channel, type, &object.channel.items, 0) ==
        DZ_READY;
}

static bool clear(struct law_call *call)
{
    (void)call;
    dz_channel_clear(&object.channel, type);
    return true;
}

static bool has_key(const void *item, void *argument)
{
    return key_of(*(const uint32_t *)item) == *(const unsigned *)argument;
}

static bool remove_if(struct law_call *call)
{
    call->got[0] =
        dz_channel_remove_if(&object.channel, type, has_key, &call->argument);
    return true;
}

static const struct law_operation operations[] = {
    {"send", LAW_WAITS, SENDERS, 8, VALUES, send, .reserve = reserve_slot,
        .perform = put, .give_back = free_slot},
    {"receive", LAW_WAITS, RECEIVERS, 8, .real = receive,
        .reserve = reserve_value, .perform = get, .give_back = free_value},
    {"try_send", LAW_TRIES, SENDERS, 8, VALUES, try_send,
        .reserve = reserve_slot, .perform = put},
    {"try_receive", LAW_TRIES, RECEIVERS, 8, .real = try_receive,
        .reserve = reserve_value, .perform = get},
    {"ready_to_send", LAW_WAITS, SENDERS, 2, .real = ready_to_send,
        .reserve = reserve_slot, .perform = slot_is_ready,
        .give_back = free_slot},
    {"ready_to_receive", LAW_WAITS, RECEIVERS, 2, .real = ready_to_receive,
        .reserve = reserve_value, .perform = value_is_ready,
        .give_back = free_value},
    {"peek", LAW_ACTS, RECEIVERS, 1, .real = peek, .reserve = has_value},
    {"clear", LAW_ACTS, SENDERS, 1, .real = clear, .perform = drop_values},
    {"remove_if", LAW_ACTS, SENDERS, 4, KEYS, remove_if, .perform = drop_key},
};

static void reset(const struct dz_object *chosen)
{
    object = (struct critical_min){0};
    type = (const struct dz_channel_type *)(const void *)chosen;
    greatest_first = type == &critical_max_type || type == &thread_max_type ||
        type == &noop_max_type || type == &slot_max_type;
    free_slots = type->capacity;
    free_values = 0;
    count = 0;
}

static void compare(void)
{
    law_check(dz_channel_free(&object.channel, type) == free_slots);
    law_check(dz_channel_len(&object.channel, type) == free_values);
    law_check(
        !law_has_queues() || free_slots == 0 || law_waiting(SENDERS) == 0);
}

int main(void)
{
    static const struct law law = {
        .name = "priority_channel",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}
