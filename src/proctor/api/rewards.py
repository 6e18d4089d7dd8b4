"""Rewards of trainers: a Grader behind the functions that TRL, verl and verifiers call.

What an output is worth is the reward. One that could not be scored has none: TRL takes ``None`` for
that, verl a number that you choose, verifiers an error of the rollout or a number.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Literal, Protocol

from proctor.api.grader import GradedOutput, Grader
from proctor.core.attempt import Attempt
from proctor.core.suite import Message
from proctor.errors import ProctorError, UsageError

__all__ = ["NoScore", "trl", "verifiers", "verl"]

NoScoreRule = float | Literal["raise"]
"""What a trainer that needs a number gets without a score: this number, or an error."""


class NoScore(ProctorError):
    """An output that could not be scored, where the trainer is to be told by an error."""


class TrlReward(Protocol):
    """A reward function as TRL calls it."""

    __name__: str

    def __call__(
        self,
        *,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return the reward of each completion."""


def trl(grader: Grader, *, case_column: str = "case", name: str = "proctor") -> TrlReward:
    """Return a reward function for TRL's GRPOTrainer and its like.

    The column ``case_column`` of the dataset has the ids of the cases. A completion without a score
    has the reward ``None``, which TRL leaves out. What cost points goes to the table of completions
    (``NAME_why``), the share without a score to the metrics (``NAME/unscored``).
    """

    def reward(
        *,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        cases = columns.get(case_column)
        if cases is None:
            names = ", ".join(sorted(columns)) or "none"
            raise UsageError(
                f"the dataset has no column {case_column!r} with the ids of cases (it has: {names};"
                " fix: case_column=…, and remove_unused_columns=False)"
            )
        pairs = [
            (case, output_of(case, completion))
            for case, completion in zip(cases, completions, strict=True)
        ]
        results = grader.score(pairs)
        if log_extra is not None:
            log_extra(f"{name}_why", [result.why for result in results])
        if log_metric is not None and results:
            unscored = sum(not result.scored for result in results)
            log_metric(f"{name}/unscored", unscored / len(results))
        return [result.value for result in results]

    reward.__name__ = name
    return reward


def verl(
    grader: Grader, *, no_score: NoScoreRule, case_key: str = "case"
) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Return ``compute_score`` for verl's ``reward.custom_reward_function``.

    ``extra_info[case_key]`` is the id of the case. verl needs a number for every sample:
    ``no_score`` says which one stands for none, or that an error is raised. ``scored`` and ``why``
    are returned with the score, and become part of ``reward_extra_info``.
    """
    _check_rule(no_score)

    async def compute_score(
        data_source: Any = None,
        solution_str: str = "",
        ground_truth: Any = None,
        extra_info: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        case_id = (extra_info or {}).get(case_key)
        if not isinstance(case_id, str):
            raise UsageError(
                f"extra_info[{case_key!r}] must be the id of a case (data_source:"
                f" {data_source!r}; fix: put it there when the dataset is made, or case_key=…)"
            )
        result = await grader.ascore_one(case_id, solution_str)
        return {
            "score": _number(result, no_score),
            "scored": result.scored,
            "why": result.why,
            "case": case_id,
        }

    return compute_score


def verifiers(
    grader: Grader, *, no_score: NoScoreRule = "raise", case_field: str = "case"
) -> Callable[..., Awaitable[float]]:
    """Return a reward for a task of verifiers: ``async reward(task, trace)``.

    The field ``case_field`` of the task's data is the id of the case. ``trace.info["proctor"]``
    says what cost points. Without a score the rollout has an error, so that nobody trains on it,
    or ``no_score`` as its reward.
    """
    _check_rule(no_score)

    async def proctor(task: Any, trace: Any) -> float:
        case_id = vars(task).get(case_field)
        if not isinstance(case_id, str):
            raise UsageError(
                f"the task has no field {case_field!r} with the id of a case (fix: case_field=…)"
            )
        result = await grader.ascore_one(case_id, trace.last_reply)
        told = {"case": case_id, "value": result.value, "why": result.why}
        trace.info["proctor"] = told
        return _number(result, no_score)

    return proctor


def output_of(case_id: str, completion: Any) -> str | Attempt | None:
    """Return a completion, a text or a list of messages, as an output to score."""
    if completion is None or isinstance(completion, str):
        return completion
    if not isinstance(completion, Sequence) or not all(isinstance(m, Mapping) for m in completion):
        raise UsageError(
            f"a completion is a text or a list of messages, not {type(completion).__name__}"
        )
    messages = tuple(
        Message(role=str(one.get("role", "assistant")), content=_text(one.get("content")))
        for one in completion
    )
    if not any(message.role == "assistant" for message in messages):
        return None
    return Attempt(case_id=case_id, messages=messages)


def _text(content: Any) -> str:
    """Return the text of a message, which may come in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _check_rule(no_score: NoScoreRule) -> None:
    if no_score != "raise" and not (isinstance(no_score, int | float) and isfinite(no_score)):
        raise UsageError(f"no_score is a number or 'raise', not {no_score!r}")


def _number(result: GradedOutput, no_score: NoScoreRule) -> float:
    if result.value is not None:
        return result.value
    if no_score == "raise":
        raise NoScore(f"case {result.case_id!r} has no score: {result.why}")
    return float(no_score)
