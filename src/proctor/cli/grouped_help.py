"""Help in which options stand in groups by purpose, the most used ones first."""

from collections.abc import Iterator, Sequence

import click

from proctor.core.suite import VARIANT

GROUPS: dict[str, Sequence[str]] = {
    "Candidate": (
        "--model", "--answers", "--agent", "--agent-option", "--proxy", "--attempts", "--system",
        "--temperature", "--top-p", "--top-k", "--max-tokens", "--seed", "--max-turns", "--again",
        "--name",
    ),
    "Judge and simulated user": (
        "--judge", "--panel", "--judge-repeats", "--tie", "--simulator",
    ),
    "Suite": (
        "--where", "--limit", "--select", "--dialect", "--root", "--allow-import",
    ),
    "Limits": (
        "--max-cost", "--price", "--concurrency", "--rpm", "--tpm", "--timeout",
        "--attempt-timeout", "--max-unscored",
    ),
    "Where it runs": (
        "--executor", "--workers", "--sandbox", "--offline", "--header", "--record", "--store",
    ),
    "Output": (
        "--by", "--cases", "--gate", "--interval", "--layout", "--out", "--json", "--help",
    ),
    "Files of other tools": (
        f"--{VARIANT}", "--dialect-option",
    ),
}  # fmt: skip
"""Options by the title under which help shows them, in the order in which it does."""


class GroupedHelp(click.Command):
    """A command with so many options that its help needs titles."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list for each group; options that none has come last."""
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
