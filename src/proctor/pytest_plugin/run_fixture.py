"""The fixture ``proctor_run``: evaluation with the session's options, held to a marker's limits."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from proctor.api.evaluate import evaluate_all
from proctor.api.options import EvaluateOptions
from proctor.pytest_plugin.names import UNMET
from proctor.suggestions import closest, did_you_mean

if TYPE_CHECKING:
    from proctor.api.results import RunResult
    from proctor.api.several_runs import Runs

LIMITS = ("min_rate", "min_rate_low")
SHOWN = 10
"""How many cases short of full marks are shown."""


def limited_evaluate(request: pytest.FixtureRequest) -> "Callable[..., RunResult | Runs]":
    """Return ``evaluate`` with the options of the session and of the test's marker."""
    marker = request.node.get_closest_marker("proctor")
    marked = {} if marker is None else dict(marker.kwargs)
    if marker is not None and marker.args:
        pytest.fail("the marker proctor takes options by name: proctor(attempts=3)", False)
    limits = {name: marked.pop(name) for name in LIMITS if name in marked}
    _check_names(marked)
    defaults = {**_session_options(request.config), **marked}
    request.node.stash[UNMET] = bool(limits)

    def run(cases: Any, candidate: Any = None, **options: Any) -> "RunResult | Runs":
        if candidate is None:
            candidate = _session_candidate(request.config)
        request.node.stash[UNMET] = False
        runs = evaluate_all(cases, candidate, **{**defaults, **options})
        for result in runs:
            if missed := missed_limits(result.rate, result.interval, limits):
                pytest.fail(f"{missed}\n\n{_shown(result)}", False)
        return runs[0] if len(runs) == 1 else runs

    return run


def _check_names(marked: dict[str, Any]) -> None:
    """Say which option of the marker was meant by one that nobody knows."""
    option_names = {*EvaluateOptions.__annotations__, "criteria"}
    for name in marked:
        # Names near those of limits are looked for here; `evaluate` knows all others.
        close = closest(name, [*option_names, *LIMITS])
        if name not in option_names and close in LIMITS:
            pytest.fail(f"the marker proctor has no limit {name!r} ({did_you_mean(close)})", False)


def missed_limits(
    rate: float | None, interval: tuple[float, float] | None, limits: dict[str, float]
) -> str:
    """Say which limit a run does not reach; nothing where it reaches all of them."""
    values = {"min_rate": rate, "min_rate_low": None if interval is None else interval[0]}
    words = {"min_rate": "the rate", "min_rate_low": "the lower end of the rate's interval"}
    for name, least in limits.items():
        value = values[name]
        if value is None:
            return f"{words[name]} is not known, and should be at least {least:g} ({name})"
        if value < least:
            return f"{words[name]} is {value:.4g}, and should be at least {least:g} ({name})"
    return ""


def _session_options(config: pytest.Config) -> dict[str, Any]:
    """Return what the command line says for all evaluations."""
    options = {
        "store": config.getoption("--proctor-store"),
        "judge": config.getoption("--proctor-judge"),
        "attempts": config.getoption("--proctor-attempts"),
    }
    return {"progress": False, **{name: value for name, value in options.items() if value}}


def _session_candidate(config: pytest.Config) -> Any:
    for name in ("model", "agent", "answers"):
        if (value := config.getoption(f"--proctor-{name}")) is not None:
            return value
    return None


def _shown(run: "RunResult") -> str:
    """Return the table of a run, and why the first cases lost points."""
    lines = [str(run).rstrip()]
    short = [case for case in run.cases if case.value is None or case.value < case.full]
    for case in short[:SHOWN]:
        why = case.why if isinstance(case.why, str) else "; ".join(case.why)
        lines.append(f"{case.id}: {why}")
    if len(short) > SHOWN:
        lines.append(f"… and {len(short) - SHOWN} more")
    return "\n".join(lines)
