"""Write the pages and the picture that are generated from the code; run by ``make docs``."""

import inspect
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from proctor import registry
from proctor.cli.main import COMMANDS, cli
from proctor.cli.options import GroupedHelp
from proctor.cli.run_file import run_file_schema
from proctor.contracts.scorer import Scorer
from proctor.formats.native.schema import schema_text

DOCS = Path(__file__).resolve().parent
WORDS = {str: "string", float: "number", int: "integer", bool: "boolean"}
NOTE = "`make docs` generates this page from the code: edit the code, not the page."
PROGRAM = (sys.executable, "-m", "proctor.cli.main")

ENVIRONMENT = {
    "PROCTOR_STORE": "the store, unless `--store` names one",
    "PROCTOR_JUDGE": "the judge of `proctor.bench`, unless you pass one ([notebooks](notebook.md))",
    "PROCTOR_PRICES": "a JSON file of prices ([models](models.md#nothing-is-paid-for-twice))",
    "PROCTOR_CACHE": "the folder for downloaded models, encoders and fonts"
    " (default: `proctor` in `$XDG_CACHE_HOME`, else in `~/.cache`)",
    "PROCTOR_FONTS": "a folder with fonts for charts ([battles and charts](battles.md#charts))",
    "PROCTOR_VIEW_TOKEN": "like `--token` of `proctor view`,"
    " but hidden from other users of the machine",
    "PROCTOR_SERVE_TOKEN": "the token that clients of `proctor serve` must send"
    " ([grading](grading.md))",
    "PROCTOR_PROXY_URL": "set for agents: the address of the proxy that their model calls go to"
    " ([agents](agents.md))",
    "PROCTOR_PROXY_SOCKET": "set for agents without a network: the proxy's Unix socket",
    "PROCTOR_PROXY_MODEL": "set for agents: the model behind the proxy",
    "PROCTOR_TEXTS": "`0`: like `--no-texts`, for every command with `--json`"
    " ([results](results.md))",
    "PROCTOR_PROXY_SECRET": "like `--secret` of `proctor proxy`,"
    " but hidden from other users of the machine",
    "PROCTOR_PARTS": "the folder or address of the files of"
    " [large runs](concepts.md#large-runs) (default: a folder beside the store)",
    "PROCTOR_BEAT": "seconds between two heartbeats of a run (default: 10)",
    "PROCTOR_MAX_ROWS": "maximum rows of a file (default: 100,000,000)",
    "PROCTOR_MAX_DECODED": "maximum bytes of a Parquet file once decoded"
    " (default: 1 GiB, or 200 times its size if that is more)",
    "PROCTOR_MAX_MEMORY": "maximum bytes of memory for decoding it (default: 1 GiB)",
}
"""Environment variables and their meanings; models.md lists those for model keys."""


def anchor(name: str) -> str:
    """Return the anchor of a heading: lower case, without punctuation."""
    return re.sub(r"[^\w\- ]", "", name.lower())


def pages() -> dict[str, str]:
    """Return the generated pages by name."""
    return {
        "cli.md": cli_page(),
        "scorers.md": scorers_page(),
        "suite.schema.json": schema_text(),
        "run-file.schema.json": json.dumps(run_file_schema(), indent=2, ensure_ascii=False) + "\n",
    }


def scorers_page() -> str:
    """Describe every scorer and measure, and the mappings in their parameters."""
    shown: dict[str, type[Any]] = {}
    lines = ["# Scorers and measures", "", NOTE, ""]
    lines += [
        "A criterion names a scorer and its parameters; [the suite format](suite-format.md)",
        "explains how to write it. The first parameter is the main one: `number: 42` means",
        "`number: {value: 42}`. You can also [write your own scorer](write-a-scorer.md).",
        "",
        "`unit_tests`, `python_check` and a `post_handler` run programs in",
        "[a sandbox](safety.md#programs); [languages](languages.md) explains how.",
        "",
    ]
    lines += ["## Scorers", "", *_overview("scorer")]
    for name in registry.BUILT_IN["scorer"]:
        cls = registry.find("scorer", name)
        points = _out_of(cls)
        waits = inspect.iscoroutinefunction(cls.score)
        limit = "that of its programs" if waits else f"{cls.time_limit:g} s"
        facts = f"Out of: {points}. Time limit: {limit}. Version: {cls.version}."
        lines += [f"### `{name}`", "", *_described(cls), *_variant("scorer", name), facts, ""]
        lines += _parameters(cls, shown, registry.variant_names("scorer", name))
    lines += ["## Mappings in parameters", ""]
    done: set[str] = set()
    while left := [name for name in shown if name not in done]:
        for name in left:
            done.add(name)
            lines += [f"### {name}", "", *_described(shown[name])]
            lines += _parameters(shown[name], shown)
    lines += ["## Measures", ""]
    lines += [
        "A suite lists its measures under `measures`; each is one number over all cases."
        " You can also [write your own measure](write-a-measure.md).",
        "",
    ]
    lines += _overview("measure")
    for name in registry.BUILT_IN["measure"]:
        cls = registry.find("measure", name)
        lines += [f"### `{name}`", "", *_described(cls), *_variant("measure", name)]
        lines += [f"Version: {cls.version}.", ""]
        lines += _parameters(cls, shown, registry.variant_names("measure", name))
    for kind, title in (("dialect", "Dialects"), ("report", "Reports"), ("sandbox", "Sandboxes")):
        lines += [f"## {title}", "", *_overview(kind, linked=False)]
    return _page(lines)


def cli_page() -> str:
    """Describe every command with its arguments and options."""
    names = cli.context_settings["help_option_names"]
    context = click.Context(cli, info_name="proctor", help_option_names=names)
    lines = ["# The command line", "", NOTE, "", *_help(cli)]
    lines += ["| Command | Description |", "| --- | --- |"]
    for name, (_, text) in COMMANDS.items():
        lines.append(f"| [`{name}`](#proctor-{name}) | {text} |")
    lines += ["", *_options(cli, context)]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        title = f"proctor {name}"
        inner = click.Context(command, info_name=title, terminal_width=400, help_option_names=names)
        usage = command.get_usage(inner).removeprefix("Usage: ")
        lines += [f"## `proctor {name}`", "", "```text", re.sub(r"\s+", " ", usage), "```", ""]
        lines += [*_help(command), *_options(command, inner)]
        for part in command.commands.values() if isinstance(command, click.Group) else ():
            below = click.Context(
                part, info_name=part.name, parent=inner, terminal_width=400, help_option_names=names
            )
            usage = re.sub(r"\s+", " ", part.get_usage(below).removeprefix("Usage: "))
            lines += [f"### `{title} {part.name}`", "", "```text", usage, "```", ""]
            lines += [*_help(part), *_options(part, below)]
    return _page([*lines, *_environment()])


def _environment() -> list[str]:
    rows = [f"| `{name}` | {text} |" for name, text in ENVIRONMENT.items()]
    keys = "Model keys have [their own variables](models.md#names)."
    return ["## The environment", "", "| Variable | Meaning |", "| --- | --- |", *rows, "", keys]


def demo_picture(program: tuple[str, ...] = PROGRAM) -> str:
    """Draw what ``proctor demo --recorded`` prints, down to the end of the first run."""
    from rich.console import Console
    from rich.text import Text

    printed = _on_terminal([*program, "demo", "--recorded"])
    lines = printed.replace("\r\n", "\n").split("\n")
    end = next(at for at, line in enumerate(lines) if line.startswith("Signature"))
    shown = [
        Text("$ proctor demo --recorded", style="bold"),
        *map(Text.from_ansi, lines[: end + 1]),
    ]
    width = max(map(len, shown[:-1])) + 1
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, file=nowhere, width=width, force_terminal=True)
        for line in shown:
            console.print(line, highlight=False, overflow="fold")
        return console.export_svg(
            title="proctor demo --recorded",
            code_format=_SVG,
            unique_id="demo",
            font_aspect_ratio=0.602,
        )


# rich's own format downloads a font from a server; this one uses installed fonts.
_SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def _on_terminal(command: list[str]) -> str:
    """Run a command on a terminal in an empty folder, and return its output."""
    parent, child = pty.openpty()
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm-256color"}
    environment.pop("PROCTOR_STORE", None)
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(  # noqa: S603 - the command is our own
            command, cwd=folder, stdout=child, stderr=subprocess.DEVNULL, env=environment
        )
        os.close(child)
        data = b""
        try:
            while chunk := os.read(parent, 65536):
                data += chunk
        except OSError:  # Linux: the other end is closed
            pass
        if process.wait() != 0:
            raise SystemExit(f"{' '.join(command)} failed")
    os.close(parent)
    return data.decode()


def _overview(kind: str, *, linked: bool = True) -> list[str]:
    rows = ["| Name | Description |", "| --- | --- |"]
    for name in registry.BUILT_IN[kind]:
        first = (inspect.getdoc(registry.find(kind, name)) or "").splitlines()[0]
        shown = f"[`{name}`](#{anchor(name)})" if linked else f"`{name}`"
        rows.append(f"| {shown} | {_markdown(first)} |")
    return [*rows, ""]


def _out_of(cls: Any) -> str:
    """Return how many points a scorer can give, in words."""
    if cls.full_marks is not Scorer.full_marks:
        return "its rules, targets or tests"
    return "nothing; it is only shown" if cls.out_of is None else f"{cls.out_of:g}"


def _described(cls: type[Any]) -> list[str]:
    return [*_markdown(inspect.getdoc(cls) or "").splitlines(), ""]


def _variant(kind: str, name: str) -> list[str]:
    """Describe what an origin has in place of a plugin."""
    found = registry.variant(kind, name)
    if found is None:
        return []
    first, *rest = _described(found)
    return [f"With `compat: {registry.variant_names(kind, name)[0]}`: {first}", *rest]


def _parameters(
    cls: type[Any], shown: dict[str, type[Any]], variants: Sequence[str] = ()
) -> list[str]:
    rows = [
        f"| `{field.name}` | {_type(hint, shown)} | {_default(field)} |"
        for field, hint in _hinted(cls)
    ]
    if variants:
        known = ", ".join(f'`"{name}"`' for name in ("", *variants))
        rows.append(f'| `compat` | one of {known} | `""` |')
    if not rows:
        return ["No parameters.", ""]
    return ["| Parameter | Type | Default |", "| --- | --- | --- |", *rows, ""]


def _hinted(cls: type[Any]) -> Iterator[tuple[Any, Any]]:
    hints = get_type_hints(cls)
    for field in fields(cls):
        yield field, hints[field.name]


def _default(field: Any) -> str:
    value = field.default if field.default_factory is MISSING else field.default_factory()
    if value is MISSING:
        return "required"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if isinstance(value, str):
        return f'`` "{value}" ``' if "`" in value else f'`"{value}"`'
    return "`[]`" if value == () else f"`{value!r}`"


def _type(hint: Any, shown: dict[str, type[Any]]) -> str:
    """Return a type in words, and add the mappings in it to ``shown``."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in args)
    if origin is tuple:
        return f"list of {_plural(_type(args[0], shown))}"
    if origin is Mapping:
        return f"mapping of names to {_plural(_type(args[1], shown))}"
    if origin in (Union, types.UnionType):
        kinds = [_type(part, shown) for part in args if part is not type(None)]
        return " or ".join(kinds)
    if is_dataclass(hint) and isinstance(hint, type):
        shown.setdefault(hint.__name__, hint)
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    return WORDS.get(hint, str(hint))


def _plural(words: str) -> str:
    return f"{words}s" if words in WORDS.values() else words


def _help(command: click.Command) -> list[str]:
    """Return the help of a command, with its example as a code block."""
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("Example:"):
            example = inspect.cleandoc(paragraph.partition("\n")[2])
            lines += ["```text", *example.splitlines(), "```", ""]
        else:
            lines += [*paragraph.splitlines(), ""]
    return lines


def _options(command: click.Command, context: click.Context) -> list[str]:
    parameters = command.get_params(context)
    hidden = [one for one in parameters if isinstance(one, click.Option) and one.hidden]
    older = ["Still understood:", "", *_table(hidden, hidden=True)] if hidden else []
    return [*_shown_options(command, context, parameters), *older]


def _shown_options(
    command: click.Command, context: click.Context, parameters: Sequence[click.Parameter]
) -> list[str]:
    if not isinstance(command, GroupedHelp):
        return _table(parameters)
    lines = _table([one for one in parameters if isinstance(one, click.Argument)])
    for title, options in command.groups(context):
        lines += [f"{title}:", "", *_table(options)]
    return lines


def _table(parameters: Sequence[click.Parameter], *, hidden: bool = False) -> list[str]:
    rows = []
    for parameter in parameters:
        if isinstance(parameter, click.Argument):
            rows.append(f"| `{_upper(parameter)}` | {_argument_text(parameter)} |")
        elif isinstance(parameter, click.Option) and parameter.hidden == hidden:
            rows.append(f"| {_flags(parameter)} | {_option_text(parameter)} |")
    return ["| Option | Description |", "| --- | --- |", *rows, ""]


def _argument_text(argument: click.Argument) -> str:
    parts = []
    if isinstance(argument.type, click.Choice):
        parts.append(f"One of {_choices(argument.type)}.")
    if argument.required:
        parts.append("Required.")
    else:
        known = isinstance(argument.default, str)
        parts.append(f"Default: `{argument.default}`." if known else "Optional.")
    return " ".join(parts)


def _flags(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.is_flag:
        return names
    if isinstance(option.type, click.Choice):
        return f"{names} {_choices(option.type)}"
    return f"{names} `{_upper(option)}`"


def _upper(parameter: click.Parameter) -> str:
    """Return the placeholder of a value: the name of an argument, the type of an option."""
    if parameter.metavar:
        return parameter.metavar
    if isinstance(parameter, click.Argument):
        return (parameter.name or "").upper()
    return "N" if isinstance(parameter.type, click.IntRange) else parameter.type.name.upper()


def _choices(kind: Any) -> str:
    return ", ".join(f"`{choice}`" for choice in kind.choices)


def _option_text(option: click.Option) -> str:
    text = re.sub(r"\[(default: [^\]]*)\]", r"(\1)", option.help or "")
    parts = [text if not text or text.endswith(".") else f"{text}."]
    if option.multiple:
        parts.append("Can be repeated.")
    if option.required:
        parts.append("Required.")
    if isinstance(option.default, str | int) and not option.is_flag and option.default != "":
        parts.append(f"Default: `{option.default}`.")
    return " ".join(part for part in parts if part).replace("|", "\\|")


def _markdown(text: str) -> str:
    return text.replace("``", "`")


def _page(lines: list[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Write all generated pages and the picture."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
    picture = DOCS / "images" / "demo.svg"
    picture.parent.mkdir(exist_ok=True)
    picture.write_text(demo_picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
