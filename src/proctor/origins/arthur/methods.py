"""What a suite is scored by: a method of Arthur Bench's by its name, or something of one's own."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.contracts.model import ModelChoice
from proctor.core.model_name import parse_model
from proctor.core.suite import Json, Spec, Suite
from proctor.errors import UsageError
from proctor.origins.arthur.errors import MissingParameterError, UserValueError
from proctor.origins.arthur.method_table import CUSTOM, METHODS, UNIT_TESTS, method_named, specs_of
from proctor.origins.arthur.own_scorers import OwnScorer

VARIABLE = "PROCTOR_JUDGE"
_OF_A_SCORER = ("run_batch", "arun_batch", "run", "arun", "to_dict", "from_dict")
"""What a scoring method of Arthur Bench's can be asked for besides its name."""


class ScoringMethod:
    """Hold a method of Arthur Bench's, configured: ``ScoringMethod("bertscore", model_type=…)``."""

    def __init__(self, name: str, **config: Json) -> None:
        try:
            method = method_named(name)
        except UsageError as error:
            raise UserValueError(str(error)) from None
        if strange := sorted(config.keys() - method.config):
            known = ", ".join(sorted(method.config)) or "nothing"
            raise UserValueError(f"{name} cannot be told {strange[0]!r} (it can be told: {known})")
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
        told = "".join(f", {name}={value!r}" for name, value in self.config.items())
        return f"ScoringMethod({self.name!r}{told})"

    @property
    def requires_reference(self) -> bool:
        """Tell whether suites of this method need references."""
        return METHODS[self.name].requires_reference

    def specs(self, compat: str, count: int) -> Sequence[Spec]:
        """Return what each of so many cases is judged by."""
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


def chosen(given: Any) -> Scoring:
    """Take a scoring method as people give it."""
    if isinstance(given, ScoringMethod | OwnScorer):
        return given
    if isinstance(given, str):
        return OwnScorer.imported(given) if ":" in given else ScoringMethod(given)
    return OwnScorer.of(given)


def specs_for(scoring: Scoring, compat: str, count: int) -> Sequence[Spec]:
    """Return what each of so many cases is judged by."""
    if isinstance(scoring, OwnScorer):
        return [scoring.spec] * count
    return scoring.specs(compat, count)


def stored_in(suite: Suite) -> Scoring:
    """Return what a stored suite is scored by; somebody's own code is not imported."""
    criterion = suite.cases[0].criteria[0]
    if criterion.scorer.name == CUSTOM:
        return OwnScorer.of_spec(criterion.scorer)
    return ScoringMethod(criterion.id)


def difference(suite: Suite, given: Any) -> str:
    """Say how a scoring method differs from that of a stored suite; nothing if it does not.

    A bare name stands for the method however it was configured.
    """
    criterion = suite.cases[0].criteria[0]
    wanted = chosen(given)
    if isinstance(wanted, OwnScorer) != (criterion.scorer.name == CUSTOM):
        return f"it is scored by {_shown(suite)}, not by {wanted.name}"
    if isinstance(wanted, OwnScorer):
        saved = OwnScorer.of_spec(criterion.scorer)
        if wanted.name != saved.name:
            return f"it is scored by {saved.name}, not by {wanted.name}"
        if wanted.path != saved.path:
            return f"its {saved.name} is {saved.path or 'of a notebook'}, not {wanted.path}"
        if dict(wanted.config) != dict(saved.config):
            return f"its {saved.name} has {dict(saved.config)}, not {dict(wanted.config)}"
        return ""
    if wanted.name != criterion.id:
        return f"it is scored by {criterion.id}, not by {wanted.name}"
    if not wanted.config:
        return ""
    specs = wanted.specs(suite.compat, len(suite.cases))
    if [_told(case.criteria[0].scorer) for case in suite.cases] != [_told(spec) for spec in specs]:
        return f"its {criterion.id} is configured otherwise than {wanted.config}"
    return ""


def judge_choice(name: str, given: str | ModelChoice | None) -> tuple[ModelChoice, ...]:
    """Return who judges, where the method asks somebody; the environment names the default."""
    method = METHODS.get(name)
    if method is None or not method.asks_judge:
        return ()
    found = given or os.environ.get(VARIABLE)
    if not found:
        raise MissingParameterError(
            f"{name} asks a judge, and none is named (fix: pass judge='openai:NAME',"
            " 'anthropic:NAME' or 'openai:NAME@http://127.0.0.1:8000/v1', or set the environment"
            f" variable {VARIABLE} to one of these)"
        )
    if isinstance(found, ModelChoice):
        return (found,)
    try:
        parse_model(found)
    except UsageError as error:
        raise UserValueError(f"judge: {error}") from None
    return (ModelChoice(spec=found),)


def _told(spec: Spec) -> Spec:
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
    files = sorted(found for found in folder.iterdir() if found.is_file())
    return [found.read_text(encoding="utf-8") for found in files]
