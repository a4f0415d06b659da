# SPDX-License-Identifier: MIT
"""Tests of scripts/mutate, run by pytest: its list, without running it; and all
of the tool on a project of a few lines."""

import os
import subprocess

import pytest

pytest.importorskip("tomllib")
import mutate  # pylint: disable=wrong-import-position

ROOT = mutate.ROOT
AT_LEAST = 40

SUM = """
int sum(const int *numbers, int count)
{
    int total = 0;

    for (int i = 0; i < count; i++)
        total += numbers[i];
    return total;
}
"""

SUM_TEST = """
#include <stdio.h>
#include <stdlib.h>

int sum(const int *numbers, int count);

int main(void)
{
    int numbers[] = {1, 2, 3};

    puts("[ RUN      ] adds_nothing");
    fflush(stdout);
    if (sum(numbers, 0) != 0)
        return puts("[  FAILED  ] adds_nothing"), 1;
    puts("[ RUN      ] adds_all");
    fflush(stdout);
    if (sum(numbers, 3) != 6)
        return puts("[  FAILED  ] adds_all"), 1;
    return 0;
}
"""

FILES = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES C)
enable_testing()
add_executable(part_sum_test part/sum.c part/sum_test.c)
add_test(NAME part/sum COMMAND part_sum_test)
set_tests_properties(part/sum PROPERTIES TIMEOUT 300)
""",
    "CMakePresets.json": """
{ "version": 6, "configurePresets": [
    { "name": "release", "generator": "Ninja",
      "binaryDir": "${sourceDir}/build/release" },
    { "name": "other", "inherits": "release" } ] }
""",
    ".gitignore": "/build/\n",
    "part/sum.c": SUM,
    "part/sum_test.c": SUM_TEST,
}


def entry(name, text, instead="", tests="part/sum", file="part/sum.c"):
    return (f"[[mutation]]\nname = '{name}'\nfile = '{file}'\n"
            f"tests = ['{tests}']\ntext = '{text}'\ninstead = '{instead}'\n")


CAUGHT = entry("all are added", "total += numbers[i];", "total = numbers[i];")
SURVIVOR = entry("it ends at the last", "i < count", "i != count")


@pytest.fixture(name="project")
def tiny_project(tmp_path, monkeypatch):
    """A function that makes the project with a list of mutations."""
    root = tmp_path / "project"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "scripts").mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    monkeypatch.setattr(mutate, "SECONDS", 2)

    def with_list(*entries):
        (root / "scripts" / "mutations.toml").write_text("\n".join(entries))
        return str(root)
    return with_list


def run(root, *arguments):
    return mutate.main(["--root", root, *arguments])


def build_of(preset):
    return os.path.join(ROOT, "build", preset)


def known_tests(preset):
    """Of the build that scripts/test makes before it comes to us."""
    process = subprocess.run(
        ["ctest", "--test-dir", build_of(preset), "-N"],
        capture_output=True, text=True, check=True)
    return {line.split(": ", 1)[1] for line in process.stdout.splitlines()
            if line.strip().startswith("Test ") and ": " in line}


def test_the_list_can_be_applied():
    mutations = mutate.read_list(ROOT)
    mutate.check_texts(ROOT, mutations)
    assert len(mutations) >= AT_LEAST


def test_the_tests_in_the_list_exist():
    mutations = mutate.read_list(ROOT)
    for preset in {mutation.preset for mutation in mutations}:
        if preset != "release" and not os.path.exists(build_of(preset)):
            continue
        known = known_tests(preset)
        for mutation in mutations:
            if mutation.preset == preset:
                assert set(mutation.tests) <= known, mutation.name


def test_mutations_of_a_file_stand_together():
    files = [mutation.file for mutation in mutate.read_list(ROOT)]
    changes = sum(one != other for one, other in zip(files, files[1:]))
    assert changes == len(set(files)) - 1


def test_what_is_noticed_is_caught(project, capsys):
    assert run(project(CAUGHT)) == 0
    out = capsys.readouterr().out
    assert "[1/1] all are added: caught by part/sum: adds_all" in out
    assert "1 of 1 mutations are caught" in out


def test_what_is_not_noticed_survives(project, capsys):
    assert run(project(CAUGHT, SURVIVOR)) == 1
    out = capsys.readouterr().out
    assert "[2/2] it ends at the last: SURVIVED" in out
    assert "1 of 2 mutations are caught" in out


def test_each_preset_has_a_build_of_its_own(project, capsys, tmp_path):
    other = SURVIVOR.replace("ends at the last", "ends there")
    root = project(CAUGHT, other + "preset = 'other'\n", SURVIVOR)
    assert run(root) == 1
    out = capsys.readouterr().out
    assert "in build/mutate: release\n[1/3] all are added: caught" in out
    assert "in build/mutate: other\n[3/3] it ends there: SURVIVED" in out
    assert (tmp_path / "project" / "build" / "mutate" / "other").is_dir()


def test_a_case_is_as_its_program_names_it():
    assert mutate.case_of("[  FAILED  ] adds_all\n1 test\n", 1) == "adds_all"
    assert mutate.case_of("a: 9 accesses\n"
                          "b: send, interrupt before access 3: x\n",
                          1) == "b: send"
    assert mutate.case_of("[ RUN      ] adds_all\n", 139) == "adds_all"


def test_what_hangs_or_crashes_is_caught(project, capsys):
    root = project(entry("it ends", "i++", "i += 0"),
                   entry("it does not crash", "int total = 0;",
                         "int total = 0; if (count == 3) __builtin_trap();"))
    assert run(root) == 0
    out = capsys.readouterr().out
    assert "it ends: caught by part/sum: adds_all does not end" in out
    assert "it does not crash: caught by part/sum: adds_all\n" in out


def test_a_mutant_that_does_not_compile_is_a_mistake(project, capsys):
    assert run(project(entry("nonsense", "return total;", "return x;"))) == 2
    out = capsys.readouterr().out
    assert "nonsense: DOES NOT COMPILE: part/sum.c:" in out


def test_the_tree_is_only_read(project):
    root = project(CAUGHT)
    path = os.path.join(root, "part", "sum.c")
    before = os.stat(path).st_mtime_ns

    run(root)

    assert mutate.read(path) == SUM
    assert os.stat(path).st_mtime_ns == before
    assert sorted(os.listdir(root)) == sorted(
        [".git", "build", "scripts", "part", "CMakeLists.txt",
         "CMakePresets.json", ".gitignore"])


def test_what_an_interrupted_run_left_behind_is_mended(project, capsys):
    root = project(CAUGHT)
    run(root)
    mutate.write(os.path.join(root, "build", "mutate", "tree", "part",
                              "sum.c"), "mutated")
    assert run(root) == 0
    assert "1 of 1 mutations are caught" in capsys.readouterr().out


def test_an_interrupt_leaves_what_there_is(project, capsys, monkeypatch):
    real = mutate.try_mutation

    def interrupted(sandbox, mutation):
        if mutation.name == "it ends at the last":
            raise KeyboardInterrupt
        return real(sandbox, mutation)
    monkeypatch.setattr(mutate, "try_mutation", interrupted)
    assert run(project(CAUGHT, SURVIVOR)) == 130
    out = capsys.readouterr().out
    assert "interrupted: 1 of 2 were tried" in out
    assert "1 of 1 mutations are caught" in out


def test_nothing_is_mutated_if_a_test_fails_anyway(project, capsys):
    root = project(CAUGHT)
    mutate.write(os.path.join(root, "part", "sum.c"),
                 SUM.replace("total = 0", "total = 1"))
    assert run(root) == 2
    captured = capsys.readouterr()
    assert ("the unmutated code fails in part/sum: adds_nothing"
            in captured.err)
    assert "[1/1]" not in captured.out


def test_the_result_is_a_table(project, tmp_path):
    out = tmp_path / "result.md"
    either = entry("a | b", "return total;", "return total | count;")
    assert run(project(CAUGHT, SURVIVOR, either), "--out", str(out)) == 1
    text = out.read_text()
    assert "2 of 3 mutations are caught." in text
    assert ("| all are added | part/sum.c | `total += numbers[i];` → "
            "`total = numbers[i];` | part/sum: adds_all |") in text
    assert ("| it ends at the last | part/sum.c | `i < count` → `i != count` "
            "| **SURVIVED** |") in text
    assert "`return total \\| count;`" in text
    assert str(tmp_path) not in text


def test_only_and_list_choose(project, capsys):
    root = project(CAUGHT, SURVIVOR)
    assert run(root, "--list", "--only", "last") == 0
    assert capsys.readouterr().out == "part/sum.c: it ends at the last\n"
    assert run(root, "--list", "--only", "part/sum") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize("entries, words", [
    ([entry("twice", "total")], ["twice", "3 times in part/sum.c"]),
    ([entry("gone", "nothing like it")], ["gone", "0 times"]),
    ([entry("same", "i++", "i++")], ["same", "changes nothing"]),
    ([CAUGHT, CAUGHT], ["all are added", "two mutations"]),
    ([entry("lost", "i++", file="lost.c")], ["lost.c", "No such file"]),
    ([CAUGHT + "test = 'part/sum'\n"], ["all are added", "no key test"]),
    (["[[mutation]]\nname = 'bare'\n"], ["bare", "it has no file"]),
    (["[[mutation"], ["mutations.toml"]),
    ([entry("who", "i++", tests="part/who")], ["no test part/who"]),
    ([CAUGHT + "preset = 'lost'\n"], ["cannot be configured", "lost.log"]),
    ([], ["no mutation"]),
])
def test_a_mistake_in_the_list_is_one_line(project, capsys, entries, words):
    assert run(project(*entries)) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    for word in words:
        assert word in error


@pytest.mark.parametrize("arguments, words", [
    (["--jobs", "0"], "not a number from 1 up"),
    (["--only", "nothing like it"], "no mutation has"),
    (["--out", "no/such/folder/x.md"], "no such folder"),
    (["--bogus"], "--bogus"),
])
def test_wrong_use_is_one_line(project, capsys, arguments, words):
    assert run(project(CAUGHT), *arguments) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert words in error
