"""Runs of suites within a session of pytest: made once, whatever the number of workers."""

import fcntl
import json
import shlex
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest

from proctor.cli.options import run_settings
from proctor.cli.run import run as run_command
from proctor.core.fingerprint import digest
from proctor.core.run import CaseResult
from proctor.core.tool_calls import answer_text
from proctor.engine.run.evaluate import Outcome, evaluate
from proctor.engine.run.gates import gate_results
from proctor.engine.run.settings import RunSettings
from proctor.errors import ProctorError, UsageError
from proctor.io.concurrency import run_sync
from proctor.pytest_plugin.names import SHARED
from proctor.reports.reasons import reasons
from proctor.store.store import Store

LONGEST = 2000
"""How many characters of a question or an answer are shown."""
_FOLDER = pytest.StashKey[Path]()
_ANSWERS = ".answers.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """What a case came to, as its test needs it."""

    status: str
    value: float | None
    full: float
    why: list[str]
    question: str
    answered: str

    @classmethod
    def of(cls, result: CaseResult) -> "CaseOutcome":
        """Take it from a case of a run; of several answers, one that lost points is shown."""
        worst = min(result.attempts, key=lambda item: _worth(item.value.value), default=None)
        messages = result.case.messages
        return cls(
            status=result.folded.status.value,
            value=result.folded.value,
            full=result.case.full_score,
            why=reasons(result),
            question=_cut(messages[-1].content) if messages else "",
            answered="" if worst is None else _cut(answer_text(worst.attempt)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOutcome:
    """What a run of a suite came to."""

    summary: str
    cases: dict[str, CaseOutcome]
    gates: dict[str, tuple[bool, str]]
    """By the gate, whether it held, and its words."""
    error: str = ""
    """Why there is no run."""

    @classmethod
    def read(cls, text: str) -> "SuiteOutcome":
        """Read what another worker wrote."""
        data = json.loads(text)
        cases = {name: CaseOutcome(**case) for name, case in data["cases"].items()}
        gates = {name: (is_met, words) for name, (is_met, words) in data["gates"].items()}
        return cls(summary=data["summary"], cases=cases, gates=gates, error=data["error"])


def outcome_of(
    config: pytest.Config, settings: RunSettings, selected: Collection[str] | None
) -> SuiteOutcome:
    """Return what a suite came to, all of it or some cases; the first who asks makes the run.

    Workers of one session share it by a file; those that come while it is made wait.
    """
    path = settings.suite.path
    key = digest("pytest", str(path), None if selected is None else sorted(selected))
    place = shared_folder(config) / f"{key}.json"
    with _locked(place):
        if place.exists():
            return SuiteOutcome.read(place.read_text(encoding="utf-8"))
        try:
            outcome = _evaluated(config, settings, selected)
        except ProctorError as error:
            outcome = SuiteOutcome(summary="", cases={}, gates={}, error=str(error))
        place.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
        return outcome


def shared_folder(config: pytest.Config) -> Path:
    """Return the folder of this session, which ends with the process that made it."""
    worker_folder = getattr(config, "workerinput", {}).get(SHARED)
    if worker_folder is not None:
        return Path(worker_folder)
    if (folder := config.stash.get(_FOLDER, None)) is None:
        folder = config.stash[_FOLDER] = Path(tempfile.mkdtemp(prefix="proctor-pytest-"))
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    return folder


def settings_of(config: pytest.Config, path: Path) -> RunSettings | None:
    """Return the settings of a suite's run; None where no candidate is named."""
    words = [*_words(config, path), *shlex.split(config.getini("proctor_args"))]
    words += shlex.split(config.getoption("--proctor-args"))
    if not any(word.split("=")[0] in ("--model", "--agent", "--answers") for word in words):
        return None
    context = run_command.make_context("proctor run", [str(path), *words])
    several = run_settings(dict(context.params))
    if len(several) != 1:
        raise UsageError("name one model: tests of several would have the same names")
    return several[0]


def _words(config: pytest.Config, path: Path) -> Iterator[str]:
    for name in ("model", "agent", "answers", "attempts"):
        if (value := config.getoption(f"--proctor-{name}")) is not None:
            yield from (f"--{name}", str(value))
    for name in ("judge", "gate"):
        for value in config.getoption(f"--proctor-{name}"):
            yield from (f"--{name}", value)
    beside = path.with_name(path.name.split(".suite.y")[0] + _ANSWERS)
    candidates = ("--proctor-model", "--proctor-agent", "--proctor-answers")
    if beside.exists() and not any(config.getoption(name) for name in candidates):
        yield from ("--answers", str(beside))


def _evaluated(
    config: pytest.Config, settings: RunSettings, selected: Collection[str] | None
) -> SuiteOutcome:
    if selected is not None:
        suite = replace(settings.suite, select=tuple(sorted(selected)))
        settings = replace(settings, suite=suite, gates=())
    with Store.open(config.getoption("--proctor-store")) as store:
        outcome = run_sync(evaluate(settings, store))
        cases = {one.case.id: CaseOutcome.of(one) for one in outcome.view.results()}
    results = gate_results(settings.gates, outcome.view.summary)
    return SuiteOutcome(
        summary=_summary(settings.suite.path, outcome, "" if selected is None else "chosen "),
        cases=cases,
        gates={result.gate: (result.passed, result.words) for result in results},
    )


def _summary(path: Path, outcome: Outcome, which: str) -> str:
    view = outcome.view
    totals = view.summary.totals
    rate = "no rate" if totals.rate is None else f"{totals.rate * 100:.1f}%"
    ends = totals.interval
    interval = "" if ends is None else f" ({ends[0] * 100:.1f}–{ends[1] * 100:.1f}%)"
    counts = f"{totals.cases} {which}case{'' if totals.cases == 1 else 's'}"
    return f"{path.name}: {rate}{interval}, {counts}, run {view.run.name} ({view.run.id})"


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    with place.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _worth(value: float | None) -> float:
    return -1.0 if value is None else value


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
