/* SPDX-License-Identifier: MIT */
#include "sim/ending.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "sim/core.h"
#include "sim/loop.h"
#include "sim/program.h"
#include "sim/watchdog.h"

enum {
    GRACE = 2,        /* s */
    TWIN = 300000000, /* ns: who sends a signal to us and to our group as well,
                         as timeout(1) does, means one */
};

static unsigned core_count;
static atomic_int asked = DZ_ENDING_NONE;
static volatile sig_atomic_t caught; /* a signal that ends the run */
static _Atomic uint64_t caught_at;   /* uv_hrtime() of the first one */
static uv_async_t bell;              /* it has come */

int dz_ending_code(void)
{
    return atomic_load(&asked);
}

/* A timer of the system's, since nothing of the machine can be relied on. */
void dz_ending_ask(int code)
{
    int none = DZ_ENDING_NONE;

    if (!atomic_compare_exchange_strong(&asked, &none, code))
        return;
    alarm(GRACE);
    for (unsigned i = 0; i < core_count; i++)
        dz_core_ask_to_stop(dz_program_core(i));
}

/* One that has not ended. In virtual time all share the thread that we are on,
 * so it is the one that runs. */
static unsigned stuck_core(void)
{
    unsigned i = 0;

    if (dz_machine_running()->time == DZ_TIME_VIRTUAL)
        return dz_port_context() / DZ_CONTEXT_CORE;
    while (i < core_count - 1 &&
        !atomic_load(&dz_program_core(i)->real.is_running))
        i++;
    return i;
}

/* That firmware does not end with --stop-after is a fault of its own. */
static int code_that_was_meant(void)
{
    int code = dz_ending_code();

    if (code == DZ_ENDING_NONE)
        return 128 + caught;
    return code == DZ_ENDING_STOP ? DZ_EXIT_BUSY_LOOP : code;
}

/* In signal handlers, on any thread. */
static _Noreturn void leave(void)
{
    static atomic_flag is_leaving = ATOMIC_FLAG_INIT;
    int code = code_that_was_meant();

    if (atomic_flag_test_and_set(&is_leaving))
        _exit(code);
    dz_watchdog_end(stuck_core(),
        "goes on though the run has ended: it neither sleeps nor comes back "
        "to thread mode",
        code);
}

static void expire(int number)
{
    (void)number;
    leave();
}

static void catch (int number)
{
    int saved = errno;

    if (caught != 0 && uv_hrtime() - atomic_load(&caught_at) < TWIN)
        return;
    if (caught != 0)
        leave();
    atomic_store(&caught_at, uv_hrtime());
    caught = number;
    alarm(GRACE);
    dz_loop_ring(&bell);
    errno = saved;
}

static void on_bell(uv_async_t *handle)
{
    (void)handle;
    if (caught != 0)
        dz_ending_ask(128 + caught);
}

static void open_bell(void *argument)
{
    (void)argument;
    uv_async_init(dz_loop_uv(), &bell, on_bell);
}

static void close_bell(void *argument)
{
    (void)argument;
    uv_close((uv_handle_t *)&bell, NULL);
}

static void set_signal(int number, void (*handler)(int number))
{
    /* Nested: what leaves sets an alarm for itself. */
    struct sigaction action = {
        .sa_handler = handler,
        .sa_flags = SA_RESTART | SA_NODEFER,
    };

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void dz_ending_begin(unsigned cores)
{
    core_count = cores;
    dz_machine_call(open_bell, NULL);
    set_signal(SIGALRM, expire);
    set_signal(SIGINT, catch);
    set_signal(SIGTERM, catch);
}

void dz_ending_end(void)
{
    alarm(0);
    set_signal(SIGALRM, SIG_IGN);
    set_signal(SIGINT, SIG_DFL);
    set_signal(SIGTERM, SIG_DFL);
    dz_machine_call(close_bell, NULL);
}
