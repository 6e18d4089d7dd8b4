"""Failure is never a mark: what breaks is an error with its reason, and the exit code says so."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from proctor.testing import FakeServer

SUITE = "name: s\ncases:\n" + "".join(
    f"  - id: c{n}\n    ask: question {n}\n    criteria: {{contains: fine}}\n" for n in range(12)
)
AGENT = """
def broken(message):
    return {}[message]

def flaky(message):
    return "fine" if message.endswith(("1", "2")) else {}[message]
"""


@pytest.fixture
def agents(cli: Any) -> Path:
    cli.write("suite.yaml", SUITE)
    cli.write("my_agent.py", AGENT)
    folder: Path = cli.folder
    return folder


@pytest.mark.parametrize("inside", ["false", "true"])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_an_agent_that_raises_in_every_attempt_is_no_rate_of_0(
    cli: Any, agents: Path, inside: str
) -> None:
    cli.env.pop("COLUMNS", None)
    args = ("--agent", "python:my_agent:broken", "--agent-option", f"in_process={inside}")
    done = cli("run", "suite.yaml", *args, code=3)
    first = done.stdout.splitlines()[0]
    assert first.startswith(
        "incomplete: 12 of 12 attempts failed: the agent failed: it raised KeyE"
    )
    assert "line 3 of my_agent.py" in first
    found = json.loads(cli("report", "@last", "--format", "json").stdout)
    assert (found["totals"]["rate"], found["totals"]["full"]) == (None, 0.0)
    told = [line for line in done.stderr.splitlines() if line.startswith("failed")]
    assert told[0].startswith("failed: the agent failed: it raised KeyError: 'question ")
    assert told[-1].startswith("failed 12 times: the agent failed: it raised KeyError")
    assert len(told) <= 3, "one line for a kind, and its counts"
    shown = cli("show", "@last", "c3").stdout
    assert "return {}[message]" in shown
    assert "KeyError: 'question 3'" in shown
    assert "KeyError: 'question 3'" in cli("report", "@last", "--cases").stdout
    root = ElementTree.fromstring(cli("report", "@last", "--format", "junit").stdout)
    errors = root.findall(".//error")
    assert len(errors) == 12
    assert "KeyError" in str(errors[0].get("message"))
    assert "return {}[message]" in str(errors[0].text)


@pytest.mark.slow
def test_an_agent_that_raises_sometimes_counts_where_it_answers_alone(
    cli: Any, agents: Path
) -> None:
    args = ("run", "suite.yaml", "--agent", "python:my_agent:flaky", "--json")
    found = json.loads(cli(*args, code=3).stdout)
    totals = found["totals"]
    assert (totals["errors"], totals["rate"], totals["full"]) == (9, 1.0, 3.0)
    assert found["shortfall"].startswith("incomplete: 9 of 12 attempts failed: the agent failed")
    assert found["failures"]["errors"][0]["count"] == 9
    cli.write("my_agent.py", "def flaky(message):\n    return 'fine'\n")
    mended = json.loads(cli(*args).stdout)
    assert (mended["totals"]["errors"], mended["run"]["status"]) == (0, "complete")


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("exit 3", "it ended with exit status 3"),
        ("echo some boom >&2; exit 1", "it ended with exit status 1: some boom"),
        ("kill -9 $$", "it was ended by SIGKILL"),
    ],
)
def test_a_command_that_crashes_is_an_error(cli: Any, agents: Path, program: str, why: str) -> None:
    cli.write("act.sh", program)
    done = cli("run", "suite.yaml", "--limit", "2", "--agent", "exec:sh act.sh", code=3)
    assert done.stdout.startswith(f"incomplete: 2 of 2 attempts failed: the agent failed: {why}")


OWN = """
from dataclasses import dataclass
from proctor.contracts.scorer import Scorer
from proctor.core.score import Score

@dataclass(frozen=True)
class Luck(Scorer):
    lucky: bool = True

    def score(self, ctx):
        if not self.lucky:
            raise RuntimeError("no luck")
        return Score(points=1.0, out_of=1.0)
"""
OWN_SUITE = "name: u\ncases:\n" + "".join(
    f"  - id: c{n}\n    ask: q\n    criteria: {{'rows:Luck': {{lucky: {str(n > 1).lower()}}}}}\n"
    for n in range(10)
)


@pytest.mark.parametrize(
    ("options", "code", "status"),
    [
        ((), 3, "incomplete"),
        (("--max-unscored", "20%"), 0, "complete"),
        (("--max-unscored", "0.19"), 3, "incomplete"),
        (("--max-unscored", "0"), 3, "incomplete"),
    ],
)
@pytest.mark.sampled(6)
def test_more_unscored_cases_than_allowed_make_a_run_incomplete(
    cli: Any, options: tuple[str, ...], code: int, status: str
) -> None:
    cli.write("rows.py", OWN)
    cli.write("suite.yaml", OWN_SUITE)
    lines = [json.dumps({"case": f"c{n}", "output": f"a{n}"}) for n in range(10)]
    cli.write("answers.jsonl", "\n".join(lines))
    args = ("run", "suite.yaml", "--answers", "answers.jsonl", "--allow-import", *options)
    done = cli(*args, code=code)
    if code:
        first = done.stdout.splitlines()[0]
        assert first.startswith("incomplete: 2 of 10 cases could not be scored: ")
        assert "RuntimeError: no luck" in first
    assert "not scored 2 times:" in done.stderr
    assert json.loads(cli("report", "@last", "--format", "json").stdout)["run"]["status"] == status


def test_a_share_is_checked(cli: Any, agents: Path) -> None:
    for text in ("110%", "-1", "ten", "12"):
        args = ("--answers", "none.jsonl", "--max-unscored", text)
        assert "is not a share" in cli("run", "suite.yaml", *args, code=2).stderr
    assert "--max-unscored" in cli("plan", "--help").stdout


@pytest.mark.parametrize(("judge", "code"), [("silent", 3), ("ruling", 0)])
def test_a_suite_that_only_shows_numbers_says_so_where_they_could_not_be_made(
    cli: Any, judge: str, code: int
) -> None:
    """Beside what counts, a number that lacks is shown as lacking; where nothing else is, it counts."""
    criteria = "[{judged: It is polite., weight: 0}, {contains: please, weight: 0}]"
    rows = "".join(f"  - {{id: c{n}, ask: Say {n}., criteria: {criteria}}}\n" for n in range(4))
    cli.write("shown.yaml", f"name: shown\ncases:\n{rows}")
    answers = cli.answers({"case": f"c{n}", "output": f"Please, {n}."} for n in range(4))
    ruling = '{"reason": "", "result": "yes"}'
    with FakeServer("", roles={"silent": "Hm.", "ruling": ruling}) as server:
        name = f"openai:{judge}@{server.url_of(judge)}"
        args = ("run", "shown.yaml", "--answers", answers, "--judge", name)
        found = json.loads(cli(*args, "--json", code=code).stdout)
        first = cli(*args, code=code).stdout.splitlines()[0]
    totals = found["totals"]
    assert (totals["rate"], totals["bounds"], totals["errors"]) == (None, None, 0)
    assert found["run"]["status"] == ("incomplete" if code else "complete")
    assert totals["cases_unscored"] == (4 if code else 0)
    if code:
        assert first.startswith("incomplete: 4 of 4 cases could not be scored: ")
