# SPDX-License-Identifier: MIT
"""qemu -- the builds for the Cortex-M4, and how their programs run in QEMU.

They are in the folder bench/qemu of a build. Those that are called qemu_... write
a line of JSON for each result, {"name": "spawn", "instructions": 80}, and end with
0; the others are there for their size.
"""

import json
import os
import re
import subprocess

from command import ROOT, Stop

# What the builds by CMake's presets are called in the names of results.
BUILDS = {
    "cortex-m4": "os",
    "cortex-m4-lto": "os_lto",
    "cortex-m4-o2": "o2",
    "cortex-m4-o2-lto": "o2_lto",
    "cortex-m4-clang": "os_clang",
}
TOOLCHAIN = os.path.join(ROOT, "sim", "qemu", "arm-none-eabi.cmake")
SECTIONS = ("text", "rodata", "data", "bss")
TIMEOUT = 300
LAST_LINES = 5


def folder(preset):
    return os.path.join(ROOT, "build", preset)


def is_program(path):
    """An executable for a 32-bit Arm: ELF, of the type ET_EXEC, for EM_ARM."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        head = file.read(20)
    return head[:5] == b"\x7fELF\1" and head[16:20] == b"\2\0\x28\0"


def programs(preset):
    """{name: path} of all programs of a build that measure something."""
    place = os.path.join(folder(preset), "bench", "qemu")
    try:
        names = sorted(os.listdir(place))
    except OSError as error:
        raise Stop(2, f"build/{preset} is not built; "
                      "scripts/qemu-bench does that") from error
    return {name: os.path.join(place, name) for name in names
            if is_program(os.path.join(place, name))}


def has_results(program):
    return program.startswith("qemu_")


def emulator():
    """The command that runs a program, as ctest has it from the toolchain."""
    with open(TOOLCHAIN, encoding="utf-8") as file:
        found = re.search(r"set\(CMAKE_CROSSCOMPILING_EMULATOR\s([^)]*)\)",
                          file.read())
    return found[1].split()


def last_of(output):
    lines = output.strip().splitlines()[-LAST_LINES:]
    return "".join(f"\n    {line}" for line in lines) or " nothing"


def run(title, path):
    """What a program writes; raises Stop if it fails, or does not end."""
    try:
        process = subprocess.run(
            [*emulator(), path], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT,
            text=True, errors="replace", check=False)
    except subprocess.TimeoutExpired as error:
        output = (error.output or b"").decode(errors="replace")
        raise Stop(1, f"{title} did not end in {TIMEOUT} s; the last it "
                      f"wrote:{last_of(output)}") from error
    if process.returncode != 0:
        raise Stop(1, f"{title} ended with {process.returncode}; the last it "
                      f"wrote:{last_of(process.stdout)}")
    return process.stdout


def parse(title, output):
    """[(name, {counter: number})] of the lines that a program wrote."""
    found = []
    for line in output.splitlines():
        try:
            counters = json.loads(line)
            name = counters.pop("name")
            if not all(type(value) in (int, float)
                       for value in counters.values()):
                raise TypeError("a counter is a number")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Stop(1, f"{title} wrote what is no result: {line}") from error
        found.append((name, counters))
    return found


def tool(*command, **options):
    """What a tool of the toolchain writes."""
    try:
        return subprocess.run(command, capture_output=True, text=True,
                              check=True, **options).stdout
    except OSError as error:
        raise Stop(2, f"cannot run {command[0]}: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        raise Stop(1, f"{command[0]} failed: {error.stderr.strip()}") from error


def sizes(path):
    """{section: bytes}, of those that take flash or RAM."""
    found = {}
    for line in tool("arm-none-eabi-size", "-A", path).splitlines():
        words = line.split()
        if words and words[0].removeprefix(".") in SECTIONS:
            found[words[0].removeprefix(".")] = int(words[1])
    return {name: found.get(name, 0) for name in SECTIONS}


def cache(preset):
    """CMake's variables of a build."""
    with open(os.path.join(folder(preset), "CMakeCache.txt"),
              encoding="utf-8") as file:
        return dict(re.findall(r"^(\w+):\w+=(.*)$", file.read(), re.M))


def flags(preset):
    variables = cache(preset)
    kind = variables["CMAKE_BUILD_TYPE"].upper()
    lto = variables.get("CMAKE_INTERPROCEDURAL_OPTIMIZATION") == "ON"
    return " ".join([variables["CMAKE_C_FLAGS"],
                     variables[f"CMAKE_C_FLAGS_{kind}"]] + ["-flto"] * lto)


def compiler(preset):
    name = "clang" if "clang" in preset else "arm-none-eabi-gcc"
    return tool(name, "--version").splitlines()[0]


def version():
    """QEMU's, without what the distribution adds to it."""
    text = tool(emulator()[0], "--version")
    return re.search(r"version (\d+\.\d+\.\d+)", text)[1]


def newlib():
    text = tool("arm-none-eabi-gcc", "-E", "-dM", "-x", "c", "-",
                input="#include <newlib.h>\n")
    return re.search(r'_NEWLIB_VERSION "(.*)"', text)[1]
