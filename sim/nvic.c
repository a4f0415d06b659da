/* SPDX-License-Identifier: MIT */
#include "sim/nvic.h"

#include "executor/panic.h"

static uint64_t bit_of(unsigned line)
{
    if (line >= DZ_NVIC_LINES)
        dz_panic("there is no interrupt of this number", __FILE__, __LINE__);
    return UINT64_C(1) << line;
}

/* Sequentially consistent: the sender's pend, then its look at whether the
 * core has to be kicked, against the core's opposite order. */
void dz_nvic_pend(struct dz_nvic *nvic, unsigned line)
{
    atomic_fetch_or(&nvic->pending, bit_of(line));
}

bool dz_nvic_is_pending(const struct dz_nvic *nvic, unsigned line)
{
    return (atomic_load(&nvic->pending) & bit_of(line)) != 0;
}

void dz_nvic_enable(struct dz_nvic *nvic, unsigned line)
{
    nvic->enabled |= bit_of(line);
}

void dz_nvic_disable(struct dz_nvic *nvic, unsigned line)
{
    nvic->enabled &= ~bit_of(line);
}

void dz_nvic_set_priority(struct dz_nvic *nvic, unsigned line, uint8_t priority)
{
    (void)bit_of(line);
    nvic->priority[line] = priority;
}

/* The most urgent of a set, the lowest number among equals. */
static int most_urgent(const struct dz_nvic *nvic, uint64_t lines)
{
    int best = DZ_NVIC_NONE;

    for (int line = 0; line < DZ_NVIC_LINES; line++) {
        if ((lines >> line & 1) == 0)
            continue;
        if (best == DZ_NVIC_NONE || nvic->priority[line] < nvic->priority[best])
            best = line;
    }
    return best;
}

static unsigned priority_of(const struct dz_nvic *nvic, int line)
{
    return line == DZ_NVIC_NONE ? DZ_NVIC_THREAD : nvic->priority[line];
}

int dz_nvic_next(const struct dz_nvic *nvic)
{
    uint64_t lines = atomic_load(&nvic->pending) & nvic->enabled;
    int line = most_urgent(nvic, lines & ~nvic->active);
    int active = most_urgent(nvic, nvic->active);

    if (priority_of(nvic, line) >= priority_of(nvic, active))
        return DZ_NVIC_NONE;
    return line;
}

void dz_nvic_enter(struct dz_nvic *nvic, unsigned line)
{
    atomic_fetch_and(&nvic->pending, ~bit_of(line));
    nvic->active |= bit_of(line);
}

void dz_nvic_exit(struct dz_nvic *nvic, unsigned line)
{
    nvic->active &= ~bit_of(line);
}
