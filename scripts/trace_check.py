# SPDX-License-Identifier: MIT
"""Checks the files of a trace: usage: trace_check.py FILE.json|FILE.vcd ...

Prints what is wrong, a line each. Exit code: 0 nothing, 1 something.
"""

import json
import sys
from decimal import Decimal


def slice_faults(events):
    """Slices of a thread are balanced, and its time does not go back."""
    last = {}
    depth = {}
    for event in events:
        if event["ph"] == "M":
            continue
        track = (event["pid"], event["tid"])
        if event["ts"] < last.get(track, 0):
            yield f"time goes back: {event}"
        last[track] = event["ts"]
        depth.setdefault(track, 0)
        if event["ph"] == "B":
            depth[track] += 1
        elif event["ph"] == "E":
            depth[track] -= 1
            if depth[track] < 0:
                yield f"an end without a beginning: {event}"
                depth[track] = 0
    for track, open_slices in depth.items():
        if open_slices:
            yield f"{open_slices} slices without an end: {track}"


def nesting_faults(events):
    """All that a core does nests: an interrupt's slice lies within the one that
    it interrupts, though that is another thread's. The board is no core."""
    stacks = {}
    for event in events:
        stack = stacks.setdefault(event["pid"], [])
        if event["pid"] == 1:
            continue
        if event["ph"] == "B":
            stack.append(event["tid"])
        elif event["ph"] == "E" and (not stack
                                     or stack.pop() != event["tid"]):
            yield f"ends within another slice: {event}"


def flow_faults(events):
    """An arrow ends once, in a slice, and not before it begins."""
    begun = {}
    depth = {}
    for event in events:
        if event["ph"] in "BE":
            track = (event["pid"], event["tid"])
            depth[track] = depth.get(track, 0) + (
                1 if event["ph"] == "B" else -1)
        elif event["ph"] in "sf":
            if not depth.get((event["pid"], event["tid"]), 0):
                yield f"an arrow outside of slices: {event}"
        if event["ph"] == "s":
            if event["id"] in begun:
                yield f"an arrow begins twice: {event}"
            begun[event["id"]] = event["ts"]
        elif event["ph"] == "f" and not (
                begun.pop(event["id"], Decimal("inf")) <= event["ts"]):
            yield f"an arrow ends that has not begun: {event}"


def name_faults(events):
    """Every thread has one name, and every process."""
    names = {}
    for event in events:
        track = (event["pid"], event["tid"])
        if event["ph"] == "M" and event["name"] == "thread_name":
            if track in names:
                yield f"a second name: {event}"
            names[track] = event["args"]["name"]
        elif event["ph"] != "M" and track not in names:
            yield f"a thread without a name: {event}"


def json_faults(text):
    try:
        events = json.loads(text, parse_float=Decimal)
    except ValueError as error:
        return [f"no JSON: {error}"]
    return [fault for check in (slice_faults, nesting_faults, flow_faults,
                                name_faults) for fault in check(events)]


def vcd_changes(text):
    """[(time, pin, level)] of a VCD file; ValueError if it is none."""
    header, _, body = text.partition("$enddefinitions $end\n")
    pins = {}
    for line in header.splitlines():
        words = line.split()
        if words[0] == "$var":
            if words[1:3] != ["wire", "1"] or words[5:] != ["$end"]:
                raise ValueError(f"not a pin: {line}")
            pins[words[3]] = words[4]
    if "$timescale 1 ns $end" not in header or not body:
        raise ValueError("no header")
    changes = []
    time = None
    for line in body.splitlines():
        if line.startswith("#"):
            if time is not None and int(line[1:]) <= time:
                raise ValueError(f"time goes back: {line}")
            time = int(line[1:])
        elif line not in ("$dumpvars", "$end"):
            changes.append((time, pins[line[1:]], line[0]))
    return changes


def vcd_faults(text):
    try:
        changes = vcd_changes(text)
    except (KeyError, ValueError) as error:
        return [f"no VCD: {error}"]
    levels = {}
    faults = []
    for time, pin, level in changes:
        if level not in "01x" or levels.get(pin) == level:
            faults.append(f"no change: {pin} = {level} at {time}")
        levels[pin] = level
    return faults


def faults_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return vcd_faults(text) if path.endswith(".vcd") else json_faults(text)


def main(paths):
    faults = [f"{path}: {fault}" for path in paths for fault in faults_of(path)]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
