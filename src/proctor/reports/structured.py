"""A run as one JSON object."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import IO, TYPE_CHECKING, Any, ClassVar

from proctor.contracts.report import Report, RunView
from proctor.core.attempt import TRACEBACK, AttemptStatus
from proctor.core.cause import CAUSE, cause_of
from proctor.core.fingerprint import plain
from proctor.core.run import METRIC, AttemptResult, CaseResult, Group, Measured, Totals
from proctor.core.score import Score
from proctor.core.suite import Case, Json
from proctor.reports.judged import corrected_object, noise_floor_object, variance_object
from proctor.reports.reasons import shortfall, unscored_reasons
from proctor.reports.turns import turns_of

if TYPE_CHECKING:
    from proctor.core.audit import NoiseFloor
    from proctor.core.scan import ScanFindings

_USAGE: Mapping[str, Json] = {
    "calls": 0,
    "prompt_tokens": 0,
    "completion_tokens": 0,
    "cost": None,
}


_NAMES = frozenset({"id", "name", "status", "criterion", "role", "run", "tags"})
"""Keys whose texts are names and words of Proctor, or of the person who runs it."""


@dataclass(frozen=True)
class JsonReport(Report):
    """Report of a run as one indented JSON object."""

    streams: ClassVar[bool] = True

    gates: tuple[dict[str, Any], ...] = ()
    """What came of each gate, where there were any."""
    against: dict[str, Any] = field(default_factory=dict)
    """The comparison with an earlier run, where there was one."""
    texts: bool = True
    """Whether texts of models, judges, programs and suites are included."""

    def render(self, view: RunView, *, by: Sequence[str] = (), cases: bool = False) -> str:
        return "".join(_pieces(view, by, cases, self._beside, texts=self.texts))

    @property
    def _beside(self) -> dict[str, Json]:
        return _gates_and_baseline(self.gates, self.against)

    def write(
        self, view: RunView, file: IO[str], *, by: Sequence[str] = (), cases: bool = False
    ) -> None:
        file.writelines(_pieces(view, by, cases, self._beside, texts=self.texts))


def to_object(
    view: RunView,
    by: Sequence[str] = (),
    cases: bool = False,
    gates: Sequence[Json] = (),
    against: Mapping[str, Json] | None = None,
    texts: bool = True,
) -> dict[str, Json]:
    """Make the object that ``run --json`` and ``report --format json`` print."""
    data = {**_head(view, by, texts=texts), **_gates_and_baseline(gates, against or {})}
    if cases:
        data["cases"] = [_case(result, texts=texts) for result in view.results()]
    return data


def _gates_and_baseline(gates: Sequence[Json], against: Mapping[str, Json]) -> dict[str, Json]:
    """Return what was found besides the numbers: the gates, and the earlier run's comparison."""
    beside = {"gates": list(gates), "against": dict(against)}
    return {name: clean(value) for name, value in beside.items() if value}


def case_object(result: CaseResult) -> dict[str, Json]:
    """Make the object of one case with all its attempts and scores."""
    folded = result.folded
    data: dict[str, Json] = clean(
        {
            "id": result.case.id,
            "value": folded.value,
            "full": result.case.full_score,
            "weight": result.case.weight,
            "status": folded.status.value,
            "low": folded.low,
            "high": folded.high,
            "tags": {name: tag_object(values) for name, values in result.case.tags.items()},
            "unscored_reasons": unscored_reasons(result),
            "attempts": [_attempt(result.case, attempt) for attempt in result.attempts],
        }
    )
    return data


def tag_object(values: Sequence[str]) -> Json:
    """Return a tag's value: a string, or a list if there are several."""
    return values[0] if len(values) == 1 else list(values)


def _case(result: CaseResult, *, texts: bool) -> dict[str, Json]:
    shown = case_object(result)
    return shown if texts else without_texts(shown)


def without_texts(data: dict[str, Json]) -> dict[str, Json]:
    """Leave out what models, judges, programs and suites wrote; keys, names and numbers stay."""
    return {key: value if key in _NAMES else _textless(value) for key, value in data.items()}


def _textless(value: Json) -> Json:
    if isinstance(value, dict):
        return without_texts(value)
    if isinstance(value, list | tuple):
        return [_textless(inner) for inner in value if not isinstance(inner, str)]
    return None if isinstance(value, str) else value


def _head(view: RunView, by: Sequence[str], *, texts: bool = True) -> dict[str, Json]:
    head = _whole_head(view, by)
    if not texts:
        head["failures"] = without_texts(head["failures"])
        head["shortfall"] = head["shortfall"].partition(":")[0]
        for mark in head.get("scan", {}).get("marks", ()):
            mark |= {"passage": None, "reason": None}
    return head


def _whole_head(view: RunView, by: Sequence[str]) -> dict[str, Json]:
    run, summary = view.run, view.summary
    data: dict[str, Json] = clean(
        {
            "run": {
                "id": run.id,
                "name": run.name,
                "suite": run.suite,
                "candidate": view.candidate,
                "status": run.status.value,
                "signature": run.signature,
                "imported": run.imported,
                "regraded": run.regraded,
                "stopped_early": run.stopped_early,
            },
            "totals": _totals(summary.totals),
            "measures": {name: _measured(measured) for name, measured in summary.measures.items()},
            "groups": {
                tag: {
                    name: _group(group)
                    | _noise(summary.noise_floor(group, name if tag == METRIC else ""))
                    for name, group in rows.items()
                }
                for tag, rows in view.groups(by).items()
            },
            "usage": {**_USAGE, **summary.usage},
            "corrected": corrected_object(summary.corrected),
            **noise_floor_object(summary.noise_floor(summary.totals)),
            "variance": variance_object(summary.variance),
            "references": summary.references,
            "failures": summary.failures,
            "shortfall": shortfall(view),
            **({"ragged": summary.ragged} if summary.ragged else {}),
            **({"scan": _scan(summary.scan)} if summary.scan is not None else {}),
        }
    )
    return data


def _scan(findings: "ScanFindings") -> dict[str, Json]:
    from proctor.reports.scan import scan_object

    return scan_object(findings)


def _group(group: Group) -> dict[str, Json]:
    return {
        "score": group.score,
        "full": group.full,
        "rate": group.rate,
        "spread": group.spread,
        "score_spread": group.score_spread,
        "interval": group.interval,
        "cases": group.cases,
        "clusters": group.clusters,
    }


def _noise(floor: "NoiseFloor | None") -> dict[str, Json]:
    """Return the noise floor of a row, where the judge was audited."""
    return {} if floor is None else {"noise_floor": floor.value}


def _totals(totals: Totals) -> dict[str, Json]:
    return {
        **_group(totals),
        "bounds": totals.bounds,
        "cases_unscored": totals.cases_unscored,
        "attempts": totals.attempts,
        "unanswered": totals.unanswered,
        "unscored": totals.unscored,
        "errors": totals.errors,
    }


def _measured(measured: Measured) -> dict[str, Json]:
    data: dict[str, Json] = {
        "value": measured.value,
        "interval": measured.interval,
        "n": measured.n,
    }
    if measured.note:
        data["note"] = measured.note
    return data if measured.detail is None else {**data, "detail": measured.detail}


def _attempt(case: Case, attempt: AttemptResult) -> dict[str, Json]:
    order = {criterion.id: place for place, criterion in enumerate(case.criteria)}
    scores = sorted(attempt.scores.items(), key=lambda pair: order.get(pair[0], len(order)))
    data: dict[str, Json] = {
        "index": attempt.attempt.index,
        "value": attempt.value.value,
        "status": attempt.value.status.value,
        "scores": [_score(name, score) for name, score in scores],
    }
    if turns := turns_of(case, attempt):
        data["turns"] = [turn.to_json() for turn in turns]
    if attempt.attempt.error or attempt.attempt.status is AttemptStatus.ERROR:
        data["error"] = attempt.attempt.error
    if (cause := cause_of(attempt.attempt, attempt.scores.values())) is not None:
        data[CAUSE] = cause.value
    if where := attempt.attempt.notes.get(TRACEBACK):
        data[TRACEBACK] = str(where)
    return data


def _score(criterion: str, score: Score) -> dict[str, Json]:
    return {
        "criterion": criterion,
        "points": score.points,
        "out_of": score.out_of,
        "status": score.status.value,
        "reason": score.reason,
        "detail": plain(score.detail),
    }


def _pieces(
    view: RunView, by: Sequence[str], cases: bool, beside: Mapping[str, Json], *, texts: bool
) -> Iterator[str]:
    """Yield the text of the object in pieces, one case at a time."""
    head = _dumps({**_head(view, by, texts=texts), **beside})
    if not cases:
        yield head + "\n"
        return
    yield head.removesuffix("\n}") + ',\n  "cases": ['
    empty = True
    for result in view.results():
        yield "\n    " if empty else ",\n    "
        yield _dumps(_case(result, texts=texts)).replace("\n", "\n    ")
        empty = False
    yield "]\n}\n" if empty else "\n  ]\n}\n"


def _dumps(value: Json) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which model output may contain
        return json.dumps(value, indent=2, allow_nan=False)
    return text


def clean(value: Any, text: Callable[[str], str] = str) -> Any:
    """Return a JSON value with only finite numbers, and each string passed through ``text``."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {text(str(key)): clean(inner, text) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean(inner, text) for inner in value]
    return value
