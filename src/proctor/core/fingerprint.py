"""Content addresses: the same content has the same key, on every machine and in every version."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Criterion, Json, Message, Suite


def plain(thing: Any) -> Json:
    """Turn dataclasses, tuples and enums into JSON values, leaving out fields at their default."""
    if isinstance(thing, str | int | float | bool | None):
        return thing.value if isinstance(thing, Enum) else thing
    if is_dataclass(thing):
        return {
            f.name: plain(value)
            for f in fields(thing)
            if not _is_default(f, value := getattr(thing, f.name))
        }
    if isinstance(thing, Mapping):
        return {str(key): plain(value) for key, value in thing.items()}
    if isinstance(thing, Sequence):
        return [plain(value) for value in thing]
    raise TypeError(f"not a JSON value: {type(thing).__name__}")


def digest(*things: Any) -> str:
    """Hash JSON values and core dataclasses to 32 hexadecimal digits."""
    text = json.dumps(
        [plain(thing) for thing in things],
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def case_key(case: Case) -> str:
    """Address a case by its content; where it was written does not matter."""
    content = plain(case)
    content.pop("source", None)
    return digest(content)


def suite_key(suite: Suite, case_keys: Sequence[str]) -> str:
    """Address a suite by its cases and by how they are folded and measured."""
    return digest(suite.name, suite.version, suite.reduce, suite.measures, suite.compat, case_keys)


def answer_key(case: Case, attempt: Attempt) -> str:
    """Address an attempt found on file by what the file says, wherever the file lies."""
    said = (attempt.index, attempt.status.value, attempt.error, attempt.meta, attempt.usage)
    return digest("answer", _said(case.messages), _said(attempt.messages), said, attempt.seconds)


def judged_key(case: Case, criterion: Criterion, version: str) -> str:
    """Address all that a score depends on besides the attempt."""
    return digest(
        "judged",
        case.messages,
        case.references,
        case.context,
        case.hidden,
        criterion.scorer,
        version,
    )


def score_key(judged: str, attempt: Attempt) -> str:
    """Address a score, given the address of the criterion as it judges this case."""
    return digest(judged, _said(attempt.messages))


def _said(messages: Sequence[Message]) -> list[list[str]]:
    """Write a transcript in the form that is quick to hash."""
    return [[message.role, message.content] for message in messages]


def _is_default(field: Any, value: Any) -> bool:
    if value is None or (isinstance(value, str | tuple | dict) and not value):
        return True
    return bool(type(value) is type(field.default) and value == field.default)
