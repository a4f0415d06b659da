/* SPDX-License-Identifier: MIT */
#include "sim/pin.h"

#include "sim/test_client.h"
#include "sim/test_random.h"

enum { IRQ = 7, CHANGES = 64 };

#define LED 5

DZ_PIN(LED)
DZ_PIN(63)

/* What a watcher has seen. */
struct change {
    unsigned number;
    enum dz_level level;
    uint64_t at;
};

static struct change changes[CHANGES];
static unsigned change_count;
static struct dz_core core;
static atomic_uint edges;

static void note_change(unsigned number, uint8_t level, void *argument)
{
    (void)argument;
    if (change_count < CHANGES)
        changes[change_count++] =
            (struct change){number, level, dz_machine_now()};
}

static void assert_changed(unsigned index, unsigned number, enum dz_level level)
{
    assert_true(index < change_count);
    assert_int_equal(changes[index].number, number);
    assert_int_equal(changes[index].level, level);
}

static void count_edge(void *argument)
{
    (void)argument;
    atomic_fetch_add(&edges, 1);
}

static void run_on_core(void (*firmware)(void *argument), void *argument)
{
    dz_core_start(&core, firmware, argument);
    dz_core_join(&core);
}

static int set_up(void **state)
{
    change_count = 0;
    atomic_store(&edges, 0);
    return test_begin_machine(state);
}

static int tear_down(void **state)
{
    dz_pin_reset();
    return test_end_machine(state);
}

#define PIN_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- Levels. */

static void write_led(void *argument)
{
    (void)argument;
    dz_pin_write(dz_pin_5, DZ_LOW);
    dz_pin_write(dz_pin_5, DZ_HIGH);
    dz_pin_write(dz_pin_5, DZ_HIGH);
    dz_pin_toggle(dz_pin_5);
}

static void outputs_are_recorded_when_they_change(void **state)
{
    (void)state;
    dz_pin_watch(note_change, NULL);

    run_on_core(write_led, NULL);

    assert_int_equal(change_count, 2);
    assert_changed(0, LED, DZ_HIGH);
    assert_changed(1, LED, DZ_LOW);
    assert_true(dz_pin_is_output(LED));
    assert_int_equal(dz_pin_level(LED), DZ_LOW);
    dz_pin_unwatch(note_change, NULL);
}

/* Each access costs 100 ns, and the first write changes nothing. */
static void a_change_happens_when_its_access_is_paid(void **state)
{
    (void)state;
    if (!test_is_virtual())
        skip();
    dz_pin_watch(note_change, NULL);

    run_on_core(write_led, NULL);

    assert_int_equal(change_count, 2);
    assert_int_equal(changes[0].at, 200);
    assert_int_equal(changes[1].at, 400);
    dz_pin_unwatch(note_change, NULL);
}

static enum dz_level seen[3];

static void read_input(void *argument)
{
    (void)argument;
    seen[0] = dz_pin_read(dz_pin_63);
    dz_pin_drive(63, DZ_HIGH);
    seen[1] = dz_pin_read(dz_pin_63);
    dz_pin_drive(63, DZ_LOW);
    seen[2] = dz_pin_read(dz_pin_63);
}

static void inputs_are_read_as_they_are_driven(void **state)
{
    (void)state;
    dz_pin_watch(note_change, NULL);

    run_on_core(read_input, NULL);

    assert_int_equal(seen[0], DZ_LOW);
    assert_int_equal(seen[1], DZ_HIGH);
    assert_int_equal(seen[2], DZ_LOW);
    assert_false(dz_pin_is_output(63));
    assert_int_equal(change_count, 2);
    assert_changed(0, 63, DZ_HIGH);
    dz_pin_unwatch(note_change, NULL);
}

/* A wire from the output to the input, and nobody else. */
static void drive_input(unsigned number, uint8_t level, void *argument)
{
    (void)argument;
    if (number == LED)
        dz_pin_drive(63, level);
}

static void a_watcher_drives_another_pin(void **state)
{
    (void)state;
    dz_pin_watch(drive_input, NULL);
    dz_pin_watch(note_change, NULL);

    run_on_core(write_led, NULL);

    assert_int_equal(change_count, 4);
    assert_changed(0, 63, DZ_HIGH);
    assert_changed(1, LED, DZ_HIGH);
    assert_changed(2, 63, DZ_LOW);
    assert_changed(3, LED, DZ_LOW);
    dz_pin_unwatch(note_change, NULL);
    dz_pin_unwatch(drive_input, NULL);
}

/* ---- Edges. */

static void listen_to_63(void *argument)
{
    dz_pin_interrupt(dz_pin_63, &core, IRQ, *(enum dz_edges *)argument);
    for (int i = 0; i < 3; i++) {
        dz_pin_drive(63, DZ_HIGH);
        dz_pin_drive(63, DZ_HIGH);
        dz_pin_drive(63, DZ_LOW);
    }
    dz_pin_drive(63, DZ_HIGH);
}

static unsigned edges_of(enum dz_edges wanted)
{
    atomic_store(&edges, 0);
    dz_pin_reset();
    dz_core_bind(&core, IRQ, count_edge, NULL);
    run_on_core(listen_to_63, &wanted);
    return atomic_load(&edges);
}

static void the_edges_that_were_asked_for_interrupt(void **state)
{
    (void)state;
    assert_int_equal(edges_of(DZ_EDGE_RISING), 4);
    assert_int_equal(edges_of(DZ_EDGE_FALLING), 3);
    assert_int_equal(edges_of(DZ_EDGE_BOTH), 7);
    assert_int_equal(edges_of(DZ_EDGE_NONE), 0);
}

static void drive_masked(void *argument)
{
    dz_key key = dz_port_mask();

    (void)argument;
    dz_pin_interrupt(dz_pin_63, &core, IRQ, DZ_EDGE_BOTH);
    dz_pin_drive(63, DZ_HIGH);
    dz_pin_drive(63, DZ_LOW);
    seen[0] = atomic_load(&edges) == 0 ? DZ_LOW : DZ_HIGH;
    dz_port_unmask(key);
}

static void edges_that_come_too_fast_merge(void **state)
{
    (void)state;
    dz_core_bind(&core, IRQ, count_edge, NULL);

    run_on_core(drive_masked, NULL);

    assert_int_equal(seen[0], DZ_LOW);
    assert_int_equal(atomic_load(&edges), 1);
}

static void prepare_for_edges(void)
{
    dz_core_bind(&core, IRQ, count_edge, NULL);
    dz_pin_interrupt(dz_pin_63, &core, IRQ, DZ_EDGE_RISING);
}

static void wait_for_an_edge(void *argument)
{
    (void)argument;
    while (atomic_load(&edges) == 0) {
        dz_key key = dz_port_mask();

        if (atomic_load(&edges) == 0)
            dz_core_wait_for_interrupt(&core);
        dz_port_unmask(key);
    }
}

static void press_button(struct dz_due *due)
{
    (void)due;
    dz_pin_drive(63, DZ_HIGH);
}

static void an_edge_from_outside_wakes_the_core(void **state)
{
    static struct dz_due button;

    (void)state;
    button = (struct dz_due){.fire = press_button};
    prepare_for_edges();
    dz_due_set(&button, 1000000);

    run_on_core(wait_for_an_edge, NULL);

    assert_int_equal(atomic_load(&edges), 1);
}

/* ---- Owners. */

static void take_twice(void)
{
    test_start_machine();
    dz_pin_take(9);
    dz_pin_take(9);
}

static void take_what_a_file_owns(void)
{
    test_start_machine();
    dz_pin_write(dz_pin_5, DZ_HIGH);
    dz_pin_take(LED);
}

static void use_what_was_taken(void)
{
    test_start_machine();
    dz_pin_take(LED);
    dz_pin_write(dz_pin_5, DZ_HIGH);
}

static void take_what_is_not_there(void)
{
    test_start_machine();
    dz_pin_take(64);
}

static void drive_an_output(void)
{
    test_start_machine();
    dz_pin_write(dz_pin_5, DZ_HIGH);
    dz_pin_drive(LED, DZ_HIGH);
}

static void watch_five_times(void)
{
    test_start_machine();
    for (int i = 0; i <= DZ_WATCHERS; i++)
        dz_pin_watch(note_change, NULL);
}

static void unwatch_what_does_not_watch(void)
{
    test_start_machine();
    dz_pin_watch(note_change, NULL);
    dz_pin_unwatch(note_change, &core);
}

static void misuse_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(take_twice), "pin 9 is taken twice");
    assert_says(last_words_of(take_what_a_file_owns), "pin 5 is taken twice");
    assert_says(last_words_of(use_what_was_taken), "pin 5 is taken twice");
    assert_says(last_words_of(take_what_is_not_there), "pin 64 does not exist");
    assert_says(last_words_of(drive_an_output), "pin 5 is an output");
    assert_says(last_words_of(watch_five_times), "more than 4 watchers");
    assert_says(last_words_of(unwatch_what_does_not_watch), "not there");
}

static void a_pin_can_be_taken_again_after_a_reset(void **state)
{
    struct dz_pin *pin = dz_pin_take(9);

    (void)state;
    dz_pin_write(pin, DZ_HIGH);

    dz_pin_reset();

    assert_int_equal(dz_pin_level(9), DZ_LOW);
    assert_false(dz_pin_is_output(9));
    assert_ptr_equal(dz_pin_take(9), pin);
}

/* ---- Lines from outside. */

static void hear_line(int client, char *line, size_t size)
{
    size_t len = 0;

    do
        assert_int_equal(read(client, line + len, 1), 1);
    while (line[len++] != '\n' && len < size - 1);
    line[len] = '\0';
}

static void assert_hears(int client, const char *beginning)
{
    char line[160];

    hear_line(client, line, sizeof(line));
    if (strncmp(line, beginning, strlen(beginning)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", line, beginning);
}

static void answer_an_edge(void *argument)
{
    dz_pin_write(dz_pin_5, DZ_LOW);
    wait_for_an_edge(argument);
    dz_pin_write(dz_pin_5, DZ_HIGH);
}

static void a_client_drives_inputs_and_hears_outputs(void **state)
{
    struct dz_stream_error error;
    int client;

    (void)state;
    prepare_for_edges();
    assert_true(dz_pin_open("tcp:0", &error));
    client = connect_to(dz_pin_place());
    say(client,
        "\r\n  \nnonsense\npin 64 high\npin 7 up\npin 7 high low\n"
        "pin -1 high\npin 8 toggle\npin 63 high\r\n");

    run_on_core(answer_an_edge, NULL);

    assert_int_equal(dz_pin_level(8), DZ_HIGH);
    assert_hears(client, "error: not understood: say \"pin 3 high\"");
    assert_hears(client, "error: pin 64 does not exist");
    assert_hears(client, "error: pin 7 cannot go \"up\"");
    assert_hears(client, "error: not understood");
    assert_hears(client, "error: not understood");
    assert_hears(client, "pin 5 high ");
    dz_pin_close();
    close(client);
}

static void an_output_cannot_be_driven_by_a_client(void **state)
{
    struct dz_stream_error error;
    char line[200];
    int client;

    (void)state;
    memset(line, 'x', sizeof(line));
    strcpy(line + sizeof(line) - 16, "\npin 63 high\n");
    prepare_for_edges();
    assert_true(dz_pin_open("tcp:0", &error));
    client = connect_to(dz_pin_place());
    dz_pin_write(dz_pin_5, DZ_LOW);
    say(client, "pin 5 high\n");
    say(client, line);

    run_on_core(wait_for_an_edge, NULL);

    assert_int_equal(dz_pin_level(LED), DZ_LOW);
    assert_hears(client, "error: pin 5 is an output");
    assert_hears(client, "error: not understood");
    dz_pin_close();
    close(client);
}

/* ---- Both sides at random: a model of what a pin is. */

enum { STEPS = 20000 };

static long wrong_at;

/* Pin 63 is driven, pin 5 written; interrupts come at both edges of 63. */
static void move_at_random(void *argument)
{
    enum dz_level levels[2] = {DZ_LOW, DZ_LOW};
    unsigned wanted = 0;

    (void)argument;
    dz_pin_interrupt(dz_pin_63, &core, IRQ, DZ_EDGE_BOTH);
    for (step = 1; step <= STEPS && wrong_at == 0; step++) {
        unsigned which = dice(2);
        enum dz_level level = dice(2) == 0 ? DZ_LOW : DZ_HIGH;

        wanted += which == 1 && levels[1] != level;
        levels[which] = level;
        if (which == 0)
            dz_pin_write(dz_pin_5, level);
        else
            dz_pin_drive(63, level);
        if (dz_pin_read(dz_pin_5) != levels[0] ||
            dz_pin_read(dz_pin_63) != levels[1] ||
            atomic_load(&edges) != wanted)
            wrong_at = step;
    }
}

static void every_change_of_many_is_seen(void **state)
{
    (void)state;
    random_begin();
    wrong_at = 0;
    dz_core_bind(&core, IRQ, count_edge, NULL);

    run_on_core(move_at_random, NULL);

    assert_int_equal(wrong_at, 0);
}

RUN_TESTS(PIN_TEST(outputs_are_recorded_when_they_change),
    PIN_TEST(a_change_happens_when_its_access_is_paid),
    PIN_TEST(inputs_are_read_as_they_are_driven),
    PIN_TEST(a_watcher_drives_another_pin),
    PIN_TEST(the_edges_that_were_asked_for_interrupt),
    PIN_TEST(edges_that_come_too_fast_merge),
    PIN_TEST(an_edge_from_outside_wakes_the_core), PLAIN_TEST(misuse_panics),
    PIN_TEST(a_pin_can_be_taken_again_after_a_reset),
    PIN_TEST(a_client_drives_inputs_and_hears_outputs),
    PIN_TEST(an_output_cannot_be_driven_by_a_client),
    PIN_TEST(every_change_of_many_is_seen))
