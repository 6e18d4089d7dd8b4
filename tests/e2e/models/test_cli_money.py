"""--max-cost as people meet it: it waits instead of stopping, and is refused where it cannot hold."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from proctor.testing import Answer

Serve = Callable[..., Any]
TRIVIA = "name: trivia\ncases:\n" + "".join(
    f"  - {{id: q{n}, ask: 'What is the answer to question number {n}?', criteria: '42'}}\n"
    for n in range(30)
)
YES = '{"reason": "", "result": "yes"}'


def short(messages: list[Any], body: Any) -> Answer:
    return Answer("42", tokens=(20, 3))


@pytest.mark.parametrize("concurrency", ["1", "8", "64"])
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_ninety_calls_for_less_than_a_cent_fit_into_five(
    cli: Any, serve: Serve, concurrency: str
) -> None:
    cli.write("trivia.yaml", TRIVIA)
    with serve(short, latency=(0.0, 0.02)) as server:
        made = cli.json("run", "trivia.yaml", "--model", server.at(), "--attempts", "3",
                        "--max-cost", "0.05", "--price", "m=2.5/10",
                        "--concurrency", concurrency)  # fmt: skip
    assert (made["run"]["status"], len(server.calls)) == ("complete", 90)
    assert made["usage"]["cost"] == pytest.approx(90 * (20 * 2.5 + 3 * 10) / 1e6)


def test_a_higher_limit_goes_on_where_the_lower_one_stopped(cli: Any, serve: Serve) -> None:
    cli.write("trivia.yaml", TRIVIA)
    with serve(short) as server:
        args = ["run", "trivia.yaml", "--model", server.at(), "--price", "m=2.5/10"]
        done = cli(*args, "--max-cost", "0.001", code=3)
        assert "of --max-cost" in done.stderr
        first = len(server.calls)
        assert 10 <= first <= 13
        cli(*args, "--max-cost", "0.001", code=3)
        assert len(server.calls) == first
        cli(*args, "--max-cost", "0.01")
        assert len(server.calls) == 30
        assert server.finished_twice() == []


def test_several_models_share_the_money_of_a_command(cli: Any, serve: Serve) -> None:
    cli.write("trivia.yaml", TRIVIA)
    with serve(short, roles={"other": short}) as server:
        args = ["run", "trivia.yaml", "--model", server.at(), "--model", server.at("other"),
                "--price", "m=2.5/10", "--price", "other=2.5/10"]  # fmt: skip
        cost = 30 * 80 / 1e6
        done = cli.here(*args, "--max-cost", str(1.5 * cost), "--json")
        runs = json.loads(done.stdout)["runs"]
        assert [run["run"]["status"] for run in runs] == ["complete", "incomplete"]
        assert len(server.asked()) == 30
        assert 14 <= len(server.asked("other")) <= 16
        cli(*args, "--max-cost", str(2.1 * cost))
    assert len(server.calls) == 60


def test_panels_and_simulators_share_the_money(manners: Any, serve: Serve) -> None:
    paid = Answer(YES, tokens=(1000, 0))
    with serve("Sir.", roles={"one": lambda m, b: paid, "two": lambda m, b: paid}) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--judge", server.at("one"),
                "--judge", server.at("two"), "--price", "m=0/0", "--concurrency", "1",
                "--price", "one=1000/0", "--price", "two=1000/0"]  # fmt: skip
        done = manners.here(*args, "--max-cost", "4.5")
        assert done.returncode == 3
        assert len(server.asked("one")) + len(server.asked("two")) == 4
        manners(*args, "--max-cost", "6")
    assert len(server.asked("one")) + len(server.asked("two")) == 6


@pytest.mark.parametrize("role", ["--model", "--judge", "--simulator"])
@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_limit_that_cannot_be_held_is_an_error_before_the_first_call(
    manners: Any, serve: Serve, role: str, command: str
) -> None:
    roles = {"--model": "m", "--judge": "j", "--simulator": "u"}
    with serve("Sir.", roles={"j": YES, "u": "Hm."}) as server:
        args = [part for name in roles for part in (name, server.at(roles[name]))]
        args[1] = server.at()
        known = [f"--price={name}=1/2" for option, name in roles.items() if option != role]
        done = manners.here(command, "suite.yaml", *args, *known, "--max-cost", "1")
        assert done.returncode == 2
        said = done.stderr + done.stdout
        assert "--max-cost cannot be enforced" in said
        assert f"--price 'openai:{roles[role]}=IN/OUT'" in said
        assert server.calls == []


def test_a_battle_that_cannot_be_priced_is_an_error_before_the_first_call(
    cities: Any, serve: Serve
) -> None:
    with serve(None, roles={"other": "Lyon", "judge": "never"}) as server:
        for model in (server.at(), server.at("other")):
            cities("run", "suite.yaml", "--model", model)
        done = cities("battle", "cities-openai:m", "cities-openai:other", "--judge",
                      server.at("judge"), "--max-cost", "1", code=2)  # fmt: skip
        assert "--price 'openai:judge=IN/OUT'" in done.stderr
        assert server.asked("judge") == []


@pytest.mark.parametrize("given", ["-1", "nan", "inf"])
def test_a_limit_is_a_number_of_dollars(cities: Any, given: str) -> None:
    done = cities("run", "suite.yaml", "--model", "openai:gpt-4o", f"--max-cost={given}", code=2)
    assert "--max-cost: expected dollars" in done.stderr
