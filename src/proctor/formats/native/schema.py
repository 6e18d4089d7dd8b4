"""The JSON Schema of native suites, for editors that complete and check while people write.

It is derived from the models that suites are read with, and from the parameters of the scorers.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from proctor import registry
from proctor.core.suite import VARIANT, Json
from proctor.formats.native.case import CaseKeys
from proctor.formats.native.criteria import FORM, SCALAR, SPELT_TEXTS, WrittenLabel
from proctor.formats.native.prompts import prompt_schema
from proctor.formats.native.reader import HeaderKeys

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def suite_schema() -> dict[str, Json]:
    """Return the schema of a suite file, shorthands included."""
    derived = TypeAdapter(HeaderKeys | CaseKeys).json_schema(schema_generator=_AsWritten)
    definitions = derived.pop("$defs")
    definitions |= {"plugin": _plugin(), "plugins": _one_or_many(_ref("plugin"))}
    definitions |= {"cases": _cases(), "criteria": _one_or_many(_ref("criterion"))}
    definitions |= _criterion()
    definitions |= prompt_schema()
    whole: dict[str, Json] = {
        "$schema": DIALECT,
        "title": "Proctor suite",
        "description": "What to examine language models with: cases, and how to judge the answers.",
        "anyOf": [_ref("HeaderKeys"), _ref("CaseKeys"), _ref("cases")],
        "$defs": dict(sorted(definitions.items())),
    }
    return dict(_with_forms(whole))


def schema_text() -> str:
    """Return the schema as the text of ``docs/suite.schema.json``."""
    return json.dumps(suite_schema(), indent=2, ensure_ascii=False) + "\n"


class _AsWritten(GenerateJsonSchema):
    """Schemas of what people write: a key is left out rather than null, and titles say nothing."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default") is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def function_before_schema(
        self, schema: core_schema.BeforeValidatorFunctionSchema
    ) -> JsonSchemaValue:
        """Allow whatever the function may make something of."""
        return {}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class _Spelt(_AsWritten):
    """Schemas of scorers that take numbers for the texts they are spelt with."""

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        return {**super().str_schema(schema), "type": SCALAR}


def _with_forms(schema: Json) -> Json:
    """Point from every marked value to the description of its forms."""
    if isinstance(schema, list):
        return [_with_forms(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    whole = {key: _with_forms(part) for key, part in schema.items() if key != FORM}
    return {**_ref(schema[FORM]), **whole} if FORM in schema else whole


def _criterion() -> dict[str, Json]:
    """Return the definitions of a criterion in all its forms, and of what scorers take."""
    label = WrittenLabel.model_json_schema(schema_generator=_AsWritten)["properties"]
    text = {"description": "A text that the answer must contain.", "type": SCALAR}
    long = _object({"scorer": {"type": "string"}, "with": {"type": "object"}, **label}, ["scorer"])
    definitions: dict[str, Json] = {}
    short = []
    for name in sorted(registry.BUILT_IN["scorer"]):
        scorer, inner = _scorer(name)
        definitions |= inner
        short.append(_object({name: scorer, **label}, [name]))
    names = sorted({*registry.BUILT_IN["scorer"], "scorer"})
    own = {
        "type": "object",
        "properties": {**dict.fromkeys(names, False), **label},
        "minProperties": 1,
    }
    return {**definitions, "criterion": {"anyOf": [text, *short, long, own]}}


def _scorer(name: str) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return what may stand behind a scorer's name, and the definitions that it refers to.

    That is a mapping of its parameters, or where no more than one is needed, the main one alone.
    """
    generator = _Spelt if name in SPELT_TEXTS else _AsWritten
    adapter: TypeAdapter[Any] = TypeAdapter(registry.find("scorer", name))
    whole = adapter.json_schema(schema_generator=generator)
    definitions = whole.pop("$defs", {})
    description = whole.pop("description", "").partition("\n")[0]
    if variants := registry.variant_names("scorer", name):
        own = {"default": "", "enum": ["", *variants], "type": "string"}
        whole["properties"] = {**whole.get("properties", {}), VARIANT: own}
    whole = {"additionalProperties": False, **whole}
    alone = {"not": {"type": "object"}} if len(whole.get("required", ())) < 2 else False
    return {"description": description, "anyOf": [whole, alone]}, definitions


def _cases() -> dict[str, Json]:
    path = {"description": "A file with cases, or a pattern of such.", "type": "string"}
    return _one_or_many({"anyOf": [path, _ref("CaseKeys")]})


def _plugin() -> dict[str, Json]:
    one = {"type": "object", "minProperties": 1, "maxProperties": 1}
    return {"anyOf": [{"type": "string"}, one]}


def _one_or_many(one: Mapping[str, Json]) -> dict[str, Json]:
    return {"anyOf": [dict(one), {"type": "array", "items": dict(one)}]}


def _object(keys: Mapping[str, Json], required: list[str]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": dict(keys),
        "additionalProperties": False,
        "required": required,
    }


def _ref(name: str) -> dict[str, Json]:
    return {"$ref": f"#/$defs/{name}"}
