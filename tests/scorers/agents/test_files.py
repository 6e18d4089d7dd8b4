"""Files that an agent changed, made and removed, and those that it must leave alone."""

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.rounds import FILES, LAID, ROUNDS
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, CaseFile
from proctor.scorers import FilesChanged

CASE = Case(
    id="c", messages=(), criteria=(),
    files=tuple(CaseFile(name=name, digest=name) for name in ("a.py", "b.py", "tests/t.py")),
)  # fmt: skip
SAME = {"a.py": "a.py", "b.py": "b.py", "tests/t.py": "tests/t.py"}


def score(scorer: FilesChanged, after: dict[str, str], laid: dict[str, str] | None = None) -> Score:
    notes = {FILES: [after], ROUNDS: [{"post_list": [], LAID: laid}] if laid else []}
    return scorer.score(
        ScoreContext(case=CASE, attempt=Attempt(case_id="c", messages=(), notes=notes))
    )


@pytest.mark.parametrize(
    ("scorer", "after", "points"),
    [
        (FilesChanged(files="a.py"), {**SAME, "a.py": "x"}, 1),
        (FilesChanged(files="a.py"), SAME, 0),
        (FilesChanged(files=("a.py", "new*.py")), {**SAME, "a.py": "x", "new1.py": "y"}, 1),
        (FilesChanged(files=("a.py", "new*.py")), {**SAME, "a.py": "x"}, 0),
        (FilesChanged(only="a.py"), {**SAME, "a.py": "x"}, 1),
        (FilesChanged(only="a.py"), SAME, 1),
        (FilesChanged(only="a.py"), {**SAME, "b.py": "x"}, 0),
        (FilesChanged(only="a.py"), {"a.py": "a.py", "tests/t.py": "tests/t.py"}, 0),
        (FilesChanged(never="tests/*"), {**SAME, "tests/t.py": "x"}, 0),
        (FilesChanged(never="tests/*"), {**SAME, "a.py": "x"}, 1),
        (FilesChanged(only="a.py"), {**SAME, "__pycache__/a.pyc": "x", ".git/HEAD": "y"}, 1),
    ],
)
def test_points(scorer: FilesChanged, after: dict[str, str], points: float) -> None:
    assert score(scorer, after).points == points


def test_what_a_variant_laid_is_not_the_agent_s() -> None:
    after = {**SAME, "CLAUDE.md": "told", "b.py": "other"}
    laid = {"CLAUDE.md": "told", "b.py": "other"}
    assert score(FilesChanged(only="a.py"), after, laid).points == 1
    assert score(FilesChanged(only="a.py"), {**after, "CLAUDE.md": "edited"}, laid).points == 0


def test_how_each_was_changed_is_told() -> None:
    after = {"a.py": "x", "tests/t.py": "tests/t.py", "c.py": "y"}
    assert score(FilesChanged(files="*"), after).detail == {
        "changed": {"a.py": "changed", "b.py": "removed", "c.py": "new"}
    }


def test_answers_on_file_leave_no_files() -> None:
    context = ScoreContext(case=CASE, attempt=Attempt.of("c", "done"))
    assert FilesChanged(files="a").score(context).status is ScoreStatus.FAILED
    assert list(FilesChanged().problems())
