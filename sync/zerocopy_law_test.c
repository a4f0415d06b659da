/* SPDX-License-Identifier: MIT */

/*
 * zerocopy_law_test -- a zero-copy channel against three lists
 *
 * A slot that is not free is reserved, ready or received. Each has a name while
 * it is, which is written in it and must stay there whatever others do. Where
 * it lies is the channel's choice, but no two are in the same place.
 */

#include <string.h>

#include "sync/law.h"
#include "sync/zerocopy.h"

enum { CAPACITY = 3, SENDERS = 0, RECEIVERS = 1 };

/* No power of two. */
struct item {
    uint32_t name;
    uint16_t more[4];
};

DZ_ZEROCOPY_DEFINE(critical_channel, struct item, CAPACITY, DZ_CRITICAL_SECTION)
DZ_ZEROCOPY_DEFINE(thread_channel, struct item, CAPACITY, DZ_THREAD_MODE)
DZ_ZEROCOPY_DEFINE(noop_channel, struct item, CAPACITY, DZ_NOOP)
DZ_ZEROCOPY_DEFINE_SINGLE_SLOT(
    slot_channel, struct item, CAPACITY, DZ_CRITICAL_SECTION)
DZ_ZEROCOPY_DEFINE(narrow_channel, struct item, 1, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_channel_type.object,
    &thread_channel_type.object,
    &noop_channel_type.object,
    &slot_channel_type.object,
    &narrow_channel_type.object,
};

static struct critical_channel channel; /* the largest */
static const struct dz_zerocopy_type *type;

/* ---- The model. */

struct list {
    uint32_t names[CAPACITY];
    unsigned count;
};

static struct list reserved;
static struct list ready;
static struct list received;
static unsigned free_slots; /* promised to nobody */
static unsigned free_items; /* ready ones, likewise */
static uint32_t last_name;

static void insert(struct list *list, unsigned at, uint32_t name)
{
    memmove(list->names + at + 1, list->names + at,
        (list->count - at) * sizeof(name));
    list->names[at] = name;
    list->count++;
}

static uint32_t take_out(struct list *list, unsigned at)
{
    uint32_t name = list->names[at];

    list->count--;
    memmove(list->names + at, list->names + at + 1,
        (list->count - at) * sizeof(name));
    return name;
}

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

static bool name_it(struct law_call *call)
{
    call->model[0] = ++last_name;
    return true;
}

static bool reserve_item(struct law_call *call)
{
    (void)call;
    if (free_items == 0)
        return false;
    free_items--;
    return true;
}

static void free_item(struct law_call *call)
{
    (void)call;
    free_items++;
}

static bool get(struct law_call *call)
{
    call->expected[0] = take_out(&ready, 0);
    return true;
}

/* The argument says which one of those that are held. */
static uint32_t end_hold(struct list *held, const struct law_call *call)
{
    return take_out(held, call->argument % held->count);
}

static bool may_send(const struct law_call *call)
{
    (void)call;
    return reserved.count > 0;
}

static bool put(struct law_call *call)
{
    call->model[0] = end_hold(&reserved, call);
    insert(&ready, ready.count, call->model[0]);
    free_items++;
    return true;
}

static bool forget(struct law_call *call)
{
    call->model[0] = end_hold(&reserved, call);
    free_slots++;
    return true;
}

static bool may_release(const struct law_call *call)
{
    (void)call;
    return received.count > 0;
}

static bool end_reading(struct law_call *call)
{
    call->model[0] = end_hold(&received, call);
    free_slots++;
    return true;
}

static bool leave_unread(struct law_call *call)
{
    call->model[0] = end_hold(&received, call);
    insert(&ready, 0, call->model[0]);
    free_items++;
    return true;
}

/* What is promised was there first, and stays. */
static bool drop_items(struct law_call *call)
{
    (void)call;
    ready.count -= free_items;
    free_slots += free_items;
    free_items = 0;
    return true;
}

/* ---- The channel. */

static struct item *item_named(uint32_t name)
{
    struct item *items = (void *)((char *)&channel + type->items);

    for (unsigned i = 0; i < type->capacity; i++) {
        if (items[i].name == name)
            return &items[i];
    }
    return NULL;
}

/* Only now can others end the hold in the name of whoever got it. */
static bool write_name(struct law_call *call, struct item *item)
{
    if (item == NULL)
        return false;
    item->name = call->model[0];
    insert(&reserved, reserved.count, item->name);
    return true;
}

static bool reserve(struct law_call *call)
{
    return write_name(call, dz_zerocopy_reserve(&channel.channel, type));
}

static bool try_reserve(struct law_call *call)
{
    return write_name(call, dz_zerocopy_try_reserve(&channel.channel, type));
}

static bool read_name(struct law_call *call, const struct item *item)
{
    if (item == NULL)
        return false;
    call->got[0] = item->name;
    insert(&received, received.count, item->name);
    return true;
}

static bool receive(struct law_call *call)
{
    return read_name(call, dz_zerocopy_receive(&channel.channel, type));
}

static bool try_receive(struct law_call *call)
{
    return read_name(call, dz_zerocopy_try_receive(&channel.channel, type));
}

static bool send(struct law_call *call)
{
    dz_zerocopy_send(&channel.channel, type, item_named(call->model[0]));
    return true;
}

/* Whoever comes next must not find the old name. */
static bool discard(struct law_call *call)
{
    struct item *item = item_named(call->model[0]);

    item->name = 0;
    dz_zerocopy_free_slot(&channel.channel, type, item, DZ_ZEROCOPY_RESERVED);
    return true;
}

static bool release(struct law_call *call)
{
    struct item *item = item_named(call->model[0]);

    item->name = 0;
    dz_zerocopy_free_slot(&channel.channel, type, item, DZ_ZEROCOPY_RECEIVED);
    return true;
}

static bool put_back(struct law_call *call)
{
    dz_zerocopy_put_back(&channel.channel, type, item_named(call->model[0]));
    return true;
}

static bool clear(struct law_call *call)
{
    (void)call;
    dz_zerocopy_clear(&channel.channel, type);
    return true;
}

static const struct law_operation operations[] = {
    {"reserve", LAW_WAITS, SENDERS, 8, .real = reserve, .reserve = reserve_slot,
        .perform = name_it, .give_back = free_slot},
    {"receive", LAW_WAITS, RECEIVERS, 8, .real = receive,
        .reserve = reserve_item, .perform = get, .give_back = free_item},
    {"try_reserve", LAW_TRIES, SENDERS, 6, .real = try_reserve,
        .reserve = reserve_slot, .perform = name_it},
    {"try_receive", LAW_TRIES, RECEIVERS, 6, .real = try_receive,
        .reserve = reserve_item, .perform = get},
    {"send", LAW_ACTS, SENDERS, 10, CAPACITY, send, may_send, .perform = put},
    {"discard", LAW_ACTS, SENDERS, 2, CAPACITY, discard, may_send,
        .perform = forget},
    {"release", LAW_ACTS, RECEIVERS, 10, CAPACITY, release, may_release,
        .perform = end_reading},
    {"put_back", LAW_ACTS, RECEIVERS, 2, CAPACITY, put_back, may_release,
        .perform = leave_unread},
    {"clear", LAW_ACTS, SENDERS, 2, .real = clear, .perform = drop_items},
};

static void reset(const struct dz_object *chosen)
{
    channel = (struct critical_channel){0};
    type = (const struct dz_zerocopy_type *)(const void *)chosen;
    reserved.count = 0;
    ready.count = 0;
    received.count = 0;
    free_slots = type->capacity;
    free_items = 0;
    last_name = 0;
}

static void compare_list(const struct list *list)
{
    for (unsigned i = 0; i < list->count; i++)
        law_check(item_named(list->names[i]) != NULL);
}

static void compare(void)
{
    law_check(dz_zerocopy_free(&channel.channel, type) == free_slots);
    law_check(dz_zerocopy_len(&channel.channel, type) == free_items);
    compare_list(&reserved);
    compare_list(&ready);
    compare_list(&received);
}

int main(void)
{
    static const struct law law = {
        .name = "zerocopy",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}
