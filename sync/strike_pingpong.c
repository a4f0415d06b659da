/* SPDX-License-Identifier: MIT */

/*
 * strike_pingpong -- the ping-pong of bench/pingpong.c, struck
 *
 * This file is compiled once for each variant, which is given by the build:
 *
 *     STRIKE_MUTEX     the raw mutex of both channels
 *     STRIKE_POLICY    DZ_QUEUE or DZ_SINGLE_SLOT
 *     STRIKE_ALL       the name of the table of scenarios
 *
 * A handler may use the channels themselves if their raw mutex is a critical
 * section. It takes the ball, if nobody was promised it, and throws it back in
 * pong's place. In each case it may wake both tasks, spawn another, and use
 * another object of the same program.
 */

#include "sync/channel.h"
#include "sync/strike_test.h"

enum { ROUNDS = 3 };

DZ_CHANNEL_DEFINE_POLICY(ball_channel, int, 1, STRIKE_MUTEX, STRIKE_POLICY)
DZ_CHANNEL_DEFINE_POLICY(
    bell_channel, int, 2, DZ_CRITICAL_SECTION, STRIKE_POLICY)

static struct ball_channel there, back;
static struct bell_channel bell;
static int returned; /* by pong */
static int caught;   /* by the handler */

struct ping {
    struct dz_task task;
    struct dz_deadline deadline;
    int sent;
    int value;
};

struct pong {
    struct dz_task task;
    struct dz_deadline deadline;
    int value;
};

static enum dz_poll ping_poll(struct ping *self)
{
    async (self) {
        for (self->sent = 0; self->sent < ROUNDS; self->sent++) {
            await(ball_channel_send(&there, &self->sent));
            await(ball_channel_receive(&back, &self->value));
            must(self->value == self->sent);
        }
        done = true;
    }
    return DZ_READY;
}

static enum dz_poll pong_poll(struct pong *self)
{
    async (self) {
        for (;;) {
            await(ball_channel_receive(&there, &self->value));
            returned++;
            await(ball_channel_send(&back, &self->value));
        }
    }
    return DZ_READY;
}

/* Hears one bell and rings two. */
static enum dz_poll ringer_poll(struct pong *self)
{
    async (self) {
        await(bell_channel_receive(&bell, &self->value));
        await(bell_channel_send(&bell, &value_one));
        await(bell_channel_send(&bell, &value_one));
    }
    return DZ_READY;
}

DZ_TASK_POOL_DEADLINE(pings, struct ping, ping_poll, 1)
DZ_TASK_POOL_DEADLINE(pongs, struct pong, pong_poll, 1)
DZ_TASK_POOL_DEADLINE(ringers, struct pong, ringer_poll, 1)

static struct dz_task *spawn(const struct dz_pool *pool)
{
    struct dz_task *task = dz_pool_claim(pool);

    must(task != NULL);
    dz_executor_spawn(&executor, task);
    return task;
}

static void prepare(void)
{
    begin_scenario();
    strike_clear(there);
    strike_clear(back);
    strike_clear(bell);
    strike_clear(pings_slots);
    strike_clear(pongs_slots);
    strike_clear(ringers_slots);
    returned = 0;
    caught = 0;
    spawn(&pings);
    spawn(&pongs);
}

static void wake_and_ring(void)
{
    dz_task_wake(&pongs_slots[0].task);
    spawn(&ringers);
    must(bell_channel_try_send(&bell, &value_one));
    dz_task_wake(&pings_slots[0].task);
}

static void catch_ball(void)
{
    int value;

    if (!ball_channel_try_receive(&there, &value))
        return;
    must(ball_channel_try_send(&back, &value));
    caught++;
}

static void look(void)
{
    must(ball_channel_len(&there) + ball_channel_len(&back) <= 1);
    must(ball_channel_free(&there) + ball_channel_free(&back) <= 2);
}

static void no_ball_is_left(void)
{
    must(ball_channel_is_empty(&there) && ball_channel_is_empty(&back));
    must(ball_channel_free(&there) == 1 && ball_channel_free(&back) == 1);
}

/* No ball was lost, and none is there twice. (What an interrupt owns, thread
 * mode must not look at.) */
static void game_is_over(void)
{
    must(done && pings_slots[0].task.pool == NULL);
    must(returned + caught == ROUNDS);
    must(!dz_executor_is_ready(&executor) || strike_is_pended());
    if (STRIKE_MUTEX != DZ_NOOP || strike_kind != STRIKE_INTERRUPT)
        no_ball_is_left();
}

static void bell_rang_twice(void)
{
    game_is_over();
    run_passes(3);
    must(bell_channel_len(&bell) == 2);
    must(ringers_slots[0].task.pool == NULL);
}

/* The first is for any raw mutex. */
const struct strike STRIKE_ALL[] = {
    {"ping-pong", prepare, run_until_done, wake_and_ring, bell_rang_twice},
    {STRIKE_MUTEX == DZ_CRITICAL_SECTION ? "ball caught" : NULL, prepare,
        run_until_done, catch_ball, game_is_over},
    {"ball seen", prepare, run_until_done, look, game_is_over},
    {.name = NULL},
};
