"""Expressions that suites carry (``cond``), run in an interpreter that can reach nothing."""

import ast
import atexit
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from proctor.core.failures import HARMLESS
from proctor.core.suite import Json
from proctor.errors import ConditionError

LIMITS = {"max_feed_duration_secs": 1.0, "max_memory": 64 * 1024 * 1024, "max_recursion_depth": 100}
MAX_LENGTH = 4000


def condition_problem(text: str) -> str | None:
    """Return what is wrong with an expression before it is ever run."""
    if len(text) > MAX_LENGTH:
        return f"the condition has more than {MAX_LENGTH} characters"
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"the condition {text!r} is not a Python expression: {getattr(error, 'msg', error)}"
    if any(isinstance(node, ast.NamedExpr | ast.Await | ast.Yield) for node in ast.walk(tree)):
        return f"the condition {text!r} may only compute a value"
    return None


def holds(text: str, names: Mapping[str, Json]) -> bool:
    """Evaluate an expression and return whether it is true."""
    if (problem := condition_problem(text)) is not None:
        raise ConditionError(problem)
    import pydantic_monty

    try:
        return bool(_session().run(text.strip(), names))
    except pydantic_monty.MontyError as error:
        raise ConditionError(f"the condition {text!r} failed: {error}") from None


def answers_to_try(references: Sequence[str]) -> list[str]:
    """Return answers on which a condition should work: the references, where there are some."""
    return list(references) or ["", "0", HARMLESS]


def holds_for(
    text: str,
    names: Mapping[str, Json],
    others: Iterable[Mapping[str, Json]],
    *,
    failed: bool = False,
) -> bool:
    """Evaluate an expression about an answer; ``failed`` is what holds where it cannot be.

    ``others`` are the names as they are for answers that do no harm. Where the expression fails on
    all of them as well, it is the suite's doing, and a ConditionError.
    """
    try:
        return holds(text, names)
    except ConditionError:
        if condition_problem(text) is not None or all(_fails(text, other) for other in others):
            raise
        return failed


def _fails(text: str, names: Mapping[str, Json]) -> bool:
    try:
        holds(text, names)
    except ConditionError:
        return True
    return False


class _Session:
    """One interpreter process; every expression gets a fresh memory in it."""

    def __init__(self) -> None:
        import pydantic_monty

        self.pool = pydantic_monty.Monty(request_timeout=5.0)
        self.pool.__enter__()

    def run(self, text: str, names: Mapping[str, Json]) -> Any:
        # Names that one expression is given, or makes by exec, must not be there for the next.
        with self.pool.checkout(limits=LIMITS) as session:  # type: ignore[arg-type]
            return session.feed_run(text, inputs=dict(names))

    def close(self) -> None:
        self.pool.__exit__(None, None, None)


@lru_cache(maxsize=1)
def _session() -> _Session:
    session = _Session()
    atexit.register(session.close)
    return session
