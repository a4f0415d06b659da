/* SPDX-License-Identifier: MIT */
#ifndef SYNC_ITEM_H
#define SYNC_ITEM_H

/*
 * item -- copy a value into a primitive, or out of it
 *
 * A primitive knows a value by its address and its size. A core that has no
 * unaligned access, as that of Armv6-M, needs to know its alignment, too: else
 * a word is copied by a call of memcpy, 45 instructions instead of 2. In the
 * typed wrappers it is a constant. For those who write primitives.
 */

#include <stddef.h>
#include <stdint.h>

#include "executor/compiler.h"

/* Both are aligned so. Where that is not a constant, it is not looked at. */
DZ_INLINE void dz_item_copy(
    void *to, const void *from, size_t size, size_t align)
{
    typedef uint32_t __attribute__((may_alias)) word;

    if (__builtin_constant_p(align) && align % 4 == 0 && size == 4)
        *(word *)to = *(const word *)from;
    else if (__builtin_constant_p(align) && align % 4 == 0)
        __builtin_memcpy(__builtin_assume_aligned(to, 4),
            __builtin_assume_aligned(from, 4), size);
    else
        __builtin_memcpy(to, from, size);
}

#endif
