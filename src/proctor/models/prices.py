"""What tokens cost: a dated price list, which people may overrule."""

import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from re import compile as pattern

from proctor.core.exchange import Rates
from proctor.core.suite import Json
from proctor.errors import SuiteError, UsageError
from proctor.io import json_bytes
from proctor.io.text_files import read_json

Price = tuple[float, float]
"""US dollars per million tokens in and out."""

_DATE = pattern(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_NAMES = {
    "in": "prompt",
    "out": "completion",
    "cached": "cached",
    "cache_write": "cache_write",
    "cache_write_1h": "cache_write_long",
    "batch": "batch",
}
"""What a file calls the rates of a model."""
_ABOVE = "above"
_CACHE_OF_ANTHROPIC = {"cached": 0.1, "cache_write": 1.25, "cache_write_long": 2.0}
"""What the cache costs at Anthropic, as a part of the price of ordinary tokens."""


def rates_of(
    provider: str,
    model: str,
    *,
    price: Price | None = None,
    file: str = "",
    listed: bool = True,
) -> Rates | None:
    """Return what a model costs; none where nobody knows.

    What was given is asked first, then a file, the file that PROCTOR_PRICES names, both by
    ``provider:model``, then, where ``listed``, the list that comes with the product. A model with a
    date behind its name costs what the name without it costs, unless it has a price of its own.
    """
    if price is not None:
        return _with_cache(provider, Rates(prompt=price[0], completion=price[1]))
    tables: list[Mapping[str, Rates]] = []
    if file:
        tables.append(_read(file, "--prices"))
    if own := os.environ.get("PROCTOR_PRICES"):
        tables.append(_read(own, "PROCTOR_PRICES"))
    if listed:
        tables.append(_listed())
    names = (f"{provider}:{model}", f"{provider}:{_DATE.sub('', model)}")
    return next((table[name] for table in tables for name in names if name in table), None)


def price_of(
    provider: str,
    model: str,
    *,
    price: Price | None = None,
    file: str = "",
    listed: bool = True,
) -> Price | None:
    """Return what ordinary tokens of a model cost, in and out; none where nobody knows."""
    rates = rates_of(provider, model, price=price, file=file, listed=listed)
    return None if rates is None else rates.pair


@cache
def _document() -> Json:
    return json_bytes.loads(files(__package__).joinpath("prices.json").read_bytes())


@cache
def _listed() -> Mapping[str, Rates]:
    return _table(_document()["prices"], "the price list")


@cache
def _read(path: str, source: str) -> Mapping[str, Rates]:
    try:
        data = read_json(Path(path)).data
    except SuiteError as error:
        raise UsageError(f"{source}: {error}") from None
    if isinstance(data, dict) and isinstance(data.get("prices"), dict):
        data = data["prices"]
    return _table(data, path)


def _table(data: Json, path: str) -> Mapping[str, Rates]:
    entries = data.items() if isinstance(data, dict) else [("", data)]
    rates: dict[str, Rates] = {}
    for name, entry in entries:
        entry_rates = _rates(entry)
        if entry_rates is None:
            raise UsageError(
                f'{path}: {name!r} has no price (fix: write {{"openai:NAME": [2.5, 10]}}, US'
                ' dollars per million tokens in and out, or {"in": 2.5, "out": 10, "cached": 1.25,'
                ' "cache_write": 2.5, "above": {"200000": {"in": 5, "out": 15}}})'
            )
        rates[name] = _with_cache(str(name).partition(":")[0], entry_rates)
    return rates


def _rates(entry: Json) -> Rates | None:
    """Read what a model costs; none where it is not written as it must be."""
    if isinstance(entry, list) and len(entry) == 2:
        entry = {"in": entry[0], "out": entry[1]}
    if not isinstance(entry, dict) or not {"in", "out"} <= entry.keys():
        return None
    above = entry.get(_ABOVE, {})
    numbers = {name: value for name, value in entry.items() if name != _ABOVE}
    fine = all(
        name in _NAMES and type(value) in (int, float) and value >= 0
        for name, value in numbers.items()
    )
    if not fine or not isinstance(above, dict):
        return None
    tiers: list[tuple[int, Rates]] = []
    for least, part in above.items():
        tier = _rates(part)
        if tier is None or not str(least).isdigit():
            return None
        tiers.append((int(least), tier))
    return Rates(
        **{_NAMES[name]: float(value) for name, value in numbers.items()},
        tiers=tuple(sorted(tiers, key=lambda tier: tier[0])),
    )


def _with_cache(provider: str, rates: Rates) -> Rates:
    """Fill in what the cache costs, where a provider has one rule for all its models."""
    if provider != "anthropic":
        return rates
    shares = {name: rates.prompt * share for name, share in _CACHE_OF_ANTHROPIC.items()}
    own_rates = {name: value for name in shares if (value := getattr(rates, name)) is not None}
    tiers = tuple((least, _with_cache(provider, tier)) for least, tier in rates.tiers)
    return Rates(
        prompt=rates.prompt,
        completion=rates.completion,
        batch=rates.batch,
        tiers=tiers,
        **{**shares, **own_rates},
    )
