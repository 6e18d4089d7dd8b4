"""One case as InfiBench's result YAML keeps it, with numbers that its own tools recompute."""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.fingerprint import plain
from proctor.core.fold import Fold
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Json
from proctor.reports.reasons import unscored_reasons
from proctor.reports.structured import tag_object

FIELDS: Mapping[str, str] = {
    "keywords": "keywords",
    "blanks": "blank_filling",
    "unit_tests": "unit_test",
    "rouge": "similarity",
    "python_check": "custom",
}
"""What the original calls the points of each scorer, in the order in which it adds them up."""
CLOSE = 1e-9
_LANES, _HALVED = 8, 128
"""How many sums numpy adds up side by side, and up to how many numbers before it halves them."""
_ROUGE = ("rouge1", "rouge2", "rougeL", "rougeLsum", "normalized_score")


class Sums(NamedTuple):
    """Sums over cases in the original's summary."""

    score: float = 0.0
    deviation: float = 0.0
    full: float = 0.0
    cases: int = 0
    with_response: int = 0

    def text(self) -> str:
        """Return the summary, character for character."""
        return (
            f"Total score: {self.score} ± {self.deviation} / {self.full}\n"
            f"Total cases: {self.cases}\n"
            f"Total cases with response: {self.with_response}\n    "
        )

    def plus(self, entry: Mapping[str, Json], result: CaseResult) -> "Sums":
        """Take in one more case."""
        weight = result.case.weight
        answered = any(a.attempt.status is not AttemptStatus.UNANSWERED for a in result.attempts)
        return Sums(
            self.score + entry["now_score"] * weight,
            self.deviation + entry["now_std"] * weight,
            self.full + entry["full_score"] * weight,
            self.cases + 1,
            self.with_response + answered,
        )


def entry_of(result: CaseResult, how: Fold, written: Mapping[str, Json]) -> dict[str, Json]:
    """Make what the original keeps of one case; ``written`` is what its file says of it."""
    case, folded = result.case, result.folded
    entry: dict[str, Json] = {name: tag_object(values) for name, values in case.tags.items()}
    entry |= {"id": case.id, "null_score": case.null_score}
    entry |= {name: value for name, value in written.items() if name != "grading"}
    if case.weight != 1:
        entry["weight"] = case.weight
    details = [_detail(case, attempt) for attempt in result.attempts]
    scores = [
        _score(detail, case, attempt)
        for detail, attempt in zip(details, result.attempts, strict=True)
    ]
    if folded.status is not ValueStatus.SCORED:
        # The original's table divides by this; without it, one such case ends the table.
        details = [{"max_score": 1.0, **detail} for detail in details]
    entry |= {"all_scores": scores, "detail": details}
    scored = [score for score in scores if score is not None]
    if folded.value is None or not scored:
        broken = {"info": folded.status.value, "error_obj": "; ".join(unscored_reasons(result))}
        return entry | {"full_score": 0.0, "now_score": 0.0, "now_std": 0.0} | broken
    score, deviation = _folded(how, scores)
    if abs(score - folded.value) > CLOSE:
        score = folded.value
    return entry | {"full_score": case.full_score, "now_score": score, "now_std": deviation}


def _folded(how: Fold, scores: Sequence[float | None]) -> tuple[float, float]:
    """Fold as the original does, which knows a deviation for ``avg_max_N`` alone."""
    size = how.size or len(scores)
    parts = [scores[start : start + size] for start in range(0, len(scores), size)]
    buckets = [_pick(how, [s for s in part if s is not None]) for part in parts]
    filled = [bucket for bucket in buckets if bucket is not None]
    several = how.mode.startswith("avg_max_")
    return numpy_mean(filled), numpy_deviation(filled) if several else 0.0


def _pick(how: Fold, scores: Sequence[float]) -> float | None:
    if not scores:
        return None
    if how.pick in ("max", "min"):
        return max(scores) if how.pick == "max" else min(scores)
    return numpy_mean(scores)


def _score(detail: Mapping[str, Json], case: Case, attempt: AttemptResult) -> float | None:
    """Return what an attempt is worth, in the order of the original's operations."""
    value = attempt.value.value
    if value is None or attempt.value.status is not ValueStatus.SCORED:
        return value
    points = full = 0.0
    for name in FIELDS.values():
        points += detail.get(f"{name}_score", 0.0)
        full += detail.get(f"{name}_totscore", 0.0)
    if "max_score" in detail:
        full = detail["max_score"]
        points = min(points, full)
    if "min_score" in detail:
        points = max(points, detail["min_score"])
    if full <= 0:
        return value
    score: float = points / full * case.full_score
    return score if abs(score - value) <= CLOSE else value


def _detail(case: Case, attempt: AttemptResult) -> dict[str, Json]:
    """Make what the original keeps of one response."""
    status, detail = attempt.value.status, dict[str, Json]()
    if status is ValueStatus.ERROR:
        detail = {"info": "error encountered", "error_obj": attempt.attempt.error}
    elif status is ValueStatus.UNANSWERED:
        detail = {"info": "no answer"}
    else:
        for criterion in case.criteria:
            if (score := attempt.scores.get(criterion.id)) is not None:
                _add_score(detail, criterion, score)
    if case.max_points is not None:
        # What the points are divided by, as in the original's files, where both are one.
        scored = status is ValueStatus.SCORED
        detail["max_score"] = attempt.value.out_of if scored else case.max_points
    if case.min_points is not None:
        detail["min_score"] = case.min_points
    return detail


def _add_score(detail: dict[str, Json], criterion: Criterion, score: Score) -> None:
    """Add one criterion under the original's keys; several of one kind are added up."""
    name = FIELDS.get(criterion.scorer.name, criterion.id)
    if score.status is ScoreStatus.FAILED:
        detail[f"{name}_error"] = score.reason
        return
    if score.points is None:
        return
    weight = criterion.weight
    points, out_of = weight * score.points, weight * (score.out_of or 0.0)
    detail[f"{name}_score"] = detail.get(f"{name}_score", 0.0) + points
    detail[f"{name}_totscore"] = detail.get(f"{name}_totscore", 0.0) + out_of
    for key, value in _original_keys(name, criterion, plain(score.detail)):
        several = isinstance(value, list) and isinstance(detail.get(key), list)
        detail[key] = detail[key] + value if several else value


def _original_keys(name: str, criterion: Criterion, detail: Json) -> Iterator[tuple[str, Json]]:
    """Yield the original's keys for the detail of one kind of criterion."""
    fields = detail if isinstance(detail, dict) else {}
    if name == "keywords":
        yield "keywords", [rule["status"] for rule in fields.get("rules", [])]
    elif name == "blank_filling":
        yield "blank_filling_detail", [blank["line"] for blank in fields.get("blanks", [])]
    elif name == "similarity":
        yield "similarity_detail", [{key: fields[key] for key in _ROUGE if key in fields}]
    elif name == "unit_test":
        yield "unit_test_detail", _tests(criterion, fields.get("tests", detail))
    elif detail is not None:
        yield f"{name}_detail", detail
    if "scoring_detail" in fields:
        handler = "post_handler_detail" if name == "keywords" else f"{name}_post_handler_detail"
        yield handler, fields["scoring_detail"]


def _tests(criterion: Criterion, outcomes: Json) -> Json:
    """Return what became of each test, by the original's names."""
    if not isinstance(outcomes, list):
        return outcomes
    tests = criterion.scorer.params.get("tests") or ()
    return [
        _test(outcome, tests[place] if place < len(tests) else {})
        for place, outcome in enumerate(outcomes)
    ]


def _test(outcome: Json, test: Mapping[str, Json]) -> Json:
    if not isinstance(outcome, Mapping):
        return outcome
    rest = {key: value for key, value in outcome.items() if key not in ("program", "result")}
    words = str(outcome.get("result", ""))
    if outcome.get("stopped") == "time":
        words = "time out"
    elif not outcome.get("passed"):
        words = f"failed: {words}"
    program = str(outcome.get("program", ""))
    behind = str(test.get("content", ""))
    # The original keeps the program without its test.
    code = program.removesuffix(behind).removesuffix("\n") if behind else program
    return {"task_id": 0, "completion_id": 0, "result": [words], "code": code, **rest}


def numpy_total(values: Sequence[float]) -> float:
    """Add numbers in numpy's order: eight running sums, and halves of what is long."""
    count = len(values)
    if count > _HALVED:
        half = count // 2
        half -= half % _LANES
        return numpy_total(values[:half]) + numpy_total(values[half:])
    whole = count - count % _LANES
    added = 0.0
    if whole:
        a, b, c, d, e, f, g, h = (_in_turn(values[lane:whole:_LANES]) for lane in range(_LANES))
        added = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for value in values[whole:]:
        added += value
    return added


def numpy_mean(values: Sequence[float]) -> float:
    """Return the mean of at least one number."""
    return numpy_total(values) / len(values)


def numpy_deviation(values: Sequence[float]) -> float:
    """Return the sample standard deviation; 0 for fewer than two numbers."""
    if len(values) < 2:
        return 0.0
    middle = numpy_mean(values)
    apart = [value - middle for value in values]
    return sqrt(numpy_total([distance * distance for distance in apart]) / (len(values) - 1))


def _in_turn(values: Sequence[float]) -> float:
    added = values[0]
    for value in values[1:]:
        added += value
    return added
