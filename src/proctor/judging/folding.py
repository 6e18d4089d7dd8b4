"""Several verdicts of one type, folded field by field into one."""

from collections import Counter
from collections.abc import Sequence
from statistics import mean, median
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from proctor.contracts.judge import FoldedVerdict

Verdict = TypeVar("Verdict")


def fold(verdicts: Sequence[Verdict], combine: str = "majority") -> Verdict:
    """Return the verdict that several come to.

    Truths and choices go by majority; a tie is false, or nothing where nothing is allowed, or
    the choice that the type names last. Numbers go by ``combine``. A list keeps what most of
    them name. A free text is that of the first verdict that agrees best with all of this. A
    FoldedVerdict decides for itself.
    """
    kind: Any = type(verdicts[0])
    if issubclass(kind, FoldedVerdict):
        own: Verdict = kind.folded(verdicts)
        return own
    rows: list[dict[str, Any]] = [dict(verdict) for verdict in verdicts]  # type: ignore[call-overload]
    annotations = {name: row.annotation for name, row in kind.model_fields.items()}
    free = [name for name, annotation in annotations.items() if str in parts_of(annotation)]
    combined = {
        name: _field([row[name] for row in rows], annotation, combine)
        for name, annotation in annotations.items()
        if name not in free
    }
    agreeing = [sum(row[name] == value for name, value in combined.items()) for row in rows]
    best = rows[agreeing.index(max(agreeing))]
    combined |= {name: best[name] for name in free}
    folded: Verdict = kind.model_construct(**{name: combined[name] for name in annotations})
    return folded


def divided(verdicts: Sequence[Any]) -> bool:
    """Tell whether verdicts are evenly divided over a truth or a choice, so that nobody decides."""
    kind: Any = type(verdicts[0])
    if issubclass(kind, FoldedVerdict):
        return bool(kind.are_divided(verdicts))
    rows: list[dict[str, Any]] = [dict(verdict) for verdict in verdicts]
    return any(
        len(set(_leading([row[name] for row in rows]))) > 1
        for name, field in kind.model_fields.items()
        if _is_choice([row[name] for row in rows], field.annotation)
    )


def _is_choice(values: Sequence[Any], annotation: Any) -> bool:
    if all(isinstance(value, bool | None) for value in values):
        return True
    choices = [part for part in parts_of(annotation) if isinstance(part, str)]
    return bool(choices) and all(isinstance(value, str | None) for value in values)


def _field(values: Sequence[Any], annotation: Any, combine: str) -> Any:
    parts = parts_of(annotation)
    optional = NoneType in parts
    if all(isinstance(value, bool | None) for value in values):
        return _voted(values, tie=None if optional else False)
    if all(isinstance(value, list | tuple) for value in values):
        return _listed(values)
    if all(isinstance(value, int | float | None) for value in values):
        return _number(values, combine)
    choices = [choice for choice in parts if isinstance(choice, str)]
    named = [choice for choice in choices if choice in values]
    return _voted(values, tie=None if optional or not named else named[-1], first=not choices)


def _voted(values: Sequence[Any], *, tie: Any, first: bool = False) -> Any:
    """Return what most verdicts have; of equal shares the tie, or the first where that is none."""
    ahead = _leading(values)
    if first or all(value == ahead[0] for value in ahead):
        return ahead[0]
    return tie


def _leading(values: Sequence[Any]) -> list[Any]:
    """Return the values that most verdicts have."""
    votes = [sum(other == value for other in values) for value in values]
    return [value for value, count in zip(values, votes, strict=True) if count == max(votes)]


def _number(values: Sequence[float | None], combine: str) -> float | None:
    numbers = [value for value in values if value is not None]
    if len(numbers) * 2 <= len(values):
        return None
    if combine == "mean":
        return mean(numbers)
    if combine == "median":
        return median(numbers)
    counted = Counter(numbers).most_common()
    leading = [value for value, count in counted if count == counted[0][1]]
    return leading[0] if len(leading) == 1 else median(numbers)


def _listed(values: Sequence[Sequence[Any]]) -> list[Any]:
    """Keep what more than half of the lists name, in the order of its first appearance."""
    every = [item for value in values for item in value]
    common: list[Any] = []
    for item in every:
        if item not in common and 2 * sum(item in value for value in values) > len(values):
            common.append(item)
    return common


def parts_of(annotation: Any) -> tuple[Any, ...]:
    """Return the types and literal values that an annotation allows."""
    origin = get_origin(annotation)
    if origin is Literal:
        return get_args(annotation)
    if origin in (Union, UnionType):
        return tuple(part for arg in get_args(annotation) for part in parts_of(arg))
    return (annotation,)
