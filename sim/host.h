/* SPDX-License-Identifier: MIT */
#ifndef SIM_HOST_H
#define SIM_HOST_H

/*
 * host -- calls of the host's library from firmware
 *
 * In real time an interrupt strikes anywhere, also within printf or malloc,
 * which hold a lock meanwhile. If the handler then calls them, too, it waits
 * for what it has interrupted, for ever. Thread mode and handlers that share
 * such a call make it in a host section, in which no interrupt of this core
 * comes:
 *
 *     dz_key key = dz_host_enter();
 *     printf("%u\n", level);
 *     dz_host_exit(key);
 *
 * Sections nest. Other cores are not kept out, for the library's own locks do
 * that; so within a section nothing of doze is called. In virtual time an
 * interrupt never strikes within a call; a section does no harm.
 *
 * A call that blocks (sleep, read) stops its core, as it would on a chip, and
 * is cut short by an interrupt: errno is EINTR where the system does not
 * restart it, which is so for nanosleep, poll, select, epoll_wait and
 * sem_timedwait. Firmware does not block; peripherals do its I/O.
 */

#include "port.h"

static inline dz_key dz_host_enter(void)
{
    return dz_port_mask();
}

/* Interrupts that came meanwhile run before this returns. */
static inline void dz_host_exit(dz_key key)
{
    dz_port_unmask(key);
}

#endif
