"""What an attempt took: seconds and money."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.attempt import Attempt
from proctor.core.score import Score


@dataclass(frozen=True)
class Latency(Scorer):
    """Pass when the candidate took at most so many seconds; without a limit they are only shown.

    All calls of the attempt count. Answers on file have them in the column ``seconds``; an attempt
    that nobody timed is unscored.
    """

    instant: ClassVar[bool] = True
    reads_usage: ClassVar[bool] = True

    seconds: float | None = None

    @property
    def full_marks(self) -> float | None:
        return None if self.seconds is None else 1.0

    def score(self, ctx: ScoreContext) -> Score:
        taken = ctx.attempt.seconds
        taken = _number(ctx.attempt.meta, "seconds") if taken is None else taken
        if taken is None:
            return Score.failed("nobody measured how long it took", out_of=self.full_marks)
        return _within(taken, self.seconds, f"{taken:.2f} s")

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        return (0.0, None if self.seconds is None else 1.0)

    def problems(self) -> Iterable[str]:
        return _limit_problems("seconds", self.seconds)


@dataclass(frozen=True)
class Cost(Scorer):
    """Pass when the candidate's calls cost at most so many US dollars, or only show what they cost.

    Answers on file have it in the column ``cost``; an attempt whose price nobody knows is unscored.
    """

    instant: ClassVar[bool] = True
    reads_usage: ClassVar[bool] = True

    dollars: float | None = None

    @property
    def full_marks(self) -> float | None:
        return None if self.dollars is None else 1.0

    def score(self, ctx: ScoreContext) -> Score:
        spent = _spent(ctx.attempt)
        if spent is None:
            return Score.failed("nobody knows what it cost", out_of=self.full_marks)
        return _within(spent, self.dollars, f"${spent:.6f}")

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        return (0.0, None if self.dollars is None else 1.0)

    def problems(self) -> Iterable[str]:
        return _limit_problems("dollars", self.dollars)


def _spent(attempt: Attempt) -> float | None:
    used = attempt.usage.get("candidate")
    cost = _number(used, "cost") if isinstance(used, Mapping) else None
    return _number(attempt.meta, "cost") if cost is None else cost


def _number(values: Mapping[str, object], name: str) -> float | None:
    """Return a number that a mapping has, spelt as a text in tables."""
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _within(value: float, limit: float | None, shown: str) -> Score:
    if limit is None:
        return Score(points=value, reason=shown)
    comparison = "at most" if value <= limit else "more than"
    return Score(
        points=float(value <= limit),
        out_of=1.0,
        reason=f"{shown}, {comparison} {limit:g}",
        detail={"value": value, "limit": limit},
    )


def _limit_problems(name: str, limit: float | None) -> Iterable[str]:
    if limit is not None and limit < 0:
        yield f"{name} is 0 or more, not {limit:g}"
