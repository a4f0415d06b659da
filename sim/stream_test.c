/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* posix_openpt */

#include "sim/stream.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <termios.h>

#include "sim/loop.h"
#include "sim/test_client.h"
#include "sim/uart.h"

/* All of it as firmware and its user see it: through a UART. */

/* FLOOD is more than a pseudo-terminal keeps for who does not read it. */
enum { IRQ = 7, UART = 3, MANY = 20000, FLOOD = 300000 };

static struct dz_core core;
static struct dz_uart *uart;
static struct dz_stream_error error;
static char folder[32];
static char path[64];

static int set_up(void **state)
{
    test_begin_machine(state);
    uart = dz_uart_take(UART);
    strcpy(folder, "/tmp/stream_test_XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/path", folder);
    return 0;
}

static int tear_down(void **state)
{
    dz_uart_close(UART);
    dz_uart_reset();
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    return test_end_machine(state);
}

#define STREAM_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- Firmware that sends back what it receives, so many bytes. */

static unsigned expected;
static unsigned echoed;
static unsigned not_echoed;
static volatile bool is_done;

static void echo(void *argument)
{
    uint8_t byte;

    (void)argument;
    while (echoed < expected && dz_uart_try_read(uart, &byte)) {
        not_echoed += !dz_uart_try_write(uart, byte);
        echoed++;
    }
    if (echoed < expected)
        return;
    is_done = (dz_uart_events(uart) & DZ_UART_IDLE) != 0;
    dz_uart_interrupt(uart, &core, IRQ, is_done ? 0 : DZ_UART_IDLE);
}

static void run_echo(void *argument)
{
    dz_key key = dz_port_mask();

    (void)argument;
    dz_uart_interrupt(uart, &core, IRQ, DZ_UART_RECEIVED);
    while (!is_done) {
        dz_core_wait_for_interrupt(&core);
        dz_port_unmask(key);
        key = dz_port_mask();
    }
    dz_port_unmask(key);
}

static void run_until_echoed(size_t count, void (*firmware)(void *argument))
{
    expected = (unsigned)count;
    echoed = 0;
    not_echoed = 0;
    is_done = false;
    dz_core_bind(&core, IRQ, echo, NULL);
    dz_core_start(&core, firmware, NULL);
    dz_core_join(&core);
    assert_int_equal(not_echoed, 0);
}

static void echo_bytes(unsigned count)
{
    run_until_echoed(count, run_echo);
}

static void assert_hears(int fd, const char *text)
{
    for (; *text != '\0'; text++) {
        char byte;

        assert_int_equal(read(fd, &byte, 1), 1);
        assert_int_equal(byte, *text);
    }
}

static void assert_cannot_open(
    unsigned number, const char *what, const char *why)
{
    assert_false(dz_uart_open(number, what, &error));
    if (strstr(error.text, why) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", why, error.text);
}

/* ---- tcp. */

static void clients_come_one_after_the_other(void **state)
{
    int first;
    int second;

    (void)state;
    assert_true(dz_uart_open(UART, "tcp:0", &error));
    first = connect_to(dz_uart_place(UART));
    second = connect_to(dz_uart_place(UART));
    say(second, "later");
    say(first, "hello");
    echo_bytes(5);
    assert_hears(first, "hello");

    close(first);
    echo_bytes(5);

    assert_hears(second, "later");
    close(second);
}

static void a_port_in_use_is_an_error(void **state)
{
    char what[32];

    (void)state;
    assert_true(dz_uart_open(UART, "tcp:0", &error));
    snprintf(
        what, sizeof(what), "tcp:%s", strchr(dz_uart_place(UART), ':') + 1);

    assert_cannot_open(0, what, "address already in use");
    assert_cannot_open(0, what, "take another port");
    dz_uart_close(UART);
    assert_true(dz_uart_open(0, what, &error));
    dz_uart_close(0);
}

static void poll_for_bytes(void *argument)
{
    uint8_t byte;

    (void)argument;
    for (unsigned i = 0; i < 5; i++) {
        while (!dz_uart_try_read(uart, &byte))
            continue;
        dz_uart_try_write(uart, byte);
    }
    while ((dz_uart_events(uart) & DZ_UART_IDLE) == 0)
        continue;
}

static void a_core_that_never_sleeps_hears_too(void **state)
{
    int client;

    (void)state;
    assert_true(dz_uart_open(UART, "tcp:0", &error));
    client = connect_to(dz_uart_place(UART));
    say(client, "hello");

    dz_core_start(&core, poll_for_bytes, NULL);
    dz_core_join(&core);

    assert_hears(client, "hello");
    close(client);
}

/* What was said while it computed does not come all at once when it sleeps. */
static void echo_after_a_while(void *argument)
{
    dz_machine_compute(UINT64_C(1000000000));
    run_echo(argument);
}

static void what_comes_from_outside_comes_at_the_present(void **state)
{
    static const char text[] = "more than the receiver's FIFO can hold";
    int client;

    (void)state;
    if (!test_is_virtual())
        skip();
    assert_true(dz_uart_open(UART, "tcp:0", &error));
    client = connect_to(dz_uart_place(UART));
    say(client, text);

    run_until_echoed(strlen(text), echo_after_a_while);

    assert_hears(client, text);
    assert_int_equal(dz_uart_take_overrun(uart), 0);
    close(client);
}

/* ---- pty. */

static void a_terminal_can_be_left_and_entered_again(void **state)
{
    (void)state;
    assert_true(dz_uart_open(UART, "pty", &error));
    for (int i = 0; i < 3; i++) {
        int terminal = open(dz_uart_place(UART), O_RDWR | O_NOCTTY);

        assert_true(terminal >= 0);
        say(terminal, "a\r\n\003\004z");
        echo_bytes(6);
        assert_hears(terminal, "a\r\n\003\004z");
        close(terminal);
    }
}

static void a_link_leads_to_the_terminal(void **state)
{
    char what[80];
    int terminal;

    (void)state;
    snprintf(what, sizeof(what), "pty:%s", path);
    assert_true(dz_uart_open(UART, what, &error));
    terminal = open(path, O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);

    say(terminal, "hello");
    echo_bytes(5);
    assert_hears(terminal, "hello");
    close(terminal);
    dz_uart_close(UART);

    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(readlink(path, what, sizeof(what)), -1);
}

static void a_link_replaces_only_what_a_crash_has_left(void **state)
{
    char what[80];
    struct stat status;

    (void)state;
    snprintf(what, sizeof(what), "pty:%s", path);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    assert_cannot_open(UART, what, "exists: remove it");
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISREG(status.st_mode));
    unlink(path);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_cannot_open(UART, what, "exists: remove it");
    unlink(path);
    assert_int_equal(symlink("/nowhere/at/all", path), 0);
    assert_cannot_open(UART, what, "exists: remove it");
    unlink(path);
    assert_int_equal(symlink("/dev/pts/none", path), 0);

    assert_true(dz_uart_open(UART, what, &error));

    assert_int_equal(stat(path, &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

static void a_link_that_is_no_longer_ours_stays(void **state)
{
    char what[80];
    struct stat status;

    (void)state;
    snprintf(what, sizeof(what), "pty:%s", path);
    assert_true(dz_uart_open(UART, what, &error));
    unlink(path);
    assert_int_equal(symlink("/dev/null", path), 0);

    dz_uart_close(UART);

    assert_int_equal(lstat(path, &status), 0);
}

/* ---- file. */

static void assert_file_holds(const char *text)
{
    int file = open(path, O_RDONLY);
    char rest;

    assert_true(file >= 0);
    assert_hears(file, text);
    assert_int_equal(read(file, &rest, 1), 0);
    close(file);
}

static void a_file_holds_what_this_run_has_sent(void **state)
{
    char what[80];

    (void)state;
    snprintf(what, sizeof(what), "file:%s", path);
    assert_true(dz_uart_open(UART, what, &error));
    dz_uart_inject(UART, (const uint8_t *)"the first run", 13);
    echo_bytes(13);
    dz_uart_close(UART);
    assert_file_holds("the first run");

    assert_true(dz_uart_open(UART, what, &error));
    dz_uart_inject(UART, (const uint8_t *)"another", 7);
    echo_bytes(7);

    assert_file_holds("another");
}

/* ---- What cannot be opened. */

static void an_error_names_the_remedy(void **state)
{
    char what[80];

    (void)state;
    snprintf(what, sizeof(what), "file:%s", folder);
    assert_cannot_open(UART, "serial", "take stdio, pty, pty:LINK, tcp:PORT");
    assert_cannot_open(UART, "", "no stream is called \"\"");
    assert_cannot_open(UART, "stdio:x", "no stream is called");
    assert_cannot_open(UART, "tcp:", "a number from 0 to 65535");
    assert_cannot_open(UART, "tcp:65536", "a number from 0 to 65535");
    assert_cannot_open(UART, "tcp:12x", "uart 3: tcp:12x: a port is");
    assert_cannot_open(UART, "pty:", "LINK is the path");
    assert_cannot_open(UART, "pty:/nowhere/at/all", "no link /nowhere/at/all");
    assert_cannot_open(UART, what, "name another file");
    assert_cannot_open(UART, "file:", "name another file");
    assert_string_equal(dz_uart_place(UART), "");

    assert_true(dz_uart_open(UART, "pty", &error));
    assert_cannot_open(UART, "pty", "uart 3 is open");
}

/* ---- stdio, in a process of its own. */

/* What the process says, and where. */
struct child {
    pid_t pid;
    int in;  /* of ours: to its standard input */
    int out; /* from its standard output */
};

static void start_in_child(void (*program)(void))
{
    test_start_machine();
    uart = dz_uart_take(UART);
    program();
    dz_uart_close(UART);
    dz_uart_reset();
    dz_machine_stop();
    fflush(NULL);
    exit(0);
}

/* With `input` for its standard input. */
static struct child start_child(void (*program)(void), int input)
{
    struct child child;
    int output[2];

    fflush(NULL);
    assert_int_equal(pipe(output), 0);
    child.pid = fork();
    if (child.pid == 0) {
        dup2(input, STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        close(output[0]);
        close(output[1]);
        if (input > STDERR_FILENO)
            close(input);
        start_in_child(program);
    }
    close(output[1]);
    child.in = -1;
    child.out = output[0];
    return child;
}

static struct child start_child_on_pipe(void (*program)(void))
{
    struct child child;
    int input[2];

    assert_int_equal(pipe(input), 0);
    assert_int_equal(fcntl(input[1], F_SETFD, FD_CLOEXEC), 0);
    child = start_child(program, input[0]);
    close(input[0]);
    child.in = input[1];
    return child;
}

static void assert_ends_well(struct child child)
{
    char rest;
    int status;

    assert_int_equal(read(child.out, &rest, 1), 0);
    close(child.out);
    assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void open_stdio(void)
{
    if (!dz_uart_open(UART, "stdio", &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
}

static void echo_five(void)
{
    open_stdio();
    echo_bytes(5);
}

/* Five from outside, the end of standard input, and five more that it does not
 * keep from being sent. */
static void echo_beyond_the_end(void)
{
    open_stdio();
    echo_bytes(5);
    dz_uart_inject(UART, (const uint8_t *)" more", 5);
    echo_bytes(5);
}

static void a_pipe_is_a_terminal_too(void **state)
{
    struct child child = start_child_on_pipe(echo_five);

    (void)state;
    say(child.in, "hello");

    assert_hears(child.out, "hello");
    assert_ends_well(child);
    close(child.in);
}

static void the_end_of_input_is_not_the_end(void **state)
{
    struct child child = start_child_on_pipe(echo_beyond_the_end);

    (void)state;
    say(child.in, "hello");
    close(child.in);

    assert_hears(child.out, "hello more");
    assert_ends_well(child);
}

static void open_stdio_twice(void)
{
    open_stdio();
    assert_cannot_open(1, "stdio", "stdio is in use by uart 3: take pty");
    echo_bytes(5);
}

static void standard_input_has_one_user(void **state)
{
    struct child child = start_child_on_pipe(open_stdio_twice);

    (void)state;
    say(child.in, "hello");

    assert_hears(child.out, "hello");
    assert_ends_well(child);
    close(child.in);
}

/* The UART holds the file back: all of it comes at the baud rate. */
static void echo_many(void)
{
    open_stdio();
    echo_bytes(MANY);
    assert_int_equal(dz_uart_take_overrun(uart), 0);
}

static uint8_t pattern_at(unsigned index)
{
    return (uint8_t)(index * 7 + index / 256);
}

static void assert_hears_pattern(int fd)
{
    for (unsigned i = 0; i < MANY; i++) {
        uint8_t byte;

        assert_int_equal(read(fd, &byte, 1), 1);
        assert_int_equal(byte, pattern_at(i));
    }
}

static void write_pattern(int fd)
{
    uint8_t pattern[MANY];

    for (unsigned i = 0; i < MANY; i++)
        pattern[i] = pattern_at(i);
    assert_int_equal(write(fd, pattern, MANY), MANY);
}

static void much_from_a_file_comes_without_a_loss(void **state)
{
    FILE *file = tmpfile();
    struct child child;

    (void)state;
    if (!test_is_virtual()) {
        fclose(file);
        skip();
    }
    write_pattern(fileno(file));
    lseek(fileno(file), 0, SEEK_SET);
    child = start_child(echo_many, fileno(file));

    assert_hears_pattern(child.out);
    assert_ends_well(child);
    fclose(file);
}

/* Then the machine does not wait for more. */
static void outlive_the_input(void)
{
    open_stdio();
    dz_uart_inject(UART, (const uint8_t *)"hello", 5);
    echo_bytes(5);
    while (!test_is_virtual() && dz_loop_has_input())
        sched_yield();
    if (dz_loop_has_input())
        exit(1);
}

static void nobody_waits_for_input_that_has_ended(void **state)
{
    struct child child;
    int ends[2];
    int null = open("/dev/null", O_RDONLY);

    (void)state;
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    child = start_child(outlive_the_input, ends[0]);
    assert_hears(child.out, "hello");
    assert_ends_well(child);
    child = start_child(outlive_the_input, null);
    assert_hears(child.out, "hello");
    assert_ends_well(child);
    close(ends[0]);
    close(null);
}

/* What it reads ahead is bounded: the rest stays in the file. */
static void echo_a_few(void)
{
    off_t read_so_far;

    open_stdio();
    echo_bytes(16);
    read_so_far = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (read_so_far > 4096 + DZ_STREAM_CHUNK + 16)
        exit(1);
}

static void much_from_a_file_is_held_back(void **state)
{
    FILE *file = tmpfile();
    struct child child;

    (void)state;
    write_pattern(fileno(file));
    lseek(fileno(file), 0, SEEK_SET);
    child = start_child(echo_a_few, fileno(file));

    for (unsigned i = 0; i < 16; i++) {
        char byte;

        assert_int_equal(read(child.out, &byte, 1), 1);
    }
    assert_ends_well(child);
    fclose(file);
}

static void much_from_a_pipe_comes_without_a_loss(void **state)
{
    struct child child;

    (void)state;
    if (!test_is_virtual())
        skip();
    child = start_child_on_pipe(echo_many);
    write_pattern(child.in);

    assert_hears_pattern(child.out);
    assert_ends_well(child);
    close(child.in);
}

/* ---- A terminal as standard input. */

static int open_terminal(int *user)
{
    int terminal;

    *user = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(*user >= 0);
    assert_int_equal(grantpt(*user), 0);
    assert_int_equal(unlockpt(*user), 0);
    terminal = open(ptsname(*user), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    return terminal;
}

static tcflag_t local_modes(int terminal)
{
    struct termios modes;

    assert_int_equal(tcgetattr(terminal, &modes), 0);
    return modes.c_lflag;
}

static void exit_after_key(void)
{
    open_stdio();
    say(STDOUT_FILENO, ".");
    echo_bytes(1);
    exit(0);
}

static void keys_come_at_once_and_the_terminal_is_put_back(void **state)
{
    int user;
    int terminal = open_terminal(&user);
    tcflag_t before = local_modes(terminal);
    struct child child = start_child(exit_after_key, terminal);

    (void)state;
    assert_hears(child.out, ".");
    assert_int_equal(
        local_modes(terminal), before & ~(tcflag_t)(ICANON | ECHO));

    say(user, "\r");

    assert_hears(child.out, "\r");
    assert_ends_well(child);
    assert_int_equal(local_modes(terminal), before);
    close(terminal);
    close(user);
}

static void a_signal_that_ends_us_puts_the_terminal_back(void **state)
{
    int user;
    int terminal = open_terminal(&user);
    tcflag_t before = local_modes(terminal);
    struct child child = start_child(exit_after_key, terminal);
    int status;

    (void)state;
    assert_hears(child.out, ".");

    kill(child.pid, SIGINT);

    assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
    assert_int_equal(local_modes(terminal), before);
    close(child.out);
    close(terminal);
    close(user);
}

/* ---- Nobody is there. */

static void flood(void)
{
    static uint8_t bytes[FLOOD];

    dz_uart_inject(UART, bytes, FLOOD);
    echo_bytes(FLOOD);
}

static void send_to_nobody(void)
{
    test_start_machine();
    uart = dz_uart_take(UART);
    if (!dz_uart_open(UART, "pty", &error))
        return;
    flood();
    dz_panic("this is said to end it", __FILE__, __LINE__);
}

static void what_nobody_reads_is_lost_with_a_note(void **state)
{
    struct last_words words;

    (void)state;
    if (!test_is_virtual())
        skip();
    words = last_words_of(send_to_nobody);

    assert_says(words, "uart 3: at /dev/");
    assert_says(words, "is lost: nobody reads it");
    assert_says(words, "this is said to end it");
}

static void what_is_sent_before_a_client_comes_is_gone(void **state)
{
    int client;

    (void)state;
    assert_true(dz_uart_open(UART, "tcp:0", &error));
    dz_uart_inject(UART, (const uint8_t *)"early", 5);
    echo_bytes(5);
    client = connect_to(dz_uart_place(UART));
    say(client, "late");
    echo_bytes(4);

    assert_hears(client, "late");
    close(client);
}

RUN_TESTS(STREAM_TEST(clients_come_one_after_the_other),
    STREAM_TEST(a_core_that_never_sleeps_hears_too),
    STREAM_TEST(what_comes_from_outside_comes_at_the_present),
    STREAM_TEST(a_port_in_use_is_an_error),
    STREAM_TEST(a_terminal_can_be_left_and_entered_again),
    STREAM_TEST(a_link_leads_to_the_terminal),
    STREAM_TEST(a_link_replaces_only_what_a_crash_has_left),
    STREAM_TEST(a_link_that_is_no_longer_ours_stays),
    STREAM_TEST(a_file_holds_what_this_run_has_sent),
    STREAM_TEST(an_error_names_the_remedy),
    PLAIN_TEST(a_pipe_is_a_terminal_too),
    PLAIN_TEST(the_end_of_input_is_not_the_end),
    PLAIN_TEST(standard_input_has_one_user),
    PLAIN_TEST(much_from_a_file_comes_without_a_loss),
    PLAIN_TEST(nobody_waits_for_input_that_has_ended),
    PLAIN_TEST(much_from_a_file_is_held_back),
    PLAIN_TEST(much_from_a_pipe_comes_without_a_loss),
    PLAIN_TEST(keys_come_at_once_and_the_terminal_is_put_back),
    PLAIN_TEST(a_signal_that_ends_us_puts_the_terminal_back),
    PLAIN_TEST(what_nobody_reads_is_lost_with_a_note),
    STREAM_TEST(what_is_sent_before_a_client_comes_is_gone))
