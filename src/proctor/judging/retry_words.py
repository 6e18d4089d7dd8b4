"""What a judge is told about a verdict that cannot be read.

These words are part of the request by which a judge is asked again, and so of the key of a stored
call: other words would have every such call paid for once more. They stay as they are, whatever
becomes of the messages for people in ``io.validation``.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

TEMPLATES: Mapping[str, str] = {
    "missing": "the key {key!r} is missing",
    "extra_forbidden": "unknown key {key!r}",
    "unexpected_keyword_argument": "unknown key {key!r}",
    "string_type": "a text is wanted here, not {got}",
    "bool_parsing": "true or false is wanted here, not {got}",
    "bool_type": "true or false is wanted here, not {got}",
    "float_parsing": "a number is wanted here, not {got}",
    "float_type": "a number is wanted here, not {got}",
    "int_parsing": "a whole number is wanted here, not {got}",
    "int_type": "a whole number is wanted here, not {got}",
    "int_from_float": "a whole number is wanted here, not {got}",
    "list_type": "a list is wanted here, not {got}",
    "tuple_type": "a list is wanted here, not {got}",
    "dict_type": "a mapping is wanted here, not {got}",
    "model_type": "a mapping is wanted here, not {got}",
    "model_attributes_type": "a mapping is wanted here, not {got}",
    "dataclass_type": "a mapping is wanted here, not {got}",
    "finite_number": "a finite number is wanted here, not {got}",
    "greater_than": "more than {gt:g} is wanted here, not {got}",
    "greater_than_equal": "{ge:g} or more is wanted here, not {got}",
    "less_than": "less than {lt:g} is wanted here, not {got}",
    "less_than_equal": "{le:g} or less is wanted here, not {got}",
    "literal_error": "one of {expected} is wanted here, not {got}",
}


def problems_in(error: "ValidationError") -> str:
    """Return all that is wrong with a verdict, each problem after the name of its field."""
    from proctor.io.validation import words_of

    return "; ".join(words_of(error, templates=TEMPLATES, describe=_describe))


def _describe(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {value[:40]!r}{'…' if len(value) > 40 else ''}"
    from proctor.io.described import describe

    return describe(value)
