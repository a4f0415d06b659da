/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_COMPILER_H
#define EXECUTOR_COMPILER_H

/* compiler -- the attributes that all headers share */

#define DZ_INLINE static inline __attribute__((always_inline, unused))

/* Of a function whose result says whether it has to be called again. */
#define DZ_AWAITED __attribute__((warn_unused_result))

/* Hints for the layout of hot paths. */
#define DZ_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define DZ_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
