# SPDX-License-Identifier: MIT
"""command -- what the scripts share as commands: they end with one line and an
exit code, and print tables."""

import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Stop(Exception):
    """Ends with a line on standard error and an exit code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        raise Stop(2, f"{message}; see --help")


def run_command(name, run, arguments):
    """Runs a command; returns its exit code."""
    try:
        run(arguments)
        sys.stdout.flush()
    except Stop as stop:
        print(f"{name}: {stop}", file=sys.stderr)
        return stop.code
    except BrokenPipeError:  # whoever reads the table has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print(f"\n{name}: interrupted; nothing was written", file=sys.stderr)
        return 130
    return 0


def markdown(heads, lines):
    rows = [heads, ["---"] + ["--:"] * (len(heads) - 1), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |"
                     for row in rows) + "\n"


def commit():
    """The commit that is checked out, with a + if it was changed; not counting
    results, which a script may have written just now."""
    git = ["git", "-C", ROOT]
    try:
        head = subprocess.run(git + ["rev-parse", "--short=12", "HEAD"],
                              capture_output=True, text=True, check=True)
        dirty = subprocess.run(git + ["status", "--porcelain", "-uno", "--",
                                      ".", ":!results"],
                               capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.stdout.strip() + ("+" if dirty.stdout.strip() else "")
