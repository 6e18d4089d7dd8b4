"""Prompts for judges and simulated users, in English and Chinese, as data files beside this one."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from proctor.core.suite import Message

LANGUAGES = ("en", "zh")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Hold one prompt with the hash that says which wording it is."""

    name: str
    language: str
    text: str
    key: str

    def fill(self, trusted: Mapping[str, str], untrusted: Mapping[str, str] | None = None) -> str:
        """Put values into the places ``{{name}}``, all in one pass.

        Untrusted text (answers, transcripts) is put between marks that carry a number derived from
        all values, so that no text can contain the mark that ends it and speak as someone else.
        """
        strange = untrusted or {}
        nonce = nonce_of([*trusted.values(), *strange.values()])

        def value(found: re.Match[str]) -> str:
            name = found[1]
            if name == "nonce":
                return nonce
            if name in strange:
                return fence(name, strange[name], nonce)
            return trusted[name]

        return _PLACE.sub(value, self.text)

    def message(
        self, trusted: Mapping[str, str], untrusted: Mapping[str, str] | None = None
    ) -> tuple[Message, ...]:
        """Return the filled prompt as the one user message it is sent as."""
        return (Message(role="user", content=self.fill(trusted, untrusted)),)

    @property
    def places(self) -> frozenset[str]:
        """Return the names of the places to be filled."""
        return frozenset(_PLACE.findall(self.text)) - {"nonce"}


def load(name: str, language: str = "en") -> Prompt:
    """Return the prompt of a name in a language, in English where that language has none."""
    short = language.replace("_", "-").partition("-")[0].lower()
    return _read(name, short if short in LANGUAGES else LANGUAGES[0])


def keys_of(names: Iterable[str], language: str) -> str:
    """Return one short hash of several prompts."""
    found = "|".join(load(name, language).key for name in sorted(names))
    return hashlib.blake2b(found.encode(), digest_size=6).hexdigest()


def nonce_of(texts: Sequence[str]) -> str:
    """Derive a number from texts which none of them can contain but by an unthinkable accident."""
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=5).hexdigest()


def fence(name: str, text: str, nonce: str) -> str:
    """Put a text between marks of its own."""
    return f"<<{name} {nonce}>>\n{text}\n<<end of {name} {nonce}>>"


@cache
def _read(name: str, language: str) -> Prompt:
    text = files(__name__).joinpath(language, f"{name}.txt").read_text(encoding="utf-8").strip()
    key = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return Prompt(name=name, language=language, text=text, key=key)
