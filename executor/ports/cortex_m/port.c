/* SPDX-License-Identifier: MIT */
#include "port.h"

#include "executor/executor.h"
#include "executor/panic.h"

/* (Armv7-M Architecture Reference Manual, B3.4; for what Armv6-M has, its own,
 * B3.4. That allows access to priorities by words only.) */
#define SET_ENABLE ((volatile uint32_t *)UINT32_C(0xE000E100))
#define PRIORITIES ((volatile uint32_t *)UINT32_C(0xE000E400))
#define SHPR3 ((volatile uint32_t *)UINT32_C(0xE000ED20))

enum { PENDSV_SHIFT = 16 };

#define PRIORITY_MASK UINT32_C(0xFF)

/* What was stored before is visible before the core sleeps, as the Arm manual
 * has it (Application Note 321). */
void dz_port_wait(void)
{
    __asm__ volatile("dsb\n\twfe" : : : "memory");
}

/* Where the eight bits of the interrupt's priority are. */
static volatile uint32_t *priority_word(int interrupt)
{
    return interrupt == DZ_PORT_PENDSV ? SHPR3
                                       : &PRIORITIES[(unsigned)interrupt / 4];
}

static unsigned priority_shift(int interrupt)
{
    return interrupt == DZ_PORT_PENDSV ? PENDSV_SHIFT
                                       : (unsigned)interrupt % 4 * 8;
}

static void write_priority(int interrupt, uint32_t bits)
{
    volatile uint32_t *word = priority_word(interrupt);
    unsigned shift = priority_shift(interrupt);
    dz_key key = dz_port_enter();

    *word = (*word & ~(PRIORITY_MASK << shift)) | bits << shift;
    dz_port_exit(key);
}

static uint32_t read_priority(int interrupt)
{
    return *priority_word(interrupt) >> priority_shift(interrupt) &
        PRIORITY_MASK;
}

/* How far a priority is shifted: the bits that a core has not read as zeros. */
static unsigned lowest_bit(int interrupt)
{
    write_priority(interrupt, PRIORITY_MASK);
    return (unsigned)__builtin_ctz(read_priority(interrupt));
}

/* The priority before the enabling, so that none comes with another one. */
void dz_port_start(
    struct dz_executor *executor, int interrupt, unsigned priority)
{
    unsigned shift;

    if (interrupt < 0 && interrupt != DZ_PORT_PENDSV)
        dz_panic("an executor is started in a system exception other than "
                 "PendSV",
            __FILE__, __LINE__);
    shift = lowest_bit(interrupt);
    if (priority > PRIORITY_MASK >> shift)
        dz_panic("an executor is started with a priority that the core does "
                 "not have",
            __FILE__, __LINE__);
    write_priority(interrupt, priority << shift);
    if (interrupt == DZ_PORT_PENDSV) {
        executor->port.set = DZ_PORT_ICSR;
        executor->port.bit = DZ_PORT_ICSR_PENDSVSET;
        return;
    }
    executor->port.set = DZ_PORT_SET_PENDING + (unsigned)interrupt / 32;
    executor->port.bit = UINT32_C(1) << (unsigned)interrupt % 32;
    SET_ENABLE[(unsigned)interrupt / 32] = executor->port.bit;
}
