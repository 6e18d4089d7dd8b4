"""The data that a suite is made of, checked: inputs, references, contexts, ids, tags."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from proctor.origins.arthur.errors import MissingParameterError, UserValueError
from proctor.origins.arthur.rows import ID, BenchCases
from proctor.origins.arthur.tables import Columns, Texts, listed, texts_of

WHAT = "the reference data"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseData:
    """Reference data as a person passes them: a data frame goes before a file before lists."""

    frame: Any = None
    path: str | PathLike[str] | None = None
    inputs: Sequence[Any] | None = None
    references: Sequence[Any] | None = None
    columns: tuple[str, str]
    context_column: str | None = None
    contexts: Sequence[Any] | None = None
    id_column: str | None = None
    tag_columns: tuple[str, ...] = ()

    @property
    def is_present(self) -> bool:
        """Tell whether there are any."""
        return any(part is not None for part in (self.frame, self.path, self.inputs))


def cases_of(data: CaseData, *, requires_reference: bool) -> BenchCases:
    """Check the data, and return what cases are made of."""
    if not data.is_present:
        raise MissingParameterError(
            "there is no suite of this name, and no data to make one of (fix: pass"
            " reference_data_path='data.csv', reference_data=FRAME, or input_text_list=[…])"
        )
    columns = columns_of(data.frame, data.path, WHAT)
    cases = _of_lists(data) if columns is None else _of_columns(data, columns, requires_reference)
    _check(cases, requires_reference=requires_reference)
    return cases


def columns_of(frame: Any, path: str | PathLike[str] | None, what: str) -> Columns | None:
    """Return the table that was given; none where there are only lists."""
    if frame is not None:
        return Columns.of_frame(frame, what)
    return None if path is None else Columns.of_file(path, what)


def contexts_of(values: Sequence[Any], what: str) -> list[tuple[str, ...]]:
    """Return contexts: one text for each case, or several."""
    contexts: list[tuple[str, ...]] = []
    for one in listed(values, what):
        texts = texts_of(one if isinstance(one, list | tuple) else [one])
        contexts.append(tuple(text for text in texts if text))
    return contexts


def _of_columns(data: CaseData, columns: Columns, requires_reference: bool) -> BenchCases:
    name, reference = data.columns
    ids = data.id_column or (ID if ID in columns else None)
    contexts = None if data.context_column is None else columns.texts(data.context_column)
    has_references = requires_reference or reference in columns
    return BenchCases(
        inputs=_present(columns.texts(name), "input"),
        references=_all_or_none(columns.texts(reference)) if has_references else None,
        contexts=None if contexts is None else contexts_of(contexts, "context_column"),
        ids=None if ids is None else _present(columns.texts(ids), "id"),
        tags={tag: [text or "" for text in columns.texts(tag)] for tag in data.tag_columns},
    )


def _of_lists(data: CaseData) -> BenchCases:
    references = data.references
    contexts = data.contexts
    return BenchCases(
        inputs=_present(texts_of(listed(data.inputs, "input_text_list")), "input"),
        references=None
        if references is None
        else _all_or_none(texts_of(listed(references, "reference_output_list"))),
        contexts=None if contexts is None else contexts_of(contexts, "context_list"),
    )


def _check(cases: BenchCases, *, requires_reference: bool) -> None:
    count = len(cases.inputs)
    if not count:
        raise UserValueError("a suite needs at least 1 test case")
    for what, texts in (("references", cases.references), ("contexts", cases.contexts)):
        if texts is not None and len(texts) != count:
            raise UserValueError(f"{count} inputs and {len(texts)} {what}: expected as many")
    if requires_reference and cases.references is None:
        raise UserValueError(
            "this scoring method compares with reference outputs, and there are none"
            " (fix: pass reference_output_list, or a table with that column)"
        )
    if cases.ids is not None:
        twice = [name for name, times in Counter(cases.ids).items() if times > 1]
        if twice:
            raise UserValueError(f"the id {twice[0]!r} is there twice")


def _present(texts: Texts, what: str) -> list[str]:
    lacking = [number for number, text in enumerate(texts, 1) if text is None]
    if lacking:
        raise UserValueError(f"row {lacking[0]} has no {what}")
    return [text for text in texts if text is not None]


def _all_or_none(texts: Texts) -> list[str] | None:
    present = [text for text in texts if text is not None]
    if present and len(present) < len(texts):
        row = texts.index(None) + 1
        raise UserValueError(f"row {row} has no reference output; all rows have one, or none has")
    return present or None
