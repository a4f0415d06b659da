# SPDX-License-Identifier: MIT
"""Tests of the scripts, run by pytest: what they print, write and return."""

import json
import os
import shutil
import statistics
import subprocess
import sys

import pytest

import figures
import results

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(SCRIPTS)
BASELINE = os.path.join(ROOT, "results", "baseline")


def run(*command, cwd=ROOT):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True,
                          check=False)


def compare(*arguments):
    return run(sys.executable, os.path.join(SCRIPTS, "compare"), *arguments)


def entry(name, time, **counters):
    return {"name": name, "run_name": name, "run_type": "iteration",
            "iterations": 100, "real_time": time, "time_unit": "ns",
            **counters}


def write(folder, timed, counted):
    """A result with three repetitions of each time."""
    folder.mkdir()
    bench = [entry(name, time + offset)
             for name, time in timed.items() for offset in (-1, 0, 7)]
    count = [entry(name, 1, **counters) for name, counters in counted.items()]
    for file, entries in (("bench.json", bench), ("count.json", count)):
        (folder / file).write_text(json.dumps(
            {"context": {}, "benchmarks": entries}))
    return str(folder)


TIMED = {"pingpong/floor": 10, "pingpong/noop": 40}
COUNTED = {"pingpong/noop/queue":
           {"wakes": 2, "polls": 2, "pends": 0, "sleeps": 0}}


def counted(**changes):
    return {"pingpong/noop/queue": {**COUNTED["pingpong/noop/queue"],
                                    **changes}}


@pytest.fixture(name="old")
def old_result(tmp_path):
    return write(tmp_path / "old", TIMED, COUNTED)


def assert_one_line(process, *parts):
    """It says in one line on standard error what is wrong, and exits with 2."""
    assert process.returncode == 2
    assert len(process.stderr.strip().splitlines()) == 1, process.stderr
    for part in parts:
        assert part in process.stderr
    assert "Traceback" not in process.stderr


def test_a_ratio_is_the_median_over_the_floors_median(tmp_path):
    path = write(tmp_path / "x", TIMED, COUNTED)
    assert results.Result(path).ratios == {"pingpong/noop": 40 / 10}


def test_times_of_other_units_become_ns():
    document = {"benchmarks": [dict(entry("a", 2), time_unit="us")]}
    assert results.medians(document) == {"a": 2000}


def test_equal_results_pass_the_gate(old):
    process = compare("--gate", old, old)
    assert process.returncode == 0
    assert "0 beyond the limits" in process.stdout


def test_a_count_that_differs_fails_the_gate(old, tmp_path):
    new = write(tmp_path / "new", TIMED, counted(polls=2.001))
    process = compare("--gate", old, new)
    assert process.returncode == 1
    assert "pingpong/noop/queue: polls 2 -> 2.001" in process.stdout


def test_without_the_gate_a_difference_is_only_told(old, tmp_path):
    new = write(tmp_path / "new", TIMED, counted(wakes=3))
    process = compare(old, new)
    assert process.returncode == 0
    assert "wakes 2 -> 3" in process.stdout


def test_a_ratio_may_grow_up_to_the_tolerance(old, tmp_path):
    for growth, code in ((1.19, 0), (1.21, 1), (0.5, 0)):
        new = write(tmp_path / str(growth),
                    {**TIMED, "pingpong/noop": 40 * growth}, COUNTED)
        process = compare("--gate", "--tolerance", "0.2", old, new)
        assert process.returncode == code, process.stdout


def test_a_slower_machine_is_no_change(old, tmp_path):
    new = write(tmp_path / "new",
                {name: 3 * time for name, time in TIMED.items()}, COUNTED)
    assert compare("--gate", "--tolerance", "0", old, new).returncode == 0


def test_a_benchmark_that_is_gone_fails_the_gate(old, tmp_path):
    new = write(tmp_path / "new", {"pingpong/floor": 10, "spawn": 9}, COUNTED)
    process = compare("--gate", old, new)
    assert process.returncode == 1
    assert "pingpong/noop: no longer measured" in process.stdout
    assert "spawn: new" in process.stdout


def test_a_count_that_is_gone_fails_the_gate(old, tmp_path):
    new = write(tmp_path / "new", TIMED, {})
    assert compare("--gate", old, new).returncode == 1


def test_a_counter_that_is_gone_fails_the_gate(old, tmp_path):
    new = write(tmp_path / "new", TIMED, {"pingpong/noop/queue": {"wakes": 2}})
    process = compare("--gate", old, new)
    assert process.returncode == 1
    assert "pingpong/noop/queue: polls 2 -> nan" in process.stdout


def test_single_files_can_be_compared(old):
    file = os.path.join(old, "count.json")
    assert compare("--gate", file, file).returncode == 0


def test_the_host_s_interrupts_are_not_gated(tmp_path):
    path = write(tmp_path / "x", {**TIMED, "isr_to_task/doze": 5}, COUNTED)
    assert "isr_to_task/doze" not in results.Result(path).ratios


def test_an_unreadable_file_is_one_line(old, tmp_path):
    assert_one_line(compare(old, str(tmp_path / "none")), "none",
                    "No such file")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    assert_one_line(compare(old, str(broken)), "broken.json", "not a result")
    for text in ("[]", '{"benchmarks":[1]}',
                 '{"benchmarks":[{"run_type":"iteration"}]}',
                 json.dumps({"benchmarks": [
                     entry("pingpong/floor", 0), entry("spawn", 1)]})):
        broken.write_text(text)
        assert_one_line(compare(old, str(broken)), "not a result")


def test_a_bad_flag_is_one_line(old):
    assert_one_line(compare("--bogus", old, old), "--bogus")
    assert_one_line(compare(old), "NEW")
    for tolerance in ("-1", "nan", "abc"):
        assert_one_line(compare("--tolerance", tolerance, old, old),
                        "a number from 0 up")


def bench(*arguments, cwd=ROOT):
    return run(os.path.join(SCRIPTS, "bench"), *arguments, cwd=cwd)


def listing(folder):
    return sorted(os.listdir(folder))


def test_bench_refuses_a_bad_flag(tmp_path):
    before = listing(ROOT)
    assert_one_line(bench("--bogus"), "--bogus", "--help")
    assert_one_line(bench("--out"), "--out", "needs a value")
    assert_one_line(bench("--out", ""), "--out", "needs the name")
    assert listing(ROOT) == before
    assert listing(tmp_path) == []


def bench_py(*arguments):
    return run(sys.executable, os.path.join(SCRIPTS, "bench.py"), *arguments)


def test_bench_leaves_results_alone_when_it_cannot_go_on(tmp_path):
    (tmp_path / "bench.json").write_text("precious")
    assert_one_line(bench_py("--out", str(tmp_path), "--filter", "("), "(")
    process = bench_py("--quick", "--out", str(tmp_path), "--filter",
                       "no_such_thing")
    assert process.returncode == 2
    assert "no benchmark matches" in process.stderr
    assert listing(tmp_path) == ["bench.json"]
    assert (tmp_path / "bench.json").read_text() == "precious"


def test_bench_refuses_a_folder_that_is_a_file(tmp_path):
    file = tmp_path / "file"
    file.write_text("precious")
    assert_one_line(bench_py("--out", str(file)), "cannot write to")
    assert file.read_text() == "precious"


def test_bench_names_a_folder_where_a_file_should_go(tmp_path):
    (tmp_path / "bench.json").mkdir()
    process = bench_py("--quick", "--filter=floor", f"--out={tmp_path}")
    assert process.returncode == 2
    assert "bench.json is a folder" in process.stderr
    assert "Traceback" not in process.stderr
    assert listing(tmp_path) == ["bench.json"]


def test_bench_writes_results_and_figures_from_any_folder(tmp_path):
    out = tmp_path / "a" / "b"
    process = bench("--quick", "--no-install", "--filter",
                    "pingpong/(floor|noop)", "--out", str(out), cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert listing(out) == ["bench.json", "count.json", "pingpong.png",
                            "pingpong.svg"]
    assert "20000 round trips x 7: min" in process.stdout
    assert "x floor" in process.stdout
    document = json.loads((out / "bench.json").read_text())
    assert "host_name" not in document["context"]
    assert document["context"]["commit"]


@pytest.mark.parametrize("pattern, files", [
    ("floor", ["bench.json", "pingpong.png", "pingpong.svg"]),
    ("lock/noop", ["bench.json"]),
    ("waiters", ["count.json", "waiters.png", "waiters.svg"]),
    ("timers/insert", ["bench.json", "timers.png", "timers.svg"]),
])
def test_a_filter_may_leave_one_program_out(tmp_path, pattern, files):
    for stale in ("isr_to_task.svg", "note.txt"):
        (tmp_path / stale).write_text("of an earlier run")
    process = bench_py("--quick", f"--filter={pattern}", f"--out={tmp_path}")
    assert process.returncode == 0, process.stderr
    assert listing(tmp_path) == sorted(files + ["note.txt"])


def test_figures_are_drawn_anew_from_the_json(tmp_path):
    for name in ("bench.json", "count.json"):
        shutil.copy(os.path.join(BASELINE, name), tmp_path)
    process = run(sys.executable, os.path.join(SCRIPTS, "figures.py"),
                  str(tmp_path))
    assert process.returncode == 0, process.stderr
    for name in ("pingpong", "waiters", "isr_to_task"):
        assert (tmp_path / f"{name}.png").stat().st_size > 1000
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()


def test_figures_name_a_folder_that_is_not_there():
    assert_one_line(run(sys.executable, os.path.join(SCRIPTS, "figures.py"),
                        "nowhere"), "nowhere")


def test_the_figures_show_the_baselines_counts():
    document = results.load(os.path.join(BASELINE, "count.json"))
    counts = results.counts(document)
    assert figures.waiters_of(counts, "queue") == ([1, 2, 4, 8], [0, 0, 0, 0])
    waiters, polls = figures.waiters_of(counts, "single_slot")
    # Each pass, every waiter but the one in the slot is woken and polled.
    assert polls == [(waiter - 1) * 1000 for waiter in waiters]


def test_every_ping_pong_is_two_wakes_and_two_polls():
    counts = results.counts(
        results.load(os.path.join(BASELINE, "count.json")))
    pingpongs = {name: count for name, count in counts.items()
                 if name.startswith("pingpong/")}
    assert len(pingpongs) == 6
    for count in pingpongs.values():
        assert (count["wakes"], count["polls"]) == (2, 2)


def counted_now(pattern):
    return results.counts(json.loads(program(
        "doze_count", "--benchmark_format=json",
        f"--benchmark_filter={pattern}").stdout))


def test_a_tick_makes_a_hundred_passes_of_two():
    counts = counted_now("wait_100ms")
    tickless, tick = counts["wait_100ms/tickless"], counts["wait_100ms/tick"]
    assert (tickless["passes"], tickless["interrupts"]) == (2, 1)
    assert 100 <= tick["interrupts"] <= 102
    assert tick["passes"] == tick["interrupts"] + 1
    assert (tickless["polls"], tick["polls"]) == (1, 1)


def test_an_interrupt_executor_is_not_held_up():
    counts = counted_now("preemption")
    assert 29900 < counts["preemption/same_executor"]["late_max_us"] < 30100
    assert counts["preemption/interrupt_executor"]["late_max_us"] < 100


@pytest.mark.parametrize("script", [
    "bench", "test", "compare", "mutate", "sizes", "qemu-bench", "where"])
def test_help_explains_every_script(script):
    process = run(os.path.join(SCRIPTS, script), "--help")
    assert process.returncode == 0
    assert "usage" in process.stdout


def test_the_program_in_the_readme_runs(tmp_path):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        program_text = file.read().split("```c\n")[1].split("```")[0]
    (tmp_path / "main.c").write_text(program_text)
    build = os.path.join(ROOT, "build", "release")
    libraries = [os.path.join(build, folder, f"libdoze_{name}.a")
                 for folder, name in (("sim", "sim"), ("sync", "sync"),
                                      ("executor", "executor"),
                                      ("sim/port", "port"))]
    program_path = str(tmp_path / "program")
    built = run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror",
                "-DDZ_CORES=8", "-DDZ_TRACE=1", f"-I{ROOT}",
                f"-I{ROOT}/sim/port", str(tmp_path / "main.c"), *libraries,
                "-luv", "-pthread", "-o", program_path)
    assert built.returncode == 0, built.stderr
    assert run(program_path).stdout == "button 7\n"


def test_test_refuses_a_bad_flag():
    assert_one_line(run(os.path.join(SCRIPTS, "test"), "--bogus"), "--bogus")


def test_the_programs_own_statistics_are_right():
    document = json.loads(program(
        "doze_bench", "--quick", "--benchmark_format=json",
        "--benchmark_filter=pingpong/(floor|noop)").stdout)
    for name, values in results.times(document).items():
        found = {entry["aggregate_name"]: entry["real_time"]
                 for entry in document["benchmarks"]
                 if entry["run_name"] == name
                 and entry["run_type"] == "aggregate"}
        assert len(values) == 7
        for key, function in (("mean", statistics.mean),
                              ("median", statistics.median),
                              ("stddev", statistics.stdev),
                              ("min", min), ("max", max)):
            assert found[key] == pytest.approx(function(values))


def test_the_number_of_repetitions_is_a_flag():
    arguments = ("--quick", "--benchmark_format=json",
                 "--benchmark_filter=lock/noop")
    process = program("doze_bench", "--benchmark_repetitions=3", *arguments)
    assert len(results.times(json.loads(process.stdout))["lock/noop"]) == 3
    assert program("doze_bench", "--benchmark_repetitions=x",
                   *arguments).returncode == 2


def test_each_benchmark_is_listed_once():
    names = program("doze_bench", "--benchmark_list_tests").stdout.split()
    assert "pingpong/floor" in names
    assert len(names) == len(set(names))


def program(name, *arguments):
    return run(os.path.join("build", "release", "bench", name), *arguments)


def test_programs_speak_google_benchmarks_flags():
    process = program("doze_count", "--benchmark_format=json",
                      "--benchmark_filter=waiters/queue/2")
    document = json.loads(process.stdout)
    assert [e["name"] for e in document["benchmarks"]] == ["waiters/queue/2"]
    assert document["benchmarks"][0]["polls"] == 0
    assert program("doze_bench", "--bogus").returncode == 2
