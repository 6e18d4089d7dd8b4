"""Runs side by side: candidates by prompt and model, and cases with the outputs of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from proctor.core.names import candidate_label, distinctions, model_of
from proctor.core.prompt import prompt_of
from proctor.core.run import Run, Totals
from proctor.core.suite import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRun:
    """One run of a grid, with its place among prompts and models."""

    id: str
    name: str
    prompt: str
    """The name of its prompt; empty where the cases were asked as they are."""
    model: str
    """The candidate without its prompt."""
    candidate: str
    totals: Totals
    status: str = ""
    stopped_early: bool = False
    """Whether it ended before its last case, so that its rate is not that of a full run."""

    @classmethod
    def of(cls, run: Run, totals: Totals, distinction: str = "") -> "GridRun":
        """Take a run's place from its candidate, told apart from others of the same name."""
        prompt, label = prompt_of(run.candidate), candidate_label(run.candidate)
        name = "" if prompt is None else prompt.name
        model = candidate_label(model_of(run.candidate)) + distinction
        return cls(
            id=run.id,
            name=run.name,
            prompt=name,
            model=model,
            candidate=f"{model}+{name}" if distinction and name else f"{label}{distinction}",
            totals=totals,
            status=run.status.value,
            stopped_early=run.stopped_early is not None,
        )


def grid_runs(runs: Sequence[tuple[Run, Totals]]) -> tuple[GridRun, ...]:
    """Return the places of several runs; models of one name are told apart."""
    added = distinctions([run.candidate for run, _ in runs])
    return tuple(
        GridRun.of(run, totals, distinction)
        for (run, totals), distinction in zip(runs, added, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptVerdict:
    """The comparison of two prompts over several models together."""

    first: str
    """The name of a prompt; empty where the cases were asked as they are."""
    second: str
    models: int
    sentence: str
    numbers: Mapping[str, Json] = field(default_factory=dict)
    """The verdict, the difference with its interval, counts, and the runs."""

    def to_json(self) -> dict[str, Json]:
        """Return what programs are told."""
        return {
            "first": self.first or None,
            "second": self.second or None,
            "models": self.models,
            "sentence": self.sentence,
            **self.numbers,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGrid:
    """The rates of several runs, by prompt and model."""

    runs: tuple[GridRun, ...]
    best: str = ""
    """The id of the run that is surely better than every other one; none where that is open."""
    note: str = ""
    """What can be said about the best run, in a sentence."""
    prompt_verdicts: tuple[PromptVerdict, ...] = ()
    """Each two prompts over all models together, where runs form a matrix of both."""

    @property
    def prompts(self) -> list[str]:
        """Return the names of the prompts, in their order."""
        return list(dict.fromkeys(run.prompt for run in self.runs))

    @property
    def models(self) -> list[str]:
        """Return the models, in their order."""
        return list(dict.fromkeys(run.model for run in self.runs))

    @property
    def cells(self) -> Mapping[tuple[str, str], list[GridRun]]:
        """Return the runs by prompt and model; usually one each."""
        cells: dict[tuple[str, str], list[GridRun]] = {}
        for run in self.runs:
            cells.setdefault((run.prompt, run.model), []).append(run)
        return cells


@dataclass(frozen=True, slots=True, kw_only=True)
class GridEntry:
    """What one candidate made of a case."""

    value: float | None
    full: float
    status: str
    output: str | None
    """The answer of its first attempt; none where it gave none."""
    attempts: int = 1

    @property
    def share(self) -> float | None:
        """Return the value as a share of full marks."""
        return None if self.value is None or not self.full else self.value / self.full


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """One case with what every candidate made of it."""

    case: str
    question: str
    references: tuple[str, ...] = ()
    entries: tuple[GridEntry | None, ...] = field(default=())
    """In the order of the runs; none where a run does not have the case."""

    @property
    def differs(self) -> bool:
        """Tell whether candidates got different marks for it."""
        shares = {entry.share for entry in self.entries if entry is not None}
        return len(shares) > 1 or None in self.entries

    @property
    def outputs_differ(self) -> bool:
        """Tell whether candidates answered it in different words."""
        outputs = {(entry.output or "").strip() for entry in self.entries if entry is not None}
        return len(outputs) > 1
