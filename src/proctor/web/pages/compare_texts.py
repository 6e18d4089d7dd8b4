"""Questions and answers of the cases that a comparison lists, with the words that differ."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from pydantic import Field

from proctor.core.attempt import token_count, used_by_candidate
from proctor.core.run import AttemptResult
from proctor.engine.run.aggregate import attempt_value, total
from proctor.reports.reasons import attempt_reasons
from proctor.store.rows import LinkedCase
from proctor.store.store import Store
from proctor.web.api.response import ResponseModel
from proctor.web.highlight import Piece, compared, pieces
from proctor.web.pages.case_models import Pieces, TextPiece

LONGEST_QUESTION = 300
LONGEST_ANSWER = 500
BEFORE = 60
"""How much is shown before the first word that differs, of a long beginning in common."""


class ListedAnswer(ResponseModel):
    """An excerpt of one run's first answer to a case."""

    pieces: Pieces
    there: bool
    """Whether the run has the case."""
    error: str
    reason: str = Field("", description="why the first attempt short of full marks is so")
    of_attempt: int = Field(0, description="which attempt lacks marks, from 1; 0 for none")
    attempts: int = 0
    tokens: int | None = Field(None, description="of the candidate, in all attempts")
    seconds: float | None = Field(None, description="of the candidate, in all attempts")
    cost: float | None = Field(None, description="of the candidate, in all attempts")


class ListedTexts(ResponseModel):
    """The question of a case, and an answer of each run."""

    question: str
    answers: list[ListedAnswer]


def listed_texts(
    store: Store,
    run_ids: Sequence[str],
    case_ids: Iterable[str],
    positions: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
) -> dict[str, ListedTexts]:
    """Return excerpts of the texts of some cases, each answer compared with the first run's.

    ``positions`` has the positions of cases by id, in those runs where somebody knows them.
    """
    ids = list(dict.fromkeys(case_ids))
    columns = [_cases(store, run_id, ids, positions.get(run_id, {})) for run_id in run_ids]
    texts: dict[str, ListedTexts] = {}
    for case_id in ids:
        row = [column.get(case_id) for column in columns]
        first_linked = next((linked for linked in row if linked is not None), None)
        if first_linked is not None:
            texts[case_id] = ListedTexts(
                question=_cut(first_linked.case.prompt, LONGEST_QUESTION), answers=_answers(row)
            )
    return texts


def _cases(
    store: Store, run_id: str, ids: Sequence[str], positions: Mapping[str, int]
) -> dict[str, LinkedCase]:
    places = {case_id: positions[case_id] for case_id in ids if case_id in positions}
    if unknown := [case_id for case_id in ids if case_id not in positions]:
        places |= store.criterion_points.places(run_id, unknown)
    if not places:
        return {}
    linked_cases = store.attempts.cases_at(run_id, sorted(places.values()))
    return {linked.case.id: linked for linked in linked_cases}


def _answers(row: Sequence[LinkedCase | None]) -> list[ListedAnswer]:
    outputs = [_output(linked) for linked in row]
    start = _start([text for text in outputs if text])
    shown = [_excerpt(text, start) for text in outputs]
    cuts = _cuts(shown)
    answers = []
    for linked, cut in zip(row, cuts, strict=True):
        attempt = linked.attempts[0][0] if linked is not None and linked.attempts else None
        answers.append(
            ListedAnswer(
                pieces=[TextPiece(**piece) for piece in cut],
                there=linked is not None,
                error="" if attempt is None else _cut(attempt.error, LONGEST_QUESTION),
                **_examined(linked),
            )
        )
    return answers


def _cuts(shown: Sequence[str]) -> list[list[Piece]]:
    """Cut the first text by its differences from the second, and each other by those from it."""
    first, *others = shown
    left, cuts = pieces(first), []
    for place, other in enumerate(others):
        if not first or not other:
            cuts.append(pieces(other))
            continue
        own, cut = compared(first, other)
        cuts.append(cut)
        if place == 0:
            left = own
    return [left, *cuts]


def _examined(linked: LinkedCase | None) -> dict[str, Any]:
    """Return why an attempt at a case lacks marks, and what all of them took.

    Every field is there for a run without the case, too: a page has no fields left unset.
    """
    attempts = [] if linked is None else [attempt for attempt, _ in linked.attempts]
    used = [used_by_candidate(attempt) for attempt in attempts if attempt.usage]
    tokens = total(map(token_count, used))
    number, reason = (0, "") if linked is None else _first_loss(linked)
    return {
        "reason": _cut(reason, LONGEST_QUESTION),
        "of_attempt": number,
        "attempts": len(attempts),
        "tokens": int(tokens) if tokens else None,
        "seconds": total(attempt.seconds for attempt in attempts),
        "cost": total(usage.get("cost") for usage in used),
    }


def _first_loss(linked: LinkedCase) -> tuple[int, str]:
    """Return which attempt is the first that lacks marks, from 1, and why."""
    for number, (attempt, scores) in enumerate(linked.attempts, start=1):
        value = attempt_value(linked.case, attempt, scores)
        why = attempt_reasons(
            linked.case, AttemptResult(attempt=attempt, scores=scores, value=value)
        )
        if why:
            return number, why[0]
    return 0, ""


def _output(linked: LinkedCase | None) -> str:
    return linked.attempts[0][0].output if linked is not None and linked.attempts else ""


def _start(outputs: Sequence[str]) -> int:
    """Return where excerpts begin: shortly before the first difference, if they are long."""
    if len(outputs) < 2 or max(map(len, outputs)) <= LONGEST_ANSWER:
        return 0
    pairs = zip(*outputs, strict=False)
    same = sum(1 for _ in takewhile(lambda row: len(set(row)) == 1, pairs))
    return max(0, same - BEFORE) if same > LONGEST_ANSWER // 2 else 0


def _excerpt(text: str, start: int) -> str:
    cut = _cut(text[start:], LONGEST_ANSWER)
    return f"…{cut}" if start and cut else cut


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
