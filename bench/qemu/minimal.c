/* SPDX-License-Identifier: MIT */

/*
 * minimal -- the least that a user writes for a ping-pong, to be weighed
 *
 * Two tasks pass a number through two channels of capacity 1, for ever. Nothing
 * is printed or measured, and panics say nothing (DZ_PANIC_DETAILS).
 *
 *     MINIMAL_MUTEX    the raw mutex
 */

#include "sync/channel.h"

DZ_CHANNEL_DEFINE(number_channel, uint32_t, 1, MINIMAL_MUTEX)

struct player {
    struct dz_task task;
    uint32_t number;
};

static struct number_channel there, back;

static enum dz_poll ping_poll(struct player *self)
{
    async (self) {
        for (;;) {
            await(number_channel_send(&there, &self->number));
            await(number_channel_receive(&back, &self->number));
            self->number++;
        }
    }
    return DZ_READY;
}

static enum dz_poll pong_poll(struct player *self)
{
    async (self) {
        for (;;) {
            await(number_channel_receive(&there, &self->number));
            await(number_channel_send(&back, &self->number));
        }
    }
    return DZ_READY;
}

DZ_TASK_POOL(pings, struct player, ping_poll, 1)
DZ_TASK_POOL(pongs, struct player, pong_poll, 1)

static struct dz_executor executor;

int main(void)
{
    struct player *player;

    dz_executor_init(&executor, "main");
    if (pings_claim(&player) == DZ_OK)
        dz_executor_spawn(&executor, &player->task);
    if (pongs_claim(&player) == DZ_OK)
        dz_executor_spawn(&executor, &player->task);
    dz_executor_run(&executor);
}
