"""The scorers and dialogues that a suite names, each built once and checked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING

from proctor import registry
from proctor.contracts.scorer import decided_by_class
from proctor.core.suite import Case, Criterion, Spec, Suite
from proctor.engine.run.score_keys import MOST_BUILT, ScoreKeys, spec_key
from proctor.errors import PluginError, Problem
from proctor.io.concurrency import tallied
from proctor.records import dataclass

if TYPE_CHECKING:
    from proctor.contracts.dialogue import Dialogue
    from proctor.contracts.scorer import Scorer


@dataclass
class Lacking:
    """Number of cases that lack something, and the first few ids."""

    count: int = 0
    first: list[str] = field(default_factory=list)
    _last: str | None = None

    def add(self, case_id: str) -> None:
        """Add a case; one that was just added is not counted again."""
        if case_id == self._last:
            return
        self._last = case_id
        self.count += 1
        if len(self.first) < 3:
            self.first.append(case_id)

    def words(self) -> str:
        """Describe how many cases there are, and which."""
        shown = ", ".join(self.first) + (", …" if self.count > 3 else "")
        return f"{self.count} case{'s' if self.count > 1 else ''} ({shown})"


@dataclass
class Survey:
    """Findings of one pass over all criteria of a suite."""

    problems: dict[str, Problem] = field(default_factory=dict)
    missing: dict[str, Lacking] = field(default_factory=dict)
    doubts: dict[str, Lacking] = field(default_factory=dict)
    examples: dict[tuple[bool, ...], Criterion] = field(default_factory=dict)
    specs: dict[str, Spec] = field(default_factory=dict)
    in_processes: int = 0
    """Criteria that are scored in separate processes."""
    seen: "set[tuple[str, type[Scorer], bool]]" = field(default_factory=set)
    """Kinds of criteria of which all are alike, and of which one was examined."""


@dataclass
class Scorers(ScoreKeys):
    """The scorers that criteria name, each built once."""

    _built: "dict[tuple[str, bytes], Scorer]" = field(default_factory=dict)
    _of_spec: "dict[int, tuple[Spec, Scorer]]" = field(default_factory=dict)
    """The scorers of specs that were asked for last, by the identity of the spec."""
    _surveyed: tuple[Sequence[Case], Survey] | None = None

    def of(self, criterion: Criterion) -> "Scorer":
        # Asked several times for each case: what was built last is found without another call.
        entry = self._of_spec.get(id(spec := criterion.scorer))
        return entry[1] if entry is not None and entry[0] is spec else self.built(spec)

    def built(self, spec: Spec) -> "Scorer":
        """Return the scorer of a spec, or raise a PluginError."""
        if (entry := self._of_spec.get(id(spec))) is not None and entry[0] is spec:
            return entry[1]
        if (scorer := registry.shared_scorer(spec)) is None:
            key = spec_key(spec)
            if (scorer := self._built.get(key)) is None:
                if len(self._built) >= MOST_BUILT:
                    self._built.clear()
                scorer = registry.build("scorer", spec, allow_import=self.allow_import)
                self._built[key] = scorer
        if len(self._of_spec) >= MOST_BUILT:
            self._of_spec.clear()
        self._of_spec[id(spec)] = spec, scorer
        return scorer

    def is_lent(self, spec: Spec) -> bool:
        """Tell whether a scorer is an object of the calling program."""
        return registry.lent("scorer", spec.name) is not None

    def problems(self, suite: Suite) -> list[Problem]:
        """Return everything that prevents scoring the criteria of a suite."""
        return list(self.survey(suite).problems.values())

    def need_sandbox(self, suite: Suite) -> bool:
        """Tell whether some criterion of a suite must run programs."""
        return any(self.of(c).needs_sandbox for c in self.examples(suite))

    def in_processes(self, suite: Suite) -> int:
        """Return how many criteria of a suite are scored in separate processes."""
        return self.survey(suite).in_processes

    def need_judge(self, suite: Suite, *, counting: bool = False) -> bool:
        """Tell whether some criterion of a suite asks a judge, or some that counts."""
        return any(
            self.of(c).needs_judge and (c.weight != 0 or not counting) for c in self.examples(suite)
        )

    def missing(self, suite: Suite) -> list[Problem]:
        """Return what this machine lacks; the criteria concerned will be unscored."""
        return [
            Problem(message=f"{message}: {lacking.words()} will be unscored", severity="warning")
            for message, lacking in self.survey(suite).missing.items()
        ]

    def doubts(self, suite: Suite) -> list[Problem]:
        """Return reasons to doubt scores of some cases."""
        return [
            Problem(message=f"{message}: {concerned.words()}", severity="warning")
            for message, concerned in self.survey(suite).doubts.items()
        ]

    def examples(self, suite: Suite) -> Iterable[Criterion]:
        """Return sample criteria of a suite: one of each kind of scoring."""
        return self.survey(suite).examples.values()

    def specs(self, suite: Suite) -> Mapping[str, Spec]:
        """Return one spec of each scorer of a suite, by name."""
        return self.survey(suite).specs

    def survey(self, suite: Suite) -> Survey:
        """Examine all criteria of a suite once, and cache the findings."""
        if self._surveyed is None or self._surveyed[0] is not suite.cases:
            surveyed = Survey()
            for case in tallied("check", suite.cases, len(suite.cases)):
                self.look_at(case, surveyed)
            self._surveyed = suite.cases, surveyed
        return self._surveyed[1]

    def know(self, cases: Sequence[Case], survey: Survey) -> None:
        """Take findings on the cases of a suite that were made elsewhere."""
        self._surveyed = cases, survey

    def look_at(self, case: Case, surveyed: Survey) -> None:
        """Examine the criteria of one case."""
        for criterion in case.criteria:
            self._look_at(case, criterion, surveyed)

    def _look_at(self, case: Case, criterion: Criterion, surveyed: Survey) -> None:
        surveyed.specs[criterion.scorer.name] = criterion.scorer
        scorer = None
        try:
            scorer = self.of(criterion)
            alike = criterion.scorer.name, type(scorer), criterion.weight != 0
            if alike in surveyed.seen:
                return
            wrong = list(scorer.problems())
        except PluginError as error:
            wrong = [str(error)]
        for message in wrong:
            text = f"case {case.id!r}, criterion {criterion.id!r}: {message}"
            surveyed.problems.setdefault(message, Problem(message=text, file=case.source or None))
        if scorer is not None:
            self._examine(case, criterion, scorer, surveyed)

    def _examine(
        self, case: Case, criterion: Criterion, scorer: "Scorer", surveyed: Survey
    ) -> None:
        """Note what a scorer needs, lacks and doubts."""
        kind = (*_flags_of(scorer), criterion.weight != 0)
        if kind not in surveyed.examples:
            surveyed.examples[kind] = criterion
        *_, is_instant, batches, finishes, is_async, _ = kind
        elsewhere = finishes or not (is_instant or batches)
        if not is_async and elsewhere and not self.is_lent(criterion.scorer):
            surveyed.in_processes += 1
        if _says_nothing(type(scorer)):
            if not elsewhere and decided_by_class(type(scorer), "problems", *_FLAGS, "instant"):
                surveyed.seen.add((criterion.scorer.name, type(scorer), criterion.weight != 0))
            return
        for message in scorer.missing():
            surveyed.missing.setdefault(message, Lacking()).add(case.id)
        for message in scorer.doubts(case):
            surveyed.doubts.setdefault(message, Lacking()).add(case.id)


_FLAGS = ("needs_sandbox", "needs_judge", "is_instant", "batches", "finishes", "is_async")
_get_flags = attrgetter(*_FLAGS)
_CLASS_FLAGS: "dict[type[Scorer], tuple[bool, ...]]" = {}
"""The flags of the scorers of a class, if all of them have the same."""


def _flags_of(scorer: "Scorer") -> tuple[bool, ...]:
    """Return what decides how a scorer is treated."""
    if (flags := _CLASS_FLAGS.get(type(scorer))) is None:
        flags = _get_flags(scorer)
        if decided_by_class(type(scorer), *_FLAGS, "instant"):
            _CLASS_FLAGS[type(scorer)] = flags
    return flags


@cache
def _says_nothing(kind: "type[Scorer]") -> bool:
    """Tell whether scorers of a class lack nothing, and doubt no score."""
    return decided_by_class(kind, "missing", "doubts")


@dataclass
class Dialogues:
    """The dialogues that cases name, each built once."""

    allow_import: bool = False
    _built: "dict[tuple[str, bytes], Dialogue]" = field(default_factory=dict)
    _last: "tuple[Spec, Dialogue] | None" = None
    """What was asked for last: most suites have one dialogue, and are asked about each case."""

    def of(self, spec: Spec) -> "Dialogue":
        """Return the dialogue of a spec, or raise a PluginError."""
        if self._last is not None and self._last[0] is spec:
            return self._last[1]
        key = spec_key(spec)
        if (dialogue := self._built.get(key)) is None:
            dialogue = registry.build("dialogue", spec, allow_import=self.allow_import)
            self._built[key] = dialogue
        self._last = spec, dialogue
        return dialogue

    def needs(self, suite: Suite) -> set[str]:
        """Return the roles that the dialogues of a suite consult."""
        return {role for case in suite.cases for role in self.of(case.dialogue).consults}

    def need_sandbox(self, suite: Suite) -> bool:
        """Tell whether some dialogue of a suite must run programs."""
        return any(self.of(case.dialogue).needs_sandbox for case in suite.cases)

    def problems(self, suite: Suite) -> list[Problem]:
        """Return what prevents running the dialogues of cases."""
        return [
            Problem(message=f"case {case.id!r}: {text}", file=case.source or None)
            for case in suite.cases
            for text in self.of(case.dialogue).problems(case)
        ]
