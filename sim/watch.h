/* SPDX-License-Identifier: MIT */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

/*
 * watch -- who is told of what pins and UARTs do
 *
 * For each of the two kinds, up to four functions with an argument each. What
 * tasks watch is in sync/watch.h.
 */

#include <stdint.h>

enum { DZ_WATCHERS = 4 };

/* The `value` of number `number`: the level of a pin, a byte of a UART. */
typedef void dz_watcher(unsigned number, uint8_t value, void *argument);

struct dz_watching {
    dz_watcher *watcher; /* NULL: free */
    void *argument;
};

/* The watchers of one kind. Any thread, any context. A fifth one panics, and so
 * does removing what is not there. */
void dz_watching_add(
    struct dz_watching *watches, dz_watcher *watcher, void *argument);
void dz_watching_remove(
    struct dz_watching *watches, dz_watcher *watcher, void *argument);

/* Calls them all. Within a machine lock. */
void dz_watching_tell(
    const struct dz_watching *watches, unsigned number, uint8_t value);

#endif
