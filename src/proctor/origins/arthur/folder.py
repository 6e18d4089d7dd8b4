"""The folders that Arthur Bench keeps suites and runs in, read whole."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from proctor.contracts.archive import Archive, KeptRun, KeptSuite, Row
from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.core.suite import Json, Spec, Suite
from proctor.errors import DialectError
from proctor.io.text_files import file_error, read_json
from proctor.io.validation import validate
from proctor.origins.arthur.method_table import CUSTOM, METHODS, UNIT_TESTS, specs_of
from proctor.origins.arthur.rows import BenchCases, name_problem, suite_of

SUITE, RUN, INDEX = "suite.json", "run.json", "suite_id_to_name.json"


def _past(moment: datetime) -> datetime:
    try:
        seconds = moment.timestamp()
    except (OverflowError, ValueError, OSError):
        seconds = -1.0
    if not 0 <= seconds <= time.time() + AHEAD:
        raise ValueError("this is no moment from 1970 until now")
    return moment


def _reasonable(points: float) -> float:
    if math.isfinite(points) and abs(points) > MOST_POINTS:
        raise ValueError(f"{points:g} points are more than anything can give")
    return points


AHEAD = 2 * 24 * 3600.0
"""By how many seconds another machine's clock may be ahead."""
MOST_POINTS = 1e15
Points = Annotated[float, AfterValidator(_reasonable)]


class _Loose(BaseModel):
    """Base of files that another program wrote: keys that are not needed are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Category(_Loose):
    name: str
    description: str | None = None


class _Method(_Loose):
    name: str
    type: str = "built_in"
    config: dict[str, Json] | None = None
    output_type: str = "continuous"
    categories: list[_Category] | None = None


class _FolderCase(_Loose):
    id: str | None = None
    input: str
    reference_output: str | None = None


class _Ours(_Loose):
    """What Proctor adds to files that it writes itself."""

    compat: Literal["", "original"] = "original"
    run: str = ""


class _Suite(_Loose):
    id: str = ""
    name: str
    scoring_method: _Method | str
    test_cases: list[_FolderCase]
    description: str | None = None
    created_at: datetime | None = None
    proctor: _Ours = _Ours()


class _Result(_Loose):
    score: Points | None = None
    category: _Category | None = None


class _Output(_Loose):
    id: str | None = None
    output: str | None = None
    score: Points | None = None
    score_result: _Result | None = None


class _Run(_Loose):
    id: str = ""
    name: str
    test_cases: list[_Output]
    created_at: Annotated[datetime, AfterValidator(_past)] | None = None
    model_name: str | None = None
    model_version: str | None = None
    foundation_model: str | None = None
    prompt_template: str | None = None
    proctor: _Ours = _Ours()


@dataclass(frozen=True)
class BenchFolder(Archive):
    """A folder of Arthur Bench: all its suites, or one of them, with their runs."""

    def recognises(self, path: Path) -> bool:
        return (path / INDEX).is_file() or is_suite(path) or any(_suites(path))

    def read(self, path: Path) -> Iterator[KeptSuite]:
        folders = [path] if (path / SUITE).is_file() else list(_suites(path))
        if not folders:
            raise file_error(path, f"there is no suite of Arthur Bench: no folder has a {SUITE}")
        for folder in folders:
            written = _written(folder / SUITE)
            suite = _suite(folder / SUITE, written, written.proctor.compat)
            runs = [
                read_run(run_file.parent, suite) for run_file in sorted(folder.glob(f"*/{RUN}"))
            ]
            runs.sort(key=lambda run: (run.started, run.name))
            created_at = written.created_at
            created = (
                created_at.timestamp()
                if created_at is not None
                else (folder / SUITE).stat().st_mtime
            )
            yield KeptSuite(suite=suite, runs=tuple(runs), created=created)


def is_suite(path: Path) -> bool:
    """Tell whether a folder, or a file, is a suite that Arthur Bench wrote."""
    file = path if path.name == SUITE else path / SUITE
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return b'"scoring_method"' in opened.read(1_000_000)


def read_suite(path: Path, compat: str) -> Suite:
    """Read a suite from its folder or file."""
    file = path if path.name == SUITE or path.is_file() else path / SUITE
    return _suite(file, _written(file), compat)


def _written(file: Path) -> _Suite:
    return validate(_Suite, read_json(file))


def _suite(file: Path, saved: _Suite, compat: str) -> Suite:
    if problem := name_problem(saved.name):
        raise file_error(file, problem)
    if not saved.test_cases:
        raise file_error(file, "a suite needs at least one case")
    cases = _cases(saved.test_cases)
    method = saved.scoring_method
    method = _Method(name=method) if isinstance(method, str) else method
    specs = _specs(method, compat, len(cases.inputs))
    header = Suite(
        name=saved.name,
        cases=(),
        version=saved.id,
        description=saved.description or "",
        compat=compat,
    )
    described = METHODS.get(method.name) if method.type != CUSTOM else None
    return suite_of(header, cases, method.name, specs, described.full if described else 1.0)


def read_run(path: Path, suite: Suite) -> KeptRun:
    """Read a run from its folder or file, beside its suite."""
    file = path if path.name == RUN else path / RUN
    if not file.is_file():
        raise DialectError(f"{path}: there is no {RUN}")
    saved = validate(_Run, read_json(file))
    if problem := name_problem(saved.name):
        raise file_error(file, problem)
    places = _places(file, saved.test_cases, suite)
    rows = tuple(
        _row(place, output, suite) for place, output in zip(places, saved.test_cases, strict=True)
    )
    names = ("model_name", "model_version", "foundation_model", "prompt_template")
    metadata = {name: value for name in names if (value := getattr(saved, name))}
    return KeptRun(
        name=saved.name,
        candidate=Spec(
            name="recorded", params={"name": metadata.get("model_name", saved.name), **metadata}
        ),
        rows=rows,
        settings={"bench_id": saved.id} if saved.id else {},
        started=saved.created_at.timestamp() if saved.created_at else _changed(file),
        copy_of=saved.proctor.run,
    )


def _changed(file: Path) -> float:
    """Return when a file was written; a clock that was wrong then does not make it tomorrow."""
    return max(0.0, min(file.stat().st_mtime, time.time()))


def _suites(path: Path) -> Iterator[Path]:
    return (
        suite_file.parent for suite_file in sorted(path.glob(f"*/{SUITE}")) if is_suite(suite_file)
    )


def _cases(saved_cases: Sequence[_FolderCase]) -> BenchCases:
    ids = [case.id for case in saved_cases if case.id is not None]
    references = [
        case.reference_output for case in saved_cases if case.reference_output is not None
    ]
    return BenchCases(
        inputs=[case.input for case in saved_cases],
        references=references if len(references) == len(saved_cases) else None,
        ids=ids if len(set(ids)) == len(saved_cases) else None,
    )


def _specs(method: _Method, compat: str, count: int) -> Sequence[Spec]:
    """Return what cases are scored by; somebody's own code is only named."""
    config = method.config or {}
    if method.type != CUSTOM and method.name in METHODS and method.name != UNIT_TESTS:
        settings = {name: config[name] for name in METHODS[method.name].config & config.keys()}
        return specs_of(method.name, settings, compat, count)
    tests = config.get("unit_tests")
    if method.name == UNIT_TESTS and isinstance(tests, list) and len(tests) == count:
        return specs_of(method.name, {"unit_tests": tests}, compat, count)
    saved: Mapping[str, Json] = {
        "name": method.name,
        "config": config,
        "categories": [{"name": one.name} for one in method.categories or ()],
    }
    return [Spec(name=CUSTOM, params={k: v for k, v in saved.items() if v})] * count


def _places(file: Path, outputs: Sequence[_Output], suite: Suite) -> Sequence[int]:
    """Return the place of each output: by id where all are known, else in their order."""
    ids = {case.id: place for place, case in enumerate(suite.cases)}
    named = [ids[output.id] for output in outputs if output.id in ids]
    if len(named) == len(outputs) == len(set(named)):
        return named
    if len(outputs) > len(suite.cases):
        message = f"{len(outputs)} outputs for the {len(suite.cases)} cases of {suite.name!r}"
        raise file_error(file, message)
    return range(len(outputs))


def _row(place: int, output: _Output, suite: Suite) -> Row:
    case = suite.cases[place]
    result = output.score_result or _Result(score=output.score)
    points = output.score if result.score is None else result.score
    category = result.category
    detail: Json = None
    if category is not None:
        fields = {"name": category.name, "description": category.description}
        detail = {"category": {key: value for key, value in fields.items() if value}}
    if points is None or not math.isfinite(points):
        score = Score.failed("the file has no score", out_of=case.full_score, detail=detail)
    else:
        score = Score(points=points, out_of=case.full_score, reason="as kept", detail=detail)
    attempt = Attempt.of(case.id, output.output)
    return place, attempt, {case.criteria[0].id: score} if output.output is not None else {}
