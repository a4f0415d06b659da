/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_COMPILER_H
#define EXECUTOR_COMPILER_H

/* compiler -- the attributes that all headers share */

#include <stdint.h>

#define DZ_INLINE static inline __attribute__((always_inline, unused))

/* Of a function whose result says whether it has to be called again. */
#define DZ_AWAITED __attribute__((warn_unused_result))

/* The same value, of which the optimiser knows nothing. */
DZ_INLINE uintptr_t dz_opaque(uintptr_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

/* Hints for the layout of hot paths. */
#define DZ_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define DZ_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
