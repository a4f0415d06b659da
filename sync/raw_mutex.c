/* SPDX-License-Identifier: MIT */
#include "sync/raw_mutex.h"

static struct dz_owner *owner_of(void *self, const struct dz_object *object)
{
    return (struct dz_owner *)(void *)((char *)self + object->owner);
}

static _Noreturn void misuse(const void *self, const struct dz_object *object,
    const char *reason, const struct dz_context *second)
{
    dz_panic_with(&(struct dz_panic){
        .reason = reason,
        .object = object->name,
        .address = self,
        .context = dz_context_now(),
        .second = second,
        .task = dz_current->task,
        .file = object->file,
        .line = object->line,
    });
}

void dz_thread_mode_misuse(const void *self, const struct dz_object *object)
{
    static const struct dz_context thread_mode;

    misuse(self, object, "a thread-mode object is used in an interrupt",
        &thread_mode);
}

void dz_object_misuse(
    const void *self, const struct dz_object *object, const char *reason)
{
    misuse(self, object, reason, NULL);
}

void dz_outside_misuse(const void *self, const struct dz_object *object)
{
    dz_object_misuse(self, object,
        "await outside a task: something that waits was called by a handler, "
        "or by no task");
}

/* Code outside tasks in thread mode sets things up and tears them down: it
 * may use what an executor in thread mode owns, and owns nothing itself. An
 * interrupt is one context, whichever task it is that runs there, or that it
 * interrupted, which not every port can tell apart. */
static bool is_same(struct dz_context owner, struct dz_context user)
{
    if (owner.port != user.port)
        return false;
    return !dz_port_is_thread_mode() || owner.executor == user.executor ||
        owner.executor == NULL || user.executor == NULL;
}

static void bind(struct dz_owner *owner, struct dz_context user)
{
    if (!owner->is_bound || owner->context.executor == NULL)
        owner->context = user;
    owner->is_bound =
        user.executor != NULL || user.port != 0 || owner->is_bound;
}

void dz_owner_lock(void *self, const struct dz_object *object)
{
    struct dz_owner *owner = owner_of(self, object);
    struct dz_context user = dz_context_now();

    if (owner->is_held)
        misuse(self, object, "an object is used while it is locked",
            &owner->context);
    if (object->mutex != DZ_NOOP)
        owner->context = user;
    else if (owner->is_bound && !is_same(owner->context, user))
        misuse(self, object, "a noop object is used in a second context",
            &owner->context);
    else
        bind(owner, user);
    owner->is_held = true;
}

void dz_owner_unlock(void *self, const struct dz_object *object)
{
    struct dz_owner *owner = owner_of(self, object);

    if (!owner->is_held)
        misuse(self, object, "an object is unlocked that is not locked",
            &owner->context);
    owner->is_held = false;
}
