"""Native suites: what is read, from all kinds of files, with every shorthand."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.errors import Problem, SuiteError
from proctor.formats.native.dialect import Native

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def cases_of(folder: Path, text: str, name: str = "s.yaml") -> list[Case]:
    write(folder, {name: text})
    return list(Native().read(folder / name).suite.cases)


def warnings_of(folder: Path, text: str) -> list[Problem]:
    write(folder, {"s.yaml": text})
    return list(Native().read(folder / "s.yaml").warnings)


def user(text: str) -> tuple[Message, ...]:
    return (Message(role="user", content=text),)


def spec(name: str, **params: Any) -> Spec:
    return Spec(name=name, params=params)


def test_a_whole_suite(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "s.yaml": """
name: all
version: 1.10
description: Everything.
language: zh
reduce: avg_max_3
measures: [accuracy, {pass_rate: 0.5}, {pass_rate: {threshold: 0.25}}]
cases:
  - id: full
    system: Be brief.
    ask_file: q.txt
    references: [{file: r.txt}, two, 3.50]
    context: one
    hidden: {fact: [1, null]}
    dialogue: {clarify: {max_turns: 2}}
    tags: {lang: [py, 3.10], hard: true}
    weight: 2
    full_score: 5
    null_score: -1
    min_points: 0
    max_points: 1
    out_of: 1
    source: elsewhere
    criteria:
      - Paris
      - {exact_match: true, id: same, weight: -0.5, metric: equality}
""",
            "q.txt": "Why?\n",
            "r.txt": "because",
        },
    )
    reading = Native().read(tmp_path / "s.yaml")
    suite = reading.suite
    assert (suite.name, suite.version, suite.language) == ("all", "1.10", "zh")
    assert (suite.description, suite.reduce, suite.dialect) == (
        "Everything.",
        "avg_max_3",
        "native",
    )
    assert suite.measures == (
        spec("accuracy"),
        spec("pass_rate", threshold=0.5),
        spec("pass_rate", threshold=0.25),
    )
    assert reading.warnings == ()
    assert list(suite.cases) == [
        Case(
            id="full",
            messages=(Message(role="system", content="Be brief."), *user("Why?\n")),
            criteria=(
                Criterion(id="contains", scorer=spec("contains", texts="Paris")),
                Criterion(id="same", scorer=spec("exact_match"), weight=-0.5, metric="equality"),
            ),
            references=("because", "two", "3.50"),
            context=("one",),
            hidden={"fact": [1, None]},
            dialogue=spec("clarify", max_turns=2),
            tags={"lang": ("py", "3.10"), "hard": ("true",)},
            weight=2.0,
            full_score=5.0,
            null_score=-1.0,
            min_points=0.0,
            max_points=1.0,
            out_of=1.0,
            source="elsewhere",
        )
    ]


CRITERIA: list[tuple[str, list[tuple[str, Spec]]]] = [
    ("Paris", [("contains", spec("contains", texts="Paris"))]),
    ("10.10", [("contains", spec("contains", texts="10.10"))]),
    (
        "[a, b]",
        [("contains", spec("contains", texts="a")), ("contains-2", spec("contains", texts="b"))],
    ),
    ("{contains: [a, 1.0]}", [("contains", spec("contains", texts=["a", "1.0"]))]),
    (
        "{contains: {texts: [yes, true], all: true}}",
        [("contains", spec("contains", texts=["yes", "true"], all=True))],
    ),
    ("{keywords: [10.10, no]}", [("keywords", spec("keywords", rules=["10.10", "no"]))]),
    ("{keywords: 7}", [("keywords", spec("keywords", rules=["7"]))]),
    (
        "{keywords: [{any: [1.0, {text: 2.0}], weight: 2.0, ignore_case: true}]}",
        [
            (
                "keywords",
                spec(
                    "keywords",
                    rules=[{"any": ["1.0", {"text": "2.0"}], "weight": 2.0, "ignore_case": True}],
                ),
            )
        ],
    ),
    (
        "{blanks: {template: 'a [blank] [blank]', targets: [5, {any: [0.50], weight: 2}]}}",
        [
            (
                "blanks",
                spec(
                    "blanks",
                    template="a [blank] [blank]",
                    targets=["5", {"any": ["0.50"], "weight": 2}],
                ),
            )
        ],
    ),
    ("{number: 42}", [("number", spec("number", value=42))]),
    ("{number: {value: 4, tolerance: 0.5}}", [("number", spec("number", value=4, tolerance=0.5))]),
    ("{exact_match: }", [("exact_match", spec("exact_match"))]),
    (
        "{exact_match: {ignore_case: true}}",
        [("exact_match", spec("exact_match", ignore_case=True))],
    ),
    ("{scorer: exact_match}", [("exact_match", spec("exact_match"))]),
    ("{scorer: number, with: {value: 1}, id: n}", [("n", spec("number", value=1))]),
    ("{'my.own:Scorer': {words: [1]}}", [("my.own:Scorer", spec("my.own:Scorer", words=[1]))]),
    ("{'my.own:Scorer': true}", [("my.own:Scorer", spec("my.own:Scorer"))]),
    (
        "[a, {contains: b, id: contains}, c, {contains: d, id: contains-3}]",
        [
            ("contains-2", spec("contains", texts="a")),
            ("contains", spec("contains", texts="b")),
            ("contains-4", spec("contains", texts="c")),
            ("contains-3", spec("contains", texts="d")),
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), CRITERIA)
def test_criteria(tmp_path: Path, text: str, expected: list[tuple[str, Spec]]) -> None:
    case = cases_of(tmp_path, f"cases: [{{ask: a, references: x, criteria: {text}}}]")[0]
    assert [(c.id, c.scorer) for c in case.criteria] == expected


def test_references_alone_are_compared_for_equality(tmp_path: Path) -> None:
    case = cases_of(tmp_path, "cases: [{ask: a, references: b}]")[0]
    assert case.criteria == (Criterion(id="exact_match", scorer=spec("exact_match")),)


@pytest.mark.parametrize(
    ("key", "references"),
    [
        ("reference: Paris", ("Paris",)),
        ("reference: 1.10", ("1.10",)),
        ("reference: [Paris, Lutetia]", ("Paris", "Lutetia")),
        ("references: Paris", ("Paris",)),
    ],
)
def test_references_have_two_names(tmp_path: Path, key: str, references: tuple[str, ...]) -> None:
    (case,) = cases_of(tmp_path, f"cases: [{{ask: Where, {key}}}]")
    assert case.references == references
    assert [criterion.scorer.name for criterion in case.criteria] == ["exact_match"]


def test_references_under_both_names_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="reference and references say the same thing"):
        cases_of(tmp_path, "cases: [{ask: Where, reference: a, references: b}]")


def test_defaults_are_laid_over_each_other(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "s.yaml": """
full_score: 2
null_score: 1
weight: 3
system: short
dialogue: clarify
tags: {a: 1, b: 2}
criteria: yes
cases:
  - {id: plain, ask: q}
  - {id: own, ask: q, full_score: 5, null_score: 0, weight: 0, system: long, dialogue: fata,
     tags: {b: 3, c: 4}, criteria: no}
  - {id: silent, ask: q, system: ""}
  - {id: talk, messages: [{role: system, content: mine}, {role: user, content: q}]}
  - more.yaml
""",
            "more.yaml": "{tags: {b: 9}, weight: 7, cases: [{id: inner, ask: q, tags: {d: 5}}]}",
        },
    )
    cases = {case.id: case for case in Native().read(tmp_path / "s.yaml").suite.cases}
    shown = {
        name: (c.full_score, c.null_score, c.weight, c.dialogue.name, c.criteria[0].scorer.params)
        for name, c in cases.items()
    }
    plain = (2.0, 1.0, 3.0, "clarify", {"texts": "yes"})
    assert shown == {
        "plain": plain,
        "own": (5.0, 0.0, 0.0, "fata", {"texts": "no"}),
        "silent": plain,
        "talk": plain,
        "inner": (2.0, 1.0, 7.0, "clarify", {"texts": "yes"}),
    }
    assert {name: c.messages[0].content for name, c in cases.items()} == {
        "plain": "short", "own": "long", "silent": "q", "talk": "mine", "inner": "short",
    }  # fmt: skip
    assert cases["own"].tags == {"a": ("1",), "b": ("3",), "c": ("4",)}
    assert cases["inner"].tags == {"a": ("1",), "b": ("9",), "d": ("5",)}


def test_ids_and_sources_follow_files_and_places(tmp_path: Path) -> None:
    files = {
        "s.yaml": "cases:\n  - {ask: a, criteria: x}\n  - part/*.yaml\n  - {ask: a, criteria: x}\n",
        "part/list.yaml": "- {ask: a, criteria: x}\n- {ask: b, criteria: x}\n",
        "part/one.yaml": "ask: a\ncriteria: x\n",
        "part/three.yaml": "cases: ../rows.jsonl\n",
        "rows.jsonl": '{"suite": {}}\n\n{"ask": "a", "criteria": "x"}\n',
    }
    write(tmp_path, files)
    found = [(c.id, c.source) for c in Native().read(tmp_path / "s.yaml").suite.cases]
    assert found == [
        ("s-1", "s.yaml:2"),
        ("list-1", "part/list.yaml:1"),
        ("list-2", "part/list.yaml:2"),
        ("one", "part/one.yaml:1"),
        ("rows-1", "rows.jsonl:3"),
        ("s-3", "s.yaml:4"),
    ]


@pytest.mark.parametrize(
    ("files", "read", "name", "ids"),
    [
        ({"d/suite.yaml": "cases: [{ask: a, criteria: x}]"}, "d", "suite", ["suite-1"]),
        ({"d/b.yaml": "{ask: a, criteria: x}", "d/a.jsonl": '{"ask": "a", "criteria": "x"}\n'},
         "d", "d", ["a-1", "b"]),
        ({"d/x.yml": "- {ask: a, criteria: x}"}, "d/x.yml", "x", ["x-1"]),
        ({"d/x.yaml": "{ask: a, criteria: x}"}, "d/x.yaml", "x", ["x"]),
        ({"d/x.jsonl": '{"suite": {"name": "n"}}\n{"ask": "a", "criteria": "x"}\n'},
         "d/x.jsonl", "n", ["x-1"]),
        ({"d/x.csv": "ask,criteria\na,x\nb,y\n"}, "d/x.csv", "x", ["x-1", "x-2"]),
    ],
)  # fmt: skip
def test_one_file_or_a_folder(
    tmp_path: Path, files: dict[str, str], read: str, name: str, ids: list[str]
) -> None:
    write(tmp_path, files)
    assert Native().recognises(tmp_path / read)
    suite = Native().read(tmp_path / read).suite
    assert (suite.name, [case.id for case in suite.cases]) == (name, ids)


def test_csv_cells(tmp_path: Path) -> None:
    text = (
        "id,ask,reference,context,criteria,weight,tags.a,tag:b,full_score,hidden\n"
        '1,"q, q",[1],"[""c"",""d""]",,2,x,"[""y"",""z""]",,"{""f"": 1}"\n'
    )
    write(tmp_path, {"s.csv": text})
    case = Native().read(tmp_path / "s.csv").suite.cases[0]
    assert (case.id, case.prompt, case.references) == ("1", "q, q", ("[1]",))
    assert (case.context, case.weight, case.full_score) == (("c", "d"), 2.0, 1.0)
    assert (case.tags, case.hidden) == ({"a": ("x",), "b": ("y", "z")}, {"f": 1})
    assert case.criteria[0].scorer.name == "exact_match"


@pytest.mark.parametrize(
    ("cell", "scorers"),
    [
        ("Paris", [spec("contains", texts="Paris")]),
        ("7", [spec("contains", texts="7")]),
        ('{"number": 7}', [spec("number", value=7)]),
        (
            '["a", {"keywords": ["b"]}]',
            [spec("contains", texts="a"), spec("keywords", rules=["b"])],
        ),
    ],
)
def test_criteria_in_a_cell(tmp_path: Path, cell: str, scorers: list[Spec]) -> None:
    quoted = cell.replace('"', '""')
    case = cases_of(tmp_path, f'ask,criteria\nq,"{quoted}"\n', "s.csv")[0]
    assert [criterion.scorer for criterion in case.criteria] == scorers


@pytest.mark.slow
def test_parquet_cells(tmp_path: Path) -> None:
    table = pyarrow.table(
        {
            "id": [1, 2],
            "ask": ["a", "b"],
            "references": [["x", "y"], None],
            "criteria": [None, '{"number": 3}'],
            "weight": [None, 2.0],
            "tags.level": ["easy", None],
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "s.parquet")
    assert Native().recognises(tmp_path / "s.parquet")
    one, two = Native().read(tmp_path / "s.parquet").suite.cases
    assert (one.id, one.references, one.weight, one.tags) == (
        "1",
        ("x", "y"),
        1.0,
        {"level": ("easy",)},
    )
    assert (two.id, two.weight, two.criteria[0].scorer) == ("2", 2.0, spec("number", value=3))


WARNINGS = [
    ("criteria: [{contains: a, weight: 0}, {number: 1, weight: 0}]", "weight 0"),
    ("criteria: [{contains: a, weight: -1}]", "positive weight"),
    ("criteria: a, max_points: 2", "the criteria give 1 at most"),
    (
        "criteria: {keywords: [a, {text: b, weight: 2}, {text: c, neg: true}]}, max_points: 4",
        "give 3",
    ),
    ("criteria: [{contains: a, weight: 2}, {number: 1, weight: -1}], out_of: 3", "2 of 3 points"),
    ("criteria: [{contains: a, weight: 2}], max_points: 1, out_of: 2", "1 of 2 points"),
    ("criteria: a, max_points: 0", "no marks can be won"),
    ("criteria: exact_match", "contain the text 'exact_match'"),
    ("criteria: {exact_match: true}", "the case has none"),
    ("criteria: {rouge: rouge1}", "the case has none"),
    ("references: a, criteria: []", "the list of criteria is empty"),
    ("criteria: a, criteria: b", "occurs twice"),
    ("criteria: {keywords: [{text: a, weight: 0}]}", "give no points"),
]


@pytest.mark.parametrize(("keys", "words"), WARNINGS)
def test_warnings(tmp_path: Path, keys: str, words: str) -> None:
    found = warnings_of(tmp_path, f"cases:\n  - {{ask: a, {keys}}}\n")
    assert len(found) == 1
    assert words in found[0].message
    assert (found[0].severity, found[0].line) == ("warning", 2)


@pytest.mark.parametrize(
    "keys",
    [
        "criteria: a, max_points: 1",
        "criteria: {keywords: [a, b]}, max_points: 1, out_of: 1",
        "criteria: [{contains: a, weight: 0}, b]",
        "criteria: {python_check: {module: m, func: f, source: ''}}, max_points: 9",
        "criteria: {'m:C': true}, max_points: 9, out_of: 20",
        "criteria: {rouge: {references: [a]}}",
    ],
)
def test_no_warning_where_all_is_well_or_nothing_is_known(tmp_path: Path, keys: str) -> None:
    assert warnings_of(tmp_path, f"cases: [{{ask: a, {keys}}}]") == []


def test_what_an_included_file_cannot_say_is_warned_of(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "s.yaml": "reduce: min\ncases: [t.yaml]\n",
            "t.yaml": "reduce: max\ncases: [{ask: a, criteria: b}]\n",
        },
    )
    reading = Native().read(tmp_path / "s.yaml")
    assert reading.suite.reduce == "min"
    assert ["reduce" in problem.message for problem in reading.warnings] == [True]


@pytest.mark.parametrize(("compat", "count"), [("", 0), ("original", 1)])
def test_native_suites_have_no_original(tmp_path: Path, compat: str, count: int) -> None:
    write(tmp_path, {"s.yaml": "cases: [{ask: a, criteria: b}]"})
    assert len(Native().read(tmp_path / "s.yaml", compat=compat).warnings) == count


def test_a_root_lets_paths_leave_the_folder_of_the_suite(tmp_path: Path) -> None:
    write(tmp_path, {"d/s.yaml": "cases: [../c.yaml]", "c.yaml": "{ask: a, criteria: b}"})
    assert len(Native().read(tmp_path / "d" / "s.yaml", root=tmp_path).suite.cases) == 1
    with pytest.raises(SuiteError, match="leads out"):
        Native().read(tmp_path / "d" / "s.yaml")


RECOGNISED = [
    ("a.yaml", "name: x\ncases: [y.yaml]\n", True),
    ("a.yaml", "cases:\n  - ask: x\n", True),
    ("a.yaml", "cases: [{ask: x}]", True),
    ("a.yaml", "{cases: [{messages: []}]}", True),
    ("a.yaml", "cases: ['*.yaml']", True),
    ("a.yaml", "cases: [x.jsonl]", True),
    ("a.yaml", "reduce: max\ncases: [x.yaml]", True),
    ("a.yaml", "- ask_file: x\n", True),
    ("a.yaml", "name: [broken\n", True),
    ("a.yaml", "cases: [x.yaml]", False),
    ("a.yaml", "cases:\n- {path: x.yaml, weight: 2}\n", False),
    ("a.yaml", "attempt_reduce_mode: avg\ncases: [x.yaml]\n", False),
    ("a.yaml", "id: 1\nprompt_path: x\ngrading: {}\n", False),
    ("a.yaml", "other: 1\n", False),
    ("a.yaml", "", False),
    ("a.jsonl", '{"ask": "x"}\n', True),
    ("a.jsonl", '{"suite": {}}\n', True),
    ("a.jsonl", '{"case": "x", "output": "y"}\n', False),
    ("a.jsonl", "[1]\n", False),
    ("a.csv", "id,ask\n", True),
    ("a.csv", "case,output\n", False),
    ("a.csv", "", False),
    ("a.parquet", "no parquet", False),
    ("a.txt", "ask: x", False),
]


@pytest.mark.parametrize(("name", "text", "expected"), RECOGNISED)
def test_recognises(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    write(tmp_path, {name: text})
    assert Native().recognises(tmp_path / name) is expected
    assert Native().recognises(tmp_path) is (expected and name != "a.txt")
    assert not Native().recognises(tmp_path / "absent.yaml")


def test_a_suite_that_is_but_paths_is_ours_where_its_files_are(tmp_path: Path) -> None:
    write(tmp_path, {"s.yaml": "cases: [x.yaml]", "x.yaml": "ask: a\ncriteria: b\n"})
    assert Native().recognises(tmp_path / "s.yaml")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_infibench_is_not_ours() -> None:
    folder = SHARED / "infibench_dev"
    assert not Native().recognises(folder / "suite_dev.yaml")
    for path in sorted((folder / "cases_dev").glob("*.yaml")):
        assert not Native().recognises(path)


@pytest.mark.slow
def test_a_large_file_is_read(tmp_path: Path) -> None:
    rows = [json.dumps({"ask": f"q{i}", "criteria": f"a{i}"}) for i in range(5000)]
    assert len(cases_of(tmp_path, "\n".join(rows), "s.jsonl")) == 5000
