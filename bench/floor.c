/* SPDX-License-Identifier: MIT */

/*
 * floor -- the ping-pong with nothing around it
 *
 * Two bare state machines, called in turn through pointers, pass a number back
 * and forth through two mailboxes. This is what is left of a ping-pong without
 * executor, queues, locks and wake-ups. It is compiled with the same flags in
 * every build (see CMakeLists.txt), and every time is given as a multiple of
 * it, because machines differ. On a Cortex-M4 it takes 61 instructions per
 * round trip.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/experiments.h"

enum state { SENDING, RECEIVING };

struct mailbox {
    uint32_t value;
    bool full;
};

static struct mailbox there, back;

static struct {
    enum state state;
    uint32_t sent;
} ping;

static struct {
    enum state state;
    uint32_t value;
} pong;

static void ping_step(void)
{
    if (ping.state == RECEIVING) {
        if (!back.full)
            return;
        back.full = false;
        if (back.value != ping.sent)
            abort();
        ping.sent++;
    }
    ping.state = SENDING;
    if (there.full)
        return;
    there.value = ping.sent;
    there.full = true;
    ping.state = RECEIVING;
}

static void pong_step(void)
{
    if (pong.state == RECEIVING) {
        if (!there.full)
            return;
        there.full = false;
        pong.value = there.value;
    }
    pong.state = SENDING;
    if (back.full)
        return;
    back.value = pong.value;
    back.full = true;
    pong.state = RECEIVING;
}

/* Volatile, so that the calls stay calls through a pointer, as a scheduler's
 * are. */
static void (*volatile steps[])(void) = {ping_step, pong_step};

void pingpong_floor(struct bench_run *run)
{
    there.full = false;
    back.full = false;
    ping.state = SENDING;
    ping.sent = 0;
    pong.state = RECEIVING;
    while (ping.sent != (uint32_t)run->rounds) {
        steps[0]();
        steps[1]();
    }
}
