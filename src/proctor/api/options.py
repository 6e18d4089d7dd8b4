"""Options of an evaluation from Python: those of the command line, by the same names."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args, get_origin

from proctor import origin_tables, registry
from proctor.api.function_models import AModel, choice_of
from proctor.api.stores import RunOfStore, StorePlace
from proctor.api.tables import AnyAnswers
from proctor.contracts.measure import Measure
from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Sampling
from proctor.core.suite import CandidatePrompt, Spec
from proctor.engine.run.settings import (
    MAX_UNSCORED,
    CallSettings,
    JudgeSettings,
    StopSettings,
    SuiteSettings,
)
from proctor.errors import UsageError
from proctor.suggestions import LOOSELY, suggest

if TYPE_CHECKING:
    from proctor.contracts.agent import Agent

AMeasure = str | Mapping[str, Any] | Measure | type[Measure]
"""A measure: its name, a mapping as in a suite, or an object."""


class EvaluateOptions(TypedDict, total=False):
    """The options of an evaluation; each is the one of the command line with this name."""

    attempts: int
    again: str
    fresh: bool
    """Whether everything is asked anew, whatever is stored."""
    name: str
    suite: str
    """What cases in memory are called together."""
    columns: Mapping[str, str]
    """What columns of a table, or keys of mappings, are here: ``{"frage": "ask"}``."""
    model: AModel | Sequence[AModel]
    """The candidate, as on the command line; several make a run each."""
    agent: "str | Agent | Callable[..., Any]"
    answers: str | Path | AnyAnswers
    prompt: str | CandidatePrompt | Sequence[str | CandidatePrompt] | Mapping[str, str]
    """Prompts by name or file, or as templates: ``{"short": "Be brief. {{ ask }}"}``."""
    measures: AMeasure | Sequence[AMeasure]
    judge: AModel | Sequence[AModel]
    panel: Literal["mean", "median", "majority"]
    judge_repeats: int
    judge_reasoning_effort: str
    tie: Literal["0", "half", "unscored"]
    simulator: AModel
    temperature: float
    top_p: float
    top_k: int
    max_tokens: int
    seed: int
    reasoning_effort: str
    system: str
    proxy: AModel
    agent_option: Mapping[str, Any]
    variants: Mapping[str, Mapping[str, Any]]
    """Variants of the agent by name, with the parameters that each has besides; a run each."""
    where: str
    limit: int
    select: str | Sequence[str]
    dialect: str
    dialect_option: Mapping[str, Any]
    data: str | Path
    """A local copy of a recipe's rows."""
    compat: str
    root: str | Path
    allow_import: bool
    max_turns: int
    concurrency: int
    timeout: float
    attempt_timeout: float
    rpm: int
    tpm: int
    header: Mapping[str, str]
    max_cost: float
    price: Mapping[str, tuple[float, float] | str]
    """Dollars per million tokens in and out, by the name of the model."""
    prices: str | Path | Mapping[str, tuple[float, float] | str]
    """A JSON file of prices, or prices themselves."""
    batch: bool
    offline: bool
    record: str | Path
    stop_when: str
    against: str | Path | RunOfStore
    margin: float
    executor: str
    workers: int
    sandbox: str
    interval: Literal["bounded", "t", "bootstrap"]
    max_unscored: float
    gate: str | Sequence[str]
    bulk: bool
    store: str | Path | StorePlace
    parts: str
    progress: bool


_SYNONYMS: Mapping[str, str] = {
    "judges": "judge", "gates": "gate", "headers": "header",
    "agent_options": "agent_option", "dialect_options": "dialect_option", "n": "attempts",
    "models": "model", "prompts": "prompt",
    "repeats": "attempts", "epochs": "attempts", "max_concurrency": "concurrency",
}  # fmt: skip


_ELSEWHERE: Mapping[str, str] = {
    "by": "fix: run.groups, or run.report(by=['TAG'])",
    "cases": "fix: run.cases, or run.report(cases=True)",
    "junit": "fix: run.save('run.xml')",
    "markdown": "fix: run.save('run.md')",
    "json": "fix: run.save('run.json'), or run.report('json')",
    "format": "fix: run.report('md'), or run.save('run.md')",
    "layout": "fix: run.save('FOLDER', layout='ORIGIN')",
    "out": "fix: run.save('run.html'), or run.save('FOLDER', layout='ORIGIN')",
}
"""What of the command line is a method of the run here."""


def _setting_of_a_format(name: str) -> str:
    """Say where a setting goes that belongs to a format, as on the command line."""
    for flags, setting, _, _ in origin_tables.flags():
        if name in (setting, flags.partition("/")[0].removeprefix("--").replace("-", "_")):
            return f"fix: dialect_option={{{setting!r}: …}}"
    return ""


def _checked(name: str, value: Any) -> Any:
    """Return the value of an option, or say what kind of value it takes."""
    kind: Any = EvaluateOptions.__annotations__[name]
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            choices = ", ".join(map(repr, get_args(kind)))
            raise UsageError(f"{name} is one of {choices}, not {value!r:.80}")
    elif kind is bool and not isinstance(value, bool):
        raise UsageError(f"{name} is True or False, not {value!r:.80}")
    elif kind is int:
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise UsageError(f"{name} is a whole number, not {value!r:.80}")
        return int(value)
    elif kind is float and name not in _SHARES:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise UsageError(f"{name} is a number, not {value!r:.80}")
        return float(value)
    elif kind is str and not isinstance(value, str):
        raise UsageError(f"{name} is a text, not {value!r:.80}")
    return value


_SHARES = frozenset({"max_unscored"})
"""What may be written as ``"5%"``, too."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options as somebody gave them, checked for their names."""

    values: Mapping[str, Any]

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "ReadOptions":
        """Check the names of options."""
        values: dict[str, Any] = {}
        for name, value in options.items():
            own = _SYNONYMS.get(name, name)
            if own not in EvaluateOptions.__annotations__:
                hint = _ELSEWHERE.get(name) or _setting_of_a_format(name)
                hint = hint or suggest(
                    name, sorted(EvaluateOptions.__annotations__), cutoff=LOOSELY
                )
                raise UsageError(f"evaluate() has no option {name!r} ({hint})")
            if value is not None:
                values[own] = _checked(own, value)
        return cls(values)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an option, or what holds where nobody gave it."""
        return self.values.get(name, default)

    @property
    def store_url(self) -> str | None:
        """Return where the store is; none for the usual place."""
        return StorePlace.of(self.get("store")).url

    @property
    def sampling(self) -> Sampling:
        """Return how the candidate is sampled."""
        names = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort")
        return Sampling(**{name: self.get(name) for name in names})

    @property
    def prompts(self) -> tuple[str | CandidatePrompt, ...]:
        """Return the prompts: those of the suite and of files by name, templates as they are."""
        prompts = self.get("prompt", ())
        if isinstance(prompts, Mapping):
            return tuple(CandidatePrompt(name=str(k), text=str(v)) for k, v in prompts.items())
        several = (prompts,) if isinstance(prompts, str | CandidatePrompt) else tuple(prompts)
        return tuple(
            CandidatePrompt(name=f"prompt-{number}", text=one)
            if isinstance(one, str) and ("{{" in one or "\n" in one)
            else one
            for number, one in enumerate(several, 1)
        )

    @property
    def gates(self) -> tuple[str, ...]:
        """Return the expressions that must hold."""
        return _several(self.get("gate", ()))

    def suite(self, path: Path) -> SuiteSettings:
        """Return the settings of the suite."""
        allow_import = bool(self.get("allow_import", False))
        if allow_import:
            from proctor.io.search_paths import trust_folders

            trust_folders([str(path if path.is_dir() else path.parent), os.getcwd()])
        options = dict(self.get("dialect_option", {}))
        for name in ("max_turns", "data"):
            if name in self.values:
                options.setdefault(name, str(self.get(name)))
        root = self.get("root")
        return SuiteSettings(
            path=path,
            dialect=self.get("dialect", ""),
            compat=self.get("compat", ""),
            root=None if root is None else Path(root),
            where=self.get("where", ""),
            limit=self.get("limit"),
            select=_several(self.get("select", ())),
            allow_import=allow_import,
            options={
                str(key): str(int(value) if isinstance(value, bool) else value)
                for key, value in options.items()
            },
        )

    @property
    def panel(self) -> JudgeSettings:
        """Return who judges, and how verdicts are combined."""
        judges = self.get("judge", ())
        several = judges if isinstance(judges, list | tuple) else (judges,)
        asked_how = Sampling(reasoning_effort=self.get("judge_reasoning_effort"))
        return JudgeSettings(
            judges=tuple(choice_of(one, "judge", asked_how) for one in several),
            combine=self.get("panel", "mean"),
            repeats=self.get("judge_repeats", 1),
            tie=self.get("tie", "0"),
        )

    def choice(self, name: str) -> ModelChoice | None:
        """Return the model of a role, where one was given."""
        model = self.get(name)
        return None if model is None else choice_of(model, name)

    @property
    def calls(self) -> CallSettings:
        """Return how models are called."""
        record = self.get("record")
        concurrency = self.get("concurrency", 64)
        if concurrency < 1:
            raise UsageError(f"concurrency is a whole number from 1, not {concurrency!r}")
        return CallSettings(
            concurrency=concurrency,
            timeout=self.get("timeout"),
            attempt_timeout=self.get("attempt_timeout", 3600.0),
            requests_per_minute=self.get("rpm"),
            tokens_per_minute=self.get("tpm"),
            max_cost=self.get("max_cost"),
            prices=dict(_price(name, value) for name, value in self._prices()),
            price_file=self._price_file,
            offline=self.get("offline", False),
            batch=self.get("batch", False),
            record=None if record is None else Path(record),
        )

    def _prices(self) -> Iterable[tuple[str, Any]]:
        yield from _prices(self.get("price", {}))
        if self._price_file is None:
            yield from _prices(self.get("prices", {}))

    @property
    def _price_file(self) -> Path | None:
        """Return the file of prices, where one is named."""
        prices = self.get("prices")
        named = isinstance(prices, os.PathLike) or (isinstance(prices, str) and "=" not in prices)
        if not named:
            return None
        if not os.path.isfile(prices):
            raise UsageError(f"prices: there is no file {os.fspath(prices)!r}")
        return Path(prices)

    @property
    def against(self) -> str:
        """Return the earlier run to compare with: a name, an id, a file or ``@baseline``."""
        baseline = self.get("against", "")
        return str(baseline.id) if isinstance(baseline, RunOfStore) else os.fspath(baseline)

    @property
    def stop(self) -> StopSettings | None:
        """Return when the run may end before its last case."""
        when, margin = self.get("stop_when"), self.get("margin")
        if when is None:
            if margin is not None and not self.against:
                raise UsageError("margin goes with against")
            return None
        return StopSettings(
            when=str(when).strip(),
            against=self.against,
            margin=None if margin is None else margin / 100,
        )

    @property
    def executor(self) -> Spec:
        """Return where scoring runs."""
        name, _, address = str(self.get("executor", "local")).partition(":")
        params = {"address": address, "workers": self.get("workers")}
        return Spec(name=name, params={key: value for key, value in params.items() if value})

    @property
    def sandbox(self) -> Spec:
        """Return where programs run."""
        name, _, image = str(self.get("sandbox", "bubblewrap")).partition(":")
        if self.get("sandbox") is not None:
            registry.find("sandbox", name)  # one that nobody knows is an error, needed or not
        return Spec(name=name, params={"image": image} if image else {})

    @property
    def max_unscored(self) -> float:
        """Return the share of cases that may be unscored."""
        value = self.get("max_unscored", MAX_UNSCORED)
        try:
            if isinstance(value, str):
                return float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
            return float(value)
        except (TypeError, ValueError):
            raise UsageError(
                f"max_unscored is a share such as 0.1 or '10%', not {value!r:.80}"
            ) from None


def _several(texts: str | Iterable[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _prices(prices: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(prices, Mapping):
        return prices.items()
    texts = _several(prices)
    return [(name, value) for name, _, value in (text.partition("=") for text in texts)]


def _price(name: str, value: Any) -> tuple[str, tuple[float, float]]:
    try:
        into, out = (
            float(part) for part in (value.split("/") if isinstance(value, str) else value)
        )
    except (TypeError, ValueError):
        raise UsageError(
            f"the price of {name!r} is a pair of dollars per million tokens in and out, as in"
            f" {{'gpt-4o': (2.5, 10)}}, not {value!r}"
        ) from None
    return name, (into, out)
