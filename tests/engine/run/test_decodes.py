"""How often what the store holds is decoded on the way through a run: once at most."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from types import FrameType
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.contracts.report import RunView
from proctor.core.encoding import attempt_from, case_from
from proctor.engine.run import attempt_writer, measure_sums
from proctor.engine.run.evaluate import evaluate
from proctor.engine.run.settings import CallSettings, RunSettings, SuiteSettings
from proctor.executors import local
from proctor.store.store import Store
from proctor.testing import FakeServer

CASES, ATTEMPTS = 5, 2
SUITE = """
    name: kinds
    measures: [accuracy, {pass_rate: {threshold: 0.2}}, {mean_points: {criterion: waits}}]
    cases:
"""
CASE = """
      - id: c{number}
        ask: "{number}?"
        references: ["answer {number}"]
        criteria:
          - {{id: instant, contains: "answer"}}
          - {{id: process, matches: "answer [0-9]"}}
          - {{id: batch, scorer: "decode_kinds:Many"}}
          - {{id: waits, scorer: "decode_kinds:Waits"}}
"""
KINDS = """
from dataclasses import dataclass
from typing import ClassVar
from proctor import Scorer

@dataclass(frozen=True)
class Many(Scorer):
    batches: ClassVar[bool] = True

    def score(self, ctx):
        return "answer" in ctx.output

    def score_batch(self, contexts):
        return [self.score(ctx) for ctx in contexts]

@dataclass(frozen=True)
class Waits(Scorer):
    async def score(self, ctx):
        return ctx.output.endswith(str(ctx.case.id[1:]))
"""
DECODERS = {attempt_from.__code__: "attempts", case_from.__code__: "cases"}


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count the decoded cases and attempts of this thread."""
    decodes = Counter[str]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in DECODERS:
            decodes[DECODERS[frame.f_code]] += 1

    sys.setprofile(note)
    try:
        yield decodes
    finally:
        sys.setprofile(None)


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "decode_kinds.py").write_text(KINDS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(local, "PATIENCE", 100.0)
    path = tmp_path / "suite.yaml"
    cases = "".join(CASE.format(number=number) for number in range(CASES))
    path.write_text(dedent(SUITE) + cases, encoding="utf-8")
    return path


def settings_of(suite: Path, **who: Any) -> RunSettings:
    return RunSettings(suite=SuiteSettings(path=suite, allow_import=True), **who)


def answers_of(suite: Path) -> Path:
    path = suite.with_name("answers.jsonl")
    rows = [
        {"case": f"c{number}", "attempt": index, "output": f"answer {number}"}
        for number in range(CASES)
        for index in range(ATTEMPTS)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def numbers(view: RunView) -> Any:
    return view.summary.totals, view.summary.measures, view.summary.groups, list(view.results())


def examined(settings: RunSettings, store: Store) -> tuple[Any, Counter[str]]:
    """Return all that a report of a run holds, and what was decoded for it."""
    with counted() as decodes:
        seen = numbers(asyncio.run(evaluate(settings, store)).view)
    assert (seen[0].rate, seen[0].cases, seen[0].unscored) == (1.0, CASES, 0)
    assert {measured.value for measured in seen[1].values()} == {1.0}
    return seen, decodes


def test_answers_on_file_are_not_read_back(suite: Path, store: Store) -> None:
    settings = settings_of(suite, answers=answers_of(suite))
    seen, decodes = examined(settings, store)
    assert seen[0].attempts == CASES * ATTEMPTS
    assert decodes == {}
    again, decodes = examined(settings, store)
    assert again == seen
    assert decodes == {}


@pytest.mark.parametrize("max_cost", [None, 1.0])
def test_a_model_s_replies_are_not_read_back(
    suite: Path, store: Store, max_cost: float | None
) -> None:
    calls = CallSettings(max_cost=max_cost, prices={"m": (0.1, 0.1)})
    with FakeServer(lambda said, _: "answer " + said[-1]["content"][0]) as server:
        model = ModelChoice(spec=f"openai:m@{server.url}")
        settings = settings_of(suite, model=model, attempts=ATTEMPTS, calls=calls)
        seen, decodes = examined(settings, store)
        assert decodes == {}
        again, decodes = examined(settings, store)
    assert again == seen
    assert decodes == {"attempts": CASES * ATTEMPTS}


@pytest.mark.slow
def test_a_run_that_is_not_held_is_read_once(
    suite: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(suite, answers=answers_of(suite))
    held, _ = examined(settings, store)
    monkeypatch.setattr(attempt_writer, "MOST_IN_MEMORY", 3)
    with counted() as decodes:
        view = asyncio.run(evaluate(settings, store)).view
    assert decodes == {"attempts": CASES * ATTEMPTS, "cases": CASES}
    assert numbers(view) == held


@pytest.mark.slow
def test_a_measure_that_is_no_sum_reads_a_run_once_more_where_it_is_not_held(
    suite: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(suite, answers=answers_of(suite))
    summed, _ = examined(settings, store)
    monkeypatch.setattr(measure_sums, "is_summed", lambda _: False)
    held, decodes = examined(settings, store)
    assert held == summed
    assert decodes == {}
    monkeypatch.setattr(attempt_writer, "MOST_IN_MEMORY", 3)
    with counted() as decodes:
        view = asyncio.run(evaluate(settings, store)).view
    times = 1 + len(view.summary.measures)
    assert decodes == {"attempts": CASES * ATTEMPTS * times, "cases": CASES * times}
    assert numbers(view) == summed
