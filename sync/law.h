/* SPDX-License-Identifier: MIT */
#ifndef SYNC_LAW_H
#define SYNC_LAW_H

/*
 * law -- what holds for everything that waits, checked against a model
 *
 * A law test runs random operations, cancellations and interrupts on one
 * primitive, and on a slow and obvious model of it, in lock step. The laws of
 * waiting are the same for all primitives, and the harness knows them:
 *
 *  - who has to wait stands in a line; a wake-up is a grant; nobody barges;
 *    who came first is served first;
 *  - no task is woken without a grant, none is forgotten, and a thousand idle
 *    rounds poll nobody;
 *  - who is cancelled leaves its line, and gives back what it was granted;
 *    those who can now go on are woken.
 *
 * So the author of a law test says only what an operation needs, and what it
 * does once it has that, in plain arrays, from the header essay of the
 * primitive and not from its code. A whole law test of a counter of permits,
 * of which struct dz_permits has one line of waiters:
 *
 *     static struct permits object;
 *     static const struct dz_permits_type *type;
 *     static unsigned free_permits;                         the model
 *
 *     static bool reserve(struct law_call *call)
 *     {
 *         if (free_permits < call->argument)
 *             return false;
 *         free_permits -= call->argument;
 *         return true;
 *     }
 *
 *     static void give_back(struct law_call *call)
 *     {
 *         free_permits += call->argument;
 *     }
 *
 *     static bool release_model(struct law_call *call)
 *     {
 *         free_permits += call->argument;
 *         return true;
 *     }
 *
 *     static bool acquire(struct law_call *call)            the real ones
 *     {
 *         return dz_permits_acquire(&object.permits, type, call->argument) ==
 *             DZ_READY;
 *     }
 *
 *     static bool try_acquire(struct law_call *call) ...
 *     static bool release(struct law_call *call) ...        returns true
 *
 *     static const struct law_operation operations[] = {
 *         {"acquire", LAW_WAITS, .weight = 4, .arguments = 3, .real = acquire,
 *             .reserve = reserve, .give_back = give_back},
 *         {"try_acquire", LAW_TRIES, .weight = 2, .arguments = 3,
 *             .real = try_acquire, .reserve = reserve},
 *         {"release", LAW_ACTS, .weight = 6, .arguments = 3, .real = release,
 *             .perform = release_model},
 *     };
 *
 *     static void reset(const struct dz_object *chosen)
 *     {
 *         object = (struct permits){0};
 *         type = (const struct dz_permits_type *)(const void *)chosen;
 *         free_permits = 0;
 *     }
 *
 *     static void compare(void)
 *     {
 *         law_check(dz_permits_free(&object.permits, type) == free_permits);
 *     }
 *
 *     int main(void)
 *     {
 *         static const struct law law = {"permits", operations,
 *             LAW_COUNT(operations), types, LAW_COUNT(types), reset, compare};
 *
 *         return law_run(&law);
 *     }
 *
 * and in CMakeLists.txt: doze_law(permits). `types` has the struct dz_object of
 * each configuration: DZ_CRITICAL_SECTION, DZ_THREAD_MODE and DZ_NOOP with
 * queues, DZ_CRITICAL_SECTION with a single slot. The typed structs are laid
 * out alike, so one object, as large as the largest, serves them all, through
 * the untyped functions. channel_law_test.c is an example that runs.
 *
 * How it goes
 *  - The model's step comes right before the real one, with interrupts off
 *    between the two. An interrupt strikes at the k-th time after that at which
 *    the core looks for one. So an operation is one critical section; of one
 *    that is several, an interrupt may see half.
 *  - With a noop or a thread-mode object, interrupts strike as often, but only
 *    wake tasks and spawn them.
 *  - With a single slot no promise is made: an operation is ready if reserve
 *    says so at that moment, and at rest nobody sleeps who could go on.
 *  - An episode is a list of some 200 steps on an object that is all zero
 *    again. If a law is broken, or there is a panic, a crash or a hang, the
 *    shortest list that does it is looked for and told in words, with all that
 *    happened.
 *
 * DOZE_SEED and DOZE_STEPS as in sim/test_random.h; the steps are for each
 * configuration. DOZE_EPISODE runs one episode alone.
 */

#include "sync/raw_mutex.h"

enum {
    LAW_WORKERS = 6,
    LAW_OUTSIDE = LAW_WORKERS, /* no worker: thread mode outside tasks, */
    LAW_INTERRUPT,             /* or an interrupt */
    LAW_LINES = 4,
    LAW_WORDS = 8,
};

enum law_kind {
    LAW_WAITS, /* in a line, in a task */
    LAW_TRIES, /* fails at once where LAW_WAITS would wait */
    LAW_ACTS,  /* fails only if reserve does, whoever waits */
};

/* One operation under way. */
struct law_call {
    const struct law_operation *operation;
    unsigned argument;
    unsigned who; /* a worker's number, or LAW_OUTSIDE, or LAW_INTERRUPT */

    /* What comes out of it: all zero before it begins, and equal when it is
     * done. perform writes the first, the real operation the second. */
    uint32_t expected[LAW_WORDS];
    uint32_t got[LAW_WORDS];

    /* What model and operation keep while it lasts: all zero before. */
    uint32_t model[LAW_WORDS];
    union {
        uint64_t align;
        struct dz_frame frame;
        unsigned char bytes[64];
    } real;

    /* The harness's. */
    struct dz_waiter *waiter;
    unsigned state;
    const struct law_call *giver; /* whose end it was granted at, or NULL */
    long given_in;                /* the number of that poll */
};

/*
 * What is 0 or NULL is left out: no argument, always available, nothing to do.
 * A line is served from the head as long as reserve succeeds for the head,
 * after each step that changed anything.
 */
struct law_operation {
    const char *name;
    enum law_kind kind;
    unsigned line;
    unsigned weight;    /* how often it is chosen, beside the others'; or 0 */
    unsigned arguments; /* it has one, which is 0 to this - 1 */

    /* The operation itself. A poll: it is ready. Else: it succeeded. */
    bool (*real)(struct law_call *call);

    /* It may be called at all, now and by this caller; else it is passed over.
     * For what would be misuse, as to unlock what is not locked. */
    bool (*may)(const struct law_call *call);

    /* Reserves what it needs. False: that is not there, or promised. Nothing
     * else in the model has changed then. */
    bool (*reserve)(struct law_call *call);

    /* Does what it does with what it has reserved. False: it has to go on, in
     * front of its line: reserve is called again. */
    bool (*perform)(struct law_call *call);

    /* Undoes reserve: the wait was cancelled. */
    void (*give_back)(struct law_call *call);
};

struct law {
    const char *name; /* of the primitive: NAME_law_test.c */
    const struct law_operation *operations;
    unsigned operation_count;
    const struct dz_object *const *types; /* the configurations */
    unsigned type_count;

    /* Begins an episode: the object all zero, the model likewise. */
    void (*reset)(const struct dz_object *type);

    /* Compares what can be seen of the object with the model, with
     * law_check, and with interrupts off. */
    void (*compare)(void);

    /* Bit i: line i is served whoever of it can go on, in order; a head that
     * cannot does not block it. */
    unsigned who_can;
};

#define LAW_COUNT(array) ((unsigned)(sizeof(array) / sizeof((array)[0])))

/* How many stand in a line and were granted nothing yet. With a single slot
 * always 0: nobody knows. For reserve. */
unsigned law_waiting(unsigned line);

/* True: the object keeps a line, and does not just wake whom it saw last. */
bool law_has_queues(void);

/* Ends the episode with a broken law. */
#define law_check(condition)                            \
    do {                                                \
        if (!(condition))                               \
            law_broken(#condition, __FILE__, __LINE__); \
    } while (0)

_Noreturn void law_broken(const char *what, const char *file, int line);

/* Runs all configurations. Returns the exit code of main. */
int law_run(const struct law *law);

#endif
