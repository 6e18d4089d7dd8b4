"""How people write what the keys of native suites hold, for the JSON Schema of their models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from proctor.core.suite import Json
from proctor.io.validation import describe

SCALAR = ["string", "number", "boolean"]
FORM = "x-form"
"""The mark of a value whose forms are described once, in the schema's definitions."""


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"a number is wanted here, not {describe(value)}")
    return value


def _not_negative(value: float) -> float:
    if value < 0:
        raise ValueError(f"0 or more is wanted here, not {value:g}")
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
Cases = Annotated[Any, WithJsonSchema({FORM: "cases"})]
