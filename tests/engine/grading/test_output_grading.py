"""Outputs are scored as they come: values, reasons, deadlines, batches, columns, the cache."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.dialect import Reading
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.attempt import Attempt
from proctor.core.run import CaseResult
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.grading.column_scoring import ColumnScoring
from proctor.engine.grading.graded_output import GradedOutput
from proctor.engine.grading.open_grading import GradingSettings, open_grading
from proctor.engine.grading.output_grading import GradingLimits, OutputGrading, SlowOutput
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.errors import MissingResource, SuiteError, UsageError
from proctor.registry import BUILT_IN

BATCHES: list[int] = []


@dataclass(frozen=True)
class Sleepy(Scorer):
    """Wait as many seconds as the output says."""

    async def score(self, ctx: ScoreContext) -> bool:
        await asyncio.sleep(float(ctx.output))
        return True


@dataclass(frozen=True)
class Batching(Scorer):
    """Score many at once, and note how many."""

    batches = True

    def score(self, ctx: ScoreContext) -> bool:
        return ctx.output == "yes"

    def score_batch(self, contexts: Sequence[ScoreContext]) -> Sequence[Any]:
        BATCHES.append(len(contexts))
        time.sleep(0.05)
        return [self.score(ctx) for ctx in contexts]


@pytest.fixture(autouse=True)
def own_scorers(monkeypatch: pytest.MonkeyPatch) -> None:
    BATCHES.clear()
    for kind in (Sleepy, Batching):
        monkeypatch.setitem(
            BUILT_IN["scorer"], kind.__name__.lower(), f"{__name__}:{kind.__name__}"
        )


def case(name: str, *specs: tuple[str, dict[str, Any]], **more: Any) -> Case:
    criteria = [
        Criterion(id=scorer, scorer=Spec(name=scorer, params=params)) for scorer, params in specs
    ]
    asked = (Message(role="user", content="What?"),)
    return Case(id=name, messages=asked, criteria=tuple(criteria), **more)


SUITE = Suite(
    name="mixed",
    cases=(
        case("text", ("contains", {"texts": ["Paris"]})),
        case("rouge", ("rouge", {}), references=("the cat sat",)),
        case("both", ("contains", {"texts": ["Paris"]}), ("rouge", {}), references=("Paris",)),
        case("pattern", ("matches", {"pattern": "^(a+)+$"})),
        case("two", ("contains", {"texts": ["a"]}), ("matches", {"pattern": "b"})),
        case("sleepy", ("sleepy", {})),
        case("batch", ("batching", {})),
        case("empty", ("contains", {"texts": ["x"]}), null_score=-1.0),
    ),
)


def graded(
    outputs: Sequence[tuple[str, Any]],
    *,
    cache: str | None = None,
    on_slow: Callable[[SlowOutput], None] = lambda _: None,
    **limits: Any,
) -> list[GradedOutput]:
    """Score outputs, and return the results in their order."""

    async def score() -> list[GradedOutput]:
        settings = GradingSettings(
            run=RunSettings(suite=SuiteSettings.of(SUITE)),
            limits=GradingLimits(**limits),
            cache=cache,
        )
        reading = Reading(suite=SUITE)
        async with open_grading(settings, reading, on_slow=on_slow) as (grading, _):
            numbered = list(grading.numbered(outputs))
            return sorted([one async for one in grading.stream(numbered)], key=lambda o: o.index)

    return asyncio.run(score())


TABLE: list[tuple[str, Any, float | None, str, str]] = [
    ("text", "It is Paris.", 1.0, "scored", ""),
    ("text", "It is Rome.", 0.0, "scored", "does not contain 'Paris'"),
    ("text", None, 0.0, "unanswered", "no answer was given"),
    ("empty", None, -1.0, "unanswered", "no answer was given"),
    ("text", Attempt.of("text", "Paris"), 1.0, "scored", ""),
    ("text", Attempt.of("text", None), 0.0, "unanswered", "no answer was given"),
    ("rouge", "the cat sat", 1.0, "scored", ""),
    ("both", "Rome", 0.0, "scored", "does not contain 'Paris'"),
    ("pattern", "aaa", 1.0, "scored", ""),
    ("two", "a", 0.5, "scored", "matches 0 of 1"),
    ("sleepy", "0", 1.0, "scored", ""),
    ("batch", "yes", 1.0, "scored", ""),
    ("batch", "no", 0.0, "scored", "0 of 1"),
    ("sleepy", "soon", None, "unscored", "ValueError"),
]
"""Case, output, and the value, status and reason that it must have."""


def test_an_output_has_a_value_or_a_reason() -> None:
    results = graded([row[:2] for row in TABLE])
    for place, (result, (name, _, value, status, why)) in enumerate(
        zip(results, TABLE, strict=True)
    ):
        assert (result.value, result.status, result.scored) == (value, status, value is not None)
        assert why in result.why, result
        assert bool(result.why) == bool(why), result
        assert (result.case_id, result.index) == (name, place)
        assert isinstance(result.case_result, CaseResult)


def test_an_output_past_its_deadline_has_no_score_and_delays_nobody() -> None:
    slow: list[SlowOutput] = []
    pairs = [("sleepy", "30"), *[("sleepy", "0")] * 40, ("text", "Paris")]
    results = graded(pairs, deadline=1.8, slow=1.7, on_slow=slow.append)
    assert [result.value for result in results] == [None, *[1.0] * 41]
    assert results[0].why == "sleepy: scoring took longer than the 1.8 s allowed"
    assert results[0].scores["sleepy"].status == "failed"
    assert [one.case_id for one in slow] == ["sleepy"]


def test_what_was_scored_before_the_deadline_is_kept() -> None:
    both = Suite(name="s", cases=(case("c", ("contains", {"texts": ["0"]}), ("sleepy", {})),))

    async def score() -> GradedOutput:
        settings = GradingSettings(
            run=RunSettings(suite=SuiteSettings.of(both)), limits=GradingLimits(deadline=1.0)
        )
        async with open_grading(settings, Reading(suite=both)) as (grading, _):
            return await grading.grade(0, both.cases[0], "30")

    result = asyncio.run(score())
    assert result.scores["contains"].points == 1.0
    assert (result.value, result.worth.low, result.worth.high) == (None, 0.5, 1.0)


def test_batch_scorers_get_what_came_while_they_were_busy() -> None:
    results = graded([("batch", "yes" if n % 2 else "no") for n in range(16)])
    assert [result.value for result in results] == [0.0, 1.0] * 8
    assert sum(BATCHES) == 16
    assert len(BATCHES) < 8


def test_many_texts_are_scored_as_columns_with_the_same_scores() -> None:
    texts = ["Paris", "Rome", "Paris and Rome", "the cat sat on the mat", ""] * 300
    pairs = [(name, text) for text in texts for name in ("text", "rouge", "both")]
    many = graded(pairs)
    # What is an attempt does not fit columns.
    single = graded([(name, Attempt.of(name, text)) for name, text in pairs[:15]])
    for place, result in enumerate(many):
        other = single[place % 15]
        assert (result.index, result.value, result.why) == (place, other.value, other.why)
        assert {**result.scores} == {**other.scores}


def test_scores_of_columns_are_a_mapping() -> None:
    (result,) = graded([("both", "Paris")])
    assert list(result.scores) == ["contains", "rouge"]
    assert len(result.scores) == 2
    with pytest.raises(KeyError):
        result.scores["other"]


def test_what_does_not_fit_columns_is_known() -> None:
    from proctor.engine.run.scorer_pool import Scorers

    columns = ColumnScoring(Scorers())
    fits = {one.id: columns.fits(one, "x") for one in SUITE.cases}
    assert [name for name, fit in fits.items() if fit] == ["text", "rouge", "both", "empty"]
    assert not columns.fits(SUITE.cases[0], None)
    assert not columns.fits(SUITE.cases[0], "x" * 2_000_000)


def test_an_unknown_case_is_named_with_the_likely_one() -> None:
    with pytest.raises(UsageError, match=r"no case 'txt' \(did you mean 'text'\?\)"):
        graded([("text", "Paris"), ("txt", "Paris")])


@pytest.mark.parametrize(
    ("suite", "error", "words"),
    [
        (Suite(name="s", cases=(case("c", ("nope", {})),)), SuiteError, "nope"),
        (
            Suite(name="s", cases=(case("c", ("rubric", {"criterion": "x"})),)),
            MissingResource,
            "judge",
        ),
    ],
)
def test_what_stands_in_the_way_is_raised_at_once(
    suite: Suite, error: type[Exception], words: str
) -> None:
    async def score() -> None:
        settings = GradingSettings(run=RunSettings(suite=SuiteSettings.of(suite)))
        async with open_grading(settings, Reading(suite=suite)):
            pass

    with pytest.raises(error, match=words):
        asyncio.run(score())


@pytest.mark.parametrize("limits", [{"deadline": 0}, {"deadline": -1.0}])
def test_a_deadline_is_more_than_nothing(limits: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="more than 0"):
        GradingLimits(**limits)


def test_a_cluster_is_refused() -> None:
    run = RunSettings(suite=SuiteSettings.of(SUITE), executor=Spec(name="ray"))
    with pytest.raises(UsageError, match="this machine"):
        GradingSettings(run=run)


def test_the_cache_has_scores_for_the_next_time(tmp_path: Path) -> None:
    place = str(tmp_path / "cache.db")
    pairs = [("text", "Paris"), ("two", "ab"), ("sleepy", "0.01"), ("sleepy", "soon")]
    first = graded(pairs, cache=place)
    again = graded(pairs, cache=place)
    assert [one.stored for one in first] == [False] * 4
    assert [one.stored for one in again] == [True, True, True, False]
    assert [one.value for one in again] == [one.value for one in first] == [1.0, 1.0, 1.0, None]


@pytest.mark.slow
def test_a_pattern_without_end_is_a_miss_and_others_go_on() -> None:
    results = graded([("pattern", "a" * 40 + "b"), *[("pattern", "aa")] * 20])
    assert [result.value for result in results] == [0.0, *[1.0] * 20]
    assert "took longer" in results[0].why


def test_outputs_are_taken_as_there_is_room() -> None:
    counted: list[int] = []

    def endless() -> Iterator[tuple[str, str]]:
        while True:
            counted.append(1)
            yield "sleepy", "0.01"

    async def first_results() -> None:
        settings = GradingSettings(run=RunSettings(suite=SuiteSettings.of(SUITE)))
        async with open_grading(settings, Reading(suite=SUITE)) as (grading, _):
            stream = grading.stream(grading.numbered(endless()))
            for _ in range(3):
                await anext(stream)
            await stream.aclose()
            assert grading.counts.pending == 0

    asyncio.run(first_results())
    assert len(counted) <= 3 * 16


def test_counts_say_what_was_done() -> None:
    async def score() -> OutputGrading:
        settings = GradingSettings(
            run=RunSettings(suite=SuiteSettings.of(SUITE)), limits=GradingLimits(deadline=1.0)
        )
        async with open_grading(settings, Reading(suite=SUITE)) as (grading, _):
            pairs = [("text", "a"), ("sleepy", "9"), ("sleepy", "soon")]
            async for _ in grading.stream(grading.numbered(pairs)):
                pass
            return grading

    counts = asyncio.run(score()).counts
    assert (counts.graded, counts.unscored, counts.late, counts.pending) == (3, 2, 1, 0)
