"""Keywords in many answers at once."""

from collections.abc import Sequence
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

from proctor.contracts.columns import ScoreColumn, ScoreRows, text_by_text
from proctor.core.case_value import in_turn
from proctor.core.suite import Json
from proctor.io import json_bytes
from proctor.scorers.text.keywords import KeywordRule, Keywords, reason_of


class Word(NamedTuple):
    """A text to look for, with what is written about it."""

    text: str
    points: float
    """What it gives where it is found, or takes away."""
    weight: float
    """What it adds to full marks."""
    found: str
    """The row of the detail where it is found, but for its place."""
    missed: str


def score_keywords(scorers: Sequence[Keywords], rows: ScoreRows) -> ScoreColumn:
    """Score a column; rows with more than plain texts to look for take the longer way."""
    column = ScoreColumn.empty(len(rows))
    others: list[int] = []
    last, words, out_of = None, None, 0.0
    for row, (scorer, output) in enumerate(zip(scorers, rows.outputs, strict=True)):
        if scorer is not last:
            last, words = scorer, _words(scorer)
            out_of = in_turn([word.weight for word in words or ()])
        if words is None or not isfinite(out_of):
            others.append(row)
            continue
        points, column.reasons[row], column.details[row] = _looked_up(words, output)
        column.points[row], column.out_of[row] = points, out_of
        if not isfinite(points):
            others.append(row)
    if others:
        own_scorers = [scorers[row] for row in others]
        column.put_rows(others, text_by_text(own_scorers, rows.take(others)))
    return column


def _words(scorer: Keywords) -> list[Word] | None:
    """Return the texts of rules that are nothing else; none where some rule is more."""
    words: list[Word] = []
    for rule in scorer.rules:
        if isinstance(rule, str):
            words.append(_word(rule))
        elif _is_plain(rule) and rule.text is not None:
            # Zeros of both signs are equal, and written differently.
            written = _word if rule.weight else _word.__wrapped__
            words.append(written(rule.text, rule.weight, rule.neg))
        else:
            return None
    return words


def _is_plain(rule: KeywordRule) -> bool:
    more = rule.any or rule.all or rule.regex or rule.ignore_case or rule.cond is not None
    return not more and type(rule.weight) is float and isfinite(rule.weight)


@lru_cache(maxsize=1 << 14, typed=True)
def _word(text: str, weight: float = 1.0, negative: bool = False) -> Word:
    points = -weight if negative else weight
    head = f'{{"keyword":{_written(text)},"status":'
    tail = '"neg":true,' if negative else ""
    return Word(
        text=text,
        points=points,
        weight=0.0 if negative else weight,
        found=f'{head}"match",{tail}"points":{_written(points)},"spans":[[',
        missed=f'{head}"unmatch",{tail}"points":0.0,"spans":[]}}',
    )


def _written(value: Json) -> str:
    return json_bytes.dumps(value).decode()


def _looked_up(words: Sequence[Word], text: str) -> tuple[float, str, bytes]:
    """Return points, reason and the detail as JSON."""
    total = 0.0
    matched, missing, rows = [], [], []
    for word, points, _, found, missed in words:
        start = text.find(word)
        if start < 0:
            missing.append(word)
            rows.append(missed)
        else:
            matched.append(word)
            total += points
            rows.append(f"{found}{start},{start + len(word)}]]}}")
    detail = f'{{"rules":[{",".join(rows)}]}}'
    return total, reason_of(matched, missing), detail.encode()
