"""Plain values as YAML that people like to read and that reads back unchanged."""

import io
import re
from collections.abc import Mapping
from functools import cache
from math import isfinite
from typing import Any

from proctor.io.json_bytes import Json

_STEP = 2
_NEVER_FOLDED = 1 << 30
# Words that YAML 1.1 takes for something else than themselves.
_RESERVED = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_UNPRINTABLE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def yaml_text(data: Mapping[str, Json]) -> str:
    """Return a mapping of JSON values as a YAML document."""
    from ruamel.yaml import YAML

    writer = YAML(typ="safe", pure=True)
    writer.Representer = _representer()
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.width = _NEVER_FOLDED
    writer.indent(mapping=_STEP, sequence=2 * _STEP, offset=_STEP)
    stream = io.StringIO()
    writer.dump(data, stream)
    return stream.getvalue()


@cache
def _representer() -> type:
    """Return what chooses how each value is written."""
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(representer: Any, value: str) -> Any:
        if _HALF_PAIR.search(value):
            raise ValueError("a text contains half of a surrogate pair, which is no character")
        return representer.represent_scalar("tag:yaml.org,2002:str", value, style=_style(value))

    def number(representer: Any, value: float) -> Any:
        if not isfinite(value):
            raise ValueError(f"{value} is not a number that a file can hold")
        return representer.represent_scalar("tag:yaml.org,2002:float", repr(value))

    Representer.add_representer(str, text)
    Representer.add_representer(float, number)
    return Representer


def _style(text: str) -> str | None:
    """Return how a text is written: as a block, in quotes, or as ruamel sees fit.

    Quotes are for what some reader of YAML takes for a number, a date or a truth value.
    """
    if _UNPRINTABLE.search(text):
        return '"'
    if "\n" in text and text.strip() and not text.startswith("\t"):
        return "|"
    if text[:1].isalpha() and text.lower() not in _RESERVED:
        return None
    return "'" if '"' in text or "\\" in text else '"'
