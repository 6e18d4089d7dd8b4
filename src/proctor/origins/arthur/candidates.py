"""Candidate outputs as they are given, put beside the cases that they answer."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from proctor.core.attempt import Attempt
from proctor.core.suite import Suite
from proctor.origins.arthur.dialect import attempt_of
from proctor.origins.arthur.errors import MissingParameterError, UserValueError
from proctor.origins.arthur.references import columns_of, contexts_of
from proctor.origins.arthur.rows import CANDIDATE, ID, place_id
from proctor.origins.arthur.tables import Columns, Texts, listed, texts_of

WHAT = "the candidate data"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateOutputs:
    """Candidate outputs as a person passes them: a data frame goes before a file before a list."""

    frame: Any = None
    path: str | PathLike[str] | None = None
    column: str = CANDIDATE
    outputs: Sequence[Any] | None = None
    context_column: str | None = None
    contexts: Sequence[Any] | None = None
    id_column: str | None = None


def attempts_of(source: CandidateOutputs, suite: Suite) -> list[Attempt]:
    """Return one attempt for each case, in the order of the cases."""
    columns = columns_of(source.frame, source.path, WHAT)
    if columns is not None:
        outputs = columns.texts(source.column)
        contexts = None
        if source.context_column is not None:
            contexts = contexts_of(columns.texts(source.context_column), "context_column")
        elif source.contexts is not None:
            contexts = contexts_of(source.contexts, "context_list")
        ids = _ids(source, columns, suite)
    elif source.outputs is not None:
        outputs, ids = texts_of(listed(source.outputs, "candidate_output_list")), None
        contexts = None if source.contexts is None else contexts_of(source.contexts, "context_list")
    else:
        raise MissingParameterError(
            "there are no candidate outputs (fix: pass candidate_data_path='outputs.csv',"
            " candidate_data=FRAME, or candidate_output_list=[…])"
        )
    _check(outputs, contexts, suite)
    order = range(len(outputs)) if ids is None else _order(ids, suite)
    return [
        attempt_of(case.id, outputs[place], contexts[place] if contexts is not None else ())
        for case, place in zip(suite.cases, order, strict=True)
    ]


def _check(outputs: Texts, contexts: Sequence[Any] | None, suite: Suite) -> None:
    expected = len(suite.cases)
    if len(outputs) != expected:
        words = f"candidate data has {len(outputs)} tests but expected {expected} tests"
        raise UserValueError(words)
    if contexts is not None and len(contexts) != expected:
        raise UserValueError(f"there are {len(contexts)} contexts for {expected} tests")


def _ids(source: CandidateOutputs, columns: Columns, suite: Suite) -> Texts | None:
    """Return the ids of the rows, where the suite has ids of its own as well."""
    if source.id_column is not None:
        return columns.texts(source.id_column)
    own = any(case.id != place_id(place) for place, case in enumerate(suite.cases))
    return columns.texts(ID) if own and ID in columns else None


def _order(ids: Texts, suite: Suite) -> list[int]:
    """Return where the output of each case stands."""
    case_ids = {case.id for case in suite.cases}
    if strange := [name for name in ids if name not in case_ids]:
        raise UserValueError(f"the suite has no case with the id {strange[0]!r}")
    twice = [name for name, times in Counter(ids).items() if times > 1]
    if twice:
        raise UserValueError(f"the candidate data have the id {twice[0]!r} twice")
    places = {name: place for place, name in enumerate(ids)}
    return [places[case.id] for case in suite.cases]
