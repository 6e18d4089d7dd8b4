"""One language: how its programs are put together, built and run."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from proctor.core.program import MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Aid:
    """A file prepared once for many programs of a language, to build or start them faster."""

    files: tuple[str, ...] = ()
    """Files of ours from which it is made."""
    preamble: str = ""
    """A file in which the language's preamble is put."""
    packages: tuple[str, ...] | None = None
    """Packages that it holds, besides those that the tests load; none where it holds none."""
    steps: tuple[tuple[str, ...], ...]
    keep: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """How a whole program is built and run that reads standard input and prints."""

    build: tuple[tuple[str, ...], ...] = ()
    run: tuple[str, ...]
    launchers: tuple[str, ...] = ()
    """Files of ours that building needs."""
    preamble: bool = True
    """Whether the language's preamble stands before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The way in which programs of one language are put together, built and run."""

    name: str
    aliases: tuple[str, ...] = ()
    fences: tuple[str, ...] = ()
    """More words that name the language after a code fence."""
    file: str
    launchers: tuple[str, ...]
    """Files of ours that lie beside the program."""
    tools: tuple[tuple[str, ...], ...]
    """Commands that must be there, each with other names that it may have."""
    version: tuple[str, ...] = ("--version",)
    install: str
    build: tuple[tuple[str, ...], ...] = ()
    run: tuple[str, ...]
    timeout: float = 10.0
    build_time: float = 60.0
    memory: int = 1024 * MIB
    env: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """Folders outside of the system's own that its toolchain uses, where they exist."""
    aid: Aid | None = None
    script: Script | None = None
    """None where there are no such programs."""
    preamble: tuple[str, ...] = ()
    optional: Mapping[str, str] = field(default_factory=dict)
    """Parts of the preamble that are left out of programs which do not name a word."""
    opening: str = ""
    joint: str = ""
    """A line between the candidate's code and the test."""
    ending: str = ""
    """The line after the test, by which the launcher knows that it was reached."""
    late: str | None = None
    """The line after the answer instead, where the launcher gets the test apart, for later."""
    first: tuple[str, ...] = ()
    """Patterns of lines that must stand first in a program, wherever they were written."""
    shape: Callable[[str], str] | None = None
    """Makes each part of the program fit to stand beside others."""
    rewrite: Callable[[str], str] | None = None
    """Makes the whole program fit to be called by the launcher; lines stay where they are."""
    guard: Callable[[str], str] | None = None
    """Makes lines that give a test the language's own names, whatever the answer calls its own."""
    hides: tuple[str, ...] = ()
    """Files that building leaves and running does not need, besides the sources."""
    tested: bool = True

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the files that running needs no more once they are built."""
        names = (self.file, *self.launchers, *self.hides) if self.build else ()
        return tuple(name for name in names if not any(name in word for word in self.run))

    @property
    def tags(self) -> frozenset[str]:
        """Return the words after a code fence that name this language."""
        return frozenset((self.name, *self.aliases, *self.fences))

    def preamble_for(self, text: str) -> str:
        """Return what stands before a program; heavy imports only where they are used."""
        lines = list(self.preamble)
        for line, word in self.optional.items():
            if re.search(rf"\b{word}\b", text):
                lines.append(line)
        return "\n".join(lines)

    def source(self, text: str, *, late: bool = False) -> bytes:
        """Return the program's file."""
        if self.rewrite is not None:
            text = self.rewrite(text)
        if ending := self.late if late else self.ending:
            text = f"{text}\n{ending}\n"
        return text.encode("utf-8", "surrogatepass")


def no_package(text: str) -> str:
    """Take out the line that names a package: all classes stand side by side."""
    return re.sub(r"(?m)^\s*package\s+[\w.]+\s*;?[ \t]*$", "", text)


_JAVA_NAMES = (
    "System", "String", "Math", "Integer", "Long", "Double", "Boolean", "Character", "Object",
    "Error", "AssertionError", "Exception", "RuntimeException", "Throwable", "Runtime",
    "IllegalStateException", "IllegalArgumentException", "Class", "StrictMath",
)  # fmt: skip
_JAVA_BOXES = ("Integer", "Long", "Double", "Boolean", "Character")


def java_names(test: str) -> str:
    """Return imports by which a test means the library's classes, not the answer's own.

    A test that makes a new ``Character`` means one of the answer: nobody makes boxes that way.
    """
    names = set(re.findall(r"\b[A-Z]\w*", test))
    names -= set(re.findall(r"\b(?:class|interface|enum|record)\s+(\w+)", test))
    names -= {name for name in _JAVA_BOXES if re.search(rf"\bnew\s+{name}\s*\(", test)}
    lines = [f"import java.lang.{name};" for name in _JAVA_NAMES if name in names]
    for name in ("Arrays", "Objects", "Collections"):
        if re.search(rf"\b{name}\.", test) and re.search(r"import\s+java\.util\.\*;", test):
            lines.append(f"import java.util.{name};")
    return "\n".join(lines)


def kotlin_names(test: str) -> str:
    """Return imports by which a test means the library's functions, not the answer's own."""
    names = ("check", "checkNotNull", "require", "requireNotNull", "assert", "error", "TODO")
    return "\n".join(f"import kotlin.{name}" for name in names if f"{name}(" in test)


def go_imports(text: str) -> str:
    """Write each import on a line of its own, so that the same one is found twice."""

    def lines(match: re.Match[str]) -> str:
        names = (re.sub(r"//.*", "", line).strip() for line in match[1].split("\n"))
        return "\n".join(f"import {name}" for name in names if name)

    text = re.sub(r"(?m)^import\s*\(([^)]*)\)", lines, text)
    return re.sub(r"(?m)^package\s+main\b", "package main", text)


def perl_lines(text: str) -> str:
    """Take away comments that tell Perl to count its lines anew, and the file once it is read."""
    text = re.sub(r"(?m)^#(?=[ \t]*line[ \t]+\d)", "##", text)
    return f"BEGIN {{ unlink './main.pl' }} {text}"


def php_unlinked(text: str) -> str:
    """Let a program take away its own file, before its first line."""
    return text.replace("<?php", "<?php @unlink(__FILE__);", 1)


def bash_unlinked(text: str) -> str:
    """Let a program take away its own file, before its first line."""
    return f"rm main.sh; {text}"


def go_main(text: str) -> str:
    """Rename the program's own main."""
    return re.sub(r"(?m)^func\s+main\s*\(\s*\)", "func proctorMain()", text)


def php_part(text: str) -> str:
    """Take out the tags between which PHP stands."""
    return re.sub(r"(?m)^\s*<\?(php|=)?(?=\s|$)|\?>\s*\Z", "", text)


def haskell_module(text: str) -> str:
    """Name the module, after the pragmas and without moving any line."""
    header = re.search(r"(?m)^module\s[\s\S]*?\bwhere\b", text)
    if header is not None:
        named = "module Program where" + "\n" * header.group().count("\n")
        return text[: header.start()] + named + text[header.end() :]
    lines = text.split("\n")
    number = 0
    while number < len(lines) and re.match(r"\s*(--|\{-#.*#-\}\s*$|$)", lines[number]):
        number += 1
    named = f'module Program where\n{{-# LINE {number + 1} "main.hs" #-}}'
    return "\n".join([*lines[:number], named, *lines[number:]])


def swift_begin(text: str) -> str:
    """Let the launcher begin before the program, on the program's first line."""
    return f"proctorBegin({text.count(chr(10)) + 2}); {text}"
