/* SPDX-License-Identifier: MIT */

/*
 * panic -- stop for a debugger, with all that is known in r0
 *
 *     (gdb) print *(struct dz_panic *)$r0
 *
 * Without a debugger, BKPT is a HardFault, whose handler is the program's. One
 * that prints, or resets, defines a dz_port_panic and leaves this file out. (In
 * an archive it is left out by itself.)
 */

#include "port.h"

void dz_port_panic(const struct dz_panic *panic)
{
    register const struct dz_panic *r0 __asm__("r0") = panic;

    for (;;)
        __asm__ volatile("cpsid i\n\tbkpt 0" : : "r"(r0) : "memory");
}
