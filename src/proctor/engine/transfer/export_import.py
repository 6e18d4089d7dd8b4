"""Runs as files: export, and import into another store."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from proctor import registry
from proctor.contracts.archive import KeptSuite
from proctor.contracts.report import RunView
from proctor.core.fingerprint import plain
from proctor.core.run import CaseResult
from proctor.core.suite import Json
from proctor.engine.run.stored_view import view_of
from proctor.engine.transfer.answers_in_memory import keep_new
from proctor.engine.transfer.archives import archive_of
from proctor.engine.transfer.import_jsonl import Quoting, Restoring
from proctor.engine.transfer.proof import PURPOSE, Proof
from proctor.engine.transfer.write_parquet import write_parquet
from proctor.errors import Problem, SuiteError, UsageError
from proctor.io import json_bytes, text_files
from proctor.store.rows import LinkedKeys
from proctor.store.store import Store

FORMAT = 2
"""Version of the file format: 2 may contain several runs, and comparisons."""
WRITTEN = (".jsonl", ".parquet")


def write_runs(store: Store, references: Sequence[str], path: Path, *, own: bool = False) -> int:
    """Write runs to a file, in the format of its suffix; return the number of rows.

    With ``own``, this store, or one with its key, can import them as its own again.
    """
    kind = path.suffix.lower()
    if kind not in WRITTEN:
        raise UsageError(f"{path}: a run is written as .html, {' or '.join(WRITTEN)}")
    views = [view_of(store, reference) for reference in references]
    if len({view.run.id for view in views}) < len(views):
        raise UsageError("a run is named twice")
    if own:
        _check_own(views, path)
    with in_place(path) as part:
        if kind == ".parquet":
            return write_parquet(store, views, part)
        proof = Proof(store.secret.derive_key(PURPOSE)) if own else None
        return _write_jsonl(store, views, part, proof)


def _check_own(views: Sequence[RunView], path: Path) -> None:
    if path.suffix.lower() != ".jsonl":
        raise UsageError(f"{path}: --own is for .jsonl files, which can be imported")
    for view in views:
        if view.run.imported:
            raise UsageError(
                f"the run {view.run.name!r} was imported: only runs of one's own are exported"
                " with --own"
            )


@contextmanager
def in_place(path: Path) -> Iterator[Path]:
    """Yield a temporary path, which replaces the file only when it is complete."""
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        os.replace(part, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Result of an import: the runs, and notices."""

    views: Sequence[RunView]
    notices: Sequence[str] = ()


def read_runs(
    store: Store, path: Path, *, own: bool = False, key: bytes | None = None, name: str = ""
) -> Imported:
    """Read runs that were written as JSON Lines, with their battles, into a store.

    ``name`` is the name of the only run, where it is not that of the file.

    They are imported runs, unless ``own``: then the file must have been written for that by this
    store, or by the one with the given key, and its runs are stored as they were there.
    """
    proof = Proof(store.secret.derive_key(PURPOSE) if key is None else key) if own else None
    if proof is not None:
        proof.check(path)
    rows = text_files.read_jsonl(path, finite=True, seen=proof.take if proof else lambda _: None)
    try:
        taking = Restoring(store, path, rows) if own else Quoting(store, path, rows)
        taking.name = name
        with store.batch():
            views = taking.take_in()
            if name and len(views) > 1:
                raise UsageError(_one_name(len(views), path.name))
            if proof is not None:
                proof.confirm(path)
        return Imported(views=views, notices=taking.notices)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        message = f"the file is damaged or of another version: {error!r}"
        raise text_files.file_error(path, message, 1, 1, hint="export the run again") from None


def read_archive(store: Store, path: Path, name: str = "") -> list[tuple[str, list[RunView], int]]:
    """Import the new runs in a file or folder of another tool.

    ``name`` is the name of the only run; of one in each of several suites, it comes after the
    suite's name. Return suites, each with its new runs and the number of runs stored before.
    """
    archive = archive_of(path)
    if archive is None:
        message = "there is nothing here that can be imported"
        hint = (
            "name a .jsonl file that `proctor export` wrote, or results of"
            f" {', '.join(registry.names('archive'))}"
        )
        raise SuiteError([Problem(message=message, file=str(path), hint=hint)])
    # All is read first, so that nothing is stored if one suite is broken.
    suites: list[KeptSuite] = list(archive.read(path))
    if name:
        for archived in suites:
            if len(archived.runs) > 1:
                raise UsageError(_one_name(len(archived.runs), archived.suite.name))
    return [
        (
            archived.suite.name,
            *keep_new(
                store,
                archived,
                f"{archived.suite.name} {name}" if name and len(suites) > 1 else name,
            ),
        )
        for archived in suites
    ]


def _one_name(runs: int, suite: str) -> str:
    return (
        f"--name is for one run, and there are {runs} of {suite!r}"
        " (fix: leave it out: each is called by its candidate)"
    )


def _write_jsonl(
    store: Store, views: Sequence[RunView], path: Path, proof: Proof | None = None
) -> int:
    """Write each run as a line about itself and a line for each case; comparisons come last.

    With a proof, the keys of attempts and scores are included, and the proof ends the file.
    """
    rows = 0
    with path.open("wb") as file:

        def put(row: Json) -> None:
            line = json_bytes.dumps(row) + b"\n"
            if proof is not None:
                proof.take(line)
            file.write(line)

        for view in views:
            put({"proctor": FORMAT, "run": plain(view.run), "suite": plain(view.suite)})
            keyed = None if proof is None else store.attempts.iter_keys(view.run.id)
            for result in view.results():
                put(_case_row(result, None if keyed is None else next(keyed)))
                rows += 1
        for key, content, comparison in store.comparisons.of_runs([view.run.id for view in views]):
            put({"comparison": plain(comparison), "key": key, "content": content})
            rows += 1
        if proof is not None:
            file.write(json_bytes.dumps({"own": proof.written()}) + b"\n")
    return rows


def _case_row(result: CaseResult, keys: Sequence[LinkedKeys] | None) -> Json:
    return {
        "case": plain(result.case),
        "attempts": [
            {
                "attempt": plain(attempt_result.attempt),
                "scores": {name: plain(score) for name, score in attempt_result.scores.items()},
                **({} if keys is None else _keys(keys[place])),
            }
            for place, attempt_result in enumerate(result.attempts)
        ],
    }


def _keys(keys: LinkedKeys) -> dict[str, Json]:
    return {"key": keys.attempt_key, "score_keys": dict(keys.score_keys)}
