"""Tables printed to a text: as wide as they need, or as a terminal is."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

UNLIMITED = 1_000_000
"""The width of a file or pipe, where nothing is cut or folded."""


def printed(
    parts: Sequence["RenderableType"], *, width: int | None = None, color: bool = False
) -> str:
    """Print tables and lines to a text; lines are never folded."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(
        file=file,
        width=UNLIMITED if width is None else width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))
    return "\n".join(line.rstrip() for line in file.getvalue().split("\n"))
