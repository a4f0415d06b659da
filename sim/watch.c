/* SPDX-License-Identifier: MIT */
#include "sim/watch.h"

#include "executor/panic.h"
#include "sim/machine.h"

/* The first of these, or the first free place: both NULL. */
static struct dz_watching *find(
    struct dz_watching *watches, dz_watcher *watcher, const void *argument)
{
    for (int i = 0; i < DZ_WATCHERS; i++) {
        if (watches[i].watcher == watcher && watches[i].argument == argument)
            return &watches[i];
    }
    dz_panic("more than 4 watchers of pins or of UARTs, or one is removed that "
             "is not there",
        __FILE__, __LINE__);
}

void dz_watching_add(
    struct dz_watching *watches, dz_watcher *watcher, void *argument)
{
    dz_key key = dz_machine_lock();

    *find(watches, NULL, NULL) = (struct dz_watching){watcher, argument};
    dz_machine_unlock(key);
}

void dz_watching_remove(
    struct dz_watching *watches, dz_watcher *watcher, void *argument)
{
    dz_key key = dz_machine_lock();

    *find(watches, watcher, argument) = (struct dz_watching){NULL, NULL};
    dz_machine_unlock(key);
}

void dz_watching_tell(
    const struct dz_watching *watches, unsigned number, uint8_t value)
{
    for (int i = 0; i < DZ_WATCHERS; i++) {
        if (watches[i].watcher != NULL)
            watches[i].watcher(number, value, watches[i].argument);
    }
}
