"""What is wrong or odd in InfiBench files is said with its place, all of it at once."""

from pathlib import Path

import pytest

from proctor.core.suite import Suite
from proctor.errors import DialectError, Problem, SuiteError
from proctor.io.findings import MAX_SHOWN
from proctor.origins.infibench.dialect import InfiBench

HEAD = "id: c1\nprompt_path: prompt.txt\ntype: t\nlang: python\ngrading:\n"
ONE_BLANK = "  blank_filling: {template: 'a [blank] b', targets: "


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(path: Path, compat: str = "") -> list[Problem]:
    with pytest.raises(SuiteError) as caught:
        InfiBench().read(path, compat=compat)
    return caught.value.problems


def case(folder: Path, grading: str, head: str = HEAD) -> Path:
    write(folder, "prompt.txt", "Say it.")
    return write(folder, "case.yaml", head + grading)


def said(problem: Problem) -> str:
    name = Path(problem.file or "").name
    hint = f" -> {problem.hint}" if problem.hint else ""
    return f"{name}:{problem.line}:{problem.column}: {problem.message}{hint}"


GRADINGS = [
    (
        "  keywords: [a]\n  keyword: [b]\n",
        ["7:3: unknown key 'keyword' -> did you mean 'keywords'?"],
    ),
    ("  keywords: a\n", ["6:3: expected a list, not the string 'a'"]),
    ("  keywords: []\n", ["6:3: the list is empty; at least one entry is needed"]),
    ("  keywords: ['']\n", ["6:14: an empty keyword matches every answer"]),
    (
        "  keywords:\n    - content: {contents: a}\n",
        [
            "7:17: unknown key 'contents' -> did you mean 'content'?",
        ],
    ),
    (
        "  keywords:\n    - weight: 2\n",
        ["7:7: nothing to look for: one of 'content', 'or' and 'and' is needed"],
    ),
    (
        "  keywords:\n    - content: {or: [a, {regex: true}]}\n",
        ["7:25: nothing to look for: one of 'content', 'or' and 'and' is needed"],
    ),
    ("  keywords:\n    - content: [a, b]\n", ["7:7: expected a string, not a list"]),
    (
        "  keywords:\n    - {content: a, weight: heavy}\n",
        ["7:20: expected a number, not the string 'heavy'"],
    ),
    ("  keywords:\n    - {content: a, weight: .inf}\n", ["7:20: expected a number, not"]),
    (
        "  keywords:\n    - {content: a, neg: perhaps}\n",
        ["7:20: expected true or false, not the string 'perhaps'"],
    ),
    (
        "  keywords:\n    - content: {content: '(', regex: true}\n",
        ["7:17: the regular expression '(' does not compile"],
    ),
    (
        "  keywords:\n    - content: {content: a, cond: 'if x'}\n",
        ["7:29: the condition 'if x' is not a Python expression"],
    ),
    (
        "  keywords:\n    - post_handler: {module: gone, func: f}\n",
        ["6:3: no keyword is given", "7:22: there is no module 'gone' -> looked for"],
    ),
    (
        "  keywords:\n    - a\n    - post_handler: {module: ../gone, func: f}\n",
        ["8:22: '../gone' is not the dotted name of a module"],
    ),
    (
        "  blank_filling: {template: 'a [blank] b [blank] c', targets: [x]}\n",
        ["6:54: 1 targets for 2 blanks ('[blank]' in the template)"],
    ),
    ("  blank_filling: {template: '', targets: []}\n", ["6:19: the template is empty"]),
    (
        "  blank_filling: {template: 'a b', targets: [x], blank_str: ''}\n",
        ["6:50: the text that marks a blank is empty"],
    ),
    (
        "  blank_filling: {template: 'x ___ y', blank_str: __, targets: [x]}\n",
        ["6:19: the blanks '__' overlap in the template"],
    ),
    ("  blank_filling: {targets: [x]}\n", ["6:3: the key 'template' is missing"]),
    (
        ONE_BLANK + "[{content: ['(']}]}\n",
        [],
    ),
    (
        ONE_BLANK + "[{content: [{content: '(', regex: true}]}]}\n",
        ["6:66: the regular expression '(' does not compile"],
    ),
    (
        ONE_BLANK + "[{weight: 2}]}\n",
        ["6:54: no right answer: one of 'content' and 'or' is needed"],
    ),
    (
        ONE_BLANK + "[{content: x, substr_macth: true}]}\n",
        ["6:67: unknown key 'substr_macth' -> did you mean 'substr_match'?"],
    ),
    (
        "  unit_test:\n    tests:\n      - {path: gone.py, timetout: 3}\n",
        [
            "8:25: unknown key 'timetout' -> did you mean 'timeout'?",
            "8:10: there is no file 'gone.py' beside the case",
        ],
    ),
    (
        "  unit_test:\n    tests:\n      - path: gone.py\n        prefix_path: ../../up.py\n",
        [
            "8:9: there is no file 'gone.py' beside the case",
            "9:9: the path '../../up.py' leaves the folder of the suite",
        ],
    ),
    ("  unit_test: {tests: [{weight: 2}]}\n", ["6:23: one of 'content' and 'path' is needed"]),
    ("  unit_test: {tests: []}\n", ["6:15: the list is empty"]),
    (
        "  similarity: [{metric: rouge3, references: [a]}]\n",
        ["6:17: unknown metric 'rouge3' (known are: rouge1, rouge2, rougeL, rougeLsum)"],
    ),
    (
        "  similarity: [{metric: rougeL, references: [a], min_score: 0.6}]\n",
        ["6:50: max_score (0.51) must be greater than min_score (0.6)"],
    ),
    (
        "  similarity: [{metric: rougeL, references: [{path: promt.txt}]}]\n",
        ["6:47: there is no file 'promt.txt' beside the case -> did you mean 'prompt.txt'?"],
    ),
    (
        "  max_score: 1\n  min_score: 2\n  keywords: [a]\n",
        ["7:3: min_score (2) is greater than max_score (1)"],
    ),
    ("  max_score: 3\n", ["5:1: nothing is graded"]),
    ("  customized: {module: a.b, func: f}\n", ["6:16: there is no module 'a.b' -> looked for"]),
]


@pytest.mark.parametrize(("grading", "expected"), GRADINGS)
@pytest.mark.parametrize("compat", ["", "original"])
def test_gradings(tmp_path: Path, grading: str, expected: list[str], compat: str) -> None:
    path = case(tmp_path, grading)
    if not expected:
        InfiBench().read(path, compat=compat)
        return
    lines = [said(problem) for problem in problems_of(path, compat)]
    assert len(lines) == len(expected), lines
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(f"case.yaml:{start}")


def test_a_pattern_that_the_original_takes_literally_need_not_compile(tmp_path: Path) -> None:
    path = case(tmp_path, "  keywords:\n    - {content: 'f(', regex: true}\n")
    assert said(problems_of(path)[0]).startswith("case.yaml:7:8: the regular expression 'f('")
    assert InfiBench().read(path, compat="original").suite.cases


HEADS = [
    ("id: a\ngrading:\n", ["1:1: the key 'prompt_path' is missing"]),
    ("id: a\nprompt_path: gone.txt\ngrading:\n", ["2:1: there is no file 'gone.txt' beside"]),
    ("id: a\nprompt_path: /etc/hostname\ngrading:\n", ["2:1: the path '/etc/hostname' leaves"]),
    ("id: [a]\nprompt_path: prompt.txt\ngrading:\n", ["1:1: expected a string, not a list"]),
    (
        "id: a\nprompt_paht: prompt.txt\ngrading:\n",
        [
            "1:1: the key 'prompt_path' is missing",
            "2:1: unknown key 'prompt_paht' -> did you mean 'prompt_path'?",
        ],
    ),
    ("id: a\nprompt_path: prompt.txt\nfull_score: 0\ngrading:\n", ["3:1: "]),
]


@pytest.mark.parametrize(("head", "expected"), HEADS)
def test_heads(tmp_path: Path, head: str, expected: list[str]) -> None:
    lines = [said(p) for p in problems_of(case(tmp_path, "  keywords: [a]\n", head))]
    assert len(lines) == len(expected), lines
    for line, start in zip(sorted(lines), expected, strict=True):
        assert line.startswith(f"case.yaml:{start}")


SUITES = [
    ("cases: []\nattempt_reduce_mode: avg\n", ["1:1: the list is empty"]),
    ("version: 1\n", ["1:1: the key 'cases' is missing"]),
    (
        "cases: [a.yaml]\nattempt_reduce_mod: avg\n",
        ["2:1: unknown key 'attempt_reduce_mod' -> did you mean 'attempt_reduce_mode'?"],
    ),
    (
        "attempt_reduce_mode: median\ncases: [a.yaml]\n",
        ["1:1: unknown attempt_reduce_mode 'median' -> use avg, max, min, or avg_max_N"],
    ),
    ("attempt_reduce_mode: avg_max_0\ncases: [a.yaml]\n", ["1:1: unknown attempt_reduce_mode"]),
    ("cases: [a.yaml, b.yaml]\n", ["1:17: the id 'x' is that of 'a.yaml' too"]),
    (
        "cases:\n  - a.yaml\n  - ./a.yaml\n",
        ["3:5: the case './a.yaml' occurs twice (the first is on line 2)"],
    ),
    ("cases: [gone.yaml]\n", ["1:9: there is no case file 'gone.yaml'"]),
    ("cases: [../up.yaml]\n", ["1:9: the path '../up.yaml' leaves the folder of the suite"]),
    ("cases: [{weight: 1}]\n", ["1:9: the key 'path' is missing"]),
    ("cases: [{path: a.yaml, weigth: 1}]\n", ["1:24: unknown key 'weigth'"]),
    ("cases: [{path: a.yaml, weight: -1}]\n", ["1:24: "]),
    ("cases: [3]\n", ["1:9: expected a string, not the number 3"]),
    ("cases: a.yaml\n", ["1:1: expected a list, not the string 'a.yaml'"]),
]


@pytest.mark.parametrize(("text", "expected"), SUITES)
def test_suites(tmp_path: Path, text: str, expected: list[str]) -> None:
    write(tmp_path, "up.yaml", HEAD + "  keywords: [a]\n")
    for name in ("a.yaml", "b.yaml"):
        write(
            tmp_path,
            f"s/{name}",
            "id: x\nprompt_path: p.txt\ntype: t\nlang: l\ngrading: {keywords: [a]}\n",
        )
    write(tmp_path, "s/p.txt", "p")
    lines = [said(p) for p in problems_of(write(tmp_path, "s/suite.yaml", text))]
    assert len(lines) == len(expected), lines
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(f"suite.yaml:{start}")


@pytest.mark.parametrize("line", ["attempt_reduce_mode: best", "attempt_reduce: avg"])
def test_problems_of_all_files_come_at_once(tmp_path: Path, line: str) -> None:
    write(tmp_path, "a.yaml", HEAD + "  keywords: []\n")
    write(tmp_path, "b.yaml", HEAD + "  keywords: [\n")
    (tmp_path / "c.yaml").write_bytes(b"id: \xff\n")
    write(tmp_path, "d.yaml", "just text\n")
    text = f"{line}\ncases: [a.yaml, b.yaml, c.yaml, gone.yaml, d.yaml]\n"
    lines = [said(p) for p in problems_of(write(tmp_path, "suite.yaml", text))]
    assert [line.split(":")[0] for line in lines] == [
        "suite.yaml",
        "a.yaml",
        "a.yaml",
        "b.yaml",
        "c.yaml",
        "suite.yaml",
        "d.yaml",
    ]


def test_links_do_not_lead_out(tmp_path: Path) -> None:
    write(tmp_path, "secret.txt", "secret")
    path = case(tmp_path / "s", "  keywords: [a]\n", HEAD.replace("prompt.txt", "link.txt"))
    (tmp_path / "s/link.txt").symlink_to(tmp_path / "secret.txt")
    assert "leaves the folder of the suite" in said(problems_of(path)[0])


@pytest.mark.parametrize("text", ["- a\n- b\n", "text\n", "3\n"])
def test_what_is_no_mapping_is_another_dialect(tmp_path: Path, text: str) -> None:
    with pytest.raises(DialectError, match="is a mapping"):
        InfiBench().read(write(tmp_path, "s.yaml", text))


def test_very_many_problems_are_counted_and_sound_cases_are_still_looked_at(tmp_path: Path) -> None:
    case(tmp_path, "  keywords: [a]\n")
    names = ["case.yaml", *(f"lacking{number}.yaml" for number in range(MAX_SHOWN + 200))]
    suite = write(tmp_path, "suite.yaml", "cases:\n" + "".join(f"- {name}\n" for name in names))
    with pytest.raises(SuiteError) as caught:
        InfiBench().read(suite)
    assert len(caught.value.problems) == MAX_SHOWN + 1
    assert caught.value.problems[-1].message == "… and 200 more problems"
    assert isinstance(caught.value.rest, Suite)
    assert [one.id for one in caught.value.rest.cases] == ["c1"]
