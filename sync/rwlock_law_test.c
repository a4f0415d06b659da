/* SPDX-License-Identifier: MIT */

/*
 * rwlock_law_test -- a rwlock against the number of those who read, and write
 */

#include "sync/law.h"
#include "sync/rwlock.h"

DZ_RWLOCK_DEFINE(critical_lock, int, DZ_CRITICAL_SECTION)
DZ_RWLOCK_DEFINE(thread_lock, int, DZ_THREAD_MODE)
DZ_RWLOCK_DEFINE(noop_lock, int, DZ_NOOP)
DZ_RWLOCK_DEFINE_SINGLE_SLOT(slot_lock, int, DZ_CRITICAL_SECTION)

static const struct dz_object *const types[] = {
    &critical_lock_type.object,
    &thread_lock_type.object,
    &noop_lock_type.object,
    &slot_lock_type.object,
};

static struct critical_lock object;
static const struct dz_rwlock_type *type;

/* ---- The model. */

/* To whom it is promised, or who has it. */
static unsigned readers;
static unsigned writers;

/* Who has it, and can unlock it. */
static unsigned reading;
static unsigned writing;

static bool reserve_read(struct law_call *call)
{
    (void)call;
    if (writers > 0)
        return false;
    readers++;
    return true;
}

static bool reserve_write(struct law_call *call)
{
    (void)call;
    if (writers > 0 || readers > 0)
        return false;
    writers++;
    return true;
}

static void give_back_read(struct law_call *call)
{
    (void)call;
    readers--;
}

static void give_back_write(struct law_call *call)
{
    (void)call;
    writers--;
}

static bool begin_reading(struct law_call *call)
{
    (void)call;
    reading++;
    return true;
}

static bool begin_writing(struct law_call *call)
{
    (void)call;
    writing++;
    return true;
}

static bool is_the_same(struct law_call *call, const struct law_call *walked)
{
    return call->operation == walked->operation;
}

static bool somebody_reads(const struct law_call *call)
{
    (void)call;
    return reading > 0;
}

static bool somebody_writes(const struct law_call *call)
{
    (void)call;
    return writing > 0;
}

static bool end_reading(struct law_call *call)
{
    reading--;
    give_back_read(call);
    return true;
}

static bool end_writing(struct law_call *call)
{
    writing--;
    give_back_write(call);
    return true;
}

/* ---- The lock. */

static bool read_lock(struct law_call *call)
{
    (void)call;
    return dz_rwlock_lock(&object.lock, type, DZ_RWLOCK_READ) == DZ_READY;
}

static bool write_lock(struct law_call *call)
{
    (void)call;
    return dz_rwlock_lock(&object.lock, type, DZ_RWLOCK_WRITE) == DZ_READY;
}

static bool try_read(struct law_call *call)
{
    (void)call;
    return dz_rwlock_try_lock(&object.lock, type, DZ_RWLOCK_READ);
}

static bool try_write(struct law_call *call)
{
    (void)call;
    return dz_rwlock_try_lock(&object.lock, type, DZ_RWLOCK_WRITE);
}

static bool unlock_read(struct law_call *call)
{
    (void)call;
    dz_rwlock_unlock_read(&object.lock, type);
    return true;
}

static bool unlock_write(struct law_call *call)
{
    (void)call;
    dz_rwlock_unlock_write(&object.lock, type);
    return true;
}

static const struct law_operation operations[] = {
    {"read", LAW_WAITS, .weight = 6, .real = read_lock, .reserve = reserve_read,
        .perform = begin_reading, .give_back = give_back_read,
        .goes_on = is_the_same},
    {"write", LAW_WAITS, .weight = 4, .real = write_lock,
        .reserve = reserve_write, .perform = begin_writing,
        .give_back = give_back_write, .goes_on = is_the_same},
    {"try_read", LAW_TRIES, .weight = 3, .real = try_read,
        .reserve = reserve_read, .perform = begin_reading},
    {"try_write", LAW_TRIES, .weight = 2, .real = try_write,
        .reserve = reserve_write, .perform = begin_writing},
    {"unlock_read", LAW_ACTS, .weight = 10, .real = unlock_read,
        .may = somebody_reads, .perform = end_reading},
    {"unlock_write", LAW_ACTS, .weight = 10, .real = unlock_write,
        .may = somebody_writes, .perform = end_writing},
};

static void reset(const struct dz_object *chosen)
{
    object = (struct critical_lock){0};
    type = (const struct dz_rwlock_type *)(const void *)chosen;
    readers = 0;
    writers = 0;
    reading = 0;
    writing = 0;
}

/* A writer is alone. */
static void compare(void)
{
    law_check(writers == 0 || (writers == 1 && readers == 0));
    law_check(
        object.lock.granted == (writers > 0 ? DZ_RWLOCK_WRITER : (int)readers));
    law_check(object.lock.held == reading + writing);
}

int main(void)
{
    static const struct law law = {
        .name = "rwlock",
        .operations = operations,
        .operation_count = LAW_COUNT(operations),
        .types = types,
        .type_count = LAW_COUNT(types),
        .reset = reset,
        .compare = compare,
    };

    return law_run(&law);
}
