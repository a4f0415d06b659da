/* SPDX-License-Identifier: MIT */
#ifndef TEST_PORT_H
#define TEST_PORT_H

/*
 * port -- that of the Cortex-M, and what tests look into
 *
 * The port's functions are the real ones. Tests may have an interrupt made
 * pending at the end of the next critical section, and ask for the event, which
 * on a Cortex-M only WFE can see.
 */

#ifndef DZ_CHECKS
#define DZ_CHECKS 1
#endif

#define dz_port_exit dz_cortex_m_exit
#define dz_port_pend dz_cortex_m_pend
#include "executor/ports/cortex_m/port.h"
#undef dz_port_exit
#undef dz_port_pend

#include "sim/port/panic_text.h"

struct test_port {
    volatile uint32_t deferred; /* interrupts: a bit for each */
    volatile bool event;
};

extern struct test_port test_port;

/* What is deferred becomes pending while it is still masked, so that the core
 * takes it at the very instruction that ends the section. */
static inline void dz_port_exit(dz_key key)
{
    if (test_port.deferred != 0 && key == 0) {
        DZ_PORT_SET_PENDING[0] = test_port.deferred;
        test_port.deferred = 0;
    }
    dz_cortex_m_exit(key);
}

static inline void dz_port_pend(const struct dz_port_executor *executor)
{
    test_port.event = true;
    dz_cortex_m_pend(executor);
}

#endif
