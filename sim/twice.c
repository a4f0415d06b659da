/* SPDX-License-Identifier: MIT */
#include "sim/twice.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

#include "sim/program.h"
#include "sim/trace.h"

enum { PATH_LENGTH = 4096 };

/* One of the two. */
struct run {
    const char *name;
    const char *option;
    pid_t process;
    int stream;
    bool has_event; /* false: there are no more */
    struct dz_trace_event event;
};

static void check(int result)
{
    if (result >= 0)
        return;
    fprintf(stderr, "--check-determinism: %s\n", strerror(errno));
    exit(DZ_EXIT_USAGE);
}

/* In the new process. Our option comes first, for the program's may end in
 * "--". */
static _Noreturn void execute(char **argv, const char *option, int stream)
{
    char path[PATH_LENGTH];
    size_t size = sizeof(path);
    char added[48];
    size_t count = 1;
    char **all;

    while (argv[count] != NULL)
        count++;
    all = calloc(count + 2, sizeof(*all));
    if (all == NULL || uv_exepath(path, &size) != 0)
        _exit(DZ_EXIT_USAGE);
    snprintf(added, sizeof(added), "--%s=%d", option, stream);
    all[0] = argv[0];
    all[1] = added;
    memcpy(all + 2, argv + 1, (count - 1) * sizeof(*all));
    check(fcntl(stream, F_SETFD, 0));
    execv(path, all);
    perror(path);
    _exit(DZ_EXIT_USAGE);
}

static void silence(void)
{
    int nowhere = open("/dev/null", O_WRONLY);

    check(nowhere);
    check(dup2(nowhere, STDOUT_FILENO));
    check(dup2(nowhere, STDERR_FILENO));
}

static void start(struct run *run, char **argv)
{
    int ends[2];

    check(pipe(ends));
    check(fcntl(ends[0], F_SETFD, FD_CLOEXEC));
    check(fcntl(ends[1], F_SETFD, FD_CLOEXEC));
    fflush(NULL);
    run->process = fork();
    check(run->process);
    if (run->process == 0) {
        if (strcmp(run->option, DZ_TWICE_SECOND) == 0)
            silence();
        execute(argv, run->option, ends[1]);
    }
    close(ends[1]);
    run->stream = ends[0];
}

/* A run that is killed may leave a part of an event. */
static void read_event(struct run *run)
{
    char *to = (char *)&run->event;
    size_t len = 0;

    while (len < sizeof(run->event)) {
        ssize_t got = read(run->stream, to + len, sizeof(run->event) - len);

        if (got < 0 && errno == EINTR)
            continue;
        check((int)got);
        if (got == 0)
            break;
        len += (size_t)got;
    }
    run->has_event = len == sizeof(run->event);
}

static bool is_same(const struct run *one, const struct run *other)
{
    if (!one->has_event || !other->has_event)
        return one->has_event == other->has_event;
    return memcmp(&one->event, &other->event, sizeof(one->event)) == 0;
}

static int wait_for(const struct run *run)
{
    int status;

    while (waitpid(run->process, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void print_next(const struct run *run)
{
    fprintf(stderr, "  %s: ", run->name);
    if (run->has_event)
        dz_trace_print(stderr, &run->event);
    else
        fputs("no more events\n", stderr);
}

static int differ(struct run *runs, uint64_t count)
{
    bool has_started = count > 0 || runs[0].has_event;

    /* If the first run cannot start, it has said why. */
    if (has_started)
        kill(runs[0].process, SIGKILL);
    kill(runs[1].process, SIGKILL);
    wait_for(&runs[1]);
    if (!has_started)
        return wait_for(&runs[0]);
    wait_for(&runs[0]);
    fprintf(stderr,
        "not deterministic: two runs differ behind %" PRIu64
        " events that are the same\n",
        count);
    print_next(&runs[0]);
    print_next(&runs[1]);
    return DZ_EXIT_NOT_DETERMINISTIC;
}

static int agree(const struct run *runs, uint64_t count, uint64_t hash)
{
    int first = wait_for(&runs[0]);
    int second = wait_for(&runs[1]);

    if (first == DZ_EXIT_USAGE)
        return first;
    if (first != second) {
        fprintf(stderr,
            "not deterministic: two runs with the same events exit "
            "with %d and %d\n",
            first, second);
        return DZ_EXIT_NOT_DETERMINISTIC;
    }
    fprintf(stderr,
        "deterministic: two runs of %" PRIu64
        " events are the same, hash %016" PRIx64 "\n",
        count, hash);
    return first;
}

int dz_twice_run(char **argv)
{
    struct run runs[2] = {
        {.name = "first run ", .option = DZ_TWICE_FIRST},
        {.name = "second run", .option = DZ_TWICE_SECOND},
    };
    uint64_t count = 0;
    uint64_t hash = 0;

    start(&runs[0], argv);
    start(&runs[1], argv);
    for (;;) {
        read_event(&runs[0]);
        read_event(&runs[1]);
        if (!is_same(&runs[0], &runs[1]))
            return differ(runs, count);
        if (!runs[0].has_event)
            return agree(runs, count, hash);
        hash = runs[0].event.hash;
        count++;
    }
}
