/* SPDX-License-Identifier: MIT */
#ifndef SIM_VCD_H
#define SIM_VCD_H

/*
 * vcd -- the pins as waveforms (IEEE 1364, clause 18)
 *
 * The file names all pins, unknown at first, and then each change of one. Its
 * time never goes back: cores that share a thread are not always at the same
 * instant, so a change that comes behind a later one is written at the time of
 * that one.
 *
 * For sim/trace.c, which says in what context.
 */

#include <stdbool.h>
#include <stdint.h>

enum { DZ_VCD_PINS = 64 };

/* False: errno says why. */
bool dz_vcd_open(const char *path);

/* A level that the pin has already is not written. */
void dz_vcd_write(uint64_t time, unsigned pin, unsigned level);

/* False: something could not be written. */
bool dz_vcd_close(void);

#endif
