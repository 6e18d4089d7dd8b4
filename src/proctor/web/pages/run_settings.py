"""How a run was set: its candidate, judges and options by name, and where runs differ."""

import json
from collections.abc import Iterator, Mapping, Sequence

from proctor.core.run import Run
from proctor.core.suite import Json
from proctor.web.api.response import ResponseModel

LONGEST = 200
_LEFT_OUT = ("stopped_early", "regraded")
_OUTCOMES = ("n", "unanswered", "unscored", "ci")
"""Parts of a signature that say how a run came out, not how it was set."""


class RunSetting(ResponseModel):
    """A setting of a run."""

    name: str
    value: str


class SettingDifference(ResponseModel):
    """A setting that is not the same in all runs; None where a run does not have it."""

    name: str
    values: list[str | None]


def settings_of(run: Run) -> list[RunSetting]:
    """Return all settings of a run, and the parts of its signature that name none."""
    return [
        RunSetting(name=name.removeprefix("signature."), value=value)
        for name, value in dict(_settings(run)).items()
        if name not in ("suite", "signature.suite")
    ]


def setting_differences(runs: Sequence[Run]) -> list[SettingDifference]:
    """Return the settings and parts of the signature that are not the same in all runs."""
    rows = [dict(_settings(run)) for run in runs]
    names = dict.fromkeys(name for row in rows for name in row)
    differences = [
        SettingDifference(name=name, values=[row.get(name) for row in rows]) for name in names
    ]
    return [one for one in differences if len(set(one.values)) > 1]


def _settings(run: Run) -> Iterator[tuple[str, str]]:
    yield "suite", f"{run.suite} ({run.suite_key[:12]})"
    yield from _flat("candidate", {"name": run.candidate.name, **run.candidate.params})
    for name, value in run.settings.items():
        if name not in _LEFT_OUT:
            yield from _flat(name, value)
    for name, value in run.signed.parts.items():
        if name not in _OUTCOMES and not (name == "attempts" and name in run.settings):
            yield from _flat(f"signature.{name}", value)


def _flat(name: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for part, inner in value.items():
            yield from _flat(f"{name}.{part}", inner)
        return
    if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        for number, one in enumerate(value):
            yield from _flat(f"{name}.{number + 1}" if len(value) > 1 else name, one)
        return
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if value not in (None, "", [], ()):
        yield name, text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
