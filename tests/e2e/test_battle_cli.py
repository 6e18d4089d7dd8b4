"""Battles and charts from the command line: killed and started again, drawn, reported."""

import json
import signal
import subprocess
from collections import Counter
from typing import Any

import pytest

from proctor.testing import FakeServer
from waiting import until

CASES = 12


@pytest.fixture
def ready(cli: Any) -> Any:
    """Give a command line with three runs of a suite."""
    rows = [
        f"  - {{id: '{n}', ask: 'Q{n}', criteria: {{contains: a}},"
        f" tags: {{category: {'头脑风暴' if n % 2 else 'chat'}}}}}"
        for n in range(CASES)
    ]
    cli.write("suite.yaml", "name: s\ncases:\n" + "\n".join(rows) + "\n")
    for name in ("alpha", "beta", "gamma"):
        answers = [{"case": str(n), "output": f"{name} {n}"} for n in range(CASES)]
        cli.answers(answers, f"{name}.jsonl")
        cli("run", "suite.yaml", "--answers", f"{name}.jsonl", "--name", name)
    return cli


def by_name(messages: list[Any], body: Any) -> str:
    """Prefer alpha to beta to gamma, whoever is shown first."""
    marks = {"alpha": 9, "beta": 6, "gamma": 2}
    text = messages[0]["content"]
    places = sorted(
        (text.index(f"\n{name} "), mark) for name, mark in marks.items() if f"\n{name} " in text
    )
    return json.dumps({"reason": "r", "score_1": places[0][1], "score_2": places[1][1]})


@pytest.mark.slow
def test_a_battle_its_charts_and_a_page(ready: Any) -> None:
    with FakeServer(by_name) as server:
        judge = ("--judge", f"openai:j@{server.url}")
        shown = ready("battle", "alpha", "beta", *judge, "--by", "category", "--out", "old").stdout
        made = ready.json("battle", "alpha", "gamma", "beta", *judge)
    assert "头脑风暴" in shown
    assert "100.0%" in shown
    assert [row["run"] for row in made["leaderboard"]] == ["alpha", "beta", "gamma"]
    assert made["battle"]["status"] == "complete"
    assert len(server.calls) == CASES * 6
    total = ready.folder / "old" / "gpt_evaluate" / "battle_results" / "battle_results.json"
    assert json.loads(total.read_text())["alpha_vs_beta"]["worse"] == CASES
    written = ready.json("charts", "alpha", "beta", "gamma", "--out", "pics", "--format", "svg")
    names = {chart["name"] for chart in written["charts"]}
    assert {"rate-by-category", "histogram-values", "battle", "leaderboard"} <= names
    assert len(written["files"]) == len(names)
    assert all(
        (ready.folder / name).read_text("utf-8").startswith("<svg") for name in written["files"]
    )
    ready("report", "alpha", "--format", "html", "--cases", "--out", "page.html")
    page = (ready.folder / "page.html").read_text("utf-8")
    assert "头脑风暴" in page
    assert "<script" not in page
    assert "alpha 11" in page


@pytest.mark.slow
def test_a_battle_that_is_killed_goes_on_where_it_was(ready: Any) -> None:
    with FakeServer(by_name, latency=0.05) as server:
        args = ["battle", "alpha", "beta", "--concurrency", "2"]
        args += ["--judge", f"openai:j@{server.url}"]
        for wanted in (4, 12):
            begun = subprocess.Popen(
                ready.command(*args),
                cwd=ready.folder, env=ready.env,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            until(lambda w=wanted: sum(call.finished for call in server.calls) >= w)
            begun.send_signal(signal.SIGKILL)
            begun.wait()
        made = ready.json(*args)
    (pair,) = made["pairs"]
    assert (pair["win"], pair["tie"], pair["loss"], pair["invalid"]) == (CASES, 0, 0, 0)
    done = Counter(call.key for call in server.calls if call.finished)
    assert len(done) == CASES * 2
    # What was under way when it was killed may be asked again; what was handed over may just have
    # missed the store.
    assert sum(count > 1 for count in done.values()) <= 2 * 2


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["alpha", "beta"], 2, "needs a judge"),
        (["alpha", "alhpa", "--judge", "openai:j@http://127.0.0.1:9/v1"], 2, "alpha"),
        (["alpha", "--judge", "openai:j@http://127.0.0.1:9/v1"], 2, "at least two"),
        (["alpha", "beta", "--judge", "j"], 2, "does not say whose model"),
        (["alpha", "beta", "--judge", "openai:j@http://127.0.0.1:9/v1"], 3, "127.0.0.1:9"),
        (["alpha", "beta", "--judge", "local:x", "--prompt", "alpha.jsonl"], 2, "JSON"),
        (["alpha", "beta", "--judge", "local:x", "--compat", "original"], 2, "prompt file"),
    ],
)
@pytest.mark.sampled(8)
def test_what_cannot_work_is_said(ready: Any, args: list[str], code: int, words: str) -> None:
    done = ready("battle", *args, "--timeout", "2", code=code)
    assert words in done.stderr
