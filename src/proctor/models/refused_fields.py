"""What servers refuse of a request: which field they name, and how they are asked instead.

A refusal is an answer 400, 422 or 501. What it names is left out, renamed or lowered, and the
request is sent again, at most once for each field; a lesson is kept once a request went through.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cache, cached_property

from proctor.core.suite import Json
from proctor.io import json_bytes

LONGEST = 500
_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
_TAG = re.compile(r"<(?:style|script|head)\b.*?</(?:style|script|head)>|<[^>]*>", re.S | re.I)


def error_message(data: bytes, secrets: Iterable[str]) -> str:
    """Return the server's own message out of the body of a refusal, secrets blotted out."""
    try:
        message = message_of(json_bytes.loads_foreign(data[:1_000_000]))
    except ValueError:
        message = _TAG.sub(" ", data[:10_000].decode("utf-8", "replace"))
    return clean(message, secrets)


def clean(text: str, secrets: Iterable[str]) -> str:
    """Blot out secrets, make one line of it, and cut it."""
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, "[key]")
    text = _CONTROL.sub(" ", text).strip()
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def message_of(payload: Json) -> str:
    """Find the message in the JSON of an error, whichever of the usual forms it has."""
    if isinstance(payload, str):
        return payload
    if not isinstance(payload, dict):
        return json_bytes.dumps(payload).decode()
    for name in ("error", "message", "detail", "errors"):
        if payload.get(name):
            return message_of(payload[name])
    return json_bytes.dumps(payload).decode()


def code_of(payload: Json) -> str:
    """Return the short name or number of an error, where the server gave one."""
    error = payload.get("error") if isinstance(payload, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return str(code or "")


STATUSES = (400, 422, 501)
TOKENS, NEW_TOKENS = "max_tokens", "max_completion_tokens"
LIMITS_OF_TOKENS = (TOKENS, NEW_TOKENS, "max_output_tokens", "generationConfig.maxOutputTokens")
NAME_OF_TOKENS = "tokens"
"""The lesson under which name the limit of tokens is sent."""
MOST_TOKENS = "most tokens"
"""The lesson how many tokens a reply may be allowed at most."""
LADDER = frozenset({"response_format", "tools", "tool_choice", "logprobs", "top_logprobs"})
"""Fields for which there is another way to ask, which the client of each API knows."""
EFFORT_FIELDS = frozenset({"reasoning_effort", "reasoning.effort", "output_config.effort"})
"""What the effort of thinking is called."""
_NEAREST = {"xhigh": "high", "none": "minimal", "minimal": "low"}
"""The effort that is asked for where a model does not know another."""
_EFFORT = "effort "
_DROP = "drop "
_NAMING = {"param", "parameter", "field", "loc"}
_DEEPEST = 8
# Fields whose names are rare in prose; others must be named as a field is: quoted, or with a verb.
_UNMISTAKABLE = {"temperature", "logprobs"}
_FIELD_BEFORE = (
    r"(?:parameters?|arguments?|fields?|propert(?:y|ies)|keys?|options?|inputs?|names?|supplied)"
)
_VERB_AFTER = r"(?::|is\b|are\b|not\b|does\b|cannot\b|can't\b|may\b|must\b|should\b|unsupported)"
_ONE_OF_THEM = re.compile(r"\b(?:both|only one|either|together|simultaneously|one of)\b")
_MESSAGES = (
    "messages",
    "input",
    "contents",
    "model",
    "system",
    "instructions",
    "systemInstruction",
)
_REFUSED_WHOLE = ("output_config", "reasoning")
_GIVEN_UP_FIRST = ("top_p", "top_k")
_THIS_REQUEST = re.compile(
    r"context (?:length|window|size)|(?:input|prompt) tokens|too (?:small|low)|at least|minimum"
    r"|below|higher|limit was reached|could not finish|prompt is too long"
)
_LIMITS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\d+ ?> ?(\d+)",
        r"at most (\d+)",
        r"\[\d+, ?(\d+)\]",
        r"(?:less than or equal to|<=) ?(\d+)",
        r"maximum\D{0,40}?(\d+)",
    )
)


@dataclass
class Lessons:
    """How one model at one address wants to be asked, as far as its refusals told."""

    learned: dict[str, str] = field(default_factory=dict)
    noticed: set[str] = field(default_factory=set)
    """What people were told of it."""


@cache
def lessons_about(provider: str, model: str, base: str) -> Lessons:
    """Return what this process has learned about a model at an address."""
    return Lessons()


@dataclass(frozen=True)
class Refusal:
    """What a server said when it refused a request."""

    text: str
    """Its words, in lower case."""
    named: frozenset[str] = frozenset()
    """The fields that it names apart from its words."""
    status: int = 400

    @classmethod
    def of(cls, data: bytes, status: int = 400) -> "Refusal":
        """Read the body of an answer."""
        try:
            payload = json_bytes.loads_foreign(data[:1_000_000])
        except ValueError:
            return cls(data[:10_000].decode("utf-8", "replace").lower(), status=status)
        fields = sorted(set(_fields(payload, _DEEPEST)))
        named = frozenset(part for name in fields for part in _parts(name))
        return cls(f"{message_of(payload)} {' '.join(fields)}".lower(), named, status)

    def blames(self, names: Iterable[str]) -> list[str]:
        """Return those of the names of fields that the server speaks of; the surest come alone."""
        candidates = list(names)
        for sure in (self._apart, self._quoted, self._in_words, self._within):
            if blamed := [name for name in candidates if sure(name)]:
                return _one_at_a_time(blamed) if _ONE_OF_THEM.search(self.text) else blamed
        return []

    @cached_property
    def about_length(self) -> bool:
        """Tell whether this one request was too long or too short, and nothing is to be learned."""
        return _THIS_REQUEST.search(self.text) is not None

    def most_tokens(self, limit: int) -> int | None:
        """Return the limit of tokens that the server names, where less was allowed than wanted."""
        for pattern in _LIMITS:
            for number in map(int, pattern.findall(self.text)):
                if 0 < number < limit:
                    return number
        return None

    def names_value(self, value: Json, values: Iterable[str]) -> bool:
        """Tell whether the server speaks of a value, one of those that another can stand for."""
        return value in values and re.search(rf"\b{re.escape(value)}\b", self.text) is not None

    def _apart(self, name: str) -> bool:
        return name.rpartition(".")[2].replace("_", "").lower() in self.named

    def _quoted(self, name: str) -> bool:
        return any(re.search(rf"['\"`\[‘“]{way}['\"`\]’”]", self.text) for way in _ways(name))

    def _within(self, name: str) -> bool:
        """Tell whether the server speaks of the object that a field belongs to."""
        whole, dot, _ = name.partition(".")
        return bool(dot) and whole in _REFUSED_WHOLE and whole in self.text

    def _in_words(self, name: str) -> bool:
        last = name.rpartition(".")[2]
        unmistakable = "_" in last or not last.islower() or last in _UNMISTAKABLE
        for way in _ways(name):
            word = rf"(?<![\w.]){way}(?!\w)"
            if unmistakable or r"\." in way:
                if re.search(word, self.text):
                    return True
            elif re.search(
                rf"{_FIELD_BEFORE}\W{{1,3}}{word}|{word}\W{{0,2}}{_VERB_AFTER}", self.text
            ):
                return True
        return False


def nested(body: Mapping[str, Json]) -> dict[str, Json]:
    """Write a body as it is sent: a name with dots stands for a field within objects."""
    if "." not in "".join(body):
        return dict(body)
    whole: dict[str, Json] = {}
    for name, value in body.items():
        *path, last = name.split(".")
        place = whole
        for part in path:
            inner = place.get(part)
            place[part] = place = dict(inner) if isinstance(inner, Mapping) else {}
        both = isinstance(value, Mapping) and isinstance(place.get(last), Mapping)
        place[last] = {**place[last], **value} if both else value
    return whole


def known_effort(effort: str | None, learned: Mapping[str, str]) -> str | None:
    """Return the effort of thinking that a model takes in place of the one that is wanted."""
    while effort is not None and (other := learned.get(_EFFORT + effort)) is not None:
        effort = other
    return effort


def optional(body: Mapping[str, Json]) -> list[str]:
    """Return the fields of a body that a server may not know."""
    return [name for name in body if name not in _MESSAGES]


def on_ladder(refusal: Refusal, body: Mapping[str, Json], ladder: frozenset[str] = LADDER) -> bool:
    """Tell whether a refusal is about what there are other ways to ask for, or about nothing."""
    blamed = refusal.blames(optional(body))
    return not blamed or any(name in ladder for name in blamed)


def learn_field(
    refusal: Refusal,
    body: Mapping[str, Json],
    learned: MutableMapping[str, str],
    needed: Iterable[str],
) -> None:
    """Learn which fields of a body a server does not take, or takes with another name or value."""
    limit = next((name for name in LIMITS_OF_TOKENS if name in body), None)
    if limit == TOKENS and NEW_TOKENS in refusal.text and not refusal.about_length:
        learned[NAME_OF_TOKENS] = NEW_TOKENS
        return
    for name in refusal.blames(optional(body)):
        if name == limit:
            _learn_limit(refusal, name, body, learned, needed)
        elif name in EFFORT_FIELDS and refusal.names_value(body[name], _NEAREST):
            learned[_EFFORT + str(body[name])] = _NEAREST[str(body[name])]
        elif name not in needed:
            learned[_DROP + name] = refusal.text[:200]


def _learn_limit(
    refusal: Refusal,
    name: str,
    body: Mapping[str, Json],
    learned: MutableMapping[str, str],
    needed: Iterable[str],
) -> None:
    if refusal.about_length:
        return
    requested = body[name]
    most = refusal.most_tokens(requested) if isinstance(requested, int) else None
    if most is not None:
        learned[MOST_TOKENS] = str(most)
    elif name not in needed:
        learned[_DROP + name] = refusal.text[:200]


def adjusted(body: dict[str, Json], learned: Mapping[str, str]) -> dict[str, Json]:
    """Leave out and lower what the lessons say."""
    if not learned:
        return body
    adjusted_body = {name: value for name, value in body.items() if _DROP + name not in learned}
    if (most := learned.get(MOST_TOKENS)) is not None:
        for name in LIMITS_OF_TOKENS:
            if isinstance(adjusted_body.get(name), int):
                adjusted_body[name] = min(adjusted_body[name], int(most))
    return adjusted_body


def drop(learned: MutableMapping[str, str], names: Iterable[str]) -> None:
    """Learn from an earlier run what is not sent."""
    for name in names:
        learned.setdefault(_DROP + name, "as in an earlier run")


def changes(
    requested: Mapping[str, Json],
    sent: Mapping[str, Json],
    chosen: Iterable[str] = (),
    ladder: frozenset[str] = LADDER,
) -> dict[str, str]:
    """Say of each field that was wanted and not sent as it was, what became of it.

    How a verdict's shape is asked for is not counted, since it is told with the verdict, unless it
    was chosen by a person.
    """
    passed_over = ladder.difference(chosen)
    changed: dict[str, str] = {}
    for name, value in requested.items():
        if name in passed_over or sent.get(name) == value:
            continue
        if name in sent:
            changed[name] = f"{name}={sent[name]}"
        elif name == TOKENS and NEW_TOKENS in sent:
            changed[name] = NEW_TOKENS
        else:
            changed[name] = ""
    return changed


def _one_at_a_time(names: list[str]) -> list[str]:
    """Give up one of two that go not together, and keep the one that says more."""
    return [next((name for name in _GIVEN_UP_FIRST if name in names), names[-1])]


def _ways(name: str) -> Iterator[str]:
    """Yield how servers write a field, in lower case: as it is, in camel case, with blanks."""
    if "." in name:
        yield re.escape(_snake(name))
        yield re.escape(name.lower())
        name = name.rpartition(".")[2]
    name = _snake(name)
    yield re.escape(name)
    if "_" in name:
        yield re.escape(name.replace("_", ""))
        yield re.escape(name.replace("_", " "))


def _snake(name: str) -> str:
    return _CAPITAL.sub(lambda capital: f"_{capital[0]}", name).lower()


def _fields(payload: Json, depth: int) -> Iterator[str]:
    """Yield the names of fields that the JSON of an error holds apart from its words."""
    if depth == 0:
        return
    if isinstance(payload, list):
        for part in payload:
            yield from _fields(part, depth - 1)
    if not isinstance(payload, dict):
        return
    for name, value in payload.items():
        if name not in _NAMING:
            yield from _fields(value, depth - 1)
        elif isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (part for part in value if isinstance(part, str))


def _parts(name: str) -> list[str]:
    """Return a field's name and those around it, in lower case and without underscores."""
    return [part for part in re.split(r"[^a-z0-9]+", name.lower().replace("_", "")) if part]
