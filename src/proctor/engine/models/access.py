"""Credentials of models: only those from the same source as the address are sent."""

import os
from collections.abc import Collection, Iterable
from dataclasses import replace

from proctor import registry
from proctor.contracts.model import Model, ModelChoice
from proctor.core.access import Credentials, Source
from proctor.core.names import parse_model
from proctor.engine.run.settings import RunSettings
from proctor.errors import UsageError

FLAGS = {"candidate": "--model", "judge": "--judge", "simulator": "--simulator"}
"""The option that sets a role on the command line."""


def credentials_for(choice: ModelChoice, role: str = "candidate") -> Credentials:
    """Return the credentials that may be sent to the address of a choice, or raise a UsageError."""
    if registry.lent("model", choice.spec) is not None:
        return Credentials()
    provider = parse_model(choice.spec).name
    variable = _kind(provider).key_env
    key = f", with the key in {variable}" if variable else ""
    fix = (
        f"name the address yourself, {FLAGS[role]} {provider}:NAME@URL{key}; or let one file, or"
        " the environment, hold both"
    )
    return choice.access.to(_address(choice), fix=fix)


def permitted(settings: RunSettings, needs: Collection[str]) -> RunSettings:
    """Return settings in which every role may be used, or raise a UsageError.

    A role that nobody needs is left out instead: a file may name more than a suite uses.
    """
    if settings.model is not None:
        credentials_for(settings.model)
    simulator, judges = settings.simulator, settings.panel.judges
    if not _allowed(() if simulator is None else (simulator,), "simulator", needs):
        simulator = None
    if not _allowed(judges, "judge", needs):
        judges = ()
    return replace(settings, simulator=simulator, panel=replace(settings.panel, judges=judges))


def _allowed(choices: Iterable[ModelChoice], role: str, needs: Collection[str]) -> bool:
    try:
        for choice in choices:
            credentials_for(choice, role)
    except UsageError:
        if role in needs:
            raise
        return False
    return True


def from_file(choice: ModelChoice, path: str) -> ModelChoice:
    """Mark a choice as coming from a suite's own file."""
    source = Source(kind="file", place=path, file=path)
    return replace(choice, access=choice.access.read_from(source))


def _address(choice: ModelChoice) -> Source | None:
    """Return the source of the address; None for the provider's own."""
    spec = parse_model(choice.spec)
    if spec.params.get("urls"):
        return choice.access.source
    variable = _kind(spec.name).home_env
    if variable and os.environ.get(variable):
        return Source(kind="environment", place=f"the environment variable {variable}")
    return None


def _kind(provider: str) -> type[Model]:
    model_class: type[Model] = registry.find("model", provider)
    return model_class
