/* SPDX-License-Identifier: MIT */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

_Noreturn void dz_report_deadlock(void);
_Noreturn void dz_report_busy_loop(void);

#endif
