"""Keywords with weights, alternatives, conditions and regular expressions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, ConfigDict

from proctor.contracts.scorer import Probe, TextScorer
from proctor.core.case_value import in_turn
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.errors import ConditionError
from proctor.scorers.programs.python_check import Handled, Handler
from proctor.scorers.text.conditions import answers_to_try, condition_problem, holds_for
from proctor.scorers.text.keyword_columns import (
    Word,
    looked_up,
    plain_text,
    plain_word,
    reason_of,
)
from proctor.scorers.text.patterns import (
    MOST_FOLDED,
    example_of,
    find_pattern,
    find_text,
    pattern_problem,
)

if TYPE_CHECKING:
    from proctor.contracts.score_columns import ScoreColumn, ScoreRows

Span = tuple[int, int]


def _node(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


@dataclass(frozen=True, kw_only=True)
class Node:
    """A text, any of several nodes, or all of them."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    text: str | None = None
    any: "tuple[Annotated[Node, BeforeValidator(_node)], ...] | None" = None
    all: "tuple[Annotated[Node, BeforeValidator(_node)], ...] | None" = None
    regex: bool | None = None
    ignore_case: bool | None = None
    cond: str | None = None

    @property
    def branches(self) -> "tuple[Node, ...]":
        """Return what this node is made of; a leaf has no branches."""
        return self.any or self.all or ()

    def leaves(self) -> "Iterator[Node]":
        """Yield the texts to look for, from left to right, with inherited settings filled in."""
        if self.text is not None:
            yield self
        for branch in self.branches:
            yield from branch.under(self).leaves()

    def under(self, outer: "Node") -> "Node":
        """Inherit what this node leaves open from the node around it."""
        return replace(
            self,
            regex=outer.regex if self.regex is None else self.regex,
            ignore_case=outer.ignore_case if self.ignore_case is None else self.ignore_case,
        )

    def show(self) -> str:
        """Write the node as a short text."""
        if self.text is not None:
            return f"/{self.text}/" if self.regex else self.text
        word = " or " if self.any is not None else " and "
        return f"({word.join(branch.under(self).show() for branch in self.branches)})"


@dataclass(frozen=True, kw_only=True)
class KeywordRule(Node):
    """Points for a node that is found, or taken away for it."""

    weight: float = 1.0
    neg: bool = False

    @property
    def is_plain(self) -> bool:
        """Tell whether a text is looked for as it is, and nothing more."""
        more = self.any or self.all or self.regex or self.ignore_case or self.cond is not None
        return not more and type(self.weight) is float and isfinite(self.weight)


@dataclass(frozen=True)
class Keywords(TextScorer, Handled):
    """Give points for each keyword that the answer contains.

    A rule is a text, or a mapping with one of ``text``, ``any`` and ``all``, and optionally
    ``weight``, ``neg`` (a match takes the weight away), ``regex``, ``ignore_case`` and ``cond``: a
    Python expression over ``context`` (``match`` or ``unmatch`` for each rule before), ``ans`` and
    ``response``, which must hold as well.
    """

    time_limit: ClassVar[float] = 3.0
    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True
    lower_case_only: ClassVar[bool] = False
    """Whether case is ignored by lower-casing alone, the pattern too: ß is not ss."""

    rules: tuple[Annotated[KeywordRule, BeforeValidator(_node)], ...]
    post_handler: Handler | None = None

    @classmethod
    def score_column(cls, scorers: "Sequence[Keywords]", rows: "ScoreRows") -> "ScoreColumn":
        from proctor.contracts.columns import text_by_text
        from proctor.contracts.score_columns import ScoreColumn

        column = ScoreColumn.empty(len(rows))
        others: list[int] = []
        last, words, out_of = None, None, 0.0
        for row, (scorer, output) in enumerate(zip(scorers, rows.outputs, strict=True)):
            if scorer is not last:
                last, words = scorer, scorer._plain_words()
                out_of = in_turn([word.weight for word in words or ()])
            if words is None or not isfinite(out_of):
                others.append(row)
                continue
            points, column.reasons[row], column.details[row] = looked_up(words, output)
            column.points[row], column.out_of[row] = points, out_of
            if not isfinite(points):
                others.append(row)
        if others:
            own_scorers = [scorers[row] for row in others]
            column.put_rows(others, text_by_text(own_scorers, rows.take(others)))
        return column

    def _plain_words(self) -> list[Word] | None:
        """Return the texts of rules that are nothing else; none where some rule is more."""
        if set(map(type, self.rules)) == {str}:
            return [plain_text(rule) for rule in self.rules]
        words: list[Word] = []
        for rule in self.rules:
            if isinstance(rule, str):
                words.append(plain_word(rule))
            elif rule.is_plain and rule.text is not None:
                # Zeros of both signs are equal, and written differently.
                written = plain_word if rule.weight else plain_word.__wrapped__
                words.append(written(rule.text, rule.weight, rule.neg))
            else:
                return None
        return words

    @property
    def is_instant(self) -> bool:
        return super().is_instant and self._runs_nothing

    def takes_long(self, output: str, references: tuple[str, ...]) -> bool:
        return super().takes_long(output, ()) or self._folded * len(output) > MOST_FOLDED

    @cached_property
    def _folded(self) -> int:
        """Return how many characters there are to look for whose case is ignored."""
        rules = (rule for rule in self.rules if not isinstance(rule, str))
        leaves = (leaf for rule in rules for leaf in rule.leaves())
        return sum(len(leaf.text or "") for leaf in leaves if leaf.ignore_case)

    @cached_property
    def _runs_nothing(self) -> bool:
        """Tell whether texts alone are looked for: no patterns, no conditions."""
        return all(isinstance(rule, str) or _is_searched_quickly(rule) for rule in self.rules)

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        statuses: list[str] = []
        rows: list[dict[str, Any]] = []
        total = 0.0
        harmless = answers_to_try(references)
        for number, rule in enumerate(self._rules, 1):
            try:
                spans = self._find(rule, _Read(output, statuses, harmless, failed=rule.neg))
            except ConditionError as error:
                reason = f"keyword {number} ({rule.show()}): {error}"
                return Score.failed(reason, out_of=self.full_marks)
            points = (-rule.weight if rule.neg else rule.weight) if spans is not None else 0.0
            total += points
            statuses.append("unmatch" if spans is None else "match")
            rows.append(
                {
                    "keyword": rule.show(),
                    "status": statuses[-1],
                    **({"neg": True} if rule.neg else {}),
                    "points": points,
                    "spans": [list(span) for span in spans or ()],
                }
            )
        return Score(
            points=total,
            out_of=self.full_marks,
            reason=reason_of(
                [row["keyword"] for row in rows if row["status"] == "match"],
                [row["keyword"] for row in rows if row["status"] == "unmatch"],
            ),
            detail={"rules": rows},
        )

    def statuses(self, score: Score) -> list[str]:
        return [row["status"] for row in score.detail["rules"]]

    @property
    def full_marks(self) -> float:
        return in_turn(rule.weight for rule in self._rules if not rule.neg)

    def problems(self) -> Iterable[str]:
        if not self.rules:
            yield "no keywords are given"
        if self.post_handler is not None:
            yield from self.post_handler.problems()
        for number, rule in enumerate(self._rules, 1):
            for problem in _node_problems(rule):
                yield f"keyword {number}: {problem}"

    def probes(self, case: Case) -> Iterable[Probe]:
        parts = []
        for rule in self._rules:
            if not rule.neg:
                parts += [_example(leaf) for leaf in rule.leaves()]
        yield Probe(kind="stuffing", answer="\n".join(parts))

    @cached_property
    def _rules(self) -> tuple[KeywordRule, ...]:
        return tuple(
            KeywordRule(text=rule) if isinstance(rule, str) else rule for rule in self.rules
        )

    def _find(self, node: Node, read: "_Read") -> list[Span] | None:
        """Return where a node is found, or none; every branch is looked at."""
        if node.text is not None:
            span = self._find_leaf(node, read.text)
            spans = None if span is None else [span]
        else:
            branch_spans = [self._find(branch.under(node), read) for branch in node.branches]
            hits = [span for spans in branch_spans if spans is not None for span in spans]
            combine = any if node.any is not None else all
            spans = hits if combine(spans is not None for spans in branch_spans) else None
        if spans is None or node.cond is None:
            return spans
        names = {"ans": True, "context": list(read.statuses), "response": read.text}
        others = [{**names, "response": answer} for answer in read.harmless]
        return spans if holds_for(node.cond, names, others, failed=read.failed) else None

    def _find_leaf(self, node: Node, text: str) -> Span | None:
        expected, ignore_case = node.text or "", bool(node.ignore_case)
        if ignore_case and self.lower_case_only:
            text, expected, ignore_case = text.lower(), expected.lower(), False
        look = find_pattern if node.regex else find_text
        return look(text, expected, ignore_case=ignore_case)


@dataclass(frozen=True, slots=True)
class _Read:
    """An answer as a rule is looked for in it."""

    text: str
    statuses: Sequence[str]
    harmless: Sequence[str]
    """Answers on which conditions are tried that fail on this one."""
    failed: bool
    """Whether a condition holds that fails on this answer alone: to nobody's advantage."""


def _is_searched_quickly(node: Node) -> bool:
    """Tell whether looking for a node is sure to end soon, whatever the answer is."""
    if node.cond is not None or (node.text is not None and node.regex):
        return False
    return all(_is_searched_quickly(branch.under(node)) for branch in node.branches)


def _example(leaf: Node) -> str:
    text = leaf.text or ""
    if not leaf.regex:
        return text
    try:
        return example_of(text)
    except ValueError:
        return text


def _node_problems(node: Node) -> Iterator[str]:
    keys = [name for name in ("text", "any", "all") if getattr(node, name) is not None]
    if len(keys) != 1:
        yield f"expected one of text, any and all, not {' and '.join(keys) or 'none'}"
    elif node.text == "":
        yield "an empty keyword matches every answer"
    elif node.text is None and not node.branches:
        yield f"{keys[0]} is empty"
    if node.text is not None and node.regex and (problem := pattern_problem(node.text)):
        yield problem
    if node.cond is not None and (problem := condition_problem(node.cond)):
        yield problem
    for branch in node.branches:
        yield from _node_problems(branch.under(node))
