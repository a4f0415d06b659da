/* SPDX-License-Identifier: MIT */
#include "sync/waker.h"

static bool contains(
    const struct dz_multi_waker *waker, const struct dz_task *task)
{
    for (unsigned i = 0; i < waker->count; i++) {
        if (waker->tasks[i] == task)
            return true;
    }
    return false;
}

void dz_multi_waker_register(struct dz_multi_waker *waker)
{
    struct dz_task *task = dz_task_current();

    if (waker->capacity == 0)
        dz_panic("a multi waker without slots", __FILE__, __LINE__);
    if (contains(waker, task))
        return;
    if (waker->count == waker->capacity)
        dz_multi_waker_wake(waker);
    waker->tasks[waker->count++] = task;
}

void dz_multi_waker_wake(struct dz_multi_waker *waker)
{
    unsigned count = waker->count;

    waker->count = 0;
    for (unsigned i = 0; i < count; i++)
        dz_task_wake(waker->tasks[i]);
}

void dz_atomic_waker_register(struct dz_atomic_waker *waker)
{
    dz_key key = dz_port_enter();

    dz_waker_register(&waker->waker);
    dz_port_exit(key);
}

void dz_atomic_waker_wake(struct dz_atomic_waker *waker)
{
    dz_key key = dz_port_enter();

    dz_waker_wake(&waker->waker);
    dz_port_exit(key);
}
