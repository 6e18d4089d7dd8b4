"""Names of runs: a name for a new one, and the differences of runs with one name."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count, islice
from os import urandom
from pathlib import Path

from proctor.core.fingerprint import digest
from proctor.core.names import place_of
from proctor.core.run import REGRADED, RESOURCES, Run
from proctor.core.suite import VARIANT, Json, Spec, Suite
from proctor.engine.run.settings import RunSettings, short_name
from proctor.store.store import Store

MOST_TRIES = 1000
MOST_PLACES = 4
"""How many names a run of these settings may have, besides numbered ones."""
_CHANGED: Mapping[str, str] = {
    "again": "another repetition",
    "attempts": "another number of attempts",
    "combine": "another way to fold verdicts",
    VARIANT: f"another {VARIANT} mode",
    "interval": "another interval",
    "judges": "another judge",
    "limit": "other cases",
    "options": "other options of the format",
    "proxy": "another proxy",
    "repeats": "another number of verdicts",
    "simulator": "another simulator",
    "tie": "another --tie",
    "where": "other cases",
}


def named_run(settings: RunSettings, suite: Suite, key: str, store: Store) -> Run:
    """Return the run of some settings: the stored one, or a new one.

    A candidate at another address, or answers elsewhere, get another name if the short name is
    taken, unless the user chose the name. A run that is compared with an earlier one is never that
    one, however alike they are.
    """
    base = _default_name(settings, suite)
    names = [base] if settings.name else [*islice(_names(base, settings, store), MOST_TRIES)]
    if settings.against:
        names = _beside_earlier(names, settings, suite, key, store)
    runs = [_run(settings, suite, key, name) for name in names[:MOST_PLACES]]
    for run in runs:
        if (stored_run := store.runs.find(run.id)) is not None:
            return _as_before(run, stored_run)
    for name in names:
        others = store.runs.named(name)
        if settings.name or all(_same_place(settings.candidate, run.candidate) for run in others):
            break
    run = _run(settings, suite, key, name)
    if (stored_run := store.runs.find(run.id)) is not None:
        return _as_before(run, stored_run)
    return _after_earlier(run, others)


def _beside_earlier(
    names: list[str], settings: RunSettings, suite: Suite, key: str, store: Store
) -> list[str]:
    """Leave out the name by which a run would replace the one that it is compared with."""
    from proctor.engine.compare.baselines import earlier_run

    earlier = earlier_run(store, settings.against, suite.name)
    if earlier is None or earlier.name not in names:
        return names
    if _run(settings, suite, key, earlier.name).id != earlier.id:
        return names
    return [name for name in names if name != earlier.name] or [f"{earlier.name}-2"]


def open_label(settings: RunSettings, suite: Suite, key: str, store: Store) -> str:
    """Return the label under which an interrupted run of the same is finished, or a new one."""
    name = _default_name(settings, suite)
    wanted = settings.stored() | {"again": ""}
    for run in store.runs.named(name):
        same = (run.suite_key, run.candidate) == (key, settings.candidate)
        had = {name: value for name, value in run.settings.items() if name != RESOURCES}
        if same and run.status.is_unfinished and {**had, "again": ""} == wanted:
            return str(run.settings.get("again", ""))
    return urandom(4).hex()


def namesake_notice(run: Run, store: Store) -> str:
    """Return a notice of other runs with the name of a new one; empty if there are none."""
    others = [other for other in store.runs.named(run.name) if other.id != run.id]
    if not others or store.runs.find(run.id) is not None:
        return ""
    earlier = next((other for other in others if other.id == run.regraded), others[0])
    differs = " and ".join(differences(run, earlier)) or "other settings"
    which = f"{earlier.id} of {moment(earlier)}"
    if run.regraded == earlier.id:
        return (
            f"{run.name!r} is also the name of the run {which}: this one is its regrading with"
            f" {differs}; by its name you now get this one, {run.id}"
        )
    return (
        f"{run.name!r} is also the name of the run {which}, which has {differs}; by its name you"
        f" now get this one, {run.id}"
    )


def which_notice(reference: str, store: Store) -> str:
    """Return a notice which run an ambiguous name means; empty if it is unique."""
    namesakes = store.runs.named(reference)
    if len(namesakes) < 2 or store.runs.find(reference) is not None:
        return ""
    newest, *others = namesakes
    other_runs = "; ".join(
        f"{run.id} of {moment(run)} ({' and '.join(differences(run, newest)) or 'as it'})"
        for run in others[:3]
    )
    more = f"; and {len(others) - 3} more" if len(others) > 3 else ""
    return (
        f"{len(namesakes)} runs are called {reference!r}: this is the newest, {newest.id} of"
        f" {moment(newest)}; by their ids you get the others: {other_runs}{more}"
    )


def differences(run: Run, other: Run) -> list[str]:
    """Describe how a run differs from another of its name."""
    differing = []
    if run.suite != other.suite:
        differing.append("another suite")
    elif run.suite_key != other.suite_key and _same_choice(run, other):
        differing.append("another edition of the suite")
    differing += _candidates_differ(run.candidate, other.candidate)
    for name, words in _CHANGED.items():
        if run.settings.get(name) != other.settings.get(name):
            differing.append(words)
    return list(dict.fromkeys(differing))


def _same_choice(run: Run, other: Run) -> bool:
    """Tell whether two runs use the same part of a suite, so that their keys are comparable."""
    return all(run.settings.get(name) == other.settings.get(name) for name in ("limit", "where"))


def moment(run: Run) -> str:
    """Format the start of a run."""
    return datetime.fromtimestamp(run.started, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _run(settings: RunSettings, suite: Suite, key: str, name: str) -> Run:
    stored_settings: Mapping[str, Json] = settings.stored()
    return Run(
        id=digest("run", key, settings.candidate, _telling_apart(stored_settings), name)[:12],
        name=name,
        suite=suite.name,
        suite_key=key,
        candidate=settings.candidate,
        settings=stored_settings,
        started=time.time(),
    )


def _telling_apart(settings: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the settings that identify a run; runs from before the bounded interval resume."""
    return {**settings, "interval": "t"} if settings.get("interval") == "bounded" else settings


def _as_before(run: Run, stored_run: Run) -> Run:
    """Keep the regraded mark of a resumed run."""
    return run if stored_run.regraded is None else _regraded(run, stored_run.regraded)


def _after_earlier(run: Run, others: Iterable[Run]) -> Run:
    """Record the run of an earlier edition of the suite, preferably with no other difference."""
    earlier = [
        other
        for other in others
        if (other.candidate, other.suite) == (run.candidate, run.suite)
        and other.suite_key != run.suite_key
        and _same_choice(run, other)
        and not other.imported
    ]
    if not earlier:
        return run
    return _regraded(run, min(earlier, key=lambda other: len(differences(run, other))).id)


def _regraded(run: Run, earlier: str) -> Run:
    return replace(run, settings={**run.settings, REGRADED: earlier})


def _default_name(settings: RunSettings, suite: Suite) -> str:
    return settings.name or f"{suite.name}-{settings.candidate_name}"


def _names(base: str, settings: RunSettings, store: Store) -> Iterator[str]:
    """Yield the short name, ones with the candidate's location, and then numbered ones.

    Candidates that one command told apart begin with the name that does so.
    """
    candidate, distinction = _resolved(settings.candidate), settings.distinction
    if distinction:
        yield f"{base}{distinction}"
    yield base
    places = [place_of(candidate)]
    if candidate.name == "model":
        places.append(place_of(candidate, whole=True))
        # The host alone would not say which of two addresses of it is meant.
        if any(place_of(run.candidate) == places[0] for run in store.runs.named(base)):
            places.reverse()
    yield from (
        f"{base}{place}" for place in dict.fromkeys(places) if place and place != distinction
    )
    yield from (f"{base}{places[0]}-{number}" for number in count(2))


def _resolved(candidate: Spec) -> Spec:
    """Return a candidate whose answers are named by their whole path."""
    if candidate.name != "recorded":
        return candidate
    path = str(Path(str(candidate.params.get("answers", ""))).resolve())
    return replace(candidate, params={**candidate.params, "answers": path})


def _same_place(candidate: Spec, other: Spec) -> bool:
    """Tell whether two candidates of one short name have the same location."""
    if candidate.name != other.name:
        return True
    if candidate.name == "model":
        mine, its = str(candidate.params.get("model")), str(other.params.get("model"))
        return mine == its or short_name(mine) != short_name(its)
    if candidate.name == "recorded":
        files = [Path(str(one.params.get("answers"))).resolve() for one in (candidate, other)]
        return files[0] == files[1]
    return True


def _candidates_differ(one: Spec, two: Spec) -> Iterator[str]:
    if one == two:
        return
    if one.name != two.name:
        yield "a candidate of another kind"
    elif one.name == "model":
        mine, its = str(one.params.get("model")), str(two.params.get("model"))
        if short_name(mine) != short_name(its):
            yield "another model"
        elif mine != its:
            yield "another address"
        for name in ("sampling", "system", "suffix", "prompt"):
            if one.params.get(name) != two.params.get(name):
                words = {"sampling": "other sampling", "prompt": "another prompt"}
                yield words.get(name, "another prompt around the cases")
    elif one.name == "recorded":
        yield f"other answers ({one.params.get('answers')})"
    else:
        yield "another candidate, or other options of it"
