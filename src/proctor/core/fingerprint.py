"""Content addresses: the same content has the same key, on every machine and in every version."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import compress, islice
from json import encoder as json_encoder
from operator import attrgetter, is_not
from typing import Any

try:  # which hashlib gives as its own; it alone does without loading OpenSSL
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.suite import Case, Criterion, Json, Message, Suite


def plain(thing: Any) -> Json:
    """Turn dataclasses, tuples and enums into JSON values, leaving out fields at their default."""
    kind = type(thing)
    if kind in _SCALARS:
        return thing
    if kind is dict:
        return {
            str(key): value if type(value) in _SCALARS else plain(value)
            for key, value in thing.items()
        }
    if kind is tuple or kind is list:
        return [value if type(value) in _SCALARS else plain(value) for value in thing]
    if (layout := _LAYOUTS.get(kind) or _layout(kind)) is not None:
        names, defaults, values = layout
        own = values(thing)
        return {
            name: value if type(value) in _SCALARS else plain(value)
            # Neither its default nor empty; written out, since each case asks this dozens of times.
            for name, default, value in compress(
                zip(names, defaults, own, strict=True), map(is_not, own, defaults)
            )
            if (value or not (value is None or isinstance(value, _EMPTY)))
            and (type(value) is not type(default) or value != default)
        }
    return _unusual(thing)


def is_plain(value: Any) -> bool:
    """Tell whether ``plain`` would return an equal value of the same types."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is dict:
        for key, part in value.items():
            if type(key) is not str or not (type(part) in _SCALARS or is_plain(part)):
                return False
        return True
    return kind is list and all(map(is_plain, value))


def digest(*things: Any) -> str:
    """Hash JSON values and core dataclasses to 32 hexadecimal digits."""
    return digest_plain([thing if type(thing) in _SCALARS else plain(thing) for thing in things])


def sorted_json(value: Json) -> str:
    """Write what ``plain`` made as the JSON that keys are made of."""
    return _ENCODER.encode(value)


def digest_plain(values: list[Json]) -> str:
    """Hash JSON values that ``plain`` has made already."""
    text = _encoded(values)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def digest_bytes(content: bytes) -> str:
    """Hash a file's content to 32 hexadecimal digits."""
    return blake2b(content, digest_size=16).hexdigest()


def case_key(case: Case) -> str:
    """Address a case by its content; where it was written does not matter."""
    return content_key(plain(case))


def content_key(content: dict[str, Json]) -> str:
    """Address a case by what ``plain`` made of it."""
    changed = {name: value for name, value in content.items() if name != "source"}
    if files := content.get("files"):
        changed["files"] = [[file["name"], file["digest"]] for file in files]
    return digest_plain([changed])


_KEYS = 1_000
"""How many keys are hashed at a time."""


def suite_key(suite: Suite, case_keys: Iterable[str]) -> str:
    """Address a suite by its cases and by how they are folded and measured.

    It is the digest of all that in a list, whose last entry, the keys, may be too long to hold.
    Keys are digits, so that JSON has them between quotes as they are.
    """
    about = (suite.name, suite.version, suite.reduce, suite.measures, suite.variant)
    start = _ENCODER.encode([plain(thing) for thing in about]).removesuffix("]")
    hasher = blake2b(start.encode("utf-8", "surrogatepass"), digest_size=16)
    before = ",["
    rest = iter(case_keys)
    while keys := list(islice(rest, _KEYS)):
        listed = '","'.join(keys)
        hasher.update(f'{before}"{listed}"'.encode("ascii"))
        before = ","
    hasher.update(b"]]" if before == "," else b",[]]")
    return hasher.hexdigest()


def answer_key(case: Case, attempt: Attempt) -> str:
    """Address an attempt found on file by what the file says, wherever the file lies."""
    recorded = (attempt.index, attempt.status.value, attempt.error, attempt.meta, attempt.usage)
    noted = [attempt.notes] if attempt.notes else []
    words = _hashable_transcript(case.messages), _hashable_transcript(attempt.messages)
    return digest("answer", *words, recorded, attempt.seconds, *noted)


def attempt_key(case: Case, index: int, identity: str) -> str:
    """Address an attempt by what the candidate is shown, and by who was asked how.

    ``identity`` addresses the candidate with its sampling, and whom the dialogue consults, and how.
    """
    place = [_filed(case), case.setup] if case.files or case.setup else []
    if case.tools or case.response_format:
        place.append({"tools": [case.tools, case.tool_choice, case.response_format]})
    return digest(
        "attempt",
        case.id,
        index,
        _hashable_transcript(case.messages),
        case.dialogue,
        identity,
        *place,
    )


def scoring_key(case: Case, criterion: Criterion, version: str) -> str:
    """Address all that a score depends on besides the attempt."""
    return digest(
        "judged",
        case.messages,
        case.references,
        case.context,
        case.hidden,
        criterion.scorer,
        version,
        *([_filed(case)] if case.files else []),
        *([{"tools": case.tools}] if case.tools else []),
    )


def score_key(
    scoring: str,
    attempt: Attempt,
    *,
    apart: bool = False,
    noted: bool = False,
    whole: bool = False,
    brought: Json = None,
) -> str:
    """Address a score, given the address of the criterion as it scores this case.

    With apart, equal answers in two attempts have scores of their own; with noted, what the
    dialogue noted is part of what is scored; with whole, everything that an attempt holds is.
    ``brought`` are the passages of the attempt itself, where a scorer looks at them.
    """
    more: list[Json] = [attempt.notes] if noted else []
    if brought:
        more.append({"brought": brought})
    if whole:
        more.append(attempt)
    if apart:
        more.append(attempt.index)
    if attempt.status is AttemptStatus.UNANSWERED:
        more.append(attempt.error)
    return digest(scoring, _hashable_transcript(attempt.messages), *more)


def _filed(case: Case) -> list[list[str]]:
    """Write the files of a case by name and content; where they lie does not matter."""
    return [[file.name, file.digest] for file in case.files]


def _hashable_transcript(messages: Sequence[Message]) -> list[list[Json]]:
    """Write a transcript in the form that is quick to hash."""
    return [
        [message.role, message.content, *message.images]
        if not message.tool_calls and not message.tool_call_id
        else _hashable_tool_message(message)
        for message in messages
    ]


def _hashable_tool_message(message: Message) -> list[Json]:
    tools = {"calls": plain(message.tool_calls), "call": message.tool_call_id}
    return [message.role, message.content, *message.images, tools]


_EMPTY = (str, tuple, dict)
_SCALARS = frozenset({str, int, float, bool, type(None)})
_Layout = tuple[tuple[str, ...], tuple[Any, ...], Callable[[Any], tuple[Any, ...]]]
"""The fields of a dataclass, their defaults, and what reads the values of all of them."""
_LAYOUTS: dict[type[Any], _Layout | None] = {}
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_MAKE: Any = getattr(json_encoder, "c_make_encoder", None)
_QUICK: Any = _MAKE and _MAKE(
    None, _ENCODER.default, json_encoder.encode_basestring, None, ":", ",", True, False, True
)
"""The same encoder without what each use of it would set up anew, where Python has it."""


def _encoded(values: list[Json]) -> str:
    return "".join(_QUICK(values, 0)) if _QUICK else _ENCODER.encode(values)


def _layout(kind: type[Any]) -> _Layout | None:
    """Return the layout of a dataclass, looked up once for each class."""
    if kind not in _LAYOUTS:
        _LAYOUTS[kind] = None
        if is_dataclass(kind):
            content = [f for f in fields(kind) if f.metadata.get("is_content", True)]
            names = tuple(f.name for f in content)
            _LAYOUTS[kind] = names, tuple(f.default for f in content), _reader(names)
    return _LAYOUTS[kind]


def _reader(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads attributes of an object, as a tuple however few they are."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda thing: tuple(getattr(thing, name) for name in names)


def _unusual(thing: Any) -> Json:
    """Turn into JSON what is a value of a common kind by inheritance only."""
    if isinstance(thing, Enum):
        return thing.value
    if isinstance(thing, str | int | float):
        return thing
    if isinstance(thing, Mapping):
        return {str(key): plain(value) for key, value in thing.items()}
    if isinstance(thing, Sequence):
        return [plain(value) for value in thing]
    raise TypeError(f"not a JSON value: {type(thing).__name__}")
