"""Rows of the IN3 interaction task: the details that a vague task lacks, as points and answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proctor.core.suite import Json
from proctor.origins.askbench.row import AskBenchRow

NO_PREFERENCE = "I have no preference there; choose what you think is best."


@dataclass(frozen=True, slots=True, kw_only=True)
class In3:
    """A row in the terms of the other tasks that ask."""

    task: str
    info: str
    points: tuple[str, ...]
    answers: tuple[str, ...]
    """What the user would say to each point."""
    vague: bool


def normal_in3(row: AskBenchRow) -> In3:
    """Read a row as published, or as AskBench stores it with the points worked out."""
    task = row.text("ori_question", "task", "degraded_question")
    details = list(_details(row))
    points = row.texts("required_points") or [detail.point for detail in details]
    info = row.optional("degraded_info") or "\n".join(detail.line for detail in details)
    vague = row.truth("vague") if row.has("vague") else bool(points)
    return In3(
        task=task,
        info=info,
        points=tuple(points),
        answers=tuple(_answers(row, points, details)),
        vague=vague,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Detail:
    """One detail that a task leaves out."""

    point: str
    line: str
    options: tuple[str, ...]


def _details(row: AskBenchRow) -> Iterator[_Detail]:
    items = row.value("missing_details")
    if items is None:
        return
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        row.report("expected a list of objects for 'missing_details'", "missing_details")
        return
    for number, item in enumerate(items, 1):
        fields = {
            name: str(item[name]).strip() for name in item if isinstance(item[name], str | int)
        }
        point = fields.get("description") or fields.get("inquiry") or f"Detail {number}"
        options = item.get("options")
        choices = tuple(str(option) for option in options) if isinstance(options, list) else ()
        parts = [point]
        if fields.get("importance"):
            parts.append(f"importance: {fields['importance']}")
        if fields.get("inquiry"):
            parts.append(f"to be asked as: {fields['inquiry']}")
        if choices:
            parts.append(f"options: {', '.join(choices)}")
        yield _Detail(point=point, line="- " + "; ".join(parts), options=choices)


def _answers(row: AskBenchRow, points: Sequence[str], details: Sequence[_Detail]) -> Iterator[str]:
    """Yield what the user says to each point: as written, as in the sample, or the first option."""
    written = row.value("required_point_answers")
    if written is not None and not isinstance(written, dict | list):
        row.report("expected an object for 'required_point_answers'", "required_point_answers")
        written = None
    sample_replies = list(_replies_in(row.value("actions")))
    for index, point in enumerate(points):
        answer = _written_answer(written, index, point)
        options = details[index].options if index < len(details) else ()
        sample = sample_replies[index : index + 1]
        yield answer or next(iter([*sample, *options]), "") or NO_PREFERENCE


def _written_answer(written: Json, index: int, point: str) -> str:
    if isinstance(written, dict):
        return str(written.get(point, ""))
    if isinstance(written, list) and index < len(written):
        return str(written[index])
    return ""


def _replies_in(actions: Json) -> Iterator[str]:
    """Yield what the user says in a sample conversation."""
    for action in actions if isinstance(actions, list) else ():
        if not isinstance(action, dict) or action.get("role", action.get("type")) != "user":
            continue
        text = action.get("content", action.get("message", action.get("text")))
        if isinstance(text, str) and text.strip():
            yield text.strip()
