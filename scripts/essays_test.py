# SPDX-License-Identifier: MIT
"""The examples in the headers' essays are compiled and run: each line of code in
an essay stands in the test beside the header, too."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = "the_example_of_the_header_works"

# The example of X.h stands in X_test.c, but for these.
ELSEWHERE = {
    # The raw mutex and the mutex that is made of it share their tests.
    "sync/blocking_mutex.h": "sync/raw_mutex_test.c",
}

# For those who write primitives and their law tests: those are the example.
WITHOUT = [
    "sync/law.h", "sync/law_machine.h", "sync/slots.h", "sync/wait.h"]

HEADERS = sorted(
    path.relative_to(ROOT).as_posix()
    for layer in ("executor", "sync") for path in (ROOT / layer).glob("*.h")
    if not path.name.endswith("_test.h"))
assert set(WITHOUT) | set(ELSEWHERE) <= set(HEADERS)


def example(header):
    """The lines of code in the essay, which is the first comment behind the
    licence. They are indented by four blanks or more, and prose behind two
    blanks or more is no part of them. A line without any of the marks that
    code has is none: a name in a table, or an ellipsis."""
    essay = re.findall(r"/\*.*?\*/", header, re.DOTALL)[1]
    lines = re.findall(r"^ \* {5,}(\S.*)$", essay, re.MULTILINE)
    codes = [re.split(r" {2,}", line)[0] for line in lines]
    return [code for code in codes if re.search(r"[;,(){}=]", code)]


def squeezed(code):
    """Without comments and blanks: line breaks are the formatter's."""
    return re.sub(r"/\*.*?\*/|\s", "", code, flags=re.DOTALL)


def stands_in(code, test):
    """An ellipsis stands for anything."""
    parts = [re.escape(part) for part in squeezed(code).split("...")]
    return re.search(".*?".join(parts), test) is not None


def test_tells_code_from_prose():
    header = """/* SPDX */
/*
 * thing -- an essay;
 *
 *     DZ_NOOP     one executor; costs nothing
 *     thing_do(&thing);    in a task
 *     ...
 *  - said (in a list);
 *    and so on;
 */
/* another comment
 *     no_example();
 */"""

    assert example(header) == ["thing_do(&thing);"]


def test_finds_code_whatever_its_blanks():
    test = squeezed("thing_do(\n    &thing,  1); /* no_code(); */ end();")

    assert stands_in("thing_do(&thing, 1);", test)
    assert stands_in("thing_do(...);", test)
    assert not stands_in("no_code();", test)
    assert not stands_in("thing_do(&thing, 2);", test)


@pytest.mark.parametrize("header", HEADERS)
def test_the_example_of_the_header_works(header):
    lines = example((ROOT / header).read_text())
    name = ELSEWHERE.get(header, header[:-len(".h")] + "_test.c")

    if not lines or header in WITHOUT:
        return
    assert (ROOT / name).exists(), f"{header} has an example, so needs {name}"
    test = squeezed((ROOT / name).read_text())
    assert f"TEST({TEST})" in test, f"{name} runs no {TEST}"
    missing = [line for line in lines if not stands_in(line, test)]
    assert not missing, f"in the example of {header}, but not in {name}"
