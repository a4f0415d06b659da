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

void dz_guard_enter(
    struct dz_guard *guard, void (*drop)(struct dz_guard *guard))
{
    struct dz_branch *branch = branch_now();

    guard->drop = drop;
    guard->next = NULL;
    if (branch == NULL)
        return;
    guard->next = branch->guards;
    branch->guards = guard;
}

void dz_guard_leave(struct dz_guard *guard)
{
    struct dz_branch *branch = branch_now();
    struct dz_guard **at;

    if (branch == NULL)
        return;
    for (at = &branch->guards; *at != NULL; at = &(*at)->next) {
        if (*at == guard) {
            *at = guard->next;
            return;
        }
    }
}

static void drop_guards(struct dz_branch *branch)
{
    struct dz_guard *guard = branch->guards;

    branch->guards = NULL;
    while (guard != NULL) {
        struct dz_guard *next = guard->next;

        guard->drop(guard);
        guard = next;
    }
}

/* The innermost first: what a branch waits for, then what it holds. */
static void cancel_branches(struct dz_select *select)
{
    struct dz_branch *branches = branches_of(select);

    for (unsigned i = 0; i < select->count; i++) {
        dz_waiter_cancel(&branches[i].waiter);
        drop_guards(&branches[i]);
    }
}

static void select_cancel(struct dz_canceller *canceller)
{
    cancel_branches(container_of(canceller, struct dz_select, canceller));
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

    select->canceller.cancel = select_cancel;
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
    dz_current->place = 0;
    select->winner = (uint8_t)branch;
    hand_over(&branches_of(select)[branch]);
    cancel_branches(select);
    return DZ_READY;
}
