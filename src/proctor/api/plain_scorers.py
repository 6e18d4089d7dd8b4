"""Scorers that are plain functions of the output and what belongs to the case."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.errors import UsageError

Function = Callable[..., Any]
_OUTPUTS = frozenset({"output", "answer", "response", "text", "prediction", "actual", "completion"})
_ARGUMENTS: Mapping[str, Callable[[ScoreContext], Any]] = {
    "ctx": lambda ctx: ctx,
    "output": lambda ctx: ctx.output,
    "reference": lambda ctx: ctx.references[0] if ctx.references else None,
    "expected": lambda ctx: ctx.references[0] if ctx.references else None,
    "references": lambda ctx: list(ctx.references),
    "question": lambda ctx: ctx.prompt,
    "prompt": lambda ctx: ctx.prompt,
    "context": lambda ctx: list(ctx.context),
    "case": lambda ctx: ctx.case,
    "attempt": lambda ctx: ctx.attempt,
    "judge": lambda ctx: ctx.judge,
}
"""What a function may ask for by the names of its parameters."""


class _Refused(Exception):
    """What a function returned, where it is no score."""


@dataclass(frozen=True, eq=False)
class FunctionScorer(Scorer):
    """A plain function as a scorer."""

    function: Function
    name: str
    takes: tuple[str, ...] = ()
    """What each of its parameters is given."""
    judged: bool = False
    most: float | None = field(default=1.0)

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(
            type(self.function).__call__
        )

    @property
    def needs_judge(self) -> bool:  # type: ignore[override]
        """Tell whether the function takes a judge."""
        return self.judged

    @property
    def full_marks(self) -> float | None:
        return self.most

    def score(self, ctx: ScoreContext) -> Any:
        arguments = [_ARGUMENTS[name](ctx) for name in self.takes]
        if self.is_async:
            return self._waited(arguments)
        try:
            return self._scored(self.function(*arguments))
        except Exception as error:  # noqa: BLE001 - told by the name of the function
            return self._failed(error)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as before it was a scorer."""
        return self.function(*args, **kwargs)

    async def _waited(self, arguments: list[Any]) -> Any:
        try:
            return self._scored(await self.function(*arguments))
        except Exception as error:  # noqa: BLE001 - told by the name of the function
            return self._failed(error)

    def _failed(self, error: Exception) -> Score:
        text = str(error)
        raised = "" if isinstance(error, _Refused) else f" raised {type(error).__name__}"
        reason = f"{self.name}{raised}{':' if raised and text else ''} {text}".rstrip()
        return Score.failed(reason, out_of=self.most)

    def _scored(self, result: Any) -> Any:
        """Return what a function returned, with its reason where it gave one."""
        reason = ""
        if isinstance(result, tuple) and len(result) == 2:
            result, reason = result
        if isinstance(result, Score):
            return result
        if not isinstance(result, bool | int | float):
            raise _Refused(
                f"returned {type(result).__name__}, not a bool, a number, a Score or a pair of"
                " points and a reason"
            )
        if self.most is not None and not 0 <= result <= self.most:
            raise _Refused(
                f"returned {result:g}, and its points go from 0 to {self.most:g} (fix:"
                " @proctor.scorer(out_of=…) names full marks, out_of=None only shows the number)"
            )
        return Score(points=float(result), out_of=self.most, reason=str(reason))


@overload
def scorer(function: Function, /) -> FunctionScorer: ...
@overload
def scorer(
    *, name: str = "", out_of: float | None = 1.0
) -> Callable[[Function], FunctionScorer]: ...
def scorer(
    function: Function | None = None, /, *, name: str = "", out_of: float | None = 1.0
) -> FunctionScorer | Callable[[Function], FunctionScorer]:
    """Make a scorer of a function that returns a bool, points, a Score, or (points, reason).

    Its first parameter is the output; the others are given by their names: ``reference``,
    ``references``, ``question``, ``context``, ``case``, ``attempt``, ``judge``, or ``ctx``, which
    has all of them. With ``out_of=None`` its number is only shown, and never added.
    """

    def decorate(one: Function) -> FunctionScorer:
        return scorer_of(one, name=name, out_of=out_of)

    return decorate if function is None else decorate(function)


def scorer_of(function: Function, *, name: str = "", out_of: float | None = 1.0) -> FunctionScorer:
    """Make a scorer of a function, or say why it cannot be one."""
    if isinstance(function, FunctionScorer):
        return function
    own = name or str(getattr(function, "__name__", type(function).__name__)).strip("<>")
    takes = _parameters(function, own)
    return FunctionScorer(
        function=function, name=own, takes=takes, judged="judge" in takes, most=out_of
    )


def _parameters(function: Function, name: str) -> tuple[str, ...]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ("output",)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    takes: list[str] = []
    for place, one in enumerate(parameters):
        if one.kind not in positional:
            continue
        if one.name in _ARGUMENTS:
            takes.append(one.name)
        elif place == 0 or one.name in _OUTPUTS:
            takes.append("output")
        elif place == 1 and one.default is one.empty:
            takes.append("reference")
        elif one.default is one.empty:
            raise UsageError(
                f"the scorer {name!r} has a parameter {one.name!r}, which nobody gives it"
                f" (known are: {', '.join(_ARGUMENTS)})"
            )
        else:
            break
    if not takes:
        raise UsageError(f"the scorer {name!r} takes nothing: its first parameter is the output")
    return tuple(takes)
