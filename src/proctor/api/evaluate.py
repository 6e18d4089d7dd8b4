"""``evaluate`` and ``aevaluate``: examine a candidate from Python."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Unpack, overload

from proctor.api.candidates import (
    ACandidate,
    Candidates,
    Chosen,
    answers_in_memory,
    chosen_candidates,
)
from proctor.api.cases import (
    NAME,
    AnyCases,
    is_path,
    reading_of,
    reading_on_file,
    written_plugin,
)
from proctor.api.object_specs import AnyCriteria
from proctor.api.options import EvaluateOptions, ReadOptions
from proctor.api.progress import shown_progress
from proctor.api.python_words import python_words, told_in_python
from proctor.api.results import Checked, RunResult
from proctor.api.run_file import WrittenReports, is_run_file, with_run_file
from proctor.api.several_runs import Runs
from proctor.api.stores import StorePlace
from proctor.contracts.dialect import Reading
from proctor.contracts.report import RunView
from proctor.core.cause import causes_in
from proctor.core.suite import Spec
from proctor.engine.run import evaluate as engine
from proctor.engine.run.settings import AgentVariant, RunSettings
from proctor.errors import UsageError
from proctor.io.concurrency import run_sync

if TYPE_CHECKING:
    from proctor.engine.compare.against import Against
    from proctor.engine.run.evaluate import Outcome, RunProgress
    from proctor.engine.run.gates import GateResult
    from proctor.store.store import Store as OpenStore


@overload
def evaluate(
    cases: AnyCases,
    candidate: Candidates,
    *,
    criteria: AnyCriteria | None = None,
    **options: Unpack[EvaluateOptions],
) -> Runs: ...
@overload
def evaluate(
    cases: AnyCases,
    candidate: ACandidate | None = None,
    *,
    criteria: AnyCriteria | None = None,
    **options: Unpack[EvaluateOptions],
) -> RunResult: ...
def evaluate(
    cases: AnyCases,
    candidate: ACandidate | Candidates | None = None,
    *,
    criteria: AnyCriteria | None = None,
    **options: Unpack[EvaluateOptions],
) -> RunResult | Runs:
    """Put cases to a candidate, score its answers, and return the run.

    Cases are a path, a Suite, a list of mappings (``{"ask": …, "reference": …}``) or of Cases, or a
    DataFrame. The candidate is a function of the question (sync, async or a generator; a second
    parameter gets the case), the name of a model or an agent, a Model, an Agent, or answers: a
    path, a list, a mapping or a DataFrame. ``criteria`` serve cases that have none of their own.

    All options of ``proctor run`` work under the same names. What is stored is not asked again:
    after an interruption, the same call goes on; ``fresh=True`` asks everything anew.

    What makes several runs (a list of functions, several models or prompts, a run file) returns
    all of them as Runs; ``evaluate_all`` always does.
    """
    runs = evaluate_all(cases, candidate, criteria=criteria, **options)
    return runs[0] if len(runs) == 1 else runs


def evaluate_all(
    cases: AnyCases,
    candidate: ACandidate | Candidates | None = None,
    *,
    criteria: AnyCriteria | None = None,
    **options: Unpack[EvaluateOptions],
) -> Runs:
    """Do what ``evaluate`` does, and return all runs, even if there is only one."""
    try:
        return run_sync(aevaluate_all(cases, candidate, criteria=criteria, **options))
    except KeyboardInterrupt as interrupt:
        interrupt.add_note("what was done is stored: the same call goes on from there")
        raise


@overload
async def aevaluate(
    cases: AnyCases,
    candidate: Candidates,
    *,
    criteria: AnyCriteria | None = None,
    **options: Unpack[EvaluateOptions],
) -> Runs: ...
@overload
async def aevaluate(
    cases: AnyCases,
    candidate: ACandidate | None = None,
    *,
    criteria: AnyCriteria | None = None,
    **options: Unpack[EvaluateOptions],
) -> RunResult: ...
async def aevaluate(
    cases: AnyCases,
    candidate: ACandidate | Candidates | None = None,
    *,
    criteria: AnyCriteria | None = None,
    **options: Unpack[EvaluateOptions],
) -> RunResult | Runs:
    """Do what ``evaluate`` does, in the loop that is running."""
    runs = await aevaluate_all(cases, candidate, criteria=criteria, **options)
    return runs[0] if len(runs) == 1 else runs


async def aevaluate_all(
    cases: AnyCases,
    candidate: ACandidate | Candidates | None = None,
    *,
    criteria: AnyCriteria | None = None,
    **options: Unpack[EvaluateOptions],
) -> Runs:
    """Do what ``evaluate_all`` does, in the loop that is running."""
    with told_in_python():
        return await _evaluated(cases, candidate, criteria, options)


async def _evaluated(
    cases: AnyCases,
    candidate: ACandidate | Candidates | None,
    criteria: AnyCriteria | None,
    options: EvaluateOptions,
) -> Runs:
    merged, reports = options, WrittenReports()
    if is_path(cases) and is_run_file(Path(cases)):
        cases, candidate, merged, reports = with_run_file(Path(cases), candidate, options)
    request = EvaluationRequest.of(cases, candidate, criteria, ReadOptions.of(merged))
    store = StorePlace(request.options.store_url)
    with (
        shown_progress(request.options.get("progress")) as (progress, say),
        store.opened(parts=request.options.get("parts", "")) as opened,
    ):
        notices: list[str] = []

        def notice(text: str) -> None:
            notices.append(python_words(text))
            say(notices[-1])

        outcomes = await request.carried_out(opened, progress, notice)
        runs = [
            RunResult.of(
                outcome,
                store,
                opened,
                notices=notices,
                compared=request.compared(opened, outcome.view),
            )
            for outcome in outcomes
        ]
        reports.write([outcome.view for outcome in outcomes])
        return Runs(runs)


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """What somebody wants evaluated, understood as far as that is possible without a store."""

    cases: Any
    criteria: Any
    candidates: list[Chosen]
    options: ReadOptions

    @classmethod
    def of(
        cls, cases: Any, candidate: Any, criteria: Any, options: ReadOptions
    ) -> "EvaluationRequest":
        """Understand the candidates."""
        several = [
            one
            for who in chosen_candidates(candidate, options)
            for one in _varied(_completed(who, options), options.get("variants"))
        ]
        if all(who.is_nobody for who in several) and not is_path(cases):
            raise UsageError(
                "there is no candidate (fix: evaluate(cases, function), or the name of a model such"
                " as 'openai:NAME', an agent, or answers)"
            )
        return cls(cases=cases, criteria=criteria, candidates=several, options=options)

    async def carried_out(
        self,
        store: "OpenStore",
        progress: "Callable[[RunProgress], None]",
        notice: Callable[[str], None],
    ) -> "list[Outcome]":
        """Evaluate, with stored work reused."""
        for who in self.candidates:
            if who.unknown and not self.options.get("fresh"):
                what = ", ".join(who.unknown[:3])
                notice(
                    f"the function uses {what}, whose state cannot be read: stored attempts are"
                    " reused only to finish an interrupted run"
                )
        reading = None
        path = Path(os.fspath(self.cases)) if is_path(self.cases) else Path(NAME)
        if not is_path(self.cases) or not self._is_as_on_file:
            reading = self.reading()
            path = Path(reading.suite.name)
        several = [
            _with_earlier(self.settings(who, path, reading), store) for who in self.candidates
        ]
        if len(several) == 1:
            return await engine.evaluate_all(several[0], store, progress, notice)
        from proctor.engine.run.side_by_side import evaluate_side_by_side

        return await evaluate_side_by_side(several, store, progress, notice)

    def compared(self, store: "OpenStore", view: RunView) -> Checked:
        """Check the gates of a run, and compare it with an earlier one, where that is wanted."""
        gates, margin = self.options.gates, self.options.get("margin")
        if not self.options.against or self.options.stop is not None:
            return Checked(gates=_gates(store, view, gates))
        from proctor.engine.compare.against import compare_against, taken_from_file

        reference = taken_from_file(store, self.options.against)
        share = None if margin is None else margin / 100
        earlier = compare_against(store, view, reference, gates=gates, margin=share)
        return Checked(gates=_gates(store, view, gates, earlier), against=earlier)

    @property
    def _is_as_on_file(self) -> bool:
        """Tell whether the engine can read everything itself."""
        return (
            self.criteria is None
            and all(who.answers_in_memory is None for who in self.candidates)
            and self.options.get("measures") is None
        )

    def reading(self) -> Reading:
        """Read the cases."""
        if not is_path(self.cases):
            name, columns = self.options.get("suite", ""), self.options.get("columns")
            reading = reading_of(self.cases, self.criteria, name, columns)
        else:
            settings = self.options.suite(Path(os.fspath(self.cases)))
            reading = reading_on_file(settings, self.criteria)
        if (measures := self.options.get("measures")) is not None:
            suite = replace(reading.suite, measures=_measures(measures))
            reading = replace(reading, suite=suite)
        return reading

    def settings(self, who: Chosen, path: Path, reading: Reading | None) -> RunSettings:
        """Return the settings of the run of a candidate."""
        options = self.options
        if (name := options.get("name")) and len(self.candidates) > 1:
            raise UsageError(f"name={name!r} is for one run, and there are several candidates")
        answers = None
        if who.answers_in_memory is not None and reading is not None:
            answers = answers_in_memory(
                who.answers_in_memory, reading.suite, options.get("name", "")
            )
        again = options.get("again", "")
        causes = causes_in(again)
        fresh = bool(options.get("fresh", False)) and (who.agent or who.model) is not None
        return RunSettings(
            suite=replace(options.suite(path), in_memory=reading),
            answers=who.answers,
            answers_in_memory=answers,
            model=who.model,
            agent=who.agent,
            variant=who.variant,
            proxy=options.choice("proxy"),
            panel=options.panel,
            simulator=options.choice("simulator"),
            calls=options.calls,
            attempts=options.get("attempts"),
            repeat_label=token_hex(4) if fresh else again if not causes else "",
            again_causes=causes,
            unknown_candidate=bool(who.unknown) and not fresh and (not again or bool(causes)),
            name=options.get("name", ""),
            prompts=options.prompts,
            executor=options.executor,
            sandbox=options.sandbox,
            interval=options.get("interval", "bounded"),
            gates=options.gates,
            against=options.against,
            stop=options.stop,
            bulk=options.get("bulk"),
            max_unscored=options.max_unscored,
        )


def _completed(who: Chosen, options: ReadOptions) -> Chosen:
    """Return a candidate with the headers and the parameters that options give it."""
    if header := options.get("header"):
        who = _with_headers(who, header)
    if who.agent is not None and (more := options.get("agent_option")):
        agent = Spec(name=who.agent.name, params={**who.agent.params, **more})
        who = replace(who, agent=agent)
    return who


def _varied(who: Chosen, variants: Any) -> list[Chosen]:
    """Return an agent in each of its variants."""
    if not variants:
        return [who]
    if who.agent is None:
        raise UsageError("variants are of an agent, and this candidate is none")
    if isinstance(variants, Mapping):
        variants = [AgentVariant(name=name, params=params) for name, params in variants.items()]
    return [replace(who, agent=one.of(who.agent), variant=one) for one in variants]


def _with_earlier(settings: RunSettings, store: "OpenStore") -> RunSettings:
    """Import the run to compare with, where it is a file."""
    if not settings.against:
        return settings
    from proctor.engine.compare.against import taken_from_file

    earlier = taken_from_file(store, settings.against)
    stop = settings.stop
    if stop is not None and stop.against:
        stop = replace(stop, against=earlier)
    return replace(settings, against=earlier, stop=stop)


def _gates(
    store: "OpenStore", view: RunView, gates: Sequence[str], earlier: "Against | None" = None
) -> "tuple[GateResult, ...]":
    """Check the gates of a run, and store what came of them for whoever pins a baseline."""
    if not gates:
        return ()
    from proctor.engine.run.gates import gate_results, note_gates

    compared = () if earlier is None else (earlier.gate_names, earlier.refused)
    results = gate_results(gates, view.summary, *compared)
    note_gates(store, view.run.id, results)
    return tuple(results)


def _with_headers(who: Chosen, headers: Any) -> Chosen:
    if who.model is None:
        raise UsageError("header goes along with a model that is named, as in 'openai:NAME@URL'")
    from proctor.core.access import Access, Credential

    sent = Credential(name="header", headers={str(k): str(v) for k, v in dict(headers).items()})
    return replace(who, model=replace(who.model, access=Access(credentials=(sent,))))


def _measures(measures: Any) -> tuple[Spec, ...]:
    """Read measures by name, as mappings or as objects."""
    from proctor.api.cases import dialect

    several = list(measures) if isinstance(measures, list | tuple | set) else [measures]
    data = {
        "measures": [written_plugin("measure", one) for one in several],
        "cases": [{"id": "probe", "ask": "probe", "references": "probe"}],
    }
    return dialect().read_data(data, "measures").suite.measures
