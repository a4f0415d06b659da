/* SPDX-License-Identifier: MIT */
#include "executor/heap.h"

/* The older of two equals is more than half a round behind. */
static bool is_before(
    const struct dz_heap_node *node, const struct dz_heap_node *other)
{
    if (node->key != other->key)
        return node->key < other->key;
    return node->number - other->number > UINT32_MAX / 2;
}

static void adopt(
    struct dz_heap_node *parent, unsigned side, struct dz_heap_node *child)
{
    parent->children[side] = child;
    if (child != NULL)
        child->parent = parent;
}

/* The pointer that points to a node: the root, or one of its parent's. */
static struct dz_heap_node **link_to(
    struct dz_heap *heap, const struct dz_heap_node *node)
{
    if (node == heap->root)
        return &heap->root;
    return &node->parent->children[node->parent->children[1] == node];
}

/* Puts a node in the place of an old one, which points where it did before. */
static void replace(
    struct dz_heap *heap, struct dz_heap_node *old, struct dz_heap_node *node)
{
    struct dz_heap_node *parent = old == heap->root ? node : old->parent;

    *link_to(heap, old) = node;
    adopt(node, 0, old->children[0]);
    adopt(node, 1, old->children[1]);
    node->parent = parent;
}

/* Lets a node and its parent change places. */
static void lift(struct dz_heap *heap, struct dz_heap_node *node)
{
    struct dz_heap_node *parent = node->parent;
    struct dz_heap_node *const below[] = {node->children[0], node->children[1]};
    unsigned side = parent->children[1] == node;

    /* Now the node is its own child, ... */
    replace(heap, parent, node);
    /* ... and now no more. */
    adopt(node, side, parent);
    adopt(parent, 0, below[0]);
    adopt(parent, 1, below[1]);
}

static struct dz_heap_node *smaller_child(const struct dz_heap_node *node)
{
    struct dz_heap_node *left = node->children[0];
    struct dz_heap_node *right = node->children[1];

    return right != NULL && is_before(right, left) ? right : left;
}

/* Moves a node up or down to where its key belongs. */
static void settle(struct dz_heap *heap, struct dz_heap_node *node)
{
    struct dz_heap_node *child;

    while (node != heap->root && is_before(node, node->parent))
        lift(heap, node);
    while ((child = smaller_child(node)) != NULL && is_before(child, node))
        lift(heap, child);
}

/* The first digit of a number in binary, in its place. (Counting leading zeros
 * is a loop, too, on the smallest machines.) */
static uint32_t first_digit(uint32_t number)
{
    uint32_t digit = 1;

    while (digit <= number / 2)
        digit *= 2;
    return digit;
}

/* The first digit is the root. */
static struct dz_heap_node *last_of(const struct dz_heap *heap)
{
    struct dz_heap_node *node = heap->root;
    uint32_t digit = first_digit(heap->count);

    while ((digit /= 2) != 0)
        node = node->children[(heap->count & digit) != 0];
    return node;
}

/* On the way down to the free place, a node that belongs behind the new one
 * gives up its place to it and is carried on in its stead. */
void dz_heap_insert(struct dz_heap *heap, struct dz_heap_node *node)
{
    struct dz_heap_node **link = &heap->root;
    struct dz_heap_node *parent = node; /* if it is to be the root */
    uint32_t digit = first_digit(++heap->count);

    node->number = heap->number++;
    while ((digit /= 2) != 0) {
        parent = *link;
        if (is_before(node, parent)) {
            struct dz_heap_node *carried = parent;

            replace(heap, carried, node);
            parent = node;
            node = carried;
        }
        link = &parent->children[(heap->count & digit) != 0];
    }
    *link = node;
    node->parent = parent;
    node->children[0] = NULL;
    node->children[1] = NULL;
}

/* The last node takes the place. */
void dz_heap_remove(struct dz_heap *heap, struct dz_heap_node *node)
{
    struct dz_heap_node *last = last_of(heap);

    *link_to(heap, last) = NULL;
    heap->count--;
    if (last != node) {
        replace(heap, node, last);
        settle(heap, last);
    }
    node->parent = NULL;
}
