"""What scorers that people wrote themselves add to the keys of their scores."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from proctor import registry
from proctor._moved import former
from proctor.core.fingerprint import digest
from proctor.core.suite import Spec
from proctor.engine.run import plugin_sources
from proctor.engine.run.plugin_sources import PluginSource
from proctor.io.search_paths import trusted_folders


def scorer_source(name: str, scorer_class: type[Any]) -> PluginSource | None:
    """Return what a class rests on that is not one of our own; none for ours.

    What it takes of our own scorers counts by their versions.
    """
    modules = [cls.__module__ for cls in scorer_class.__mro__ if not _is_ours(cls.__module__)]
    if name in registry.BUILT_IN["scorer"] or not modules:
        return None
    if ":" in name:
        modules.append(name.partition(":")[0])
    source = plugin_sources.source_of(modules)
    ours = sorted(_versions(source))
    return replace(source, key=digest(source.key, ours)) if ours else source


def named_files(spec: Spec, source: PluginSource) -> str:
    """Return the address of the files that the parameters of a person's own scorer name.

    What the scorer writes to, a log for example, is none.
    """
    folders = trusted_folders()
    with suppress(FileNotFoundError):
        folders.insert(0, os.getcwd())
    files_hash = plugin_sources.named_files(spec.params, folders, source.writes)
    return f"+files {files_hash[:12]}" if files_hash else ""


def _versions(source: PluginSource) -> Iterator[str]:
    """Yield the versions of our own scorers that a module may use."""
    for name, target in registry.BUILT_IN["scorer"].items():
        module, _, attribute = target.partition(":")
        old = former(module) or module
        if {module, f"{module}.{attribute}", old, f"{old}.{attribute}"} & source.ours:
            yield f"{name}-{registry.find('scorer', name).version}"


def _is_ours(module: str) -> bool:
    return module in ("builtins", "abc") or module.partition(".")[0] == "proctor"
