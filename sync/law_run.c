/* SPDX-License-Identifier: MIT */

/*
 * Episodes from a seed, by the thousand, and what they reached. What is printed
 * is the same wherever the same episodes run.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/random.h"
#include "sync/law_episode.h"
#include "sync/law_machine.h"

enum {
    STEPS = 100000,
    ENOUGH = 100, /* episodes, to reach all that there is to be tested */
};

#define DIGEST_BEGIN UINT32_C(0x811c9dc5) /* FNV's */

uint32_t law_seed;

/* ---- Episodes from a seed. */

/* Those that never wait alone, if `kind` is not LAW_WAITS. */
static unsigned weight_of(unsigned operation, enum law_kind kind)
{
    if (kind != LAW_WAITS && law_now->operations[operation].kind == LAW_WAITS)
        return 0;
    return law_now->operations[operation].weight;
}

static struct law_choice choose(enum law_kind kind)
{
    unsigned total = 0;
    unsigned point;
    unsigned i = 0;

    for (unsigned k = 0; k < law_now->operation_count; k++)
        total += weight_of(k, kind);
    if (total == 0)
        return (struct law_choice){0};
    for (point = dice(total); point >= weight_of(i, kind); i++)
        point -= weight_of(i, kind);
    return (struct law_choice){(uint8_t)i,
        (uint16_t)dice(law_now->operations[i].arguments > 0
                ? law_now->operations[i].arguments
                : 1)};
}

/* Of those that every context can carry out. */
static struct law_order choose_order(unsigned odds_to_act)
{
    static const uint8_t verbs[] = {LAW_BEGIN, LAW_BEGIN, LAW_BEGIN, LAW_BEGIN,
        LAW_BEGIN, LAW_BEGIN, LAW_INSTEAD, LAW_STOP, LAW_STOP, LAW_END};
    static const uint8_t shapes[] = {LAW_SINGLE, LAW_SINGLE, LAW_SINGLE,
        LAW_SINGLE, LAW_SELECT, LAW_SELECT, LAW_NESTED, LAW_JOIN};
    struct law_order order = {.worker = (uint8_t)dice(LAW_WORKERS)};

    if (dice(100) < odds_to_act) {
        order.verb = LAW_ACT;
        order.choices[0] = choose(LAW_ACTS);
        return order;
    }
    order.verb = verbs[dice(sizeof(verbs))];
    if (!DZ_CHECKS && order.verb != LAW_END && dice(2) == 0)
        order.verb = LAW_WALK;
    order.variables = !DZ_CHECKS && dice(2) == 0;
    order.shape = shapes[dice(sizeof(shapes))];
    for (unsigned i = 0; i < LAW_BRANCHES; i++)
        order.choices[i] = choose(LAW_WAITS);
    return order;
}

/* A third are passes, so that about every other order meets a worker that has
 * carried out its last one. Early looks for an interrupt are the likelier. */
static struct law_move choose_move(void)
{
    struct law_move move = {.order = choose_order(30)};
    unsigned kind = dice(100);

    if (kind < 35)
        move.order = (struct law_order){.verb = LAW_PASS};
    else if (kind < 37)
        move.order = (struct law_order){.verb = LAW_REST};
    if (dice(2) == 0) {
        move.interrupt = choose_order(60);
        move.strikes_at = (uint8_t)(1 + dice(dice(20) + 1));
    }
    return move;
}

struct law_episode law_choose_episode(long number)
{
    struct law_episode episode = {.count = LAW_STEPS};

    law_type = (unsigned)((unsigned long)number % law_now->type_count);
    law_object = law_now->types[law_type];
    random_state = ((uint64_t)law_seed << 32 ^ (uint64_t)number) *
            UINT64_C(0x9e3779b97f4a7c15) |
        1;
    for (unsigned i = 0; i < LAW_STEPS; i++)
        episode.moves[i] = choose_move();
    return episode;
}

static long first_episode;
static long last_episode;

static void run_episodes(void)
{
    for (unsigned i = 0; i < LAW_TYPES; i++)
        law_told->digests[i] = DIGEST_BEGIN;
    for (long i = first_episode; i <= last_episode; i++) {
        struct law_episode episode = law_choose_episode(i);

        law_told->episode = i;
        law_watch();
        law_run_episode(&episode);
    }
}

/* ---- The whole. */

/* Whether the test reached what it is about: one operation in one
 * configuration. */
static bool is_thorough_in(const struct law_operation *operation, unsigned type)
{
    size_t i = (size_t)(operation - law_now->operations);

    if ((operation->never >> type & 1) != 0)
        return true;
    return law_told->completed[type][i] > 0 &&
        (operation->kind != LAW_WAITS || law_told->waited[type][i] > 0);
}

/* In all configurations. */
static bool is_thorough(const struct law_operation *operation)
{
    size_t i = (size_t)(operation - law_now->operations);
    long completed = 0;
    long waited = 0;
    bool is_enough = true;

    for (unsigned type = 0; type < law_now->type_count; type++) {
        completed += law_told->completed[type][i];
        waited += law_told->waited[type][i];
        if (is_thorough_in(operation, type))
            continue;
        printf("    %s never came to its end, or never waited, in %s\n",
            operation->name, law_now->types[type]->name);
        is_enough = false;
    }
    printf("    %-20s completed %7ld, waited %7ld\n", operation->name,
        completed, waited);
    return is_enough;
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    char *end;
    uint64_t number;

    if (text == NULL)
        return otherwise;
    number = strtoull(text, &end, 0);
    if (end == text || *end != '\0') {
        printf("%s=%s is not a number\n", variable, text);
        exit(1);
    }
    return number;
}

/* By turns for each configuration. */
static void choose_episodes(void)
{
    long count = (long)number_from("DOZE_STEPS", STEPS) / LAW_STEPS + 1;

    law_seed = (uint32_t)number_from("DOZE_SEED", 1);
    printf("DOZE_SEED=%lu\n", (unsigned long)law_seed);
    last_episode = count * (long)law_now->type_count - 1;
    if (getenv("DOZE_EPISODE") != NULL) {
        first_episode = (long)number_from("DOZE_EPISODE", 0);
        last_episode = first_episode;
    }
}

static void tell_whole(void)
{
    printf("%s law: %ld episodes, %ld interrupts, %ld polls, %ld grants, %ld "
           "passed on, %ld walked away from\n",
        law_now->name, last_episode - first_episode + 1, law_told->interrupts,
        law_told->polls, law_told->grants, law_told->passed_on,
        law_told->walks);
    for (unsigned i = 0; i < law_now->type_count; i++)
        printf("    %-20s digest %08lx\n", law_now->types[i]->name,
            (unsigned long)law_told->digests[i]);
}

int law_run(const struct law *chosen)
{
    bool is_enough = true;

    law_now = chosen;
    choose_episodes();
    if (!law_survives(run_episodes))
        return 1;
    tell_whole();
    for (unsigned i = 0; i < law_now->operation_count; i++)
        is_enough &= is_thorough(&law_now->operations[i]);
    return is_enough || last_episode - first_episode < ENOUGH ? 0 : 1;
}
