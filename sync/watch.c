/* SPDX-License-Identifier: MIT */
#include "sync/watch.h"

/* Who is in line has looked at all that there was. So only a send lets it go
 * on, and lets everybody; nothing is reserved. */
static bool watch_grant(struct dz_queue *queue,
    const struct dz_queue_type *type, uintptr_t *request)
{
    (void)type;
    (void)request;
    return container_of(queue, struct dz_watch, queue)->is_news;
}

static void watch_give_back(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    (void)queue;
    (void)type;
    (void)request;
}

const struct dz_queue_type dz_watch_queue_type =
    DZ_QUEUE_TYPE(watch_grant, watch_give_back, DZ_WHO_CAN);

void dz_watch_misuse(void)
{
    dz_panic("a receiver watches nothing: it is what the watch's _receiver() "
             "returns",
        __FILE__, __LINE__);
}

void dz_watch_sender_send(struct dz_watch_sender sender, const void *value)
{
    dz_watch_send(sender.watch, sender.type, value);
}

/* The value stays where it is, for those who were woken for it. */
void dz_watch_sender_clear(struct dz_watch_sender sender)
{
    dz_key key = dz_lock(sender.watch, &sender.type->object);

    sender.watch->is_set = false;
    dz_unlock(sender.watch, &sender.type->object, key);
}

bool dz_watch_sender_contains_value(struct dz_watch_sender sender)
{
    dz_key key = dz_lock(sender.watch, &sender.type->object);
    bool is_set = sender.watch->is_set;

    dz_unlock(sender.watch, &sender.type->object, key);
    return is_set;
}

bool dz_watch_sender_try_get(struct dz_watch_sender sender, void *value)
{
    return dz_watch_sender_try_get_and(sender, value, NULL, NULL);
}

bool dz_watch_sender_try_get_and(struct dz_watch_sender sender, void *value,
    bool (*accepts)(const void *value, void *argument), void *argument)
{
    struct dz_watch_receiver anybody = {sender.watch, sender.type, 0};

    return dz_watch_receiver_try_get_and(&anybody, value, accepts, argument);
}

bool dz_watch_sender_send_if_modified(struct dz_watch_sender sender,
    bool (*modify)(void *value, void *argument), void *argument)
{
    struct dz_watch *watch = sender.watch;
    dz_key key = dz_lock(watch, &sender.type->object);
    bool is_modified =
        watch->is_set && modify(dz_watch_value(watch, sender.type), argument);

    if (is_modified)
        dz_watch_announce(watch, sender.type);
    dz_unlock(watch, &sender.type->object, key);
    return is_modified;
}

enum dz_poll dz_watch_receiver_get(struct dz_watch_receiver *self, void *value)
{
    return dz_watch_receiver_get_and(self, value, NULL, NULL);
}

enum dz_poll dz_watch_receiver_get_and(struct dz_watch_receiver *self,
    void *value, bool (*accepts)(const void *value, void *argument),
    void *argument)
{
    return dz_watch_wait(self, self->type,
        &(struct dz_watch_look){DZ_WATCH_ANY, value, accepts, argument});
}

enum dz_poll dz_watch_receiver_changed(
    struct dz_watch_receiver *self, void *value)
{
    return dz_watch_receiver_changed_and(self, value, NULL, NULL);
}

enum dz_poll dz_watch_receiver_changed_and(struct dz_watch_receiver *self,
    void *value, bool (*accepts)(const void *value, void *argument),
    void *argument)
{
    return dz_watch_wait(self, self->type,
        &(struct dz_watch_look){DZ_WATCH_NEW, value, accepts, argument});
}

bool dz_watch_receiver_try_get(struct dz_watch_receiver *self, void *value)
{
    return dz_watch_receiver_try_get_and(self, value, NULL, NULL);
}

bool dz_watch_receiver_try_get_and(struct dz_watch_receiver *self, void *value,
    bool (*accepts)(const void *value, void *argument), void *argument)
{
    return dz_watch_try(self, self->type,
        &(struct dz_watch_look){DZ_WATCH_ANY, value, accepts, argument});
}

bool dz_watch_receiver_try_changed(struct dz_watch_receiver *self, void *value)
{
    return dz_watch_receiver_try_changed_and(self, value, NULL, NULL);
}

bool dz_watch_receiver_try_changed_and(struct dz_watch_receiver *self,
    void *value, bool (*accepts)(const void *value, void *argument),
    void *argument)
{
    return dz_watch_try(self, self->type,
        &(struct dz_watch_look){DZ_WATCH_NEW, value, accepts, argument});
}

bool dz_watch_receiver_contains_value(const struct dz_watch_receiver *self)
{
    return dz_watch_sender_contains_value(
        (struct dz_watch_sender){dz_watch_watched(self), self->type});
}
