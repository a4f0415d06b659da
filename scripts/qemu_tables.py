# SPDX-License-Identifier: MIT
"""qemu_tables -- what qemu-bench has counted, beside the figures of others.

    python3 scripts/qemu_tables.py results/qemu.json

prints the tables of a result again.
"""

import sys

import results
from command import Stop, markdown, run_command

MUTEXES = ("noop", "thread_mode", "critical_section")
SECTIONS = ("text", "rodata", "data", "bss")
BUILDS = {
    "os": "-Os",
    "os_lto": "-Os LTO",
    "o2": "-O2",
    "o2_lto": "-O2 LTO",
    "os_clang": "-Os clang",
}
PINGPONGS = {
    "pingpong/{}": "doze",
    "pingpong/{}/single_slot": "doze with a single waker slot",
    "checked/{}": "doze with checks",
}

MINIMAL = tuple(f"size/pingpong_minimal_{mutex}" for mutex in MUTEXES)

# What was asked of doze: text, benchmarks of which the largest counts, build,
# counter, limit.
BARS = (
    *((f"instructions per round trip, {mutex.replace('_', ' ')}, -Os LTO",
       [f"pingpong/{mutex}"], "os_lto", "instructions", limit)
      for mutex, limit in zip(MUTEXES, (240, 255, 250))),
    ("instructions from interrupt to task, Signal, -Os LTO",
     ["isr_to_task/signal"], "os_lto", "to_task", 80),
    ("instructions till an interrupt preempts a computing task, -Os LTO",
     ["preemption/interrupt_executor"], "os_lto", "max", 150),
    ("bytes of .text, largest minimal ping-pong, -Os LTO", MINIMAL, "os_lto",
     "text", 1460),
    ("bytes of .bss, largest minimal ping-pong, -Os LTO", MINIMAL, "os_lto",
     "bss", 208),
    ("bytes of RAM, empty task", ["ram/task"], "os", "bytes", 32),
    ("bytes of RAM, channel of four words", ["ram/channel_of_4_words"], "os",
     "bytes", 40),
)

WHO = ("Embassy", "FreeRTOS")

# Title, and the first parts of the names that are in a table.
FAMILIES = (
    ("Static tasks (section 1)", ("spawn",)),
    ("Woken by an interrupt (section 2)",
     ("isr_to_task", "wake_three_times", "timer_wake", "wait_100ms")),
    ("Preemption (section 3), and delays", ("preemption", "delay_50ms")),
    ("Primitives while nobody waits", ("operations",)),
)
# Those of which there are tables of another kind.
APART = ("ram", "size", "pingpong", "checked")


def by_build(document):
    """{name: {build: {counter: value}}}; the build is the last part of a
    benchmark's name."""
    found = {}
    for name, counters in results.exact(document).items():
        name, _, build = name.rpartition("/")
        found.setdefault(name, {})[build] = counters
    return found


def builds_of(document):
    return list(document["context"]["builds"])


def titles(builds):
    return [BUILDS[build] for build in builds]


def title_of(mutex):
    return mutex.replace("_", " ")


def number(value):
    """How a number is printed; a list is from and to."""
    if isinstance(value, list):
        return " ... ".join(dict.fromkeys(number(each) for each in value))
    if isinstance(value, float):
        return f"{value:.9g}"
    return "" if value is None else str(value)


def value_of(found, name, build, counter):
    return found.get(name, {}).get(build, {}).get(counter)


def pingpong_table(found, builds, peers):
    heads = ["instructions per round trip",
             *map(title_of, MUTEXES)]
    lines = []
    for pattern, title in PINGPONGS.items():
        for build in builds:
            values = [value_of(found, pattern.format(mutex), build,
                               "instructions") for mutex in MUTEXES]
            if any(value is not None for value in values):
                lines.append([f"{title}, {BUILDS[build]}", *map(number, values)])
    lines += [[peer["who"], *(number(peer.get(mutex)) for mutex in MUTEXES)]
              for peer in peers["pingpong"]]
    return markdown(heads, lines)


def ram_table(found, builds, peers):
    """Of one object of each kind; the same in each build."""
    lines = []
    for name, counted in found.items():
        if name.startswith("ram/"):
            others = peers["rows"].get(f"{name} bytes", {})
            lines.append([name.removeprefix("ram/").replace("_", " "),
                          counted[builds[0]]["bytes"],
                          *(number(others.get(who)) for who in WHO)])
    return markdown(["bytes of RAM", "doze", *WHO], lines)


def minimal_table(found, builds, peers):
    """Of the program that does nothing but the ping-pong."""
    lines = []
    for mutex in MUTEXES:
        for build in builds:
            sizes = found.get(f"size/pingpong_minimal_{mutex}",
                              {}).get(build)
            if sizes:
                lines.append([f"doze, {BUILDS[build]}, {title_of(mutex)}",
                              *(sizes[section] for section in SECTIONS)])
    lines += [[peer["who"], *(number(peer.get(section))
                              for section in SECTIONS)]
              for peer in peers["minimal"]]
    return markdown(["bytes of the minimal ping-pong",
                     *(f".{section}" for section in SECTIONS)], lines)


def rows_of(counters):
    """Which counters have a row: a minimum shares that of its maximum."""
    for counter in counters:
        if counter.startswith("min"):
            yield [counter, counter.replace("min", "max", 1)]
        elif not (counter.startswith("max")
                  and counter.replace("max", "min", 1) in counters):
            yield [counter]


def family_table(found, builds, peers, families):
    """The counters of each benchmark of some families."""
    lines = []
    for name, counted in found.items():
        if name.split("/")[0] not in families:
            continue
        counters = dict.fromkeys(counter for each in counted.values()
                                 for counter in each if counter != "stack")
        for row in rows_of(counters):
            others = {who: value for counter in row for who, value in
                      peers["rows"].get(f"{name} {counter}", {}).items()
                      if who != "source"}
            lines.append([f"{name}: {' ... '.join(row)}",
                          *(number([value_of(found, name, build, counter)
                                    for counter in row]) for build in builds),
                          "; ".join(f"{who} {number(value)}"
                                    for who, value in others.items())])
    return markdown(["in instructions (_us: in microseconds)",
                     *titles(builds), "others"], lines)


def stack_table(found, builds):
    lines = [[name, *(number(value_of(found, name, build, "stack"))
                      for build in builds)]
             for name, counted in found.items()
             if not name.startswith("operations/")
             and any("stack" in each for each in counted.values())]
    return markdown(["bytes of stack at the deepest", *titles(builds)], lines)


def largest(values):
    values = list(values)
    return None if None in values else max(values)


def bars(found, builds, peers):
    """(what is asked, limit, what is) of each bar."""
    for text, names, build, counter, limit in BARS:
        yield text, limit, largest(value_of(found, name, build, counter)
                                   for name in names)
    best = peers["pingpong"][0]
    for mutex in MUTEXES:
        yield (f"instructions per round trip, {title_of(mutex)}, slowest build "
               f"(below {best['who']})", best[mutex] - 1,
               largest(value_of(found, f"pingpong/{mutex}", build,
                                "instructions") for build in builds))


def bars_table(found, builds, peers):
    lines = [[text, limit, number(value),
              "not measured" if value is None
              else "yes" if value <= limit else "**no**"]
             for text, limit, value in bars(found, builds, peers)]
    return markdown(["what was asked for", "at most", "is", "holds"], lines)


def tables(document):
    """(title, table) of all there is."""
    found, builds = by_build(document), builds_of(document)
    peers = results.load_peers()
    yield "RAM (section 1)", ram_table(found, builds, peers)
    for title, families in FAMILIES:
        yield title, family_table(found, builds, peers, families)
    known = {*APART, *(each for _, families in FAMILIES for each in families)}
    rest = {name.split("/")[0] for name in found} - known
    if rest:
        yield "Others", family_table(found, builds, peers, rest)
    yield ("Raw mutexes and LTO (sections 5 and 12)",
           pingpong_table(found, builds, peers))
    yield "Sizes", minimal_table(found, builds, peers)
    yield "Stack", stack_table(found, builds)
    yield "What was asked for", bars_table(found, builds, peers)


def print_all(document):
    for title, table in tables(document):
        print(f"## {title}\n\n{table}")
    print("Sections are those of the first of the sources of others' figures:\n")
    for source in results.load_peers()["sources"].values():
        print(f" - {source}")
    context = document["context"]
    print(f"\nQEMU {context['qemu']}, newlib {context['newlib']}, commit "
          f"{context['commit']}")
    for build, how in context["builds"].items():
        print(f"{BUILDS[build]} ({build}): {how['compiler']}, {how['flags']}")


def run(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        raise Stop(2, "usage: qemu_tables.py QEMU.JSON")
    try:
        print_all(results.load(arguments[0]))
    except results.Unreadable as error:
        raise Stop(2, str(error)) from error


def main(arguments):
    return run_command("qemu_tables", run, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
