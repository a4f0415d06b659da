# SPDX-License-Identifier: MIT
"""where -- where each instruction of one round trip goes.

Called by scripts/where, which builds. QEMU runs the program one instruction at a
time and says where each of them is. Between two consecutive entries of the same
function lies one round trip: that of ping, once it is warm.
"""

import collections
import itertools
import os
import re
import subprocess
import sys

import qemu
from command import ROOT, Parser, Stop, markdown, run_command

ENTRY = "pings_poll"
# By then all is in its place: the tasks wait, and each round is as the last one.
VISIT = 100
# Who has not been there that often by then, will not: it is idle for ever.
INSTRUCTIONS = 10**7
# QEMU looks at an address and takes it back: the budget of instructions was
# used up, or a peripheral wants the instruction to be translated anew.
TAKEN_BACK = re.compile(r"Stopped execution of TB|cpu_io_recompile: rewound")
EXECUTED = re.compile(r"Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/")


def single_step():
    """How QEMU is told to translate one instruction at a time."""
    major, minor = (int(part) for part in qemu.version().split(".")[:2])
    if (major, minor) >= (8, 1):
        return ["-accel", "tcg,one-insn-per-tb=on"]
    return ["-singlestep"]


def executed(lines):
    """The address of each instruction, in the order of execution."""
    last = None
    for line in lines:
        match = EXECUTED.match(line)
        if match:
            if last is not None:
                yield last
            last = int(match[1], 16)
        elif TAKEN_BACK.match(line):
            last = None
    if last is not None:
        yield last


def between(addresses, entry, visit):
    """Those from one visit of an address to the next."""
    visits = 0
    found = []
    for address in addresses:
        visits += address == entry
        if visits == visit:
            found.append(address)
        elif visits > visit:
            return found
    raise Stop(1, f"the entry was passed {visits} times, and not {visit + 1}: "
                  "these are no round trips")


def trace(path, entry, visit):
    """The addresses of one round trip of a program."""
    command, kernel = qemu.emulator()[:-1], qemu.emulator()[-1]
    serial = command.index("-serial")
    command[serial + 1] = "null"
    process = subprocess.Popen(
        [*command, *single_step(), "-d", "exec,nochain", "-D", "/dev/stdout",
         kernel, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, errors="replace")
    try:
        return between(itertools.islice(executed(process.stdout), INSTRUCTIONS),
                       entry, visit)
    finally:
        process.kill()
        process.wait()


def without_suffix(symbol):
    """pings_poll.lto_priv.0 is what the source calls pings_poll."""
    return symbol.split(".")[0]


def address_of(path, symbol):
    text = qemu.tool("arm-none-eabi-nm", "--defined-only", path)
    found = {name: int(address, 16) for address, name
             in re.findall(r"^([0-9a-f]+) [tT] (\S+)$", text, re.M)
             if symbol in (name, without_suffix(name))}
    if not found:
        raise Stop(2, f"{os.path.basename(path)} has no function {symbol}")
    if len(found) > 1:
        raise Stop(2, f"{os.path.basename(path)} has several functions {symbol}:"
                      f" {', '.join(sorted(found))}; see --entry")
    return found.popitem()[1]


def places(path, addresses):
    """{address: (function, file:line)}, of the innermost inlined function."""
    text = qemu.tool("arm-none-eabi-addr2line", "-a", "-i", "-f", "-e", path,
                     input="".join(f"{address:#x}\n" for address in addresses))
    found = {}
    for part in re.split(r"^0x", text, flags=re.M)[1:]:
        address, function, place = part.splitlines()[:3]
        place = re.sub(r" \(discriminator \d+\)", "", place)
        found[int(address, 16)] = (without_suffix(function),
                                   os.path.relpath(place, ROOT)
                                   if os.path.isabs(place) else place)
    return found


def part_of(function, place, by):
    """The row in which an instruction is counted."""
    file = place.rpartition(":")[0]
    return {"file": file, "function": f"{file}: {function}",
            "line": f"{place}: {function}"}[by]


def table(addresses, found, by):
    """Where most of them are first."""
    counts = collections.Counter(part_of(*found[address], by)
                                 for address in addresses)
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return markdown(["where", "instructions"],
                    [*rows, ["in all", len(addresses)]])


def parse(arguments):
    parser = Parser(prog="where", description=__doc__)
    parser.add_argument("--preset", required=True)
    parser.add_argument("--entry", default=ENTRY)
    parser.add_argument("--by", default="function",
                        choices=("file", "function", "line"))
    parser.add_argument("program")
    return parser.parse_args(arguments)


def run(arguments):
    options = parse(arguments)
    programs = qemu.programs(options.preset)
    if options.program not in programs:
        raise Stop(2, f"there is no program {options.program}, but: "
                      f"{', '.join(programs)}")
    path = programs[options.program]
    addresses = trace(path, address_of(path, options.entry), VISIT)
    print(table(addresses, places(path, sorted(set(addresses))), options.by),
          end="")


def main(arguments):
    return run_command("where", run, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
