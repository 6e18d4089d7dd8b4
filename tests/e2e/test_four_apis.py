"""One suite through each of the four APIs: the same marks, whatever servers refuse or break."""

import json
from typing import Any

import pytest

from proctor.core.suite import ToolCall
from proctor.testing import Answer, FakeServer, Fault, Rule

SUITE = """\
name: apis
cases:
  - {id: capital, ask: "Capital of France?", criteria: Paris}
  - {id: sum, ask: "17 + 25?", criteria: {number: 42}}
  - {id: polite, ask: Say please., criteria: [{judged: It is polite.}]}
  - {id: rude, ask: Be rude., criteria: [{judged: It is polite.}]}
  - id: warmer
    ask: Which is warmer, Paris or Oslo?
    tools:
      - name: get_weather
        parameters: {type: object, properties: {city: {type: string}}, required: [city]}
    tool_results:
      - {name: get_weather, arguments: {city: Paris}, result: {celsius: 21}}
      - {name: get_weather, arguments: {city: Oslo}, result: {celsius: 9}}
    criteria:
      - exact_match: true
      - tool_calls:
          - {name: get_weather, arguments: {city: Paris}}
          - {name: get_weather, arguments: {city: Oslo}}
    references: Paris
  - id: shaped
    ask: Give the sum as an object.
    response_format: {type: object, properties: {sum: {type: number}}, required: [sum]}
    criteria: {json_equal: {value: {sum: 42}}}
"""
WORDS = {
    "France": "Paris.",
    "17 + 25": "It is 41.",
    "please": "Please!",
    "rude": "Go away.",
    "celsius": "Paris",
    "as an object": '{"sum": 42}',
}
CITIES = tuple(ToolCall(name="get_weather", arguments={"city": city}) for city in ("Paris", "Oslo"))
SIGNED = {
    "openai-chat": "",
    "openai-responses": "sealed-",
    "anthropic": "fake",
    "gemini": "signed-",
}
REFUSALS = {
    "openai-chat": ("temperature", "response_format"),
    "openai-responses": ("temperature", "text.format"),
    "anthropic": ("temperature", "output_config.format"),
    "gemini": ("generationConfig.temperature", "generationConfig.responseSchema"),
}
BREAKS = [Rule(fault=Fault(kind), tries=(1,), rate=0.3) for kind in ("error_inside", "cut_off")]


def script(messages: list[Any], body: Any) -> Answer:
    text = json.dumps(messages)
    if "You examine an answer" in text:
        result = "no" if "Go away" in text else "yes"
        verdict = json.dumps({"reason": "So it is.", "result": result})
        return Answer(verdict, thinking="Hm.", tokens=(500, 50), reasoning_tokens=20)
    if "warmer" in text and "celsius" not in text:
        return Answer(
            None, thinking="Hm.", tokens=(100, 40), cached_tokens=60, reasoning_tokens=30,
            tool_calls=CITIES,
        )  # fmt: skip
    said = next(word for question, word in WORDS.items() if question in text)
    return Answer(said, thinking="Hm.", tokens=(100, 40), cached_tokens=60, reasoning_tokens=30)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("provider", REFUSALS)
@pytest.mark.parametrize("troubled", [False, True], ids=["plain", "troubled"])
def test_the_same_marks_through_each(cli: Any, provider: str, troubled: bool) -> None:
    cli.write("suite.yaml", SUITE)
    refuses = REFUSALS[provider] if troubled else ()
    with FakeServer(script, refuses=refuses, rules=BREAKS if troubled else ()) as server:
        models = ("--model", f"{provider}:c@{server.url}", "--judge", f"{provider}:j@{server.url}")
        options = (
            *models,
            "--temperature",
            "0.5",
            "--reasoning-effort",
            "low",
            "--max-tokens",
            "900",
        )
        done = cli.json("run", "suite.yaml", *options, "--price", "c=10/20", "--cases")
        calls = len(server.finished())
        planned = cli.json("plan", "suite.yaml", *options)
        again = cli.json("run", "suite.yaml", *options, "--name", "again")
        assert len(server.finished()) == calls
    assert {case["id"]: case["value"] for case in done["cases"]} == {
        "capital": 1.0, "sum": 0.0, "polite": 1.0, "rude": 0.0, "warmer": 1.0, "shaped": 1.0,
    }  # fmt: skip
    assert done["totals"]["rate"] == again["totals"]["rate"] == pytest.approx(4 / 6)
    assert planned["usage"]["calls"] == 0
    candidate = done["usage"]["roles"]["candidate"]
    assert (candidate["prompt_tokens"], candidate["cached_tokens"]) == (700, 420)
    assert candidate.get("reasoning_tokens", 0) == (0 if provider == "anthropic" else 210)
    cached = 0.1 if provider == "anthropic" else 1.0
    expected = (280 * 10 + 420 * 10 * cached + 280 * 20) / 1e6
    assert candidate["cost"] == pytest.approx(expected)
    told = next(json.dumps(call.body) for call in server.finished() if "celsius" in str(call.body))
    assert SIGNED[provider] in told, "thinking goes back with the results"


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic"])
def test_the_same_marks_in_batch_jobs(cli: Any, provider: str) -> None:
    """What is refused is learned from the first call of a role, and from one that a job refused."""
    cli.write("suite.yaml", SUITE)
    with FakeServer(script, refuses=REFUSALS[provider], batch_seconds=0.2) as server:
        models = ("--model", f"{provider}:c@{server.url}", "--judge", f"{provider}:j@{server.url}")
        prices = ("--price", "c=10/20", "--price", "j=10/20")
        options = (*models, *prices, "--temperature", "0.5")
        done = cli.json("run", "suite.yaml", *options, "--batch", "--cases")
        planned = cli.json("plan", "suite.yaml", *options)
        jobs = [body for job in server.batches.jobs for body in job.requests.values()]
    assert done["totals"]["errors"] == 0
    assert {case["id"]: case["value"] for case in done["cases"]} == {
        "capital": 1.0, "sum": 0.0, "polite": 1.0, "rude": 0.0, "warmer": 1.0, "shaped": 1.0,
    }  # fmt: skip
    assert planned["usage"]["calls"] == 0
    assert len(jobs) >= 5
    assert all("temperature" not in body for body in jobs)
    asked = [json.dumps(call.body, sort_keys=True) for call in server.finished()]
    assert len(asked) == len(set(asked)), "nothing is paid for twice"
