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
 * does once it has that, in plain variables, from the header essay of the
 * primitive and not from its code. A whole law test, of a signal:
 *
 *     static const struct dz_object *const types[] = {...};
 *     static struct latest_signal object;
 *     static const struct dz_signal_type *type;
 *
 *     static uint32_t value;                    the model
 *     static bool is_held;
 *     static bool is_free;                      held, and promised to nobody
 *
 *     static bool reserve(struct law_call *call)
 *     {
 *         bool is_available = is_free;
 *
 *         (void)call;
 *         is_free = false;
 *         return is_available;
 *     }
 *
 *     static void give_back(struct law_call *call)
 *     {
 *         (void)call;
 *         is_free = true;
 *     }
 *
 *     static bool take_model(struct law_call *call)
 *     {
 *         call->expected[0] = value;
 *         is_held = false;
 *         return true;
 *     }
 *
 *     static bool send_model(struct law_call *call)
 *     {
 *         value = call->argument;
 *         is_free = is_free || !is_held;
 *         is_held = true;
 *         return true;
 *     }
 *
 *     static bool wait_real(struct law_call *call)
 *     {
 *         return dz_signal_wait(&object.signal, type, call->got) == DZ_READY;
 *     }
 *
 *     static bool try_take_real(struct law_call *call)
 *     {
 *         return dz_signal_try_take(&object.signal, type, call->got);
 *     }
 *
 *     static bool send_real(struct law_call *call)
 *     {
 *         uint32_t sent = call->argument;
 *
 *         dz_signal_send(&object.signal, type, &sent);
 *         return true;
 *     }
 *
 *     static const struct law_operation operations[] = {
 *         {"wait", LAW_WAITS, .weight = 4, .real = wait_real,
 *             .reserve = reserve, .perform = take_model,
 *             .give_back = give_back},
 *         {"try_take", LAW_TRIES, .weight = 2, .real = try_take_real,
 *             .reserve = reserve, .perform = take_model},
 *         {"send", LAW_ACTS, .weight = 4, .arguments = 100,
 *             .real = send_real, .perform = send_model...},
 *     };
 *
 *     static void reset(const struct dz_object *chosen)
 *     {
 *         object = (struct latest_signal){0};
 *         type = (const struct dz_signal_type *)(const void *)chosen;
 *         is_held = false;
 *         is_free = false;
 *     }
 *
 *     static void compare(void)
 *     {
 *         law_check(dz_signal_is_sent(&object.signal, type) == is_free);
 *     }
 *
 *     static const struct law law = {           in main
 *         .name = "latest",
 *         .operations = operations,
 *         .operation_count = LAW_COUNT(operations),
 *         .types = types,
 *         .type_count = LAW_COUNT(types),
 *         .reset = reset,
 *         .compare = compare,
 *     };
 *     return law_run(&law);
 *
 * It is latest_law_test.c, and doze_law(latest) in CMakeLists.txt. `types` has
 * the struct dz_object of each configuration: DZ_CRITICAL_SECTION,
 * DZ_THREAD_MODE and DZ_NOOP with queues, DZ_CRITICAL_SECTION with a single
 * slot. Typed structs that differ in these are laid out alike, so one object
 * serves them all, through the untyped functions.
 *
 * How it goes
 *  - The model's step comes right before the real one, with interrupts off
 *    between the two. An interrupt strikes at the k-th time after that at which
 *    the core looks for one. So an operation is one critical section; of one
 *    that is several, an interrupt may see half.
 *  - Tasks are woken in the order in which they are granted, which is compared
 *    with the executor's queue: of those that one step grants, those in the
 * same line.
 *  - With a noop or a thread-mode object, interrupts strike as often, but only
 *    wake tasks and spawn them.
 *  - With a single slot no promise is made: an operation is ready if reserve
 *    says so at that moment, and at rest nobody sleeps who could go on.
 *  - The test is built twice. Where DZ_CHECKS is 0, a worker also walks away
 * from what it waits for without dz_cancel(). It keeps its place, or its grant,
 *    until it waits for something else; or goes on with it, if it asks for the
 *    same (executor/waiter.h). The second time it may do so with the variable
 *    of the first, or with another one.
 *  - In each configuration each operation has to come to its end, and to wait
 *    if it can. If it cannot there, it says so.
 *  - An episode is a list of 200 steps on an object that is all zero again. If
 *    a law is broken, or there is a panic, a crash or a hang, the list is made
 *    shorter and simpler as long as it still fails, and told in words, with all
 *    that happened.
 *
 * DOZE_SEED and DOZE_STEPS as in sim/test_random.h; the steps are for each
 * configuration. DOZE_EPISODE runs one episode alone.
 *
 * All of it runs on a Cortex-M4 as well (sync/law_machine.h), where a strike is
 * an exception. A digest for each configuration, of all that happened, in its
 * order, tells whether two machines did the same.
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

    /* What comes out of it: equal before it begins, all zero for what never
     * waits, and equal when it is done. perform writes the first, the real
     * operation the second: the variable of whoever calls it, LAW_WORDS long.
     */
    uint32_t expected[LAW_WORDS];
    uint32_t *got;

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
    bool is_over;
    bool is_expected;             /* to be done, in this poll */
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
     * front of its line (but see law.behind): reserve is called again. */
    bool (*perform)(struct law_call *call);

    /* Undoes reserve: the wait was cancelled. */
    void (*give_back)(struct law_call *call);

    /* True: who has walked away from a wait in this line, and now calls this,
     * goes on with that wait, and takes over from its `model` what it needs.
     * False: that wait is over. NULL: whoever waits in this line asks for the
     * same, and has nothing to take over. */
    bool (*goes_on)(struct law_call *call, const struct law_call *walked);

    /* Bit i: with types[i], it never comes to its end, or never waits. */
    unsigned never;
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

    /* Bit i: in line i, who has to go on stands behind the others. */
    unsigned behind;

    /* Bit i: whom one step grants something in line i, it wakes in any order.
     */
    unsigned any_order;
};

#define LAW_COUNT(array) ((unsigned)(sizeof(array) / sizeof((array)[0])))

/* How many stand in a line and were granted nothing yet. With a single slot
 * always 0: nobody knows. For reserve. */
unsigned law_waiting(unsigned line);

/* True: it has to wait, or was granted something and did not run yet. False: it
 * is done, or was cancelled. For the single slot, where a model hears nothing
 * of a cancellation. */
bool law_is_waiting(const struct law_call *call);

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
