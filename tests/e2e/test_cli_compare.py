"""proctor compare: the verdict, the table, the flips, JSON, gates and exit codes."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CASES = 24


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, make_cli: Callable[[Path], Any]) -> Path:
    """Give a folder with two runs of a suite of sums: ten more are right in the second."""
    cli = make_cli(tmp_path_factory.mktemp("graded"))
    suite = ["name: sums", "cases:"]
    for n in range(CASES):
        level = "low" if n < 12 else "high"
        suite += [f"  - id: sum-{n:02}", f"    ask: {n} + {n}?",
                  f"    criteria: {{number: {2 * n}}}", f"    tags: {{level: {level}}}"]  # fmt: skip
    cli.write("suite.yaml", "\n".join(suite) + "\n")
    for name, wrong in (("old", range(1, 14)), ("new", range(11, 14))):
        rows = [{"case": f"sum-{n:02}", "output": str(2 * n + (n in wrong))} for n in range(CASES)]
        cli("run", "suite.yaml", "--answers", cli.answers(rows, f"{name}.jsonl"), "--name", name)
    return Path(cli.folder)


@pytest.fixture
def compared(graded: Path, cli: Any) -> Any:
    """Give a command line in a copy of that folder."""
    shutil.copytree(graded, cli.folder, dirs_exist_ok=True)
    return cli


def test_the_verdict_the_table_and_the_flips(compared: Any) -> None:
    text = compared("compare", "old", "new", "--by", "level").stdout
    assert text.startswith("new is better than old: +41.7 points of 100, interval ")
    assert "10 cases went from wrong to right, 0 the other way." in text
    rows = [line.split() for line in text.splitlines() if line.startswith(("Overall", "level"))]
    assert [row[0] for row in rows] == ["Overall", "level:", "level:"]
    assert rows[0][1:4] == ["45.83%", "87.50%", "+41.7"]
    assert "Better: 10 cases\n  sum-01  0 → 1 of 1\n" in text
    assert "Both wrong: 3 cases\n  sum-11" in text
    assert "Worse" not in text.split("Cases")[1]


def test_every_case_flips_first(compared: Any) -> None:
    text = compared("compare", "old", "new", "--cases").stdout
    listed = [line.split()[0] for line in text.splitlines() if line.startswith("  sum-")]
    assert len(listed) == CASES
    assert listed[:10] == [f"sum-{n:02}" for n in range(1, 11)]
    assert listed[10:14] == ["sum-11", "sum-12", "sum-13", "sum-00"]


def test_json(compared: Any) -> None:
    made = compared.json("compare", "old", "new", "--cases", "--by", "level")
    (pair,) = made["pairs"]
    assert pair["verdict"] == "better"
    assert pair["difference"]["value"] == pytest.approx(10 / 24)
    assert pair["p"] == pytest.approx(1 / 2**10)
    assert pair["groups"]["level"]["low"]["counts"]["to_right"] == 10
    assert len(made["cases"]) == CASES
    assert made["cases"][1] == {
        "runs": [pair["first"], pair["second"]],
        "id": "sum-01",
        "kind": "better",
        "first": 0.0,
        "second": 1.0,
        "full": 1.0,
        "difference": 1.0,
    }
    again = compared.json("compare", "old", "new")
    assert "cases" not in again
    assert again["pairs"][0]["difference"]["value"] == pair["difference"]["value"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("old", "new", "--gate", "difference.low > 0"), 0, ""),
        (("new", "old", "--gate", "difference.low > -0.02"), 1, "gate missed: difference.low > -0.02"),
        (("old", "new", "--gate", "level.high >= 0"), 0, ""),
        (("old", "new", "--gate", "verdict == 'better'"), 0, ""),
        (("new", "old", "--margin", "2", "--gate", "verdict != 'worse'"), 1, "gate missed: verdict"),
        (("old", "new", "--margin", "200"), 2, "points of 100"),
        (("old", "new", "--sequential", "--gate", "verdict == 'better'"), 0, ""),
        (("old", "new", "--sequential", "--by", "level"), 2, "leave out --by"),
        (("old", "new", "--gate", "nothing > 0"), 2, "unknown name 'nothing'"),
        (("old", "old"), 2, "named twice"),
        (("old",), 2, "2 to 10 runs"),
        ((), 2, "Missing argument"),
        (("old", "newer"), 2, "did you mean 'new'"),
        (("old", "new", "--by", "lang"), 2, "no breakdown by 'lang'"),
    ],
)  # fmt: skip
def test_exit_codes(compared: Any, args: tuple[str, ...], code: int, said: str) -> None:
    assert said in compared("compare", *args, code=code).stderr


def test_missed_gates_are_in_the_json(compared: Any) -> None:
    made = compared.json("compare", "new", "old", "--gate", "difference > 0", code=1)
    assert made["gates_missed"] == ["difference > 0"]


def test_bootstrap_agrees_roughly(compared: Any) -> None:
    one = compared.json("compare", "old", "new")["pairs"][0]["difference"]
    two = compared.json("compare", "old", "new", "--interval", "bootstrap")["pairs"][0][
        "difference"
    ]
    assert two["low"] == pytest.approx(one["low"], abs=0.06)
    assert (
        two
        == compared.json("compare", "old", "new", "--interval", "bootstrap")["pairs"][0][
            "difference"
        ]
    )


@pytest.mark.slow
def test_an_edited_suite_is_refused_and_can_be_forced(compared: Any) -> None:
    text = (compared.folder / "suite.yaml").read_text()
    compared.write("edited.yaml", text.replace("number: 46}", "number: 47}"))
    compared("run", "edited.yaml", "--answers", "new.jsonl", "--name", "edited")
    done = compared("compare", "old", "edited", code=2)
    assert "under the same id in 1 case" in done.stderr
    forced = compared("compare", "old", "edited", "--force")
    assert (
        "warning: other question, criteria or weight under the same id in 1 case" in forced.stderr
    )
    compared("run", "suite.yaml", "--answers", "new.jsonl", "--limit", "20", "--name", "part")
    part = compared("compare", "old", "part")
    assert "Left out: 4 cases only in old" in part.stdout


def test_three_runs(compared: Any) -> None:
    compared("run", "suite.yaml", "--answers", "new.jsonl", "--name", "again")
    text = compared("compare", "old", "new", "again").stdout
    assert text.count("(95 % for all 3 rows together)") == 3
    assert "rank 1–2  new " in text
    assert "rank 3    old " in text
    assert "again and new cannot be told apart: 0.0 points of 100" in text


@pytest.mark.slow
def test_names_cannot_steer_the_terminal(compared: Any) -> None:
    compared.write(
        "odd.yaml",
        'name: odd\ncases:\n  - {id: "a\u202eb", ask: A, criteria: x}\n  - {id: c, ask: B, criteria: x}\n',
    )
    for name in ("one", "two"):
        rows = [
            {"case": "a\u202eb", "output": "x" if name == "two" else ""},
            {"case": "c", "output": "x"},
        ]
        compared(
            "run", "odd.yaml", "--answers", compared.answers(rows, f"{name}.jsonl"), "--name", name
        )
    assert "\u202e" not in compared("compare", "one", "two", "--cases").stdout
