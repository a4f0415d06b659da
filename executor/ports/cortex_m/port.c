/* SPDX-License-Identifier: MIT */
#include "port.h"

#include "executor/executor.h"
#include "executor/panic.h"

/* (Armv7-M Architecture Reference Manual, B3.2 and B3.4; for what Armv6-M has,
 * its own, likewise. That allows access to priorities by words only.) */
#define SET_ENABLE ((volatile uint32_t *)UINT32_C(0xE000E100))
#define PRIORITIES ((volatile uint32_t *)UINT32_C(0xE000E400))
#define SHPR3 ((volatile uint32_t *)UINT32_C(0xE000ED20))

#define PRIORITY_MASK UINT32_C(0xFF)

/* Registers for more than this, the architecture does not have. */
#ifdef __ARM_ARCH_6M__
enum { INTERRUPTS = 32 };
#else
enum { INTERRUPTS = 496 };
#endif

static void check_wait(void)
{
    dz_key key = dz_port_enter();

    dz_port_exit(key);
    if (key != 0)
        dz_panic("the executor waits with interrupts off: nothing wakes it",
            __FILE__, __LINE__);
}

/* The manuals want what was stored before to be complete when the core sleeps
 * (Arm application note 321). */
void dz_port_wait(void)
{
    if (DZ_CHECKS)
        check_wait();
    __asm__ volatile("dsb\n\twfe" : : : "memory");
}

struct dz_port_executor dz_port_pend_of(int interrupt)
{
    unsigned number = (unsigned)interrupt;

    if (interrupt == DZ_PORT_PENDSV)
        return (struct dz_port_executor){DZ_PORT_ICSR, DZ_PORT_ICSR_PENDSVSET};
    if (interrupt == DZ_PORT_SYSTICK)
        return (struct dz_port_executor){DZ_PORT_ICSR, DZ_PORT_ICSR_PENDSTSET};
    return (struct dz_port_executor){
        &DZ_PORT_SET_PENDING[number / 32], UINT32_C(1) << number % 32};
}

/* Stores the eight bits of an interrupt's priority, and returns what the core
 * has of them. PendSV and SysTick are the upper half of their register, as if
 * their numbers went on below 0. */
static uint32_t write_priority(int interrupt, uint32_t bits)
{
    unsigned number = (unsigned)interrupt;
    volatile uint32_t *word = interrupt < 0 ? SHPR3 : &PRIORITIES[number / 4];
    unsigned shift = number % 4 * 8;
    dz_key key = dz_port_enter();

    *word = (*word & ~(PRIORITY_MASK << shift)) | bits << shift;
    bits = *word >> shift & PRIORITY_MASK;
    dz_port_exit(key);
    return bits;
}

/* Which bits of a priority the core has, to preempt by. The lowest of all
 * eight, where there is one, does not (B1.5.4): it says who comes first. Until
 * a priority is written, none is more relaxed. */
static uint32_t available_bits(int interrupt)
{
    uint32_t available = 0;

    if (interrupt < DZ_PORT_PENDSV)
        dz_panic("a system exception other than PendSV and SysTick is used as "
                 "an interrupt",
            __FILE__, __LINE__);
    if (interrupt < INTERRUPTS)
        available = write_priority(interrupt, PRIORITY_MASK) & ~UINT32_C(1);
    if (available == 0)
        dz_panic("an interrupt is used that the core does not have", __FILE__,
            __LINE__);
    return available;
}

/* Priority 1 is the lowest of the bits that the core has. */
static uint32_t priority_bits(unsigned priority, uint32_t available)
{
    uint32_t bits = priority * (available & (0 - available));

    if (priority > PRIORITY_MASK || bits > available)
        dz_panic("an interrupt is given a priority that the core does not "
                 "have: it has too few bits",
            __FILE__, __LINE__);
    return bits;
}

/* The bits of DZ_PORT_BASEPRI that the core lacks read as zeros, and a BASEPRI
 * of 0 masks nothing. */
static void check_mask(uint32_t bits, uint32_t available)
{
    uint32_t mask = DZ_PORT_BASEPRI & available;

    if (DZ_PORT_BASEPRI != 0 && mask == 0)
        dz_panic("DZ_PORT_BASEPRI has none of the bits that the core has: no "
                 "critical section would mask anything",
            __FILE__, __LINE__);
    if (bits < mask)
        dz_panic("an interrupt that calls the executor is more urgent than "
                 "critical sections mask: its priority, shifted to "
                 "the bits that the core has, must be at least DZ_PORT_BASEPRI",
            __FILE__, __LINE__);
}

/* The priority before the enabling, so that none comes with another one. */
void dz_port_enable(int interrupt, unsigned priority)
{
    uint32_t available = available_bits(interrupt);
    uint32_t bits = priority_bits(priority, available);

    check_mask(bits, available);
    (void)write_priority(interrupt, bits);
    if (interrupt >= 0)
        SET_ENABLE[(unsigned)interrupt / 32] = UINT32_C(1)
            << (unsigned)interrupt % 32;
}

/* Who wakes a task meanwhile pends the one or the other: not with half of this
 * and half of that. What came too early, dz_executor_start pends again. */
void dz_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority)
{
    dz_key key;

    dz_port_enable(interrupt, priority);
    key = dz_port_enter();
    executor->port = dz_port_pend_of(interrupt);
    dz_port_exit(key);
}
