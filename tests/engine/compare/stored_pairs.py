"""Cases of made-up runs, and what they came to."""

from collections.abc import Sequence
from typing import Any

from proctor.core.case_value import ValueStatus
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.store.rows import ResultRow


def case(name: str, **more: Any) -> Case:
    criterion = Criterion(id="is", scorer=Spec(name="contains", params={"text": "x"}))
    made = {"messages": (Message(role="user", content=f"{name}?"),), "criteria": (criterion,)}
    return Case(id=name, **{**made, **more})  # type: ignore[arg-type]


def row(position: int, found: Case, value: float | str) -> ResultRow:
    known = None if isinstance(value, str) else value
    return ResultRow(
        position=position,
        case_id=found.id,
        status=ValueStatus.SCORED if known is not None else ValueStatus(value),
        value=known,
        full=found.full_score,
        weight=found.weight,
        low=0.0 if known is None else known,
        high=found.full_score if known is None else known,
        spread=0.0,
        tags=found.tags,
        cluster=found.cluster,
    )


def values(marks: Sequence[float | str]) -> dict[str, float | str]:
    return {f"c{place:03}": mark for place, mark in enumerate(marks)}


def many(better: int, worse: int, same: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make two runs of rights and wrongs."""
    old = [0.0] * better + [1.0] * worse + [1.0] * same
    new = [1.0] * better + [0.0] * worse + [1.0] * same
    return values(old), values(new)
