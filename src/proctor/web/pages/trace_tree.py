"""The steps of an agent as a tree: what was done within a step, and what a model call led to."""

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proctor.reports.turns import DEEPEST
from proctor.web.pages.case_view import Laid

WIDTH, LEAST_WIDTH = 1000.0, 8.0
"""Units of the timeline: in all, and of the shortest step."""


@dataclass(frozen=True, kw_only=True)
class PlacedStep:
    """A step with what tells its place in the tree."""

    step: Laid
    id: str = ""
    parent: str = ""
    """The id of the step within which this one was done."""
    tool: str = ""
    """The tool that was called, if one was."""
    text: str = ""
    """What was said or, of a tool, what it was told."""
    asks: tuple[tuple[str, str], ...] | None = None
    """The tools that a model call asked for, with their arguments; none for other steps."""


def tree_of(placed: Sequence[PlacedStep]) -> list[Laid]:
    """Hang steps on those within which they were done, and on the model calls that led to them.

    A step names the one around it; only one that came before counts, so that nothing is lost
    where names run in a circle.
    """
    calls = [one for one in placed if one.asks is not None]
    own = [one for one in placed if one.asks is None]
    if not any(one.tool for one in own):
        # Nobody told what the calls led to: they stay where they are.
        calls, own = [], list(placed)
    led, texts = _led_to(calls, own), {one.text.strip() for one in calls}
    top: list[Laid] = []
    step_by_id: dict[str, Laid] = {}
    siblings: dict[int, list[Laid]] = {}
    for one in own:
        inner = one is not own[0] and one is not own[-1]
        if inner and one.step["kind"] == "post" and one.text.strip() in texts:
            continue  # the model call says the same
        around = step_by_id.get(one.parent) if one.parent else None
        level = top if around is None else around["within"]
        call = led.get(id(one))
        if call is not None and id(call) not in siblings:
            level.append(call.step)
            siblings[id(call)] = level
            _deepen(call.step, around, inside=around is not None)
        if call is not None and siblings[id(call)] is level:
            call.step["within"].append(one.step)
            _deepen(one.step, call.step, inside=False)
        else:
            level.append(one.step)
            _deepen(one.step, around, inside=around is not None)
        if one.id:
            deepest = around is not None and one.step["depth"] >= DEEPEST
            step_by_id.setdefault(one.id, around if deepest and around is not None else one.step)
    _insert(calls, siblings, top, own[-1].text.strip() if own else "")
    return top


def flat(steps: Sequence[Laid]) -> Iterator[Laid]:
    """Yield steps, each before those within it."""
    for step in steps:
        yield step
        yield from flat(step["within"])


def timed(steps: Sequence[Laid]) -> float | None:
    """Return how long all steps took together; none where nobody measured any.

    A step that was measured took what was done inside it as well.
    """
    times = [_seconds(step) for step in steps if not step["inside"]]
    seconds = [one for one in times if one is not None]
    return sum(seconds) if seconds else None


def place(tree: Sequence[Laid]) -> None:
    """Give every step its place on the timeline: by seconds where they are told, else by length.

    What was done inside a step is drawn below it, in a lane of its own.
    """
    steps = list(_outside(tree))
    measured = any(_seconds(step) is not None for step in steps)
    _place(steps, 0.0, WIDTH, 0, measured=measured)


def lanes(steps: Sequence[Laid]) -> int:
    """Return how many lanes a timeline has."""
    return max((step["lane"] for step in steps), default=0) + 1


def _place(
    steps: Sequence[Laid], start: float, width: float, lane: int, *, measured: bool
) -> float:
    parts = [(_seconds(step) or 0.0) if measured else float(_length(step)) for step in steps]
    total = sum(parts) or 1.0
    for step, part in zip(steps, parts, strict=True):
        # What took next to no time can still be seen and clicked.
        step["width"] = max(LEAST_WIDTH if lane == 0 else 1.0, width * part / total)
        step["start"], step["lane"] = start, lane
        inner = [one for one in step["within"] if one["inside"]]
        if inner:
            _place(list(_outside(inner)), start, step["width"], lane + 1, measured=measured)
        start += step["width"]
    return start


def _outside(steps: Sequence[Laid]) -> Iterator[Laid]:
    """Yield steps with those that they led to, but not what was done inside them."""
    for step in steps:
        yield step
        yield from _outside([one for one in step["within"] if not one["inside"]])


def _seconds(step: Laid) -> float | None:
    seconds: float | None = step["seconds"]
    if seconds is not None:
        return seconds
    return timed([one | {"inside": False} for one in step["within"] if one["inside"]])


def _length(step: Laid) -> int:
    inner = sum(_length(one) for one in step["within"] if one["inside"])
    return int(step["length"]) + inner


def _deepen(step: Laid, around: Laid | None, *, inside: bool) -> None:
    step["depth"] = 0 if around is None else min(around["depth"] + 1, DEEPEST)
    step["inside"] = inside


def _led_to(calls: Sequence[PlacedStep], own: Sequence[PlacedStep]) -> dict[int, PlacedStep]:
    """Return the model call that led to each call of a tool, by the identity of the step.

    Tools are asked for and run in one order; where an agent tells of as many, they are those.
    Otherwise only tools of the same name and arguments are.
    """
    requested = [(call, name, words) for call in calls for name, words in call.asks or ()]
    ran = [one for one in own if one.tool]
    if [name for _, name, _ in requested] == [one.tool for one in ran]:
        return {id(one): call for (call, _, _), one in zip(requested, ran, strict=True)}
    unused: dict[tuple[str, str], deque[PlacedStep]] = defaultdict(deque)
    for one in ran:
        unused[one.tool, _canonical(one.text)].append(one)
    led: dict[int, PlacedStep] = {}
    for call, name, words in requested:
        if same := unused.get((name, _canonical(words))):
            led[id(same.popleft())] = call
    return led


def _canonical(text: str) -> str:
    """Return a text that is the same for all spellings of the same arguments."""
    try:
        return json.dumps(json.loads(text, parse_float=_number), sort_keys=True)
    except (ValueError, RecursionError):
        return text


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _insert(
    calls: Sequence[PlacedStep], siblings: dict[int, list[Laid]], top: list[Laid], answer: str
) -> None:
    """Put model calls that led to no known step behind the call before them.

    The call that gave the final answer stands before it, and a first one behind the question.
    """
    before: PlacedStep | None = None
    for call in calls:
        if id(call) not in siblings:
            is_last = call is calls[-1] and call.text.strip() == answer and len(top) > 0
            if before is None or is_last:
                level, spot = top, len(top) - 1 if is_last and before is not None else 1
            else:
                level = siblings[id(before)]
                spot = next(n for n, one in enumerate(level) if one is before.step) + 1
                call.step.update(depth=before.step["depth"], inside=before.step["inside"])
            level.insert(min(spot, len(level)), call.step)
            siblings[id(call)] = level
        before = call
