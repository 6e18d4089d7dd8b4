"""What an arbiter may say: strict verdicts, and the original's way to read them."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from proctor.core.suite import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ArbiterDecision:
    """Hold a ruling as the dialogue acts on it."""

    final: bool
    correct: bool | None
    resolved: bool
    missing: tuple[str, ...]
    asked: tuple[str, ...] | None = None
    """The points that the last message asks for; none where the judge did not say."""
    verdict: Json = None


class _Strict(BaseModel):
    """Take values of the right type only; what else a judge adds is not looked at."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class ClarifyVerdict(_Strict):
    """Say whether the candidate answered, and which points are open."""

    notes: str | None = ""
    is_final_answer: bool
    is_correct: bool | None
    all_required_points_resolved: bool
    missing_required_points: list[str]
    asked_points: list[str] | None = None


class AnswerVerdict(ClarifyVerdict):
    """Say that, and whether a final answer is correct."""

    @model_validator(mode="after")
    def _ruled(self) -> "AnswerVerdict":
        if self.is_final_answer and self.is_correct is None:
            raise ValueError("is_correct must be true or false where is_final_answer is true")
        return self


class FataLastVerdict(_Strict):
    """Say whether the candidate asks, and whether its answer is correct."""

    reason: str
    needs_more_info: bool
    user_reply: str | None = None
    is_correct: bool | None

    @model_validator(mode="after")
    def _ruled(self) -> "FataLastVerdict":
        if not self.needs_more_info and self.is_correct is None:
            raise ValueError("is_correct must be true or false where needs_more_info is false")
        return self


class FataVerdict(FataLastVerdict):
    """Say that, and what the user replies to a question."""

    @model_validator(mode="after")
    def _replied(self) -> "FataVerdict":
        if self.needs_more_info and not (self.user_reply or "").strip():
            raise ValueError("user_reply must be a text where needs_more_info is true")
        return self


class OriginalVerdict(BaseModel):
    """Hold whatever object the judge gave."""

    given: dict[str, Any]


def decided(
    verdict: ClarifyVerdict, points: Sequence[str], match: Callable[[str, Sequence[str]], Any]
) -> ArbiterDecision:
    """Reconcile a verdict with itself: points are resolved only if none is listed as missing.

    Names that are not on the checklist are left out; a case without points is resolved.
    """
    named = {match(name, points) for name in verdict.missing_required_points}
    missing = tuple(point for point in points if point in named)
    asked = verdict.asked_points
    return ArbiterDecision(
        final=verdict.is_final_answer,
        correct=verdict.is_correct if verdict.is_final_answer else None,
        resolved=not points or (verdict.all_required_points_resolved and not missing),
        missing=missing,
        asked=None if asked is None else tuple(asked),
        verdict=verdict.model_dump(),
    )


def decided_originally(given: dict[str, Any], points: Sequence[str]) -> ArbiterDecision:
    """Rule as the original does: truth values of anything, the flag before its own list."""
    listed = given.get("missing_required_points")
    missing = tuple(str(name) for name in listed) if isinstance(listed, list) else ()
    flag = given.get("all_required_points_resolved")
    final = bool(given.get("is_final_answer"))
    return ArbiterDecision(
        final=final,
        correct=bool(given.get("is_correct")) if final else None,
        resolved=flag if isinstance(flag, bool) else not points or not missing,
        missing=missing,
        verdict=given,
    )


def read_originally(text: str) -> OriginalVerdict:
    """Read a reply as the original does: the first fence marked json, else the whole reply."""
    found = re.search(r"```json\s*(.*?)```", text, re.DOTALL)
    try:
        given = json.loads(found[1] if found else text, parse_constant=str)
    except (ValueError, RecursionError):
        raise ValueError("no JSON in a fence, and the reply as a whole is none either") from None
    if not isinstance(given, dict) or not given:
        raise ValueError("a JSON object with something in it is wanted")
    return OriginalVerdict(given=given)
