"""Native suites that are wrong: each mistake is told once, where it stands, with a way out."""

from pathlib import Path

import pytest

from proctor.errors import Problem, SuiteError
from proctor.formats.native.dialect import Native

Files = dict[str, str | bytes]


def problems(folder: Path, files: Files, read: str = "s.yaml") -> list[Problem]:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SuiteError) as caught:
        Native().read(folder / read)
    assert caught.value.problems
    return caught.value.problems


# The keys of one case (after `ask: q`, from line 3 on), the line of the mistake, words, hint.
IN_A_CASE = [
    ("criteria: {contians: a}", 3, "no scorer 'contians'", "did you mean 'contains'?"),
    ("criteria: {regex: a}", 3, "no scorer 'regex'", "did you mean 'matches: PATTERN'?"),
    ("criteria: {scorer: equals}", 3, "no scorer 'equals'", "did you mean 'exact_match: true'?"),
    (
        "criteria: {contains: {any: [Paris], none: sorry}}",
        3,
        "expected one of 'references'",
        "write 'contains: {texts: [Paris], all: false, none: sorry}'",
    ),
    ("criteria: {contains: {any: Rome}}", 3, "not the string", "{texts: [Rome], all: false}"),
    ("criteria: {scorer: rogue}", 3, "no scorer 'rogue'", "did you mean 'rouge'?"),
    ("criteria:\n    - a\n    - {keywords: [{txt: a}]}", 5, "unknown key 'txt'", "'text'"),
    ("criteria: {keywords: {rulse: [a]}}", 3, "no parameter 'rulse'", "did you mean 'rules'?"),
    ("criteria: {contains: a, wieght: 2}", 3, "unknown key 'wieght'", "did you mean 'weight'?"),
    ("criteria: {scorer: number, wth: {}}", 3, "unknown key 'wth'", "did you mean 'with'?"),
    ("criteria: {scorer: number, with: 3}", 3, "a mapping of parameters", ""),
    ("criteria: {scorer: 3}", 3, "the name of a scorer", ""),
    ("criteria: {contains: a, number: 2}", 3, "one scorer, not 2", "a list of criteria"),
    ("criteria: {weight: 2}", 3, "names no scorer", "known are: a"),
    ("criteria: [[a]]", 3, "not a list", ""),
    ("criteria: [null]", 3, "not nothing", ""),
    ("criteria: {number: many}", 3, "expected a number, not the string 'many'", ""),
    ("criteria: {matches: '(['}", 3, "does not compile", ""),
    ("criteria: {keywords: []}", 3, "no keywords are given", ""),
    ("criteria: {keywords: [{text: '(', regex: true}]}", 3, "does not compile", ""),
    ("criteria: {blanks: {template: '[blank]', targets: [a, b]}}", 3, "blank", ""),
    ("criteria: {blanks: {template: x}}", 3, "'targets' is missing", ""),
    ("criteria: {unit_tests: [{contents: x}]}", 3, "unknown key 'contents'", "'content'"),
    ("criteria: {rouge: rouge9}", 3, "rouge1", ""),
    ("criteria: {contains: ''}", 3, "an empty text", ""),
    ("criteria: {contains: a, weight: .nan}", 3, "expected a number", ""),
    ("criteria: {contains: a, weight: true}", 3, "expected a number, not true", ""),
    ("criteria: {contains: a, id: ''}", 3, "at least 1 character", ""),
    ("criteria:\n    - {contains: a, id: x}\n    - {contains: b, id: x}", 5, "the id 'x'", ""),
    ("criteria: {'my:Scorer': 5}", 3, "written as a mapping", ""),
    ("criteria: a\n    weight: -1", 4, "expected 0 or more, not -1", ""),
    ("criteria: a\n    weight: heavy", 4, "not the string 'heavy'", ""),
    ("criteria: a\n    full_score: [1]", 4, "expected a number, not a list", ""),
    ("criteria: a\n    min_points: 2\n    max_points: 1", 4, "min_points (2) is greater", ""),
    ("criteria: a\n    tags: [x]", 4, "expected a mapping", ""),
    ("criteria: a\n    tags: {x: {y: z}}", 4, "expected a string, not a mapping", ""),
    ("criteria: a\n    hidden: 5", 4, "expected a mapping", ""),
    ("criteria: a\n    dialogue: {a: 1, b: 2}", 4, "the name of a dialogue", ""),
    ("criteria: a\n    dialogue: {clarfy: {}}", 4, "there is no dialogue", "clarify"),
    ("criteria: a\n    id: ''", 4, "at least 1 character", ""),
    ('criteria: a\n    id: "a\\nb"', 4, "one line of text", ""),
    (
        "criteria: a\n    messages: [{role: user, content: x}]",
        4,
        "ask and messages say the same",
        "",
    ),
    ("criteria: a\n    ask_file: none.txt", 4, "ask and ask_file say the same", ""),
    ("references: {file: none.txt}", 3, "there is no file 'none.txt'", ""),
    ("references: {fiel: none.txt}", 3, "unknown key 'fiel'", "did you mean 'file'?"),
    ("references: {file: ../s.yaml}", 3, "leads out of the suite's folder", "in its folder"),
    ("references: {file: /etc/hostname}", 3, "leads out of the suite's folder", ""),
    ("references: [[a]]", 3, "expected a mapping, not a list", ""),
    ("references: [{}]", 3, "a string, or a mapping with the key 'file'", ""),
    ("expected: a", 3, "unknown key 'expected'", "did you mean 'references'?"),
    ("criteira: a", 3, "unknown key 'criteira'", "did you mean 'criteria'?"),
    ("criteria: []", 2, "nothing says how to score", "write 'criteria'"),
    ("weight: 1", 2, "nothing says how to score", "write 'criteria'"),
]


@pytest.mark.parametrize(("keys", "line", "words", "hint"), IN_A_CASE)
def test_one_mistake_in_a_case_is_one_problem(
    tmp_path: Path, keys: str, line: int, words: str, hint: str
) -> None:
    found = problems(tmp_path, {"s.yaml": f"cases:\n  - ask: q\n    {keys}\n"})
    assert [words in problem.message for problem in found] == [True]
    assert (found[0].line, Path(found[0].file or "").name) == (line, "s.yaml")
    assert hint in found[0].hint
    assert found[0].column is not None


CASE = "{ask: q, criteria: a}"

IN_A_FILE: list[tuple[Files, str, int | None, str]] = [
    ({"s.yaml": ""}, "s.yaml", 1, "empty"),
    ({"s.yaml": "# only a comment\n"}, "s.yaml", 1, "empty"),
    ({"s.yaml": "text"}, "s.yaml", 1, "a suite is a mapping"),
    ({"s.yaml": "name: x"}, "s.yaml", 1, "'cases' is missing"),
    ({"s.yaml": "name: x\ncases:\n"}, "s.yaml", 1, "'cases' is missing"),
    ({"s.yaml": "name: x\ncases: []"}, "s.yaml", 2, "there are no cases"),
    ({"s.yaml": "name: x\ncases: 5"}, "s.yaml", 2, "expected a list of cases"),
    ({"s.yaml": "name: x\ncases: {a: b}"}, "s.yaml", 2, "expected a list of cases"),
    ({"s.yaml": "cases: [5]"}, "s.yaml", 1, "a mapping or a path, not the number 5"),
    ({"s.yaml": "cases: [null]"}, "s.yaml", 1, "a mapping or a path, not nothing"),
    ({"s.yaml": "cases: [{criteria: a}]"}, "s.yaml", 1, "asks nothing"),
    ({"s.yaml": "cases: [{ask: , criteria: a}]"}, "s.yaml", 1, "asks nothing"),
    ({"s.yaml": "cases: [{prompt: q, criteria: a}]"}, "s.yaml", 1, "unknown key 'prompt'"),
    ({"s.yaml": "cases: [{messages: [], criteria: a}]"}, "s.yaml", 1, "at least 1 item"),
    ({"s.yaml": "cases: [{messages: q, criteria: a}]"}, "s.yaml", 1, "expected a list"),
    (
        {"s.yaml": "cases: [{messages: [{role: usr, content: q}], criteria: a}]"},
        "s.yaml", 1, "no role 'usr'",
    ),
    (
        {"s.yaml": "cases: [{messages: [{role: user, contnt: q}], criteria: a}]"},
        "s.yaml", 1, "unknown key 'contnt'",
    ),
    (
        {"s.yaml": "cases: [{system: a, messages: [{role: system, content: b}], criteria: a}]"},
        "s.yaml", 1, "a system message in 'messages' already",
    ),
    ({"s.yaml": f"nmae: x\ncases: [{CASE}]"}, "s.yaml", 1, "unknown key 'nmae'"),
    ({"s.yaml": f"name: ''\ncases: [{CASE}]"}, "s.yaml", 1, "at least 1 character"),
    ({"s.yaml": f"name: [x]\ncases: [{CASE}]"}, "s.yaml", 1, "expected a string"),
    ({"s.yaml": f"reduce: best\ncases: [{CASE}]"}, "s.yaml", 1, "fold attempts: 'best'"),
    ({"s.yaml": f"measures: acuracy\ncases: [{CASE}]"}, "s.yaml", 1, "no measure 'acuracy'"),
    ({"s.yaml": f"measures: [{{pass_rate: x}}]\ncases: [{CASE}]"}, "s.yaml", 1, "a number"),
    ({"s.yaml": f"measures: [{{unq_events: 1}}]\ncases: [{CASE}]"}, "s.yaml", 1, "no parameter"),
    ({"s.yaml": f"measures: [[a]]\ncases: [{CASE}]"}, "s.yaml", 1, "the name of a measure"),
    ({"s.yaml": f"origin: infinibench\ncases: [{CASE}]"}, "s.yaml", 1, "no dialect"),
    ({"s.yaml": f"criteria: []\ncases: [{CASE}]"}, "s.yaml", 1, "list of criteria is empty"),
    ({"s.yaml": f"criteria: {{numbr: 1}}\ncases: [{CASE}, {CASE}]"}, "s.yaml", 1, "'numbr'"),
    ({"s.yaml": "cases: [none.yaml]"}, "s.yaml", 1, "there is no file 'none.yaml'"),
    ({"s.yaml": "cases: [none/*.yaml]"}, "s.yaml", 1, "no file matches 'none/*.yaml'"),
    ({"s.yaml": "cases: ['*.yaml']"}, "s.yaml", 1, "no file matches"),
    ({"s.yaml": "cases: [/etc/*.yaml]"}, "s.yaml", 1, "leads out"),
    ({"s.yaml": "cases: ['']"}, "s.yaml", 1, "expected a path"),
    ({"s.yaml": 'cases: ["a\\0b"]'}, "s.yaml", 1, "NUL"),
    ({"s.yaml": "cases: [d]", "d/x.yaml": CASE}, "s.yaml", 1, "is a folder"),
    ({"s.yaml": "cases: [x.txt]", "x.txt": CASE}, "s.yaml", 1, "cases are read from .yaml"),
    ({"s.yaml": "cases: [../x.yaml]"}, "s.yaml", 1, "leads out"),
    ({"s.yaml": "cases: [s.yaml]"}, "s.yaml", 1, "s.yaml → s.yaml"),
    ({"s.yaml": "cases: [t.yaml]", "t.yaml": "cases: [s.yaml]"}, "t.yaml", 1, "t.yaml → s"),
    ({"s.yaml": "cases: [t.yaml]", "t.yaml": "cases: []"}, "t.yaml", 1, "there are no cases"),
    ({"s.yaml": "cases: [t.yaml]", "t.yaml": "{ask: q}"}, "t.yaml", 1, "nothing says how"),
    ({"s.yaml": "cases: [t.jsonl]", "t.jsonl": ""}, "t.jsonl", 1, "there are no cases"),
    ({"s.yaml": "cases: [t.jsonl]", "t.jsonl": "{}\n[1]\n"}, "t.jsonl", 1, "asks nothing"),
    ({"s.yaml": "cases: [t.jsonl]", "t.jsonl": "\n[1]\n"}, "t.jsonl", 2, "a case is an object"),
    ({"s.yaml": "cases: [t.jsonl]", "t.jsonl": '{"ask": \n'}, "t.jsonl", 1, "not valid JSON"),
    ({"s.yaml": "cases: [t.jsonl]", "t.jsonl": '{"suite": {"nam": 1}}\n'}, "t.jsonl", 1, "'nam'"),
    ({"s.yaml": "cases: [t.jsonl]", "t.jsonl": '{"suite": 5}\n'}, "t.jsonl", 1, "by a mapping"),
    (
        {"s.yaml": "cases: [t.jsonl]", "t.jsonl": '{"ask": "\\ud800", "criteria": "a"}\n'},
        "t.jsonl", 1, "half of a surrogate pair",
    ),
    ({"s.yaml": "cases: [t.csv]", "t.csv": "ask,criteria\n"}, "t.csv", 1, "there are no cases"),
    ({"s.yaml": "cases: [t.csv]", "t.csv": "ask,refernces\na,b\nc,d\n"}, "t.csv", 1, "'refernces'"),
    ({"s.yaml": "cases: [t.csv]", "t.csv": "ask,level,criteria\na,b,c\n"}, "t.csv", 1, "'level'"),
    ({"s.yaml": "cases: [t.csv]", "t.csv": "ask,criteria\na,b\n,d\n"}, "t.csv", 3, "asks nothing"),
    ({"s.yaml": "cases: [t.csv]", "t.csv": "ask,references\na,[b\n"}, "t.csv", 2, "not valid JSON"),
    ({"s.yaml": "cases: [t.csv]", "t.csv": "ask,criteria\na\n"}, "t.csv", 2, "a row of 1 fields"),
    (
        {"s.yaml": "cases: [t.csv]", "t.csv": "ask,reference,references\na,b,c\n"},
        "t.csv", 2, "say the same thing",
    ),
    (
        {"s.yaml": "cases: [t.csv]", "t.csv": "ask,criteria,weight\na,b,much\n"},
        "t.csv", 2, "expected a number",
    ),
    ({"s.yaml": "cases: [t.parquet]", "t.parquet": "x"}, "t.parquet", None, "as Parquet"),
    ({"s.yaml": b"cases: \xff"}, "s.yaml", 1, "not valid UTF-8"),
    ({"s.yaml": b"\0\1\2"}, "s.yaml", 1, "binary"),
    ({"s.yaml": "cases: [a: b: c"}, "s.yaml", 1, "not valid YAML"),
    ({"s.yaml": "a: " + "[" * 100}, "s.yaml", 1, "nested more than"),
    ({"s.yaml": f"cases: [{CASE}]\n---\nx: 1"}, "s.yaml", 2, "second YAML document"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "file", "line", "words"), IN_A_FILE)
def test_what_is_wrong_with_a_file_is_said_at_its_place(
    tmp_path: Path, files: Files, file: str, line: int | None, words: str
) -> None:
    found = problems(tmp_path, files)
    if files.get("t.jsonl") != "{}\n[1]\n":
        assert len(found) == 1
    assert any(
        words in problem.message and Path(problem.file or "").name == file and problem.line == line
        for problem in found
    )


def test_a_bomb_of_aliases_is_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for n in range(1, 9):
        lines.append(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]")
    found = problems(tmp_path, {"s.yaml": "\n".join(lines)})
    assert "alias" in found[0].message
    assert "values" in found[0].message


def test_missing_files_and_empty_folders(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with pytest.raises(SuiteError, match=r"suite\.yaml"):
        Native().read(tmp_path / "d")
    with pytest.raises(SuiteError, match="no such file"):
        Native().read(tmp_path / "none.yaml")
    with pytest.raises(SuiteError, match="no such file"):
        Native().read(tmp_path / "none.csv")


def test_duplicate_ids_name_both_places(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        {
            "s.yaml": f"cases:\n  - {{id: a, ask: q, criteria: a}}\n  - {CASE}\n"
            "  - t.yaml\n  - t.yaml\n",
            "t.yaml": "- {id: a, ask: q, criteria: a}\n- {id: s-2, ask: q, criteria: a}\n",
        },
    )
    assert [(Path(p.file or "").name, p.line) for p in found] == [
        ("t.yaml", 1), ("t.yaml", 2), ("t.yaml", 1), ("t.yaml", 2),
    ]  # fmt: skip
    assert "s.yaml:2)" in found[0].message
    assert "s.yaml:3)" in found[1].message


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out.yaml").write_text(CASE)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "in.yaml").symlink_to(tmp_path / "out.yaml")
    for path in ("in.yaml", "i*.yaml"):
        found = problems(tmp_path, {"d/s.yaml": f"cases: ['{path}']"}, "d/s.yaml")
        assert "out" in found[0].message


def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        {
            "s.yaml": "reduce: best\nweight: -1\ncases:\n"
            "  - {ask: q, criteria: {numbr: 1}, weight: x, tags: 5}\n  - t.yaml\n  - none.yaml\n",
            "t.yaml": "ask: [q]\ncriteria: a\n",
        },
    )
    places = sorted((Path(p.file or "").name, p.line) for p in found)
    assert places == [
        ("s.yaml", 1), ("s.yaml", 2), ("s.yaml", 4), ("s.yaml", 4), ("s.yaml", 4), ("s.yaml", 6),
        ("t.yaml", 1),
    ]  # fmt: skip


def test_a_flood_of_problems_is_cut(tmp_path: Path) -> None:
    rows = "\n".join(f'{{"ask": "q", "x{number}": 1}}' for number in range(2000))
    found = problems(tmp_path, {"s.jsonl": rows}, "s.jsonl")
    assert len(found) == 501
    assert "1,500 more" in found[-1].message
