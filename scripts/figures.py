# SPDX-License-Identifier: MIT
"""figures -- draw the figures of a result, as SVG and PNG.

    python3 scripts/figures.py results/latest

draws them anew from its bench.json, count.json and qemu.json.
"""

import math
import os
import statistics
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot, ticker  # noqa: E402  (after the back end)

import qemu_tables  # noqa: E402
import results  # noqa: E402

# The policies by which primitives wait: title, and so on.
POLICIES = {
    "queue": "queue with grants",
    "single_slot": "single waker slot, as Embassy",
}

# What one round of operations/... is.
OPERATIONS = {
    "barrier": "wait (for one)",
    "blocking_mutex": "lock, unlock",
    "channel": "send, receive",
    "event_flags": "set, take",
    "lazy_lock": "get",
    "mutex": "lock, unlock",
    "once_lock": "init (again), get",
    "pipe": "write, read 4 bytes",
    "priority_channel": "send, receive",
    "pubsub": "publish, next",
    "rpc": "post, receive, reply",
    "rwlock": "read, unlock",
    "semaphore": "acquire, release",
    "signal": "send, wait",
    "watch": "send, changed",
    "zerocopy": "reserve, send, receive, release",
}

# The order and the names of things, the same everywhere.
ORDER = (
    "pingpong/floor",
    "pingpong/noop",
    "pingpong/thread_mode",
    "pingpong/critical_section",
    "checked/noop",
    "checked/thread_mode",
    "checked/critical_section",
    "lock/noop",
    "lock/thread_mode",
    "lock/critical_section",
    "lock/pthread_sigmask",
    "spawn",
    *(f"operations/{name}{policy}" for name in OPERATIONS
      for policy in ("", *(f"/{each}" for each in POLICIES))),
    *(f"timers/{kind}/{10 ** power}"
      for kind in ("insert", "expire") for power in range(5)),
    "isr_to_task/doze",
    "isr_to_task/signal",
    "isr_to_task/futex",
)
PERCENTILES = ("p50_ns", "p90_ns", "p99_ns", "max_ns")
FILES = ("bench.json", "count.json") + tuple(
    f"{figure}.{kind}" for figure in ("pingpong", "operations", "waiters",
                                     "timers", "isr_to_task")
    for kind in ("svg", "png"))

QEMU_FILES = ("qemu.json",) + tuple(
    f"{figure}.{kind}" for figure in ("qemu_pingpong", "qemu_sizes")
    for kind in ("svg", "png"))

# Okabe and Ito (2008): told apart by colour-blind readers, too.
GREY, BLUE, ORANGE, GREEN = "#999999", "#0072B2", "#E69F00", "#009E73"

# What is woken: label, colour, marker.
WAKE_UPS = {
    "isr_to_task/futex": ("a thread, by a bare futex", GREY, "s"),
    "isr_to_task/doze": ("a task, by an interrupt's handler", BLUE, "o"),
    "isr_to_task/signal": ("a thread, by a bare signal", ORANGE, "^"),
}


def order(names):
    """Known names in their order, then the others as they come."""
    known = [name for name in ORDER if name in names]
    return known + [name for name in names if name not in ORDER]


def save(figure, folder, name):
    # Nothing of when and by what it was drawn: equal data, equal files.
    for kind, metadata in (("svg", {"Date": None, "Creator": None}),
                           ("png", {"Software": None})):
        figure.savefig(os.path.join(folder, f"{name}.{kind}"), dpi=150,
                       metadata=metadata)
    pyplot.close(figure)


def source(document):
    """What was measured on what, for the foot of a figure."""
    context = document.get("context", {})
    if "qemu" in context:
        compilers = dict.fromkeys(build["compiler"]
                                  for build in context["builds"].values())
        return (f"Cortex-M4 in QEMU {context['qemu']}; "
                f"{', '.join(compilers)}; commit {context['commit']}")
    return (f"{context.get('compiler', '?')} {context.get('flags', '')}, "
            f"{context.get('cpu', '?')}, commit {context.get('commit', '?')}")


def foot(figure, document):
    figure.text(0.01, 0.01, source(document), fontsize=7, color="#555555")
    figure.tight_layout(rect=(0, 0.04, 1, 1))


def pingpongs(names):
    """The ping-pongs among them, as shipped and with checks, in order:
    {benchmark: title}."""
    return {
        name: name.split("/")[1] + (
            ", checked" if name.startswith("checked/") else "")
        for name in order(names)
        if name.startswith(("pingpong/", "checked/"))
    }


def colour_of(name):
    if name == results.FLOOR:
        return GREY
    return ORANGE if name.startswith("checked/") else BLUE


def draw_pingpong(document, folder):
    times = results.times(document)
    titles = pingpongs(times)
    names = list(titles)
    if not names:
        return
    floor = statistics.median(times.get(results.FLOOR, [0]))
    figure, axes = pyplot.subplots(figsize=(8, 0.55 * len(names) + 1.6))
    widest = max(max(times[name]) for name in names)
    for row, name in enumerate(names):
        values = times[name]
        median = statistics.median(values)
        axes.barh(row, median, color=colour_of(name), height=0.6)
        axes.errorbar(median, row, xerr=[[median - min(values)],
                                         [max(values) - median]],
                      color="black", capsize=4, linewidth=1)
        label = f"{median:.1f} ns"
        if floor and name != results.FLOOR:
            label += f" = {median / floor:.1f} x floor"
        axes.text(max(values) + widest * 0.015, row, label, va="center",
                  fontsize=9)
    axes.set_yticks(range(len(names)), titles.values())
    axes.invert_yaxis()
    axes.set_xlim(0, widest * 1.35)
    entries = results.runs(document)[names[0]]
    axes.set_xlabel("ns per round trip (bar: median, whisker: min to max of "
                    f"{len(entries)} x {entries[0]['iterations']} round trips)")
    axes.set_title("Ping-pong of two tasks over two channels, by raw mutex")
    axes.spines[["top", "right"]].set_visible(False)
    foot(figure, document)
    save(figure, folder, "pingpong")


def draw_operations(document, folder):
    times = results.times(document)
    floor = statistics.median(times.get(results.FLOOR, [0]))
    if not floor:
        return
    # By name: [(row's shift, colour, label, multiples of the floor)].
    rows = {}
    for name in OPERATIONS:
        bars = [(shift, colour, POLICIES[policy], f"operations/{name}/{policy}")
                for shift, colour, policy in ((-0.2, BLUE, "queue"),
                                              (0.2, ORANGE, "single_slot"))]
        bars.append((0, GREY, "no policy", f"operations/{name}"))
        rows[name] = [(shift, colour, label,
                       [value / floor for value in times[key]])
                      for shift, colour, label, key in bars if key in times]
    rows = {name: bars for name, bars in rows.items() if bars}
    if not rows:
        return
    figure, axes = pyplot.subplots(figsize=(8, 0.5 * len(rows) + 1.8))
    # A repetition that the host interrupted would squeeze all others.
    highest = 1.5 * max(statistics.median(values)
                        for bars in rows.values() for *_, values in bars)
    labels = {}
    for row, bars in enumerate(rows.values()):
        for shift, colour, label, values in bars:
            median = statistics.median(values)
            labels[label] = axes.barh(row + shift, median, height=0.38,
                                      color=colour)
            axes.errorbar(median, row + shift, color="black", capsize=2,
                          linewidth=0.8, xerr=[[median - min(values)],
                                               [max(values) - median]])
            axes.text(highest * 1.14, row + shift, f"{median:.1f}",
                      va="center", ha="right", fontsize=8)
    axes.set_xlim(0, highest * 1.15)
    axes.axvline(1, color=GREY, linestyle="--", linewidth=1)
    axes.set_yticks(range(len(rows)), [
        f"{name.replace('_', ' ')}: {OPERATIONS[name]}" for name in rows])
    axes.invert_yaxis()
    entries = next(entries for name, entries in results.runs(document).items()
                   if name.startswith("operations/"))
    axes.set_xlabel("multiple of the ping-pong floor")
    axes.set_title(
        "What each primitive costs while nobody waits, critical section\n"
        f"({len(entries)} x {entries[0]['iterations']} rounds; bar: median, "
        "whisker: min to max, cut at the edge)", fontsize=10, loc="right")
    axes.legend(labels.values(), labels.keys(), frameon=False,
                loc="lower right", bbox_to_anchor=(0.92, 0.02))
    axes.spines[["top", "right"]].set_visible(False)
    foot(figure, document)
    save(figure, folder, "operations")


def family(found, prefix):
    """([number], [what was found]) of all names that are prefix and number."""
    numbers = sorted(int(name.removeprefix(prefix))
                     for name in found if name.startswith(prefix))
    return numbers, [found[f"{prefix}{number}"] for number in numbers]


def waiters_of(counted, policy):
    """([waiters], [polls in 1000 idle rounds]) under a policy."""
    waiters, rounds = family(counted, f"waiters/{policy}/")
    return waiters, [each["polls"] * 1000 for each in rounds]


def draw_waiters(document, folder):
    counted = results.counts(document)
    figure, axes = pyplot.subplots(figsize=(7, 4))
    drawn = False
    for policy, colour, marker in (("single_slot", ORANGE, "s"),
                                   ("queue", BLUE, "o")):
        waiters, polls = waiters_of(counted, policy)
        if not waiters:
            continue
        drawn = True
        axes.plot(waiters, polls, color=colour, marker=marker,
                  label=POLICIES[policy])
        for x, y in zip(waiters, polls):
            axes.annotate(f"{y:.0f}", (x, y), textcoords="offset points",
                          xytext=(0, 7), ha="center", fontsize=9)
    if not drawn:
        pyplot.close(figure)
        return
    axes.set_xticks([1, 2, 4, 8])
    axes.set_xlabel("tasks that wait on one channel")
    axes.set_ylabel("polls in 1000 idle rounds")
    axes.margins(y=0.15)
    axes.set_ylim(bottom=0)
    axes.set_title("What waiting costs while nothing happens")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    foot(figure, document)
    save(figure, folder, "waiters")


def plot_log2(axes, counts, medians):
    """For comparison, a logarithm from the first of them on, as near to the
    others as it gets."""
    start = medians[0]
    logs = [math.log2(count / counts[0]) for count in counts]
    slope = (sum(log * (median - start) for log, median in zip(logs, medians))
             / sum(log * log for log in logs))
    axes.plot(counts, [start + slope * log for log in logs], color=GREY,
              linestyle="--", label="for comparison: "
              f"{start:.0f} ns + {slope:.1f} ns x log2(timers"
              f"{'' if counts[0] == 1 else f' / {counts[0]}'})")


def draw_timers(document, folder):
    times = results.times(document)
    figure, axes = pyplot.subplots(figsize=(7, 4))
    drawn = False
    for kind, title, colour, marker in (
            ("expire", "expire the earliest", ORANGE, "s"),
            ("insert", "insert", BLUE, "o")):
        counts, values = family(times, f"timers/{kind}/")
        if not counts:
            continue
        drawn = True
        medians = [statistics.median(each) for each in values]
        whiskers = [(median - min(each), max(each) - median)
                    for median, each in zip(medians, values)]
        axes.errorbar(counts, medians, yerr=list(zip(*whiskers)),
                      color=colour, marker=marker, label=title,
                      ecolor="black", elinewidth=1, capsize=4)
        if kind == "expire" and len(counts) > 1:
            plot_log2(axes, counts, medians)
    if not drawn:
        pyplot.close(figure)
        return
    entries = next(entries for name, entries
                   in results.runs(document).items()
                   if name.startswith("timers/"))
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(ticker.FormatStrFormatter("%d"))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set_xlabel("timers in the queue when it is full, logarithmic")
    axes.set_ylabel("ns per timer")
    axes.set_ylim(bottom=0)
    axes.set_title(
        "The queue of timers, filled and emptied\n"
        f"({len(entries)} x {entries[0]['iterations']} timers; "
        "dot: median, whisker: min to max of the repetitions)", fontsize=10)
    axes.legend(frameon=False, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    foot(figure, document)
    save(figure, folder, "timers")


def draw_isr_to_task(document, folder):
    found = results.runs(document)
    names = [name for name in WAKE_UPS if found.get(name)]
    if not names:
        return
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for row, name in enumerate(names):
        label, color, marker = WAKE_UPS[name]
        for column, key in enumerate(PERCENTILES):
            values = [entry[key] / 1e3 for entry in found[name]]
            median = statistics.median(values)
            place = column + 0.29 * (row - (len(names) - 1) / 2)
            axes.errorbar(place, median,
                          yerr=[[median - min(values)], [max(values) - median]],
                          color=color, ecolor=color, marker=marker,
                          markersize=7, capsize=3, linewidth=0, elinewidth=1,
                          label=None if column else label)
            axes.annotate(f"{float(f'{median:.2g}'):g}", (place, median),
                          textcoords="offset points", xytext=(6, 0),
                          va="center", fontsize=8)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.margins(x=0.12, y=0.15)
    axes.set_xticks(range(len(PERCENTILES)),
                    [key.removesuffix("_ns") for key in PERCENTILES])
    axes.set_xlabel("percentile of the wake-ups of one repetition")
    axes.set_ylabel("us, logarithmic")
    entries = found[names[0]]
    axes.set_title(
        "From another thread's raise to the first line of what it wakes\n"
        f"({len(entries)} x {entries[0]['iterations']} times; "
        "mark: median, whisker: min to max of the repetitions)", fontsize=10)
    axes.legend(frameon=False, loc="upper left", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    foot(figure, document)
    save(figure, folder, "isr_to_task")


# A colour for each of those whose figures stand side by side.
COLOURS = {"doze": BLUE, "Embassy": ORANGE, "FreeRTOS": GREEN}


def qemu_rows(table, key, columns):
    """[(title, whose, has LTO, {column: number})], doze's builds first. A
    peer's title begins with whose it is."""
    found, builds, peers = table
    rows = [(f"doze, {qemu_tables.BUILDS[build]}", "doze", build.endswith("lto"),
             {column: value for column, value in columns(found, build).items()
              if value is not None}) for build in builds]
    rows += [(peer["who"], peer["who"].split(",")[0].split()[0],
              peer.get("lto", False), peer) for peer in peers[key]]
    return [row for row in rows if row[3]]


def pingpong_columns(found, build):
    return {mutex: qemu_tables.value_of(found, f"pingpong/{mutex}", build,
                                        "instructions")
            for mutex in qemu_tables.MUTEXES}


def draw_qemu_pingpong(document, folder):
    table = (qemu_tables.by_build(document), qemu_tables.builds_of(document),
             results.load_peers())
    rows = qemu_rows(table, "pingpong", pingpong_columns)
    floor = qemu_tables.value_of(table[0], "pingpong/floor", "os_lto",
                                 "instructions")
    figure, panels = pyplot.subplots(
        1, len(qemu_tables.MUTEXES), sharex=True, sharey=True,
        figsize=(11, 0.33 * len(rows) + 1.9))
    for axes, mutex in zip(panels, qemu_tables.MUTEXES):
        for row, (_, whose, has_lto, values) in enumerate(rows):
            if mutex not in values:
                continue
            axes.barh(row, values[mutex], color=COLOURS[whose], height=0.7,
                      alpha=1 if has_lto else 0.55)
            axes.text(values[mutex] + 15, row, f"{values[mutex]:g}",
                      va="center", fontsize=8)
        if floor:
            axes.axvline(floor, color=GREY, linestyle="--", linewidth=1)
        axes.set_title(qemu_tables.title_of(mutex), fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(range(len(rows)), [row[0] for row in rows])
    panels[0].invert_yaxis()
    panels[0].set_xlim(0, 1.15 * max(values[mutex] for *_, values in rows
                                     for mutex in qemu_tables.MUTEXES
                                     if mutex in values))
    panels[1].set_xlabel("instructions per round trip on a Cortex-M4 (dark: "
                         "with LTO; dashed: floor, two bare state machines)")
    figure.suptitle("Ping-pong of two tasks over two channels, by raw mutex")
    foot(figure, document)
    save(figure, folder, "qemu_pingpong")


# What is in the image and in RAM, from the left.
PARTS = {"text": BLUE, "rodata": "#56B4E9", "data": GREEN, "bss": ORANGE}


def draw_qemu_sizes(document, folder):
    found = qemu_tables.by_build(document)
    rows = [(f"doze, {qemu_tables.BUILDS[build]}, "
             f"{qemu_tables.title_of(mutex)}", sizes)
            for mutex in qemu_tables.MUTEXES
            for build, sizes in found.get(
                f"size/pingpong_minimal_{mutex}", {}).items()]
    if not rows:
        return
    # Not those with a HAL.
    rows += [(peer["who"], peer) for peer in
             results.load_peers()["minimal"] if "bss" in peer]
    figure, axes = pyplot.subplots(figsize=(9, 0.3 * len(rows) + 1.7))
    for row, (_, sizes) in enumerate(rows):
        left = 0
        for part, colour in PARTS.items():
            size = sizes.get(part, 0)
            axes.barh(row, size, left=left, color=colour, height=0.7,
                      label=None if row else f".{part}")
            left += size
        axes.text(left + 60, row, " + ".join(
            str(sizes[part]) for part in PARTS if part in sizes),
            va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [row[0] for row in rows])
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.set_xlabel("bytes (of others what is known)")
    axes.set_title("The minimal ping-pong, with start-up and vector table")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    foot(figure, document)
    save(figure, folder, "qemu_sizes")


def draw(folder):
    """Draws all that the files in a folder have figures for."""
    matplotlib.rcParams["svg.hashsalt"] = "doze"
    for name, figures in (("bench.json", (draw_pingpong, draw_operations,
                                          draw_timers, draw_isr_to_task)),
                          ("count.json", (draw_waiters,)),
                          ("qemu.json", (draw_qemu_pingpong,
                                         draw_qemu_sizes))):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue
        document = results.load(path)
        for figure in figures:
            figure(document, folder)


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: figures.py DIR    draws anew what DIR's bench.json, "
              "count.json and qemu.json have figures for", file=sys.stderr)
        return 0 if arguments in (["--help"], ["-h"]) else 2
    if not os.path.isdir(arguments[0]):
        print(f"figures: there is no folder {arguments[0]}", file=sys.stderr)
        return 2
    try:
        draw(arguments[0])
    except (results.Unreadable, OSError) as error:
        print(f"figures: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
