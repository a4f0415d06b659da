# SPDX-License-Identifier: MIT
"""Tests of scripts/qemu-bench, of its gate and of scripts/where, run by pytest.

In most of them the programs, QEMU and the toolchain are fakes: a program is the
head of an ELF file, and what it does is a shell script beside it.
"""

import json
import os
import subprocess
import sys

import pytest

import command
import qemu
import qemu_bench
import qemu_tables
import results
import where

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
ELF = b"\x7fELF\1\1\1" + bytes(9) + b"\2\0\x28\0"

QEMU = """case "$1" in
--version) echo 'QEMU emulator version 7.2.22 (of some distribution)'; exit ;;
esac
for program; do :; done
. "$program.sh"
"""
GCC = """case "$1" in
--version) echo 'arm-none-eabi-gcc 12.2.1'; echo 'Copyright'; exit ;;
esac
echo '#define _NEWLIB_VERSION "3.3.0"'
"""
SIZE = """printf '.text 1000 0\\n.rodata 50 1000\\n.bss 12 536870912\\n.comment 9 0\\n'
"""
CACHE = """CMAKE_BUILD_TYPE:STRING=MinSizeRel
CMAKE_C_FLAGS:STRING=-mcpu=cortex-m4
CMAKE_C_FLAGS_MINSIZEREL:STRING=-Os -g
CMAKE_INTERPROCEDURAL_OPTIMIZATION:UNINITIALIZED=ON
"""


class Fake:
    """A tree with a build, and a PATH with tools."""

    def __init__(self, path):
        self.root = path / "tree"
        self.out = path / "out"
        self.bench = self.root / "build" / "cortex-m4-lto" / "bench" / "qemu"
        self.bench.mkdir(parents=True)
        (self.bench.parents[1] / "CMakeCache.txt").write_text(CACHE)
        self.tools = path / "tools"
        self.tools.mkdir()
        for name, text in (("qemu-system-arm", QEMU),
                           ("arm-none-eabi-gcc", GCC),
                           ("arm-none-eabi-size", SIZE)):
            self.tool(name, text)

    def tool(self, name, text):
        (self.tools / name).write_text(f"#!/bin/sh\n{text}")
        (self.tools / name).chmod(0o755)

    def program(self, name, script):
        (self.bench / name).write_bytes(ELF)
        (self.bench / f"{name}.sh").write_text(script)

    def run(self):
        return qemu_bench.main([f"--out={self.out}", "cortex-m4-lto"])

    def files(self):
        """{name: bytes} of what was written."""
        return {file.name: file.read_bytes() for file in self.out.iterdir()}


@pytest.fixture(name="fake")
def fake_tree(tmp_path, monkeypatch):
    fake = Fake(tmp_path)
    monkeypatch.setattr(qemu, "ROOT", str(fake.root))
    monkeypatch.setenv("PATH", f"{fake.tools}:{os.environ['PATH']}")
    monkeypatch.setattr(qemu_bench.signal, "signal", lambda *_: None)
    fake.program("qemu_pingpong_noop", """
echo '{"name": "pingpong/noop", "instructions": 231, "stack": 64}'
""")
    fake.program("pingpong_minimal_noop", "sleep 60")
    return fake


def test_results_are_named_after_benchmark_and_build(fake):
    assert fake.run() == 0
    document = json.loads(fake.files()["qemu.json"])
    assert document["benchmarks"] == [
        {"name": "pingpong/noop/os_lto", "run_name": "pingpong/noop/os_lto",
         "run_type": "iteration", "instructions": 231, "stack": 64},
        *({"name": f"size/{name}/os_lto", "run_name": f"size/{name}/os_lto",
           "run_type": "iteration", "text": 1000, "rodata": 50, "data": 0,
           "bss": 12} for name in ("pingpong_minimal_noop", "pingpong_noop"))]


def test_the_tools_are_named_and_nothing_of_when_and_where(fake):
    fake.run()
    context = json.loads(fake.files()["qemu.json"])["context"]
    assert context.pop("commit")
    assert context == {
        "qemu": "7.2.22", "newlib": "3.3.0",
        "builds": {"os_lto": {"compiler": "arm-none-eabi-gcc 12.2.1",
                              "flags": "-mcpu=cortex-m4 -Os -g -flto"}}}


def test_two_runs_are_the_same_byte_for_byte(fake, capsys):
    fake.run()
    first, printed = fake.files(), capsys.readouterr().out
    fake.run()
    assert fake.files() == first
    assert capsys.readouterr().out == printed
    assert sorted(first) == ["qemu.json", "qemu_pingpong.png",
                             "qemu_pingpong.svg", "qemu_sizes.png",
                             "qemu_sizes.svg"]


def test_numbers_stand_beside_those_of_others_and_the_bars(fake, capsys):
    fake.program("qemu_ram", """
echo '{"name": "ram/task", "bytes": 32}'
""")
    fake.run()
    printed = capsys.readouterr().out
    assert "| doze, -Os LTO | 231 |  |  |" in printed
    assert "| task | 32 | 24 | 56 |" in printed
    assert "| Embassy, best of 72 builds | 299 | 325 | 349 |" in printed
    assert "round trip, noop, -Os LTO | 240 | 231 | yes |" in printed
    assert "thread mode, -Os LTO | 255 |  | not measured |" in printed


def test_a_bar_that_is_missed_is_told(fake, capsys):
    fake.program("qemu_pingpong_noop", """
echo '{"name": "pingpong/noop", "instructions": 299}'
""")
    fake.run()
    printed = capsys.readouterr().out
    assert "round trip, noop, -Os LTO | 240 | 299 | **no** |" in printed
    assert "(below Embassy, best of 72 builds) | 298 | 299 | **no** |" in printed


def test_the_largest_minimal_program_counts():
    found = {name: {"os_lto": {"text": 1000, "bss": 140}}
             for name in qemu_tables.MINIMAL}
    found[qemu_tables.MINIMAL[-1]]["os_lto"]["text"] = 1461
    rows = qemu_tables.bars_table(found, ["os_lto"], results.load_peers())
    assert "largest minimal ping-pong, -Os LTO | 1460 | 1461 | **no** |" in rows
    del found[qemu_tables.MINIMAL[1]]
    rows = qemu_tables.bars_table(found, ["os_lto"], results.load_peers())
    assert "ping-pong, -Os LTO | 1460 |  | not measured |" in rows


def test_a_minimum_shares_the_row_of_its_maximum():
    found = {"preemption/interrupt_executor": {
        "os": {"min": 3, "max": 9, "max_us": 1.5},
        "o2": {"min": 4, "max": 4, "max_us": 1}}}
    rows = qemu_tables.family_table(found, ["os", "o2"], results.load_peers(),
                                    ["preemption"]).splitlines()[2:]
    assert rows == [
        "| preemption/interrupt_executor: min ... max | 3 ... 9 | 4 "
        "| Embassy, cycles 214 ... 222 |",
        "| preemption/interrupt_executor: max_us | 1.5 | 1 |  |"]


@pytest.mark.parametrize("script, complaint", [
    ("echo one; echo two; exit 70", "ended with 70; the last it wrote:\n"
                                    "    one\n    two"),
    ("exit 3", "ended with 3; the last it wrote: nothing"),
    ("echo begun; exec sleep 60", "did not end in 0.5 s; the last it wrote:\n"
                                  "    begun"),
    ("echo hello", "wrote what is no result: hello"),
    ("echo '{\"instructions\": 1}'", "wrote what is no result"),
    ("echo '{\"name\": \"a\", \"instructions\": \"1\"}'", "no result"),
    ("echo '[1]'", "no result"),
    ("echo '{\"name\": \"pingpong/noop\"}'", "two results are called"),
])
def test_a_program_that_goes_wrong_is_named(fake, script, complaint, capsys,
                                            monkeypatch):
    monkeypatch.setattr(qemu, "TIMEOUT", 0.5)
    fake.program("qemu_wrong", script)
    assert fake.run() == 1
    errors = capsys.readouterr().err
    assert complaint in errors
    assert "cortex-m4-lto: qemu_wrong" in errors
    assert "Traceback" not in errors


def test_what_goes_wrong_leaves_an_earlier_result(fake):
    fake.run()
    first = fake.files()
    fake.program("qemu_wrong", "exit 1")
    assert fake.run() == 1
    assert fake.files() == first


def test_an_interrupt_leaves_nothing_half_written(fake, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt
    monkeypatch.setattr(qemu, "run", interrupted)
    assert fake.run() == 130
    assert fake.files() == {}
    assert "nothing was written" in capsys.readouterr().err


def test_a_stale_figure_goes(fake):
    fake.out.mkdir()
    (fake.out / "qemu_sizes.png").write_text("stale")
    (fake.out / "bench.json").write_text("of scripts/bench")
    for program in fake.bench.glob("pingpong_minimal*"):
        program.unlink()
    fake.run()
    assert "qemu_sizes.png" not in fake.files()
    assert fake.files()["bench.json"] == b"of scripts/bench"


def test_a_tool_that_is_not_there_is_named(fake, capsys, monkeypatch):
    (fake.tools / "arm-none-eabi-size").unlink()
    monkeypatch.setenv("PATH", f"{fake.tools}:/nowhere")
    assert fake.run() == 2
    assert "cannot run arm-none-eabi-size" in capsys.readouterr().err


def test_what_is_not_built_is_named(fake, capsys):
    assert qemu_bench.main([f"--out={fake.out}", "cortex-m4"]) == 2
    assert "build/cortex-m4 is not built" in capsys.readouterr().err


def test_objects_and_host_programs_are_no_programs(fake):
    (fake.bench / "host").write_bytes(b"\x7fELF\2" + ELF[5:])
    (fake.bench / "object.o").write_bytes(ELF[:16] + b"\1\0\x28\0")
    (fake.bench / "short").write_bytes(b"\x7fELF")
    assert list(qemu.programs("cortex-m4-lto")) == [
        "pingpong_minimal_noop", "qemu_pingpong_noop"]


def test_the_emulator_is_that_of_ctest():
    assert qemu.emulator()[0] == "qemu-system-arm"
    assert "shift=8,sleep=off" in qemu.emulator()
    assert qemu.emulator()[-1] == "-kernel"


def test_every_figure_of_others_has_a_source():
    peers = results.load_peers()
    figures = [*peers["pingpong"], *peers["minimal"], *peers["rows"].values()]
    for figure in figures:
        for source in figure["source"].split():
            assert source in peers["sources"]


def qemu_json(path, benchmarks, qemu_version="7.2.22",
              compiler="gcc 12.2.1", newlib="3.3.0"):
    path.write_text(json.dumps({
        "context": {"commit": "1", "qemu": qemu_version, "newlib": newlib,
                    "builds": {"os": {"compiler": compiler, "flags": "-Os"}}},
        "benchmarks": [{"name": name, "run_name": name,
                        "run_type": "iteration", **counters}
                       for name, counters in benchmarks.items()]}))
    return str(path)


COUNTED = {"spawn/os": {"instructions": 239}, "size/x/os": {"text": 1000}}


def compare(*arguments):
    return subprocess.run([sys.executable, os.path.join(SCRIPTS, "compare"),
                           *arguments], capture_output=True, text=True,
                          check=False)


@pytest.fixture(name="old")
def old_result(tmp_path):
    return qemu_json(tmp_path / "old.json", COUNTED)


@pytest.mark.parametrize("changes, line", [
    ({"spawn/os": {"instructions": 240}}, "spawn/os: instructions 239 -> 240"),
    ({"spawn/os": {"instructions": 238}}, "spawn/os: instructions 239 -> 238"),
    ({"size/x/os": {"text": 999}}, "size/x/os: text 1000 -> 999"),
    ({"spawn/os": {"instructions": 239, "stack": 8}}, "stack none -> 8"),
    ({"spawn/os": {}}, "spawn/os: instructions 239 -> none"),
    ({"waits/os": {"polls": 1}}, "waits/os: new"),
])
def test_any_change_fails_the_gate(old, tmp_path, changes, line):
    new = qemu_json(tmp_path / "new.json", {**COUNTED, **changes})
    process = compare("--gate", old, new)
    assert process.returncode == 1
    (told,) = [told for told in process.stdout.splitlines()
               if told.startswith("! ")]
    assert line in told
    assert "1 differences" in process.stdout
    assert "update the baseline in the same commit" in process.stdout
    assert compare(old, new).returncode == 0


def test_what_is_gone_fails_the_gate(old, tmp_path):
    new = qemu_json(tmp_path / "new.json", {"spawn/os": COUNTED["spawn/os"]})
    process = compare("--gate", old, new)
    assert process.returncode == 1
    assert "! size/x/os: gone" in process.stdout


def test_the_same_counts_pass_the_gate(old, tmp_path):
    # A distribution's mended QEMU is of the same series.
    new = qemu_json(tmp_path / "new.json", COUNTED, qemu_version="7.2.99")
    process = compare("--gate", old, new)
    assert process.returncode == 0, process.stdout + process.stderr
    assert "2 benchmarks on target, 0 differences" in process.stdout


@pytest.mark.parametrize("tools, line", [
    ({"qemu_version": "8.0.22"}, "QEMU differs: 7.2 -> 8.0"),
    ({"compiler": "gcc 13"},
     "the compiler of os differs: gcc 12.2.1 -> gcc 13"),
    ({"newlib": "4.1.0"}, "newlib differs: 3.3.0 -> 4.1.0"),
])
def test_the_gate_refuses_what_other_tools_made(old, tmp_path, tools, line):
    new = qemu_json(tmp_path / "new.json", COUNTED, **tools)
    process = compare("--gate", old, new)
    assert process.returncode == 2
    assert f"compare: {line}" in process.stderr
    assert "cannot be gated" in process.stderr
    assert process.stdout == ""
    process = compare(old, new)
    assert process.returncode == 0
    assert line in process.stderr


def test_the_gate_refuses_a_result_of_the_host(old, tmp_path):
    count = tmp_path / "count.json"
    count.write_text(json.dumps({"context": {}, "benchmarks": [
        {"run_name": "a", "run_type": "iteration", "wakes": 1,
         "real_time": 1, "time_unit": "ns"}]}))
    process = compare("--gate", old, str(count))
    assert process.returncode == 2
    assert "QEMU differs: 7.2 -> none" in process.stderr


def test_a_folder_may_have_nothing_but_a_qemu_json(tmp_path):
    qemu_json(tmp_path / "qemu.json", COUNTED)
    assert results.Result(str(tmp_path)).exact == COUNTED


def test_a_broken_qemu_json_is_one_line(old, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"context": {"qemu": 7}, "benchmarks": []}')
    process = compare(old, str(broken))
    assert process.returncode == 2
    assert "not a result" in process.stderr
    assert "Traceback" not in process.stderr


def trace_line(address):
    return f"Trace 0: 0x7f49 [00800408/{address:08x}/00000110/ff020201] f\n"


def test_what_qemu_takes_back_was_not_executed():
    lines = [trace_line(0x10), trace_line(0x12),
             "Stopped execution of TB chain before 0x7f4 [00000012] f\n",
             trace_line(0x12), trace_line(0x14),
             "cpu_io_recompile: rewound execution of TB to 00000014\n",
             "an interrupt comes\n", trace_line(0x14), trace_line(0x16)]
    assert list(where.executed(lines)) == [0x10, 0x12, 0x14, 0x16]


def test_a_round_is_from_one_visit_to_the_next():
    addresses = iter([1, 2, 1, 3, 4, 1, 2])
    assert where.between(addresses, 1, 2) == [1, 3, 4]
    with pytest.raises(command.Stop, match="was passed 2 times, and not 3"):
        where.between([1, 2, 1, 3], 1, 2)


def test_instructions_are_counted_by_file_function_or_line():
    found = {1: ("f", "a.c:10"), 2: ("f", "a.c:11"), 3: ("g", "b.h:5")}
    addresses = [1, 2, 1, 3]
    assert where.table(addresses, found, "line").splitlines()[2:] == [
        "| a.c:10: f | 2 |", "| a.c:11: f | 1 |", "| b.h:5: g | 1 |",
        "| in all | 4 |"]
    assert where.table(addresses, found, "function").splitlines()[2:] == [
        "| a.c: f | 3 |", "| b.h: g | 1 |", "| in all | 4 |"]
    assert where.table(addresses, found, "file").splitlines()[2:] == [
        "| a.c | 3 |", "| b.h | 1 |", "| in all | 4 |"]


def script(name, *arguments, path=None):
    environment = {**os.environ, **({"PATH": path} if path else {})}
    return subprocess.run([os.path.join(SCRIPTS, name), *arguments],
                          capture_output=True, text=True, check=False,
                          env=environment)


def test_where_finds_the_instructions_that_are_counted():
    """With the real compiler and the real QEMU."""
    process = script("where", "--no-install", "qemu_pingpong_noop")
    assert process.returncode == 0, process.stderr
    program = qemu.programs("cortex-m4-lto")["qemu_pingpong_noop"]
    (_, counters), = qemu.parse("it", qemu.run("it", program))
    assert (process.stdout.splitlines()[-1]
            == f"| in all | {counters['instructions']} |")
    assert "executor/executor.c: " in process.stdout


@pytest.mark.parametrize("mutex", qemu_tables.MUTEXES)
def test_the_minimal_program_plays_pingpong(mutex):
    """It prints nothing, so nothing else shows that what is weighed works."""
    process = script("where", "--no-install", f"pingpong_minimal_{mutex}")
    assert process.returncode == 0, process.stderr
    assert "| bench/qemu/minimal.c: ping_poll | " in process.stdout
    assert "| bench/qemu/minimal.c: pong_poll | " in process.stdout


@pytest.mark.parametrize("name, arguments, complaint", [
    ("qemu-bench", ["--bogus"], "--bogus"),
    ("qemu-bench", ["--out"], "--out needs a value"),
    ("qemu-bench", ["--out="], "--out needs the name"),
    ("where", ["--bogus"], "--bogus"),
    ("where", ["--entry"], "--entry needs a value"),
    ("where", ["--preset", "release", "x"], "no preset release"),
    ("where", [], "program"),
    ("where", ["no_such_program"], "no program no_such_program, but: "),
    ("where", ["--entry=nowhere", "qemu_pingpong_noop"],
     "has no function nowhere"),
])
def test_wrong_use_is_told(name, arguments, complaint):
    process = script(name, *arguments)
    assert process.returncode == 2
    assert complaint in process.stderr
    assert "Traceback" not in process.stderr


def test_what_is_missing_is_named_with_its_package(tmp_path):
    for tool in ("bash", "basename", "dirname", "env", "id", "mkdir",
                 "readlink", "cmake", "ninja", "python3"):
        found = subprocess.run(["which", tool], capture_output=True, text=True,
                               check=True).stdout.strip()
        (tmp_path / tool).symlink_to(found)
    (tmp_path / "apt-get").symlink_to("/bin/false")
    for name, arguments in (("where", ["x"]), ("qemu-bench", [])):
        process = script(name, "--no-install", *arguments, path=str(tmp_path))
        assert process.returncode == 2
        for package in ("gcc-arm-none-eabi", "libnewlib-arm-none-eabi",
                        "qemu-system-arm"):
            assert package in process.stderr.splitlines()[-1]
