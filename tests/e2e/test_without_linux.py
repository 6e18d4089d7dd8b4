"""What works where there is no Linux, and so no bubblewrap: tried by taking away what it has."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DARWIN = """
import os, sys, sysconfig
import aiohttp, numpy, sqlalchemy
sysconfig.get_config_vars()
sys.platform = "darwin"
for name in ("sched_getaffinity", "pidfd_open", "memfd_create"):
    if hasattr(os, name):
        delattr(os, name)
from proctor.cli.main import main
sys.exit(main())
"""
TEXTS = """cases:
  - {id: a, ask: Name the capital of France., references: [Paris]}
  - {id: b, ask: Write add., criteria: [{keywords: [def]}]}
"""
PROGRAMS = """cases:
  - {id: b, ask: Write add., criteria: [{unit_tests: {lang: python, tests: [{content: 'assert add(1, 2) == 3'}]}}]}
"""


def proctor(folder: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", DARWIN, *args],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
        env={name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")},
    )  # fmt: skip


@pytest.mark.slow
def test_texts_are_scored_and_programs_want_a_container(tmp_path: Path) -> None:
    answers = [{"case": "a", "output": "Paris."}, {"case": "b", "output": "def add(a, b): return a + b"}]  # fmt: skip
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    (tmp_path / "texts.yaml").write_text(TEXTS)
    (tmp_path / "programs.yaml").write_text(PROGRAMS)
    done = proctor(tmp_path, "run", "texts.yaml", "--answers", "answers.jsonl", "--json")
    assert json.loads(done.stdout)["totals"]["rate"] == 1.0, done.stderr
    done = proctor(tmp_path, "run", "programs.yaml", "--answers", "answers.jsonl")
    assert done.returncode == 2
    assert "bubblewrap needs Linux (use --sandbox docker)" in done.stderr
