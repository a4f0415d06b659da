/* SPDX-License-Identifier: MIT */
#include "sync/rpc.h"

void dz_rpc_misuse(const struct dz_rpc *self, const struct dz_rpc_type *type)
{
    dz_object_misuse(self, &type->object,
        "a job is replied to or put back that was not received");
}

/* Only within a reply. A caller that is cancelled serves the line, too, in
 * which the next one may already stand. */
static bool grant_response(struct dz_queue *responses,
    const struct dz_queue_type *type, uintptr_t *request)
{
    struct dz_rpc *self = container_of(responses, struct dz_rpc, responses);

    (void)type;
    (void)request;
    return self->permits.index == DZ_RPC_REPLYING;
}

/* The caller was cancelled before it came for its response: it is the next
 * one's turn. */
static void drop_response(struct dz_queue *responses,
    const struct dz_queue_type *type, uintptr_t request)
{
    struct dz_rpc *self = container_of(responses, struct dz_rpc, responses);

    (void)type;
    (void)request;
    dz_units_give(&self->permits);
}

const struct dz_queue_type dz_rpc_responses = {
    grant_response, drop_response, DZ_IN_ORDER};
