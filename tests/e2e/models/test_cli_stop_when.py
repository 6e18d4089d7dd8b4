"""--stop-when: cases in random order until it is sure, nothing paid twice, and marked as such."""

import json
import re
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from proctor.testing import Answer
from waiting import until

Serve = Callable[..., Any]
CASES = 200
SUITE = "name: sums\ncases:\n" + "".join(
    f"  - {{id: s{n:03}, ask: 'What is {n} + {n}?', criteria: {{number: {2 * n}}}, tags: {{part: '{n % 2}'}}}}\n"
    for n in range(CASES)
)  # fmt: skip
PRICE = ("--price", "m=2.5/10", "--price", "good=2.5/10")


def adds(every: int) -> Callable[[list[Any], Any], Answer]:
    """Answer wrongly whenever the number can be divided by this."""

    def answer(messages: list[Any], body: Any) -> Answer:
        number = int(re.findall(r"\d+", messages[-1]["content"])[0])
        return Answer(str(2 * number + (number % every == 0)), tokens=(20, 3))

    return answer


@pytest.fixture
def sums(cli: Any) -> Any:
    cli.write("suite.yaml", SUITE)
    return cli


@pytest.mark.slow
def test_a_comparison_ends_as_soon_as_it_is_decided(sums: Any, serve: Serve) -> None:
    with serve(adds(3), roles={"good": adds(50)}) as server:
        sums("run", "suite.yaml", "--model", server.at(), "--name", "old", *PRICE)
        args = ["run", "suite.yaml", "--model", server.at("good"), "--name", "new", *PRICE]
        stop = ["--stop-when", "decided", "--against", "old"]
        done = sums(*args, *stop)
        asked = len(server.asked("good"))
        assert asked < CASES / 2
        assert asked % 10 == 0
        said = re.search(
            r"stopped early: new is better than old \(evidence (\d+):1 after (\d+) of 200 cases\);"
            r" that saved (\d+) cases and about (\d+) calls and about \$([\d.]+)", done.stderr
        )  # fmt: skip
        assert said is not None, done.stderr
        assert int(said[1]) >= 20
        assert asked - 10 < int(said[2]) <= asked
        assert int(said[3]) == int(said[4]) == CASES - asked
        assert float(said[5]) == pytest.approx((CASES - asked) * 80e-6, rel=0.01)
        assert f"Stopped early: {asked} of 200 cases" in done.stdout
        again = sums.json(*args, *stop)
        early = again["run"]["stopped_early"]
        assert (again["run"]["status"], early["answer"], early["cases"]) == (
            "complete", "better", asked,
        )  # fmt: skip
        assert len(server.asked("good")) == asked
        low, high = again["totals"]["interval"]
        assert (low, high) == pytest.approx(early["rate_interval"])
        compared = sums.json("compare", "old", "new")
        assert any("stopped early" in warning for warning in compared["warnings"])
        (pair,) = compared["pairs"]
        assert pair["verdict"] == "better"
        assert pair["sequential"]["cases"] == early["decided_after"]
        assert pair["sequential"]["odds"] == pytest.approx(early["odds"])
        assert [run["stopped_early"] for run in compared["runs"]] == [False, True]
        listed = {run["name"]: run for run in sums.json("list", "runs")["runs"]}
        assert [listed[name]["stopped_early"] for name in ("old", "new")] == [False, True]
        assert "stopped early" in sums("report", "new").stdout.lower()
        refused = sums(*args[:4], *args[4:], "--again", "x", "--stop-when", "decided",
                       "--against", "new", code=2)  # fmt: skip
        assert "was itself stopped early" in refused.stderr
        # Without the option the same run goes to its end, and pays for the rest only.
        whole = sums.json(*args)
        assert (whole["run"]["stopped_early"], whole["totals"]["cases"]) == (None, CASES)
        assert len(server.asked("good")) == CASES
        assert server.finished_twice() == []
        still = sums(*args, *stop)
        assert "new is better than old" in still.stderr
        assert "stopped early" not in still.stderr + still.stdout.lower()


@pytest.mark.parametrize(
    ("every", "when", "answer", "words"),
    [
        (50, "rate >= 0.8", "yes", "rate >= 0.8 is true"),
        (2, "rate >= 80%", "no", "rate >= 80% is not true"),
        (2, "rate < 0.8", "yes", "rate < 0.8 is true"),
    ],
)
@pytest.mark.sampled(3)
def test_a_condition_on_the_rate_is_answered_either_way(
    sums: Any, serve: Serve, every: int, when: str, answer: str, words: str
) -> None:
    with serve(adds(every)) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--stop-when", when]
        made = sums(*args, "--json")
        early = json.loads(made.stdout)["run"]["stopped_early"]
        assert (early["question"], early["answer"]) == (when, answer)
        assert words in made.stderr
        assert len(server.calls) == early["cases"] < CASES / 2


def test_what_is_never_sure_goes_to_the_end(sums: Any, serve: Serve) -> None:
    with serve(adds(5)) as server:
        made = sums("run", "suite.yaml", "--model", server.at(), "--stop-when", "rate >= 0.8",
                    "--limit", "30", "--json")  # fmt: skip
        assert json.loads(made.stdout)["run"]["stopped_early"] is None
        assert "not sure after 30 cases" in made.stderr
        assert len(server.calls) == 30


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--stop-when", "decided"], "--against RUN"),
        (["--against", "absent"], "has no runs"),
        (["--margin", "2"], "--margin goes with --against"),
        (["--stop-when", "rate >= 80"], "between 0 and 1"),
        (["--stop-when", "rate.low >= 0.8"], "'rate >= 0.8'"),
        (["--stop-when", "rate >= 0.8", "--margin", "2"], "go with --stop-when decided"),
        (["--stop-when", "decided", "--against", "nobody"], "has no runs"),
        (["--stop-when", "decided", "--against", "old", "--margin", "200"], "points of 100"),
        (["--stop-when", "rate >= 0.8", "--record", "tape.jsonl"], "--record needs all calls"),
    ],
)
@pytest.mark.sampled(2)
def test_questions_that_cannot_be_answered_cost_nothing(
    sums: Any, serve: Serve, more: list[str], said: str
) -> None:
    with serve(adds(3)) as server:
        done = sums("run", "suite.yaml", "--model", server.at(), *more, code=2)
    assert said in done.stderr
    assert server.calls == []


def test_another_suite_cannot_be_compared_with(sums: Any, serve: Serve) -> None:
    with serve(adds(3)) as server:
        sums("run", "suite.yaml", "--model", server.at(), "--name", "old", "--limit", "20")
        sums.write("other.yaml", SUITE.replace("What is", "Say"))
        stop = ["--stop-when", "decided", "--against", "old"]
        done = sums("run", "other.yaml", "--model", server.at(), *stop, code=2)
        assert "under the same id in 20 cases" in done.stderr
        assert len(server.calls) == 20
    sums.answers({"case": "s001", "output": "2"} for _ in range(1))
    done = sums("run", "suite.yaml", "--answers", "answers.jsonl", *stop, code=2)
    assert "answers on file take none" in done.stderr


def test_plan_says_that_it_may_be_less(sums: Any, serve: Serve) -> None:
    with serve(adds(3)) as server:
        args = ["plan", "suite.yaml", "--model", server.at(), "--stop-when", "rate >= 0.8"]
        assert "stops when rate >= 0.8 is answered: at most" in sums(*args).stdout
        assert sums.json(*args)["stop_when"] == "rate >= 0.8"
        assert server.calls == []


@pytest.mark.slow
def test_killed_and_started_again_it_decides_the_same(sums: Any, serve: Serve) -> None:
    with serve(adds(3), roles={"good": adds(12)}, latency=(0.0, 0.03)) as server:
        sums("run", "suite.yaml", "--model", server.at(), "--name", "old")
        stop = ["--stop-when", "decided", "--against", "old", "--json"]
        calm = sums.json("run", "suite.yaml", "--model", server.at("good"), "--name", "calm",
                         *stop[:-1])["run"]["stopped_early"]  # fmt: skip
        before = len(server.asked("good"))
        args = ["run", "suite.yaml", "--model", server.at("good"), "--again", "killed",
                "--name", "killed", "--concurrency", "4", *stop]  # fmt: skip
        for _ in range(4):
            process = subprocess.Popen(
                sums.command(*args), cwd=sums.folder, env=sums.env,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            goal = len(server.asked("good")) + 7
            until(
                lambda p=process, g=goal: p.poll() is not None or len(server.asked("good")) >= g,
                every=0.005,
            )
            process.kill()
            process.communicate()
        made = json.loads(sums(*args).stdout)["run"]["stopped_early"]
        repeated = len(server.asked("good")) - before - made["cases"]
    assert {name: made[name] for name in ("answer", "odds", "decided_after", "seed")} == {
        name: calm[name] for name in ("answer", "odds", "decided_after", "seed")
    }
    assert repeated <= 4 * 8  # what was under way, or just handed over, when it was killed
