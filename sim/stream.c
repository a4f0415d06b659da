/* SPDX-License-Identifier: MIT */

/*
 * All is in a machine lock. Bytes from outside are read by libuv. Bytes to the
 * outside are written at once, by whoever sends them, so they leave in order
 * and nothing has to be kept for later or be lost at the end.
 */
#define _XOPEN_SOURCE 700 /* posix_openpt and its like */

#include "sim/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "executor/task.h"
#include "sim/loop.h"

enum {
    PLACE = 256,
    PATIENCE_MS = 200, /* for a client that does not read */
    FOR_EVER = -1,
    NO_FD = -1,
};

struct kind {
    const char *prefix; /* a colon at its end: an argument follows */
    bool receives;
    int patience; /* in ms, until what cannot be written is lost */
    bool (*open)(struct dz_stream_link *link, const char *argument,
        struct dz_stream_error *error);
    void (*close)(struct dz_stream_link *link);
};

/* What we read from. */
union source {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tty_t tty;
    uv_pipe_t pipe;
    uv_tcp_t tcp;
    uv_idle_t idle; /* for a file, which can always be read */
};

/* What an open stream has. It lives until libuv has let go of its handles,
 * which is after the stream is closed. */
struct dz_stream_link {
    struct dz_stream *stream; /* NULL: closed */
    const struct kind *kind;
    unsigned handles;    /* that libuv holds */
    union source source; /* if has_source */
    bool has_source;     /* it is with libuv */
    bool is_ended;       /* nothing more comes from it */
    bool is_paused;      /* by the owner */
    bool is_input;       /* the machine waits for us */
    bool is_stalled;     /* our patience is at its end, until a write works */
    bool is_noted;       /* that something is lost has been said */
    int out;             /* or NO_FD */
    uv_tcp_t listener;   /* of tcp */
    bool is_waiting;     /* a client, for us */
    int terminal;        /* of pty: our own end of the other side */
    char place[PLACE];   /* where the other side finds us */
    char symlink[PLACE]; /* of pty, or "" */
    char chunk[DZ_STREAM_CHUNK];
};

static bool fail(struct dz_stream_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(struct dz_stream_error *error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return false;
}

/* ---- From outside. */

static void forget_handle(struct dz_stream_link *link)
{
    if (--link->handles == 0 && link->stream == NULL)
        free(link);
}

static void accept_waiting(struct dz_stream_link *link);

static void on_listener_closed(uv_handle_t *handle)
{
    forget_handle(handle->data);
}

static void on_source_closed(uv_handle_t *handle)
{
    struct dz_stream_link *link = handle->data;
    dz_key key = dz_machine_lock();

    link->has_source = false;
    if (link->stream != NULL)
        accept_waiting(link);
    forget_handle(link);
    dz_machine_unlock(key);
}

/* libuv has the source from here on. */
static void adopt_source(struct dz_stream_link *link)
{
    link->source.handle.data = link;
    link->has_source = true;
    link->is_ended = false;
    link->handles++;
}

static void close_source(struct dz_stream_link *link)
{
    if (link->has_source && !uv_is_closing(&link->source.handle))
        uv_close(&link->source.handle, on_source_closed);
}

static void close_input(struct dz_stream_link *link)
{
    if (link->is_input)
        dz_machine_close_input();
    link->is_input = false;
}

/* A client leaves, and another may come. Of standard input, only this is the
 * end. */
static void end_source(struct dz_stream_link *link)
{
    link->is_ended = true;
    if (link->source.handle.type == UV_TCP)
        link->out = NO_FD;
    else
        close_input(link);
    close_source(link);
}

static void allocate(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    struct dz_stream_link *link = handle->data;

    (void)size;
    *buffer = uv_buf_init(link->chunk, sizeof(link->chunk));
}

static void receive(struct dz_stream_link *link, ssize_t len)
{
    struct dz_stream *stream = link->stream;
    dz_key key = dz_machine_lock();

    if (len > 0)
        stream->receive(stream, (const uint8_t *)link->chunk, (size_t)len);
    else if (len < 0)
        end_source(link);
    dz_machine_unlock(key);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buffer)
{
    (void)buffer;
    receive(stream->data, len);
}

static void on_idle(uv_idle_t *idle)
{
    struct dz_stream_link *link = idle->data;
    ssize_t len = read(STDIN_FILENO, link->chunk, sizeof(link->chunk));

    receive(link, len == 0 ? UV_EOF : len);
}

static void start_reading(struct dz_stream_link *link)
{
    if (!link->has_source || link->is_ended || link->is_paused)
        return;
    if (link->source.handle.type == UV_IDLE)
        uv_idle_start(&link->source.idle, on_idle);
    else
        uv_read_start(&link->source.stream, allocate, on_read);
}

static void stop_reading(struct dz_stream_link *link)
{
    if (!link->has_source || link->is_ended)
        return;
    if (link->source.handle.type == UV_IDLE)
        uv_idle_stop(&link->source.idle);
    else
        uv_read_stop(&link->source.stream);
}

void dz_stream_pause(struct dz_stream *stream)
{
    if (stream->link == NULL || stream->link->is_paused)
        return;
    stream->link->is_paused = true;
    stop_reading(stream->link);
}

void dz_stream_resume(struct dz_stream *stream)
{
    if (stream->link == NULL || !stream->link->is_paused)
        return;
    stream->link->is_paused = false;
    start_reading(stream->link);
}

/* ---- To the outside. */

static void note_loss(struct dz_stream_link *link, const char *why)
{
    if (!link->is_noted)
        fprintf(stderr, "%s: what is sent to %s is lost: %s\n",
            link->stream->name, link->place, why);
    link->is_noted = true;
}

/* Whoever is there but does not read gets our patience once. */
static bool wait_for_reader(struct dz_stream_link *link)
{
    struct pollfd out = {.fd = link->out, .events = POLLOUT};
    int ready;

    if (link->is_stalled)
        return false;
    do
        ready = poll(&out, 1, link->kind->patience);
    while (ready < 0 && errno == EINTR);
    link->is_stalled = ready <= 0;
    if (link->is_stalled)
        note_loss(link, "nobody reads it");
    return ready > 0;
}

/* True: try again. That a client has gone, reading will find as well. */
static bool outlive_error(struct dz_stream_link *link)
{
    if (errno == EINTR)
        return true;
    if (errno == EAGAIN)
        return wait_for_reader(link);
    if (link->source.handle.type != UV_TCP)
        note_loss(link, strerror(errno));
    return false;
}

void dz_stream_write(struct dz_stream *stream, const uint8_t *bytes, size_t len)
{
    struct dz_stream_link *link = stream->link;

    while (link != NULL && link->out != NO_FD && len > 0) {
        ssize_t written = write(link->out, bytes, len);

        if (written < 0 && !outlive_error(link))
            return;
        if (written <= 0)
            continue;
        link->is_stalled = false;
        bytes += written;
        len -= (size_t)written;
    }
}

/* ---- stdio: the terminal is raw, but for Ctrl-C, as long as we have it. */

static const struct dz_stream *stdio_user;
static struct termios cooked;
static int stdin_flags;
static volatile sig_atomic_t is_raw;

/* At exit and in signal handlers too. */
static void cook_terminal(void)
{
    if (is_raw)
        tcsetattr(STDIN_FILENO, TCSANOW, &cooked);
    is_raw = 0;
}

static void cook_and_die(int number)
{
    cook_terminal();
    signal(number, SIG_DFL);
    raise(number);
}

/* What the program has put there, it keeps. */
static void cook_at_signal(int number)
{
    struct sigaction old;

    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        signal(number, cook_and_die);
}

static void make_terminal_raw(void)
{
    static bool is_prepared;
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, &cooked) != 0)
        return;
    if (!is_prepared)
        atexit(cook_terminal);
    is_prepared = true;
    cook_at_signal(SIGHUP);
    cook_at_signal(SIGINT);
    cook_at_signal(SIGQUIT);
    cook_at_signal(SIGTERM);
    raw = cooked;
    raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON);
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    is_raw = 1;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static int init_stdin(struct dz_stream_link *link)
{
    uv_loop_t *uv = dz_loop_uv();
    int status;

    switch (uv_guess_handle(STDIN_FILENO)) {
    case UV_TTY:
        return uv_tty_init(uv, &link->source.tty, STDIN_FILENO, 0);
    case UV_FILE:
        return uv_idle_init(uv, &link->source.idle);
    default:
        status = fcntl(STDIN_FILENO, F_GETFD) < 0 ? UV_EBADF : 0;
        return status != 0 ? status : uv_pipe_init(uv, &link->source.pipe, 0);
    }
}

static bool open_stdio(struct dz_stream_link *link, const char *argument,
    struct dz_stream_error *error)
{
    int status;

    (void)argument;
    if (stdio_user != NULL)
        return fail(error,
            "%s: stdio is in use by %s: take pty, tcp:PORT or file:PATH",
            link->stream->name, stdio_user->name);
    stdin_flags = fcntl(STDIN_FILENO, F_GETFL);
    status = init_stdin(link);
    if (status == 0)
        adopt_source(link);
    if (status == 0 && link->source.handle.type == UV_NAMED_PIPE)
        status = uv_pipe_open(&link->source.pipe, STDIN_FILENO);
    if (status != 0)
        return fail(error, "%s: standard input: %s: try < /dev/null",
            link->stream->name, uv_strerror(status));
    if (link->source.handle.type == UV_TTY &&
        link->stream->keys == DZ_STREAM_KEYS)
        make_terminal_raw();
    link->out = STDOUT_FILENO;
    stdio_user = link->stream;
    return true;
}

/* Others may have the same pipe: it blocks again. */
static void close_stdio(struct dz_stream_link *link)
{
    if (stdio_user != link->stream)
        return;
    cook_terminal();
    if (stdin_flags >= 0)
        fcntl(STDIN_FILENO, F_SETFL, stdin_flags);
    stdio_user = NULL;
}

/* ---- pty: we hold the other side open too, so nobody who leaves it is the
 * end of it. */

/* What we send must not come back as its echo. */
static void make_transparent(int terminal)
{
    struct termios raw;

    if (tcgetattr(terminal, &raw) != 0)
        return;
    raw.c_iflag = 0;
    raw.c_oflag = 0;
    raw.c_lflag = 0;
    raw.c_cflag |= CS8;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(terminal, TCSANOW, &raw);
}

/* True: PATH is a link into /dev that leads nowhere. */
static bool is_left_over(const char *path)
{
    char target[PLACE];
    struct stat status;
    ssize_t len = readlink(path, target, sizeof(target));

    return len > 5 && strncmp(target, "/dev/", 5) == 0 &&
        stat(path, &status) != 0 && errno == ENOENT;
}

static bool make_link(struct dz_stream_link *link, const char *path,
    struct dz_stream_error *error)
{
    const char *name = link->stream->name;

    if (*path == '\0' || strlen(path) >= sizeof(link->symlink))
        return fail(error,
            "%s: pty:LINK: LINK is the path of a symbolic "
            "link, of at most %d characters",
            name, PLACE - 1);
    if (is_left_over(path))
        unlink(path);
    if (symlink(link->place, path) == 0) {
        strcpy(link->symlink, path);
        return true;
    }
    if (errno == EEXIST)
        return fail(error, "%s: %s exists: remove it, or name another link",
            name, path);
    return fail(error, "%s: no link %s: %s", name, path, strerror(errno));
}

static bool open_ends(struct dz_stream_link *link, int *master)
{
    const char *name;

    *master = posix_openpt(O_RDWR | O_NOCTTY);
    if (*master < 0 || grantpt(*master) != 0 || unlockpt(*master) != 0)
        return false;
    name = ptsname(*master);
    if (name == NULL)
        return false;
    snprintf(link->place, sizeof(link->place), "%s", name);
    link->terminal = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return link->terminal >= 0 && fcntl(*master, F_SETFD, FD_CLOEXEC) == 0;
}

static bool open_pty(struct dz_stream_link *link, const char *argument,
    struct dz_stream_error *error)
{
    int master = NO_FD;

    if (!open_ends(link, &master)) {
        fail(error, "%s: no pseudo-terminal: %s: take tcp:PORT",
            link->stream->name, strerror(errno));
        if (master >= 0)
            close(master);
        return false;
    }
    make_transparent(link->terminal);
    uv_pipe_init(dz_loop_uv(), &link->source.pipe, 0);
    adopt_source(link);
    uv_pipe_open(&link->source.pipe, master);
    link->out = master;
    return argument == NULL || make_link(link, argument, error);
}

/* The link goes if it is still ours. */
static void close_pty(struct dz_stream_link *link)
{
    char target[PLACE];
    ssize_t len = readlink(link->symlink, target, sizeof(target) - 1);

    if (len > 0) {
        target[len] = '\0';
        if (strcmp(target, link->place) == 0)
            unlink(link->symlink);
    }
    if (link->terminal >= 0)
        close(link->terminal);
}

/* ---- tcp: libuv holds the next client back until we accept it. */

static void accept_waiting(struct dz_stream_link *link)
{
    uv_os_fd_t fd;

    if (!link->is_waiting || link->has_source)
        return;
    link->is_waiting = false;
    uv_tcp_init(dz_loop_uv(), &link->source.tcp);
    adopt_source(link);
    if (uv_accept((uv_stream_t *)&link->listener, &link->source.stream) != 0 ||
        uv_fileno(&link->source.handle, &fd) != 0) {
        close_source(link);
        return;
    }
    uv_tcp_nodelay(&link->source.tcp, 1);
    link->out = fd;
    link->is_stalled = false;
    start_reading(link);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct dz_stream_link *link = listener->data;
    dz_key key = dz_machine_lock();

    if (status == 0) {
        link->is_waiting = true;
        accept_waiting(link);
    }
    dz_machine_unlock(key);
}

static bool parse_port(const char *text, int *port)
{
    char *end;
    long number = strtol(text, &end, 10);

    *port = (int)number;
    return end != text && *end == '\0' && number >= 0 && number <= 65535;
}

static void say_port(struct dz_stream_link *link)
{
    struct sockaddr_in address;
    int len = sizeof(address);

    uv_tcp_getsockname(&link->listener, (struct sockaddr *)&address, &len);
    snprintf(link->place, sizeof(link->place), "127.0.0.1:%d",
        (int)ntohs(address.sin_port));
}

static bool open_tcp(struct dz_stream_link *link, const char *argument,
    struct dz_stream_error *error)
{
    struct sockaddr_in address;
    int port;
    int status;

    if (!parse_port(argument, &port))
        return fail(error, "%s: tcp:%s: a port is a number from 0 to 65535",
            link->stream->name, argument);
    uv_ip4_addr("127.0.0.1", port, &address);
    uv_tcp_init(dz_loop_uv(), &link->listener);
    link->listener.data = link;
    link->handles++;
    status = uv_tcp_bind(&link->listener, (struct sockaddr *)&address, 0);
    if (status == 0)
        status = uv_listen((uv_stream_t *)&link->listener, 4, on_connection);
    if (status != 0)
        return fail(error,
            "%s: tcp:%d: %s: take another port, or 0 for any free one",
            link->stream->name, port, uv_strerror(status));
    say_port(link);
    return true;
}

static void close_tcp(struct dz_stream_link *link)
{
    if (link->listener.data != NULL)
        uv_close((uv_handle_t *)&link->listener, on_listener_closed);
}

/* ---- file. Non-blocking, or a FIFO that nobody reads would hold us here. */

static bool open_file(struct dz_stream_link *link, const char *argument,
    struct dz_stream_error *error)
{
    link->out = open(argument,
        O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (link->out >= 0)
        return true;
    link->out = NO_FD;
    return fail(error, "%s: cannot write to %s: %s: name another file",
        link->stream->name, argument, strerror(errno));
}

static void close_file(struct dz_stream_link *link)
{
    if (link->out != NO_FD)
        close(link->out);
}

/* ---- All kinds. */

static const struct kind kinds[] = {
    {"stdio", true, FOR_EVER, open_stdio, close_stdio},
    {"pty", true, PATIENCE_MS, open_pty, close_pty},
    {"pty:", true, PATIENCE_MS, open_pty, close_pty},
    {"tcp:", true, PATIENCE_MS, open_tcp, close_tcp},
    {"file:", false, FOR_EVER, open_file, close_file},
};

static const struct kind *find_kind(const char *what)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const char *prefix = kinds[i].prefix;
        size_t len = strlen(prefix);

        if (prefix[len - 1] == ':' ? strncmp(what, prefix, len) == 0
                                   : strcmp(what, prefix) == 0)
            return &kinds[i];
    }
    return NULL;
}

struct opening {
    struct dz_stream *stream;
    const char *what;
    struct dz_stream_error *error;
    bool is_done;
};

static void take_down(struct dz_stream_link *link)
{
    link->kind->close(link);
    close_input(link);
    close_source(link);
    link->stream->link = NULL;
    link->stream = NULL;
    if (link->handles == 0)
        free(link);
}

static void begin_input(struct dz_stream_link *link)
{
    static bool is_noted;

    link->is_input = true;
    dz_machine_open_input();
    start_reading(link);
    if (dz_machine_running()->time != DZ_TIME_VIRTUAL || is_noted)
        return;
    is_noted = true;
    fprintf(stderr,
        "%s: open to the outside: this run in virtual time "
        "cannot be repeated\n",
        link->stream->name);
}

static void open_here(void *argument)
{
    struct opening *opening = argument;
    struct dz_stream *stream = opening->stream;
    const struct kind *kind = find_kind(opening->what);
    const char *colon = strchr(opening->what, ':');
    struct dz_stream_link *link = calloc(1, sizeof(*link));

    link->stream = stream;
    link->kind = kind;
    link->out = NO_FD;
    link->terminal = NO_FD;
    snprintf(link->place, sizeof(link->place), "%s", opening->what);
    stream->link = link;
    opening->is_done =
        kind->open(link, colon == NULL ? NULL : colon + 1, opening->error);
    if (!opening->is_done) {
        take_down(link);
        return;
    }
    if (kind->receives)
        begin_input(link);
    if (strcmp(link->place, opening->what) != 0)
        fprintf(stderr, "%s: at %s\n", stream->name, link->place);
}

bool dz_stream_open(
    struct dz_stream *stream, const char *what, struct dz_stream_error *error)
{
    struct opening opening = {.stream = stream, .what = what, .error = error};

    if (stream->link != NULL)
        return fail(error, "%s is open, at %s: close it first", stream->name,
            stream->link->place);
    if (find_kind(what) == NULL)
        return fail(error,
            "%s: no stream is called \"%s\": take stdio, pty, "
            "pty:LINK, tcp:PORT or file:PATH",
            stream->name, what);
    signal(SIGPIPE, SIG_IGN);
    dz_machine_call(open_here, &opening);
    return opening.is_done;
}

static void close_here(void *argument)
{
    struct dz_stream *stream = argument;

    if (stream->link != NULL)
        take_down(stream->link);
}

void dz_stream_close(struct dz_stream *stream)
{
    dz_machine_call(close_here, stream);
}

const char *dz_stream_place(const struct dz_stream *stream)
{
    return stream->link == NULL ? "" : stream->link->place;
}
