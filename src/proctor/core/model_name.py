"""How a model is named on the command line: ``provider:model[@base_url[,base_url…]]``."""

import re
from collections.abc import Sequence

from proctor.core.suite import Json, Spec
from proctor.core.user_info import holds_user_info
from proctor.errors import UsageError

_ADDRESS = re.compile(r"@(?=https?://)")
_BARE_ADDRESS = re.compile(
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
