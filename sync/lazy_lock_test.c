/* SPDX-License-Identifier: MIT */
#include "sync/lazy_lock.h"

#include "sim/test.h"

static unsigned made;

static void make_seven(int *value)
{
    made++;
    *value = 7;
}

DZ_LAZY_LOCK_DEFINE(seven_lock, int, make_seven, DZ_CRITICAL_SECTION)
DZ_LAZY_LOCK_DEFINE(noop_lock, int, make_seven, DZ_NOOP)

static struct seven_lock seven;
static struct noop_lock noop;

static void it_is_made_when_it_is_first_used(void **state)
{
    (void)state;
    made = 0;
    memset(&seven, 0, sizeof(seven));

    assert_false(seven_lock_is_made(&seven));
    assert_int_equal(made, 0);
    assert_int_equal(*seven_lock_get(&seven), 7);
    assert_int_equal(*seven_lock_get(&seven), 7);
    assert_true(seven_lock_is_made(&seven));
    assert_int_equal(made, 1);
}

static void it_can_be_changed(void **state)
{
    (void)state;
    *noop_lock_get(&noop) = 8;
    assert_int_equal(*noop_lock_get(&noop), 8);
}

static void use_in_a_handler(void *argument)
{
    *(int *)argument = *seven_lock_get(&seven);
}

/* The interrupt comes at the end of the lock under which it is made. */
static void an_interrupt_finds_it_made_once(void **state)
{
    int seen = 0;

    (void)state;
    made = 0;
    memset(&seven, 0, sizeof(seven));

    interrupt_at_next_unmask(use_in_a_handler, &seen);
    assert_int_equal(*seven_lock_get(&seven), 7);

    assert_int_equal(seen, 7);
    assert_int_equal(made, 1);
}

/* As a target has it: without the check of the lock itself. */
static void make_in_a_circle(void *value);

static const struct dz_lazy_lock_type circle_type = {
    {"circle", __FILE__, __LINE__, DZ_CRITICAL_SECTION, DZ_QUEUE, 0},
    make_in_a_circle, 8};
static struct {
    struct dz_lazy_lock lazy_lock;
    int value[4];
} circle;

static void make_in_a_circle(void *value)
{
    (void)value;
    (void)dz_lazy_lock_get(&circle.lazy_lock, &circle_type);
}

static void make_it_in_a_circle(void)
{
    (void)dz_lazy_lock_get(&circle.lazy_lock, &circle_type);
}

static void to_use_it_while_it_is_made_panics(void **state)
{
    struct last_words words = last_words_of(make_it_in_a_circle);

    (void)state;
    assert_says(words, "used by the function that makes its value");
    assert_says(words, "circle");
}

/* ---- The example of the header. */

struct table {
    unsigned entries[256];
};

static void make_table(struct table *table);

DZ_LAZY_LOCK_DEFINE(table_lock, struct table, make_table, DZ_THREAD_MODE)
static struct table_lock table;

static void make_table(struct table *self)
{
    for (unsigned i = 0; i < 256; i++)
        self->entries[i] = i * i;
}

static void the_example_of_the_header_works(void **state)
{
    unsigned char byte = 12;
    unsigned crc;

    (void)state;
    crc = table_lock_get(&table)->entries[byte];
    assert_int_equal(crc, 144);
}

RUN_TESTS(TEST(it_is_made_when_it_is_first_used), TEST(it_can_be_changed),
    TEST(an_interrupt_finds_it_made_once),
    TEST(to_use_it_while_it_is_made_panics),
    TEST(the_example_of_the_header_works))
