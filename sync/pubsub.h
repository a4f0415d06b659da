/* SPDX-License-Identifier: MIT */
#ifndef SYNC_PUBSUB_H
#define SYNC_PUBSUB_H

/*
 * pubsub -- every subscriber gets every message
 *
 * A message stays until all who were subscribed when it was published have read
 * it or left. Use a watch (sync/watch.h) when only the latest value counts, a
 * channel (sync/channel.h) when each value is for one receiver.
 *
 *     DZ_PUBSUB_DEFINE(news_pubsub, struct news, 4, DZ_CRITICAL_SECTION)
 *     static struct news_pubsub news;
 *
 *     struct news_pubsub_subscriber subscriber;              in the frame
 *
 *     news_pubsub_subscribe(&news, &self->subscriber);
 *     dz_guard_enter(&self->guard, reader_unsubscribe);
 *     await(news_pubsub_next(&self->subscriber, &self->item));
 *     self->missed += news_pubsub_lagged(&self->subscriber);
 *     dz_guard_leave(&self->guard);
 *     news_pubsub_unsubscribe(&self->subscriber);
 *
 *     await(news_pubsub_publish(&news, &self->item));        in a task
 *     news_pubsub_publish_immediate(&news, &item);           in the interrupt
 *
 * Subscribers are all zero at first, and linked while they are subscribed. So
 * there is no limit to them, and each has to be unsubscribed before its frame
 * is gone. The branch that guards one is the one that uses it. The guard
 * (executor/fork.h) does it if the branch is cancelled, or its task:
 *
 *     static void reader_unsubscribe(struct dz_guard *guard)
 *     {
 *         news_pubsub_unsubscribe(
 *             &container_of(guard, struct reader, guard)->subscriber);
 *     }
 *
 * Publishers are nothing but whoever publishes. A struct of all zero is empty.
 *
 * What is guaranteed
 *  - A subscriber gets the messages that are published while it is subscribed,
 *    in that order. Without subscribers, a message is discarded: to publish
 *    succeeds.
 *  - publish waits for a free slot. A slot that comes free is promised to the
 *    first who waits. When the last subscriber leaves, all go on; if another
 *    one comes before they have run, it may lag like behind publish_immediate.
 * A publish that is cancelled has published nothing.
 *  - publish_immediate never waits: in a full pubsub it overwrites the oldest
 *    message. It may use a slot that is promised: who was promised it publishes
 *    all the same, over the oldest message if there is no room by then.
 *  - Subscribers that had not read an overwritten message lag. How many they
 *    lost is told once, with the message that comes next: `lagged`. It ends at
 *    65535.
 *  - A message wakes those that wait for one in the order in which they have
 *    subscribed, and is promised to them: they get a message, whatever happens.
 *    If it is overwritten or cleared meanwhile, that is a later one.
 *  - clear drops everything, but leaves the newest message to a subscriber that
 *    was promised one. What it drops is not lost: it counts neither as
 *    available nor as lag.
 *  - len counts the messages that somebody has yet to read, free the slots that
 *    are neither used nor promised, available what a subscriber has not read
 *    and nobody was promised.
 *
 * To publish, to clear, to subscribe, to unsubscribe, and to read a message
 * that is the oldest, is linear in the number of subscribers, under the lock.
 *
 * DZ_PUBSUB_DEFINE_SINGLE_SLOT defines the same with one waker slot for all
 * publishers, and one in each subscriber, for comparison: nothing is promised.
 */

#include "sync/wait.h"

struct dz_subscriber;

/* The messages lie behind it, in the typed struct: a ring. */
struct dz_pubsub {
    struct dz_queue publishers;  /* who waits for a slot */
    struct dz_subscriber *first; /* in order of subscription */
    unsigned promised;           /* publishers that will publish */
    uint16_t len;  /* messages, the most that a subscriber has not read */
    uint16_t next; /* where the next message goes */
};

/* What all pubsubs of a type have in common. In flash. */
struct dz_pubsub_type {
    struct dz_object object;
    struct dz_queue_type queue;
    uint16_t capacity;
    size_t size;     /* of a message, in bytes */
    size_t messages; /* their offset in the typed struct */
};

/* The initial value of dz_pubsub_type.queue. */
#define DZ_PUBSUB_QUEUE \
    DZ_QUEUE_TYPE(dz_pubsub_grant, dz_pubsub_give_back, DZ_IN_ORDER)

bool dz_pubsub_grant(struct dz_queue *queue, const struct dz_queue_type *type,
    uintptr_t *request);
void dz_pubsub_give_back(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request);

/*
 * A pubsub of which only the messages' type is known; `message` points to one.
 * Copy it at will. The typed functions below are these.
 */
struct dz_publisher {
    struct dz_pubsub *pubsub;
    const struct dz_pubsub_type *type;
};

DZ_AWAITED enum dz_poll dz_publisher_publish(
    struct dz_publisher publisher, const void *message);
bool dz_publisher_try_publish(
    struct dz_publisher publisher, const void *message);
void dz_publisher_publish_immediate(
    struct dz_publisher publisher, const void *message);
void dz_publisher_clear(struct dz_publisher publisher);
unsigned dz_publisher_len(struct dz_publisher publisher);
unsigned dz_publisher_free(struct dz_publisher publisher);

/* The typed subscriber has one in it: they are one, under two names. It stays
 * where it is while it is subscribed. */
struct dz_subscriber {
    struct dz_subscriber *next;
    struct dz_pubsub *pubsub; /* NULL: not subscribed */
    const struct dz_pubsub_type *type;
    struct dz_units messages; /* index: how many it has not read: the newest.
                                 Those that are free were promised to nobody */
    uint16_t lost;   /* overwritten before it could read them, since its last */
    uint16_t lagged; /* the same, before the one that it read last */
};

/* Panics if it is subscribed already. */
void dz_subscriber_subscribe(
    struct dz_subscriber *self, struct dz_publisher publisher);

/* Panics if it is not subscribed, or if a branch waits in next. */
void dz_subscriber_unsubscribe(struct dz_subscriber *self);

/* These panic if it is not subscribed. */
DZ_AWAITED enum dz_poll dz_subscriber_next(
    struct dz_subscriber *self, void *message);
bool dz_subscriber_try_next(struct dz_subscriber *self, void *message);
unsigned dz_subscriber_available(const struct dz_subscriber *self);

/* The pubsub in its typed struct, in such a way that the compiler knows of the
 * messages behind it. */
#define dz_pubsub_of(self) ((struct dz_pubsub *)(void *)(self))

/*
 * Defines `struct NAME`, a pubsub of at most `count` messages of type `item`,
 * count from 1 to DZ_UNITS_MAX, `struct NAME_subscriber`, and
 *
 *   in a task, awaited; *message is written by next when it is ready
 *     enum dz_poll NAME_publish(self, item const *message)
 *     enum dz_poll NAME_next(subscriber, item *message)
 *
 *   any context that the raw mutex allows
 *     bool NAME_try_publish(self, item const *message)  false: full
 *     void NAME_publish_immediate(self, item const *message)
 *     void NAME_clear(self)
 *     unsigned NAME_len(self), NAME_free(self)
 *     bool NAME_is_empty(self), NAME_is_full(self)
 *
 *     void NAME_subscribe(self, subscriber)
 *     void NAME_unsubscribe(subscriber)
 *     bool NAME_try_next(subscriber, item *message)     false: nothing to read,
 *                                                       and nothing is written
 *     unsigned NAME_available(subscriber)
 *
 *   anywhere
 *     unsigned NAME_capacity(self)
 *     unsigned NAME_lagged(subscriber)    lost before the message it read last
 *     struct dz_publisher NAME_publisher(self)
 */
#define DZ_PUBSUB_DEFINE(NAME, item, count, mutex) \
    DZ_PUBSUB_DEFINE_POLICY(NAME, item, count, mutex, DZ_QUEUE)

#define DZ_PUBSUB_DEFINE_SINGLE_SLOT(NAME, item, count, mutex) \
    DZ_PUBSUB_DEFINE_POLICY(NAME, item, count, mutex, DZ_SINGLE_SLOT)

#define DZ_PUBSUB_DEFINE_POLICY(NAME, item, count, mutex, policy)             \
    _Static_assert((count) >= 1 && (count) + 0L <= DZ_UNITS_MAX,              \
        "a pubsub's capacity is from 1 to DZ_UNITS_MAX");                     \
    struct NAME {                                                             \
        struct dz_pubsub pubsub;                                              \
        DZ_OWNER                                                              \
        item messages[count];                                                 \
    };                                                                        \
    struct NAME##_subscriber {                                                \
        struct dz_subscriber subscriber;                                      \
    };                                                                        \
    static const struct dz_pubsub_type NAME##_type = {                        \
        DZ_OBJECT(NAME, mutex, policy), DZ_PUBSUB_QUEUE, count, sizeof(item), \
        offsetof(struct NAME, messages)};                                     \
    DZ_INLINE struct dz_publisher NAME##_publisher(struct NAME *self)         \
    {                                                                         \
        return (struct dz_publisher){dz_pubsub_of(self), &NAME##_type};       \
    }                                                                         \
    DZ_INLINE unsigned NAME##_capacity(const struct NAME *self)               \
    {                                                                         \
        (void)self;                                                           \
        return count;                                                         \
    }                                                                         \
    DZ_PUBSUB_DEFINE_PUBLISH(NAME, item)                                      \
    DZ_PUBSUB_DEFINE_SUBSCRIBE(NAME, item)

#define DZ_PUBSUB_DEFINE_PUBLISH(NAME, item)                                  \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_publish(                         \
        struct NAME *self, item const *message)                               \
    {                                                                         \
        return dz_publisher_publish(NAME##_publisher(self), message);         \
    }                                                                         \
    DZ_INLINE bool NAME##_try_publish(struct NAME *self, item const *message) \
    {                                                                         \
        return dz_publisher_try_publish(NAME##_publisher(self), message);     \
    }                                                                         \
    DZ_INLINE void NAME##_publish_immediate(                                  \
        struct NAME *self, item const *message)                               \
    {                                                                         \
        dz_publisher_publish_immediate(NAME##_publisher(self), message);      \
    }                                                                         \
    DZ_INLINE void NAME##_clear(struct NAME *self)                            \
    {                                                                         \
        dz_publisher_clear(NAME##_publisher(self));                           \
    }                                                                         \
    DZ_INLINE unsigned NAME##_len(struct NAME *self)                          \
    {                                                                         \
        return dz_publisher_len(NAME##_publisher(self));                      \
    }                                                                         \
    DZ_INLINE unsigned NAME##_free(struct NAME *self)                         \
    {                                                                         \
        return dz_publisher_free(NAME##_publisher(self));                     \
    }                                                                         \
    DZ_INLINE bool NAME##_is_empty(struct NAME *self)                         \
    {                                                                         \
        return NAME##_len(self) == 0;                                         \
    }                                                                         \
    DZ_INLINE bool NAME##_is_full(struct NAME *self)                          \
    {                                                                         \
        return NAME##_free(self) == 0;                                        \
    }

#define DZ_PUBSUB_DEFINE_SUBSCRIBE(NAME, item)                              \
    DZ_INLINE void NAME##_subscribe(                                        \
        struct NAME *self, struct NAME##_subscriber *subscriber)            \
    {                                                                       \
        dz_subscriber_subscribe(                                            \
            &subscriber->subscriber, NAME##_publisher(self));               \
    }                                                                       \
    DZ_INLINE void NAME##_unsubscribe(struct NAME##_subscriber *subscriber) \
    {                                                                       \
        dz_subscriber_unsubscribe(&subscriber->subscriber);                 \
    }                                                                       \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_next(                          \
        struct NAME##_subscriber *subscriber, item *message)                \
    {                                                                       \
        return dz_subscriber_next(&subscriber->subscriber, message);        \
    }                                                                       \
    DZ_INLINE bool NAME##_try_next(                                         \
        struct NAME##_subscriber *subscriber, item *message)                \
    {                                                                       \
        return dz_subscriber_try_next(&subscriber->subscriber, message);    \
    }                                                                       \
    DZ_INLINE unsigned NAME##_available(                                    \
        const struct NAME##_subscriber *subscriber)                         \
    {                                                                       \
        return dz_subscriber_available(&subscriber->subscriber);            \
    }                                                                       \
    DZ_INLINE unsigned NAME##_lagged(                                       \
        const struct NAME##_subscriber *subscriber)                         \
    {                                                                       \
        return subscriber->subscriber.lagged;                               \
    }

#endif
