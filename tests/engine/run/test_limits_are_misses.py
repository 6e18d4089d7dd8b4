"""What an answer does to the one who judges it counts against it; what the suite does, does not."""

import asyncio
import json
import os
import signal
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from proctor.contracts.executor import GradeTask
from proctor.contracts.report import RunView
from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run.evaluate import evaluate
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.executors import local
from proctor.executors.local import LocalExecutor
from proctor.registry import build, find
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.store.store import Store
from proctor.testing import try_scorer
from room import ROOM

SLOW = "(a+)+$"
ENDLESS = "a" * 40 + "!"


@pytest.fixture(autouse=True)
def _short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matches", "keywords", "blanks"):
        monkeypatch.setattr(find("scorer", name), "time_limit", 0.6)
    monkeypatch.setattr(local, "PATIENCE", 100.0)


def examined(tmp_path: Path, store: Store, suite: str, answers: dict[str, str]) -> RunView:
    path, file = tmp_path / "suite.yaml", tmp_path / "answers.jsonl"
    path.write_text(dedent(suite), encoding="utf-8")
    lines = [json.dumps({"case": key, "output": text}) for key, text in answers.items()]
    file.write_text("\n".join(lines), encoding="utf-8")
    settings = RunSettings(suite=SuiteSettings(path=path), answers=file)
    return asyncio.run(evaluate(settings, store)).view


def score_of(view: RunView, case_id: str) -> Score:
    (found,) = [result for result in view.results() if result.case.id == case_id]
    (attempt,) = found.attempts
    return next(iter(attempt.scores.values()))


SUITE = r"""
    name: letters
    cases:
      - {id: one, ask: "?", criteria: {matches: "(a+)+$"}}
      - {id: two, ask: "?", criteria: {matches: "(a+)+$"}}
      - {id: three, ask: "?", criteria: {matches: "(a+)+$"}}
"""


@pytest.mark.slow
def test_an_answer_that_makes_a_pattern_slow_is_a_miss_and_stays_in_the_rate(
    tmp_path: Path, store: Store
) -> None:
    view = examined(tmp_path, store, SUITE, {"one": "aaa", "two": ENDLESS, "three": ENDLESS})
    totals = view.summary.totals
    assert (totals.cases, totals.unscored, totals.rate) == (3, 0, pytest.approx(1 / 3))
    slow = score_of(view, "two")
    assert (slow.status, slow.points, slow.out_of) == ("scored", 0.0, 1.0)
    assert "longer than the 0.6 s allowed" in slow.reason
    assert slow.detail == {"limit": "took longer than the 0.6 s allowed and was stopped"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "reference", "what"),
    [
        (SLOW, ENDLESS, "the reference"),
        (r"(?:\w+\s?)+\x01", "fine", "an ordinary text"),
    ],
)
@pytest.mark.sampled(4)
def test_a_pattern_that_is_slow_without_the_answer_is_the_suites_doing(
    pattern: str, reference: str, what: str, tmp_path: Path, store: Store
) -> None:
    suite = {
        "name": "letters",
        "cases": [
            {"id": "one", "ask": "?", "references": [reference], "criteria": {"matches": pattern}}
        ],
    }
    answer = ENDLESS if pattern == SLOW else "word " * 12 + "end of it"
    view = examined(tmp_path, store, json.dumps(suite), {"one": answer})
    assert view.summary.totals.unscored == 1
    score = score_of(view, "one")
    assert score.status == "failed"
    assert f"{what} fares no better: the suite's own doing" in score.reason


@pytest.mark.slow
def test_a_penalty_is_not_escaped_by_making_it_slow(tmp_path: Path, store: Store) -> None:
    suite = r"""
        name: letters
        cases:
          - id: one
            ask: "?"
            criteria:
              - contains: a
              - {matches: "(a+)+$", weight: -1}
    """
    view = examined(tmp_path, store, suite, {"one": ENDLESS})
    assert view.summary.totals.unscored == 0
    assert view.summary.totals.score == 0.0


@pytest.mark.slow
def test_a_handler_of_the_suite_is_not_given_what_was_never_looked_for() -> None:
    params = {
        "rules": [{"text": SLOW, "regex": True}],
        "post_handler": {"module": "m", "func": "f"},
    }
    score = graded(Spec(name="keywords", params=params), [ENDLESS], out_of=1.0)[0]
    assert (score.status, score.points) == ("scored", 0.0)
    from proctor.core.failures import passed_a_limit

    assert passed_a_limit(score)


def graded(
    spec: Spec, answers: list[str], *, out_of: float | None, limit: float = 0.6
) -> list[Score]:
    criterion = Criterion(id="c", scorer=spec)
    case = Case(id="case", messages=(Message(role="user", content="?"),), criteria=(criterion,))
    task = GradeTask(
        case=case,
        criterion=criterion,
        attempts=tuple(Attempt.of("case", answer, index=i) for i, answer in enumerate(answers)),
        keys=tuple(str(i) for i in range(len(answers))),
        time_limit=limit,
        out_of=out_of,
    )

    async def work() -> list[Score]:
        executor = LocalExecutor(workers=1, allow_import=True)
        try:
            found = {key: score async for key, score in executor.grade([task])}
        finally:
            await executor.close()
        return [found[key] for key in task.keys]

    return asyncio.run(work())


DEADLY = '''
import os, signal
from dataclasses import dataclass
from pathlib import Path
from proctor import Scorer

@dataclass(frozen=True)
class Deadly(Scorer):
    """Die of an answer; of one kind only the first time."""

    def score(self, ctx):
        if ctx.output == "die":
            os._exit(9)
        if ctx.output.startswith("once ") and not Path(ctx.output[5:]).exists():
            Path(ctx.output[5:]).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if "ordinary" in ctx.output and Path("{always}").exists():
            os._exit(9)
        return True
'''


@pytest.mark.slow
def test_an_answer_that_kills_its_grading_process_is_a_miss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    always = tmp_path / "always"
    (tmp_path / "deadly.py").write_text(DEADLY.replace("{always}", str(always)))
    monkeypatch.syspath_prepend(str(tmp_path))
    spec = Spec(name="deadly:Deadly")
    answers = ["fine", "die", f"once {tmp_path / 'killed'}", "die"]
    scores = graded(spec, answers, out_of=1.0, limit=20)
    assert [score.points for score in scores] == [1.0, 0.0, 1.0, 0.0]
    assert "ended unexpectedly (9)" in scores[1].reason
    assert (tmp_path / "killed").exists(), "who was killed once, by whomever, is judged again"
    always.touch()
    (failed,) = graded(spec, ["die"], out_of=1.0, limit=20)
    assert failed.status == "failed"
    assert "an ordinary text fares no better" in failed.reason


@pytest.mark.slow
def test_a_number_that_is_only_shown_is_no_miss() -> None:
    (score,) = graded(Spec(name="matches", params={"pattern": SLOW}), [ENDLESS], out_of=None)
    assert score.status == "failed"


@pytest.mark.slow
def test_a_machine_that_is_too_busy_is_nobodys_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local._Worker, "_used", lambda self, before: 0.01)
    monkeypatch.setattr(local, "PATIENCE", 1.0)
    (score,) = graded(Spec(name="matches", params={"pattern": SLOW}), [ENDLESS], out_of=1.0)
    assert score.status == "failed"
    assert "longer than" in score.reason


def test_the_time_of_a_grading_process_is_told_apart_from_waiting() -> None:
    async def used() -> tuple[float, float]:
        worker = await local._Worker.spawn()
        try:
            await worker.get_ready(False)
            before = worker._used(0.0)
            os.kill(worker.process.pid, signal.SIGSTOP)
            await asyncio.sleep(0.2)
            return before, worker._used(0.0)
        finally:
            await worker.kill()

    before, after = asyncio.run(used())
    assert 0 < before <= after < before + 0.15


def keyword_score(
    cond: str, answer: str, *, neg: bool = False, references: tuple[str, ...] = ()
) -> Score:
    rules = [{"text": "x", "cond": cond, "neg": neg}, "y"]
    scorer = build("scorer", Spec(name="keywords", params={"rules": rules}))
    return try_scorer(scorer, ScoreContext.of(answer, references=references))


@pytest.mark.parametrize(
    ("cond", "answer", "references", "neg", "points"),
    [
        ("int(response[1:]) > 3", "x5 y", (), False, None),  # fails on every answer tried
        ("int(response[1:]) > 3", "x5", ("x4",), False, 1.0),
        ("int(response[1:]) > 3", "x5 y", ("x4",), False, 1.0),  # y counts, x does not
        ("int(response[1:]) > 3", "x y", ("x4",), True, 0.0),  # the penalty holds
        ("len(response) / (len(response) - 3) > 0", "x y", (), False, 1.0),
        ("nobody", "x y", ("x4",), False, None),
        ("len('x' * len(response) ** 9) > 0", "x y" + "z" * 900, ("x",), False, 1.0),
    ],
)  # fmt: skip
def test_a_condition_that_fails_on_an_answer_alone_does_not_hold(
    cond: str, answer: str, references: tuple[str, ...], neg: bool, points: float | None
) -> None:
    score = keyword_score(cond, answer, neg=neg, references=references)
    assert score.points == points
    assert (score.status == "failed") == (points is None)


def test_a_blank_whose_condition_fails_on_its_filling_alone_is_wrong() -> None:
    def filled(cond: str) -> Score:
        target = {"any": [{"text": r"\d*", "regex": True, "cond": cond}]}
        params = {"template": "n = [blank];", "targets": [target]}
        scorer = build("scorer", Spec(name="blanks", params=params))
        return try_scorer(scorer, ScoreContext.of("n = ;"))

    assert filled("int(response_str) > 0").points == 0.0
    assert filled("nobody").status == "failed"


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_function_that_fails_on_an_answer_alone_makes_it_a_miss() -> None:
    def judged(source: str, answer: str, references: tuple[str, ...] = ()) -> Score:
        params: dict[str, Any] = {"module": "m", "func": "f", "source": dedent(source)}
        scorer = build("scorer", Spec(name="python_check", params=params))
        base = ScoreContext.of(answer, references=references)
        ctx = ScoreContext(case=base.case, attempt=base.attempt, sandbox=ROOM.sandbox(Bubblewrap))
        made: Score = ROOM.run(scorer.score(ctx))
        return made

    try:
        number = "def f(r):\n    return int(r) == 5, 4, None\n"
        assert judged(number, "5", ("5",)).points == 1.0
        miss = judged(number, "five", ("5",))
        assert (miss.status, miss.points, miss.out_of) == ("scored", 0.0, 4.0)
        assert "ValueError" in miss.reason
        hungry = "def f(r):\n    return len('x' * 10 ** 12 if 'eat' in r else r) > 0, 1, None\n"
        assert judged(hungry, "eat").points == 0.0
        broken = judged("def f(r):\n    return nobody\n", "5", ("5",))
        assert broken.status == "failed"
        assert "NameError" in broken.reason
    finally:
        ROOM.close()


@pytest.mark.parametrize(("counts", "points"), [(True, 0.0), (False, None)])
def test_an_answer_without_a_word_is_as_hard_to_read_as_can_be(
    counts: bool, points: float | None
) -> None:
    scorer = build("scorer", Spec(name="readability", params={"counts": counts}))
    assert try_scorer(scorer, ScoreContext.of("?!")).points == points
