/* SPDX-License-Identifier: MIT */

/*
 * contended -- how often several tasks that want the same thing are woken
 *
 * Each takes what it wants, and, where that is a lock, yields while it has it
 * and gives it back. What comes from outside comes as soon as the last one was
 * taken. One round is one operation that is complete. Compiled once for each
 * policy:
 *
 *     CONTENDED_POLICY   DZ_QUEUE or DZ_SINGLE_SLOT
 *     CONTENDED_SUFFIX   queue or single_slot
 *
 * With queues, each operation takes one wake-up and one poll, and one more of
 * each where a lock is held across a yield, or a call first waits for its turn.
 */

#include <stdlib.h>
#include <string.h>

#include "bench/count.h"
#include "bench/experiments.h"
#include "doze.h"

enum { WORKERS = 4 };

static bool is_less(const uint32_t *one, const uint32_t *other)
{
    return *one < *other;
}

DZ_CHANNEL_DEFINE_POLICY(
    a_channel, uint32_t, 1, DZ_CRITICAL_SECTION, CONTENDED_POLICY)
DZ_EVENT_FLAGS_DEFINE_POLICY(
    a_event_flags, DZ_CRITICAL_SECTION, CONTENDED_POLICY)
DZ_MUTEX_DEFINE_POLICY(a_mutex, uint32_t, DZ_CRITICAL_SECTION, CONTENDED_POLICY)
DZ_PIPE_DEFINE_POLICY(a_pipe, 4, DZ_CRITICAL_SECTION, CONTENDED_POLICY)
DZ_PRIORITY_CHANNEL_DEFINE_POLICY(a_priority_channel, uint32_t, 1, is_less,
    DZ_CRITICAL_SECTION, CONTENDED_POLICY)
DZ_PUBSUB_DEFINE_POLICY(
    a_pubsub, uint32_t, 1, DZ_CRITICAL_SECTION, CONTENDED_POLICY)
DZ_RPC_DEFINE_POLICY(
    a_rpc, uint32_t, uint32_t, DZ_CRITICAL_SECTION, CONTENDED_POLICY)
DZ_RWLOCK_DEFINE_POLICY(
    a_rwlock, uint32_t, DZ_CRITICAL_SECTION, CONTENDED_POLICY)
DZ_SEMAPHORE_DEFINE_POLICY(
    a_semaphore, 1, DZ_CRITICAL_SECTION, CONTENDED_POLICY, DZ_IN_ORDER)
DZ_SIGNAL_DEFINE_POLICY(
    a_signal, uint32_t, DZ_CRITICAL_SECTION, CONTENDED_POLICY)
DZ_WATCH_DEFINE_POLICY(a_watch, uint32_t, DZ_CRITICAL_SECTION, CONTENDED_POLICY)
DZ_ZEROCOPY_DEFINE_POLICY(
    a_zerocopy, uint32_t, 1, DZ_CRITICAL_SECTION, CONTENDED_POLICY)

static struct a_channel channel;
static struct a_event_flags event_flags;
static struct a_mutex mutex;
static struct a_pipe pipe_;
static struct a_priority_channel priority_channel;
static struct a_pubsub pubsub;
static struct a_rpc rpc;
static struct a_rwlock rwlock;
static struct a_semaphore semaphore;
static struct a_signal signal_;
static struct a_watch watch;
static struct a_zerocopy zerocopy;

struct worker {
    struct dz_task task;
    uint32_t value;
    uint32_t *locked;
    size_t len;
    struct a_watch_receiver receiver;
    struct a_pubsub_subscriber subscriber;
};

/* What they want. */
struct want {
    void *object;
    size_t size; /* of the object */
    enum dz_poll (*take)(struct worker *self);
    void (*give_back)(void); /* NULL: it is used up */
    void (*offer)(void);     /* from outside; NULL: nothing */
    unsigned takers;         /* of what is offered once; 0: it is not offered */
};

static const struct want *want;
static uint64_t taken;

static enum dz_poll worker_poll(struct worker *self)
{
    async (self) {
        for (;;) {
            await(want->take(self));
            taken++;
            if (want->give_back == NULL)
                continue;
            await(dz_yield_poll());
            want->give_back();
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(workers, struct worker, worker_poll, WORKERS)

static struct dz_executor executor;

/* Tasks that never end are simply forgotten, with what they have: so all begins
 * anew. */
static void start(const struct want *what)
{
    want = what;
    taken = 0;
    memset(want->object, 0, want->size);
    memset(workers_slots, 0, sizeof(workers_slots));
    dz_executor_init(&executor, "contended");
    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *worker;

        if (workers_claim(&worker) == DZ_BUSY)
            abort();
        dz_executor_spawn(&executor, &worker->task);
    }
    dz_executor_poll(&executor);
}

static void contend(struct bench_run *run, const struct want *what)
{
    uint64_t offered = 0;

    start(what);
    taken = 0;
    count_begin();
    while (taken < run->rounds) {
        if (want->offer != NULL && offered == taken) {
            want->offer();
            offered += want->takers;
        }
        dz_executor_poll(&executor);
    }
    count_end(run);
}

static const uint32_t value = 1;

static enum dz_poll channel_take(struct worker *self)
{
    return a_channel_receive(&channel, &self->value);
}

static void channel_offer(void)
{
    if (!a_channel_try_send(&channel, &value))
        abort();
}

static const struct want channel_want = {
    &channel, sizeof(channel), channel_take, NULL, channel_offer, 1};

static enum dz_poll event_flags_take(struct worker *self)
{
    return a_event_flags_take_any(&event_flags, 1, &self->value);
}

static void event_flags_offer(void)
{
    a_event_flags_set(&event_flags, 1);
}

static const struct want event_flags_want = {&event_flags, sizeof(event_flags),
    event_flags_take, NULL, event_flags_offer, 1};

static enum dz_poll mutex_take(struct worker *self)
{
    return a_mutex_lock(&mutex, &self->locked);
}

static void mutex_give_back(void)
{
    a_mutex_unlock(&mutex);
}

static const struct want mutex_want = {
    &mutex, sizeof(mutex), mutex_take, mutex_give_back, NULL, 0};

static enum dz_poll pipe_take(struct worker *self)
{
    return a_pipe_read(&pipe_, &self->value, 1, &self->len);
}

static void pipe_offer(void)
{
    if (a_pipe_try_write(&pipe_, &value, 1) != 1)
        abort();
}

static const struct want pipe_want = {
    &pipe_, sizeof(pipe_), pipe_take, NULL, pipe_offer, 1};

static enum dz_poll priority_channel_take(struct worker *self)
{
    return a_priority_channel_receive(&priority_channel, &self->value);
}

static void priority_channel_offer(void)
{
    if (!a_priority_channel_try_send(&priority_channel, &value))
        abort();
}

static const struct want priority_channel_want = {&priority_channel,
    sizeof(priority_channel), priority_channel_take, NULL,
    priority_channel_offer, 1};

/* Each message is for all of them. */
static enum dz_poll pubsub_take(struct worker *self)
{
    if (self->len == 0) {
        self->len = 1;
        a_pubsub_subscribe(&pubsub, &self->subscriber);
    }
    return a_pubsub_next(&self->subscriber, &self->value);
}

static void pubsub_offer(void)
{
    (void)a_pubsub_try_publish(&pubsub, &value);
}

static const struct want pubsub_want = {
    &pubsub, sizeof(pubsub), pubsub_take, NULL, pubsub_offer, WORKERS};

static enum dz_poll rpc_take(struct worker *self)
{
    return a_rpc_call(&rpc, &value, &self->value);
}

/* Whose turn it is may not have handed in yet. */
static void rpc_offer(void)
{
    uint32_t request;

    while (!a_rpc_try_receive(&rpc, &request))
        dz_executor_poll(&executor);
    a_rpc_reply(&rpc, &value);
}

static const struct want rpc_want = {
    &rpc, sizeof(rpc), rpc_take, NULL, rpc_offer, 1};

static enum dz_poll rwlock_take(struct worker *self)
{
    return a_rwlock_write(&rwlock, &self->locked);
}

static void rwlock_give_back(void)
{
    a_rwlock_unlock_write(&rwlock);
}

static const struct want rwlock_want = {
    &rwlock, sizeof(rwlock), rwlock_take, rwlock_give_back, NULL, 0};

static enum dz_poll semaphore_take(struct worker *self)
{
    (void)self;
    return a_semaphore_acquire(&semaphore, 1);
}

static void semaphore_give_back(void)
{
    a_semaphore_release(&semaphore, 1);
}

static const struct want semaphore_want = {&semaphore, sizeof(semaphore),
    semaphore_take, semaphore_give_back, NULL, 0};

static enum dz_poll signal_take(struct worker *self)
{
    return a_signal_wait(&signal_, &self->value);
}

static void signal_offer(void)
{
    a_signal_send(&signal_, value);
}

static const struct want signal_want = {
    &signal_, sizeof(signal_), signal_take, NULL, signal_offer, 1};

/* Each value is for all of them. */
static enum dz_poll watch_take(struct worker *self)
{
    if (self->len == 0) {
        self->len = 1;
        self->receiver = a_watch_receiver(&watch);
    }
    return a_watch_receiver_changed(&self->receiver, &self->value);
}

static void watch_offer(void)
{
    a_watch_send(&watch, value);
}

static const struct want watch_want = {
    &watch, sizeof(watch), watch_take, NULL, watch_offer, WORKERS};

static enum dz_poll zerocopy_take(struct worker *self)
{
    if (a_zerocopy_receive(&zerocopy, &self->locked) == DZ_PENDING)
        return DZ_PENDING;
    a_zerocopy_release(&zerocopy, self->locked);
    return DZ_READY;
}

static void zerocopy_offer(void)
{
    uint32_t *item = a_zerocopy_try_reserve(&zerocopy);

    if (item == NULL)
        abort();
    *item = value;
    a_zerocopy_send(&zerocopy, item);
}

static const struct want zerocopy_want = {
    &zerocopy, sizeof(zerocopy), zerocopy_take, NULL, zerocopy_offer, 1};

#define NAME_(what, suffix) count_contended_##what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)
#define DEFINE(what)                                          \
    void NAME(what, CONTENDED_SUFFIX)(struct bench_run * run) \
    {                                                         \
        contend(run, &what##_want);                           \
    }

CONTENDED(DEFINE)
