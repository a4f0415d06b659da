/* SPDX-License-Identifier: MIT */
#include "sim/nvic.h"

#include <stdio.h>

#include "executor/panic.h"

/*
 * All that is atomic is so with the strongest order, for one reason: see the
 * header. Only the core stores to `enabled` and `priority`, and takes pending
 * bits away; other threads set pending bits, and raise and lower lines.
 */

/* PendSV and SysTick in the first word. */
enum { SYSTEM = 3 };

unsigned dz_nvic_index(int irq)
{
    static char reason[96];

    if (irq >= DZ_PENDSV && irq < DZ_NVIC_IRQS)
        return (unsigned)(irq - DZ_PENDSV);
    snprintf(reason, sizeof(reason),
        "there is no interrupt %d: they are 0 to %d, PendSV (%d) and SysTick "
        "(%d)",
        irq, DZ_NVIC_IRQS - 1, DZ_PENDSV, DZ_SYSTICK);
    dz_panic(reason, __FILE__, __LINE__);
}

static unsigned line_of(int irq)
{
    if (irq == DZ_PENDSV || irq == DZ_SYSTICK)
        dz_panic(
            "PendSV and SysTick have no line: pend them", __FILE__, __LINE__);
    return dz_nvic_index(irq);
}

static uint32_t bit_of(unsigned index)
{
    return UINT32_C(1) << index % 32;
}

static uint64_t asserted(uint32_t bit)
{
    return (uint64_t)bit << 32;
}

void dz_nvic_pend(struct dz_nvic *nvic, int irq)
{
    unsigned index = dz_nvic_index(irq);

    atomic_fetch_or(&nvic->state[index / 32], bit_of(index));
}

/* A write to the pending bit changes nothing while the line is asserted (B3.4).
 * Line and bit are compared and changed in one step: an edge in between would
 * be cleared with the rest. */
void dz_nvic_clear_pending(struct dz_nvic *nvic, int irq)
{
    unsigned index = dz_nvic_index(irq);
    uint32_t bit = bit_of(index);
    uint64_t state = atomic_load(&nvic->state[index / 32]);

    do {
        if ((state & asserted(bit)) != 0)
            return;
    } while (!atomic_compare_exchange_weak(
        &nvic->state[index / 32], &state, state & ~(uint64_t)bit));
}

/* A rising edge pends, active or not; a high level is none (B3.4). In one step,
 * for which the header has the reason. */
void dz_nvic_raise(struct dz_nvic *nvic, int irq)
{
    unsigned index = line_of(irq);
    uint32_t bit = bit_of(index);
    uint64_t state = atomic_load(&nvic->state[index / 32]);

    do {
        if ((state & asserted(bit)) != 0)
            return;
    } while (!atomic_compare_exchange_weak(
        &nvic->state[index / 32], &state, state | asserted(bit) | bit));
}

/* What was latched stays pending (B3.4): its handler runs for nothing. */
void dz_nvic_lower(struct dz_nvic *nvic, int irq)
{
    unsigned index = line_of(irq);

    atomic_fetch_and(&nvic->state[index / 32], ~asserted(bit_of(index)));
}

bool dz_nvic_is_pending(const struct dz_nvic *nvic, int irq)
{
    unsigned index = dz_nvic_index(irq);

    return (atomic_load(&nvic->state[index / 32]) & bit_of(index)) != 0;
}

void dz_nvic_enable(struct dz_nvic *nvic, int irq)
{
    unsigned index = dz_nvic_index(irq);

    atomic_fetch_or(&nvic->enabled[index / 32], bit_of(index));
}

void dz_nvic_disable(struct dz_nvic *nvic, int irq)
{
    unsigned index = dz_nvic_index(irq);

    if (index < 2)
        dz_panic("PendSV and SysTick cannot be disabled: mask them instead",
            __FILE__, __LINE__);
    atomic_fetch_and(&nvic->enabled[index / 32], ~bit_of(index));
}

/* The architecture has no enable bits for the first two. */
static uint32_t enabled_in(const struct dz_nvic *nvic, unsigned word)
{
    return atomic_load(&nvic->enabled[word]) | (word == 0 ? SYSTEM : 0);
}

bool dz_nvic_is_enabled(const struct dz_nvic *nvic, int irq)
{
    unsigned index = dz_nvic_index(irq);

    return (enabled_in(nvic, index / 32) & bit_of(index)) != 0;
}

/* Bits that are not implemented read as zero and ignore writes (B1.5.4). */
static uint8_t implemented(const struct dz_nvic *nvic, uint8_t priority)
{
    unsigned bits = nvic->priority_bits == 0 ? 8 : nvic->priority_bits;

    if (bits < 2 || bits > 8)
        dz_panic("an NVIC has 2 to 8 priority bits", __FILE__, __LINE__);
    return (uint8_t)(priority & 0xff00 >> bits);
}

void dz_nvic_set_priority(struct dz_nvic *nvic, int irq, uint8_t priority)
{
    atomic_store(
        &nvic->priority[dz_nvic_index(irq)], implemented(nvic, priority));
}

unsigned dz_nvic_priority(const struct dz_nvic *nvic, int irq)
{
    return atomic_load(&nvic->priority[dz_nvic_index(irq)]);
}

void dz_nvic_set_basepri(struct dz_nvic *nvic, uint8_t basepri)
{
    nvic->basepri = implemented(nvic, basepri);
}

/* All that are active count, with their priorities of now (B1.5.4): the last
 * one is the most urgent only while nobody changes a priority. */
unsigned dz_nvic_execution_priority(const struct dz_nvic *nvic)
{
    unsigned limit = nvic->basepri == 0 ? DZ_NVIC_THREAD : nvic->basepri;

    for (unsigned i = 0; i < nvic->depth; i++) {
        unsigned priority = atomic_load(&nvic->priority[nvic->active[i]]);

        if (priority < limit)
            limit = priority;
    }
    return limit;
}

/* Lower numbers come first, so an equal one that follows changes nothing. What
 * is active is never below the limit, and so need not be left out. */
int dz_nvic_next(const struct dz_nvic *nvic, enum dz_primask primask)
{
    unsigned limit = dz_nvic_execution_priority(nvic);
    int next = DZ_NVIC_NONE;

    if (primask == DZ_PRIMASK_SET)
        return DZ_NVIC_NONE;
    for (unsigned word = 0; word < DZ_NVIC_WORDS; word++) {
        uint32_t ready = (uint32_t)atomic_load(&nvic->state[word]);

        for (ready &= enabled_in(nvic, word); ready != 0; ready &= ready - 1) {
            unsigned index = word * 32 + (unsigned)__builtin_ctz(ready);
            unsigned priority = atomic_load(&nvic->priority[index]);

            if (priority >= limit)
                continue;
            limit = priority;
            next = (int)index + DZ_PENDSV;
        }
    }
    return next;
}

/* PRIMASK is left out, BASEPRI is not (B1.5, Wait For Interrupt). */
bool dz_nvic_wakes(const struct dz_nvic *nvic)
{
    return dz_nvic_next(nvic, DZ_PRIMASK_CLEAR) != DZ_NVIC_NONE;
}

/* That it is more urgent than all that are active keeps it from being entered
 * twice, and the stack from overflowing. */
void dz_nvic_enter(struct dz_nvic *nvic, int irq)
{
    unsigned index = dz_nvic_index(irq);

    if (!dz_nvic_is_pending(nvic, irq) || !dz_nvic_is_enabled(nvic, irq) ||
        dz_nvic_priority(nvic, irq) >= dz_nvic_execution_priority(nvic))
        dz_panic("an interrupt is entered that dz_nvic_next did not name",
            __FILE__, __LINE__);
    atomic_fetch_and(&nvic->state[index / 32], ~(uint64_t)bit_of(index));
    nvic->active[nvic->depth++] = (uint8_t)index;
}

/* The line is looked at as the handler returns (B3.4). Look and bit need not be
 * one step, for only we clear the bit: a line that is lowered in between was
 * lowered a moment too late. */
void dz_nvic_exit(struct dz_nvic *nvic, int irq)
{
    unsigned index = dz_nvic_index(irq);
    uint32_t bit = bit_of(index);

    if (nvic->depth == 0 || nvic->active[nvic->depth - 1] != index)
        dz_panic("an interrupt exits that was not the last to be entered",
            __FILE__, __LINE__);
    nvic->depth--;
    if ((atomic_load(&nvic->state[index / 32]) & asserted(bit)) != 0)
        atomic_fetch_or(&nvic->state[index / 32], bit);
}

bool dz_nvic_is_active(const struct dz_nvic *nvic, int irq)
{
    unsigned index = dz_nvic_index(irq);

    for (unsigned i = 0; i < nvic->depth; i++) {
        if (nvic->active[i] == index)
            return true;
    }
    return false;
}

void dz_nvic_reset(struct dz_nvic *nvic)
{
    for (unsigned word = 0; word < DZ_NVIC_WORDS; word++)
        atomic_store(&nvic->state[word], 0);
    nvic->basepri = 0;
    nvic->depth = 0;
}
