"""Run files from Python: what they say, as options of ``evaluate``; what a program says wins."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from proctor.api.options import EvaluateOptions, ReadOptions
from proctor.core.exchange import Sampling
from proctor.core.suite import VARIANT

if TYPE_CHECKING:
    from proctor.contracts.report import RunView

_NAMES = {
    "models": "model", "judges": "judge", "prompts": "prompt", "gates": "gate",
    "headers": "header", "prices": "price", "price_file": "prices", "variant": VARIANT,
    "agent_options": "agent_option", "dialect_options": "dialect_option",
}  # fmt: skip
"""What the command line calls options inside, and what they are here."""
_PAIRS = ("header", "agent_option", "dialect_option")
_SAMPLING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort")


@dataclass(frozen=True, slots=True)
class WrittenReports:
    """The reports that a run file asks for."""

    wanted: tuple[Any, ...] = ()

    def write(self, views: "Sequence[RunView]") -> None:
        """Write them."""
        if self.wanted:
            from proctor.cli.run_file import write_reports

            write_reports(list(views), self.wanted, quiet=True)


def is_run_file(path: Path) -> bool:
    """Tell whether a path is that of a run file, and not of a suite."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        return False
    from proctor.cli import options

    return options.is_run_file(path)


def with_run_file(
    path: Path, candidate: Any, options: Mapping[str, Any]
) -> tuple[Path, Any, EvaluateOptions, WrittenReports]:
    """Return the suite, the candidate and the options of a run file, and its reports.

    A candidate that a program names stands in the place of the file's.
    """
    from proctor.cli.run_file import RunFile

    values = RunFile.read(path)
    suite, reports = values.pop("spec"), WrittenReports(values.pop("reports", ()))
    own = ReadOptions.of(options).values
    written = {_NAMES.get(name, name): value for name, value in values.items()}
    if candidate is not None or {"model", "agent", "answers"} & own.keys():
        for name in ("model", "agent", "answers"):
            written.pop(name, None)
    merged = {**{name: _read(name, value) for name, value in written.items()}, **own}
    evaluate_options = {
        name: value for name, value in merged.items() if name in EvaluateOptions.__annotations__
    }
    drawn: dict[str, Any] = {name: merged.get(name) for name in _SAMPLING}
    sampling = Sampling(**drawn)
    sampling_and_system = {"sampling": sampling, "system": merged.get("system") or ""}
    effort = merged.get("judge_reasoning_effort")
    for name, how in (
        ("model", sampling_and_system),
        ("judge", {"sampling": Sampling(reasoning_effort=effort)}),
        ("simulator", {}),
    ):
        if name in evaluate_options:
            evaluate_options[name] = _chosen(evaluate_options[name], how)
    return suite, candidate, cast(EvaluateOptions, evaluate_options), reports


def _read(name: str, value: Any) -> Any:
    """Read what the command line keeps as texts ``NAME=VALUE``."""
    if name not in _PAIRS:
        return value
    pairs = (text.partition("=") for text in value)
    return {key.strip(): _plain(text) if name == "agent_option" else text for key, _, text in pairs}


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _chosen(model: Any, how: Mapping[str, Any]) -> Any:
    """Return the models of a file as choices; names and objects are left as they are."""
    from proctor.cli.run_file import WrittenModel

    if isinstance(model, WrittenModel):
        return model.choice(how)
    if isinstance(model, tuple):
        return [_chosen(one, how) for one in model]
    return model
