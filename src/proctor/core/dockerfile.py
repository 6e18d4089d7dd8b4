"""Files that say how an image is built, read as far as they can be followed without one."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

IGNORED = frozenset(
    ("CMD", "ENTRYPOINT", "EXPOSE", "HEALTHCHECK", "LABEL", "MAINTAINER", "STOPSIGNAL", "VOLUME")
)
"""What says how a container is started, or tells something about it."""
FOLLOWED = frozenset(("ADD", "ARG", "COPY", "ENV", "RUN", "SHELL", "USER", "WORKDIR", "FROM"))
_FROM_IMAGE = re.compile(r"(?:^|[\s,])(?:--)?from=([^\s,]+)")
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction, with the line that it begins in."""

    name: str
    text: str
    line: int

    @property
    def words(self) -> list[str]:
        """Return its arguments: a JSON list, or words as a shell splits them."""
        if self.text.startswith("["):
            try:
                return [str(word) for word in json.loads(self.text)]
            except ValueError:
                pass
        return shlex.split(self.text)


def instructions(text: str) -> Iterator[Instruction]:
    """Yield the instructions of a file, lines that go on joined; comments are left out."""
    pending, begun = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("#") or (not stripped and not pending):
            continue
        begun = begun or number
        if stripped.endswith("\\"):
            pending += stripped[:-1] + " "
            continue
        whole, pending = pending + stripped, ""
        name, _, rest = whole.strip().partition(" ")
        yield Instruction(name=name.upper(), text=rest.strip(), line=begun)
        begun = 0


def unfollowed(text: str) -> Iterator[tuple[int, str]]:
    """Yield what only a container engine can follow, each with its line."""
    stages = 0
    for step in instructions(text):
        stages += step.name == "FROM"
        if step.name == "FROM" and stages > 1:
            yield step.line, "a second FROM: a build in stages"
        elif step.name in ("COPY", "ADD") and step.text.startswith("--from"):
            yield step.line, f"{step.name} --from: files of another image"
        elif step.name == "ADD" and "://" in step.text:
            yield step.line, "ADD of an address"
        elif "<<" in step.text and step.name in ("RUN", "COPY"):
            yield step.line, f"{step.name} with a text of its own (<<)"
        elif step.name not in FOLLOWED | IGNORED:
            yield step.line, f"the instruction {step.name}"


def base_images(text: str) -> Iterator[str]:
    """Yield the images that a file builds upon or copies from, its own stages left out."""
    variables: dict[str, str] = {}
    stages: set[str] = {"scratch"}
    for step in instructions(text):
        if step.name == "ARG":
            name, _, value = step.text.partition("=")
            variables[name.strip()] = value.strip().strip("\"'")
        elif step.name == "FROM":
            words = [word for word in filled(step.text, variables).split() if word[:2] != "--"]
            if words and words[0] not in stages:
                yield words[0]
            if len(words) == 3 and words[1].lower() == "as":
                stages.add(words[2])
        elif step.name in ("COPY", "ADD") or "--mount" in step.text:
            named = (filled(name, variables) for name in _FROM_IMAGE.findall(step.text))
            yield from (name for name in named if name not in stages and not name.isdigit())


def last_workdir(text: str) -> str:
    """Return the folder in which an image's programs start; empty where none is named."""
    folder = ""
    for step in instructions(text):
        if step.name == "WORKDIR" and step.words:
            own = step.words[0]
            folder = own if own.startswith("/") else f"{folder.rstrip('/')}/{own}"
    return folder


def filled(text: str, variables: dict[str, str]) -> str:
    """Put the values of variables where a text names them."""
    return _VARIABLE.sub(lambda match: variables.get(match[1] or match[3], match[2] or ""), text)
