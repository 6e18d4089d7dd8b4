"""What calls cost, and who may overrule the list."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from proctor.core.exchange import Usage, cost_of
from proctor.errors import UsageError
from proctor.models.prices import price_of


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
    assert price_of("openai", "gpt-4o", overrides={"openai:gpt-4o": (3.0, 4.0)}) == (3.0, 4.0)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"openai:x": 3}',
        '{"openai:x": [1]}',
        '{"openai:x": [1, -2]}',
        '{"a": [1, true]}',
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
