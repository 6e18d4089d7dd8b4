"""Whether a value fits a JSON Schema, as far as Proctor's own schemas go."""

import re
from typing import Any

TYPES = {
    "string": str, "number": (int, float), "integer": int, "boolean": bool, "object": dict,
    "array": list,
}  # fmt: skip


def fits(value: Any, schema: Any, root: Any = None) -> bool:
    """Check a value by those words of JSON Schema that ours uses."""
    root = root or schema
    if isinstance(schema, bool):
        return schema
    known = {
        "$schema", "$defs", "title", "description", "default", "$ref", "anyOf", "oneOf", "not",
        "type", "enum", "pattern", "minimum", "properties", "additionalProperties", "required",
        "minProperties", "maxProperties", "items", "minItems", "minLength", "const", "maximum",
    }  # fmt: skip
    assert set(schema) <= known
    checks = [
        "$ref" not in schema or fits(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root),
        "anyOf" not in schema or any(fits(value, part, root) for part in schema["anyOf"]),
        "oneOf" not in schema or sum(fits(value, part, root) for part in schema["oneOf"]) == 1,
        "not" not in schema or not fits(value, schema["not"], root),
        "enum" not in schema or value in schema["enum"],
        "const" not in schema or value == schema["const"],
        "type" not in schema or has_type(value, schema["type"]),
    ]
    if isinstance(value, str) and "pattern" in schema:
        checks.append(re.search(schema["pattern"], value) is not None)
    if isinstance(value, int | float) and "minimum" in schema:
        checks.append(value >= schema["minimum"])
    if isinstance(value, int | float) and "maximum" in schema:
        checks.append(value <= schema["maximum"])
    if isinstance(value, str):
        checks.append(len(value) >= schema.get("minLength", 0))
    if isinstance(value, list):
        checks.append(len(value) >= schema.get("minItems", 0))
        checks += [fits(part, schema.get("items", True), root) for part in value]
    if isinstance(value, dict):
        keys = schema.get("properties", {})
        other = schema.get("additionalProperties", True)
        checks += [fits(part, keys.get(key, other), root) for key, part in value.items()]
        checks.append(set(schema.get("required", ())) <= set(value))
        checks.append(schema.get("minProperties", 0) <= len(value))
        checks.append(len(value) <= schema.get("maxProperties", len(value)))
    return all(checks)


def has_type(value: Any, wanted: str | list[str]) -> bool:
    if isinstance(wanted, list):
        return any(has_type(value, one) for one in wanted)
    if isinstance(value, bool):
        return wanted == "boolean"
    return isinstance(value, TYPES[wanted])
