# SPDX-License-Identifier: MIT
"""bench -- run the benchmarks that are built, print and plot what they say.

Called by scripts/bench, which installs and builds.
"""

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import figures
import results
from command import ROOT, Stop, commit

FOLDER = os.path.join("build", "release", "bench")
PROGRAMS = {"bench.json": "doze_bench", "count.json": "doze_count"}
LONG = tuple(figures.WAKE_UPS)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--filter", default="")
    parser.add_argument("--check", action="store_true",
                        help="only look whether the arguments can be used")
    options = parser.parse_args(arguments)
    try:
        re.compile(options.filter)
    except re.error as error:
        raise Stop(2, f"--filter {options.filter!r}: {error}") from error
    return options


def cpu():
    """The processor's own name for itself."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"


def wait_with_progress(process, title):
    """Waits for a process; a terminal sees the seconds pass, if there is a
    title."""
    if title is None:
        return process.communicate()
    begin = time.monotonic()
    show = sys.stderr.isatty()
    print(title, end="" if show else "\n", file=sys.stderr, flush=True)
    while True:
        try:
            output, errors = process.communicate(timeout=1)
            break
        except subprocess.TimeoutExpired:
            if show:
                print(f"\r{title} {time.monotonic() - begin:.0f} s", end="",
                      file=sys.stderr, flush=True)
    if show:
        print(file=sys.stderr)
    return output, errors


def call(title, *arguments):
    """What a program writes to standard output; raises Stop if it fails."""
    process = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        output, errors = wait_with_progress(process, title)
    except BaseException:
        process.kill()
        process.wait()
        raise
    if process.returncode != 0:
        raise Stop(1, f"{arguments[0]} ended with {process.returncode}: "
                      f"{errors.strip()}")
    return output, errors


def names_of(program, pattern):
    """The benchmarks whose names match."""
    output, errors = call(None, program, "--benchmark_list_tests",
                          f"--benchmark_filter={pattern or '.'}")
    if "Could not compile benchmark re" in output + errors:
        raise Stop(2, f"--filter {pattern!r}: {program} does not understand "
                      "it; it knows POSIX regular expressions")
    return [line for line in output.splitlines()
            if line and not line.startswith("Failed to match")]


def measure(name, options, folder):
    """Runs one program; False if the filter leaves nothing of it. What takes
    long runs apart: all else takes turns with the floor, and in so short a time
    that the machine hardly changes its state meanwhile."""
    program = os.path.join(FOLDER, PROGRAMS[name])
    names = names_of(program, options.filter)
    parts = []
    for group in ([name for name in names if name not in LONG],
                  [name for name in names if name in LONG]):
        if not group:
            continue
        path = os.path.join(folder, "part.json")
        pattern = "|".join(f"^{re.escape(name)}$" for name in group)
        call(f"running {PROGRAMS[name]}: {', '.join(families(group))}",
             program, f"--benchmark_filter={pattern}",
             f"--benchmark_out={path}", "--benchmark_out_format=json",
             *(["--quick"] if options.quick else []))
        parts.append(results.load(path))
        os.unlink(path)
    if parts:
        write(os.path.join(folder, name), parts)
    return bool(parts)


def families(names):
    """pingpong/noop and pingpong/floor are of one family: pingpong."""
    return list(dict.fromkeys(name.split("/")[0] for name in names))


def write(path, parts):
    """Joins what was measured apart. Says where and of what it was measured;
    leaves out the host's name."""
    document = parts[0]
    for part in parts[1:]:
        document["benchmarks"] += part["benchmarks"]
    context = document["context"]
    context.pop("host_name", None)
    context["commit"] = commit()
    context["cpu"] = cpu()
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def events(counts):
    return "  ".join(f"{name} {value:.9g}" for name, value in counts.items())


def print_pingpong(document, counted):
    """A line for each ping-pong: the times of a round trip, their ratio to the
    floor, and the events of one round trip."""
    times = results.times(document)
    floor = statistics.median(times.get(results.FLOOR, [0]))
    for name, title in figures.pingpongs(times).items():
        values = times[name]
        rounds = results.runs(document)[name][0]["iterations"]
        median = statistics.median(values)
        line = (f"{title:26}{rounds} round trips x {len(values)}: "
                f"min {min(values):.1f} ns  median {median:.1f} ns  "
                f"max {max(values):.1f} ns per round trip")
        if floor:
            line += f"  {median / floor:5.2f} x floor"
        count = counted.get(f"pingpong/{name.split('/')[1]}/queue")
        if count:
            line += "  " + events(count)
        print(line)


def beside_the_host(document, name):
    """How many times what the host alone takes, by the p50."""
    found = results.runs(document)
    parts = []
    for other in figures.WAKE_UPS:
        if name == "isr_to_task/doze" and other != name and found.get(other):
            ours, theirs = (
                statistics.median(entry["p50_ns"] for entry in found[each])
                for each in (name, other))
            parts.append(f"p50 {ours / theirs:.2f} x {other.split('/')[1]}")
    return "".join("; " + part for part in parts)


def print_others(document):
    times = results.times(document)
    ratios = results.ratios(document)
    for name in figures.order(times):
        if name in figures.pingpongs(times):
            continue
        values = times[name]
        if name.startswith("isr_to_task/"):
            entries = results.runs(document)[name]
            parts = []
            for key in figures.PERCENTILES:
                value = statistics.median(entry[key] for entry in entries)
                parts.append(f"{key.removesuffix('_ns')} {value / 1e3:.1f} us")
            print(f"{name:26}{'  '.join(parts)}  (median of "
                  f"{len(entries)} x {entries[0]['iterations']} wake-ups"
                  f"{beside_the_host(document, name)})")
        else:
            ratio = ""
            if name.startswith("operations/") and name in ratios:
                ratio = f"  {ratios[name]:5.2f} x floor"
            print(f"{name:40}min {min(values):.2f} ns  median "
                  f"{statistics.median(values):.2f} ns  max "
                  f"{max(values):.2f} ns{ratio}")


def print_counts(counted):
    units = {"waiters": "idle round", "contended": "operation",
             "wait_100ms": "wait",
             "preemption": "interrupt"}
    for name in figures.order(counted):
        unit = units.get(name.split("/")[0], "round trip")
        print(f"{name:40}{events(counted[name])}  per {unit}")


def print_tables(folder, measured):
    document = {"benchmarks": []}
    counted = {}
    if "bench.json" in measured:
        document = results.load(os.path.join(folder, "bench.json"))
    if "count.json" in measured:
        counted = results.counts(
            results.load(os.path.join(folder, "count.json")))
    print_pingpong(document, counted)
    print_others(document)
    print_counts(counted)


def publish(folder, out, names):
    """Moves the files that are complete to where they are wanted. Those of an
    earlier run that this one did not make go: a result is of one run."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    made = os.listdir(folder)
    for name in made:
        if os.path.isdir(os.path.join(out, name)):
            raise Stop(2, f"{os.path.join(out, name)} is a folder")
    for name in made:
        os.replace(os.path.join(folder, name), os.path.join(out, name))
    for name in names:
        if name not in made and os.path.exists(os.path.join(out, name)):
            os.unlink(os.path.join(out, name))


def writable(out):
    """A scratch folder beside what is to be written, in the same file system."""
    try:
        os.makedirs(out, exist_ok=True)
        return tempfile.mkdtemp(prefix=".measuring-", dir=out)
    except OSError as error:
        raise Stop(2, f"cannot write to {out}: {error.strerror}") from error


def run(options):
    out = os.path.abspath(options.out)
    folder = writable(out)
    try:
        if options.check:
            return
        measured = [name for name in PROGRAMS
                    if measure(name, options, folder)]
        if not measured:
            raise Stop(2, f"no benchmark matches --filter {options.filter!r}")
        figures.draw(folder)
        publish(folder, out, figures.FILES)
        print_tables(out, measured)
        sys.stdout.flush()
        print(f"written to {os.path.relpath(out)}", file=sys.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(arguments):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        run(parse(arguments))
    except Stop as stop:
        print(f"bench: {stop}", file=sys.stderr)
        return stop.code
    except BrokenPipeError:  # whoever reads the table has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (results.Unreadable, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbench: interrupted; nothing was written", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
