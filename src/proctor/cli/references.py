"""RUN on the command line: a name that several runs have is said to mean the newest of them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proctor.store.store import Store


def tell_which(store: "Store", references: Iterable[str]) -> None:
    """Tell a person which run each name means, where it might mean several."""
    from proctor.cli.output import say
    from proctor.engine.run.names import which_notice

    for reference in dict.fromkeys(references):
        if notice := which_notice(reference, store):
            say(notice)
