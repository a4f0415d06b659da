# SPDX-License-Identifier: MIT
"""qemu_bench -- run what is built for the Cortex-M4 in QEMU, print and plot it.

Called by scripts/qemu-bench, which installs and builds.
"""

import json
import os
import shutil
import signal
import sys

import figures
import qemu
import qemu_tables
from bench import publish, writable
from command import Parser, Stop, commit, run_command


def parse(arguments):
    parser = Parser(prog="qemu_bench", description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("presets", nargs="+", choices=qemu.BUILDS)
    return parser.parse_args(arguments)


def say(text):
    print(text, file=sys.stderr, flush=True)


def entry(name, build, counters):
    """As Google Benchmark writes them, but for the time, which is none."""
    name = f"{name}/{build}"
    return {"name": name, "run_name": name, "run_type": "iteration", **counters}


def measure_build(preset):
    """The entries of all programs of a build."""
    build = qemu.BUILDS[preset]
    programs = qemu.programs(preset)
    for program, path in programs.items():
        if qemu.has_results(program):
            title = f"{preset}: {program}"
            say(f"running {title}")
            for name, counters in qemu.parse(title, qemu.run(title, path)):
                yield entry(name, build, counters)
    for program, path in programs.items():
        yield entry(f"size/{program.removeprefix('qemu_')}", build,
                    qemu.sizes(path))


def measure(presets):
    """The document: entries, and what made them."""
    entries = {}
    for preset in presets:
        for each in measure_build(preset):
            if each["name"] in entries:
                raise Stop(1, f"two results are called {each['name']}")
            entries[each["name"]] = each
    return {
        "context": {
            "commit": commit(),
            "qemu": qemu.version(),
            "newlib": qemu.newlib(),
            "builds": {qemu.BUILDS[preset]: {"compiler": qemu.compiler(preset),
                                             "flags": qemu.flags(preset)}
                       for preset in presets},
        },
        "benchmarks": list(entries.values()),
    }


def run(arguments):
    options = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    out = os.path.abspath(options.out)
    folder = writable(out)
    try:
        document = measure(options.presets)
        with open(os.path.join(folder, "qemu.json"), "w",
                  encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
        figures.draw(folder)
        publish(folder, out, figures.QEMU_FILES)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    qemu_tables.print_all(document)
    sys.stdout.flush()
    say(f"written to {os.path.relpath(out)}")


def main(arguments):
    return run_command("qemu-bench", run, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
