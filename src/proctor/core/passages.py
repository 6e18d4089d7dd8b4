"""Passages that came with a question or an answer, and the ids of what was retrieved."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proctor.core.attempt import CONTEXT, RETRIEVED, Attempt, brought
from proctor.core.suite import Case, Json

_FIX = "fix: write a text, or a list of texts or of objects with a 'text' and an 'id'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One passage, with its id where it has one."""

    text: str
    id: str = ""


def passages_of(case: Case, attempt: Attempt) -> tuple[Passage, ...]:
    """Return the passages of an attempt, its own before those of the case.

    A ValueError says what is wrong with its own.
    """
    own = brought(attempt).get(CONTEXT)
    if own is None:
        return tuple(Passage(text=text) for text in case.context if text.strip())
    passages = tuple(_passage(item, number) for number, item in enumerate(_listed(own), 1))
    return tuple(passage for passage in passages if passage.text.strip())


def own_passages(attempt: Attempt) -> list[str]:
    """Return the passages that an attempt brought, as people are shown them."""
    own = brought(attempt).get(CONTEXT)
    if own is None:
        return []
    try:
        passages = [_passage(item, number) for number, item in enumerate(_listed(own), 1)]
    except ValueError:
        return [str(own)]
    return [f"{one.id}: {one.text}" if one.id else one.text for one in passages]


def retrieved_ids(attempt: Attempt) -> tuple[str, ...] | None:
    """Return the ids that an attempt retrieved, the best first; none where it names none.

    They are its ``retrieved``, else the ids of its own passages. An id counts where it stands
    first. A ValueError says what is wrong.
    """
    own = brought(attempt)
    if RETRIEVED in own:
        ids = [_id(item) for item in _listed(own[RETRIEVED])]
    elif CONTEXT in own:
        ids = [_passage(item, number).id for number, item in enumerate(_listed(own[CONTEXT]), 1)]
        if not any(ids):
            return None
    else:
        return () if _is_empty(attempt) else None
    return tuple(dict.fromkeys(name for name in ids if name))


def relevance_of(value: Json) -> dict[str, float]:
    """Return how relevant each id is that a case names: 1 in a list, its grade in a mapping.

    A ValueError says what is wrong.
    """
    if isinstance(value, Mapping):
        grades = {str(name): grade for name, grade in value.items()}
    else:
        grades = {_id(item): 1.0 for item in _listed(value)}
    for name, grade in grades.items():
        if isinstance(grade, bool) or not isinstance(grade, int | float) or grade < 0:
            raise ValueError(f"the grade of {name!r} is no number from 0")
    return {name: float(grade) for name, grade in grades.items() if grade > 0}


def _is_empty(attempt: Attempt) -> bool:
    """Tell whether an attempt says that nothing was retrieved."""
    retrieved = (attempt.notes.get(RETRIEVED), attempt.meta.get(RETRIEVED))
    return any(isinstance(value, list | tuple) for value in retrieved)


def _listed(value: Json) -> Sequence[Json]:
    """Return the items of a list; tables write one as JSON, or are one text."""
    if isinstance(value, str):
        written = value.strip()
        if not (written.startswith("[") and written.endswith("]")):
            return [value]
        try:
            value = json.loads(written)
        except (ValueError, RecursionError):
            return [value]
    if isinstance(value, Mapping):
        return [value]
    if not isinstance(value, list | tuple):
        raise ValueError(f"the answer's passages cannot be read ({_FIX})")
    return value


def _passage(item: Json, number: int) -> Passage:
    if isinstance(item, Mapping):
        text, name = item.get("text"), item.get("id")
        if isinstance(text, str):
            return Passage(text=text, id="" if name is None else str(name))
    elif isinstance(item, str | int | float) and not isinstance(item, bool):
        return Passage(text=str(item))
    raise ValueError(f"passage {number} of the answer has no text ({_FIX})")


def _id(item: Json) -> str:
    if isinstance(item, Mapping):
        item = item.get("id")
    if isinstance(item, bool) or not isinstance(item, str | int):
        raise ValueError("an id of a passage is a text or a whole number")
    return str(item)
