"""What calls cost, and who may overrule the list."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from proctor.core.exchange import Usage, cost_of
from proctor.errors import UsageError
from proctor.models.prices import price_of, rates_of


@pytest.mark.parametrize(
    ("provider", "name", "price"),
    [
        ("openai", "gpt-4o", (2.5, 10.0)),
        ("openai", "gpt-4o-2024-11-20", (2.5, 10.0)),
        ("openai", "gpt-4o-2024-05-13", (5.0, 15.0)),
        ("openai", "gpt-4o-mini", (0.15, 0.6)),
        ("openai", "gpt-4o-audio", None),
        ("anthropic", "claude-sonnet-4-5-20250929", (3.0, 15.0)),
        ("anthropic", "claude-3-5-haiku-latest", (0.8, 4.0)),
        ("anthropic", "gpt-4o", None),
    ],
)
def test_list(provider: str, name: str, price: tuple[float, float] | None) -> None:
    assert price_of(provider, name) == price


def test_the_page_tells_the_date_of_the_list() -> None:
    listed = json.loads(files("proctor.models").joinpath("prices.json").read_text("utf-8"))
    page = Path(__file__).parents[2] / "docs" / "models.md"
    assert f"list prices as of {listed['as_of']}" in page.read_text(encoding="utf-8")


def test_overruled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "prices.json"
    own.write_text(json.dumps({"openai:gpt-4o": [1, 2], "openai:mine": [0, 0]}))
    monkeypatch.setenv("PROCTOR_PRICES", str(own))
    assert price_of("openai", "gpt-4o") == (1.0, 2.0)
    assert price_of("openai", "mine", listed=False) == (0.0, 0.0)
    assert price_of("openai", "gpt-4o-mini", listed=False) is None
    assert price_of("openai", "gpt-4o", price=(3.0, 4.0)) == (3.0, 4.0)
    named = tmp_path / "named.json"
    rates = {"in": 5, "out": 6, "cached": 1, "above": {"100": {"in": 7, "out": 8}}}
    named.write_text(json.dumps({"as_of": "2026-11-01", "prices": {"openai:gpt-4o": rates}}))
    assert price_of("openai", "gpt-4o", file=str(named)) == (5.0, 6.0)
    assert price_of("openai", "mine", file=str(named)) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("provider", "entry", "usage", "cost"),
    [
        ("openai", [2, 8], Usage(prompt_tokens=1_000_000, cached_tokens=500_000), 2.0),
        (
            "openai",
            {"in": 2, "out": 8, "cached": 0.5},
            Usage(prompt_tokens=1_000_000, cached_tokens=500_000, completion_tokens=1_000_000),
            9.25,
        ),
        (
            "anthropic",
            [2, 8],
            Usage(prompt_tokens=1_000_000, cached_tokens=500_000, cache_write_tokens=100_000),
            0.8 + 0.1 + 0.25,
        ),
        (
            "anthropic",
            [2, 8],
            Usage(
                prompt_tokens=1_000_000, cache_write_tokens=300_000, cache_write_long_tokens=100_000
            ),
            1.4 + 0.5 + 0.4,
        ),
        (
            "gemini",
            {"in": 2, "out": 8, "above": {"200000": {"in": 4, "out": 16, "cached": 1}}},
            Usage(prompt_tokens=200_000, completion_tokens=1_000_000, cached_tokens=200_000),
            8.4,
        ),
        (
            "gemini",
            {"in": 2, "out": 8, "above": {"200000": {"in": 4, "out": 16, "cached": 1}}},
            Usage(prompt_tokens=400_000, completion_tokens=1_000_000, cached_tokens=200_000),
            0.8 + 0.2 + 16,
        ),
    ],
)
def test_caches_and_tiers(
    tmp_path: Path, provider: str, entry: object, usage: Usage, cost: float
) -> None:
    own = tmp_path / "prices.json"
    own.write_text(json.dumps({f"{provider}:m": entry}))
    rates = rates_of(provider, "m", file=str(own))
    assert rates is not None
    assert rates.cost(usage) == pytest.approx(cost)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"openai:x": 3}',
        '{"openai:x": [1]}',
        '{"openai:x": [1, -2]}',
        '{"a": [1, true]}',
        '{"a": {"in": 1}}',
        '{"a": {"in": 1, "out": 2, "cache": 3}}',
        '{"a": {"in": 1, "out": 2, "above": {"x": [1, 2]}}}',
        '{"a": {"in": 1, "out": 2, "above": {"5": [1]}}}',
    ],
)
def test_a_wrong_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    own = tmp_path / "prices.json"
    own.write_text(text)
    monkeypatch.setenv("PROCTOR_PRICES", str(own))
    with pytest.raises(UsageError, match=r"prices\.json"):
        price_of("openai", "gpt-4o")


@pytest.mark.parametrize(
    ("price", "usage", "cost"),
    [
        (None, Usage(prompt_tokens=5), None),
        ((2.0, 8.0), Usage(prompt_tokens=1_000_000, completion_tokens=500_000), 6.0),
        ((2.0, 8.0), Usage(), None),
        ((0.0, 0.0), Usage(), 0.0),
    ],
)
def test_cost(price: tuple[float, float] | None, usage: Usage, cost: float | None) -> None:
    assert cost_of(price, usage) == cost
