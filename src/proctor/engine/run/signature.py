"""The signature of a run: every choice that could move its numbers, with what servers refused."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from proctor import registry
from proctor.core.fingerprint import digest
from proctor.core.run import RESOURCES, SCORERS, Run, Signature, Summary
from proctor.core.suite import VARIANT, Json, Spec, Suite
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.settings import short_name
from proctor.errors import PluginError, StoreError
from proctor.store.store import Store
from proctor.version import __version__

if TYPE_CHECKING:
    from proctor.contracts.dialogue import Dialogue


Refused = Mapping[str, Mapping[str, str]]
"""By model, each rejected field, with its replacement, if any."""

KEPT_AS = "refused"


def refused_before(store: Store, run: Run) -> Refused:
    """Return the rejected settings of earlier parts of the same run."""
    with suppress(StoreError):
        stored_run = store.runs.get(run.id)
        if stored_run.id == run.id:
            return refused_in(stored_run)
    return {}


def refused_in(run: Run) -> Refused:
    """Return the rejected settings of a run."""
    refused: Refused = run.settings.get(KEPT_AS, {})
    return refused


def refused_for_others(store: Store, run: Run, labels: Collection[str]) -> Refused:
    """Return the rejected settings of the runs whose stored results this one reuses."""
    if not labels:
        return {}
    refused = _joined(refused_in(other) for other in store.runs.sharing(run.id, KEPT_AS))
    return {label: fields for label, fields in refused.items() if label in labels}


def with_refused(run: Run, *parts: Refused) -> Run:
    """Add the rejected settings of this process, an earlier one or another run to a run."""
    refused = _joined(parts)
    return replace(run, settings={**run.settings, KEPT_AS: refused}) if refused else run


def _joined(parts: Iterable[Refused]) -> Refused:
    joined: dict[str, dict[str, str]] = {}
    for part in parts:
        for label, fields in part.items():
            if fields:
                joined.setdefault(label, {}).update(fields)
    return dict(sorted(joined.items()))


def refused_words(refused: Refused) -> str:
    """Format rejected settings: ``openai:m max_tokens>max_completion_tokens+temperature``."""
    return ",".join(
        f"{label} " + "+".join(f"{n}>{fields[n]}" if fields[n] else n for n in sorted(fields))
        for label, fields in sorted(refused.items())
        if fields
    )


MOST_SHOWN = 60
"""Maximum length of a toolchain's description in a signature; a longer one is hashed."""


def signature(run: Run, suite: Suite, summary: Summary, scorers: Scorers) -> Signature:
    """Record every choice that could change the numbers."""
    specs = scorers.specs(suite)
    totals = summary.totals
    parts: dict[str, Json] = {
        "suite": f"{suite.name}@{run.suite_key[:8]}",
        "dialect": suite.dialect,
        VARIANT: suite.variant,
        SCORERS: {name: _version(scorers, specs[name]) for name in sorted(specs)},
        **_model_parts(run, suite, scorers),
        "reduce": suite.reduce,
        "attempts": totals.attempts,
        "n": totals.cases,
        "unanswered": totals.unanswered or "",
        "unscored": totals.unscored or "",
        "ci": f"{run.settings.get('interval', 'bounded')}95",
        "version": __version__,
    }
    return Signature.of(parts)


def _model_parts(run: Run, suite: Suite, scorers: Scorers) -> dict[str, Json]:
    """Return the parts about models: judges, panel, simulator and prompts."""
    settings = run.settings
    judges = [short_name(judge["model"]) for judge in settings.get("judges", ())]
    if settings.get("repeats"):
        judges.append(f"x{settings['repeats']}")
    drawn = run.candidate.params.get("sampling") or {}
    simulator = settings.get("simulator") or {}
    return {
        "sampling": ",".join(f"{name}={drawn[name]}" for name in sorted(drawn)),
        "judge": ",".join(judges),
        "panel": ",".join(filter(None, (settings.get("combine", ""), _tie(settings)))),
        "prompt": _prompt(run),
        "simulator": short_name(simulator.get("model", "")),
        "prompts": _prompts(suite, scorers) if judges else "",
        "refused": refused_words(refused_in(run)),
        RESOURCES: _resources(settings),
    }


def _resources(settings: Mapping[str, Json]) -> str:
    if RESOURCES not in settings:
        return ""
    from proctor.engine.run.resources import resources_text

    return resources_text(settings)


def _prompt(run: Run) -> str:
    if "prompt" not in run.candidate.params:
        return ""
    from proctor.core.prompt import prompt_key, prompt_of

    prompt = prompt_of(run.candidate)
    if prompt is None:
        return ""
    return f"{prompt.name.replace('|', '/')}@{prompt_key(prompt)[:8]}"


def _tie(settings: Mapping[str, Json]) -> str:
    return f"tie={settings['tie']}" if settings.get("tie") else ""


def _prompts(suite: Suite, scorers: Scorers) -> str:
    """Hash the prompts of all judges and simulated users of a suite."""
    prompt_keys: set[str] = set()
    previous_dialogue: Spec | None = None
    for case in suite.cases:
        for criterion in case.criteria:
            with suppress(PluginError):
                scorer = scorers.of(criterion)
                key = scorer.context_prompt_key if case.context else scorer.prompt_key
                prompt_keys.add(key(suite.language))
        if case.dialogue != previous_dialogue:
            previous_dialogue = case.dialogue
            with suppress(PluginError):
                dialogue: Dialogue = registry.build(
                    "dialogue", previous_dialogue, allow_import=scorers.allow_import
                )
                prompt_keys.add(dialogue.prompt_key(suite.language))
    return digest(sorted(prompt_keys - {""}))[:8] if prompt_keys - {""} else ""


def _version(scorers: Scorers, spec: Spec) -> str:
    """Return a scorer's version with its other dependencies.

    An imported run may use a scorer that is not installed.
    """
    try:
        version = scorers.version(spec)
        tools = scorers.built(spec).toolchain()
    except PluginError:
        return "?"
    variant = f"+{spec.params[VARIANT]}" if spec.params.get(VARIANT) else ""
    short = tools if len(tools) <= MOST_SHOWN else digest(tools)[:8]
    return f"{version}{variant}{f'+{short}' if short else ''}".replace("|", "/").replace(",", ";")
