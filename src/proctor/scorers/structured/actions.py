"""The actions of an attempt: calls of tools that worked, by the candidate or the user."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.core.suite import Json, ToolCall
from proctor.core.tool_calls import call_text, calls_of
from proctor.scorers.structured.assignment import best_pairs
from proctor.scorers.structured.tool_calls import MOST_CALLS, MOST_WANTED, ToolCalls, WantedCall

ACTIONS = "actions"
"""Where the notes of an attempt list every call of a tool: by whom, and whether it failed."""


@dataclass(frozen=True)
class WantedAction(WantedCall):
    """An action that must have happened, and who must have done it."""

    by: Literal["assistant", "user"] = "assistant"


@dataclass(frozen=True)
class Actions(Scorer):
    """Pass when all of ``actions`` happened, whatever else did, and none of ``none``.

    An action is the name of a tool, or a mapping as in ``tool_calls``, with ``by: user`` for what
    the simulated user does by its own tools. A call that failed did not happen. Arguments that an
    action does not name may be any. With ``partial``, the points are the share of actions.
    """

    reads_notes: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True
    time_limit: ClassVar[float] = 5.0

    actions: str | tuple[str | WantedAction, ...] = ()
    none: str | tuple[str | WantedAction, ...] = ()
    in_order: bool = False
    """Whether the actions must have happened in their order."""
    partial: bool = False

    def score(self, ctx: ScoreContext) -> Score:
        happened = done(ctx.attempt)[:MOST_CALLS]
        detail: Json = {"actions": [f"{by}: {call_text(call)[:500]}" for by, call in happened[:50]]}
        forbidden = [
            call_text(call)
            for wanted in _listed(self.none)
            for by, call in happened
            if by == wanted.by and _fits(wanted, call)
        ]
        if forbidden:
            reason = f"it must not happen, and did: {forbidden[0][:200]}"
            return Score(points=0.0, out_of=1.0, reason=reason, detail=detail)
        wanted = _listed(self.actions)
        table = [
            [float(by == one.by and _fits(one, call)) for by, call in happened] for one in wanted
        ]
        hits = {row for row, _ in best_pairs(table, in_order=self.in_order)}
        if len(hits) == len(wanted):
            reason = f"all {len(wanted)} actions happened" if wanted else "nothing of that happened"
            return Score(points=1.0, out_of=1.0, reason=reason, detail=detail)
        missing = [one for row, one in enumerate(wanted) if row not in hits]
        reason = "; ".join(_why(one, happened, self.in_order) for one in missing[:3])
        points = len(hits) / len(wanted) if self.partial else 0.0
        return Score(points=points, out_of=1.0, reason=reason, detail=detail)

    def problems(self) -> Iterable[str]:
        wanted = (*_listed(self.actions), *_listed(self.none))
        if not wanted:
            yield "no action is named"
        if len(wanted) > MOST_WANTED:
            yield f"more than {MOST_WANTED} actions are named"
        yield from ToolCalls(calls=tuple(wanted[:MOST_WANTED])).problems()


def done(attempt: Attempt) -> list[tuple[str, ToolCall]]:
    """Return the calls that worked, each with who made it; of a transcript alone, all calls."""
    rows = attempt.notes.get(ACTIONS)
    if not isinstance(rows, list | tuple):
        return [("assistant", call) for call in calls_of(attempt.messages)]
    return [
        (str(row.get("by")), ToolCall(name=str(row.get("name")), arguments=row.get("arguments")))
        for row in rows
        if isinstance(row, Mapping) and not row.get("failed")
    ]


def _fits(wanted: WantedAction, call: ToolCall) -> bool:
    return _compare(wanted, call)[0]


def _compare(wanted: WantedAction, call: ToolCall) -> tuple[bool, str]:
    """Tell whether a call is the wanted action, or what is wrong with it."""
    return ToolCalls(calls=(wanted,), extra_arguments=True).compare(wanted, call)


def _why(wanted: WantedAction, happened: list[tuple[str, ToolCall]], in_order: bool) -> str:
    same = [call for by, call in happened if by == wanted.by and call.name == wanted.name]
    whys = [why for call in same if (why := _compare(wanted, call)[1])]
    if whys:
        return whys[0]
    if same and in_order:
        return f"{wanted.name} did not happen in the wanted order"
    if same:
        return f"{wanted.name} did not happen as often as wanted"
    who = "the user" if wanted.by == "user" else "the candidate"
    return f"{wanted.name} did not happen: {who} never called it with success"


def _listed(actions: str | tuple[str | WantedAction, ...]) -> list[WantedAction]:
    named = (actions,) if isinstance(actions, str) else actions
    return [WantedAction(name=one) if isinstance(one, str) else one for one in named]
