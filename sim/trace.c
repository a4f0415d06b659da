/* SPDX-License-Identifier: MIT */

/*
 * Whoever sees an event writes it into the next slot of a ring. In virtual time
 * that is always the same thread, which then writes the files at once, so the
 * ring holds nothing that is not written. In real time many threads write to
 * the ring, each with its interrupts off so that its events are in the order of
 * their times, and the loop's thread takes them out every few ms.
 *
 * A slot's stamp is 1 more than the number of the event that it holds, 0 while
 * it holds none, and the largest number while one is written. Slots that are
 * not written to a file yet are not used again; without a file, the oldest is.
 * Whoever prints the ring meanwhile sees from the stamp, before and behind it,
 * that a slot has changed. All words are atomic, since they may change under
 * that look; their order comes from the stamp.
 */
#include "sim/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/executor.h"
#include "sim/core.h"
#include "sim/machine.h"
#include "sim/perfetto.h"
#include "sim/vcd.h"
#include "sim/virtual.h"

/* What an event is about, which says what its name and value are. */
enum shape {
    TASK,
    EXECUTOR,
    OBJECT,
    PLACE,
    INTERRUPT,
    CORE,
    PIN,
    NOTE,
};

static const struct {
    const char *verb;
    enum shape shape;
} kinds[DZ_TRACE_KINDS] = {
    [DZ_EVENT_SPAWN] = {"spawn", TASK},
    [DZ_EVENT_WAKE] = {"wake", TASK},
    [DZ_EVENT_PEND] = {"pend", EXECUTOR},
    [DZ_EVENT_POLL] = {"poll", TASK},
    [DZ_EVENT_POLLED] = {"polled", TASK},
    [DZ_EVENT_END] = {"end", TASK},
    [DZ_EVENT_IDLE] = {"idle", EXECUTOR},
    [DZ_EVENT_LOCK] = {"lock", OBJECT},
    [DZ_EVENT_UNLOCK] = {"unlock", OBJECT},
    [DZ_EVENT_WAIT] = {"wait", OBJECT},
    [DZ_EVENT_AWAIT] = {"await", PLACE},
    [DZ_EVENT_INTERRUPT_PEND] = {"pend", INTERRUPT},
    [DZ_EVENT_INTERRUPT_ENTER] = {"enter", INTERRUPT},
    [DZ_EVENT_INTERRUPT_EXIT] = {"exit", INTERRUPT},
    [DZ_EVENT_START] = {"start", CORE},
    [DZ_TRACE_PIN] = {"pin", PIN},
    [DZ_TRACE_NOTE] = {"note", NOTE},
};

/* What is kept of an event. */
struct record {
    uint64_t time;
    uint64_t value;
    const void *subject; /* of a note: its kind, a string */
    const char *name;
    uint32_t lost; /* events, before this one */
    uint16_t exception;
    int16_t core;
    uint32_t kind;
};

enum {
    WORDS = (sizeof(struct record) + 7) / 8,
    PERIOD = 2000000, /* ns from one look of the loop at the ring to the next */
};

#define BEING_WRITTEN UINT64_MAX

static struct {
    _Atomic uint64_t stamp;
    _Atomic uint64_t words[WORDS];
} ring[DZ_TRACE_LENGTH];

static _Atomic uint64_t next;    /* number of the next event */
static _Atomic uint64_t written; /* number of the next event for the files */
static atomic_uint lost;
static atomic_bool is_recording;

/* Set before cores start. */
static bool is_virtual;
static bool is_written; /* somebody wants more than the ring */

/* Whoever writes the files: one thread. */
static bool is_hashed;
static bool has_json;
static bool has_vcd;
static FILE *stream;
static _Atomic uint64_t hash; /* anybody may look */
static unsigned told_lost;    /* losses that files know of */

/* The number of the slot to write. False: what it holds is not in the files. */
static bool reserve(uint64_t *number)
{
    *number = atomic_load_explicit(&next, memory_order_relaxed);
    do {
        /* Behind this load, the slot has been read. */
        if (is_written &&
            *number - atomic_load_explicit(&written, memory_order_acquire) ==
                DZ_TRACE_LENGTH)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&next, number, *number + 1,
        memory_order_relaxed, memory_order_relaxed));
    return true;
}

/* Without files, nobody waits for a slot to be read. Of two that write to it,
 * since one was held up for a turn of the ring, one drops its event. */
static bool take_slot(unsigned slot, uint64_t number)
{
    uint64_t before =
        atomic_load_explicit(&ring[slot].stamp, memory_order_relaxed);

    return before <= number &&
        atomic_compare_exchange_strong_explicit(&ring[slot].stamp, &before,
            BEING_WRITTEN, memory_order_acquire, memory_order_relaxed);
}

static void store(uint64_t number, const struct record *record)
{
    unsigned slot = number % DZ_TRACE_LENGTH;
    uint64_t words[WORDS] = {0};

    if (!take_slot(slot, number))
        return;
    memcpy(words, record, sizeof(*record));
    /* Released and acquired one by one: whoever sees a new word sees at its
     * second look that the stamp is. */
    for (unsigned i = 0; i < WORDS; i++)
        atomic_store_explicit(
            &ring[slot].words[i], words[i], memory_order_release);
    atomic_store_explicit(&ring[slot].stamp, number + 1, memory_order_release);
}

/* False: the event is not, or no longer, there. */
static bool load(uint64_t number, struct record *record)
{
    unsigned slot = number % DZ_TRACE_LENGTH;
    uint64_t words[WORDS];

    if (atomic_load_explicit(&ring[slot].stamp, memory_order_acquire) !=
        number + 1)
        return false;
    for (unsigned i = 0; i < WORDS; i++)
        words[i] =
            atomic_load_explicit(&ring[slot].words[i], memory_order_acquire);
    memcpy(record, words, sizeof(*record));
    return atomic_load_explicit(&ring[slot].stamp, memory_order_relaxed) ==
        number + 1;
}

/* One word more. For a given word, no two numbers become one. */
static uint64_t mix(uint64_t number, uint64_t word)
{
    number = (number ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return number ^ number >> 32;
}

/* Eight bytes a word, the first one on top, whatever the machine's order is.
 * What the last word holds tells texts apart that differ in length: no byte of
 * a text is zero. */
static uint64_t mix_text(uint64_t number, const char *text)
{
    uint64_t word = 0;

    for (size_t i = 1; *text != '\0'; i++) {
        word = word << 8 | (unsigned char)*text++;
        if (i % 8 != 0)
            continue;
        number = mix(number, word);
        word = 0;
    }
    return mix(number, word);
}

static uint64_t mix_record(uint64_t number, const struct record *record)
{
    number = mix(number, record->time);
    number = mix(number, record->value);
    number = mix(number, record->kind);
    number = mix(number, record->exception);
    number = mix(number, (uint16_t)record->core);
    number = mix_text(number, record->name);
    if (record->kind == DZ_TRACE_NOTE)
        number = mix_text(number, record->subject);
    return number;
}

static struct dz_trace_event event_of(const struct record *record)
{
    bool is_note = record->kind == DZ_TRACE_NOTE;
    struct dz_trace_event event = {
        .time = record->time,
        .value = record->value,
        .kind = record->kind,
        .core = record->core,
        .exception = record->exception,
    };

    snprintf(event.name, sizeof(event.name), "%s%s%s",
        is_note ? (const char *)record->subject : "", is_note ? " " : "",
        record->name);
    return event;
}

/* A core sees its own losses at its next event at the latest; that of another
 * one may have been under way since before them. */
static void tell_loss(
    const struct record *record, const struct dz_trace_event *event)
{
    if (record->lost <= told_lost)
        return;
    if (has_json)
        dz_perfetto_write_loss(event, record->lost - told_lost);
    told_lost = record->lost;
}

static void write_event(const struct record *record)
{
    struct dz_trace_event event = event_of(record);

    event.hash = hash;
    if (stream != NULL)
        fwrite(&event, sizeof(event), 1, stream);
    tell_loss(record, &event);
    if (has_json)
        dz_perfetto_write(&event, record->subject);
    if (has_vcd && event.kind == DZ_TRACE_PIN)
        dz_vcd_write(event.time, (unsigned)event.value / 2, event.value & 1);
}

/* Writes all that is in the ring and not in the files. */
static void drain(void)
{
    uint64_t number = atomic_load_explicit(&written, memory_order_relaxed);
    struct record record;

    while (load(number, &record)) {
        if (is_hashed)
            atomic_store_explicit(
                &hash, mix_record(hash, &record), memory_order_relaxed);
        if (stream != NULL || has_json || has_vcd)
            write_event(&record);
        atomic_store_explicit(&written, ++number, memory_order_release);
    }
}

/* The due that does it in real time. */
static void drain_again(struct dz_due *due)
{
    drain();
    dz_due_set(due, dz_machine_now() + PERIOD);
}

static struct dz_due drainer;

static void record_here(struct record *record)
{
    uint64_t number;

    record->time = dz_machine_now();
    record->lost = atomic_load_explicit(&lost, memory_order_relaxed);
    if (reserve(&number))
        store(number, record);
    else
        atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
}

/* A due in virtual time happens on a core's thread, and not on the core. */
static void place(struct record *record)
{
    record->core = DZ_TRACE_BOARD;
    if (dz_port_core.machine == NULL || dz_virtual_is_firing())
        return;
    record->core = (int16_t)dz_port_core.home->index;
    record->exception = (uint16_t)(dz_port_context() % DZ_CONTEXT_CORE);
}

/* In virtual time no signal comes, and interrupts do not have to wait: a trace
 * changes nothing. */
static void put(struct record *record)
{
    if (!atomic_load_explicit(&is_recording, memory_order_relaxed) ||
        dz_machine_running() == NULL)
        return;
    place(record);
    if (is_virtual) {
        record_here(record);
        if (is_written)
            drain();
    } else {
        dz_key key = dz_port_mask();

        record_here(record);
        dz_port_unmask(key);
    }
}

static uint64_t exception_of(
    const struct dz_core *core, const struct dz_core_vector *vector)
{
    int irq = (int)(vector - core->vectors) + DZ_PENDSV;

    return DZ_CONTEXT_CORE * core->home.index + dz_nvic_exception(irq);
}

/* Here and now the subject is what the event says, later it may not be. */
static void hear(unsigned event, const void *subject, const void *detail)
{
    struct record record = {.kind = event, .subject = subject, .name = ""};
    const struct dz_await_place *place = subject;

    switch (kinds[event].shape) {
    case TASK:
        record.name = dz_task_name(subject);
        record.value = dz_task_slot(subject);
        break;
    case EXECUTOR:
        record.name = ((const struct dz_executor *)subject)->name;
        break;
    case OBJECT:
        record.name = detail;
        break;
    case CORE:
        record.name = "core";
        break;
    case PLACE:
        record.name = place->function;
        record.value = (unsigned)place->line;
        break;
    case INTERRUPT:
        record.subject = detail;
        record.value = exception_of(subject, detail);
        break;
    default:
        break;
    }
    put(&record);
}

void dz_trace_note(const char *kind, const char *name, uint64_t value)
{
    put(&(struct record){
        .kind = DZ_TRACE_NOTE,
        .subject = kind,
        .name = name,
        .value = value,
    });
}

void dz_trace_pin(unsigned number, unsigned level)
{
    put(&(struct record){
        .kind = DZ_TRACE_PIN,
        .name = "",
        .value = 2 * number + level,
    });
}

uint64_t dz_trace_hash(void)
{
    return hash;
}

uint64_t dz_trace_lost(void)
{
    return atomic_load(&lost);
}

static bool close_files(void)
{
    bool is_good = true;

    if (stream != NULL) {
        is_good = ferror(stream) == 0;
        is_good = fclose(stream) == 0 && is_good;
    }
    if (has_json)
        is_good = dz_perfetto_close() && is_good;
    if (has_vcd)
        is_good = dz_vcd_close() && is_good;
    stream = NULL;
    has_json = false;
    has_vcd = false;
    return is_good;
}

/* The stream gets a descriptor of its own, which is closed with it. */
static FILE *open_stream(int descriptor)
{
    int own = dup(descriptor);

    return own < 0 ? NULL : fdopen(own, "wb");
}

static bool open_files(const struct dz_trace_options *options)
{
    if (options->stream >= 0 && (stream = open_stream(options->stream)) == NULL)
        return false;
    if (options->json != NULL && !(has_json = dz_perfetto_open(options->json)))
        return false;
    return options->vcd == NULL || (has_vcd = dz_vcd_open(options->vcd));
}

/* Other cores may still run, if somebody exits; what they do from here on is
 * not told. */
static int finish(void)
{
    if (!atomic_exchange(&is_recording, false))
        return 0;
    if (!is_virtual && is_written && dz_machine_running() != NULL)
        dz_due_clear(&drainer);
    if (is_written)
        drain();
    if (is_written && dz_trace_lost() != 0)
        fprintf(stderr,
            "trace: %" PRIu64 " events came too fast and are lost\n",
            dz_trace_lost());
    return close_files() ? 0 : -1;
}

static void finish_at_exit(void)
{
    (void)finish();
}

static void begin_at(const struct dz_machine *machine)
{
    static bool is_registered;

    if (!is_registered)
        atexit(finish_at_exit);
    is_registered = true;
    is_virtual = machine->time == DZ_TIME_VIRTUAL;
    drainer = (struct dz_due){.fire = drain_again};
    hash = 0;
    told_lost = 0;
    atomic_store(&lost, 0);
    atomic_store(&written, atomic_load(&next));
    atomic_store(&is_recording, true);
    dz_port_listen(hear);
    if (!is_virtual && is_written)
        dz_due_set(&drainer, dz_machine_now() + PERIOD);
}

bool dz_trace_begin(const struct dz_trace_options *options)
{
    const struct dz_machine *machine = dz_machine_running();

    if (machine == NULL || atomic_load(&is_recording))
        dz_panic(
            "a trace begins once, behind dz_machine_start", __FILE__, __LINE__);
    if (!open_files(options)) {
        int error = errno;

        close_files();
        errno = error;
        return false;
    }
    is_hashed = options->is_hashed || stream != NULL;
    is_written = is_hashed || has_json || has_vcd;
    begin_at(machine);
    return true;
}

int dz_trace_end(void)
{
    dz_port_ignore(hear);
    return finish();
}

/* Interrupts are named as in the NVIC. */
static void name_exception(char *text, size_t size, uint64_t context)
{
    int irq = (int)(context % DZ_CONTEXT_CORE) + DZ_NVIC_NONE;

    if (irq == DZ_PENDSV)
        snprintf(text, size, "PendSV");
    else if (irq == DZ_SYSTICK)
        snprintf(text, size, "SysTick");
    else if (irq < 0)
        snprintf(text, size, "thread mode");
    else
        snprintf(text, size, "irq %d", irq);
}

void dz_trace_subject(
    char *text, size_t size, const struct dz_trace_event *event)
{
    switch (kinds[event->kind].shape) {
    case TASK:
        snprintf(text, size, "%s[%" PRIu64 "]", event->name, event->value);
        break;
    case PLACE:
        snprintf(text, size, "%s:%" PRIu64, event->name, event->value);
        break;
    case INTERRUPT:
        name_exception(text, size, event->value);
        break;
    case PIN:
        snprintf(text, size, "%" PRIu64 " = %" PRIu64, event->value / 2,
            event->value % 2);
        break;
    case NOTE:
        snprintf(text, size, "%s %" PRIu64, event->name, event->value);
        break;
    default:
        snprintf(text, size, "%s", event->name);
        break;
    }
}

void dz_trace_text(char *text, size_t size, const struct dz_trace_event *event)
{
    char subject[DZ_TRACE_NAME + 32];
    char owner[32] = "";

    dz_trace_subject(subject, sizeof(subject), event);
    if (event->kind == DZ_EVENT_INTERRUPT_PEND)
        snprintf(owner, sizeof(owner), " of core %u",
            (unsigned)event->value / DZ_CONTEXT_CORE);
    snprintf(text, size, "%s %s%s", kinds[event->kind].verb, subject, owner);
}

void dz_trace_print(FILE *file, const struct dz_trace_event *event)
{
    char place[32];
    char text[DZ_TRACE_TEXT];

    name_exception(place, sizeof(place), event->exception);
    dz_trace_text(text, sizeof(text), event);
    fprintf(file, "%9" PRIu64 ".%03" PRIu64 " us  ", event->time / 1000,
        event->time % 1000);
    if (event->core == DZ_TRACE_BOARD)
        fprintf(file, "board: %s\n", text);
    else
        fprintf(file, "core %d, %s: %s\n", event->core, place, text);
}

void dz_trace_print_last(FILE *file, unsigned count)
{
    uint64_t end = atomic_load(&next);
    uint64_t number;
    struct record record;

    if (count > DZ_TRACE_LENGTH)
        count = DZ_TRACE_LENGTH;
    for (number = end > count ? end - count : 0; number < end; number++)
        if (load(number, &record)) {
            struct dz_trace_event event = event_of(&record);

            dz_trace_print(file, &event);
        }
}
