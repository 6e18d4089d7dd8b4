"""Servers that refuse what current models refuse: asked without it, said once, and on the record."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from proctor.testing import Fault

Serve = Callable[..., Any]
YES = '{"reason": "because yes", "result": "yes"}'
ASKING = """\
name: asking
dialogue: {clarify: {simulator_sampling: {temperature: 0.5, max_tokens: 50}}}
criteria: {noted: correct}
cases:
  - id: sum
    ask: What is a + b?
    references: "7"
    hidden: {question: "What is 3 + 4?", info: The values., points: [the value of a]}
"""


def flagship(reply: Any, *fields: str) -> Callable[[list[Any], Any], Any]:
    """Answer as a model that refuses fields, as those of today refuse a temperature."""

    def say(messages: list[Any], body: Any) -> Any:
        for name in fields:
            if name in body:
                words = f"Unsupported value: '{name}' is not supported with this model."
                return Fault("error", status=400, message=words)
        return reply(messages, body) if callable(reply) else reply

    return say


def test_a_judge_that_refuses_temperature_0_rules_all_the_same(manners: Any, serve: Serve) -> None:
    with serve("Sir.", roles={"judge": flagship(YES, "temperature")}) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--judge", server.at("judge"),
                "--concurrency", "1"]  # fmt: skip
        done = manners(*args)
        assert done.stderr.count("openai:judge refuses temperature") == 1
        assert "WARNING" not in done.stderr
        assert "|refused:openai:judge temperature|" in done.stdout.replace("\n", "")
        made = manners.json(*args)
        assert (made["totals"]["score"], made["totals"]["unscored"]) == (3.0, 0)
        assert "|refused:openai:judge temperature|" in made["run"]["signature"]
        refused = [body for body in server.asked("judge") if "temperature" in body]
        assert (len(refused), len(server.asked("judge"))) == (1, 1 + 3)


def test_what_the_person_set_and_the_server_refuses_is_said_loudly(
    cities: Any, serve: Serve
) -> None:
    script = flagship(lambda messages, body: messages[-1]["content"], "temperature", "seed")
    with serve(script) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--temperature", "0", "--seed", "7"]
        done = cities(*args)
        for words in ("temperature, which you set to 0.0", "seed, which you set to 7"):
            assert done.stderr.count(f"WARNING: openai:m refuses {words}: it is not sent") == 1
        made = cities.json(*args)
        assert "|refused:openai:m seed+temperature|" in made["run"]["signature"]
        assert (
            len([body for body in server.asked() if not {"temperature", "seed"} & set(body)]) == 4
        )
    assert made["totals"]["errors"] == 0


def test_a_simulated_user_that_refuses_is_asked_without(cli: Any, serve: Serve) -> None:
    def candidate(messages: list[Any], body: Any) -> str:
        return "It is seven" if len(messages) > 1 else "What is a?"

    def arbiter(messages: list[Any], body: Any) -> str:
        final = "seven" in messages[-1]["content"]
        ruling = {"is_final_answer": final, "is_correct": final, "missing_required_points": [],
                  "all_required_points_resolved": final, "reason": ""}  # fmt: skip
        return json.dumps(ruling)

    cli.write("asking.yaml", ASKING)
    user = flagship("a is 3", "temperature", "max_tokens")
    with serve(candidate, roles={"judge": arbiter, "user": user}) as server:
        done = cli("run", "asking.yaml", "--model", server.at(), "--judge", server.at("judge"),
                   "--simulator", server.at("user"))  # fmt: skip
        made = cli.json("report", "@last", "--format", "json")
    assert (made["totals"]["unscored"], made["totals"]["score"]) == (0, 1.0)
    assert [sorted(set(body) - {"model", "messages"}) for body in server.asked("user")] == [
        ["max_tokens", "temperature"], ["max_tokens"], []]  # fmt: skip
    assert "openai:user refuses max_tokens" in done.stderr
    assert "refused:openai:user max_tokens+temperature" in made["run"]["signature"]


def test_a_judge_of_a_battle_that_refuses_is_asked_without(cities: Any, serve: Serve) -> None:
    marks = '{"reason": "", "score_1": 5, "score_2": 5}'
    judge = flagship(marks, "temperature")
    with serve(None, roles={"other": "Lyon", "judge": judge}) as server:
        for model in (server.at(), server.at("other")):
            cities("run", "suite.yaml", "--model", model)
        done = cities("battle", "cities-openai:m", "cities-openai:other", "--json",
                      "--judge", server.at("judge"))  # fmt: skip
    assert done.stderr.count("openai:judge refuses temperature") == 1
    assert "refused:openai:judge temperature" in done.stdout


@pytest.mark.slow
def test_a_stopped_run_remembers_what_was_refused(manners: Any, serve: Serve) -> None:
    """The second part of a run makes no call to the judge, and its signature says it all the same."""
    gone = flagship(YES, "temperature")
    with serve("Sir.", roles={"judge": gone}) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--judge", server.at("judge")]
        manners.start(*args)
        count = len(server.calls)
        done = manners.start(*args, "--json")  # another process
        assert len(server.calls) == count
    assert "refused:openai:judge temperature" in done.stdout


def test_runs_whose_servers_refused_other_settings_are_compared_with_a_note(
    cities: Any, serve: Serve
) -> None:
    echo = lambda messages, body: messages[-1]["content"]  # noqa: E731
    with serve(echo, roles={"new": flagship(echo, "temperature")}) as server:
        for model in (server.at(), server.at("new")):
            cities("run", "suite.yaml", "--model", model, "--temperature", "0")
        said = cities("compare", "cities-openai:m", "cities-openai:new")
    assert "servers refused other settings" in said.stdout + said.stderr


@pytest.mark.parametrize("words", ["I refuse.", "Your prompt was flagged."])
def test_a_refusal_that_names_nothing_stays_an_error(cities: Any, serve: Serve, words: str) -> None:
    with serve(lambda messages, body: Fault("error", status=400, message=words)) as server:
        done = cities.here("run", "suite.yaml", "--model", server.at(), "--temperature", "0")
    assert done.returncode == 3
    assert len(server.calls) == 4


def test_what_was_refused_is_on_the_record_of_every_run_that_rests_on_it(
    manners: Any, serve: Serve
) -> None:
    text = (manners.folder / "suite.yaml").read_text()
    manners.write("other.yaml", text.replace("manners", "others"))
    with serve("Sir.", roles={"judge": flagship(YES, "temperature"), "own": YES}) as server:
        models = ["--model", server.at(), "--judge", server.at("judge")]
        first = manners.json("run", "suite.yaml", *models)
        bought = len(server.asked()), len(server.asked("judge"))
        other = manners.json("run", "other.yaml", *models)
        assert (len(server.asked()), len(server.asked("judge"))) == bought
        own = manners.json("run", "other.yaml", "--model", server.at(), "--judge", server.at("own"))
    assert other["run"]["id"] != first["run"]["id"]
    assert "|refused:openai:judge temperature|" in other["run"]["signature"]
    assert "refused" not in own["run"]["signature"]
