"""Who gets which key, and what clients are made of."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.dialect import Reading
from proctor.contracts.model import ModelChoice
from proctor.core.access import Access, Credential, Source
from proctor.core.exchange import Request
from proctor.core.suite import Suite
from proctor.engine.models.access import from_file
from proctor.engine.models.roles import Models, build_model, resolved
from proctor.engine.run.settings import CallSettings, RunSettings, SuiteSettings
from proctor.errors import PluginError, UsageError
from proctor.store.store import Store

Ask = Callable[..., Request]
FILE = Access(source=Source(kind="file", place="suite.ini:1", file="suite.ini"))


def access(key: str = "", headers: dict[str, str] | None = None) -> Access:
    """Return what the command line names."""
    return Access(credentials=(Credential(name="--key", key=key, headers=headers or {}),))


@pytest.mark.parametrize(
    ("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")]
)
@pytest.mark.parametrize(
    ("in_file", "key", "sent"),
    [
        (False, "", "key-of-the-environment"),
        (False, "key-by-hand", "key-by-hand"),
        (True, "", None),
        (True, "key-in-the-file", "key-in-the-file"),
    ],
)
def test_who_gets_which_key(
    monkeypatch: pytest.MonkeyPatch,
    listener: Callable[..., Any],
    ask: Ask,
    provider: str,
    variable: str,
    in_file: bool,
    key: str,
    sent: str | None,
) -> None:
    monkeypatch.setenv(variable, "key-of-the-environment")

    async def work(url: str) -> None:
        choice = ModelChoice(spec=f"{provider}:m@{url}", access=access(key))
        if in_file:
            choice = from_file(choice, "suite.ini")
        model = build_model(choice, CallSettings())
        assert not sent or sent not in f"{model!r} {choice!r} {model.identity}"
        try:
            await model.reply(ask(max_tokens=5))
        finally:
            await model.close()

    with listener() as server:
        asyncio.run(work(server.url))
    [headers] = server.headers
    found = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    assert (found or None) == sent
    assert sent == "key-of-the-environment" or "key-of-the-environment" not in str(headers)


def test_a_host_that_only_a_file_names_gets_no_key(
    monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    """Not even where a key would otherwise be needed and sent: over https, to another machine."""
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    named = ModelChoice(spec="openai:file@https://file.example/v1")
    reading = Reading(suite=Suite(name="s", cases=()), roles={"candidate": named})
    given = resolved(RunSettings(suite=SuiteSettings(path=Path("suite"))), reading)
    assert given.model is not None
    by_file = Models(store, CallSettings()).open(given.model).inner
    by_hand = build_model(named, CallSettings())
    url = "https://file.example/v1"
    auth = [model._destination(url).headers for model in (by_file, by_hand)]  # type: ignore[attr-defined]
    assert "Authorization" not in auth[0]
    assert auth[1]["Authorization"] == "Bearer key-of-the-environment"


def test_two_keys_are_two_clients(store: Store) -> None:
    models = Models(store, CallSettings())
    url = "openai:m@http://127.0.0.1:1/v1"
    one, same = (models.open(ModelChoice(spec=url, access=access("a"))) for _ in range(2))
    assert one is same
    others = [
        models.open(ModelChoice(spec=url, **changes))
        for changes in (
            {"access": access("b")}, {}, {"access": FILE}, {"access": access(headers={"X": "1"})},
            {"concurrency": 3}, {"timeout": 1.0},
        )
    ]  # fmt: skip
    assert len({id(model) for model in (one, *others)}) == 7


@pytest.mark.parametrize(
    ("choice", "calls", "params"),
    [
        ({}, {}, {"concurrency": 64, "timeout": 600.0, "requests_per_minute": None}),
        ({"concurrency": 5}, {"concurrency": 9}, {"concurrency": 5}),
        ({"concurrency": 50}, {"concurrency": 9}, {"concurrency": 9}),
        ({"timeout": 5.0}, {"timeout": 9.0}, {"timeout": 5.0}),
        ({}, {"timeout": 9.0}, {"timeout": 9.0}),
        (
            {},
            {"requests_per_minute": 3, "tokens_per_minute": 4},
            {"requests_per_minute": 3, "tokens_per_minute": 4},
        ),
        ({"access": access(headers={"X-A": "b"})}, {}, {"headers": {"X-A": "b"}}),
        ({}, {"prices": {"m": (1.0, 2.0)}}, {"price": (1.0, 2.0)}),
        ({}, {"prices": {"openai:m": (3.0, 4.0), "m": (1.0, 2.0)}}, {"price": (3.0, 4.0)}),
        ({}, {"prices": {"m": (0.0, 0.0)}}, {"price": (0.0, 0.0)}),
    ],
)
def test_a_client_is_made_of_the_settings(
    choice: dict[str, Any], calls: dict[str, Any], params: dict[str, Any]
) -> None:
    spec = "openai:m@https://far.example/v1"
    model = build_model(ModelChoice(spec=spec, **choice), CallSettings(**calls))
    assert {name: getattr(model, name) for name in params} == params


@pytest.mark.parametrize(
    ("spec", "error"),
    [("gpt-4", UsageError), ("nobody:gpt-4", PluginError), ("openai:", UsageError)],
)
def test_names_of_models(spec: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        build_model(ModelChoice(spec=spec), CallSettings())
