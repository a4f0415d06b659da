/* SPDX-License-Identifier: MIT */
#ifndef PORT_H
#define PORT_H

/*
 * port -- the executor on a Cortex-M
 *
 * For any core of Armv6-M or Armv7-M; nothing in here is a vendor's. PORTING.md
 * in executor/ says what each of these has to do. A program links port.c, one
 * of the two time drivers, systick.c or oneshot.c, and panic.c or a
 * dz_port_panic of its own.
 *
 *     static struct dz_executor urgent;
 *
 *     void UART5_IRQHandler(void)            nobody else needs this interrupt
 *     {
 *         dz_executor_poll(&urgent);
 *     }
 *
 *     dz_executor_init(&urgent, "urgent");
 *     dz_executor_start(&urgent, UART5_IRQn, 2);
 *
 * What to know
 *  - An interrupt has its number in CMSIS: external ones count from 0, system
 *    exceptions are negative. An executor is polled by any interrupt that is to
 *    spare, by PendSV, or by SysTick where that makes no ticks. The handler is
 *    in the program's vector table.
 *  - Priorities are counted from 0, the most urgent one, as NVIC_SetPriority
 *    does: 0 to 3 on Armv6-M, often 0 to 7 or 15 on Armv7-M, at most 127. Each
 *    preempts the next, if the program does not group them (PRIGROUP). What has
 *    not that many bits panics.
 *  - A critical section is PRIMASK, which every core has. It holds off all that
 *    has a priority. With DZ_PORT_BASEPRI, on Armv7-M, it is BASEPRI: what is
 *    more urgent than this value of the register is never held off, and must
 *    not call into the executor, as little as NMI and HardFault. An executor
 *    that is started there panics; the priorities of a program's own interrupts
 *    nobody checks, and at reset they are 0: set them, or use dz_port_enable.
 *    (With four bits, 0x50 is priority 5. A Cortex-M7 older than r0p2 has an
 * erratum, 837070, that lets interrupts through a new BASEPRI: it takes
 * PRIMASK.)
 *  - An interrupt that a critical section held off may come an instruction or
 *    two behind its end: nothing in here waits for that with a barrier.
 *  - Thread mode is privileged. Without privileges the core ignores a write to
 *    PRIMASK, and says nothing.
 *  - The hardware calls handlers directly, so nobody can tell a handler from
 *    the task that it interrupts: it must call nothing that waits.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/compiler.h"

#ifndef DZ_CHECKS
#define DZ_CHECKS 0
#endif

#ifndef DZ_CORES
#define DZ_CORES 1
#endif

_Static_assert(DZ_CORES == 1, "PRIMASK keeps no other core out");

/* What BASEPRI is in a critical section; 0: PRIMASK is used. */
#ifndef DZ_PORT_BASEPRI
#define DZ_PORT_BASEPRI 0
#endif

#ifdef __ARM_ARCH_6M__
_Static_assert(DZ_PORT_BASEPRI == 0, "Armv6-M has no BASEPRI");
#endif
_Static_assert(
    DZ_PORT_BASEPRI >= 0 && DZ_PORT_BASEPRI <= 255, "BASEPRI has eight bits");

#define DZ_PORT_LOCAL

typedef uint32_t dz_key; /* PRIMASK or BASEPRI as it was */

struct dz_executor;
struct dz_panic;
struct dz_task;

/* System exceptions, as CMSIS numbers them. */
enum { DZ_PORT_PENDSV = -2, DZ_PORT_SYSTICK = -1 };

/* How the executor's interrupt is made pending. In thread mode there is none,
 * and zeros are written, which do nothing. */
struct dz_port_executor {
    volatile uint32_t *set; /* a register, */
    uint32_t bit;           /* and what is written there */
};

/* One bit for each external interrupt, 32 to a register; and the two system
 * exceptions. Zeros do nothing. (Armv7-M Architecture Reference Manual, B3.4
 * and B3.2.4; Armv6-M has the first of the first.) */
#define DZ_PORT_SET_PENDING ((volatile uint32_t *)UINT32_C(0xE000E200))
#define DZ_PORT_ICSR ((volatile uint32_t *)UINT32_C(0xE000ED04))
#define DZ_PORT_ICSR_PENDSVSET (UINT32_C(1) << 28)
#define DZ_PORT_ICSR_PENDSTSET (UINT32_C(1) << 26)

/*
 * An exception return sets the event register (Armv7-M Architecture Reference
 * Manual, B1.5.18; Armv6-M, B1.5.14). But not that of a Cortex-M3 older than
 * r2p1, of which there are many: that is its erratum 563915. It needs the SEV
 * of a pend. The Cortex-M3 is the one core of Armv7-M without the DSP
 * extension, so the compiler says which it is; the build may know better.
 */
#ifndef DZ_PORT_RETURN_SETS_EVENT
#if defined(__ARM_ARCH_7M__)
#define DZ_PORT_RETURN_SETS_EVENT 0
#else
#define DZ_PORT_RETURN_SETS_EVENT 1
#endif
#endif

_Noreturn void dz_port_panic(const struct dz_panic *panic);
void dz_port_wait(void);
uint64_t dz_port_now(void);
void dz_port_set_alarm(uint64_t at);
void dz_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority);

/* What an interrupt is made pending with. */
struct dz_port_executor dz_port_pend_of(int interrupt);

/* Gives an interrupt, PendSV or SysTick its priority, and enables it. Panics if
 * the core does not have it or the priority, or if critical sections would not
 * hold it off. Thread mode. */
void dz_port_enable(int interrupt, unsigned priority);

/* The next two are always inline, since the barrier to the compiler counts in
 * the function that it is in: gcc looks at what a function that it calls
 * touches by name, and that is nothing. */

/* No barrier for the core: a write that masks more takes effect before the next
 * instruction (Armv7-M B5.2.1 and B5.2.3, Armv6-M B4.2). An interrupt between
 * the two instructions gives the register back as it found it. */
DZ_INLINE dz_key dz_port_enter(void)
{
    dz_key key;

    if (DZ_PORT_BASEPRI != 0)
        __asm__ volatile("mrs %0, basepri\n\tmsr basepri_max, %1"
                         : "=&r"(key)
                         : "r"(DZ_PORT_BASEPRI)
                         : "memory");
    else
        __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(key) : : "memory");
    return key;
}

/* Nor here. What it lets in comes when it comes: who has pended it counts on no
 * more than that. */
DZ_INLINE void dz_port_exit(dz_key key)
{
    if (DZ_PORT_BASEPRI != 0)
        __asm__ volatile("msr basepri, %0" : : "r"(key) : "memory");
    else
        __asm__ volatile("msr primask, %0" : : "r"(key) : "memory");
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
    executor->set = DZ_PORT_SET_PENDING;
    executor->bit = 0;
}

/*
 * Always both: a branch would take longer. Where the event is not asked for, it
 * costs a look at an empty queue at most, and an interrupt that is left nearly
 * always sets it anyway.
 *
 * No barrier: what the task finds is in memory before the interrupt comes,
 * since a core sees its own stores in order. That the interrupt is pending
 * before the critical section ends, nobody counts on; it is soon after.
 */
static inline void dz_port_pend(const struct dz_port_executor *executor)
{
    *executor->set = executor->bit;
    __asm__ volatile("sev" : : : "memory");
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
