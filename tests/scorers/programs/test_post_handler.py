"""Functions of suites that correct the points of keywords and blanks, in the real sandbox."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from proctor import ScoreContext, Spec
from proctor.contracts.executor import GradeTask
from proctor.contracts.scoring import finish_score, run_scorer
from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.core.suite import Criterion
from proctor.executors.local import LocalExecutor
from proctor.origins.infibench.dialect import InfiBench
from proctor.registry import build
from proctor.sandboxes.bubblewrap import Bubblewrap

KEYWORDS = {"rules": ["red", {"text": "green", "weight": 2.0}, {"text": "bad", "neg": True}]}
BLANKS = {"template": "let [blank] = [blank];", "targets": ["x", {"any": ["1"], "weight": 3.0}]}


class Grader:
    """Grade as the engine does, always with the same grading process and sandbox."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.executor, self.sandbox = LocalExecutor(workers=1), Bubblewrap()

    def handled(
        self, name: str, params: dict[str, Any], source: str, answers: list[str]
    ) -> list[Score]:
        handler = {"module": "cases.handler_1", "func": "f", "source": dedent(source)}
        return self.graded(Spec(name=name, params={**params, "post_handler": handler}), answers)

    def graded(self, spec: Spec, answers: list[str]) -> list[Score]:
        return self.runner.run(self._graded(spec, answers))

    async def _graded(self, spec: Spec, answers: list[str]) -> list[Score]:
        """Grade first in a grading process, then on the loop."""
        scorer = build("scorer", spec)
        assert scorer.finishes
        assert not scorer.is_async
        contexts = [ScoreContext.of(answer) for answer in answers]
        keys = tuple(str(number) for number in range(len(answers)))
        task = GradeTask(
            case=contexts[0].case,
            criterion=Criterion(id="c", scorer=spec),
            attempts=tuple(Attempt.of("try", answer) for answer in answers),
            keys=keys,
            time_limit=scorer.time_limit,
        )
        begun = {key: score async for key, score in self.executor.grade([task])}
        found = []
        for key, ctx in zip(keys, contexts, strict=True):
            score = begun[key]
            if score.status == "scored":
                score = await finish_score(scorer, replace(ctx, sandbox=self.sandbox), score)
            found.append(score)
        return found

    def close(self) -> None:
        self.runner.run(self.executor.close())
        self.runner.run(self.sandbox.close())
        self.runner.close()


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    made = Grader()
    yield made
    made.close()


SEES = "def f(got, of, statuses): return got + 0.5, of * 2, [got, of, statuses]\n"


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("name", "params", "answer", "seen"),
    [
        ("keywords", KEYWORDS, "red", [1.0, 3.0, ["match", "unmatch", "unmatch"]]),
        ("keywords", KEYWORDS, "red green bad", [2.0, 3.0, ["match", "match", "match"]]),
        ("keywords", KEYWORDS, "", [0.0, 3.0, ["unmatch", "unmatch", "unmatch"]]),
        (
            "blanks",
            BLANKS,
            "let y = 1;",
            [
                3.0,
                4.0,
                [
                    "unmatched: response string: y, ans: x",
                    "matched: response string: 1, ans: 1",
                ],
            ],
        ),
        ("blanks", BLANKS, "no", [0.0, 4.0, ["unmatched: match rate too low - 0.125"] * 2]),
    ],
)
def test_a_handler_sees_the_ordinary_score_and_replaces_it(
    grader: Grader, name: str, params: dict[str, Any], answer: str, seen: list[Any]
) -> None:
    (score,) = grader.handled(name, params, SEES, [answer])
    assert score.status == "scored", score.reason
    assert (score.points, score.out_of) == (seen[0] + 0.5, seen[1] * 2)
    assert score.detail["scoring_detail"] == seen
    assert score.detail["before_handler"] == {"points": seen[0], "out_of": seen[1]}
    rows = score.detail["rules" if name == "keywords" else "blanks"]
    assert [row["status" if name == "keywords" else "line"] for row in rows] == seen[2]
    assert "the post_handler cases.handler_1.f made it" in score.reason


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "def f(a, b, c):\n    raise KeyError('x')",
            "KeyError: 'x' (line 2 of cases/handler_1.py)",
        ),
        ("def f(a, b, c): return a, b", "not (points, full marks, detail)"),
        ("def f(a, b, c): return float('nan'), b, c", "not a finite number"),
        ("import os\ndef f(a, b, c): os._exit(0)", "without returning"),
        ("def f(a): return a, a, a", "TypeError"),
    ],
)
@pytest.mark.parametrize(("name", "params"), [("keywords", KEYWORDS), ("blanks", BLANKS)])
def test_a_handler_that_fails_leaves_the_criterion_unscored(
    grader: Grader, name: str, params: dict[str, Any], source: str, reason: str
) -> None:
    (score,) = grader.handled(name, params, source, ["red"])
    assert (score.status, score.points, score.out_of) == ("failed", None, None)
    assert score.reason.startswith("the post_handler cases.handler_1.f ")
    assert reason in score.reason


@pytest.mark.sandbox
@pytest.mark.slow
def test_an_endless_pattern_before_a_handler_costs_only_its_attempt(grader: Grader) -> None:
    params = {"rules": [{"text": "(a+)+b", "regex": True}]}
    endless, good = grader.handled("keywords", params, SEES, ["a" * 60, "aab"])
    assert (endless.status, good.status) == ("failed", "scored")
    assert "took longer" in endless.reason
    assert good.detail["scoring_detail"] == [1.0, 1.0, ["match"]]


@pytest.mark.parametrize(("name", "params"), [("keywords", KEYWORDS), ("blanks", BLANKS)])
def test_only_a_criterion_with_a_handler_is_finished(name: str, params: dict[str, Any]) -> None:
    plain = build("scorer", Spec(name=name, params=params))
    assert not plain.finishes
    handler = {"module": "m", "func": "f"}
    scorer = build("scorer", Spec(name=name, params={**params, "post_handler": handler}))
    ctx = ScoreContext.of("red let x = 1;")
    begun = run_scorer(scorer, ctx)
    assert begun == run_scorer(plain, ctx)
    assert asyncio.run(finish_score(plain, ctx, begun)) == begun
    done = asyncio.run(finish_score(scorer, ctx, begun))
    assert done.status == "failed"
    assert done.reason.startswith("not run: the post_handler m.f is a program")


@pytest.mark.parametrize(("name", "params"), [("keywords", KEYWORDS), ("blanks", BLANKS)])
def test_a_handler_with_a_name_that_leads_elsewhere(name: str, params: dict[str, Any]) -> None:
    handler = {"module": "../m", "func": "f"}
    scorer = build("scorer", Spec(name=name, params={**params, "post_handler": handler}))
    assert any("dotted name" in problem for problem in scorer.problems())


CASE = """\
id: one
prompt_path: prompt.txt
type: code completion
lang: javascript
"""
ALL_OR_NOTHING = """\
from .limits import LEAST

def strict(got, of, statuses):
    return (of if statuses.count("match") >= LEAST else 0), of, {"matched": statuses.count("match")}
"""
SAME = """\
PREFIX = "matched: response string: "

def same(got, of, statuses):
    names = [s[len(PREFIX):].split(", ans: ")[0] for s in statuses if s.startswith(PREFIX)]
    bonus = 1 if len(names) == 2 and len(set(names)) == 1 else 0
    return got + bonus, of + 1, names
"""


@pytest.mark.sandbox
@pytest.mark.parametrize("compat", ["", "original"])
@pytest.mark.parametrize(
    ("grading", "answers", "expected"),
    [
        (
            """\
            keywords:
              - red
              - {content: GREEN, to_lower: true, weight: 2}
              - blue
              - post_handler: {module: cases.handlers.keywords_1, func: strict}
            """,
            ["red, Green", "red"],
            [(4.0, 4.0, {"matched": 2}), (0.0, 4.0, {"matched": 1})],
        ),
        (
            """\
            blank_filling:
              template: "a = [blank]; b = [blank]; end"
              targets: [[x, y], {content: [x, y]}]
              post_handler: {module: handlers.blanks_1, func: same}
            """,
            ["a = `x`; b = x; end", "a = x; b = y; end", "a = x; b = z; end", "nothing of it"],
            [
                (3.0, 3.0, ["x", "x"]),
                (2.0, 3.0, ["x", "y"]),
                (1.0, 3.0, ["x"]),
                (0.0, 3.0, []),
            ],
        ),
    ],
    ids=["keywords", "blanks"],
)
def test_handlers_of_infibench(
    grader: Grader,
    tmp_path: Path,
    compat: str,
    grading: str,
    answers: list[str],
    expected: list[Any],
) -> None:
    grading = dedent(grading).replace("targets: [[x, y],", "targets: [{content: [x, y]},")
    files = {
        "suite.yaml": "cases: [cases/eval_1.yaml]\n",
        "cases/eval_1.yaml": CASE + "grading:\n" + indent(grading, "  "),
        "cases/prompt.txt": "Fill in.",
        "cases/handlers/keywords_1.py": ALL_OR_NOTHING,
        "cases/handlers/limits.py": "LEAST = 2\n",
        "cases/handlers/blanks_1.py": SAME,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    reading = InfiBench().read(tmp_path / "suite.yaml", compat=compat)
    (criterion,) = reading.suite.cases[0].criteria
    assert criterion.scorer.params.get("compat", "") == compat
    scores = grader.graded(criterion.scorer, answers)
    found = [(score.points, score.out_of, score.detail["scoring_detail"]) for score in scores]
    assert found == expected


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_whole_run_stores_only_finished_scores(tmp_path: Path, proctor: str) -> None:
    grading = """\
grading:
  keywords:
    - red
    - green
    - post_handler: {module: h, func: strict}
  customized: {module: h, func: judge, real_metric_type: similarity}
"""
    functions = """\
def strict(got, of, statuses): return of * (got == of), of, statuses

def judge(response): return len(response) % 3, 2, None
"""
    answers = ["green red!", "red"]
    files = {
        "suite.yaml": "cases: [case.yaml]\n",
        "case.yaml": CASE + grading,
        "prompt.txt": "?",
        "h.py": functions,
        "answers/params.yaml": "answer_paths: {case.yaml: [0.txt, 1.txt]}\n",
        **{f"answers/{number}.txt": answer for number, answer in enumerate(answers)},
    }
    (tmp_path / "answers").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = "run suite.yaml --answers answers --sandbox bubblewrap --json --cases"
    for _ in range(2):
        done = subprocess.run(
            [proctor, *command.split()],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (case,) = json.loads(done.stdout)["cases"]
        assert [
            [(score["points"], score["out_of"]) for score in attempt["scores"]]
            for attempt in case["attempts"]
        ] == [[(2.0, 2.0), (1.0, 2.0)], [(0.0, 2.0), (0.0, 2.0)]]
