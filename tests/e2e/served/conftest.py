"""A multi-turn examination whose candidate, judge and simulated user live in one fake server."""

import json
import re
import subprocess
from collections import defaultdict
from typing import Any

import pytest

from proctor.testing import Call, FakeServer
from proctor.testing.replies import all_text

CASE = re.compile(r"\[\[CASE:(\d+)\]\]")
TURN = re.compile(r"\[\[TURN:(\d+)\]\]")
MAX_TURNS = 3
ROLES = ("cand", "judge", "sim")


def place(messages: list[Any]) -> tuple[int, int]:
    """Return the case and the last turn that the candidate took, as the marks in texts say."""
    text = all_text(messages)
    return int(CASE.findall(text)[0]), max(map(int, TURN.findall(text)), default=0)


def candidate(messages: list[Any], body: Any) -> str:
    case, turns = place(messages)
    turn = turns + 1
    words = "The answer is 7." if final(case, turn) else "How large are a and b?"
    return f"{words} [[CASE:{case}]] [[TURN:{turn}]]"


def judge(messages: list[Any], body: Any) -> str:
    case, turn = place(messages)
    answered = final(case, turn)
    known = turn > 1
    verdict = {
        "is_final_answer": answered,
        "is_correct": case % 5 in (0, 1) if answered else None,
        "all_required_points_resolved": known,
        "missing_required_points": [] if known else points(case),
        "notes": f"case {case}, turn {turn}",
    }
    return f"Reasoning: as scripted.\n```json\n{json.dumps(verdict)}\n```"


def simulator(messages: list[Any], body: Any) -> str:
    case, turn = place(messages)
    return f"a is {case}00 and b is {case}01, as I said at turn {turn}."


def final(case: int, turn: int) -> bool:
    """Tell whether a candidate answers at a turn: at once, after one question, after two, never."""
    return turn >= (1, 2, 3, 1, 99)[case % 5]


def points(case: int) -> list[str]:
    return [f"the value of a in case {case}", f"the value of b in case {case}"]


def row(case: int) -> dict[str, Any]:
    mark = f"[[CASE:{case}]]"
    return {
        "id": f"case-{case}",
        "ask": f"{mark} What is a + b?",
        "references": [f"{case}99{case}"],
        "hidden": {
            "question": f"{mark} What is a + b, where a is {case}00 and b is {case}01?",
            "info": "The values of a and b were left out.",
            "points": points(case),
        },
        "tags": {"kind": str(case % 5)},
    }


class Examination:
    """Hold a suite in a folder, and the command that examines with it."""

    def __init__(self, cli: Any, cases: int) -> None:
        self.cli, self.cases = cli, cases
        suite = {
            "name": "asking",
            "dialogue": {"clarify": {"max_turns": MAX_TURNS}},
            "measures": ["accuracy"],
            "criteria": {"noted": "correct"},
            "cases": [row(case) for case in range(cases)],
        }
        cli.write("suite.yaml", json.dumps(suite))

    def server(self, **more: Any) -> FakeServer:
        roles = {"cand": candidate, "judge": judge, "sim": simulator}
        return FakeServer(roles=roles, **more)

    def args(self, server: FakeServer, store: str, *more: str) -> list[str]:
        return [
            "run", "suite.yaml", "--store", store, "--json", "--cases",
            "--model", f"openai:fake@{server.url_of('cand')}",
            "--judge", f"openai:arbiter@{server.url_of('judge')}",
            "--simulator", f"openai:user@{server.url_of('sim')}",
            *more,
        ]  # fmt: skip

    def start(self, args: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.cli.command(*args), cwd=self.cli.folder, env=self.cli.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, args: list[str]) -> Any:
        done = self.cli.start(*args)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)

    def numbers(self, made: Any) -> Any:
        return {part: made[part] for part in ("totals", "measures", "groups", "cases")}

    def calls_in_calm(self) -> int:
        """Return how many calls an undisturbed run makes."""
        return sum(3 * turns - 1 for turns in (min(t, MAX_TURNS) for t in self._turns()))

    def _turns(self) -> list[int]:
        return [(1, 2, 3, 1, 99)[case % 5] for case in range(self.cases)]

    def bought_again(self, calls: list[Call]) -> list[str]:
        """Return the calls that were made after their reply had been used.

        A dialogue goes candidate, judge, simulated user, candidate and so on: whoever is asked
        has the replies of those before. So the calls for a case never go back.
        """
        furthest: dict[int, int] = defaultdict(int)
        found = []
        for call in calls:
            case, turns = place(call.body["messages"])
            turn = turns + (call.role == "cand")
            stage = 3 * turn + ROLES.index(call.role)
            if stage < furthest[case]:
                found.append(f"case {case}: {call.role} at turn {turn}, call {call.number}")
            furthest[case] = max(furthest[case], stage)
        return found


@pytest.fixture
def examination(cli: Any, request: pytest.FixtureRequest) -> Examination:
    return Examination(cli, getattr(request, "param", 200))
