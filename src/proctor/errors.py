"""Every exception of the product.

ProctorError
├── SuiteError          the suite is wrong (file, line, field, every problem)
│   └── DialectError    not readable in that dialect
├── PluginError         no such name (did you mean…), or wrong parameters
├── MissingResource     a judge, sandbox, language or reference nobody configured
├── ConditionError      an expression of a suite gave no answer; costs its criterion
├── SandboxError        a program cannot be run safely on this machine
├── ModelError          a model gave no reply, after all tries that could have helped
│   ├── BudgetError     the money allowed for a run is spent
│   └── AgentError      an agent crashed, raised or was lost instead of answering
├── JudgeError          a judge replied, but never with a readable verdict
├── UsageError          a command or an expression was written wrongly
└── StoreError          the store cannot be read or written, or has no such run
    ├── StoreGone       its file was deleted or replaced while it was in use
    └── PartDamaged     a file of a large run is missing or cannot be read
"""

from collections.abc import Iterable
from typing import Literal

from proctor.records import dataclass


class ProctorError(Exception):
    """Base of every error that a user may be shown without a traceback."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a file people wrote, and where."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    field: str = ""
    hint: str = ""
    excerpt: str = ""
    severity: Literal["error", "warning", "note"] = "error"
    about: str = ""
    """What the message is about, such as a case, where many may have the same problem."""
    unlisted: int = 0
    """How many more of the same there are that no list holds."""

    @property
    def text(self) -> str:
        """Return the message with what it is about."""
        return f"{self.about}: {self.message}" if self.about else self.message

    @property
    def place(self) -> str:
        """Return ``file:line:col`` as far as it is known."""
        parts = [self.file or "", *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(part for part in parts if part)

    def __str__(self) -> str:
        head = f"{self.place}: " if self.place else ""
        field = f" (at {self.field})" if self.field else ""
        hint = f"\n  fix: {self.hint}" if self.hint else ""
        caret = ""
        if self.excerpt and self.column is not None:
            shown, offset = _window(self.excerpt, self.column - 1)
            caret = f"\n  | {shown}\n  | {' ' * offset}^"
        return f"{head}{self.severity}: {self.text}{field}{caret}{hint}"


MOST_PLACES = 3
"""How many places are named of a problem that occurs often, besides the first."""


def grouped(problems: Iterable[Problem]) -> list[str]:
    """Word problems, equal ones once: the first in full, then their number and further places."""
    groups: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((problem.severity, problem.message, problem.hint), []).append(problem)
    return [_worded(group) for group in groups.values()]


def _worded(group: list[Problem]) -> str:
    first, *others = group
    count = len(others) + sum(problem.unlisted for problem in group)
    if not count:
        return str(first)
    places = [_short_place(problem) for problem in others[:MOST_PLACES]]
    named = [place for place in places if place]
    more = "" if count <= MOST_PLACES else ", …"
    where = f": {', '.join(named)}{more}" if named else ""
    return f"{first}\n  and {count:,} more like it{where}"


def _short_place(problem: Problem) -> str:
    about, place = problem.about, problem.place
    return f"{about} ({place})" if about and place else about or place


class SuiteError(ProctorError):
    """Every problem found in a suite or an answers file at once."""

    def __init__(self, problems: Iterable[Problem] | str, *, rest: object = None) -> None:
        self.problems = [Problem(message=problems)] if isinstance(problems, str) else list(problems)
        self.rest = rest
        """The Suite of those cases that can be read, where others cannot: it may be looked at for
        further problems, and is never run."""
        super().__init__("\n".join(grouped(self.problems)))


class DialectError(SuiteError):
    """A path that is not readable in the requested dialect, or in any."""


class PluginError(ProctorError):
    """A plugin name that is unknown, or wrong parameters of a plugin."""


class MissingResource(ProctorError):
    """A judge, sandbox, language or file that nobody configured."""


class ConditionError(ProctorError):
    """The reason why an expression of a suite gave no answer."""


class SandboxError(ProctorError):
    """The reason why programs cannot be run safely on this machine, and a remedy."""


class ModelError(ProctorError):
    """The reason why a model gave no reply: the server's own words, and a remedy."""

    def __init__(
        self, message: str, *, status: int | None = None, passing: bool = False, cause: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status, where the server gave one."""
        self.passing = passing
        """Whether another try later may succeed: the server was busy, slow or not there."""
        self.exit_code = 3 if passing else 2
        self.cause = cause
        """Whose fault it was, where whoever raised it knows: a word of ``core.cause``."""
        self.so_far: object = None
        """The attempt up to here, where the call was part of one."""


class BudgetError(ModelError):
    """The end of the money allowed for a run."""

    def __init__(self, message: str) -> None:
        super().__init__(message, passing=True)


class AgentError(ModelError):
    """The way in which an agent broke, and where in its own code."""

    def __init__(self, message: str, *, traceback: str = "", reply: object = None) -> None:
        super().__init__(message)
        self.traceback = traceback
        self.reply = reply
        """The Reply without a text that holds what the agent did until then."""


class JudgeError(ProctorError):
    """A verdict that could not be read, with the judge's replies."""

    def __init__(
        self, message: str, *, raw: Iterable[str] = (), usage: object = None, reason: str = ""
    ) -> None:
        super().__init__(message)
        self.raw = tuple(raw)
        self.usage = usage
        """The Usage of all tries."""
        self.reason = reason
        """A short word for why, as reason distributions count it."""


class UsageError(ProctorError):
    """An option or expression that was written wrongly."""


class StoreError(ProctorError):
    """A store that cannot be read or written, or that has no such run."""


class StoreGone(StoreError):
    """A store whose file was deleted or replaced while it was in use."""


class PartDamaged(StoreError):
    """A file of a part of a large run that is missing, or that cannot be read."""


def _window(text: str, offset: int, width: int = 100) -> tuple[str, int]:
    """Cut a long line around an offset, and return the cut with the offset inside it."""
    text = text.rstrip("\r\n").expandtabs(1)
    start = max(0, min(offset - width // 2, len(text) - width))
    cut = text[start : start + width]
    return cut, max(0, min(offset - start, len(cut)))
