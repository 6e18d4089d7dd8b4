"""A program of a user under ``mypy --strict``: it checks, and its results have real types."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = '''
import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import proctor
from proctor.scorers import Contains, Judged, Rouge


async def answer(question: str) -> str:
    return question


async def stream(question: str) -> AsyncIterator[str]:
    yield question


def agent(question: str, case: proctor.Case) -> dict[str, object]:
    return {"output": case.references[0], "steps": []}


@dataclass(frozen=True)
class Longer(proctor.Scorer):
    """Pass when the answer is longer."""

    than: int = 3

    def score(self, ctx: proctor.ScoreContext) -> bool:
        return len(ctx.output) > self.than


@proctor.scorer
def short(output: str, reference: str) -> bool:
    return len(output) <= len(reference)


cases = [{"id": "capital", "ask": "Capital?", "reference": "Paris"}]
run = proctor.evaluate(
    cases, answer, criteria=[Contains("Paris"), "exact_match", Longer(2), short, lambda o: bool(o)],
    attempts=3, judge=lambda text: "yes", prompt={"short": "{{ ask }}"}, gate="rate >= 0.5",
)
reveal_type(run)
reveal_type(run.rate)
reveal_type(run.interval)
reveal_type(run["capital"].attempts[0].output)
reveal_type(proctor.evaluate("quiz.yaml", "openai:NAME", criteria=Judged("Polite?")).measures)
reveal_type(proctor.evaluate(cases, [answer, stream]))
reveal_type(proctor.evaluate_all(cases, model=["openai:a", "openai:b"])[0])
reveal_type(proctor.evaluate([("a", "b")], ["b"]).candidate)
reveal_type(proctor.compare(run, "other").p)
reveal_type(proctor.Store().run("name"))
reveal_type(Rouge().score_text("a b", reference="a c"))
with proctor.Grader(cases, criteria=Contains("Paris"), judge=lambda text: True) as grader:
    reveal_type([result.value for result in grader.score([("capital", "Paris"), ("capital", None)])])


async def main() -> None:
    reveal_type(await proctor.aevaluate(cases, agent))


asyncio.run(main())
proctor.evaluate(cases, answer, atempts=3)
proctor.evaluate(7, answer)
'''
SHOWN = [
    "proctor.api.results.RunResult",
    "float | None",
    "tuple[float, float] | None",
    "str",
    "Mapping[str, proctor.core.run.Measured]",
    "proctor.api.several_runs.RunList",
    "proctor.api.results.RunResult",
    "str",
    "float | None",
    "proctor.api.results.RunResult",
    "proctor.core.score.Score",
    "list[float | None]",
    "proctor.api.results.RunResult",
]


@pytest.mark.slow
def test_a_program_of_a_user_has_types(own_folder: Path) -> None:
    pytest.importorskip("mypy")
    (own_folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    shown = [line.partition('type is "')[2].rstrip('"') for line in lines if "Revealed" in line]
    assert [one.removeprefix("typing.").removeprefix("builtins.") for one in shown] == SHOWN, done
    wrong = [line.partition("error: ")[2] for line in lines if "error:" in line]
    assert 'Unexpected keyword argument "atempts"' in wrong[0]
    assert all('No overload variant of "evaluate" matches' in one for one in wrong[1:])
    assert len(wrong) == 3, done.stdout
