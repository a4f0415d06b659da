/* SPDX-License-Identifier: MIT */

/*
 * strike_test -- each scenario with an interrupt at each position
 *
 * On the host, this file, the executor and the primitives are compiled so that
 * sim/strike.c sees every access to memory; on the board of sim/qemu they are
 * as they are shipped. What is attacked above all are the places that do
 * without a critical section, and say why.
 */

#include "sync/strike_test.h"

#include <stdio.h>

#include "executor/cancel.h"
#include "executor/select.h"
#include "executor/timer.h"
#include "sync/channel.h"
#include "sync/waker.h"

DZ_CHANNEL_DEFINE(narrow_channel, int, 1, DZ_CRITICAL_SECTION)
DZ_CHANNEL_DEFINE(wide_channel, int, 4, DZ_CRITICAL_SECTION)

static struct narrow_channel narrow;
static struct wide_channel wide;
static struct dz_atomic_waker waker;
enum strike_kind strike_kind;
struct dz_executor executor;
struct dz_executor upper;
static struct dz_priority_queue priority_queue;
static struct dz_deadline_queue deadline_queue;
volatile bool done;
int received;
int total;

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
            total += self->value;
        }
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
        await(wide_channel_send(&wide, &value_one));
        await(dz_yield_poll());
    }
    return DZ_READY;
}

static enum dz_poll narrow_sender_poll(struct sender *self)
{
    async (self) {
        for (self->value = 0; self->value < 3; self->value++)
            await(narrow_channel_send(&narrow, &value_one));
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
    return total != 0 ? DZ_READY : DZ_PENDING;
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
        total = dz_select_winner(&self->select);
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
        await(narrow_channel_send(&narrow, &value_one));
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
DZ_TASK_POOL_DEADLINE(wide_senders, struct sender, wide_sender_poll, 1)
DZ_TASK_POOL_DEADLINE(narrow_senders, struct sender, narrow_sender_poll, 1)
DZ_TASK_POOL_DEADLINE(briefs, struct brief, brief_poll, 2)
DZ_TASK_POOL_DEADLINE(selectings, struct selecting, selecting_poll, 1)
DZ_TASK_POOL_DEADLINE(reverseds, struct selecting, reversed_poll, 1)
DZ_TASK_POOL_DEADLINE(watchings, struct watching, watching_poll, 2)

static void initialise_executor(void)
{
    if (strike_kind == STRIKE_PRIORITY)
        dz_executor_init_priority(&executor, &priority_queue, "struck");
    else if (strike_kind == STRIKE_DEADLINE)
        dz_executor_init_deadline(&executor, &deadline_queue, "struck");
    else
        dz_executor_init(&executor, "struck");
}

void begin_scenario(void)
{
    dz_local = (struct dz_local)DZ_LOCAL_INITIAL;
    initialise_executor();
    dz_executor_init(&upper, "upper");
    done = false;
    received = 0;
    total = 0;
}

static void clear_all(void)
{
    strike_clear(narrow);
    strike_clear(wide);
    strike_clear(waker);
    strike_clear(wide_receivers_slots);
    strike_clear(wide_senders_slots);
    strike_clear(narrow_senders_slots);
    strike_clear(briefs_slots);
    strike_clear(selectings_slots);
    strike_clear(reverseds_slots);
    strike_clear(watchings_slots);
    strike_clear(timings_slots);
    strike_clear(timed_receivers_slots);
    strike_clear(jugglers_slots);
    strike_clear(cancelleds_slots);
    begun = 0;
    left = 0;
    dropped = 0;
    begin_scenario();
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

void start_executor(void)
{
    if (strike_kind == STRIKE_INTERRUPT && !executor.is_started)
        strike_start(&executor);
}

void run_passes(int passes)
{
    for (; passes > 0 && !executor.is_started; passes--)
        dz_executor_poll(&executor);
}

void run_until_done(void)
{
    start_executor();
    if (!executor.is_started)
        dz_executor_run_until(&executor, &done);
    strike_at_last();
}

void poll_often(void)
{
    start_executor();
    run_passes(6);
    strike_at_last();
    run_passes(3);
}

void poll_long(void)
{
    poll_often();
    run_passes(6);
}

void poll_upper(void)
{
    for (int i = 0; i < 4; i++)
        dz_executor_poll(&upper);
}

static void nothing_is_left(void)
{
    must(!dz_executor_is_ready(&executor) || strike_is_pended());
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
    must(wide_channel_try_send(&wide, &value_two));
}

static void both_were_received(void)
{
    must(done && received == 2 && total == 3);
    nothing_is_left();
}

static const struct strike run_loop = {"run loop", prepare_receiving,
    run_until_done, send_two, both_were_received};

static void prepare_watching(void)
{
    clear_all();
    spawn(&executor, &watchings);
}

static void set_and_wake(void)
{
    total = 1;
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
        dz_executor_spawn(&upper, from_handler);
}

static void poll_to_the_end(void)
{
    start_executor();
    run_passes(4);
    strike_at_last();
    dz_executor_poll(&upper);
}

static void all_have_run_and_are_free(void)
{
    must(from_handler != NULL || received == 2);
    must(from_handler == NULL || received == 3);
    must(!dz_executor_is_ready(&upper));
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

static const struct strike woken_at_its_end = {
    "woken at its end", prepare_ending, poll_often, wake_brief, both_have_run};

/* -- A task ends with its wake-up pending, alone in the queue; the interrupt
 * wakes one behind it. */

static void prepare_ending_alone(void)
{
    clear_all();
    spawn_receiver(&wide_receivers, 1);
    run_passes(1);
    spawn(&executor, &briefs);
}

static void the_other_has_run(void)
{
    must(done && total == 2 && received == 2);
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
    must(narrow_channel_try_send(&narrow, &value_two));
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
    run_passes(1);
    send_narrow();
    send_two();
}

static void take_narrow(void)
{
    int value;

    total += narrow_channel_try_receive(&narrow, &value);
}

static void nothing_was_lost(void)
{
    must(done && received == 1);
    must(wide_channel_is_empty(&wide));
    must(narrow_channel_len(&narrow) + (unsigned)total == 1);
    must(narrow_channel_free(&narrow) == (unsigned)total);
    must(narrow.channel.items.first == NULL);
}

static const struct strike passing_on = {"passing on", prepare_passing_on,
    poll_often, take_narrow, nothing_was_lost};

/* -- Likewise, and the interrupt sends one more. */

static void prepare_giving_back(void)
{
    clear_all();
    spawn(&executor, &reverseds);
    run_passes(1);
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
    start_executor();
    for (int i = 0; i < 6; i++) {
        run_passes(1);
        take_one();
    }
    strike_at_last();
}

/* Counted apart: it comes in the middle of the other's counting, too. */
static void take_one_more(void)
{
    int value;

    if (narrow_channel_try_receive(&narrow, &value))
        total++;
}

static void three_were_taken(void)
{
    must(received + total == 3);
    must(narrow.channel.slots.first == NULL);
    must(narrow_channel_free(&narrow) == 1);
}

static const struct strike room = {
    "room", prepare_full, take_the_others, take_one_more, three_were_taken};

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
    must(done && received == 3 && total == 1);
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

/* -- And the other way round. */

static void look_at_deadline(void)
{
    see_deadline();
    strike_at_last();
}

static void set_beyond(void)
{
    dz_task_set_deadline(&briefs_slots[0].task, beyond);
}

static const struct strike changed_meanwhile = {"changed meanwhile",
    prepare_deadline, look_at_deadline, set_beyond, it_was_whole};

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
    run_passes(1);
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
    must(wide_channel_len(&wide) == (total == 0 ? 1 : 0));
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
    spawn(&upper, &jugglers);
}

static void both_wait_until_they_are_due(void)
{
    must(dz_local.timers.count == 2 && strike_alarm == due.ticks);
    must(jugglers_slots[0].value == 0 && jugglers_slots[1].value == 0);
    let_alarm_come();
    run_passes(1);
    dz_executor_poll(&upper);
    must(jugglers_slots[0].value == 1 && jugglers_slots[1].value == 1);
    no_timer_is_left();
}

static const struct strike juggled = {"two executors' timers", prepare_jugglers,
    poll_often, poll_upper, both_wait_until_they_are_due};

/* -- Two executors and one atomic waker: who is displaced is woken. */

static void prepare_rivals(void)
{
    prepare_watching();
    spawn(&upper, &watchings);
}

static void nobody_was_forgotten(void)
{
    set_and_wake();
    for (int i = 0; i < 2; i++) {
        run_passes(1);
        dz_executor_poll(&upper);
    }
    must(watchings_slots[0].task.pool == NULL);
    must(watchings_slots[1].task.pool == NULL);
}

static const struct strike rivals = {"two executors' waker", prepare_rivals,
    poll_often, poll_upper, nobody_was_forgotten};

/* -- Likewise, while the one that is registered is woken. */

static void prepare_woken_rival(void)
{
    prepare_rivals();
    run_passes(1);
}

static void wake_watching(void)
{
    start_executor();
    dz_atomic_waker_wake(&waker);
    strike_at_last();
}

static const struct strike woken_rival = {"waker that wakes",
    prepare_woken_rival, wake_watching, poll_upper, nobody_was_forgotten};

/* -- Something more urgent preempts the alarm's interrupt. */

static void prepare_expiring(void)
{
    prepare_late_alarm();
    spawn(&executor, &timings);
    run_passes(1);
    spawn(&upper, &jugglers);
}

static void expire_and_poll(void)
{
    dz_timers_expire();
    poll_often();
}

static void all_have_come(void)
{
    poll_upper();
    must(received == 4 && jugglers_slots[0].value == 1);
    no_timer_is_left();
}

static const struct strike expiring = {
    "expiring", prepare_expiring, expire_and_poll, poll_upper, all_have_come};

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
    must(narrow_channel_try_send(&narrow, &value_two));
}

static void it_ended_without_having_sent(void)
{
    int value;

    must(left == 0);
    must(narrow_channel_try_receive(&narrow, &value) && value == value_two);
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
    run_passes(1);
}

static void cancel_and_poll(void)
{
    cancel();
    poll_often();
    must(wide_channel_try_send(&wide, &value_one));
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
    must(wide_channel_try_send(&wide, &value_one));
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

static const struct strike *const executors[] = {&run_loop, &atomic_waker,
    &ending, &woken_at_its_end, &ending_alone, &claims, &selected, &passing_on,
    &giving_back, &room, &changing, &changed_twice, &looked_at,
    &changed_meanwhile, &timed, &late_alarm, &expiring, &timer_cancelled,
    &juggled, &rivals, &woken_rival, &cancelled, &cancelled_in_vain,
    &cancelled_when_due, &cancelled_when_served};

struct named {
    const char *name;
    const struct strike *all;
};

/* Without tasks. */
static const struct named operations[] = {
    {"operations of queues", strike_operations_queue},
    {"operations of single slots", strike_operations_single_slot},
    {.name = NULL},
};

static const struct named anywhere[] = {
    {"queues", strike_lines_queue},
    {"single slots", strike_lines_single_slot},
    {"noop", strike_pingpong_noop_queue},
    {"noop, single slots", strike_pingpong_noop_single_slot},
    {"critical section", strike_pingpong_critical_section_queue},
    {"critical section, single slots",
        strike_pingpong_critical_section_single_slot},
    {.name = NULL},
};

static const struct named in_thread_mode[] = {
    {"thread mode", strike_pingpong_thread_mode_queue},
    {"thread mode, single slots", strike_pingpong_thread_mode_single_slot},
    {.name = NULL},
};

static void strike_each(const char *kind, const struct named *named)
{
    for (; named->name != NULL; named++) {
        printf("-- %s, %s\n", kind, named->name);
        for (const struct strike *each = named->all; each->name != NULL; each++)
            strike_everywhere(each);
    }
}

static void strike_executors(const char *kind)
{
    printf("-- %s, executors\n", kind);
    for (size_t i = 0; i < sizeof(executors) / sizeof(executors[0]); i++)
        strike_everywhere(executors[i]);
}

int main(void)
{
    static const char *const kinds[] = {
        "FIFO", "priority", "deadline", "interrupt"};

    strike_each("no executor", operations);
    for (unsigned i = STRIKE_FIFO; i <= STRIKE_INTERRUPT; i++) {
        strike_kind = (enum strike_kind)i;
        strike_executors(kinds[i]);
        strike_each(kinds[i], anywhere);
        if (strike_kind != STRIKE_INTERRUPT)
            strike_each(kinds[i], in_thread_mode);
    }
    /* The sources were compiled for it. */
    must(strike_total() > 100000);
    return 0;
}
