"""Settings that servers rejected, stored with the run because they may change its numbers."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from proctor.core.run import Run
from proctor.errors import StoreError
from proctor.store.store import Store

Refused = Mapping[str, Mapping[str, str]]
"""By model, each rejected field, with its replacement, if any."""

KEPT_AS = "refused"


def refused_before(store: Store, run: Run) -> Refused:
    """Return the rejected settings of earlier parts of the same run."""
    with suppress(StoreError):
        stored_run = store.runs.get(run.id)
        if stored_run.id == run.id:
            return refused_in(stored_run)
    return {}


def refused_in(run: Run) -> Refused:
    """Return the rejected settings of a run."""
    refused: Refused = run.settings.get(KEPT_AS, {})
    return refused


def refused_for_others(store: Store, run: Run, labels: Collection[str]) -> Refused:
    """Return the rejected settings of the runs whose stored results this one reuses."""
    if not labels:
        return {}
    refused = _joined(refused_in(other) for other in store.runs.sharing(run.id, KEPT_AS))
    return {label: fields for label, fields in refused.items() if label in labels}


def with_refused(run: Run, *parts: Refused) -> Run:
    """Add the rejected settings of this process, an earlier one or another run to a run."""
    refused = _joined(parts)
    return replace(run, settings={**run.settings, KEPT_AS: refused}) if refused else run


def _joined(parts: Iterable[Refused]) -> Refused:
    joined: dict[str, dict[str, str]] = {}
    for part in parts:
        for label, fields in part.items():
            if fields:
                joined.setdefault(label, {}).update(fields)
    return dict(sorted(joined.items()))


def refused_words(refused: Refused) -> str:
    """Format rejected settings: ``openai:m max_tokens>max_completion_tokens+temperature``."""
    return ",".join(
        f"{label} " + "+".join(f"{n}>{fields[n]}" if fields[n] else n for n in sorted(fields))
        for label, fields in sorted(refused.items())
        if fields
    )
