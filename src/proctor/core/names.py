"""Names of models, agents and candidates: as people write them, and as they are shown."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from proctor.core.suite import Json, Spec
from proctor.errors import UsageError
from proctor.late_patterns import late_pattern

_SHOWN = late_pattern(r"(?P<scheme>\b[a-z][a-z0-9+.-]{1,20}://)[^\s'\"<>]*@", re.I)
_CREDENTIALS = late_pattern(r"https?:[/\\]{2}[^\s?#]*@|https?:[/\\]{2}[^\s/]*@", re.I)


def holds_user_info(text: str) -> bool:
    """Tell whether a text has an http address with an ``@`` in it, before any query.

    A password may hold a slash or a question mark, so that a path with ``@`` cannot be told from
    one; there it is written ``%40``.
    """
    return _CREDENTIALS.search(text) is not None


def without_user_info(text: str) -> str:
    """Return a text in which no address shows a user's name or password."""
    return _SHOWN.sub(r"\g<scheme>…@", text)


_ADDRESS = late_pattern(r"@(?=https?://)")
_PLACE = late_pattern(r"@https?://([^/,\s?#]+)(/[^,\s?#]*)?")
_BARE_ADDRESS = late_pattern(
    r"@((?:localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:]+\])(?::\d+)?(?:/\S*)?)$", re.I
)


def parse_model(text: str) -> Spec:
    """Read the name of a model, or say how one is written.

    An address with a user's name or a password in it is refused before it can be kept or shown.
    """
    if holds_user_info(text):
        raise UsageError(
            "the address of a model holds '@': a user name or a password in it would be stored and"
            " shown (fix: put the key into an environment variable, such as OPENAI_API_KEY, and"
            " leave it out of the address; an @ in a path is written %40)"
        )
    provider, colon, rest = text.strip().partition(":")
    if not colon or not provider or "/" in provider or not rest:
        raise UsageError(
            f"{text!r} does not say whose model it is (fix: write openai:{text.strip() or 'NAME'},"
            " anthropic:NAME, local:smollm2, or openai:NAME@http://127.0.0.1:8000/v1)"
        )
    if (match := _BARE_ADDRESS.search(rest)) is not None:
        raise UsageError(
            f"{text!r}: a base URL begins with http:// or https://"
            f" (fix: write {provider}:{rest[: match.start()]}@http://{match[1]})"
        )
    parts = _ADDRESS.split(rest)
    name = "@".join(parts[:-1]) if len(parts) > 1 else parts[0]
    params: dict[str, Json] = {"model": name.strip()}
    if len(parts) > 1:
        params["urls"] = [url.strip() for url in parts[-1].split(",") if url.strip()]
    return Spec(name=provider, params=params)


def write_model(provider: str, model: str, urls: Sequence[str] = ()) -> str:
    """Write the name of a model as ``parse_model`` reads it, or say why that cannot be.

    A name that itself holds an address would be read as another server than was meant.
    """
    text = f"{provider}:{model}" + (f"@{','.join(urls)}" if urls else "")
    expected: dict[str, Json] = {"model": model, **({"urls": list(urls)} if urls else {})}
    if _ADDRESS.search(model) or parse_model(text).params != expected:
        raise UsageError("the name of a model holds an address, or blanks at its ends")
    return text


CODING_AGENTS = ("claude-code", "codex", "gemini-cli", "opencode")
"""Coding agents that are named without anything behind."""
_MAIN = {
    "acp": "acp_command",
    "python": "target",
    "exec": "command",
    "recorded": "path",
    "taskweaver": "app_dir",
}
"""The parameter that stands after the colon."""
LONGEST = 60
ALONE = ("nop", "oracle")
"""Agents that are named by one word."""


def parse_agent(text: str) -> Spec | None:
    """Read the name of an agent; none where it is a model that is meant."""
    text = text.strip()
    if text.lower().startswith(("http:", "https:")) and holds_user_info(text):
        raise UsageError(
            "the address of the agent holds '@': a user name or a password in it would be stored"
            " and shown (fix: a header that names an environment variable, --agent-option"
            ' \'headers={"Authorization": "Bearer $NAME"}\'; an @ in a path is written %40)'
        )
    if text.startswith(("http://", "https://")):
        return Spec(name="http", params={"url": text})
    if text in ALONE or text in CODING_AGENTS:
        return Spec(name=text)
    kind, colon, rest = text.partition(":")
    if not colon or not (rest.strip() or kind == "taskweaver"):
        raise UsageError(
            f"{text!r} does not say what kind of agent it is (fix: write python:module:attr,"
            " exec:COMMAND, http://…, recorded:PATH, taskweaver:APP_DIR, claude-code, codex,"
            " gemini-cli, opencode, acp:COMMAND, a model such as openai:NAME, or a YAML file that"
            " describes the agent)"
        )
    if kind not in _MAIN:
        return None
    return Spec(name=kind, params={_MAIN[kind]: rest.strip()} if rest.strip() else {})


def agent_label(spec: Spec) -> str:
    """Return the name of an agent as people know it, without its options."""
    if spec.name.startswith("python:"):  # an object of a running program
        return _cut(spec.name.removeprefix("python:").rpartition("#")[0])
    if spec.name == "http":
        return _cut(str(spec.params.get("url", "http")).partition("?")[0])
    main = without_user_info(str(spec.params.get(_MAIN.get(spec.name, ""), "")))
    return _cut(f"{spec.name}:{main}" if main else spec.name)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def candidate_label(candidate: Spec) -> str:
    """Name a candidate: a model with its provider, or the last part of the answers' path."""
    params = candidate.params
    if (model := params.get("model")) and not params.get("name"):
        return f"{candidate.name}:{model}"
    for key in ("label", "name"):
        if params.get(key):
            return str(params[key])
    for key in ("path", "answers", "file"):
        if params.get(key):
            return PurePath(str(params[key])).name or candidate.name
    return candidate.name


def model_of(candidate: Spec) -> Spec:
    """Return a candidate without its prompt: the model with its address and settings."""
    params = dict(candidate.params)
    prompt, name = params.pop("prompt", None), params.get("name")
    if isinstance(prompt, Mapping) and isinstance(name, str):
        params["name"] = name.removesuffix(f"+{prompt.get('name')}")
    return Spec(name=candidate.name, params=params)


def distinctions(candidates: Sequence[Spec]) -> list[str]:
    """Return what to add to the label of each candidate where another one has the same label.

    Models are told apart by their addresses, then by their settings, then by numbers; answers on
    file by their folders. Prompts have names of their own.
    """
    models = [model_of(candidate) for candidate in candidates]
    labels = [candidate_label(model) for model in models]
    added: dict[str, list[tuple[Spec, str]]] = {}
    for label in dict.fromkeys(labels):
        alike: list[Spec] = []
        for model, name in zip(models, labels, strict=True):
            if name == label and model not in alike:
                alike.append(model)
        added[label] = list(zip(alike, _told_apart(alike), strict=True))
    return [
        next(text for spec, text in added[label] if spec == model)
        for model, label in zip(models, labels, strict=True)
    ]


def place_of(candidate: Spec, *, whole: bool = False) -> str:
    """Return where a candidate is, as part of a name: its host, or with ``whole`` its address."""
    if candidate.name == "model":
        addresses = _PLACE.findall(str(candidate.params.get("model", "")))
        if not addresses:
            return "@default"
        host, path = addresses[0]
        more = f"+{len(addresses) - 1}" if len(addresses) > 1 else ""
        return f"@{host.rpartition('@')[2]}{path.rstrip('/') if whole else ''}{more}"
    if candidate.name == "recorded":
        folder = PurePath(str(candidate.params.get("answers", ""))).parent
        shown = str(folder) if whole else folder.name
        return f"@{shown}" if shown else ""
    return ""


def _told_apart(alike: Sequence[Spec]) -> list[str]:
    """Return what tells candidates of one label apart; nothing where there is only one."""
    if len(alike) < 2:
        return [""] * len(alike)
    short, whole = ([place_of(spec, whole=long) for spec in alike] for long in (False, True))
    places = short if len(set(short)) == len(set(whole)) else whole
    texts = places if len(set(places)) > 1 else [""] * len(alike)
    texts = [text + more for text, more in zip(texts, _settings_apart(alike), strict=True)]
    if any(spec.name != "model" for spec in alike):
        return texts
    return [
        text if number == 1 else f"{text}-{number}"
        for text, number in ((text, texts[: n + 1].count(text)) for n, text in enumerate(texts))
    ]


def _settings_apart(alike: Sequence[Spec]) -> list[str]:
    """Return the sampling settings in which models differ."""
    several = [_sampling(spec) for spec in alike]
    names = dict.fromkeys(name for settings in several for name in settings)
    differing = [name for name in names if len({s.get(name) for s in several}) > 1]
    return [
        "".join(f",{name}={settings[name]}" for name in differing if name in settings)
        for settings in several
    ]


def _sampling(spec: Spec) -> dict[str, str]:
    """Return the plain settings of a model as texts."""
    sampling = spec.params.get("sampling")
    if not isinstance(sampling, Mapping):
        return {}
    extra = sampling.get("extra")
    settings = {**sampling, **(extra if isinstance(extra, Mapping) else {})}
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in settings.items()
        if isinstance(value, str | int | float)
    }


_FIELDS = {"ask": "question", "references": "reference"}
"""What cases are one cluster by, where that is no tag, as a word for one cluster."""
_HISSING = ("ss", "x", "z", "ch", "sh")


def clusters_text(count: int, name: str) -> str:
    """Return a number of clusters with the name of their tag as the word: ``40 questions``."""
    word = _FIELDS.get(name, name if name.isascii() and name.isalpha() else "cluster")
    if count != 1:
        word = _plural(word)
    return f"{count:,} {word}"


def _plural(word: str) -> str:
    if word.endswith(_HISSING):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return word if word.endswith("s") else f"{word}s"
