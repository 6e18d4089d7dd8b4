"""A JSON answer compared with a wanted value, whole or by paths, with partial credit."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import Field

from proctor.contracts.scorer import Probe, TextScorer
from proctor.core.score import Score
from proctor.core.suite import Case, Json
from proctor.core.tool_calls import is_list, same_value
from proctor.scorers.structured.assignment import best_pairs
from proctor.scorers.structured.json_answers import NotJson, json_in, parsed_json
from proctor.scorers.structured.json_paths import Part, Path, fits, path_text, read_path, values_at

MOST_SHOWN = 20
MOST_UNORDERED = 3_000
"""Characters of an answer whose lists are compared at once without regard to order."""
REFERENCE = "the reference"
Tolerance = Annotated[float, Field(ge=0)]


@dataclass(frozen=True)
class JsonEqual(TextScorer):
    """Pass when the answer is JSON that equals ``value``, or a reference, the best one counting.

    1 equals 1.0, and true is no number. With ``paths``, only what they lead to is compared. What
    ``ignore`` names is left out: a key wherever it is, or a path. With ``partial``, the points are
    the share of single values (texts, numbers, true, false, null) that are right; an extra key or
    entry counts as a wrong one.
    """

    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True
    instant_length: ClassVar[int] = 200_000

    value: Any = None
    """The wanted value; none stands for the references, each of which is JSON."""
    paths: str | tuple[str, ...] = ()
    ignore: str | tuple[str, ...] = ()
    tolerance: Tolerance = 0.0
    """How far numbers may be apart, absolutely or as a share of the greater one."""
    ignore_case: bool = False
    ignore_order: bool = False
    """Whether lists are compared without regard to order."""
    extra_keys: bool = False
    """Whether objects may have keys that are not wanted."""
    whole: bool = False
    """Whether the answer must be JSON and nothing else, not in a fenced block or a text."""
    partial: bool = False

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        if self.value is None and not references:
            return Score.failed("there is no value, and no reference to compare with", out_of=1.0)
        try:
            wanted = self._wanted(references)
        except NotJson as error:
            return Score.failed(f"{REFERENCE} is not JSON: {error}", out_of=1.0)
        try:
            actual = json_in(output, whole=self.whole)
        except NotJson as error:
            return Score(points=0.0, out_of=1.0, reason=f"the answer is not JSON: {error}")
        outcomes = [self._compared(one, actual) for one in wanted]
        return max(outcomes, key=lambda score: score.points or 0.0)

    def takes_long(self, output: str, references: tuple[str, ...]) -> bool:
        if self.ignore_order and len(output) > MOST_UNORDERED:
            return True  # Each entry is compared with each.
        return super().takes_long(output, references)

    def problems(self) -> Iterable[str]:
        for text in (*_texts(self.paths), *_texts(self.ignore)):
            try:
                read_path(text)
            except ValueError as error:
                yield str(error)
        if self.value is not None:
            try:
                json.dumps(self.value, allow_nan=False, default=_plain)
            except (TypeError, ValueError):
                yield "the value is written as texts, finite numbers, lists and mappings"

    def doubts(self, case: Case) -> Iterable[str]:
        if self.value is None and not case.references:
            yield "json_equal has no value, and the case has no reference"

    def probes(self, case: Case) -> Iterable[Probe]:
        if self.value is None:
            return [Probe(kind="reference", answer=reference) for reference in case.references]
        return [Probe(kind="reference", answer=json.dumps(self.value, default=_plain))]

    def _wanted(self, references: Sequence[str]) -> list[Json]:
        if self.value is not None:
            return [self.value]
        return [parsed_json(reference) for reference in references]

    def _compared(self, wanted: Json, actual: Json) -> Score:
        tally = _LeafCount(self, self._ignored)
        if self._paths:
            for path in self._paths:
                self._compare_at(path, wanted, actual, tally)
        else:
            tally.compare(wanted, actual, ())
        if not tally.total:
            return Score.failed("nothing is compared: the paths lead nowhere", out_of=1.0)
        points = tally.right / tally.total
        if points == 1.0:
            return Score(points=1.0, out_of=1.0, reason="the answer is the wanted JSON")
        reason = "; ".join(tally.differences[:3])
        if len(tally.differences) > 3:
            reason += f"; and {len(tally.differences) - 3} more"
        return Score(
            points=points if self.partial else 0.0,
            out_of=1.0,
            reason=reason,
            detail={"right": tally.right, "of": tally.total,
                    "differences": tally.differences[:MOST_SHOWN]},
        )  # fmt: skip

    def _compare_at(self, path: Path, wanted: Json, actual: Json, tally: "_LeafCount") -> None:
        """Compare what a path leads to in both; what the answer has beyond counts as extra."""
        there = dict(values_at(actual, path))
        places = dict(values_at(wanted, path))
        for place, part in places.items():
            if place in there:
                tally.compare(part, there[place], place)
            else:
                tally.miss(part, place)
        if not self.extra_keys:
            for place in there:
                if place not in places:
                    tally.add_extra(place)

    @cached_property
    def _paths(self) -> tuple[Path, ...]:
        return tuple(map(read_path, _texts(self.paths)))

    @cached_property
    def _ignored(self) -> tuple[Path, ...]:
        return tuple(map(read_path, _texts(self.ignore)))


@dataclass
class _LeafCount:
    """How many single values were compared, how many were right, and what was wrong."""

    how: JsonEqual
    ignored: tuple[Path, ...]
    right: int = 0
    total: int = 0
    differences: list[str] = field(default_factory=list)

    def compare(self, wanted: Json, actual: Json, path: tuple[Part, ...]) -> None:
        """Compare two values and all inside of them."""
        if self._is_ignored(path):
            return
        if isinstance(wanted, Mapping) and isinstance(actual, Mapping) and (wanted or actual):
            self._objects(wanted, actual, path)
        elif is_list(wanted) and is_list(actual) and (wanted or actual):
            self._lists(wanted, actual, path)
        elif isinstance(wanted, Mapping) or is_list(wanted):
            if type(wanted) is type(actual) or (is_list(wanted) and is_list(actual)):
                self.total, self.right = self.total + 1, self.right + 1  # both are empty
            else:
                self._wrong(
                    path, f"is {_shown(actual)}, not {_shown(wanted)}", self._size(wanted, path)
                )
        elif same_value(
            wanted, actual, tolerance=self.how.tolerance, ignore_case=self.how.ignore_case
        ):
            self.total, self.right = self.total + 1, self.right + 1
        else:
            self._wrong(path, f"is {_shown(actual)}, not {_shown(wanted)}", 1)

    def miss(self, wanted: Json, path: tuple[Part, ...]) -> None:
        """Count a value that is not there, with all inside of it."""
        if not self._is_ignored(path):
            self._wrong(path, "is missing", self._size(wanted, path))

    def add_extra(self, path: tuple[Part, ...]) -> None:
        """Count a value that is not wanted."""
        if not self._is_ignored(path):
            self._wrong(path, "is not wanted", 1)

    def _objects(self, wanted: Mapping[str, Json], actual: Mapping[str, Json], path: Path) -> None:
        for key, part in wanted.items():
            if key in actual:
                self.compare(part, actual[key], (*path, key))
            else:
                self.miss(part, (*path, key))
        if not self.how.extra_keys:
            for key in actual:
                if key not in wanted:
                    self.add_extra((*path, key))

    def _lists(self, wanted: Sequence[Json], actual: Sequence[Json], path: Path) -> None:
        pairs = [(place, place) for place in range(min(len(wanted), len(actual)))]
        if self.how.ignore_order:
            pairs = self._paired(wanted, actual, path)
        else:
            for row, column in pairs:
                self.compare(wanted[row], actual[column], (*path, row))
        rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
        for row, part in enumerate(wanted):
            if row not in rows:
                self.miss(part, (*path, row))
        for column in range(len(actual)):
            if column not in columns:
                self.add_extra((*path, column))

    def _paired(
        self, wanted: Sequence[Json], actual: Sequence[Json], path: Path
    ) -> list[tuple[int, int]]:
        """Compare the entries of two lists that make most right; the rest in its order."""
        table = [
            [self._apart(one, other, (*path, row)) for other in actual]
            for row, one in enumerate(wanted)
        ]
        pairs = best_pairs([[tally.likeness for tally in row] for row in table])
        rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
        left = [row for row in range(len(wanted)) if row not in rows]
        free = [column for column in range(len(actual)) if column not in columns]
        pairs = sorted([*pairs, *zip(left, free, strict=False)])
        for row, column in pairs:
            tally = table[row][column]
            self.right, self.total = self.right + tally.right, self.total + tally.total
            self.differences += tally.differences
        return pairs

    def _apart(self, wanted: Json, actual: Json, path: Path) -> "_LeafCount":
        tally = _LeafCount(self.how, self.ignored)
        tally.compare(wanted, actual, path)
        return tally

    @property
    def likeness(self) -> float:
        """Return what share is the same; all of it is worth most."""
        if not self.total:
            return 1.0
        return 2.0 if self.right == self.total else self.right / self.total

    def _wrong(self, path: tuple[Part, ...], why: str, values: int) -> None:
        self.total += values
        if values:
            self.differences.append(f"{path_text(path)} {why}")

    def _is_ignored(self, path: tuple[Part, ...]) -> bool:
        return any(fits(path, pattern) for pattern in self.ignored)

    def _size(self, value: Json, path: tuple[Part, ...]) -> int:
        """Count the single values in one that is wanted."""
        if self._is_ignored(path):
            return 0
        if isinstance(value, Mapping) and value:
            return sum(self._size(part, (*path, key)) for key, part in value.items())
        if is_list(value) and value:
            return sum(self._size(part, (*path, place)) for place, part in enumerate(value))
        return 1


def _texts(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)


def _shown(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)[:80]
