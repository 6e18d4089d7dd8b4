"""A scorer beside the suite: what it rests on decides whether its scores are made anew."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

SUITE = """\
name: manners
cases:
  - {id: one, ask: Ask for salt., criteria: {'own:Polite': {}}}
  - {id: two, ask: Ask for salt., criteria: {'own:Polite': {}}}
"""
ANSWERS = '{"case": "one", "output": "Salt, please."}\n{"case": "two", "output": "Salt!"}\n'
SCORER = """\
import os
from dataclasses import dataclass
from pathlib import Path

from proctor import ScoreContext, Scorer
from wording import polite


@dataclass(frozen=True)
class Polite(Scorer):
    def score(self, ctx: ScoreContext) -> bool:
        with open(os.environ["SCORED"], "a") as log:
            log.write("x")
        return any(word in ctx.output for word in polite(Path(__file__).parent / "polite.txt"))
"""
WORDING = "def polite(path):\n    return path.read_text().split()\n"


@pytest.mark.slow
def test_a_scorer_beside_the_suite_is_found_from_anywhere_and_its_scores_are_never_stale(
    cli: Any, tmp_path: Path
) -> None:
    home, elsewhere, log = tmp_path / "suites", tmp_path / "elsewhere", tmp_path / "log"
    home.mkdir()
    elsewhere.mkdir()
    cli.env["SCORED"] = str(log)
    # Another module of that name, where the command is given, is not the suite's.
    (elsewhere / "own.py").write_text("raise RuntimeError('not this one')\n", encoding="utf-8")

    said: list[bool] = []

    def write(name: str, text: str) -> None:
        """Write a file that is as old as all others, so that only its content tells."""
        (home / name).write_text(text, encoding="utf-8")
        os.utime(home / name, (1e9, 1e9))

    def run(folder: Path) -> tuple[float, int]:
        """Return the rate, and how many scores were made."""
        log.write_text("", encoding="utf-8")
        cli.folder = folder
        done = cli.start(
            *("run", str(home / "suite.yaml"), "--answers", str(home / "answers.jsonl")),
            *("--allow-import", "--json", "--store", str(tmp_path / "store.db")),
        )
        assert done.returncode == 0, done.stderr
        said.append("its scores were made again" in done.stderr)
        return json.loads(done.stdout)["totals"]["rate"], len(log.read_text(encoding="utf-8"))

    for name, text in {
        "suite.yaml": SUITE, "answers.jsonl": ANSWERS, "own.py": SCORER, "wording.py": WORDING,
        "polite.txt": "please",
    }.items():  # fmt: skip
        write(name, text)
    assert run(home) == (0.5, 2)
    os.utime(home / "own.py", (1e9 + 5, 1e9 + 5))
    assert run(elsewhere) == (0.5, 0), "only the working directory and the age of a file changed"
    # Same size and time as before: of what Python compiled before, nothing may be run.
    write("wording.py", WORDING.replace("split()", "strip()"))
    assert run(elsewhere) == (1.0, 2), "what the scorer imports was edited"
    write("own.py", SCORER.replace("any(", "all("))
    assert run(elsewhere) == (0.5, 2), "the scorer was edited"
    write("polite.txt", "S")
    assert run(home) == (1.0, 2), "a file that the scorer reads was edited"
    assert said == [False, False, True, True, True]
