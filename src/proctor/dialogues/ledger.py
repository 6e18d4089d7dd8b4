"""The ledger of a clarifying dialogue: which points were asked for and covered at which turn.

The notes of an attempt that was held by ``clarify`` or ``fata``:

``reason``      why it ended, in the words that reason distributions count
``final``       whether the candidate gave a final answer
``correct``     whether that answer is right; none where nobody can say
``final_turn``  the turn at which the dialogue ended
``resolved``, ``missing``   whether all points were covered in the end, and which were not
``asked``, ``redundant``    whether anything was asked; questions after everything was covered
``premature``   a final answer before everything was covered
``skipped``     the judge or the simulated user failed: the attempt counts nowhere
``ledger``      ``points``; per turn what was ``covered`` and, where the judge said, ``asked``;
                per point the turn at which it was ``first`` covered
``turns``       per turn ``verdict`` (as the judge gave it), ``final``, ``correct``, ``resolved``,
                ``missing``, ``rung``, ``tries``, ``raw``, and ``user`` (the simulated reply)
``truncated``   the turns whose replies were cut off, where there are any
``flags``       what the simulated user did wrong: ``turn``, ``kind``, and what tells of it
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from proctor.contracts.judge import Ruling
from proctor.core.suite import Case, Json
from proctor.dialogues.verdicts import ArbiterDecision

_NUMBERED = re.compile(r"^\s*(?:\(?\d+[.):]\s+|[-*•]\s+)")
_ALIKE = 0.8
_LONG = 2000


@dataclass
class Ledger:
    """Account of one attempt while it goes on."""

    points: tuple[str, ...]
    missing: list[str] = field(init=False)
    resolved: bool = field(init=False)
    has_asked: bool = False
    redundant: int = 0
    turns: list[dict[str, Json]] = field(default_factory=list)
    flags: list[dict[str, Json]] = field(default_factory=list)
    covered: list[list[bool]] = field(default_factory=list)
    asked_for: list[list[bool] | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.missing, self.resolved = list(self.points), not self.points

    @classmethod
    def of(cls, case: Case) -> "Ledger":
        """Open the ledger of a case."""
        return cls(points=points_of(case))

    @property
    def asked_so_far(self) -> list[str] | None:
        """Return the points asked for until now; none where the judge did not say so each time."""
        rows = [row for row in self.asked_for if row is not None]
        if len(rows) < len(self.asked_for):
            return None
        return [point for place, point in enumerate(self.points) if any(row[place] for row in rows)]

    def enter(self, turn: int, decision: ArbiterDecision, ruling: Ruling[Json]) -> None:
        """Write down what was ruled at a turn."""
        before = self.covered[-1] if self.covered else None
        already_asked = self.asked_so_far
        self.missing, self.resolved = list(decision.missing), decision.resolved
        open_points = {matched(name, self.points) for name in decision.missing}
        now = [decision.resolved or point not in open_points for point in self.points]
        self.covered.append(now)
        if not decision.final:
            self.has_asked = True
            self.redundant += decision.resolved
        self._volunteered(turn, before, already_asked)
        self.asked_for.append(_row(decision.asked_points, self.points))
        self.turns.append(
            {
                "turn": turn,
                "verdict": decision.verdict,
                "final": decision.final,
                "correct": decision.correct,
                "resolved": decision.resolved,
                "missing": list(decision.missing),
                **ruling.record(),
            }
        )

    def enter_failure(self, turn: int, record: dict[str, Json]) -> None:
        """Write down that there was no ruling at a turn."""
        self.turns.append({"turn": turn, "verdict": None, **record})

    def table(self) -> dict[str, Json]:
        """Return which points were covered, and asked for, at which turn."""
        first = [
            next((turn for turn, row in enumerate(self.covered, 1) if row[place]), None)
            for place in range(len(self.points))
        ]
        return {
            "points": list(self.points),
            "covered": self.covered,
            "asked": self.asked_for,
            "first": first,
        }

    def flag(self, turn: int, kind: str, **more: Json) -> None:
        """Note what the simulated user did wrong."""
        entry = {"turn": turn, "kind": kind, **more}
        if entry not in self.flags:
            self.flags.append(entry)

    def _volunteered(
        self, turn: int, before: list[bool] | None, already_asked: Sequence[str] | None
    ) -> None:
        """Flag points that are covered since the last turn though nobody had asked for them."""
        if before is None or already_asked is None:
            return
        flagged = {entry.get("point") for entry in self.flags if entry["turn"] == turn - 1}
        for place, point in enumerate(self.points):
            new = self.covered[-1][place] and not before[place]
            if new and point not in already_asked and point not in flagged:
                self.flag(turn - 1, "UnaskedPoint", point=point, evidence="ledger")


def points_of(case: Case) -> tuple[str, ...]:
    """Return the checklist of a case."""
    return tuple(str(point) for point in case.hidden.get("points") or ())


def matched(name: str, points: Iterable[str]) -> str | None:
    """Return the point of the checklist that a judge means, or none where it means no point."""
    listed = list(points)
    normal_name = _normal(name)
    exact = [point for point in listed if _normal(point) == normal_name]
    if exact or not normal_name:
        return exact[0] if exact else None
    if (number := re.fullmatch(r"(?:point\s*|要点\s*)?#?(\d+)", normal_name)) is not None:
        place = int(number[1]) - 1
        return listed[place] if 0 <= place < len(listed) else None
    if len(normal_name) > _LONG:
        return None
    alike = [
        (SequenceMatcher(None, normal_name, _normal(point)).ratio(), point) for point in listed
    ]
    best, point = max(alike, default=(0.0, ""))
    if best >= _ALIKE:
        return point
    inside = [point for point in listed if _normal(point) in normal_name]
    return inside[0] if len(inside) == 1 else None


def _row(asked_names: Sequence[str] | None, points: Sequence[str]) -> list[bool] | None:
    if asked_names is None:
        return None
    meant = {matched(name, points) for name in asked_names}
    return [point in meant for point in points]


def _normal(text: str) -> str:
    return " ".join(_NUMBERED.sub("", text).casefold().split()).strip(" .,;:。，；：\"'`")
