"""Verdicts read as AskBench's own code reads them, so that old numbers come out."""

from proctor.contracts.judge import ReadingError
from proctor.core.suite import Json
from proctor.origins.askbench.first_fence import read_first_json
from proctor.scorers.judged.asking_judge import Correctness
from proctor.scorers.judged.rubric import Met

_RESULTS = {
    "correct": True, "right": True, "yes": True, "match": True,
    "incorrect": False, "wrong": False, "no": False,
}  # fmt: skip
_MET = {
    "true": True, "yes": True, "y": True, "1": True,
    "false": False, "no": False, "n": False, "0": False,
}  # fmt: skip


class Unusable(ReadingError):
    """JSON without a usable value: the original does not ask again."""

    final = True


def read_result(text: str) -> Correctness:
    """Read a single-turn verdict."""
    verdict = read_first_json(text)
    right = _truth(_get(verdict, "result"), _RESULTS)
    if right is None:
        raise Unusable("the JSON has no usable value of 'result'")
    reason = str(_get(verdict, "reason") or "")
    return Correctness(reason=reason, result="correct" if right else "incorrect")


def read_met(text: str) -> Met:
    """Read the verdict on a rubric item."""
    verdict = read_first_json(text)
    met = _truth(_get(verdict, "criteria_met"), _MET)
    if met is None:
        raise Unusable("the JSON has no usable value of 'criteria_met'")
    return Met(explanation=str(_get(verdict, "explanation") or ""), criteria_met=met)


def _get(verdict: Json, key: str) -> Json:
    return verdict.get(key) if isinstance(verdict, dict) else None


def _truth(value: Json, words: dict[str, bool]) -> bool | None:
    if isinstance(value, bool):
        return value
    return words.get(value.strip().lower()) if isinstance(value, str) else None
