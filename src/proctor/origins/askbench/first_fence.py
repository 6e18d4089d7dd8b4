"""A judge's JSON as AskBench's own code takes it: the first fence, or else the whole reply."""

import json
import re

from proctor.core.suite import Json

_FENCE = re.compile(r"```json\s*(.*?)\s*```", re.DOTALL)


def read_first_json(text: str) -> Json:
    """Read the first block fenced as ``json``, or else the whole reply; empty JSON is none."""
    fenced = _FENCE.search(text)
    try:
        value = json.loads(fenced[1] if fenced else text.strip())
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if not value:
        raise ValueError("the JSON is empty")
    return value


def first_json(text: str) -> Json:
    """Return what there is to read in a reply; none where there is nothing."""
    try:
        return read_first_json(text)
    except ValueError:
        return None
