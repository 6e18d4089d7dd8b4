"""``proctor infibench`` for those who have called InfiBench's own grader so far."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

GRADED = {
    "one": "max_score: 2\n  min_score: 0\n  keywords: [alpha, beta, gamma]",
    "two": "keywords:\n    - {content: alpha, weight: 0.7}\n    - {content: beta, weight: 0.3}\n"
    "    - {content: gamma, weight: 0.1}",
    "three": "keywords: [alpha, beta, gamma]\n  similarity:\n"
    "    - {metric: rougeL, references: [alpha beta and then gamma], weight: 0.9}",
}
SUMMARY = "Total score: {} ± {} / {}\nTotal cases: {}\nTotal cases with response: {}\n    "


def put(cli: Any, name: str, text: str) -> None:
    """Write a file, with its folders."""
    (cli.folder / name).parent.mkdir(parents=True, exist_ok=True)
    cli.write(name, text)


@pytest.fixture
def graded(cli: Any) -> Any:
    """Lay out a suite as the original's users have it, with three cases of different limits."""
    for name, grading in GRADED.items():
        put(cli, f"cases/prompt_{name}.txt", f"Say something of {name}.")
        put(
            cli,
            f"cases/eval_{name}.yaml",
            f"id: {name}\nprompt_path: prompt_{name}.txt\ntype: code completion\n"
            f"lang: python\ngrading:\n  {grading}\n",
        )
    return cli


def answered(cli: Any, reduce: str, answers: dict[str, Sequence[str]]) -> None:
    """Write the suite and the responses."""
    cases = "".join(f"  - cases/eval_{name}.yaml\n" for name in GRADED)
    put(cli, "suite_v1.yaml", f"attempt_reduce_mode: {reduce}\ncases:\n{cases}")
    paths = ""
    for name, outputs in answers.items():
        files = [f"eval_{name}_{number}.txt" for number in range(len(outputs))]
        for file, output in zip(files, outputs, strict=True):
            put(cli, f"responses/m_0.2/{file}", output)
        paths += f"  cases/eval_{name}.yaml: [{', '.join(files)}]\n"
    put(cli, "responses/m_0.2/params.yaml", f"answer_paths:\n{paths}")


def loaded(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(path)
    return found


def test_the_files_are_where_the_original_writes_them(graded: Any) -> None:
    answered(graded, "avg", {"one": ["alpha"], "two": ["alpha beta"]})
    done = graded("infibench", "suite_v1.yaml", "responses/m_0.2/", "--compat", "original")
    results = graded.folder / "results"
    assert {p.name for p in results.iterdir()} == {"suite_v1_m_0.2.txt", "suite_v1_m_0.2.yaml"}
    entry = loaded(results / "suite_v1_m_0.2.yaml")["cases/eval_one.yaml"]
    assert entry["prompt_path"] == "prompt_one.txt"
    assert (entry["id"], entry["type"], entry["lang"]) == ("one", "code completion", "python")
    summary = (results / "suite_v1_m_0.2.txt").read_text(encoding="utf-8")
    # What the original does: 0.5, then 1.0 of 1.1, each alone without a deviation.
    assert summary == SUMMARY.format(0.5 + 1.0 / (0.7 + 0.3 + 0.1), 0.0, 3.0, 3, 2)
    assert "Total cases with response: 2" in done.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["S", "R", "--select", "cases/eval_one.yaml", "cases/eval_three.yaml"], 2),
        (["S", "--select", "cases/eval_one.yaml", "two", "--compat", "original", "R"], 2),
        (["S", "R", "--select"], 3),
        (["S", "R", "--select=cases/eval_one.yaml"], 1),
        (["S", "R", "--select", "one", "--select", "two"], 2),
        # These had their meaning before, and keep it.
        (["--select", "one", "S", "R"], 1),
        (["--select", "one", "--select", "two", "--", "S", "R"], 2),
        (["S", "--select", "one", "R", "--result_summary", "x.txt"], 1),
    ],
)
@pytest.mark.sampled(8)
def test_select_takes_all_cases_that_follow_it(
    graded: Any, words: list[str], expected: int
) -> None:
    answered(graded, "max", {name: ["alpha"] for name in GRADED})
    full = {"S": "suite_v1.yaml", "R": "responses/m_0.2"}
    graded("infibench", *(full.get(word, word) for word in words))
    entries = loaded(graded.folder / "results" / "suite_v1_m_0.2.yaml")
    assert len(entries) == expected


def test_one_path_alone_is_honoured_and_the_other_file_is_where_it_usually_is(graded: Any) -> None:
    answered(graded, "max", {name: ["alpha"] for name in GRADED})
    call = ["infibench", "suite_v1.yaml", "responses/m_0.2"]
    graded(*call, "--result_detail_path", "deep/own.yaml")
    graded(*call, "--result_summary_path", "deep/own.txt")
    names = {str(path.relative_to(graded.folder)) for path in graded.folder.rglob("*own*")}
    assert names == {"deep/own.yaml", "deep/own.txt"}
    assert len(list((graded.folder / "results").iterdir())) == 2


def test_a_case_that_the_suite_has_not_is_an_error(graded: Any) -> None:
    answered(graded, "max", {name: ["alpha"] for name in GRADED})
    call = ["infibench", "suite_v1.yaml", "responses/m_0.2", "--select", "one", "thre"]
    assert "did you mean 'three'" in graded(*call, code=2).stderr


@pytest.mark.parametrize(
    ("compat", "points", "full"),
    [(["--compat", "original"], 1.5, 1.5), ([], 1.0, 1.0)],
)
def test_rows_by_metric_are_those_of_the_answer_with_most_points_before_the_limit(
    graded: Any, compat: list[str], points: float, full: float
) -> None:
    # Both are worth all that can be had; the first has a point more than the limit lets count.
    answers = ["alpha beta gamma", "alpha beta"]
    answered(graded, "avg_max_2", {"one": [*answers, *reversed(answers)]})
    call = ["infibench", "suite_v1.yaml", "responses/m_0.2", "--select", "one", *compat]
    made = graded.json(*call)
    assert made["totals"]["score"] == 1.0
    row = made["groups"]["metric"]["keywords"]
    assert (row["score"], row["full"], row["spread"]) == (points, full, 0.0)


@pytest.mark.parametrize("compat", [["--compat", "original"], []])
@pytest.mark.parametrize("attempts", [30, 100])
@pytest.mark.sampled(8)
def test_the_originals_own_statistics_find_no_difference_in_the_file(
    graded: Any, attempts: int, compat: list[str]
) -> None:
    numpy = pytest.importorskip("numpy")
    draw = random.Random(attempts)
    words = ["alpha", "beta", "gamma", "and then", "other words"]
    answers = {
        name: [" ".join(draw.sample(words, draw.randint(1, 4))) for _ in range(attempts)]
        for name in GRADED
    }
    answered(graded, "avg_max_10", answers)
    graded("infibench", "suite_v1.yaml", "responses/m_0.2", *compat)
    entries = loaded(graded.folder / "results" / "suite_v1_m_0.2.yaml")
    assert len(entries) == 3
    for name, entry in entries.items():
        best, full = recomputed(entry["detail"])
        shares = [min(points, full) / full for points in best]
        assert numpy.mean(shares) == entry["now_score"], name
        assert float(numpy.std(shares, ddof=1)) == entry["now_std"], name


def recomputed(details: Sequence[dict[str, Any]]) -> tuple[list[float], float]:
    """Return the best sum of points of each ten answers, and what they are divided by."""
    kinds = ("keywords", "blank_filling", "unit_test", "similarity", "custom")
    best, full = [], 0.0
    for start in range(0, len(details), 10):
        sums = []
        for detail in details[start : start + 10]:
            added = full = 0.0
            for kind in kinds:
                if f"{kind}_score" in detail:
                    added += detail[f"{kind}_score"]
                    full += detail[f"{kind}_totscore"]
            sums.append(added)
        best.append(max(0.0, *sums))
    return best, details[0].get("max_score", full)


@pytest.mark.slow
def test_an_answer_cut_off_inside_a_fence_passes_its_test(cli: Any) -> None:
    put(cli, "suite.yaml", "cases: [case.yaml]\n")
    put(cli, "prompt.txt", "Write f, which doubles.")
    put(
        cli,
        "case.yaml",
        "id: f\nprompt_path: prompt.txt\ntype: code completion\nlang: python\n"
        "grading:\n  unit_test:\n    tests: ['assert f(2) == 4']\n",
    )
    cut = "```python\ndef f(x):\n    return 2 * x\n```\nOr:\n```python\nf = lambda x: 2 *"
    put(cli, "responses/case_0.txt", cut)
    made = cli.json("infibench", "suite.yaml", "responses")
    assert made["totals"]["rate"] == 1.0
    (entry,) = loaded(cli.folder / "results" / "suite_responses.yaml").values()
    (test,) = entry["detail"][0]["unit_test_detail"]
    assert (test["task_id"], test["completion_id"], test["passed"]) == (0, 0, True)
    assert test["result"] == ["passed"]
    assert test["code"].endswith("def f(x):\n    return 2 * x")
