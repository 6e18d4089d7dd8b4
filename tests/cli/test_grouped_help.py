"""Help of commands with many options: every option stands under the title of its purpose."""

import click
import pytest
from click.testing import CliRunner

from proctor.cli.main import cli
from proctor.cli.options import GROUPS
from proctor.cli.plan import plan
from proctor.cli.run import run


@pytest.mark.parametrize("command", [run, plan], ids=["run", "plan"])
def test_no_option_is_without_a_group(command: click.Command) -> None:
    help_text = CliRunner().invoke(cli, [str(command.name), "--help"]).output
    assert "\nOther:\n" not in help_text
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    for option in options:
        assert help_text.count(f"\n  {option.opts[0]} ") == 1, option.opts


def test_groups_come_in_order_with_the_most_used_option_first() -> None:
    help_text = CliRunner().invoke(cli, ["run", "--help"]).output
    places = [help_text.index(f"\n{title}:\n  {names[0]} ") for title, names in GROUPS.items()]
    assert places == sorted(places)


def test_no_option_is_in_two_groups() -> None:
    names = [name for group in GROUPS.values() for name in group]
    assert len(names) == len(set(names))
