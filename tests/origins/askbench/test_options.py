"""How a task is put: flags before the environment, the environment before the file."""

from typing import Any

import pytest

from proctor.errors import Problem, UsageError
from proctor.io.findings import Findings
from proctor.origins.askbench.ini import IniValues
from proctor.origins.askbench.options import Options, Protocols
from proctor.origins.askbench.tasks import TASKS, Protocol

FATA = next(task for task in TASKS.values() if task.fata)
PLAIN = TASKS["math500"]


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GUIDANCE_MODE", "STRICT_MODE"):
        monkeypatch.delenv(name, raising=False)


def protocol(compat: str = "", task: Any = PLAIN, **options: str) -> tuple[Protocol, list[Problem]]:
    findings = Findings()
    protocols = Protocols(values=IniValues(sections={}), options=Options.of(options), compat=compat)
    return protocols.of(task, findings), findings.warnings


def test_options_are_read_from_their_texts() -> None:
    read = Options.of(
        {"max_turns": "4", "guidance": " Weak ", "strict": "yes", "tasks": "a, b,", "attempts": "2"}
    )
    assert (read.max_turns, read.guidance, read.strict) == (4, "weak", True)
    assert (read.tasks, read.attempts) == (("a", "b"), 2)
    assert Options.of({}) == Options()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"max_turns": "0"}, "--max-turns must be a whole number of at least 1"),
        ({"attempts": "x"}, "--attempts"),
        ({"guidance": "loud"}, "unknown guidance 'loud'"),
        ({"strict": "maybe"}, "strict is 'maybe'"),
    ],
)
def test_a_wrong_option_is_named(values: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Options.of(values)


def test_a_flag_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert protocol()[0] == Protocol(compat="", max_turns=None, guidance="none", strict=False)
    monkeypatch.setenv("GUIDANCE_MODE", "WEAK")
    monkeypatch.setenv("STRICT_MODE", "1")
    from_environment, _ = protocol()
    assert (from_environment.guidance, from_environment.strict) == ("weak", True)
    flagged, _ = protocol(guidance="strong", strict="0")
    assert (flagged.guidance, flagged.strict) == ("strong", False)


def test_the_original_takes_a_wrong_environment_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GUIDANCE_MODE", "loud")
    monkeypatch.setenv("STRICT_MODE", "maybe")
    kept, _ = protocol("original")
    assert (kept.guidance, kept.strict) == ("none", False)
    with pytest.raises(UsageError, match="GUIDANCE_MODE is 'loud'"):
        protocol()
    monkeypatch.delenv("GUIDANCE_MODE")
    with pytest.raises(UsageError, match="STRICT_MODE is 'maybe'"):
        protocol()


def test_strict_mode_does_not_change_fata_and_that_is_told() -> None:
    assert len(protocol(task=FATA, strict="1")[1]) == 1
    assert protocol(task=FATA)[1] == []
    assert protocol("original", FATA, strict="1")[1] == []
    assert protocol(strict="1")[1] == []
