"""What an arbiter may say: strict verdicts, reconciled with themselves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from proctor.core.suite import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ArbiterDecision:
    """A ruling as the dialogue acts on it."""

    final: bool
    correct: bool | None
    resolved: bool
    missing: tuple[str, ...]
    asked_points: tuple[str, ...] | None = None
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


def decided(
    verdict: ClarifyVerdict, points: Sequence[str], match: Callable[[str, Sequence[str]], Any]
) -> ArbiterDecision:
    """Reconcile a verdict with itself: points are resolved only if none is listed as missing.

    Names that are not on the checklist are left out; a case without points is resolved.
    """
    named = {match(name, points) for name in verdict.missing_required_points}
    missing = tuple(point for point in points if point in named)
    asked_points = verdict.asked_points
    return ArbiterDecision(
        final=verdict.is_final_answer,
        correct=verdict.is_correct if verdict.is_final_answer else None,
        resolved=not points or (verdict.all_required_points_resolved and not missing),
        missing=missing,
        asked_points=None if asked_points is None else tuple(asked_points),
        verdict=verdict.model_dump(),
    )
