/* SPDX-License-Identifier: MIT */
#ifndef SIM_PORT_PANIC_H
#define SIM_PORT_PANIC_H

/*
 * panic -- what becomes of a panic on the host
 *
 * It is written to standard error and the process exits with DZ_EXIT_PANIC. A
 * test that expects one sets a hook, which gets the text instead and does not
 * return.
 */

enum { DZ_EXIT_PANIC = 1 };

extern void (*dz_port_panic_hook)(const char *text);

#endif
