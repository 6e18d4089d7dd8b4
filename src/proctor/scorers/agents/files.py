"""The files that an agent changed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.attempt import Attempt
from proctor.core.environment import CHANGES
from proctor.core.rounds import FILES, LAID, files_of, rounds_of
from proctor.core.score import Score
from proctor.core.suite import Case

BY_THE_WAY = (
    "*.pyc", "*__pycache__/*", "*.pytest_cache/*", ".git/*", "*/.git/*", "*node_modules/*",
    ".mypy_cache/*", ".ruff_cache/*",
)  # fmt: skip
"""What programs write by themselves."""
SHOWN = 8


@dataclass(frozen=True)
class FilesChanged(Scorer):
    """Pass when the agent changed the files that it should, and no others.

    Names may hold ``*``; a file counts as changed where it was written anew, made or removed. Each
    of ``files`` must match a changed file, all changed files must match ``only`` (where there is
    one), and none may match ``never``. What programs write by themselves (``__pycache__``,
    ``.git``) does not count, and neither does what a variant laid over the case's files.
    """

    fixed_marks: ClassVar[bool] = True
    instant: ClassVar[bool] = True
    reads_notes: ClassVar[bool] = True

    files: str | tuple[str, ...] = ()
    only: str | tuple[str, ...] = ()
    never: str | tuple[str, ...] = ()

    @property
    def reads_files(self) -> bool:
        return True

    def score(self, ctx: ScoreContext) -> Score:
        if FILES not in ctx.attempt.notes:
            return Score.failed("nobody kept the files that the agent left", out_of=1.0)
        changed = changed_files(ctx.case, ctx.attempt)
        names = list(changed)
        wrong = [
            f"{pattern} was not changed" for pattern in listed(self.files)
            if not any(fnmatchcase(name, pattern) for name in names)
        ]  # fmt: skip
        strangers = [name for name in names if self.only and not matches(name, self.only)]
        strangers += [name for name in names if matches(name, self.never)]
        if strangers:
            shown = ", ".join(
                f"{name} ({changed[name]})" for name in dict.fromkeys(strangers[:SHOWN])
            )
            wrong.append(f"it should not have changed {shown}")
        listing = (
            ", ".join(f"{name} ({how})" for name, how in [*changed.items()][:SHOWN]) or "nothing"
        )
        reason = "; ".join(wrong) if wrong else f"changed: {listing}"
        return Score(
            points=float(not wrong), out_of=1.0, reason=reason, detail={"changed": changed}
        )

    def problems(self) -> Iterable[str]:
        if not (self.files or self.only or self.never):
            yield "one of files, only and never says which files are meant"


def changed_files(case: Case, attempt: Attempt) -> dict[str, str]:
    """Return the names of changed files, each with how: changed, new or removed."""
    before = {file.name: file.digest for file in case.files}
    for one in rounds_of(attempt):
        before |= one.get(LAID) or {}
    after = {name: key for name, key in files_of(attempt).items() if name != CHANGES}
    changed: dict[str, str] = {}
    for name in sorted({*before, *after}):
        if before.get(name) == after.get(name) or matches(name, BY_THE_WAY):
            continue
        changed[name] = "new" if name not in before else "changed" if name in after else "removed"
    return changed


def listed(patterns: str | Sequence[str]) -> Sequence[str]:
    """Return one pattern, or several, as several."""
    return (patterns,) if isinstance(patterns, str) else patterns


def matches(name: str, patterns: str | Sequence[str]) -> bool:
    """Tell whether a name matches one of several patterns."""
    return any(fnmatchcase(name, pattern) for pattern in listed(patterns))
