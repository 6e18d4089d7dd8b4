"""Runs side by side: which is best as far as is certain, and what each made of every case."""

from collections.abc import Iterator, Sequence

from proctor.contracts.report import RunView
from proctor.core.grid import GridEntry, GridRow, GridRun, PromptVerdict, RunGrid, grid_runs
from proctor.core.run import CaseResult
from proctor.core.tool_calls import answer_text
from proctor.engine.compare.comparing import MOST_RUNS, compare, sides_of_views
from proctor.engine.compare.prompts import FEWEST_MODELS, prompt_contrasts
from proctor.engine.compare.results import Compared
from proctor.engine.compare.wording import Language
from proctor.errors import ProctorError
from proctor.store.store import Store

NOBODY = "no candidate is surely better than every other one (`proctor compare` says more)"
"""What is said where no run is the best for sure."""
MOST_ROWS = 50_000
"""Of how many cases the outputs of all runs are held at once."""


def run_grid(
    store: Store, views: Sequence[RunView], *, best: bool = True, language: Language = "en"
) -> RunGrid:
    """Lay out runs by prompt and model, and mark the best one if the comparison supports it.

    Without ``best`` only prompts are compared, where runs form a matrix of prompts and models.
    """
    runs = grid_runs([(view.run, view.summary.totals) for view in views])
    top, note = _best(store, runs) if best else ("", "")
    verdicts = _prompt_verdicts(store, views, language)
    return RunGrid(runs=runs, best=top, note=note, prompt_verdicts=verdicts)


def _prompt_verdicts(
    store: Store, views: Sequence[RunView], language: Language
) -> tuple[PromptVerdict, ...]:
    """Compare each two prompts over all models together, where runs form a matrix of both."""
    if len(views) < 2 * FEWEST_MODELS or len({view.run.id for view in views}) < len(views):
        return ()
    contrasts = prompt_contrasts(store, sides_of_views(views))
    return tuple(contrast.shown(language) for contrast in contrasts)


def _best(store: Store, runs: Sequence[GridRun]) -> tuple[str, str]:
    rated = [run for run in runs if run.totals.rate is not None]
    if len(rated) < 2 or len(rated) < len(runs):
        return "", ""
    if len(runs) > MOST_RUNS:
        return "", f"`proctor compare` tests up to {MOST_RUNS} runs: choose some"
    try:
        compared = compare(store, [run.id for run in runs])
    except ProctorError as error:
        return "", f"not compared: {error}"
    top = max(rated, key=lambda run: run.totals.rate or 0.0)
    if _surely_best(compared, top.id):
        return top.id, f"{top.candidate} is better than every other one, tested on the same cases"
    return "", NOBODY


def _surely_best(compared: Compared, run_id: str) -> bool:
    """Tell whether a run is better in each of its comparisons, adjusted for all of them."""
    for contrast in compared.contrasts:
        first, second = contrast.first.run.id, contrast.second.run.id
        if run_id not in (first, second):
            continue
        # A contrast says what the second run is, compared with the first one.
        if contrast.told_apart != ("better" if second == run_id else "worse"):
            return False
    return True


def case_rows(views: Sequence[RunView], *, only: Sequence[str] = ()) -> Iterator[GridRow]:
    """Yield the cases of all runs, in the order of the first run that has them."""
    entries: dict[str, list[GridEntry | None]] = {}
    about: dict[str, CaseResult] = {}
    for number, view in enumerate(views):
        for result in view.results():
            case_id = result.case.id
            if only and case_id not in only:
                continue
            if case_id not in entries:
                if len(entries) >= MOST_ROWS:
                    continue
                entries[case_id] = [None] * len(views)
                about[case_id] = result
            entries[case_id][number] = _entry(result)
    for case_id, row in entries.items():
        case = about[case_id].case
        yield GridRow(
            case=case_id, question=case.prompt, references=case.references, entries=tuple(row)
        )


def _entry(result: CaseResult) -> GridEntry:
    first = result.attempts[0].attempt if result.attempts else None
    output = None if first is None else answer_text(first) or None
    if output is None and first is not None and first.error:
        output = f"({first.error})"
    return GridEntry(
        value=result.folded.value,
        full=result.case.full_score,
        status=result.folded.status.value,
        output=output,
        attempts=len(result.attempts),
    )
