/* SPDX-License-Identifier: MIT */
#include "sim/stimulus.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "executor/panic.h"
#include "executor/task.h"
#include "sim/machine.h"
#include "sim/pin.h"
#include "sim/program.h"
#include "sim/uart.h"
#include "sim/virtual.h"

enum { LINE = 1024, TEXT = 256 };

enum kind {
    PIN_SET,
    PIN_TOGGLE,
    UART_SEND,
    EXPECT_PIN,
    EXPECT_UART,
};

enum state {
    WAITING, /* for its time */
    OPEN,    /* an expectation whose time has come */
    OVER,
};

struct event {
    struct dz_heap_node node; /* of its time, then of its deadline */
    struct event *next;       /* in the file */
    const char *path;
    unsigned line;
    char source[LINE];
    enum kind kind;
    enum state state;
    uint64_t period; /* ns; 0: once */
    uint64_t within; /* ns; UINT64_MAX: to the end of the run */
    unsigned number; /* of the pin or UART */
    enum dz_level level;
    uint8_t text[TEXT];
    size_t len;
    uint8_t seen[TEXT]; /* the last of what the UART has sent since */
    size_t seen_len;
};

/* Like all state here, in a machine lock, or while no core runs. Events of the
 * same instant are one due, for else the seed would choose their order, and
 * here it is that of the file. */
static struct event *events;
static struct dz_heap coming;
static struct dz_due next_due;

static void set_due(void)
{
    if (coming.root != NULL)
        dz_due_set(&next_due, coming.root->key);
    else
        dz_due_clear(&next_due);
}

static void schedule(struct event *event, uint64_t at)
{
    event->node.key = at;
    dz_heap_insert(&coming, &event->node);
}

static void end(struct event *event)
{
    event->state = OVER;
    if (dz_heap_holds(&event->node))
        dz_heap_remove(&coming, &event->node);
    set_due();
}

static bool is_expectation(const struct event *event)
{
    return event->kind == EXPECT_PIN || event->kind == EXPECT_UART;
}

static void print_byte(uint8_t byte)
{
    if (byte == '\n')
        fputs("\\n", stderr);
    else if (byte == '\r')
        fputs("\\r", stderr);
    else if (byte == '"' || byte == '\\')
        fprintf(stderr, "\\%c", byte);
    else if (byte < 128 && isprint(byte))
        fputc(byte, stderr);
    else
        fprintf(stderr, "\\x%02x", byte);
}

static void print_found(const struct event *event)
{
    if (event->kind == EXPECT_PIN) {
        fprintf(stderr, "the pin is %s",
            dz_pin_level(event->number) == DZ_HIGH ? "high" : "low");
        return;
    }
    if (event->seen_len == 0) {
        fputs("the UART has sent nothing since", stderr);
        return;
    }
    fputs("since, the UART has sent ", stderr);
    fputs(event->seen_len == TEXT ? "...\"" : "\"", stderr);
    for (size_t i = 0; i < event->seen_len; i++)
        print_byte(event->seen[i]);
    fputc('"', stderr);
}

static void print_unmet(const struct event *event)
{
    fprintf(stderr, "%s:%u: not met: %s: ", event->path, event->line,
        event->source);
    if (event->state == WAITING)
        fputs("its time has not come", stderr);
    else
        print_found(event);
    fputc('\n', stderr);
}

/* The time behind `within` is included. */
static void open(struct event *event, uint64_t now)
{
    event->state = OPEN;
    if (event->kind == EXPECT_PIN &&
        dz_pin_level(event->number) == event->level)
        event->state = OVER;
    else if (event->within < UINT64_MAX - now)
        schedule(event, now + event->within + 1);
}

static void drive(const struct event *event, enum dz_level level)
{
    if (!dz_pin_is_output(event->number)) {
        dz_pin_drive(event->number, level);
        return;
    }
    fprintf(stderr,
        "%s:%u: pin %u is an output, since firmware has written it; nobody "
        "else can drive it: %s\n",
        event->path, event->line, event->number, event->source);
    dz_program_end(DZ_EXIT_PANIC);
}

static void act(struct event *event)
{
    if (event->kind == PIN_SET)
        drive(event, event->level);
    if (event->kind == PIN_TOGGLE)
        drive(event, dz_pin_level(event->number) == DZ_LOW ? DZ_HIGH : DZ_LOW);
    if (event->kind == UART_SEND)
        dz_uart_inject(event->number, event->text, event->len);
}

/* In real time this may be late: what follows counts from when it should have
 * been. */
static void happen(struct event *event)
{
    uint64_t at = event->node.key;

    if (event->state == OPEN) {
        print_unmet(event);
        dz_program_end(DZ_EXIT_PANIC);
        return;
    }
    if (is_expectation(event)) {
        open(event, at);
        return;
    }
    act(event);
    if (event->period != 0 && event->period < UINT64_MAX - at)
        schedule(event, at + event->period);
}

static void fire(struct dz_due *due)
{
    (void)due;
    while (coming.root != NULL && coming.root->key <= dz_machine_now()) {
        struct dz_heap_node *first = coming.root;

        dz_heap_remove(&coming, first);
        happen(container_of(first, struct event, node));
    }
    set_due();
}

static void watch_pin(unsigned number, uint8_t level, void *argument)
{
    (void)argument;
    for (struct event *event = events; event != NULL; event = event->next)
        if (event->kind == EXPECT_PIN && event->state == OPEN &&
            event->number == number && event->level == level)
            end(event);
}

static void see(struct event *event, uint8_t byte)
{
    if (event->seen_len == TEXT)
        memmove(event->seen, event->seen + 1, --event->seen_len);
    event->seen[event->seen_len++] = byte;
}

static bool has_seen_all(const struct event *event)
{
    return event->seen_len >= event->len &&
        memcmp(event->seen + event->seen_len - event->len, event->text,
            event->len) == 0;
}

static void watch_uart(unsigned number, uint8_t byte, void *argument)
{
    (void)argument;
    for (struct event *event = events; event != NULL; event = event->next) {
        if (event->kind != EXPECT_UART || event->state != OPEN ||
            event->number != number)
            continue;
        see(event, byte);
        if (has_seen_all(event))
            end(event);
    }
}

/* Where a file is being read. */
struct reader {
    const char *path;
    unsigned line;
    const char *start; /* of the line */
    const char *at;
};

static void skip_space(struct reader *reader)
{
    while (*reader->at == ' ' || *reader->at == '\t')
        reader->at++;
}

static bool is_at_end(struct reader *reader)
{
    skip_space(reader);
    return *reader->at == '\0' || *reader->at == '#';
}

static size_t word_len(const struct reader *reader)
{
    return strcspn(reader->at, " \t#\"");
}

static void print_place(const struct reader *reader)
{
    fprintf(stderr, "%s:%u:%d: ", reader->path, reader->line,
        (int)(reader->at - reader->start) + 1);
}

/* Says what should be here. Returns false, as the callers do. */
static bool expected(struct reader *reader, const char *what)
{
    bool is_end = is_at_end(reader);
    int len = (int)word_len(reader);

    print_place(reader);
    if (is_end)
        fprintf(stderr, "the line ends; expected here: %s\n", what);
    else
        fprintf(stderr, "\"%.*s\"; expected here: %s\n", len > 0 ? len : 1,
            reader->at, what);
    return false;
}

/* Says what is wrong with the next word. Likewise. */
static bool refuse(struct reader *reader, const char *what)
{
    skip_space(reader);
    print_place(reader);
    fprintf(stderr, "%.*s %s\n", (int)word_len(reader), reader->at, what);
    return false;
}

/* Goes on behind this word, if it is the next one. */
static bool try_word(struct reader *reader, const char *word)
{
    size_t len;

    skip_space(reader);
    len = word_len(reader);
    if (len != strlen(word) || memcmp(reader->at, word, len) != 0)
        return false;
    reader->at += len;
    return true;
}

/* The next word as a string, without going on. */
static void peek_word(struct reader *reader, char *word, size_t size)
{
    size_t len;

    skip_space(reader);
    len = word_len(reader);
    if (len >= size)
        len = size - 1;
    memcpy(word, reader->at, len);
    word[len] = '\0';
}

/* The number in front of a unit; one that is too large is UINT64_MAX. Returns
 * what follows, or NULL if there is none. */
static const char *parse_number(const char *text, uint64_t *number)
{
    *number = 0;
    if (!isdigit((unsigned char)*text))
        return NULL;
    for (; isdigit((unsigned char)*text); text++)
        if (__builtin_mul_overflow(*number, UINT64_C(10), number) ||
            __builtin_add_overflow(*number, (uint64_t)(*text - '0'), number))
            *number = UINT64_MAX;
    return text;
}

enum dz_time_error dz_time_parse(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"ns", 1},
        {"us", 1000},
        {"ms", 1000000},
        {"s", 1000000000},
        {"min", UINT64_C(60000000000)},
        {"h", UINT64_C(3600000000000)},
    };
    uint64_t number;
    const char *unit = parse_number(text, &number);

    for (size_t i = 0; unit != NULL && i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(unit, units[i].name) == 0)
            return __builtin_mul_overflow(number, units[i].ns, ns) ||
                    *ns == UINT64_MAX
                ? DZ_TIME_TOO_LARGE
                : DZ_TIME_GOOD;
    return DZ_TIME_NONE;
}

static bool read_time(struct reader *reader, uint64_t *ns)
{
    bool is_virtual = dz_machine_running()->time == DZ_TIME_VIRTUAL;
    char word[32];
    enum dz_time_error error;

    peek_word(reader, word, sizeof(word));
    error = dz_time_parse(word, ns);
    if (error == DZ_TIME_NONE)
        return expected(reader,
            "a time, a whole number with ns, us, ms, s, min or h, such as "
            "100ms");
    if (error == DZ_TIME_TOO_LARGE)
        return refuse(reader, "is too large");
    if (is_virtual && *ns >= DZ_VIRTUAL_END)
        return refuse(
            reader, "is too large: virtual time ends after 52 days (1250h)");
    reader->at += word_len(reader);
    return true;
}

static bool read_period(struct reader *reader, uint64_t *ns)
{
    struct reader before = *reader;

    if (!read_time(reader, ns))
        return false;
    return *ns != 0 || expected(&before, "a time that is not 0");
}

static bool read_number(
    struct reader *reader, unsigned end, const char *what, unsigned *number)
{
    char word[32];
    const char *rest;
    uint64_t value;

    peek_word(reader, word, sizeof(word));
    rest = parse_number(word, &value);
    if (rest == NULL || *rest != '\0' || value >= end)
        return expected(reader, what);
    *number = (unsigned)value;
    reader->at += word_len(reader);
    return true;
}

static bool read_pin(struct reader *reader, unsigned *number)
{
    return read_number(reader, DZ_PINS, "the number of a pin, 0 to 63", number);
}

static bool read_uart(struct reader *reader, unsigned *number)
{
    return read_number(
        reader, DZ_UARTS, "the number of a UART, 0 to 3", number);
}

static bool read_level(struct reader *reader, enum dz_level *level)
{
    if (try_word(reader, "high"))
        *level = DZ_HIGH;
    else if (try_word(reader, "low"))
        *level = DZ_LOW;
    else
        return expected(reader, "high or low");
    return true;
}

static int hex_digit(char digit)
{
    if (isdigit((unsigned char)digit))
        return digit - '0';
    if (isxdigit((unsigned char)digit))
        return tolower((unsigned char)digit) - 'a' + 10;
    return -1;
}

/* Behind the backslash. */
static bool read_escape(struct reader *reader, uint8_t *byte)
{
    static const char names[] = "nrt0\\\"";
    static const char values[] = "\n\r\t\0\\\"";
    const char *name = strchr(names, *reader->at);
    int high;
    int low;

    if (*reader->at != '\0' && name != NULL) {
        *byte = (uint8_t)values[name - names];
        reader->at++;
        return true;
    }
    high = *reader->at == 'x' ? hex_digit(reader->at[1]) : -1;
    low = high >= 0 ? hex_digit(reader->at[2]) : -1;
    if (low < 0)
        return expected(
            reader, "one of n r t 0 \\ \" or xHH behind the backslash");
    *byte = (uint8_t)(high * 16 + low);
    reader->at += 3;
    return true;
}

static bool read_byte(struct reader *reader, uint8_t *byte)
{
    if (*reader->at == '\0')
        return expected(reader, "a \" at the end of the text");
    *byte = (uint8_t)*reader->at++;
    return *byte != '\\' || read_escape(reader, byte);
}

static bool read_text(struct reader *reader, struct event *event)
{
    skip_space(reader);
    if (*reader->at != '"')
        return expected(reader, "a text, such as \"hello\\n\"");
    reader->at++;
    while (*reader->at != '"') {
        if (event->len == TEXT)
            return expected(reader, "a text of at most 256 bytes");
        if (!read_byte(reader, &event->text[event->len++]))
            return false;
    }
    if (event->len == 0)
        return expected(reader, "a text that is not empty");
    reader->at++;
    return true;
}

static bool read_expectation(struct reader *reader, struct event *event)
{
    if (try_word(reader, "pin")) {
        event->kind = EXPECT_PIN;
        if (!read_pin(reader, &event->number) ||
            !read_level(reader, &event->level))
            return false;
    } else if (try_word(reader, "uart")) {
        event->kind = EXPECT_UART;
        if (!read_uart(reader, &event->number) || !read_text(reader, event))
            return false;
    } else {
        return expected(reader, "pin or uart");
    }
    if (!try_word(reader, "within"))
        return is_at_end(reader) ||
            expected(reader, "within, or the end of the line");
    return read_time(reader, &event->within);
}

static bool read_pin_action(struct reader *reader, struct event *event)
{
    if (!read_pin(reader, &event->number))
        return false;
    event->kind = PIN_TOGGLE;
    if (try_word(reader, "toggle"))
        return true;
    event->kind = PIN_SET;
    if (try_word(reader, "high"))
        event->level = DZ_HIGH;
    else if (!try_word(reader, "low"))
        return expected(reader, "high, low or toggle");
    return true;
}

static bool read_uart_action(struct reader *reader, struct event *event)
{
    event->kind = UART_SEND;
    if (!read_uart(reader, &event->number))
        return false;
    if (!try_word(reader, "send"))
        return expected(reader, "send");
    return read_text(reader, event);
}

static bool read_action(struct reader *reader, struct event *event)
{
    if (try_word(reader, "pin"))
        return read_pin_action(reader, event);
    if (try_word(reader, "uart"))
        return read_uart_action(reader, event);
    if (event->period != 0)
        return expected(
            reader, "pin or uart, for an expectation comes only once");
    if (try_word(reader, "expect"))
        return read_expectation(reader, event);
    return expected(reader, "every, pin, uart or expect");
}

static bool read_event(struct reader *reader, struct event *event)
{
    uint64_t at;

    if (!try_word(reader, "at"))
        return expected(reader, "at");
    if (!read_time(reader, &at))
        return false;
    if (try_word(reader, "every") && !read_period(reader, &event->period))
        return false;
    if (!read_action(reader, event))
        return false;
    if (!is_at_end(reader))
        return expected(reader, "the end of the line");
    schedule(event, at);
    return true;
}

static struct event *new_event(const struct reader *reader)
{
    struct event *event = calloc(1, sizeof(*event));

    if (event == NULL)
        dz_panic("no memory for a stimulus", __FILE__, __LINE__);
    event->path = reader->path;
    event->line = reader->line;
    event->within = UINT64_MAX;
    strcpy(event->source, reader->at);
    return event;
}

static bool read_line(struct reader *reader, struct event ***last)
{
    if (is_at_end(reader))
        return true;
    **last = new_event(reader);
    if (!read_event(reader, **last))
        return false;
    *last = &(**last)->next;
    return true;
}

static bool read_file(FILE *file, const char *path)
{
    struct reader reader = {.path = path, .line = 0};
    struct event **last = &events;
    char line[LINE];

    while (fgets(line, sizeof(line), file) != NULL) {
        size_t len = strcspn(line, "\r\n");

        reader.line++;
        reader.start = line;
        reader.at = line;
        if (len == sizeof(line) - 1)
            return expected(&reader, "a line of at most 1022 bytes");
        line[len] = '\0';
        if (!read_line(&reader, &last))
            return false;
    }
    return true;
}

static void start(void *argument)
{
    (void)argument;
    set_due();
}

bool dz_stimulus_open(const char *path)
{
    FILE *file = fopen(path, "r");
    bool is_good;

    if (file == NULL) {
        perror(path);
        return false;
    }
    is_good = read_file(file, path);
    /* A directory opens, and cannot be read. */
    if (is_good && ferror(file)) {
        perror(path);
        is_good = false;
    }
    fclose(file);
    if (!is_good) {
        dz_stimulus_close();
        return false;
    }
    next_due = (struct dz_due){.fire = fire};
    dz_pin_watch(watch_pin, NULL);
    dz_uart_watch(watch_uart, NULL);
    dz_machine_call(start, NULL);
    return true;
}

void dz_stimulus_close(void)
{
    if (next_due.fire != NULL) {
        dz_due_clear(&next_due);
        dz_pin_unwatch(watch_pin, NULL);
        dz_uart_unwatch(watch_uart, NULL);
    }
    next_due = (struct dz_due){.fire = NULL};
    coming = (struct dz_heap){.root = NULL};
    while (events != NULL) {
        struct event *first = events;

        events = first->next;
        free(first);
    }
}

unsigned dz_stimulus_report_open(void)
{
    unsigned count = 0;

    for (struct event *event = events; event != NULL; event = event->next) {
        if (!is_expectation(event) || event->state == OVER)
            continue;
        print_unmet(event);
        count++;
    }
    return count;
}
