"""InfiBench cases become the core model, in both modes."""

from pathlib import Path
from textwrap import dedent, indent

import pytest

from proctor import registry
from proctor.contracts.dialect import Reading
from proctor.core.suite import Case
from proctor.origins.infibench.dialect import InfiBench

HEAD = """\
id: c1
prompt_path: prompt.txt
type: code completion
lang: python
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), encoding="utf-8")
    return path


def read_grading(folder: Path, grading: str, compat: str = "") -> Reading:
    write(folder, "prompt.txt", "Say it.\n")
    path = write(folder, "case.yaml", HEAD + "grading:\n" + indent(dedent(grading), "  "))
    return InfiBench().read(path, compat=compat)


def only_case(reading: Reading) -> Case:
    (case,) = reading.suite.cases
    return case


def rules(folder: Path, yaml: str, compat: str = "") -> list[object]:
    reading = read_grading(folder, "  keywords:\n" + yaml, compat)
    (criterion,) = only_case(reading).criteria
    assert criterion.scorer.name == "keywords"
    assert criterion.scorer.params.get("compat", "") == compat
    registry.build("scorer", criterion.scorer)
    return criterion.scorer.params["rules"]


SAME = "the same in both modes"

KEYWORDS = [
    ("    - inView\n", ["inView"], SAME),
    ("    - content: a b\n", ["a b"], SAME),
    ("    - content: {content: a}\n      weight: 2\n", [{"text": "a", "weight": 2.0}], SAME),
    (
        "    - content: {content: a}\n      neg: true\n      to_lower: true\n",
        [{"ignore_case": True, "text": "a", "neg": True}],
        SAME,
    ),
    (
        "    - content:\n        or: [a, {content: b, regex: true}]\n",
        [{"any": ["a", {"regex": True, "text": "b"}]}],
        SAME,
    ),
    (
        "    - content:\n        and:\n          - a\n          - or: [b, {and: [c, d]}]\n",
        [{"all": ["a", {"any": ["b", {"all": ["c", "d"]}]}]}],
        SAME,
    ),
    (
        "    - content:\n        regex: true\n        or: ['a.', {content: b, regex: false}]\n",
        [{"regex": True, "any": ["a.", {"regex": False, "text": "b"}]}],
        SAME,
    ),
    (
        "    - content:\n        content: {content: a, cond: ans}\n        cond: context\n",
        [{"cond": "context", "all": [{"cond": "ans", "text": "a"}]}],
        SAME,
    ),
    (
        "    - content: {content: {content: a, regex: true}, cond: ans}\n",
        [{"cond": "ans", "regex": True, "text": "a"}],
        SAME,
    ),
    ("    - 1.10\n    - {content: 007}\n    - true\n", ["1.10", "007", "true"], SAME),
    ("    - content: {or: [a], and: [b], content: c}\n", [{"any": ["a"]}], SAME),
    ("    - content: {and: [b], content: c}\n", [{"all": ["b"]}], SAME),
    ("    - content: c\n      or: [a]\n", ["c"], SAME),
    ("    - or: [a, b]\n", [{"any": ["a", "b"]}], SAME),
    ("    - content: {content: a, weight: 3, neg: true}\n", ["a"], SAME),
    (
        "    - content: {content: 'NULL', to_lower: true}\n",
        [{"ignore_case": True, "text": "NULL"}],
        ["NULL"],
    ),
    (
        "    - content: {or: [A, {content: B, to_lower: false}]}\n      to_lower: true\n",
        [{"ignore_case": True, "any": ["A", {"ignore_case": False, "text": "B"}]}],
        [{"ignore_case": True, "any": ["A", "B"]}],
    ),
    (
        "    - content: {content: 'Consumer[2-6]'}\n      regex: true\n",
        [{"regex": True, "text": "Consumer[2-6]"}],
        ["Consumer[2-6]"],
    ),
    (
        "    - content: {content: '(', regex: false}\n      regex: true\n",
        [{"regex": False, "text": "("}],
        [{"regex": False, "text": "("}],
    ),
    ("    - content: a\n      cond: ans\n", [{"cond": "ans", "text": "a"}], ["a"]),
    (
        "    - content: {regex: true, content: {content: 'a(', regex: null}}\n",
        None,
        [{"regex": False, "text": "a("}],
    ),
]


@pytest.mark.parametrize(("yaml", "default", "original"), KEYWORDS)
def test_keywords(tmp_path: Path, yaml: str, default: object, original: object) -> None:
    if default is not None:
        assert rules(tmp_path, yaml) == default
    assert rules(tmp_path, yaml, "original") == (default if original == SAME else original)


def blanks(folder: Path, yaml: str, compat: str = "") -> dict[str, object]:
    text = "  blank_filling:\n" + yaml
    (criterion,) = only_case(read_grading(folder, text, compat)).criteria
    assert (criterion.id, criterion.scorer.name) == ("blank_filling", "blanks")
    registry.build("scorer", criterion.scorer)
    return dict(criterion.scorer.params)


TARGETS = [
    ("- x", "x", SAME),
    ("- 30", "30", SAME),
    ("- {content: x}", "x", SAME),
    ("- {content: [x]}", "x", SAME),
    ("- {content: [x, 3.10]}", {"any": ["x", "3.10"]}, SAME),
    ("- {content: x, weight: 2}", {"any": ["x"], "weight": 2.0}, SAME),
    ("- {content: x, to_lower: true}", {"any": ["x"], "ignore_case": True}, SAME),
    ("- {content: x, substr_match: true}", {"any": ["x"], "substring": True}, SAME),
    (
        "- content: [x, {content: 'y.*', regex: true, cond: 'ans_re'}]",
        {"any": ["x", {"text": "y.*", "regex": True, "cond": "ans_re"}]},
        SAME,
    ),
    ("- {content: {content: x}}", "x", "content"),
    (
        "- {content: {or: [{content: x, to_lower: true}, y]}}",
        {"any": [{"text": "x", "ignore_case": True}, "y"]},
        "or",
    ),
    (
        "- {content: {content: x, to_lower: true}, weight: 2}",
        {"any": [{"text": "x", "ignore_case": True}], "weight": 2.0},
        {"any": ["content", "to_lower"], "weight": 2.0},
    ),
    (
        "- {content: {or: [x, [y, z]], regex: true}}",
        {"any": [{"text": t, "regex": True} for t in "xyz"]},
        {"any": ["or", "regex"]},
    ),
    (
        "- {content: {or: [{content: x, cond: a}], cond: b}}",
        {"any": [{"text": "x", "cond": "(b) and (a)"}]},
        {"any": ["or", "cond"]},
    ),
    (
        "- {content: [{content: X, to_lower: false}], to_lower: true}",
        {"any": [{"text": "X", "ignore_case": False}], "ignore_case": True},
        {"any": ["X"], "ignore_case": True},
    ),
    ("- {content: [x, y], regex: true}", {"any": [{"text": t, "regex": True} for t in "xy"]}, None),
    ("- {content: [x, y], cond: a}", {"any": [{"text": t, "cond": "a"} for t in "xy"]}, None),
    ("- {or: [x, y]}", {"any": ["x", "y"]}, SAME),
    (
        "- {content: [x, {or: [y]}]}",
        {"any": ["x", "y"]},
        {"any": ["x", {"text": "(?!)", "regex": True}]},
    ),
    (
        "- {content: [{content: [x, y]}]}",
        {"any": ["x", "y"]},
        {"any": [{"text": "(?!)", "regex": True}]},
    ),
]


@pytest.mark.parametrize(("target", "default", "original"), TARGETS)
def test_blank_targets(tmp_path: Path, target: str, default: object, original: object) -> None:
    yaml = f"    template: use [blank].\n    targets:\n      {target}\n"
    assert blanks(tmp_path, yaml)["targets"] == [default]
    if original is None:
        original = {"any": ["x", "y"]}
    expected = default if original == SAME else original
    assert blanks(tmp_path, yaml, "original")["targets"] == [expected]


@pytest.mark.parametrize(
    ("compat", "given", "expected"),
    [
        ("", "", " '\"·`"),
        ("original", "", " '\"`"),
        ("", 'escape: "x\\n"', "x\n"),
        ("original", 'escape: "x\\n"', "x\n"),
    ],
)
def test_blank_settings(tmp_path: Path, compat: str, given: str, expected: str) -> None:
    yaml = (
        "    template: use ___.\n    blank_str: ___\n    prefix: 'so '\n"
        f"    targets: [x]\n    {given}\n"
    )
    params = blanks(tmp_path, yaml, compat)
    assert params["strip"] == expected
    assert (params["template"], params["blank"], params["prefix"]) == ("use ___.", "___", "so ")


def test_unit_tests_carry_their_files(tmp_path: Path) -> None:
    write(tmp_path, "t/test.py", "assert f()\n")
    write(tmp_path, "t/before.py", "import f\r\n")
    write(tmp_path, "clean.py", "pass")
    grading = """\
      unit_test:
        tests:
          - assert 1
          - path: t/test.py
            prefix_path: t/before.py
            cleanup_path: clean.py
            weight: 2
            timeout: 30
            only_longest: true
          - {content: assert 2, prefix: "x = 1"}
    """
    (criterion,) = only_case(read_grading(tmp_path, grading)).criteria
    registry.build("scorer", criterion.scorer)
    assert criterion.scorer.params == {
        "lang": "python",
        "tests": [
            {"content": "assert 1"},
            {
                "content": "assert f()\n",
                "before": "import f\n",
                "cleanup": "pass",
                "weight": 2.0,
                "timeout": 30.0,
                "only_longest": True,
            },
            {"content": "assert 2", "prefix": "x = 1"},
        ],
    }


@pytest.mark.parametrize(
    ("entry", "low", "high", "weight"),
    [
        ("{metric: rouge1, references: [a]}", 0.3, 0.53, 1.0),
        ("{metric: rouge2, references: [a]}", 0.3, 0.51, 1.0),
        ("{metric: rougeL, references: [a], min_score: 0.1}", 0.1, 0.51, 1.0),
        ("{metric: rougeLsum, references: [a], max_score: 0.9, weight: 2}", 0.3, 0.9, 2.0),
    ],
)
@pytest.mark.parametrize("compat", ["", "original"])
def test_similarity_scale(
    tmp_path: Path, entry: str, low: float, high: float, weight: float, compat: str
) -> None:
    (criterion,) = only_case(read_grading(tmp_path, f"  similarity: [{entry}]\n", compat)).criteria
    registry.build("scorer", criterion.scorer)
    params = criterion.scorer.params
    assert (params["low"], params["high"], criterion.weight) == (low, high, weight)
    assert params["references"] == ["a"]


def test_criteria_keep_the_originals_order_and_labels(tmp_path: Path) -> None:
    write(tmp_path, "ref.txt", "a reference")
    write(tmp_path, "hands/h.py", "def check(response): return 1, 1, None\n")
    grading = """\
      customized: {module: hands.h, func: check, real_metric_type: keywords}
      similarity:
        - {metric: rougeL, references: [{path: ref.txt}, b]}
        - {metric: rouge1, references: [c]}
      unit_test: {tests: [assert 1], lang: js}
      blank_filling: {template: "a [blank] b", targets: [x]}
      keywords: [k]
    """
    case = only_case(read_grading(tmp_path, grading))
    assert [(c.id, c.label, c.scorer.name) for c in case.criteria] == [
        ("keywords", "keywords", "keywords"),
        ("blank_filling", "blank_filling", "blanks"),
        ("unit_test", "unit_test", "unit_tests"),
        ("similarity", "similarity", "rouge"),
        ("similarity-2", "similarity", "rouge"),
        ("customized", "keywords", "python_check"),
    ]
    assert case.criteria[3].scorer.params["references"] == ["a reference", "b"]
    assert case.criteria[5].scorer.params["source"].startswith("def check")
    assert case.criteria[2].scorer.params["lang"] == "js"


@pytest.mark.parametrize(
    ("place", "module"),
    [
        ("cases/h.py", "h"),
        ("cases/h.py", "cases.h"),
        ("h.py", "h"),
        ("h.py", "package.above.h"),
        ("cases/h_0-1.py", "cases.h_0-1"),
    ],
)
def test_handlers_are_found_beside_the_case_or_the_suite(
    tmp_path: Path, place: str, module: str
) -> None:
    write(tmp_path, place, "def h(*args): ...\n")
    write(tmp_path, "cases/prompt.txt", "p")
    grading = f"""\
    grading:
      keywords:
        - a
        - post_handler: {{module: {module}, func: h}}
      blank_filling:
        template: a [blank] b
        targets: [x]
        post_handler: {{module: {module}, func: h}}
    """
    write(tmp_path, "cases/c.yaml", HEAD + dedent(grading))
    suite = write(tmp_path, "s.yaml", "cases: [cases/c.yaml]\n")
    expected = {"module": module, "func": "h", "source": "def h(*args): ...\n"}
    for criterion in only_case(InfiBench().read(suite)).criteria:
        assert criterion.scorer.params["post_handler"] == expected
        registry.build("scorer", criterion.scorer)


@pytest.mark.parametrize(
    ("limits", "compat", "expected"),
    [
        ("", "", (None, None, None)),
        ("  max_score: 3\n  min_score: 0\n", "", (0.0, 3.0, None)),
        ("  max_score: 3\n  min_score: 0\n", "original", (0.0, 3.0, 3.0)),
        ("  min_score: -1\n", "original", (-1.0, None, None)),
    ],
)
def test_limits(tmp_path: Path, limits: str, compat: str, expected: object) -> None:
    case = only_case(read_grading(tmp_path, f"{limits}  keywords: [a]\n", compat))
    assert (case.min_points, case.max_points, case.out_of) == expected
