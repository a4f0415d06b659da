/* SPDX-License-Identifier: MIT */
#ifndef EXECUTOR_HEAP_H
#define EXECUTOR_HEAP_H

/*
 * heap -- an intrusive queue that is left by the smallest key first
 *
 *     static struct dz_heap heap;
 *
 *     node->key = 42;
 *     dz_heap_insert(&heap, node);
 *     ...
 *     dz_heap_remove(&heap, heap.root);         the smallest, or any other
 *
 * What is guaranteed
 *  - Equal keys leave in the order in which they came.
 *  - Insert and remove take O(log n) steps in the worst case, not only on
 *    average, without recursion: they are made for critical sections.
 *  - Nodes lie in their owners. There is no capacity, and nothing can fail.
 *  - All zero is valid: an empty heap, and a node that is in none. No node
 *    points to its heap, so a heap can be moved.
 *
 * It is a complete binary tree: all levels are full but for the last, which
 * is filled from the left. So n nodes are as deep as n has binary digits, and
 * the digits behind the first are the way from the root to the n-th node.
 *
 * Among equals, each insertion is numbered, and the numbers are compared modulo
 * 2^32. So two equal keys leave in the wrong order if the older one was there
 * through 2^31 insertions of others. The order of different keys does not
 * depend on the numbers.
 *
 * The caller sees to it that nobody else uses the heap meanwhile.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/compiler.h"

struct dz_heap_node {
    struct dz_heap_node *children[2]; /* neither is smaller than we are */
    uint64_t key;                     /* the owner's; fixed while in a heap */
    struct dz_heap_node *parent; /* of the root: itself; NULL: in no heap */
    uint32_t number;             /* of our insertion */
};

struct dz_heap {
    struct dz_heap_node *root; /* the smallest, NULL: empty */
    uint32_t count;            /* of nodes */
    uint32_t number;           /* of the next insertion */
};

/* True while the node is in a heap. One load, so that even somebody who can be
 * interrupted by the heap's user may ask. */
DZ_INLINE bool dz_heap_holds(const struct dz_heap_node *node)
{
    return *(struct dz_heap_node *const volatile *)&node->parent != NULL;
}

/* Puts a node with its key in; it is in no heap. */
void dz_heap_insert(struct dz_heap *heap, struct dz_heap_node *node);

/* Takes a node out; it is in this heap. */
void dz_heap_remove(struct dz_heap *heap, struct dz_heap_node *node);

#endif
