/* SPDX-License-Identifier: MIT */
#include "executor/heap.h"

#include "sim/test_random.h"

enum { NODES = 300, STEPS = 300000 };

static struct dz_heap heap;
static struct dz_heap_node nodes[NODES];

static void begin(void)
{
    memset(&heap, 0, sizeof(heap));
    memset(nodes, 0, sizeof(nodes));
}

static void insert(unsigned i, uint64_t key)
{
    nodes[i].key = key;
    dz_heap_insert(&heap, &nodes[i]);
}

/* Which node left first. */
static unsigned pop(void)
{
    struct dz_heap_node *node = heap.root;

    assert_non_null(node);
    dz_heap_remove(&heap, node);
    return (unsigned)(node - nodes);
}

/* A complete tree in which nobody is smaller than the parent: looked at node by
 * node, each with the number that its place has from the left and the top. */
static unsigned check_below(
    const struct dz_heap_node *node, uint32_t place, unsigned depth)
{
    unsigned nodes_below = 0;

    /* depth <= ceil(log2(n + 1)) */
    assert_true(UINT64_C(1) << (depth - 1) <= heap.count);
    assert_in_range(place, 1, heap.count);
    for (unsigned side = 0; side < 2; side++) {
        const struct dz_heap_node *child = node->children[side];

        if (child == NULL)
            continue;
        assert_ptr_equal(child->parent, node);
        assert_true(child->key >= node->key);
        nodes_below += check_below(child, place * 2 + side, depth + 1);
    }
    return nodes_below + 1;
}

static void check_structure(void)
{
    if (heap.root == NULL) {
        assert_int_equal(heap.count, 0);
        return;
    }
    assert_ptr_equal(heap.root->parent, heap.root);
    assert_int_equal(check_below(heap.root, 1, 1), heap.count);
}

static void the_smallest_key_leaves_first(void **state)
{
    (void)state;
    begin();
    insert(0, 7);
    insert(1, UINT64_MAX);
    insert(2, 0);
    insert(3, UINT64_C(1) << 40);

    assert_int_equal(pop(), 2);
    assert_int_equal(pop(), 0);
    assert_int_equal(pop(), 3);
    assert_int_equal(pop(), 1);
    assert_null(heap.root);
}

static void equal_keys_leave_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < NODES; i++)
        insert(i, i % 3);

    for (unsigned i = 0; i < NODES; i++)
        assert_int_equal(pop(), i % (NODES / 3) * 3 + i / (NODES / 3));
}

static void equals_keep_their_order_when_the_numbers_wrap(void **state)
{
    (void)state;
    begin();
    heap.number = UINT32_MAX - NODES / 2;
    for (unsigned i = 0; i < NODES; i++)
        insert(i, 5);

    for (unsigned i = 0; i < NODES; i++)
        assert_int_equal(pop(), i);
}

static void a_node_knows_whether_it_is_in_a_heap(void **state)
{
    (void)state;
    begin();
    assert_false(dz_heap_holds(&nodes[0]));
    insert(0, 1);
    assert_true(dz_heap_holds(&nodes[0]));
    insert(1, 2);
    insert(2, 0);
    assert_true(dz_heap_holds(&nodes[1]));
    dz_heap_remove(&heap, &nodes[1]);
    assert_false(dz_heap_holds(&nodes[1]));
    assert_true(dz_heap_holds(&nodes[0]));
}

static void a_heap_can_be_moved(void **state)
{
    struct dz_heap elsewhere;

    (void)state;
    begin();
    for (unsigned i = 0; i < 10; i++)
        insert(i, 10 - i);
    elsewhere = heap;
    memset(&heap, 0, sizeof(heap));

    for (unsigned i = 0; i < 10; i++) {
        assert_ptr_equal(elsewhere.root, &nodes[9 - i]);
        dz_heap_remove(&elsewhere, elsewhere.root);
    }
    assert_null(elsewhere.root);
}

/* Whoever moves up to the place of the one that leaves may be smaller than the
 * parent there: 20 stands under 10, its place goes to 4, which stood under 3.
 */
static void the_last_may_have_to_move_up(void **state)
{
    static const uint64_t keys[] = {1, 10, 2, 20, 30, 3, 5, 40, 50, 60, 70, 4};

    (void)state;
    begin();
    for (unsigned i = 0; i < 12; i++)
        insert(i, keys[i]);
    dz_heap_remove(&heap, &nodes[3]);

    check_structure();
    assert_ptr_equal(nodes[11].parent, heap.root);
}

/* ---- At random, against an array that is kept sorted. */

static struct dz_heap_node *sorted[NODES];
static unsigned count;

static void model_insert(struct dz_heap_node *node)
{
    unsigned i = count++;

    for (; i > 0 && sorted[i - 1]->key > node->key; i--)
        sorted[i] = sorted[i - 1];
    sorted[i] = node;
}

static void model_remove(const struct dz_heap_node *node)
{
    unsigned i = 0;

    while (sorted[i] != node)
        i++;
    for (count--; i < count; i++)
        sorted[i] = sorted[i + 1];
}

static void change_one(struct dz_heap_node *node, unsigned keys)
{
    if (dz_heap_holds(node)) {
        model_remove(node);
        dz_heap_remove(&heap, node);
        return;
    }
    node->key = dice(keys);
    model_insert(node);
    dz_heap_insert(&heap, node);
}

static void pop_one(void)
{
    struct dz_heap_node *first = heap.root;

    assert_ptr_equal(first, sorted[0]);
    model_remove(first);
    dz_heap_remove(&heap, first);
}

/* The size of the heap changes from round to round, and so do the number of
 * different keys. */
static void does_what_a_sorted_array_does(void **state)
{
    long steps = random_steps(STEPS);
    unsigned limit = NODES;
    unsigned keys = 1;

    (void)state;
    begin();
    random_begin();
    heap.number = (uint32_t)-1000;
    for (step = 0; step < steps; step++) {
        if (step % 1000 == 0) {
            limit = 1 + dice(NODES);
            keys = 1 + dice(2 * limit);
        }
        if (count > 0 && (count > limit || dice(3) == 0))
            pop_one();
        else
            change_one(&nodes[dice(NODES)], keys);
        check(heap.count == count);
        check(heap.root == (count > 0 ? sorted[0] : NULL));
        if (step % 64 == 0)
            check_structure();
    }
    while (count > 0)
        pop_one();
    check_structure();
}

static void the_example_of_the_header_works(void **state)
{
    struct dz_heap_node *node = &nodes[0];

    (void)state;
    begin();
    insert(1, 43);
    node->key = 42;
    dz_heap_insert(&heap, node);
    assert_ptr_equal(heap.root, node);

    dz_heap_remove(&heap, heap.root);
    assert_ptr_equal(heap.root, &nodes[1]);
}

RUN_TESTS(TEST(the_smallest_key_leaves_first),
    TEST(equal_keys_leave_in_the_order_in_which_they_came),
    TEST(equals_keep_their_order_when_the_numbers_wrap),
    TEST(a_node_knows_whether_it_is_in_a_heap), TEST(a_heap_can_be_moved),
    TEST(the_last_may_have_to_move_up), TEST(does_what_a_sorted_array_does),
    TEST(the_example_of_the_header_works))
