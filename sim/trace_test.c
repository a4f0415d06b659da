/* SPDX-License-Identifier: MIT */
#include "sim/trace.h"

#include <errno.h>

#include "sim/perfetto.h"
#include "sim/test.h"
#include "sim/timer.h"
#include "sim/vcd.h"
#include "sync/signal.h"

_Static_assert(sizeof(struct dz_trace_event) == 3 * 8 + 4 + 2 * 2 + 48,
    "no padding: it would differ from run to run");

enum { IRQ = 4, TASK_IRQ = 5 };

/* Files of a test, which are gone when it ends. */

static FILE *stream;

static void begin_stream(void)
{
    stream = tmpfile();
    assert_non_null(stream);
    assert_true(
        dz_trace_begin(&(struct dz_trace_options){.stream = fileno(stream)}));
}

static struct dz_trace_event events[1000];
static unsigned event_count;

static void end_stream(void)
{
    assert_int_equal(dz_trace_end(), 0);
    rewind(stream);
    event_count = (unsigned)fread(events, sizeof(events[0]), 1000, stream);
    fclose(stream);
}

/* The events of one name, and nothing else, are left. */
static void keep_named(const char *name)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < event_count; i++)
        if (strcmp(events[i].name, name) == 0)
            events[kept++] = events[i];
    event_count = kept;
}

static void assert_kinds(const unsigned *kinds, unsigned count)
{
    assert_int_equal(event_count, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(events[i].kind, kinds[i]);
}

static unsigned count_kind(unsigned kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < event_count; i++)
        count += events[i].kind == kind;
    return count;
}

#define PATH "trace_test_XXXXXX"

static char path[] = PATH;
static char text[100000];

static void new_path(void)
{
    memcpy(path, PATH, sizeof(path));
    close(mkstemp(path));
}

/* Its end, if it is long. */
static void read_path(void)
{
    FILE *file = fopen(path, "r");
    size_t len;

    assert_non_null(file);
    (void)fseek(file, -(long)sizeof(text) + 1, SEEK_END);
    len = fread(text, 1, sizeof(text) - 1, file);
    text[len] = '\0';
    fclose(file);
    unlink(path);
}

static unsigned count_text(const char *part)
{
    unsigned count = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* What the tests trace. */

struct plain {
    struct dz_task task;
};

static bool is_over;
static struct dz_executor executor;
static struct dz_executor interrupt_executor;

enum { YIELD_LINE = __LINE__ + 4 };
static enum dz_poll yield_once(struct plain *self)
{
    async (self) {
        await(dz_yield_poll());
        dz_task_wake(&self->task);
        is_over = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(yielders, struct plain, yield_once, 2)

static void spawn_yielder(struct dz_executor *where)
{
    struct plain *plain;

    assert_int_equal(yielders_claim(&plain), DZ_OK);
    dz_executor_spawn(where, &plain->task);
}

static void run_yielder(void *argument)
{
    (void)argument;
    dz_executor_init(&executor, "main");
    is_over = false;
    spawn_yielder(&executor);
    dz_executor_run_until(&executor, &is_over);
    dz_task_wake(&yielders_slots[0].task);
}

static void run_core(void (*main)(void *argument), unsigned index)
{
    static struct dz_core core;

    core = (struct dz_core){.home = {.index = index}};
    dz_core_start(&core, main, &core);
    dz_core_join(&core);
}

/* E10: in Embassy's trace, the end comes before the end of the poll, and a
 * finished task that is woken goes on having events. */
static void an_end_stands_behind_the_last_polled_and_nothing_behind_it(
    void **state)
{
    static const unsigned kinds[] = {DZ_EVENT_SPAWN, DZ_EVENT_WAKE,
        DZ_EVENT_POLL, DZ_EVENT_WAKE, DZ_EVENT_POLLED, DZ_EVENT_POLL,
        DZ_EVENT_WAKE, DZ_EVENT_POLLED, DZ_EVENT_END};

    (void)state;
    begin_stream();
    run_core(run_yielder, 0);
    end_stream();

    keep_named("yielders");
    assert_kinds(kinds, sizeof(kinds) / sizeof(kinds[0]));
}

static void an_await_is_told_with_function_and_line(void **state)
{
    (void)state;
    begin_stream();
    run_core(run_yielder, 0);
    end_stream();

    keep_named("yield_once");
    assert_kinds((const unsigned[]){DZ_EVENT_AWAIT}, 1);
    assert_int_equal(events[0].value, YIELD_LINE);
}

static void poll_in_interrupt(void *argument)
{
    dz_executor_poll(argument);
}

static void run_interrupt_executor(void *argument)
{
    struct dz_core *core = argument;

    dz_executor_init(&interrupt_executor, "interrupt");
    interrupt_executor.port.interrupt = TASK_IRQ;
    dz_core_bind(core, TASK_IRQ, poll_in_interrupt, &interrupt_executor);
    dz_executor_init(&executor, "main");
    is_over = false;
    spawn_yielder(&interrupt_executor);
    is_over = false;
    spawn_yielder(&executor);
    dz_executor_run_until(&executor, &is_over);
}

/* E10: Embassy's interrupt executors are idle after each poll. */
static void idle_is_said_in_thread_mode_alone(void **state)
{
    (void)state;
    begin_stream();
    run_core(run_interrupt_executor, 0);
    end_stream();

    assert_int_equal(count_kind(DZ_EVENT_END), 2);
    for (unsigned i = 0; i < event_count; i++) {
        if (events[i].kind != DZ_EVENT_IDLE)
            continue;
        assert_int_equal(events[i].exception, 0);
        assert_string_equal(events[i].name, "main");
    }
    keep_named("yielders");
    assert_int_equal(events[2].kind, DZ_EVENT_POLL);
    assert_int_equal(events[2].exception, 16 + TASK_IRQ);
}

static void begin_json(void)
{
    new_path();
    assert_true(
        dz_trace_begin(&(struct dz_trace_options){.json = path, .stream = -1}));
}

static void end_json(void)
{
    assert_int_equal(dz_trace_end(), 0);
    read_path();
}

static void run_twice_in_a_slot(void *argument)
{
    run_yielder(argument);
    run_yielder(argument);
}

/* E9: in Embassy, the list of traced tasks becomes a circle. */
static void a_slot_has_one_track_however_often_it_is_spawned(void **state)
{
    (void)state;
    begin_json();
    run_core(run_twice_in_a_slot, 0);
    end_json();

    assert_int_equal(count_text("\"name\":\"end\""), 2);
    assert_int_equal(
        count_text("\"thread_name\",\"args\":{\"name\":\"yielders[0]\"}"), 1);
}

static void poll_as(const void *task)
{
    struct dz_trace_event event = {.kind = DZ_EVENT_POLL, .name = "twins"};

    dz_perfetto_write(&event, task);
    event.kind = DZ_EVENT_POLLED;
    dz_perfetto_write(&event, task);
}

/* E10: Embassy's ids are the lower halves of addresses. */
static void namesakes_have_tracks_of_their_own(void **state)
{
    (void)state;
    new_path();
    assert_true(dz_perfetto_open(path));
    poll_as((const void *)(uintptr_t)0x8);
    poll_as((const void *)(uintptr_t)UINT64_C(0x100000008));
    poll_as((const void *)(uintptr_t)0x8);
    assert_true(dz_perfetto_close());
    read_path();

    assert_int_equal(
        count_text("\"thread_name\",\"args\":{\"name\":\"twins[0]\"}"), 2);
    assert_int_equal(count_text("\"ph\":\"B\",\"pid\":2,\"tid\":101"), 2);
}

static void write_kind(unsigned kind, int64_t time)
{
    struct dz_trace_event event = {
        .kind = kind, .time = (uint64_t)time, .name = "x"};

    dz_perfetto_write(&event, (const void *)&stream);
}

/* At the last time of which we know that it was open. */
static void a_slice_that_was_cut_off_is_closed_at_the_next_start(void **state)
{
    (void)state;
    new_path();
    assert_true(dz_perfetto_open(path));
    write_kind(DZ_EVENT_POLL, 1000);
    write_kind(DZ_EVENT_LOCK, 2000);
    write_kind(DZ_EVENT_START, 9000);
    write_kind(DZ_EVENT_UNLOCK, 9100);
    write_kind(DZ_EVENT_POLLED, 9200);
    assert_true(dz_perfetto_close());
    read_path();

    assert_int_equal(count_text("\"ph\":\"B\""), 2);
    assert_int_equal(
        count_text("\"ph\":\"E\",\"pid\":2,\"tid\":101,\"ts\":2.000"), 2);
    assert_int_equal(count_text("\"ph\":\"E\""), 2);
}

static void what_is_open_at_the_end_is_closed(void **state)
{
    (void)state;
    new_path();
    assert_true(dz_perfetto_open(path));
    write_kind(DZ_EVENT_POLL, 1000);
    write_kind(DZ_EVENT_INTERRUPT_ENTER, 2000);
    assert_true(dz_perfetto_close());
    read_path();

    assert_int_equal(count_text("\"ph\":\"E\""), 2);
}

static void a_lock_is_a_slice_of_who_locks(void **state)
{
    (void)state;
    new_path();
    assert_true(dz_perfetto_open(path));
    write_kind(DZ_EVENT_POLL, 1);
    write_kind(DZ_EVENT_LOCK, 2);
    write_kind(DZ_EVENT_UNLOCK, 3);
    assert_true(dz_perfetto_close());
    read_path();

    assert_int_equal(
        count_text("\"ph\":\"B\",\"pid\":2,\"tid\":101,\"ts\":0.002,"
                   "\"name\":\"lock x\""),
        1);
    assert_int_equal(
        count_text("\"ph\":\"E\",\"pid\":2,\"tid\":101,\"ts\":0.003"), 2);
}

static void handle(void *argument)
{
    (void)argument;
}

static void pend_own(void *argument)
{
    dz_core_bind(argument, IRQ, handle, NULL);
    dz_core_pend(argument, IRQ);
}

static void an_interrupt_is_told_with_core_and_number(void **state)
{
    enum { CONTEXT = 3 * DZ_CONTEXT_CORE + 16 + IRQ };
    static const unsigned kinds[] = {DZ_EVENT_START, DZ_EVENT_INTERRUPT_PEND,
        DZ_EVENT_INTERRUPT_ENTER, DZ_EVENT_INTERRUPT_EXIT};

    (void)state;
    begin_stream();
    run_core(pend_own, 3);
    end_stream();

    assert_kinds(kinds, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(events[i].core, 3);
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(events[i].value, CONTEXT);
    assert_int_equal(events[1].exception, 0);
    assert_int_equal(events[2].exception, 16 + IRQ);
}

static volatile bool has_fired;

static void note_and_pend(struct dz_due *due)
{
    (void)due;
    dz_trace_note("test", "fires", 1);
    has_fired = true;
}

/* The core computes meanwhile. */
static void wait_for_due(void *argument)
{
    static struct dz_due due;

    (void)argument;
    has_fired = false;
    due = (struct dz_due){.fire = note_and_pend};
    dz_due_set(&due, dz_machine_now() + 1000);
    while (!has_fired)
        dz_machine_compute(100);
    dz_trace_note("test", "fires", 2);
}

static void what_a_due_does_is_done_by_the_board(void **state)
{
    (void)state;
    begin_stream();
    run_core(wait_for_due, 2);
    end_stream();

    keep_named("test fires");
    assert_int_equal(event_count, 2);
    assert_int_equal(events[0].core, DZ_TRACE_BOARD);
    assert_int_equal(events[0].value, 1);
    assert_int_equal(events[1].core, 2);
}

/* Of one note in virtual time, at 0 ns, by nobody. */
static uint64_t hash_of(const char *kind, const char *name, uint64_t value)
{
    assert_true(dz_trace_begin(
        &(struct dz_trace_options){.stream = -1, .is_hashed = true}));
    dz_trace_note(kind, name, value);
    assert_int_equal(dz_trace_end(), 0);
    return dz_trace_hash();
}

/* The number comes from a dozen lines of Python that do what mix_record says.
 */
static void the_hash_is_the_same_everywhere(void **state)
{
    (void)state;
    if (!test_is_virtual())
        skip();

    assert_int_equal(hash_of("uart", "uart0 sends", 0x0102030405060708),
        UINT64_C(0x5d9a4c83f5332fb1));
}

static void the_hash_depends_on_all_that_an_event_says(void **state)
{
    uint64_t hash;

    (void)state;
    if (!test_is_virtual())
        skip();

    hash = hash_of("a", "b", 1);
    assert_int_equal(hash_of("a", "b", 1), hash);
    assert_int_not_equal(hash_of("a", "b", 2), hash);
    assert_int_not_equal(hash_of("a", "c", 1), hash);
    assert_int_not_equal(hash_of("c", "b", 1), hash);
    assert_int_not_equal(hash_of("ab", "", 1), hash);
}

static void in_virtual_time_two_runs_have_the_same_events(void **state)
{
    static struct dz_trace_event first[1000];
    unsigned count;

    (void)state;
    if (!test_is_virtual())
        skip();
    begin_stream();
    run_core(run_interrupt_executor, 0);
    end_stream();
    memcpy(first, events, sizeof(first));
    count = event_count;
    dz_machine_stop();
    test_start_machine();
    begin_stream();
    run_core(run_interrupt_executor, 0);
    end_stream();

    assert_int_equal(event_count, count);
    assert_memory_equal(events, first, count * sizeof(first[0]));
}

static uint64_t end_of_run(void)
{
    uint64_t begin = dz_machine_now();

    run_core(run_interrupt_executor, 0);
    return dz_machine_now() - begin;
}

static void in_virtual_time_the_trace_changes_nothing(void **state)
{
    uint64_t without;

    (void)state;
    if (!test_is_virtual())
        skip();
    without = end_of_run();
    begin_stream();

    assert_int_equal(end_of_run(), without);

    end_stream();
}

/* The machine charges a poll when it hears of it, behind us. */
static void the_price_of_a_poll_lies_in_its_slice(void **state)
{
    const struct dz_costs costs = DZ_COSTS_DEFAULT;

    (void)state;
    if (!test_is_virtual())
        skip();
    begin_stream();
    run_core(run_yielder, 0);
    end_stream();

    keep_named("yielders");
    assert_int_equal(events[2].kind, DZ_EVENT_POLL);
    assert_int_equal(events[4].kind, DZ_EVENT_POLLED);
    assert_int_equal(events[4].time - events[2].time, costs.poll);
}

/* What a core does that was ahead of another, or a slow thread. */
static void no_track_goes_back_in_time(void **state)
{
    (void)state;
    new_path();
    assert_true(dz_perfetto_open(path));
    write_kind(DZ_TRACE_NOTE, 2000);
    write_kind(DZ_TRACE_NOTE, 1000);
    assert_true(dz_perfetto_close());
    read_path();

    assert_int_equal(count_text("\"ts\":2.000"), 2);
}

static void no_arrow_goes_back_in_time(void **state)
{
    struct dz_trace_event event = {.kind = DZ_EVENT_INTERRUPT_PEND,
        .time = 2000,
        .value = DZ_CONTEXT_CORE + 16 + IRQ};

    (void)state;
    new_path();
    assert_true(dz_perfetto_open(path));
    dz_perfetto_write(&event, &stream);
    event.kind = DZ_EVENT_INTERRUPT_ENTER;
    event.core = 1;
    event.time = 1999;
    dz_perfetto_write(&event, &stream);
    assert_true(dz_perfetto_close());
    read_path();

    assert_int_equal(count_text("\"ph\":\"s\""), 1);
    assert_int_equal(count_text("\"ph\":\"f\""), 0);
}

/* On the thread that would write them. */
static void note_too_much(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < DZ_TRACE_LENGTH + 10; i++)
        dz_trace_pin(0, i % 2);
}

static void events_that_come_too_fast_are_counted(void **state)
{
    (void)state;
    begin_json();
    dz_machine_call(note_too_much, NULL);
    assert_int_equal(dz_trace_lost(), test_is_virtual() ? 0 : 10);
    end_json();
}

/* Until the loop has made room. */
static void note_until_it_is_heard(void)
{
    uint64_t lost;

    do {
        lost = dz_trace_lost();
        dz_trace_note("test", "goes on", 1);
    } while (dz_trace_lost() != lost);
}

static void do_nothing(void *argument)
{
    (void)argument;
}

static void a_gap_is_told_once(void **state)
{
    (void)state;
    if (test_is_virtual())
        skip();
    begin_json();
    dz_machine_call(note_too_much, NULL);
    note_until_it_is_heard();
    dz_machine_call(do_nothing, NULL); /* behind the drain */
    dz_trace_note("test", "goes on", 2);
    end_json();

    assert_int_equal(count_text("events are lost"), 1);
    assert_int_equal(count_text("goes on"), 2);
}

static void a_loss_is_told_where_it_happened(void **state)
{
    struct dz_trace_event event = {.kind = DZ_TRACE_NOTE, .core = 1};

    (void)state;
    new_path();
    assert_true(dz_perfetto_open(path));
    write_kind(DZ_EVENT_POLL, 1000);
    dz_perfetto_write_loss(&event, 7);
    write_kind(DZ_EVENT_POLLED, 2000);
    assert_true(dz_perfetto_close());
    read_path();

    assert_int_equal(count_text("7 events are lost"), 1);
    assert_int_equal(count_text("\"ph\":\"E\""), 1);
}

static void without_files_the_last_events_are_in_memory(void **state)
{
    FILE *file = tmpfile();

    (void)state;
    assert_true(dz_trace_begin(&(struct dz_trace_options){.stream = -1}));
    for (unsigned i = 0; i < 2 * DZ_TRACE_LENGTH; i++)
        dz_trace_note("test", "counts", i);
    dz_trace_print_last(file, 2);
    assert_int_equal(dz_trace_end(), 0);

    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(count_text("\n"), 2);
    assert_non_null(strstr(text, "board: note test counts 131070\n"));
    assert_non_null(strstr(text, "board: note test counts 131071\n"));
    assert_int_equal(dz_trace_lost(), 0);
}

static void assert_printed(
    const struct dz_trace_event *event, const char *expected)
{
    FILE *file = tmpfile();

    dz_trace_print(file, event);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

static void an_event_is_printed_in_one_line(void **state)
{
    (void)state;
    assert_printed(&(struct dz_trace_event){.time = 12345678,
                       .kind = DZ_EVENT_WAKE,
                       .exception = 21,
                       .value = 2,
                       .name = "blinkers"},
        "    12345.678 us  core 0, irq 5: wake blinkers[2]\n");
    assert_printed(
        &(struct dz_trace_event){
            .kind = DZ_EVENT_INTERRUPT_PEND, .core = 1, .value = 512 + 14},
        "        0.000 us  core 1, thread mode: pend PendSV of core 1\n");
    assert_printed(
        &(struct dz_trace_event){
            .kind = DZ_TRACE_PIN, .core = DZ_TRACE_BOARD, .value = 7},
        "        0.000 us  board: pin 3 = 1\n");
    assert_printed(
        &(struct dz_trace_event){
            .kind = DZ_EVENT_AWAIT, .core = 0, .value = 33, .name = "ping"},
        "        0.000 us  core 0, thread mode: await ping:33\n");
}

/* The header of IEEE 1364, then changes and nothing else, at times that do not
 * go back. */
static void pins_are_written_when_they_change(void **state)
{
    const char *changes;

    (void)state;
    new_path();
    assert_true(dz_vcd_open(path));
    dz_vcd_write(5, 0, 0);
    dz_vcd_write(7, 0, 0);
    dz_vcd_write(9, 0, 1);
    dz_vcd_write(8, 63, 1);
    dz_vcd_write(10, 64, 1);
    assert_true(dz_vcd_close());
    read_path();

    changes = strstr(text, "x`\n$end\n");
    assert_non_null(changes);
    assert_string_equal(changes, "x`\n$end\n#5\n0!\n#9\n1!\n1`\n");
    assert_int_equal(count_text("$timescale 1 ns $end\n"), 1);
    assert_int_equal(count_text("$var wire 1 "), 64);
}

static void a_pin_reaches_both_files(void **state)
{
    char json[sizeof(path)];
    struct dz_trace_options options = {.json = json, .vcd = path, .stream = -1};

    (void)state;
    new_path();
    memcpy(json, path, sizeof(path));
    new_path();
    assert_true(dz_trace_begin(&options));
    dz_trace_pin(2, 1);
    assert_int_equal(dz_trace_end(), 0);

    read_path();
    assert_int_equal(count_text("\n1#\n"), 1);
    memcpy(path, json, sizeof(path));
    read_path();
    assert_int_equal(
        count_text("\"name\":\"pin 2\",\"args\":{\"level\":1}}"), 1);
}

static void a_file_that_cannot_be_opened_is_told(void **state)
{
    (void)state;
    assert_false(dz_trace_begin(
        &(struct dz_trace_options){.json = "no/such/folder", .stream = -1}));
    assert_int_equal(errno, ENOENT);

    assert_true(dz_trace_begin(&(struct dz_trace_options){.stream = -1}));
    assert_int_equal(dz_trace_end(), 0);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_true(dz_trace_begin(
        &(struct dz_trace_options){.json = "/dev/full", .stream = -1}));

    assert_int_equal(dz_trace_end(), -1);
}

static void exit_in_a_trace(void *argument)
{
    (void)argument;
    exit(DZ_EXIT_PANIC);
}

static void run_to_an_exit(void)
{
    test_start_machine();
    (void)dz_trace_begin(
        &(struct dz_trace_options){.json = path, .stream = -1});
    run_core(exit_in_a_trace, 0);
}

/* As a panic does. */
static void a_program_that_exits_has_its_files(void **state)
{
    (void)state;
    new_path();
    (void)last_words_of(run_to_an_exit);
    read_path();

    assert_int_equal(count_text("start core"), 1);
    assert_string_equal(strrchr(text, '\n') - 1, "]\n");
}

static void begin_without_machine(void)
{
    (void)dz_trace_begin(&(struct dz_trace_options){.stream = -1});
}

static void begin_twice(void)
{
    test_start_machine();
    begin_without_machine();
    begin_without_machine();
}

static void a_trace_that_begins_in_vain_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(begin_without_machine), "begins once");
    assert_says(last_words_of(begin_twice), "begins once");
}

static void without_a_trace_nothing_is_recorded(void **state)
{
    (void)state;
    dz_trace_note("test", "is not heard", 1);
    dz_trace_pin(0, 1);
    assert_true(dz_trace_begin(
        &(struct dz_trace_options){.stream = -1, .is_hashed = true}));
    assert_int_equal(dz_trace_end(), 0);
    dz_trace_pin(0, 0);

    assert_int_equal(dz_trace_hash(), 0);
}

RUN_TESTS(
    MACHINE_TEST(an_end_stands_behind_the_last_polled_and_nothing_behind_it),
    MACHINE_TEST(an_await_is_told_with_function_and_line),
    MACHINE_TEST(idle_is_said_in_thread_mode_alone),
    MACHINE_TEST(a_slot_has_one_track_however_often_it_is_spawned),
    PLAIN_TEST(namesakes_have_tracks_of_their_own),
    PLAIN_TEST(a_slice_that_was_cut_off_is_closed_at_the_next_start),
    PLAIN_TEST(what_is_open_at_the_end_is_closed),
    PLAIN_TEST(a_lock_is_a_slice_of_who_locks),
    MACHINE_TEST(an_interrupt_is_told_with_core_and_number),
    MACHINE_TEST(what_a_due_does_is_done_by_the_board),
    MACHINE_TEST(the_hash_is_the_same_everywhere),
    MACHINE_TEST(the_hash_depends_on_all_that_an_event_says),
    MACHINE_TEST(in_virtual_time_two_runs_have_the_same_events),
    MACHINE_TEST(in_virtual_time_the_trace_changes_nothing),
    MACHINE_TEST(the_price_of_a_poll_lies_in_its_slice),
    MACHINE_TEST(events_that_come_too_fast_are_counted),
    MACHINE_TEST(a_gap_is_told_once), PLAIN_TEST(no_track_goes_back_in_time),
    PLAIN_TEST(no_arrow_goes_back_in_time),
    PLAIN_TEST(a_loss_is_told_where_it_happened),
    MACHINE_TEST(without_files_the_last_events_are_in_memory),
    PLAIN_TEST(an_event_is_printed_in_one_line),
    PLAIN_TEST(pins_are_written_when_they_change),
    MACHINE_TEST(a_pin_reaches_both_files),
    MACHINE_TEST(a_file_that_cannot_be_opened_is_told),
    MACHINE_TEST(a_full_disk_is_told),
    PLAIN_TEST(a_program_that_exits_has_its_files),
    PLAIN_TEST(a_trace_that_begins_in_vain_panics),
    MACHINE_TEST(without_a_trace_nothing_is_recorded))
