"""The JSON Schema of native suites, for editors that complete and check while people write."""

import json
from collections.abc import Mapping
from typing import Any

from proctor import registry
from proctor.core.fold import MODES
from proctor.core.suite import Json
from proctor.dialects.native_case import ROLES
from proctor.dialects.native_criteria import OWN_KEYS

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_PICTURE: Mapping[str, Json] = {"type": "string"}
_SCALAR = ["string", "number", "boolean"]
_TYPES: Mapping[str, str] = {
    "str": "string",
    "float": "number",
    "int": "integer",
    "bool": "boolean",
}


def suite_schema() -> dict[str, Json]:
    """Return the schema of a suite file, shorthands included."""
    suite = _object({**_suite_keys(), **_default_keys(), "cases": _cases()})
    return {
        "$schema": DIALECT,
        "title": "Proctor suite",
        "description": "What to examine language models with: cases, and how to judge the answers.",
        "anyOf": [
            {**suite, "required": ["cases"]},
            {"$ref": "#/$defs/case"},
            _cases(),
        ],
        "$defs": {
            "case": _case(),
            "criterion": _criterion(),
            "criteria": _one_or_many({"$ref": "#/$defs/criterion"}),
            "passage": _passage(),
            "plugin": _plugin(),
        },
    }


def schema_text() -> str:
    """Return the schema as the text of ``docs/suite.schema.json``."""
    return json.dumps(suite_schema(), indent=2, ensure_ascii=False) + "\n"


def _suite_keys() -> dict[str, Json]:
    plugin = {"$ref": "#/$defs/plugin"}
    return {
        "name": _text("The suite's name; the file's name without its ending where it is left out."),
        "version": _text('The suite\'s version. Quote it: "1.10".'),
        "description": _text("What the suite examines."),
        "language": _text("The language of the cases: en, zh, …", default="en"),
        "reduce": {
            "description": f"How several attempts become one value: {', '.join(MODES)}.",
            "type": "string",
            "pattern": r"^(avg|mean|max|min|median|avg_max_[1-9]\d{0,5})$",
            "default": "avg",
        },
        "measures": {"description": "Numbers over all cases.", **_one_or_many(plugin)},
        "origin": _text("The format the suite was converted from.", default="native"),
        "compat": _text("The mode of the original format that the suite was converted with."),
    }


def _default_keys() -> dict[str, Json]:
    """Return the keys that a case may have, and a suite as the default of all its cases."""
    return {
        "full_score": _number("What full marks are worth.", default=1, minimum=0),
        "null_score": _number("What no answer is worth.", default=0),
        "weight": _number("How much the case counts.", default=1, minimum=0),
        "system": _text("A system message before the question."),
        "examples": {
            "description": "Questions with their answers, put before the question.",
            "type": "array",
            "items": _object(
                {"ask": _text("The question."), "answer": _text("Its answer.")},
                required=["ask", "answer"],
            ),
        },
        "dialogue": {
            "description": "How the case is put to the candidate.",
            "$ref": "#/$defs/plugin",
            "default": "single_turn",
        },
        "tags": {
            "description": "Names with one value or several, to group and filter by.",
            "type": "object",
            "additionalProperties": _one_or_many({"type": _SCALAR}),
        },
        "criteria": {"description": "How the answer is judged.", "$ref": "#/$defs/criteria"},
    }


def _case() -> dict[str, Json]:
    passages = _one_or_many({"$ref": "#/$defs/passage"})
    images = {"description": "Pictures: files or https addresses.", **_one_or_many(_PICTURE)}
    message = _object(
        {"role": {"enum": list(ROLES)}, "content": {"type": _SCALAR}, "images": images},
        required=["role", "content"],
    )
    file = _object(
        {
            "file": {"description": "Where it lies.", "type": "string"},
            "name": {"description": "Its name in the working folder.", "type": "string"},
        },
        required=["file"],
    )
    keys = {
        "id": _text("The case's name, once in a suite."),
        "ask": _text("The question: one message of the user."),
        "ask_file": _text("A file that holds the question."),
        "messages": {
            "description": "The conversation that the candidate is to go on with.",
            "type": "array",
            "items": message,
            "minItems": 1,
        },
        "images": images,
        "references": {"description": "Answers known to be right.", **passages},
        "context": {"description": "Passages that came with the question.", **passages},
        "hidden": {"description": "Facts for judges only.", "type": "object"},
        **_default_keys(),
        "min_points": _number("The fewest points that count."),
        "max_points": _number("The most points that count; also the most that full marks need."),
        "out_of": _number("The points of full marks, where the criteria do not tell."),
        "files": {
            "description": "Files and folders that an agent finds in its working folder.",
            **_one_or_many({"anyOf": [{"type": "string"}, file]}),
        },
        "setup": {"description": "What an agent's working place needs.", "type": "object"},
        "source": _text("Where the case was written; only for people."),
    }
    asked = [{"required": [key]} for key in ("ask", "ask_file", "messages")]
    task = {"required": ["hidden"], "not": {"anyOf": asked}}
    return {**_object(keys), "oneOf": [*asked, task]}


def _cases() -> dict[str, Json]:
    path = {"description": "A file with cases, or a pattern of such.", "type": "string"}
    return _one_or_many({"anyOf": [path, {"$ref": "#/$defs/case"}]})


def _criterion() -> dict[str, Json]:
    label = {
        "id": _text("The criterion's name; the scorer's where it is left out."),
        "weight": _number("How much its points count; negative for a penalty.", default=1),
        "metric": _text("Its row in the breakdown by metric."),
        "turn": {
            "description": "The turn that is judged, counted from 1; all of them where left out.",
            "type": "integer",
            "minimum": 1,
        },
    }
    assert set(label) == set(OWN_KEYS)
    text = {"description": "A text that the answer must contain.", "type": _SCALAR}
    long = _object(
        {"scorer": {"type": "string"}, "with": {"type": "object"}, **label}, required=["scorer"]
    )
    described = dict(registry.describe("scorer"))
    short = [
        _object({name: {"description": described[name], **_scorer(name)}, **label}, required=[name])
        for name in sorted(registry.BUILT_IN["scorer"])
    ]
    named = set(registry.BUILT_IN["scorer"])
    own = {
        "type": "object",
        "properties": {**dict.fromkeys(sorted(named | {"scorer"}), False), **label},
        "minProperties": 1,
    }
    return {"anyOf": [text, *short, long, own]}


def _scorer(name: str) -> dict[str, Json]:
    """Return what may stand behind a scorer's name: its main parameter, or all of them."""
    parameters = registry.parameters("scorer", name)
    keys: dict[str, Json] = {}
    for parameter in parameters:
        kind = _TYPES.get(parameter.type)
        keys[parameter.name] = {"type": kind} if kind else {}
        if kind and not parameter.required:
            keys[parameter.name]["default"] = parameter.default
    required = [parameter.name for parameter in parameters if parameter.required]
    whole = _object(keys, required=required)
    alone = {"not": {"type": "object"}} if len(required) < 2 else False
    return {"anyOf": [whole, alone]}


def _passage() -> dict[str, Json]:
    file = _object({"file": _text("A file that holds the text.")}, required=["file"])
    return {"anyOf": [{"type": _SCALAR}, file]}


def _plugin() -> dict[str, Json]:
    one = {"type": "object", "minProperties": 1, "maxProperties": 1}
    return {"anyOf": [{"type": "string"}, one]}


def _one_or_many(one: Mapping[str, Json]) -> dict[str, Json]:
    return {"anyOf": [dict(one), {"type": "array", "items": dict(one)}]}


def _object(keys: Mapping[str, Json], required: Any = ()) -> dict[str, Json]:
    found = {"type": "object", "properties": dict(keys), "additionalProperties": False}
    return {**found, "required": list(required)} if required else found


def _text(description: str, **more: Json) -> dict[str, Json]:
    return {"description": description, "type": _SCALAR, **more}


def _number(description: str, **more: Json) -> dict[str, Json]:
    return {"description": description, "type": "number", **more}
