"""Results that people work with: a run, its cases and their attempts."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from proctor import registry
from proctor.api.case_views import CaseView
from proctor.api.python_words import python_words, told_in_python
from proctor.api.stores import RunOfStore, StorePlace
from proctor.contracts.report import Report, RunView
from proctor.core.names import candidate_label
from proctor.core.run import CaseResult, Group, Measured, Run, Summary, Totals
from proctor.core.suite import Json, Spec, Suite
from proctor.suggestions import LOOSELY, suggest

if TYPE_CHECKING:
    from proctor.engine.compare.against import Against
    from proctor.engine.run.evaluate import Outcome
    from proctor.engine.run.gates import GateResult
    from proctor.store.store import Store as OpenStore

MOST_HELD = 5_000
"""Cases of a run with more are read from the store whenever they are looked at."""
_USAGE = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What came of the gates of a run, and of the comparison with an earlier one."""

    gates: "tuple[GateResult, ...]" = ()
    against: "Against | None" = None


@dataclass(frozen=True, eq=False)
class RunResult(RunOfStore):
    """A run: its numbers with their uncertainty, its cases, and ways to write it down."""

    run: Run
    summary: Summary
    header: Suite
    """The suite without its cases."""
    store: StorePlace
    warnings: tuple[str, ...] = ()
    """What a person should know of the suite and the run."""
    stopped: str = ""
    """Why the run stopped before its end, if it did."""
    gates: "tuple[GateResult, ...]" = ()
    """What came of each gate."""
    against: "Against | None" = None
    """How it compares with the earlier run that ``against`` named."""
    _results: list[CaseResult] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        outcome: "Outcome",
        store: StorePlace,
        opened: "OpenStore",
        *,
        notices: Sequence[str] = (),
        compared: Checked | None = None,
    ) -> "RunResult":
        """Make the result of what the engine returned, while the store is open."""
        view = outcome.view
        problems = [python_words(str(problem)) for problem in outcome.warnings]
        return cls._of_view(
            view,
            StorePlace(store.url if store.url is not None else opened.place),
            warnings=(*problems, *notices),
            stopped=outcome.stopped,
            gates=() if compared is None else compared.gates,
            against=None if compared is None else compared.against,
        )

    @classmethod
    def _of_view(cls, view: RunView, store: StorePlace, **more: Any) -> "RunResult":
        results = list(view.results()) if view.summary.totals.cases <= MOST_HELD else None
        return cls(
            run=view.run,
            summary=view.summary,
            header=view.suite,
            store=store,
            _results=results,
            **more,
        )

    @property
    def id(self) -> str:
        """Return the run's id, by which ``proctor report`` knows it."""
        return self.run.id

    @property
    def name(self) -> str:
        """Return the run's name."""
        return self.run.name

    @property
    def suite(self) -> str:
        """Return the name of the suite."""
        return self.run.suite

    @property
    def candidate(self) -> str:
        """Return the candidate's name."""
        return candidate_label(self.run.candidate)

    @property
    def status(self) -> str:
        """Return ``complete``, or ``incomplete`` where something could not be run."""
        return self.run.status.value

    @property
    def complete(self) -> bool:
        """Tell whether everything could be run and scored."""
        return self.status == "complete"

    @property
    def signature(self) -> str:
        """Return every choice that could move the numbers, in a line."""
        return self.run.signature

    @property
    def totals(self) -> Totals:
        """Return the sums over all cases."""
        return self.summary.totals

    @property
    def rate(self) -> float | None:
        """Return the score as a part of full marks; none where nothing was scored."""
        return self.totals.rate

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval of the rate."""
        return self.totals.interval

    @property
    def score(self) -> float:
        """Return the sum of the values of all cases."""
        return self.totals.score

    @property
    def full(self) -> float:
        """Return what full marks would be."""
        return self.totals.full

    @property
    def errors(self) -> int:
        """Return how many attempts failed."""
        return self.totals.errors

    @property
    def unscored(self) -> int:
        """Return how many attempts could not be scored."""
        return self.totals.unscored

    @property
    def measures(self) -> Mapping[str, Measured]:
        """Return the numbers that the suite asks for, by name."""
        return self.summary.measures

    @property
    def groups(self) -> Mapping[str, Mapping[str, Group]]:
        """Return the numbers of parts of the cases: by tag, or by ``metric``, and value."""
        return self.summary.groups

    @property
    def usage(self) -> Mapping[str, Json]:
        """Return the calls, tokens and dollars that the run took."""
        return {**_USAGE, **self.summary.usage}

    @property
    def passed(self) -> bool:
        """Tell whether all gates held."""
        return all(gate.passed for gate in self.gates)

    @cached_property
    def cases(self) -> list[CaseView]:
        """Return all cases, in the order of the suite."""
        return [CaseView(result) for result in self.results()]

    def results(self) -> Iterator[CaseResult]:
        """Yield the cases one by one, as the engine knows them."""
        if self._results is not None:
            yield from self._results
            return
        with self.store.opened(create=False) as opened:
            from proctor.engine.run.stored_view import results_of

            yield from results_of(opened, self.id, self.header)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {case.id: place for place, case in enumerate(self.cases)}

    def __getitem__(self, case: str | int) -> CaseView:
        if isinstance(case, int):
            if not -len(self.cases) <= case < len(self.cases):
                raise IndexError(f"the run has {len(self.cases)} cases, and none at {case}")
            return self.cases[case]
        if case not in self._places:
            hint = suggest(case, list(self._places)[:1000], cutoff=LOOSELY)
            raise KeyError(f"the run has no case {case!r} ({hint})")
        return self.cases[self._places[case]]

    def __iter__(self) -> Iterator[CaseView]:
        return iter(self.cases)

    def __len__(self) -> int:
        return self.totals.cases

    def __contains__(self, case: object) -> bool:
        return case in self._places

    @property
    def view(self) -> RunView:
        """Return the run as reports see it."""
        return RunView(run=self.run, summary=self.summary, suite=self.header, results=self.results)

    def report(self, kind: str = "table", *, by: Sequence[str] = (), cases: bool = False) -> str:
        """Return the run as text: table, md, csv, json, html or junit."""
        report: Report = registry.build("report", Spec(name=kind))
        return report.render(self.view, by=by, cases=cases)

    def __str__(self) -> str:
        return self.report().rstrip("\n")

    def __repr__(self) -> str:
        rate = "no rate" if self.rate is None else f"{self.rate:.1%}"
        ends = "" if self.interval is None else " [{:.1%}, {:.1%}]".format(*self.interval)
        return f"<run {self.name!r}: {rate}{ends} of {len(self)} cases, {self.status}>"

    def _repr_html_(self) -> str:
        from proctor.api.notebook_html import run_html

        return run_html(self.view, self.cases)

    def to_dicts(self, rows: Literal["attempts", "cases"] = "attempts") -> list[dict[str, Any]]:
        """Return a mapping for each attempt, or for each case."""
        from proctor.api.tables import rows_of

        return rows_of(self.cases, rows)

    def to_pandas(self, rows: Literal["attempts", "cases"] = "attempts") -> Any:
        """Return a DataFrame with a row for each attempt, or for each case."""
        from proctor.api.tables import frame_of

        return frame_of(self.to_dicts(rows))

    def to_arrow(self, rows: Literal["attempts", "cases"] = "attempts") -> Any:
        """Return an Arrow table with a row for each attempt, or for each case."""
        from proctor.api.tables import arrow_of

        return arrow_of(self.to_dicts(rows))

    def save(self, path: str | os.PathLike[str], *, layout: str = "") -> Path:
        """Write the run to a file: .html, .jsonl, .parquet, .json, .csv, .md or .xml (JUnit).

        With ``layout``, the name of an origin such as ``infibench``, the path is a folder for the
        result files that its tools expect.
        """
        from proctor.api.saving import save_layout, save_run

        if layout:
            return save_layout(Path(path), layout, self.view)
        return save_run(Path(path), self.id, self.store, self.report)


class RunStore(StorePlace):
    """A place where runs are stored: a path, or the address of a database.

    It holds nothing open, so that it may be used from any thread, by many at once. Without a place
    it is the one of the command line: ``PROCTOR_STORE``, or ``.proctor/proctor.db``.
    """

    def run(self, reference: str = "@last") -> RunResult:
        """Return a stored run by its name or id; ``@last`` and ``@last~1`` work."""
        return stored_run(self, reference)


Store = RunStore
"""What programs call it."""


@told_in_python()
def stored_run(store: StorePlace, reference: str) -> RunResult:
    """Return a run of a store by its name or id."""
    from proctor.engine.run.later_findings import with_later_findings
    from proctor.engine.run.stored_view import view_of

    with store.opened(create=False) as opened:
        view = with_later_findings(opened, view_of(opened, reference))
        return RunResult._of_view(view, StorePlace(store.url if store.url else opened.place))
