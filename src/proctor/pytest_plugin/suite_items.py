"""Suites as tests: a collector for each file, an item for each case and each gate."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.run.read_suite import read
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.errors import ProctorError
from proctor.pytest_plugin.names import SUMMARY
from proctor.pytest_plugin.suite_runs import SuiteOutcome, outcome_of, settings_of
from proctor.reports.reasons import one_line

_NEAR = 1e-9
_LINE = re.compile(r":(\d+)\Z")
_NOBODY = (
    "no candidate: name one with --proctor-model, --proctor-agent or --proctor-answers, or put"
    " NAME.answers.jsonl beside NAME.suite.yaml"
)


class CaseFailure(Exception):
    """A case that got too few points, or a gate that was missed."""


class CollectedSuite(pytest.File):
    """A suite whose cases are tests."""

    ids: frozenset[str] = frozenset()
    """All its cases."""
    settings: RunSettings | None = None
    """How it is run, with the suite as it was read; None where no candidate is named."""
    shared_outcome: SuiteOutcome | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each case, then one for each gate."""
        try:
            settings = settings_of(self.config, self.path)
            suite_settings = SuiteSettings(path=self.path) if settings is None else settings.suite
            reading = read(suite_settings)
        except ProctorError as error:
            raise self.CollectError(str(error)) from None
        cases = reading.suite.cases
        self.ids = frozenset(case.id for case in cases)
        if settings is not None:
            self.settings = replace(settings, suite=replace(settings.suite, in_memory=reading))
        for case in cases:
            yield CaseTest.from_parent(self, name=case.id, source=case.source)
        for gate in () if settings is None else settings.gates:
            yield GateTest.from_parent(self, name=f"gate: {gate}", gate=gate)

    def outcome(self) -> SuiteOutcome:
        """Return what the chosen cases of the suite came to."""
        if self.settings is None:
            pytest.skip(_NOBODY)
        if self.shared_outcome is None:
            chosen = {item.name for item in self.session.items if _is_case_of(item, self)}
            some = chosen if chosen < self.ids else None
            self.shared_outcome = outcome_of(self.config, self.settings, some)
        if self.shared_outcome.error:
            pytest.fail(self.shared_outcome.error, False)
        return self.shared_outcome


class SuiteTest(pytest.Item):
    """A test that looks at a part of what a suite came to."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        assert isinstance(self.parent, CollectedSuite)
        self.suite = self.parent

    def outcome(self) -> SuiteOutcome:
        """Return what the suite came to, and note it in the report of this test."""
        outcome = self.suite.outcome()
        self.user_properties.append((SUMMARY, outcome.summary))
        return outcome

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show why points are missing, without the code of this plugin."""
        if isinstance(excinfo.value, CaseFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class CaseTest(SuiteTest):
    """A case of a suite, which passes with enough of its full marks."""

    def __init__(self, *, source: str = "", **fields: Any) -> None:
        super().__init__(**fields)
        self.source = source

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the case is written."""
        line = _LINE.search(self.source)
        return self.path, None if line is None else int(line[1]) - 1, f"case {self.name}"

    def runtest(self) -> None:
        """Fail unless the case has enough points."""
        case = self.outcome().cases[self.name]
        least = self.config.getoption("--proctor-min") * case.full
        if case.value is not None and case.value >= least - _NEAR:
            return
        worth = case.status if case.value is None else f"worth {case.value:g} of {case.full:g}"
        lines = [f"{self.name}: {worth}", *(f"  {one_line(line)}" for line in case.why)]
        for title, text in (("asked", case.question), ("answered", case.answered)):
            lines += [f"{title}:", *(f"  {one_line(line)}" for line in text.splitlines())]
        raise CaseFailure("\n".join(lines))


class GateTest(SuiteTest):
    """A gate on the run of a suite."""

    def __init__(self, *, gate: str = "", **fields: Any) -> None:
        super().__init__(**fields)
        self.gate = gate

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the suite is written."""
        return self.path, None, f"gate {self.gate}"

    def runtest(self) -> None:
        """Fail unless the gate holds."""
        gate = self.outcome().gates.get(self.gate)
        if gate is None:
            pytest.skip("a gate is about all cases of a suite, and only some were chosen")
        is_met, words = gate
        if not is_met:
            raise CaseFailure(f"gate missed: {words}")


def _is_case_of(item: pytest.Item, suite: CollectedSuite) -> bool:
    return isinstance(item, CaseTest) and item.suite.path == suite.path
