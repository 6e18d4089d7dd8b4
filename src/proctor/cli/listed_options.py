"""Commands of origins whose options take several values each, and may be shortened."""

from collections.abc import Collection
from dataclasses import dataclass, field

import click


class ListedOptions(click.Command):
    """Take words as the originals' own parser does: ``--select A B``, ``--result_detail FILE``.

    An option whose metavar ends with dots takes all words that follow it, up to the next option;
    words that the command's arguments lack are given back to them.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Write such an option before each of its values, and every option in full."""
        options = [param for param in self.params if isinstance(param, click.Option)]
        known = {name: param for param in options for name in (*param.opts, *param.secondary_opts)}
        arguments = sum(isinstance(param, click.Argument) for param in self.params)
        listed = {name for name, param in known.items() if _takes_several(param)}
        single = {name for name, param in known.items() if not param.is_flag} - listed
        words = _Words(listed, single)
        for place, arg in enumerate(args):
            if arg == "--":
                words.plain += args[place:]
                words.arguments += len(args) - place - 1
                break
            words.take(_in_full(arg, known))
        return super().parse_args(ctx, words.spelt(arguments))


def _takes_several(param: click.Option) -> bool:
    return param.multiple and (param.metavar or "").endswith("...")


def _in_full(arg: str, known: Collection[str]) -> str:
    """Return an option that was shortened in full, where only one begins so."""
    name, equals, value = arg.partition("=")
    if not name.startswith("--") or name in known or name == "--help":
        return arg
    begun = [option for option in known if option.startswith(name)]
    return f"{begun[0]}{equals}{value}" if len(begun) == 1 else arg


@dataclass
class _Words:
    """Tell values of options from arguments, word by word."""

    listed: Collection[str]
    single: Collection[str]
    plain: list[str] = field(default_factory=list)
    lists: list[tuple[str, list[str]]] = field(default_factory=list)
    arguments: int = 0
    _open: list[str] | None = None
    _awaits: bool = False

    def take(self, word: str) -> None:
        """Take in one word."""
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
        """Return all words, each value of a list after its option."""
        lacking = max(0, arguments - self.arguments)
        values = self.lists[-1][1] if self.lists else []
        kept = max(0, len(values) - lacking)
        given_back, values[kept:] = values[kept:], []
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
