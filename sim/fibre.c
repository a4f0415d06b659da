/* SPDX-License-Identifier: MIT */

/* For MAP_ANONYMOUS, on Linux and on macOS. */
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE

#include "sim/fibre.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "executor/panic.h"

#if defined(__has_feature)
#define HAS(feature) __has_feature(feature)
#else
#define HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define ADDRESS_SANITIZER(call) call
#else
#define ADDRESS_SANITIZER(call) (void)0
#endif
#if defined(__SANITIZE_THREAD__) || HAS(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define THREAD_SANITIZER(call) call
#else
#define THREAD_SANITIZER(call) (void)0
#endif

/* Who was left last, and who is entered: there is one thread. */
static struct dz_fibre *last;
static struct dz_fibre *current;

/* On the new stack. The sanitizer tells where the old one was, which is news if
 * it is the thread's own. */
static void arrive(void *fake_stack)
{
    const void *bottom = NULL;
    size_t size = 0;

    (void)fake_stack;
    ADDRESS_SANITIZER(
        __sanitizer_finish_switch_fiber(fake_stack, &bottom, &size));
    if (last->memory == NULL) {
        last->bottom = bottom;
        last->size = size;
    }
}

static void first_step(void)
{
    arrive(NULL);
    current->entry(current->argument);
    dz_panic("a fibre returns", __FILE__, __LINE__);
}

void dz_fibre_create(
    struct dz_fibre *fibre, void (*entry)(void *argument), void *argument)
{
    char *memory = mmap(
        NULL, DZ_FIBRE_DISTANCE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *stack = memory + DZ_FIBRE_DISTANCE - DZ_FIBRE_STACK;

    if (memory == MAP_FAILED ||
        mprotect(stack, DZ_FIBRE_STACK, PROT_READ | PROT_WRITE) != 0 ||
        getcontext(&fibre->context) != 0)
        dz_panic("no memory for the stack of a core", __FILE__, __LINE__);
    fibre->entry = entry;
    fibre->argument = argument;
    fibre->memory = memory;
    fibre->bottom = stack;
    fibre->size = DZ_FIBRE_STACK;
    fibre->fake_stack = NULL;
    THREAD_SANITIZER(fibre->handle = __tsan_create_fiber(0));
    fibre->context.uc_stack.ss_sp = stack;
    fibre->context.uc_stack.ss_size = DZ_FIBRE_STACK;
    fibre->context.uc_link = NULL;
    makecontext(&fibre->context, first_step, 0);
}

static void leave(struct dz_fibre *from, struct dz_fibre *to)
{
    last = from;
    current = to;
    THREAD_SANITIZER(__tsan_switch_to_fiber(to->handle, 0));
}

void dz_fibre_change(struct dz_fibre *from, struct dz_fibre *to)
{
    if (from->memory == NULL)
        THREAD_SANITIZER(from->handle = __tsan_get_current_fiber());
    ADDRESS_SANITIZER(__sanitizer_start_switch_fiber(
        &from->fake_stack, to->bottom, to->size));
    leave(from, to);
    swapcontext(&from->context, &to->context);
    arrive(from->fake_stack);
}

void dz_fibre_end(struct dz_fibre *from, struct dz_fibre *to)
{
    ADDRESS_SANITIZER(
        __sanitizer_start_switch_fiber(NULL, to->bottom, to->size));
    leave(from, to);
    setcontext(&to->context);
    abort();
}

void dz_fibre_free(struct dz_fibre *fibre)
{
    munmap(fibre->memory, DZ_FIBRE_DISTANCE);
    THREAD_SANITIZER(__tsan_destroy_fiber(fibre->handle));
    fibre->memory = NULL;
}
