"""What an agent calls use of: commands, tools, skills."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.scorers.agents.calls import AgentCall, agent_calls
from proctor.scorers.text.patterns import find_pattern, pattern_problem

SHOWN, MOST_SHOWN = 160, 50


@dataclass(frozen=True)
class CommandRan(Scorer):
    """Pass when the agent ran a command that a regular expression matches.

    With ``output``, what the command wrote must match that, too. ``at_most: 0`` passes when no such
    command was run.
    """

    fixed_marks: ClassVar[bool] = True
    reads_notes: ClassVar[bool] = True
    time_limit: ClassVar[float] = 5.0

    command: str
    output: str = ""
    at_least: int = 1
    at_most: int | None = None

    def score(self, ctx: ScoreContext) -> Score:
        ran = [call for call in agent_calls(ctx.attempt) if call.command]
        hits = [
            call.command for call in ran
            if _matches(call.command, self.command) and _matches(call.output, self.output)
        ]  # fmt: skip
        return _counted(
            f"commands that match /{self.command}/", hits, [call.command for call in ran],
            self.at_least, self.at_most,
        )  # fmt: skip

    def problems(self) -> Iterable[str]:
        for pattern in filter(None, (self.command, self.output)):
            if problem := pattern_problem(pattern):
                yield problem
        yield from _count_problems(self.at_least, self.at_most)


@dataclass(frozen=True)
class ToolUsed(Scorer):
    """Pass when the agent called a tool, whose name may hold ``*``.

    With ``input``, a regular expression must match what the tool was called with. ``at_most: 0``
    passes when the tool was not called.
    """

    fixed_marks: ClassVar[bool] = True
    reads_notes: ClassVar[bool] = True
    time_limit: ClassVar[float] = 5.0

    tool: str
    input: str = ""
    at_least: int = 1
    at_most: int | None = None

    def score(self, ctx: ScoreContext) -> Score:
        calls = agent_calls(ctx.attempt)
        hits = [
            _shown(call) for call in calls
            if fnmatchcase(call.tool, self.tool) and _matches(call.text, self.input)
        ]  # fmt: skip
        narrowed = f" that match /{self.input}/" if self.input else ""
        return _counted(
            f"calls of {self.tool}{narrowed}", hits, [_shown(call) for call in calls],
            self.at_least, self.at_most,
        )  # fmt: skip

    def problems(self) -> Iterable[str]:
        if self.input and (problem := pattern_problem(self.input)):
            yield problem
        yield from _count_problems(self.at_least, self.at_most)


@dataclass(frozen=True)
class SkillUsed(Scorer):
    """Pass when the agent took up a skill: by the tool for skills, or by reading the skill's files.

    ``at_most: 0`` passes when it did not.
    """

    fixed_marks: ClassVar[bool] = True
    instant: ClassVar[bool] = True
    reads_notes: ClassVar[bool] = True

    skill: str
    at_least: int = 1
    at_most: int | None = None

    def score(self, ctx: ScoreContext) -> Score:
        calls = agent_calls(ctx.attempt)
        hits = [_shown(call) for call in calls if self._takes_up(call)]
        return _counted(
            f"uses of the skill {self.skill}", hits, [_shown(call) for call in calls],
            self.at_least, self.at_most,
        )  # fmt: skip

    def _takes_up(self, call: AgentCall) -> bool:
        if "skill" in call.tool.lower():
            words = "".join(char if char.isalnum() or char in "-_." else " " for char in call.text)
            return self.skill in words.split()
        return f"skills/{self.skill}/" in call.text

    def problems(self) -> Iterable[str]:
        if not self.skill.strip():
            yield "a skill has a name"
        yield from _count_problems(self.at_least, self.at_most)


def _matches(text: str, pattern: str) -> bool:
    return not pattern or find_pattern(text, pattern, ignore_case=False) is not None


def _shown(call: AgentCall) -> str:
    return f"{call.tool}({call.text})"[:SHOWN]


def _counted(
    what: str, hits: Sequence[str], calls: Sequence[str], at_least: int, at_most: int | None
) -> Score:
    """Compare a number of hits with its bounds, and tell what there was."""
    least = 0 if at_most == 0 else at_least
    passed = len(hits) >= least and (at_most is None or len(hits) <= at_most)
    bounds = f"at least {least}" if at_most is None else f"{least} to {at_most}"
    reason = f"{len(hits)} {what}, wanted: {bounds}"
    if not passed:
        others = hits or calls
        reason += f"; there were: {'; '.join(one[:SHOWN] for one in others[:3]) or 'none'}"
    detail: dict[str, Json] = {"hits": [one[:SHOWN] for one in hits[:MOST_SHOWN]]}
    return Score(points=float(passed), out_of=1.0, reason=reason, detail=detail)


def _count_problems(at_least: int, at_most: int | None) -> Iterable[str]:
    if at_least < 0:
        yield f"at_least is 0 or more, not {at_least}"
    if at_most is not None and at_most != 0 and at_most < at_least:
        yield f"at_most is {at_least} or more, not {at_most}"
