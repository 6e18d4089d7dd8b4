"""What a suite is scored by: a method of Arthur Bench's by its name, or something of one's own."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.contracts.model import ModelChoice
from proctor.core.names import parse_model
from proctor.core.suite import Json, Spec, Suite
from proctor.errors import UsageError
from proctor.origins.arthur.errors import MissingParameterError, UserValueError
from proctor.origins.arthur.method_table import CUSTOM, METHODS, UNIT_TESTS, method_named, specs_of
from proctor.origins.arthur.own_scorers import OwnScorer

VARIABLE = "PROCTOR_JUDGE"
_OF_A_SCORER = ("run_batch", "arun_batch", "run", "arun", "to_dict", "from_dict")
"""What a scoring method of Arthur Bench's can be asked for besides its name."""


class ScoringMethod:
    """A configured method of Arthur Bench: ``ScoringMethod("bertscore", model_type=…)``."""

    def __init__(self, name: str, **config: Json) -> None:
        try:
            method = method_named(name)
        except UsageError as error:
            raise UserValueError(str(error)) from None
        if strange := sorted(config.keys() - method.config):
            settings = ", ".join(sorted(method.config)) or "nothing"
            raise UserValueError(f"{name} has no setting {strange[0]!r} (known are: {settings})")
        self.name = name
        self.config = dict(config)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_A_SCORER:
            raise AttributeError(
                f"{self.name} has no {name} of its own: it scores through a suite"
                f" (fix: TestSuite(NAME, {self.name!r}, …).run(RUN, candidate_output_list=[…]))"
            )
        raise AttributeError(f"ScoringMethod has no {name!r}")

    def __repr__(self) -> str:
        settings = "".join(f", {name}={value!r}" for name, value in self.config.items())
        return f"ScoringMethod({self.name!r}{settings})"

    @property
    def requires_reference(self) -> bool:
        """Tell whether suites of this method need references."""
        return METHODS[self.name].requires_reference

    def specs(self, compat: str, count: int) -> Sequence[Spec]:
        """Return what each of so many cases is scored by."""
        config = dict(self.config)
        folder = config.pop("unit_test_dir", None)
        if self.name == UNIT_TESTS and folder is not None and not config.get("unit_tests"):
            config["unit_tests"] = _tests_in(Path(folder))
        if self.name == UNIT_TESTS and not config.get("unit_tests"):
            words = "give unit_tests=[…] or unit_test_dir=…, one test a case in their order"
            raise MissingParameterError(f"{self.name}: {words}")
        try:
            return specs_of(self.name, config, compat, count)
        except UsageError as error:
            raise UserValueError(str(error)) from None


Scoring = ScoringMethod | OwnScorer


def chosen(value: Any) -> Scoring:
    """Take a scoring method as people give it."""
    if isinstance(value, ScoringMethod | OwnScorer):
        return value
    if isinstance(value, str):
        return OwnScorer.imported(value) if ":" in value else ScoringMethod(value)
    return OwnScorer.of(value)


def specs_for(scoring: Scoring, compat: str, count: int) -> Sequence[Spec]:
    """Return what each of so many cases is scored by."""
    if isinstance(scoring, OwnScorer):
        return [scoring.spec] * count
    return scoring.specs(compat, count)


def stored_in(suite: Suite) -> Scoring:
    """Return what a stored suite is scored by; somebody's own code is not imported."""
    criterion = suite.cases[0].criteria[0]
    if criterion.scorer.name == CUSTOM:
        return OwnScorer.of_spec(criterion.scorer)
    return ScoringMethod(criterion.id)


def difference(suite: Suite, value: Any) -> str:
    """Say how a scoring method differs from that of a stored suite; nothing if it does not.

    A bare name stands for the method however it was configured.
    """
    criterion = suite.cases[0].criteria[0]
    scoring = chosen(value)
    if isinstance(scoring, OwnScorer) != (criterion.scorer.name == CUSTOM):
        return f"it is scored by {_shown(suite)}, not by {scoring.name}"
    if isinstance(scoring, OwnScorer):
        saved = OwnScorer.of_spec(criterion.scorer)
        if scoring.name != saved.name:
            return f"it is scored by {saved.name}, not by {scoring.name}"
        if scoring.path != saved.path:
            return f"its {saved.name} is {saved.path or 'of a notebook'}, not {scoring.path}"
        if dict(scoring.config) != dict(saved.config):
            return f"its {saved.name} has {dict(saved.config)}, not {dict(scoring.config)}"
        return ""
    if scoring.name != criterion.id:
        return f"it is scored by {criterion.id}, not by {scoring.name}"
    if not scoring.config:
        return ""
    specs = scoring.specs(suite.compat, len(suite.cases))
    if [_as_saved(case.criteria[0].scorer) for case in suite.cases] != [
        _as_saved(spec) for spec in specs
    ]:
        return f"its {criterion.id} is configured otherwise than {scoring.config}"
    return ""


def judge_choice(name: str, judge: str | ModelChoice | None) -> tuple[ModelChoice, ...]:
    """Return who judges, where the method asks somebody; the environment names the default."""
    method = METHODS.get(name)
    if method is None or not method.asks_judge:
        return ()
    choice = judge or os.environ.get(VARIABLE)
    if not choice:
        raise MissingParameterError(
            f"{name} asks a judge, and none is named (fix: pass judge='openai:NAME',"
            " 'anthropic:NAME' or 'openai:NAME@http://127.0.0.1:8000/v1', or set the environment"
            f" variable {VARIABLE} to one of these)"
        )
    if isinstance(choice, ModelChoice):
        return (choice,)
    try:
        parse_model(choice)
    except UsageError as error:
        raise UserValueError(f"judge: {error}") from None
    return (ModelChoice(spec=choice),)


def _as_saved(spec: Spec) -> Spec:
    """Return what somebody configured; suites of version 0.1.0 know nothing of ``imports``."""
    params = {name: value for name, value in spec.params.items() if name != "imports"}
    return Spec(name=spec.name, params=params)


def _shown(suite: Suite) -> str:
    criterion = suite.cases[0].criteria[0]
    params: Mapping[str, Json] = criterion.scorer.params
    return str(params.get("name") if criterion.scorer.name == CUSTOM else criterion.id)


def _tests_in(folder: Path) -> list[str]:
    if not folder.is_dir():
        raise UserValueError(f"{UNIT_TESTS}: there is no folder {folder}")
    files = sorted(file for file in folder.iterdir() if file.is_file())
    return [file.read_text(encoding="utf-8") for file in files]
