/* SPDX-License-Identifier: MIT */

/*
 * strike_test -- each scenario with an interrupt before each of its accesses
 *
 * This file, the executor and the primitives are compiled so that sim/strike.c
 * sees every access. What is attacked above all are the places that do without
 * a critical section, and say why.
 */

#include "sim/strike.h"

#include "executor/cancel.h"
#include "executor/deadline.h"
#include "executor/priority.h"
#include "executor/select.h"
#include "executor/timer.h"
#include "sim/test.h"
#include "sync/channel.h"
#include "sync/event_flags.h"
#include "sync/mutex.h"
#include "sync/pipe.h"
#include "sync/pubsub.h"
#include "sync/rwlock.h"
#include "sync/semaphore.h"
#include "sync/signal.h"
#include "sync/waker.h"
#include "sync/watch.h"

DZ_CHANNEL_DEFINE(narrow_channel, int, 1, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(wide_channel, int, 4, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE_SINGLE_SLOT(slot_channel, int, 4, DZ_CRITICAL_SECTION)
DZ_SIGNAL_DEFINE(int_signal, int, DZ_CRITICAL_SECTION)

static struct narrow_channel narrow;
static struct wide_channel wide;
static struct slot_channel slot;
static struct int_signal latest;
static struct dz_atomic_waker waker;
/* All scenarios are struck with every kind of executor. */
static enum kind { FIFO, PRIORITY, DEADLINE } kind;
static struct dz_executor executor;
static struct dz_executor other;
static struct dz_priority_queue priority_queue;
static struct dz_deadline_queue deadline_queue;
static volatile bool done;
static int received; /* in all */
static int sum;      /* of what was received */
static const int one = 1;
static const int two = 2;

#define must(condition)                               \
    do {                                              \
        if (!(condition))                             \
            fail_msg("%s does not hold", #condition); \
    } while (0)

/* Receives what the task and the interrupt send: 1 + 2. */
struct receiver {
    struct dz_task task;
    struct dz_deadline deadline;
    int value;
    int wanted;
};

static enum dz_poll wide_receiver_poll(struct receiver *self)
{
    async (self) {
        for (; self->wanted > 0; self->wanted--) {
            await(wide_channel_receive(&wide, &self->value));
            received++;
            sum += self->value;
        }
        done = true;
    }
    return DZ_READY;
}

static enum dz_poll slot_receiver_poll(struct receiver *self)
{
    async (self) {
        for (; self->wanted > 0; self->wanted--) {
            await(slot_channel_receive(&slot, &self->value));
            received++;
            sum += self->value;
        }
        done = true;
    }
    return DZ_READY;
}

static enum dz_poll signal_receiver_poll(struct receiver *self)
{
    async (self) {
        await(int_signal_wait(&latest, &self->value));
        sum += self->value;
        done = true;
    }
    return DZ_READY;
}

struct sender {
    struct dz_task task;
    struct dz_deadline deadline;
    int value;
};

static enum dz_poll wide_sender_poll(struct sender *self)
{
    async (self) {
        await(wide_channel_send(&wide, &one));
        await(dz_yield_poll());
    }
    return DZ_READY;
}

static enum dz_poll narrow_sender_poll(struct sender *self)
{
    async (self) {
        for (self->value = 0; self->value < 3; self->value++)
            await(narrow_channel_send(&narrow, &one));
    }
    return DZ_READY;
}

struct brief {
    struct dz_task task;
    struct dz_deadline deadline;
};

/* Ends with a wake-up pending. */
static enum dz_poll brief_poll(struct brief *self)
{
    async (self) {
        received++;
        dz_task_wake(&self->task);
    }
    return DZ_READY;
}

struct selecting {
    struct dz_task task;
    struct dz_deadline deadline;
    struct dz_select2 select;
    int first;
    int second;
};

static enum dz_poll selecting_poll(struct selecting *self)
{
    async (self) {
        await(
            dz_select2(&self->select, wide_channel_receive(&wide, &self->first),
                narrow_channel_receive(&narrow, &self->second)));
        received++;
        done = true;
    }
    return DZ_READY;
}

/* The same, the other way round. */
static enum dz_poll reversed_poll(struct selecting *self)
{
    async (self) {
        await(dz_select2(&self->select,
            narrow_channel_receive(&narrow, &self->second),
            wide_channel_receive(&wide, &self->first)));
        received++;
        done = true;
    }
    return DZ_READY;
}

struct watching {
    struct dz_task task;
    struct dz_deadline deadline;
};

/* Register first, look second. */
static enum dz_poll watch_poll(void)
{
    dz_atomic_waker_register(&waker);
    return sum != 0 ? DZ_READY : DZ_PENDING;
}

static enum dz_poll watching_poll(struct watching *self)
{
    async (self) {
        await(watch_poll());
        done = true;
    }
    return DZ_READY;
}

static const struct dz_instant earlier = {5};
static const struct dz_instant due = {10};
static const struct dz_instant later = {15};

struct timing {
    struct dz_task task;
    struct dz_deadline deadline;
    struct dz_timer timer;
    struct dz_timer other;
    struct dz_timer third;
    struct dz_select2 select;
    struct dz_select2 inner;
    int value;
};

/* One of the two comes late. */
static enum dz_poll timing_poll(struct timing *self)
{
    async (self) {
        await(dz_timer_at(&self->timer, due));
        received++;
        await(dz_timer_at(&self->timer, due));
        received++;
        done = true;
    }
    return DZ_READY;
}

static enum dz_poll timed_receiver_poll(struct timing *self)
{
    async (self) {
        await(dz_select2(&self->select, dz_timer_at(&self->timer, due),
            wide_channel_receive(&wide, &self->value)));
        sum = dz_select_winner(&self->select);
        await(dz_timer_at(&self->other, due));
        done = true;
    }
    return DZ_READY;
}

/* Lets timers come and go, for the interrupt or in spite of it: later ones, an
 * earlier one, one in the middle. */
static enum dz_poll juggler_poll(struct timing *self)
{
    async (self) {
        await(dz_select2(&self->select,
            dz_select2(&self->inner, dz_timer_at(&self->timer, later),
                dz_timer_at(&self->other, earlier)),
            dz_yield_poll()));
        await(dz_select2(&self->select, dz_timer_at(&self->timer, earlier),
            dz_yield_poll()));
        await(dz_timer_at(&self->third, due));
        self->value = 1;
    }
    return DZ_READY;
}

struct cancelled {
    struct dz_task task;
    struct dz_deadline deadline;
    struct dz_cancellation cancellation;
    struct dz_guard guard;
    struct dz_select2 select;
    struct dz_timer timer;
    int value;
};

static int begun, left, dropped; /* bodies of cancelled tasks */

static void note_dropped(struct dz_guard *guard)
{
    (void)guard;
    dropped++;
}

/* Holds something while it waits, for several things and for one. */
static enum dz_poll cancelled_poll(struct cancelled *self)
{
    async (self) {
        begun++;
        dz_guard_enter(&self->guard, note_dropped);
        await(dz_select2(&self->select, dz_timer_at(&self->timer, due),
            wide_channel_receive(&wide, &self->value)));
        received += dz_select_winner(&self->select) == 1;
        await(narrow_channel_send(&narrow, &one));
        dz_guard_leave(&self->guard);
        left++;
    }
    return DZ_READY;
}

DZ_TASK_POOL_WITH(cancelleds, struct cancelled, cancelled_poll, 1,
    DZ_WITH_DEADLINE(struct cancelled), DZ_WITH_CANCELLATION(struct cancelled))
DZ_TASK_POOL_DEADLINE(timings, struct timing, timing_poll, 2)
DZ_TASK_POOL_DEADLINE(timed_receivers, struct timing, timed_receiver_poll, 1)
DZ_TASK_POOL_DEADLINE(jugglers, struct timing, juggler_poll, 2)
DZ_TASK_POOL_DEADLINE(wide_receivers, struct receiver, wide_receiver_poll, 1)
DZ_TASK_POOL_DEADLINE(slot_receivers, struct receiver, slot_receiver_poll, 1)
DZ_TASK_POOL_DEADLINE(
    signal_receivers, struct receiver, signal_receiver_poll, 1)
DZ_TASK_POOL_DEADLINE(wide_senders, struct sender, wide_sender_poll, 1)
DZ_TASK_POOL_DEADLINE(narrow_senders, struct sender, narrow_sender_poll, 1)
DZ_TASK_POOL_DEADLINE(briefs, struct brief, brief_poll, 2)
DZ_TASK_POOL_DEADLINE(selectings, struct selecting, selecting_poll, 1)
DZ_TASK_POOL_DEADLINE(reverseds, struct selecting, reversed_poll, 1)
DZ_TASK_POOL_DEADLINE(watchings, struct watching, watching_poll, 2)

/* -- What waits for primitives with lines of their own, once or several times.
 */

DZ_EVENT_FLAGS_DEFINE(both_flags, DZ_CRITICAL_SECTION)
DZ_MUTEX_DEFINE(bus_mutex, int, DZ_CRITICAL_SECTION)
DZ_PIPE_DEFINE(byte_pipe, 4, DZ_CRITICAL_SECTION)
DZ_PUBSUB_DEFINE(news_pubsub, int, 4, DZ_CRITICAL_SECTION)
DZ_RWLOCK_DEFINE(route_lock, int, DZ_CRITICAL_SECTION)
DZ_SEMAPHORE_DEFINE(pair_permits, 0, DZ_CRITICAL_SECTION)
DZ_WATCH_DEFINE(level_watch, int, DZ_CRITICAL_SECTION)

static struct objects {
    struct both_flags flags;
    struct bus_mutex mutex;
    struct byte_pipe pipe;
    struct news_pubsub pubsub;
    struct route_lock lock;
    struct pair_permits permits;
    struct level_watch watch;
} objects;

struct queued {
    struct dz_task task;
    struct dz_deadline deadline;
    const struct queued_work *work;
    struct dz_select2 select;
    struct level_watch_receiver receiver;
    struct news_pubsub_subscriber subscriber;
    const int *locked;
    int *written;
    uint32_t flags;
    uint8_t bytes[3];
    size_t progress;
    int value;
    int turn;
};

struct queued_work {
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
            received++;
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL_DEADLINE(queueds, struct queued, queued_poll, 3)

static void initialise_executor(void)
{
    if (kind == FIFO)
        dz_executor_init(&executor, "struck");
    else if (kind == PRIORITY)
        dz_executor_init_priority(&executor, &priority_queue, "struck");
    else
        dz_executor_init_deadline(&executor, &deadline_queue, "struck");
}

static void clear_all(void)
{
    memset(&narrow, 0, sizeof(narrow));
    memset(&wide, 0, sizeof(wide));
    memset(&slot, 0, sizeof(slot));
    memset(&latest, 0, sizeof(latest));
    memset(&waker, 0, sizeof(waker));
    memset(wide_receivers_slots, 0, sizeof(wide_receivers_slots));
    memset(slot_receivers_slots, 0, sizeof(slot_receivers_slots));
    memset(signal_receivers_slots, 0, sizeof(signal_receivers_slots));
    memset(wide_senders_slots, 0, sizeof(wide_senders_slots));
    memset(narrow_senders_slots, 0, sizeof(narrow_senders_slots));
    memset(briefs_slots, 0, sizeof(briefs_slots));
    memset(selectings_slots, 0, sizeof(selectings_slots));
    memset(reverseds_slots, 0, sizeof(reverseds_slots));
    memset(watchings_slots, 0, sizeof(watchings_slots));
    memset(timings_slots, 0, sizeof(timings_slots));
    memset(timed_receivers_slots, 0, sizeof(timed_receivers_slots));
    memset(jugglers_slots, 0, sizeof(jugglers_slots));
    memset(cancelleds_slots, 0, sizeof(cancelleds_slots));
    memset(queueds_slots, 0, sizeof(queueds_slots));
    memset(&objects, 0, sizeof(objects));
    begun = 0;
    left = 0;
    dropped = 0;
    dz_local = (struct dz_local)DZ_LOCAL_INITIAL;
    initialise_executor();
    dz_executor_init(&other, "other");
    done = false;
    received = 0;
    sum = 0;
}

static struct dz_task *spawn(
    struct dz_executor *where, const struct dz_pool *pool)
{
    struct dz_task *task = dz_pool_claim(pool);

    must(task != NULL);
    dz_executor_spawn(where, task);
    return task;
}

static void spawn_receiver(const struct dz_pool *pool, int wanted)
{
    struct receiver *receiver = dz_pool_claim(pool);

    receiver->wanted = wanted;
    dz_executor_spawn(&executor, &receiver->task);
}

static void run_until_done(void)
{
    dz_executor_run_until(&executor, &done);
    strike_at_last();
}

/* As an interrupt executor is run: polled once for each pend. */
static void poll_while_pended(void)
{
    for (int turn = 0; turn < 2; turn++) {
        while (dz_port_core.event != 0) {
            dz_port_core.event = 0;
            dz_executor_poll(&executor);
        }
        strike_at_last();
    }
}

static void nothing_is_left(void)
{
    must(!dz_executor_is_ready(&executor) || dz_port_core.event != 0);
    must(wide.channel.items.first == NULL);
    must(narrow.channel.items.first == NULL);
    must(wide.channel.slots.first == NULL);
}

/* -- A wake-up at every point of the run loop, on the way to sleep. */

static void prepare_receiving(void)
{
    clear_all();
    spawn_receiver(&wide_receivers, 2);
    spawn(&executor, &wide_senders);
}

static void send_two(void)
{
    must(wide_channel_try_send(&wide, &two));
}

static void both_were_received(void)
{
    must(done && received == 2 && sum == 3);
    nothing_is_left();
}

static const struct strike run_loop = {"run loop", prepare_receiving,
    run_until_done, send_two, both_were_received};

static const struct strike polled = {"polled", prepare_receiving,
    poll_while_pended, send_two, both_were_received};

static void prepare_slot(void)
{
    clear_all();
    spawn_receiver(&slot_receivers, 2);
    must(slot_channel_try_send(&slot, &one));
}

static void send_two_to_slot(void)
{
    must(slot_channel_try_send(&slot, &two));
}

static void both_came_through_the_slot(void)
{
    must(done && received == 2 && sum == 3);
}

static const struct strike single_slot = {"single slot", prepare_slot,
    run_until_done, send_two_to_slot, both_came_through_the_slot};

static void prepare_signal(void)
{
    clear_all();
    spawn_receiver(&signal_receivers, 1);
}

static void send_signal(void)
{
    int_signal_send(&latest, 2);
}

static void signal_was_received(void)
{
    must(done && sum == 2);
}

static const struct strike signalled = {
    "signal", prepare_signal, run_until_done, send_signal, signal_was_received};

static void prepare_watching(void)
{
    clear_all();
    spawn(&executor, &watchings);
}

static void set_and_wake(void)
{
    sum = 1;
    dz_atomic_waker_wake(&waker);
}

static void was_woken(void)
{
    must(done);
}

static const struct strike atomic_waker = {
    "atomic waker", prepare_watching, run_until_done, set_and_wake, was_woken};

/* -- A task ends, its wake-up pending; the interrupt takes the slot. */

static struct dz_task *from_handler;

static void prepare_ending(void)
{
    clear_all();
    from_handler = NULL;
    spawn(&executor, &briefs);
    spawn(&executor, &briefs);
    spawn(&executor, &wide_senders);
}

static void spawn_in_a_free_slot(void)
{
    from_handler = dz_pool_claim(&briefs);
    if (from_handler != NULL)
        dz_executor_spawn(&other, from_handler);
}

static void poll_to_the_end(void)
{
    for (int i = 0; i < 4; i++)
        dz_executor_poll(&executor);
    strike_at_last();
    dz_executor_poll(&other);
}

static void all_have_run_and_are_free(void)
{
    must(from_handler != NULL || received == 2);
    must(from_handler == NULL || received == 3);
    must(!dz_executor_is_ready(&other));
    for (int i = 0; i < 2; i++)
        must(briefs_slots[i].task.pool == NULL);
    must(!dz_executor_is_ready(&executor));
}

static const struct strike ending = {"ending", prepare_ending, poll_to_the_end,
    spawn_in_a_free_slot, all_have_run_and_are_free};

/* -- The interrupt wakes the task that is ending. */

static void wake_brief(void)
{
    dz_task_wake(&briefs_slots[0].task);
    dz_task_wake(&wide_senders_slots[0].task);
}

static void both_have_run(void)
{
    must(received == 2);
    must(!dz_executor_is_ready(&executor));
    must(wide_senders_slots[0].task.pool == NULL);
}

static void poll_often(void)
{
    for (int i = 0; i < 6; i++)
        dz_executor_poll(&executor);
    strike_at_last();
    for (int i = 0; i < 3; i++)
        dz_executor_poll(&executor);
}

static const struct strike woken_at_its_end = {
    "woken at its end", prepare_ending, poll_often, wake_brief, both_have_run};

/* -- A task ends with its wake-up pending, alone in the queue; the interrupt
 * wakes one behind it. */

static void prepare_ending_alone(void)
{
    clear_all();
    spawn_receiver(&wide_receivers, 1);
    dz_executor_poll(&executor);
    spawn(&executor, &briefs);
}

static void the_other_has_run(void)
{
    must(done && sum == 2 && received == 2);
    nothing_is_left();
}

static const struct strike ending_alone = {"ending alone", prepare_ending_alone,
    poll_often, send_two, the_other_has_run};

/* -- Two claims of the same slots. */

static struct dz_task *claimed[2];

static void prepare_claims(void)
{
    clear_all();
    claimed[0] = NULL;
    claimed[1] = NULL;
}

static void claim_first(void)
{
    claimed[0] = dz_pool_claim(&briefs);
    strike_at_last();
}

static void claim_second(void)
{
    claimed[1] = dz_pool_claim(&briefs);
}

static void they_are_two(void)
{
    must(claimed[0] != NULL && claimed[1] != NULL);
    must(claimed[0] != claimed[1]);
    for (int i = 0; i < 2; i++) {
        must(claimed[i]->pool == &briefs);
        must(claimed[i]->waiter.task == claimed[i]);
    }
}

static const struct strike claims = {
    "claims", prepare_claims, claim_first, claim_second, they_are_two};

/* -- A select, of which the interrupt feeds the one branch, a task the other.
 */

static void prepare_select(void)
{
    clear_all();
    spawn(&executor, &selectings);
    spawn(&executor, &wide_senders);
}

static void send_narrow(void)
{
    must(narrow_channel_try_send(&narrow, &two));
}

static void one_was_taken_and_one_is_left(void)
{
    must(done && received == 1);
    must(wide_channel_len(&wide) + narrow_channel_len(&narrow) == 1);
    must(wide.channel.items.first == NULL);
    must(narrow.channel.items.first == NULL);
}

static const struct strike selected = {"select", prepare_select, poll_often,
    send_narrow, one_was_taken_and_one_is_left};

/* -- Both branches are granted; the loser passes its own on, and the interrupt
 * takes it, if it is there. */

static void prepare_passing_on(void)
{
    clear_all();
    spawn(&executor, &selectings);
    dz_executor_poll(&executor);
    send_narrow();
    send_two();
}

static void take_narrow(void)
{
    int value;

    sum += narrow_channel_try_receive(&narrow, &value);
}

static void nothing_was_lost(void)
{
    must(done && received == 1);
    must(wide_channel_is_empty(&wide));
    must(narrow_channel_len(&narrow) + (unsigned)sum == 1);
    must(narrow_channel_free(&narrow) == (unsigned)sum);
    must(narrow.channel.items.first == NULL);
}

static const struct strike passing_on = {"passing on", prepare_passing_on,
    poll_often, take_narrow, nothing_was_lost};

/* -- Likewise, and the interrupt sends one more. */

static void prepare_giving_back(void)
{
    clear_all();
    spawn(&executor, &reverseds);
    dz_executor_poll(&executor);
    send_narrow();
    send_two();
}

static void two_are_there(void)
{
    must(done && received == 1);
    must(wide_channel_len(&wide) == 2 && wide_channel_free(&wide) == 2);
    must(narrow_channel_is_empty(&narrow));
}

static const struct strike giving_back = {
    "giving back", prepare_giving_back, poll_often, send_two, two_are_there};

/* -- A sender waits for room that the interrupt makes. */

static void prepare_full(void)
{
    clear_all();
    spawn(&executor, &narrow_senders);
}

static void take_one(void)
{
    int value;

    if (narrow_channel_try_receive(&narrow, &value))
        received++;
}

static void take_the_others(void)
{
    for (int i = 0; i < 6; i++) {
        dz_executor_poll(&executor);
        take_one();
    }
    strike_at_last();
}

static void three_were_taken(void)
{
    must(received == 3);
    must(narrow.channel.slots.first == NULL);
    must(narrow_channel_free(&narrow) == 1);
}

static const struct strike room = {
    "room", prepare_full, take_the_others, take_one, three_were_taken};

/* -- The interrupt changes the place of a task in the queue, of one that ends,
 * and of one that waits. */

static void change(struct dz_task *task)
{
    if (task->pool == NULL)
        return;
    dz_task_set_priority(task, 63 - dz_task_priority(task));
    dz_task_set_deadline(task, dz_task_deadline(task) / 2);
}

static void prepare_changing(void)
{
    prepare_ending();
    spawn_receiver(&wide_receivers, 1);
}

static void change_all(void)
{
    change(&briefs_slots[0].task);
    change(&briefs_slots[1].task);
    change(&wide_senders_slots[0].task);
    change(&wide_receivers_slots[0].task);
}

static void all_have_run(void)
{
    must(done && received == 3 && sum == 1);
    must(wide_senders_slots[0].task.pool == NULL);
    nothing_is_left();
}

static const struct strike changing = {
    "changing", prepare_changing, poll_often, change_all, all_have_run};

/* -- Likewise, and the interrupt wakes. */

static void change_often(void)
{
    for (int i = 0; i < 3; i++)
        change_all();
    poll_often();
}

static void wake_and_change(void)
{
    wake_brief();
    change_all();
}

static const struct strike changed_twice = {"changed twice", prepare_changing,
    change_often, wake_and_change, all_have_run};

/* -- E8: the interrupt looks at a deadline that is being changed. (Where 64
 * bits are one access, it sees nothing torn whatever the code does.) */

static const uint64_t nearly = 0xffffffff;
static const uint64_t beyond = 0x100000000;
static uint64_t seen;

static void prepare_deadline(void)
{
    clear_all();
    spawn(&executor, &briefs);
    dz_task_set_deadline(&briefs_slots[0].task, nearly);
}

static void change_deadline(void)
{
    dz_task_set_deadline(&briefs_slots[0].task, beyond);
    strike_at_last();
}

static void see_deadline(void)
{
    seen = dz_task_deadline(&briefs_slots[0].task);
}

static void it_was_whole(void)
{
    must(seen == nearly || seen == beyond);
}

static const struct strike looked_at = {
    "looked at", prepare_deadline, change_deadline, see_deadline, it_was_whole};

/* -- The alarm, around two waits for it. */

static void prepare_timing(void)
{
    clear_all();
    spawn(&executor, &timings);
}

static void let_alarm_come(void)
{
    strike_time = due.ticks;
    dz_timers_expire();
}

static void no_timer_is_left(void)
{
    must(dz_local.timers.root == NULL);
    must(strike_alarm == UINT64_MAX);
}

static void both_have_come(void)
{
    must(done && received == 2);
    no_timer_is_left();
}

static const struct strike timed = {
    "timer", prepare_timing, run_until_done, let_alarm_come, both_have_come};

/* -- The alarm is late, and another one begins to wait for the same instant. */

static void prepare_late_alarm(void)
{
    clear_all();
    spawn(&executor, &timings);
    dz_executor_poll(&executor);
    strike_time = due.ticks;
}

static void wait_behind(void)
{
    spawn(&executor, &timings);
    poll_often();
}

static void all_four_have_come(void)
{
    must(received == 4);
    no_timer_is_left();
}

static const struct strike late_alarm = {"late alarm", prepare_late_alarm,
    wait_behind, let_alarm_come, all_four_have_come};

/* -- The alarm, while its timer is cancelled. */

static void prepare_timed_receiver(void)
{
    clear_all();
    spawn(&executor, &timed_receivers);
    spawn(&executor, &wide_senders);
}

static void one_has_come(void)
{
    must(done);
    must(wide_channel_len(&wide) == (sum == 0 ? 1 : 0));
    no_timer_is_left();
    nothing_is_left();
}

static const struct strike timer_cancelled = {"timer cancelled",
    prepare_timed_receiver, run_until_done, let_alarm_come, one_has_come};

/* -- Two executors and one queue. The interrupt is above the other one. */

static void prepare_jugglers(void)
{
    clear_all();
    spawn(&executor, &jugglers);
    spawn(&other, &jugglers);
}

static void poll_other(void)
{
    for (int i = 0; i < 4; i++)
        dz_executor_poll(&other);
}

static void both_wait_until_they_are_due(void)
{
    must(dz_local.timers.count == 2 && strike_alarm == due.ticks);
    must(jugglers_slots[0].value == 0 && jugglers_slots[1].value == 0);
    let_alarm_come();
    dz_executor_poll(&executor);
    dz_executor_poll(&other);
    must(jugglers_slots[0].value == 1 && jugglers_slots[1].value == 1);
    no_timer_is_left();
}

static const struct strike juggled = {"two executors' timers", prepare_jugglers,
    poll_often, poll_other, both_wait_until_they_are_due};

/* -- Two executors and one atomic waker: who is displaced is woken. */

static void prepare_rivals(void)
{
    prepare_watching();
    spawn(&other, &watchings);
}

static void nobody_was_forgotten(void)
{
    set_and_wake();
    for (int i = 0; i < 2; i++) {
        dz_executor_poll(&executor);
        dz_executor_poll(&other);
    }
    must(watchings_slots[0].task.pool == NULL);
    must(watchings_slots[1].task.pool == NULL);
}

static const struct strike rivals = {"two executors' waker", prepare_rivals,
    poll_often, poll_other, nobody_was_forgotten};

/* -- Likewise, while the one that is registered is woken. */

static void prepare_woken_rival(void)
{
    prepare_rivals();
    dz_executor_poll(&executor);
}

static void wake_watching(void)
{
    dz_atomic_waker_wake(&waker);
    strike_at_last();
}

static const struct strike woken_rival = {"waker that wakes",
    prepare_woken_rival, wake_watching, poll_other, nobody_was_forgotten};

/* -- Something more urgent preempts the alarm's interrupt. */

static void prepare_expiring(void)
{
    prepare_late_alarm();
    spawn(&executor, &timings);
    dz_executor_poll(&executor);
    spawn(&other, &jugglers);
}

static void expire_and_poll(void)
{
    dz_timers_expire();
    poll_often();
}

static void all_have_come(void)
{
    poll_other();
    must(received == 4 && jugglers_slots[0].value == 1);
    no_timer_is_left();
}

static const struct strike expiring = {
    "expiring", prepare_expiring, expire_and_poll, poll_other, all_have_come};

/* -- The interrupt cancels a task, which ends then if it has not ended yet. */

static void prepare_cancelled(void)
{
    clear_all();
    spawn(&executor, &cancelleds);
    spawn(&executor, &wide_senders);
}

static void cancel(void)
{
    dz_task_cancel(&cancelleds_slots[0].task);
}

/* What was sent was received or is there still. */
static void it_ended_once_and_holds_nothing(void)
{
    must(cancelleds_slots[0].task.pool == NULL);
    must(begun <= 1 && begun == left + dropped);
    must((int)wide_channel_len(&wide) == 1 - received);
    must((int)wide_channel_free(&wide) == 3 + received);
    must((int)narrow_channel_len(&narrow) == left);
    must(narrow.channel.slots.first == NULL);
    no_timer_is_left();
    nothing_is_left();
}

static const struct strike cancelled = {"cancelled", prepare_cancelled,
    poll_often, cancel, it_ended_once_and_holds_nothing};

/* -- Likewise, when it waits for room that nobody makes. */

static void prepare_cancelled_in_vain(void)
{
    prepare_cancelled();
    must(narrow_channel_try_send(&narrow, &two));
}

static void it_ended_without_having_sent(void)
{
    int value;

    must(left == 0);
    must(narrow_channel_try_receive(&narrow, &value) && value == two);
    it_ended_once_and_holds_nothing();
}

static const struct strike cancelled_in_vain = {"cancelled in vain",
    prepare_cancelled_in_vain, poll_often, cancel,
    it_ended_without_having_sent};

/* -- The alarm, or what it waits for, while it is cancelled. */

static void prepare_cancelling(void)
{
    clear_all();
    spawn(&executor, &cancelleds);
    dz_executor_poll(&executor);
}

static void cancel_and_poll(void)
{
    cancel();
    poll_often();
    must(wide_channel_try_send(&wide, &one));
}

static void it_was_dropped(void)
{
    must(dropped == 1);
    it_ended_once_and_holds_nothing();
}

static const struct strike cancelled_when_due = {"cancelled when due",
    prepare_cancelling, cancel_and_poll, let_alarm_come, it_was_dropped};

static void prepare_cancelling_served(void)
{
    prepare_cancelling();
    must(wide_channel_try_send(&wide, &one));
}

static void cancel_served(void)
{
    cancel();
    poll_often();
}

static void take_wide(void)
{
    int value;

    received += wide_channel_try_receive(&wide, &value);
}

static const struct strike cancelled_when_served = {"cancelled when served",
    prepare_cancelling_served, cancel_served, take_wide, it_was_dropped};

/* -- A line at each primitive, and the interrupt lets it go on. */

/* Each of several has its turn behind the others. */
static void poll_long(void)
{
    poll_often();
    for (int i = 0; i < 6; i++)
        dz_executor_poll(&executor);
}

static struct queued *spawn_queued(const struct queued_work *work)
{
    struct queued *queued = dz_pool_claim(&queueds);

    queued->work = work;
    queued->receiver = level_watch_receiver(&objects.watch);
    dz_executor_spawn(&executor, &queued->task);
    return queued;
}

static void sum_value(struct queued *self)
{
    sum += self->value;
}

static enum dz_poll read_wait(struct queued *self)
{
    return route_lock_read(&objects.lock, &self->locked);
}

static void end_reading(struct queued *self)
{
    (void)self;
    route_lock_unlock_read(&objects.lock);
}

static enum dz_poll write_wait(struct queued *self)
{
    return route_lock_write(&objects.lock, &self->written);
}

static void end_writing(struct queued *self)
{
    must(++*self->written == ++sum);
    route_lock_unlock_write(&objects.lock);
}

static const struct queued_work reading = {read_wait, end_reading, 2};
static const struct queued_work writing = {write_wait, end_writing, 1};

static void prepare_rwlock(void)
{
    clear_all();
    spawn_queued(&reading);
    spawn_queued(&writing);
    spawn_queued(&reading);
}

static const int *kept; /* what the interrupt reads, for a while */

static void try_to_write(void)
{
    int *value = route_lock_try_write(&objects.lock);

    if (value == NULL) {
        kept = route_lock_try_read(&objects.lock);
        return;
    }
    must(++*value == ++sum);
    route_lock_unlock_write(&objects.lock);
}

static void read_and_write(void)
{
    poll_often();
    if (kept != NULL)
        route_lock_unlock_read(&objects.lock);
    kept = NULL;
    poll_often();
}

static void prepare_written(void)
{
    prepare_rwlock();
    must(route_lock_try_write(&objects.lock) != NULL);
}

static void unlock_written(void)
{
    route_lock_unlock_write(&objects.lock);
}

static void all_have_locked(void)
{
    int before = sum;

    must(received == 5);
    try_to_write();
    must(sum == before + 1);
}

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
    if (dz_select_winner(&self->select) == 0)
        pair_permits_release(&objects.permits, 2);
}

static const struct queued_work pair = {pair_wait, sum_value, 1};
static const struct queued_work permit = {permit_wait, sum_value, 1};
static const struct queued_work impatient = {impatient_wait, give_pair_back, 2};

static void prepare_permits(void)
{
    clear_all();
    spawn_queued(&pair);
    spawn_queued(&permit);
}

static void prepare_impatient(void)
{
    clear_all();
    spawn_queued(&impatient);
    spawn_queued(&permit);
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
    must(received == 2);
    must(pair_permits_free(&objects.permits) == 0);
}

static void two_permits_are_left(void)
{
    must(received == 3);
    must(pair_permits_free(&objects.permits) == 2);
}

static enum dz_poll flags_wait(struct queued *self)
{
    return both_flags_take_all(&objects.flags, 3, &self->flags);
}

static void sum_flags(struct queued *self)
{
    sum += (int)self->flags;
}

static const struct queued_work flagged = {flags_wait, sum_flags, 1};

static void prepare_flags(void)
{
    clear_all();
    spawn_queued(&flagged);
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
    must(received == 1 && sum == 3);
    must(both_flags_now(&objects.flags) == 0);
}

static enum dz_poll level_wait(struct queued *self)
{
    return level_watch_receiver_changed(&self->receiver, &self->value);
}

static const struct queued_work level = {level_wait, sum_value, 1};

static void prepare_watch(void)
{
    clear_all();
    for (int i = 0; i < 3; i++)
        spawn_queued(&level);
}

static void send_level(void)
{
    level_watch_send(&objects.watch, 2);
}

static void wait_and_send(void)
{
    dz_executor_poll(&executor);
    level_watch_send(&objects.watch, 1);
    poll_often();
}

/* Each the one that was the latest when it ran. */
static void three_have_seen_one(void)
{
    must(received == 3 && sum >= 3 && sum <= 6);
}

static enum dz_poll news_wait(struct queued *self)
{
    return news_pubsub_next(&self->subscriber, &self->value);
}

static const struct queued_work news = {news_wait, sum_value, 2};

static void prepare_pubsub(void)
{
    clear_all();
    for (int i = 0; i < 2; i++)
        news_pubsub_subscribe(
            &objects.pubsub, &spawn_queued(&news)->subscriber);
}

static void publish_one(void)
{
    must(news_pubsub_try_publish(&objects.pubsub, &one));
    poll_often();
}

static void publish_two(void)
{
    news_pubsub_publish_immediate(&objects.pubsub, &two);
}

static void two_have_read_both(void)
{
    must(received == 4 && sum == 6);
    must(news_pubsub_is_empty(&objects.pubsub));
}

static enum dz_poll mutex_wait(struct queued *self)
{
    return bus_mutex_lock(&objects.mutex, &self->written);
}

static void unlock_mutex(struct queued *self)
{
    must(++*self->written == ++sum);
    bus_mutex_unlock(&objects.mutex);
}

static const struct queued_work locking = {mutex_wait, unlock_mutex, 1};

static void prepare_mutex(void)
{
    clear_all();
    for (int i = 0; i < 3; i++)
        spawn_queued(&locking);
    must(bus_mutex_try_lock(&objects.mutex) != NULL);
}

static void unlock_for_others(void)
{
    bus_mutex_unlock(&objects.mutex);
}

static void three_had_the_mutex(void)
{
    must(received == 3 && sum == 3);
    must(bus_mutex_try_lock(&objects.mutex) != NULL);
}

static enum dz_poll pipe_wait(struct queued *self)
{
    return byte_pipe_read_exact(
        &objects.pipe, self->bytes, sizeof(self->bytes), &self->progress);
}

/* Those of each write come together. */
static void look_at_bytes(struct queued *self)
{
    must(memcmp(self->bytes, "abc", 3) == 0 ||
        memcmp(self->bytes, "bca", 3) == 0);
}

static const struct queued_work piped = {pipe_wait, look_at_bytes, 1};

static void prepare_pipe(void)
{
    clear_all();
    spawn_queued(&piped);
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
    must(received == 1 && byte_pipe_is_empty(&objects.pipe));
}

static const struct strike lines[] = {
    {"rwlock", prepare_rwlock, read_and_write, try_to_write, all_have_locked},
    {"unlocked rwlock", prepare_written, poll_long, unlock_written,
        all_have_locked},
    {"semaphore", prepare_permits, release_one, release_twice,
        permits_are_taken},
    {"impatient", prepare_impatient, release_one, release_twice,
        two_permits_are_left},
    {"event flags", prepare_flags, set_one, set_two, both_flags_were_taken},
    {"watch", prepare_watch, wait_and_send, send_level, three_have_seen_one},
    {"pubsub", prepare_pubsub, publish_one, publish_two, two_have_read_both},
    {"mutex", prepare_mutex, poll_long, unlock_for_others, three_had_the_mutex},
    {"pipe", prepare_pipe, write_one, write_two, three_bytes_were_read},
};

static void holds_with_an_interrupt_before_every_access(void **state)
{
    static const struct strike *const all[] = {&run_loop, &polled, &single_slot,
        &signalled, &atomic_waker, &ending, &woken_at_its_end, &ending_alone,
        &claims, &selected, &passing_on, &giving_back, &room, &changing,
        &changed_twice, &looked_at, &timed, &late_alarm, &expiring,
        &timer_cancelled, &juggled, &rivals, &woken_rival, &cancelled,
        &cancelled_in_vain, &cancelled_when_due, &cancelled_when_served};
    static const char *const names[] = {"FIFO", "priority", "deadline"};
    unsigned long accesses = 0;

    (void)state;
    for (kind = FIFO; kind <= DEADLINE; kind++) {
        print_message("%s\n", names[kind]);
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
            accesses += strike_everywhere(all[i]);
        for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
            accesses += strike_everywhere(&lines[i]);
    }
    print_message("%lu positions\n", accesses);
    /* The sources were compiled for it. (With gcc 12: 37542.) */
    assert_true(accesses > 25000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_with_an_interrupt_before_every_access),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
