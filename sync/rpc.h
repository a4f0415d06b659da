/* SPDX-License-Identifier: MIT */
#ifndef SYNC_RPC_H
#define SYNC_RPC_H

/*
 * rpc -- a service that does one job at a time for any number of callers
 *
 * A caller hands in a request and waits for the response to it. The service is
 * a task that owns what the jobs need: a bus, a flash, a lot of stack. When
 * nobody wants a response, a channel (sync/channel.h) is simpler; when the
 * callers can do the work themselves, a mutex (sync/mutex.h) is.
 *
 *     DZ_RPC_DEFINE(adc_service, struct adc_setup, int, DZ_NOOP)
 *     static struct adc_service adc;
 *
 *     await(adc_service_call(&adc, &self->setup, &self->level));  in any task
 *
 *     static void server_drop(struct dz_guard *guard)
 *     {
 *         (void)guard;
 *         adc_service_put_back(&adc);
 *     }
 *
 *     for (;;) {                                             in the service
 *         await(adc_service_receive(&adc, &self->setup));
 *         dz_guard_enter(&self->guard, server_drop);
 *         await(adc_read_poll(&self->setup, &self->level));
 *         dz_guard_leave(&self->guard);
 *         adc_service_reply(&adc, &self->level);
 *     }
 *
 * A struct of all zero is a service without a job. A request or a response is
 * copied; NULL in place of a response says that there is none, or that it is
 * not wanted.
 *
 * What is guaranteed
 *  - One job is in flight: from the moment at which its request is handed in
 *    until its caller has the response. The other callers wait in line, asleep,
 *    and are served in the order in which they came.
 *  - A call that is cancelled while it stands in line is never served. One that
 *    has been handed in is, exactly like the others; its response is dropped,
 *    and the next caller goes on.
 *  - A service that is cancelled in the middle of a job puts it back, and the
 *    next receive gets it again, before all others. So no caller hangs and no
 *    request is lost; but a job may be begun more than once. A service whose
 *    jobs must not be replies in its guard instead, that it has failed.
 *  - Until it is ready, a call is polled with the same request, which is handed
 *    in once: what is written to it later changes nothing.
 *  - A second service waits until there is a job for it, in line. So services
 *    take turns, and one that is restarted need not know whether the old one is
 *    gone.
 *  - try_post hands in a request that nobody waits for, if it is its turn right
 *    now.
 *
 * A caller's state is the place of its waiter, so a call costs no memory.
 *
 * DZ_RPC_DEFINE_SINGLE_SLOT defines the same with one waker slot in place of
 * each of the two lines, for comparison: there, a woken caller may find that
 * another was faster, and several that wait never let the core sleep. The
 * caller of the job in flight needs no line: there is only one.
 */

#include "sync/item.h"
#include "sync/wait.h"

enum { DZ_RPC_RESPONSE = 1 }; /* the one request of the queue */

enum dz_rpc_state {
    DZ_RPC_RESTING,
    DZ_RPC_AT_WORK,  /* a service has received the job */
    DZ_RPC_REPLYING, /* within reply */
};

/* The request and the response lie behind it, in the typed struct. */
struct dz_rpc {
    struct dz_units permits; /* to hand in a request, 1 at first;
                                index: enum dz_rpc_state */
    struct dz_units jobs;    /* that wait for a service */
    struct dz_queue
        responses; /* the caller of the job in flight, if it waits */
};

/* What all services of a type have in common. In flash. */
struct dz_rpc_type {
    struct dz_object object;
    struct dz_queue_type responses;
    size_t request_size;  /* in bytes */
    size_t request_align; /* likewise */
    size_t request;       /* its offset in the typed struct */
    size_t response_size;
    size_t response_align;
    size_t response;
};

/* The service in its typed struct, in such a way that the compiler knows of the
 * values behind it. */
#define dz_rpc_of(self) ((struct dz_rpc *)(void *)(self))

/* The initial value of dz_rpc_type.responses. */
#define DZ_RPC_RESPONSES \
    DZ_QUEUE_TYPE(dz_rpc_grant_response, dz_rpc_drop_response, DZ_IN_ORDER)

bool dz_rpc_grant_response(struct dz_queue *responses,
    const struct dz_queue_type *type, uintptr_t *request);
void dz_rpc_drop_response(struct dz_queue *responses,
    const struct dz_queue_type *type, uintptr_t request);

_Noreturn void dz_rpc_misuse(const struct dz_rpc *self,
    const struct dz_rpc_type *type) __attribute__((cold));

/* The right to hand in is ours. */
DZ_INLINE void dz_rpc_hand_in(
    struct dz_rpc *self, const struct dz_rpc_type *type, const void *request)
{
    dz_item_copy((char *)self + type->request, request, type->request_size,
        type->request_align);
    dz_wait_give(&self->jobs, &type->object);
}

/* Collects the response, if it is there, and ends the lock. */
DZ_AWAITED DZ_INLINE enum dz_poll dz_rpc_collect_unlock(struct dz_rpc *self,
    const struct dz_rpc_type *type, void *response, dz_key key)
{
    uintptr_t request;

    if (!dz_queue_take(&self->responses, &type->responses, &request))
        return dz_wait_unlock(self, &type->object, key, DZ_PENDING);
    if (response != NULL)
        dz_item_copy(response, (char *)self + type->response,
            type->response_size, type->response_align);
    dz_wait_give_unlock(&self->permits, self, &type->object, key);
    return DZ_READY;
}

/* The caller of the job in flight has its place in `responses`. A single slot
 * does not look whether a branch waits elsewhere; here it must not, for it is
 * about to stand in a queue. */
DZ_AWAITED DZ_INLINE enum dz_poll dz_rpc_call(struct dz_rpc *self,
    const struct dz_rpc_type *type, const void *request, void *response)
{
    dz_key key;

    dz_wait_check(self, &type->object);
    if (type->object.policy == DZ_SINGLE_SLOT)
        dz_queue_turn_to(
            &self->responses, DZ_RPC_RESPONSE, type->object.owner != 0);
    key = dz_lock_checked(self, &type->object);
    if (dz_queue_has_asked(&self->responses, DZ_RPC_RESPONSE))
        return dz_rpc_collect_unlock(self, type, response, key);
    if (!dz_wait_take(&self->permits, self, &type->object, 1)) {
        dz_unlock(self, &type->object, key);
        return DZ_PENDING;
    }
    dz_rpc_hand_in(self, type, request);
    dz_queue_append(&self->responses, &type->responses, DZ_RPC_RESPONSE);
    return dz_wait_unlock(self, &type->object, key, DZ_PENDING);
}

/* The response is dropped, since nobody waits for it. */
DZ_INLINE bool dz_rpc_try_post(
    struct dz_rpc *self, const struct dz_rpc_type *type, const void *request)
{
    dz_key key = dz_lock(self, &type->object);
    bool is_ours = dz_units_try_take(&self->permits, 1);

    if (is_ours)
        dz_rpc_hand_in(self, type, request);
    dz_unlock(self, &type->object, key);
    return is_ours;
}

/* The job is ours. It stays where it is, in case that it is put back. */
DZ_INLINE void dz_rpc_fetch(
    struct dz_rpc *self, const struct dz_rpc_type *type, void *request)
{
    dz_item_copy(request, (char *)self + type->request, type->request_size,
        type->request_align);
    self->permits.index = DZ_RPC_AT_WORK;
}

DZ_AWAITED DZ_INLINE enum dz_poll dz_rpc_receive(
    struct dz_rpc *self, const struct dz_rpc_type *type, void *request)
{
    dz_key key = dz_wait_lock_to_take(self, &type->object);
    bool is_ours = dz_wait_take(&self->jobs, self, &type->object, 0);

    if (is_ours)
        dz_rpc_fetch(self, type, request);
    dz_unlock(self, &type->object, key);
    return is_ours ? DZ_READY : DZ_PENDING;
}

DZ_INLINE bool dz_rpc_try_receive(
    struct dz_rpc *self, const struct dz_rpc_type *type, void *request)
{
    dz_key key = dz_lock(self, &type->object);
    bool is_ours = dz_units_try_take(&self->jobs, 0);

    if (is_ours)
        dz_rpc_fetch(self, type, request);
    dz_unlock(self, &type->object, key);
    return is_ours;
}

/* The service is not at work any more. */
DZ_INLINE void dz_rpc_rest(struct dz_rpc *self, const struct dz_rpc_type *type)
{
    if (DZ_UNLIKELY(self->permits.index != DZ_RPC_AT_WORK))
        dz_rpc_misuse(self, type);
    self->permits.index = DZ_RPC_RESTING;
}

/* When the caller is gone, it is the next one's turn at once. */
DZ_INLINE void dz_rpc_reply(
    struct dz_rpc *self, const struct dz_rpc_type *type, const void *response)
{
    dz_key key = dz_lock(self, &type->object);

    dz_rpc_rest(self, type);
    if (!dz_queue_is_occupied(&self->responses)) {
        dz_wait_give_unlock(&self->permits, self, &type->object, key);
        return;
    }
    if (response != NULL)
        dz_item_copy((char *)self + type->response, response,
            type->response_size, type->response_align);
    self->permits.index = DZ_RPC_REPLYING;
    dz_queue_serve(&self->responses);
    self->permits.index = DZ_RPC_RESTING;
    dz_unlock(self, &type->object, key);
}

DZ_INLINE void dz_rpc_put_back(
    struct dz_rpc *self, const struct dz_rpc_type *type)
{
    dz_key key = dz_lock(self, &type->object);

    dz_rpc_rest(self, type);
    dz_wait_give_unlock(&self->jobs, self, &type->object, key);
}

/*
 * Defines `struct NAME`, a service that takes a request of one type and gives a
 * response of another, and
 *
 *   in a task, awaited; what is copied out is written when it is ready
 *     enum dz_poll NAME_call(
 *         self, request_type const *request, response_type *response)
 *     enum dz_poll NAME_receive(self, request_type *request)
 *
 *   any context that the raw mutex allows
 *     bool NAME_try_post(self, request_type const *request)   false: busy
 *     bool NAME_try_receive(self, request_type *request)      false: no job
 *     void NAME_reply(self, response_type const *response)    panics if no job
 *     void NAME_put_back(self)                                is received
 */
#define DZ_RPC_DEFINE(NAME, request_type, response_type, mutex) \
    DZ_RPC_DEFINE_POLICY(NAME, request_type, response_type, mutex, DZ_QUEUE)

#define DZ_RPC_DEFINE_SINGLE_SLOT(NAME, request_type, response_type, mutex) \
    DZ_RPC_DEFINE_POLICY(                                                   \
        NAME, request_type, response_type, mutex, DZ_SINGLE_SLOT)

#define DZ_RPC_DEFINE_POLICY(NAME, request_type, response_type, mutex, policy) \
    struct NAME {                                                              \
        struct dz_rpc rpc;                                                     \
        DZ_OWNER                                                               \
        request_type request;                                                  \
        response_type response;                                                \
    };                                                                         \
    static const struct dz_rpc_type NAME##_type = {                            \
        DZ_OBJECT(NAME, mutex, policy), DZ_RPC_RESPONSES,                      \
        sizeof(request_type), _Alignof(request_type),                          \
        offsetof(struct NAME, request), sizeof(response_type),                 \
        _Alignof(response_type), offsetof(struct NAME, response)};             \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_call(struct NAME *self,           \
        request_type const *request, response_type *response)                  \
    {                                                                          \
        return dz_rpc_call(dz_rpc_of(self), &NAME##_type, request, response);  \
    }                                                                          \
    DZ_INLINE bool NAME##_try_post(                                            \
        struct NAME *self, request_type const *request)                        \
    {                                                                          \
        return dz_rpc_try_post(dz_rpc_of(self), &NAME##_type, request);        \
    }                                                                          \
    DZ_AWAITED DZ_INLINE enum dz_poll NAME##_receive(                          \
        struct NAME *self, request_type *request)                              \
    {                                                                          \
        return dz_rpc_receive(dz_rpc_of(self), &NAME##_type, request);         \
    }                                                                          \
    DZ_INLINE bool NAME##_try_receive(                                         \
        struct NAME *self, request_type *request)                              \
    {                                                                          \
        return dz_rpc_try_receive(dz_rpc_of(self), &NAME##_type, request);     \
    }                                                                          \
    DZ_INLINE void NAME##_reply(                                               \
        struct NAME *self, response_type const *response)                      \
    {                                                                          \
        dz_rpc_reply(dz_rpc_of(self), &NAME##_type, response);                 \
    }                                                                          \
    DZ_INLINE void NAME##_put_back(struct NAME *self)                          \
    {                                                                          \
        dz_rpc_put_back(dz_rpc_of(self), &NAME##_type);                        \
    }

#endif
