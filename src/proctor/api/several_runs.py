"""Several runs of one call: side by side, and as one table."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, overload

from proctor.api.results import RunResult
from proctor.suggestions import LOOSELY, suggest


class RunList(Sequence[RunResult]):
    """The runs of several candidates, prompts or suites, in the order in which they were named."""

    def __init__(self, runs: Iterable[RunResult]) -> None:
        self._runs = tuple(runs)

    @overload
    def __getitem__(self, run: int | str) -> RunResult: ...
    @overload
    def __getitem__(self, run: slice) -> "RunList": ...
    def __getitem__(self, run: int | str | slice) -> "RunResult | RunList":
        if isinstance(run, slice):
            return RunList(self._runs[run])
        if isinstance(run, int):
            return self._runs[run]
        for one in self._runs:
            if run in (one.name, one.id, one.candidate):
                return one
        hint = suggest(run, [one.name for one in self._runs], cutoff=LOOSELY)
        raise KeyError(f"there is no run {run!r} ({hint})")

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def rates(self) -> dict[str, float | None]:
        """Return the rate of each run, by its name; with its id where two have the same."""
        names = Counter(run.name for run in self._runs)
        return {
            run.name if names[run.name] == 1 else f"{run.name} ({run.id})": run.rate
            for run in self._runs
        }

    @property
    def complete(self) -> bool:
        """Tell whether everything could be run and scored."""
        return all(run.complete for run in self._runs)

    @property
    def passed(self) -> bool:
        """Tell whether all gates of all runs held."""
        return all(run.passed for run in self._runs)

    def to_dicts(self, rows: Literal["attempts", "cases"] = "attempts") -> list[dict[str, Any]]:
        """Return a mapping for each attempt, or for each case, of every run."""
        return [
            {"run": run.name, "candidate": run.candidate, **row}
            for run in self._runs
            for row in run.to_dicts(rows)
        ]

    def to_pandas(self, rows: Literal["attempts", "cases"] = "attempts") -> Any:
        """Return a DataFrame with a row for each attempt, or for each case, of every run."""
        from proctor.api.tables import frame_of

        return frame_of(self.to_dicts(rows))

    def to_arrow(self, rows: Literal["attempts", "cases"] = "attempts") -> Any:
        """Return an Arrow table with a row for each attempt, or for each case, of every run."""
        from proctor.api.tables import arrow_of

        return arrow_of(self.to_dicts(rows))

    def __str__(self) -> str:
        texts = [str(run) for run in self._runs]
        if len(self._runs) > 1 and len({run.run.suite_key for run in self._runs}) == 1:
            from proctor.engine.compare.grid import run_grid
            from proctor.reports.grid import grid_table

            with self._runs[0].store.opened(create=False) as opened:
                grid = run_grid(opened, [run.view for run in self._runs])
            texts.append(grid_table(grid).rstrip("\n"))
        return "\n\n".join(texts)

    def __repr__(self) -> str:
        return f"<{len(self)} runs: {', '.join(map(repr, self._runs))}>"

    def _repr_html_(self) -> str:
        from proctor.api.notebook_html import rates_html

        return rates_html((run.name, run.totals, run.status) for run in self._runs)


Runs = RunList
"""What programs call it."""
