/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_TIME_H
#define EXECUTOR_TIME_H

/*
 * time -- points in time, lengths of time, and their units
 *
 * An instant is a number of ticks since the clock was started, a duration is a
 * number of ticks. There are DZ_TICK_HZ ticks in a second. They are structs so
 * that nobody takes one for the other, or for a number of something else.
 *
 *     struct dz_duration period = dz_duration_from_millis(20);
 *     struct dz_instant due = dz_instant_add(start, period);
 *
 *     if (dz_instant_is_before(due, now))
 *         late_by(dz_duration_as_micros(dz_instant_since(now, due)));
 *
 * The present is dz_instant_now().
 *
 * What is guaranteed
 *  - Nothing wraps: what is too large becomes the maximum, what is too small
 *    becomes 0. Each function that can get there has a form with try_, which
 *    stores the same result and returns whether it is the true one.
 *  - A duration is never shorter than what it is made from: it is rounded up to
 *    whole ticks, unless its function ends in _floor, or it is the period of a
 *    frequency. An instant is rounded down, and so is what is converted back.
 *  - Conversions are right for every input and every rate, also for rates that
 *    no unit divides. An optimiser makes a constant of a constant. Any other
 *    conversion is a multiplication where there can be no remainder
 *    (milliseconds to ticks at 1 MHz, say), else a call with two divisions.
 *  - A program has one rate. An object that was compiled for another one than
 *    the library does not link: the linker names the rate that it misses. (All
 *    but objects that only do what is inline here.)
 *
 * All of it may be called in any context.
 */

#include <stdbool.h>

#include "executor/async.h"
#include "port.h"

/* Ticks in a second, from 1 to 10^9: digits only. */
#ifndef DZ_TICK_HZ
#define DZ_TICK_HZ 1000000
#endif

_Static_assert(DZ_TICK_HZ >= 1 && DZ_TICK_HZ <= 1000000000,
    "DZ_TICK_HZ is from 1 to 10^9");

/*
 * Behind the declaration of each function that deals in ticks and is not
 * inline: its symbol ends in "_at_1000000_hz", or whatever the rate is, so that
 * it links to its like only. That costs nothing. What an object does inline has
 * no symbol; but sooner or later it asks for the time, or waits.
 */
#define DZ_PER_TICK_HZ(function) \
    __asm__(#function "_at_" DZ_TEXT_OF(DZ_TICK_HZ) "_hz")
#define DZ_TEXT_OF(macro) DZ_TEXT(macro)
#define DZ_TEXT(tokens) #tokens

struct dz_instant {
    uint64_t ticks; /* since the start of the clock */
};

struct dz_duration {
    uint64_t ticks;
};

/* Also "never" and "for ever". ISO C allows no compound literal in a static
 * initialiser: that of a static variable is {UINT64_MAX}. */
#define DZ_INSTANT_MAX ((struct dz_instant){UINT64_MAX})
#define DZ_DURATION_MAX ((struct dz_duration){UINT64_MAX})

/* ---- Steps of what is below. Each leaves in *ticks the nearest number that
 * fits, and returns whether it is the true one. */

DZ_INLINE bool dz_ticks_add(uint64_t *ticks, uint64_t more)
{
    uint64_t sum = *ticks + more;
    bool fits = sum >= more;

    *ticks = fits ? sum : UINT64_MAX;
    return fits;
}

DZ_INLINE bool dz_ticks_sub(uint64_t *ticks, uint64_t less)
{
    bool fits = less <= *ticks;

    *ticks = fits ? *ticks - less : 0;
    return fits;
}

/* By halves: a 32-bit machine multiplies 32 bits by 32, and takes half as many
 * instructions for this as for __builtin_mul_overflow. */
DZ_INLINE bool dz_ticks_mul(uint64_t *ticks, uint32_t factor)
{
    uint64_t low = (uint64_t)(uint32_t)*ticks * factor;
    uint64_t high = (*ticks >> 32) * factor + (low >> 32);
    bool fits = high <= UINT32_MAX;

    *ticks = fits ? high << 32 | (uint32_t)low : UINT64_MAX;
    return fits;
}

enum dz_rounding { DZ_ROUND_DOWN, DZ_ROUND_UP };

/* Times multiplier / divider. The remainder is scaled apart from the quotient:
 * its product is one of 32 bits by 32, and cannot overflow. */
DZ_INLINE bool dz_ticks_scale_inline(uint64_t *ticks, uint32_t multiplier,
    uint32_t divider, enum dz_rounding rounding)
{
    uint32_t rest = (uint32_t)(*ticks % divider);
    uint32_t bias = rounding == DZ_ROUND_UP ? divider - 1 : 0;
    uint64_t part = ((uint64_t)rest * multiplier + bias) / divider;

    *ticks /= divider;
    return dz_ticks_mul(ticks, multiplier) && dz_ticks_add(ticks, part);
}

/* The same, not inline: on a 32-bit machine, 64-bit divisions are large. */
bool dz_ticks_scale_far(uint64_t *ticks, uint32_t multiplier, uint32_t divider,
    enum dz_rounding rounding) DZ_PER_TICK_HZ(dz_ticks_scale_far);

/* All but *ticks are constants, so that one branch is left. */
DZ_INLINE bool dz_ticks_scale(uint64_t *ticks, uint32_t multiplier,
    uint32_t divider, enum dz_rounding rounding)
{
    if (multiplier % divider == 0)
        return dz_ticks_mul(ticks, multiplier / divider);
    if (__builtin_constant_p(*ticks))
        return dz_ticks_scale_inline(ticks, multiplier, divider, rounding);
    return dz_ticks_scale_far(ticks, multiplier, divider, rounding);
}

/* ---- Conversions. */

DZ_INLINE struct dz_instant dz_instant_from_ticks(uint64_t ticks)
{
    return (struct dz_instant){ticks};
}

DZ_INLINE struct dz_duration dz_duration_from_ticks(uint64_t ticks)
{
    return (struct dz_duration){ticks};
}

/*
 * Defines for a unit of which a second has `per_second`, for UNIT in nanos,
 * micros, millis, secs:
 *
 *     struct dz_instant dz_instant_from_UNIT(uint64_t value);
 *     bool dz_instant_try_from_UNIT(uint64_t value, struct dz_instant *result);
 *     uint64_t dz_instant_as_UNIT(struct dz_instant instant);
 *
 *     struct dz_duration dz_duration_from_UNIT(uint64_t value);
 *     struct dz_duration dz_duration_from_UNIT_floor(uint64_t value);
 *     bool dz_duration_try_from_UNIT(
 *         uint64_t value, struct dz_duration *result);
 *     uint64_t dz_duration_as_UNIT(struct dz_duration duration);
 */
/* clang-format off */
#define DZ_TIME_UNIT(UNIT, per_second)                                        \
    DZ_INLINE bool dz_instant_try_from_##UNIT(                                \
        uint64_t value, struct dz_instant *result)                            \
    {                                                                         \
        result->ticks = value;                                                \
        return dz_ticks_scale(                                                \
            &result->ticks, DZ_TICK_HZ, per_second, DZ_ROUND_DOWN);           \
    }                                                                         \
    DZ_INLINE struct dz_instant dz_instant_from_##UNIT(uint64_t value)        \
    {                                                                         \
        (void)dz_ticks_scale(&value, DZ_TICK_HZ, per_second, DZ_ROUND_DOWN);  \
        return (struct dz_instant){value};                                    \
    }                                                                         \
    DZ_INLINE uint64_t dz_instant_as_##UNIT(struct dz_instant instant)        \
    {                                                                         \
        (void)dz_ticks_scale(                                                 \
            &instant.ticks, per_second, DZ_TICK_HZ, DZ_ROUND_DOWN);           \
        return instant.ticks;                                                 \
    }                                                                         \
    DZ_INLINE bool dz_duration_try_from_##UNIT(                               \
        uint64_t value, struct dz_duration *result)                           \
    {                                                                         \
        result->ticks = value;                                                \
        return dz_ticks_scale(                                                \
            &result->ticks, DZ_TICK_HZ, per_second, DZ_ROUND_UP);             \
    }                                                                         \
    DZ_INLINE struct dz_duration dz_duration_from_##UNIT(uint64_t value)      \
    {                                                                         \
        (void)dz_ticks_scale(&value, DZ_TICK_HZ, per_second, DZ_ROUND_UP);    \
        return (struct dz_duration){value};                                   \
    }                                                                         \
    DZ_INLINE struct dz_duration dz_duration_from_##UNIT##_floor(             \
        uint64_t value)                                                       \
    {                                                                         \
        (void)dz_ticks_scale(&value, DZ_TICK_HZ, per_second, DZ_ROUND_DOWN);  \
        return (struct dz_duration){value};                                   \
    }                                                                         \
    DZ_INLINE uint64_t dz_duration_as_##UNIT(struct dz_duration duration)     \
    {                                                                         \
        (void)dz_ticks_scale(                                                 \
            &duration.ticks, per_second, DZ_TICK_HZ, DZ_ROUND_DOWN);          \
        return duration.ticks;                                                \
    }
/* clang-format on */

DZ_TIME_UNIT(nanos, 1000000000)
DZ_TIME_UNIT(micros, 1000000)
DZ_TIME_UNIT(millis, 1000)
DZ_TIME_UNIT(secs, 1)

/* The period of a frequency: the nearest number of ticks, half a tick rounded
 * up, and 1 tick at least. Panics for 0 Hz. */
struct dz_duration dz_duration_from_hz(uint64_t hz)
    DZ_PER_TICK_HZ(dz_duration_from_hz);

/* The time of this core. */
DZ_INLINE struct dz_instant dz_instant_now(void)
{
    return (struct dz_instant){dz_port_now()};
}

/* ---- Arithmetic. */

DZ_INLINE bool dz_duration_try_add(struct dz_duration duration,
    struct dz_duration more, struct dz_duration *result)
{
    *result = duration;
    return dz_ticks_add(&result->ticks, more.ticks);
}

DZ_INLINE struct dz_duration dz_duration_add(
    struct dz_duration duration, struct dz_duration more)
{
    (void)dz_ticks_add(&duration.ticks, more.ticks);
    return duration;
}

DZ_INLINE bool dz_duration_try_sub(struct dz_duration duration,
    struct dz_duration less, struct dz_duration *result)
{
    *result = duration;
    return dz_ticks_sub(&result->ticks, less.ticks);
}

DZ_INLINE struct dz_duration dz_duration_sub(
    struct dz_duration duration, struct dz_duration less)
{
    (void)dz_ticks_sub(&duration.ticks, less.ticks);
    return duration;
}

DZ_INLINE bool dz_duration_try_mul(
    struct dz_duration duration, uint32_t factor, struct dz_duration *result)
{
    *result = duration;
    return dz_ticks_mul(&result->ticks, factor);
}

DZ_INLINE struct dz_duration dz_duration_mul(
    struct dz_duration duration, uint32_t factor)
{
    (void)dz_ticks_mul(&duration.ticks, factor);
    return duration;
}

/* Rounds down. Panics when it divides by 0. */
struct dz_duration dz_duration_div(struct dz_duration duration,
    uint32_t divider) DZ_PER_TICK_HZ(dz_duration_div);

DZ_INLINE bool dz_duration_is_shorter(
    struct dz_duration duration, struct dz_duration than)
{
    return duration.ticks < than.ticks;
}

DZ_INLINE bool dz_instant_try_add(struct dz_instant instant,
    struct dz_duration duration, struct dz_instant *result)
{
    *result = instant;
    return dz_ticks_add(&result->ticks, duration.ticks);
}

DZ_INLINE struct dz_instant dz_instant_add(
    struct dz_instant instant, struct dz_duration duration)
{
    (void)dz_ticks_add(&instant.ticks, duration.ticks);
    return instant;
}

DZ_INLINE bool dz_instant_try_sub(struct dz_instant instant,
    struct dz_duration duration, struct dz_instant *result)
{
    *result = instant;
    return dz_ticks_sub(&result->ticks, duration.ticks);
}

DZ_INLINE struct dz_instant dz_instant_sub(
    struct dz_instant instant, struct dz_duration duration)
{
    (void)dz_ticks_sub(&instant.ticks, duration.ticks);
    return instant;
}

/* The time from `earlier` to `later`, 0 if it is the other way round. */
DZ_INLINE bool dz_instant_try_since(struct dz_instant later,
    struct dz_instant earlier, struct dz_duration *result)
{
    result->ticks = later.ticks;
    return dz_ticks_sub(&result->ticks, earlier.ticks);
}

DZ_INLINE struct dz_duration dz_instant_since(
    struct dz_instant later, struct dz_instant earlier)
{
    (void)dz_ticks_sub(&later.ticks, earlier.ticks);
    return (struct dz_duration){later.ticks};
}

DZ_INLINE bool dz_instant_is_before(
    struct dz_instant instant, struct dz_instant than)
{
    return instant.ticks < than.ticks;
}

#endif
