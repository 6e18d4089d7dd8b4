"""Content addresses: the same content has the same key, on every machine and in every version."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import partial
from itertools import chain, compress, islice
from json import encoder as json_encoder
from operator import attrgetter, is_not, itemgetter
from typing import Any

try:  # which hashlib gives as its own; it alone does without loading OpenSSL
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.late_code import Write, compiled, late_writer
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
    if (content := _CONTENTS.get(kind) or _content_of(kind)) is not None:
        return content(thing)
    return _unusual(thing)


_Content = Callable[[Any], dict[str, Json]]
_CONTENTS: dict[type[Any], _Content | None] = {}
"""What returns the fields of a dataclass as JSON, without those at their default, by class."""
COMPILED_AFTER = 200
"""How many objects of a class make it worth compiling code for it, which takes 0.3 ms."""


def _content_of(kind: type[Any]) -> _Content | None:
    if kind not in _CONTENTS:
        layout = _layout(kind)
        _CONTENTS[kind] = None if layout is None else _counted_content(kind, layout)
    return _CONTENTS[kind]


def _counted_content(kind: type[Any], layout: "_Layout") -> _Content:
    """Return what makes JSON of the first objects of a class; for later ones, code is compiled."""
    names, defaults, values = layout
    seen = 0

    def content(thing: Any) -> dict[str, Json]:
        nonlocal seen
        seen += 1
        if seen == COMPILED_AFTER:
            _CONTENTS[kind] = _compiled_content(names, defaults)
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

    return content


def _compiled_content(names: tuple[str, ...], defaults: tuple[Any, ...]) -> _Content:
    """Compile code that takes the fields of a dataclass one after the other."""
    scope: dict[str, Any] = {"_plain": plain, "_SCALARS": _SCALARS}
    lines = ["def content(thing):", " made = {}"]
    for name, default in zip(names, defaults, strict=True):
        lines += [
            f" value = thing.{name}",
            f" if {_is_kept(name, default, scope)}:",
            f"  made[{name!r}] = value if type(value) in _SCALARS else _plain(value)",
        ]
    content: _Content = compiled([*lines, " return made"], scope)["content"]
    return content


def is_plain(value: Any) -> bool:
    """Tell whether ``plain`` would return an equal value of the same types."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is dict:
        if not _TEXTS.issuperset(map(type, value)):
            return False
        value = value.values()
    elif kind is not list:
        return False
    return _SCALARS.issuperset(map(type, value)) or all(map(is_plain, value))


def key_text(thing: Any) -> str:
    """Write a thing as ``sorted_json`` writes what ``plain`` makes of it, without making that."""
    return _writer(type(thing), _first_text)(thing)


def digest(*things: Any) -> str:
    """Hash JSON values and core dataclasses to 32 hexadecimal digits."""
    return _hashed(key_text(things))


def sorted_json(value: Json) -> str:
    """Write what ``plain`` made as the JSON that keys are made of."""
    return _ENCODER.encode(value)


def digest_plain(values: list[Json]) -> str:
    """Hash JSON values that ``plain`` has made already."""
    return _hashed(_encoded(values))


def _hashed(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def digest_bytes(content: bytes) -> str:
    """Hash a file's content to 32 hexadecimal digits."""
    return blake2b(content, digest_size=16).hexdigest()


def case_key(case: Case) -> str:
    """Address a case by its content; where it was written does not matter."""
    if case.files:
        return content_key(plain(case))
    write = _CASE_WRITERS.get(Case) or _case_writer()
    return _hashed(f"[{write(case)}]")


def content_key(content: dict[str, Json]) -> str:
    """Address a case by what ``plain`` made of it."""
    changed = {name: value for name, value in content.items() if name != "source"}
    if files := content.get("files"):
        changed["files"] = [[file["name"], file["digest"]] for file in files]
    return digest_plain([changed])


_KEYS = 1_000
"""How many keys are hashed at a time."""
KEY_DIGITS = 32


def suite_key(suite: Suite, case_keys: Iterable[str]) -> str:
    """Address a suite by its cases and by how they are folded and measured.

    It is the digest of all that in a list, whose last entry, the keys, may be too long to hold.
    Keys are digits, so that JSON has them between quotes as they are.
    """
    rest = iter(case_keys)
    return _suite_key(suite, iter(lambda: '","'.join(islice(rest, _KEYS)).encode("ascii"), b""))


def suite_key_of_texts(suite: Suite, texts: Iterable[str]) -> str:
    """Address a suite by texts that are the keys of its cases, one after the other."""
    return _suite_key(suite, chain.from_iterable(map(_listed, texts)))


def _listed(text: str) -> Iterator[bytes]:
    """Yield the keys that a text is made of, some at a time, as JSON lists them."""
    from struct import unpack

    digits = text.encode("ascii")
    size = KEY_DIGITS * _KEYS
    for start in range(0, len(digits), size):
        some = digits[start : start + size]
        yield b'","'.join(unpack(f"{KEY_DIGITS}s" * (len(some) // KEY_DIGITS), some))


def _suite_key(suite: Suite, listed: Iterable[bytes]) -> str:
    about = (suite.name, suite.version, suite.reduce, suite.measures, suite.variant)
    start = _ENCODER.encode([plain(thing) for thing in about]).removesuffix("]")
    hasher = blake2b(start.encode("utf-8", "surrogatepass"), digest_size=16)
    before = b",["
    for keys in listed:
        hasher.update(b'%b"%b"' % (before, keys))
        before = b","
    hasher.update(b"]]" if before == b"," else b",[]]")
    return hasher.hexdigest()


def answer_key(case: Case, attempt: Attempt) -> str:
    """Address an attempt found on file by what the file says, wherever the file lies."""
    meta = "{}" if attempt.meta == {} else key_text(attempt.meta)
    usage = "{}" if attempt.usage == {} else key_text(attempt.usage)
    seconds = "null" if attempt.seconds is None else key_text(attempt.seconds)
    notes = f",{key_text(attempt.notes)}" if attempt.notes else ""
    return _hashed(
        f'["answer",{_transcript(case.messages)},{_transcript(attempt.messages)},'
        f"[{key_text(attempt.index)},{_quoted(attempt.status)},{_quoted(attempt.error)},{meta},{usage}]"
        f",{seconds}{notes}]"
    )


def attempt_key(case: Case, index: int, identity: str) -> str:
    """Address an attempt by what the candidate is shown, and by who was asked how.

    ``identity`` addresses the candidate with its sampling, and whom the dialogue consults, and how.
    """
    place = [_filed(case), case.setup] if case.files or case.setup else []
    if case.tools or case.response_format:
        place.append({"tools": [case.tools, case.tool_choice, case.response_format]})
    parts = [
        *('"attempt"', key_text(case.id), key_text(index), _transcript(case.messages)),
        *(key_text(case.dialogue), key_text(identity), *map(key_text, place)),
    ]
    return _hashed(f"[{','.join(parts)}]")


def scoring_key(case: Case, criterion: Criterion, version: str) -> str:
    """Address all that a score depends on besides the attempt."""
    more = f",{key_text(_filed(case))}" if case.files else ""
    if case.tools:
        more += f",{key_text({'tools': case.tools})}"
    references = "[]" if case.references == () else key_text(case.references)
    context = "[]" if case.context == () else key_text(case.context)
    hidden = "{}" if case.hidden == {} else key_text(case.hidden)
    return _hashed(
        f'["judged",{key_text(case.messages)},{references},{context},{hidden},'
        f"{key_text(criterion.scorer)},{_quoted(version)}{more}]"
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
    rest = "".join([f",{key_text(one)}" for one in more]) if more else ""
    return _hashed(f"[{_quoted(scoring)},{_transcript(attempt.messages)}{rest}]")


def _filed(case: Case) -> list[list[str]]:
    """Write the files of a case by name and content; where they lie does not matter."""
    return [[file.name, file.digest] for file in case.files]


def _transcript(messages: Sequence[Message]) -> str:
    """Write a transcript in the form that is quick to hash: role, words and the rest, if any."""
    if len(messages) == 1:  # as most have
        return f"[{_message_text(messages[0])}]"
    return f"[{','.join(map(_message_text, messages))}]"


def _message_text(message: Message) -> str:
    if message.images or message.tool_calls or message.tool_call_id:
        return key_text(_with_rest(message))
    return f"[{_quoted(message.role)},{_quoted(message.content)}]"


def _with_rest(message: Message) -> list[Json]:
    rest: list[Json] = [message.role, message.content, *message.images]
    if message.tool_calls or message.tool_call_id:
        rest.append({"calls": message.tool_calls, "call": message.tool_call_id})
    return rest


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
_quoted = json_encoder.encode_basestring
_TEXTS = frozenset({str})


def _encoded(value: Json) -> str:
    return "".join(_QUICK(value, 0)) if _QUICK else _ENCODER.encode(value)


def _list_text(things: Sequence[Any]) -> str:
    if len(things) == 1:  # as most have
        return f"[{_writer(type(one := things[0]), _first_text)(one)}]"
    texts = [_writer(type(one), _first_text)(one) for one in things]
    return f"[{','.join(texts)}]" if things else "[]"


def _dict_text(thing: dict[Any, Any]) -> str:
    if not _TEXTS.issuperset(map(type, thing)):
        return _encoded(plain(thing))
    if len(thing) == 1:
        ((name, value),) = thing.items()
        return f"{{{_quoted(name)}:{_writer(type(value), _first_text)(value)}}}"
    pairs = [f"{_quoted(name)}:{key_text(value)}" for name, value in sorted(thing.items())]
    return f"{{{','.join(pairs)}}}"


def _first_text(thing: Any) -> str:
    """Write the first object of a class, and find what writes the others."""
    layout = _layout(kind := type(thing))
    write = _WRITERS[kind] = _other_text if layout is None else _writer_of(kind, layout)
    return write(thing)


def _other_text(thing: Any) -> str:
    return _encoded(plain(thing))


_WRITERS: dict[type[Any], Write] = {
    **dict.fromkeys((bool, float, type(None)), _encoded),
    str: _quoted,
    int: int.__repr__,
    tuple: _list_text,
    list: _list_text,
    dict: _dict_text,
}
"""What writes the JSON of a thing, by its class."""
_writer = _WRITERS.get
_CASE_WRITERS: dict[type[Any], Write] = {}
"""The same without the place where a case was written."""


def _case_writer() -> Write:
    layout = _layout(Case)
    assert layout is not None
    _writer_of(Case, layout, without="source")
    return _CASE_WRITERS[Case]


def _writer_of(kind: type[Any], layout: _Layout, *, without: str = "") -> Write:
    """Return what writes objects of a class as ``plain`` and the encoder do."""
    ordered = sorted(zip(layout[0], layout[1], strict=True), key=itemgetter(0))
    own = [(name, default) for name, default in ordered if name != without]
    table = _CASE_WRITERS if without else _WRITERS

    def put(write: Write) -> None:
        table[kind] = write

    def in_loop(thing: Any) -> str:
        values = [(name, default, getattr(thing, name)) for name, default in own]
        kept = [(name, value) for name, default, value in values if _keeps(value, default)]
        return f"{{{','.join([f'{_quoted(name)}:{key_text(value)}' for name, value in kept])}}}"

    put(late_writer(put, in_loop, partial(_alike_writer, own), partial(_any_writer, own)))
    return table[kind]


def _keeps(value: Any, default: Any) -> bool:
    """Tell whether a field is neither empty nor at its default."""
    if value is default or (not value and (value is None or isinstance(value, _EMPTY))):
        return False
    return type(value) is not type(default) or bool(value != default)


_Fields = Sequence[tuple[str, Any]]
"""Names of fields with their defaults."""


def _any_writer(own: _Fields) -> Write:
    """Compile what writes any object of a class, one field after the other."""
    scope: dict[str, Any] = {"_writer": _writer, "_first": _first_text}
    lines = ["def write(thing):", " parts = []"]
    for name, default in own:
        head = f"{_quoted(name)}:"
        lines += [
            f" value = thing.{name}",
            f" if {_is_kept(name, default, scope)}:",
            f"  parts.append({head!r} + _writer(type(value), _first)(value))",
        ]
    write: Write = compiled([*lines, " return '{' + ','.join(parts) + '}'"], scope)["write"]
    return write


def _alike_writer(own: _Fields, thing: Any, other: Write) -> Write:
    """Compile what writes objects with the same fields as one, each of them at once."""
    scope: dict[str, Any] = {"_writer": _writer, "_first": _first_text, "_other": other}
    conditions, pieces = [], []
    for name, default in own:
        value = getattr(thing, name)
        if value is default:
            scope[f"_default_{name}"] = default
            conditions.append(f"thing.{name} is _default_{name}")
        elif type(value) is dict and not value:
            conditions.append(f"type(thing.{name}) is dict and not thing.{name}")
        elif value and (default is MISSING or default is None or default in ("", ())):
            # Whatever is not empty is no such default.
            conditions.append(f"thing.{name}")
            pieces.append(f"{_quoted(name)}:{{_writer(type(v := thing.{name}), _first)(v)}}")
        else:
            return _any_writer(own)
    lines = [
        "def write(thing):",
        f" if {' and '.join(conditions)}:",
        f"  return f'{{{{{','.join(pieces)}}}}}'",
        " return _other(thing)",
    ]
    write: Write = compiled(lines, scope)["write"]
    return write


def _is_kept(name: str, default: Any, scope: dict[str, Any]) -> str:
    """Return code that tells whether a field is neither empty nor at its default."""
    scope["_EMPTY"] = _EMPTY
    condition = "value or not (value is None or isinstance(value, _EMPTY))"
    if default is MISSING:
        return condition
    scope[f"_default_{name}"] = default
    condition = f"value is not _default_{name} and ({condition})"
    if default is None or (not default and isinstance(default, _EMPTY)):
        # What is empty is left out whatever the default.
        return condition
    return f"{condition} and (type(value) is not type(_default_{name}) or value != _default_{name})"


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
