"""The signature of a run: every choice that could move its numbers, by name, shown as one line."""

import re
from collections.abc import Iterator, Mapping

from proctor.core.suite import VARIANT, Json

SCORERS = "scorers"
_PART = re.compile(
    rf"(?:^|\|)(suite|dialect|{VARIANT}|scorers|sampling|judge|panel|simulator|prompts|refused|reduce"
    r"|attempts|n|unanswered|unscored|ci|version|imported):"
)
_SCORER = re.compile(r"(?P<name>.+?)-(?P<version>[^-+]*(?:\+.*)?)")
"""A scorer with its version; what follows a plus sign may have dashes of its own."""


class Signature(str):
    """The line that reports show, and the parts that it was made of.

    The scorers are a mapping of their names to their versions, all other parts are texts.
    """

    __slots__ = ("_parts",)
    _parts: Mapping[str, Json] | None

    @classmethod
    def of(cls, parts: Mapping[str, Json]) -> "Signature":
        """Make the signature of its parts; those that are empty are left out."""
        kept: dict[str, Json] = {}
        for name, value in parts.items():
            if isinstance(value, Mapping):
                kept[name] = {str(scorer): str(version) for scorer, version in value.items()}
            else:
                kept[name] = str(value)
        kept = {name: value for name, value in kept.items() if value}
        signature = cls("|".join(f"{name}:{_text(value)}" for name, value in kept.items()))
        signature._parts = kept
        return signature

    @classmethod
    def read(cls, text: str) -> "Signature":
        """Return the signature that a line says: earlier versions, and files, have no more."""
        if isinstance(text, Signature):
            return text
        signature = cls(text)
        signature._parts = None
        return signature

    @property
    def parts(self) -> Mapping[str, Json]:
        """Return the parts by their names."""
        if self._parts is None:
            self._parts = _read(self)
        return self._parts

    @property
    def scorers(self) -> Mapping[str, str]:
        """Return the versions of the scorers by their names."""
        scorers = self.parts.get(SCORERS)
        return scorers if isinstance(scorers, Mapping) else {}

    def changed_scorers(self, before: "Signature") -> Iterator[tuple[str, str, str]]:
        """Yield the scorers of both signatures in other versions: name, version before, and now."""
        for name in sorted(before.scorers.keys() & self.scorers.keys()):
            if before.scorers[name] != self.scorers[name]:
                yield name, before.scorers[name], self.scorers[name]

    def __reduce__(self) -> tuple[object, ...]:
        return Signature.of, (self.parts,)


def _text(value: Json) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{scorer}-{version}" for scorer, version in value.items())
    return str(value)


def _read(text: str) -> dict[str, Json]:
    # Around each name that the pattern finds lie the texts between the names.
    pieces = _PART.split(text)
    parts: dict[str, Json] = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    if SCORERS in parts:
        matches = map(_SCORER.fullmatch, filter(None, parts[SCORERS].split(",")))
        parts[SCORERS] = {match["name"]: match["version"] for match in matches if match}
    return parts
