"""The result files of the InfiBench original: the YAML's shape and the table to the letter."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from proctor.core.run import Summary
from proctor.core.score import Score
from proctor.core.suite import Criterion, Spec
from proctor.origins.infibench.layout import InfiBenchLayout
from proctor.registry import build

TABLE = (
    "-----------------------------------------------------------------------------------",
    "                  | gpt-4_0.2         |                  | Full Score | Allocation ",
    "------------------|-----------|-------|--------|---------|------------|------------",
    " Overall Score    | 1.25        ±0.19 | 41.67%   ±6.25%  | 3.00       |            ",
    " Lang: python     | 0.75        ±0.25 | 37.50%   ±12.50% | 2.00       | 66.67%     ",
    " Lang: sql        | 0.50        ±0.50 | 50.00%   ±50.00% | 1.00       | 33.33%     ",
    " Lang: web        | 0.50        ±0.50 | 50.00%   ±50.00% | 1.00       | 33.33%     ",
    " Type: qa         | 1.25        ±0.25 | 62.50%   ±12.50% | 2.00       | 66.67%     ",
    " Type: debug      | 0.00        ±0.00 | 0.00%    ±0.00%  | 1.00       | 33.33%     ",
    " Metric: blanks   | 0.50        ±0.50 | 50.00%   ±50.00% | 1.00       | 33.33%     ",
    " Metric: keywords | 0.75        ±0.25 | 75.00%   ±25.00% | 1.00       | 33.33%     ",
    " Metric: rouge    | 0.00        ±0.00 | 0.00%    ±0.00%  | 1.00       | 33.33%     ",
    "-----------------------------------------------------------------------------------",
)


TESTS = [{"content": "assert a\n"}, {"content": "assert a == 1"}, {"content": "pass"}]
OUTCOMES = [
    {
        "passed": True,
        "result": "passed",
        "stopped": None,
        "program": "import re\na = 1\nassert a\n",
    },
    {
        "passed": False,
        "result": "AssertionError",
        "stopped": None,
        "program": "import re\na = 2\nassert a == 1",
    },
    {
        "passed": False,
        "result": "timed out after 1 s",
        "stopped": "time",
        "program": "import re\npass",
    },
]


def written(view: Any, folder: Path) -> Mapping[str, Any]:
    """Write the files and read the YAML back."""
    detail, *_ = build("layout", Spec(name="infibench")).write(view, folder)
    found: Mapping[str, Any] = YAML(typ="safe").load(detail)
    return found


def test_files(make_view: Any, tmp_path: Path) -> None:
    paths = InfiBenchLayout().write(make_view(), tmp_path / "deep" / "results")
    stem = "suite_x_gpt-4_0.2"
    names = [f"{stem}.yaml", f"{stem}.txt", f"{stem}_stats_table.txt"]
    assert [path.name for path in paths] == names
    assert sorted(p.name for p in (tmp_path / "deep" / "results").iterdir()) == sorted(names)
    text = paths[0].read_text(encoding="utf-8")
    keys = [line for line in text.splitlines() if not line.startswith(" ")]
    assert keys == [f"cases/eval_0-0-{n}.yaml:" for n in (10, 2, 3, 4, 5)]
    entry = list(text.split("cases/eval_0-0-2.yaml:\n")[1].splitlines())
    own = [line for line in entry[: entry.index("cases/eval_0-0-3.yaml:")] if line[2] not in " -"]
    assert own == sorted(own)


def test_scored_cases(make_view: Any, tmp_path: Path) -> None:
    found = written(make_view(), tmp_path)
    assert found["cases/eval_0-0-2.yaml"] == {
        "id": "0-0-2",
        "lang": "python",
        "type": "qa",
        "null_score": 0.0,
        "full_score": 1.0,
        "now_score": 0.75,
        "now_std": 0.0,
        "all_scores": [0.5, 1.0],
        "detail": [
            {
                "keywords": ["match", "unmatch"],
                "keywords_score": 1.0,
                "keywords_totscore": 2.0,
                "max_score": 2.0,
                "min_score": 0.0,
            },
            {
                "keywords": ["match", "match"],
                "keywords_score": 2.0,
                "keywords_totscore": 2.0,
                "max_score": 2.0,
                "min_score": 0.0,
            },
        ],
    }
    blanks = found["cases/eval_0-0-10.yaml"]
    assert blanks["lang"] == ["sql", "web"]
    assert blanks["detail"][0] == {
        "blank_filling_score": 2.0,
        "blank_filling_totscore": 2.0,
        "blank_filling_detail": [
            "matched: response string: x, ans: x",
            "matched: response string: y",
        ],
    }


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (
            "cases/eval_0-0-3.yaml",
            {
                "full_score": 1.0,
                "now_score": 0.0,
                "detail": [{"info": "no answer", "max_score": 1.0}] * 2,
            },
        ),
        (
            "cases/eval_0-0-4.yaml",
            {
                "full_score": 0.0,
                "now_score": 0.0,
                "info": "unscored",
                "error_obj": "unit_test: no sandbox",
                "all_scores": [None, None],
                "detail": [{"unit_test_error": "no sandbox", "max_score": 1.0}] * 2,
            },
        ),
        (
            "cases/eval_0-0-5.yaml",
            {
                "full_score": 0.0,
                "now_score": 0.0,
                "info": "error",
                "error_obj": "connection refused",
                "detail": [
                    {
                        "info": "error encountered",
                        "error_obj": "connection refused",
                        "max_score": 1.0,
                    }
                ]
                * 2,
            },
        ),
    ],
)
def test_cases_without_a_score(
    make_view: Any, tmp_path: Path, key: str, expected: Mapping[str, Any]
) -> None:
    entry = written(make_view(), tmp_path)[key]
    assert {name: entry[name] for name in expected} == expected


def test_sums_over_the_file_are_those_of_the_run(make_view: Any, tmp_path: Path) -> None:
    view = make_view()
    entries = written(view, tmp_path).values()
    totals = view.summary.totals
    assert sum(entry["now_score"] for entry in entries) == totals.score
    assert sum(entry["full_score"] for entry in entries) == totals.full


def test_every_kind_of_criterion(make_view: Any, make_case: Any, tmp_path: Path) -> None:
    rouge = {"rouge1": 0.5, "rougeLsum": 0.25, "normalized_score": 0.4, "best_reference": 1}
    criteria = (
        Criterion(id="keywords", scorer=Spec(name="keywords")),
        Criterion(id="unit_test", scorer=Spec(name="unit_tests", params={"tests": TESTS})),
        Criterion(id="similarity", scorer=Spec(name="rouge"), weight=2.0),
        Criterion(id="similarity-2", scorer=Spec(name="rouge")),
        Criterion(id="customized", scorer=Spec(name="python_check")),
        Criterion(id="polite", scorer=Spec(name="contains")),
    )
    scores = {
        "keywords": Score(points=1.0, out_of=1.0, detail={"scoring_detail": "handled"}),
        "unit_test": Score(points=1.0, out_of=2.0, detail={"tests": OUTCOMES}),
        "similarity": Score(points=0.4, out_of=1.0, detail=rouge),
        "similarity-2": Score(points=0.5, out_of=1.0, detail=rouge),
        "customized": Score(points=3.0, out_of=4.0, detail="as the function said"),
        "polite": Score(points=1.0, out_of=1.0),
    }
    case = make_case("x", [], [scores], criteria=criteria, weight=3.0)
    entry = written(make_view([case]), tmp_path)["x"]
    kept = {"rouge1": 0.5, "rougeLsum": 0.25, "normalized_score": 0.4}
    assert entry["weight"] == 3.0
    assert entry["detail"] == [
        {
            "keywords": [],
            "keywords_score": 1.0,
            "keywords_totscore": 1.0,
            "post_handler_detail": "handled",
            "unit_test_score": 1.0,
            "unit_test_totscore": 2.0,
            "unit_test_detail": [
                {
                    "task_id": 0,
                    "completion_id": 0,
                    "passed": True,
                    "result": ["passed"],
                    "code": "import re\na = 1",
                    "stopped": None,
                },
                {
                    "task_id": 0,
                    "completion_id": 0,
                    "passed": False,
                    "result": ["failed: AssertionError"],
                    "code": "import re\na = 2",
                    "stopped": None,
                },
                {
                    "task_id": 0,
                    "completion_id": 0,
                    "passed": False,
                    "result": ["time out"],
                    "code": "import re",
                    "stopped": "time",
                },
            ],
            "similarity_score": pytest.approx(1.3),
            "similarity_totscore": 3.0,
            "similarity_detail": [kept, kept],
            "custom_score": 3.0,
            "custom_totscore": 4.0,
            "custom_detail": "as the function said",
            "polite_score": 1.0,
            "polite_totscore": 1.0,
        }
    ]


ODD_TEXTS = [
    *("yes", "no", "on", "y", "null", "~", "12:30", "1_000", "0o7", "0-0-4", "2020-01-01", "1.5"),
    *(
        "=",
        "<<",
        "",
        " x ",
        "a: b",
        "- a",
        "# no",
        "line\nbreak",
        "tab\there",
        "中文",
        "😀",
        "\x07",
    ),
    *("'q'", '"q"', "\\", "%", "@x", "`x`", "{a}", "matched: response string: x\n, ans: '#'"),
]


@pytest.mark.parametrize("version", [(1, 1), (1, 2)])
def test_texts_and_numbers_survive_both_kinds_of_reader(
    make_view: Any, make_case: Any, tmp_path: Path, version: tuple[int, int]
) -> None:
    detail = {"texts": ODD_TEXTS, "numbers": [1e-05, 1e22, 0.1, -0.0, 3, True, None]}
    score = Score(points=1.0, out_of=1.0, detail=detail)
    case = make_case("no", ["c=custom"], [{"c": score}], source="cases/é.yaml")
    path, *_ = InfiBenchLayout().write(make_view([case]), tmp_path)
    reader = YAML(typ="safe", pure=True)
    reader.version = version
    entry = reader.load(path.read_text(encoding="utf-8"))["cases/é.yaml"]
    assert entry["id"] == "no"
    assert entry["detail"][0]["c_detail"] == detail


def test_what_yaml_cannot_hold(make_view: Any, make_case: Any, tmp_path: Path) -> None:
    score = Score(points=1.0, out_of=1.0, detail=["half \ud800", float("nan")])
    case = make_case("a\udfff", ["c=custom"], [{"c": score}])
    entry = written(make_view([case]), tmp_path)["a?"]
    assert entry["detail"][0]["c_detail"] == ["half ?", None]


def test_two_cases_of_one_source_are_both_there(
    make_view: Any, make_case: Any, tmp_path: Path
) -> None:
    score = {"contains": Score(points=1.0, out_of=1.0)}
    cases = [make_case(name, ["contains"], [score], source="suite.csv") for name in ("a", "b")]
    assert sorted(written(make_view(cases), tmp_path)) == ["suite.csv", "suite.csv#b"]


def test_no_cases_at_all(make_view: Any, tmp_path: Path) -> None:
    assert written(make_view([]), tmp_path) == {}


def test_table(make_view: Any, tmp_path: Path) -> None:
    _, _, table = InfiBenchLayout().write(make_view(), tmp_path)
    assert table.read_text(encoding="utf-8") == "\n".join(TABLE)


def test_table_of_a_run_without_breakdowns(make_view: Any, tmp_path: Path) -> None:
    view = make_view()
    totals = replace(view.summary.totals, full=0.0, rate=None)
    view = replace(view, summary=Summary(totals=totals))
    _, _, table = InfiBenchLayout(model_name="This Model").write(view, tmp_path)
    lines = table.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5
    assert lines[1].split() == ["|", "This", "Model", "|", "|", "Full", "Score", "|", "Allocation"]


@pytest.mark.parametrize(
    ("suite", "path", "stem"),
    [
        ("s", "a/answers.jsonl", "s_answers"),
        ("s", "a/answers.csv", "s_answers"),
        ("s", "a/gpt-3.5", "s_gpt-3.5"),
        ("../s/x", "a:b", ".._s_x_a_b"),
    ],
)
def test_names_stay_in_the_folder(
    make_view: Any, tmp_path: Path, suite: str, path: str, stem: str
) -> None:
    view = make_view()
    run = replace(view.run, candidate=Spec(name="recorded", params={"path": path}))
    view = replace(view, run=run, suite=replace(view.suite, name=suite))
    detail, *_ = InfiBenchLayout().write(view, tmp_path)
    assert detail.parent == tmp_path
    assert detail.stem.lstrip("._") == stem.lstrip("._")


def test_files_go_where_they_are_told(make_view: Any, tmp_path: Path) -> None:
    detail, summary = tmp_path / "d" / "x.yaml", tmp_path / "t" / "y.txt"
    InfiBenchLayout().write_files(make_view(), detail, summary)
    assert detail.is_file()
    assert summary.read_text(encoding="utf-8") == (
        "Total score: 1.25 ± 0.0 / 3.0\nTotal cases: 5\nTotal cases with response: 4\n    "
    )
