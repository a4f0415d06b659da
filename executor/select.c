/* SPDX-License-Identifier: MIT */
#include "executor/select.h"

_Static_assert(
    offsetof(struct dz_select2, branches) == sizeof(struct dz_select) &&
        offsetof(struct dz_select3, branches) == sizeof(struct dz_select),
    "branches follow the select");

static struct dz_branch *branches_of(struct dz_select *select)
{
    return (struct dz_branch *)(void *)(select + 1);
}

/* The branch that runs now, or NULL when it is a task's outermost. */
static struct dz_branch *branch_now(void)
{
    struct dz_waiter *waiter = dz_current;

    if (waiter == &dz_task_current()->waiter)
        return NULL;
    return container_of(waiter, struct dz_branch, waiter);
}

static _Noreturn void guard_misuse(const char *reason)
{
    dz_task_panic(dz_task_current(), reason);
}

void dz_guard_enter(
    struct dz_guard *guard, void (*drop)(struct dz_guard *guard))
{
    struct dz_branch *branch = branch_now();

    if (guard->drop != NULL)
        guard_misuse("a guard is entered that was not left");
    guard->drop = drop;
    guard->next = NULL;
    if (branch == NULL)
        return;
    guard->next = branch->guards;
    branch->guards = guard;
}

static bool unlink_guard(struct dz_branch *branch, struct dz_guard *guard)
{
    struct dz_guard **at = &branch->guards;

    while (*at != NULL && *at != guard)
        at = &(*at)->next;
    if (*at == NULL)
        return false;
    *at = guard->next;
    return true;
}

void dz_guard_leave(struct dz_guard *guard)
{
    struct dz_branch *branch = branch_now();

    if (guard->drop == NULL)
        guard_misuse("a guard is left that was not entered");
    if (branch != NULL && !unlink_guard(branch, guard))
        guard_misuse("a guard is left in another branch than its own");
    guard->drop = NULL;
}

static void drop_guards(struct dz_branch *branch)
{
    struct dz_guard *guard = branch->guards;

    branch->guards = NULL;
    while (guard != NULL) {
        struct dz_guard *next = guard->next;
        void (*drop)(struct dz_guard * guard) = guard->drop;

        guard->drop = NULL;
        drop(guard);
        guard = next;
    }
}

/* First all leave their queues, so that nothing that one of them gives back
 * goes to another. */
static void withdraw_branches(struct dz_select *select)
{
    struct dz_branch *branches = branches_of(select);

    for (unsigned i = 0; i < select->count; i++)
        dz_waiter_withdraw(&branches[i].waiter);
}

/* Then the innermost first: what a branch waits for, then what it holds. */
static void cancel_branches(struct dz_select *select)
{
    struct dz_branch *branches = branches_of(select);

    for (unsigned i = 0; i < select->count; i++) {
        dz_waiter_cancel(&branches[i].waiter);
        drop_guards(&branches[i]);
    }
}

static void select_leave(
    struct dz_canceller *canceller, enum dz_leaving leaving)
{
    struct dz_select *select =
        container_of(canceller, struct dz_select, canceller);

    if (leaving == DZ_WITHDRAW)
        withdraw_branches(select);
    else
        cancel_branches(select);
}

/* What the winner holds now belongs to the branch around the select. */
static void hand_over(struct dz_branch *winner)
{
    struct dz_branch *outer = branch_now();
    struct dz_guard **end = &winner->guards;

    if (outer != NULL) {
        while (*end != NULL)
            end = &(*end)->next;
        *end = outer->guards;
        outer->guards = winner->guards;
    }
    winner->guards = NULL;
}

int dz_select_begin(struct dz_select *select, unsigned count)
{
    struct dz_branch *branches = branches_of(select);

    select->canceller.leave = select_leave;
    select->outer = dz_current;
    if (!dz_waiter_enter(&select->canceller))
        return 1;
    select->count = (uint8_t)count;
    for (unsigned i = 0; i < count; i++)
        branches[i] = (struct dz_branch){
            .waiter = {.task = select->outer->task},
        };
    return 1;
}

int dz_select_branch(struct dz_select *select, unsigned branch)
{
    dz_current = &branches_of(select)[branch].waiter;
    return 1;
}

enum dz_poll dz_select_pending(struct dz_select *select)
{
    dz_current = select->outer;
    return DZ_PENDING;
}

enum dz_poll dz_select_won(struct dz_select *select, unsigned branch)
{
    dz_current = select->outer;
    select->winner = (uint8_t)branch;
    hand_over(&branches_of(select)[branch]);
    dz_waiter_cancel(select->outer);
    return DZ_READY;
}
