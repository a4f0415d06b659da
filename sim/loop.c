/* SPDX-License-Identifier: MIT */
#include "sim/loop.h"

#include <signal.h>
#include <stddef.h>

#include "executor/panic.h"
#include "port.h"

static void check(int error)
{
    if (error != 0)
        dz_panic("libuv refuses to work", __FILE__, __LINE__);
}

static void serve(uv_async_t *bell)
{
    struct dz_loop *loop = bell->data;

    pthread_mutex_lock(&loop->lock);
    if (loop->request != NULL) {
        loop->request(loop->argument);
        loop->request = NULL;
        loop->served++;
        pthread_cond_broadcast(&loop->changed);
    }
    pthread_mutex_unlock(&loop->lock);
}

static void *loop_thread(void *argument)
{
    struct dz_loop *loop = argument;

    uv_run(&loop->uv, UV_RUN_DEFAULT);
    return NULL;
}

void dz_loop_start(struct dz_loop *loop)
{
    sigset_t all;
    sigset_t old;

    if (loop->is_started)
        dz_panic("the loop is started twice", __FILE__, __LINE__);
    check(uv_loop_init(&loop->uv));
    check(uv_async_init(&loop->uv, &loop->bell, serve));
    loop->bell.data = loop;
    loop->request = NULL;
    loop->served = 0;
    check(pthread_mutex_init(&loop->lock, NULL));
    check(pthread_cond_init(&loop->changed, NULL));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    check(pthread_create(&loop->thread, NULL, loop_thread, loop));
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    loop->is_started = true;
}

/* Interrupts are off from before the lock is taken until it is given back, so
 * no handler of this core can find it taken by what it interrupted. */
void dz_loop_call(
    struct dz_loop *loop, void (*request)(void *argument), void *argument)
{
    dz_key key = dz_port_enter();
    unsigned before;

    if (!loop->is_started)
        dz_panic("the loop was not started", __FILE__, __LINE__);
    if (pthread_equal(pthread_self(), loop->thread))
        dz_panic("the loop calls itself", __FILE__, __LINE__);
    pthread_mutex_lock(&loop->lock);
    while (loop->request != NULL)
        pthread_cond_wait(&loop->changed, &loop->lock);
    before = loop->served;
    loop->request = request;
    loop->argument = argument;
    uv_async_send(&loop->bell);
    while (loop->served == before)
        pthread_cond_wait(&loop->changed, &loop->lock);
    pthread_mutex_unlock(&loop->lock);
    dz_port_exit(key);
}

static void check_closing(uv_handle_t *handle, void *argument)
{
    struct dz_loop *loop = argument;

    if (handle != (uv_handle_t *)&loop->bell && !uv_is_closing(handle))
        dz_panic("the loop is stopped while a peripheral is open", __FILE__,
            __LINE__);
}

static void close_bell(void *argument)
{
    struct dz_loop *loop = argument;

    uv_walk(&loop->uv, check_closing, loop);
    uv_close((uv_handle_t *)&loop->bell, NULL);
}

void dz_loop_stop(struct dz_loop *loop)
{
    dz_loop_call(loop, close_bell, loop);
    pthread_join(loop->thread, NULL);
    loop->is_started = false;
    check(uv_loop_close(&loop->uv));
    pthread_cond_destroy(&loop->changed);
    pthread_mutex_destroy(&loop->lock);
}
