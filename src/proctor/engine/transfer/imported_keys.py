"""Ids and keys of imported runs, which never replace the store's own data."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, count

from proctor.core.comparison import Comparison
from proctor.core.fingerprint import digest
from proctor.core.run import Run, Signature, Summary
from proctor.core.suite import VARIANT, Case, Json, Suite
from proctor.reports.reasons import one_line
from proctor.store.store import Store

PREFIX = "imported-"
"""Prefix of the id of an imported run; ids of the store's own runs are hexadecimal."""
_CLAIMED = (
    *("scorers", "sampling", "judge", "panel", "simulator", "prompts"),
    *("ci", "version"),
)
"""Parts of a signature that only the author of the file knows."""


def quoted_id(*content: Json) -> str:
    """Return the id of an imported run, from the content of the file."""
    return PREFIX + digest("imported", *content)[:12]


def attempt_key(run_id: str, position: int, index: int) -> str:
    """Return the key of an imported run's attempt, which only its run refers to."""
    return digest("imported", "attempt", run_id, position, index)


def score_key(run_id: str, position: int, index: int, criterion: str) -> str:
    """Return the key of an imported run's score, which only its run refers to."""
    return digest("imported", "score", run_id, position, index, criterion)


def quoted_case(case: Case) -> Case:
    """Return a case without paths on this machine."""
    return replace(case, files=tuple(replace(file, path="") for file in case.files))


def quoted_comparison(
    comparison: Comparison, ids: Mapping[str, str]
) -> tuple[str, str, Comparison] | None:
    """Return a comparison of imported runs, as it is stored; None if one of them is missing.

    Battles in this store do not find it, nor add it to their own.
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
    """Return an unused name, in all or in a suite: this one, or a variant of it."""
    taken_names = store.runs.names_like(name, suite_key=suite_key)
    tries: Iterable[str] = chain(
        [name, f"{name}-imported"], (f"{name}-imported-{number}" for number in count(2))
    )
    return next(one for one in tries if one not in taken_names)


def quoted_signature(run: Run, suite: Suite, summary: Summary) -> Signature:
    """Return the signature of an imported run, with what its file claims."""
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
