"""The servers of a model: calls go to the idle ones, and the dead are left out for a while."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from proctor.core.access import Destination
from proctor.models import endpoints as module
from proctor.models.endpoints import (
    FIRST_REST,
    GONE_AFTER,
    LARGEST,
    LONGEST_REST,
    Endpoints,
    ModelEndpoint,
    _as_ours,
    _failure,
    _whole,
)
from proctor.models.http_connection import NotTrusted, ReplyTooLong, Unreachable


def several(count: int) -> list[ModelEndpoint]:
    return [ModelEndpoint(Destination(base=f"http://h{n}/v1"), 4) for n in range(count)]


def test_the_server_with_the_fewest_calls_is_picked_and_equals_take_turns() -> None:
    one, two, three = several(3)
    group = Endpoints([one, two, three])
    picked = [group.pick() for _ in range(6)]
    assert {picked.count(endpoint) for endpoint in (one, two, three)} == {2}
    one.in_flight = two.in_flight = 5
    assert {group.pick() for _ in range(3)} == {three}


def test_who_failed_just_now_is_avoided_unless_alone() -> None:
    one, two = several(2)
    group = Endpoints([one, two])
    one.in_flight, two.in_flight = 0, 9
    assert {group.pick(avoid=one) for _ in range(3)} == {two}
    two.rest()
    assert group.pick(avoid=one) is one
    alone = Endpoints([one])
    one.rest()
    assert alone.pick(avoid=one) is one


def test_a_dead_server_rests_each_time_for_longer_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    (one,) = several(1)
    rests = []
    for _ in range(12):
        one.rest()
        rests.append(one.rests_until - now)
    assert rests[:3] == [FIRST_REST, 2 * FIRST_REST, 4 * FIRST_REST]
    assert rests[-1] == LONGEST_REST
    assert one.down_since == now


def test_where_all_are_dead_the_first_to_come_back_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = several(2)
    group = Endpoints([one, two])
    one.rest(), one.rest(), two.rest()
    assert group.pick() is two
    assert not group.gone
    later = time.monotonic() + GONE_AFTER + 1
    monkeypatch.setattr(module.time, "monotonic", lambda: later)
    assert group.gone
    two.failures = 0
    assert not group.gone


def test_the_dead_are_looked_at_beside_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    async def probe(endpoint: ModelEndpoint) -> None:
        looked.append(endpoint.base)

    async def work() -> None:
        one, two = several(2)
        group = Endpoints([one, two])
        two.rest()
        two.rests_until = 0.0
        assert group.pick() is one
        assert group.pick() is one
        await asyncio.sleep(0)
        assert looked == ["http://h1/v1"]
        await group.close()

    monkeypatch.setattr(module, "_probe", probe)
    asyncio.run(work())


def test_a_reply_without_end_is_given_up() -> None:
    class _Content:
        def __init__(self, chunk: bytes, times: int) -> None:
            self.chunk, self.times = chunk, times

        async def readany(self) -> bytes:
            self.times -= 1
            return self.chunk if self.times >= 0 else b""

    assert asyncio.run(_whole(_Content(b"ab", 3), LARGEST)) == b"ababab"
    with pytest.raises(ReplyTooLong):
        asyncio.run(_whole(_Content(bytes(LARGEST // 2), 3), LARGEST))
    failed = _failure(ReplyTooLong(), "http://h/v1", 3.2)
    assert "longer than 64 MiB" in str(failed)
    assert not failed.passing


def _refused() -> Exception:
    from types import SimpleNamespace

    from aiohttp import ClientConnectorError

    key = SimpleNamespace(host="h", port=1, ssl=True, is_ssl=False)
    return ClientConnectorError(key, OSError(111, "Connection refused"))  # type: ignore[arg-type]


def _broken() -> Exception:
    from aiohttp import ServerDisconnectedError

    return ServerDisconnectedError("gone")


@pytest.mark.parametrize(
    ("error", "words", "kind"),
    [
        (lambda: Unreachable("refused"), "cannot be reached: refused", "unreachable"),
        (lambda: _as_ours(_refused()), "cannot be reached: Connection refused", "unreachable"),
        (lambda: _as_ours(_broken()), "broke off: ServerDisconnectedError: gone", ""),
        (TimeoutError, "gave no reply within 3 s", "timeout"),
        (lambda: OSError("reset"), "broke off: OSError: reset", ""),
    ],
)
def test_failures_are_told_with_the_address(
    error: Callable[[], Exception], words: str, kind: str
) -> None:
    failed = _failure(error(), "http://h/v1", 3.2)
    assert str(failed).startswith("http://h/v1 ")
    assert words in str(failed)
    assert failed.passing
    if kind:
        assert failed.kind == kind


def test_a_server_that_is_not_trusted_is_not_asked_again() -> None:
    failed = _failure(NotTrusted("certificate verify failed"), "https://h/v1", 0.1)
    assert str(failed) == "https://h/v1 cannot be trusted: certificate verify failed"
    assert (failed.passing, failed.kind) == (False, "unreachable")


def test_calls_go_through_the_proxy_that_the_environment_prescribes(
    stub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = stub(lambda *_: (200, {}, b'{"ok": true}'))
    monkeypatch.setenv("http_proxy", proxy.root)

    async def work() -> bytes:
        endpoint = ModelEndpoint(Destination(base="http://model.invalid/v1", headers={"X": "y"}), 4)
        answer = await endpoint.post("/chat", b"{}", 20.0)
        await endpoint.close()
        return answer.data

    assert asyncio.run(work()) == b'{"ok": true}'
    ((_, path, _, headers),) = proxy.came
    assert path == "http://model.invalid/v1/chat"
    assert headers["x"] == "y"
    assert "user-agent" in headers


def test_a_path_leads_to_no_other_server() -> None:
    with pytest.raises(ValueError, match="no path below"):
        asyncio.run(ModelEndpoint(Destination(base="http://127.0.0.1:1/v1"), 1).get(".evil/x", 1.0))
