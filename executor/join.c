/* SPDX-License-Identifier: MIT */
#include "executor/join.h"

static void done_leave(struct dz_canceller *canceller, enum dz_leaving leaving)
{
    (void)canceller;
    (void)leaving;
}

/* The place "is done": where a branch stands that has come to its end, until
 * the join ends. There is nothing to leave. */
static const struct dz_canceller done = {done_leave};

static bool is_done(const struct dz_branch *branch)
{
    return branch->waiter.place == (uintptr_t)&done + DZ_PLACE_CUSTOM;
}

int dz_join_enter(struct dz_fork *join, unsigned branch)
{
    if (is_done(&dz_fork_branches(join)[branch]))
        return 0;
    return dz_fork_enter(join, branch);
}

/* The branch that runs now may stand in a queue that it walked away from. */
void dz_join_done(void)
{
    dz_cancel();
    dz_current->place = (uintptr_t)&done + DZ_PLACE_CUSTOM;
}

enum dz_poll dz_join_end(struct dz_fork *join)
{
    struct dz_branch *branches = dz_fork_branches(join);

    dz_current = join->outer;
    for (unsigned i = 0; i < join->count; i++) {
        if (!is_done(&branches[i]))
            return DZ_PENDING;
    }
    /* The last first, as each goes in front of what was there. */
    for (unsigned i = join->count; i-- > 0;)
        dz_fork_hand_over(join, i);
    dz_current->place = 0; /* no branch waits any more */
    return DZ_READY;
}

enum dz_poll dz_join_array_poll(struct dz_fork *join, unsigned count,
    enum dz_poll (*poll)(void *argument, unsigned branch), void *argument)
{
    dz_fork_begin(join, count);
    for (unsigned i = 0; i < count; i++) {
        if (dz_join_enter(join, i) && poll(argument, i) == DZ_READY)
            dz_join_done();
    }
    return dz_join_end(join);
}
