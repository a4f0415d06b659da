/* SPDX-License-Identifier: MIT */
#include "sync/rpc.h"

void dz_rpc_misuse(const struct dz_rpc *self, const struct dz_rpc_type *type)
{
    dz_object_misuse(self, &type->object,
        "a job is replied to or put back that was not received");
}

/* Only within a reply. A caller that is cancelled serves the line, too, in
 * which the next one may already stand. */
bool dz_rpc_grant_response(struct dz_queue *responses,
    const struct dz_queue_type *type, uintptr_t *request)
{
    struct dz_rpc *self = container_of(responses, struct dz_rpc, responses);

    (void)type;
    (void)request;
    return self->permits.index == DZ_RPC_REPLYING;
}

/* The caller was cancelled before it came for its response: it is the next
 * one's turn. */
void dz_rpc_drop_response(struct dz_queue *responses,
    const struct dz_queue_type *type, uintptr_t request)
{
    struct dz_rpc *self = container_of(responses, struct dz_rpc, responses);

    (void)request;
    dz_wait_give(&self->permits,
        &container_of(type, struct dz_rpc_type, responses)->object);
}
