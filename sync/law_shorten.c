/* SPDX-License-Identifier: MIT */

/*
 * The shortest episode that fails: first steps are left out, halves before
 * quarters (delta debugging, Zeller and Hildebrandt 2002), then what is left is
 * made simpler, until nothing can be taken away.
 */
#include <string.h>

#include "sync/law_episode.h"

static struct law_episode without(
    const struct law_episode *episode, unsigned first, unsigned count)
{
    struct law_episode shorter = {.count = episode->count - count};

    for (unsigned i = 0; i < shorter.count; i++)
        shorter.moves[i] = episode->moves[i < first ? i : i + count];
    return shorter;
}

/* True: something could go. */
static bool drop_moves(struct law_episode *episode, unsigned count)
{
    bool is_shorter = false;

    for (unsigned i = 0; i + count <= episode->count;) {
        struct law_episode shorter = without(episode, i, count);

        if (!law_still_fails(&shorter)) {
            i += count;
            continue;
        }
        *episode = shorter;
        is_shorter = true;
    }
    return is_shorter;
}

/* True: the step does as well in its simpler form. */
static bool replace(
    struct law_episode *episode, unsigned at, const struct law_move *simpler)
{
    struct law_episode other = *episode;

    if (memcmp(&other.moves[at], simpler, sizeof(*simpler)) == 0)
        return false;
    other.moves[at] = *simpler;
    if (!law_still_fails(&other))
        return false;
    *episode = other;
    return true;
}

/* Ways in which an order is simpler. */
enum way {
    NOT_AT_ALL,
    BY_NO_TASK,
    WITHOUT_STOP,
    NO_MORE_THAN_STOP,
    NO_MORE_THAN_PASS,
    FIRST_BRANCH,
    SECOND_BRANCH,
    TWO_BRANCHES,
    LOWER_WORKER,
    SAME_VARIABLES,
    ARGUMENT_ZERO,
    WAYS = ARGUMENT_ZERO + LAW_BRANCHES,
};

static struct law_order simpler_order(struct law_order order, enum way way)
{
    bool begins = order.verb == LAW_BEGIN || order.verb == LAW_INSTEAD;

    if (way == NOT_AT_ALL)
        order = (struct law_order){.verb = LAW_NOTHING};
    if (way == BY_NO_TASK && begins)
        order.verb = LAW_ACT;
    if (way == WITHOUT_STOP && (begins || order.verb == LAW_WALK))
        order.verb = LAW_BEGIN;
    if (way == NO_MORE_THAN_STOP && order.verb >= LAW_BEGIN)
        order.verb = LAW_STOP;
    if (way == NO_MORE_THAN_PASS && order.verb == LAW_REST)
        order.verb = LAW_PASS;
    if (way == SECOND_BRANCH)
        order.choices[0] = order.choices[1];
    if (way == FIRST_BRANCH || way == SECOND_BRANCH)
        order.shape = LAW_SINGLE;
    if (way == TWO_BRANCHES && order.shape == LAW_NESTED)
        order.shape = LAW_SELECT;
    if (way == LOWER_WORKER && order.worker > 0)
        order.worker--;
    if (way == SAME_VARIABLES)
        order.variables = 0;
    if (way >= ARGUMENT_ZERO)
        order.choices[way - ARGUMENT_ZERO].argument = 0;
    return order;
}

static bool simplify_orders(struct law_episode *episode, unsigned at)
{
    bool is_simpler = false;

    for (unsigned way = 0; way < WAYS; way++) {
        struct law_move move = episode->moves[at];

        move.order = simpler_order(move.order, way);
        is_simpler |= replace(episode, at, &move);
        move = episode->moves[at];
        move.interrupt = simpler_order(move.interrupt, way);
        is_simpler |= replace(episode, at, &move);
    }
    return is_simpler;
}

/* What strikes in a move is a move of its own, before or behind it. */
static bool hoist_interrupt(struct law_episode *episode, unsigned at)
{
    struct law_episode other = *episode;
    struct law_move *move = &other.moves[at];

    if (move->strikes_at == 0 || other.count == LAW_STEPS)
        return false;
    memmove(move + 1, move, (other.count++ - at) * sizeof(*move));
    move[0] = (struct law_move){.order = move[1].interrupt};
    move[1] = (struct law_move){.order = move[1].order};
    if (!law_still_fails(&other)) {
        struct law_move second = move[0];

        move[0] = move[1];
        move[1] = second;
    }
    if (!law_still_fails(&other))
        return false;
    *episode = other;
    return true;
}

static bool simplify_interrupt(struct law_episode *episode, unsigned at)
{
    struct law_move move = episode->moves[at];
    bool is_simpler = false;

    if (move.strikes_at == 0)
        return false;
    if (hoist_interrupt(episode, at))
        return true;
    do {
        move = episode->moves[at];
        move.strikes_at--;
    } while (replace(episode, at, &move) && (is_simpler = true) &&
        move.strikes_at > 0);
    return is_simpler;
}

static bool simplify(struct law_episode *episode)
{
    bool is_simpler = false;

    for (unsigned i = 0; i < episode->count; i++) {
        is_simpler |= simplify_orders(episode, i);
        is_simpler |= simplify_interrupt(episode, i);
    }
    return is_simpler;
}

/* Workers are alike: they are numbered in the order in which they appear. */
static void number_workers(struct law_episode *episode)
{
    uint8_t numbers[LAW_WORKERS];
    struct law_episode other = *episode;
    uint8_t count = 0;

    memset(numbers, LAW_WORKERS, sizeof(numbers));
    for (unsigned i = 0; i < 2 * other.count; i++) {
        struct law_move *move = &other.moves[i / 2];
        struct law_order *order = i % 2 == 0 ? &move->order : &move->interrupt;

        if (order->verb < LAW_BEGIN)
            continue;
        if (numbers[order->worker] == LAW_WORKERS)
            numbers[order->worker] = count++;
        order->worker = numbers[order->worker];
    }
    if (law_still_fails(&other))
        *episode = other;
}

/* Until neither helps any more. */
void law_shorten(struct law_episode *episode)
{
    bool is_simpler;

    do {
        is_simpler = false;
        for (unsigned count = episode->count / 2; count > 0; count /= 2)
            is_simpler |= drop_moves(episode, count);
        is_simpler |= simplify(episode);
    } while (is_simpler);
    number_workers(episode);
}
