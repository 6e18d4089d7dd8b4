"""The tools that a candidate called, compared with those that are wanted."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Case, Json, Tool, ToolCall
from proctor.core.tool_calls import call_text, calls_of, same_value
from proctor.scorers.structured.assignment import best_pairs
from proctor.scorers.structured.json_schemas import (
    can_run_away,
    flow_text,
    schema_errors,
    schema_problems,
)
from proctor.scorers.text.patterns import find_pattern, pattern_problem

MOST_CALLS = 300
"""Calls beyond these are extra ones, whatever they are."""
MOST_WANTED = 100
SHOWN = 160


@dataclass(frozen=True)
class WantedCall:
    """A call that is wanted: the tool's name, and what its arguments must be."""

    name: str
    arguments: Mapping[str, Json] | None = None
    """By value; none where any will do."""
    patterns: Mapping[str, str] = field(default_factory=dict)
    """Regular expressions that match somewhere in the text of an argument."""
    schema: Mapping[str, Json] = field(default_factory=dict)
    """JSON Schema that all arguments together follow."""
    tolerance: float | None = None
    """How far numbers may be apart, where it is not as for all calls."""


@dataclass(frozen=True)
class ToolCalls(Scorer):
    """Pass when the candidate called the tools that are wanted, and no others.

    A wanted call is a name alone, or a name with ``arguments`` by value, ``patterns`` (a regular
    expression for an argument), a ``schema`` of all arguments, and a ``tolerance`` for numbers. All
    calls of the attempt count, in whichever reply they are. With ``partial``, a call is worth the
    share of its name and its wanted arguments that are right, and all of it is worth the sum of
    these divided by the number of wanted calls and of extra ones. With ``valid``, a call that the
    tools of the case do not allow makes all of it worth nothing, with ``partial`` too.
    """

    fixed_marks: ClassVar[bool] = True
    instant: ClassVar[bool] = True
    time_limit: ClassVar[float] = 5.0

    calls: str | tuple[str | WantedCall, ...]
    in_order: bool = False
    """Whether the wanted calls must come in their order."""
    extra_calls: bool = False
    """Whether further calls are allowed."""
    extra_arguments: bool = False
    """Whether arguments are allowed that a wanted call does not name."""
    at_least: int | None = None
    """How many of the wanted calls are enough; 0 asks only that no others are made."""
    valid: bool = False
    """Whether all calls must be of tools of the case and follow their schemas."""
    tolerance: float = 0.0
    """How far numbers may be apart, absolutely or as a share of the greater one."""
    ignore_case: bool = False
    partial: bool = False

    @property
    def is_instant(self) -> bool:
        runs_away = self.valid or any(
            wanted.patterns or can_run_away(wanted.schema) for wanted in self._wanted
        )
        return super().is_instant and not runs_away

    def score(self, ctx: ScoreContext) -> Score:
        calls = calls_of(ctx.attempt.messages)
        if self.valid and (wrong := _invalid(calls, ctx.case.tools)):
            return Score(points=0.0, out_of=1.0, reason=wrong, detail=_detail(calls))
        wanted, looked_at = self._wanted, calls[:MOST_CALLS]
        table = [[self._compared(one, call) for call in looked_at] for one in wanted]
        full = [[float(cell.share == 1) for cell in row] for row in table]
        hits = best_pairs(full, in_order=self.in_order)
        if not self.partial:
            return self._passed(calls, table, hits)
        # Of two ways that are worth the same, the one that leaves fewer extra calls.
        worth = [[cell.share and cell.share + 1e-9 for cell in row] for row in table]
        pairs = best_pairs(worth, in_order=self.in_order)
        return self._shared(calls, table, pairs)

    def problems(self) -> Iterable[str]:
        if len(self._wanted) > MOST_WANTED:
            yield f"more than {MOST_WANTED} calls are wanted"
        if self.at_least is not None and not 0 <= self.at_least <= len(self._wanted):
            yield f"at_least is from 0 to {len(self._wanted)}, not {self.at_least}"
        if self.at_least is not None and self.partial:
            yield "either a share of the calls counts (partial), or some are enough (at_least)"
        for wanted in self._wanted:
            yield from _wrong(wanted)
        if self.tolerance < 0:
            yield f"the tolerance is 0 or more, not {self.tolerance:g}"

    @classmethod
    def meant_by(cls, params: Mapping[str, Json]) -> str:
        """Say that a single call is an entry of a list, too."""
        call_fields = {one.name for one in fields(WantedCall)}
        own = {one.name for one in fields(cls)} - call_fields
        if "name" not in params or not params.keys() <= call_fields | own:
            return ""
        call = {name: value for name, value in params.items() if name in call_fields}
        rest = {name: value for name, value in params.items() if name in own - {"calls"}}
        written = flow_text({"calls": [call], **rest} if rest else [call])
        return f"wanted calls are a list: write 'tool_calls: {written}'"

    def doubts(self, case: Case) -> Iterable[str]:
        names = {tool.name for tool in case.tools}
        if names and case.dialogue.params.get("mcp") is None:
            for name in sorted({one.name for one in self._wanted} - names):
                yield f"tool_calls wants a call of {name!r}, which is none of the case's tools"

    @property
    def _wanted(self) -> tuple[WantedCall, ...]:
        calls = (self.calls,) if isinstance(self.calls, str) else self.calls
        return tuple(WantedCall(name=one) if isinstance(one, str) else one for one in calls)

    def _passed(self, calls: list[ToolCall], table: "_Table", hits: "_Pairs") -> Score:
        missing, extra = self._left(calls, hits)
        least = len(self._wanted) if self.at_least is None else self.at_least
        is_hit = len(hits) >= least and (self.extra_calls or not extra)
        reason = (
            _as_wanted(hits, calls) if is_hit else self._why(calls, table, missing, extra, least)
        )
        detail = self._details(calls, missing, extra)
        return Score(points=float(is_hit), out_of=1.0, reason=reason, detail=detail)

    def _shared(self, calls: list[ToolCall], table: "_Table", pairs: "_Pairs") -> Score:
        missing, extra = self._left(calls, pairs)
        counted = len(self._wanted) + (0 if self.extra_calls else len(extra))
        worth = sum(table[row][column].share for row, column in pairs)
        points = worth / counted if counted else 1.0
        if points == 1:
            reason = _as_wanted(pairs, calls)
        else:
            reason = self._why(calls, table, missing, extra, len(self._wanted), pairs)
        detail = self._details(calls, missing, extra)
        return Score(points=points, out_of=1.0, reason=reason, detail=detail)

    def _left(self, calls: list[ToolCall], pairs: "_Pairs") -> tuple[list[int], list[int]]:
        """Return the wanted calls that were not made, and those made that are not wanted."""
        rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
        missing = [row for row in range(len(self._wanted)) if row not in rows]
        return missing, [column for column in range(len(calls)) if column not in columns]

    def _details(self, calls: list[ToolCall], missing: list[int], extra: list[int]) -> Json:
        named = [self._wanted[row].name for row in missing]
        return {**_detail(calls), "missing": named, "extra": [calls[place].name for place in extra]}

    def _why(
        self,
        calls: list[ToolCall],
        table: "_Table",
        missing: list[int],
        extra: list[int],
        least: int,
        pairs: "_Pairs" = (),
    ) -> str:
        """Say what is not as wanted: the nearest call of the same tool, where there is one."""
        if not calls:
            names = ", ".join(dict.fromkeys(one.name for one in self._wanted))
            return f"no tool was called; wanted: {names}"
        words = [table[row][place].why for row, place in pairs if table[row][place].why]
        for row in missing if least else ():
            near = [
                place for place in extra
                if place < MOST_CALLS and calls[place].name == self._wanted[row].name
            ]  # fmt: skip
            whys = [why for place in near if (why := table[row][place].why)]
            name = self._wanted[row].name
            if whys:
                words.append(whys[0])
            elif near:
                words.append(f"{name} was not called in the wanted order")
            else:
                words.append(f"{name} was not called")
        if extra and not self.extra_calls and (not missing or not least):
            shown = ", ".join(call_text(calls[place])[:SHOWN] for place in extra[:3])
            words.append(f"not wanted: {shown}{', …' if len(extra) > 3 else ''}")
        return "; ".join(dict.fromkeys(words[:5]))

    def compare(self, wanted: WantedCall, call: ToolCall) -> tuple[bool, str]:
        """Tell whether a call is a wanted one, and if it is of the same tool, what is wrong."""
        compared = self._compared(wanted, call)
        return compared.share == 1, compared.why

    def _compared(self, wanted: WantedCall, call: ToolCall) -> "_Compared":
        if wanted.name != call.name:
            return _Compared(0.0, "")
        parts = 1 + len(wanted.arguments or ()) + len(wanted.patterns) + bool(wanted.schema)
        if not isinstance(call.arguments, Mapping):
            why = f"{call.name}: its arguments are not a JSON object: {str(call.arguments)[:80]!r}"
            needs = wanted.arguments is not None or wanted.patterns or wanted.schema
            return _Compared(1 / parts / 2, why) if needs else _Compared(1.0, "")
        wrong = list(self._differences(wanted, call.arguments))
        extra = self._unnamed(wanted, call.arguments)
        if not wrong and not extra:
            return _Compared(1.0, "")
        share = (parts - len(wrong)) / (parts + len(extra))
        wrong += [f"{name} is not wanted" for name in extra]
        return _Compared(share, f"{call.name}: {'; '.join(wrong[:3])}")

    def _unnamed(self, wanted: WantedCall, arguments: Mapping[str, Json]) -> list[str]:
        """Return the arguments that a wanted call neither names nor leaves open."""
        if self.extra_arguments or wanted.arguments is None:
            return []
        declared = wanted.schema.get("properties")
        named = {*wanted.arguments, *wanted.patterns, *(declared if declared else ())}
        return [name for name in arguments if name not in named]

    def _differences(self, wanted: WantedCall, arguments: Mapping[str, Json]) -> Iterable[str]:
        tolerance = self.tolerance if wanted.tolerance is None else wanted.tolerance
        for name, value in (wanted.arguments or {}).items():
            if name not in arguments:
                yield f"{name} is missing"
            elif not same_value(
                value, arguments[name], tolerance=tolerance, ignore_case=self.ignore_case
            ):
                yield f"{name} is {_shown(arguments[name])}, not {_shown(value)}"
        for name, pattern in wanted.patterns.items():
            if name not in arguments:
                yield f"{name} is missing"
            elif not _matches(arguments[name], pattern, ignore_case=self.ignore_case):
                yield f"{name} is {_shown(arguments[name])}, which /{pattern}/ does not match"
        if wanted.schema and (errors := schema_errors(wanted.schema, dict(arguments))):
            where, why = errors[0]
            yield f"{where + ': ' if where else ''}{why}"


@dataclass(frozen=True, slots=True)
class _Compared:
    """How far a call is the wanted one, and what is wrong with it."""

    share: float
    why: str


_Table = list[list[_Compared]]
_Pairs = Sequence[tuple[int, int]]


def _matches(value: Json, pattern: str, *, ignore_case: bool) -> bool:
    text = value if isinstance(value, str) else _shown(value)
    return find_pattern(text, pattern, ignore_case=ignore_case) is not None


def _shown(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=_listed)[:80]


def _listed(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)


def _as_wanted(pairs: _Pairs, calls: list[ToolCall]) -> str:
    if not pairs:
        return "no tool was called, as wanted" if not calls else "no wanted call was needed"
    names = ", ".join(calls[column].name for _, column in pairs[:5])
    return f"called {names}{', …' if len(pairs) > 5 else ''}, as wanted"


def _detail(calls: list[ToolCall]) -> dict[str, Json]:
    return {"calls": [call_text(call)[:1000] for call in calls[:50]]}


def _invalid(calls: list[ToolCall], tools: Sequence[Tool]) -> str:
    """Return what is wrong with the first call that its tool does not take."""
    by_name = {tool.name: tool for tool in tools}
    for call in calls[:MOST_CALLS]:
        tool = by_name.get(call.name)
        if tool is None:
            return f"{call.name} is none of the case's tools"
        if not isinstance(call.arguments, Mapping):
            return f"{call.name}: its arguments are not a JSON object"
        if tool.parameters and (errors := schema_errors(tool.parameters, dict(call.arguments))):
            where, why = errors[0]
            return f"{call.name}: {where + ': ' if where else ''}{why}"
    return ""


def _wrong(wanted: WantedCall) -> Iterable[str]:
    if not wanted.name:
        yield "a wanted call has no name"
    for name, pattern in wanted.patterns.items():
        if (problem := pattern_problem(pattern)) is not None:
            yield f"{wanted.name}, {name}: {problem}"
    if wanted.schema:
        for problem in schema_problems(wanted.schema):
            yield f"{wanted.name}: {problem}"
    if wanted.tolerance is not None and wanted.tolerance < 0:
        yield f"{wanted.name}: the tolerance is 0 or more, not {wanted.tolerance:g}"
    both = sorted({*(wanted.arguments or ())} & {*wanted.patterns})
    if both:
        yield f"{wanted.name}: {', '.join(both)} is wanted by value and by pattern; write one"
