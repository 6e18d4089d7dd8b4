"""``proctor colossal``: ColossalAI's evaluation by the flags of its eval.py, for old scripts."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.listed_options import ListedOptions
from proctor.cli.options import (
    call_options,
    call_settings,
    json_option,
    panel_options,
    run_settings,
    store_option,
)
from proctor.contracts.model import ModelChoice
from proctor.core.access import Access, Credential
from proctor.core.names import parse_model

if TYPE_CHECKING:
    from proctor.core.suite import Suite
    from proctor.engine.run.evaluate import Outcome
    from proctor.engine.run.settings import RunSettings
    from proctor.store.store import Store

RATER, REFEREE = "openai:gpt-3.5-turbo", "openai:gpt-4"
"""Who judges in the original where nobody is named: ratings, and battles."""
_GONE = "text-davinci-003"
_ADDRESS = re.compile(r"@(?=https?://)")
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(cls=ListedOptions)
@click.option("--config_file", type=_FILE, help="The config: language, categories, metrics.")
@click.option(
    "--battle_prompt_file", type=_FILE, help="The prompt of a battle [default: Proctor's own]."
)
@click.option(
    "--gpt_evaluation_prompt_file",
    type=_FILE,
    help="The prompts for ratings [default: Proctor's own].",
)
@click.option("--target_file", type=_FILE, help="The target answers.")
@click.option(
    "--answer_file_list", multiple=True, type=_FILE, metavar="FILE...", help="The answers."
)
@click.option(
    "--model_name_list",
    multiple=True,
    metavar="NAME...",
    help="The models' names, one for each file [default: the files' names].",
)
@click.option(
    "--gpt_model",
    metavar="NAME",
    help="The model that judges, as --judge openai:NAME, where no --judge is.",
)
@click.option("--gpt_with_reference", is_flag=True, help="Show the judge the target answers.")
@click.option(
    "--save_path",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Write the original's result folders below this one.",
)
@click.option(
    "--openai_key",
    metavar="KEY",
    help="The judge's key; better in the environment, as OPENAI_API_KEY. It is not stored.",
)
@click.option(
    "--logprobs/--no-logprobs",
    default=None,
    help="Whether ratings come from log-probabilities [default: where the server gives them].",
)
@click.option("--evaluate", is_flag=True, help="With several models, evaluate each as well.")
@click.option("--one-order", is_flag=True, help="In a battle, show answers in one order only.")
@click.option("--fill-targets", metavar="M", help="Let this model write missing target outputs.")
@click.option("--out", type=_FILE, help="The file for --fill-targets.")
@click.option("--compat", type=click.Choice(["original"]), help="As the original's code does it.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N questions.")
@click.option("--cases", is_flag=True, help="Show every question as well.")
def colossal(**options: Any) -> int:
    """Rate the answers of one model, or let several models battle.

    One answer file is scored by what the config says of each category. Two or more are compared by
    a judge, in both orders. Numbers are printed and stored, and the original's files are written
    below --save_path.

    \b
    Example:
      proctor colossal --config_file config_en.json --target_file targets.json
          --answer_file_list answers.json --model_name_list mine --judge openai:gpt-4o
      proctor colossal --config_file config_en.json --judge openai:gpt-4o
          --answer_file_list a.json b.json --model_name_list mine yours --save_path results
      proctor colossal --target_file targets.json --fill-targets openai:gpt-4o-mini --out full.json
    """
    if options["fill_targets"]:
        return _fill(options)
    if options["config_file"] is None:
        raise click.UsageError("--config_file is missing: the config with language and categories")
    request = _Request.of(options)
    return _battle(request) if len(request.names) > 1 else _evaluate(request)


for _decorate in (*panel_options, *call_options):
    _decorate(colossal)
json_option(colossal)
store_option(colossal)


@dataclass
class _Request:
    """Options of the command."""

    options: dict[str, Any]
    names: Sequence[str]
    files: Sequence[Path]

    @classmethod
    def of(cls, options: dict[str, Any]) -> "_Request":
        """Check how many files and names there are."""
        files, names = options["answer_file_list"], options["model_name_list"]
        if not files:
            raise click.UsageError("--answer_file_list is missing: the answers to be scored")
        names = names or tuple(path.stem for path in files)
        if len(names) != len(files):
            raise click.UsageError(
                f"--answer_file_list has {len(files)} files, and --model_name_list {len(names)}"
                " names; each file needs one"
            )
        if len(set(names)) < len(names):
            raise click.UsageError("--model_name_list has one name twice")
        if options["compat"] and len(names) > 2:
            raise click.UsageError("the original compares two models at most")
        return cls(options, names, files)

    def settings(self, suite_options: Mapping[str, str]) -> "list[RunSettings]":
        """Return the settings of a run for each file."""
        extra = {name: value for name, value in suite_options.items() if value}
        settings = []
        for name, path in zip(self.names, self.files, strict=True):
            run_options = dict(self.options)
            run_options |= {"spec": run_options.pop("config_file"), "dialect": "colossal"}
            run_options |= {"answers": path, "name": name, "target_file": None, "judges": ()}
            run = run_settings(run_options)[0]
            run = replace(run, suite=replace(run.suite, options=extra))
            panel = replace(run.panel, judges=self.judges())
            settings.append(replace(run, panel=panel))
        return settings

    def judges(self, default: str = RATER) -> tuple[ModelChoice, ...]:
        """Return who judges: as named, or as in the original where there is a key for that."""
        key = self.options["openai_key"] or ""
        named = list(self.options["judges"])
        if (model := self.options["gpt_model"]) and not named:
            if model == _GONE:
                raise click.UsageError(
                    f"--gpt_model {_GONE} no longer exists; name another model that judges"
                )
            own = ":" in _ADDRESS.split(model)[0]
            named.append(model if own else f"openai:{model}")
        if not named and (key or os.environ.get("OPENAI_API_KEY")):
            named = [default]
        return tuple(_with_key(spec, key) for spec in named)

    @property
    def evaluation(self) -> dict[str, str]:
        """Return what the dialect is told for an evaluation."""
        options = self.options
        logprobs = options["logprobs"]
        return {
            "target_file": str(options["target_file"] or ""),
            "prompt_file": str(options["gpt_evaluation_prompt_file"] or ""),
            "with_reference": "1" if options["gpt_with_reference"] else "",
            "logprobs": "" if logprobs is None else str(int(logprobs)),
        }


def _with_key(spec: str, key: str) -> ModelChoice:
    """Return a model with the key of the command line, where it is one of OpenAI's kind."""
    if not key or parse_model(spec).name != "openai":
        return ModelChoice(spec=spec)
    credential = Credential(name="--openai_key", key=key)
    return ModelChoice(spec=spec, access=Access(credentials=(credential,)))


def _evaluate(request: _Request) -> int:
    from proctor.store.store import Store

    several = request.settings(request.evaluation)
    _check(several)
    with Store.open(request.options["store"]) as store:
        outcomes = _examined(several, store, request)
        if outcomes is None:
            return 130
        _print_runs(outcomes, request)
        return _exit_code(outcomes)


def _battle(request: _Request) -> int:
    from proctor.cli.battle import exit_code, print_battle
    from proctor.cli.output import print_json, progress_bar, say, say_problems, say_stopped
    from proctor.engine.battle.run_battle import battle
    from proctor.errors import MissingResource, Problem
    from proctor.io.concurrency import run_sync
    from proctor.reports.battle import battle_object
    from proctor.reports.structured import to_object
    from proctor.store.store import Store

    options = request.options
    evaluates = options["evaluate"]
    several = request.settings(
        request.evaluation if evaluates else {"battle": str(request.files[0])}
    )
    suite = _check(several, scored=evaluates)
    prompt = _battle_prompt(request, suite.language)
    panel = replace(several[0].panel, judges=request.judges(REFEREE))
    if not panel.judges:
        raise MissingResource(
            "a battle needs a judge (fix: add --judge M or --gpt_model NAME, or put the key into"
            " OPENAI_API_KEY)"
        )
    with Store.open(options["store"]) as store:
        outcomes = _examined(several, store, request, evaluated=evaluates)
        if outcomes is None:
            return 130
        try:
            with progress_bar() as progress:
                outcome = run_sync(
                    battle(
                        store,
                        [run_outcome.view.run.id for run_outcome in outcomes],
                        panel,
                        calls=several[0].calls,
                        both_orders=not options["one_order"],
                        prompt=prompt,
                        variant=options["compat"] or "",
                        progress=progress,
                        notice=say,
                    )
                )
        except KeyboardInterrupt:
            say_stopped()
            return 130
        codes = [exit_code(outcome)]
        if evaluates:
            codes.append(_exit_code(outcomes))
        if options["as_json"]:
            battle_json = battle_object(outcome, cases=options["cases"])
            runs = [to_object(run_outcome.view, (), options["cases"]) for run_outcome in outcomes]
            print_json({**battle_json, "runs": runs} if evaluates else battle_json)
        elif evaluates:
            _print_runs(outcomes, request)
            click.echo()
        if not options["as_json"]:
            say_problems(Problem(message=text, severity="warning") for text in outcome.warnings)
            print_battle(outcome, {**options, "form": "table", "out": None})
        _write_battle(outcome, request)
        return max(codes)


def _write_battle(outcome: Any, request: _Request) -> None:
    from proctor.origins.colossal.battle_files import write_battle

    _say_written(write_battle(outcome, request.options["save_path"]), request)


def _check(several: "list[RunSettings]", *, scored: bool = True) -> "Suite":
    """Read all files before anything is done, so that whatever is wrong is said now."""
    from proctor.engine.run import read_suite
    from proctor.errors import MissingResource

    suite = read_suite.read(several[0].suite).suite
    for settings in several:
        assert settings.answers is not None
        for _ in read_suite.answers(settings.answers, suite):
            pass
    rated = {c.scorer.name for case in suite.cases for c in case.criteria} & {"rating_metric"}
    if scored and rated and not several[0].panel.judges:
        raise MissingResource(
            "the config asks for ratings (GPT), and nobody is there to rate (fix: add --judge M or"
            " --gpt_model NAME, or put the key into OPENAI_API_KEY; `proctor run` gives the rest"
            " without)"
        )
    return suite


def _battle_prompt(request: _Request, language: str) -> Any:
    """Return the words of the battle: a file's, or none where Proctor's own are meant."""
    from proctor.origins.colossal.dialect import Colossal

    path = request.options["battle_prompt_file"]
    if path is None and not request.options["compat"]:
        return None
    return Colossal().battle_prompt(path, language)


def _examined(
    several: "list[RunSettings]", store: "Store", request: _Request, *, evaluated: bool = True
) -> "list[Outcome] | None":
    from proctor.cli.run import examine

    outcomes = examine(several, store, quiet=request.options["as_json"])
    if outcomes is not None and evaluated:
        _write(outcomes, request)
    return outcomes


def _write(outcomes: "list[Outcome]", request: _Request) -> None:
    """Write the original's files; the charts, which show all models, with those of the last."""
    from proctor.origins.colossal.layout import ColossalLayout

    written: set[Path] = set()
    for number, (name, outcome) in enumerate(zip(request.names, outcomes, strict=True), 1):
        layout = ColossalLayout(model_name=name, charts=number == len(outcomes))
        written |= set(layout.write(outcome.view, request.options["save_path"]))
    _say_written(written, request)


def _say_written(paths: Collection[Path], request: _Request) -> None:
    if paths and not request.options["as_json"]:
        click.echo(f"wrote {len(paths)} files below {request.options['save_path']}", err=True)


def _print_runs(outcomes: "list[Outcome]", request: _Request) -> None:
    from proctor.cli.output import on_terminal, table_width
    from proctor.cli.run import print_report
    from proctor.origins.colossal.summary import summary_table

    options = request.options
    for number, outcome in enumerate(outcomes):
        if number:
            click.echo()
        if options["as_json"] or options["cases"]:
            form = "json" if options["as_json"] else "table"
            print_report(outcome.view, form, by=(), cases=options["cases"])
        else:
            click.echo(
                summary_table(outcome.view, width=table_width(), color=on_terminal()).rstrip("\n")
            )


def _exit_code(outcomes: "list[Outcome]") -> int:
    from proctor.cli.run import exit_code
    from proctor.engine.run.settings import MAX_UNSCORED
    from proctor.origins.colossal.summary import ratings

    codes = []
    for outcome in outcomes:
        codes.append(exit_code(outcome.view.summary, [], outcome.view.run))
        rated, failed = ratings(outcome.view)
        if failed > MAX_UNSCORED * (rated + failed):
            many = f"{failed} of {rated + failed} ratings could not be made"
            click.echo(f"incomplete: {many}; the same command retries them", err=True)
            codes.append(3)
    return max(codes)


def _fill(options: dict[str, Any]) -> int:
    """Let a model write the outputs that targets lack, into a new file."""
    import json

    from proctor.cli.output import print_json, progress_bar, say
    from proctor.io.concurrency import run_sync
    from proctor.origins.colossal.dialect import Colossal
    from proctor.origins.colossal.missing_answers import fill
    from proctor.store.store import Store

    source = options["target_file"]
    if source is None:
        raise click.UsageError("--target_file is missing: the targets to be filled")
    target = options["out"] or source.with_name(f"{source.stem}_filled.json")
    if target.resolve() == source.resolve():
        raise click.UsageError("--out is the target file itself; the filled one is a new file")
    spec = options["fill_targets"]
    choice = _with_key(spec, options["openai_key"] or "")
    dialect = Colossal()
    missing = dialect.unfilled(source)
    calls = call_settings(options)
    with Store.open(options["store"]) as store, progress_bar() as progress:
        questions = [question for _, question in missing]
        replies = run_sync(fill(store, choice, questions, calls, progress, say))
    outputs = {place: text for (place, _), text in zip(missing, replies, strict=True)}
    records = dialect.filled(source, outputs)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(records, ensure_ascii=False, indent=4) + "\n"
    partial = target.with_name(f".{target.name}.part")
    partial.write_bytes(text.encode("utf-8", "backslashreplace"))
    partial.replace(target)
    if options["as_json"]:
        print_json({"wrote": str(target), "records": len(records), "filled": len(outputs)})
    else:
        click.echo(f"wrote {target}: {len(records)} records, {len(outputs)} of them filled")
    return 0
