"""``compare``: which of several runs is better, and how sure that is."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from proctor.api.python_words import told_in_python
from proctor.api.results import RunResult
from proctor.api.several_runs import Runs
from proctor.api.stores import StorePlace
from proctor.api.tables import arrow_of, frame_of
from proctor.core.grid import PromptVerdict
from proctor.core.suite import Json
from proctor.engine.compare import comparing as engine
from proctor.engine.compare.as_json import compared_object
from proctor.engine.compare.prompts import prompt_verdicts
from proctor.engine.compare.results import CasePair, Compared, Contrast
from proctor.engine.compare.verdict import GroupContrast
from proctor.engine.compare.wording import sentence
from proctor.errors import UsageError


@dataclass(frozen=True, eq=False)
class ComparedRuns:
    """The comparison of the second run with the first, and of all pairs where there are more."""

    compared: Compared
    pairs: "tuple[ComparedPair, ...]"
    """Each two runs once, in the order in which they were named."""
    gates: tuple[Any, ...] = ()
    """What came of each gate."""
    prompt_verdicts: tuple[PromptVerdict, ...] = ()
    """Each two prompts over all models together, where the runs are a matrix of both."""

    @property
    def runs(self) -> tuple[str, ...]:
        """Return the names of the runs."""
        return tuple(side.name for side in self.compared.sides)

    @property
    def verdict(self) -> str:
        """Return ``better``, ``worse``, ``no_worse``, ``equal``, ``unclear`` or ``nothing``."""
        return self.pairs[0].verdict

    @property
    def sentence(self) -> str:
        """Return the verdict in words, with its uncertainty."""
        return self.pairs[0].sentence

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return the verdicts on all pairs in words."""
        return tuple(pair.sentence for pair in self.pairs)

    @property
    def difference(self) -> float | None:
        """Return by how much of full marks the second run is better than the first."""
        return self.pairs[0].difference

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval of the difference."""
        return self.pairs[0].interval

    @property
    def p(self) -> float | None:
        """Return the p value of the difference, adjusted for all that was tested beside it."""
        return self.pairs[0].p

    @property
    def rates(self) -> tuple[float | None, ...]:
        """Return the rate of each run."""
        return tuple(side.totals.rate for side in self.compared.sides)

    @property
    def cases(self) -> list[CasePair]:
        """Return the cases of the first two runs side by side."""
        return self.pairs[0].cases

    @property
    def groups(self) -> Mapping[str, Mapping[str, GroupContrast]]:
        """Return the differences by tag and value, where they were asked for."""
        return self.pairs[0].contrast.groups

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what else differs between the runs."""
        return self.compared.warnings

    @property
    def passed(self) -> bool:
        """Tell whether all gates held."""
        return all(gate.passed for gate in self.gates)

    @property
    def ranks(self) -> dict[str, tuple[int, int]]:
        """Return by the name of each run the best and the worst rank that it may have."""
        ranks = self.compared.ranks
        return {side.name: ranks[side.run.id] for side in self.compared.sides}

    def to_json(self) -> dict[str, Json]:
        """Return the object that ``proctor compare --json`` prints."""
        prompts = [verdict.to_json() for verdict in self.prompt_verdicts]
        more: dict[str, Json] = {"prompt_verdicts": prompts} if prompts else {}
        return {**compared_object(self.compared), **more}

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a mapping for each case of each pair."""
        return [row for pair in self.pairs for row in pair.to_dicts()]

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each case of each pair."""
        return frame_of(self.to_dicts())

    def to_arrow(self) -> Any:
        """Return an Arrow table with a row for each case of each pair."""
        return arrow_of(self.to_dicts())

    def __str__(self) -> str:
        lines = [f"warning: {warning}" for warning in self.warnings]
        for pair in self.pairs:
            lines += [pair.sentence, *pair.lines()]
        lines += [verdict.sentence for verdict in self.prompt_verdicts]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<comparison of {' and '.join(self.runs)}: {self.verdict}>"

    def _repr_html_(self) -> str:
        from proctor.api.notebook_html import comparison_html

        return comparison_html(self.sentences, self.runs, self.cases)


@dataclass(frozen=True, eq=False)
class ComparedPair:
    """The comparison of two runs."""

    contrast: Contrast
    cases: list[CasePair] = field(repr=False)
    """The cases that count in both."""

    @property
    def runs(self) -> tuple[str, str]:
        """Return the names of both runs."""
        return self.contrast.first.name, self.contrast.second.name

    @property
    def verdict(self) -> str:
        """Return what can be said of the second run."""
        return self.contrast.verdict

    @cached_property
    def sentence(self) -> str:
        """Return the verdict in words."""
        return sentence(self.contrast)

    @property
    def difference(self) -> float | None:
        """Return by how much of full marks the second run is better."""
        return self.contrast.paired.difference

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the interval of the difference."""
        return self.contrast.interval

    @property
    def p(self) -> float | None:
        """Return the p value, adjusted for all that was tested beside it."""
        return self.contrast.adjusted_p

    def lines(self) -> list[str]:
        """Return the counts of cases that changed, in words."""
        paired = self.contrast.paired
        return [
            f"  {paired.n} cases: {paired.better} better, {paired.worse} worse, {paired.same} the"
            " same"
        ]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a mapping for each case."""
        first, second = self.runs
        return [
            {
                "case": pair.id,
                "first_run": first,
                "second_run": second,
                "first": pair.first,
                "second": pair.second,
                "full": pair.full,
                "difference": pair.difference,
                "change": pair.kind,
                **{f"tags.{name}": ", ".join(values) for name, values in pair.tags.items()},
            }
            for pair in self.cases
        ]


@told_in_python()
def compare(  # noqa: PLR0913 - the options of the command
    *runs: RunResult | Runs | str,
    by: str | Sequence[str] = (),
    gate: str | Sequence[str] = (),
    interval: Literal["t", "bootstrap"] = "t",
    margin: float | None = None,
    sequential: bool = False,
    force: bool | None = None,
    store: str | Path | StorePlace | None = None,
) -> ComparedRuns:
    """Tell whether the second run is better than the first, case by case, with its uncertainty.

    Runs are results of ``evaluate``, or names and ids of stored runs. The options are those of
    ``proctor compare``; ``margin`` is a negligible difference in points of 100.

    Runs that were scored differently are compared with a warning; ``force=False`` refuses them, and
    ``force=True`` says nothing.
    """
    named = [one for run in runs for one in (run if isinstance(run, Runs) else (run,))]
    place = _common_store(named, store)
    settings = engine.CompareSettings(
        by=(by,) if isinstance(by, str) else tuple(by),
        gates=(gate,) if isinstance(gate, str) else tuple(gate),
        method=interval,
        margin=None if margin is None else margin / 100,
        sequential=sequential,
        force=force is not False,
    )
    references = [run.id if isinstance(run, RunResult) else run for run in named]
    with place.opened(create=False) as opened:
        compared = engine.compare(opened, references, settings)
        pairs = tuple(
            ComparedPair(
                contrast=contrast,
                cases=list(engine.case_pairs(opened, contrast.first, contrast.second)),
            )
            for contrast in compared.contrasts
        )
        results = tuple(engine.gate_results(settings.gates, compared))
        verdicts = tuple(prompt_verdicts(opened, compared, settings))
    if force is None and compared.overruled:
        words = f"these runs are not alike: {'; '.join(compared.overruled)}"
        warnings.warn(words, UserWarning, stacklevel=3)
    return ComparedRuns(compared=compared, pairs=pairs, gates=results, prompt_verdicts=verdicts)


def _common_store(
    runs: Sequence[RunResult | str], store: str | Path | StorePlace | None
) -> StorePlace:
    """Return the store that all runs are in."""
    if store is not None:
        return StorePlace.of(store)
    for run in runs:
        if not isinstance(run, RunResult | str):
            raise UsageError(
                f"compare() takes results of evaluate() or names of runs, not {run!r:.80}"
            )
    places = list(dict.fromkeys(run.store.url for run in runs if isinstance(run, RunResult)))
    if len(places) > 1:
        raise UsageError(
            f"the runs are in several stores: {', '.join(map(str, places))} (fix: pass the same"
            " store= to evaluate(), or run.save('run.jsonl') and `proctor import` it)"
        )
    return StorePlace(places[0] if places else None)
