"""Runs written as a finished job of Harbor: a folder for each attempt, its result, its trajectory.

``proctor import`` reads such a folder again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from proctor.contracts.report import RunView
from proctor.core.attempt import TRACEBACK, Attempt, used_by_candidate
from proctor.core.cause import cause_of
from proctor.core.fingerprint import digest
from proctor.core.run import AttemptResult, Run
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Json
from proctor.engine.run.stored_view import view_of
from proctor.engine.transfer.trajectories import trajectory_of
from proctor.errors import UsageError
from proctor.io import json_bytes
from proctor.store.store import Store
from proctor.version import __version__

REWARD = "reward"
"""What Harbor calls the reward of a task that has one."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 80


def write_job(store: Store, references: Sequence[str], folder: Path) -> int:
    """Write runs as a job into a folder of their own; return the number of trials."""
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UsageError(f"{folder} is there already (fix: name a new or empty folder)")
    views = [view_of(store, reference) for reference in references]
    written = 0
    try:
        for place, view in enumerate(views, 1):
            before = f"{place}-" if len(views) > 1 else ""
            for trial, result, trajectory in _trials(view, before):
                (folder / trial / "agent").mkdir(parents=True)
                _write(folder / trial / "result.json", result)
                _write(folder / trial / "agent" / "trajectory.json", trajectory)
                written += 1
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}") from None
    return written


def _write(path: Path, data: Json) -> None:
    path.write_bytes(json_bytes.dumps(data) + b"\n")


def _trials(view: RunView, before: str) -> Iterator[tuple[str, Json, Json]]:
    """Yield each attempt: the name of its trial, its result, its trajectory."""
    used: set[str] = set()
    for result in view.results():
        name = _UNSAFE.sub("-", result.case.id).strip("-.")[:_LONGEST]
        if not name or name in used:
            name = f"{name}-{digest(result.case.id)[:8]}".strip("-")
        used.add(name)
        width = len(str(len(result.attempts)))
        for tried in result.attempts:
            trial = f"{name}__{before}{tried.attempt.index + 1:0{width}}"
            yield (
                trial,
                _result(view, result.case, tried, trial),
                _trajectory(view, result.case, tried.attempt, trial),
            )


def _trajectory(view: RunView, case: Case, attempt: Attempt, trial: str) -> Json:
    name, version, model = _agent(view)
    return trajectory_of(
        case, attempt, session=f"{view.run.id}-{trial}", agent=name, version=version, model=model
    )


def _agent(view: RunView) -> tuple[str, str, str]:
    """Return what the agent, its version and its model are called.

    A model that was asked without an agent is one that Proctor worked for.
    """
    proxied = view.run.settings.get("proxy")
    if isinstance(proxied, Mapping) and proxied.get("model"):
        return view.candidate, _version(view.run), str(proxied["model"])
    if view.run.candidate.params.get("model"):
        return "proctor", __version__, view.candidate
    return view.candidate, _version(view.run), ""


def _version(run: Run) -> str:
    """Return the version of an agent as its user names it."""
    return str(run.candidate.params.get("version") or "unknown")


def _result(view: RunView, case: Case, tried: AttemptResult, trial: str) -> Json:
    attempt, run = tried.attempt, view.run
    name, version, model = _agent(view)
    provider, _, model_name = model.rpartition(":")
    model_info = {"name": model_name, "provider": provider or None} if model else None
    # Only the run's own times are known; those of its attempts are how long they took.
    started = run.started or 0.0
    finished = started + (attempt.seconds or 0.0)
    task = {"path": case.id}
    return {
        "id": str(uuid5(NAMESPACE_URL, f"{run.id}/{trial}")),
        "task_name": case.id,
        "trial_name": trial,
        "trial_uri": f"proctor:{run.id}/{trial}",
        "task_id": task,
        "source": view.suite.name,
        "task_checksum": digest(case),
        "config": {"task": task, "trial_name": trial},
        "agent_info": {"name": name, "version": version, "model_info": model_info},
        "agent_result": _used(attempt),
        "verifier_result": _verified(tried.scores),
        "exception_info": _failure(tried, finished),
        "started_at": _moment(started),
        "finished_at": _moment(finished),
        "agent_execution": {"started_at": _moment(started), "finished_at": _moment(finished)},
    }


def _used(attempt: Attempt) -> Json:
    used = used_by_candidate(attempt)
    return {
        "n_input_tokens": used.get("prompt_tokens"),
        "n_cache_tokens": used.get("cached_tokens"),
        "n_output_tokens": used.get("completion_tokens"),
        "cost_usd": used.get("cost"),
    }


def _verified(scores: Mapping[str, Score]) -> Json:
    """Return the rewards by name; none where nothing could be scored.

    A task whose tests gave several has these, and one criterion alone gives the reward.
    """
    scored = {
        name: score
        for name, score in scores.items()
        if score.status is ScoreStatus.SCORED and score.points is not None
    }
    if not scored:
        return None
    rewards: dict[str, Json] = {name: score.points for name, score in scored.items()}
    if len(scored) == 1:
        (score,) = scored.values()
        several = score.detail.get("rewards") if isinstance(score.detail, Mapping) else None
        rewards = dict(several) if isinstance(several, Mapping) else {REWARD: score.points}
    return {"rewards": rewards}


def _failure(tried: AttemptResult, at: float) -> Json:
    """Return what went wrong, with whose fault it was; none for an attempt that ended well."""
    attempt = tried.attempt
    cause = cause_of(attempt, tried.scores.values())
    failed = next(
        (one.reason for one in tried.scores.values() if one.status is ScoreStatus.FAILED), ""
    )
    message = attempt.error or failed
    if cause is None and not message:
        return None
    return {
        "exception_type": f"{cause.value if cause else 'unknown'}_failure",
        "exception_message": message or attempt.status.value,
        "exception_traceback": str(attempt.notes.get(TRACEBACK) or ""),
        "occurred_at": _moment(at),
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat()
