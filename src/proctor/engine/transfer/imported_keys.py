"""Imported runs: what makes them quotations, which take the place of nothing that is one's own."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, count

from proctor.core.attempt import Attempt
from proctor.core.comparison import Comparison
from proctor.core.fingerprint import digest
from proctor.core.run import Run, Summary
from proctor.core.signature import Signature
from proctor.core.suite import VARIANT, Case, Json, Suite
from proctor.reports.reasons import one_line
from proctor.store.store import Store

PREFIX = "imported-"
"""What the id of a quoted run begins with; ids of runs that are made here are numbers."""
_CLAIMED = (
    *("scorers", "sampling", "judge", "panel", "simulator", "prompts"),
    *("ci", "version"),
)
"""The parts of a signature that nobody can tell but who wrote the file."""


def quoted_id(*content: Json) -> str:
    """Return the id that a run gets here, by what the file says of it."""
    return PREFIX + digest("imported", *content)[:12]


def attempt_key(run_id: str, position: int, index: int) -> str:
    """Address an attempt of a quoted run, which is found through its run alone."""
    return digest("imported", "attempt", run_id, position, index)


def score_key(run_id: str, position: int, index: int, criterion: str) -> str:
    """Address a score of a quoted run, which is found through its run alone."""
    return digest("imported", "score", run_id, position, index, criterion)


def quoted_case(case: Case) -> Case:
    """Return a case that names no place on this machine: whoever wrote it was never here."""
    return replace(case, files=tuple(replace(file, path="") for file in case.files))


def quoted_attempt(case: Case, attempt: Attempt) -> Attempt:
    """Return an attempt as one at this case."""
    return replace(attempt, case_id=case.id)


def quoted_comparison(
    comparison: Comparison, ids: Mapping[str, str]
) -> tuple[str, str, Comparison] | None:
    """Return a comparison between quoted runs, as it is put; none where one of them is not there.

    No battle that is held here finds it, nor sums it up with its own.
    """
    first, second = ids.get(comparison.first), ids.get(comparison.second)
    if first is None or second is None:
        return None
    quoted = replace(
        comparison,
        first=first,
        second=second,
        asked=digest("imported", comparison.asked),
        imported=True,
    )
    places = (quoted.asked, first, second, quoted.case_id, quoted.first_index, quoted.second_index)
    return digest("imported", "comparison", *places), "", quoted


def free_name(store: Store, name: str, *, suite_key: str | None = None) -> str:
    """Return a name that no run has, or none of a suite: this one, or one made of it."""
    taken_names = store.runs.names_like(name, suite_key=suite_key)
    tries: Iterable[str] = chain(
        [name, f"{name}-imported"], (f"{name}-imported-{number}" for number in count(2))
    )
    return next(one for one in tries if one not in taken_names)


def quoted_signature(run: Run, suite: Suite, summary: Summary) -> Signature:
    """Write down what is known of a quoted run, and what its file claims."""
    claimed = Signature.read(one_line(run.signature)).parts
    totals = summary.totals
    parts: dict[str, Json] = {
        "suite": f"{suite.name}@{run.suite_key[:8]}",
        "dialect": suite.dialect,
        VARIANT: suite.variant,
        **{name: claimed.get(name, "") for name in _CLAIMED[:-2]},
        "reduce": suite.reduce,
        "attempts": totals.attempts,
        "n": totals.cases,
        "unanswered": totals.unanswered or "",
        "unscored": totals.unscored or "",
        **{name: claimed.get(name, "") for name in _CLAIMED[-2:]},
        "imported": "yes",
    }
    return Signature.of(parts)
