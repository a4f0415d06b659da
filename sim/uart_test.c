/* SPDX-License-Identifier: MIT */
#include "sim/uart.h"

#include "sim/interrupt.h"
#include "sim/test_random.h"

/* 10 bits at 115200 baud take 86805.55 ns. */
enum { IRQ = 7, MAX = 4096, BYTE_TIME = 86805, FAST = 10000000 };

DZ_UART(0)
DZ_UART(1)

static struct dz_core core;

/* What has left UART 0, and when. */
static uint8_t sent[MAX];
static uint64_t sent_at[MAX];
static unsigned sent_count;

/* What firmware has read, and when. */
static uint8_t got[MAX];
static uint64_t got_at[MAX];
static unsigned got_count;

static uint64_t begun_at;
static unsigned accepted;
static uint32_t lost;
static volatile bool is_done;

static void note_sent(unsigned number, uint8_t byte, void *argument)
{
    (void)argument;
    if (number != 0 || sent_count == MAX)
        return;
    sent[sent_count] = byte;
    sent_at[sent_count++] = dz_machine_now();
}

static int prepare(void)
{
    sent_count = 0;
    got_count = 0;
    accepted = 0;
    lost = 0;
    is_done = false;
    dz_uart_watch(note_sent, NULL);
    return 0;
}

static int set_up(void **state)
{
    test_begin_machine(state);
    return prepare();
}

/* Exact times: nothing but the wire takes any. */
static int set_up_exactly(void **state)
{
    (void)state;
    dz_machine_start(&(struct dz_machine){.time = DZ_TIME_VIRTUAL});
    return prepare();
}

static int tear_down(void **state)
{
    dz_uart_unwatch(note_sent, NULL);
    dz_uart_reset();
    return test_end_machine(state);
}

#define UART_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define EXACT_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up_exactly, tear_down)

static void run_on_core(void (*firmware)(void *argument))
{
    dz_core_start(&core, firmware, NULL);
    dz_core_join(&core);
}

static void sleep_until_done(void)
{
    dz_key key = dz_port_mask();

    while (!is_done) {
        dz_core_wait_for_interrupt(&core);
        dz_port_unmask(key);
        key = dz_port_mask();
    }
    dz_port_unmask(key);
}

static void read_one(void)
{
    uint8_t byte;

    if (!dz_uart_try_read(dz_uart_0, &byte) || got_count == MAX)
        return;
    got[got_count] = byte;
    got_at[got_count++] = dz_machine_now();
}

/* ---- The transmitter. */

static void finish(void *argument)
{
    (void)argument;
    dz_uart_interrupt(dz_uart_0, &core, IRQ, 0);
    is_done = true;
}

static void sleep_until_idle(void)
{
    dz_core_bind(&core, IRQ, finish, NULL);
    is_done = false;
    dz_uart_interrupt(dz_uart_0, &core, IRQ, DZ_UART_IDLE);
    sleep_until_done();
}

static void send_abc(void *argument)
{
    (void)argument;
    begun_at = dz_machine_now();
    for (uint8_t byte = 'a'; byte <= 'c'; byte++)
        accepted += dz_uart_try_write(dz_uart_0, byte);
    sleep_until_idle();
}

static void bytes_leave_one_byte_time_apart(void **state)
{
    (void)state;
    run_on_core(send_abc);

    assert_int_equal(accepted, 3);
    assert_int_equal(sent_count, 3);
    assert_memory_equal(sent, "abc", 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(sent_at[i], begun_at + (i + 1) * BYTE_TIME);
}

static void send_abc_slowly(void *argument)
{
    dz_uart_set_baud(dz_uart_0, 9600);
    send_abc(argument);
}

static void the_baud_rate_sets_the_byte_time(void **state)
{
    (void)state;
    run_on_core(send_abc_slowly);

    assert_int_equal(sent_count, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(sent_at[i], begun_at + (i + 1) * UINT64_C(1041666));
}

/* At 1 baud nothing leaves meanwhile. */
static void fill(void *argument)
{
    (void)argument;
    dz_uart_set_baud(dz_uart_0, 1);
    while (dz_uart_try_write(dz_uart_0, 'x'))
        accepted++;
}

static void fill_small_one(void *argument)
{
    dz_uart_set_fifo(dz_uart_0, 1);
    fill(argument);
}

static void a_full_transmitter_takes_no_more(void **state)
{
    (void)state;
    run_on_core(fill);

    assert_int_equal(accepted, DZ_UART_FIFO + 1);
    assert_int_equal(sent_count, 0);
    assert_int_equal(dz_uart_events(dz_uart_0), 0);
}

static void the_size_of_the_fifo_can_be_set(void **state)
{
    (void)state;
    run_on_core(fill_small_one);

    assert_int_equal(accepted, 2);
}

/* Room for one byte is made when the next one starts. */
static void watch_room(void *argument)
{
    (void)argument;
    dz_uart_set_fifo(dz_uart_0, 1);
    dz_uart_set_baud(dz_uart_0, 10);
    while (dz_uart_try_write(dz_uart_0, 'x'))
        accepted++;
    dz_machine_compute(UINT64_C(999999999));
    got[0] = dz_uart_try_write(dz_uart_0, 'y');
    dz_machine_compute(2);
    got[1] = dz_uart_try_write(dz_uart_0, 'y');
    got[2] = dz_uart_try_write(dz_uart_0, 'y');
}

static void room_is_made_as_bytes_leave(void **state)
{
    (void)state;
    run_on_core(watch_room);

    assert_int_equal(got[0], 0);
    assert_int_equal(got[1], 1);
    assert_int_equal(got[2], 0);
}

/* The handler writes as long as there is room, as a driver does. */
static void refill(void *argument)
{
    (void)argument;
    while (accepted < MAX && dz_uart_try_write(dz_uart_0, (uint8_t)accepted))
        accepted++;
    if (accepted == MAX)
        finish(NULL);
}

static void send_by_interrupts(void *argument)
{
    (void)argument;
    dz_uart_set_baud(dz_uart_0, FAST);
    dz_core_bind(&core, IRQ, refill, NULL);
    dz_uart_interrupt(dz_uart_0, &core, IRQ, DZ_UART_READY);
    sleep_until_done();
    sleep_until_idle();
}

static void interrupts_send_without_a_loss(void **state)
{
    (void)state;
    run_on_core(send_by_interrupts);

    assert_int_equal(sent_count, MAX);
    for (unsigned i = 0; i < MAX; i++)
        assert_int_equal(sent[i], i % 256);
}

/* ---- The receiver. */

static unsigned expected;

static void read_on_interrupt(void *argument)
{
    (void)argument;
    read_one();
    is_done = got_count == expected;
}

static void receive_by_interrupts(void *argument)
{
    (void)argument;
    dz_core_bind(&core, IRQ, read_on_interrupt, NULL);
    begun_at = dz_machine_now();
    dz_uart_interrupt(dz_uart_0, &core, IRQ, DZ_UART_RECEIVED);
    sleep_until_done();
    dz_uart_interrupt(dz_uart_0, &core, IRQ, 0);
    lost = dz_uart_take_overrun(dz_uart_0);
}

static void bytes_arrive_one_byte_time_apart(void **state)
{
    (void)state;
    dz_uart_inject(0, (const uint8_t *)"xyz", 3);
    expected = 3;

    run_on_core(receive_by_interrupts);

    assert_memory_equal(got, "xyz", 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(got_at[i], begun_at + (i + 1) * BYTE_TIME);
    assert_int_equal(lost, 0);
}

static uint8_t pattern[MAX];

static void make_pattern(void)
{
    for (unsigned i = 0; i < MAX; i++)
        pattern[i] = (uint8_t)(i * 7 + i / 256);
}

/* The firmware does not look while all of it comes in. */
static void look_too_late(void *argument)
{
    (void)argument;
    dz_uart_set_baud(dz_uart_0, FAST);
    while (lost < 20 - DZ_UART_FIFO)
        lost += dz_uart_take_overrun(dz_uart_0);
    for (int i = 0; i < 20; i++)
        read_one();
    accepted = dz_uart_events(dz_uart_0) & DZ_UART_RECEIVED;
}

static void what_finds_the_receiver_full_is_counted(void **state)
{
    (void)state;
    make_pattern();
    dz_uart_inject(0, pattern, 20);

    run_on_core(look_too_late);

    assert_int_equal(lost, 4);
    assert_int_equal(got_count, DZ_UART_FIFO);
    assert_memory_equal(got, pattern, DZ_UART_FIFO);
    assert_int_equal(accepted, 0);
    assert_int_equal(dz_uart_take_overrun(dz_uart_0), 0);
}

/* Three seconds, in which 34560 bytes could have come. */
static void come_late(void *argument)
{
    dz_machine_compute(UINT64_C(3000000000));
    receive_by_interrupts(argument);
}

static void what_comes_waits_for_the_owner(void **state)
{
    (void)state;
    make_pattern();
    dz_uart_inject(0, pattern, 1000);
    dz_uart_inject(0, pattern + 1000, MAX - 1000);
    expected = MAX;

    run_on_core(come_late);

    assert_int_equal(lost, 0);
    assert_memory_equal(got, pattern, MAX);
    assert_int_equal(
        got_at[MAX - 1], UINT64_C(3000000000) + (uint64_t)MAX * BYTE_TIME);
}

/* ---- The interrupt is a level. */

static unsigned calls;

static void read_at_third_call(void *argument)
{
    (void)argument;
    calls++;
    if (calls >= 3)
        read_one();
    is_done = got_count > 0;
}

static void wait_for_third_call(void *argument)
{
    (void)argument;
    calls = 0;
    dz_core_bind(&core, IRQ, read_at_third_call, NULL);
    dz_uart_interrupt(dz_uart_0, &core, IRQ, DZ_UART_RECEIVED);
    sleep_until_done();
}

static void a_handler_that_does_not_read_is_called_again(void **state)
{
    (void)state;
    dz_uart_inject(0, (const uint8_t *)"x", 1);

    run_on_core(wait_for_third_call);

    assert_int_equal(calls, 3);
    assert_int_equal(got[0], 'x');
}

/* One byte for each call, though there was one edge. */
static void receive_what_is_there(void *argument)
{
    dz_uart_set_baud(dz_uart_0, FAST);
    while ((dz_uart_events(dz_uart_0) & DZ_UART_RECEIVED) == 0)
        continue;
    receive_by_interrupts(argument);
}

static void the_line_stays_up_while_there_is_more(void **state)
{
    (void)state;
    dz_uart_inject(0, (const uint8_t *)"abcde", 5);
    expected = 5;

    run_on_core(receive_what_is_there);

    assert_int_equal(got_count, 5);
    assert_memory_equal(got, "abcde", 5);
}

static void ask_for_ready(void *argument)
{
    (void)argument;
    dz_core_bind(&core, IRQ, finish, NULL);
    dz_uart_interrupt(dz_uart_0, &core, IRQ, DZ_UART_READY);
}

/* The core forgets its lines as it ends. */
static void a_core_that_starts_again_gets_its_interrupt(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        is_done = false;
        run_on_core(ask_for_ready);
        assert_true(is_done);
    }
}

static void move_the_line(void *argument)
{
    dz_key key = dz_port_mask();

    (void)argument;
    dz_uart_interrupt(dz_uart_0, &core, IRQ, DZ_UART_READY);
    dz_uart_interrupt(dz_uart_0, &core, IRQ + 1, DZ_UART_READY);
    dz_core_clear_pending(&core, IRQ);
    got[0] = dz_nvic_is_pending(&core.nvic, IRQ);
    got[1] = dz_nvic_is_pending(&core.nvic, IRQ + 1);
    dz_uart_interrupt(dz_uart_0, &core, IRQ, 0);
    dz_core_clear_pending(&core, IRQ + 1);
    got[2] = dz_nvic_is_pending(&core.nvic, IRQ + 1);
    dz_port_unmask(key);
}

static void the_line_is_lowered_where_it_was(void **state)
{
    (void)state;
    run_on_core(move_the_line);

    assert_int_equal(got[0], false);
    assert_int_equal(got[1], true);
    assert_int_equal(got[2], false);
}

static void fill_up(void *argument)
{
    dz_key key = dz_port_mask();

    dz_uart_interrupt(dz_uart_0, &core, IRQ, DZ_UART_READY | DZ_UART_RECEIVED);
    got[0] = dz_nvic_is_pending(&core.nvic, IRQ);
    fill(argument);
    dz_core_clear_pending(&core, IRQ);
    got[1] = dz_nvic_is_pending(&core.nvic, IRQ);
    dz_port_unmask(key);
}

static void the_line_is_lowered_when_nothing_is_so(void **state)
{
    (void)state;
    run_on_core(fill_up);

    assert_int_equal(got[0], true);
    assert_int_equal(got[1], false);
}

/* ---- Interrupts by name: a driver, and the firmware that binds it. */

DZ_REQUIRE_INTERRUPT(uart0)

static void named_handler(void *argument)
{
    *(int *)argument += 1;
    finish(NULL);
}

DZ_BIND_INTERRUPT(uart0, IRQ, named_handler)

static int named_calls;

static void use_named_interrupt(void *argument)
{
    (void)argument;
    dz_interrupt_attach(&dz_interrupt_uart0, &core, &named_calls);
    dz_uart_interrupt(dz_uart_0, &core, dz_interrupt_uart0.irq, DZ_UART_READY);
}

static void a_named_interrupt_reaches_its_handler(void **state)
{
    (void)state;
    named_calls = 0;

    run_on_core(use_named_interrupt);

    assert_int_equal(named_calls, 1);
}

/* ---- Owners. */

static void take_twice(void)
{
    test_start_machine();
    dz_uart_take(2);
    dz_uart_take(2);
}

static void take_what_a_file_owns(void)
{
    test_start_machine();
    dz_uart_set_baud(dz_uart_1, 9600);
    dz_uart_take(1);
}

static void use_what_was_taken(void)
{
    test_start_machine();
    dz_uart_take(1);
    dz_uart_set_baud(dz_uart_1, 9600);
}

static void take_what_is_not_there(void)
{
    test_start_machine();
    dz_uart_take(4);
}

static void set_no_baud(void)
{
    test_start_machine();
    dz_uart_set_baud(dz_uart_0, 0);
}

static void set_no_fifo(void)
{
    test_start_machine();
    dz_uart_set_fifo(dz_uart_0, DZ_UART_FIFO + 1);
}

static void interrupt_nobody(void)
{
    test_start_machine();
    dz_uart_interrupt(dz_uart_0, NULL, IRQ, DZ_UART_READY);
}

static void stop_with_open_uart(void)
{
    struct dz_stream_error error;

    test_start_machine();
    dz_uart_open(0, "tcp:0", &error);
    dz_machine_stop();
}

static void misuse_panics(void **state)
{
    (void)state;
    assert_says(last_words_of(take_twice), "uart 2 is taken twice");
    assert_says(last_words_of(take_what_a_file_owns), "uart 1 is taken twice");
    assert_says(last_words_of(use_what_was_taken), "uart 1 is taken twice");
    assert_says(last_words_of(take_what_is_not_there), "no UART of this numb");
    assert_says(last_words_of(set_no_baud), "baud rate of 0");
    assert_says(last_words_of(set_no_fifo), "size of 1 to DZ_UART_FIFO");
    assert_says(last_words_of(interrupt_nobody), "goes to no core");
    assert_says(
        last_words_of(stop_with_open_uart), "while a peripheral is open");
}

static void a_uart_can_be_taken_again_after_a_reset(void **state)
{
    struct dz_uart *uart = dz_uart_take(2);
    uint8_t byte;

    (void)state;
    dz_uart_inject(2, (const uint8_t *)"old", 3);
    dz_uart_set_baud(uart, 1);
    dz_uart_try_write(uart, 'x');

    dz_uart_reset();

    assert_ptr_equal(dz_uart_take(2), uart);
    assert_int_equal(dz_uart_events(uart), DZ_UART_READY | DZ_UART_IDLE);
    assert_false(dz_uart_try_read(uart, &byte));
}

/* ---- At random: a wire from UART 0 to UART 1 and a firmware that is now and
 * then too slow. What arrives is what was sent, in order, but for as many bytes
 * as are counted as lost. */

enum { STEPS = 3000, RANDOM_MAX = STEPS * 12 };

static uint8_t wrote[RANDOM_MAX];
static unsigned written;
static uint8_t heard[RANDOM_MAX];
static unsigned heard_count;

static void carry(unsigned number, uint8_t byte, void *argument)
{
    (void)argument;
    if (number == 0)
        dz_uart_inject(1, &byte, 1);
}

static void hear(void)
{
    while (heard_count < RANDOM_MAX &&
        dz_uart_try_read(dz_uart_1, &heard[heard_count]))
        heard_count++;
}

/* True: what was heard is what was written, with some left out. */
static bool is_in_order(void)
{
    unsigned at = 0;

    for (unsigned i = 0; i < heard_count; i++) {
        while (at < written && wrote[at] != heard[i])
            at++;
        if (at++ == written)
            return false;
    }
    return true;
}

static void write_burst(unsigned burst)
{
    while (burst-- > 0) {
        wrote[written] = (uint8_t)dice(256);
        if (!dz_uart_try_write(dz_uart_0, wrote[written]))
            return;
        written++;
    }
}

static void act_at_random(void)
{
    switch (dice(12)) {
    case 0:
        dz_uart_set_baud(dz_uart_0, FAST / (1 + dice(20)));
        break;
    case 1:
        dz_uart_set_fifo(dz_uart_0, 1 + dice(DZ_UART_FIFO));
        break;
    case 2:
        dz_uart_set_fifo(dz_uart_1, 1 + dice(DZ_UART_FIFO));
        break;
    case 3:
    case 10:
    case 11:
        dz_machine_compute(dice(100000));
        break;
    case 4:
    case 5:
        hear();
        break;
    default:
        write_burst(dice(12));
    }
}

/* In the end what is still on its way is waited for. */
static void send_at_random(void *argument)
{
    (void)argument;
    dz_uart_set_baud(dz_uart_1, FAST);
    for (step = 0; step < STEPS; step++) {
        act_at_random();
        lost += dz_uart_take_overrun(dz_uart_1);
    }
    while (heard_count + lost < written) {
        hear();
        lost += dz_uart_take_overrun(dz_uart_1);
    }
}

static void nothing_is_lost_that_is_not_counted(void **state)
{
    (void)state;
    random_begin();
    written = 0;
    heard_count = 0;
    dz_uart_watch(carry, NULL);

    run_on_core(send_at_random);

    dz_uart_unwatch(carry, NULL);
    printf("%u written, %u lost\n", written, lost);
    assert_true(written > STEPS / (test_is_virtual() ? 2 : 30));
    assert_true(lost > 0 || !test_is_virtual());
    assert_int_equal(heard_count + lost, written);
    assert_true(is_in_order());
}

RUN_TESTS(EXACT_TEST(bytes_leave_one_byte_time_apart),
    EXACT_TEST(the_baud_rate_sets_the_byte_time),
    UART_TEST(a_full_transmitter_takes_no_more),
    UART_TEST(the_size_of_the_fifo_can_be_set),
    EXACT_TEST(room_is_made_as_bytes_leave),
    UART_TEST(interrupts_send_without_a_loss),
    EXACT_TEST(bytes_arrive_one_byte_time_apart),
    UART_TEST(what_finds_the_receiver_full_is_counted),
    EXACT_TEST(what_comes_waits_for_the_owner),
    UART_TEST(a_handler_that_does_not_read_is_called_again),
    UART_TEST(the_line_stays_up_while_there_is_more),
    UART_TEST(a_core_that_starts_again_gets_its_interrupt),
    UART_TEST(the_line_is_lowered_where_it_was),
    UART_TEST(the_line_is_lowered_when_nothing_is_so),
    UART_TEST(a_named_interrupt_reaches_its_handler), PLAIN_TEST(misuse_panics),
    UART_TEST(a_uart_can_be_taken_again_after_a_reset),
    UART_TEST(nothing_is_lost_that_is_not_counted))
