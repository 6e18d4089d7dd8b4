"""Runs as files: written whole, and read into another store."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from proctor import registry, source, wire
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.encoding import attempt_from, case_from, score_from, spec_from, suite_from
from proctor.core.fingerprint import answer_key, case_key, digest, plain, suite_key
from proctor.core.kept import Archive
from proctor.core.run import Run, RunStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Json, Spec
from proctor.engine.collect import BATCH, batched
from proctor.engine.evaluate import finish
from proctor.engine.given import keep
from proctor.engine.scoring import Scorers
from proctor.errors import MissingResource, PluginError, Problem, SuiteError, UsageError
from proctor.reports.view import RunView
from proctor.store.rows import RunAttempt
from proctor.store.store import Store

FORMAT = 1


def write_run(view: RunView, path: Path) -> int:
    """Write a run to a file, in the form its name asks for; return the number of rows."""
    writers: Mapping[str, Callable[[RunView, Path], int]] = {
        ".jsonl": _write_jsonl,
        ".parquet": _write_parquet,
    }
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise UsageError(f"{path}: a run is written as {' or '.join(writers)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        rows = writer(view, part)
        os.replace(part, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
    return rows


def read_run(store: Store, path: Path) -> RunView:
    """Read a run that was written as JSON Lines into a store."""
    rows = source.read_jsonl(path)
    head = next(rows, None)
    if head is None or not isinstance(head.data, dict) or head.data.get("proctor") != FORMAT:
        wrong = source.Document(path=path, data=None, row=1)
        message = "this is not a run that `proctor export` wrote"
        raise SuiteError([wrong.problem((), message, hint="export the run as .jsonl")])
    try:
        return _take_in(store, head.data, rows)
    except (KeyError, TypeError, ValueError) as error:
        wrong = source.Document(path=path, data=None, row=1)
        message = f"the file is damaged or of another version: {error!r}"
        raise SuiteError([wrong.problem((), message, hint="export the run again")]) from None


def read_folder(store: Store, path: Path) -> list[tuple[str, list[RunView]]]:
    """Read a folder that another tool keeps its suites and runs in; return them by suite."""
    for name in registry.names("archive"):
        archive: Archive = registry.build("archive", Spec(name=name))
        if archive.recognises(path):
            return [(kept.suite.name, keep(store, kept)) for kept in list(archive.read(path))]
    message = "there is nothing here that can be imported"
    hint = "name a .jsonl file that `proctor export` wrote, or a folder of Arthur Bench"
    raise SuiteError([Problem(message=message, file=str(path), hint=hint)])


def _write_jsonl(view: RunView, path: Path) -> int:
    rows = 0
    with path.open("wb") as file:
        head = {"proctor": FORMAT, "run": plain(view.run), "suite": plain(view.suite)}
        file.write(wire.dumps(head) + b"\n")
        for result in view.results():
            row = {
                "case": plain(result.case),
                "attempts": [
                    {
                        "attempt": plain(found.attempt),
                        "scores": {name: plain(score) for name, score in found.scores.items()},
                    }
                    for found in result.attempts
                ],
            }
            file.write(wire.dumps(row) + b"\n")
            rows += 1
    return rows


def _take_in(store: Store, head: Mapping[str, Json], rows: Iterator[source.Document]) -> RunView:
    suite_data = {**head["suite"]}
    suite_data.pop("cases", None)
    cases: list[Case] = []
    found: list[tuple[int, Case, Attempt, dict[str, Score]]] = []
    for row in rows:
        case = case_from(row.data["case"])
        for entry in row.data["attempts"]:
            scores = {name: score_from(data) for name, data in entry["scores"].items()}
            found.append((len(cases), case, attempt_from(entry["attempt"]), scores))
        cases.append(case)
    suite = suite_from(suite_data, tuple(cases))
    keyed = [(case_key(case), case) for case in cases]
    key = suite_key(suite, [name for name, _ in keyed])
    data = head["run"]
    run = Run(
        **{
            **data,
            "candidate": spec_from(data["candidate"]),
            "status": RunStatus(data.get("status", RunStatus.RUNNING)),
            "suite_key": key,
        }
    )
    scorers = Scorers(allow_import=False)
    with store.batch():
        store.put_suite(suite, key, keyed)
        store.save_run(run)
        store.unlink(run.id)
        for batch in batched(found, BATCH):
            _put(store, run.id, batch, scorers)
    return finish(store, run, suite, scorers)


def _put(
    store: Store,
    run_id: str,
    batch: Sequence[tuple[int, Case, Attempt, dict[str, Score]]],
    scorers: Scorers,
) -> None:
    links, scores = [], []
    for position, case, attempt, judged in batch:
        keys = {c.id: _score_key(case, c, attempt, scorers) for c in case.criteria}
        names = {c.id: c.scorer.name for c in case.criteria}
        scores += [(keys[name], names[name], score) for name, score in judged.items()]
        links.append(
            RunAttempt(
                position=position,
                index=attempt.index,
                attempt_key=answer_key(case, attempt),
                score_keys=keys if attempt.status is AttemptStatus.ANSWERED else {},
            )
        )
    store.put_attempts((answer_key(case, attempt), attempt) for _, case, attempt, _ in batch)
    store.put_scores(scores)
    store.link(run_id, links)


def _score_key(case: Case, criterion: Criterion, attempt: Attempt, scorers: Scorers) -> str:
    """Return the key a score has here, or one of its own where its scorer is not installed."""
    try:
        return scorers.keys(case, attempt)[criterion.id]
    except PluginError:
        return digest("imported", case, criterion, attempt.messages)


def _write_parquet(view: RunView, path: Path) -> int:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingResource(
            "writing Parquet needs pyarrow (fix: pip install 'proctor[parquet]')"
        ) from None
    text, number, whole = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
    schema = pyarrow.schema(
        {
            "run": text, "suite": text, "case": text, "attempt": whole, "status": text,
            "value": number, "full": number, "criterion": text, "scorer": text,
            "score_status": text, "points": number, "out_of": number, "reason": text,
            "output": text, "tags": text,
        }
    )  # fmt: skip
    count = 0
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for batch in batched(_flat_rows(view), BATCH):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _flat_rows(view: RunView) -> Iterator[dict[str, Json]]:
    for result in view.results():
        tags = wire.dumps(plain(result.case.tags)).decode()
        for found in result.attempts:
            row = {
                "run": view.run.id,
                "suite": view.run.suite,
                "case": result.case.id,
                "attempt": found.attempt.index,
                "status": found.value.status.value,
                "value": found.value.value,
                "full": result.case.full_score,
                "output": found.attempt.output.encode("utf-8", "replace").decode(),
                "tags": tags,
            }
            if not found.scores:
                yield row
            for criterion in result.case.criteria:
                if (score := found.scores.get(criterion.id)) is not None:
                    yield {
                        **row,
                        "criterion": criterion.id,
                        "scorer": criterion.scorer.name,
                        "score_status": score.status.value,
                        "points": score.points,
                        "out_of": score.out_of,
                        "reason": score.reason,
                    }
