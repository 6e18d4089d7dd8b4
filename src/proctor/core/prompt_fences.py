"""Marks around strangers' words in a prompt: numbers that nobody can know beforehand."""

import os
import re
from collections.abc import Callable, Iterable, Sequence

from proctor.records import dataclass

_BYTES = 16
_OPENING = "<<{name} {number}>>"
_CLOSING = "<<end of {name} {number}>>"


@dataclass(frozen=True, slots=True)
class Mark:
    """The number of the marks in one prompt, and what stands for it in keys."""

    number: str
    """What is sent: 128 bits, keyed by a secret."""
    address: str
    """What stands in its place where a call is looked up: the same in every store."""


class Marks:
    """A source of marks that only who has its key can foresee; a fresh key where none is named.

    What gives the key is called when the first mark is made.
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes | Callable[[], bytes] | None = None) -> None:
        self._key = os.urandom(32) if key is None else key

    def of(self, texts: Iterable[str]) -> Mark:
        """Return the mark for a prompt that is made of these texts."""
        import hashlib
        import hmac

        if not isinstance(self._key, bytes):
            self._key = self._key()
        joined = "\0".join(texts).encode("utf-8", "surrogatepass")
        number = hmac.new(self._key, joined, hashlib.sha256).digest()[:_BYTES]
        # Version 0.1.0 sent this number: what it asked and stored is found by it.
        address = hashlib.blake2b(joined, digest_size=5).hexdigest()
        return Mark(number=number.hex(), address=address)


MARKS = Marks()
"""The marks of prompts that belong to no store."""


def fence(name: str, text: str, number: str) -> str:
    """Put a text between marks."""
    opening, closing = (line.format(name=name, number=number) for line in (_OPENING, _CLOSING))
    return f"{opening}\n{text}\n{closing}"


def addressed(text: str, marks: Iterable[Mark]) -> str:
    """Return a prompt as it is looked up: nobody else can have written the numbers replaced."""
    for mark in marks:
        text = text.replace(mark.number, mark.address)
    return text


def fenced_texts(text: str, marks: Sequence[Mark]) -> list[str]:
    """Return the strangers' words in a prompt: what stands between the marks of each number."""
    texts = []
    for mark in dict.fromkeys(marks):
        pattern = rf"<<(?!end of )([^<>\n]+) {mark.number}>>\n(.*?)\n<<end of \1 {mark.number}>>"
        texts += [match[2] for match in re.finditer(pattern, text, re.DOTALL)]
    return texts
