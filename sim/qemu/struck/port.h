/* SPDX-License-Identifier: MIT */
#ifndef STRUCK_PORT_H
#define STRUCK_PORT_H

/*
 * port -- that of a Cortex-M, for a program that is struck (sim/qemu/strike.c)
 *
 * QEMU has no event register: it does not sleep in WFE, and nobody sees an SEV.
 * So the program notes that thread mode was pended, and has a wait of its own.
 * All else, interrupt executors above all, is as it is.
 */

#include <stdbool.h>

extern volatile bool strike_event;

#define dz_port_wait strike_wait
#define dz_port_pend dz_port_pend_unseen
#include "executor/ports/cortex_m/port.h"
#undef dz_port_pend

static inline void dz_port_pend(const struct dz_port_executor *executor)
{
    if (executor->bit == 0)
        strike_event = true;
    dz_port_pend_unseen(executor);
}

#endif
