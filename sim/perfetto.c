/* SPDX-License-Identifier: MIT */
#include "sim/perfetto.h"

#include <inttypes.h>

#include "port.h"
#include "sim/vcd.h"

enum {
    TRACKS = 1 << 13,
    TASK_TRACKS = TRACKS / 2, /* so that a free one is found soon */
    CORES = DZ_CORES + 1,     /* the board is the first */
    DEPTH = 1024,             /* slices in slices of a core */
    FIRST_THREAD = 100,       /* no process has this number */
};

/* A thread of the file, or a counter. */
struct track {
    const void *subject; /* of its slices; NULL: what else the core does */
    unsigned core;
    unsigned number;       /* 0: not in use */
    uint64_t last;         /* time does not go back */
    uint64_t arrow;        /* on its way to the next slice, or 0 */
    uint64_t arrow_begins; /* when */
};

struct slice {
    struct track *track;
    const void *subject;
    unsigned kind;
};

/* All that happens on a core nests: a slice lies within the one before. */
struct core {
    struct slice slices[DEPTH];
    unsigned depth;
    uint64_t last;
};

static FILE *file;
static bool is_first_line;
static struct track tracks[TRACKS];
static unsigned track_count;
static struct core cores[CORES];
static uint64_t arrows;
static char pins[DZ_VCD_PINS]; /* for their addresses */

static unsigned core_of(int index)
{
    return index >= 0 && index < DZ_CORES ? (unsigned)index + 1 : 0;
}

/* Bytes that are no ASCII character are written as one: the line stays valid
 * wherever a name was cut. */
static void put_string(const char *name)
{
    fputs("\"name\":\"", file);
    for (; *name != '\0'; name++) {
        unsigned char byte = (unsigned char)*name;

        if (byte < ' ' || byte > '~' || byte == '"' || byte == '\\')
            fprintf(file, "\\u%04x", byte);
        else
            fputc(byte, file);
    }
    fputc('"', file);
}

static void put_name(const char *name)
{
    fputc(',', file);
    put_string(name);
}

/* Each line is begun and ended. */
static void put_line(char phase, unsigned process)
{
    fprintf(file, "%s{\"ph\":\"%c\",\"pid\":%u", is_first_line ? "" : ",\n",
        phase, process + 1);
    is_first_line = false;
}

static void put_end(void)
{
    fputc('}', file);
}

static void put_metadata(
    const struct track *track, const char *what, const char *name)
{
    put_line('M', track->core);
    fprintf(file, ",\"tid\":%u", FIRST_THREAD + track->number);
    put_name(what);
    fputs(",\"args\":{", file);
    put_string(name);
    put_end();
    put_end();
}

static void put_event(char phase, struct track *track, uint64_t time)
{
    if (track->last < time)
        track->last = time;
    put_line(phase, track->core);
    fprintf(file, ",\"tid\":%u,\"ts\":%" PRIu64 ".%03" PRIu64,
        FIRST_THREAD + track->number, track->last / 1000, track->last % 1000);
}

static void put_instant(struct track *track, uint64_t time, const char *name)
{
    put_event('i', track, time);
    put_name(name);
    fputs(",\"s\":\"t\"", file);
    put_end();
}

/* The place of a track, or where it would be. Addresses only find it again;
 * nothing that is written depends on them. */
static struct track *look_up(unsigned core, const void *subject)
{
    uintptr_t at = (uintptr_t)subject / 8 * 0x9e3779b1u + core;

    for (;; at++) {
        struct track *track = &tracks[at % TRACKS];

        if (track->number == 0 ||
            (track->subject == subject && track->core == core))
            return track;
    }
}

static void name_core(const struct track *track)
{
    char name[32] = "board";

    if (track->core != 0)
        snprintf(name, sizeof(name), "core %u", track->core - 1);
    put_metadata(track, "process_name", name);
}

/* Numbered in the order of their appearance. When there are too many tasks, the
 * rest share the thread of what else the core does: that nests as well. */
static struct track *track_of(
    unsigned core, const void *subject, const char *name)
{
    struct track *track = look_up(core, subject);

    if (track->number != 0)
        return track;
    if (subject != NULL && track_count >= TASK_TRACKS)
        return track_of(core, NULL, "thread mode");
    *track = (struct track){
        .subject = subject,
        .core = core,
        .number = ++track_count,
    };
    if (subject == NULL)
        name_core(track);
    put_metadata(track, "thread_name", name);
    return track;
}

/* Where the core is now. */
static struct track *track_now(unsigned core)
{
    const struct core *self = &cores[core];

    if (self->depth != 0)
        return self->slices[self->depth - 1].track;
    return track_of(core, NULL, core == 0 ? "events" : "thread mode");
}

static void put_arrow(char phase, struct track *track, uint64_t time)
{
    put_event(phase, track, time);
    put_name("wake");
    fprintf(file, ",\"cat\":\"wake\"");
}

static void put_start(struct track *track, uint64_t time, struct track *target)
{
    put_arrow('s', track, time);
    target->arrow = ++arrows;
    target->arrow_begins = track->last;
    fprintf(file, ",\"id\":%" PRIu64, target->arrow);
    put_end();
}

/* An arrow that is on its way already stays the only one. One begins in a
 * slice; where there is none, in an empty one in place of the instant. */
static void begin_arrow(
    const struct dz_trace_event *event, struct track *target, const char *name)
{
    unsigned core = core_of(event->core);
    struct track *track = track_now(core);

    if (cores[core].depth != 0 || target->arrow != 0) {
        put_instant(track, event->time, name);
        if (target->arrow == 0)
            put_start(track, event->time, target);
        return;
    }
    put_event('B', track, event->time);
    put_name(name);
    put_end();
    put_start(track, event->time, target);
    put_event('E', track, event->time);
    put_end();
}

/* In virtual time, a core that pends another's interrupt may be ahead of that
 * core: no arrow goes back in time. */
static void end_arrow(struct track *track)
{
    if (track->arrow != 0 && track->arrow_begins <= track->last) {
        put_arrow('f', track, track->last);
        fprintf(file, ",\"bp\":\"e\",\"id\":%" PRIu64, track->arrow);
        put_end();
    }
    track->arrow = 0;
}

static void open_slice(
    struct core *self, const struct slice *slice, const char *name)
{
    if (self->depth == DEPTH)
        return;
    self->slices[self->depth++] = *slice;
    put_event('B', slice->track, self->last);
    put_name(name);
    put_end();
    end_arrow(slice->track);
}

static void close_top(struct core *self)
{
    put_event('E', self->slices[--self->depth].track, self->last);
    put_end();
}

/* With all that is open within it. If it is not open, its beginning was lost,
 * or cut off. */
static void close_slice(struct core *self, const struct slice *slice)
{
    unsigned i = self->depth;

    while (i > 0 &&
        (self->slices[i - 1].subject != slice->subject ||
            self->slices[i - 1].kind != slice->kind))
        i--;
    while (i > 0 && self->depth >= i)
        close_top(self);
}

static void close_all(struct core *self)
{
    while (self->depth != 0)
        close_top(self);
}

static void put_pin(const struct dz_trace_event *event)
{
    unsigned number = (unsigned)event->value / 2;
    struct track *track;
    char name[32];

    if (number >= DZ_VCD_PINS)
        return;
    snprintf(name, sizeof(name), "pin %u", number);
    track = track_of(0, &pins[number], name);
    put_event('C', track, event->time);
    put_name(name);
    fprintf(file, ",\"args\":{\"level\":%u}", (unsigned)event->value % 2);
    put_end();
}

static void put_end_of_task(
    const struct dz_trace_event *event, struct track *track)
{
    put_instant(track, event->time, "end");
    track->arrow = 0;
}

static unsigned begin_of(unsigned end)
{
    if (end == DZ_EVENT_POLLED)
        return DZ_EVENT_POLL;
    return end == DZ_EVENT_UNLOCK ? DZ_EVENT_LOCK : DZ_EVENT_INTERRUPT_ENTER;
}

/* The track of a task, or of an interrupt, which need not be this core's. */
static struct track *track_of_subject(
    const struct dz_trace_event *event, const void *subject)
{
    char name[DZ_TRACE_TEXT];
    int core = event->core;

    if (event->kind == DZ_EVENT_INTERRUPT_PEND)
        core = (int)(event->value / DZ_CONTEXT_CORE);
    dz_trace_subject(name, sizeof(name), event);
    return track_of(core_of(core), subject, name);
}

void dz_perfetto_write(const struct dz_trace_event *event, const void *subject)
{
    struct core *self = &cores[core_of(event->core)];
    struct slice slice = {.subject = subject, .kind = event->kind};
    char text[DZ_TRACE_TEXT];

    dz_trace_text(text, sizeof(text), event);
    if (event->kind == DZ_EVENT_START)
        close_all(self);
    self->last = event->time;
    switch (event->kind) {
    case DZ_EVENT_WAKE:
    case DZ_EVENT_INTERRUPT_PEND:
        begin_arrow(event, track_of_subject(event, subject), text);
        break;
    case DZ_EVENT_POLL:
    case DZ_EVENT_INTERRUPT_ENTER:
        slice.track = track_of_subject(event, subject);
        dz_trace_subject(text, sizeof(text), event);
        open_slice(self, &slice, text);
        break;
    case DZ_EVENT_LOCK:
        slice.track = track_now(core_of(event->core));
        open_slice(self, &slice, text);
        break;
    case DZ_EVENT_POLLED:
    case DZ_EVENT_UNLOCK:
    case DZ_EVENT_INTERRUPT_EXIT:
        slice.kind = begin_of(event->kind);
        close_slice(self, &slice);
        break;
    case DZ_EVENT_END:
        put_end_of_task(event, track_of_subject(event, subject));
        break;
    case DZ_TRACE_PIN:
        put_pin(event);
        break;
    default:
        put_instant(track_now(core_of(event->core)), event->time, text);
        break;
    }
}

/* What was open may have ended in the gap. */
void dz_perfetto_write_loss(const struct dz_trace_event *next, unsigned count)
{
    char text[64];

    for (unsigned i = 0; i < CORES; i++)
        close_all(&cores[i]);
    snprintf(text, sizeof(text), "%u events are lost", count);
    put_instant(track_now(0), next->time, text);
}

bool dz_perfetto_open(const char *path)
{
    file = fopen(path, "w");
    if (file == NULL)
        return false;
    is_first_line = true;
    arrows = 0;
    track_count = 0;
    for (unsigned i = 0; i < TRACKS; i++)
        tracks[i] = (struct track){.number = 0};
    for (unsigned i = 0; i < CORES; i++)
        cores[i] = (struct core){.depth = 0};
    fputs("[\n", file);
    return true;
}

bool dz_perfetto_close(void)
{
    bool is_good;

    for (unsigned i = 0; i < CORES; i++)
        close_all(&cores[i]);
    fputs("\n]\n", file);
    is_good = ferror(file) == 0;
    return fclose(file) == 0 && is_good;
}
