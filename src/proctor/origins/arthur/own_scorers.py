"""Scorers of one's own: a function, or a class with ``run_batch``; how they run and are saved."""

import asyncio
import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Json, Spec
from proctor.origins.arthur.errors import InternalError, UserTypeError, UserValueError
from proctor.origins.arthur.method_table import CUSTOM, Category

_ROLES = {
    "candidate": 0, "candidate_output": 0, "output": 0, "answer": 0, "response": 0,
    "reference": 1, "reference_output": 1, "expected": 1,
    "input": 2, "input_text": 2, "prompt": 2, "question": 2,
    "context": 3,
}  # fmt: skip
_PLAIN = (str, int, float, bool, type(None), list, dict)


@dataclass(frozen=True)
class ScoreResult:
    """Result of a custom scorer for one output: a number, a category, or both."""

    score: float | None = None
    category: Category | None = None

    def __post_init__(self) -> None:
        if self.score is None and self.category is None:
            raise UserValueError("a ScoreResult has a score, a category, or both")


class _WrongCount(InternalError):
    """A scorer that does not say which output its scores belong to: no row can be trusted."""


class Scorer(ABC):
    """Base of custom scorers; only ``name`` and ``run_batch`` must be written."""

    @staticmethod
    @abstractmethod
    def name() -> str:
        """Return the name that people see."""

    @abstractmethod
    def run_batch(
        self,
        candidate_batch: list[str],
        reference_batch: list[str] | None = None,
        input_text_batch: list[str] | None = None,
        context_batch: list[str] | None = None,
    ) -> Sequence[ScoreResult | float]:
        """Score some outputs, one result for each."""

    @staticmethod
    def requires_reference() -> bool:
        """Tell whether suites of this scorer need references."""
        return True

    @staticmethod
    def is_categorical() -> bool:
        """Tell whether every result has a category."""
        return False

    @staticmethod
    def categories() -> Sequence[Category] | None:
        """Return all categories there may be."""
        return None

    def to_dict(self) -> dict[str, Json]:
        """Return what is saved beside the import path: arguments kept under their own names."""
        return arguments_of(self)

    @classmethod
    def from_dict(cls, config: Mapping[str, Json]) -> "Scorer":
        """Make the scorer again of what was saved."""
        scorer: Scorer = instance_of(cls, config)
        return scorer


@dataclass(frozen=True)
class OwnScorer:
    """A custom scorer with its name, configuration and categories."""

    name: str
    call: Callable[..., Any] | None
    """``run_batch``, or the function; none where it is not here."""
    path: str = ""
    """``module:name`` where it can be imported; empty for what a notebook defines."""
    config: Mapping[str, Json] = field(default_factory=dict)
    requires_reference: bool = True
    is_function: bool = False
    categories: tuple[Category, ...] = ()
    acall: Callable[..., Any] | None = None

    @classmethod
    def of(cls, scorer: Any) -> "OwnScorer":
        """Take a function, an object with ``run_batch``, or the class of one."""
        if isinstance(scorer, type):
            scorer = scorer()
        if hasattr(scorer, "run_batch"):
            return _of_object(scorer)
        if callable(scorer):
            name = getattr(scorer, "__name__", type(scorer).__name__)
            needs = _roles_of(scorer)
            return cls(
                name=name,
                call=scorer,
                path=_path_of(scorer),
                requires_reference=needs.get(1, False),
                is_function=True,
            )
        raise UserTypeError(
            "a scoring method is a name, a function, or an object with run_batch,"
            f" not {type(scorer).__name__}"
        )

    @classmethod
    def of_spec(cls, spec: Spec) -> "OwnScorer":
        """Read what was saved of a scorer, without importing it."""
        params = spec.params
        categories = tuple(
            Category(one["name"], one.get("description")) for one in params.get("categories", ())
        )
        return cls(
            name=params["name"],
            call=None,
            path=params.get("path", ""),
            config=params.get("config", {}),
            requires_reference=params.get("requires_reference", True),
            categories=categories,
        )

    @classmethod
    def imported(cls, path: str, config: Mapping[str, Json] | None = None) -> "OwnScorer":
        """Import a scorer by ``module:name``."""
        module, _, name = path.partition(":")
        try:
            target: Any = importlib.import_module(module)
            for part in name.split("."):
                target = getattr(target, part)
        except (ImportError, AttributeError) as error:
            raise UserValueError(f"the scorer {path} cannot be imported: {error}") from None
        if isinstance(target, type):
            again = getattr(target, "from_dict", None)
            target = again(config or {}) if again is not None else instance_of(target, config or {})
        return cls.of(target)

    @property
    def reloadable(self) -> bool:
        """Tell whether the suite can be used again without passing the scorer."""
        return bool(self.path)

    @property
    def spec(self) -> Spec:
        """Return what is saved of it: where it is imported from, never the thing itself."""
        saved: dict[str, Json] = {
            "name": self.name,
            "path": self.path,
            "config": dict(self.config),
            "categories": [one._asdict() for one in self.categories],
        }
        params = {name: value for name, value in saved.items() if value}
        return Spec(
            name=CUSTOM,
            params={
                **params,
                "reloadable": self.reloadable,
                "requires_reference": self.requires_reference,
            },
        )

    def scores(self, rows: Sequence["ScoredRow"], batch_size: int) -> list[Score]:
        """Score rows in batches; a batch that breaks is tried row by row."""
        scores: list[Score] = []
        for start in range(0, len(rows), batch_size):
            scores += self._batch(rows[start : start + batch_size])
        return scores

    async def ascores(self, rows: Sequence["ScoredRow"], batch_size: int) -> list[Score]:
        """Score rows in batches that wait for something, several at a time."""
        from proctor.io import concurrency

        acall = self.acall
        if acall is None:
            return self.scores(rows, batch_size)
        starts = range(0, len(rows), batch_size)

        async def one(start: int) -> tuple[int, list[Score]]:
            return start, await self._abatch(rows[start : start + batch_size], acall)

        done: AsyncIterator[tuple[int, list[Score]]] = concurrency.map_unordered(
            starts, one, limit=16
        )
        by_start = {start: scores async for start, scores in done}
        return [score for start in starts for score in by_start[start]]

    def _batch(self, batch: Sequence["ScoredRow"]) -> list[Score]:
        try:
            if self.is_function:
                return [self._checked([self._by_name(row)], 1)[0] for row in batch]
            assert self.call is not None
            return self._checked(self.call(*_columns(batch)), len(batch))
        except _WrongCount:
            raise
        except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything
            if len(batch) > 1:
                return [score for row in batch for score in self._batch([row])]
            return [self._broken(error)]

    async def _abatch(self, batch: Sequence["ScoredRow"], acall: Callable[..., Any]) -> list[Score]:
        try:
            return self._checked(await acall(*_columns(batch)), len(batch))
        except _WrongCount:
            raise
        except NotImplementedError:
            # Arthur Bench's base class has an arun_batch that says so.
            return await asyncio.to_thread(self._batch, batch)
        except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything
            if len(batch) > 1:
                return [score for row in batch for score in await self._abatch([row], acall)]
            return [self._broken(error)]

    def _broken(self, error: Exception) -> Score:
        """Make the score of a row that could not be scored."""
        if isinstance(error, InternalError):
            return Score.failed(str(error), out_of=1.0)
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return Score.failed(f"{self.name}: {text}", out_of=1.0)

    def _by_name(self, row: "ScoredRow") -> Any:
        """Call a function with what its parameters ask for."""
        assert self.call is not None
        values = (row.candidate, row.reference, row.input, row.context)
        return self.call(*(values[role] for role in _order_of(self.call)))

    def _checked(self, results: Any, count: int) -> list[Score]:
        listed = list(results)
        if len(listed) != count:
            raise _WrongCount(f"{self.name} gave {len(listed)} scores for {count} outputs")
        return [self._score(result) for result in listed]

    def _score(self, result: Any) -> Score:
        number, category = getattr(result, "score", result), getattr(result, "category", None)
        chosen = None if category is None else _category(category)
        if self.categories and (
            chosen is None or chosen.name not in {c.name for c in self.categories}
        ):
            names = ", ".join(one.name for one in self.categories)
            raise InternalError(
                f"{self.name} gave the category {chosen and chosen.name!r} ({names})"
            )
        detail = None if chosen is None else {"category": chosen._asdict()}
        if number is None:
            return Score(status=ScoreStatus.NOT_APPLICABLE, detail=detail)
        points = float(number)
        if not isfinite(points):
            return Score.failed(f"{self.name} gave {points}", out_of=1.0, detail=detail)
        return Score(points=points, out_of=1.0, detail=detail)


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """The part of a case that a scorer may see."""

    candidate: str
    reference: str | None
    input: str
    context: str | None


def arguments_of(thing: Any) -> dict[str, Json]:
    """Return the plain attributes of an object that its class can be called with again."""
    parameters = inspect.signature(type(thing)).parameters
    attributes = getattr(thing, "__dict__", {})
    return {
        name: value
        for name, value in attributes.items()
        if name in parameters and isinstance(value, _PLAIN)
    }


def instance_of(cls: type[Any], config: Mapping[str, Json]) -> Any:
    """Make an object of those saved values that its class takes."""
    parameters = inspect.signature(cls).parameters
    return cls(**{name: value for name, value in config.items() if name in parameters})


def _of_object(scorer: Any) -> OwnScorer:
    cls = type(scorer)
    named = getattr(scorer, "name", None)
    name = named() if callable(named) else named or cls.__name__
    needs = getattr(scorer, "requires_reference", None)
    categories = getattr(scorer, "categories", None)
    listed = categories() if callable(categories) else categories
    if getattr(scorer, "is_categorical", bool)() and not listed:
        raise UserValueError(f"{name} is categorical and names no categories")
    config = scorer.to_dict() if hasattr(scorer, "to_dict") else arguments_of(scorer)
    return OwnScorer(
        name=str(name),
        call=scorer.run_batch,
        path=_path_of(cls),
        config=deepcopy(config),
        requires_reference=bool(needs()) if callable(needs) else True,
        categories=tuple(_category(one) for one in listed or ()),
        acall=getattr(scorer, "arun_batch", None),
    )


def _category(value: Any) -> Category:
    if isinstance(value, str):
        return Category(value)
    if isinstance(value, Mapping):
        return Category(value["name"], value.get("description"))
    return Category(value.name, getattr(value, "description", None))


def _path_of(thing: Any) -> str:
    """Return where something is imported from; empty where nothing could import it again."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    if not module or module == "__main__" or not name or "<" in name:
        return ""
    try:
        target: Any = importlib.import_module(module)
        for part in name.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError):
        return ""
    return f"{module}:{name}" if target is thing else ""


def _columns(batch: Sequence[ScoredRow]) -> tuple[Any, ...]:
    """Return the batch as run_batch takes it; what one row lacks, no row has."""
    references, contexts = [row.reference for row in batch], [row.context for row in batch]
    return (
        [row.candidate for row in batch],
        None if None in references else references,
        [row.input for row in batch],
        None if None in contexts else contexts,
    )


def _order_of(function: Callable[..., Any]) -> list[int]:
    """Return what each parameter of a function is given: by its name, else by its place."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [0, 1]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [one for one in parameters if one.kind in kinds]
    roles = [_ROLES.get(one.name) for one in named]
    if None not in roles and len(set(roles)) == len(roles):
        return [role for role in roles if role is not None]
    needed = [one for one in named if one.default is inspect.Parameter.empty]
    return list(range(min(len(needed), 4))) or [0]


def _roles_of(function: Callable[..., Any]) -> dict[int, bool]:
    return dict.fromkeys(_order_of(function), True)
