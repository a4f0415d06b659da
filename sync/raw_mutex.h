/* SPDX-License-Identifier: MIT */
#ifndef SYNC_RAW_MUTEX_H
#define SYNC_RAW_MUTEX_H

/*
 * raw mutex -- the lock inside every primitive, chosen when it is defined
 *
 *     DZ_NOOP               one executor; costs nothing
 *     DZ_THREAD_MODE        any code in thread mode; looks where it is
 *     DZ_CRITICAL_SECTION   any task, any interrupt
 *
 * The choice is a constant in a primitive's struct dz_object, and that object
 * is a constant in the typed wrappers, which are always inlined. So the
 * compiler keeps one of the three locks and no test.
 *
 * Misuse panics with the object, both contexts, the file and the line. The
 * thread-mode check is always on. Who owns a noop object, and whether a lock
 * is taken again by who holds it, is checked in objects that are defined with
 * DZ_CHECKS not zero; they carry a struct dz_owner. A port chooses the default
 * (the simulator: on). Its price is a benchmark.
 */

#include "executor/executor.h"
#include "executor/trace.h"

enum dz_raw_mutex {
    DZ_NOOP,
    DZ_THREAD_MODE,
    DZ_CRITICAL_SECTION,
};

/* How a primitive keeps who waits for it. */
enum dz_policy {
    DZ_QUEUE,       /* all of them, in FIFO order; a wake-up is a grant */
    DZ_SINGLE_SLOT, /* the last; a newcomer wakes whom it displaces. As Embassy
                       does: several waiters keep each other busy for ever. */
};

/* What all objects of a type have in common. In flash. */
struct dz_object {
    const char *name; /* of the type */
    const char *file; /* where it is defined */
    int line;
    enum dz_raw_mutex mutex;
    enum dz_policy policy;
    size_t owner; /* offset of the struct dz_owner, 0 when there is none */
};

/* Who uses an object. All zero: nobody so far. */
struct dz_owner {
    struct dz_context context; /* of who holds the lock, or held it last */
    bool is_bound;             /* only this context may use a noop object */
    bool is_held;
};

#if DZ_CHECKS
#define DZ_OWNER struct dz_owner owner;
#define DZ_OWNER_OFFSET(type) offsetof(type, owner)
#else
#define DZ_OWNER
#define DZ_OWNER_OFFSET(type) 0
#endif

/* The struct dz_object of a type that was defined here. */
/* clang-format off */
#define DZ_OBJECT(type, mutex, policy)                                         \
    {                                                                          \
        #type, __FILE__, __LINE__, mutex, policy, DZ_OWNER_OFFSET(struct type) \
    }
/* clang-format on */

/* Panics with a reason and the object. For those who write primitives. */
_Noreturn void dz_object_misuse(const void *self,
    const struct dz_object *object, const char *reason) __attribute__((cold));

/* The slow parts. `self` is the object. */
_Noreturn void dz_thread_mode_misuse(
    const void *self, const struct dz_object *object) __attribute__((cold));
_Noreturn void dz_outside_misuse(
    const void *self, const struct dz_object *object) __attribute__((cold));
void dz_owner_lock(void *self, const struct dz_object *object);
void dz_owner_unlock(void *self, const struct dz_object *object);

/* The two halves of dz_lock, for whoever looks at more in between. */
DZ_INLINE void dz_lock_check(const void *self, const struct dz_object *object)
{
    if (object->mutex == DZ_THREAD_MODE && dz_port_context() != 0)
        dz_thread_mode_misuse(self, object);
}

DZ_INLINE dz_key dz_lock_checked(void *self, const struct dz_object *object)
{
    dz_key key = {0};

    if (object->mutex == DZ_CRITICAL_SECTION)
        key = dz_port_enter();
    if (object->owner != 0)
        dz_owner_lock(self, object);
    dz_trace(DZ_EVENT_LOCK, self, object->name);
    return key;
}

/* Takes the object's lock. Its holder does not wait, and is not awaited. */
DZ_INLINE dz_key dz_lock(void *self, const struct dz_object *object)
{
    dz_lock_check(self, object);
    return dz_lock_checked(self, object);
}

DZ_INLINE void dz_unlock(void *self, const struct dz_object *object, dz_key key)
{
    dz_trace(DZ_EVENT_UNLOCK, self, object->name);
    if (object->owner != 0)
        dz_owner_unlock(self, object);
    if (object->mutex == DZ_CRITICAL_SECTION)
        dz_port_exit(key);
}

/* Gives the lock back, into a critical section. */
DZ_INLINE dz_key dz_unlock_into_section(
    void *self, const struct dz_object *object, dz_key key)
{
    dz_trace(DZ_EVENT_UNLOCK, self, object->name);
    if (object->owner != 0)
        dz_owner_unlock(self, object);
    return object->mutex == DZ_CRITICAL_SECTION ? key : dz_port_enter();
}

/* Gives the lock back and wakes a task. */
DZ_INLINE void dz_unlock_wake(void *self, const struct dz_object *object,
    dz_key key, struct dz_task *task)
{
    dz_task_wake_exit(task, dz_unlock_into_section(self, object, key));
}

#endif
