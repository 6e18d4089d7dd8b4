"""Commands of origins whose options take several values each, and may be abbreviated."""

from collections.abc import Collection
from dataclasses import dataclass, field

import click


class ListedOptions(click.Command):
    """A command that parses as the originals do: ``--select A B``, ``--result_detail FILE``.

    An option whose metavar ends with dots takes all words up to the next option; words that the
    command's arguments need are left to them.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat such an option before each of its values, and expand abbreviations."""
        options = [param for param in self.params if isinstance(param, click.Option)]
        option_by_name = {
            name: param for param in options for name in (*param.opts, *param.secondary_opts)
        }
        arguments = sum(isinstance(param, click.Argument) for param in self.params)
        listed = {name for name, param in option_by_name.items() if _takes_several(param)}
        single = {name for name, param in option_by_name.items() if not param.is_flag} - listed
        words = _Words(listed, single)
        for place, arg in enumerate(args):
            if arg == "--":
                words.plain += args[place:]
                words.arguments += len(args) - place - 1
                break
            words.take(_in_full(arg, option_by_name))
        return super().parse_args(ctx, words.spelt(arguments))


def _takes_several(param: click.Option) -> bool:
    return param.multiple and (param.metavar or "").endswith("...")


def _in_full(arg: str, option_names: Collection[str]) -> str:
    """Expand an abbreviated option, if it is unambiguous."""
    name, equals, value = arg.partition("=")
    if not name.startswith("--") or name in option_names or name == "--help":
        return arg
    begun = [option for option in option_names if option.startswith(name)]
    return f"{begun[0]}{equals}{value}" if len(begun) == 1 else arg


@dataclass
class _Words:
    """Words of a command line, split into option values and arguments."""

    listed: Collection[str]
    single: Collection[str]
    plain: list[str] = field(default_factory=list)
    lists: list[tuple[str, list[str]]] = field(default_factory=list)
    arguments: int = 0
    _open: list[str] | None = None
    _awaits: bool = False

    def take(self, word: str) -> None:
        """Add one word."""
        if self._awaits:
            self._awaits = False
            self.plain.append(word)
        elif word.startswith("-") and len(word) > 1:
            self._option(word)
        elif self._open is not None:
            self._open.append(word)
        else:
            self.plain.append(word)
            self.arguments += 1

    def spelt(self, arguments: int) -> list[str]:
        """Return all words, each value of a list preceded by its option."""
        lacking = max(0, arguments - self.arguments)
        values = self.lists[-1][1] if self.lists else []
        taken = max(0, len(values) - lacking)
        given_back, values[taken:] = values[taken:], []
        named = [part for name, words in self.lists for word in words for part in (name, word)]
        return [*named, *self.plain, *given_back]

    def _option(self, word: str) -> None:
        self._open = None
        if word in self.listed:
            self._open = []
            self.lists.append((word, self._open))
            return
        self.plain.append(word)
        self._awaits = word in self.single
