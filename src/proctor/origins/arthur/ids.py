"""How Arthur Bench names suites, runs and cases: each by a UUID, its own or one made of its key."""

from collections.abc import Iterable
from uuid import UUID, uuid5

from proctor.core.run import Run

_OURS = UUID("6f1f4f0a-7c0e-5d0a-9a63-70726f63746f")
BENCH_ID = "bench_id"
"""Under this a run's settings keep the id that it was imported with."""


def suite_uuid(key: str, version: str = "") -> UUID:
    """Return a suite's id: that which it was imported with, else one made of its key."""
    return _uuid(version) or UUID(hex=key)


def run_uuid(run: Run) -> UUID:
    """Return a run's id: that which it was imported with, else its own."""
    return _uuid(run.settings.get(BENCH_ID)) or id_uuid(run.id)


def id_uuid(run_id: str) -> UUID:
    """Return the UUID of a run's own id; an id that is no number gets one made of it."""
    plain = len(run_id) <= 32 and set(run_id) <= set("0123456789abcdef")
    return UUID(hex=run_id.zfill(32)) if plain else uuid5(_OURS, _encodable(run_id))


def case_uuid(suite_key: str, case_id: str) -> UUID:
    """Return a case's id: its own where that is one."""
    return _uuid(case_id) or uuid5(suite_uuid(suite_key), _encodable(case_id))


def run_id_of(run_uuid: UUID, runs: Iterable[tuple[str, object]]) -> str | None:
    """Return the id of the run that has a UUID, among ids each with what it was imported with."""
    for run_id, imported in runs:
        if (_uuid(imported) or id_uuid(run_id)) == run_uuid:
            return run_id
    return None


def _uuid(text: object) -> UUID | None:
    if not isinstance(text, str):
        return None
    try:
        return UUID(text)
    except ValueError:
        return None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
