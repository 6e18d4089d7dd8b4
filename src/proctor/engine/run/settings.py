"""The settings of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from proctor.core.fingerprint import digest, plain
from proctor.core.names import agent_label
from proctor.core.suite import CandidatePrompt, Json, Spec, Suite
from proctor.errors import UsageError
from proctor.late_patterns import late_pattern
from proctor.records import dataclass
from proctor.stats.intervals import IntervalMethod

if TYPE_CHECKING:
    from proctor.contracts.dialect import Reading
    from proctor.contracts.judge import Tie
    from proctor.contracts.model import ModelChoice
    from proctor.core.attempt import Attempt
    from proctor.core.cause import Cause

LOCAL = "local"
"""The executor where nobody chose one."""
MAX_UNSCORED = 0.1
"""The share of cases without a value above which a run is incomplete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSettings:
    """Which suite to read, how, and which of its cases."""

    path: Path
    dialect: str = ""
    """Empty: recognised by content."""
    compat: str = ""
    root: Path | None = None
    where: str = ""
    limit: int | None = None
    select: tuple[str, ...] = ()
    """Ids or sources of the selected cases; empty means all."""
    allow_import: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    """Format options beside the file, such as ``max_turns``."""
    in_memory: "Reading | None" = None
    """The suite itself, where it was read already or never was on file."""

    def __post_init__(self) -> None:
        if self.compat not in ("", "original"):
            raise UsageError(f"unknown compat mode {self.compat!r} (known is: original)")
        if self.limit is not None and self.limit < 1:
            raise UsageError("--limit must be at least 1")

    @classmethod
    def of(cls, suite: Suite) -> "SuiteSettings":
        """Return the settings of a suite that was not read from its own files."""
        return cls(path=Path(suite.name), compat=suite.variant)

    @property
    def columns(self) -> str:
        """Return what columns of tables are called, as --columns says it."""
        return self.options.get("columns", "")

    @property
    def reading(self) -> dict[str, Any]:
        """Return the options for the dialect."""
        return {"compat": self.compat, "root": self.root, "options": self.options}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """The judges: one model or several, repeats, and how verdicts are combined."""

    judges: "tuple[ModelChoice, ...]" = ()
    combine: Literal["mean", "median", "majority"] = "mean"
    repeats: int = 1
    tie: "Tie" = "0"

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise UsageError("--judge-repeats must be at least 1")

    @property
    def may_tie(self) -> bool:
        """Tell whether several verdicts may be evenly split."""
        return len(self.judges) > 1 or (bool(self.judges) and self.repeats > 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """Settings of model calls: concurrency, time limits, budget."""

    concurrency: int = 64
    timeout: float | None = None
    attempt_timeout: float = 3600.0
    pause: float = 0.0
    """Seconds between attempts, which then run one after the other."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_cost: float | None = None
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Dollars per million tokens in and out, by the name of the model."""
    price_file: Path | None = None
    """A file of prices that is asked before the built-in list."""
    offline: bool = False
    record: Path | None = None
    batch: bool = False
    """Whether calls go in batch jobs, where the provider has them."""

    def __post_init__(self) -> None:
        if self.max_cost is not None and not (isfinite(self.max_cost) and self.max_cost >= 0):
            raise UsageError(f"--max-cost: expected dollars, 0 or more, not {self.max_cost:g}")
        for name, price in self.prices.items():
            if not all(isfinite(part) and part >= 0 for part in price):
                raise UsageError(
                    f"--price {name}: dollars are 0 or more, not {price[0]}/{price[1]}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class StopSettings:
    """Question that a run is to answer; it ends as soon as the answer is sure."""

    when: str
    """``decided``, for a comparison, or a condition on the rate such as ``rate >= 0.8``."""
    against: str = ""
    """The run that is compared with."""
    margin: float | None = None
    """A difference that does not matter, as a part of full marks."""

    def __post_init__(self) -> None:
        if self.when == "decided":
            if not self.against:
                raise UsageError("--stop-when decided needs a run to compare with: --against RUN")
            if self.margin is not None and not 0 < self.margin < 1:
                raise UsageError(
                    f"--margin is in points of 100, between 0 and 100, not {self.margin * 100:g}"
                )
            return
        if self.against or self.margin is not None:
            raise UsageError("--against and --margin go with --stop-when decided")
        if not 0 < self.claim < 1:
            raise UsageError(f"--stop-when: expected a rate between 0 and 1, not {self.claim:g}")

    @property
    def claim(self) -> float:
        """Return the rate that is asked about."""
        if (match := _CONDITION.fullmatch(self.when)) is None:
            raise UsageError(
                f"--stop-when is 'decided' or a condition such as 'rate >= 0.8', not {self.when!r}"
            )
        return float(match["number"]) / (100 if match["percent"] else 1)

    @property
    def wants_more(self) -> bool:
        """Tell whether the condition holds for rates above the number."""
        return ">" in self.when


_CONDITION = late_pattern(
    r"\s*rate\s*(?:>=|>|<=|<)\s*(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<percent>%)?\s*"
)


@dataclass(frozen=True, kw_only=True)
class AnswersInMemory:
    """Answers that a program has in memory."""

    name: str
    """What the candidate is called."""
    attempts: "Sequence[Attempt]"
    """In the order of the cases."""

    @cached_property
    def key(self) -> str:
        """Return what tells these answers apart from others."""
        return digest(*self.attempts)


AGENT_VARIANT = "agent_variant"
"""Where a candidate keeps the name of its variant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentVariant:
    """What one variant of an agent has besides: parameters that are laid over the agent's own."""

    name: str
    params: Mapping[str, Json] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return what tells its attempts apart from those of the plain agent."""
        return digest(self.params) if self.params else ""

    def of(self, agent: Spec) -> Spec:
        """Return the agent with what the variant has; its environment adds to the agent's."""
        params = {**agent.params, **self.params}
        for name in ("env", "mcp"):
            own, more = agent.params.get(name), self.params.get(name)
            if isinstance(own, Mapping) and isinstance(more, Mapping):
                params[name] = {**own, **more}
        return Spec(name=agent.name, params=params)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The candidate, the suite, and how to evaluate."""

    suite: SuiteSettings
    answers: Path | None = None
    answers_in_memory: AnswersInMemory | None = None
    """Answers in memory, where they are not on file."""
    model: "ModelChoice | None" = None
    """Who is examined, where it is a model; none with answers means: whom the suite's own
    settings file names."""
    agent: Spec | None = None
    """The candidate, if it is an agent."""
    variant: "AgentVariant | None" = None
    """The variant of the agent, of several that a run file has."""
    proxy: "ModelChoice | None" = None
    """The model behind the proxy for the agent's own calls, if there is one."""
    panel: JudgeSettings = field(default_factory=JudgeSettings)
    simulator: "ModelChoice | None" = None
    calls: CallSettings = field(default_factory=CallSettings)
    attempts: int | None = None
    repeat_label: str = ""
    """Label of a repetition: attempts under another label are made again."""
    again_causes: "frozenset[Cause]" = frozenset()
    """Whose faults are mended: attempts that ended by them are made again, and no others."""
    unknown_candidate: bool = False
    """Whether nobody can tell if the candidate is still the same: stored attempts then only serve
    to finish a run that was interrupted."""
    name: str = ""
    distinction: str = ""
    """What its default name has besides, to be told from other candidates of the same command."""
    prompts: tuple[str | CandidatePrompt, ...] = ()
    """The prompts to make a run with each: by name or file, or as they are; empty means all that
    the suite has."""
    prompt: CandidatePrompt | None = None
    """The prompt of the one run that this is."""
    executor: Spec = field(default_factory=lambda: Spec(name=LOCAL))
    sandbox: Spec = field(default_factory=lambda: Spec(name="bubblewrap"))
    interval: IntervalMethod = "bounded"
    gates: tuple[str, ...] = ()
    """Gates that the caller will check."""
    against: str = ""
    """The earlier run that the caller will compare this one with."""
    stop: StopSettings | None = None
    """When the run may end before its last case."""
    bulk: bool | None = None
    """Whether attempts and scores are kept as parts, files beside the store; None where the number
    of rows decides."""
    max_unscored: float = MAX_UNSCORED
    """A run is incomplete if a larger share of its cases could not be scored."""

    def __post_init__(self) -> None:
        if not 0 <= self.max_unscored <= 1:
            raise UsageError(f"--max-unscored is 0% to 100%, not {self.max_unscored:.4g}")
        if self.attempts is not None and self.attempts < 1:
            raise UsageError("--attempts must be at least 1")
        if any(ord(char) < 32 for char in self.name):
            raise UsageError("a run's name may not contain control characters")
        answers = self.answers or self.answers_in_memory
        candidates = {"--model": self.model, "--answers": answers, "--agent": self.agent}
        named = [name for name, value in candidates.items() if value is not None]
        if len(named) > 1:
            raise UsageError(f"{' and '.join(named)} are mutually exclusive")

        if self.stop is not None and self.calls.batch:
            raise UsageError(
                "--stop-when looks at a few cases at a time, and --batch hands in all at once"
                " (fix: leave out one of them)"
            )
        if self.stop is not None and answers is not None:
            raise UsageError(
                "--stop-when saves calls of a candidate, and answers on file take none"
                " (fix: `proctor compare --sequential` looks at them one after the other)"
            )
        if self.stop is not None and self.calls.record is not None:
            raise UsageError("--record needs all calls: leave out --stop-when")
        if self.again_causes and self.on_file:
            raise UsageError("--again makes attempts again, and answers on file were made already")
        if self.proxy is not None and self.agent is None:
            raise UsageError("--proxy needs an --agent, whose calls it forwards")

    @property
    def on_file(self) -> bool:
        """Tell whether the answers are on file, so that no candidate is called."""
        return self.model is None and self.agent is None

    @property
    def asks_models(self) -> bool:
        """Tell whether a model is called: as a candidate, a judge or a simulated user."""
        return self.model is not None or self.simulator is not None or bool(self.panel.judges)

    @property
    def candidate(self) -> Spec:
        """Return the candidate."""
        if self.agent is not None:
            # Options may contain secrets, so only their hash identifies agents.
            params = {"name": self.candidate_name, "key": digest(self.agent), **self._prompt_param}
            if self.variant is not None:
                params[AGENT_VARIANT] = self.variant.name
            return Spec(name="agent", params=params)
        if self.model is not None:
            params = {
                "name": self.candidate_name,
                **_reply_settings(self.model),
                **self._prompt_param,
            }
            return Spec(name="model", params=params)
        if self.answers_in_memory is not None:
            return Spec(
                name="given",
                params={"name": self.answers_in_memory.name, "key": self.answers_in_memory.key},
            )
        return Spec(name="recorded", params={"answers": str(self.answers), "name": self._file})

    @property
    def candidate_name(self) -> str:
        """Return a short name of the candidate."""
        if self.on_file:
            return self._file
        named = f"+{self.prompt.name}" if self.prompt is not None else ""
        if self.agent is not None:
            variant = f"+{self.variant.name}" if self.variant is not None else ""
            return f"{agent_label(self.agent)}{variant}{named}"
        assert self.model is not None
        spec = self.model.spec
        lent = spec.startswith("python:")
        return f"{agent_label(Spec(name=spec)) if lent else short_name(spec)}{named}"

    @property
    def _prompt_param(self) -> dict[str, Json]:
        """Return the prompt as a part of the candidate."""
        return {} if self.prompt is None else {"prompt": plain(self.prompt)}

    @property
    def _file(self) -> str:
        if self.answers_in_memory is not None:
            return self.answers_in_memory.name
        if self.answers is None:
            return "nobody"
        path = self.answers.resolve()
        return path.name if path.is_dir() else path.stem

    @property
    def may_be_bulk(self) -> bool:
        """Tell by the files' names and sizes whether a run may have its home in parts."""
        files = (self.suite.path, self.answers)
        if self.bulk is False or self.calls.record is not None:
            return False
        suite = self.suite
        if suite.where or suite.select or suite.compat or suite.options or suite.allow_import:
            return False
        if not all(file is not None and _is_rows(file) for file in files):
            return False
        return bool(self.bulk) or all(_is_large(file) for file in files if file is not None)

    def stored(self) -> dict[str, Json]:
        """Return the settings that may change the numbers, as stored with the run."""
        stored_settings: dict[str, Json] = {
            "compat": self.suite.compat,
            "where": self.suite.where,
            "limit": self.suite.limit,
            "options": {k: v for k, v in self.suite.options.items() if k != "run_file"},
            "attempts": self.attempts,
            "again": self.repeat_label,
            "interval": self.interval,
            "judges": [_reply_settings(judge) for judge in self.panel.judges],
            "combine": self.panel.combine if len(self.panel.judges) > 1 else "",
            "repeats": self.panel.repeats if self.panel.repeats > 1 else None,
            "tie": self.panel.tie if self.panel.may_tie and self.panel.tie != "0" else "",
            "proxy": _reply_settings(self.proxy) if self.proxy is not None else None,
            "simulator": _reply_settings(self.simulator) if self.simulator is not None else None,
        }
        return {
            name: value
            for name, value in stored_settings.items()
            if value not in ("", None, [], {})
        }


BULK_ROWS = 20_000
"""From so many rows on, a run of answers on file has its home in parts."""
ROWS_ARE_KEPT = (
    "rows are kept, in spite of --bulk: Parquet files are for answers on file (.jsonl or .parquet)"
    " to all of a native suite in such a file, whose criteria need neither a judge nor a sandbox"
)


def _is_rows(file: Path) -> bool:
    return file.suffix.lower() in (".jsonl", ".parquet") and file.is_file()


def _is_large(file: Path) -> bool:
    """Tell whether a file may have so many rows; one of JSON has ten bytes at least."""
    return file.stat().st_size >= BULK_ROWS * (10 if file.suffix.lower() == ".jsonl" else 1)


def short_name(spec: str) -> str:
    """Return the name of a model without its address."""
    return spec.partition("@http")[0]


def _reply_settings(choice: "ModelChoice") -> dict[str, Json]:
    """Return the settings of a model that may change replies, without addresses and keys."""
    fields: dict[str, Json] = {"model": choice.spec, "sampling": plain(choice.sampling)}
    fields |= {"system": choice.system, "suffix": choice.suffix}
    return {name: value for name, value in fields.items() if value}
