/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "doze.h"
#include "sim/test.h"
#include "sim/timer.h"

/* What only virtual time can promise: exact instants, and the same run again.
 * Expected instants are sums of prices and periods. */

enum {
    IRQ = 4,
    OTHER_IRQ = 5,
    US = 1000,
    MS = 1000000,
    POLL = 1000, /* prices in ns */
    HANDLER = 500,
    LOOK = 100,
    ACCESS = 70,
};

static struct dz_core core;

static int begin_virtual(uint64_t seed)
{
    dz_machine_start(&(struct dz_machine){
        .time = DZ_TIME_VIRTUAL,
        .seed = seed,
        .costs = {POLL, HANDLER, LOOK, ACCESS},
    });
    return 0;
}

/* The test runs on a core. */
static int become_virtual_core(void **state)
{
    (void)state;
    begin_virtual(0);
    dz_core_enter(&core);
    return 0;
}

static int leave_virtual_core(void **state)
{
    (void)state;
    dz_core_leave(&core);
    core = (struct dz_core){.home = {.index = 0}};
    dz_machine_stop();
    return 0;
}

#define VIRTUAL_TEST(name)           \
    cmocka_unit_test_setup_teardown( \
        name, become_virtual_core, leave_virtual_core)

static uint64_t handled_at[8];
static unsigned handled;

static void note_time(void *argument)
{
    (void)argument;
    handled_at[handled++] = dz_machine_now();
}

static void note_from(struct dz_sim_timer *timer, int irq, uint64_t at)
{
    handled = 0;
    dz_core_bind(&core, irq, note_time, NULL);
    dz_sim_timer_open(timer, &core, irq);
    timer->next = at;
    dz_due_set(&timer->due, at);
}

static void time_jumps_to_what_is_due(void **state)
{
    const uint64_t hour = UINT64_C(3600000) * MS;
    struct dz_sim_timer timer;

    (void)state;
    note_from(&timer, IRQ, hour);
    dz_port_wait();
    assert_int_equal(handled, 1);
    assert_int_equal(handled_at[0], hour + HANDLER);
    assert_int_equal(dz_machine_now(), hour + HANDLER);
}

static void an_interrupt_comes_at_its_time_within_a_computation(void **state)
{
    struct dz_sim_timer timer;

    (void)state;
    note_from(&timer, IRQ, 5 * MS);
    dz_machine_compute(30 * MS);
    assert_int_equal(handled_at[0], 5 * MS + HANDLER);
    assert_int_equal(dz_machine_now(), 30 * MS + HANDLER);
}

static void masked_it_comes_when_the_mask_goes(void **state)
{
    struct dz_sim_timer timer;
    dz_key key;

    (void)state;
    note_from(&timer, IRQ, 5 * MS);
    key = dz_port_enter();
    dz_machine_compute(30 * MS);
    assert_int_equal(handled, 0);
    dz_port_exit(key);
    assert_int_equal(handled, 1);
    assert_int_equal(handled_at[0], 30 * MS + HANDLER);
}

static void compute_and_note(void *argument)
{
    (void)argument;
    dz_machine_compute(10 * MS);
    handled_at[handled++] = dz_machine_now();
}

/* The urgent one, 2 ms after the other began, takes its 500 ns out of the
 * middle of the other's 10 ms. */
static void a_handler_is_preempted_at_the_right_instant(void **state)
{
    struct dz_sim_timer first;
    struct dz_sim_timer urgent;

    (void)state;
    note_from(&first, IRQ, 1 * MS);
    note_from(&urgent, OTHER_IRQ, 3 * MS);
    dz_core_bind(&core, IRQ, compute_and_note, NULL);
    dz_core_set_priority(&core, IRQ, 128);
    dz_core_set_priority(&core, OTHER_IRQ, 64);
    dz_machine_compute(20 * MS);
    assert_int_equal(handled, 2);
    assert_int_equal(handled_at[0], 3 * MS + HANDLER);
    assert_int_equal(handled_at[1], 11 * MS + 2 * HANDLER);
    assert_int_equal(dz_machine_now(), 30 * MS + 2 * HANDLER);
}

/* P21 */
static void a_loop_that_watches_the_clock_ends(void **state)
{
    unsigned looks = 0;

    (void)state;
    while (dz_port_now() < 1000)
        looks++;
    assert_int_equal(looks, 1000 * US / LOOK - 1);
}

static void an_access_to_a_peripheral_takes_time(void **state)
{
    struct dz_sim_timer timer;

    (void)state;
    dz_sim_timer_open(&timer, &core, IRQ);
    dz_sim_timer_stop(&timer);
    dz_sim_timer_stop(&timer);
    assert_int_equal(dz_machine_now(), 2 * ACCESS);
}

struct yielder {
    struct dz_task task;
    int left;
};

static enum dz_poll yielder_poll(struct yielder *self)
{
    async (self) {
        while (self->left-- > 0)
            await(dz_yield_poll());
    }
    return DZ_READY;
}

DZ_TASK_POOL(yielders, struct yielder, yielder_poll, 1)

static void a_poll_takes_time(void **state)
{
    static struct dz_executor executor;
    struct yielder *yielder;

    (void)state;
    dz_executor_init(&executor, "virtual");
    (void)yielders_claim(&yielder);
    yielder->left = 2;
    dz_executor_spawn(&executor, &yielder->task);
    while (dz_executor_is_ready(&executor))
        dz_executor_poll(&executor);
    assert_int_equal(dz_machine_now(), 3 * POLL);
}

static void wfi_wakes_on_a_masked_interrupt(void **state)
{
    struct dz_sim_timer timer;
    dz_key key;

    (void)state;
    note_from(&timer, IRQ, 7 * MS);
    key = dz_port_mask();
    dz_core_wait_for_interrupt(&core);
    assert_int_equal(dz_machine_now(), 7 * MS);
    assert_int_equal(handled, 0);
    dz_port_unmask(key);
    assert_int_equal(handled, 1);
}

/* Two cores compute in turns: whoever is behind goes on. Core 0 in steps of
 * 3 ms, core 1 in steps of 5 ms. */
static char turns[16];
static uint64_t turn_at[16];

static void take_turns(void *argument)
{
    unsigned index = dz_core_here()->home.index;

    (void)argument;
    for (int i = 0; i < (index == 0 ? 5 : 3); i++) {
        size_t turn = strlen(turns);

        turns[turn] = (char)('0' + index);
        turn_at[turn] = dz_machine_now();
        dz_machine_compute(index == 0 ? 3 * MS : 5 * MS);
    }
}

static void the_core_that_is_behind_goes_on(void **state)
{
    static struct dz_core cores[2] = {
        {.home = {.index = 0}}, {.home = {.index = 1}}};
    static const uint64_t expected[] = {0, 0, 3, 5, 6, 9, 10, 12};

    (void)state;
    begin_virtual(0);
    memset(turns, 0, sizeof(turns));
    dz_core_start(&cores[0], take_turns, NULL);
    dz_core_start(&cores[1], take_turns, NULL);
    dz_core_join(&cores[0]);
    dz_core_join(&cores[1]);
    dz_machine_stop();
    assert_string_equal(turns, "01010010");
    for (int i = 0; i < 8; i++)
        assert_int_equal(turn_at[i], expected[i] * MS);
}

/* Eight things at one instant, in an order that the seed chooses. */

static char order[16];

struct letter {
    struct dz_due due;
    char letter;
};

static void note_letter(struct dz_due *due)
{
    order[strlen(order)] = container_of(due, struct letter, due)->letter;
}

static void run_letters(uint64_t seed)
{
    struct letter letters[8];

    memset(order, 0, sizeof(order));
    begin_virtual(seed);
    dz_core_enter(&core);
    for (int i = 0; i < 8; i++) {
        letters[i] = (struct letter){
            .due = {.fire = note_letter},
            .letter = (char)('a' + i),
        };
        dz_due_set(&letters[i].due, MS);
    }
    dz_machine_compute(2 * MS);
    (void)leave_virtual_core(NULL);
}

static void the_seed_orders_what_happens_at_one_instant(void **state)
{
    char first[16];
    unsigned others = 0;

    (void)state;
    run_letters(1);
    memcpy(first, order, sizeof(first));
    for (char letter = 'a'; letter <= 'h'; letter++)
        assert_non_null(strchr(first, letter));
    run_letters(1);
    assert_string_equal(order, first);
    for (uint64_t seed = 2; seed < 12; seed++) {
        run_letters(seed);
        others += strcmp(order, first) != 0;
    }
    assert_true(others >= 9);
}

/* A due may be moved and cleared, also by what happens. */

static struct dz_due second;
static unsigned fired;

static void count_fired(struct dz_due *due)
{
    (void)due;
    fired++;
}

static void clear_second(struct dz_due *due)
{
    (void)due;
    dz_due_clear(&second);
}

static void a_due_that_is_moved_or_cleared_does_not_happen(void **state)
{
    struct dz_due first = {.fire = clear_second};

    (void)state;
    fired = 0;
    second = (struct dz_due){.fire = count_fired};
    dz_due_set(&second, 1 * MS);
    dz_due_set(&second, 4 * MS);
    dz_machine_compute(2 * MS);
    assert_int_equal(fired, 0);
    dz_due_set(&first, 3 * MS);
    dz_machine_compute(10 * MS);
    assert_int_equal(fired, 0);
    dz_due_set(&second, 1 * MS); /* has passed */
    dz_machine_compute(1);
    assert_int_equal(fired, 1);
}

/* A copy of the process is a copy of the machine. */
static void a_machine_can_be_forked(void **state)
{
    struct dz_sim_timer timer;
    int status;
    pid_t child;

    (void)state;
    note_from(&timer, IRQ, 5 * MS);
    dz_machine_compute(1 * MS);
    child = fork();
    dz_port_wait();
    if (child == 0)
        _exit(handled == 1 && handled_at[0] == 5 * MS + HANDLER ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(handled_at[0], 5 * MS + HANDLER);
}

/* A core that always yields stands still where nothing costs anything; the
 * other one gets its turn all the same. */
static volatile bool other_has_run;

static void yield_until_other(void *argument)
{
    static struct dz_executor executor;
    struct yielder *yielder;

    (void)argument;
    memset(yielders_slots, 0, sizeof(yielders_slots));
    dz_executor_init(&executor, "yields");
    (void)yielders_claim(&yielder);
    yielder->left = 1000000;
    dz_executor_spawn(&executor, &yielder->task);
    dz_executor_run_until(&executor, &other_has_run);
}

static void run_other(void *argument)
{
    (void)argument;
    other_has_run = true;
}

static void nobody_starves_where_nothing_costs_anything(void **state)
{
    static struct dz_core cores[2] = {
        {.home = {.index = 0}}, {.home = {.index = 1}}};

    (void)state;
    other_has_run = false;
    dz_machine_start(&(struct dz_machine){.time = DZ_TIME_VIRTUAL});
    dz_core_start(&cores[0], yield_until_other, NULL);
    dz_core_start(&cores[1], run_other, NULL);
    dz_core_join(&cores[0]);
    dz_core_join(&cores[1]);
    dz_machine_stop();
    assert_true(yielders_slots[0].left > 0);
}

static void clobber_errno(struct dz_due *due)
{
    (void)due;
    errno = EDOM;
}

static void what_is_due_leaves_errno_alone(void **state)
{
    struct dz_due due = {.fire = clobber_errno};

    (void)state;
    errno = 0;
    dz_due_set(&due, 1 * MS);
    dz_machine_compute(2 * MS);
    assert_int_equal(errno, 0);
}

static void pend_and_look(void *argument)
{
    unsigned *seen = argument;

    dz_core_pend(&core, IRQ);
    *seen = handled;
}

static void a_request_keeps_interrupts_off(void **state)
{
    unsigned seen = 1;

    (void)state;
    handled = 0;
    dz_core_bind(&core, IRQ, note_time, NULL);
    dz_machine_call(pend_and_look, &seen);
    assert_int_equal(seen, 0);
    assert_int_equal(handled, 1);
}

static void wfi_in_a_critical_section(void)
{
    begin_virtual(0);
    dz_core_enter(&core);
    (void)dz_port_enter();
    dz_core_wait_for_interrupt(&core);
}

static void enter_beside_another(void)
{
    static struct dz_core other;

    begin_virtual(0);
    dz_core_start(&other, note_time, NULL);
    dz_core_enter(&core);
}

static void join_from_a_core(void)
{
    static struct dz_core other;

    begin_virtual(0);
    dz_core_enter(&core);
    dz_core_start(&other, note_time, NULL);
}

static void start_too_many(void)
{
    static struct dz_core cores[DZ_CORES + 1];

    begin_virtual(0);
    for (int i = 0; i <= DZ_CORES; i++)
        dz_core_start(&cores[i], note_time, NULL);
}

static void what_cannot_be_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(join_from_a_core), "is the only one");
    assert_says(last_words_of(start_too_many), "more cores are started");
    assert_says(last_words_of(enter_beside_another), "only if no other was");
    assert_says(last_words_of(wfi_in_a_critical_section), "dz_port_mask()");
}

RUN_TESTS(VIRTUAL_TEST(time_jumps_to_what_is_due),
    VIRTUAL_TEST(an_interrupt_comes_at_its_time_within_a_computation),
    VIRTUAL_TEST(masked_it_comes_when_the_mask_goes),
    VIRTUAL_TEST(a_handler_is_preempted_at_the_right_instant),
    VIRTUAL_TEST(a_loop_that_watches_the_clock_ends),
    VIRTUAL_TEST(an_access_to_a_peripheral_takes_time),
    VIRTUAL_TEST(a_poll_takes_time),
    VIRTUAL_TEST(wfi_wakes_on_a_masked_interrupt),
    PLAIN_TEST(the_core_that_is_behind_goes_on),
    PLAIN_TEST(the_seed_orders_what_happens_at_one_instant),
    VIRTUAL_TEST(a_due_that_is_moved_or_cleared_does_not_happen),
    PLAIN_TEST(nobody_starves_where_nothing_costs_anything),
    VIRTUAL_TEST(what_is_due_leaves_errno_alone),
    VIRTUAL_TEST(a_request_keeps_interrupts_off),
    VIRTUAL_TEST(a_machine_can_be_forked), PLAIN_TEST(what_cannot_be_panics))
