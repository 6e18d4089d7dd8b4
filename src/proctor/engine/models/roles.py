"""The roles of a run: candidate, judges, simulated user."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import field, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, cast

from proctor import registry
from proctor.core.exchange import Sampling
from proctor.core.fingerprint import digest, plain
from proctor.core.names import parse_model
from proctor.core.prompt_fences import MARKS, Marks
from proctor.core.suite import Case, Json, Spec, Suite
from proctor.engine.models.budget import Budget
from proctor.engine.run.settings import CallSettings, JudgeSettings, RunSettings
from proctor.errors import MissingResource, SuiteError, UsageError
from proctor.io import json_bytes
from proctor.records import dataclass
from proctor.store.store import Store

if TYPE_CHECKING:
    import asyncio

    from proctor.contracts.agent import Agent
    from proctor.contracts.dialect import Reading
    from proctor.contracts.dialogue import Candidate, Dialogue, DialogueContext
    from proctor.contracts.executor import Executor
    from proctor.contracts.judge import Judge
    from proctor.contracts.model import Model, ModelChoice, ModelListener, Recorder
    from proctor.engine.agents.workspaces import AgentWorkspaces
    from proctor.engine.models.batching import BatchQueue
    from proctor.engine.models.call_cache import CallLog, StoredModel
    from proctor.engine.models.proxy import ModelProxy
    from proctor.engine.run.score_dispatch import TurnGrader
    from proctor.engine.run.signature import Refused

CANDIDATE = "candidate"
UNSEEN = (
    "--max-cost holds for judges and simulated users, and for what the agent says that it spent:"
    " its own calls are not seen (fix: --proxy M lets them pass through here)"
)


@dataclass
class SharedCalls:
    """What several runs of one command share: clients of models, their calls, and the budget.

    A judge of several candidates keeps to its limits, and nothing is asked twice at once.
    """

    clients: "dict[tuple[str, str], Model]" = field(default_factory=dict)
    listeners: "dict[tuple[str, str], list[ModelListener]]" = field(default_factory=dict)
    log: "CallLog | None" = None
    budget: Budget = field(default_factory=Budget)
    queues: "dict[int, BatchQueue]" = field(default_factory=dict)

    def join(self, key: tuple[str, str], client: "Model", listener: "ModelListener") -> None:
        """Let one more run know what becomes known of a client; the first one tells it."""
        if (joined := self.listeners.get(key)) is not None:
            joined.append(listener)
            return
        listeners = self.listeners[key] = [listener]

        def changed() -> None:
            for one in listeners:
                one.refusals_changed()

        self.clients[key] = client
        client.listen(replace(listener, refusals_changed=changed))

    async def close(self) -> None:
        """Close all clients."""
        for queue in self.queues.values():
            await queue.close()
        for client in self.clients.values():
            await client.close()


@dataclass
class Models:
    """Models of a command, each opened once for all roles and suites."""

    store: Store | None
    """None for a plan, which calls no model."""
    settings: CallSettings
    notice: Callable[[str], None] = lambda _: None
    """Callback for notices, such as where a downloaded model is."""
    budget: Budget = field(default_factory=Budget)
    """The budget of all calls, which several runs of one command may share."""
    marks: Marks = field(init=False)
    """Marks around untrusted text in the prompts of this store."""
    recorder: "Recorder | None" = None
    shared: SharedCalls | None = None
    """What other runs of the same command use as well, and whoever made it closes."""
    _clients: "dict[tuple[str, str], Model]" = field(default_factory=dict)
    _open: "dict[tuple[str, str, str], StoredModel]" = field(default_factory=dict)
    _queues: "dict[int, BatchQueue]" = field(default_factory=dict)
    """The calls that wait for batch jobs, by the client of the model; shared as clients are."""
    on_refused: "Callable[[Refused], None]" = lambda _: None
    """Callback for all rejected settings, whenever a server rejects one."""
    _chosen: set[tuple[str, str]] = field(default_factory=set)
    """Models with the sampling settings that the user chose."""
    _checked: set[str] = field(default_factory=set)

    @cached_property
    def _checking(self) -> "asyncio.Lock":
        import asyncio

        return asyncio.Lock()

    def __post_init__(self) -> None:
        self.budget.most = self.settings.max_cost
        secret = None if self.store is None else self.store.secret
        self.marks = MARKS if secret is None else Marks(lambda: secret.derive_key("judge marks"))
        if self.settings.record is not None and self.store is not None:
            replay: type[Model] = registry.find("model", "replay")
            self.recorder = replay.record_to(self.settings.record)

    @cached_property
    def _log(self) -> "CallLog":
        from proctor.engine.models.call_cache import CallLog

        shared = self.shared
        if shared is not None and shared.log is not None:
            return shared.log
        log = CallLog(self.store, recording=self.settings.record is not None)
        if shared is not None:
            shared.log = log
        return log

    def open(self, choice: "ModelChoice", role: str = "candidate") -> "StoredModel":
        """Return the model of a choice in a role; all roles share its connections and limits."""
        from proctor.engine.models.access import credentials_for
        from proctor.engine.models.call_cache import StoredModel

        sent = credentials_for(choice)
        client_settings = [choice.spec, dict(sent.headers), choice.concurrency, choice.timeout]
        key = (digest(*client_settings, not sent.environment), sent.key)
        if (client := self._clients.get(key)) is None:
            client = self._clients[key] = self._client(key, choice)
        self._chosen.update((client.label, name) for name in chosen_settings(choice))
        if (model := self._open.get((*key, role))) is None:
            stored = StoredModel(client, self._log, self.budget, self.recorder, role)
            model = self._batched(stored) if self.settings.batch else stored
            self._open[(*key, role)] = model
        return model

    def _client(self, key: tuple[str, str], choice: "ModelChoice") -> "Model":
        client = None if self.shared is None else self.shared.clients.get(key)
        if client is None:
            client = build_model(choice, self.settings)
            self.refuse_unpriced(client)
        listener = self._listener(client.label)
        if self.shared is None:
            client.listen(listener)
        else:
            self.shared.join(key, client, listener)
        return client

    def _batched(self, model: "StoredModel") -> "StoredModel":
        """Let the calls to a model go in batch jobs, if its provider has them."""
        from proctor.contracts.batch_model import BatchModel
        from proctor.engine.models.batching import BatchedModel, BatchQueue

        client = model.inner
        queues = self._queues if self.shared is None else self.shared.queues
        if not isinstance(client, BatchModel) or not client.takes_batches:
            if model.role == CANDIDATE:
                raise UsageError(
                    f"{client.label} takes no batch jobs (fix: leave out --batch; models of openai:"
                    " and anthropic: take them)"
                )
            self.notice(f"{client.label} takes no batch jobs: as {model.role} it is asked directly")
            return model
        if self.store is not None and id(client) not in queues:
            queues[id(client)] = BatchQueue(client, self.store, self._log, self.notice)
        return BatchedModel(
            client, self._log, self.budget, self.recorder, model.role, queue=queues.get(id(client))
        )

    async def check(self, model: "Model") -> None:
        """Check once that a model answers."""
        key = digest(model.identity)
        async with self._checking:
            if key not in self._checked:
                await model.check()
                self._checked.add(key)

    @property
    def labels(self) -> set[str]:
        """Return the names of all open models."""
        return {client.label for client in self._clients.values()}

    @property
    def refused(self) -> "Refused":
        """Return the rejected settings by model: each field with its replacement."""
        refused_by_model: dict[str, dict[str, str]] = {}
        for client in self._clients.values():
            if client.refused:
                refused_by_model.setdefault(client.label, {}).update(client.refused)
        for model in self._open.values():
            if model.refused:
                refused_by_model.setdefault(model.label, {}).update(model.refused)
        return refused_by_model

    def leave_out(self, refused: "Refused") -> None:
        """Leave out the settings that were rejected in an earlier part of the same run."""
        for client in self._clients.values():
            left_out = [n for n, instead in refused.get(client.label, {}).items() if not instead]
            if left_out:
                client.leave_out(left_out)

    def _listener(self, label: str) -> "ModelListener":
        from proctor.contracts.model import ModelListener

        return ModelListener(
            notice=self.notice,
            setting_refused=partial(self._tell_refused, label),
            refusals_changed=lambda: self.on_refused(self.refused),
        )

    def _tell_refused(self, label: str, name: str, value: Json, instead: str) -> None:
        if instead and "=" not in instead:
            self.notice(f"{label} wants {instead} for {name}: it is sent under that name")
            return
        how = f"{instead} is sent" if instead else "it is not sent, and the server's default holds"
        if (label, name) in self._chosen:
            shown = value if isinstance(value, str) else json_bytes.dumps(value).decode()
            self.notice(f"WARNING: {label} refuses {name}, which you set to {shown}: {how}")
        else:
            self.notice(f"{label} refuses {name}: {how}")

    @contextmanager
    def spread(self, executor: "Callable[[], Executor]") -> Iterator[None]:
        """Run local models where an executor has room, within the block."""
        here = [(model, model.inner) for model in self._open.values()]
        there = {id(client): executor().model(client) for client in self._clients.values()}
        for model, inner in here:
            model.inner = there[id(inner)]
        try:
            yield
        finally:
            for model, inner in here:
                model.inner = inner

    async def close(self) -> None:
        """Close all models, and the recording."""
        if self.shared is None:
            for queue in self._queues.values():
                await queue.close()
            for client in self._clients.values():
                if not registry.is_lent(client):
                    await client.close()
        if self.recorder is not None:
            self.recorder.close()

    @property
    def bought(self) -> int:
        """Return the number of calls made."""
        return sum(model.bought for model in self._open.values())

    @asynccontextmanager
    async def proxy(self, choice: "ModelChoice") -> "AsyncIterator[ModelProxy]":
        """Serve a proxy to a model within the block."""
        from proctor.engine.models.proxy import ModelProxy

        model = build_model(choice, self.settings)
        self.refuse_unpriced(model)
        try:
            keep = (lambda _: None) if self.recorder is None else self.recorder.add_exchange
            proxy = ModelProxy(await model.upstream(), budget=self.budget, on_exchange=keep)
            async with proxy.serving(socket=True):
                yield proxy
        finally:
            await model.close()

    def refuse_unpriced(self, model: "Model") -> None:
        """Raise a UsageError if there is a budget but no price for a model."""
        if self.settings.max_cost is not None and not is_priced(model):
            raise UsageError(
                f"--max-cost cannot be enforced: no price is known for {model.label}"
                f" (fix: add --price '{model.label}=IN/OUT', in dollars per million tokens; 0/0"
                " where it costs nothing)"
            )


@dataclass(frozen=True, kw_only=True)
class Cast:
    """The roles of one run, with their models."""

    candidate: "StoredModel | None" = None
    choice: "ModelChoice | None" = None
    seats: "AgentWorkspaces | None" = None
    """The agent's workspaces, if the candidate is an agent."""
    proxied: "ModelChoice | None" = None
    """The model that the agent's own calls go to."""
    repeat_label: str = ""
    """The label of a repetition."""
    judge: "Judge | None" = None
    judges: "tuple[StoredModel, ...]" = ()
    simulator: "Model | None" = None
    simulator_sampling: Sampling = field(default_factory=Sampling)
    language: str = "en"
    marks: Marks = MARKS

    def seated(
        self, case: Case, index: int, grader: "TurnGrader | None"
    ) -> "AbstractAsyncContextManager[DialogueContext]":
        """Open the participants of a dialogue about a case."""
        if self.seats is None:
            return nullcontext(self._context(case, index, self._model_candidate, grader))
        return self._agent_seated(self.seats, case, index, grader)

    @asynccontextmanager
    async def _agent_seated(
        self, seats: "AgentWorkspaces", case: Case, index: int, grader: "TurnGrader | None"
    ) -> "AsyncIterator[DialogueContext]":
        sandbox = None if grader is None else grader.dispatcher.sandbox
        async with seats.seated(case, index, sandbox) as candidate:
            yield self._context(case, index, candidate, grader)

    @cached_property
    def _model_candidate(self) -> "Candidate":
        from proctor.engine.models.prompted import ModelCandidate

        assert self.candidate is not None
        assert self.choice is not None
        return ModelCandidate(self.candidate, self.choice)

    @cached_property
    def _context_of(self) -> "type[DialogueContext]":
        from proctor.contracts.dialogue import DialogueContext

        return DialogueContext

    def _context(
        self, case: Case, index: int, candidate: "Candidate", grader: "TurnGrader | None"
    ) -> "DialogueContext":
        return self._context_of(
            case=case,
            index=index,
            candidate=candidate,
            judge=self.judge,
            simulator=self.simulator,
            simulator_sampling=self.simulator_sampling,
            language=self.language,
            repeat_label=self.repeat_label,
            marks=self.marks,
            sandbox=None if grader is None else grader.dispatcher.sandbox,
            grade=None if grader is None else partial(grader.value, case),
        )

    @property
    def agent(self) -> "Agent | None":
        """Return the agent, if the candidate is one."""
        return None if self.seats is None else self.seats.agent

    def attempt_identity(self, dialogue: "Dialogue") -> Json:
        """Return what an attempt depends on, for its key."""
        identity: dict[str, Json] = {"version": dialogue.version}
        if self.repeat_label:
            identity["again"] = self.repeat_label
        if self.seats is not None:
            identity["agent"] = self.seats.identity
            if self.proxied is not None:
                identity["proxied"] = self.proxied.spec
        else:
            assert self.candidate is not None
            assert self.choice is not None
            identity |= {
                "candidate": self.candidate.identity,
                "sampling": plain(self.choice.sampling),
                "system": self.choice.system,
                "suffix": self.choice.suffix,
            }
        if "judge" in dialogue.consults and self.judge is not None:
            identity["judge"] = self.judge.identity
        if "simulator" in dialogue.consults and self.simulator is not None:
            identity["simulator"] = [self.simulator.identity, plain(self.simulator_sampling)]
        if dialogue.consults:
            identity["prompts"] = dialogue.prompt_key(self.language)
        return identity


def cast_for(settings: RunSettings, suite: Suite, models: Models) -> Cast:
    """Open the models that the settings name."""
    simulator = settings.simulator or (settings.panel.judges[0] if settings.panel.judges else None)
    judges = tuple(models.open(choice, "judge") for choice in settings.panel.judges)
    user = None if simulator is None else models.open(simulator, "simulator")
    return Cast(
        candidate=None if settings.model is None else models.open(settings.model),
        choice=settings.model,
        seats=_seats(settings, models),
        proxied=settings.proxy,
        repeat_label=settings.repeat_label,
        judge=judge_of(settings.panel, judges),
        judges=judges,
        simulator=None if simulator is None or user is None else _prompted(user, simulator),
        simulator_sampling=Sampling()
        if settings.simulator is None
        else settings.simulator.sampling,
        language=suite.language,
        marks=models.marks,
    )


def _prompted(model: "Model", choice: "ModelChoice") -> "Model":
    """Wrap a model in the prompt settings of its choice, if any."""
    from proctor.engine.models.prompted import PromptedModel

    return PromptedModel.of(model, choice)


def _seats(settings: RunSettings, models: Models) -> "AgentWorkspaces | None":
    """Build the agent; a plan stores no files."""
    if settings.agent is None:
        return None
    from proctor.engine.agents.workspaces import AgentWorkspaces

    agent: Agent = registry.build("candidate", settings.agent)
    if problems := list(agent.problems()):
        raise UsageError("; ".join(problems))
    if settings.proxy is not None:
        models.refuse_unpriced(build_model(settings.proxy, settings.calls))
    elif settings.calls.max_cost is not None:
        models.notice(UNSEEN)
    keep = models.store.files.put if models.store is not None else lambda _: None
    return AgentWorkspaces(agent=agent, keep=keep, budget=models.budget, variant=settings.variant)


def judge_of(panel: JudgeSettings, models: "Sequence[Model]") -> "Judge | None":
    """Make a judge, or a panel, from models."""
    if not models:
        return None
    from proctor.judging import ModelJudge
    from proctor.judging import Panel as JudgePanel

    judges = [
        ModelJudge(model=_prompted(model, choice), sampling=choice.sampling, repeats=panel.repeats)
        for model, choice in zip(models, panel.judges, strict=True)
    ]
    if len(judges) == 1 and panel.repeats == 1:
        return judges[0]
    return JudgePanel(judges=tuple(judges), combine=panel.combine, tie=panel.tie)


def resolved(settings: RunSettings, reading: "Reading") -> RunSettings:
    """Fill in the models of the suite's own settings file, where the user named none."""
    roles = _roles_on_file(reading, str(settings.suite.path))
    unusable = reading.unusable_roles
    asked_like = {**{name: role.choice for name, role in unusable.items()}, **roles}
    judges = tuple(_merged(judge, asked_like.get("judge")) for judge in settings.panel.judges)
    if not judges and "judge" in roles:
        judges = (roles["judge"],)
    model = settings.model
    interviewed = (settings.answers or settings.answers_in_memory or settings.agent) is None
    if interviewed:
        model = roles.get(CANDIDATE) if model is None else _merged(model, asked_like.get(CANDIDATE))
    simulator = settings.simulator or roles.get("simulator")
    if settings.simulator is not None:
        simulator = _merged(settings.simulator, asked_like.get("simulator"))
    if model is None and interviewed and CANDIDATE in unusable:
        raise SuiteError(unusable[CANDIDATE].problems)
    if model is None and interviewed:
        raise UsageError(
            "there is no candidate (fix: add --model openai:NAME, --model local:smollm2,"
            " --agent python:module:attr, or --answers PATH for answers on file)"
        )
    return replace(
        settings,
        model=model,
        panel=replace(settings.panel, judges=tuple(cold(judge) for judge in judges)),
        simulator=simulator,
        attempts=settings.attempts or reading.attempts,
    )


def _roles_on_file(reading: "Reading", path: str) -> "dict[str, ModelChoice]":
    """Return the models that a settings file names, marked as such."""
    if not reading.roles:
        return {}
    from proctor.engine.models.access import from_file

    return {name: from_file(choice, path) for name, choice in reading.roles.items()}


def lacking(settings: RunSettings, needs: set[str], reading: "Reading") -> None:
    """Raise an error if a required role has no model."""
    empty = {"judge": not settings.panel.judges, "simulator": settings.simulator is None}
    unusable = [
        problem
        for name, role in reading.unusable_roles.items()
        if name in needs and empty.get(name)
        for problem in role.problems
    ]
    if unusable:
        raise SuiteError(unusable)
    if "judge" in needs and not settings.panel.judges:
        raise MissingResource(
            "the suite has criteria or dialogues that ask a judge, and there is none"
            " (fix: add --judge openai:NAME, or --judge local:smollm2 to try it out)"
        )
    if "simulator" in needs and settings.simulator is None and not settings.panel.judges:
        raise MissingResource(
            "the suite's dialogues need a simulated user, and there is none"
            " (fix: add --simulator openai:NAME, or a --judge, which then acts as the user)"
        )


def build_model(choice: "ModelChoice", calls: CallSettings) -> "Model":
    """Make the client of a model, with its limits, its price and its key."""
    from proctor.engine.models.access import credentials_for

    if (lent_model := registry.lent("model", choice.spec)) is not None:
        return cast("Model", lent_model)
    spec = parse_model(choice.spec)
    param_names = {f.name for f in fields(registry.find("model", spec.name))}
    sent = credentials_for(choice)
    candidate_params: dict[str, Json] = {
        "headers": dict(sent.headers),
        "concurrency": min(choice.concurrency or calls.concurrency, calls.concurrency),
        "timeout": choice.timeout or calls.timeout,
        "requests_per_minute": calls.requests_per_minute,
        "tokens_per_minute": calls.tokens_per_minute,
        "price_given": _price(choice.spec, calls),
        "price_file": None if calls.price_file is None else str(calls.price_file),
    }
    params = {k: v for k, v in candidate_params.items() if k in param_names and v not in (None, {})}
    if not sent.environment and "key_env" in param_names:
        params["key_env"] = ""
    model: Model = registry.build("model", Spec(name=spec.name, params={**spec.params, **params}))
    if sent.key:
        model.use_key(sent.key)
    return model


_CONFIG = "generationConfig"
_OTHER_NAMES = {
    "temperature": (f"{_CONFIG}.temperature",),
    "top_p": (f"{_CONFIG}.topP",),
    "top_k": (f"{_CONFIG}.topK",),
    "max_tokens": ("max_output_tokens", f"{_CONFIG}.maxOutputTokens"),
    "seed": (f"{_CONFIG}.seed",),
    "stop": ("stop_sequences", f"{_CONFIG}.stopSequences"),
    "reasoning_effort": (
        "reasoning.effort", "output_config.effort", "thinking", f"{_CONFIG}.thinkingConfig",
    ),
}  # fmt: skip
"""What some APIs call a setting."""


def chosen_settings(choice: "ModelChoice") -> set[str]:
    """Return the request fields that the user set for a model, as servers name them."""
    sampling = choice.sampling
    names = {f.name for f in fields(Sampling) if getattr(sampling, f.name) not in (None, (), {})}
    names = (names - choice.defaults - {"extra"}) | set(sampling.extra)
    return names | {other for name in names for other in _OTHER_NAMES.get(name, ())}


def is_priced(model: "Model") -> bool:
    """Tell whether the price of a model is given; being local is no price."""
    return model.price_known and model.price is not None


def _price(spec: str, calls: CallSettings) -> tuple[float, float] | None:
    name = spec.partition("@http")[0]
    bare = name.partition(":")[2]
    return calls.prices.get(name) or calls.prices.get(bare)


def _merged(choice: "ModelChoice", default: "ModelChoice | None") -> "ModelChoice":
    """Complete a model from the command line with the settings file's options."""
    if default is None:
        return choice
    explicit = {
        f.name: value
        for f in fields(Sampling)
        if (value := getattr(choice.sampling, f.name)) not in (None, (), {})
    }
    return replace(
        choice,
        sampling=replace(default.sampling, **explicit),
        concurrency=choice.concurrency or default.concurrency,
        timeout=choice.timeout or default.timeout,
        system=choice.system or default.system,
        suffix=choice.suffix or default.suffix,
    )


def cold(judge: "ModelChoice") -> "ModelChoice":
    """Use temperature 0 for a judge by default."""
    if judge.sampling.temperature is not None:
        return judge
    sampling = replace(judge.sampling, temperature=0.0)
    return replace(judge, sampling=sampling, defaults=judge.defaults | {"temperature"})
