/* SPDX-License-Identifier: MIT */

/* A small program of somebody who has installed doze: an interrupt sends to a
 * task on a simulated core. */

#include <doze.h>
#include <sim/core.h>
#include <stdio.h>

enum { BUTTON_IRQ = 2 };

DZ_CHANNEL_DEFINE(press_channel, int, 4, DZ_CRITICAL_SECTION)

static struct press_channel presses;
static struct dz_core core;
static struct dz_executor executor;

static void button_handler(void *argument)
{
    int press = 42;

    (void)argument;
    (void)press_channel_try_send(&presses, &press);
}

struct listener {
    struct dz_task task;
    int press;
    bool done;
};

static enum dz_poll listener_poll(struct listener *self)
{
    async (self) {
        await(press_channel_receive(&presses, &self->press));
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(listeners, struct listener, listener_poll, 1)

static void firmware(void *argument)
{
    struct listener *listener;

    dz_executor_init(&executor, "main");
    if (listeners_claim(&listener) == DZ_BUSY)
        return;
    dz_executor_spawn(&executor, &listener->task);
    dz_executor_run_until(&executor, &listener->done);
    *(int *)argument = listener->press;
}

int main(void)
{
    int press = 0;

    dz_core_bind(&core, BUTTON_IRQ, button_handler, NULL);
    dz_core_start(&core, firmware, &press);
    dz_core_pend(&core, BUTTON_IRQ);
    dz_core_join(&core);
    printf("pressed: %d\n", press);
    return press == 42 ? 0 : 1;
}
