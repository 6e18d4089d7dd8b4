"""Jobs of Harbor: a folder with one folder for each trial, its result and its trajectory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proctor.contracts.archive import Archive, KeptSuite
from proctor.core.exchange import Usage
from proctor.core.suite import Case, Json, Message
from proctor.formats.imports.foreign_results import (
    ForeignAttempt,
    ForeignModel,
    ForeignRun,
    ForeignScore,
    kept_suite,
    moment,
    number,
    text_of,
    tool_call,
)
from proctor.io.text_files import file_error, read_head, read_json
from proctor.io.validation import validate

TOOL = "harbor"
RESULT, TRAJECTORY, REWARD = "result.json", "trajectory.json", "reward"


class _HarborVerified(ForeignModel):
    rewards: Json = None


class _HarborFailure(ForeignModel):
    exception_type: str = ""
    exception_message: str = ""


class _HarborAgent(ForeignModel):
    n_input_tokens: int | None = None
    n_cache_tokens: int | None = None
    n_output_tokens: int | None = None
    cost_usd: float | None = None


class _HarborModel(ForeignModel):
    name: str = ""
    provider: str | None = None


class _HarborAgentInfo(ForeignModel):
    name: str = ""
    version: str | None = None
    model_info: _HarborModel | None = None


class _HarborTrial(ForeignModel):
    task_name: str = ""
    trial_name: str = ""
    source: str | None = None
    agent_info: _HarborAgentInfo | None = None
    agent_result: _HarborAgent | None = None
    verifier_result: _HarborVerified | None = None
    exception_info: _HarborFailure | None = None
    started_at: str | None = None
    finished_at: str | None = None


class _HarborStep(ForeignModel):
    source: str = "agent"
    message: Json = ""
    reasoning_content: str | None = None
    tool_calls: list[dict[str, Json]] | None = None
    observation: dict[str, Json] | None = None


class _HarborTrajectory(ForeignModel):
    steps: list[_HarborStep] | None = None


@dataclass(frozen=True)
class HarborJobs(Archive):
    """A finished job: trials at tasks, each with its rewards."""

    def recognises(self, path: Path) -> bool:
        return path.is_dir() and any(_is_trial(folder) for folder in _folders(path))

    def read(self, path: Path) -> Iterator[KeptSuite]:
        job = _HarborJob(path)
        for folder in _folders(path):
            if _is_trial(folder):
                job.take(folder)
        yield job.suite()


def _folders(path: Path) -> Iterator[Path]:
    yield from sorted(entry for entry in path.iterdir() if entry.is_dir())


def _is_trial(folder: Path) -> bool:
    result = folder / RESULT
    if not result.is_file():
        return False
    head = read_head(result, 65_536)
    return b'"trial_name"' in head or b'"verifier_result"' in head


@dataclass
class _HarborJob:
    """One job while its trials are read."""

    path: Path
    cases: dict[str, Case] = field(default_factory=dict)
    attempts: dict[str, list[ForeignAttempt]] = field(default_factory=dict)
    started: dict[str, float] = field(default_factory=dict)

    def take(self, folder: Path) -> None:
        trial = validate(_HarborTrial, read_json(folder / RESULT))
        case = trial.task_name or folder.name.rpartition("__")[0] or folder.name
        candidate = _candidate(trial.agent_info)
        question_text, transcript = _messages(_trajectory(folder))
        if case not in self.cases or (question_text and not self.cases[case].messages[0].content):
            question = Message(role="user", content=question_text)
            self.cases[case] = Case(id=case, messages=(question,), criteria=())
        attempts = self.attempts.setdefault(candidate, [])
        begun = moment(trial.started_at)
        ended = moment(trial.finished_at)
        scores = dict(_rewards(trial.verifier_result))
        attempts.append(
            ForeignAttempt(
                case=case,
                index=sum(one.case == case for one in attempts),
                messages=transcript,
                error=_failure(trial.exception_info) if not scores else "",
                scores=scores,
                usage=_usage(trial.agent_result),
                seconds=ended - begun if begun and ended > begun else None,
                notes={"failure": _failure(trial.exception_info)} if trial.exception_info else {},
            )
        )
        if begun:
            self.started[candidate] = min(begun, self.started.get(candidate, begun))

    def suite(self) -> KeptSuite:
        if not self.cases:
            raise file_error(self.path, "the job has no finished trial")
        runs = [
            ForeignRun(
                name=f"{self.path.resolve().name} {candidate}",
                candidate=candidate,
                attempts=attempts,
                settings={"imported_from": TOOL},
                started=self.started.get(candidate, 0.0),
            )
            for candidate, attempts in self.attempts.items()
        ]
        return kept_suite(self.path.resolve().name, self.cases, runs, source=TOOL)


def _candidate(info: _HarborAgentInfo | None) -> str:
    if info is None:
        return "agent"
    model = info.model_info.name if info.model_info else ""
    return " ".join(part for part in (info.name, model) if part) or "agent"


def _trajectory(folder: Path) -> _HarborTrajectory:
    for path in (folder / "agent" / TRAJECTORY, folder / TRAJECTORY):
        if path.is_file():
            return validate(_HarborTrajectory, read_json(path))
    return _HarborTrajectory()


def _messages(trajectory: _HarborTrajectory) -> tuple[str, tuple[Message, ...]]:
    """Return the task as the user gave it, and what the agent did."""
    question_text, transcript = "", list[Message]()
    for step in trajectory.steps or ():
        text = text_of(step.message)
        if step.source != "agent":
            if step.source == "user" and not question_text and not transcript:
                question_text = text
            else:
                transcript.append(Message(role=step.source, content=text))
            continue
        calls = tuple(
            tool_call(call.get("function_name"), call.get("arguments"), call.get("tool_call_id"))
            for call in step.tool_calls or ()
        )
        thinking = step.reasoning_content or ""
        transcript.append(
            Message(role="assistant", content=text, tool_calls=calls, thinking=thinking)
        )
        for result in (step.observation or {}).get("results") or ():
            if isinstance(result, Mapping):
                call_id = text_of(result.get("source_call_id"))
                content = text_of(result.get("content"))
                transcript.append(Message(role="tool", content=content, tool_call_id=call_id))
    return question_text, tuple(transcript)


def _rewards(verified: _HarborVerified | None) -> Iterator[tuple[str, ForeignScore]]:
    rewards = None if verified is None else verified.rewards
    if isinstance(rewards, Mapping):
        for name, value in rewards.items():
            yield name, ForeignScore(value=number(value))
    elif rewards is not None:
        yield REWARD, ForeignScore(value=number(rewards))


def _failure(info: _HarborFailure | None) -> str:
    if info is None:
        return "no reward was given"
    parts = (info.exception_type, info.exception_message)
    return ": ".join(part for part in parts if part) or "the trial failed"


def _usage(agent: _HarborAgent | None) -> Usage:
    if agent is None:
        return Usage()
    return Usage(
        prompt_tokens=agent.n_input_tokens or 0,
        completion_tokens=agent.n_output_tokens or 0,
        cached_tokens=agent.n_cache_tokens or 0,
        cost=agent.cost_usd,
    )
