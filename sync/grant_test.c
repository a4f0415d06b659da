/* SPDX-License-Identifier: MIT */

/*
 * grant_test -- the grant protocol against a plain model, in lock step
 *
 * Tasks send, receive, wait and select at random on two channels and a signal,
 * while other code sends, receives, clears and resets, in thread mode and in
 * interrupts that strike where interrupts are switched on: at the end of each
 * critical section, and so between any two steps of the code under test.
 *
 * The model keeps plain arrays. It makes its step right before the code under
 * test makes the same one, with interrupts off between the two; then the
 * results are compared, and all queues, grants and counts.
 */

#include "executor/join.h"
#include "executor/select.h"
#include "sim/test_random.h"
#include "sync/channel.h"
#include "sync/signal.h"

enum { WORKERS = 7, OPERATIONS = 14, LIST = 32, IRQ = 5, STEPS = 1000000 };

static struct {
    long interrupts;
    long polls;
    long polls_in_vain;
    long passed_on;
    long completed[OPERATIONS];
} counted;

/* ---- The model: who waits, who holds a promise, how many units are free. */

struct list {
    const struct dz_waiter *members[LIST];
    unsigned count;
};

static void list_append(struct list *list, const struct dz_waiter *waiter)
{
    check(list->count < LIST);
    list->members[list->count++] = waiter;
}

static bool list_remove(struct list *list, const struct dz_waiter *waiter)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->members[i] != waiter)
            continue;
        list->count--;
        for (; i < list->count; i++)
            list->members[i] = list->members[i + 1];
        return true;
    }
    return false;
}

static bool list_has(const struct list *list, const struct dz_waiter *waiter)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->members[i] == waiter)
            return true;
    }
    return false;
}

struct model_units {
    struct list waiting;
    struct list promised;
    int free;
};

static void model_give(struct model_units *model)
{
    if (model->waiting.count == 0) {
        model->free++;
        return;
    }
    list_append(&model->promised, model->waiting.members[0]);
    (void)list_remove(&model->waiting, model->waiting.members[0]);
}

static bool model_try_take(struct model_units *model)
{
    if (model->free == 0)
        return false;
    model->free--;
    return true;
}

static bool progress; /* the poll under way was not in vain */

static bool model_take(struct model_units *model)
{
    if (list_remove(&model->promised, dz_current))
        return true;
    if (list_has(&model->waiting, dz_current))
        return false;
    if (model_try_take(model))
        return true;
    list_append(&model->waiting, dz_current);
    progress = true;
    return false;
}

static void model_leave(
    struct model_units *model, const struct dz_waiter *waiter)
{
    (void)list_remove(&model->waiting, waiter);
    if (list_remove(&model->promised, waiter))
        model_give(model);
}

/* ---- What is under test, and its models. */

DZ_CHANNEL_DEFINE(small_channel, uint32_t, 1, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(large_channel, uint32_t, 3, DZ_CRITICAL_SECTION)
DZ_SIGNAL_DEFINE(latest_signal, uint32_t, DZ_CRITICAL_SECTION)
DZ_SIGNAL_DEFINE(order_signal, uint32_t, DZ_CRITICAL_SECTION)

enum { CHANNELS = 2, ITEMS = 3 };

static struct small_channel small;
static struct large_channel large;
static struct latest_signal latest;

struct channel_model {
    struct model_units slots;
    struct model_units items;
    uint32_t values[ITEMS];
    unsigned count; /* of values */
    uint32_t next;  /* value to send */
};

static const unsigned capacities[CHANNELS] = {1, 3};
static struct channel_model channels[CHANNELS];

static struct {
    struct model_units values;
    bool is_full;
    uint32_t value;
} latest_model;

static struct dz_sender sender(unsigned i)
{
    return i == 0 ? small_channel_sender(&small) : large_channel_sender(&large);
}

static struct dz_receiver receiver(unsigned i)
{
    return i == 0 ? small_channel_receiver(&small)
                  : large_channel_receiver(&large);
}

static void compare_units(const struct model_units *model,
    const struct dz_units *units, unsigned initial)
{
    const struct dz_waiter *waiter = units->first;

    check((int)dz_units_free(units, (int)initial) == model->free);
    for (unsigned i = 0; i < model->waiting.count; i++) {
        check(waiter == model->waiting.members[i]);
        check(waiter->place == (uintptr_t)units);
        waiter = waiter->next;
    }
    check(waiter == NULL);
    for (unsigned i = 0; i < model->promised.count; i++) {
        waiter = model->promised.members[i];
        check(waiter->place == (uintptr_t)units + DZ_PLACE_GRANTED);
        check(waiter->next == NULL);
    }
    check(model->free == 0 || model->waiting.count == 0);
}

static void compare(void)
{
    dz_key key = dz_port_enter();

    for (unsigned i = 0; i < CHANNELS; i++) {
        const struct dz_channel *channel = sender(i).channel;

        compare_units(&channels[i].slots, &channel->slots, capacities[i]);
        compare_units(&channels[i].items, &channel->items, 0);
        check(channels[i].count + (unsigned)channels[i].slots.free +
                channels[i].slots.promised.count ==
            capacities[i]);
        check(channels[i].count ==
            (unsigned)channels[i].items.free +
                channels[i].items.promised.count);
    }
    compare_units(&latest_model.values, &latest.signal.values, 0);
    check(latest.signal.values.index == latest_model.is_full);
    dz_port_exit(key);
}

/* ---- Interrupts. */

/* Lets an interrupt strike when interrupts are next switched on. */
static void arm(unsigned odds)
{
    if (dice(odds) != 0)
        return;
    dz_nvic_pend(&test_core.nvic, IRQ);
    dz_port_core.deferred = 1;
}

/* Between the model's step and the real one nothing may come: what is armed
 * strikes at the end of the real one. */
static void model_begin(void)
{
    compare();
    arm(2);
    dz_port_core.masked = 1;
}

static void model_end(void)
{
    dz_port_core.masked = 0;
}

/* ---- Steps, in lock step. */

static void model_put(unsigned i, uint32_t value)
{
    struct channel_model *model = &channels[i];

    check(model->count < capacities[i]);
    model->values[model->count++] = value;
    model_give(&model->items);
}

static uint32_t model_get(unsigned i)
{
    struct channel_model *model = &channels[i];
    uint32_t value = model->values[0];

    check(model->count > 0);
    model->count--;
    for (unsigned k = 0; k < model->count; k++)
        model->values[k] = model->values[k + 1];
    model_give(&model->slots);
    return value;
}

static enum dz_poll send_poll(unsigned i)
{
    uint32_t value = channels[i].next;
    bool expected;
    enum dz_poll result;

    model_begin();
    expected = model_take(&channels[i].slots);
    if (expected) {
        model_put(i, channels[i].next++);
        progress = true;
    }
    model_end();
    result = dz_sender_send(sender(i), &value);
    check((result == DZ_READY) == expected);
    return result;
}

static enum dz_poll receive_poll(unsigned i)
{
    uint32_t expected_value = 0;
    uint32_t value = 0;
    bool expected;
    enum dz_poll result;

    model_begin();
    expected = model_take(&channels[i].items);
    if (expected) {
        expected_value = model_get(i);
        progress = true;
    }
    model_end();
    result = dz_receiver_receive(receiver(i), &value);
    check((result == DZ_READY) == expected);
    check(value == expected_value);
    return result;
}

static enum dz_poll ready_poll(unsigned i, bool is_sender)
{
    struct model_units *model =
        is_sender ? &channels[i].slots : &channels[i].items;
    bool expected;
    enum dz_poll result;

    model_begin();
    expected = model_take(model);
    if (expected) {
        model_give(model);
        progress = true;
    }
    model_end();
    result =
        is_sender ? dz_sender_ready(sender(i)) : dz_receiver_ready(receiver(i));
    check((result == DZ_READY) == expected);
    return result;
}

static enum dz_poll latest_poll(void)
{
    uint32_t expected_value = 0;
    uint32_t value = 0;
    bool expected;
    enum dz_poll result;

    model_begin();
    expected = model_take(&latest_model.values);
    if (expected) {
        expected_value = latest_model.value;
        latest_model.is_full = false;
        progress = true;
    }
    model_end();
    result = latest_signal_wait(&latest, &value);
    check((result == DZ_READY) == expected);
    check(value == expected_value);
    return result;
}

static void try_send(unsigned i)
{
    uint32_t value = channels[i].next;
    bool expected;

    model_begin();
    expected = model_try_take(&channels[i].slots);
    if (expected)
        model_put(i, channels[i].next++);
    model_end();
    check(dz_sender_try_send(sender(i), &value) == expected);
}

static void try_receive(unsigned i)
{
    uint32_t expected_value = 0;
    uint32_t value = 0;
    bool expected;

    model_begin();
    expected = model_try_take(&channels[i].items);
    if (expected)
        expected_value = model_get(i);
    model_end();
    check(dz_receiver_try_receive(receiver(i), &value) == expected);
    check(value == expected_value);
}

static void look(unsigned i)
{
    dz_key key = dz_port_enter();
    uint32_t value = 0;
    bool has_item = dz_receiver_peek(receiver(i), &value);

    check(has_item == (channels[i].items.free > 0));
    check(!has_item || value == channels[i].values[0]);
    check(dz_receiver_len(receiver(i)) == (unsigned)channels[i].items.free);
    check(dz_sender_free(sender(i)) == (unsigned)channels[i].slots.free);
    dz_port_exit(key);
}

static void clear(unsigned i)
{
    model_begin();
    for (; channels[i].items.free > 0; channels[i].items.free--) {
        channels[i].count--;
        model_give(&channels[i].slots);
    }
    model_end();
    dz_channel_clear(sender(i).channel, sender(i).type);
}

static void send_latest(void)
{
    uint32_t value = dice(1000);

    model_begin();
    latest_model.value = value;
    if (!latest_model.is_full) {
        latest_model.is_full = true;
        model_give(&latest_model.values);
    }
    model_end();
    latest_signal_send(&latest, value);
}

static void reset_latest(void)
{
    model_begin();
    if (model_try_take(&latest_model.values))
        latest_model.is_full = false;
    model_end();
    latest_signal_reset(&latest);
}

static void take_latest(void)
{
    uint32_t expected_value = 0;
    uint32_t value = 0;
    bool expected;

    model_begin();
    expected = model_try_take(&latest_model.values);
    if (expected) {
        expected_value = latest_model.value;
        latest_model.is_full = false;
    }
    model_end();
    check(latest_signal_try_take(&latest, &value) == expected);
    check(value == expected_value);
}

/* The linker puts this in the place of dz_waiter_cancel (see CMakeLists.txt),
 * so that the model cancels what a select or the end of a task cancels, when
 * it does. */
void __real_dz_waiter_cancel(struct dz_waiter *waiter);
void __wrap_dz_waiter_cancel(struct dz_waiter *waiter);

void __wrap_dz_waiter_cancel(struct dz_waiter *waiter)
{
    if (dz_port_core.masked != 0) {
        __real_dz_waiter_cancel(waiter);
        return;
    }
    model_begin();
    for (unsigned i = 0; i < CHANNELS; i++) {
        model_leave(&channels[i].slots, waiter);
        model_leave(&channels[i].items, waiter);
    }
    model_leave(&latest_model.values, waiter);
    counted.passed_on += (waiter->place & DZ_PLACE_GRANTED) != 0;
    model_end();
    __real_dz_waiter_cancel(waiter);
}

/* Likewise the first step of a select's two, which leaves promises alone. */
void __real_dz_waiter_withdraw(struct dz_waiter *waiter);
void __wrap_dz_waiter_withdraw(struct dz_waiter *waiter);

void __wrap_dz_waiter_withdraw(struct dz_waiter *waiter)
{
    model_begin();
    for (unsigned i = 0; i < CHANNELS; i++) {
        (void)list_remove(&channels[i].slots.waiting, waiter);
        (void)list_remove(&channels[i].items.waiting, waiter);
    }
    (void)list_remove(&latest_model.values.waiting, waiter);
    model_end();
    __real_dz_waiter_withdraw(waiter);
}

/* ---- Workers: each waits for an order and carries it out. */

struct worker {
    struct dz_task task;
    struct dz_select2 select;
    struct dz_select2 inner;
    struct dz_select3 three;
    struct dz_join2 join;
    uint32_t operation;
    uint32_t reason;
    bool is_busy;
};

/* Beside the workers, so that an order that comes late finds no new frame. */
static struct order_signal orders[WORKERS];
static struct order_signal cancels[WORKERS];
static struct dz_executor executor;
static struct dz_pool workers;
static struct worker workers_slots[WORKERS];

static enum dz_poll order_poll(
    struct worker *self, struct order_signal *signals, uint32_t *value)
{
    enum dz_poll result;

    arm(4);
    result = order_signal_wait(&signals[dz_task_slot(&self->task)], value);
    progress = progress || result == DZ_READY;
    return result;
}

static enum dz_poll cancel_poll(struct worker *self)
{
    return order_poll(self, cancels, &self->reason);
}

static enum dz_poll operation_poll(struct worker *self)
{
    switch (self->operation) {
    case 0:
    case 1:
        return send_poll(self->operation);
    case 2:
    case 3:
        return receive_poll(self->operation - 2);
    case 4:
        return dz_select2(&self->select, receive_poll(0), receive_poll(1));
    case 5:
        return dz_select2(&self->select, send_poll(0), receive_poll(1));
    case 6:
        return dz_select2(&self->select, receive_poll(1), cancel_poll(self));
    case 7:
        return dz_select2(&self->select,
            dz_select2(&self->inner, receive_poll(0), send_poll(1)),
            cancel_poll(self));
    case 8:
        return latest_poll();
    case 9:
        return ready_poll(0, true);
    case 10:
        return ready_poll(1, false);
    case 11:
        return dz_select3(
            &self->three, receive_poll(0), latest_poll(), cancel_poll(self));
    case 12:
        return dz_select2(&self->select,
            dz_join2(&self->join, receive_poll(0), send_poll(1)),
            cancel_poll(self));
    default: /* ends in the middle of a wait */
        return dz_select2(&self->select, send_poll(1), latest_poll()) ==
                    DZ_PENDING &&
                dice(2) == 0
            ? DZ_PENDING
            : DZ_READY;
    }
}

static enum dz_poll work_poll(struct worker *self)
{
    async (self) {
        for (;;) {
            self->is_busy = false;
            await(order_poll(self, orders, &self->operation));
            self->is_busy = true;
            await(operation_poll(self));
            counted.completed[self->operation]++;
            if (self->operation == OPERATIONS - 1)
                return dz_finish(self);
        }
    }
    return DZ_READY;
}

static enum dz_poll counted_work_poll(struct dz_task *task)
{
    enum dz_poll result;

    counted.polls++;
    progress = task->frame.line == 0; /* the first poll is never in vain */
    result = work_poll((struct worker *)(void *)task);
    counted.polls_in_vain += !progress && result == DZ_PENDING;
    arm(4);
    dz_port_exit(dz_port_enter());
    return result;
}

static void order_something(unsigned i)
{
    if (!workers_slots[i].is_busy)
        order_signal_send(&orders[i], dice(OPERATIONS));
    else if (dice(2) == 0)
        order_signal_send(&cancels[i], 1);
}

static void spawn_one(void)
{
    struct worker *worker = dz_pool_claim(&workers);

    if (worker != NULL)
        dz_executor_spawn(&executor, &worker->task);
}

/* Something that any context may do. */
static void disturb(void)
{
    unsigned i = dice(CHANNELS);

    switch (dice(16)) {
    case 0:
    case 1:
    case 2:
        try_send(i);
        break;
    case 3:
    case 4:
    case 5:
        try_receive(i);
        break;
    case 6:
        look(i);
        break;
    case 7:
        if (dice(4) == 0)
            clear(i);
        break;
    case 8:
        send_latest();
        break;
    case 9:
        if (dice(2) == 0)
            reset_latest();
        else
            take_latest();
        break;
    case 10:
        spawn_one();
        break;
    default:
        order_something(dice(WORKERS));
        break;
    }
}

static void strike(void *argument)
{
    bool outer = progress;

    (void)argument;
    counted.interrupts++;
    disturb();
    progress = outer;
    if (dice(4) == 0)
        arm(1);
}

/* All that is promised is collected once nothing is ready any more. */
static void come_to_rest(void)
{
    for (int passes = 0; dz_executor_is_ready(&executor); passes++) {
        check(passes < 10000);
        dz_executor_poll(&executor);
    }
    for (unsigned i = 0; i < CHANNELS; i++) {
        check(channels[i].slots.promised.count == 0);
        check(channels[i].items.promised.count == 0);
    }
    check(latest_model.values.promised.count == 0);
}

static void report(void)
{
    print_message("%ld steps, %ld interrupts, %ld polls, %ld of "
                  "them in vain, %ld grants passed on, operations completed:",
        step, counted.interrupts, counted.polls, counted.polls_in_vain,
        counted.passed_on);
    for (unsigned i = 0; i < OPERATIONS; i++)
        print_message(" %ld", counted.completed[i]);
    print_message("\n");
}

static void begin(void)
{
    random_begin();
    workers = (struct dz_pool){
        .poll = counted_work_poll,
        .name = "workers",
        .file = __FILE__,
        .line = __LINE__,
        .slots = workers_slots,
        .size = sizeof(struct worker),
        .count = WORKERS,
    };
    for (unsigned i = 0; i < CHANNELS; i++)
        channels[i].slots.free = (int)capacities[i];
    dz_core_bind(&test_core, IRQ, strike, NULL);
    dz_executor_init(&executor, "test");
    for (int i = 0; i < WORKERS; i++)
        spawn_one();
    dz_executor_poll(&executor);
}

static void does_what_the_model_does_at_every_step(void **state)
{
    long steps = random_steps(STEPS);

    (void)state;
    begin();
    for (step = 0; step < steps; step++) {
        disturb();
        if (dice(3) == 0)
            dz_executor_poll(&executor);
        if (step % 1000 == 0)
            come_to_rest();
        compare();
    }
    report();
    /* The test reached what it is about. */
    check(counted.polls_in_vain <= counted.passed_on);
    check(steps < STEPS || counted.interrupts > steps / 4);
    check(steps < STEPS || counted.passed_on > steps / 1000);
    for (unsigned i = 0; i < OPERATIONS; i++)
        check(steps < STEPS || counted.completed[i] > steps / 1000);
}

RUN_TESTS(TEST(does_what_the_model_does_at_every_step))
