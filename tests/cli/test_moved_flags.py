"""Flags that are origins' own: they still work on other commands, hidden, and say where they went."""

from typing import Any

import click
import pytest

from proctor import origin_tables
from proctor.cli.check import check
from proctor.cli.convert import convert
from proctor.cli.options import suite_settings
from proctor.cli.plan import plan
from proctor.cli.run import run

# A command keeps its help option, so that other tests would see another one.
NAMES: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
VALUES = {"file": "f.json", "share": "0.5", "text": "exact_match"}


def settings(command: click.Command, *written: str) -> dict[str, str]:
    needed = ["--to", "native", "--out", "o"] if command is convert else []
    context = command.make_context("c", ["suite.yaml", *needed, *written], **NAMES)
    return dict(suite_settings(context.params).options)


@pytest.mark.parametrize("row", origin_tables.flags(), ids=lambda row: row[1])
@pytest.mark.parametrize("command", [run, plan, check, convert], ids=lambda one: one.name)
def test_a_flag_is_the_setting_that_it_was_and_names_its_new_place(
    command: click.Command, row: tuple[str, str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    flags, setting, kind, place = row
    for number, flag in enumerate(reversed(flags.split("/"))):
        value = VALUES.get(kind, kind.split("|")[0])
        written = [flag] if kind == "flag" else [flag, value]
        expected = str(number) if kind == "flag" else value
        assert settings(command, *written) == {setting: expected}
        told = capsys.readouterr()
        assert f"--dialect-option {setting}=" in told.err
        assert place in told.err
        assert told.out == ""
        assert settings(command, "--dialect-option", f"{setting}={expected}") == {setting: expected}
        assert capsys.readouterr().err == ""
    context = click.Context(command, **NAMES)
    assert flags.partition("/")[0] not in command.get_help(context)


def test_a_setting_of_a_dialect_has_a_name_and_a_value() -> None:
    with pytest.raises(click.UsageError, match="NAME=VALUE"):
        settings(run, "--dialect-option", "guidance")


def test_every_origin_has_its_flags_on_its_own_command() -> None:
    for _, _, _, place in origin_tables.flags():
        if not place:
            continue
        _, name, flag = place.split()
        module, _, attribute = origin_tables.commands()[name][0].partition(":")
        command = getattr(__import__(module, fromlist=[attribute]), attribute)
        assert any(flag in (*one.opts, *one.secondary_opts) for one in command.params)
