"""Options that several commands share: in groups by purpose, and as settings.

It has more than 600 lines because it is a list, an entry for each option of ``run``, which ``plan``
and run files take as well.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor import origin_tables
from proctor.core.exchange import EFFORTS, Sampling
from proctor.core.names import parse_agent, parse_model
from proctor.core.suite import VARIANT, Spec
from proctor.engine.run.settings import (
    MAX_UNSCORED,
    CallSettings,
    JudgeSettings,
    RunSettings,
    StopSettings,
    SuiteSettings,
)
from proctor.io.search_paths import trust_folders

if TYPE_CHECKING:
    from proctor.cli.run_file import WrittenModel
    from proctor.contracts.model import ModelChoice
    from proctor.engine.run.settings import AgentVariant

A_PATH: Any = click.Path(path_type=Path)
A_FILE: Any = click.Path(path_type=Path, dir_okay=False)
"""Types of options, made once: for each, its name is looked for in all languages."""
GROUPS: dict[str, Sequence[str]] = {
    "Candidate": (
        "--model", "--prompt", "--answers", "--agent", "--agent-option", "--variant", "--proxy",
        "--attempts",
        "--system", "--temperature", "--top-p", "--top-k", "--max-tokens", "--seed",
        "--reasoning-effort", "--max-turns", "--again",
        "--name",
    ),
    "Judge and simulated user": (
        "--judge", "--panel", "--judge-repeats", "--judge-reasoning-effort", "--tie",
        "--simulator",
    ),
    "Suite": (
        "--where", "--limit", "--select", "--data", "--columns", "--dialect", "--root",
        "--allow-import",
    ),
    "Limits": (
        "--max-cost", "--price", "--prices", "--concurrency", "--rpm", "--tpm", "--timeout",
        "--batch",
        "--attempt-timeout", "--max-unscored", "--stop-when", "--margin",
    ),
    "Where it runs": (
        "--executor", "--workers", "--sandbox", "--offline", "--header", "--record", "--store",
        "--parts",
        "--bulk",
    ),
    "Output": (
        "--by", "--cases", "--gate", "--against", "--junit", "--markdown", "--link", "--interval",
        "--layout", "--out", "--json", "--texts", "--help",
    ),
    "Files of other tools": (
        f"--{VARIANT}", "--dialect-option",
    ),
}  # fmt: skip
"""Options by the title of their group, in the order of the help."""


class GroupedHelp(click.Command):
    """A command whose help shows its options in titled groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list per group; ungrouped options come last."""
        for title, options in self.groups(ctx):
            records = [record for one in options if (record := one.get_help_record(ctx))]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def groups(self, ctx: click.Context) -> Iterator[tuple[str, list[click.Option]]]:
        """Yield the options of each group that the command has."""
        options = [
            one for one in self.get_params(ctx) if isinstance(one, click.Option) and not one.hidden
        ]
        by_name = {name: one for one in options for name in one.opts}
        grouped = {name for names in GROUPS.values() for name in names}
        for title, names in GROUPS.items():
            if members := [by_name[name] for name in names if name in by_name]:
                yield title, members
        if rest := [one for one in options if not grouped & set(one.opts)]:
            yield "Other", rest


agent_options = [
    click.option(
        "--agent",
        metavar="A",
        help="An agent to evaluate: python:module:attr, http://…, exec:COMMAND, recorded:PATH,"
        " taskweaver:APP_DIR, claude-code, codex, gemini-cli, opencode, acp:COMMAND, a model whose"
        " history is kept, or a YAML file that describes one.",
    ),
    click.option(
        "--agent-option",
        "agent_options",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the agent, as JSON or plain text.",
    ),
    click.option(
        "--proxy",
        metavar="M",
        help="Pass the agent's own calls on to this model: they become steps with tokens and cost.",
    ),
]


def agent_settings(options: dict[str, Any]) -> tuple[Spec | None, tuple[str, ...]]:
    """Take the agent out of a command's options; if it is a model, return it as one."""
    text, more = options.pop("agent", None), options.pop("agent_options", ())
    if text is None:
        if more:
            raise click.UsageError("--agent-option needs an --agent")
        return None, ()
    params: dict[str, Any] = {}
    if text.endswith((".yaml", ".yml")):
        text, params = _described(Path(text))
    params |= {name: _value(value) for name, value in (_agent_option(item) for item in more)}
    spec = parse_agent(text)
    if spec is not None:
        return Spec(name=spec.name, params={**spec.params, **params}), ()
    if params:
        raise click.UsageError(f"{text!r} is a model: it has no option {', '.join(params)}")
    return None, (text,)


def _described(path: Path) -> tuple[str, dict[str, Any]]:
    """Read a YAML file with an agent's name under ``agent`` and its parameters beside it."""
    from proctor.io.yaml_files import read_yaml

    fields = read_yaml(path).data
    if not isinstance(fields, dict) or not isinstance(fields.get("agent"), str):
        raise click.UsageError(f"{path} describes no agent: expected a line such as agent: exec:…")
    return fields.pop("agent"), fields


def _agent_option(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise click.UsageError("--agent-option: expected NAME=VALUE, as in timeout=120")
    return name.strip(), value


def _value(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text


Command = TypeVar("Command", bound=Callable[..., Any])


class ShareType(click.ParamType[float]):
    """A share of a whole, written as ``10%`` or as ``0.1``."""

    name = "share"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Parse the share."""
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            self.fail(f"{text!r} is not a share (fix: write 0% to 100%, or 0 to 1)", param, ctx)
        return share


def store_option(command: Command) -> Command:
    """Add --store."""
    return click.option(
        "--store",
        metavar="URL",
        help="The store: a path or a database URL"
        " [default: $PROCTOR_STORE, else .proctor/proctor.db].",
    )(command)


def parts_option(command: Command) -> Command:
    """Add --parts."""
    return click.option(
        "--parts",
        default="",
        metavar="URL",
        help="Where the files of a large run go: a folder, or an address such as s3://BUCKET/FOLDER"
        " [default: $PROCTOR_PARTS, else a folder beside the store].",
    )(command)


def json_option(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def texts_option(command: Command) -> Command:
    """Add --no-texts."""
    return click.option(
        "--texts/--no-texts",
        default=True,
        envvar="PROCTOR_TEXTS",
        help="With --json, whether to print what models, judges, programs and suites wrote"
        " [default: $PROCTOR_TEXTS, else yes].",
    )(command)


def variant_option(help_text: str) -> Callable[[Command], Command]:
    """Add --compat, which selects an origin's variant of everything."""
    return click.option("--compat", "variant", type=click.Choice(["original"]), help=help_text)


def suite_options(command: Command) -> Command:
    """Add the suite as an argument, and the options that say how it is read."""
    for decorate in reversed(
        [
            click.argument("spec", type=A_PATH),
            click.option("--dialect", metavar="NAME", help="Read the suite in this format."),
            variant_option(
                "Reproduce the quirks of the format's original tool, for the same numbers."
            ),
            click.option(
                "--root",
                type=click.Path(path_type=Path, file_okay=False, exists=True),
                help="The folder that the suite's files must be in [default: the suite's own].",
            ),
            click.option(
                "--columns",
                metavar="NAME=COLUMN,…",
                help="What the columns of a table are called: ask=question,reference=answer; for"
                " answers case=id,output=response.",
            ),
            click.option("--where", metavar="EXPR", help="Only cases that match this expression."),
            click.option("--limit", type=click.IntRange(1), help="Only the first N cases."),
            click.option("--select", multiple=True, metavar="CASE", help="Only these cases."),
            click.option(
                "--allow-import",
                is_flag=True,
                help="Allow the suite to load its own classes (module:Class).",
            ),
        ]
    ):
        command = decorate(command)
    return command


def run_options(command: Command) -> Command:
    """Add the options about the candidate and how it is evaluated."""
    for decorate in reversed(
        [
            click.option(
                "--model",
                "models",
                multiple=True,
                metavar="M",
                help="A model to evaluate: openai:NAME[@URL], anthropic:NAME, azure:NAME@URL,"
                " local:smollm2, replay:FILE. Several make one run each.",
            ),
            click.option(
                "--prompt",
                "prompts",
                multiple=True,
                metavar="NAME|FILE",
                help="A prompt of the suite, or a file with one; several make one run each"
                " [default: all of the suite's].",
            ),
            click.option(
                "--answers",
                type=A_PATH,
                help="Answers on file: a folder, JSONL, CSV, TSV, Excel or Parquet.",
            ),
            click.option(
                "--bulk/--no-bulk",
                default=None,
                help="Whether answers on file, and their scores, are kept as Parquet files beside"
                " the store [default: from 20,000 answers on].",
            ),
            *agent_options,
            click.option(
                "--variant",
                "variant_names",
                multiple=True,
                metavar="NAME",
                help="A variant of the run file's agent; several make one run each [default: all].",
            ),
            click.option("--attempts", type=click.IntRange(1), help="At most N attempts per case."),
            click.option(
                "--again",
                default="",
                metavar="LABEL|CAUSE",
                help="Ask again, under this label; the same label resumes. Verdicts on identical"
                " answers are reused. A cause (candidate, provider, environment, verifier, judge,"
                " simulator, limit; several with commas): make again what failed by it, and nothing"
                " else.",
            ),
            click.option("--name", default="", help="The run's name [default: SUITE-CANDIDATE]."),
            *judge_options,
            *sampling_options,
            *call_options,
            click.option(
                "--stop-when",
                metavar="WHEN",
                help="Take cases in random order, and stop once the result is certain: 'decided',"
                " with --against, or a condition such as 'rate >= 0.8'.",
            ),
            click.option(
                "--against",
                metavar="RUN|FILE",
                help="Compare with this run: a name or id, an exported .jsonl file, or @baseline.",
            ),
            click.option(
                "--margin",
                type=float,
                metavar="POINTS",
                help="A negligible difference, in points of 100, for --against.",
            ),
            click.option(
                "--executor",
                default="local",
                show_default=True,
                metavar="WHERE",
                help="Where scoring runs: local, or ray[:ADDRESS], a Ray cluster.",
            ),
            click.option(
                "--workers",
                type=click.IntRange(1),
                help="Scoring processes [default: one per core].",
            ),
            click.option(
                "--sandbox",
                default="bubblewrap",
                show_default=True,
                metavar="TIER",
                help="Where programs run: bubblewrap, docker[:IMAGE], or process, which"
                " isolates nothing.",
            ),
            click.option(
                "--interval",
                type=click.Choice(["bounded", "t", "bootstrap"]),
                default="bounded",
                show_default=True,
                help="Method for the 95% interval of the rate.",
            ),
            click.option(
                "--max-unscored",
                type=ShareType(),
                default="10%",
                show_default=True,
                metavar="SHARE",
                help="Exit 3 if more than this share of cases could not be scored.",
            ),
        ]
    ):
        command = decorate(command)
    return command


panel_options = [
    click.option(
        "--judge",
        "judges",
        multiple=True,
        metavar="M",
        help="The model that judges; several make a panel.",
    ),
    click.option(
        "--panel",
        type=click.Choice(["mean", "median", "majority"]),
        default="mean",
        show_default=True,
        help="How the verdicts of several judges are combined.",
    ),
    click.option(
        "--judge-repeats", type=click.IntRange(1), default=1, help="Ask each judge N times."
    ),
    click.option(
        "--judge-reasoning-effort", type=click.Choice(EFFORTS), help="How long the judges think."
    ),
]

judge_options = [
    *panel_options,
    click.option(
        "--tie",
        type=click.Choice(["0", "half", "unscored"]),
        default="0",
        show_default=True,
        help="The result of a criterion when the judges are evenly split.",
    ),
    click.option(
        "--simulator", metavar="M", help="The model that plays the user [default: the judge]."
    ),
]

sampling_options = [
    click.option("--temperature", type=float, help="The candidate's temperature."),
    click.option("--top-p", type=float, help="The candidate's top_p."),
    click.option("--top-k", type=int, help="The candidate's top_k."),
    click.option("--max-tokens", type=click.IntRange(1), help="Maximum tokens per reply."),
    click.option("--seed", type=int, help="The candidate's seed, if the server supports one."),
    click.option(
        "--reasoning-effort", type=click.Choice(EFFORTS), help="How long the candidate thinks."
    ),
    click.option("--system", default="", metavar="TEXT", help="A system prompt for every case."),
]

call_options = [
    click.option(
        "--concurrency",
        type=click.IntRange(1),
        default=64,
        show_default=True,
        help="Maximum concurrent calls; lowered while a server limits the rate.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(0, min_open=True),
        help="Time limit of a call, in seconds.",
    ),
    click.option(
        "--attempt-timeout",
        type=click.FloatRange(0, min_open=True),
        default=3600.0,
        show_default=True,
        help="Time limit of an attempt with all its turns, in seconds.",
    ),
    click.option("--rpm", type=click.IntRange(1), help="Maximum requests per minute."),
    click.option("--tpm", type=click.IntRange(1), help="Maximum tokens per minute."),
    click.option(
        "--header",
        "headers",
        multiple=True,
        metavar="NAME=VALUE",
        help="HTTP header to send with each call. Repeatable.",
    ),
    click.option("--max-cost", type=float, metavar="USD", help="Spend no more than this."),
    click.option(
        "--price",
        "prices",
        multiple=True,
        metavar="MODEL=IN/OUT",
        help="Dollars per million input and output tokens, overriding the built-in table.",
    ),
    click.option(
        "--prices",
        "price_file",
        type=click.Path(path_type=Path, dir_okay=False, exists=True),
        help="A JSON file of prices to use before the built-in table.",
    ),
    click.option(
        "--batch",
        is_flag=True,
        help="Hand calls in as batch jobs, at half the price; replies take minutes to hours.",
    ),
    click.option("--offline", is_flag=True, help="Allow connections to this machine only."),
    click.option(
        "--record",
        type=A_FILE,
        help="Record all model traffic of the run in this file, for --model replay:FILE.",
    ),
]


def suite_options_of_dialects(command: Command) -> Command:
    """Add the options that only some formats support."""
    for decorate in reversed(
        [
            click.option(
                "--max-turns", type=click.IntRange(1), help="Maximum turns of a dialogue."
            ),
            click.option(
                "--data",
                type=A_PATH,
                metavar="PATH",
                help="A local copy of a recipe's rows: a file, or a folder.",
            ),
            click.option(
                "--dialect-option",
                "dialect_options",
                multiple=True,
                metavar="NAME=VALUE",
                help="A setting of the suite's format, such as scoring_method=exact_match.",
            ),
            *moved_flags(),
        ]
    ):
        command = decorate(command)
    return command


def moved_flags() -> list[Callable[[Command], Command]]:
    """Return the origins' own options: hidden, still working, with a notice where they moved."""
    return [_moved(*row) for row in origin_tables.flags()]


def _moved(flags: str, setting: str, kind: str, place: str) -> Callable[[Command], Command]:
    types: dict[str, Any] = {
        "file": A_FILE,
        "flag": bool,
        "share": click.FloatRange(0, 1),
        "text": str,
    }
    own = f"--dialect-option {setting}={'0|1' if kind == 'flag' else 'VALUE'}"
    words = f"{place}, or {own}" if place else own

    def notice(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is not None:
            click.echo(f"{flags.partition('/')[0]} has moved: use {words}", err=True)
        return value

    return click.option(
        flags,
        setting,
        type=types.get(kind) or click.Choice(kind.split("|")),
        default=None,
        hidden=True,
        expose_value=True,
        callback=notice,
        help=f"Moved to {words}.",
    )


def is_run_file(path: Path) -> bool:
    """Tell by a first look whether a file has the key ``suite`` and no list of cases.

    ``cases: true`` is an option of ``run``.
    """
    if path.suffix.lower() not in (".yaml", ".yml") or not path.is_file():
        return False
    import re

    try:
        with path.open("rb") as file:
            text = file.read(64 * 1024).decode("utf-8", "ignore")
    except OSError:
        return False
    if not re.search(r"^[\"']?suite[\"']?\s*:", text, re.M):
        return False
    cases = re.search(r"^[\"']?cases[\"']?\s*:[ \t]*(.*)$", text, re.M)
    return cases is None or re.match(r"[^\s\[{#&*!|>]", cases[1]) is not None


def from_run_file(options: dict[str, Any]) -> dict[str, Any]:
    """Complete a command's options by those of a run file, where one stands for the suite."""
    if not is_run_file(options["spec"]):
        return options
    from proctor.cli.run_file import with_run_file

    return with_run_file(options)


def suite_settings(options: dict[str, Any]) -> SuiteSettings:
    """Take the suite's settings out of a command's options."""
    spec, recipe = options.pop("spec"), None
    if not spec.exists():
        from proctor.engine.run.recipes import recipe_path

        recipe = recipe_path(str(spec))
        spec = recipe or spec
    own = {name: options.pop(name, None) for name in ("columns", "run_file")}
    native = {name: str(value) for name, value in own.items() if value}
    if native and not options.get("dialect"):
        options["dialect"] = "recipe" if recipe or options.get("data") else "native"
    if options.get("allow_import"):
        trust_folders([str(spec if spec.is_dir() else spec.parent), os.getcwd()])
    return SuiteSettings(
        path=spec,
        dialect=options.pop("dialect", None) or "",
        compat=options.pop("variant", options.pop("compat", None)) or "",
        root=options.pop("root", None),
        where=options.pop("where", None) or "",
        limit=options.pop("limit", None),
        select=tuple(options.pop("select", ())),
        allow_import=options.pop("allow_import", False),
        options={**_dialect_settings(options), **native},
    )


def _dialect_settings(options: dict[str, Any]) -> dict[str, str]:
    """Take the settings of formats out of a command's options; --dialect-option wins."""
    names = ("max_turns", *(setting for _, setting, _, _ in origin_tables.flags()))
    values = {name: options.pop(name, None) for name in (*names, "data")}
    settings = {
        name: str(int(value) if isinstance(value, bool) else value)
        for name, value in values.items()
        if value is not None
    }
    for text in options.pop("dialect_options", ()):
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise click.UsageError(f"--dialect-option {text!r} is not of the form NAME=VALUE")
        settings[name.strip()] = value
    return settings


def sandbox_spec(text: str) -> Spec:
    """Parse ``docker:IMAGE`` and the like."""
    name, _, image = text.partition(":")
    return Spec(name=name, params={"image": image} if image else {})


def executor_spec(text: str, workers: int | None) -> Spec:
    """Parse ``ray:ADDRESS`` and the like."""
    name, _, address = text.partition(":")
    params = {"address": address, "workers": workers}
    return Spec(name=name, params={key: value for key, value in params.items() if value})


def run_settings(options: dict[str, Any]) -> list[RunSettings]:
    """Take the run settings out of a command's options, one for each model."""
    executor = executor_spec(options.pop("executor", "local"), options.pop("workers", None))
    model_options = _model_options(options)
    models, answers = options.pop("models", ()), options.pop("answers", None)
    agent, own = agent_settings(options)
    models = (*models, *own)
    name = options.pop("name", "")
    if "access" in model_options and not models and answers is None and agent is None:
        raise click.UsageError(
            "--header goes along with --model, and here a file names the address, if anybody does:"
            " a header goes only to an address that the same source names (fix: --model"
            " openai:NAME@URL)"
        )
    if name and len(models) > 1:
        raise click.UsageError("--name is for one run, but there are several models")
    variants = _chosen_variants(options)
    if name and len(variants) > 1:
        raise click.UsageError("--name is for one run, but the agent has several variants")
    settings = RunSettings(
        panel=panel_settings(options),
        simulator=_choice(text, {}) if (text := options.pop("simulator", None)) else None,
        calls=call_settings(options),
        suite=suite_settings(options),
        answers=answers,
        agent=agent,
        proxy=_choice(text, {}) if (text := options.pop("proxy", None)) else None,
        attempts=options.pop("attempts", None),
        **again_settings(options.pop("again", "")),
        name=name,
        prompts=tuple(options.pop("prompts", ())),
        executor=executor,
        sandbox=sandbox_spec(options.pop("sandbox", "bubblewrap")),
        interval=options.pop("interval", "bounded"),
        gates=tuple(options.pop("gates", ())),
        against=options.get("against") or "",
        stop=_stop_settings(options),
        bulk=options.pop("bulk", None),
        max_unscored=options.pop("max_unscored", MAX_UNSCORED),
    )
    if variants:
        if agent is None:
            raise click.UsageError("variants are of an agent: name one under 'agent'")
        return [replace(settings, agent=one.of(agent), variant=one) for one in variants]
    if not models:
        return [settings]
    return [replace(settings, model=_choice(text, model_options)) for text in models]


def _chosen_variants(options: dict[str, Any]) -> "Sequence[AgentVariant]":
    """Return the variants of the agent that are to be run, in the order of the file."""
    variants: Sequence[AgentVariant] = options.pop("variants", ())
    wanted: Sequence[str] = options.pop("variant_names", ())
    if not wanted:
        return variants
    names = [one.name for one in variants]
    if not names:
        raise click.UsageError(
            "--variant chooses among the variants of a run file's own agent, and there are none"
        )
    for name in wanted:
        if name not in names:
            raise click.UsageError(f"there is no variant {name!r} (there are: {', '.join(names)})")
    return [one for one in variants if one.name in wanted]


def again_settings(text: str) -> dict[str, Any]:
    """Read --again: causes whose attempts are made again, or the label of a repetition."""
    if not text:
        return {}
    from proctor.core.cause import causes_in

    causes = causes_in(text)
    return {"again_causes": causes} if causes else {"repeat_label": text}


def panel_settings(options: dict[str, Any]) -> JudgeSettings:
    """Take the judges' settings out of a command's options."""
    effort = options.pop("judge_reasoning_effort", None)
    asked_how = {} if effort is None else {"sampling": Sampling(reasoning_effort=effort)}
    return JudgeSettings(
        judges=tuple(_choice(text, asked_how) for text in options.pop("judges", ())),
        combine=options.pop("panel", "mean"),
        repeats=options.pop("judge_repeats", 1),
        tie=options.pop("tie", "0"),
    )


def _model_options(options: dict[str, Any]) -> dict[str, Any]:
    """Take the candidate model's settings out of a command's options."""
    names = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort")
    sampling = Sampling(**{name: options.pop(name, None) for name in names})
    headers = [_pair(text, "--header") for text in options.pop("headers", ())]
    model_options = {"sampling": sampling, "system": options.pop("system", "")}
    if not headers:
        return model_options
    from proctor.core.access import Access, Credential

    sent = Credential(name="--header", headers=dict(headers))
    return {**model_options, "access": Access(credentials=(sent,))}


def _choice(text: "str | WrittenModel", model_options: dict[str, Any]) -> "ModelChoice":
    from proctor.contracts.model import ModelChoice

    if not isinstance(text, str):
        return text.choice(model_options)

    parse_model(text)
    return ModelChoice(spec=text, **model_options)


def call_settings(options: dict[str, Any]) -> CallSettings:
    """Take the settings of model calls out of a command's options."""
    return CallSettings(
        concurrency=options.pop("concurrency", 64),
        timeout=options.pop("timeout", None),
        attempt_timeout=options.pop("attempt_timeout", 3600.0),
        requests_per_minute=options.pop("rpm", None),
        tokens_per_minute=options.pop("tpm", None),
        max_cost=options.pop("max_cost", None),
        prices=dict(_price(text) for text in options.pop("prices", ())),
        price_file=options.pop("price_file", None),
        offline=options.pop("offline", False),
        batch=options.pop("batch", False),
        record=options.pop("record", None),
    )


def _stop_settings(options: dict[str, Any]) -> StopSettings | None:
    """Take out of a command's options when a run may stop."""
    when, against = options.pop("stop_when", None), options.pop("against", None)
    margin = options.pop("margin", None)
    if when is None:
        if margin is not None and not against:
            raise click.UsageError("--margin goes with --against")
        return None
    return StopSettings(
        when=when.strip(), against=against or "", margin=None if margin is None else margin / 100
    )


def _pair(text: str, option: str, example: str = "X-Team=blue") -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        # Not repeated: it may be a key, written as in other programs.
        raise click.UsageError(f"{option}: expected NAME=VALUE, as in {option} {example}")
    return name.strip(), value.strip()


def _price(text: str) -> tuple[str, tuple[float, float]]:
    name, value = _pair(text, "--price", "gpt-4o=2.5/10")
    try:
        prompt_price, completion_price = (float(part) for part in value.split("/"))
    except ValueError:
        raise click.UsageError(
            f"--price: expected MODEL=IN/OUT, as in gpt-4o=2.5/10, not {text!r}"
        ) from None
    return name, (prompt_price, completion_price)
