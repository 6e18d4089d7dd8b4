"""Comparison of a new run with an earlier one: by name, as the baseline, or from a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from proctor.contracts.report import RunView
from proctor.core.run import Run
from proctor.core.suite import Json
from proctor.engine.compare.as_json import contrast_object
from proctor.engine.compare.baselines import earlier_run
from proctor.engine.compare.comparing import (
    CompareSettings,
    compare,
    contrast_gate_names,
)
from proctor.engine.compare.results import CasePair, Compared, Contrast
from proctor.engine.compare.wording import sentence
from proctor.engine.run.gates import AGAINST, unpaired_gate_names
from proctor.engine.run.stored_view import case_of
from proctor.errors import UsageError
from proctor.io.text_files import file_error, read_jsonl
from proctor.reports.reasons import one_line, reasons
from proctor.store.store import Store

SHOWN = 20
"""How many cases that got worse are shown with a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorseCase:
    """A case that got worse, and why."""

    id: str
    first: float
    second: float
    full: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """What comparing a new run with an earlier one came to."""

    run: Run
    """The earlier one."""
    compared: Compared | None = None
    """None where they cannot be compared."""
    refused: str = ""
    """Why they cannot be compared."""
    worse: tuple[WorseCase, ...] = ()

    @property
    def contrast(self) -> Contrast | None:
        """Return the comparison of the two."""
        return None if self.compared is None else self.compared.contrasts[0]

    @property
    def verdict(self) -> str:
        """Return what can be said of the new run."""
        return "refused" if self.contrast is None else self.contrast.verdict

    @property
    def sentence(self) -> str:
        """Say which is better and how sure that is, or why nothing can be said."""
        if self.contrast is not None:
            return sentence(self.contrast)
        return f"Not compared with {self.run.name}: {self.refused}."

    @property
    def warnings(self) -> Sequence[str]:
        """Return what else to know of the two."""
        return () if self.compared is None else self.compared.warnings

    @property
    def gate_names(self) -> Mapping[str, Any]:
        """Return what a gate may name after ``against.``."""
        if self.contrast is None:
            return unpaired_gate_names()
        return contrast_gate_names(self.contrast)

    def to_json(self) -> dict[str, Json]:
        """Return what programs are told."""
        compared = {} if self.contrast is None else contrast_object(self.contrast)
        return {
            "run": {"id": self.run.id, "name": self.run.name, "imported": self.run.imported},
            **compared,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "warnings": list(self.warnings),
        }


def taken_from_file(store: Store, reference: str) -> str:
    """Import the run of an exported file, unless it was before, and return its reference.

    Anything that is not a file is returned as it is.
    """
    path = Path(reference)
    if path.suffix.lower() != ".jsonl" or reference.startswith("@"):
        return reference
    from proctor.engine.transfer.export_import import read_runs
    from proctor.engine.transfer.imported_keys import quoted_id
    from proctor.engine.transfer.rows import HeadRow, checked, kind_of

    head = next(iter(read_jsonl(path, finite=True)), None)
    if head is not None and kind_of(head) is HeadRow:
        values = checked(head, HeadRow)
        run_id = quoted_id(values["run"], values["suite"])
        if store.runs.find(run_id) is not None:
            return run_id
    views = read_runs(store, path).views
    if len(views) != 1:
        raise file_error(path, f"{len(views)} runs in one file; expected one", 1, 1)
    return views[0].run.id


def compare_against(
    store: Store,
    view: RunView,
    reference: str,
    *,
    gates: Sequence[str] = (),
    margin: float | None = None,
) -> Against | None:
    """Compare a finished run with an earlier one; what stands in the way is part of the result.

    None where the suite has no baseline yet.
    """
    earlier = earlier_run(store, reference, view.run.suite)
    if earlier is None:
        return None
    settings = CompareSettings(
        gates=tuple(gate for gate in gates if AGAINST in gate), margin=margin, shown=SHOWN
    )
    try:
        compared = compare(store, [earlier.id, view.run.id], settings)
    except UsageError as error:
        return Against(run=earlier, refused=str(error))
    against = Against(run=earlier, compared=compared)
    pairs = compared.contrasts[0].examples.get("worse", ())
    return replace(against, worse=tuple(_worse(store, view, pair) for pair in islice(pairs, SHOWN)))


def _worse(store: Store, view: RunView, pair: CasePair) -> WorseCase:
    why = reasons(case_of(store, view, pair.id))
    return WorseCase(
        id=pair.id,
        first=pair.first,
        second=pair.second,
        full=pair.full_2,
        why=one_line(why[0]) if why else "",
    )
