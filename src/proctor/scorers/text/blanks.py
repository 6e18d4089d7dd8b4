"""Blanks of a template, found in the answer by aligning both texts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, ConfigDict

from proctor.contracts.scorer import Probe, TextScorer
from proctor.core.case_value import in_turn
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.errors import ConditionError
from proctor.scorers.overlap.alignment import NOWHERE, align
from proctor.scorers.programs.python_check import Handled, Handler
from proctor.scorers.text.conditions import condition_problem, holds_for
from proctor.scorers.text.patterns import (
    compiled,
    example_of,
    find_pattern,
    find_text,
    pattern_problem,
)

MAX_SPLIT = 300
MOST_CELLS = 20_000_000
"""Characters of template times answer that are aligned at once, in a fraction of a second."""
MOST_OPTIONS = 8
"""Alternatives with which that is so for adjacent blanks, each tried with every way to cut."""


def _alternative(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


def _target(value: Any) -> Any:
    return {"any": [value]} if isinstance(value, str) else value


def _alternatives(value: Any) -> Any:
    return [value] if isinstance(value, str | dict) else value


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """One right answer for a blank."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    text: str
    regex: bool = False
    ignore_case: bool | None = None
    cond: str | None = None


@dataclass(frozen=True, kw_only=True)
class Target:
    """The right answers for a blank, and their weight."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    any: Annotated[
        tuple[Annotated[Alternative, BeforeValidator(_alternative)], ...],
        BeforeValidator(_alternatives),
    ]
    weight: float = 1.0
    ignore_case: bool = False
    substring: bool = False


@dataclass(frozen=True)
class Blanks(TextScorer, Handled):
    """Give points for each blank of a template that the answer fills rightly.

    The answer is aligned with the template character by character; if less than ``min_match`` of
    the template is found in it, no blank counts. What stands at a blank is stripped of the
    characters in ``strip`` and compared with the target's alternatives: equal to one of them, or
    containing it (``substring``). ``cond`` is a Python expression over ``grading_details``,
    ``ans_str``, ``ans_re`` and ``response_str`` which must hold as well.
    """

    time_limit: ClassVar[float] = 5.0
    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True
    lower_case_only: ClassVar[bool] = False
    """Whether case is ignored by lower-casing alone, the pattern too: ß is not ss."""

    template: str
    targets: tuple[Annotated[Target, BeforeValidator(_target)], ...]
    blank: str = "[blank]"
    strip: str = " '\"·`"
    prefix: str = ""
    min_match: float = 0.8
    post_handler: Handler | None = None

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        if problem := next(iter(self.problems()), None):
            return Score.failed(problem, out_of=self.full_marks)
        text = (self.prefix + output) or " "
        partner = align(self.template, text)
        own = len(self.template) - len(self.markers) * len(self.blank)
        filled_blanks = sum(place != NOWHERE for place in partner)
        rate = filled_blanks / own if own else 1.0
        if rate < self.min_match:
            lines = [f"unmatched: match rate too low - {rate}"] * len(self.targets)
            return self._result(rate, [_Filled(line=line) for line in lines])
        try:
            filled = self._judge(text, self._spans(text, partner))
        except ConditionError as error:
            return Score.failed(str(error), out_of=self.full_marks)
        return self._result(rate, filled)

    @property
    def is_instant(self) -> bool:
        return super().is_instant and self._runs_nothing

    def takes_long(self, output: str, references: tuple[str, ...]) -> bool:
        longest = max([len(self.template), *(len(option.text) for option in self._options)])
        return longest * (len(self.prefix) + len(output)) > MOST_CELLS

    @cached_property
    def _runs_nothing(self) -> bool:
        """Tell whether texts alone are compared, and adjacent blanks do not have too many."""
        options = self._options
        adjacent = any(b - a == len(self.blank) for a, b in pairwise(self.markers))
        return (len(options) <= MOST_OPTIONS or not adjacent) and not any(
            option.regex or option.cond is not None for option in options
        )

    @cached_property
    def _options(self) -> list[Alternative]:
        return [option for target in self._targets for option in target.any]

    def statuses(self, score: Score) -> list[str]:
        return [row["line"] for row in score.detail["blanks"]]

    @property
    def full_marks(self) -> float:
        return in_turn(target.weight for target in self._targets)

    @cached_property
    def markers(self) -> tuple[int, ...]:
        """Return where the blanks stand in the template."""
        if not self.blank:
            return ()
        places = range(len(self.template))
        return tuple(i for i in places if self.template.startswith(self.blank, i))

    def problems(self) -> Iterator[str]:
        if not self.template:
            yield "the template is empty"
        if not self.blank:
            yield "the text that marks a blank is empty"
        if not 0 <= self.min_match <= 1:
            yield f"min_match must lie between 0 and 1, not at {self.min_match:g}"
        if len(self.markers) != len(self.targets):
            yield (
                f"{len(self.targets)} targets for {len(self.markers)} blanks"
                f" ({self.blank!r} in the template)"
            )
        if self.post_handler is not None:
            yield from self.post_handler.problems()
        for number, target in enumerate(self._targets, 1):
            yield from _target_problems(number, target)

    def probes(self, case: Case) -> Iterable[Probe]:
        text, end = "", 0
        for place, target in zip(self.markers, self._targets, strict=False):
            text += self.template[end:place] + _example(target)
            end = place + len(self.blank)
        whole = text + self.template[end:]
        if whole.startswith(self.prefix):
            yield Probe(kind="reference", answer=whole[len(self.prefix) :])

    @cached_property
    def _targets(self) -> tuple[Target, ...]:
        return tuple(
            Target(any=(Alternative(text=target),)) if isinstance(target, str) else target
            for target in self.targets
        )

    def _spans(self, text: str, partner: Sequence[int]) -> list[tuple[int, int]]:
        """Return where each blank's filling begins and ends in the text.

        It begins after the last character that found its partner before the blank. It ends where
        the character right after the blank has its partner; if that one has none, after the last
        one before it that has.
        """
        behind = [0]
        for place in partner:
            behind.append(behind[-1] if place == NOWHERE else place + 1)
        spans = []
        for marker in self.markers:
            after = marker + len(self.blank)
            start = behind[marker]
            if after == len(self.template):
                start, end = self._start_of_last(text, marker), len(text)
            else:
                end = behind[after] if partner[after] == NOWHERE else partner[after]
            spans.append((start, max(start, end)))
        return self._share_adjacent(text, spans)

    def _start_of_last(self, text: str, marker: int) -> int:
        """Return where the filling of a blank at the very end begins.

        Nothing after it holds the alignment, so that the characters before it must find their
        partners as early as they can: the same rule, read backwards.
        """
        partner = align(self.template[::-1], text[::-1])[::-1]
        places = [place for place in partner[:marker] if place != NOWHERE]
        return len(text) - min(places) if places else 0

    def _share_adjacent(self, text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Share a stretch of text among blanks that stand side by side."""
        shared: list[tuple[int, int]] = []
        first = 0
        while first < len(spans):
            last = first
            while (
                last + 1 < len(spans)
                and self.markers[last] + len(self.blank) == self.markers[last + 1]
            ):
                last += 1
            start, end = spans[first][0], spans[last][1]
            if last == first:
                shared.append((start, end))
            else:
                shared += self._best_cut(text, (start, end), self._targets[first : last + 1])
            first = last + 1
        return shared

    def _best_cut(
        self, text: str, span: tuple[int, int], targets: Sequence[Target]
    ) -> list[tuple[int, int]]:
        """Cut a stretch so that the most points are won; the earliest of equal cuts."""
        start, end = span
        if end - start > MAX_SPLIT:
            end = start + MAX_SPLIT
        # best[k][i]: most points for the first k targets when the k-th ends at start + i
        width = end - start
        best: list[list[float]] = [[0.0] + [float("-inf")] * width]
        cut: list[list[int]] = [[0] * (width + 1)]
        for target in targets:
            row, back = [float("-inf")] * (width + 1), [0] * (width + 1)
            for stop in range(width + 1):
                for begin in range(stop + 1):
                    if best[-1][begin] == float("-inf"):
                        continue
                    piece = text[start + begin : start + stop].strip(self.strip)
                    hit = any(self._fits(piece, target, option) for option in target.any)
                    points = best[-1][begin] + (target.weight if hit else 0.0)
                    if points > row[stop]:
                        row[stop], back[stop] = points, begin
            best.append(row)
            cut.append(back)
        ends = [span[1] - start if span[1] - start <= width else width]
        for back in reversed(cut[1:]):
            ends.append(back[ends[-1]])
        ends.reverse()
        pieces = [(start + a, start + b) for a, b in pairwise(ends)]
        pieces[-1] = (pieces[-1][0], span[1])
        return pieces

    def _judge(self, text: str, spans: Sequence[tuple[int, int]]) -> "list[_Filled]":
        lines: list[str] = []
        filled = []
        for (start, end), target in zip(spans, self._targets, strict=True):
            piece = text[start:end].strip(self.strip)
            option = self._first_hit(piece, target, lines)
            shown, hit = (target.any[-1], False) if option is None else (option, True)
            word = "matched" if hit else "unmatched"
            lines.append(f"{word}: response string: {piece}, ans: {shown.text}")
            offset = len(self.prefix)
            filled.append(
                _Filled(
                    line=lines[-1],
                    text=piece,
                    span=(max(0, start - offset), max(0, end - offset)),
                    target=shown.text,
                    points=target.weight if hit else 0.0,
                )
            )
        return filled

    def _first_hit(self, piece: str, target: Target, lines: Sequence[str]) -> Alternative | None:
        for option in target.any:
            if not self._fits(piece, target, option):
                continue
            if option.cond is None:
                return option
            names = {
                "grading_details": list(lines),
                "ans_str": option.text,
                "ans_re": option.regex,
                "response_str": piece,
            }
            others = [{**names, "response_str": text} for text in (option.text, "", "0")]
            if holds_for(option.cond, names, others):
                return option
        return None

    def _fits(self, piece: str, target: Target, option: Alternative) -> bool:
        expected = option.text
        ignore = target.ignore_case if option.ignore_case is None else option.ignore_case
        if ignore and self.lower_case_only:
            piece, expected, ignore = piece.lower(), expected.lower(), False
        if target.substring:
            look = find_pattern if option.regex else find_text
            return look(piece, expected, ignore_case=ignore) is not None
        if option.regex:
            return compiled(expected, ignore).fullmatch(piece) is not None
        return piece.casefold() == expected.casefold() if ignore else piece == expected

    def _result(self, rate: float, filled: "Sequence[_Filled]") -> Score:
        hits = sum(line.line.startswith("matched") for line in filled)
        low = f"; only {rate:.0%} of the template was found" if rate < self.min_match else ""
        return Score(
            points=in_turn(line.points for line in filled),
            out_of=self.full_marks,
            reason=f"{hits} of {len(filled)} blanks right{low}",
            detail={
                "match_rate": rate,
                "blanks": [
                    {
                        "text": line.text,
                        "span": list(line.span),
                        "target": line.target,
                        "points": line.points,
                        "line": line.line,
                    }
                    for line in filled
                ],
            },
        )


@dataclass(frozen=True, kw_only=True)
class _Filled:
    """The text that fills a blank, and its outcome."""

    line: str
    text: str = ""
    span: tuple[int, int] = (0, 0)
    target: str = ""
    points: float = 0.0


def _target_problems(number: int, target: Target) -> Iterator[str]:
    if not target.any:
        yield f"blank {number} has no right answer"
    for option in target.any:
        if option.regex and (problem := pattern_problem(option.text)):
            yield f"blank {number}: {problem}"
        if option.cond is not None and (problem := condition_problem(option.cond)):
            yield f"blank {number}: {problem}"


def _example(target: Target) -> str:
    option = target.any[0] if target.any else Alternative(text="")
    if not option.regex:
        return option.text
    try:
        return example_of(option.text)
    except ValueError:
        return option.text
