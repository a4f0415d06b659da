# SPDX-License-Identifier: MIT
"""results -- read what doze_bench, doze_count and qemu-bench write.

All write Google Benchmark's JSON. A result is a folder with a bench.json and
a count.json, or one such file, or a qemu.json.
"""

import json
import os
import statistics

FLOOR = "pingpong/floor"
COUNTERS = ("wakes", "polls", "pends", "sleeps", "passes", "interrupts",
            "late_max_us")


class Unreadable(Exception):
    """A file that cannot be used; the text says why, in one line."""


def load_peers():
    """The figures of others, with their sources."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "peers.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def load(path):
    """The JSON document in a file."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if not isinstance(document["benchmarks"], list):
            raise KeyError("benchmarks")
        return document
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(
            f"{path} is not a result of doze_bench, doze_count or "
            "qemu-bench") from error


def runs(document):
    """The single repetitions: {benchmark: [entry, ...]}, in order of name."""
    found = {}
    for entry in document["benchmarks"]:
        if entry.get("run_type") == "iteration":
            found.setdefault(entry["run_name"], []).append(entry)
    return found


def times(document):
    """The times of the repetitions in ns: {benchmark: [ns, ...]}."""
    scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    return {
        name: [entry["real_time"] * scale[entry["time_unit"]]
               for entry in entries]
        for name, entries in runs(document).items()
    }


def medians(document):
    """{benchmark: median in ns}."""
    return {
        name: statistics.median(values)
        for name, values in times(document).items()
    }


def ratios(document):
    """{benchmark: multiple of the floor}; empty without the floor. What the
    host needs to deliver an interrupt is no multiple of anything of ours."""
    found = medians(document)
    if FLOOR not in found:
        return {}
    return {
        name: value / found[FLOOR]
        for name, value in found.items()
        if name not in (FLOOR, "lock/pthread_sigmask")
        and not name.startswith("isr_to_task/")
    }


def counts(document):
    """{benchmark: {counter: value}} of those that count events."""
    return {
        name: {key: entries[0][key] for key in COUNTERS if key in entries[0]}
        for name, entries in runs(document).items()
        if any(key in entries[0] for key in COUNTERS)
    }


def exact(document):
    """{benchmark: {counter: value}} of a qemu.json, where all is exact."""
    return {
        name: {key: value for key, value in entries[0].items()
               if isinstance(value, (int, float))}
        for name, entries in runs(document).items()
    }


def tools(document):
    """{tool: version} of a qemu.json: the same tools count the same. Of QEMU
    the series, which is what the distributions keep when they mend it."""
    context = document["context"]
    return {
        "QEMU": ".".join(context["qemu"].split(".")[:2]),
        "newlib": context["newlib"],
        **{f"the compiler of {name}": build["compiler"]
           for name, build in context["builds"].items()},
    }


def files_of(path):
    if not os.path.isdir(path):
        return [path]
    found = [os.path.join(path, name)
             for name in ("bench.json", "count.json", "qemu.json")]
    if os.path.exists(found[2]) and not os.path.exists(found[0]):
        return found[2:]
    return found[:2]


class Result:
    """What is in a folder, or in one file of it."""

    def __init__(self, path):
        self.ratios = {}
        self.counts = {}
        self.exact = {}
        self.tools = {}
        for file in files_of(path):
            document = load(file)
            try:
                if "qemu" in document.get("context", {}):
                    self.exact = exact(document)
                    self.tools = tools(document)
                    continue
                self.ratios.update(ratios(document))
                self.counts.update(counts(document))
            except (AttributeError, KeyError, TypeError, ValueError,
                    ZeroDivisionError) as error:
                raise Unreadable(f"{file} is not a result of doze_bench, "
                                 "doze_count or qemu-bench") from error
        if not self.ratios and not self.counts and not self.exact:
            raise Unreadable(f"{path} has neither counts nor a floor")
