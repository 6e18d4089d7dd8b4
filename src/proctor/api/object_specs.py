"""Objects of a program, such as scorers and models, as the names that the engine knows them by."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from difflib import get_close_matches
from typing import Any

from proctor import registry
from proctor.api.function_identity import identify
from proctor.api.plain_scorers import FunctionScorer, scorer_of
from proctor.contracts.scorer import Scorer
from proctor.core.fingerprint import is_plain, plain
from proctor.core.suite import Json, Spec
from proctor.errors import UsageError
from proctor.suggestions import suggest

ACriterion = str | Mapping[str, Any] | Scorer | type[Scorer] | Callable[..., Any]
"""A criterion: a scorer, its name, a mapping as in a suite, or a function of the output."""
AnyCriteria = ACriterion | Sequence[ACriterion]
"""One criterion or several."""


def spec_of(kind: str, plugin: Any) -> Spec:
    """Return the spec of an object: that of its class, where others have it, or one of its own."""
    if isinstance(plugin, type):
        plugin = _instance(kind, plugin)
    name = registry.name_of(kind, type(plugin))
    params = params_of(plugin) if is_dataclass(plugin) else {}
    if name and params is not None:
        return Spec(name=name, params=params)
    identity = identify(plugin)
    shown = params if params is not None and not isinstance(plugin, FunctionScorer) else {}
    return Spec(
        name=registry.lend(kind, plugin, label_of(plugin), identity.key), params=shown or {}
    )


def label_of(plugin: Any) -> str:
    """Return what an object is called."""
    if isinstance(plugin, FunctionScorer):
        return plugin.name
    return type(plugin).__name__


def params_of(plugin: Any) -> dict[str, Json] | None:
    """Return the fields that differ from their defaults; none where JSON cannot hold one."""
    params: dict[str, Json] = {}
    for one in fields(plugin):
        if not one.init or one.name.startswith("_"):
            continue
        value = getattr(plugin, one.name)
        if _is_default(one, value):
            continue
        try:
            written = plain(value)
        except TypeError:
            return None
        if not is_plain(written):
            return None
        params[one.name] = written
    return params


def _is_default(one: Field[Any], value: Any) -> bool:
    if one.default is not MISSING:
        return type(value) is type(one.default) and bool(value == one.default)
    return one.default_factory is not MISSING and bool(value == one.default_factory())


def _instance(kind: str, plugin: type[Any]) -> Any:
    try:
        return plugin()
    except TypeError as error:
        raise UsageError(
            f"the {kind} {plugin.__name__} needs its parameters: {error}"
            f" (fix: {plugin.__name__}(…))"
        ) from None


def written_criteria(criteria: Any) -> Json:
    """Write criteria as a suite's file would, whatever a person handed over."""
    if criteria is None or is_one(criteria):
        return written_criterion(criteria)
    if isinstance(criteria, Sequence | set | frozenset):
        return _with_own_ids([written_criterion(one) for one in criteria])
    raise UsageError(
        f"criteria are scorers, names of scorers, functions or mappings, not {criteria!r:.80}"
    )


def _with_own_ids(criteria: list[Json]) -> list[Json]:
    """Tell apart objects of the same name, such as two lambdas."""
    seen: Counter[str] = Counter()
    for one in criteria:
        if isinstance(one, dict) and "id" in one:
            seen[one["id"]] += 1
            if seen[one["id"]] > 1:
                one["id"] = f"{one['id']}-{seen[one['id']]}"
    return criteria


def is_one(criterion: Any) -> bool:
    """Tell whether something is one criterion, and not several."""
    return isinstance(criterion, str | Mapping | Scorer | type | bool | int | float) or callable(
        criterion
    )


def written_criterion(entry: Any) -> Json:
    """Write one criterion as a suite's file would."""
    if isinstance(entry, str):
        scorer_names = registry.names("scorer")
        # Any other text is what the answer must contain, unless it is a name with a slip in it.
        if entry not in scorer_names and get_close_matches(entry, scorer_names, 1, cutoff=0.8):
            raise UsageError(
                f"there is no scorer {entry!r} ({suggest(entry, scorer_names)}; a text that"
                f" answers must contain is {{'contains': {entry!r}}})"
            )
        return {entry: True} if entry in scorer_names else entry
    if isinstance(entry, Mapping):
        return _written_mapping(entry)
    if entry is None or isinstance(entry, bool | int | float):
        return entry
    scorer = entry if isinstance(entry, Scorer | type) else _called(entry)
    spec = spec_of("scorer", scorer)
    criterion: dict[str, Json] = {"scorer": spec.name, "with": dict(spec.params)}
    if spec.name.startswith(registry.LENT):
        label = label_of(scorer)
        criterion |= {"metric": label}
        if label not in registry.names("scorer"):
            criterion |= {"id": label}
    return criterion


def _written_mapping(criterion: Mapping[Any, Any]) -> Json:
    """Write a mapping with the scorer as an object in it, beside an id, a weight and so on."""
    scorer = criterion.get("scorer")
    if scorer is None or isinstance(scorer, str):
        return {str(key): value for key, value in criterion.items()}
    own = {str(key): value for key, value in criterion.items() if key != "scorer"}
    if "with" in own:
        raise UsageError("a scorer that is an object has its parameters already: leave out 'with'")
    written = written_criterion(scorer)
    assert isinstance(written, dict)
    return {**written, **own}


def _called(function: Any) -> Scorer:
    if not callable(function):
        raise UsageError(
            f"{function!r:.80} is no criterion (fix: a scorer such as Contains('Paris'), the name"
            " of one, a mapping such as {'number': 42}, or a function of the output)"
        )
    return scorer_of(function)
