/* SPDX-License-Identifier: MIT */

/*
 * Episodes by the thousand, all in one child process, so that a panic, a crash
 * and a hang are failures like others. The one that failed is made shorter,
 * each attempt in a child of its own: first steps are left out, halves before
 * quarters (delta debugging, Zeller and Hildebrandt 2002), then what is left is
 * made simpler, until nothing can be taken away. The shortest is run once more,
 * aloud.
 */

/* For MAP_ANONYMOUS, which is beyond the base of POSIX.1-2008. */
#define _DEFAULT_SOURCE

#include <stdio.h>
#include <sys/mman.h>

#include <uv.h>

#include "sim/test_random.h"
#include "sync/law_episode.h"

enum {
    STEPS = 100000,
    ENOUGH = 100,      /* episodes, to reach all that there is to be tested */
    PATIENCE = 20,     /* s for an episode, */
    LESS_PATIENCE = 3, /* and for one while the shortest is looked for */
};

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

static struct law_episode choose_episode(long number)
{
    struct law_episode episode = {.count = LAW_STEPS};

    random_state =
        (seed << 32 ^ (uint64_t)number) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (unsigned i = 0; i < LAW_STEPS; i++)
        episode.moves[i] = choose_move();
    return episode;
}

/* The configurations by turns. */
static void choose_type(long number)
{
    law_type = (unsigned)((unsigned long)number % law_now->type_count);
    law_object = law_now->types[law_type];
}

/* ---- Children, in which a law is broken or the worst happens. */

static long first_episode;
static long last_episode;

static void run_episodes(void)
{
    for (long i = first_episode; i <= last_episode; i++) {
        struct law_episode episode = choose_episode(i);

        law_told->episode = i;
        alarm(PATIENCE);
        choose_type(i);
        law_run_episode(&episode);
    }
}

static struct law_episode candidate;

static void run_candidate(void)
{
    alarm(LESS_PATIENCE);
    law_run_episode(&candidate);
}

/* What a panic says is heard once, when it is told. */
static bool fails_in_child(void (*body)(void))
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        test_leaks = true;
        if (!law_is_loud && freopen("/dev/null", "w", stderr) == NULL)
            _exit(LAW_EXIT);
        law_begin();
        body();
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child)
        return true;
    if (law_is_loud && WIFSIGNALED(status))
        law_say("\n%s law: signal %d\n", law_now->name, WTERMSIG(status));
    return status != 0;
}

/* For whatever reason: a shorter way to another fault is welcome. */
static bool still_fails(const struct law_episode *shorter)
{
    candidate = *shorter;
    return fails_in_child(run_candidate);
}

/* ---- The shortest episode that fails. */

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

        if (!still_fails(&shorter)) {
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
    if (!still_fails(&other))
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
    if (!still_fails(&other)) {
        struct law_move second = move[0];

        move[0] = move[1];
        move[1] = second;
    }
    if (!still_fails(&other))
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
    if (still_fails(&other))
        *episode = other;
}

/* Until neither helps any more. */
static void shorten(struct law_episode *episode)
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

/* ---- The whole. */

static const char *program(void)
{
    static char path[4096];
    size_t size = sizeof(path);

    return uv_exepath(path, &size) == 0 ? path : "this program";
}

static void tell_failure(long number)
{
    static const char *const mutexes[] = {
        "DZ_NOOP", "DZ_THREAD_MODE", "DZ_CRITICAL_SECTION"};
    struct law_episode episode = choose_episode(number);

    choose_type(number);
    if (still_fails(&episode))
        shorten(&episode);
    law_is_loud = true;
    law_say("The %s law is broken. %s (%s, %s), %u steps:\n", law_now->name,
        law_object->name, mutexes[law_object->mutex],
        law_has_queues() ? "DZ_QUEUE" : "DZ_SINGLE_SLOT", episode.count);
    if (still_fails(&episode))
        law_say("Again: DOZE_SEED=%llu DOZE_EPISODE=%ld %s\n",
            (unsigned long long)seed, number, program());
    else
        law_say("It takes the episodes before it.\nAgain: DOZE_SEED=%llu %s\n",
            (unsigned long long)seed, program());
    law_is_loud = false;
}

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
        print_message("    %s never came to its end, or never waited, in %s\n",
            operation->name, law_now->types[type]->name);
        is_enough = false;
    }
    print_message("    %-20s completed %7ld, waited %7ld\n", operation->name,
        completed, waited);
    return is_enough;
}

/* By turns for each configuration. */
static void choose_episodes(void)
{
    long count = random_steps(STEPS) / LAW_STEPS + 1;

    last_episode = count * (long)law_now->type_count - 1;
    if (getenv("DOZE_EPISODE") != NULL) {
        first_episode = (long)number_from("DOZE_EPISODE", 0);
        last_episode = first_episode;
    }
}

int law_run(const struct law *chosen)
{
    bool is_enough = true;

    law_now = chosen;
    law_told = mmap(NULL, sizeof(*law_told), PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (law_told == MAP_FAILED)
        return 1;
    random_begin();
    choose_episodes();
    if (fails_in_child(run_episodes)) {
        tell_failure(law_told->episode);
        return 1;
    }
    print_message("%s law: %ld episodes, %ld interrupts, %ld polls, %ld "
                  "grants, %ld passed on, %ld walked away from\n",
        law_now->name, last_episode - first_episode + 1, law_told->interrupts,
        law_told->polls, law_told->grants, law_told->passed_on,
        law_told->walks);
    for (unsigned i = 0; i < law_now->operation_count; i++)
        is_enough &= is_thorough(&law_now->operations[i]);
    return is_enough || last_episode - first_episode < ENOUGH ? 0 : 1;
}
