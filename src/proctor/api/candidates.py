"""Candidates as people have them in Python: functions, names, objects, answers."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.api.cases import as_json, table_rows
from proctor.api.function_models import choice_of
from proctor.api.functions import FunctionAgent, text_of
from proctor.api.options import ReadOptions
from proctor.api.tables import AnyAnswers
from proctor.contracts.agent import Agent
from proctor.contracts.model import Model, ModelChoice
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.exchange import Sampling
from proctor.core.names import parse_agent
from proctor.core.suite import Message, Spec, Suite
from proctor.engine.run.settings import AgentVariant, AnswersInMemory
from proctor.errors import UsageError
from proctor.registry import lend
from proctor.suggestions import suggest

OUTPUTS = ("output", "answer", "response", "prediction", "completion", "reply", "generated", "text")
CASES = ("case", "id", "case_id", "question_id")
_FILES = (".jsonl", ".csv", ".tsv", ".parquet", ".json")


AFunction = Callable[..., Any]
ACandidate = str | os.PathLike[str] | AFunction | Model | ModelChoice | Agent | AnyAnswers
"""A candidate: a function, a model or an agent by name or as an object, or answers."""
Candidates = Sequence[AFunction | Model | ModelChoice | Agent]
"""Several candidates, which make a run each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The one of the settings of a run that says who is examined."""

    model: ModelChoice | None = None
    agent: Spec | None = None
    variant: AgentVariant | None = None
    answers: Path | None = None
    answers_in_memory: Any = None
    """Answers in memory, as they were handed over."""
    unknown: tuple[str, ...] = ()
    """What keeps a function from being recognised again."""

    @property
    def is_nobody(self) -> bool:
        """Tell whether nobody was named."""
        # One by one: a table is neither equal to another nor unequal.
        several = (self.model, self.agent, self.answers, self.answers_in_memory)
        return all(one is None for one in several)


def chosen_candidates(candidate: Any, options: ReadOptions) -> list[Chosen]:
    """Find out who is examined: the candidate, or the options that the command line has for it."""
    sampling, system = options.sampling, options.get("system", "")
    named = [name for name in ("model", "agent", "answers") if options.get(name) is not None]
    if len(named) > 1 or (named and candidate is not None):
        several = " and ".join([*(["the candidate"] if candidate is not None else []), *named])
        raise UsageError(f"{several} are mutually exclusive")
    if not named:
        several_of = candidate if _are_candidates(candidate) else (candidate,)
        return [chosen(one, sampling, system) for one in several_of]
    value = options.get(named[0])
    if named[0] == "model":
        models = value if isinstance(value, list | tuple) else (value,)
        return [Chosen(model=choice_of(one, "model", sampling, system)) for one in models]
    if named[0] == "answers" and isinstance(value, str):
        return [Chosen(answers=Path(value))]
    return [chosen(value, sampling, system)]


def _are_candidates(value: Any) -> bool:
    """Tell whether a list is one of candidates, and not of answers."""
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(callable(one) or isinstance(one, Model | ModelChoice | Agent) for one in value)
    )


def chosen(candidate: Any, sampling: Sampling, system: str) -> Chosen:
    """Find out what was handed over as a candidate."""
    if candidate is None:
        return Chosen()
    if isinstance(candidate, ModelChoice | Model):
        return Chosen(model=choice_of(candidate, "candidate", sampling, system))
    if isinstance(candidate, Agent):
        return _agent(candidate)
    if isinstance(candidate, str):
        return _named(candidate, sampling, system)
    if isinstance(candidate, os.PathLike):
        return Chosen(answers=Path(candidate))
    if isinstance(candidate, Mapping) or table_rows(candidate) is not None:
        return Chosen(answers_in_memory=candidate)
    if isinstance(candidate, type):
        raise UsageError(
            f"{candidate.__name__} is a class (fix: hand over an object of it,"
            f" {candidate.__name__}(…), or a method)"
        )
    if callable(candidate):
        return _agent(FunctionAgent.of(candidate))
    if isinstance(candidate, Iterable):
        return Chosen(answers_in_memory=list(candidate))
    raise UsageError(
        f"{candidate!r:.80} is no candidate (fix: a function, the name of a model such as"
        " 'openai:gpt-4o', an agent, or answers: a path, a list, a mapping or a DataFrame)"
    )


def _agent(agent: Agent) -> Chosen:
    unknown: tuple[str, ...] = ()
    if isinstance(agent, FunctionAgent):
        key, unknown = agent.function_identity.key, agent.function_identity.unknown
    else:
        from proctor.core.fingerprint import digest

        key = digest(agent.identity)
    label = "".join(char for char in agent.label if char.isprintable() and char != "#")
    return Chosen(agent=Spec(name=lend("candidate", agent, label, key)), unknown=unknown)


def _named(text: str, sampling: Sampling, system: str) -> Chosen:
    """Read a name: a model, an agent, or the path of answers."""
    if text.lower().endswith(_FILES) or (":" not in text and Path(text).exists()):
        return Chosen(answers=Path(text))
    if ":" not in text:
        raise UsageError(
            f"{text!r} is no candidate: a model is named with its provider, as in"
            f" 'openai:{text}', and there is no file of this name"
        )
    agent = parse_agent(text)
    if agent is not None:
        return Chosen(agent=agent)
    return Chosen(model=choice_of(text, "candidate", sampling, system))


def answers_in_memory(answers: Any, suite: Suite, name: str = "") -> AnswersInMemory:
    """Read answers in memory: in the order of the cases, or by their ids."""
    rows = table_rows(answers)
    if rows is not None:
        attempts = _of_rows(rows, suite)
    elif isinstance(answers, Mapping):
        attempts = _by_id(answers, suite)
    elif answers and all(
        isinstance(one, Mapping) and any(k in one for k in CASES) for one in answers
    ):
        attempts = _of_rows(answers, suite)
    else:
        attempts = _in_order(answers, suite)
    return AnswersInMemory(name=name or "answers", attempts=tuple(attempts))


def _in_order(answers: Sequence[Any], suite: Suite) -> list[Attempt]:
    if len(answers) != len(suite.cases):
        raise UsageError(
            f"there are {len(answers)} answers to {len(suite.cases)} cases: a list has one for each"
            " case, in their order (fix: a mapping of the ids of cases to answers)"
        )
    return [
        attempt
        for case, one in zip(suite.cases, answers, strict=True)
        for attempt in _attempts(case.id, one)
    ]


def _by_id(answers: Mapping[Any, Any], suite: Suite) -> list[Attempt]:
    ids = {case.id for case in suite.cases}
    for name in answers:
        if str(name) not in ids:
            hint = suggest(str(name), sorted(ids)[:1000])
            raise UsageError(f"there is no case {str(name)!r} ({hint})")
    return [
        attempt
        for case in suite.cases
        if case.id in answers
        for attempt in _attempts(case.id, answers[case.id])
    ]


def _of_rows(rows: Sequence[Mapping[str, Any]], suite: Suite) -> list[Attempt]:
    """Read rows that say which case they answer, or else are in the order of the cases."""
    if not rows:
        raise UsageError("there are no answers: the table is empty")
    output = _column(rows[0], OUTPUTS)
    if output is None and "messages" not in rows[0]:
        there = ", ".join(repr(str(name)) for name in list(rows[0])[:20])
        raise UsageError(f"no column holds the answers: there are {there} (fix: call it 'output')")
    case = _column(rows[0], CASES)
    if case is None:
        return _in_order([as_json(row.get(output)) if output else row for row in rows], suite)
    by_case: dict[str, list[Any]] = {}
    for row in rows:
        value = as_json(row.get(output)) if output else row
        by_case.setdefault(str(as_json(row[case])), []).append(value)
    return _by_id(by_case, suite)


def _column(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    plain = {str(name).strip().lower(): name for name in row}
    return next((plain[name] for name in names if name in plain), None)


def _attempts(case_id: str, answer: Any) -> list[Attempt]:
    """Return the attempts at a case: one answer, or a list of them."""
    if isinstance(answer, list | tuple) and not all(isinstance(m, Message) for m in answer):
        return [_attempt(case_id, one, index) for index, one in enumerate(answer)]
    return [_attempt(case_id, answer, 0)]


def _attempt(case_id: str, answer: Any, index: int) -> Attempt:
    if isinstance(answer, Attempt):
        return answer
    if isinstance(answer, Mapping) and "messages" in answer:
        messages = tuple(
            Message(role=str(one["role"]), content=str(one["content"]))
            for one in answer["messages"]
        )
        answered = any(message.role == "assistant" for message in messages)
        status = AttemptStatus.ANSWERED if answered else AttemptStatus.UNANSWERED
        return Attempt(case_id=case_id, index=index, messages=messages, status=status)
    if isinstance(answer, Mapping):
        name = _column(answer, OUTPUTS)
        output = text_of(answer[name]) if name is not None else text_of(answer)
        meta = {str(key): as_json(value) for key, value in answer.items() if key != name}
        attempt = Attempt.of(case_id, output, index=index)
        return attempt if not meta or name is None else _with_meta(attempt, meta)
    return Attempt.of(case_id, text_of(as_json(answer), "the answer"), index=index)


def _with_meta(attempt: Attempt, meta: Mapping[str, Any]) -> Attempt:
    from dataclasses import replace

    return replace(attempt, meta=meta)
