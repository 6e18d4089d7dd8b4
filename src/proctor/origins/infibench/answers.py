"""InfiBench responses on file: folders, CSV and Parquet."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath

from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Json, Suite
from proctor.errors import DialectError, Problem, SuiteError
from proctor.io.findings import Findings
from proctor.io.row_files import read_rows
from proctor.io.text_files import MAX_ROW, Document, Loc, inside, normal_newlines, read_bytes
from proctor.io.validation import validate
from proctor.io.yaml_files import read_yaml
from proctor.origins.infibench.format import Parameters

PARAMETERS = "params.yaml"
TEXTS = ("completion", "completions", "responses")
_NUMBERED = re.compile(r"(.+)_(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Response:
    """A file and the attempt that it is."""

    case_id: str
    index: int
    path: str


def read_answers(path: Path, suite: Suite) -> Iterator[Attempt]:
    """Read responses of any shape: the shape at once, the texts as they are asked for."""
    names = _Names(suite)
    if path.is_dir():
        return _folder(path, names)
    if not path.exists():
        raise _suite_error(path, "there is no such file or folder")
    if path.suffix.lower() in (".csv", ".parquet"):
        return _rows_of(read_rows(path), path, names)
    message = "InfiBench responses are a folder, a CSV or a Parquet file"
    raise DialectError([Problem(message=message, file=str(path))])


class _Names:
    """Cases by the names that a responses file may use for them."""

    def __init__(self, suite: Suite) -> None:
        self.cases = suite.cases
        self.exact: dict[str, Case] = {}
        self.normal: dict[str, Case] = {}
        self.stems: dict[str, Case] = {}
        stems = Counter(_stem(case.source) for case in suite.cases)
        self.ambiguous = {stem for stem, count in stems.items() if stem and count > 1}
        for case in suite.cases:
            self.exact[case.source or case.id] = case
            self.normal[_normal(case.source or case.id)] = case
            self.stems[_stem(case.source) or case.id] = case
        for case in suite.cases:
            self.stems.setdefault(case.id, case)

    def find(self, name: str) -> Case | None:
        """Find a case by its path as written, by the same path put otherwise, or by its stem."""
        by_path = self.exact.get(name) or self.normal.get(_normal(name))
        return by_path or self.by_stem(_stem(name))

    def by_stem(self, stem: str) -> Case | None:
        """Find a case by the name of its file."""
        if stem in self.ambiguous:
            raise SuiteError(
                f"the responses for {stem!r} could belong to several cases of that name"
                f" (fix: write a {PARAMETERS} with the whole path of each case)"
            )
        return self.stems.get(stem)


def _folder(folder: Path, names: _Names) -> Iterator[Attempt]:
    if (folder / PARAMETERS).is_file():
        return _read(_listed(read_yaml(folder / PARAMETERS), names))
    entries = sorted(os.listdir(folder))
    if responses := _numbered(folder, entries, names):
        return _read(responses)
    if tables := [folder / entry for entry in entries if entry.endswith(".parquet")]:
        return _rows_of(chain.from_iterable(read_rows(table) for table in tables), folder, names)
    message = f"no {PARAMETERS} in the folder, and no file CASE_N.txt of a case of this suite"
    raise DialectError([Problem(message=message, file=str(folder))])


def _listed(document: Document, names: _Names) -> list[_Response]:
    """Return the files that ``answer_paths`` lists, or every one of them that is not there."""
    listed = validate(Parameters, document).answer_paths
    entries = _chosen(listed, names)
    folder = document.path.parent
    present = set(os.listdir(folder))
    responses: list[_Response] = []
    findings = Findings()
    for key, case in entries.items():
        for index, name in enumerate(listed[key] or ()):
            path = _response_path(folder, name, present)
            if path is None:
                loc: Loc = ("answer_paths", key, index)
                findings.error_at(document, loc, f"there is no response file {name!r}")
            else:
                responses.append(_Response(case_id=case.id, index=index, path=path))
    findings.check()
    if not entries:
        message = "none of the entries names a case of this suite"
        hint = f"the suite's first case is {names.cases[0].source!r}" if names.cases else ""
        raise SuiteError([document.problem(("answer_paths",), message, hint=hint)])
    return responses


def _chosen(listed: Mapping[str, Json], names: _Names) -> dict[str, Case]:
    """Return the entries that name a case, one for each case: the one that names it best."""
    best: dict[str, tuple[int, str]] = {}
    chosen: dict[str, Case] = {}
    for key in listed:
        ranked = (names.exact.get(key), names.normal.get(_normal(key)), names.find(key))
        rank, case = next(((i, c) for i, c in enumerate(ranked) if c is not None), (3, None))
        if case is None or (case.id in best and best[case.id][0] <= rank):
            continue
        if case.id in best:
            del chosen[best[case.id][1]]
        best[case.id] = (rank, key)
        chosen[key] = case
    return chosen


def _response_path(folder: Path, name: str, present: set[str]) -> str | None:
    """Return the path of a response, if it is a file inside the folder."""
    path = os.path.join(folder, name)
    if name in present and not os.path.islink(path):
        return path
    file = inside(folder, folder, name) if name and "\0" not in name else None
    return str(file) if file is not None and file.is_file() else None


def _numbered(folder: Path, entries: Iterable[str], names: _Names) -> list[_Response]:
    """Return the files ``CASE_N.txt`` in the order of their numbers."""
    numbered: dict[str, list[tuple[int, str]]] = {}
    for entry in entries:
        stem, ending = os.path.splitext(entry)
        split = _NUMBERED.fullmatch(stem) if ending == ".txt" else None
        if split is not None and (case := names.by_stem(split[1])) is not None:
            numbered.setdefault(case.id, []).append((int(split[2]), entry))
    return [
        _Response(case_id=case.id, index=index, path=os.path.join(folder, entry))
        for case in names.cases
        for index, (_, entry) in enumerate(sorted(numbered.get(case.id, ())))
    ]


def _read(responses: Iterable[_Response]) -> Iterator[Attempt]:
    for response in responses:
        data = read_bytes(Path(response.path), limit=MAX_ROW)
        text = normal_newlines(data.decode("utf-8", "replace"))
        yield Attempt.of(response.case_id, text, index=response.index)


def _rows_of(rows: Iterator[Document], path: Path, names: _Names) -> Iterator[Attempt]:
    first = next(rows, None)
    if first is None:
        raise _suite_error(path, "there are no responses in it")
    columns = set(first.data)
    if not {"filename", "idx"} & columns:
        message = "no column 'filename' (or 'idx'), which names the case of a response"
        raise DialectError([first.problem((), message, hint=f"columns are: {_show(columns)}")])
    return _attempts(chain((first,), rows), path, names)


def _attempts(rows: Iterable[Document], path: Path, names: _Names) -> Iterator[Attempt]:
    """Yield the responses row by row, numbering those of each case as they come."""
    counts: Counter[str] = Counter()
    for row in rows:
        case = _case_of(row, names)
        if case is None:
            continue
        for text in _texts_of(row):
            yield Attempt.of(case.id, text, index=counts[case.id])
            counts[case.id] += 1
    if not counts:
        raise _suite_error(path, "none of the rows names a case of this suite")


def _case_of(row: Document, names: _Names) -> Case | None:
    name = row.data.get("filename")
    if isinstance(name, list):
        name = name[0] if name else None
    if name is None:
        return _case_at(row, names.cases)
    case = names.find(str(name))
    if case is None and (split := _NUMBERED.fullmatch(_stem(str(name)))) is not None:
        return names.by_stem(split[1])
    return case


def _case_at(row: Document, cases: Sequence[Case]) -> Case:
    index = row.data.get("idx", "")
    try:
        position = int(index)
    except (TypeError, ValueError):
        position = -1
    if not 0 <= position < len(cases):
        message = f"idx {index!r} is not the position of a case (0 to {len(cases) - 1})"
        raise SuiteError([row.problem(("idx",), message)])
    return cases[position]


def _texts_of(row: Document) -> Iterator[str]:
    """Yield the responses in a row; where there is none, the empty text stands for it."""
    value = next((row.data[name] for name in TEXTS if name in row.data), "")
    for text in value if isinstance(value, list) else [value]:
        yield normal_newlines("" if text is None else str(text))


def _normal(name: str) -> str:
    return os.path.normpath(name.replace("\\", "/")) if name else ""


def _stem(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).stem if name else ""


def _show(names: Iterable[str]) -> str:
    return ", ".join(sorted(repr(name) for name in names))


def _suite_error(path: Path, message: str) -> SuiteError:
    return SuiteError([Problem(message=message, file=str(path))])
