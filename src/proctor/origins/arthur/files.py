"""The files that Arthur Bench keeps of suites and runs, written where it writes them."""

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from proctor.core.suite import Json, Suite
from proctor.origins.arthur.described import described
from proctor.origins.arthur.errors import UserValueError
from proctor.origins.arthur.folder import INDEX, RUN, SUITE
from proctor.origins.arthur.ids import case_uuid, suite_uuid

VARIABLE = "BENCH_FILE_DIR"
USUAL = "bench_runs"
RUNS_INDEX = "run_id_to_name.json"
_LOCK = ".lock"
_PAGING: Mapping[str, Json] = dict.fromkeys(("page", "page_size", "total_pages", "total_count"))


def folder_for(directory: str | os.PathLike[str] | None, place: str | None) -> "BenchFiles | None":
    """Return where files are written: as told, as the environment says, or where they usually are.

    Nowhere for an empty path, and where somebody named a store of their own instead.
    """
    chosen = directory if directory is not None else os.environ.get(VARIABLE)
    if chosen is None and place is None:
        chosen = USUAL
    return BenchFiles(Path(chosen)) if chosen is not None and os.fspath(chosen) else None


@dataclass(frozen=True)
class BenchFiles:
    """A folder with a folder for each suite, and in that one for each of its runs."""

    root: Path

    def has(self, suite_name: str) -> bool:
        """Tell whether there is a suite of this name."""
        return (self.root / suite_name / SUITE).is_file()

    def put_suite(self, suite: Suite, key: str) -> None:
        """Write a suite that is not there yet."""
        ident = suite_uuid(key, suite.version)
        with self._writing():
            if self._is_another(self.root / suite.name / SUITE, ident):
                return
            if not self.has(suite.name):
                self._write(self.root / suite.name / SUITE, _suite_object(suite, key))
            self._note(self.root / INDEX, ident, suite.name)

    def put_run(self, run: Mapping[str, Json], suite: Suite, key: str, run_id: str) -> None:
        """Write a run, and note it with its suite."""
        self.put_suite(suite, key)
        home = self.root / suite.name
        name, ident = run["name"], UUID(run["id"])
        with self._writing():
            if self._is_another(home / SUITE, suite_uuid(key, suite.version)):
                return
            file = home / name / RUN
            if self._is_another(file, ident):
                return
            new = not file.is_file()
            now = _now()
            times = {"created_at": now, "updated_at": now}
            self._write(file, {**run, **times, **_PAGING, "proctor": {"run": run_id}})
            self._note(home / RUNS_INDEX, ident, name)
            saved_suite = _read(home / SUITE)
            saved_suite["last_run_time"] = _now()
            saved_suite["num_runs"] = int(saved_suite.get("num_runs") or 0) + new
            self._write(home / SUITE, saved_suite)

    def _is_another(self, file: Path, ident: UUID) -> bool:
        """Tell whether a file holds something else of the same name, and warn of it."""
        if not file.is_file() or str(_read(file).get("id")) == str(ident):
            return False
        warnings.warn(
            f"{file} holds another of this name, and is left as it is; what is in the store is"
            " complete",
            stacklevel=2,
        )
        return True

    def _note(self, index: Path, ident: UUID, name: str) -> None:
        names = _read(index) if index.is_file() else {}
        if names.get(str(ident)) != name:
            self._write(index, {**names, str(ident): name})

    def _write(self, path: Path, content: Json) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
        partial.replace(path)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Let one process write at a time."""
        import fcntl

        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with (self.root / _LOCK).open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise UserValueError(
                f"the files of Arthur Bench cannot be written to {self.root}:"
                f" {error.strerror or error} (fix: name another folder with directory=…, or none"
                " with directory='')"
            ) from None


def _suite_object(suite: Suite, key: str) -> dict[str, Json]:
    now = _now()
    cases = [
        {
            "id": str(case_uuid(key, case.id)),
            "input": case.prompt,
            "reference_output": case.references[0] if case.references else None,
        }
        for case in suite.cases
    ]
    return {
        "id": str(suite_uuid(key, suite.version)),
        "name": suite.name,
        "scoring_method": described(suite.cases[0], suite.compat).object(),
        "test_cases": cases,
        "created_at": now,
        "updated_at": now,
        "description": suite.description or None,
        "last_run_time": None,
        "num_runs": 0,
        **_PAGING,
        "proctor": {"compat": suite.compat},
    }


def _read(path: Path) -> dict[str, Json]:
    """Return the mapping in a file; nothing where there is none that can be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _now() -> str:
    """Return the present time as Arthur Bench writes it: local, to the microsecond."""
    return datetime.now().isoformat(timespec="microseconds")  # noqa: DTZ005 - without a zone
