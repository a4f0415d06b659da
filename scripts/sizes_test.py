# SPDX-License-Identifier: MIT
"""Tests of scripts/sizes and of the headers for a Cortex-M, run by pytest."""

import json
import os
import subprocess

import pytest

import sizes

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion",
            "-Wundef", "-Wstrict-prototypes", "-Wswitch-default",
            "-Wimplicit-fallthrough", "-Wconditional-uninitialized", "-Werror"]

# By pencil: pointers and words of 4 bytes, two counts of 2 in each of the
# units. A timer's node has a key of 8, and so has its frame.
BYTES = {
    "task": 4 + 3 * 4 + 4 * 4,
    "waker": 4,
    "atomic waker": 4,
    "multi waker of 4": 4 + 2 * 2 + 4 * 4,
    "blocking mutex of a word": 4,
    "signal of a word": (4 + 2 * 2) + 4,
    "channel of 4 words": 2 * (4 + 2 * 2) + 4 * 4,
    "task with a timer": 32 + 2 * 4 + (2 * 4 + 8 + 2 * 4),
    "task with a deadline": 32 + (2 * 4 + 8 + 2 * 4),
    # A fork of one branch, and a flag.
    "task that can be cancelled": 32 + (2 * 4 + 4) + (16 + 4) + 4,
    "guard": 2 * 4,
    "pubsub of 4 words": 4 * 4 + 2 * 2 + 4 * 4,
    "subscriber of a pubsub": 3 * 4 + (4 + 2 * 2) + 2 * 2,
    "watch of a word": 2 * 4 + 8 + 8 + 8,
    "receiver of a watch": 2 * 4 + 8,
}


@pytest.fixture(name="measured", scope="module")
def measured_rows(tmp_path_factory):
    """What --out writes: {name: row}."""
    out = tmp_path_factory.mktemp("sizes") / "sizes.json"
    process = subprocess.run(
        [os.path.join(sizes.ROOT, "scripts", "sizes"), "--no-install",
         "--operations", "--out", str(out)],
        capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    document = json.loads(out.read_text())
    assert sizes.ROOT not in out.read_text()
    assert "| task | 32 | 24 | 56 | " in process.stdout
    assert "| channel of 4 words: try send | " in process.stdout
    return {row["name"]: row for row in document["rows"]}


def test_ram_is_what_the_fields_add_up_to(measured):
    assert {name: measured[name]["ram"] for name in BYTES} == BYTES


def test_every_row_has_operations_and_every_operation_has_code(measured):
    for row in measured.values():
        assert row["operations"], row["name"]
        for name, size in row["operations"].items():
            # A branch is 2 bytes; none of ours is as large as a page.
            assert 2 <= size < 512, (row["name"], name)


def test_the_operations_of_a_type_add_up(measured):
    for row in measured.values():
        assert row["typed"] >= sum(row["operations"].values()), row["name"]


def test_what_every_program_has_is_counted_once(measured):
    assert list(measured)[0] == "executor"
    # Only a lock and an unlock, all inline.
    assert measured["blocking mutex of a word"]["shared"] == 0
    # A ticker is a timer and more.
    assert (measured["ticker"]["shared"]
            > measured["task with a timer"]["shared"] > 0)


def test_rows_are_in_the_order_of_the_source(measured):
    places = [sizes.TEXT.index(f" {name.replace(' ', '_')}__")
              for name in measured]
    assert places == sorted(places)


@pytest.mark.parametrize("target", [
    ["--target=thumbv6m-none-eabi", "-mcpu=cortex-m0"],
    ["--target=thumbv7m-none-eabi", "-mcpu=cortex-m3"],
    ["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4"],
])
@pytest.mark.parametrize("level", ["-O0", "-Os"])
def test_the_port_is_for_all_of_armv6_m_and_armv7_m(tmp_path, target, level):
    for source in ("executor/executor.c", "executor/timer.c",
                   "sync/channel.c", "scripts/sizes.c"):
        process = subprocess.run(
            ["clang", *target, level, "-std=c11", "-ffreestanding", *WARNINGS,
             "-I.", "-Iexecutor/ports/cortex_m", "-c", source, "-o",
             str(tmp_path / "object.o")], cwd=sizes.ROOT, capture_output=True,
            text=True, check=False)
        assert process.returncode == 0, process.stderr


def test_wrong_use_is_one_line(capsys):
    for arguments in (["--bogus"], ["--out"]):
        assert sizes.main(arguments) == 2
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        assert "--help" in error
