"""A case as a file to keep: all of it as Markdown, or its question or an answer as they are."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from proctor.contracts.report import RunView
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Criterion, Message
from proctor.core.tool_calls import answer_text, said_and_called
from proctor.engine.run.stored_view import placed_case, view_so_far
from proctor.web import addresses
from proctor.web.addresses import one_of, whole_number
from proctor.web.api.endpoint import RUN, Endpoint, Operation, choice, text, whole
from proctor.web.lookup import or_missing, the_run
from proctor.web.pages.case_view import asked_result
from proctor.web.rendering import PageWords, number
from proctor.web.store_pool import opened
from proctor.web.wording import language_of

PARTS = ("question", "answer")


class CaseFiles(NamedTuple):
    """Addresses of the files that a page offers of its case."""

    question: str
    markdown: str
    json: str

    @classmethod
    def of(cls, run_id: str, case_id: str) -> "CaseFiles":
        """Return the addresses for a case of a run."""
        path, pair = addresses.run_link(run_id), ("id", case_id)
        return cls(
            question=addresses.with_query(f"{path}/case.txt", [pair]),
            markdown=addresses.with_query(f"{path}/case.md", [pair]),
            json=addresses.with_query(f"{path}/case.json", [pair]),
        )

    def answer(self, index: int) -> str:
        """Return the address of the answer of an attempt."""
        return f"{self.question}&part=answer&attempt={index}"


def send_markdown(request: Request) -> Response:
    """Return a case with its answers and verdicts as Markdown."""
    view, result = _stored(request)
    lines = _markdown(view, result, PageWords(language_of(request)))
    return _file("\n".join(lines), f"{result.case.id}.md", "text/markdown")


def send_text(request: Request) -> Response:
    """Return the question of a case, or an answer, as plain text."""
    part = one_of(request, "part", PARTS)
    index = whole_number(request, "attempt", 0)
    _, result = _stored(request)
    if part == "question":
        shown = question_text(result.case.messages)
    else:
        attempts = (item.attempt for item in result.attempts if item.attempt.index == index)
        attempt = next(attempts, None)
        if attempt is None:
            raise HTTPException(404, f"this case has no attempt {index}")
        shown = answer_text(attempt)
    return _file(shown, f"{result.case.id}-{part}.txt", "text/plain")


def question_text(messages: Sequence[Message]) -> str:
    """Return what was asked: the text alone, or each message below its role."""
    if len(messages) == 1:
        return messages[0].content
    return "\n\n".join(f"{one.role}:\n{said_and_called(one)}" for one in messages)


def first_line(messages: Sequence[Message]) -> str:
    """Return the first line of the question: of what the user said last."""
    questions = [one.content for one in messages if one.role == "user"]
    lines = (line.strip() for line in (questions[-1] if questions else "").splitlines())
    return next(filter(None, lines), "")[:300]


def _stored(request: Request) -> tuple[RunView, CaseResult]:
    with opened(request) as store, or_missing():
        view = view_so_far(store, the_run(store, request).id)
        _, result = placed_case(store, view, request.query_params.get("id", ""))
    return view, asked_result(view.run, result)


def _file(content: str, name: str, media: str) -> Response:
    """Return a text as a download that browsers do not display."""
    encoded = content.encode("utf-8", "backslashreplace")
    named = quote(name.replace("/", "_"), safe="", errors="replace")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{named}"}
    return Response(encoded, media_type=f"{media}; charset=utf-8", headers=headers)


def _markdown(view: RunView, result: CaseResult, t: PageWords) -> Iterator[str]:
    case, folded = result.case, result.folded
    value = t(f"status_{folded.status}") if folded.value is None else number(folded.value)
    yield f"# {_line(case.id)}"
    yield ""
    yield f"- {t('run')}: {_line(view.run.name)} ({view.run.id}, {_line(view.candidate)})"
    yield f"- {t('score')}: {value} / {number(case.full_score)}"
    for tag, values in case.tags.items():
        yield f"- {_line(tag)}: {_line(', '.join(values))}"
    yield from _section(t("case.asked"), question_text(case.messages))
    for at, one in enumerate(case.references, 1):
        yield from _section(f"{t('case.reference')} {at}", one)
    for at, one in enumerate(case.context, 1):
        yield from _section(f"{t('case.context')} {at}", one)
    for item in result.attempts:
        yield from _attempt(result, item, t)


def _attempt(result: CaseResult, item: AttemptResult, t: PageWords) -> Iterator[str]:
    """Yield an attempt: its messages, then what each criterion gave and why."""
    value, attempt = item.value.value, item.attempt
    worth = t(f"status_{item.value.status}") if value is None else number(value)
    title = f"{t('case.attempt')} {attempt.index + 1}: {worth}"
    if len(attempt.messages) < 2:
        yield from _section(title, attempt.output)
    else:
        yield from ("", f"## {title}")
        for message in attempt.messages:
            yield from _section(message.role, said_and_called(message), 3)
    if attempt.error:
        yield from _section(t("errors"), attempt.error, 3)
    if item.scores:
        yield from ("", f"### {t('case.verdicts')}", "")
    for criterion in result.case.criteria:
        if criterion.id in item.scores:
            yield _verdict(criterion, item, t)


def _verdict(criterion: Criterion, item: AttemptResult, t: PageWords) -> str:
    score = item.scores[criterion.id]
    marks = t(f"status_{score.status}") if score.points is None else number(score.points)
    full = "" if score.out_of is None else f" / {number(score.out_of)}"
    statement = str(criterion.scorer.params.get("statement") or "")
    words = [f"{_line(criterion.id)}: {marks}{full}", _line(statement), _line(score.reason)]
    return f"- {' — '.join(filter(None, words))}"


def _section(title: str, content: str, level: int = 2) -> Iterator[str]:
    """Yield a text below a heading, in a fence that nothing in the text can close."""
    longest = max((len(run) for run in re.findall("`{3,}", content)), default=2)
    fence = "`" * (longest + 1)
    yield from ("", f"{'#' * level} {_line(title)}", "", fence, content, fence)


def _line(text: str) -> str:
    return " ".join(text.split())


_CASE = text("id", "the case's id", required=True)

routes = [
    Endpoint(
        "/runs/{run}/case.md",
        send_markdown,
        Operation(
            summary="One case of a run with its answers and verdicts, as Markdown",
            media="text/markdown",
            parameters=[RUN, _CASE],
            wrong=(404,),
            error=None,
        ),
    ),
    Endpoint(
        "/runs/{run}/case.txt",
        send_text,
        Operation(
            summary="The question of a case, or an answer, as it is",
            media="text/plain",
            parameters=[
                RUN,
                _CASE,
                choice("part", "which text", PARTS),
                whole("attempt", "of which attempt the answer is", 0),
            ],
            error=None,
        ),
    ),
]
