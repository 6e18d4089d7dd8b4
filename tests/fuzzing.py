"""What strangers may hand in, and what is done with it: for the fuzzers under hypothesis and atheris.

Every target takes bytes or texts and may raise a ProctorError, or what its caller catches; anything
else is a finding. ``within`` makes a hang one, too.
"""

import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz_seeds import ANSWER_SUITE, Files
from proctor.core.expression import Expression, Several
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.suite import Suite
from proctor.engine.run import read_suite as read_suite_module
from proctor.engine.run.scorer_pool import Dialogues, Scorers
from proctor.engine.run.settings import SuiteSettings
from proctor.errors import ProctorError

SECONDS = 10.0
"""How long one input may take: far above what any needs, on a machine that does other things."""


class TooLong(BaseException):
    """Say that an input took longer than it may."""


@contextmanager
def within(seconds: float = SECONDS) -> Iterator[None]:
    """Interrupt what takes too long, which also ends what waits."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TooLong(f"an input took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def read_suite(dialect: str, name: str, files: Files, *, named: bool = True) -> int:
    """Read a suite out of some files, do what `proctor check` does, and return how many cases."""
    with tempfile.TemporaryDirectory() as folder:
        for file, data in files.items():
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        options = {}
        if dialect == "colossal":
            options = {"target_file": str(Path(folder, "targets.json"))}
        settings = SuiteSettings(
            path=Path(folder, name),
            dialect=dialect if named else "",
            options=options if named else {},
        )
        try:
            readings = read_suite_module.read_all(settings)
        except ProctorError:
            return 0
        cases = 0
        for reading in readings:
            suite = reading.suite
            cases += len(suite.cases)
            suite_key(suite, [case_key(case) for case in suite.cases])
            list(Scorers(allow_import=False, language=suite.language).problems(suite))
            list(Dialogues(allow_import=False).problems(suite))
        return cases


def read_answers(data: bytes, ending: str = ".jsonl") -> int:
    """Read answers to a small suite."""
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder, "answers" + ending)
        answers.write_bytes(data)
        try:
            return sum(1 for _ in read_suite_module.answers(answers, answered()))
        except ProctorError:
            return 0


@cache
def answered() -> Suite:
    """Return the suite that answers are read for."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "suite.yaml")
        path.write_bytes(ANSWER_SUITE)
        return read_suite_module.read(SuiteSettings(path=path)).suite


def read_rounds(data: bytes, ending: str = ".json") -> None:
    """Read what an agent did, from a file."""
    from proctor.agents.recorded import read_rounds as read

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rounds" + ending)
        path.write_bytes(data)
        try:
            list(read(path, ["one"]))
        except ProctorError:
            return


def read_reply(text: str) -> None:
    """Read a judge's reply in every way there is; callers take a ValueError as unreadable."""
    from proctor.dialogues import verdicts
    from proctor.judging import parsing as reading
    from proctor.origins.arthur import scorers as arthur
    from proctor.origins.askbench import dialogue
    from proctor.origins.askbench import scorers as askbench
    from proctor.origins.colossal.scorers import digit_in
    from proctor.origins.taskweaver.scorers import read_hit
    from proctor.scorers.judged.asking_judge import Correctness
    from proctor.scorers.judged.rating_metric import Rated

    kinds = (
        Correctness,
        Rated,
        verdicts.ClarifyVerdict,
        verdicts.AnswerVerdict,
        verdicts.FataVerdict,
    )
    readers: list[Callable[[str], Any]] = [
        lambda said, kind=kind: reading.read(said, kind) for kind in kinds
    ]  # fmt: skip
    readers += [dialogue.read_object, askbench.read_result, askbench.read_met]
    readers += [arthur.read_correct, arthur.read_choice, digit_in, read_hit]
    for read in readers:
        try:
            read(text)
        except (ValueError, ProctorError):
            continue


NAMES: Mapping[str, Any] = {
    "rate": 0.5,
    "accuracy": {"value": 0.6, "low": 0.4, "high": None},
    "lang": "python",
    "tags": Several(("a", "b")),
    "nothing": None,
    "id": "x",
}


def compute(text: str) -> None:
    """Compute a filter or a gate."""
    try:
        Expression(text).holds(NAMES)
    except ProctorError:
        return
