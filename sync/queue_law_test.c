/* SPDX-License-Identifier: MIT */

/*
 * queue_law_test -- queues with requests, and their glue, against a number
 *
 * An amount of something. Some want one to three of it at once; some gather as
 * many, one after the other, and keep their place in front meanwhile.
 */

#include "sync/law.h"
#include "sync/wait.h"

struct amount {
    struct dz_queue queue;
    unsigned left;
    DZ_OWNER
};

struct amount_type {
    struct dz_object object;
    struct dz_queue_type queue;
};

static bool grant(struct dz_queue *queue, const struct dz_queue_type *type,
    uintptr_t *request)
{
    struct amount *self = container_of(queue, struct amount, queue);

    (void)type;
    if (self->left < *request)
        return false;
    self->left -= (unsigned)*request;
    return true;
}

static void take_back(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    (void)type;
    container_of(queue, struct amount, queue)->left += (unsigned)request;
}

#define AMOUNT_TYPE(mutex, policy, service)           \
    {                                                 \
        DZ_OBJECT(amount, mutex, policy),             \
            DZ_QUEUE_TYPE(grant, take_back, service), \
    }

static const struct amount_type in_order[] = {
    AMOUNT_TYPE(DZ_CRITICAL_SECTION, DZ_QUEUE, DZ_IN_ORDER),
    AMOUNT_TYPE(DZ_THREAD_MODE, DZ_QUEUE, DZ_IN_ORDER),
    AMOUNT_TYPE(DZ_NOOP, DZ_QUEUE, DZ_IN_ORDER),
    AMOUNT_TYPE(DZ_CRITICAL_SECTION, DZ_SINGLE_SLOT, DZ_IN_ORDER),
};

static const struct amount_type who_can[] = {
    AMOUNT_TYPE(DZ_CRITICAL_SECTION, DZ_QUEUE, DZ_WHO_CAN),
    AMOUNT_TYPE(DZ_THREAD_MODE, DZ_QUEUE, DZ_WHO_CAN),
    AMOUNT_TYPE(DZ_NOOP, DZ_QUEUE, DZ_WHO_CAN),
};

static struct amount object;
static const struct amount_type *type;

/* ---- The model. */

static unsigned left;

static unsigned wanted(const struct law_call *call)
{
    return 1 + call->argument;
}

static bool reserve(struct law_call *call)
{
    if (left < wanted(call))
        return false;
    left -= wanted(call);
    return true;
}

static void give_back(struct law_call *call)
{
    left += wanted(call);
}

static bool reserve_one(struct law_call *call)
{
    (void)call;
    if (left == 0)
        return false;
    left--;
    return true;
}

static void give_one_back(struct law_call *call)
{
    (void)call;
    left++;
}

static bool count_one(struct law_call *call)
{
    return ++call->model[0] == wanted(call);
}

static bool acquires_as_many(
    struct law_call *call, const struct law_call *walked)
{
    unsigned asked_for =
        walked->operation == call->operation ? wanted(walked) : 1;

    return wanted(call) == asked_for;
}

static bool gathers(struct law_call *call, const struct law_call *walked)
{
    return walked->operation == call->operation || wanted(walked) == 1;
}

static bool add(struct law_call *call)
{
    left += wanted(call);
    return true;
}

/* What nobody has a promise for. */
static bool take_rest(struct law_call *call)
{
    call->expected[0] = left;
    left = 0;
    return true;
}

/* ---- The amount. */

static bool acquire(struct law_call *call)
{
    dz_key key =
        dz_wait_lock(&object, &type->object, &object.queue, wanted(call));
    enum dz_poll poll = dz_wait_ask(
        &object.queue, &type->queue, wanted(call), type->object.policy);

    return dz_wait_unlock(&object, &type->object, key, poll) == DZ_READY;
}

static enum dz_poll go_on_in_front(void)
{
    uintptr_t one = 1;

    if (grant(&object.queue, &type->queue, &one))
        return DZ_READY;
    if (type->object.policy == DZ_QUEUE)
        dz_queue_prepend(&object.queue, &type->queue, 1);
    else
        dz_waker_register(&object.queue.waker);
    return DZ_PENDING;
}

static bool gather(struct law_call *call)
{
    unsigned char *count = &call->real.bytes[0];
    dz_key key = dz_wait_lock(&object, &type->object, &object.queue, 1);
    enum dz_poll poll =
        dz_wait_ask(&object.queue, &type->queue, 1, type->object.policy);

    while (poll == DZ_READY && ++*count < wanted(call))
        poll = go_on_in_front();
    return dz_wait_unlock(&object, &type->object, key, poll) == DZ_READY;
}

static bool try_acquire(struct law_call *call)
{
    dz_key key = dz_lock(&object, &type->object);
    bool is_ours = dz_wait_try_ask(
        &object.queue, &type->queue, wanted(call), type->object.policy);

    dz_unlock(&object, &type->object, key);
    return is_ours;
}

static bool release(struct law_call *call)
{
    dz_key key = dz_lock(&object, &type->object);

    object.left += wanted(call);
    dz_wait_serve(&object.queue, type->object.policy);
    dz_unlock(&object, &type->object, key);
    return true;
}

static bool drain(struct law_call *call)
{
    dz_key key = dz_lock(&object, &type->object);

    call->got[0] = object.left;
    object.left = 0;
    dz_unlock(&object, &type->object, key);
    return true;
}

static const struct law_operation operations[] = {
    {"acquire", LAW_WAITS, .weight = 8, .arguments = 3, .real = acquire,
        .reserve = reserve, .give_back = give_back,
        .goes_on = acquires_as_many},
    {"gather", LAW_WAITS, .weight = 4, .arguments = 3, .real = gather,
        .reserve = reserve_one, .perform = count_one,
        .give_back = give_one_back, .goes_on = gathers},
    {"try_acquire", LAW_TRIES, .weight = 3, .arguments = 3, .real = try_acquire,
        .reserve = reserve},
    {"release", LAW_ACTS, .weight = 6, .arguments = 3, .real = release,
        .perform = add},
    {"drain", LAW_ACTS, .weight = 1, .real = drain, .perform = take_rest},
};

static void reset(const struct dz_object *chosen)
{
    object = (struct amount){.left = 0};
    type = (const struct amount_type *)(const void *)chosen;
    left = 0;
}

static void compare(void)
{
    law_check(object.left == left);
    law_check(!law_has_queues() ||
        dz_queue_is_occupied(&object.queue) == (law_waiting(0) > 0));
}

static int run(const char *name, const struct amount_type *first,
    unsigned count, unsigned lines_for_who_can)
{
    const struct dz_object *types[LAW_COUNT(in_order)];
    struct law law = {
        .name = name,
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = count,
        .reset = reset,
        .compare = compare,
        .who_can = lines_for_who_can,
    };

    for (unsigned i = 0; i < count; i++)
        types[i] = &first[i].object;
    return law_run(&law);
}

int main(void)
{
    return run("queue", in_order, LAW_COUNT(in_order), 0) +
        run("queue", who_can, LAW_COUNT(who_can), 1);
}
