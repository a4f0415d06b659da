/* SPDX-License-Identifier: MIT */

/*
 * All episodes run in one child process, so that a panic, a crash and a hang
 * are failures like others. The one that failed is made shorter, each attempt
 * in a child of its own. The shortest is run once more, aloud.
 */

/* For MAP_ANONYMOUS, which is beyond the base of POSIX.1-2008. */
#define _DEFAULT_SOURCE

#include <sys/mman.h>

#include <uv.h>

#include "sim/test.h"
#include "sync/law_episode.h"
#include "sync/law_machine.h"

enum {
    IRQ = 5,
    BROKEN = 20,       /* exit code: a law was, and said so */
    PATIENCE = 20,     /* s for an episode, */
    LESS_PATIENCE = 3, /* and for one while the shortest is looked for */
};

/* ---- The core. */

static struct dz_core core;
static unsigned countdown; /* looks for an interrupt until it strikes */

dz_key law_mask(void)
{
    dz_key key = dz_port_core.masked;

    dz_port_core.masked = 1;
    return key;
}

/* What is pending stays so: it comes at the next look. */
void law_unmask(dz_key key)
{
    dz_port_core.masked = key;
}

bool law_is_masked(void)
{
    return dz_port_core.masked != 0;
}

/* Each look takes the note away that makes the core look. */
static void look_again(void)
{
    if (countdown > 0)
        dz_port_core.deferred = 1;
}

void law_strike_at(unsigned look)
{
    countdown = look;
    look_again();
    if (look == 0)
        dz_port_exit(dz_port_enter());
}

/* The linker puts this in the place of the function by which a core looks for
 * interrupts, so that one strikes at a chosen look. */
void __real_dz_core_run_pending(struct dz_core *self);
void __wrap_dz_core_run_pending(struct dz_core *self);

void __wrap_dz_core_run_pending(struct dz_core *self)
{
    if (countdown > 0 && law_may_strike() && --countdown == 0)
        dz_nvic_pend(&core.nvic, IRQ);
    __real_dz_core_run_pending(self);
    look_again();
}

static void handler(void *argument)
{
    (void)argument;
    law_strike();
}

static void become_core(void)
{
    dz_machine_start(&(struct dz_machine){
        .time = DZ_TIME_VIRTUAL, .costs = DZ_COSTS_DEFAULT});
    dz_core_enter(&core);
    dz_core_bind(&core, IRQ, handler, NULL);
}

/* ---- Children, in which a law is broken or the worst happens. */

void law_watch(void)
{
    alarm(PATIENCE);
}

/* In a child, always. Nothing is undone: the next one begins afresh. */
void law_broken(const char *what, const char *file, int line)
{
    law_say("\n%s law (%s:%d): %s\n", law_now->name, file, line, what);
    _exit(BROKEN);
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
            _exit(BROKEN);
        become_core();
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
bool law_still_fails(const struct law_episode *shorter)
{
    candidate = *shorter;
    return fails_in_child(run_candidate);
}

/* ---- Failures. */

static const char *program(void)
{
    static char path[4096];
    size_t size = sizeof(path);

    return uv_exepath(path, &size) == 0 ? path : "this program";
}

static void tell_failure(long number)
{
    struct law_episode episode = law_choose_episode(number);

    if (law_still_fails(&episode))
        law_shorten(&episode);
    law_is_loud = true;
    law_say_type();
    law_say(", %u steps:\n", episode.count);
    if (law_still_fails(&episode))
        law_say("Again: DOZE_SEED=%lu DOZE_EPISODE=%ld %s\n",
            (unsigned long)law_seed, number, program());
    else
        law_say("It takes the episodes before it.\nAgain: DOZE_SEED=%lu %s\n",
            (unsigned long)law_seed, program());
    law_is_loud = false;
}

bool law_survives(void (*run)(void))
{
    law_told = mmap(NULL, sizeof(*law_told), PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (law_told == MAP_FAILED)
        return false;
    if (!fails_in_child(run))
        return true;
    tell_failure(law_told->episode);
    return false;
}
