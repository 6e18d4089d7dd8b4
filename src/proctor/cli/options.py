"""Options that several commands share."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from proctor import origin_tables
from proctor.cli.agent_options import agent_options, agent_settings
from proctor.contracts.model import ModelChoice
from proctor.core.access import Access, Credential
from proctor.core.exchange import Sampling
from proctor.core.model_name import parse_model
from proctor.core.suite import Spec
from proctor.engine.run.settings import (
    MAX_UNSCORED,
    CallSettings,
    JudgeSettings,
    RunSettings,
    SuiteSettings,
)
from proctor.io.search_paths import trust_folders

Command = TypeVar("Command", bound=Callable[..., Any])


class ShareType(click.ParamType[float]):
    """A share of a whole, written as ``10%`` or as ``0.1``."""

    name = "share"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Read the share."""
        text = str(value).strip()
        try:
            found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            found = -1.0
        if not 0 <= found <= 1:
            self.fail(f"{text!r} is no share (fix: write 0% to 100%, or 0 to 1)", param, ctx)
        return found


def store_option(command: Command) -> Command:
    """Add --store."""
    return click.option(
        "--store",
        metavar="URL",
        help="Where runs are kept: a path or a database URL"
        " [default: $PROCTOR_STORE, else .proctor/proctor.db].",
    )(command)


def json_option(command: Command) -> Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def variant_option(help_text: str) -> Callable[[Command], Command]:
    """Add --compat, which asks for an origin's variant of everything."""
    return click.option("--compat", "variant", type=click.Choice(["original"]), help=help_text)


def suite_options(command: Command) -> Command:
    """Add the suite as an argument, and the options that say how it is read."""
    for decorate in reversed(
        [
            click.argument("spec", type=click.Path(path_type=Path)),
            click.option("--dialect", metavar="NAME", help="Read the suite in this format."),
            variant_option(
                "Keep the odd behaviour of the format's origin, so that old numbers come out."
            ),
            click.option(
                "--root",
                type=click.Path(path_type=Path, file_okay=False, exists=True),
                help="The folder that the suite's files must lie in [default: the suite's own].",
            ),
            click.option("--where", metavar="EXPR", help="Only cases for which this holds."),
            click.option("--limit", type=click.IntRange(1), help="Only the first N cases."),
            click.option("--select", multiple=True, metavar="CASE", help="Only these cases."),
            click.option(
                "--allow-import",
                is_flag=True,
                help="Let the suite name classes of its own (module:Class).",
            ),
        ]
    ):
        command = decorate(command)
    return command


def run_options(command: Command) -> Command:
    """Add the options that say who is examined, and how."""
    for decorate in reversed(
        [
            click.option(
                "--model",
                "models",
                multiple=True,
                metavar="M",
                help="A model to examine: openai:NAME[@URL], anthropic:NAME, azure:NAME@URL,"
                " local:smollm2, replay:FILE. Several make one run each.",
            ),
            click.option(
                "--answers",
                type=click.Path(path_type=Path),
                help="Answers on file: a folder, JSONL, CSV, TSV or Parquet.",
            ),
            *agent_options,
            click.option("--attempts", type=click.IntRange(1), help="At most N attempts a case."),
            click.option(
                "--again",
                default="",
                metavar="LABEL",
                help="Ask anew, under this label; the same label goes on. Verdicts on the same"
                " words are kept.",
            ),
            click.option("--name", default="", help="The run's name [default: SUITE-CANDIDATE]."),
            *judge_options,
            *sampling_options,
            *call_options,
            click.option(
                "--executor",
                default="local",
                show_default=True,
                metavar="WHERE",
                help="Where grading runs: local, or ray[:ADDRESS], a Ray cluster.",
            ),
            click.option(
                "--workers", type=click.IntRange(1), help="Grading processes [default: one a core]."
            ),
            click.option(
                "--sandbox",
                default="bubblewrap",
                show_default=True,
                metavar="TIER",
                help="Where programs run: bubblewrap, docker[:IMAGE], or process, which is no"
                " boundary at all.",
            ),
            click.option(
                "--interval",
                type=click.Choice(["t", "bootstrap"]),
                default="t",
                show_default=True,
                help="How the 95% interval of the rate is found.",
            ),
            click.option(
                "--max-unscored",
                type=ShareType(),
                default="10%",
                show_default=True,
                metavar="SHARE",
                help="Exit 3 where more of the cases than this could not be scored.",
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
        help="How the verdicts of several judges fold into one.",
    ),
    click.option("--judge-repeats", type=click.IntRange(1), default=1, help="Ask each N times."),
]

judge_options = [
    *panel_options,
    click.option(
        "--tie",
        type=click.Choice(["0", "half", "unscored"]),
        default="0",
        show_default=True,
        help="What a criterion gives on which the judges are evenly divided.",
    ),
    click.option(
        "--simulator", metavar="M", help="The model that plays the user [default: the judge]."
    ),
]

sampling_options = [
    click.option("--temperature", type=float, help="The candidate's temperature."),
    click.option("--top-p", type=float, help="The candidate's top_p."),
    click.option("--top-k", type=int, help="The candidate's top_k."),
    click.option("--max-tokens", type=click.IntRange(1), help="Most tokens of a reply."),
    click.option("--seed", type=int, help="The candidate's seed, where the server takes one."),
    click.option("--system", default="", metavar="TEXT", help="A system prompt for every case."),
]

call_options = [
    click.option(
        "--concurrency",
        type=click.IntRange(1),
        default=64,
        show_default=True,
        help="Most calls at a time; fewer while a server says it is too many.",
    ),
    click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for a call."),
    click.option(
        "--attempt-timeout",
        type=click.FloatRange(0, min_open=True),
        default=3600.0,
        show_default=True,
        help="Seconds for one attempt, all its turns together.",
    ),
    click.option("--rpm", type=click.IntRange(1), help="Most requests a minute."),
    click.option("--tpm", type=click.IntRange(1), help="Most tokens a minute."),
    click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="Send it along."),
    click.option("--max-cost", type=float, metavar="USD", help="Spend no more than this."),
    click.option(
        "--price",
        "prices",
        multiple=True,
        metavar="MODEL=IN/OUT",
        help="Dollars per million tokens in and out, where the built-in table is silent or old.",
    ),
    click.option("--offline", is_flag=True, help="Let nothing but loopback be reached."),
    click.option(
        "--record",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write all traffic of the run to this cassette, for --model replay:FILE.",
    ),
]


def suite_options_of_dialects(command: Command) -> Command:
    """Add the options that some formats understand."""
    for decorate in reversed(
        [
            click.option("--max-turns", type=click.IntRange(1), help="Most turns of a dialogue."),
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
    """Return the options that are origins' own: they work, are hidden, and say where they went."""
    return [_moved(*row) for row in origin_tables.flags()]


def _moved(flags: str, setting: str, kind: str, place: str) -> Callable[[Command], Command]:
    types: dict[str, Any] = {
        "file": click.Path(path_type=Path, dir_okay=False),
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


def suite_settings(options: dict[str, Any]) -> SuiteSettings:
    """Take the suite's settings out of a command's options."""
    spec = options.pop("spec")
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
        options=_dialect_settings(options),
    )


def _dialect_settings(options: dict[str, Any]) -> dict[str, str]:
    """Take the settings of dialects out of a command's options; written ones go last."""
    names = ("max_turns", *(setting for _, setting, _, _ in origin_tables.flags()))
    found = {name: options.pop(name, None) for name in names}
    made = {
        name: str(int(value) if isinstance(value, bool) else value)
        for name, value in found.items()
        if value is not None
    }
    for text in options.pop("dialect_options", ()):
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise click.UsageError(f"--dialect-option {text!r} is not of the form NAME=VALUE")
        made[name.strip()] = value
    return made


def sandbox_spec(text: str) -> Spec:
    """Read ``docker:IMAGE`` and the like."""
    name, _, image = text.partition(":")
    return Spec(name=name, params={"image": image} if image else {})


def executor_spec(text: str, workers: int | None) -> Spec:
    """Read ``ray:ADDRESS`` and the like."""
    name, _, address = text.partition(":")
    given = {"address": address, "workers": workers}
    return Spec(name=name, params={key: value for key, value in given.items() if value})


def run_settings(options: dict[str, Any]) -> list[RunSettings]:
    """Take the settings out of a command's options; several models make a run each."""
    executor = executor_spec(options.pop("executor", "local"), options.pop("workers", None))
    asked = _asked(options)
    models, answers = options.pop("models", ()), options.pop("answers", None)
    agent, own = agent_settings(options)
    models = (*models, *own)
    name = options.pop("name", "")
    if asked["access"].credentials and not models and answers is None and agent is None:
        raise click.UsageError(
            "--header goes along with --model, and here a file names the address, if anybody does:"
            " a header goes only to an address that the same source names (fix: --model"
            " openai:NAME@URL)"
        )
    if name and len(models) > 1:
        raise click.UsageError("--name names one run, and several models make several")
    settings = RunSettings(
        panel=panel_settings(options),
        simulator=_choice(text, {}) if (text := options.pop("simulator", None)) else None,
        calls=call_settings(options),
        suite=suite_settings(options),
        answers=answers,
        agent=agent,
        proxy=_choice(text, {}) if (text := options.pop("proxy", None)) else None,
        attempts=options.pop("attempts", None),
        repeat_label=options.pop("again", ""),
        name=name,
        executor=executor,
        sandbox=sandbox_spec(options.pop("sandbox", "bubblewrap")),
        interval=options.pop("interval", "t"),
        gates=tuple(options.pop("gates", ())),
        max_unscored=options.pop("max_unscored", MAX_UNSCORED),
    )
    if not models:
        return [settings]
    return [replace(settings, model=_choice(text, asked)) for text in models]


def panel_settings(options: dict[str, Any]) -> JudgeSettings:
    """Take out who judges."""
    return JudgeSettings(
        judges=tuple(_choice(text, {}) for text in options.pop("judges", ())),
        combine=options.pop("panel", "mean"),
        repeats=options.pop("judge_repeats", 1),
        tie=options.pop("tie", "0"),
    )


def _asked(options: dict[str, Any]) -> dict[str, Any]:
    """Take out how the candidate is asked."""
    names = ("temperature", "top_p", "top_k", "max_tokens", "seed")
    sampling = Sampling(**{name: options.pop(name, None) for name in names})
    headers = [_pair(text, "--header") for text in options.pop("headers", ())]
    sent = Credential(name="--header", headers=dict(headers))
    access = Access(credentials=(sent,) if headers else ())
    return {"sampling": sampling, "system": options.pop("system", ""), "access": access}


def _choice(text: str, asked: dict[str, Any]) -> ModelChoice:
    parse_model(text)
    return ModelChoice(spec=text, **asked)


def call_settings(options: dict[str, Any]) -> CallSettings:
    """Take out how models are called."""
    return CallSettings(
        concurrency=options.pop("concurrency", 64),
        timeout=options.pop("timeout", None),
        attempt_timeout=options.pop("attempt_timeout", 3600.0),
        requests_per_minute=options.pop("rpm", None),
        tokens_per_minute=options.pop("tpm", None),
        max_cost=options.pop("max_cost", None),
        prices=dict(_price(text) for text in options.pop("prices", ())),
        offline=options.pop("offline", False),
        record=options.pop("record", None),
    )


def _pair(text: str, option: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name.strip():
        # Not repeated: it may be a key, written as in other programs.
        raise click.UsageError(f"{option} wants NAME=VALUE, as in {option} X-Team=blue")
    return name.strip(), value.strip()


def _price(text: str) -> tuple[str, tuple[float, float]]:
    name, value = _pair(text, "--price")
    try:
        asked, said = (float(part) for part in value.split("/"))
    except ValueError:
        raise click.UsageError(
            f"--price wants MODEL=IN/OUT, as in gpt-4o=2.5/10, not {text!r}"
        ) from None
    return name, (asked, said)
