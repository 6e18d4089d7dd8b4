"""The state that an attempt left, compared with the one that reference actions leave."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from pydantic import TypeAdapter, ValidationError

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.contracts.tool_session import Action, StateCheck, ToolModule, ToolSession
from proctor.core.json_changes import AFTER, BEFORE, PATH, changes_between, path_words, with_changes
from proctor.core.score import Score
from proctor.core.suite import Case, Json
from proctor.core.tool_calls import same_value
from proctor.errors import ModelError
from proctor.scorers.structured.json_paths import Path, fits, read_path

STATE = "state"
"""Where the notes of an attempt keep what changed in the state, and the key of its beginning."""
MOST_SHOWN = 20


@dataclass(frozen=True)
class StateEqual(Scorer):
    """Pass when the state at the end is the one that ``actions`` lead to from the same beginning.

    The actions are calls of the case's tools and run in the sandbox; without any, nothing may have
    changed. In their place, ``values`` says by path what the end must hold, whatever else changed,
    and ``checks`` names functions of the module that are called on the end, and what each
    ``gives``: true unless it says otherwise. A check that raises an error does not pass; one that
    raises it at the beginning, too, leaves the attempt unscored.
    What ``ignore`` names is not compared: a key wherever it is, or a path such as ``log[*].time``;
    what is inside of an ignored value is not compared either. Which path was taken does not matter.
    """

    reads_notes: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True
    time_limit: ClassVar[float] = 120.0

    actions: tuple[str | Action, ...] = ()
    values: Mapping[str, Any] | None = None
    checks: tuple[str | StateCheck, ...] = ()
    ignore: str | tuple[str, ...] = ()
    tolerance: float = 0.0
    """How far numbers may be apart, absolutely or as a share of the greater one."""

    @property
    def needs_sandbox(self) -> bool:
        return True

    async def score(self, ctx: ScoreContext) -> Score:
        noted = ctx.attempt.notes.get(STATE)
        module = tools_of(ctx.case)
        if module is None or not isinstance(noted, Mapping):
            why = "the attempt left no state: the case has no tools with a state"
            return Score.failed(why, out_of=1.0)
        if ctx.sandbox is None:
            return Score.failed("there is no sandbox for the reference actions", out_of=1.0)
        session = ToolSession(module, ctx.sandbox)
        try:
            start = await session.begin()
            end = with_changes(start, noted.get("changes") or ())
            if self.values is not None:
                return self._with_values(end)
            if self.checks:
                return await self._with_checks(session, end)
            results = await session.call([(one.name, one.arguments) for one in self._actions])
        except (ModelError, LookupError, TypeError) as error:
            return Score.failed(f"the reference actions could not be run: {error}", out_of=1.0)
        for action, result in zip(self._actions, results, strict=True):
            if result.failed:
                words = f"the reference action {action.name!r} failed: {result.text[:200]}"
                return Score.failed(words, out_of=1.0)
        return self._compared(session.state, end, start)

    def problems(self) -> Iterable[str]:
        ways = [bool(self.actions), self.values is not None, bool(self.checks)]
        if sum(ways) > 1:
            yield "the end is given by one of 'actions', 'values' and 'checks', not by more"
        if self.ignore and self.checks:
            yield "'ignore' has no effect on 'checks'"
        for text in (*_texts(self.ignore), *(self.values or ())):
            try:
                read_path(text)
            except ValueError as error:
                yield str(error)
        if self.tolerance < 0:
            yield f"the tolerance is 0 or more, not {self.tolerance:g}"

    def doubts(self, case: Case) -> Iterable[str]:
        module = tools_of(case)
        if module is None:
            yield "state_equal compares states, and the case has no tools with a state"
            return
        for action in self._actions:
            function = module.functions.get(action.name)
            if function is None:
                yield f"state_equal has an action {action.name!r}, which is none of the tools"
            elif wrong := function.wrong_arguments(action.arguments):
                yield f"state_equal has an action that cannot be: {wrong}"
        for check in self._checks:
            function = module.functions.get(check.name)
            if function is None:
                yield f"state_equal has a check {check.name!r}, which is no function of the tools"
            elif wrong := function.wrong_arguments(check.arguments):
                yield f"state_equal has a check that cannot be: {wrong}"

    @property
    def _actions(self) -> tuple[Action, ...]:
        return tuple(Action(name=one) if isinstance(one, str) else one for one in self.actions)

    @property
    def _checks(self) -> tuple[StateCheck, ...]:
        return tuple(StateCheck(name=one) if isinstance(one, str) else one for one in self.checks)

    @cached_property
    def _ignored(self) -> tuple[Path, ...]:
        return tuple(map(read_path, _texts(self.ignore)))

    def _compared(self, wanted: Json, end: Json, start: Json) -> Score:
        apart = [change for change in changes_between(wanted, end) if not self._is_same(change)]
        if not apart:
            return Score(points=1.0, out_of=1.0, reason="the state at the end is the wanted one")
        done = {tuple(change[PATH]) for change in changes_between(start, end)}
        words = [_words(change) for change in apart]
        nothing = not done and wanted != start
        reason = "nothing changed; " if nothing else ""
        reason += "; ".join(words[:3]) + (f"; and {len(words) - 3} more" if len(words) > 3 else "")
        detail = {"differences": words[:MOST_SHOWN]}
        return Score(points=0.0, out_of=1.0, reason=reason, detail=detail)

    def _is_same(self, change: Mapping[str, Json]) -> bool:
        path = tuple(change[PATH])
        if any(
            fits(path[:length], pattern)
            for pattern in self._ignored
            for length in range(1, len(path) + 1)
        ):
            return True
        if BEFORE in change and AFTER in change:
            return same_value(change[BEFORE], change[AFTER], tolerance=self.tolerance)
        return False

    def _with_values(self, end: Json) -> Score:
        from proctor.scorers.structured.json_paths import values_at

        wrong = []
        for text, wanted in (self.values or {}).items():
            there = [value for _, value in values_at(end, read_path(text))]
            if not there:
                wrong.append(f"{text} is missing")
            elif not all(same_value(wanted, value, tolerance=self.tolerance) for value in there):
                wrong.append(f"{text} is {_shown(there[0])}, not {_shown(wanted)}")
        if not wrong:
            return Score(points=1.0, out_of=1.0, reason="the state at the end holds what is wanted")
        detail = {"differences": wrong[:MOST_SHOWN]}
        return Score(points=0.0, out_of=1.0, reason="; ".join(wrong[:3]), detail=detail)

    async def _with_checks(self, session: ToolSession, end: Json) -> Score:
        """Call every check on the end; the suite is at fault if it fails at the beginning, too."""
        start, wrong = session.state, []
        for check in self._checks:
            session.state = end
            (result,) = await session.call([(check.name, check.arguments)])
            if result.failed:
                session.state = start
                (before,) = await session.call([(check.name, check.arguments)])
                if before.failed:
                    words = f"the check {check.name!r} failed: {before.text[:200]}"
                    return Score.failed(words, out_of=1.0)
                wrong.append(f"{check.name} failed: {result.text[:200]}")
            elif not same_value(check.gives, _value(result.text), tolerance=self.tolerance):
                wrong.append(f"{check.name} gives {result.text[:80]}, not {_shown(check.gives)}")
        if not wrong:
            return Score(points=1.0, out_of=1.0, reason="all checks of the state at the end pass")
        detail = {"differences": wrong[:MOST_SHOWN]}
        return Score(points=0.0, out_of=1.0, reason="; ".join(wrong[:3]), detail=detail)


def tools_of(case: Case) -> ToolModule | None:
    """Return the tools of a case with the state they begin with; none where it has none."""
    written = case.dialogue.params.get("tools")
    if not isinstance(written, Mapping) or "source" not in written:
        return None
    try:
        return TypeAdapter(ToolModule).validate_python(written)
    except ValidationError:
        return None


def _words(change: Mapping[str, Json]) -> str:
    where = path_words(change[PATH])
    if AFTER not in change:
        return f"{where} is missing"
    if BEFORE not in change:
        return f"{where} is {_shown(change[AFTER])}, which is not wanted"
    return f"{where} is {_shown(change[AFTER])}, not {_shown(change[BEFORE])}"


def _value(text: str) -> Json:
    """Return what a function gave: its text, or the value that was written as JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _shown(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:80]


def _texts(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value
