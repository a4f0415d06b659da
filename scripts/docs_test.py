# SPDX-License-Identifier: MIT
"""What the documents name exists: each `name` in them is found in the sources."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Names that only the preprocessor writes.
MADE = {"dz_timer_after_at_1000000_hz"}

DOCUMENTS = ("DESIGN.md", "README.md", "executor/PORTING.md", "sync/TESTS.md")


def tracked(*patterns):
    """Files of the project; without git, whatever lies there."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "--", *patterns], cwd=ROOT, check=True,
            capture_output=True, text=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        listed = [str(path.relative_to(ROOT)) for pattern in patterns
                  for folder in ("executor", "sync", "sim", "bench", "scripts")
                  for path in (ROOT / folder).rglob(pattern)]
    return [ROOT / name for name in listed]


@pytest.fixture(scope="module")
def words():
    """All identifiers of the sources, and the names of their files."""
    found = set()
    for path in tracked("*.c", "*.h", "*.cc", "*.py", "*CMakeLists.txt"):
        if path.is_file():
            found.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
            found.add(path.stem)
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_name_in_a_document_exists(document, words):
    text = (ROOT / document).read_text(encoding="utf-8")
    # A sentence is a test's name; two words may be anything.
    names = {name for name in re.findall(r"`([a-z]\w*)`", text)
             if name.count("_") >= 2}
    assert sorted(names - words - MADE) == []


def test_the_example_of_the_board_is_built_as_the_readme_says(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^    P=executor.*?(?=\n\n)", text, re.S | re.M)[0]
    script = block.replace("build/example.elf", f"'{tmp_path}/example.elf'")
    ran = subprocess.run(["bash", "-e", "-c", script], cwd=ROOT, timeout=100,
                         capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (
        0, "100 ms\nalarm\n100 ms\n100 ms\n", "")
