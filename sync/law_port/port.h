/* SPDX-License-Identifier: MIT */
#ifndef LAW_PORT_H
#define LAW_PORT_H

/*
 * law port -- the port to a Cortex-M, whose critical sections tell of their end
 *
 * The end of the outermost one is a look for interrupts: where PRIMASK is about
 * to be 0 again. All layers of a law test are compiled with this.
 */

#define dz_port_exit dz_port_exit_untold
#include "executor/ports/cortex_m/port.h"
#undef dz_port_exit

/* In law_board.c. Interrupts are off. */
void law_look(void);

static inline void dz_port_exit(dz_key key)
{
    if (key == 0)
        law_look();
    dz_port_exit_untold(key);
}

#endif
