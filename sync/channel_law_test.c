/* SPDX-License-Identifier: MIT */

/*
 * channel_law_test -- a channel against arrays
 *
 * A slot or an item is free, or reserved for somebody. Values are taken from
 * the front, reserved ones first.
 */

#include <string.h>

#include "sync/channel.h"
#include "sync/law.h"

enum { CAPACITY = 3, SENDERS = 0, RECEIVERS = 1, VALUES = 100 };

DZ_CHANNEL_DEFINE(critical_channel, uint32_t, CAPACITY, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(thread_channel, uint32_t, CAPACITY, DZ_THREAD_MODE)
DZ_CHANNEL_DEFINE(noop_channel, uint32_t, CAPACITY, DZ_NOOP)
DZ_CHANNEL_DEFINE_SINGLE_SLOT(
    slot_channel, uint32_t, CAPACITY, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(narrow_channel, uint32_t, 1, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_channel_type.object,
    &thread_channel_type.object,
    &noop_channel_type.object,
    &slot_channel_type.object,
    &narrow_channel_type.object,
};

static struct critical_channel channel; /* the largest */
static const struct dz_channel_type *type;

/* ---- The model. */

static uint32_t values[CAPACITY];
static unsigned count;       /* of values */
static unsigned free_slots;  /* reserved for nobody */
static unsigned free_values; /* likewise */

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

static bool put(struct law_call *call)
{
    values[count++] = call->argument;
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

static bool get(struct law_call *call)
{
    call->expected[0] = values[0];
    memmove(values, values + 1, sizeof(values) - sizeof(values[0]));
    count--;
    free_slots++;
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

/* What is reserved was there first, and stays. */
static bool drop_values(struct law_call *call)
{
    (void)call;
    count -= free_values;
    free_slots += free_values;
    free_values = 0;
    return true;
}

/* ---- The channel. */

static bool send(struct law_call *call)
{
    uint32_t value = call->argument;

    return dz_channel_send(&channel.channel, type, &value) == DZ_READY;
}

static bool try_send(struct law_call *call)
{
    uint32_t value = call->argument;

    return dz_channel_try_send(&channel.channel, type, &value);
}

static bool receive(struct law_call *call)
{
    return dz_channel_receive(&channel.channel, type, call->got) == DZ_READY;
}

static bool try_receive(struct law_call *call)
{
    return dz_channel_try_receive(&channel.channel, type, call->got);
}

static bool peek(struct law_call *call)
{
    return dz_channel_peek(&channel.channel, type, call->got);
}

static bool ready_to_send(struct law_call *call)
{
    (void)call;
    return dz_channel_ready(&channel.channel, type, &channel.channel.slots,
               type->capacity) == DZ_READY;
}

static bool ready_to_receive(struct law_call *call)
{
    (void)call;
    return dz_channel_ready(
               &channel.channel, type, &channel.channel.items, 0) == DZ_READY;
}

static bool clear(struct law_call *call)
{
    (void)call;
    dz_channel_clear(&channel.channel, type);
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
};

static void reset(const struct dz_object *chosen)
{
    channel = (struct critical_channel){0};
    type = (const struct dz_channel_type *)(const void *)chosen;
    free_slots = type->capacity;
    free_values = 0;
    count = 0;
}

static void compare(void)
{
    law_check(dz_channel_free(&channel.channel, type) == free_slots);
    law_check(dz_channel_len(&channel.channel, type) == free_values);
    law_check(
        !law_has_queues() || free_slots == 0 || law_waiting(SENDERS) == 0);
}

int main(void)
{
    static const struct law law = {
        .name = "channel",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}
