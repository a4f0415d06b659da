/* SPDX-License-Identifier: MIT */
#include "executor/time.h"

bool dz_ticks_scale_far(uint64_t *ticks, uint32_t multiplier, uint32_t divider,
    enum dz_rounding rounding)
{
    return dz_ticks_scale_inline(ticks, multiplier, divider, rounding);
}

struct dz_duration dz_duration_from_hz(uint64_t hz)
{
    uint32_t few;

    if (hz == 0)
        dz_panic("the period of 0 Hz is asked for", __FILE__, __LINE__);
    if (hz >= DZ_TICK_HZ)
        return (struct dz_duration){1};
    few = (uint32_t)hz;
    return (struct dz_duration){(DZ_TICK_HZ + few / 2) / few};
}

struct dz_duration dz_duration_div(
    struct dz_duration duration, uint32_t divider)
{
    if (divider == 0)
        dz_panic("a duration is divided by 0", __FILE__, __LINE__);
    return (struct dz_duration){duration.ticks / divider};
}
