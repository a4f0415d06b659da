/* SPDX-License-Identifier: MIT */
#ifndef SYNC_PRIORITY_CHANNEL_H
#define SYNC_PRIORITY_CHANNEL_H

/*
 * priority channel -- a channel whose most urgent value comes out first
 *
 * A channel (sync/channel.h) in all but the order: the same functions, the same
 * dz_sender and dz_receiver, the same promises, and remove_if. What is more
 * urgent is said by a function that is true when its first argument is to come
 * out before the second, and false among equals. The sign makes it the least or
 * the greatest that comes first:
 *
 *     struct job {
 *         unsigned due;
 *         int device;
 *     };
 *
 *     static bool is_sooner(const struct job *one, const struct job *other)
 *     {
 *         return one->due < other->due;     least first; greatest first: >
 *     }
 *
 *     DZ_PRIORITY_CHANNEL_DEFINE(job_queue, struct job, 8, is_sooner, DZ_NOOP)
 *     static struct job_queue jobs;
 *
 *     (void)job_queue_try_send(&jobs, &job);                any context
 *     await(job_queue_receive(&jobs, &self->job));          in a task
 *
 * What is guaranteed
 *  - What comes out is the most urgent of all that is there, and of equals the
 *    one that went in first. That is settled when it comes out: a receiver that
 *    was woken for one value gets a more urgent one, if that has come before it
 *    runs.
 *  - Waiting senders are served in the order in which they came, whatever they
 *    have to send, and so are waiting receivers. The order is that of what is
 *    in the channel.
 *  - clear and remove_if leave the most urgent values, as many as are promised
 *    to receivers, and let a waiting sender go on for each slot that they free.
 *  - Values do not move: they are linked in their order. Taking one takes the
 *    same time however many there are. Sending compares with those that go
 *    first, so with capacity - 1 of them at most, under the lock; where that
 *    is too long, take several channels. (A heap would need fewer comparisons,
 *    but could not keep equals in order without a number in each.)
 *
 * The two functions that the user writes, is_sooner here and remove_if's, are
 * called under the lock, with a critical section's interrupts off. They must
 * not use the channel; with DZ_CHECKS, that panics. An order that contradicts
 * itself, or changes while values are there, does no more harm than to let them
 * out in another order.
 */

#include "sync/channel.h"

/*
 * Defines `struct NAME`, a channel of at most `count` items of type `item`,
 * count from 1 to DZ_UNITS_MAX, in the order of `goes_first`, which is
 *
 *     bool goes_first(item const *one, item const *other)
 *
 * Its functions are those of DZ_CHANNEL_DEFINE, and
 *
 *   any context that the raw mutex allows
 *     unsigned NAME_remove_if(self, predicate, void *argument)
 *
 * which calls `bool predicate(item const *value, void *argument)` once for
 * each item that is not promised, the most urgent first, removes those of which
 * it is true, and returns how many these are.
 */
#define DZ_PRIORITY_CHANNEL_DEFINE(NAME, item, count, goes_first, mutex) \
    DZ_PRIORITY_CHANNEL_DEFINE_POLICY(                                   \
        NAME, item, count, goes_first, mutex, DZ_QUEUE)

/* The same with one waker slot on each side: see sync/channel.h. */
#define DZ_PRIORITY_CHANNEL_DEFINE_SINGLE_SLOT( \
    NAME, item, count, goes_first, mutex)       \
    DZ_PRIORITY_CHANNEL_DEFINE_POLICY(          \
        NAME, item, count, goes_first, mutex, DZ_SINGLE_SLOT)

#define DZ_PRIORITY_CHANNEL_DEFINE_POLICY(                                    \
    NAME, item, count, goes_first, mutex, policy)                             \
    _Static_assert((count) >= 1 && (count) + 0L <= DZ_UNITS_MAX,              \
        "a channel's capacity is from 1 to DZ_UNITS_MAX");                    \
    struct NAME {                                                             \
        struct dz_channel channel;                                            \
        DZ_OWNER                                                              \
        item items[count];                                                    \
        uint16_t links[count];                                                \
    };                                                                        \
    static bool NAME##_is_before(const void *one, const void *other)          \
    {                                                                         \
        return goes_first(one, other);                                        \
    }                                                                         \
    static const struct dz_channel_type NAME##_type = {                       \
        DZ_OBJECT(NAME, mutex, policy), count, sizeof(item), _Alignof(item),  \
        offsetof(struct NAME, items), NAME##_is_before,                       \
        offsetof(struct NAME, links)};                                        \
    DZ_CHANNEL_FUNCTIONS(NAME, item, count)                                   \
    struct NAME##_question {                                                  \
        bool (*predicate)(item const *value, void *argument);                 \
        void *argument;                                                       \
    };                                                                        \
    DZ_INLINE bool NAME##_ask(const void *value, void *argument)              \
    {                                                                         \
        const struct NAME##_question *question = argument;                    \
        return question->predicate(value, question->argument);                \
    }                                                                         \
    DZ_INLINE unsigned NAME##_remove_if(struct NAME *self,                    \
        bool (*predicate)(item const *value, void *argument), void *argument) \
    {                                                                         \
        struct NAME##_question question = {predicate, argument};              \
        return dz_channel_remove_if(                                          \
            dz_channel_of(self), &NAME##_type, NAME##_ask, &question);        \
    }

#endif
