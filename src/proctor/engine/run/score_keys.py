"""What makes the key of a score: case, criterion and answer, and all that scoring rests on.

That is the version of the scorer, or the source of one that a person wrote, the programs and files
it uses, the place where programs run, the judge and the prompt.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from proctor import registry
from proctor._moved import former
from proctor.contracts.scorer import decided_by_class
from proctor.core.attempt import CONTEXT, Attempt, brought
from proctor.core.fingerprint import case_key, digest, score_key, scoring_key
from proctor.core.rounds import scored_part
from proctor.core.suite import Case, Criterion, Json, Spec
from proctor.io import json_bytes
from proctor.io.search_paths import trusted_folders
from proctor.records import dataclass

if TYPE_CHECKING:
    from proctor.contracts.scorer import Scorer
    from proctor.engine.run.plugin_sources import PluginSource

MOST_SCORING = 1_024
"""Maximum number of cached keys of criteria as they score a case."""
MOST_BUILT = 10_000
"""Maximum number of cached scorers; a suite may have one for every case."""
_LOOKED_AT = (
    *("needs_judge", "needs_sandbox", "per_attempt"),
    *("reads_notes", "reads_usage", "reads_context"),
)
"""What a scorer says of all that its scores rest on besides the answer and the case."""


@dataclass
class ScoreKeys(ABC):
    """The keys that scores are stored under: what has the same key need not be scored again."""

    allow_import: bool = False
    language: str = "en"
    judge: Json = None
    """The identity of the judge, if there is one."""
    place: str = ""
    """The sandbox, if it provides its own languages."""
    _versions: dict[str, str] = field(default_factory=dict)
    _sources: "dict[str, PluginSource | None]" = field(default_factory=dict)
    _files: dict[tuple[str, bytes], str] = field(default_factory=dict)
    _scoring: dict[tuple[int, str, str], tuple[Case, str]] = field(default_factory=dict)
    """Keys of criteria as they score a case, by the identity of the case."""
    _keyed: tuple[Case, dict[int, tuple[Attempt, dict[str, str]]]] | None = None
    _alone: dict[tuple[str, type[Any]], str] = field(default_factory=dict)
    """The version of a scorer on which alone, besides the texts, its scores rest; else empty."""

    @abstractmethod
    def built(self, spec: Spec) -> "Scorer":
        """Return the scorer of a spec, or raise a PluginError."""

    def of(self, criterion: Criterion) -> "Scorer":
        """Return the scorer of a criterion, or raise a PluginError."""
        return self.built(criterion.scorer)

    def keys(self, case: Case, attempt: Attempt) -> dict[str, str]:
        """Return the score key of each criterion on an attempt; those of one case are cached."""
        if self._keyed is None or self._keyed[0] is not case:
            self._keyed = case, {}
        keys_by_attempt = self._keyed[1]
        if (entry := keys_by_attempt.get(id(attempt))) is None:
            entry = keys_by_attempt[id(attempt)] = attempt, self.keys_of(case, attempt)
        return entry[1]

    def keys_of(self, case: Case, attempt: Attempt) -> dict[str, str]:
        """Return the score key of each criterion on an attempt, and cache nothing."""
        own = brought(attempt) if attempt.notes or attempt.meta else {}
        has_context = bool(case.context or own.get(CONTEXT))
        keys = {}
        for criterion in case.criteria:
            scorer = self.of(criterion)
            name = criterion.scorer.name, type(scorer)
            if (version := self._alone.get(name)) is None:
                version = self._alone[name] = self._version_alone(criterion.scorer, scorer)
            if version:
                scoring = self._scoring_in(case, criterion, version)
                keys[criterion.id] = score_key(scoring, scored_part(criterion, attempt))
                continue
            keys[criterion.id] = score_key(
                self._scoring_key(case, criterion, scorer, has_context=has_context),
                scored_part(criterion, attempt),
                apart=scorer.per_attempt,
                noted=scorer.reads_notes,
                whole=self._looks_at_attempts(criterion) or scorer.reads_usage,
                brought=_brought(scorer, attempt, own) if own else None,
            )
        return keys

    def version(self, spec: Spec) -> str:
        """Return the version of a scorer, as used in keys and signatures.

        A user's scorer includes the hash of its source.
        """
        if (version := self._versions.get(spec.name)) is None:
            scorer_class = registry.find("scorer", spec.name, allow_import=self.allow_import)
            version = str(scorer_class.version)
            if (own := self._source(spec)) and own.key:
                version += f"+source {own.key[:12]}"
            self._versions[spec.name] = version
        return version

    def _named_files(self, spec: Spec, source: "PluginSource") -> str:
        key = spec_key(spec)
        if key not in self._files:
            if len(self._files) >= MOST_BUILT:
                self._files.clear()
            self._files[key] = files_of(spec, source)
        return self._files[key]

    def _looks_at_attempts(self, criterion: Criterion) -> bool:
        own = self._source(criterion.scorer)
        return own is not None and "attempt" in own.looks_at

    def _source(self, spec: Spec) -> "PluginSource | None":
        """Return the source of a user's scorer; None for Proctor's own."""
        if spec.name not in self._sources and registry.lent("scorer", spec.name) is not None:
            from proctor.engine.run.plugin_sources import LENT_SOURCE

            self._sources[spec.name] = LENT_SOURCE
        if spec.name not in self._sources:
            scorer_class = registry.find("scorer", spec.name, allow_import=self.allow_import)
            self._sources[spec.name] = scorer_source(spec.name, scorer_class)
        return self._sources[spec.name]

    def _version_alone(self, spec: Spec, scorer: "Scorer") -> str:
        """Return the version of a scorer that asks nobody, runs nothing and sees but the answer."""
        plain = decided_by_class(type(scorer), *_LOOKED_AT, "toolchain", "finishes")
        if not plain or any(getattr(scorer, flag) for flag in _LOOKED_AT) or self._source(spec):
            return ""
        return self.version(spec)

    @cached_property
    def _judge_key(self) -> str:
        return digest(self.judge)

    def _scoring_key(
        self, case: Case, criterion: Criterion, scorer: "Scorer", *, has_context: bool
    ) -> str:
        version = self.version(criterion.scorer)
        if tools := scorer.toolchain():
            version = f"{version}+{tools}"
        if self.place and scorer.needs_sandbox:
            version += f"+{self.place}"
        if own := self._source(criterion.scorer):
            version += self._named_files(criterion.scorer, own)
            if "case" in own.looks_at:
                version += f"+case {case_key(case)}"
        if scorer.needs_judge:
            prompts = scorer.context_prompt_key if has_context else scorer.prompt_key
            version += f"+{self._judge_key}+{prompts(self.language)}"
        return self._scoring_in(case, criterion, version)

    def _scoring_in(self, case: Case, criterion: Criterion, version: str) -> str:
        # Attempts at the same case share it, and come one after the other or not far apart.
        place = id(case), criterion.id, version
        if (keyed := self._scoring.get(place)) is None or keyed[0] is not case:
            if len(self._scoring) >= MOST_SCORING:
                self._scoring.clear()
            keyed = self._scoring[place] = case, scoring_key(case, criterion, version)
        return keyed[1]


def _brought(scorer: "Scorer", attempt: Attempt, own: dict[str, Json]) -> Json:
    """Return what enters a key of an attempt's own passages, unless its notes do so anyway."""
    if not scorer.reads_context:
        return None
    if not scorer.reads_notes:
        return own
    return {name: value for name, value in own.items() if not attempt.notes.get(name)}


def spec_key(spec: Spec) -> tuple[str, bytes]:
    """Return a fast key of a spec within this process."""
    return spec.name, json_bytes.dumps_small(spec.params) if spec.params else b""


def scorer_source(name: str, scorer_class: type[Any]) -> "PluginSource | None":
    """Return the source of a class outside Proctor; None for Proctor's own.

    Proctor's own scorers that it uses count by their versions.
    """
    modules = [cls.__module__ for cls in scorer_class.__mro__ if not _is_ours(cls.__module__)]
    if name in registry.BUILT_IN["scorer"] or not modules:
        return None
    if ":" in name:
        modules.append(name.partition(":")[0])
    from proctor.engine.run.plugin_sources import source_of

    source = source_of(modules)
    ours = sorted(_versions(source))
    return replace(source, key=digest(source.key, ours)) if ours else source


def files_of(spec: Spec, source: "PluginSource") -> str:
    """Return the hash of the files that the parameters of a user's scorer name.

    Files that the scorer writes, such as a log, do not count.
    """
    from proctor.engine.run.plugin_sources import named_files

    folders = trusted_folders()
    with suppress(FileNotFoundError):
        folders.insert(0, os.getcwd())
    files_hash = named_files(spec.params, folders, source.writes)
    return f"+files {files_hash[:12]}" if files_hash else ""


def _versions(source: "PluginSource") -> Iterator[str]:
    """Yield the versions of Proctor's scorers that a module may use."""
    for name, target in registry.BUILT_IN["scorer"].items():
        module, _, attribute = target.partition(":")
        old = former(module) or module
        if {module, f"{module}.{attribute}", old, f"{old}.{attribute}"} & source.ours:
            yield f"{name}-{registry.find('scorer', name).version}"


def _is_ours(module: str) -> bool:
    return module in ("builtins", "abc") or module.partition(".")[0] == "proctor"
