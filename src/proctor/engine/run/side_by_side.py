"""Several candidates at the same time: one budget, and clients that all of them share."""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from proctor.core.names import distinctions
from proctor.engine.models.roles import SharedCalls
from proctor.engine.run.evaluate import Outcome, RunProgress, evaluate_all
from proctor.engine.run.settings import RunSettings
from proctor.errors import BudgetError, ProctorError, StoreError
from proctor.io.concurrency import map_unordered
from proctor.store.store import Store

Lane = list[tuple[int, RunSettings]]
"""Runs that are made one after the other, with their places in the order of the command."""


async def evaluate_side_by_side(
    several: Sequence[RunSettings],
    store: Store,
    progress: Callable[[RunProgress], None] = lambda _: None,
    notice: Callable[[str], None] = lambda _: None,
    refused: Callable[[str, ProctorError], None] | None = None,
) -> list[Outcome]:
    """Evaluate several candidates, those with other models at the same time, in their order.

    What cannot be run is told to ``refused``, where that is there, as long as others can be run.
    """
    lanes = lanes_of(told_apart(several))
    shared = SharedCalls()
    outcomes: dict[int, list[Outcome]] = {}
    errors: dict[str, ProctorError] = {}

    async def make(lane: Lane) -> None:
        for place, settings in lane:
            label = f"{settings.candidate_name}{settings.distinction}"
            name = "" if len(lanes) == 1 else label
            report = _labelled(progress, name)
            try:
                outcomes[place] = await evaluate_all(
                    settings, store, report, notice, refused, shared
                )
            except (StoreError, BudgetError):
                raise
            except ProctorError as error:
                if refused is None or len(lanes) == 1:
                    raise
                errors[label] = error

    try:
        async with aclosing(map_unordered(lanes, make, limit=max(1, len(lanes)))) as finished:
            async for _ in finished:
                pass
    finally:
        await shared.close()
    if errors and not outcomes:
        raise next(iter(errors.values()))
    for name, error in errors.items():
        assert refused is not None
        refused(name, error)
    return [outcome for place in sorted(outcomes) for outcome in outcomes[place]]


def told_apart(several: Sequence[RunSettings]) -> list[RunSettings]:
    """Give candidates of one name, such as a model at two addresses, names of their own."""
    added = distinctions([settings.candidate for settings in several])
    return [
        replace(settings, distinction=text) if text else settings
        for settings, text in zip(several, added, strict=True)
    ]


def lanes_of(several: Sequence[RunSettings]) -> list[Lane]:
    """Group runs by their models: those of one model share its limits, one after the other.

    Answers on file need no model, and a recording has one order of calls.
    """
    lanes: dict[str, Lane] = {}
    for place, settings in enumerate(several):
        alone = settings.calls.record is not None or settings.model is None
        lane = "" if alone or settings.model is None else settings.model.spec
        lanes.setdefault(lane, []).append((place, settings))
    return list(lanes.values())


def _labelled(progress: Callable[[RunProgress], None], name: str) -> Callable[[RunProgress], None]:
    """Report phases with the candidate that they are of, where there are several."""
    if not name:
        return progress
    return lambda one: progress(replace(one, phase=f"{name} {one.phase}"))
