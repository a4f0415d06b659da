/* SPDX-License-Identifier: MIT */
#include "executor/fork.h"

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
static void withdraw_branches(struct dz_fork *fork)
{
    struct dz_branch *branches = dz_fork_branches(fork);

    for (unsigned i = 0; i < fork->count; i++)
        dz_waiter_withdraw(&branches[i].waiter);
}

/* Then the innermost first: what a branch waits for, then what it holds. */
static void cancel_branches(struct dz_fork *fork)
{
    struct dz_branch *branches = dz_fork_branches(fork);

    for (unsigned i = 0; i < fork->count; i++) {
        dz_waiter_cancel(&branches[i].waiter);
        drop_guards(&branches[i]);
    }
}

static void fork_leave(struct dz_canceller *canceller, enum dz_leaving leaving)
{
    struct dz_fork *fork = container_of(canceller, struct dz_fork, canceller);

    if (leaving == DZ_WITHDRAW)
        withdraw_branches(fork);
    else
        cancel_branches(fork);
}

void dz_fork_begin(struct dz_fork *fork, unsigned count)
{
    struct dz_branch *branches = dz_fork_branches(fork);

    fork->canceller.leave = fork_leave;
    fork->outer = dz_current;
    if (!dz_waiter_enter(&fork->canceller))
        return;
    fork->count = (uint8_t)count;
    for (unsigned i = 0; i < count; i++)
        branches[i] = (struct dz_branch){
            .waiter = {.task = fork->outer->task},
        };
}

int dz_fork_enter(struct dz_fork *fork, unsigned branch)
{
    dz_current = &dz_fork_branches(fork)[branch].waiter;
    return 1;
}

enum dz_poll dz_fork_pending(struct dz_fork *fork)
{
    dz_current = fork->outer;
    return DZ_PENDING;
}

void dz_fork_hand_over(struct dz_fork *fork, unsigned branch)
{
    struct dz_branch *from = &dz_fork_branches(fork)[branch];
    struct dz_guard **end = &from->guards;
    struct dz_branch *outer;

    if (from->guards == NULL)
        return;
    outer = branch_now();
    if (outer != NULL) {
        while (*end != NULL)
            end = &(*end)->next;
        *end = outer->guards;
        outer->guards = from->guards;
    }
    from->guards = NULL;
}
