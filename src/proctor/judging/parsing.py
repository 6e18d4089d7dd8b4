"""The JSON object in a judge's reply: found, checked against its type, or refused with reasons."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from types import NoneType
from typing import Any, TypeVar

from proctor.contracts.judge import SpokenVerdict
from proctor.core.exchange import ReplyShape
from proctor.core.suite import Json
from proctor.judging.folding import parts_of
from proctor.judging.json_objects import ParsedJson, objects
from proctor.judging.quoting import Material, QuotedStanding, refusal_in

Verdict = TypeVar("Verdict")

_THOUGHT = re.compile(
    r"\s*<(think|thinking|thought|thoughts|reasoning|analysis|scratchpad)>.*?</\1>",
    re.DOTALL | re.IGNORECASE,
)


class UnreadableReply(ValueError):
    """The reason why a reply holds no verdict, and whether it holds a JSON object at all."""

    def __init__(self, message: str, *, has_json: bool) -> None:
        super().__init__(message)
        self.has_json = has_json


def read(
    text: str,
    verdict: type[Verdict],
    rung: str = "",
    quoted: Material | Sequence[str] = (),
    prompt: str = "",
) -> tuple[Verdict, str]:
    """Return the one verdict of a reply, and how it stood there.

    ``quoted`` are the strangers' words that the judge was shown: an object that stands in them is
    a copy, whatever the reply does with it. All other verdicts of a reply must rule the same, and
    the last one must be the judge's own last word: outside of any quotation, with nothing after it
    but an explanation, and that only where the verdict came first. An object inside another one,
    or inside a list, is no verdict of its own. ``prompt`` is all that was asked: a judge may repeat
    from it how a verdict is to look. ``rung`` is how the shape was asked for, where the reply is
    one object. A SpokenVerdict may make sense of a reply without any object.
    """
    whole = _without_thoughts(text.strip())
    material = quoted if isinstance(quoted, Material) else Material(tuple(quoted))
    every = list(objects(whole))
    own = [item for item in every if not _is_copy(whole, item, material)]
    ruled = [item for item in own if _rules(whole, item, verdict)]
    if len(ruled) > 1:
        template = Material((prompt,))
        ruled = [item for item in ruled if not _is_template(whole, item, verdict, template)]
    if not ruled:
        return _in_words(whole, verdict, material, every, own)
    verdicts = [_checked(item, verdict) for item in ruled]
    if len({_ruling(one, verdict) for one in verdicts}) > 1:
        raise UnreadableReply("the reply holds verdicts that differ", has_json=True)
    last = ruled[-1]
    standing = QuotedStanding(whole, last, every)
    if standing.problem:
        raise UnreadableReply(standing.problem, has_json=True)
    if (last.start, last.end) == (0, len(whole)):
        return verdicts[-1], rung or "object"
    return verdicts[-1], "fence" if standing.fenced else "object"


def _without_thoughts(text: str) -> str:
    """Leave out what a judge thought aloud before its reply."""
    while (thought := _THOUGHT.match(text)) is not None:
        text = text[thought.end() :].strip()
    return text


def _is_copy(text: str, item: ParsedJson, material: Material) -> bool:
    """Tell whether something was copied from the material; a broken copy is one, too."""
    return material.holds(text[item.start : item.end], item.value)


def _is_template(text: str, item: ParsedJson, verdict: type[Any], prompt: Material) -> bool:
    """Tell whether something is no verdict, but how the prompt says that one looks."""
    if not prompt.says(text[item.start : item.end]):
        return False
    try:
        _checked(item, verdict)
    except UnreadableReply:
        return True
    return False


def _rules(text: str, item: ParsedJson, verdict: type[Any]) -> bool:
    """Tell whether something is a verdict, or means to be one."""
    keys = _required(verdict)
    if item.is_object:
        return bool(keys) and all(key in item.value for key in keys)
    written = text[item.start : item.end]
    return bool(keys) and all(re.search(rf"[\"'“]{re.escape(key)}[\"'”]", written) for key in keys)


def _checked(item: ParsedJson, verdict: type[Verdict]) -> Verdict:
    """Return the verdict that an object is, or raise what is wrong with it."""
    if not item.is_object:
        listed = isinstance(item.value, list)
        why = "a list" if listed else "broken"
        raise UnreadableReply(
            f"there is no JSON object in the reply that can be read: it is {why}", has_json=False
        )
    if item.doubled:
        named = ", ".join(f"'{key}'" for key in item.doubled)
        raise UnreadableReply(f"the JSON object has {named} more than once", has_json=True)
    return checked(item.value, verdict)


def _in_words(
    whole: str,
    verdict: type[Verdict],
    material: Material,
    every: Iterable[ParsedJson],
    own: Iterable[ParsedJson],
) -> tuple[Verdict, str]:
    """Return the verdict of a reply without an object, or raise why there is none."""
    for item in reversed(list(own)):
        if item.is_object:
            _checked(item, verdict)
    if any(item.is_object for item in every):
        raise UnreadableReply(
            "the only verdict in the reply is a copy of what was to be judged", has_json=True
        )
    spoken: Any = verdict.from_words if issubclass(verdict, SpokenVerdict) else None
    if spoken is not None and "{" not in whole and (ruled := spoken(whole)) is not None:
        if material.speaks(whole):
            raise UnreadableReply("the reply is a copy of what was to be judged", has_json=False)
        if refused := refusal_in(whole):
            raise UnreadableReply(refused, has_json=False)
        return ruled, "words"
    raise UnreadableReply("there is no JSON object in the reply", has_json=False)


def _required(verdict: Any) -> list[str]:
    """Return the keys without which nothing is a ruling."""
    fields = verdict.model_fields
    needed = [name for name, field in fields.items() if field.is_required()]
    ruling = [name for name in needed if not _is_free(fields[name].annotation)]
    return ruling or needed


def _ruling(ruled: Any, verdict: Any) -> str:
    """Return what a verdict rules, without the words in which it gives its reasons."""
    fields = verdict.model_fields
    decisive = [name for name, field in fields.items() if not _is_free(field.annotation)]
    values = ruled.model_dump(mode="json", include=set(decisive or fields))
    return json.dumps(values, sort_keys=True)


def _is_free(annotation: Any) -> bool:
    """Tell whether a field holds any text."""
    return {str, NoneType} >= set(parts_of(annotation))


def checked(value: Json, verdict: type[Verdict]) -> Verdict:
    """Check an object against a verdict's type, without bending a value to fit."""
    from pydantic import ValidationError

    from proctor.judging.retry_words import problems_in

    kind: Any = verdict
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    try:
        instance: Verdict = kind.model_validate_json(data, strict=True)
    except ValidationError as error:
        raise UnreadableReply(problems_in(error), has_json=True) from None
    return instance


def shape_of(verdict: type[Any]) -> ReplyShape:
    """Return the JSON schema of a verdict, with every key required and no other allowed."""
    untyped: Any = verdict
    return _shape(untyped)


@cache
def _shape(verdict: Any) -> ReplyShape:
    return ReplyShape(name=verdict.__name__, schema=_closed(verdict.model_json_schema()))


def _closed(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {
        key: _named(value) if key in ("properties", "$defs") else _closed(value)
        for key, value in schema.items()
        if key not in ("default", "title")
    }
    if "properties" in closed:
        closed |= {"required": list(closed["properties"]), "additionalProperties": False}
    return closed


def _named(parts: dict[str, Json]) -> dict[str, Json]:
    """Close schemas that are kept by name: a field may be called ``title`` or ``default``."""
    return {name: _closed(part) for name, part in parts.items()}
