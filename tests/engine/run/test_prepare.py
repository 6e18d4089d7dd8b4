"""Getting ready: what stands in the way is raised before anything is bought, doubts are told."""

import asyncio
import gc
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.dialect import Reading
from proctor.contracts.model import ModelChoice
from proctor.core.access import Access, Source
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.models.roles import Models
from proctor.engine.run.collect import Collector
from proctor.engine.run.evaluate import COLLECT_EVERY, evaluate
from proctor.engine.run.prepare import (
    IDLE_JUDGE,
    NO_BOUNDARY,
    NO_JUDGE,
    PreparedRun,
    cases_that_cannot_begin,
    measured,
    open_sandbox,
    prepare,
)
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.settings import CallSettings, JudgeSettings, RunSettings, SuiteSettings
from proctor.errors import MissingResource, ModelError, SuiteError, UsageError
from proctor.store.store import Store
from proctor.testing import FakeServer, ScriptedModel

EXACT = Criterion(id="e", scorer=Spec(name="exact_match"))
JUDGED = Criterion(id="j", scorer=Spec(name="judged", params={"question": "Nice?"}))
JUDGE = JudgeSettings(judges=(ModelChoice(spec="openai:j"),))
ACCURACY = Spec(name="accuracy")
MODEL = ModelChoice(spec="openai:m", concurrency=None)


def suite(*criteria: Criterion, **more: Any) -> Suite:
    message = Message(role="user", content="?")
    cases = tuple(
        Case(id=name, messages=(message,), criteria=criteria or (EXACT,), references=("x",))
        for name in "ab"
    )
    return Suite(name="s", cases=cases, **more)


def settings(**changes: Any) -> RunSettings:
    part = SuiteSettings(path=Path("s"), **changes.pop("part", {}))
    if not changes.keys() & {"model", "agent"}:
        changes.setdefault("answers", Path("a.jsonl"))
    return RunSettings(suite=part, **changes)


def prepared(of: Suite | None = None, **changes: Any) -> PreparedRun:
    asked = settings(**changes)
    return prepare(asked, Reading(suite=of or suite()), Models(None, asked.calls))


def warnings(of: Suite, **changes: Any) -> list[str]:
    return [problem.message for problem in prepared(of, **changes).reading.warnings]


@pytest.mark.parametrize(
    ("measures", "changes", "added"),
    [
        ((), {"attempts": 3}, []),
        ((ACCURACY,), {"attempts": None}, []),
        ((ACCURACY,), {"attempts": 3}, ["pass@1"]),
        ((ACCURACY, Spec(name="pass@1")), {"attempts": 3}, []),
        ((), {"panel": JUDGE}, []),
        ((), {"panel": replace(JUDGE, repeats=2)}, ["agreement"]),
        ((), {"panel": replace(JUDGE, judges=JUDGE.judges * 2)}, ["agreement"]),
        ((Spec(name="agreement"),), {"panel": replace(JUDGE, repeats=2)}, []),
    ],
)
def test_several_attempts_and_judges_add_their_measures(
    measures: tuple[Spec, ...], changes: dict[str, Any], added: list[str]
) -> None:
    before = suite(measures=measures)
    after = measured(before, settings(**changes)).measures
    assert after[: len(measures)] == measures
    assert [measure.name for measure in after[len(measures) :]] == added


def test_the_cases_that_were_asked_for_are_kept() -> None:
    ready = prepared(part={"select": ("b",)})
    assert [case.id for case in ready.suite.cases] == ["b"]
    assert [case.id for case in ready.reading.suite.cases] == ["a", "b"]


@pytest.mark.parametrize(
    ("of", "changes", "error", "words"),
    [
        (suite(Criterion(id="x", scorer=Spec(name="exact_mach"))), {}, SuiteError, "exact_match"),
        (suite(reduce="most"), {}, UsageError, "most"),
        (suite(JUDGED), {}, MissingResource, "--judge"),
        (suite(), {"answers": None}, UsageError, "there is no candidate"),
    ],
)
def test_what_stands_in_the_way_is_raised(
    of: Suite, changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        prepared(of, **changes)


def test_what_is_only_shown_may_stay_unscored_and_that_is_told() -> None:
    shown = suite(EXACT, replace(JUDGED, weight=0.0))
    assert NO_JUDGE in warnings(shown)
    assert NO_JUDGE not in warnings(shown, panel=JUDGE)
    assert NO_JUDGE not in warnings(suite())


def test_a_judge_that_nothing_asks_is_told() -> None:
    assert IDLE_JUDGE in warnings(suite(EXACT), panel=JUDGE)
    assert IDLE_JUDGE not in warnings(suite(EXACT))
    for weight in (0.0, 1.0):
        assert IDLE_JUDGE not in warnings(suite(EXACT, replace(JUDGED, weight=weight)), panel=JUDGE)


def test_a_place_that_is_no_boundary_is_told() -> None:
    code = Criterion(
        id="p", scorer=Spec(name="unit_tests", params={"tests": [{"content": "assert True"}]})
    )
    process = Spec(name="process")
    assert NO_BOUNDARY in warnings(suite(code), sandbox=process)
    assert NO_BOUNDARY not in warnings(suite(), sandbox=process)


def test_a_sandbox_that_does_not_work_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = open_sandbox(settings(sandbox=Spec(name="process")))
    monkeypatch.setattr(type(sandbox), "problems", lambda _: iter(["no kernel", "no disk"]))
    with pytest.raises(MissingResource, match=r"no safe place for them: no kernel$"):
        open_sandbox(settings(sandbox=Spec(name="process")))


@pytest.mark.parametrize(
    ("choice", "calls", "at_a_time"),
    [
        (MODEL, {}, 64),
        (MODEL, {"concurrency": 5}, 5),
        (replace(MODEL, concurrency=3), {}, 3),
        (replace(MODEL, concurrency=100), {"concurrency": 5}, 5),
        (replace(MODEL, concurrency=3), {"pause": 1.0}, 1),
        (None, {"concurrency": 5}, 5),
    ],
)
def test_the_smallest_limit_counts(
    choice: ModelChoice | None, calls: dict[str, Any], at_a_time: int
) -> None:
    asked = {"model": choice} if choice else {"answers": Path("a")}
    ready = replace(prepared(), settings=settings(calls=CallSettings(**calls), **asked))
    assert ready.concurrency == at_a_time


def test_only_an_agent_can_lack_a_place_to_begin() -> None:
    assert cases_that_cannot_begin(settings(), suite()) == {}
    assert not prepared().needs_sandbox


def test_a_model_that_a_file_names_is_blamed_on_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = prepared()

    async def gone(_: object) -> None:
        raise ModelError("nobody there")

    monkeypatch.setattr(ready.models, "check", gone)

    def reached(source: Source | None) -> str:
        choice = replace(MODEL, access=Access(source=source))
        with pytest.raises(ModelError) as caught:
            asyncio.run(ready._reach(ScriptedModel([]), choice, "judge"))
        return str(caught.value)

    named = reached(Source(kind="file", place="conf.json", file="conf.json"))
    assert named.startswith("nobody there (conf.json names this address; fix: ")
    assert "--judge M" in named
    assert reached(None) == "nobody there"


@pytest.mark.parametrize(
    ("more", "attempts", "told"),
    [
        ({"reduce": "avg_max_8"}, 9, "9 attempts do not fill buckets of 8"),
        ({"reduce": "avg_max_8"}, 16, ""),
        ({"reduce": "max"}, 9, ""),
        ({"measures": (Spec(name="pass@k", params={"k": 4}),)}, 3, "pass@4 needs 4 attempts"),
        ({"measures": (Spec(name="pass^k", params={"k": 2}),)}, None, "pass^2 needs 2 attempts"),
        ({"measures": (Spec(name="pass@k", params={"k": 3}),)}, 3, ""),
    ],
)
def test_attempts_that_do_not_fit_are_warned_of(
    more: dict[str, Any], attempts: int | None, told: str
) -> None:
    found = warnings(suite(**more), model=MODEL, attempts=attempts)
    assert bool(found) == bool(told)
    assert all(told in message for message in found)


@pytest.mark.parametrize(("concurrency", "begun"), [(1, 1), (8, 10)])
def test_attempts_wait_in_line_for_a_server_that_gets_no_more_calls(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, concurrency: int, begun: int
) -> None:
    limits = []
    original = Collector.collect

    async def noted(self: Collector, progress: Any) -> Any:
        limits.append(self.concurrency)
        return await original(self, progress)

    monkeypatch.setattr(Collector, "collect", noted)
    path = tmp_path / "suite.jsonl"
    rows = [{"id": f"c{number}", "ask": f"{number}?", "criteria": "x"} for number in range(24)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with FakeServer("x", latency=0.02) as server:
        settings = RunSettings(
            suite=SuiteSettings(path=path),
            model=ModelChoice(spec=f"openai:m@{server.url}"),
            calls=CallSettings(concurrency=concurrency),
        )
        before, during = gc.get_threshold(), []
        asyncio.run(evaluate(settings, store, lambda _: during.append(gc.get_threshold())))
        assert server.max_in_flight == concurrency
    assert limits == [begun]
    assert {threshold[0] for threshold in during} == {COLLECT_EVERY}
    assert gc.get_threshold() == before


def test_what_was_there_before_a_run_is_not_looked_through_for_garbage(
    tmp_path: Path, store: Store
) -> None:
    suite, answers = tmp_path / "suite.jsonl", tmp_path / "answers.jsonl"
    suite.write_text('{"id": "a", "ask": "?", "criteria": "x"}\n', encoding="utf-8")
    answers.write_text('{"case": "a", "output": "x"}\n', encoding="utf-8")
    settings = RunSettings(suite=SuiteSettings(path=suite), answers=answers)
    frozen: list[int] = []
    gc.unfreeze()
    asyncio.run(evaluate(settings, store, lambda _: frozen.append(gc.get_freeze_count())))
    assert frozen
    assert min(frozen) > 10_000
    assert gc.get_freeze_count() == 0
    gc.freeze()
    try:
        asyncio.run(evaluate(settings, store))
        assert gc.get_freeze_count() > 10_000, "who froze it before thaws it"
    finally:
        gc.unfreeze()


def test_processes_are_started_for_the_criteria_that_need_them_alone() -> None:
    def case(number: int, name: str, value: str) -> Case:
        spec = Spec(name=name, params={"pattern" if name == "matches" else "text": value})
        criterion = Criterion(id="c", scorer=spec)
        question = Message(role="user", content="?")
        return Case(id=str(number), messages=(question,), criteria=(criterion,))

    quick = [case(number, "contains", "a") for number in range(300)]
    assert Scorers().in_processes(Suite(name="s", cases=tuple(quick))) == 0
    both = [*quick, case(300, "matches", "a+b"), case(301, "matches", "c")]
    assert Scorers().in_processes(Suite(name="s", cases=tuple(both))) == 2
