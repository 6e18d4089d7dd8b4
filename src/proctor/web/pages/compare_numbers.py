"""Numbers beside a comparison: tags by damage, measures, cost and time, settings that differ."""

import json
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from pydantic import Field
from starlette.requests import Request

from proctor.core.run import Run, sound_summary
from proctor.core.suite import Json
from proctor.engine.compare.comparing import CompareSettings, compare
from proctor.engine.compare.obstacles import Side
from proctor.store.store import Store
from proctor.web.api.response import Interval, ResponseModel
from proctor.web.store_pool import stamp, store_pool_of

MOST_BY_TAG = 100_000
"""Up to how many cases differences are broken down by tag without being asked for."""
MOST_TAGS = 8
MOST_SINGLE = 20
"""Up to how many values a tag is broken down by, even where each value has one case."""
SAMPLED = 200
"""From how many cases the usual time of an answer is taken."""
TOGETHER = 10
"""How many of them are neighbours in a large run."""
LONGEST = 200
_LEFT_OUT = ("stopped_early", "regraded")
_OUTCOMES = ("n", "unanswered", "unscored", "ci")
"""Parts of a signature that say how a run came out, not how it was set."""


class TagDifference(ResponseModel):
    """The difference of the first two runs on the cases with one value of a tag."""

    tag: str
    value: str
    cases: int
    rates: tuple[float | None, float | None]
    difference: float | None
    low: float | None
    high: float | None
    level: float
    p: float | None
    verdict: str
    points: float
    """How many cases' full marks it is worth: the difference times the cases."""
    link: str = ""
    """Where its cases that changed are listed; empty where no expression can name the tag."""

    @property
    def where(self) -> str:
        """Return the expression that selects its cases."""
        plain = self.tag.isidentifier() and not set(self.value) & set("'\\\n")
        return f"{self.tag} == '{self.value}'" if plain else ""


class ComparedMeasure(ResponseModel):
    """A measure in each of the runs; None where a run does not have it."""

    name: str
    values: list[float | None]
    intervals: list[Interval | None]


class ComparedCost(ResponseModel):
    """What a run took."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    own_cost: float | None = Field(
        description="of the candidate, in US dollars; null where it is not told from the judge's"
    )
    own_prompt_tokens: int | None = Field(description="of the candidate, as its cost")
    own_completion_tokens: int | None
    judge_cost: float | None = Field(description="of judges, where they are told apart")
    seconds: float | None
    """The median time of an answer, from a sample of cases."""
    duration: float | None


class SettingDifference(ResponseModel):
    """A setting that is not the same in all runs; None where a run does not have it."""

    name: str
    values: list[str | None]


def tag_differences(
    request: Request, store: Store, sides: Sequence[Side], chosen: Sequence[str] = ()
) -> list[TagDifference]:
    """Return the differences of the first two runs by tag, the most damage first.

    All rows are adjusted for each other. Runs of very many cases are broken down by the tags that
    were chosen only.
    """
    first, second = sides[:2]
    shared = [tag for tag in first.tags if tag in second.tags]
    large = first.totals.cases > MOST_BY_TAG
    names = {one.tag for one in naming_tags(store, sides)}
    tags = tuple(tag for tag in shared if tag in chosen or not (large or chosen or tag in names))[
        :MOST_TAGS
    ]
    early = first.run.stopped_early or second.run.stopped_early
    if not tags or early:
        return []

    def compute() -> list[TagDifference]:
        settings = CompareSettings(by=tags, force=True)
        (contrast,) = compare(store, [first.run.id, second.run.id], settings).contrasts
        rows = [
            _row(tag, value, group)
            for tag, groups in contrast.groups.items()
            for value, group in groups.items()
        ]
        return sorted(rows, key=lambda row: (row.points, row.tag, row.value))

    key = stamp([first.run, second.run])
    if key is None:
        return compute()
    return store_pool_of(request).page_cache.of(("tags", key, tags), compute)


class NamingTag(ResponseModel):
    """A tag that names cases rather than groups them: most of its values have one case."""

    tag: str
    values: int = Field(description="how many values it has")


def naming_tags(store: Store, sides: Sequence[Side]) -> list[NamingTag]:
    """Return the tags that both runs share and that say nothing of groups, such as an id.

    Each row by tag is adjusted for all others, so that hundreds of single cases would leave
    nothing certain in the rows that matter.
    """
    first, second = sides[:2]
    groups = (sound_summary(store.summaries.get(first.run.id)) or {}).get("groups", {})
    shared = [tag for tag in first.tags if tag in second.tags]
    counts = {tag: len(groups.get(tag, ())) for tag in shared}
    return [
        NamingTag(tag=tag, values=count)
        for tag, count in counts.items()
        if count > MOST_SINGLE and 2 * count > first.totals.cases
    ]


def _row(tag: str, value: str, group: Any) -> TagDifference:
    paired = group.paired
    low, high = group.interval or (None, None)
    return TagDifference(
        tag=tag,
        value=value,
        cases=paired.n,
        rates=(paired.first, paired.second),
        difference=paired.difference,
        low=low,
        high=high,
        level=group.level,
        p=group.adjusted_p,
        verdict=group.verdict,
        points=(paired.difference or 0.0) * paired.n,
    )


def compared_measures(store: Store, sides: Sequence[Side]) -> list[ComparedMeasure]:
    """Return the measures of all runs side by side."""
    numbers = [(sound_summary(store.summaries.get(side.run.id)) or {}) for side in sides]
    rows = [one.get("measures", {}) for one in numbers]
    names = dict.fromkeys(name for row in rows for name in row)
    return [
        ComparedMeasure(
            name=name,
            values=[row.get(name, {}).get("value") for row in rows],
            intervals=[row.get(name, {}).get("interval") for row in rows],
        )
        for name in names
    ]


def compared_costs(request: Request, store: Store, sides: Sequence[Side]) -> list[ComparedCost]:
    """Return what each run took."""
    return [_cost(request, store, side.run) for side in sides]


def _cost(request: Request, store: Store, run: Run) -> ComparedCost:
    usage = (sound_summary(store.summaries.get(run.id)) or {}).get("usage", {})
    roles = usage.get("roles")
    own, judge = (
        used if isinstance(roles, Mapping) and isinstance(used := roles.get(role), Mapping) else {}
        for role in ("candidate", "judge")
    )
    return ComparedCost(
        calls=usage.get("calls") or 0,
        prompt_tokens=usage.get("prompt_tokens") or 0,
        completion_tokens=usage.get("completion_tokens") or 0,
        cost=usage.get("cost"),
        own_cost=own.get("cost"),
        own_prompt_tokens=own.get("prompt_tokens"),
        own_completion_tokens=own.get("completion_tokens"),
        judge_cost=judge.get("cost"),
        seconds=usual_seconds(request, store, run),
        duration=run.finished - run.started if run.finished and run.started else None,
    )


class AnswerTimes(NamedTuple):
    """How long answers of a run took, in seconds; None where nobody measured it."""

    median: float | None
    mean: float | None
    sampled: bool
    """Whether they are those of some cases."""


def answer_times(request: Request, store: Store, run: Run) -> AnswerTimes:
    """Return how long the answers of a run took, in a sample of its cases."""

    def compute() -> AnswerTimes:
        points = store.criterion_points
        places = points.sample_places(run.id, SAMPLED, together=TOGETHER)[:SAMPLED]
        times = store.attempts.seconds_at(run.id, places) if places else []
        sampled = store.results.count(run.id) > len(places)
        if not times:
            return AnswerTimes(None, None, sampled)
        return AnswerTimes(median(times), fmean(times), sampled)

    key = stamp([run])
    return (
        compute()
        if key is None
        else store_pool_of(request).page_cache.of(("seconds", key), compute)
    )


def usual_seconds(request: Request, store: Store, run: Run) -> float | None:
    """Return the median time of an answer in a sample of a run's cases."""
    return answer_times(request, store, run).median


def setting_differences(runs: Sequence[Run]) -> list[SettingDifference]:
    """Return the settings and parts of the signature that are not the same in all runs."""
    rows = [dict(_settings(run)) for run in runs]
    names = dict.fromkeys(name for row in rows for name in row)
    differences = [
        SettingDifference(name=name, values=[row.get(name) for row in rows]) for name in names
    ]
    return [one for one in differences if len(set(one.values)) > 1]


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    yield "suite", f"{run.suite} ({run.suite_key[:12]})"
    yield from _flat("candidate", {"name": run.candidate.name, **run.candidate.params})
    for name, value in run.settings.items():
        if name not in _LEFT_OUT:
            yield from _flat(name, value)
    for name, value in run.signed.parts.items():
        if name not in _OUTCOMES and not (name == "attempts" and name in run.settings):
            yield from _flat(f"signature.{name}", value)


def _flat(name: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for part, inner in value.items():
            yield from _flat(f"{name}.{part}", inner)
        return
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if value not in (None, "", [], ()):
        yield name, text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
