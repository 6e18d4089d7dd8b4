"""The problems found on the way through files: all of them at once, and not too many alike."""

from collections import Counter
from dataclasses import field, replace

from proctor.errors import Problem, SuiteError
from proctor.io.text_files import Document, Loc
from proctor.records import dataclass

MAX_SHOWN = 500
MAX_ALIKE = 100
"""How many errors of the same words are kept with their places."""


@dataclass(eq=False)
class Findings:
    """What is wrong with some files, and what a reader should be warned of."""

    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    more: int = 0
    """Errors beyond those that are kept, of words that none of these has."""

    _kept: set[Problem] = field(default_factory=set)
    _alike: Counter[str] = field(default_factory=Counter)
    _unlisted: Counter[str] = field(default_factory=Counter)
    _repeated: dict[str, "_RepeatedWarning"] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Tell whether further errors are only counted."""
        return len(self.errors) >= MAX_SHOWN

    @property
    def total(self) -> int:
        """Return how many errors there are, those that are only counted among them."""
        return len(self.errors) + self.more + self._unlisted.total()

    def counts_only(self, message: str) -> bool:
        """Tell whether an error of these words is only counted."""
        return self.full or self._alike[message] >= MAX_ALIKE

    def count(self, message: str, times: int = 1) -> None:
        """Count errors whose places are not kept, beside those of the same words."""
        if message in self._alike:
            self._unlisted[message] += times
        else:
            self.more += times

    def add(self, *problems: Problem) -> None:
        """Note errors; where there are too many already, count them."""
        for problem in problems:
            times = 1 + problem.unlisted
            if not self.counts_only(problem.message):
                kept = replace(problem, unlisted=0)
                self._kept.add(kept)
                self._alike[problem.message] += 1
                self.errors.append(kept)
                times -= 1
            if times:
                self.count(problem.message, times)

    def error_at(self, document: Document, loc: Loc, message: str, *, hint: str = "") -> None:
        """Note an error at a value of a file; the place is looked up only where it is kept."""
        if self.counts_only(message):
            self.count(message)
        else:
            self.add(document.problem(loc, message, hint=hint))

    def warn(self, *problems: Problem) -> None:
        """Note warnings."""
        self.warnings += problems

    def warn_at(self, document: Document, loc: Loc, message: str, *, hint: str = "") -> None:
        """Note a warning at a value of a file."""
        self.warn(document.problem(loc, message, hint=hint, severity="warning"))

    def warn_once(self, problem: Problem) -> None:
        """Note a warning of its words once, with the number of further times that it came."""
        if (repeated := self._repeated.get(problem.message)) is None:
            self._repeated[problem.message] = _RepeatedWarning(problem, len(self.warnings))
            self.warn(problem)
        else:
            repeated.more += 1
            text = f"{problem.message} ({repeated.more} more like it)"
            self.warnings[repeated.place] = replace(repeated.first, message=text)

    def include(self, other: "Findings") -> None:
        """Note the errors of other findings, except those that are kept here already."""
        for problem in other.errors:
            if problem not in self._kept:
                self.add(problem)
        for message, times in other._unlisted.items():
            self.count(message, times)
        self.more += other.more

    @property
    def shown(self) -> list[Problem]:
        """Return the errors that are kept, with the number of those that are only counted."""
        shown = []
        unlisted = Counter(self._unlisted)
        for problem in self.errors:
            shown.append(replace(problem, unlisted=unlisted.pop(problem.message, 0)))
        if self.more:
            message = f"… and {self.more:,} more problems"
            shown.append(Problem(message=message, file=shown[-1].file))
        return shown

    def check(self, *, rest: object = None) -> None:
        """Raise all errors there are, with what could be read besides."""
        if self.errors:
            raise SuiteError(self.shown, rest=rest)


@dataclass(slots=True)
class _RepeatedWarning:
    """A warning that is noted once, its place in the list, and how often it came again."""

    first: Problem
    place: int
    more: int = 0
