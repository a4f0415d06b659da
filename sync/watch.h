/* SPDX-License-Identifier: MIT */
#ifndef SYNC_WATCH_H
#define SYNC_WATCH_H

/*
 * watch -- the latest value, for any number of receivers
 *
 * Every receiver sees the latest value, and may miss those before it. Sending
 * never waits. Use a signal (sync/signal.h) when a value is for one task, a
 * pubsub (sync/pubsub.h) when every receiver has to get every value.
 *
 *     DZ_WATCH_DEFINE(level_watch, int, DZ_CRITICAL_SECTION)
 *     static struct level_watch levels;
 *
 *     struct level_watch_receiver receiver;                  in the frame
 *
 *     level_watch_send(&levels, 7);                          in the interrupt
 *     self->receiver = level_watch_receiver(&levels);        in the task
 *     await(level_watch_receiver_changed(&self->receiver, &self->level));
 *     await(level_watch_receiver_changed_and(
 *         &self->receiver, &self->level, is_high, &self->limit));
 *
 * A receiver is where it watches and which value it has seen, no more, and for
 * one branch: of two that wait with it, one gets the value, the other waits on.
 * There is no limit to their number, nothing to unregister, and a copy is
 * another receiver. Who only looks now and then needs none: try_get. A value is
 * passed by value, and is meant to be small. A struct of all zero holds no
 * value.
 *
 * What is guaranteed
 *  - One rule tells what `changed` reports: the value that is there, if the
 *    receiver has not seen it. A new receiver has seen nothing; so it gets the
 *    value that is there, however long ago that was sent.
 *  - `get` waits only while there is no value at all. Both, and try_get of a
 *    receiver, mark what they deliver as seen by this receiver.
 *  - A value sent while receivers wait is promised to all of them, and wakes
 *    them in the order in which they came. Sent again before they have run, it
 *    is overwritten: they get the newer one.
 *  - clear leaves no value for anybody but those that were woken for it. They
 *    still get it, or a newer one: no wake-up is in vain.
 *  - The forms with `_and` ask a predicate in the receiver's own poll, under
 *    the lock. A value that it refuses is not delivered and stays unseen. So
 *    each new value costs such a waiter one poll: it has to be looked at.
 *    While it waits, no value is looked at twice.
 *  - send_modify and send_if_modified change the value in place, under the
 *    lock. Without a value they do nothing and return false. What the function
 *    of send_if_modified says is no change is no news to anybody.
 *  - Neither these functions nor predicates use the watch that calls them:
 *    with DZ_CHECKS, that panics.
 *  - Values are counted in 64 bits: that many are never sent.
 *
 * To send is linear in the number of those that wait, under the lock.
 *
 * DZ_WATCH_DEFINE_SINGLE_SLOT defines the same with one waker slot in place of
 * the queue, for comparison: several that wait never let the core sleep, and a
 * clear takes the value from who was woken for it.
 */

#include "sync/item.h"
#include "sync/wait.h"

/* The value lies behind it, in the typed struct. */
struct dz_watch {
    struct dz_queue queue; /* who waits has looked at what there is */
    uint64_t sent;         /* how many so far: the number of the latest */
    bool is_set;  /* else its value is only for those that were woken for it */
    bool is_news; /* who asks, or is served, goes on. Never while one waits */
};

/* What all watches of a type have in common. In flash. */
struct dz_watch_type {
    struct dz_object object;
    size_t size;  /* of a value, in bytes */
    size_t align; /* likewise */
    size_t value; /* its offset in the typed struct */
};

/*
 * A watch of which only the value's type is known. The functions are those of
 * the typed watch, compiled once; `value` points to a value of its type. The
 * typed receiver has one in it: they are one receiver, under two names.
 */
struct dz_watch_sender {
    struct dz_watch *watch;
    const struct dz_watch_type *type;
};

struct dz_watch_receiver {
    struct dz_watch *watch;
    const struct dz_watch_type *type;
    uint64_t seen; /* the number of the latest value that it has seen, or 0 */
};

void dz_watch_sender_send(struct dz_watch_sender sender, const void *value);
void dz_watch_sender_clear(struct dz_watch_sender sender);
bool dz_watch_sender_contains_value(struct dz_watch_sender sender);
bool dz_watch_sender_try_get(struct dz_watch_sender sender, void *value);
bool dz_watch_sender_try_get_and(struct dz_watch_sender sender, void *value,
    bool (*accepts)(const void *value, void *argument), void *argument);
bool dz_watch_sender_send_if_modified(struct dz_watch_sender sender,
    bool (*modify)(void *value, void *argument), void *argument);

DZ_AWAITED enum dz_poll dz_watch_receiver_get(
    struct dz_watch_receiver *self, void *value);
DZ_AWAITED enum dz_poll dz_watch_receiver_get_and(
    struct dz_watch_receiver *self, void *value,
    bool (*accepts)(const void *value, void *argument), void *argument);
DZ_AWAITED enum dz_poll dz_watch_receiver_changed(
    struct dz_watch_receiver *self, void *value);
DZ_AWAITED enum dz_poll dz_watch_receiver_changed_and(
    struct dz_watch_receiver *self, void *value,
    bool (*accepts)(const void *value, void *argument), void *argument);
bool dz_watch_receiver_try_get(struct dz_watch_receiver *self, void *value);
bool dz_watch_receiver_try_get_and(struct dz_watch_receiver *self, void *value,
    bool (*accepts)(const void *value, void *argument), void *argument);
bool dz_watch_receiver_try_changed(struct dz_watch_receiver *self, void *value);
bool dz_watch_receiver_try_changed_and(struct dz_watch_receiver *self,
    void *value, bool (*accepts)(const void *value, void *argument),
    void *argument);
bool dz_watch_receiver_contains_value(const struct dz_watch_receiver *self);

/* What a receiver looks for, and where it puts it. */
struct dz_watch_look {
    enum {
        DZ_WATCH_ANY, /* the value that is there */
        DZ_WATCH_NEW, /* if it is one that this receiver has not seen */
    } wish;
    void *value;
    bool (*accepts)(const void *value, void *argument); /* NULL: everything */
    void *argument;
};

/* The watch in its typed struct, in such a way that the compiler knows of the
 * value behind it. */
#define dz_watch_of(self) ((struct dz_watch *)(void *)(self))

/* What waits is in watch.c. */
extern const struct dz_queue_type dz_watch_queue_type;
_Noreturn void dz_watch_misuse(void) __attribute__((cold));

DZ_INLINE void *dz_watch_value(
    struct dz_watch *self, const struct dz_watch_type *type)
{
    return (char *)self + type->value;
}

/* Where a receiver watches. */
DZ_INLINE struct dz_watch *dz_watch_watched(
    const struct dz_watch_receiver *receiver)
{
    if (DZ_UNLIKELY(receiver->watch == NULL))
        dz_watch_misuse();
    return receiver->watch;
}

/* The value is another one now: everybody who waits goes on. */
DZ_INLINE void dz_watch_announce(
    struct dz_watch *self, const struct dz_watch_type *type)
{
    self->sent++;
    self->is_set = true;
    self->is_news = true;
    dz_wait_serve(&self->queue, type->object.policy);
}

DZ_INLINE void dz_watch_send(
    struct dz_watch *self, const struct dz_watch_type *type, const void *value)
{
    dz_key key = dz_lock(self, &type->object);

    dz_item_copy(dz_watch_value(self, type), value, type->size, type->align);
    dz_watch_announce(self, type);
    dz_unlock(self, &type->object, key);
}

/* Delivers the value, if it is what the receiver looks for. */
DZ_INLINE bool dz_watch_deliver(struct dz_watch_receiver *receiver,
    const struct dz_watch_type *type, const struct dz_watch_look *look)
{
    struct dz_watch *watch = receiver->watch;
    const void *value = dz_watch_value(watch, type);

    if (look->wish == DZ_WATCH_NEW && receiver->seen == watch->sent)
        return false;
    if (look->accepts != NULL && !look->accepts(value, look->argument))
        return false;
    dz_item_copy(look->value, value, type->size, type->align);
    receiver->seen = watch->sent;
    return true;
}

DZ_INLINE bool dz_watch_try(struct dz_watch_receiver *receiver,
    const struct dz_watch_type *type, const struct dz_watch_look *look)
{
    struct dz_watch *watch = dz_watch_watched(receiver);
    dz_key key = dz_lock(watch, &type->object);
    bool is_ours = watch->is_set && dz_watch_deliver(receiver, type, look);

    dz_unlock(watch, &type->object, key);
    return is_ours;
}

/* Which receiver wants what, so that another wait of the same branch is told
 * from this one. */
DZ_INLINE uintptr_t dz_watch_request(
    const struct dz_watch_receiver *receiver, const struct dz_watch_look *look)
{
    _Static_assert(
        _Alignof(struct dz_watch_receiver) >= 4, "two bits are free");
    return (uintptr_t)receiver | (uintptr_t)(look->wish == DZ_WATCH_NEW) |
        (uintptr_t)(look->accepts != NULL) << 1;
}

/* Asked for the first time, it looks at the value that is there; then, only at
 * one that it was woken for. A value that it does not take, it waits behind. */
DZ_AWAITED DZ_INLINE enum dz_poll dz_watch_wait(
    struct dz_watch_receiver *receiver, const struct dz_watch_type *type,
    const struct dz_watch_look *look)
{
    struct dz_watch *watch = dz_watch_watched(receiver);
    enum dz_policy policy = type->object.policy;
    uintptr_t request = dz_watch_request(receiver, look);
    dz_key key = dz_wait_lock(watch, &type->object, &watch->queue, request);
    enum dz_poll poll;

    watch->is_news = watch->is_set;
    poll = dz_wait_ask(&watch->queue, &dz_watch_queue_type, request, policy);
    watch->is_news = false;
    if (poll == DZ_READY && !dz_watch_deliver(receiver, type, look))
        poll =
            dz_wait_ask(&watch->queue, &dz_watch_queue_type, request, policy);
    return dz_wait_unlock(watch, &type->object, key, poll);
}

/*
 * Defines `struct NAME`, a watch of a value of type `item`, `struct
 * NAME_receiver`, and
 *
 *   in a task, awaited; *value is written when it is ready
 *     enum dz_poll NAME_receiver_get(self, item *value)
 *     enum dz_poll NAME_receiver_changed(self, item *value)
 *     NAME_receiver_get_and, NAME_receiver_changed_and: see below
 *
 *   any context that the raw mutex allows; *value is written if it is true
 *     bool NAME_receiver_try_get(self, item *value)      false: there is none
 *     bool NAME_receiver_try_changed(self, item *value)  false: or it was seen
 *     NAME_receiver_try_get_and, NAME_receiver_try_changed_and
 *     bool NAME_receiver_contains_value(self)
 *
 *     void NAME_send(self, item value)
 *     void NAME_clear(self)
 *     bool NAME_contains_value(self)
 *     bool NAME_try_get(self, item *value)       nobody has seen anything
 *     NAME_try_get_and
 *     bool NAME_send_modify(self, void (*modify)(item *, void *), argument)
 *     bool NAME_send_if_modified(self, bool (*modify)(item *, void *),
 *         argument)                              false: nothing was sent
 *
 *   anywhere
 *     struct NAME_receiver NAME_receiver(self)
 *     struct dz_watch_sender NAME_sender(self)
 *
 * What ends in `_and` takes two arguments more, bool (*accepts)(item const *,
 * void *argument) and its argument.
 */
#define DZ_WATCH_DEFINE(NAME, item, mutex) \
    DZ_WATCH_DEFINE_POLICY(NAME, item, mutex, DZ_QUEUE)

#define DZ_WATCH_DEFINE_SINGLE_SLOT(NAME, item, mutex) \
    DZ_WATCH_DEFINE_POLICY(NAME, item, mutex, DZ_SINGLE_SLOT)

#define DZ_WATCH_DEFINE_POLICY(NAME, item, mutex, policy)                      \
    struct NAME {                                                              \
        struct dz_watch watch;                                                 \
        DZ_OWNER                                                               \
        item value;                                                            \
    };                                                                         \
    struct NAME##_receiver {                                                   \
        struct dz_watch_receiver receiver;                                     \
    };                                                                         \
    static const struct dz_watch_type NAME##_type = {                          \
        DZ_OBJECT(NAME, mutex, policy), sizeof(item), _Alignof(item),          \
        offsetof(struct NAME, value)};                                         \
    DZ_INLINE struct dz_watch_sender NAME##_sender(struct NAME *self)          \
    {                                                                          \
        return (struct dz_watch_sender){dz_watch_of(self), &NAME##_type};      \
    }                                                                          \
    DZ_INLINE struct NAME##_receiver NAME##_receiver(struct NAME *self)        \
    {                                                                          \
        return (struct NAME##_receiver){{dz_watch_of(self), &NAME##_type, 0}}; \
    }                                                                          \
    DZ_WATCH_DEFINE_SEND(NAME, item)                                           \
    DZ_WATCH_DEFINE_RECEIVE(NAME, item)                                        \
    DZ_WATCH_DEFINE_MODIFY(NAME, item)                                         \
    DZ_WATCH_DEFINE_AND(NAME, item)

#define DZ_WATCH_DEFINE_SEND(NAME, item)                               \
    DZ_INLINE void NAME##_send(struct NAME *self, item value)          \
    {                                                                  \
        dz_watch_send(dz_watch_of(self), &NAME##_type, &value);        \
    }                                                                  \
    DZ_INLINE void NAME##_clear(struct NAME *self)                     \
    {                                                                  \
        dz_watch_sender_clear(NAME##_sender(self));                    \
    }                                                                  \
    DZ_INLINE bool NAME##_contains_value(struct NAME *self)            \
    {                                                                  \
        return dz_watch_sender_contains_value(NAME##_sender(self));    \
    }                                                                  \
    DZ_INLINE bool NAME##_try_get(struct NAME *self, item *value)      \
    {                                                                  \
        struct NAME##_receiver anybody = NAME##_receiver(self);        \
                                                                       \
        return dz_watch_try(&anybody.receiver, &NAME##_type,           \
            &(struct dz_watch_look){DZ_WATCH_ANY, value, NULL, NULL}); \
    }

#define DZ_WATCH_DEFINE_RECEIVE(NAME, item)                            \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_receiver_get(             \
        struct NAME##_receiver *self, item *value)                     \
    {                                                                  \
        return dz_watch_wait(&self->receiver, &NAME##_type,            \
            &(struct dz_watch_look){DZ_WATCH_ANY, value, NULL, NULL}); \
    }                                                                  \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_receiver_changed(         \
        struct NAME##_receiver *self, item *value)                     \
    {                                                                  \
        return dz_watch_wait(&self->receiver, &NAME##_type,            \
            &(struct dz_watch_look){DZ_WATCH_NEW, value, NULL, NULL}); \
    }                                                                  \
    DZ_INLINE bool NAME##_receiver_try_get(                            \
        struct NAME##_receiver *self, item *value)                     \
    {                                                                  \
        return dz_watch_try(&self->receiver, &NAME##_type,             \
            &(struct dz_watch_look){DZ_WATCH_ANY, value, NULL, NULL}); \
    }                                                                  \
    DZ_INLINE bool NAME##_receiver_try_changed(                        \
        struct NAME##_receiver *self, item *value)                     \
    {                                                                  \
        return dz_watch_try(&self->receiver, &NAME##_type,             \
            &(struct dz_watch_look){DZ_WATCH_NEW, value, NULL, NULL}); \
    }                                                                  \
    DZ_INLINE bool NAME##_receiver_contains_value(                     \
        const struct NAME##_receiver *self)                            \
    {                                                                  \
        return dz_watch_receiver_contains_value(&self->receiver);      \
    }

/* The functions that are compiled once know no type: these do, and call what
 * the user wrote for it. */
#define DZ_WATCH_DEFINE_MODIFY(NAME, item)                            \
    struct NAME##_change {                                            \
        bool (*modify)(item * value, void *argument);                 \
        void (*change)(item * value, void *argument);                 \
        void *argument;                                               \
    };                                                                \
    static inline bool NAME##_modify(void *value, void *argument)     \
    {                                                                 \
        const struct NAME##_change *change = argument;                \
                                                                      \
        return change->modify(value, change->argument);               \
    }                                                                 \
    static inline bool NAME##_change(void *value, void *argument)     \
    {                                                                 \
        const struct NAME##_change *change = argument;                \
                                                                      \
        change->change(value, change->argument);                      \
        return true;                                                  \
    }                                                                 \
    DZ_INLINE bool NAME##_send_modify(struct NAME *self,              \
        void (*modify)(item * value, void *argument), void *argument) \
    {                                                                 \
        struct NAME##_change change = {NULL, modify, argument};       \
                                                                      \
        return dz_watch_sender_send_if_modified(                      \
            NAME##_sender(self), NAME##_change, &change);             \
    }                                                                 \
    DZ_INLINE bool NAME##_send_if_modified(struct NAME *self,         \
        bool (*modify)(item * value, void *argument), void *argument) \
    {                                                                 \
        struct NAME##_change change = {modify, NULL, argument};       \
                                                                      \
        return dz_watch_sender_send_if_modified(                      \
            NAME##_sender(self), NAME##_modify, &change);             \
    }

#define DZ_WATCH_DEFINE_AND(NAME, item)                                     \
    struct NAME##_test {                                                    \
        bool (*accepts)(item const *value, void *argument);                 \
        void *argument;                                                     \
    };                                                                      \
    static inline bool NAME##_accepts(const void *value, void *argument)    \
    {                                                                       \
        const struct NAME##_test *test = argument;                          \
                                                                            \
        return test->accepts(value, test->argument);                        \
    }                                                                       \
    DZ_INLINE bool NAME##_try_get_and(struct NAME *self, item *value,       \
        bool (*accepts)(item const *value, void *argument), void *argument) \
    {                                                                       \
        struct NAME##_test test = {accepts, argument};                      \
                                                                            \
        return dz_watch_sender_try_get_and(                                 \
            NAME##_sender(self), value, NAME##_accepts, &test);             \
    }                                                                       \
    DZ_WATCH_DEFINE_AND_FORM(NAME, item, DZ_AWAITED, enum dz_poll, get)     \
    DZ_WATCH_DEFINE_AND_FORM(NAME, item, DZ_AWAITED, enum dz_poll, changed) \
    DZ_WATCH_DEFINE_AND_FORM(NAME, item, , bool, try_get)                   \
    DZ_WATCH_DEFINE_AND_FORM(NAME, item, , bool, try_changed)

#define DZ_WATCH_DEFINE_AND_FORM(NAME, item, attribute, result, form)       \
    attribute DZ_INLINE result NAME##_receiver_##form##_and(                \
        struct NAME##_receiver *self, item *value,                          \
        bool (*accepts)(item const *value, void *argument), void *argument) \
    {                                                                       \
        struct NAME##_test test = {accepts, argument};                      \
                                                                            \
        return dz_watch_receiver_##form##_and(                              \
            &self->receiver, value, NAME##_accepts, &test);                 \
    }

#endif
