/* SPDX-License-Identifier: MIT */
#include "sim/loop.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "executor/panic.h"
#include "executor/task.h"
#include "port.h"

struct request {
    void (*run)(void *argument);
    void *argument;
    bool is_done;
    struct request *next;
};

static uv_loop_t uv;
static enum dz_time kind;
static atomic_uint inputs;
static atomic_bool is_rung; /* since the last look: by a signal handler */
static uint64_t origin;     /* of our time on that of uv_hrtime() */
static pthread_t thread;
static uv_async_t bell; /* a request is there, or nobody needs us any more */
static bool is_stopping;

/* Of all that follows. Recursive: what is due sets what is due next. A core has
 * its interrupts off while it holds it, so no handler finds it taken by what it
 * interrupted. */
static pthread_mutex_t lock;
static atomic_uint wanted; /* who waits for it or has it, */
static atomic_uint given;  /* and how often it was given */
static pthread_cond_t served;
static struct request *requests; /* the oldest first */
static struct dz_heap dues;

static void check(int error)
{
    if (error != 0)
        dz_panic("libuv or the system refuses to work", __FILE__, __LINE__);
}

uv_loop_t *dz_loop_uv(void)
{
    return &uv;
}

void dz_loop_turn(uv_run_mode mode)
{
    uv_run(&uv, mode);
}

void dz_machine_open_input(void)
{
    atomic_fetch_add(&inputs, 1);
}

void dz_machine_close_input(void)
{
    atomic_fetch_sub(&inputs, 1);
}

bool dz_loop_has_input(void)
{
    return atomic_load(&inputs) != 0;
}

void dz_loop_ring(uv_async_t *handle)
{
    uv_async_send(handle);
    atomic_store(&is_rung, true);
}

/* At each charge: the load alone is cheap. */
bool dz_loop_take_ring(void)
{
    return atomic_load_explicit(&is_rung, memory_order_relaxed) &&
        atomic_exchange(&is_rung, false);
}

uint64_t dz_loop_now(void)
{
    return uv_hrtime() - origin;
}

dz_key dz_loop_lock(void)
{
    dz_key key = dz_port_mask();

    atomic_fetch_add(&wanted, 1);
    pthread_mutex_lock(&lock);
    atomic_fetch_add(&given, 1);
    return key;
}

void dz_loop_unlock(dz_key key)
{
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&wanted, 1);
    dz_port_unmask(key);
}

/* A mutex is not fair: whoever takes it again at once has it for ever. */
static void let_others_in(void)
{
    unsigned before = atomic_load(&given);

    while (atomic_load(&wanted) != 0 && atomic_load(&given) == before)
        sched_yield();
}

/* The earliest due sets the alarm. */
static void set_alarm_locked(const struct dz_heap_node *before)
{
    if (dues.root != NULL && dues.root != before)
        dz_alarm_set(origin + dues.root->key);
}

static void fire_due(void)
{
    dz_key key;
    uint64_t by;

    /* However fast dues follow: what becomes due meanwhile is left to the next
     * ring, too. */
    let_others_in();
    key = dz_loop_lock();
    by = dz_loop_now();
    while (dues.root != NULL && dues.root->key <= by) {
        struct dz_due *due = container_of(dues.root, struct dz_due, node);

        dz_heap_remove(&dues, &due->node);
        due->fire(due);
    }
    set_alarm_locked(NULL);
    dz_loop_unlock(key);
}

void dz_loop_due_set(struct dz_due *due, uint64_t at)
{
    dz_key key = dz_loop_lock();
    struct dz_heap_node *first = dues.root;

    if (dz_heap_holds(&due->node)) {
        dz_heap_remove(&dues, &due->node);
        first = NULL;
    }
    due->node.key = at > UINT64_MAX - origin ? UINT64_MAX - origin : at;
    dz_heap_insert(&dues, &due->node);
    set_alarm_locked(first);
    dz_loop_unlock(key);
}

/* The alarm may then come too early: nothing is due. */
void dz_loop_due_clear(struct dz_due *due)
{
    dz_key key = dz_loop_lock();

    if (dz_heap_holds(&due->node))
        dz_heap_remove(&dues, &due->node);
    dz_loop_unlock(key);
}

static void serve(uv_async_t *handle)
{
    dz_key key = dz_loop_lock();

    (void)handle;
    while (requests != NULL) {
        struct request *request = requests;

        requests = request->next;
        request->run(request->argument);
        request->is_done = true;
        pthread_cond_broadcast(&served);
    }
    if (is_stopping) {
        dz_alarm_close();
        uv_close((uv_handle_t *)&bell, NULL);
        uv_stop(&uv);
    }
    dz_loop_unlock(key);
}

void dz_loop_call(void (*run)(void *argument), void *argument)
{
    struct request request = {.run = run, .argument = argument};
    struct request **end = &requests;
    dz_key key;

    if (pthread_equal(pthread_self(), thread)) {
        run(argument);
        return;
    }
    key = dz_loop_lock();
    while (*end != NULL)
        end = &(*end)->next;
    *end = &request;
    uv_async_send(&bell);
    /* Who waits for the loop does not have the lock meanwhile. */
    atomic_fetch_sub(&wanted, 1);
    while (!request.is_done)
        pthread_cond_wait(&served, &lock);
    atomic_fetch_add(&wanted, 1);
    dz_loop_unlock(key);
}

/* Stopped, it turns once more, for what was closed. What is still open then is
 * a mistake that dz_loop_stop finds. */
static void *run_loop(void *argument)
{
    (void)argument;
    uv_run(&uv, UV_RUN_DEFAULT);
    uv_run(&uv, UV_RUN_NOWAIT);
    return NULL;
}

static void start_thread(void)
{
    pthread_mutexattr_t recursive;
    sigset_t all;
    sigset_t old;

    check(pthread_mutexattr_init(&recursive));
    check(pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE));
    check(pthread_mutex_init(&lock, &recursive));
    check(pthread_mutexattr_destroy(&recursive));
    check(pthread_cond_init(&served, NULL));
    check(uv_async_init(&uv, &bell, serve));
    dz_alarm_open(&uv, fire_due);
    origin = uv_hrtime();
    is_stopping = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    check(pthread_create(&thread, NULL, run_loop, NULL));
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void dz_loop_start(enum dz_time time)
{
    kind = time;
    dues = (struct dz_heap){.root = NULL};
    check(uv_loop_init(&uv));
    if (kind == DZ_TIME_REAL)
        start_thread();
}

static void stop_thread(void)
{
    dz_key key = dz_loop_lock();

    is_stopping = true;
    dz_loop_unlock(key);
    uv_async_send(&bell);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&served);
    pthread_mutex_destroy(&lock);
}

void dz_loop_stop(void)
{
    if (kind == DZ_TIME_REAL)
        stop_thread();
    else
        uv_run(&uv, UV_RUN_NOWAIT);
    if (uv_loop_close(&uv) != 0)
        dz_panic("the machine is stopped while a peripheral is open", __FILE__,
            __LINE__);
}
