"""The problems found on the way through files: all of them at once, and not too many alike."""

from collections import Counter
from dataclasses import dataclass, field, replace

from proctor.errors import Problem, SuiteError

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

    _alike: Counter[str] = field(default_factory=Counter)
    _unlisted: Counter[str] = field(default_factory=Counter)

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

    def count(self, message: str) -> None:
        """Count an error whose place is not kept, beside those of the same words."""
        if message in self._alike:
            self._unlisted[message] += 1
        else:
            self.more += 1

    def add(self, *problems: Problem) -> None:
        """Note errors; where there are too many already, count them."""
        for problem in problems:
            if self.counts_only(problem.message):
                self.count(problem.message)
            else:
                self._alike[problem.message] += 1
                self.errors.append(problem)

    def check(self) -> None:
        """Raise all errors there are."""
        if not self.errors:
            return
        shown = []
        unlisted = Counter(self._unlisted)
        for problem in self.errors:
            shown.append(replace(problem, unlisted=unlisted.pop(problem.message, 0)))
        if self.more:
            message = f"… and {self.more:,} more problems"
            shown.append(Problem(message=message, file=shown[-1].file))
        raise SuiteError(shown)
