# SPDX-License-Identifier: MIT
"""minimal_test -- does a program that prints nothing play ping-pong?

Looks at it from outside, through the monitor of QEMU: at the number that its
first task has got to, and at the board's counter. So the very program that is
weighed is also counted.

    minimal_test.py PROGRAM QEMU-WITH-FLAGS...
"""

import re
import subprocess
import sys
import time

COUNTER = 0x40002004     # the value of the dual timer's first timer: down
NUMBER = 32              # bytes of a task, before its number
COUNTS, INSTRUCTIONS = 32, 5
ENOUGH, PATIENCE_S = 100000, 30


def address_of(symbol, program):
    listing = subprocess.run(["arm-none-eabi-nm", program], check=True,
                             capture_output=True, text=True).stdout
    return int(re.search(rf"^(\w+) . {symbol}$", listing, re.M)[1], 16)


class Monitor:
    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def word_at(self, address):
        """While the core stands still."""
        self.say(f"xp /1wx {address:#x}")
        for line in self.process.stdout:
            found = re.search(rf"{address:08x}: 0x(\w+)", line)
            if found:
                return int(found[1], 16)
        sys.exit("the program has ended")


def main():
    program, *qemu = sys.argv[1:]
    qemu[qemu.index("-monitor") + 1] = "stdio"
    qemu[qemu.index("-serial") + 1] = "null"
    number_at = address_of("pings_slots", program) + NUMBER
    monitor = Monitor([*qemu, program])
    monitor.say("stop")
    before = monitor.word_at(number_at), monitor.word_at(COUNTER)
    end = time.monotonic() + PATIENCE_S
    trips = 0
    while trips < ENOUGH and time.monotonic() < end:
        monitor.say("cont")
        time.sleep(0.1)
        monitor.say("stop")
        trips = monitor.word_at(number_at) - before[0]
    counts = (before[1] - monitor.word_at(COUNTER)) % 2**32
    monitor.say("quit")
    if trips < ENOUGH:
        sys.exit(f"only {trips} round trips")
    print(f"{trips} round trips, of "
          f"{counts * INSTRUCTIONS / COUNTS / trips:.2f} instructions")


main()
