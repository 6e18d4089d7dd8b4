"""What a task's test script would fetch, and what of it an environment without network lacks."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_SAYS_SO = re.compile(r"No module named|command not found|: not found")
_NAME = re.compile(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?")
_ENDS = frozenset(
    [";", "&&", "||", "|", "&", "then", "do", "else", "fi", "done", "(", ")", "{", "}"]
)
_WITH_VALUE = frozenset(
    {
        *("-p", "--python", "-r", "--requirement", "--with-requirements", "-c", "--constraint"),
        *("-i", "--index-url", "--extra-index-url", "--index", "--default-index", "-f"),
        *("--find-links", "-t", "--target", "--prefix", "--root", "--directory", "--project"),
        *("-e", "--editable", "--with-editable", "--env-file", "-o", "--option"),
    }
)
_PACKAGES = frozenset({"-w", "--with", "--from"})
IN_TOOLBOX = frozenset(
    {
        *("uv", "uvx", "pip", "setuptools", "wheel", "pytest-json-ctrf", "curl", "wget"),
        *("ca-certificates", "python3", "python3-pip", "python3-venv", "python3-pytest"),
    }
)
"""What the toolbox stands in for, or what is checked under another name."""
LACKING = r"""python=${PROCTOR_PYTHON:-python3}
modules() { PYTHONPATH="$PYTHONPATH:/proctor/wheels" "$python" -P - "$@" <<'END'
import sys
from importlib.metadata import distributions
def plain(name):
    return "-".join(name.lower().replace("_", "-").replace(".", "-").split("-"))
there = {plain(one.metadata["Name"] or "") for one in distributions()}
for name in sys.argv[1:]:
    if plain(name) not in there:
        try:
            __import__(name.replace("-", "_"))
        except Exception:
            print("package", name)
END
}
if [ "$1" -gt 0 ]; then
  if ! command -v "$python" >/dev/null 2>&1; then echo "program python3"; shift "$(($1 + 1))"
  else
    count=$1; shift; names=
    while [ "$count" -gt 0 ]; do names="$names $1"; shift; count=$((count - 1)); done
    modules $names
  fi
else shift
fi
for name in "$@"; do
  dpkg -s "$name" >/dev/null 2>&1 || command -v "$name" >/dev/null 2>&1 || echo "program $name"
done
exit 0
"""
"""A script that tells what is lacking: a number, as many Python packages, packages of Debian."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a script would fetch, by name."""

    packages: tuple[str, ...] = ()
    """Packages of Python."""
    programs: tuple[str, ...] = ()
    """Packages of the system."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return what the script LACKING is told."""
        return (str(len(self.packages)), *self.packages, *self.programs)


def wanted(script: str) -> Wanted:
    """Return what a test script would install, but for what the toolbox stands in for."""
    packages: dict[str, None] = {}
    programs: dict[str, None] = {}
    for words in _commands(script):
        names, of_system = _fetched(words)
        for name in names:
            if (plain := _plain(name)) and plain not in IN_TOOLBOX:
                (programs if of_system else packages)[plain] = None
    return Wanted(tuple(packages), tuple(programs))


def _commands(script: str) -> Iterator[list[str]]:
    """Yield the simple commands of a shell script, as far as words tell them apart."""
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        try:
            for word in lexer:
                if word in _ENDS or set(word) <= set(";&|()<>"):
                    yield words
                    words = []
                elif word.isdecimal():
                    continue  # of a redirection: 2>/dev/null
                elif words or not (_ASSIGNED.match(word) or word in ("if", "sudo", "exec", "!")):
                    words.append(word)
        except ValueError:
            # A quotation over several lines: what came before it is known.
            pass
        yield words


def _fetched(words: Sequence[str]) -> tuple[list[str], bool]:
    """Return what a command installs, and whether those are packages of the system."""
    program = words[0].rsplit("/", 1)[-1] if words else ""
    rest = list(words[1:])
    if program in ("apt", "apt-get") and "install" in rest:
        return [one for one in rest[rest.index("install") + 1 :] if one[:1] != "-"], True
    if re.fullmatch(r"python[\d.]*", program) and rest[:2] == ["-m", "pip"]:
        program, rest = "pip", rest[2:]
    if program == "uv" and rest[:1] == ["pip"]:
        program, rest = "pip", rest[1:]
    if re.fullmatch(r"pip[\d.]*", program) and rest[:1] == ["install"]:
        return _packages(rest[1:], all_names=True), False
    if program == "uv" and rest[:1] == ["add"]:
        return _packages(rest[1:], all_names=True), False
    if program == "uvx" or (program == "uv" and rest[:1] in (["run"], ["tool"])):
        own = rest if program == "uvx" else rest[2 if rest[0] == "tool" else 1 :]
        return _packages(own, all_names=False), False
    return [], False


def _packages(words: Sequence[str], *, all_names: bool) -> list[str]:
    """Return the packages that options name, and all other words or the first one that is a tool.

    Of a tool that is run, what follows is its own.
    """
    names: list[str] = []
    place = 0
    while place < len(words):
        word = words[place]
        option, _, value = word.partition("=")
        if option in _PACKAGES:
            if not value:
                place += 1
                value = words[place] if place < len(words) else ""
            names += value.split(",")
        elif word in _WITH_VALUE:
            place += 1
        elif word[:1] != "-":
            if not all_names:
                tool = word.partition("@")[0]
                return [*names, *([tool] if tool in ("pytest", "py.test") else [])]
            names.append(word)
        place += 1
    return names


def _plain(name: str) -> str:
    """Return a package's name without version and extras; nothing for paths and addresses."""
    if "/" in name or "$" in name or name.startswith("."):
        return ""
    match = _NAME.match(name)
    return match[0].lower().replace("_", "-") if match else ""


def lacking(output: str) -> list[str]:
    """Return what the script LACKING told of, by name."""
    return [line.split(" ", 1)[1] for line in output.splitlines() if " " in line]


def is_told(output: str) -> bool:
    """Tell whether the output of tests speaks of something that is not there."""
    return _SAYS_SO.search(output) is not None
