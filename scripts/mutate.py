# SPDX-License-Identifier: MIT
"""mutate -- break the code on purpose, and see that a test fails.

Called by scripts/mutate, which installs what is missing. The list of mutations
is scripts/mutations.toml, which says how it is written.
"""

import argparse
import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join("scripts", "mutations.toml")

# A mutant may hang. It gets this many times as long as the unmutated test takes,
# and no less than so many seconds.
PATIENCE = 20
SECONDS = 10


class Mistake(Exception):
    """Of the user or of the list: a line on standard error, and exit code 2."""


class Mutation:
    """An entry of the list."""

    KEYS = {"name", "file", "tests", "text", "instead", "preset"}

    def __init__(self, entry):
        name = entry.get("name", "a mutation without a name")
        for key in sorted(entry.keys() - self.KEYS):
            raise Mistake(f"{name}: there is no key {key}")
        for key in sorted(self.KEYS - {"instead", "preset"}):
            if not entry.get(key):
                raise Mistake(f"{name}: it has no {key}")
        self.name = name
        self.file = entry["file"]
        self.tests = entry["tests"]
        self.text = entry["text"]
        self.instead = entry.get("instead", "")
        self.preset = entry.get("preset", "release")

    def mutate(self, source):
        """The source with the mistake in it."""
        count = source.count(self.text)
        if count != 1:
            raise Mistake(f"{self.name}: its text is {count} times in "
                          f"{self.file}; it should be there once")
        if self.text == self.instead:
            raise Mistake(f"{self.name}: it changes nothing")
        return source.replace(self.text, self.instead)

    def statement(self):
        """What is changed, in one line."""
        text = " ".join(self.text.split())
        instead = " ".join(self.instead.split())
        return f"`{text}` → `{instead}`" if instead else f"`{text}`"


def read_list(root):
    """The mutations, in the order in which they are written."""
    path = os.path.join(root, LIST)
    try:
        with open(path, "rb") as file:
            entries = tomllib.load(file).get("mutation", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Mistake(f"{LIST}: {error}") from error
    mutations = [Mutation(entry) for entry in entries]
    names = [mutation.name for mutation in mutations]
    for name in names:
        if names.count(name) > 1:
            raise Mistake(f"{name}: two mutations have this name")
    return mutations


def check_texts(root, mutations):
    """All of them, before anything is built."""
    mistakes = []
    for mutation in mutations:
        try:
            mutation.mutate(read(os.path.join(root, mutation.file)))
        except Mistake as mistake:
            mistakes.append(str(mistake))
    if mistakes:
        raise Mistake("\n".join(mistakes))


def read(path):
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except OSError as error:
        raise Mistake(f"cannot read {path}: {error.strerror}") from error


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def target_of(test):
    """What builds a test: sync/channel, and sync/channel/virtual as well, is
    run by sync_channel_test."""
    return test.removesuffix("/virtual").replace("/", "_") + "_test"


class Sandbox:
    """A copy of the tree and its build by a preset, in build/mutate."""

    def __init__(self, root, jobs, preset):
        self.root = root
        self.jobs = str(jobs)
        self.preset = preset
        self.folder = os.path.join(root, "build", "mutate")
        self.tree = os.path.join(self.folder, "tree")
        self.build_folder = os.path.join(self.folder, preset)
        self.log = os.path.join(self.folder, f"{preset}.log")
        # A random test does what it always does, and the first case that fails
        # is the last.
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("DOZE_")}
        self.environment["CMOCKA_TEST_ABORT"] = "1"
        self.known = {}
        self.timeouts = {}

    @contextlib.contextmanager
    def locked(self):
        """Nobody else is in it meanwhile."""
        os.makedirs(self.tree, exist_ok=True)
        with open(os.path.join(self.folder, "lock"), "w",
                  encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Mistake("it is running already, in the same "
                              "build/mutate") from error
            yield

    def note(self, command, output):
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(f"+ {' '.join(command)}\n{output}\n")

    def run(self, *command):
        """Its output goes to the log, too."""
        process = subprocess.run(
            command, cwd=self.tree, env=self.environment, text=True,
            check=False, errors="replace", stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.note(command, process.stdout)
        return process

    def files(self):
        """What belongs to the tree: all that git does not ignore, changed or
        new as it may be."""
        process = subprocess.run(
            ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], capture_output=True, text=True,
            check=False)
        if process.returncode != 0:
            raise Mistake(f"git: {process.stderr.strip()}")
        return {name for name in process.stdout.split("\0")
                if name and os.path.isfile(os.path.join(self.root, name))}

    def copy(self):
        """Writes what differs only, so that little has to be built anew. A
        mutation that an interrupted run has left behind differs, too."""
        names = self.files()
        for folder, _, there in os.walk(self.tree):
            for name in there:
                path = os.path.join(folder, name)
                if os.path.relpath(path, self.tree) not in names:
                    os.remove(path)
        for name in names:
            source = os.path.join(self.root, name)
            copy = os.path.join(self.tree, name)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            with open(source, "rb") as file:
                content = file.read()
            if os.path.exists(copy):
                with open(copy, "rb") as file:
                    if file.read() == content:
                        continue
            with open(copy, "wb") as file:
                file.write(content)
            os.chmod(copy, os.stat(source).st_mode)

    def configure(self):
        process = self.run("cmake", "--preset", self.preset, "-B",
                           self.build_folder, "-DDOZE_BENCH=OFF")
        if process.returncode != 0:
            raise Mistake(f"the build cannot be configured; see {self.log}")

    def tests(self):
        """What ctest knows: {name: test}."""
        process = self.run("ctest", "--test-dir", self.build_folder,
                           "--show-only=json-v1")
        start = process.stdout.find("{")
        found, _ = json.JSONDecoder().raw_decode(process.stdout[start:])
        return {test["name"]: test for test in found["tests"]}

    def build(self, tests):
        """The first error, or None."""
        targets = sorted({target_of(test) for test in tests})
        process = self.run("cmake", "--build", self.build_folder, "--parallel",
                           self.jobs, "--target", *targets)
        if process.returncode == 0:
            return None
        for line in process.stdout.splitlines():
            if "error:" in line:
                return line.replace(self.tree + os.sep, "").strip()
        return f"see {self.log}"

    def failure(self, test):
        """Which of its cases fails, or None. (Not by ctest: it heeds a test's
        own timeout only, which is long.)"""
        properties = {entry["name"]: entry["value"]
                      for entry in self.known[test]["properties"]}
        environment = [entry.split("=", 1)
                       for entry in properties.get("ENVIRONMENT", [])]
        code, output = run_bounded(
            self.known[test]["command"], properties["WORKING_DIRECTORY"],
            self.environment | dict(environment),
            self.timeouts.get(test, properties["TIMEOUT"]))
        self.note(self.known[test]["command"], output)
        return None if code == 0 else case_of(output, code)


def run_bounded(command, folder, environment, seconds):
    """The exit code, None when its time was over, and the output. Whatever it
    has started ends with it."""
    with subprocess.Popen(
            command, cwd=folder, env=environment, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def case_of(output, code):
    """The first case that failed, as cmocka puts it, or sim/strike.h. A program
    that did not come to its end was in the case that it began last."""
    failed = re.findall(r"^\[  FAILED  \] (\w+)$", output, re.M)
    failed += re.findall(r"^(.+), interrupt before access", output, re.M)
    begun = re.findall(r"^\[ RUN      \] (\w+)$", output, re.M)
    if failed:
        return failed[0]
    return (begun or ["it"])[-1] + (" does not end" if code is None else "")


def check_unmutated(sandbox, tests):
    """They pass, and take so much time."""
    unknown = tests - sandbox.tests().keys()
    if unknown:
        raise Mistake(f"there is no test {sorted(unknown)[0]}")
    error = sandbox.build(tests)
    if error is not None:
        raise Mistake(f"the unmutated code does not build: {error}")
    sandbox.known = sandbox.tests()
    for test in sorted(tests):
        start = time.monotonic()
        case = sandbox.failure(test)
        if case is not None:
            raise Mistake(f"the unmutated code fails in {test}: {case}")
        sandbox.timeouts[test] = max(
            SECONDS, PATIENCE * (time.monotonic() - start))


class Outcome:
    """What became of a mutation: caught by a case of a test; or neither that
    nor an error: it survived."""

    def __init__(self, mutation, test=None, case=None, error=None):
        self.mutation = mutation
        self.test = test
        self.case = case
        self.error = error

    def is_survivor(self):
        return self.test is None and self.error is None

    def __str__(self):
        if self.error is not None:
            return f"DOES NOT COMPILE: {self.error}"
        if self.test is None:
            return "SURVIVED"
        return f"caught by {self.test}: {self.case}"


def try_mutation(sandbox, mutation):
    path = os.path.join(sandbox.tree, mutation.file)
    source = read(path)
    write(path, mutation.mutate(source))
    try:
        error = sandbox.build(mutation.tests)
        if error is not None:
            return Outcome(mutation, error=error)
        for test in mutation.tests:
            case = sandbox.failure(test)
            if case is not None:
                return Outcome(mutation, test, case)
        return Outcome(mutation)
    finally:
        write(path, source)


def say(text):
    print(text, flush=True)


def try_all(options, mutations, outcomes):
    """Fills `outcomes`, of which an interrupt leaves what there is."""
    for preset in dict.fromkeys(mutation.preset for mutation in mutations):
        say(f"building and testing without mutations, in build/mutate: {preset}")
        try_those(Sandbox(options.root, options.jobs, preset), mutations,
                  outcomes)


def try_those(sandbox, everything, outcomes):
    """The mutations that are for the sandbox."""
    mutations = [mutation for mutation in everything
                 if mutation.preset == sandbox.preset]
    with sandbox.locked():
        if os.path.exists(sandbox.log):
            os.remove(sandbox.log)
        sandbox.copy()
        sandbox.configure()
        check_unmutated(sandbox, {test for mutation in mutations
                                  for test in mutation.tests})
        for mutation in mutations:
            outcomes.append(try_mutation(sandbox, mutation))
            say(f"[{len(outcomes)}/{len(everything)}] {mutation.name}: "
                f"{outcomes[-1]}")


def summary(outcomes, count):
    """How it ended, and what is to be looked at."""
    caught = sum(outcome.test is not None for outcome in outcomes)
    say(f"{caught} of {count} mutations are caught")
    for outcome in outcomes:
        if outcome.test is None:
            say(f"  {outcome.mutation.file}: {outcome.mutation.name}: "
                f"{outcome}")


def table(outcomes):
    """The result in Markdown."""
    caught = sum(outcome.test is not None for outcome in outcomes)
    lines = [
        "# What the tests notice", "",
        "Each line is a statement that was taken out of the code, or replaced, "
        "and the first",
        "test that failed. Written by `scripts/mutate --out "
        "results/mutations.md`.", "",
        f"{caught} of {len(outcomes)} mutations are caught.", "",
        "| mutation | file | statement | caught by |",
        "|---|---|---|---|"]
    for outcome in outcomes:
        mutation = outcome.mutation
        by = (f"{outcome.test}: {outcome.case}" if outcome.test is not None
              else f"**{outcome}**")
        cells = [mutation.name, mutation.file, mutation.statement(), by]
        lines.append("| " + " | ".join(
            cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def positive(text):
    if not re.fullmatch("[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"not a number from 1 up: {text}")
    return int(text)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        raise Mistake(f"{message}; see --help")


def parse(arguments):
    parser = Parser(prog="mutate", description=__doc__)
    parser.add_argument("--root", default=ROOT,
                        help="of another project, for a test")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count())
    parser.add_argument("--out", metavar="FILE")
    options = parser.parse_args(arguments)
    if options.out is not None and not os.path.isdir(
            os.path.dirname(os.path.abspath(options.out))):
        raise Mistake(f"--out {options.out}: there is no such folder")
    return options


def select(mutations, texts):
    """Those that one of the texts is about; without a text, all."""
    chosen = [mutation for mutation in mutations
              if not texts or any(
                  text in part for text in texts
                  for part in [mutation.name, mutation.file, *mutation.tests])]
    if not chosen:
        raise Mistake("no mutation has a name, a file or a test like that")
    return chosen


def exit_code(outcomes):
    if any(outcome.error is not None for outcome in outcomes):
        return 2
    return 1 if any(outcome.is_survivor() for outcome in outcomes) else 0


def run(options):
    mutations = select(read_list(options.root), options.only)
    outcomes = []
    check_texts(options.root, mutations)
    if options.list:
        for mutation in mutations:
            say(f"{mutation.file}: {mutation.name}")
        return 0
    try:
        try_all(options, mutations, outcomes)
    except KeyboardInterrupt:
        say(f"interrupted: {len(outcomes)} of {len(mutations)} were tried")
        summary(outcomes, len(outcomes))
        return 130
    summary(outcomes, len(mutations))
    if options.out is not None:
        write(options.out, table(outcomes))
    return exit_code(outcomes)


def main(arguments):
    try:
        return run(parse(arguments))
    except Mistake as mistake:
        print(f"mutate: {mistake}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
