/* SPDX-License-Identifier: MIT */

/*
 * time_test -- conversions and arithmetic against a model with 128 bits
 *
 * Compiled for several tick rates. The numbers that are tried are random, and
 * those on both sides of where something changes.
 */

#include "executor/time.h"
#include "sim/test_random.h"

enum { STEPS = 50000 };

static const uint64_t hz = DZ_TICK_HZ;

/* The last number that was tried, for the message. */
static uint64_t tried;
static const char *tried_unit;

#define check_tried(condition)                                               \
    do {                                                                     \
        if (!(condition))                                                    \
            fail_msg("%s, line %d: %llu %s at %llu Hz, replay with "         \
                     "DOZE_SEED=%llu",                                       \
                #condition, __LINE__, (unsigned long long)tried, tried_unit, \
                (unsigned long long)hz, (unsigned long long)seed);           \
    } while (0)

/* A number of 128 bits. Targets have no type for it, and it is no loss to count
 * on one's fingers here. */
struct wide {
    uint64_t high;
    uint64_t low;
};

static struct wide sum_of(struct wide a, uint64_t b)
{
    return (struct wide){a.high + (a.low + b < b), a.low + b};
}

static struct wide power_of_two(unsigned exponent)
{
    if (exponent == 64)
        return (struct wide){1, 0};
    return (struct wide){0, UINT64_C(1) << exponent};
}

/* Bit by bit, from the highest: twice what there is, and once more. */
static struct wide product_of(uint64_t a, uint64_t b)
{
    struct wide product = {0, 0};

    for (int bit = 63; bit >= 0; bit--) {
        product.high = product.high << 1 | product.low >> 63;
        product.low <<= 1;
        if ((a >> bit & 1) != 0)
            product = sum_of(product, b);
    }
    return product;
}

/* As on paper, with digits of one bit. */
static struct wide quotient_of(struct wide a, uint64_t divider)
{
    struct wide quotient = {a.high / divider, 0};
    uint64_t rest = a.high % divider;

    for (int bit = 63; bit >= 0; bit--) {
        bool is_longer = rest >> 63 != 0;

        rest = rest << 1 | (a.low >> bit & 1);
        if (!is_longer && rest < divider)
            continue;
        rest -= divider;
        quotient.low |= UINT64_C(1) << bit;
    }
    return quotient;
}

static bool fits(struct wide number)
{
    return number.high == 0;
}

/* Starts a random test; returns its number of steps. */
static long begin(void)
{
    random_begin();
    tried_unit = "ticks";
    return random_steps(STEPS);
}

static uint64_t clamped(struct wide number)
{
    return fits(number) ? number.low : UINT64_MAX;
}

static uint64_t near(uint64_t number)
{
    return number - 3 + dice(7);
}

static uint64_t near_wide(struct wide number)
{
    return near(clamped(number));
}

/* Of any length in bits. */
static uint64_t any_number(void)
{
    return random_bits() >> dice(64);
}

/* One to try: close to a power of two, to a multiple of either rate, or to what
 * the multiplication by rate / other makes too large; or any at all. */
static uint64_t number_to_try(uint64_t rate, uint64_t other)
{
    switch (dice(6)) {
    case 0:
        tried = near_wide(power_of_two(dice(65)));
        break;
    case 1:
        tried = near_wide(product_of(any_number(), rate));
        break;
    case 2:
        tried = near_wide(product_of(any_number(), other));
        break;
    case 3:
        tried =
            near_wide(quotient_of(dice(2) != 0 ? (struct wide){other, 0}
                                               : product_of(UINT64_MAX, other),
                rate));
        break;
    default:
        tried = any_number();
        break;
    }
    return tried;
}

static struct wide scaled_down(
    uint64_t number, uint64_t multiplier, uint64_t divider)
{
    return quotient_of(product_of(number, multiplier), divider);
}

static struct wide scaled_up(
    uint64_t number, uint64_t multiplier, uint64_t divider)
{
    return quotient_of(
        sum_of(product_of(number, multiplier), divider - 1), divider);
}

struct unit {
    const char *name;
    uint64_t per_second;
    struct dz_instant (*instant_from)(uint64_t value);
    bool (*instant_try_from)(uint64_t value, struct dz_instant *result);
    uint64_t (*instant_as)(struct dz_instant instant);
    struct dz_duration (*duration_from)(uint64_t value);
    struct dz_duration (*duration_from_floor)(uint64_t value);
    bool (*duration_try_from)(uint64_t value, struct dz_duration *result);
    uint64_t (*duration_as)(struct dz_duration duration);
};

#define UNIT(unit, per_second)                                                 \
    {                                                                          \
#unit, per_second, dz_instant_from_##unit, dz_instant_try_from_##unit, \
            dz_instant_as_##unit, dz_duration_from_##unit,                     \
            dz_duration_from_##unit##_floor, dz_duration_try_from_##unit,      \
            dz_duration_as_##unit                                              \
    }

static const struct unit units[] = {UNIT(nanos, 1000000000),
    UNIT(micros, 1000000), UNIT(millis, 1000), UNIT(secs, 1)};

enum { UNITS = sizeof(units) / sizeof(units[0]) };

static void try_to_ticks(const struct unit *unit, uint64_t value)
{
    struct wide down = scaled_down(value, hz, unit->per_second);
    struct wide up = scaled_up(value, hz, unit->per_second);
    struct dz_instant instant = {value + 1};
    struct dz_duration duration = {value + 1};

    check_tried(unit->instant_from(value).ticks == clamped(down));
    check_tried(unit->duration_from_floor(value).ticks == clamped(down));
    check_tried(unit->duration_from(value).ticks == clamped(up));

    check_tried(unit->instant_try_from(value, &instant) == fits(down));
    check_tried(instant.ticks == clamped(down));
    check_tried(unit->duration_try_from(value, &duration) == fits(up));
    check_tried(duration.ticks == clamped(up));
}

/* T6, T7. */
static void units_become_ticks_as_in_the_model(void **state)
{
    long steps = begin();

    (void)state;
    for (step = 0; step < steps; step++) {
        const struct unit *unit = &units[step % UNITS];

        tried_unit = unit->name;
        try_to_ticks(unit, number_to_try(hz, unit->per_second));
    }
}

static void ticks_become_units_as_in_the_model(void **state)
{
    long steps = begin();

    (void)state;
    for (step = 0; step < steps; step++) {
        const struct unit *unit = &units[step % UNITS];
        uint64_t ticks = number_to_try(unit->per_second, hz);
        uint64_t value = clamped(scaled_down(ticks, unit->per_second, hz));

        check_tried(unit->instant_as(dz_instant_from_ticks(ticks)) == value);
        check_tried(unit->duration_as(dz_duration_from_ticks(ticks)) == value);
    }
}

static void a_period_is_the_nearest_number_of_ticks(void **state)
{
    long steps = begin();

    (void)state;
    tried_unit = "Hz";
    for (step = 0; step < steps; step++) {
        uint64_t frequency = number_to_try(hz, 1 + dice(4));
        uint64_t nearest;

        if (frequency == 0)
            continue;
        nearest = hz / frequency;
        nearest += hz % frequency >= frequency - hz % frequency;
        check_tried(dz_duration_from_hz(frequency).ticks ==
            (nearest == 0 ? 1 : nearest));
    }
}

static void sums_and_products_do_not_wrap(void **state)
{
    long steps = begin();

    (void)state;
    for (step = 0; step < steps; step++) {
        uint64_t other = any_number();
        uint32_t factor = (uint32_t)other;
        struct dz_duration a = {dice(2) != 0
                ? near(UINT64_MAX - other)
                : number_to_try((uint64_t)factor + 1, 1)};
        struct dz_duration b = {other};
        struct dz_duration sum = {1};
        struct dz_duration product = {1};
        struct wide wide_sum = sum_of((struct wide){0, a.ticks}, other);
        struct wide wide_product = product_of(a.ticks, factor);

        tried = a.ticks;
        check_tried(dz_duration_try_add(a, b, &sum) == fits(wide_sum));
        check_tried(sum.ticks == clamped(wide_sum));
        check_tried(dz_duration_add(a, b).ticks == sum.ticks);

        check_tried(
            dz_duration_try_mul(a, factor, &product) == fits(wide_product));
        check_tried(product.ticks == clamped(wide_product));
        check_tried(dz_duration_mul(a, factor).ticks == product.ticks);
    }
}

/* The numbers that are compared are equal, neighbours, or far apart. */
static void differences_end_at_zero(void **state)
{
    long steps = begin();

    (void)state;
    for (step = 0; step < steps; step++) {
        struct dz_duration a = {any_number()};
        struct dz_duration b = {dice(2) != 0 ? any_number() : near(a.ticks)};
        struct dz_duration rest = {1};
        bool fits = a.ticks >= b.ticks;
        uint64_t expected = 0;

        tried = a.ticks;
        if (fits)
            expected = a.ticks - b.ticks;
        check_tried(dz_duration_try_sub(a, b, &rest) == fits);
        check_tried(rest.ticks == expected);
        check_tried(dz_duration_sub(a, b).ticks == expected);
        check_tried(dz_duration_is_shorter(a, b) == !fits);
    }
}

static void instants_are_moved_by_durations(void **state)
{
    const struct dz_instant ten = {10};
    const struct dz_instant late = {UINT64_MAX - 4};
    const struct dz_duration four = {4};
    const struct dz_duration five = {5};
    struct dz_instant moved;

    (void)state;
    assert_true(dz_instant_try_add(ten, four, &moved));
    assert_int_equal(moved.ticks, 14);
    assert_true(dz_instant_try_add(late, four, &moved));
    assert_true(moved.ticks == UINT64_MAX);
    moved = ten;
    assert_false(dz_instant_try_add(late, five, &moved));
    assert_true(moved.ticks == UINT64_MAX);
    assert_int_equal(dz_instant_add(ten, four).ticks, 14);
    assert_true(dz_instant_add(late, five).ticks == UINT64_MAX);

    assert_true(dz_instant_try_sub(ten, four, &moved));
    assert_int_equal(moved.ticks, 6);
    assert_true(dz_instant_try_sub(moved, (struct dz_duration){6}, &moved));
    assert_int_equal(moved.ticks, 0);
    moved = ten;
    assert_false(dz_instant_try_sub((struct dz_instant){4}, five, &moved));
    assert_int_equal(moved.ticks, 0);
    assert_int_equal(dz_instant_sub(ten, four).ticks, 6);
    assert_int_equal(dz_instant_sub((struct dz_instant){4}, five).ticks, 0);
}

static void the_time_since_a_later_instant_is_zero(void **state)
{
    const struct dz_instant early = {7};
    const struct dz_instant late = {UINT64_MAX};
    struct dz_duration since;

    (void)state;
    assert_true(dz_instant_try_since(late, early, &since));
    assert_true(since.ticks == UINT64_MAX - 7);
    assert_true(dz_instant_since(late, early).ticks == UINT64_MAX - 7);
    assert_true(dz_instant_try_since(early, early, &since));
    assert_int_equal(since.ticks, 0);
    since.ticks = 1;
    assert_false(dz_instant_try_since(early, late, &since));
    assert_int_equal(since.ticks, 0);
    assert_int_equal(dz_instant_since(early, late).ticks, 0);
}

static void an_instant_is_not_before_itself(void **state)
{
    const struct dz_instant early = {7};
    const struct dz_instant late = {8};

    (void)state;
    assert_true(dz_instant_is_before(early, late));
    assert_false(dz_instant_is_before(late, early));
    assert_false(dz_instant_is_before(early, early));
    assert_true(dz_instant_is_before(late, DZ_INSTANT_MAX));
}

static void a_duration_is_divided_down(void **state)
{
    (void)state;
    assert_int_equal(dz_duration_div((struct dz_duration){11}, 4).ticks, 2);
    assert_int_equal(dz_duration_div((struct dz_duration){12}, 4).ticks, 3);
    assert_true(dz_duration_div(DZ_DURATION_MAX, 1).ticks == UINT64_MAX);
    assert_int_equal(
        dz_duration_div(DZ_DURATION_MAX, UINT32_MAX).ticks, 4294967297);
}

/* Worked out by hand. The compiler converts these: they are constants. */
static const struct {
    uint64_t hz;
    uint64_t micro_up;
    uint64_t micro_down;
    uint64_t millis_1500_up;
    uint64_t millis_1500_down;
    uint64_t nanos_123456789_up;
    uint64_t nanos_in_tick;
    uint64_t period_of_60_hz;
} by_hand[] = {
    {1, 1, 0, 2, 1, 1, 1000000000, 1},
    {3, 1, 0, 5, 4, 1, 333333333, 1},
    {1000, 1, 0, 1500, 1500, 124, 1000000, 17},
    {32768, 1, 0, 49152, 49152, 4046, 30517, 546},
    {1000000, 1, 1, 1500000, 1500000, 123457, 1000, 16667},
    {999999937, 1000, 999, 1499999906, 1499999905, 123456782, 1, 16666666},
    {1000000000, 1000, 1000, 1500000000, 1500000000, 123456789, 1, 16666667},
};

static void constants_are_as_worked_out_by_hand(void **state)
{
    const struct dz_duration tick = {1};
    size_t i = 0;

    (void)state;
    while (by_hand[i].hz != hz) {
        i++;
        if (i == sizeof(by_hand) / sizeof(by_hand[0]))
            skip();
    }
    assert_int_equal(dz_duration_from_micros(1).ticks, by_hand[i].micro_up);
    assert_int_equal(dz_instant_from_micros(1).ticks, by_hand[i].micro_down);
    assert_int_equal(
        dz_duration_from_millis(1500).ticks, by_hand[i].millis_1500_up);
    assert_int_equal(
        dz_duration_from_millis_floor(1500).ticks, by_hand[i].millis_1500_down);
    assert_int_equal(
        dz_duration_from_nanos(123456789).ticks, by_hand[i].nanos_123456789_up);
    assert_int_equal(dz_duration_as_nanos(tick), by_hand[i].nanos_in_tick);
    assert_int_equal(dz_duration_from_hz(60).ticks, by_hand[i].period_of_60_hz);
    assert_int_equal(dz_duration_from_secs(1).ticks, hz);
}

/* T6: upstream, nanoseconds wrap after nine years at 32768 Hz. */
static void ten_years_have_their_nanoseconds(void **state)
{
    struct dz_instant birthday = dz_instant_from_secs(315576000);

    (void)state;
    assert_true(dz_instant_as_nanos(birthday) == UINT64_C(315576000000000000));
    assert_int_equal(dz_instant_as_secs(birthday), 315576000);
}

/* T6: upstream, this wraps, or panics. */
static void more_than_for_ever_is_for_ever(void **state)
{
    struct dz_duration duration = {1};

    (void)state;
    if (hz == 1)
        skip();
    assert_true(dz_duration_from_secs(UINT64_MAX / 2 + 1).ticks == UINT64_MAX);
    assert_false(dz_duration_try_from_secs(UINT64_MAX / 2 + 1, &duration));
    assert_true(duration.ticks == DZ_DURATION_MAX.ticks);
}

static void ask_for_no_period(void)
{
    (void)dz_duration_from_hz(0);
}

static void the_period_of_nothing_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(ask_for_no_period), "0 Hz");
}

static void divide_by_nothing(void)
{
    (void)dz_duration_div(DZ_DURATION_MAX, 0);
}

static void dividing_by_nothing_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(divide_by_nothing), "divided by 0");
}

static uint64_t micros_late;

static void late_by(uint64_t micros)
{
    micros_late = micros;
}

static void check_punctuality(struct dz_instant start, struct dz_instant now)
{
    struct dz_duration period = dz_duration_from_millis(20);
    struct dz_instant due = dz_instant_add(start, period);

    if (dz_instant_is_before(due, now))
        late_by(dz_duration_as_micros(dz_instant_since(now, due)));
}

static void the_example_of_the_header_works(void **state)
{
    struct dz_instant start = dz_instant_from_secs(3);
    struct dz_instant now = start;

    (void)state;
    now.ticks += (hz * 20 + 999) / 1000;
    check_punctuality(start, now);
    assert_int_equal(micros_late, 0);

    now.ticks += 2 * hz;
    check_punctuality(start, now);
    assert_int_equal(micros_late, 2000000);
}

RUN_TESTS(TEST(units_become_ticks_as_in_the_model),
    TEST(ticks_become_units_as_in_the_model),
    TEST(a_period_is_the_nearest_number_of_ticks),
    TEST(sums_and_products_do_not_wrap), TEST(differences_end_at_zero),
    TEST(instants_are_moved_by_durations),
    TEST(the_time_since_a_later_instant_is_zero),
    TEST(an_instant_is_not_before_itself), TEST(a_duration_is_divided_down),
    TEST(constants_are_as_worked_out_by_hand),
    TEST(ten_years_have_their_nanoseconds),
    TEST(more_than_for_ever_is_for_ever), TEST(the_period_of_nothing_panics),
    TEST(dividing_by_nothing_panics), TEST(the_example_of_the_header_works))
