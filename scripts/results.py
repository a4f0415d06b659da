# SPDX-License-Identifier: MIT
"""results -- read what doze_bench and doze_count write.

Both write Google Benchmark's JSON. A result is a folder with a bench.json and
a count.json, or one such file.
"""

import json
import os
import statistics

FLOOR = "pingpong/floor"
COUNTERS = ("wakes", "polls", "pends", "sleeps", "passes", "interrupts",
            "late_max_us")


class Unreadable(Exception):
    """A file that cannot be used; the text says why, in one line."""


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
            f"{path} is not a result of doze_bench or doze_count") from error


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


class Result:
    """What is in a folder, or in one file of it."""

    def __init__(self, path):
        self.ratios = {}
        self.counts = {}
        if os.path.isdir(path):
            files = [os.path.join(path, name)
                     for name in ("bench.json", "count.json")]
        else:
            files = [path]
        for file in files:
            document = load(file)
            try:
                self.ratios.update(ratios(document))
                self.counts.update(counts(document))
            except (AttributeError, KeyError, TypeError, ValueError,
                    ZeroDivisionError) as error:
                raise Unreadable(f"{file} is not a result of doze_bench or "
                                 "doze_count") from error
        if not self.ratios and not self.counts:
            raise Unreadable(f"{path} has neither counts nor a floor")
