/* SPDX-License-Identifier: MIT */

/*
 * fork_test -- random trees of selects and joins against a plain model
 *
 * Tasks run random trees of async functions. Units come at random, and now and
 * then a task is told to walk out of its tree. The model goes through the same
 * trees by plain recursion: it knows no waiters, places or cancellers. Which
 * leaves are polled, who wins, what is given back, and all of it in order, goes
 * into one log for each, and these are compared; so are who waits where and
 * which task is woken.
 */

#include "executor/fork_test.h"

#include "executor/join.h"
#include "executor/select.h"
#include "sim/test_random.h"

enum { TASKS = 4, NODES = 48, CHILDREN = 6, DEPTH = 4, STEPS = 1000000 };

enum kind {
    TAKER,    /* takes a unit */
    HOLDER,   /* takes a unit, and holds something meanwhile */
    ACQUIRER, /* takes a unit, and holds something from then on */
    WALKER,   /* waits for a unit, but at its next poll it is done */
    YIELDER,
    LEAVES,
    SEQUENCE = LEAVES, /* the one child, then the other */
    TWICE,             /* the child, then the same once more */
    SELECT,
    FAIR,
    JOIN,
    KINDS
};

/* Nodes, the newest first, whose guards one branch holds. */
struct held {
    struct node *nodes[NODES];
    unsigned count;
};

struct node {
    struct dz_frame frame;
    enum kind kind;
    unsigned number;
    unsigned task;
    unsigned source;
    unsigned count; /* of children */
    bool is_array;  /* one function polls all branches */
    struct node *children[CHILDREN];
    /* Of what is under test. */
    struct dz_guard guard;
    bool has_walked;
    union {
        struct dz_select2 select2;
        struct dz_select3 select3;
        struct dz_select4 select4;
        struct dz_select5 select5;
        struct dz_select6 select6;
        struct dz_join2 join2;
        struct dz_join3 join3;
        struct dz_join4 join4;
        struct dz_join5 join5;
        struct dz_join6 join6;
    };
    /* The model's. */
    unsigned state; /* 0: not started; else how far it has come */
    bool is_done[CHILDREN];
    unsigned next;
    struct held held[CHILDREN];
};

static struct tree {
    struct dz_task task;
    struct node nodes[NODES]; /* the first is the root */
    struct held held;         /* by the task: never given back */
    unsigned count;           /* of nodes */
    bool walks_out;
} trees_slots[TASKS];

static struct dz_pool trees;
static bool is_woken[TASKS];

/* ---- The logs. */

enum event { POLLED, WON, DROPPED, EVENTS };

struct log {
    unsigned entries[4096];
    unsigned count;
};

static struct log expected;
static struct log actual;
static long counted[EVENTS];
static long completed[KINDS];

static void note(
    struct log *log, enum event event, const struct node *node, unsigned more)
{
    check(log->count < sizeof(log->entries) / sizeof(log->entries[0]));
    log->entries[log->count++] =
        ((node->task * NODES + node->number) * EVENTS + event) * CHILDREN +
        more;
}

/* ---- The model: units. */

static struct {
    struct node *waiting[TASKS * NODES];
    unsigned count;
    int free;
} model_sources[SOURCES];

static struct node *promised[TASKS * NODES];
static unsigned promised_count;

static bool list_remove(
    struct node **list, unsigned *count, const struct node *node)
{
    for (unsigned i = 0; i < *count; i++) {
        if (list[i] != node)
            continue;
        for (--*count; i < *count; i++)
            list[i] = list[i + 1];
        return true;
    }
    return false;
}

static void model_give(unsigned source)
{
    struct node *first = model_sources[source].waiting[0];

    if (model_sources[source].count == 0) {
        model_sources[source].free++;
        return;
    }
    (void)list_remove(
        model_sources[source].waiting, &model_sources[source].count, first);
    promised[promised_count++] = first;
    is_woken[first->task] = true;
}

static enum dz_poll model_take(struct node *node)
{
    if (list_remove(promised, &promised_count, node))
        return DZ_READY;
    for (unsigned i = 0; i < model_sources[node->source].count; i++) {
        if (model_sources[node->source].waiting[i] == node)
            return DZ_PENDING;
    }
    if (model_sources[node->source].free == 0) {
        model_sources[node->source]
            .waiting[model_sources[node->source].count++] = node;
        return DZ_PENDING;
    }
    model_sources[node->source].free--;
    return DZ_READY;
}

/* ---- The model: what branches hold. */

static void held_push(struct held *held, struct node *node)
{
    for (unsigned i = held->count++; i > 0; i--)
        held->nodes[i] = held->nodes[i - 1];
    held->nodes[0] = node;
}

static void held_move(struct held *from, struct held *to)
{
    while (from->count > 0)
        held_push(to, from->nodes[--from->count]);
}

static void model_drop(struct held *held)
{
    for (unsigned i = 0; i < held->count; i++) {
        note(&expected, DROPPED, held->nodes[i], 0);
        model_give(held->nodes[i]->source);
    }
    held->count = 0;
}

/* ---- The model: leaving. */

static void model_withdraw(struct node *node)
{
    (void)list_remove(model_sources[node->source].waiting,
        &model_sources[node->source].count, node);
    for (unsigned i = 0; i < node->count; i++)
        model_withdraw(node->children[i]);
}

static void model_pass_on(struct node *node)
{
    if (list_remove(promised, &promised_count, node))
        model_give(node->source);
    for (unsigned i = 0; i < node->count; i++) {
        model_pass_on(node->children[i]);
        model_drop(&node->held[i]);
    }
}

static void model_cancel(struct node *node)
{
    model_withdraw(node);
    model_pass_on(node);
}

/* Before it is run again. */
static void model_reset(struct node *node, struct held *held)
{
    (void)list_remove(held->nodes, &held->count, node);
    node->state = 0;
    for (unsigned i = 0; i < node->count; i++)
        model_reset(node->children[i], held);
}

/* ---- The model: polling. */

static enum dz_poll model_poll(struct node *node, struct held *held);

static enum dz_poll model_leaf_poll(struct node *node, struct held *held)
{
    bool is_first = node->state++ == 0;

    note(&expected, POLLED, node, 0);
    if (node->kind == YIELDER)
        is_woken[node->task] = is_woken[node->task] || is_first;
    if (node->kind == YIELDER || (node->kind == WALKER && !is_first))
        return is_first ? DZ_PENDING : DZ_READY;
    if (node->kind == HOLDER && is_first)
        held_push(held, node);
    if (model_take(node) == DZ_PENDING)
        return DZ_PENDING;
    if (node->kind == HOLDER)
        (void)list_remove(held->nodes, &held->count, node);
    if (node->kind == ACQUIRER)
        held_push(held, node);
    return DZ_READY;
}

static enum dz_poll model_sequence_poll(struct node *node, struct held *held)
{
    struct node *second = node->children[node->count - 1];

    if (node->state == 0) {
        if (model_poll(node->children[0], held) == DZ_PENDING)
            return DZ_PENDING;
        model_cancel(node->children[0]);
        if (node->kind == TWICE)
            model_reset(second, held);
        node->state = 1;
    }
    return model_poll(second, held);
}

static enum dz_poll model_select_poll(struct node *node, struct held *held)
{
    unsigned first = node->kind == FAIR ? node->next : 0;

    for (unsigned i = 0; i < node->count; i++) {
        unsigned k = (first + i) % node->count;

        if (model_poll(node->children[k], &node->held[k]) == DZ_PENDING)
            continue;
        held_move(&node->held[k], held);
        model_cancel(node);
        node->next = k + 1;
        note(&expected, WON, node, k);
        return DZ_READY;
    }
    return DZ_PENDING;
}

static enum dz_poll model_join_poll(struct node *node, struct held *held)
{
    bool is_done = true;

    if (node->state++ == 0)
        memset(node->is_done, 0, sizeof(node->is_done));
    for (unsigned i = 0; i < node->count; i++) {
        if (node->is_done[i])
            continue;
        node->is_done[i] =
            model_poll(node->children[i], &node->held[i]) == DZ_READY;
        if (node->is_done[i])
            model_cancel(node->children[i]);
        is_done = is_done && node->is_done[i];
    }
    if (!is_done)
        return DZ_PENDING;
    for (unsigned i = node->count; i-- > 0;)
        held_move(&node->held[i], held);
    return DZ_READY;
}

static enum dz_poll model_poll(struct node *node, struct held *held)
{
    if (node->kind < LEAVES)
        return model_leaf_poll(node, held);
    if (node->kind == JOIN)
        return model_join_poll(node, held);
    if (node->kind == SEQUENCE || node->kind == TWICE)
        return model_sequence_poll(node, held);
    return model_select_poll(node, held);
}

/* ---- What is under test. */

static enum dz_poll node_poll(struct node *self);

static void drop(struct dz_guard *guard)
{
    struct node *node = container_of(guard, struct node, guard);

    note(&actual, DROPPED, node, 0);
    give(node->source);
}

static enum dz_poll noted_source_poll(struct node *self)
{
    note(&actual, POLLED, self, 0);
    return source_poll(self->source);
}

static enum dz_poll holder_poll(struct node *self)
{
    async (self) {
        dz_guard_enter(&self->guard, drop);
        await(noted_source_poll(self));
        dz_guard_leave(&self->guard);
    }
    return DZ_READY;
}

static enum dz_poll acquirer_poll(struct node *self)
{
    async (self) {
        await(noted_source_poll(self));
        dz_guard_enter(&self->guard, drop);
    }
    return DZ_READY;
}

static enum dz_poll walker_poll(struct node *self)
{
    if (!self->has_walked) {
        self->has_walked = true;
        return noted_source_poll(self);
    }
    note(&actual, POLLED, self, 0);
    return DZ_READY;
}

static enum dz_poll yielder_poll(struct node *self)
{
    note(&actual, POLLED, self, 0);
    return dz_yield_poll();
}

static void reset(struct node *node)
{
    dz_frame_reset(&node->frame);
    node->has_walked = false;
    if (node->guard.drop != NULL)
        dz_guard_leave(&node->guard);
    for (unsigned i = 0; i < node->count; i++)
        reset(node->children[i]);
}

static enum dz_poll sequence_poll(struct node *self)
{
    async (self) {
        await(node_poll(self->children[0]));
        dz_cancel(); /* in case that it was a walker */
        if (self->kind == TWICE)
            reset(self->children[0]);
        await(node_poll(self->children[self->count - 1]));
    }
    return DZ_READY;
}

static enum dz_poll child_poll_at(void *argument, unsigned branch)
{
    return node_poll(((struct node *)argument)->children[branch]);
}

static enum dz_poll select_array_poll(struct node *self)
{
    struct dz_fork *select = &self->select6.select;

    if (self->kind == FAIR)
        return dz_select_fair_poll(select, self->count, child_poll_at, self);
    return dz_select_array_poll(select, self->count, child_poll_at, self);
}

static enum dz_poll select_poll(struct node *self)
{
    struct node **child = self->children;

    if (self->is_array || self->kind == FAIR)
        return select_array_poll(self);
    switch (self->count) {
    case 2:
        return dz_select2(
            &self->select2, node_poll(child[0]), node_poll(child[1]));
    case 3:
        return dz_select3(&self->select3, node_poll(child[0]),
            node_poll(child[1]), node_poll(child[2]));
    case 4:
        return dz_select4(&self->select4, node_poll(child[0]),
            node_poll(child[1]), node_poll(child[2]), node_poll(child[3]));
    case 5:
        return dz_select5(&self->select5, node_poll(child[0]),
            node_poll(child[1]), node_poll(child[2]), node_poll(child[3]),
            node_poll(child[4]));
    default:
        return dz_select6(&self->select6, node_poll(child[0]),
            node_poll(child[1]), node_poll(child[2]), node_poll(child[3]),
            node_poll(child[4]), node_poll(child[5]));
    }
}

static enum dz_poll noted_select_poll(struct node *self)
{
    enum dz_poll result = select_poll(self);

    if (result == DZ_READY)
        note(&actual, WON, self, dz_select_winner(&self->select6));
    return result;
}

static enum dz_poll join_poll(struct node *self)
{
    struct node **child = self->children;

    if (self->is_array)
        return dz_join_array_poll(
            &self->join6.join, self->count, child_poll_at, self);
    switch (self->count) {
    case 2:
        return dz_join2(&self->join2, node_poll(child[0]), node_poll(child[1]));
    case 3:
        return dz_join3(&self->join3, node_poll(child[0]), node_poll(child[1]),
            node_poll(child[2]));
    case 4:
        return dz_join4(&self->join4, node_poll(child[0]), node_poll(child[1]),
            node_poll(child[2]), node_poll(child[3]));
    case 5:
        return dz_join5(&self->join5, node_poll(child[0]), node_poll(child[1]),
            node_poll(child[2]), node_poll(child[3]), node_poll(child[4]));
    default:
        return dz_join6(&self->join6, node_poll(child[0]), node_poll(child[1]),
            node_poll(child[2]), node_poll(child[3]), node_poll(child[4]),
            node_poll(child[5]));
    }
}

static enum dz_poll node_poll(struct node *self)
{
    static enum dz_poll (*const polls[KINDS])(struct node * self) = {
        [TAKER] = noted_source_poll,
        [HOLDER] = holder_poll,
        [ACQUIRER] = acquirer_poll,
        [WALKER] = walker_poll,
        [YIELDER] = yielder_poll,
        [SEQUENCE] = sequence_poll,
        [TWICE] = sequence_poll,
        [SELECT] = noted_select_poll,
        [FAIR] = noted_select_poll,
        [JOIN] = join_poll,
    };
    enum dz_poll result = polls[self->kind](self);

    completed[self->kind] += result == DZ_READY;
    return result;
}

/* ---- Trees: in lock step, the model first. */

static enum dz_poll tree_body(struct dz_task *task)
{
    struct tree *tree = (struct tree *)(void *)task;
    struct node *root = &tree->nodes[0];
    enum dz_poll model_result;

    check(is_woken[root->task]);
    is_woken[root->task] = false;
    if (tree->walks_out) {
        model_cancel(root);
        dz_cancel();
        is_woken[root->task] = false;
        return DZ_READY;
    }
    model_result = model_poll(root, &tree->held);
    check(node_poll(root) == model_result);
    if (model_result == DZ_PENDING)
        return DZ_PENDING;
    model_cancel(root);
    is_woken[root->task] = false;
    return DZ_READY;
}

static void tree_poll(struct dz_task *task)
{
    dz_pool_poll(task->pool, task, tree_body);
}

static enum kind choose_kind(bool is_leaf)
{
    static const enum kind leaves[] = {TAKER, HOLDER, HOLDER, HOLDER, ACQUIRER,
        ACQUIRER, ACQUIRER, WALKER, YIELDER};

    if (is_leaf)
        return leaves[dice(sizeof(leaves) / sizeof(leaves[0]))];
    return (enum kind)(LEAVES + dice(KINDS - LEAVES));
}

/* There is room left for the brothers of all that are being planted. */
static struct node *plant(struct tree *tree, unsigned depth)
{
    struct node *node = &tree->nodes[tree->count];
    bool has_room =
        depth < DEPTH && tree->count + CHILDREN * (depth + 1) <= NODES;

    node->number = tree->count++;
    node->task = (unsigned)dz_task_slot(&tree->task);
    node->source = dice(SOURCES);
    node->kind = choose_kind(!has_room || dice(4) < depth);
    node->is_array = dice(3) == 0;
    if (node->kind < LEAVES)
        return node;
    node->count = node->kind == TWICE ? 1
        : node->kind == SEQUENCE      ? 2
                                      : 2 + dice(CHILDREN - 1);
    for (unsigned i = 0; i < node->count; i++)
        node->children[i] = plant(tree, depth + 1);
    return node;
}

static void spawn_tree(void)
{
    struct tree *tree = dz_pool_claim(&trees);

    if (tree == NULL)
        return;
    plant(tree, 0);
    /* What lies in a fork at first does not matter, but in a fair one. */
    for (unsigned i = 0; i < tree->count; i++) {
        if (tree->nodes[i].kind != FAIR)
            memset(&tree->nodes[i].select6, (int)dice(256),
                sizeof(tree->nodes[i].select6));
    }
    is_woken[dz_task_slot(&tree->task)] = true;
    dz_executor_spawn(&executor, &tree->task);
}

static void walk_out(unsigned i)
{
    if (trees_slots[i].task.pool == NULL)
        return;
    trees_slots[i].walks_out = true;
    is_woken[i] = true;
    dz_task_wake(&trees_slots[i].task);
}

static void compare_source(unsigned i)
{
    const struct dz_waiter *waiter = sources[i].first;
    unsigned k = 0;

    check((int)left_at(i) == model_sources[i].free);
    for (; waiter != NULL; waiter = waiter->next) {
        check(k < model_sources[i].count);
        check(waiter->task ==
            &trees_slots[model_sources[i].waiting[k++]->task].task);
    }
    check(k == model_sources[i].count);
}

static void compare(void)
{
    check(expected.count == actual.count);
    for (unsigned i = 0; i < expected.count; i++) {
        check(expected.entries[i] == actual.entries[i]);
        counted[expected.entries[i] / CHILDREN % EVENTS]++;
    }
    expected.count = 0;
    actual.count = 0;
    for (unsigned i = 0; i < SOURCES; i++)
        compare_source(i);
}

/* All that is promised is collected once nothing is ready any more. */
static void come_to_rest(void)
{
    for (int passes = 0; dz_executor_is_ready(&executor); passes++) {
        check(passes < 1000);
        pass();
        compare();
    }
    check(promised_count == 0);
    for (unsigned i = 0; i < TASKS; i++)
        check(!is_woken[i]);
}

static void do_something(void)
{
    unsigned source = dice(SOURCES);

    switch (dice(32)) {
    case 0:
        walk_out(dice(TASKS));
        break;
    case 1:
    case 2:
    case 3:
        spawn_tree();
        break;
    default:
        if (model_sources[source].free > 0)
            break;
        model_give(source);
        give(source);
        break;
    }
}

static void report(void)
{
    print_message("%ld steps, %ld polls of leaves, %ld winners, "
                  "%ld guards dropped, nodes completed:",
        step, counted[POLLED], counted[WON], counted[DROPPED]);
    for (unsigned i = 0; i < KINDS; i++)
        print_message(" %ld", completed[i]);
    print_message("\n");
}

static void does_what_the_model_does_at_every_step(void **state)
{
    long steps = random_steps(STEPS);

    (void)state;
    random_begin();
    trees = (struct dz_pool){
        .poll = tree_poll,
        .name = "trees",
        .file = __FILE__,
        .line = __LINE__,
        .slots = trees_slots,
        .size = sizeof(struct tree),
        .count = TASKS,
    };
    begin_afresh();
    for (step = 0; step < steps; step++) {
        do_something();
        if (dice(4) == 0)
            pass();
        compare();
        if (step % 100 == 0)
            come_to_rest();
    }
    report();
    /* The test reached what it is about. */
    for (unsigned i = 0; i < EVENTS; i++)
        check(steps < STEPS || counted[i] > steps / 100);
    for (unsigned i = 0; i < KINDS; i++)
        check(steps < STEPS || completed[i] > steps / 100);
}

static enum dz_poll lock_poll(unsigned source)
{
    return source_poll(source);
}

static void copier_unlock(struct dz_guard *guard)
{
    (void)guard;
    give(0);
}

struct copier {
    struct dz_frame frame;
    struct dz_guard guard;
};

/* The lock is source 0. */
static enum dz_poll copier_poll(struct copier *self)
{
    async (self) {
        await(lock_poll(0));
        dz_guard_enter(&self->guard, copier_unlock);
        await(source_poll(1));
        dz_guard_leave(&self->guard);
        give(0);
    }
    return DZ_READY;
}

struct copying {
    struct dz_task task;
    struct dz_select2 select;
    struct copier copier;
};

static enum dz_poll copying_poll(struct copying *self)
{
    async (self) {
        await(dz_select2(
            &self->select, copier_poll(&self->copier), source_poll(2)));
    }
    return DZ_READY;
}

DZ_TASK_POOL(copyings, struct copying, copying_poll, 1)

static void the_example_of_the_header_works(void **state)
{
    struct copying *copying;

    (void)state;
    begin_afresh();
    (void)copyings_claim(&copying);
    dz_executor_spawn(&executor, &copying->task);
    give(0);
    pass();
    assert_int_equal(left_at(0), 0);

    give(2);
    pass();
    assert_int_equal(left_at(0), 1);
    nobody_waits_anywhere();
}

RUN_TESTS(TEST(does_what_the_model_does_at_every_step),
    TEST(the_example_of_the_header_works))
