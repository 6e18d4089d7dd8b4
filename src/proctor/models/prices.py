"""What tokens cost: a dated price list, which people may overrule."""

import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from re import compile as pattern

from proctor.core.suite import Json
from proctor.errors import SuiteError, UsageError
from proctor.io import json_bytes
from proctor.io.text_files import read_json

Price = tuple[float, float]
"""US dollars per million tokens in and out."""

_DATE = pattern(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")


def price_of(
    provider: str,
    model: str,
    *,
    overrides: Mapping[str, Price] | None = None,
    listed: bool = True,
) -> Price | None:
    """Return the price of a model; none where nobody knows.

    The overrides are asked first, then the file that PROCTOR_PRICES names, both by
    ``provider:model``, then, where ``listed``, the list that comes with the product. A model with a
    date behind its name costs what the name without it costs, unless it has a price of its own.
    """
    tables: list[Mapping[str, Price]] = [overrides or {}]
    if own := os.environ.get("PROCTOR_PRICES"):
        tables.append(_own(own))
    if listed:
        tables.append(_listed())
    names = (f"{provider}:{model}", f"{provider}:{_DATE.sub('', model)}")
    return next((table[name] for table in tables for name in names if name in table), None)


@cache
def _document() -> Json:
    return json_bytes.loads(files(__package__).joinpath("prices.json").read_bytes())


@cache
def _listed() -> Mapping[str, Price]:
    return _table(_document()["prices"], "the price list")


@cache
def _own(path: str) -> Mapping[str, Price]:
    try:
        return _table(read_json(Path(path)).data, path)
    except SuiteError as error:
        raise UsageError(f"PROCTOR_PRICES: {error}") from None


def _table(data: Json, path: str) -> Mapping[str, Price]:
    entries = data.items() if isinstance(data, dict) else [("", data)]
    prices: dict[str, Price] = {}
    for name, price in entries:
        fine = isinstance(price, list) and len(price) == 2
        if not fine or not all(type(part) in (int, float) and part >= 0 for part in price):
            raise UsageError(
                f'{path}: {name!r} has no price (fix: write {{"openai:NAME": [2.5, 10]}}, US'
                " dollars per million tokens in and out)"
            )
        prices[name] = (float(price[0]), float(price[1]))
    return prices
