"""The scorers of a suite: built and checked once, with the keys their scores are stored under."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from proctor import registry
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import case_key, digest, score_key, scoring_key
from proctor.core.rounds import scored_part
from proctor.core.suite import Case, Criterion, Json, Spec, Suite
from proctor.engine.run.plugin_keys import named_files, scorer_source
from proctor.engine.run.plugin_sources import PluginSource
from proctor.errors import PluginError, Problem
from proctor.io import json_bytes

if TYPE_CHECKING:
    from proctor.contracts.dialogue import Dialogue
    from proctor.contracts.scorer import Scorer

MOST_BUILT = 1000
"""How many scorers are kept; a suite may have one of its own for every case."""


@dataclass
class Lacking:
    """Count the cases that lack something, and name the first few."""

    count: int = 0
    first: list[str] = field(default_factory=list)
    _last: str | None = None

    def add(self, case_id: str) -> None:
        """Take in a case; one that was taken in just before is not counted again."""
        if case_id == self._last:
            return
        self._last = case_id
        self.count += 1
        if len(self.first) < 3:
            self.first.append(case_id)

    def words(self) -> str:
        """Say how many cases there are, and which."""
        shown = ", ".join(self.first) + (", …" if self.count > 3 else "")
        return f"{self.count} case{'s' if self.count > 1 else ''} ({shown})"


@dataclass
class Survey:
    """Hold what one look at all criteria of a suite found."""

    problems: dict[str, Problem] = field(default_factory=dict)
    missing: dict[str, Lacking] = field(default_factory=dict)
    doubts: dict[str, Lacking] = field(default_factory=dict)
    examples: dict[tuple[bool, ...], Criterion] = field(default_factory=dict)
    specs: dict[str, Spec] = field(default_factory=dict)


@dataclass
class Scorers:
    """Hold the scorers that criteria name, each built once."""

    allow_import: bool = False
    language: str = "en"
    judge: Json = None
    """The identity of who judges, where somebody does."""
    _built: "dict[tuple[str, bytes], Scorer]" = field(default_factory=dict)
    place: str = ""
    """Where programs are run, where that has languages of its own."""
    _versions: dict[str, str] = field(default_factory=dict)
    _sources: dict[str, PluginSource | None] = field(default_factory=dict)
    _files: dict[tuple[str, bytes], str] = field(default_factory=dict)
    _surveyed: tuple[Sequence[Case], Survey] | None = None
    _keyed: tuple[Case, dict[int, tuple[Attempt, dict[str, str]]]] | None = None

    def of(self, criterion: Criterion) -> "Scorer":
        """Return the scorer of a criterion, or raise a PluginError."""
        return self.built(criterion.scorer)

    def built(self, spec: Spec) -> "Scorer":
        """Return the scorer of a spec, or raise a PluginError."""
        key = spec_key(spec)
        if (scorer := self._built.get(key)) is None:
            if len(self._built) >= MOST_BUILT:
                self._built.clear()
            scorer = registry.build("scorer", spec, allow_import=self.allow_import)
            self._built[key] = scorer
        return scorer

    def problems(self, suite: Suite) -> list[Problem]:
        """Return everything that keeps the criteria of a suite from being judged."""
        return list(self.survey(suite).problems.values())

    def need_sandbox(self, suite: Suite) -> bool:
        """Tell whether some criterion of a suite must run programs."""
        return any(self.of(c).needs_sandbox for c in self.examples(suite))

    def need_processes(self, suite: Suite) -> bool:
        """Tell whether some criterion of a suite is judged in a process of its own."""
        scorers_used = (self.of(c) for c in self.examples(suite))
        return any(
            not (scorer.instant or scorer.batches or scorer.is_async) for scorer in scorers_used
        )

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
        """Return what makes scores of some cases say less than they seem to."""
        return [
            Problem(message=f"{message}: {concerned.words()}", severity="warning")
            for message, concerned in self.survey(suite).doubts.items()
        ]

    def examples(self, suite: Suite) -> Iterable[Criterion]:
        """Return some criteria of a suite: one of each way to be judged, whatever it weighs."""
        return self.survey(suite).examples.values()

    def specs(self, suite: Suite) -> Mapping[str, Spec]:
        """Return one spec of each scorer of a suite, by name."""
        return self.survey(suite).specs

    def survey(self, suite: Suite) -> Survey:
        """Go through the criteria of a suite once, and remember what was found."""
        if self._surveyed is None or self._surveyed[0] is not suite.cases:
            surveyed = Survey()
            for case in suite.cases:
                for criterion in case.criteria:
                    self._look_at(case, criterion, surveyed)
            self._surveyed = suite.cases, surveyed
        return self._surveyed[1]

    def _look_at(self, case: Case, criterion: Criterion, surveyed: Survey) -> None:
        surveyed.specs[criterion.scorer.name] = criterion.scorer
        for message in self._wrong(criterion):
            text = f"case {case.id!r}, criterion {criterion.id!r}: {message}"
            surveyed.problems.setdefault(message, Problem(message=text, file=case.source or None))
        try:
            scorer = self.of(criterion)
        except PluginError:
            return
        kind = (
            *(scorer.needs_sandbox, scorer.needs_judge, scorer.instant, scorer.batches),
            *(scorer.finishes, scorer.is_async, criterion.weight != 0),
        )
        surveyed.examples.setdefault(kind, criterion)
        for message in scorer.missing():
            surveyed.missing.setdefault(message, Lacking()).add(case.id)
        for message in scorer.doubts(case):
            surveyed.doubts.setdefault(message, Lacking()).add(case.id)

    def keys(self, case: Case, attempt: Attempt) -> dict[str, str]:
        """Return the key of each criterion's score on an attempt; those of one case are kept."""
        if self._keyed is None or self._keyed[0] is not case:
            self._keyed = case, {}
        keys_by_attempt = self._keyed[1]
        if (entry := keys_by_attempt.get(id(attempt))) is None:
            entry = keys_by_attempt[id(attempt)] = attempt, self._made_keys(case, attempt)
        return entry[1]

    def _made_keys(self, case: Case, attempt: Attempt) -> dict[str, str]:
        return {
            criterion.id: score_key(
                self._judged(case, criterion),
                scored_part(criterion, attempt),
                apart=self.of(criterion).per_attempt,
                noted=self.of(criterion).reads_notes,
                whole=self._looks_at_attempts(criterion),
            )
            for criterion in case.criteria
        }

    def _named_files(self, spec: Spec, source: PluginSource) -> str:
        key = spec_key(spec)
        if key not in self._files:
            if len(self._files) >= MOST_BUILT:
                self._files.clear()
            self._files[key] = named_files(spec, source)
        return self._files[key]

    def _looks_at_attempts(self, criterion: Criterion) -> bool:
        own = self._source(criterion.scorer)
        return own is not None and "attempt" in own.looks_at

    def version(self, spec: Spec) -> str:
        """Return the version of a scorer, as it enters keys and signatures.

        One that a person wrote has the address of its source with it.
        """
        if (version := self._versions.get(spec.name)) is None:
            scorer_class = registry.find("scorer", spec.name, allow_import=self.allow_import)
            version = str(scorer_class.version)
            if own := self._source(spec):
                version += f"+source {own.key[:12]}"
            self._versions[spec.name] = version
        return version

    def _source(self, spec: Spec) -> PluginSource | None:
        """Return what a scorer rests on that is not one of our own; none for ours."""
        if spec.name not in self._sources:
            scorer_class = registry.find("scorer", spec.name, allow_import=self.allow_import)
            self._sources[spec.name] = scorer_source(spec.name, scorer_class)
        return self._sources[spec.name]

    @cached_property
    def _judge_key(self) -> str:
        return digest(self.judge)

    def _wrong(self, criterion: Criterion) -> Iterable[str]:
        try:
            return list(self.of(criterion).problems())
        except PluginError as error:
            return [str(error)]

    def _judged(self, case: Case, criterion: Criterion) -> str:
        version = self.version(criterion.scorer)
        scorer = self.of(criterion)
        if tools := scorer.toolchain():
            version = f"{version}+{tools}"
        if self.place and scorer.needs_sandbox:
            version += f"+{self.place}"
        if own := self._source(criterion.scorer):
            version += self._named_files(criterion.scorer, own)
            if "case" in own.looks_at:
                version += f"+case {case_key(case)}"
        if scorer.needs_judge:
            version += f"+{self._judge_key}+{scorer.prompt_key(self.language)}"
        return _judged(_Same(case), criterion.id, version)


@dataclass
class Dialogues:
    """Hold the dialogues that cases name, each built once."""

    allow_import: bool = False
    _built: "dict[tuple[str, bytes], Dialogue]" = field(default_factory=dict)

    def of(self, spec: Spec) -> "Dialogue":
        """Return the dialogue of a spec, or raise a PluginError."""
        key = spec_key(spec)
        if (dialogue := self._built.get(key)) is None:
            dialogue = registry.build("dialogue", spec, allow_import=self.allow_import)
            self._built[key] = dialogue
        return dialogue

    def needs(self, suite: Suite) -> set[str]:
        """Return the roles that the dialogues of a suite consult."""
        return {role for case in suite.cases for role in self.of(case.dialogue).consults}

    def problems(self, suite: Suite) -> list[Problem]:
        """Return what keeps cases from being put to a candidate."""
        return [
            Problem(message=f"case {case.id!r}: {text}", file=case.source or None)
            for case in suite.cases
            for text in self.of(case.dialogue).problems(case)
        ]


def spec_key(spec: Spec) -> tuple[str, bytes]:
    """Return what tells specs apart within a process, quickly."""
    return spec.name, json_bytes.dumps(spec.params) if spec.params else b""


class _Same:
    """Hold a case that is compared by identity, which is cheap, instead of content."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def __hash__(self) -> int:
        return id(self.case)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.case is self.case


@lru_cache(maxsize=1024)
def _judged(same: _Same, criterion_id: str, version: str) -> str:
    criterion = next(item for item in same.case.criteria if item.id == criterion_id)
    return scoring_key(same.case, criterion, version)
