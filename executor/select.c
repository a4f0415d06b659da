/* SPDX-License-Identifier: MIT */
#include "executor/select.h"

enum dz_poll dz_select_won(struct dz_fork *select, unsigned branch)
{
    dz_current = select->outer;
    select->winner = (uint8_t)branch;
    dz_fork_hand_over(select, branch);
    dz_waiter_cancel(select->outer);
    return DZ_READY;
}

static unsigned behind(const struct dz_fork *select, unsigned branch)
{
    return branch + 1 < select->count ? branch + 1 : 0;
}

/* Polls all branches, from the given one on and round. */
static enum dz_poll poll_from(struct dz_fork *select, unsigned branch,
    enum dz_poll (*poll)(void *argument, unsigned branch), void *argument)
{
    for (unsigned i = 0; i < select->count; i++) {
        dz_fork_enter(select, branch);
        if (poll(argument, branch) == DZ_READY)
            return dz_select_won(select, branch);
        branch = behind(select, branch);
    }
    return dz_fork_pending(select);
}

enum dz_poll dz_select_array_poll(struct dz_fork *select, unsigned count,
    enum dz_poll (*poll)(void *argument, unsigned branch), void *argument)
{
    dz_fork_begin(select, count);
    return poll_from(select, 0, poll, argument);
}

enum dz_poll dz_select_fair_poll(struct dz_fork *select, unsigned count,
    enum dz_poll (*poll)(void *argument, unsigned branch), void *argument)
{
    enum dz_poll result;

    dz_fork_begin(select, count);
    result = poll_from(select, select->next, poll, argument);
    if (result == DZ_READY)
        select->next = (uint8_t)behind(select, select->winner);
    return result;
}
