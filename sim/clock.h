/* SPDX-License-Identifier: MIT */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdint.h>

uint64_t dz_clock_now(void);
void dz_clock_set_alarm(uint64_t at);

#endif
