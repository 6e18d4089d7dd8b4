"""Settings that servers did not take, kept with the run: they may move its numbers."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from proctor.core.run import Run
from proctor.errors import StoreError
from proctor.store.store import Store

Refused = Mapping[str, Mapping[str, str]]
"""By model, each field that was to be sent, with what was sent instead, if anything."""

KEPT_AS = "refused"


def refused_before(store: Store, run: Run) -> Refused:
    """Return what earlier parts of the same run could not send."""
    with suppress(StoreError):
        known = store.run(run.id)
        if known.id == run.id:
            return refused_in(known)
    return {}


def refused_in(run: Run) -> Refused:
    """Return what a run could not send."""
    found: Refused = run.settings.get(KEPT_AS, {})
    return found


def with_refused(run: Run, earlier: Refused, now: Refused) -> Run:
    """Note with a run what could not be sent, in this process or in an earlier one."""
    labels = sorted({*earlier, *now})
    found = {label: {**earlier.get(label, {}), **now.get(label, {})} for label in labels}
    if not any(found.values()):
        return run
    return replace(run, settings={**run.settings, KEPT_AS: found})


def refused_words(refused: Refused) -> str:
    """Say what was refused: ``openai:m max_tokens>max_completion_tokens+temperature``."""
    return ",".join(
        f"{label} " + "+".join(f"{n}>{fields[n]}" if fields[n] else n for n in sorted(fields))
        for label, fields in sorted(refused.items())
        if fields
    )
