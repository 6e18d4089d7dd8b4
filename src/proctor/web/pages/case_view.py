"""A case with its attempts and scores, laid out for a page."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from markupsafe import escape

from proctor.core.attempt import TRACEBACK
from proctor.core.fingerprint import plain
from proctor.core.passages import own_passages
from proctor.core.prompt import as_asked
from proctor.core.run import AttemptResult, CaseResult, Run
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Json, Message, ToolCall
from proctor.reports.reasons import formula, rows_of, spans_of
from proctor.reports.state_changes import state_changes, user_calls
from proctor.reports.turns import (
    DEEPEST,
    ShownPost,
    ShownRound,
    files_left,
    rounds_shown,
    turns_of,
    with_depth,
)
from proctor.web.highlight import pieces
from proctor.web.pictures import is_embedded

WIDTH, HEIGHT, FOOT = 340, 90, 16
BINS = 20
"""Bars of a histogram."""
BAR, INK = "#3b8fd6", "#7a828c"
"""Colours that are visible on light and dark pages."""


def histogram_svg(counts: Sequence[int], *, labelled: bool = True) -> str:
    """Draw how many cases reached each share of the full score; without labels, for a small one.

    The first count is that of shares below nothing, which has a bar only where there are any.
    """
    shown = drawn_counts(counts)
    most = max(counts, default=0) or 1
    step = WIDTH / max(1, len(shown))
    bars = "".join(
        f'<rect x="{place * step + 0.5:.1f}" y="{HEIGHT - _high(count, most):.1f}"'
        f' width="{step - 1:.1f}" height="{_high(count, most):.1f}" fill="{BAR}">'
        f"<title>{escape(label)}: {count}</title></rect>"
        + f'<text x="{(place + 0.5) * step:.1f}" y="{HEIGHT - _high(count, most) - 2:.1f}"'
        f' font-size="10" text-anchor="middle">{short_count(count)}</text>' * labelled
        for place, (label, count) in enumerate(shown)
        if count
    )
    start = step if counts and counts[0] else 0.0
    marks = "".join(
        f'<text x="{x:g}" y="{HEIGHT + FOOT - 3}" text-anchor="{anchor}">{words}</text>'
        for x, anchor, words in (
            *([(0.0, "start", "&lt; 0")] if start else []),
            (start * 1.6, "start", "0%"),
            ((start + WIDTH) / 2, "middle", "50%"),
            (WIDTH, "end", "100%"),
        )
        if labelled
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="histogram"'
        f' viewBox="0 0 {WIDTH} {HEIGHT + FOOT * labelled}"'
        f' width="{WIDTH}" height="{HEIGHT + FOOT * labelled}" fill="{INK}"'
        f' font-family="sans-serif" font-size="11">'
        f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}" stroke="{INK}"/>{bars}{marks}</svg>'
    )


def drawn_counts(counts: Sequence[int]) -> list[tuple[str, int]]:
    """Return the bars of a histogram with what they are of; below nothing only where there are any.

    ``counts`` are those of ``Listing.histogram``: shares below nothing, then equal bins.
    """
    bins = len(counts) - 1
    shown = [
        (f"{100 * place // bins}–{100 * (place + 1) // bins}%", count)
        for place, count in enumerate(counts[1:])
    ]
    return [("< 0%", counts[0]), *shown] if counts and counts[0] else shown


def _high(count: int, most: int) -> float:
    """Return the height of a bar; even one case in a million is visible."""
    return max(1.0, count / most * (HEIGHT - 12))


def short_count(count: int) -> str:
    """Return a count in at most four characters: 950, 1.2k, 43k, 1.0M."""
    for size, letter in ((10**6, "M"), (10**3, "k")):
        if count >= size:
            share = count / size
            return f"{share:.1f}{letter}" if share < 9.95 else f"{share:.0f}{letter}"
    return str(count)


class HistogramBin(NamedTuple):
    """A bar of the histogram as a place to click."""

    coords: str
    """Its area in the image, as HTML writes it."""
    where: str
    """The condition that its cases meet."""
    label: str


def histogram_bins(bins: int, *, below: bool = False) -> list[HistogramBin]:
    """Return the bars of a histogram; the last has what lies above the full score, too."""
    step = WIDTH / (bins + below)
    conditions = [
        " and ".join(
            (f"rate >= {place / bins:g}",)
            + ((f"rate < {(place + 1) / bins:g}",) if place < bins - 1 else ())
        )
        for place in range(bins)
    ]
    labels = [label for label, _ in drawn_counts([int(below)] + [0] * bins)]
    return [
        HistogramBin(f"{place * step:.0f},0,{(place + 1) * step:.0f},{HEIGHT + FOOT}", where, label)
        for place, (where, label) in enumerate(
            zip([*(["rate < 0"] if below else []), *conditions], labels, strict=True)
        )
    ]


Laid = dict[str, Any]


def asked_result(run: Run, result: CaseResult) -> CaseResult:
    """Return a case of a run as its candidate was asked it."""
    return replace(result, case=as_asked(result.case, run.candidate))


def case_view(result: CaseResult, *, most: int | None) -> Laid:
    """Lay out a case; texts longer than ``most`` are cut."""
    case, folded = result.case, result.folded
    several = len(result.attempts) > 1 and folded.value is not None
    return {
        "id": case.id,
        "value": folded.value,
        "full": case.full_score,
        "weight": case.weight,
        "status": folded.status.value,
        "low": folded.low,
        "high": folded.high,
        "tags": [(name, ", ".join(values)) for name, values in case.tags.items()],
        "messages": [_message(message, most) for message in case.messages],
        "references": [pieces(text, most=most) for text in case.references],
        "context": [pieces(text, most=most) for text in case.context],
        "hidden": written(case.hidden) if case.hidden else "",
        "dialogue": case.dialogue.name,
        "attempts": [attempt_view(case, item, most=most) for item in result.attempts],
        "buckets": list(folded.buckets[:30]) if several else [],
    }


def attempt_view(case: Case, item: AttemptResult, *, most: int | None) -> Laid:
    """Lay out an attempt: its turns with matches marked, its scores, the formula."""
    attempt = item.attempt
    spans = _matched(case, item)
    return {
        "index": attempt.index,
        "value": item.value.value,
        "status": item.value.status.value,
        "low": item.value.low,
        "high": item.value.high,
        "error": attempt.error,
        "traceback": str(attempt.notes.get(TRACEBACK, "")),
        "seconds": attempt.seconds,
        "context": [pieces(text, most=most) for text in own_passages(attempt)],
        "turns": [
            _message(message, most, spans.get(place, ()))
            for place, message in enumerate(attempt.messages)
        ],
        "rounds": [_round(one, most) for one in rounds_shown(attempt)],
        "files": [
            {"name": file.name, "key": file.key, "size": None, "href": ""}
            for file in files_left(attempt)
        ],
        "marks": [turn.to_json() for turn in turns_of(case, item)],
        "notes": _notes(attempt.notes),
        "scores": [
            _score(criterion, item.scores[criterion.id], most)
            for criterion in case.criteria
            if criterion.id in item.scores
        ],
        "formula": formula(case, item) if item.value.value is not None and item.scores else "",
    }


def _matched(case: Case, item: AttemptResult) -> dict[int, set[tuple[int, int]]]:
    """Return what scores matched, by the place of the message: that of their turn, or the last."""
    messages = item.attempt.messages
    replies = [place for place, message in enumerate(messages) if message.role == "assistant"]
    turns = {criterion.id: criterion.turn for criterion in case.criteria}
    spans: dict[int, set[tuple[int, int]]] = {}
    for name, score in item.scores.items():
        turn = turns.get(name)
        place = len(messages) - 1
        if turn is not None and turn < len(replies):
            place = replies[turn]
        spans.setdefault(place, set()).update(spans_of(score.detail))
    return spans


def written(value: Json) -> str:
    """Format a JSON value for people."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, default=str)


def _message(message: Message, most: int | None, spans: Iterable[tuple[int, int]] = ()) -> Laid:
    return {
        "role": message.role,
        "text": pieces(message.content, spans, most=most),
        "thinking": pieces(message.thinking, most=most) if message.thinking else [],
        "images": [laid_image(address) for address in message.images],
        "calls": [
            {"name": call.name, "arguments": pieces(_arguments(call), most=most)}
            for call in message.tool_calls
        ],
    }


def _arguments(call: ToolCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else written(call.arguments)


def _round(one: ShownRound, most: int | None) -> Laid:
    return {
        "number": one.number,
        "state": one.state,
        "error": one.error,
        "posts": _posts(one.posts, most),
    }


def _posts(posts: Sequence[ShownPost], most: int | None) -> list[Laid]:
    """Lay out posts; those that name an earlier one as their parent hang on it."""
    top: list[Laid] = []
    laid_by_id: dict[str, Laid] = {}
    for post, depth in with_depth(posts):
        laid: Laid = {
            "sender": post.sender,
            "receiver": post.receiver,
            "text": pieces(post.message, most=most),
            "attachments": [
                {"kind": kind, "text": pieces(text, most=most)} for kind, text in post.attachments
            ],
            "within": [],
        }
        around = laid_by_id[post.parent] if depth else None
        (top if around is None else around["within"]).append(laid)
        if post.id:
            # What lies deeper than people can follow hangs on the last level.
            deepest = around is not None and depth >= DEEPEST
            laid_by_id.setdefault(post.id, around if deepest and around is not None else laid)
    return top


def laid_image(address: str) -> Laid:
    """Lay out an image: one that the case carries is shown, one with a web address linked."""
    safe = address.startswith(("https://", "http://"))
    shown = is_embedded(address)
    text = "" if shown else address if safe else address[:60]
    return {"href": address if safe else "", "src": address if shown else "", "text": text}


def _notes(notes: Mapping[str, Json]) -> Laid:
    return {
        "reason": str(notes.get("reason") or ""),
        "ledger": _ledger(notes.get("ledger")),
        "scans": [],
        "user_calls": user_calls(notes),
        "changes": state_changes(notes),
        "flags": [_words(flag) for flag in _listed(notes, "flags")],
        "truncated": ", ".join(str(turn) for turn in _listed(notes, "truncated")),
        "turns": [
            {"turn": turn.get("turn"), "raw": [str(reply) for reply in _listed(turn, "raw")]}
            for turn in rows_of(notes.get("turns"))
            if _listed(turn, "raw")
        ],
    }


def _ledger(ledger: Json) -> Laid | None:
    """Lay out in which turn each point was asked for and covered, one row per point."""
    if not isinstance(ledger, dict) or not _listed(ledger, "points"):
        return None
    covered, asked_points = _listed(ledger, "covered"), _listed(ledger, "asked")
    rows = [
        {
            "point": str(point),
            "turns": [
                {"covered": _at(row, place), "asked": _at(_at(asked_points, turn), place)}
                for turn, row in enumerate(covered)
            ],
            "first": _at(ledger.get("first"), place),
        }
        for place, point in enumerate(_listed(ledger, "points"))
    ]
    return {"turns": list(range(1, len(covered) + 1)), "rows": rows}


def _score(criterion: Criterion, score: Score, most: int | None) -> Laid:
    detail = score.detail
    detail_fields = detail if isinstance(detail, dict) else {}
    return {
        "id": criterion.id,
        "scorer": criterion.scorer.name,
        "statement": str(criterion.scorer.params.get("statement") or ""),
        "weight": criterion.weight,
        "points": score.points,
        "out_of": score.out_of,
        "status": score.status.value,
        "reason": score.reason,
        "rules": [_rule(row) for row in rows_of(detail, "rules")],
        "tests": [_test(row) for row in rows_of(detail, "tests")],
        "blanks": [_blank(row) for row in rows_of(detail, "blanks")],
        "replies": [pieces(str(reply), most=most) for reply in _listed(detail_fields, "raw")],
        "panel": [_member(row) for row in rows_of(detail, "panel")],
        "detail": pieces(written(detail), most=most) if detail else [],
    }


def _rule(row: Mapping[str, Json]) -> Laid:
    points = row.get("points")
    spans = [span for span in _listed(row, "spans") if isinstance(span, list) and len(span) == 2]
    return {
        "hit": row.get("status") == "match",
        "points": f"{points:+g}" if isinstance(points, int | float) else "",
        "keyword": str(row.get("keyword", "")),
        "places": ", ".join(f"{start}–{stop}" for start, stop in spans[:10]),
    }


def _test(row: Mapping[str, Json]) -> Laid:
    seconds = row.get("seconds")
    return {
        "hit": bool(row.get("passed")),
        "result": str(row.get("result") or ""),
        "line": row.get("line"),
        "seconds": f"{seconds:.2f}" if isinstance(seconds, int | float) else "",
        "output": "\n".join(str(row[name]) for name in ("stderr", "stdout") if row.get(name)),
        "program": list(enumerate(str(row.get("program") or "").split("\n"), 1)),
    }


def _blank(row: Mapping[str, Json]) -> Laid:
    return {
        "hit": bool(row.get("points")),
        "text": str(row.get("text", "")),
        "target": str(row.get("target", "")),
        "line": str(row.get("line", "")),
    }


def _member(row: Mapping[str, Json]) -> Laid:
    return {
        "points": row.get("points"),
        "reason": str(row.get("reason") or ""),
        "replies": [str(reply) for reply in _listed(row, "raw")],
    }


def _listed(holder: Mapping[str, Json], name: str) -> Sequence[Any]:
    value = holder.get(name)
    return value if isinstance(value, list | tuple) else ()


def _at(row: Any, place: int) -> Any:
    return row[place] if isinstance(row, list | tuple) and place < len(row) else None


def _words(flag: Json) -> str:
    if not isinstance(flag, dict):
        return str(flag)
    return ", ".join(f"{name} {value}" for name, value in flag.items())
