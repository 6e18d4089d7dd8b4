"""Messages of the engine as programs read them: options by the names that functions have."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from proctor.api.options import EvaluateOptions
from proctor.errors import ProctorError

_FLAGS = frozenset({"allow_import", "batch", "bulk", "force", "fresh", "offline", "sequential"})
_OTHERS = frozenset({"by", "force", "sequential"})
"""Options of ``compare`` that ``evaluate`` does not have."""
_COLUMNS = re.compile(r"--columns ((?:\w+=\w+,)*\w+=\w+)")
_VALUE = r"[^\s,;()'\"]*[:A-Z0-9][^\s,;()'\"]*|docker|process|bubblewrap|decided"
_OPTION = re.compile(rf"--([a-z][a-z-]*[a-z])(?:[ =]({_VALUE}))?")
"""An option of the command line, with its value where one is written beside it."""


def python_words(text: str) -> str:
    """Return a message with ``judge='openai:NAME'`` in place of ``--judge openai:NAME``."""

    def written(match: re.Match[str]) -> str:
        name = match[1].replace("-", "_")
        if name not in EvaluateOptions.__annotations__ and name not in _OTHERS:
            return match[0]
        if name in _FLAGS:
            rest = f" {match[2]}" if match[2] else ""
            return f"{name}=True{rest}" if match.start() else f"{name}{rest}"
        if match[2]:
            value = match[2].rstrip(".:")
            quoted = value if re.fullmatch(r"[\d.]+|N", value) else repr(value)
            return f"{name}={quoted}{match[2][len(value) :]}"
        return f"{name}=" if match.start() else name

    return _OPTION.sub(written, _COLUMNS.sub(_columns, text))


def _columns(match: re.Match[str]) -> str:
    """Write columns as the mapping that functions take: what a table calls a key, and the key."""
    pairs = (pair.partition("=") for pair in match[1].split(","))
    return f"columns={{{', '.join(f'{column!r}: {key!r}' for key, _, column in pairs)}}}"


@contextmanager
def told_in_python() -> Iterator[None]:
    """Word errors of the engine for whoever called a function."""
    try:
        yield
    except ProctorError as error:
        error.args = tuple(
            python_words(part) if isinstance(part, str) else part for part in error.args
        )
        raise
