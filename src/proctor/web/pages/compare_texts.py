"""Questions and answers of the cases that a comparison lists, with the words that differ."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from proctor.store.rows import LinkedCase
from proctor.store.store import Store
from proctor.web.api.response import ResponseModel
from proctor.web.highlight import compared, pieces
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


class ListedTexts(ResponseModel):
    """The question of a case, and an answer of each run."""

    question: str
    answers: list[ListedAnswer]


def listed_texts(
    store: Store, run_ids: Sequence[str], case_ids: Iterable[str]
) -> dict[str, ListedTexts]:
    """Return excerpts of the texts of some cases, each answer compared with the first run's."""
    ids = list(dict.fromkeys(case_ids))
    columns = [_cases(store, run_id, ids) for run_id in run_ids]
    texts: dict[str, ListedTexts] = {}
    for case_id in ids:
        row = [column.get(case_id) for column in columns]
        first_linked = next((linked for linked in row if linked is not None), None)
        if first_linked is not None:
            texts[case_id] = ListedTexts(
                question=_cut(first_linked.case.prompt, LONGEST_QUESTION), answers=_answers(row)
            )
    return texts


def _cases(store: Store, run_id: str, ids: Sequence[str]) -> dict[str, LinkedCase]:
    places = store.criterion_points.places(run_id, ids)
    if not places:
        return {}
    linked_cases = store.attempts.cases_at(run_id, sorted(places.values()))
    return {linked.case.id: linked for linked in linked_cases}


def _answers(row: Sequence[LinkedCase | None]) -> list[ListedAnswer]:
    outputs = [_output(linked) for linked in row]
    start = _start([text for text in outputs if text])
    shown = [_excerpt(text, start) for text in outputs]
    answers = []
    for place, linked in enumerate(row):
        other = shown[1] if place == 0 and len(shown) > 1 else shown[0]
        cut = compared(shown[place], other)[0] if place == 0 else compared(other, shown[place])[1]
        if not other or not shown[place]:
            cut = pieces(shown[place])
        attempt = linked.attempts[0][0] if linked is not None and linked.attempts else None
        answers.append(
            ListedAnswer(
                pieces=[TextPiece(**piece) for piece in cut],
                there=linked is not None,
                error="" if attempt is None else _cut(attempt.error, LONGEST_QUESTION),
            )
        )
    return answers


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
