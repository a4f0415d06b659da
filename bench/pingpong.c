/* SPDX-License-Identifier: MIT */

/*
 * pingpong -- two tasks pass a number through two channels of capacity 1
 *
 * One round trip is two sends, two receives and two wake-ups across tasks, the
 * experiment by which Embassy is measured in DESIGN.md. This file is compiled
 * once for each variant, which is given by the build:
 *
 *     PINGPONG          the name of the benchmark function
 *     PINGPONG_MUTEX    the raw mutex
 *     PINGPONG_POLICY   DZ_QUEUE or DZ_SINGLE_SLOT
 *     DZ_CHECKS         the misuse checks of both channels
 */

#include <stdlib.h>

#include "bench/count.h"
#include "bench/experiments.h"
#include "sync/channel.h"

DZ_CHANNEL_DEFINE_POLICY(
    number_channel, uint32_t, 1, PINGPONG_MUTEX, PINGPONG_POLICY)

struct ping {
    struct dz_task task;
    uint32_t sent;
    uint32_t received;
    uint32_t rounds;
    bool done;
};

struct pong {
    struct dz_task task;
    uint32_t value;
};

static struct number_channel there, back;

static enum dz_poll ping_poll(struct ping *self)
{
    async (self) {
        for (self->sent = 0; self->sent < self->rounds; self->sent++) {
            await(number_channel_send(&there, &self->sent));
            await(number_channel_receive(&back, &self->received));
            if (self->received != self->sent)
                abort();
            if (self->sent == 0)
                count_begin();
        }
        self->done = true;
    }
    return DZ_READY;
}

static enum dz_poll pong_poll(struct pong *self)
{
    async (self) {
        for (;;) {
            await(number_channel_receive(&there, &self->value));
            await(number_channel_send(&back, &self->value));
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(pings, struct ping, ping_poll, 1)
DZ_TASK_POOL(pongs, struct pong, pong_poll, 1)

/* The executor and pong stay from one run to the next: pong waits. */
static struct dz_executor executor;

static void start_pong(void)
{
    struct pong *pong;

    if (pongs_claim(&pong) == DZ_BUSY)
        return;
    dz_executor_init(&executor, "pingpong");
    dz_executor_spawn(&executor, &pong->task);
}

void PINGPONG(struct bench_run *run)
{
    struct ping *ping;

    start_pong();
    if (pings_claim(&ping) == DZ_BUSY)
        abort();
    /* Counting begins behind the first round trip, so do one more. */
    ping->rounds = (uint32_t)run->rounds + DZ_TRACE;
    dz_executor_spawn(&executor, &ping->task);
    dz_executor_run_until(&executor, &ping->done);
    count_end(run);
}
