"""The faults of the fake server: each as clients see it, by rule and by rate."""

import http.client
import json
import threading
from collections import Counter
from contextlib import closing
from typing import Any

import pytest

from proctor.errors import UsageError
from proctor.testing import FakeServer, Fault, Rule
from proctor.testing.faults import KINDS
from waiting import PATIENCE


def outcome(
    client: Any, server: FakeServer, text: str = "What is red?", *, timeout: float = PATIENCE
) -> str:
    """Say in a word how a plain client fares."""
    with closing(client.connect(server, timeout=timeout)) as connection:
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(client.user(text)))
            response = connection.getresponse()
            data = response.read()
            if response.status != 200:
                return f"{response.status} {json.loads(data)['error']['message']}"
            if response.headers["content-type"] != "application/json":
                return response.headers["content-type"]
            if "error" in (body := json.loads(data)):
                return str(body["error"]["message"])
            choices = body["choices"]
            if not choices:
                return "no choices"
            return f"{choices[0]['finish_reason']} {choices[0]['message']['content']}"
        except TimeoutError:
            return "timeout"
        except (ValueError, ConnectionResetError, http.client.IncompleteRead) as error:
            return type(error).__name__


FAULTS = [
    (Fault("late", seconds=0.02), "stop What is red?", 200, True),
    (Fault("rate_limit"), "429 too many requests", 429, False),
    (Fault("error"), "500 something broke", 500, False),
    (Fault("error", status=503, message="busy"), "503 busy", 503, False),
    (Fault("hang"), "timeout", 0, False),
    (Fault("broken_json"), "JSONDecodeError", 200, False),
    (Fault("cut_off"), "IncompleteRead", 200, False),
    (Fault("wrong_type"), "text/html", 200, False),
    (Fault("drip", seconds=0.02), "stop What is red?", 200, True),
    (Fault("reset"), "ConnectionResetError", 0, False),
    (Fault("no_choices"), "no choices", 200, False),
    (Fault("error_inside"), "the stream broke", 200, False),
    (Fault("null_content"), "stop None", 200, True),
    (Fault("length"), "length What i", 200, True),
]


@pytest.mark.parametrize(
    ("fault", "seen", "status", "finished"), FAULTS, ids=[f"{row[0].kind}" for row in FAULTS]
)
@pytest.mark.parametrize("by_rule", [True, False], ids=["rule", "script"])
def test_faults(
    client: Any, fault: Fault, seen: str, status: int, finished: bool, by_rule: bool
) -> None:
    rules = [Rule(fault=fault, tries=(1,))] if by_rule else []
    script = None if by_rule else {"": [fault, "What is red?"]}
    with FakeServer(script, rules=rules) as server:
        timeout = 0.5 if seen == "timeout" else PATIENCE
        assert outcome(client, server, timeout=timeout) == seen
        assert outcome(client, server) == "stop What is red?"
    first, second = server.calls
    assert (first.fault, first.status, first.finished) == (fault.kind, status, finished)
    assert (second.fault, second.status, second.finished) == ("", 200, True)
    assert server.max_in_flight in (1, 2)
    assert bool(server.finished_twice()) is finished


def test_every_kind_of_fault_is_tried() -> None:
    assert {fault.kind for fault, *_ in FAULTS} == set(KINDS)


@pytest.mark.parametrize(("after", "header"), [(None, None), (2.0, "2"), (0.25, "0.25")])
def test_retry_after(client: Any, after: float | None, header: str | None) -> None:
    rule = Rule(fault=Fault("rate_limit", retry_after=after))
    with FakeServer(rules=[rule]) as server:
        assert client.post(server, client.user("x"))[2]["retry-after"] == header


@pytest.mark.parametrize(
    ("rule", "hit"),
    [
        ({}, ["a1", "b1", "a2", "judge"]),
        ({"matching": "^a"}, ["a1", "a2"]),
        ({"role": "judge"}, ["judge"]),
        ({"calls": (2, 3)}, ["b1", "a2"]),
        ({"tries": (2,)}, ["a2"]),
        ({"rate": 0.0}, []),
    ],
)
def test_rules(client: Any, rule: Any, hit: list[str]) -> None:
    with FakeServer(rules=[Rule(fault=Fault("rate_limit"), **rule)]) as server:
        seen = {
            "a1": client.post(server, client.user("a"))[0],
            "b1": client.post(server, client.user("b"))[0],
            "a2": client.post(server, client.user("a"))[0],
            "judge": client.post(server, client.user("a judge"[2:]), "/judge/v1/chat/completions")[
                0
            ],
        }
    assert [name for name, status in seen.items() if status == 429] == hit


RATES = [
    Rule(fault=Fault("rate_limit"), rate=0.2),
    Rule(fault=Fault("error"), rate=0.05),
    Rule(fault=Fault("broken_json"), rate=0.02),
]


def faults_met(client: Any, seed: int, order: int) -> list[str]:
    """Ask 400 questions twice each in some order, and return the faults by question and try."""
    with (
        FakeServer(rules=RATES, seed=seed) as server,
        closing(client.connect(server)) as connection,
    ):
        for number in list(range(400))[::order] * 2:
            connection.request(
                "POST", "/v1/chat/completions", json.dumps(client.user(f"q{number}"))
            )
            connection.getresponse().read()
    found = {(call.body["messages"][0]["content"], call.nth): call.fault for call in server.calls}
    return [found[key] for key in sorted(found)]


@pytest.mark.slow
def test_rates_depend_on_seed_question_and_try_alone(client: Any) -> None:
    first = faults_met(client, 0, 1)
    assert first == faults_met(client, 0, -1)
    assert first != faults_met(client, 1, 1)
    shares = Counter(first)
    assert 0.15 < shares["rate_limit"] / 800 < 0.25
    assert 0.03 < shares["error"] / 800 < 0.08
    assert 0.005 < shares["broken_json"] / 800 < 0.04


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Fault("hnag"), "did you mean 'hang'"),  # type: ignore[arg-type]
        (lambda: Fault("x"), "known are: late"),  # type: ignore[arg-type]
        (lambda: Rule(fault=Fault("hang"), rate=2.0), "between 0 and 1"),
    ],
)
def test_wrong_faults_are_refused(make: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make()


def test_latency_and_calls_in_flight(client: Any) -> None:
    with FakeServer(latency=(0.3, 0.4)) as server:
        threads = [threading.Thread(target=client.said, args=(server, f"q{n}")) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert server.max_in_flight == 5
    waits = [(call.ended or 0.0) - call.began for call in server.calls]
    assert all(wait >= 0.3 for wait in waits)
    assert len({round(wait, 3) for wait in waits}) > 1


def test_a_script_that_raises_fails_the_test_that_uses_it(client: Any) -> None:
    def broken(messages: list[Any], body: Any) -> str:
        return str(body["no such key"])

    with pytest.raises(KeyError, match="no such key"), FakeServer(broken) as server:
        assert client.post(server, client.user("x"))[0] == 400


def test_a_question_that_is_not_scripted_is_an_error(client: Any) -> None:
    with FakeServer({"red": "rot"}) as server:
        status, body, _ = client.post(server, client.user("blue"))
    assert (status, body["error"]["message"]) == (400, "nothing is scripted for 'blue'")


def test_a_port_in_use_is_an_error() -> None:
    with FakeServer() as server, pytest.raises(OSError, match="in use"):
        FakeServer(port=server.port).start()


def test_closing_lets_go_of_clients_that_wait(client: Any) -> None:
    rule = Rule(fault=Fault("hang"))
    with FakeServer(rules=[rule]) as server, closing(client.connect(server)) as connection:
        connection.request("POST", "/v1/chat/completions", json.dumps(client.user("x")))
        client.wait_for(lambda: server.calls)
        server.close()
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            connection.getresponse()
    (call,) = server.calls
    assert call.ended is not None
    assert not call.finished
