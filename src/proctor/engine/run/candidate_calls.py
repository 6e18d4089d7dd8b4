"""What a model was asked as candidate, and what it replied: the stored calls of an attempt."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from proctor import registry
from proctor.contracts.dialogue import DialogueContext
from proctor.contracts.model import Model, ModelChoice
from proctor.core.attempt import Attempt
from proctor.core.exchange import Reply, Request, Sampling
from proctor.core.fingerprint import digest
from proctor.core.names import parse_model
from proctor.core.run import Run
from proctor.core.suite import Case, Json, Message
from proctor.engine.models.call_cache import call_key
from proctor.engine.models.prompted import ModelCandidate
from proctor.errors import ModelError, ProctorError
from proctor.io.concurrency import run_sync
from proctor.io.redaction import MARK, is_secret_name, redact_json
from proctor.store.rows import CallRow
from proctor.store.store import Store

MODEL = "model"
"""The name of candidates that are models."""
MOST_CALLS = 50
"""How many calls of one attempt are looked up at most."""


@dataclass(frozen=True, slots=True)
class CandidateCall:
    """A call of the candidate, as it is stored."""

    reply: int
    """Which reply of the attempt it gave, from 1."""
    request: Json
    """Messages, sampling and tools, without what was left to the server."""
    response: Json
    status: str
    seconds: float | None
    cost: float | None


class _RequestListener(Model):
    """A model that notes what it is asked, and never answers."""

    identity = "listener"
    label = "listener"

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        raise ModelError("nobody was asked")

    async def check(self) -> None:
        return


def candidate_calls(
    store: Store, run: Run, case: Case, attempt: Attempt
) -> tuple[CandidateCall, ...]:
    """Return the stored calls of an attempt at a case, in order; the case is as it was asked.

    Nothing is asked, and no key is needed: the requests are written again from what is stored, as
    a dialogue would send them, and looked up by their content. Calls that a dialogue made in
    another way are not found, nor are those of models without a server.
    """
    identity, choice = _identity(run), _choice(run)
    if identity is None or choice is None:
        return ()
    listener = _RequestListener()
    context = DialogueContext(
        case=case,
        index=attempt.index,
        candidate=ModelCandidate(listener, choice),
        repeat_label=str(run.settings.get("again") or ""),
    )
    for messages in _messages_sent(case, attempt)[:MOST_CALLS]:
        with suppress(ModelError):
            run_sync(context.candidate.reply(context, messages))
    keys = [call_key(identity, request) for request in listener.requests]
    rows = store.calls.get_many(keys)
    stored_rows = [(number, rows.get(key)) for number, key in enumerate(keys, 1)]
    return tuple(_call(number, row) for number, row in stored_rows if row is not None)


def _messages_sent(case: Case, attempt: Attempt) -> list[tuple[Message, ...]]:
    """Return the conversation before each reply; the last may have brought none."""
    before = [n for n, message in enumerate(attempt.messages) if message.role == "assistant"]
    unanswered = not attempt.messages or attempt.messages[-1].role != "assistant"
    ends = [*before, len(attempt.messages)] if unanswered else before
    return [(*case.messages, *attempt.messages[:end]) for end in ends]


def _identity(run: Run) -> str | None:
    """Return what tells the calls of a run's model apart; none where no server was asked."""
    if run.candidate.name != MODEL:
        return None
    try:
        spec = parse_model(str(run.candidate.params.get("model") or ""))
        if not registry.find("model", spec.name).home_env:
            return None  # what it is would have to be read from its weights or its file
        model: Model = registry.build("model", spec)
        return digest(model.identity)
    except ProctorError:
        return None


def _choice(run: Run) -> ModelChoice | None:
    params = run.candidate.params
    sampling = params.get("sampling") or {}
    try:
        settings: dict[str, Any] = {
            name: tuple(value) if name == "stop" and isinstance(value, list) else value
            for name, value in dict(sampling).items()
        }
        drawn = Sampling(**settings)
    except (TypeError, ValueError):
        return None
    return ModelChoice(
        spec=str(params.get("model") or ""),
        sampling=drawn,
        system=str(params.get("system") or ""),
        suffix=str(params.get("suffix") or ""),
    )


def _call(number: int, row: CallRow) -> CandidateCall:
    request = dict(row.request) if isinstance(row.request, Mapping) else {}
    request.pop("salt", None)  # tells stored calls apart, and is not sent
    return CandidateCall(
        reply=number,
        request=redact_json({"model": row.model} | _masked(request)),
        response=redact_json(_masked(row.response)),
        status=row.status,
        seconds=row.seconds,
        cost=row.cost,
    )


def _masked(value: Json) -> Json:
    """Return a value without what says nothing: settings that were left to the server.

    A text whose name says that it is a key is none to be shown.
    """
    if isinstance(value, Mapping):
        kept = {
            name: MARK if isinstance(inner, str) and is_secret_name(str(name)) else _masked(inner)
            for name, inner in value.items()
        }
        return {name: inner for name, inner in kept.items() if inner not in (None, "", [], {})}
    return [_masked(inner) for inner in value] if isinstance(value, list | tuple) else value
