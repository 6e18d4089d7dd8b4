"""Scoring points as TaskWeaver's own evaluator has them, so that old numbers come out."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from proctor.scorers.judged.scoring_point import Hit, ScoringPoint


def read_hit(text: str) -> Hit:
    """Read a verdict as TaskWeaver's own evaluator reads it.

    What is not one JSON object with the right key is a hit where the letters of yes stand in it
    anywhere, and else a miss where those of no do.
    """
    try:
        verdict = json.loads(text)
        hit = verdict["is_hit"].lower() == "yes"
        return Hit(reason=str(verdict.get("reason", "")), is_hit="yes" if hit else "no")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        for word in ("yes", "no"):
            if word in text.lower():
                return Hit.model_validate({"is_hit": word})
    raise ValueError("there is no yes and no no in the reply")


@dataclass(frozen=True)
class TaskWeaverScoringPoint(ScoringPoint):
    """The judge is asked once, and its reply is read as TaskWeaver's own evaluator reads it."""

    compat: Literal["original"] = "original"

    @property
    def _tries(self) -> int:
        return 1

    @property
    def _reader(self) -> Callable[[str], Hit] | None:
        return read_hit
