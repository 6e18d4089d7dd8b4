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
    """Hold what a scorer of one's own gives to one output: a number, a category, or both."""

    score: float | None = None
    category: Category | None = None

    def __post_init__(self) -> None:
        if self.score is None and self.category is None:
            raise UserValueError("a ScoreResult has a score, a category, or both")


class _WrongCount(InternalError):
    """A scorer that does not say which output its scores belong to: no row can be trusted."""


class Scorer(ABC):
    """Score outputs; only ``name`` and ``run_batch`` must be written."""

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
        made: Scorer = made_of(cls, config)
        return made


@dataclass(frozen=True)
class OwnScorer:
    """Hold a scorer of one's own with what is known of it."""

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
    def of(cls, given: Any) -> "OwnScorer":
        """Take a function, an object with ``run_batch``, or the class of one."""
        if isinstance(given, type):
            given = given()
        if hasattr(given, "run_batch"):
            return _of_object(given)
        if callable(given):
            name = getattr(given, "__name__", type(given).__name__)
            needs = _roles_of(given)
            return cls(
                name=name,
                call=given,
                path=_path_of(given),
                requires_reference=needs.get(1, False),
                is_function=True,
            )
        raise UserTypeError(
            "a scoring method is a name, a function, or an object with run_batch,"
            f" not {type(given).__name__}"
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
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            raise UserValueError(f"the scorer {path} cannot be imported: {error}") from None
        if isinstance(found, type):
            again = getattr(found, "from_dict", None)
            found = again(config or {}) if again is not None else made_of(found, config or {})
        return cls.of(found)

    @property
    def reloadable(self) -> bool:
        """Tell whether the suite can be used again without passing the scorer."""
        return bool(self.path)

    @property
    def spec(self) -> Spec:
        """Return what is saved of it: where it is imported from, never the thing itself."""
        told: dict[str, Json] = {
            "name": self.name,
            "path": self.path,
            "config": dict(self.config),
            "categories": [one._asdict() for one in self.categories],
        }
        params = {name: value for name, value in told.items() if value}
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
        made: list[Score] = []
        for start in range(0, len(rows), batch_size):
            made += self._batch(rows[start : start + batch_size])
        return made

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
        found = {start: scores async for start, scores in done}
        return [score for start in starts for score in found[start]]

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
        made = list(results)
        if len(made) != count:
            raise _WrongCount(f"{self.name} gave {len(made)} scores for {count} outputs")
        return [self._score(result) for result in made]

    def _score(self, result: Any) -> Score:
        number, category = getattr(result, "score", result), getattr(result, "category", None)
        told = None if category is None else _category(category)
        if self.categories and (told is None or told.name not in {c.name for c in self.categories}):
            known = ", ".join(one.name for one in self.categories)
            raise InternalError(f"{self.name} gave the category {told and told.name!r} ({known})")
        detail = None if told is None else {"category": told._asdict()}
        if number is None:
            return Score(status=ScoreStatus.NOT_APPLICABLE, detail=detail)
        points = float(number)
        if not isfinite(points):
            return Score.failed(f"{self.name} gave {points}", out_of=1.0, detail=detail)
        return Score(points=points, out_of=1.0, detail=detail)


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """Hold what a scorer may see of one case."""

    candidate: str
    reference: str | None
    input: str
    context: str | None


def arguments_of(thing: Any) -> dict[str, Json]:
    """Return the plain attributes of an object that its class can be called with again."""
    known = inspect.signature(type(thing)).parameters
    found = getattr(thing, "__dict__", {})
    return {
        name: value for name, value in found.items() if name in known and isinstance(value, _PLAIN)
    }


def made_of(cls: type[Any], config: Mapping[str, Json]) -> Any:
    """Make an object of those saved values that its class takes."""
    known = inspect.signature(cls).parameters
    return cls(**{name: value for name, value in config.items() if name in known})


def _of_object(given: Any) -> OwnScorer:
    cls = type(given)
    named = getattr(given, "name", None)
    name = named() if callable(named) else named or cls.__name__
    needs = getattr(given, "requires_reference", None)
    categories = getattr(given, "categories", None)
    found = categories() if callable(categories) else categories
    if getattr(given, "is_categorical", bool)() and not found:
        raise UserValueError(f"{name} is categorical and names no categories")
    config = given.to_dict() if hasattr(given, "to_dict") else arguments_of(given)
    return OwnScorer(
        name=str(name),
        call=given.run_batch,
        path=_path_of(cls),
        config=deepcopy(config),
        requires_reference=bool(needs()) if callable(needs) else True,
        categories=tuple(_category(one) for one in found or ()),
        acall=getattr(given, "arun_batch", None),
    )


def _category(given: Any) -> Category:
    if isinstance(given, str):
        return Category(given)
    if isinstance(given, Mapping):
        return Category(given["name"], given.get("description"))
    return Category(given.name, getattr(given, "description", None))


def _path_of(thing: Any) -> str:
    """Return where something is imported from; empty where nothing could import it again."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    if not module or module == "__main__" or not name or "<" in name:
        return ""
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return ""
    return f"{module}:{name}" if found is thing else ""


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
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [0, 1]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [one for one in found if one.kind in kinds]
    roles = [_ROLES.get(one.name) for one in named]
    if None not in roles and len(set(roles)) == len(roles):
        return [role for role in roles if role is not None]
    needed = [one for one in named if one.default is inspect.Parameter.empty]
    return list(range(min(len(needed), 4))) or [0]


def _roles_of(function: Callable[..., Any]) -> dict[int, bool]:
    return dict.fromkeys(_order_of(function), True)
