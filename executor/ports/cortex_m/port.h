/* SPDX-License-Identifier: MIT */
#ifndef PORT_H
#define PORT_H

/*
 * port -- the executor on a Cortex-M
 *
 * For any core of Armv6-M or Armv7-M; nothing in here is a vendor's. PORTING.md
 * in executor/ says what each of these has to do. port.c is still to come: what
 * is only declared here does not link yet.
 *
 * What to know
 *  - A critical section is PRIMASK, which every core has. It holds off all that
 *    has a priority. NMI and HardFault have none that could be masked, so their
 *    handlers must not call into the executor.
 *  - Thread mode is privileged. Without privileges the core ignores a write to
 *    PRIMASK, and says nothing.
 *  - What polls an interrupt executor is an external interrupt, counted from 0
 *    as in the vendor's headers, and not a system exception.
 *  - The hardware calls handlers directly, so nobody can tell a handler from
 *    the task that it interrupts: it must call nothing that waits.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef DZ_CHECKS
#define DZ_CHECKS 0
#endif

#ifndef DZ_CORES
#define DZ_CORES 1
#endif

_Static_assert(DZ_CORES == 1, "PRIMASK keeps no other core out");

#define DZ_PORT_LOCAL

typedef uint32_t dz_key; /* PRIMASK as it was */

struct dz_executor;
struct dz_panic;
struct dz_task;

enum { DZ_PORT_THREAD_MODE = -1 };

struct dz_port_executor {
    int interrupt; /* that polls it, or DZ_PORT_THREAD_MODE */
};

/* A bit for each external interrupt, 32 to the register. Zeros do nothing. */
#define DZ_PORT_SET_PENDING ((volatile uint32_t *)UINT32_C(0xE000E200))

_Noreturn void dz_port_panic(const struct dz_panic *panic);
void dz_port_wait(void);
uint64_t dz_port_now(void);
void dz_port_set_alarm(uint64_t at);
void dz_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority);

/* No barrier: the core sees to it that what follows is masked. An interrupt
 * between the two instructions gives PRIMASK back as it found it. */
static inline dz_key dz_port_enter(void)
{
    dz_key key;

    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(key) : : "memory");
    return key;
}

/* Without the barrier, a pending interrupt might run an instruction or two
 * later: behind the return. */
static inline void dz_port_exit(dz_key key)
{
    __asm__ volatile("msr primask, %0\n\tisb" : : "r"(key) : "memory");
}

/* Not volatile: what asks twice in one function gets one answer. */
static inline unsigned dz_port_context(void)
{
    unsigned ipsr;

    __asm__("mrs %0, ipsr" : "=r"(ipsr));
    return ipsr;
}

static inline bool dz_port_is_thread_mode(void)
{
    return dz_port_context() == 0;
}

static inline void dz_port_executor_init(struct dz_port_executor *executor)
{
    executor->interrupt = DZ_PORT_THREAD_MODE;
}

/* The store has reached the interrupt controller before the critical section
 * ends, so that the interrupt comes at its end. */
static inline void dz_port_pend(const struct dz_port_executor *executor)
{
    unsigned interrupt = (unsigned)executor->interrupt;

    if (executor->interrupt == DZ_PORT_THREAD_MODE) {
        __asm__ volatile("sev" : : : "memory");
        return;
    }
    DZ_PORT_SET_PENDING[interrupt / 32] = UINT32_C(1) << interrupt % 32;
    __asm__ volatile("dsb" : : : "memory");
}

static inline bool dz_port_is_here(const struct dz_port_executor *executor)
{
    (void)executor;
    return true;
}

/* For other cores, of which there are none: never called. */

static inline struct dz_task **dz_port_inbox(
    const struct dz_port_executor *executor)
{
    (void)executor;
    return NULL;
}

static inline void dz_port_ring(const struct dz_port_executor *executor)
{
    (void)executor;
}

#endif
