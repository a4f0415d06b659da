/* SPDX-License-Identifier: MIT */
#include "sync/pubsub.h"

/*
 * What a subscriber has not read are always the newest messages of the ring, so
 * their number says which. A message is free as soon as it is not among the
 * newest of anybody: nothing is counted for each message, and so nothing is
 * left to be counted wrong when a subscriber leaves or messages are cleared.
 */

/* Without subscribers a message takes no slot. */
bool dz_pubsub_grant(struct dz_queue *queue, const struct dz_queue_type *type,
    uintptr_t *request)
{
    struct dz_pubsub *self = container_of(queue, struct dz_pubsub, publishers);
    const struct dz_pubsub_type *own =
        container_of(type, const struct dz_pubsub_type, queue);

    (void)request;
    if (self->first != NULL && self->len + self->promised >= own->capacity)
        return false;
    self->promised++;
    return true;
}

void dz_pubsub_give_back(
    struct dz_queue *queue, const struct dz_queue_type *type, uintptr_t request)
{
    (void)type;
    (void)request;
    container_of(queue, struct dz_pubsub, publishers)->promised--;
}

static void *message_at(
    struct dz_pubsub *self, const struct dz_pubsub_type *type, unsigned index)
{
    return (char *)self + type->messages + index * type->size;
}

/* There is one more to read; one that lags has lost its oldest for it. */
static void tell(
    struct dz_subscriber *subscriber, const struct dz_pubsub_type *type)
{
    if (subscriber->messages.index == type->capacity) {
        if (subscriber->lost < UINT16_MAX)
            subscriber->lost++;
        return;
    }
    subscriber->messages.index++;
    dz_wait_give(&subscriber->messages, &type->object);
}

/* Stores a message where there is room, or over the oldest one. */
static void put(struct dz_publisher publisher, const void *message)
{
    struct dz_pubsub *pubsub = publisher.pubsub;
    const struct dz_pubsub_type *type = publisher.type;
    unsigned next = pubsub->next;

    if (pubsub->first == NULL)
        return;
    __builtin_memcpy(message_at(pubsub, type, next), message, type->size);
    pubsub->next = (uint16_t)(next + 1 == type->capacity ? 0 : next + 1);
    if (pubsub->len < type->capacity)
        pubsub->len++;
    for (struct dz_subscriber *at = pubsub->first; at != NULL; at = at->next)
        tell(at, type);
}

/* A slot is ours: uses it. Nobody can go on by that who could not before. */
static void put_promised(struct dz_publisher publisher, const void *message)
{
    publisher.pubsub->promised--;
    put(publisher, message);
}

enum dz_poll dz_publisher_publish(
    struct dz_publisher publisher, const void *message)
{
    const struct dz_pubsub_type *type = publisher.type;
    dz_key key = dz_wait_lock(
        publisher.pubsub, &type->object, &publisher.pubsub->publishers, 1);
    enum dz_poll poll = dz_wait_ask(
        &publisher.pubsub->publishers, &type->queue, 1, type->object.policy);

    if (poll == DZ_READY)
        put_promised(publisher, message);
    return dz_wait_unlock(publisher.pubsub, &type->object, key, poll);
}

bool dz_publisher_try_publish(
    struct dz_publisher publisher, const void *message)
{
    const struct dz_pubsub_type *type = publisher.type;
    dz_key key = dz_lock(publisher.pubsub, &type->object);
    bool is_ours = dz_wait_try_ask(
        &publisher.pubsub->publishers, &type->queue, 1, type->object.policy);

    if (is_ours)
        put_promised(publisher, message);
    dz_unlock(publisher.pubsub, &type->object, key);
    return is_ours;
}

void dz_publisher_publish_immediate(
    struct dz_publisher publisher, const void *message)
{
    dz_key key = dz_lock(publisher.pubsub, &publisher.type->object);

    put(publisher, message);
    dz_unlock(publisher.pubsub, &publisher.type->object, key);
}

/* Frees what everybody has read, and lets publishers go on: into free slots,
 * or without any when the last subscriber has left. */
static void free_read(struct dz_pubsub *self, const struct dz_pubsub_type *type)
{
    unsigned len = 0;

    for (const struct dz_subscriber *at = self->first; at != NULL;
         at = at->next) {
        if (at->messages.index > len)
            len = at->messages.index;
    }
    if (len == self->len && self->first != NULL)
        return;
    self->len = (uint16_t)len;
    dz_wait_serve(&self->publishers, type->object.policy);
}

/* What was promised stays, be it another message. */
void dz_publisher_clear(struct dz_publisher publisher)
{
    struct dz_pubsub *pubsub = publisher.pubsub;
    dz_key key = dz_lock(pubsub, &publisher.type->object);

    for (struct dz_subscriber *at = pubsub->first; at != NULL; at = at->next) {
        at->messages.index -= (uint16_t)dz_units_free(&at->messages, 0);
        at->messages.free = 0;
    }
    free_read(pubsub, publisher.type);
    dz_unlock(pubsub, &publisher.type->object, key);
}

unsigned dz_publisher_len(struct dz_publisher publisher)
{
    dz_key key = dz_lock(publisher.pubsub, &publisher.type->object);
    unsigned len = publisher.pubsub->len;

    dz_unlock(publisher.pubsub, &publisher.type->object, key);
    return len;
}

unsigned dz_publisher_free(struct dz_publisher publisher)
{
    dz_key key = dz_lock(publisher.pubsub, &publisher.type->object);
    unsigned used = publisher.pubsub->len + publisher.pubsub->promised;

    dz_unlock(publisher.pubsub, &publisher.type->object, key);
    return used < publisher.type->capacity ? publisher.type->capacity - used
                                           : 0;
}

static struct dz_pubsub *pubsub_of(const struct dz_subscriber *subscriber)
{
    if (subscriber->pubsub == NULL)
        dz_panic("a subscriber is used that is not subscribed: subscribe it "
                 "first, or no longer use it",
            __FILE__, __LINE__);
    return subscriber->pubsub;
}

void dz_subscriber_subscribe(
    struct dz_subscriber *self, struct dz_publisher publisher)
{
    struct dz_subscriber **end = &publisher.pubsub->first;
    dz_key key;

    if (self->pubsub != NULL)
        dz_object_misuse(publisher.pubsub, &publisher.type->object,
            "a subscriber subscribes that is subscribed already, or was not "
            "all zero at first: unsubscribe it, or clear its frame");
    *self = (struct dz_subscriber){
        .pubsub = publisher.pubsub,
        .type = publisher.type,
    };
    key = dz_lock(publisher.pubsub, &publisher.type->object);
    while (*end != NULL)
        end = &(*end)->next;
    *end = self;
    dz_unlock(publisher.pubsub, &publisher.type->object, key);
}

/* Somebody waits, or was promised a message and has not collected it. With a
 * single slot nobody knows. */
static bool is_awaited(const struct dz_subscriber *self)
{
    if (self->type->object.policy == DZ_SINGLE_SLOT)
        return false;
    return self->messages.first != NULL ||
        self->messages.index != dz_units_free(&self->messages, 0);
}

void dz_subscriber_unsubscribe(struct dz_subscriber *self)
{
    struct dz_pubsub *pubsub = pubsub_of(self);
    const struct dz_pubsub_type *type = self->type;
    struct dz_subscriber **at = &pubsub->first;
    dz_key key = dz_lock(pubsub, &type->object);

    if (is_awaited(self))
        dz_object_misuse(pubsub, &type->object,
            "a subscriber leaves while a branch waits with it: dz_cancel() "
            "that first");
    while (*at != NULL && *at != self)
        at = &(*at)->next;
    if (*at == NULL)
        dz_object_misuse(pubsub, &type->object,
            "a subscriber leaves that was copied: it stays where it was when "
            "it subscribed");
    *at = self->next;
    self->pubsub = NULL;
    free_read(pubsub, type);
    dz_unlock(pubsub, &type->object, key);
}

/* A message is ours: reads the oldest that it has not read. */
static void read_oldest(struct dz_subscriber *self, void *message)
{
    struct dz_pubsub *pubsub = self->pubsub;
    const struct dz_pubsub_type *type = self->type;
    unsigned unread = self->messages.index;
    unsigned end = pubsub->next + (pubsub->next < unread ? type->capacity : 0U);

    __builtin_memcpy(
        message, message_at(pubsub, type, end - unread), type->size);
    self->messages.index = (uint16_t)(unread - 1);
    self->lagged = self->lost;
    self->lost = 0;
    if (unread == pubsub->len)
        free_read(pubsub, type);
}

enum dz_poll dz_subscriber_next(struct dz_subscriber *self, void *message)
{
    struct dz_pubsub *pubsub = pubsub_of(self);
    const struct dz_object *object = &self->type->object;
    dz_key key = dz_wait_lock_to_take(pubsub, object);
    bool is_ours = dz_wait_take(&self->messages, pubsub, object, 0);

    /* Still: a guard may have unsubscribed it in there. */
    (void)pubsub_of(self);
    if (is_ours)
        read_oldest(self, message);
    dz_unlock(pubsub, object, key);
    return is_ours ? DZ_READY : DZ_PENDING;
}

bool dz_subscriber_try_next(struct dz_subscriber *self, void *message)
{
    struct dz_pubsub *pubsub = pubsub_of(self);
    dz_key key = dz_lock(pubsub, &self->type->object);
    bool is_ours = dz_units_try_take(&self->messages, 0);

    if (is_ours)
        read_oldest(self, message);
    dz_unlock(pubsub, &self->type->object, key);
    return is_ours;
}

unsigned dz_subscriber_available(const struct dz_subscriber *self)
{
    struct dz_pubsub *pubsub = pubsub_of(self);
    dz_key key = dz_lock(pubsub, &self->type->object);
    unsigned count = dz_units_free(&self->messages, 0);

    dz_unlock(pubsub, &self->type->object, key);
    return count;
}
