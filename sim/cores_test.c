/* SPDX-License-Identifier: MIT */
#include <sched.h>

#include "doze.h"
#include "sim/test.h"

/* Several cores, each with an executor of its own. */

enum { CORES = 4, ROUNDS = 2000 };

DZ_CHANNEL_DEFINE(number_channel, uint32_t, 1, DZ_CRITICAL_SECTION)
DZ_SIGNAL_DEFINE(number_signal, uint32_t, DZ_CRITICAL_SECTION)

static struct dz_core cores[CORES];
static struct dz_executor executors[CORES];
static struct number_channel ring[CORES]; /* from core i to the next */
static uint32_t sums[CORES];

/* Passes numbers on round the ring, which has one. */
struct runner {
    struct dz_task task;
    unsigned core;
    uint32_t value;
    uint32_t rounds;
    bool done;
};

static enum dz_poll runner_poll(struct runner *self)
{
    async (self) {
        for (; self->rounds < ROUNDS; self->rounds++) {
            await(number_channel_receive(&ring[self->core], &self->value));
            sums[self->core] += self->value;
            self->value++;
            await(number_channel_send(
                &ring[(self->core + 1) % CORES], &self->value));
        }
        self->done = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(runners, struct runner, runner_poll, CORES)

static void run_one(void *argument)
{
    struct dz_core *core = argument;
    unsigned index = core->home.index;
    struct runner *runner;

    dz_executor_init(&executors[index], "core");
    (void)runners_claim(&runner);
    runner->core = index;
    dz_executor_spawn(&executors[index], &runner->task);
    dz_executor_run_until(&executors[index], &runner->done);
}

static void start_all(void (*main)(void *argument))
{
    for (unsigned i = 0; i < CORES; i++) {
        cores[i] = (struct dz_core){.home = {.index = i}};
        dz_core_start(&cores[i], main, &cores[i]);
    }
}

static void join_all(void)
{
    for (unsigned i = 0; i < CORES; i++)
        dz_core_join(&cores[i]);
}

/* Number n is received on core n mod 4, so core i sums i, i + 4, i + 8, ... */
static void a_number_goes_round_four_cores(void **state)
{
    uint32_t first = 0;

    (void)state;
    memset(ring, 0, sizeof(ring));
    memset(sums, 0, sizeof(sums));
    (void)number_channel_try_send(&ring[0], &first);
    start_all(run_one);
    join_all();
    for (uint32_t i = 0; i < CORES; i++)
        assert_int_equal(
            sums[i], ROUNDS * i + CORES * (ROUNDS * (ROUNDS - 1) / 2));
}

/* Core 0 spawns on core 1, again and again: as soon as the slot is free. The
 * spawned task is woken from core 0 until it has ended, so that it often ends
 * with a wake-up on its way. */
struct guest {
    struct dz_task task;
};

static atomic_uint guests;
static volatile bool has_all_guests;

static enum dz_poll guest_poll(struct guest *self)
{
    async (self) {
        await(dz_yield_poll());
        if (atomic_fetch_add(&guests, 1) + 1 == ROUNDS)
            has_all_guests = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(hotel, struct guest, guest_poll, 1)

static atomic_bool is_open;

static void be_host(void *argument)
{
    (void)argument;
    dz_executor_init(&executors[1], "host");
    atomic_store(&is_open, true);
    dz_executor_run_until(&executors[1], &has_all_guests);
}

static void send_guests(void *argument)
{
    unsigned sent = 0;

    (void)argument;
    while (!atomic_load(&is_open))
        dz_machine_compute(1000);
    while (sent < ROUNDS) {
        struct guest *guest;

        if (hotel_claim(&guest) == DZ_BUSY) {
            dz_task_wake(&hotel_slots[0].task);
            dz_machine_compute(100);
            continue;
        }
        dz_executor_spawn(&executors[1], &guest->task);
        sent++;
    }
}

static void tasks_are_spawned_on_another_core(void **state)
{
    (void)state;
    atomic_store(&guests, 0);
    atomic_store(&is_open, false);
    has_all_guests = false;
    memset(hotel_slots, 0, sizeof(hotel_slots));
    cores[0] = (struct dz_core){.home = {.index = 0}};
    cores[1] = (struct dz_core){.home = {.index = 1}};
    dz_core_start(&cores[1], be_host, NULL);
    dz_core_start(&cores[0], send_guests, NULL);
    dz_core_join(&cores[0]);
    dz_core_join(&cores[1]);
    assert_int_equal(atomic_load(&guests), ROUNDS);
}

/* All cores count in critical sections, and tear the count if they can. */
static volatile unsigned counter;

static void count(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        dz_key key = dz_port_enter();
        unsigned seen = counter;

        dz_machine_compute(10);
        counter = seen + 1;
        dz_port_exit(key);
        dz_machine_compute(10);
    }
}

static void a_critical_section_keeps_other_cores_out(void **state)
{
    (void)state;
    counter = 0;
    start_all(count);
    join_all();
    assert_int_equal(counter, CORES * ROUNDS);
}

/* Thread mode is that of the first core. */

DZ_CHANNEL_DEFINE(thread_channel, uint32_t, 1, DZ_THREAD_MODE)

static struct thread_channel thread_numbers;

static void use_thread_mode(void *argument)
{
    uint32_t value = 1;

    (void)argument;
    (void)thread_channel_try_send(&thread_numbers, &value);
}

static void misuse_thread_mode(void)
{
    test_start_machine();
    cores[1] = (struct dz_core){.home = {.index = 1}};
    dz_core_start(&cores[1], use_thread_mode, NULL);
    dz_core_join(&cores[1]);
}

static void a_thread_mode_object_on_the_second_core_panics(void **state)
{
    struct last_words words = last_words_at(DZ_EXIT_RACE, misuse_thread_mode);

    (void)state;
    assert_says(words, "thread_channel");
    assert_says(words, "thread mode of core 1");
}

static void use_first(void *argument)
{
    (void)argument;
    dz_executor_init(&executors[0], "first");
    use_thread_mode(NULL);
}

static void a_thread_mode_object_on_the_first_core_is_in_order(void **state)
{
    (void)state;
    memset(&thread_numbers, 0, sizeof(thread_numbers));
    cores[0] = (struct dz_core){.home = {.index = 0}};
    dz_core_start(&cores[0], use_first, NULL);
    dz_core_join(&cores[0]);
    assert_int_equal(thread_channel_len(&thread_numbers), 1);
}

RUN_TESTS(MACHINE_TEST(a_number_goes_round_four_cores),
    MACHINE_TEST(tasks_are_spawned_on_another_core),
    MACHINE_TEST(a_critical_section_keeps_other_cores_out),
    PLAIN_TEST(a_thread_mode_object_on_the_second_core_panics),
    MACHINE_TEST(a_thread_mode_object_on_the_first_core_is_in_order))
