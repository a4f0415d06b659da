# SPDX-License-Identifier: MIT
"""Tests of the traces that the simulated machine writes, run by pytest, and of
the parser that looks at them."""

import json
import os
import subprocess

import pytest

import trace_check

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLE = os.path.join(ROOT, "build", "release", "sim", "trace_example")
TICKS = 20


def run_example(time, folder):
    """What sim/trace_example writes: its JSON, its VCD, its hash."""
    paths = [str(folder / "trace.json"), str(folder / "pins.vcd")]
    process = subprocess.run([EXAMPLE, time, *paths], capture_output=True,
                             text=True, check=True, timeout=60)
    texts = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    return texts[0], texts[1], process.stdout.split()


@pytest.fixture(name="written", params=["virtual", "real"], scope="module")
def written_by_the_example(request, tmp_path_factory):
    return run_example(request.param, tmp_path_factory.mktemp("trace"))


def names(text, phase):
    return [event["name"] for event in json.loads(text)
            if event["ph"] == phase and "name" in event]


def test_every_trace_is_well_nested(written):
    assert trace_check.json_faults(written[0]) == []
    assert written[2][1] == "0"


def test_the_pins_are_a_valid_vcd_file(written):
    assert trace_check.vcd_faults(written[1]) == []


def test_the_pins_have_all_their_changes(written):
    levels = [level for _, pin, level in trace_check.vcd_changes(written[1])
              if pin == "pin1"]
    assert len(levels) >= 1 + 2 * TICKS
    assert levels == ["x"] + ["1", "0"] * (len(levels) // 2)
    assert names(written[0], "C").count("pin 1") == len(levels) - 1


def test_every_task_interrupt_and_core_has_a_track(written):
    metadata = [event["args"]["name"] for event in json.loads(written[0])
                if event["ph"] == "M"]
    for name in ("core 0", "core 1", "board", "tickers[0]", "blinkers[0]",
                 "receivers[0]", "helpers[0]", "irq 1", "irq 2", "irq 3"):
        assert metadata.count(name) == 1, name


def test_polls_handlers_and_locks_are_slices(written):
    slices = names(written[0], "B")
    assert slices.count("irq 1") >= TICKS
    for name in ("tickers[0]", "helpers[0]", "irq 2", "lock tick_signal",
                 "lock local_channel", "lock remote_channel"):
        assert name in slices


def test_who_wakes_whom_is_an_arrow(written):
    events = json.loads(written[0])
    thread = {event["tid"]: event["args"]["name"] for event in events
              if event["ph"] == "M" and event["name"] == "thread_name"}
    begun = {event["id"]: thread[event["tid"]] for event in events
             if event["ph"] == "s"}
    arrows = {(begun[event["id"]], thread[event["tid"]]) for event in events
              if event["ph"] == "f"}
    assert {("irq 1", "tickers[0]"), ("tickers[0]", "blinkers[0]"),
            ("tickers[0]", "helpers[0]"), ("irq 1", "irq 2"),
            ("tickers[0]", "irq 239"),
            ("irq 239", "receivers[0]")} <= arrows


def test_in_virtual_time_two_traces_are_the_same(tmp_path):
    assert run_example("virtual", tmp_path) == run_example("virtual", tmp_path)


# The parser.

def event(phase, time, tid=1, **more):
    return {"ph": phase, "pid": 2, "tid": tid, "ts": time, **more}


NAMES = [{"ph": "M", "pid": 2, "tid": tid, "name": "thread_name",
          "args": {"name": "x"}} for tid in (1, 2)]


def faults(*events):
    return trace_check.json_faults(json.dumps(NAMES + list(events)))


def test_the_parser_takes_what_is_right():
    assert not faults(event("B", 1), event("s", 2, id=1), event("B", 3, 2),
                      event("f", 3, 2, id=1), event("E", 4, 2), event("E", 5))


@pytest.mark.parametrize("events, fault", [
    ([event("B", 1)], "without an end"),
    ([event("E", 1)], "without a beginning"),
    ([event("i", 2), event("i", 1)], "time goes back"),
    ([event("B", 1), event("B", 2, 2), event("E", 3), event("E", 4, 2)],
     "ends within another"),
    ([event("B", 1), event("f", 1, id=1), event("E", 1)], "has not begun"),
    ([event("B", 2), event("s", 2, id=1), event("B", 1, 2),
      event("f", 1, 2, id=1), event("E", 2, 2), event("E", 2)],
     "has not begun"),
    ([event("B", 1), event("s", 1, id=1), event("s", 1, id=1),
      event("E", 1)], "begins twice"),
    ([event("s", 1, id=1)], "outside of slices"),
    ([event("i", 1, 3)], "without a name"),
    (NAMES, "second name"),
])
def test_the_parser_finds_each_fault(events, fault):
    assert any(fault in found for found in faults(*events))


def test_the_parser_finds_broken_json():
    assert "no JSON" in trace_check.json_faults("[{]")[0]


VCD = """$timescale 1 ns $end
$var wire 1 ! pin0 $end
$enddefinitions $end
#0
$dumpvars
x!
$end
#5
1!
"""


@pytest.mark.parametrize("more, fault", [
    ("#5\n0!\n", "time goes back"), ("#6\n1!\n", "no change"),
    ("#6\n0?\n", "no VCD"), ("#6\nz!\n", "no change")])
def test_the_parser_finds_a_broken_vcd(more, fault):
    assert trace_check.vcd_faults(VCD) == []
    assert fault in trace_check.vcd_faults(VCD + more)[0]
