"""``proctor show``: show one case of a run, with everything that explains its score."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option, store_option, texts_option
from proctor.cli.output import tell_which
from proctor.core.attempt import TRACEBACK
from proctor.core.cause import cause_of
from proctor.core.fingerprint import plain
from proctor.core.tool_calls import call_text, said_and_called

if TYPE_CHECKING:
    from proctor.core.attempt import Attempt
    from proctor.core.run import AttemptResult, CaseResult
    from proctor.core.scan import ScanMark
    from proctor.core.score import Score
    from proctor.core.suite import Case, Criterion, Json, Message


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("case", metavar="CASE")
@click.option("--attempt", type=click.IntRange(0), help="Only this attempt.")
@click.option(
    "--full", is_flag=True, help="Do not cut long texts, and print all replies of judges."
)
@store_option
@json_option
@texts_option
def show(run: str, case: str, **options: Any) -> None:
    """Show CASE of RUN: the question, each answer, each score with its reason, and the formula.

    \b
    Example:
      proctor show @last 0-0-4
      proctor show my-run 0-0-4 --attempt 2 --full
    """
    from proctor.cli.output import print_json
    from proctor.core.prompt import as_asked
    from proctor.engine.run.stored_view import case_of, view_of
    from proctor.engine.scan.findings import scan_marks
    from proctor.errors import UsageError
    from proctor.reports.state_changes import state_object
    from proctor.reports.structured import case_object, without_texts
    from proctor.reports.turns import agent_object, files_left
    from proctor.store.store import Store

    attempt, as_json = options["attempt"], options["as_json"]
    with Store.open(options["store"], create=False) as opened:
        tell_which(opened, [run])
        view = view_of(opened, run)
        stored = case_of(opened, view, case)
        result = replace(stored, case=as_asked(stored.case, view.run.candidate))
        left = {
            file.key for item in result.attempts for file in files_left(item.attempt) if file.key
        }
        sizes = opened.files.sizes(left)
        marks = scan_marks(opened, view.run.id, case)
    chosen = [item for item in result.attempts if attempt in (None, item.attempt.index)]
    if not chosen:
        indices = ", ".join(str(item.attempt.index) for item in result.attempts)
        raise UsageError(f"case {case!r} has no attempt {attempt} (there are: {indices})")
    if as_json:
        shown = case_object(result)
        keep = {item.attempt.index for item in chosen}
        shown["attempts"] = [
            {
                **shown_attempt,
                "output": item.attempt.output,
                **_tool_object(item.attempt),
                **state_object(item.attempt.notes),
                **_scan_object(marks.get(item.attempt.index, ())),
                **agent_object(item.attempt, sizes),
            }
            for shown_attempt, item in zip(shown["attempts"], result.attempts, strict=True)
            if item.attempt.index in keep
        ]
        prompt = [_message_object(message) for message in result.case.messages]
        about = {"id": view.run.id, "name": view.run.name, "imported": view.run.imported}
        whole = {"run": about, "messages": prompt, "references": list(result.case.references)}
        whole |= shown
        print_json(whole if options["texts"] else without_texts(whole))
        return
    if view.run.imported:
        click.echo("imported: answers and scores are as in the file")
    for line in _lines(result, chosen, sizes, marks, None if options["full"] else 1500):
        click.echo(line)


def _message_object(message: "Message") -> "dict[str, Json]":
    calls = {"tool_calls": plain(message.tool_calls)} if message.tool_calls else {}
    called = {"tool_call_id": message.tool_call_id} if message.tool_call_id else {}
    return {"role": message.role, "content": message.content, **calls, **called}


def _tool_object(attempt: "Attempt") -> "dict[str, Json]":
    """Return the conversation of an attempt that called tools; nothing of any other."""
    if not any(message.tool_calls for message in attempt.messages):
        return {}
    return {"messages": [_message_object(message) for message in attempt.messages]}


def _scan_object(marks: "Sequence[tuple[str, ScanMark]]") -> "dict[str, Json]":
    """Return what scans marked in an attempt; nothing where they marked nothing."""
    rows = [{"kind": kind, "passage": one.passage, "reason": one.reason} for kind, one in marks]
    return {"scan_marks": rows} if rows else {}


def _scan_lines(marks: "Sequence[tuple[str, ScanMark]]") -> Iterator[str]:
    """Yield what scans marked in an attempt."""
    for kind, mark in marks:
        yield f"  scanned, {kind}: “{_printable(mark.passage)}”"


def _lines(
    result: "CaseResult",
    chosen: "list[AttemptResult]",
    sizes: "dict[str, int]",
    marks: "Mapping[int, Sequence[tuple[str, ScanMark]]]",
    most: int | None,
) -> Iterator[str]:
    from proctor.core.passages import own_passages
    from proctor.reports.reasons import formula

    case, folded = result.case, result.folded
    value = "unscored" if folded.value is None else f"{folded.value:.4g} of {case.full_score:g}"
    yield click.style(f"{case.id}  {value}", bold=True)
    for tag, values in case.tags.items():
        yield f"  {tag}: {', '.join(values)}"
    yield from _asked_lines(case, most)
    yield from _numbered("reference", case.references, most)
    yield from _numbered("context", case.context, most)
    for item in chosen:
        yield ""
        yield click.style(f"attempt {item.attempt.index}  {_worth(item)}", bold=True)
        if item.attempt.error:
            yield f"  error: {_printable(item.attempt.error)}"
        if (cause := cause_of(item.attempt, item.scores.values())) is not None:
            yield f"  cause: {cause}"
        if where := item.attempt.notes.get(TRACEBACK):
            yield from _block("traceback", _printable(str(where)).rstrip(), None)
        yield from _numbered("context", own_passages(item.attempt), most)
        yield from _answer_lines(item, most)
        yield from _agent_lines(item.attempt, sizes, most)
        yield from _noted(item.attempt.notes)
        yield from _scan_lines(marks.get(item.attempt.index, ()))
        for criterion in case.criteria:
            score = item.scores.get(criterion.id)
            if score is not None:
                yield from _score_lines(criterion, score, most is None)
        yield from _turn_lines(case, item)
        if item.value.value is not None and item.scores:
            yield f"  = {formula(case, item)}"
    if len(result.attempts) > 1 and folded.value is not None:
        shown = ", ".join("–" if b is None else f"{b:.4g}" for b in folded.buckets[:30])
        yield ""
        yield f"all {len(result.attempts)} attempts fold into {folded.value:.4g} (of {shown})"


def _asked_lines(case: "Case", most: int | None) -> Iterator[str]:
    """Yield the messages of a case, and the tools that may be called."""
    for message in case.messages:
        yield from _block(message.role, _printable(said_and_called(message)), most)
    if case.tools:
        yield from _block("tools", _printable(", ".join(t.name for t in case.tools)), most)


def _numbered(title: str, texts: Any, most: int | None) -> Iterator[str]:
    for number, text in enumerate(texts, 1):
        yield from _block(f"{title} {number}", _printable(str(text)), most)


def _answer_lines(item: "AttemptResult", most: int | None) -> Iterator[str]:
    """Yield the answer, by turn if there are several, with the thinking if ``most`` is None."""
    messages = item.attempt.messages
    for number, message in enumerate(messages):
        if message.thinking and most is None:
            yield from _block("thinking", _printable(message.thinking), most)
        last = number == len(messages) - 1
        own = last or message.role == "assistant"
        title = "answer" if own and message.role != "tool" else message.role
        if message.content or not message.tool_calls:
            is_output = last and message.role == "assistant"
            shown = _marked(item) if is_output else _printable(message.content)
            yield from _block(title, shown, most)
        for call in message.tool_calls:
            yield from _block("calls", _printable(call_text(call)), most)
    if not messages:
        yield from _block("answer", "", most)


def _agent_lines(attempt: "Attempt", sizes: "dict[str, int]", most: int | None) -> Iterator[str]:
    """Yield an agent's posts and the files it left, attachments only if ``most`` is None."""
    from proctor.reports.turns import files_left, rounds_shown, with_depth

    for one in rounds_shown(attempt):
        error_note = f", {one.error}" if one.error else ""
        yield click.style(f"  round {one.number}: {one.state}{_printable(error_note)}", dim=True)
        for post, depth in with_depth(one.posts):
            own = "    " + "  " * depth
            first, *rest = _cut(_printable(post.message), most).split("\n")
            yield f"{own}{_printable(post.sender)} -> {_printable(post.receiver)}: {first}"
            yield from (f"{own}  {line}" for line in rest)
            kinds = ", ".join(kind for kind, _ in post.attachments)
            if kinds and most is not None:
                note = f"with {_printable(kinds)} (--full shows them)"
                yield click.style(f"{own}  {note}", dim=True)
            for kind, text in post.attachments if most is None else ():
                yield f"{own}  [{_printable(kind)}]"
                yield from (f"{own}    {line}" for line in _printable(text).split("\n"))
    for file in files_left(attempt):
        size = f"{sizes[file.key]} bytes" if file.key in sizes else "not kept"
        yield f"  left: {_printable(file.name)} ({size})"


def _turn_lines(case: "Case", item: "AttemptResult") -> Iterator[str]:
    """Yield the mark of each turn."""
    from proctor.reports.turns import turns_of

    for turn in turns_of(case, item):
        marks = "" if turn.score is None else f"{turn.score:g} ({turn.normalized:.4g})"
        note = "" if turn.status == "scored" else f" {turn.status.replace('_', ' ')}"
        yield f"  turn {turn.turn + 1}: {marks}{note}".replace(":  ", ": ")


def _noted(notes: Any) -> Iterator[str]:
    """Yield why a dialogue ended, what it covered and changed, and its flags."""
    from proctor.reports.state_changes import state_changes, user_calls

    if reason := notes.get("reason"):
        yield f"  ended: {_printable(str(reason))}"
    ledger = notes.get("ledger")
    for point, first in zip(_listed(ledger, "points"), _listed(ledger, "first"), strict=False):
        when = f"covered at turn {first}" if first else "never covered"
        yield f"    {when}: {_printable(str(point))}"
    for line in user_calls(notes):
        yield f"  the user calls: {_printable(line)}"
    for line in state_changes(notes):
        yield f"  state: {_printable(line)}"
    for flag in _listed(notes, "flags"):
        yield f"  the simulated user: {_printable(_words(flag))}"
    if turns := _listed(notes, "truncated"):
        yield f"  truncated by the token limit: turn {', '.join(map(str, turns))}"


def _listed(holder: Any, name: str) -> Sequence[Any]:
    """Return a list from notes or a score's detail, which may contain anything."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, list | tuple) else ()


def _words(flag: Any) -> str:
    if not isinstance(flag, dict):
        return str(flag)
    return ", ".join(f"{name} {value}" for name, value in flag.items())


def _worth(item: "AttemptResult") -> str:
    value = item.value
    if value.value is not None:
        note = " (no answer)" if value.status == "unanswered" else ""
        return f"{value.value:.4g}{note}"
    return f"{value.status}, worth between {value.low:.4g} and {value.high:.4g}"


def _score_lines(criterion: "Criterion", score: "Score", full: bool) -> Iterator[str]:
    if score.points is None:
        marks = score.status.replace("_", " ")
    else:
        marks = f"{score.points:g}" + ("" if score.out_of is None else f" of {score.out_of:g}")
    weight = "" if criterion.weight == 1 else f", weight {criterion.weight:g}"
    yield f"  {criterion.id}: {marks}{weight}"
    if statement := criterion.scorer.params.get("statement"):
        yield f"    “{_printable(str(statement))}”"
    if score.reason:
        yield f"    {score.reason}"
    for row in _detail_rows(score, full):
        yield f"    {row}"


def _test_rows(number: int, test: Any, full: bool) -> Iterator[str]:
    """Yield a unit test: its outcome, and if it failed, its message and program."""
    line = f" at line {test['line']}" if test.get("line") else ""
    passed, seconds = bool(test.get("passed")), test.get("seconds")
    took = f" ({seconds:.2f} s)" if isinstance(seconds, int | float) else ""
    message = "" if passed else f": {_printable(str(test.get('result', '')))}{line}"
    yield f"{'✓' if passed else '✗'} test {number}{took}{message}"
    if passed and not full:
        return
    for name in ("stderr", "stdout"):
        text = _printable(str(test.get(name) or "")).rstrip()
        rows = text.split("\n") if text else []
        for row in rows if full else rows[-8:]:
            yield f"    {name}: {row}"
    if full:
        for at, row in enumerate(_printable(str(test.get("program", ""))).split("\n"), 1):
            yield f"    {at:4} {row}"


def _detail_rows(score: "Score", full: bool) -> Iterator[str]:
    from proctor.reports.reasons import rows_of

    for rule in rows_of(score.detail, "rules"):
        mark = "✓" if rule.get("status") == "match" else "✗"
        spans = [span for span in _listed(rule, "spans") if _listed({"": span}, "")]
        places = ", ".join("at " + "–".join(map(str, span)) for span in spans[:3])
        points = rule.get("points")
        worth = f"{points:+g}" if isinstance(points, int | float) else ""
        yield f"{mark} {worth}  {_printable(str(rule.get('keyword', '')))}  {places}".rstrip()
    for number, test in enumerate(rows_of(score.detail, "tests"), 1):
        yield from _test_rows(number, test, full)
    if full or score.points is None:
        yield from _replies(score.detail)
    for number, blank in enumerate(rows_of(score.detail, "blanks"), 1):
        mark = "✓" if blank.get("points") else "✗"
        yield f"{mark} blank {number}: {blank.get('text')!r}, expected {blank.get('target')!r}"


def _replies(detail: Any) -> Iterator[str]:
    """Yield the raw replies of a judge, or of each one of a panel."""
    from proctor.reports.reasons import rows_of

    panel = list(rows_of(detail, "panel"))
    several = [(f"judge {place}", one) for place, one in enumerate(panel, 1)]
    for name, ruling in several or [("judge", detail)]:
        for number, reply in enumerate(_listed(ruling, "raw"), 1):
            for row in _printable(str(reply)).split("\n"):
                yield f"{name}, reply {number}: {row}"


def _marked(item: "AttemptResult") -> str:
    """Return the answer with matches underlined."""
    from proctor.reports.reasons import spans_of

    text = _printable(item.attempt.output)
    spans = sorted({span for score in item.scores.values() for span in spans_of(score.detail)})
    shown, end = "", 0
    for start, stop in spans:
        if start >= end and stop <= len(text):
            shown += text[end:start] + click.style(text[start:stop], underline=True)
            end = stop
    return shown + text[end:]


def _block(title: str, text: str, most: int | None) -> Iterator[str]:
    yield click.style(f"  {title}", dim=True)
    for line in _cut(text, most).split("\n"):
        yield f"    {line}"


def _cut(text: str, most: int | None) -> str:
    if most is None or len(text) <= most:
        return text
    return f"{text[:most]}\n… {len(text) - most} more characters (--full shows them)"


def _printable(text: str) -> str:
    """Replace control characters, so that an answer cannot control the terminal."""
    return "".join("�" if _steers(char) else char for char in text)


def _steers(char: str) -> bool:
    return (char < " " and char not in "\t\n") or "\x7f" <= char <= "\x9f"
