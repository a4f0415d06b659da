# SPDX-License-Identifier: MIT
"""sizes -- what each primitive takes on a Cortex-M4: RAM and flash.

Called by scripts/sizes, which installs what is missing. What is measured is in
sizes.c.

Each function is in a section of its own, and what it calls or points to is in
the relocations. So the flash of an operation is known without a linker: it is
what a linker would keep.
"""

import json
import os
import re
import struct
import subprocess
import sys

import results
from command import ROOT, Parser, Stop, markdown, run_command

BUILD = os.path.join(ROOT, "build", "sizes")
SOURCE = os.path.join("scripts", "sizes.c")
COMPILER = "clang"
TARGET = ["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4", "-mthumb", "-Os",
          # As gcc does without being told.
          "-fomit-frame-pointer", "-munaligned-access"]
FLAGS = ["-std=c11", "-ffreestanding", "-DDZ_CHECKS=0", "-ffunction-sections",
         "-fdata-sections", "-Wall", "-Wextra", "-Werror", "-I.",
         "-Iexecutor/ports/cortex_m"]

NOTES = """\
RAM: one object. For Embassy and FreeRTOS: what theirs for the same thing takes,
where that is known. A task of FreeRTOS has a stack besides; Embassy's is without
timers in the line "task", and with them in the line "task with a timer".

Code per type: all operations that sizes.c lists, each used once, inline as they
are. Another type (of item, capacity, raw mutex) has them again, another object of
the same type does not. Code once: what they call, however many types there are. In
the first line this is what every program has, and the other lines leave that out.
They share some of the rest, so two lines together take less than their sum.

Not counted: port.c, the texts of panics, and what the compiler's library brings.
The RAM of block_on is on the stack; its task is static.
"""

# As --out calls them.
PEERS = {"embassy": "Embassy", "freertos": "FreeRTOS"}


class Object:
    """An object file of a 32-bit machine: ELF, little-endian."""

    ALLOC, WRITE, STRINGS = 2, 1, 0x20
    SYMBOLS, RELOCATIONS = 2, 9
    SHARED_NUMBERS = 0xff00

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        offset, = struct.unpack_from("<I", self.bytes, 32)
        count, = struct.unpack_from("<H", self.bytes, 48)
        self.sections = [struct.unpack_from("<10I", self.bytes,
                                            offset + 40 * i)
                         for i in range(count)]
        self.symbols = []
        self.uses = {}
        for section in self.sections:
            if section[1] == self.SYMBOLS:
                self.read_symbols(section)
        for section in self.sections:
            if section[1] == self.RELOCATIONS:
                self.read_relocations(section)

    def read_symbols(self, table):
        names = self.sections[table[6]][4]
        for at in range(table[4], table[4] + table[5], 16):
            name, _, size, info, _, section = struct.unpack_from(
                "<IIIBBH", self.bytes, at)
            end = self.bytes.index(b"\0", names + name)
            self.symbols.append((self.bytes[names + name:end].decode(), size,
                                 info >> 4, section))

    def read_relocations(self, table):
        """{section: [(symbol, section of the symbol or 0)]}"""
        used = self.uses.setdefault(table[7], [])
        for at in range(table[4], table[4] + table[5], 8):
            _, info = struct.unpack_from("<II", self.bytes, at)
            name, _, _, section = self.symbols[info >> 8]
            used.append((name, section))

    def globals(self):
        """{name: (size, section)} of what it defines, in its order."""
        return {name: (size, section)
                for name, size, binding, section in self.symbols
                if binding and 0 < section < self.SHARED_NUMBERS}

    def flash(self, section):
        """The bytes of code or constants. Texts are not counted: how many are
        left depends on what the port does with a panic."""
        flags, size = self.sections[section][2], self.sections[section][5]
        if not flags & self.ALLOC or flags & (self.WRITE | self.STRINGS):
            return 0
        return size


def sources():
    """Of the layers that a target has, as the build lists them."""
    found = []
    for folder in ("executor", "sync"):
        with open(os.path.join(ROOT, folder, "CMakeLists.txt"),
                  encoding="utf-8") as file:
            names = re.search(rf"doze_layer\({folder}\b([^)]*)\)", file.read())
        found += [f"{folder}/{name}" for name in names[1].split()]
    return found


def compile_all():
    """{source: its object}"""
    objects = {}
    os.makedirs(BUILD, exist_ok=True)
    for source in [*sources(), SOURCE]:
        path = os.path.join(BUILD, source.replace("/", "_")[:-1] + "o")
        command = [COMPILER, *TARGET, *FLAGS, "-c", source, "-o", path]
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            raise Stop(1, f"{source} does not compile for the Cortex-M4")
        objects[source] = Object(path)
    return objects


class Program:
    """All objects, as a linker sees them."""

    def __init__(self, objects):
        self.objects = objects
        self.defined = {name: (source, section)
                        for source, unit in objects.items()
                        for name, (_, section) in unit.globals().items()}

    def closure(self, symbols):
        """The sections {(source, number)} that the symbols need. What the port
        and the compiler's library supply is not among them."""
        found = set()
        todo = [self.defined[symbol] for symbol in symbols]
        while todo:
            source, section = todo.pop()
            if (source, section) in found:
                continue
            found.add((source, section))
            for name, number in self.objects[source].uses.get(section, []):
                if number != 0:
                    todo.append((source, number))
                elif name in self.defined:
                    todo.append(self.defined[name])
        return found

    def flash(self, sections):
        return sum(self.objects[source].flash(number)
                   for source, number in sections)


def read_rows(unit):
    """[{name, ram, embassy, freertos, operations: {name: symbol}}]"""
    rows = {}
    for symbol, (size, _) in sorted(
            unit.globals().items(), key=lambda item: order(item[0])):
        row, separator, what = symbol.partition("__")
        if not separator:
            continue
        entry = rows.setdefault(row, {"name": row.replace("_", " "),
                                      "operations": {}})
        if what == "ram":
            entry["ram"] = size
            entry.update(ram_of_others(row))
        else:
            entry["operations"][what] = symbol
    for entry in rows.values():
        if "ram" not in entry:
            raise Stop(1, f"{SOURCE}: {entry['name']} has no RAM(...)")
    return [entry for entry in rows.values() if entry["operations"]]


def ram_of_others(row):
    others = results.load_peers()["rows"].get(f"ram/{row} bytes", {})
    return {peer: others[who] for peer, who in PEERS.items() if who in others}


def order(symbol):
    """Where it stands in sizes.c: a compiler writes symbols in an order of its
    own."""
    row, _, what = symbol.partition("__")
    return place_of(row), TEXT.find(f"{row}__{what}(")


def place_of(row):
    """Where the first operation of a row stands in sizes.c."""
    found = re.search(rf"\b{row}__", TEXT)
    return found.start() if found else -1


def measure(program):
    """The rows, each with its numbers."""
    rows = read_rows(program.objects[SOURCE])
    base = program.closure(rows[0]["operations"].values())
    for row in rows:
        symbols = row["operations"]
        needed = program.closure(symbols.values())
        if row is not rows[0]:
            needed -= base
        row["typed"] = program.flash(
            part for part in needed if part[0] == SOURCE)
        row["shared"] = program.flash(
            part for part in needed if part[0] != SOURCE)
        row["operations"] = {
            name: program.flash([program.defined[symbol]])
            for name, symbol in symbols.items()}
    return rows


def table(rows):
    heads = ["bytes on a Cortex-M4", "RAM",
             *(f"RAM, {peer}" for peer in PEERS.values()), "code per type",
             "code once"]
    return markdown(heads, [
        [row["name"], row["ram"], *(row.get(peer, "") for peer in PEERS),
         row["typed"], row["shared"]] for row in rows])


def operations_table(rows):
    return markdown(["operation", "code"], [
        [f"{row['name']}: {name.replace('_', ' ')}", size]
        for row in rows for name, size in row["operations"].items()])


def version():
    process = subprocess.run([COMPILER, "--version"], capture_output=True,
                             text=True, check=True)
    return process.stdout.splitlines()[0]


def parse(arguments):
    parser = Parser(prog="sizes", description=__doc__)
    parser.add_argument("--operations", action="store_true")
    parser.add_argument("--out", metavar="FILE")
    return parser.parse_args(arguments)


def run(arguments):
    options = parse(arguments)
    rows = measure(Program(compile_all()))
    print(table(rows))
    if options.operations:
        print(operations_table(rows))
    print(NOTES)
    print(f"{version()}, {' '.join(TARGET[1:])}")
    if options.out is not None:
        document = {"compiler": version(), "flags": TARGET + FLAGS,
                    "rows": rows}
        try:
            with open(options.out, "w", encoding="utf-8") as file:
                json.dump(document, file, indent=2)
                file.write("\n")
        except OSError as error:
            raise Stop(2, f"cannot write {options.out}: "
                          f"{error.strerror}") from error


def main(arguments):
    return run_command("sizes", run, arguments)


with open(os.path.join(ROOT, SOURCE), encoding="utf-8") as source_file:
    TEXT = source_file.read()

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
