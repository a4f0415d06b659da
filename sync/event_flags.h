/* SPDX-License-Identifier: MIT */
#ifndef SYNC_EVENT_FLAGS_H
#define SYNC_EVENT_FLAGS_H

/*
 * event flags -- 30 flags that tasks wait for, any or all of them
 *
 * Setting a flag wakes every branch whose wait is over by that. Flags do not
 * count: set twice, a flag is set. Where each occurrence counts, take a
 * semaphore or a channel; where a value comes along, a signal or a watch.
 *
 *     DZ_EVENT_FLAGS_DEFINE(link_flags, DZ_CRITICAL_SECTION)
 *     static struct link_flags uplink;
 *
 *     enum { LINK_UP = 1, LINK_FAULT = 2 };
 *
 *     link_flags_set(&uplink, LINK_UP);                      in the interrupt
 *     await(link_flags_wait_any(&uplink, LINK_UP | LINK_FAULT, &self->flags));
 *     link_flags_clear(&uplink, LINK_UP);
 *
 * What is guaranteed
 *  - wait leaves the flags as they are, so one set lets all waiters go on. take
 *    clears those that it waited for, so each is taken once.
 *  - Whoever can go on does so, in the order in which they came. A take that
 *    came before others clears the flags before they look.
 *  - The flags that ended a wait are those that the task gets, also if they are
 *    cleared before it runs. What was taken for a task is not cleared, and not
 *    seen, by anyone; if that task is cancelled, it is set again.
 *  - No flags at all are there at once.
 *
 * Who takes all of several flags may wait for ever if others take one of them.
 */

#include "sync/wait.h"

struct dz_event_flags {
    struct dz_queue queue;
    uint32_t flags;
};

#define dz_event_flags_of(self) ((struct dz_event_flags *)(void *)(self))

/* What all event flags of a type have in common. In flash. */
struct dz_event_flags_type {
    struct dz_object object;
    struct dz_queue_type queue;
};

/* How to wait: the low bits of a request, and how many these are. */
enum dz_flags_wait {
    DZ_FLAGS_ANY = 0,
    DZ_FLAGS_ALL = 1,
    DZ_FLAGS_TAKE_ANY = 2,
    DZ_FLAGS_TAKE_ALL = 3,
    DZ_FLAGS_WAYS = 2,
};

enum { DZ_FLAGS_MASK = 0x3fffffff }; /* all flags that there are */

_Noreturn void dz_event_flags_misuse(void) __attribute__((cold));

/* What is asked for. Panics if it is more than there is. */
DZ_INLINE uintptr_t dz_event_flags_request(
    enum dz_flags_wait how, uint32_t mask)
{
    if (DZ_UNLIKELY(mask > DZ_FLAGS_MASK))
        dz_event_flags_misuse();
    return (uintptr_t)mask << DZ_FLAGS_WAYS | how;
}

/* For the queue. */
bool dz_event_flags_grant(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request);
void dz_event_flags_give_back(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t request);

/* The operations, which the typed ones below are. */
DZ_AWAITED enum dz_poll dz_event_flags_poll(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, uintptr_t request, uint32_t *flags);
uint32_t dz_event_flags_try(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, uintptr_t request);
void dz_event_flags_set(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, uint32_t mask);
void dz_event_flags_clear(struct dz_event_flags *self,
    const struct dz_event_flags_type *type, uint32_t mask);
uint32_t dz_event_flags_now(
    struct dz_event_flags *self, const struct dz_event_flags_type *type);

/*
 * Defines `struct NAME`, flags that are all clear, and
 *
 *   in a task, awaited; *flags is written when it is ready: those of the mask
 *   that ended the wait
 *     enum dz_poll NAME_wait_any(self, uint32_t mask, uint32_t *flags)
 *     enum dz_poll NAME_wait_all(self, uint32_t mask, uint32_t *flags)
 *     enum dz_poll NAME_take_any(self, uint32_t mask, uint32_t *flags)
 *     enum dz_poll NAME_take_all(self, uint32_t mask, uint32_t *flags)
 *
 *   any context that the raw mutex allows
 *     void NAME_set(self, uint32_t mask)
 *     void NAME_clear(self, uint32_t mask)
 *     uint32_t NAME_now(self)                   those that are set
 *     uint32_t NAME_try_take_any(self, uint32_t mask)   those it took, or 0
 *     uint32_t NAME_try_take_all(self, uint32_t mask)   the mask, or 0
 */
#define DZ_EVENT_FLAGS_DEFINE(NAME, mutex) \
    DZ_EVENT_FLAGS_DEFINE_POLICY(NAME, mutex, DZ_QUEUE)

#define DZ_EVENT_FLAGS_DEFINE_SINGLE_SLOT(NAME, mutex) \
    DZ_EVENT_FLAGS_DEFINE_POLICY(NAME, mutex, DZ_SINGLE_SLOT)

#define DZ_EVENT_FLAGS_DEFINE_POLICY(NAME, mutex, policy)                    \
    struct NAME {                                                            \
        struct dz_event_flags event_flags;                                   \
        DZ_OWNER                                                             \
    };                                                                       \
    static const struct dz_event_flags_type NAME##_type = {                  \
        DZ_OBJECT(NAME, mutex, policy),                                      \
        DZ_QUEUE_TYPE(                                                       \
            dz_event_flags_grant, dz_event_flags_give_back, DZ_WHO_CAN)};    \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_wait_any(                       \
        struct NAME *self, uint32_t mask, uint32_t *flags)                   \
    {                                                                        \
        return dz_event_flags_poll(dz_event_flags_of(self), &NAME##_type,    \
            dz_event_flags_request(DZ_FLAGS_ANY, mask), flags);              \
    }                                                                        \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_wait_all(                       \
        struct NAME *self, uint32_t mask, uint32_t *flags)                   \
    {                                                                        \
        return dz_event_flags_poll(dz_event_flags_of(self), &NAME##_type,    \
            dz_event_flags_request(DZ_FLAGS_ALL, mask), flags);              \
    }                                                                        \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_take_any(                       \
        struct NAME *self, uint32_t mask, uint32_t *flags)                   \
    {                                                                        \
        return dz_event_flags_poll(dz_event_flags_of(self), &NAME##_type,    \
            dz_event_flags_request(DZ_FLAGS_TAKE_ANY, mask), flags);         \
    }                                                                        \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_take_all(                       \
        struct NAME *self, uint32_t mask, uint32_t *flags)                   \
    {                                                                        \
        return dz_event_flags_poll(dz_event_flags_of(self), &NAME##_type,    \
            dz_event_flags_request(DZ_FLAGS_TAKE_ALL, mask), flags);         \
    }                                                                        \
    DZ_INLINE uint32_t NAME##_try_take_any(struct NAME *self, uint32_t mask) \
    {                                                                        \
        return dz_event_flags_try(dz_event_flags_of(self), &NAME##_type,     \
            dz_event_flags_request(DZ_FLAGS_TAKE_ANY, mask));                \
    }                                                                        \
    DZ_INLINE uint32_t NAME##_try_take_all(struct NAME *self, uint32_t mask) \
    {                                                                        \
        return dz_event_flags_try(dz_event_flags_of(self), &NAME##_type,     \
            dz_event_flags_request(DZ_FLAGS_TAKE_ALL, mask));                \
    }                                                                        \
    DZ_INLINE void NAME##_set(struct NAME *self, uint32_t mask)              \
    {                                                                        \
        dz_event_flags_set(dz_event_flags_of(self), &NAME##_type, mask);     \
    }                                                                        \
    DZ_INLINE void NAME##_clear(struct NAME *self, uint32_t mask)            \
    {                                                                        \
        dz_event_flags_clear(dz_event_flags_of(self), &NAME##_type, mask);   \
    }                                                                        \
    DZ_INLINE uint32_t NAME##_now(struct NAME *self)                         \
    {                                                                        \
        return dz_event_flags_now(dz_event_flags_of(self), &NAME##_type);    \
    }

#endif
