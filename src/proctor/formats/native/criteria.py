"""Criteria and other named plugins as people write them in native suites, checked on reading."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from proctor import registry
from proctor.contracts.scorer import Scorer
from proctor.core.suite import Criterion, Json, Spec
from proctor.errors import PluginError, SuiteError
from proctor.formats.carried_modules import SuiteModules, file_of
from proctor.formats.native.spot import Spot
from proctor.io.described import describe
from proctor.io.validation import MOST_CUTS, Strict, without_errors
from proctor.suggestions import suggest, suggest_scorer

SCALAR = ["string", "number", "boolean"]
FORM = "x-form"
"""The mark of a value whose forms are described once, in the schema's definitions."""


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"expected a number, not {describe(value)}")
    return value


def _not_negative(value: float) -> float:
    if value < 0:
        raise ValueError(f"expected 0 or more, not {value:g}")
    return value


@dataclass(frozen=True)
class Shorthand:
    """Another way to write a value: ``{file: a.txt}`` as ``a.txt``."""

    schema: Mapping[str, Json]

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [dict(self.schema), handler(core)]}


@dataclass(frozen=True)
class OneOrMany:
    """A list that may be written as its only entry."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core)
        return {"anyOf": [schema["items"], schema]}


_Finite = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(_no_bool)]
Number = Annotated[_Finite, WithJsonSchema({"type": "number"})]
Share = Annotated[
    _Finite, AfterValidator(_not_negative), WithJsonSchema({"type": "number", "minimum": 0})
]
Text = Annotated[str, WithJsonSchema({"type": SCALAR})]
"""A text; a number or a truth value keeps the spelling of its author."""
Texts = Annotated[list[Text], OneOrMany()]
Plugin = Annotated[Any, WithJsonSchema({FORM: "plugin"})]
Plugins = Annotated[Any, WithJsonSchema({FORM: "plugins"})]
Criteria = Annotated[Any, WithJsonSchema({FORM: "criteria"})]
Prompts = Annotated[Any, WithJsonSchema({FORM: "prompts"})]
Vars = Annotated[Any, WithJsonSchema({FORM: "vars"})]
Cases = Annotated[Any, WithJsonSchema({FORM: "cases"})]


LONG_KEYS = ("scorer", "with")

# Where a scorer wants texts, a number keeps the spelling of its author.
SPELT_TEXTS: Mapping[str, frozenset[str]] = {
    "contains": frozenset({"texts", "none"}),
    "keywords": frozenset({"rules", "text", "any", "all"}),
    "blanks": frozenset({"targets", "template", "blank", "prefix", "text", "any"}),
    "matches": frozenset({"pattern"}),
    "rouge": frozenset({"references"}),
}
_NEGATED = re.compile(r"(?:not|no|none|never|must_not|excludes?)(?:\b|[-_])", re.IGNORECASE)
_NEGATION = (
    "for texts that must not occur, write 'contains: {none: TEXT}'; for any other criterion, give"
    " it a negative weight beside one that earns points"
)
_LISTS = {"keyword": "rules", "blank": "targets", "test": "tests"}
"""By its word in messages, the parameter that lists what is numbered."""
_NUMBERED = re.compile(rf"({'|'.join(_LISTS)}) (\d+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCriterion:
    """A criterion and its full marks, where they are known."""

    criterion: Criterion
    full_marks: float | None


class WrittenLabel(Strict):
    """The keys of a criterion besides its scorer."""

    id: Text | None = Field(
        default=None,
        min_length=1,
        description="The criterion's name; the scorer's where it is left out.",
    )
    weight: Number = Field(
        default=1.0, description="How much its points count; negative for a penalty."
    )
    metric: Text = Field(default="", description="Its row in the breakdown by metric.")
    turn: Annotated[int, Field(ge=1, strict=True)] | None = Field(
        default=None,
        description="The turn that is scored, counted from 1; all of them where left out.",
    )


OWN_KEYS = tuple(WrittenLabel.model_fields)
_NO_LABEL = WrittenLabel()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A criterion whose id is not settled yet."""

    spot: Spot
    spec: Spec
    label: WrittenLabel
    full_marks: float | None


def read_criteria(spot: Spot) -> tuple[WrittenCriterion, ...]:
    """Read one criterion or a list of them, noting every problem."""
    entries = spot.items()
    drafts = [draft for entry in entries if (draft := _draft(entry)) is not None]
    if drafts and len(drafts) == len(entries):
        weights = [draft.label.weight for draft in drafts]
        if not any(weights):
            spot.warn("every criterion has weight 0: they are shown, and nothing counts")
        elif max(weights) <= 0:
            spot.warn("no criterion has a positive weight: there is nothing to win")
    return tuple(_named(drafts))


_REPEATED = re.compile(r"pass(?!@1$)([@^])([1-9]\d{0,3})")
"""``pass@3`` is short for ``pass@k`` with k of 3; ``pass@1`` is a measure of its own."""


def read_plugin(kind: str, spot: Spot) -> Spec | None:
    """Read ``name`` or ``{name: parameters}``, and check it where the kind is known."""
    value = spot.value
    if isinstance(value, str) and value:
        name, params, at = value, None, spot
    elif isinstance(value, dict) and len(value) == 1:
        name = next(iter(value))
        at = spot.at(name)
        params = at.value
    else:
        spot.error(f"expected the name of a {kind}, or one name with its parameters")
        return None
    if kind == "measure" and params is None and (match := _REPEATED.fullmatch(name)):
        name, params = f"pass{match[1]}k", {"k": int(match[2])}
    if kind in registry.BUILT_IN and ":" not in name:
        return _checked_plugin(kind, name, at, params)
    if params is not None and not isinstance(params, dict):
        at.error(f"expected a mapping of parameters, not {describe(params)}")
        return None
    return Spec(name=name, params=params or {})


def free_id(name: str, taken: set[str]) -> str:
    """Return a scorer's name, or the name with the first number that makes it new."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free


def _checked_plugin(kind: str, name: str, at: Spot, value: Json) -> Spec | None:
    names = registry.names(kind)
    if name not in names:
        at.error(f"there is no {kind} {name!r}", hint=suggest(name, names))
        return None
    try:
        spec = Spec(name=name, params=registry.params_from(kind, name, value))
    except PluginError as error:
        at.error(str(error))
        return None
    return spec if _built(kind, spec, at) is not None else None


def _named(drafts: list[_Draft]) -> Iterator[WrittenCriterion]:
    """Give every criterion its id; ids that are written win over those that are made."""
    taken: set[str] = set()
    for draft in drafts:
        if draft.label.id in taken:
            message = f"the case has two criteria with the id {draft.label.id!r}"
            draft.spot.error(message, key="id")
        if draft.label.id is not None:
            taken.add(draft.label.id)
    for draft in drafts:
        name = draft.label.id
        if name is None:
            name = free_id(draft.spec.name, taken)
            taken.add(name)
        label = draft.label
        criterion = Criterion(
            id=name,
            scorer=draft.spec,
            weight=label.weight,
            metric=label.metric,
            turn=None if label.turn is None else label.turn - 1,
        )
        yield WrittenCriterion(criterion=criterion, full_marks=draft.full_marks)


def _draft(spot: Spot) -> _Draft | None:
    if isinstance(spot.value, str | int | float):
        return _plain_text(spot)
    if not isinstance(spot.value, dict):
        spot.error(f"a criterion is a text or a mapping, not {describe(spot.value)}")
        return None
    named = _long(spot) if "scorer" in spot.value else _short(spot)
    label = _label(spot)
    if named is None:
        return None
    name, written = named
    try:
        spec = Spec(name=name, params=_params(name, written))
    except PluginError as error:
        written.error(str(error))
        return None
    if ":" in name:
        return _Draft(spot=spot, spec=spec, label=label, full_marks=None)
    return _finished(spot, spec, label, written)


def _plain_text(spot: Spot) -> _Draft | None:
    text = spot.text()
    if text in registry.names("scorer"):
        message = f"this asks for answers that contain the text {text!r}"
        spot.warn(message, hint=f"write '{text}: true' to use the scorer")
    spec = Spec(name="contains", params={"texts": text})
    return _finished(spot, spec, WrittenLabel(), spot)


def _label(spot: Spot) -> WrittenLabel:
    label = {
        key: spot.value[key] if key in ("weight", "turn") else spot.at(key).text()
        for key in OWN_KEYS
        if spot.value.get(key) is not None
    }
    return spot.validated(WrittenLabel, label) if label else _NO_LABEL


def _short(spot: Spot) -> tuple[str, Spot] | None:
    """Find the one key of a criterion that names its scorer."""
    scorers = registry.names("scorer")
    rest = [key for key in spot.value if key not in OWN_KEYS]
    named = [key for key in rest if key in scorers or ":" in key]
    if not rest:
        spot.error("the criterion names no scorer", hint=suggest("", scorers))
    for key in rest:
        if key not in named:
            what = "unknown key" if named else "there is no scorer"
            choices = OWN_KEYS if named else (*scorers, *OWN_KEYS, *LONG_KEYS)
            hint = suggest(key, choices) if named else suggest_scorer(key, choices)
            hint = _NEGATION if not named and _NEGATED.match(key) else hint
            spot.error(f"{what} {key!r}", hint=hint, key=key)
    if len(named) > 1:
        message = f"a criterion has one scorer, not {len(named)}: {', '.join(named)}"
        spot.error(message, hint="write them as a list of criteria")
    return (named[0], spot.at(named[0])) if len(named) == 1 else None


def _long(spot: Spot) -> tuple[str, Spot] | None:
    """Read a criterion that is written as ``scorer: name, with: parameters``."""
    strange = spot.unknown_keys((*LONG_KEYS, *OWN_KEYS))
    name, params = spot.value["scorer"], spot.value.get("with")
    scorers = registry.names("scorer")
    if not isinstance(name, str):
        message = f"expected the name of a scorer, not {describe(name)}"
        spot.error(message, key="scorer")
        return None
    if name not in scorers and ":" not in name:
        spot.error(f"there is no scorer {name!r}", hint=suggest_scorer(name, scorers), key="scorer")
        return None
    if params is not None and not isinstance(params, dict):
        spot.error(f"expected a mapping of parameters, not {describe(params)}", key="with")
        return None
    if strange and params is None:
        return None
    written = spot.at("with") if "with" in spot.value else replace(spot.at("scorer"), value=None)
    return name, written


def _params(name: str, written: Spot) -> dict[str, Json]:
    """Return a scorer's parameters, texts spelt as they are written."""
    value = written.value
    if value is None or value is True:
        return {}
    if ":" in name:
        if isinstance(value, dict):
            return dict(value)
        raise PluginError(f"the parameters of {name!r} are written as a mapping")
    if name == "contains" and value == "references":
        return {"any": "references"}
    texts = SPELT_TEXTS.get(name, frozenset())
    main = registry.main_parameter("scorer", name) or ""
    params = registry.params_from("scorer", name, _spelt(written, main, texts))
    if name == "keywords" and isinstance(params.get("rules"), str | dict):
        params["rules"] = [params["rules"]]
    return params


def _spelt(spot: Spot, key: str, texts: frozenset[str]) -> Json:
    """Spell numbers and booleans where texts are wanted."""
    if isinstance(spot.value, dict):
        return {name: _spelt(spot.at(name), name, texts) for name in spot.value}
    if isinstance(spot.value, list):
        return [_spelt(item, key, texts) for item in spot.items()]
    return spot.text() if key in texts else spot.value


def _finished(spot: Spot, spec: Spec, label: WrittenLabel, written: Spot) -> _Draft | None:
    """Check the parameters of a criterion."""
    scorer = _built("scorer", spec, written)
    if scorer is None:
        _look_at_rest(spec, written)
        return None
    if _note_problems(scorer, spec, written):
        return None
    whole = with_modules(spec, written)
    if whole is None:
        return None
    marks = _full_marks(scorer)
    return _Draft(spot=spot, spec=whole, label=label, full_marks=marks)


def _note_problems(scorer: Any, spec: Spec, written: Spot) -> bool:
    """Note what is wrong with parameters beyond their types, and tell whether anything is."""
    wrong = list(scorer.problems())
    for message in wrong:
        _part(written, message).error(f"{spec.name}: {message}")
    return bool(wrong)


def _look_at_rest(spec: Spec, written: Spot) -> None:
    """Note what is wrong with parameters other than those that are of a wrong type or name.

    What is said of the whole, or of a parameter of which something was left out, may come of that.
    """
    names = {parameter.name for parameter in registry.parameters("scorer", spec.name)}
    params: Json = {key: value for key, value in spec.params.items() if key in names}
    cut: set[str] = set()
    for _ in range(MOST_CUTS):
        try:
            scorer = registry.build("scorer", Spec(name=spec.name, params=params))
        except PluginError as error:
            cause = error.__context__
            if not isinstance(cause, ValidationError):
                return
            cut |= {str(item["loc"][0]) for item in cause.errors(include_url=False) if item["loc"]}
            if (params := without_errors(params, cause)) is None:
                return
        else:
            for message in scorer.problems():
                if _parameter(message) not in ("", *cut):
                    _part(written, message).error(f"{spec.name}: {message}")
            return


def _parameter(message: str) -> str:
    """Return the parameter that a scorer's message is about, where it tells."""
    if message.startswith("there is no language "):
        return "lang"
    numbered = _NUMBERED.match(message)
    return "" if numbered is None else _LISTS[numbered[1]]


def _part(written: Spot, message: str) -> Spot:
    """Point at the part that a scorer's message is about, where it tells."""
    if not (key := _parameter(message)):
        return written
    listed = written
    if isinstance(written.value, dict):
        listed = written.at(key) if key in written.value else written
    numbered = _NUMBERED.match(message)
    entries = listed.items() if numbered and isinstance(listed.value, list) else []
    place = int(numbered[2]) - 1 if numbered else 0
    return entries[place] if place < len(entries) else listed


def _built(kind: str, spec: Spec, written: Spot) -> Any:
    """Build a plugin, or note each wrong parameter where it stands."""
    try:
        cls = registry.find(kind, spec.name)
    except PluginError as error:
        written.error(str(error))
        return None
    try:
        return registry.build(kind, spec)
    except PluginError as error:
        names = [parameter.name for parameter in registry.parameters(kind, spec.name)]
        strange = [key for key in spec.params if key not in names]
        meant = cls.meant_by(spec.params) if kind == "scorer" else ""
        if strange and meant:
            written.error(_no_parameter(kind, spec, strange[0]), hint=meant, key=strange[0])
            return None
        for key in strange:
            hint = suggest(key, names)
            written.error(_no_parameter(kind, spec, key), hint=hint, key=key)
        # The registry words all of pydantic's errors as one; here each has its own place.
        if isinstance(error.__context__, ValidationError):
            written.add_errors(error.__context__, cls, hint=meant)
        elif not strange:
            written.error(str(error))
    return None


def _no_parameter(kind: str, spec: Spec, key: str) -> str:
    return f"the {kind} {spec.name!r} has no parameter {key!r}"


def _full_marks(scorer: Scorer) -> float | None:
    """Return the most points of a criterion, where what finishes it does not change them."""
    return scorer.full_marks if scorer.fixed_marks and not scorer.finishes else None


# Where a scorer names a function: among its own parameters, or in a mapping under this one.
_FUNCTIONS: Mapping[str, str | None] = {
    "python_check": None,
    "keywords": "post_handler",
    "blanks": "post_handler",
}


def with_modules(spec: Spec, written: Spot) -> Spec | None:
    """Fill in the text of the module that a criterion names, or note why it cannot be."""
    if spec.name not in _FUNCTIONS:
        return spec
    key = _FUNCTIONS[spec.name]
    function = spec.params if key is None else spec.params.get(key)
    if function is None or "source" in function:
        return spec
    carried = _carried(function["module"], written if key is None else written.at(key))
    if carried is None:
        return None
    files = {**carried.get("files", {}), **function.get("files", {})}
    whole = {**function, **carried, **({"files": files} if files else {})}
    return replace(spec, params=whole if key is None else {**spec.params, key: whole})


def _carried(module: str, function: Spot) -> dict[str, Json] | None:
    """Read a module beside the file that names it, or else beside the suite."""
    place = function.at("module")
    folders = dict.fromkeys((function.document.path.parent, function.modules.home))
    for folder in folders:
        modules = replace(function.modules, home=folder)
        if (path := modules.find(module)) is not None:
            return _read(modules, module, path, place)
    tried = [folder / file_of(module) for folder in folders]
    if any(os.path.isfile(path) for path in tried):
        hint = "keep the files of a suite in its folder"
        place.error(f"the module {module!r} leads out of the suite's folder", hint=hint)
    else:
        hint = f"looked for {' and '.join(map(str, tried))}"
        place.error(f"there is no module {module!r}", hint=hint)
    return None


def _read(modules: SuiteModules, module: str, path: Path, place: Spot) -> dict[str, Json] | None:
    try:
        return modules.params(module, path, place.warn)
    except SuiteError as error:
        place.findings.add(*error.problems)
        return None
