"""Ways of writing a case that the published suites use are read in both modes, never refused."""

from pathlib import Path
from textwrap import dedent

import pytest

from proctor import registry
from proctor.contracts.dialect import Reading
from proctor.origins.infibench.dialect import InfiBench

HEAD = "# a comment\nid: 9-9-9\nprompt_path: prompt.txt\n# type: other\ntype: t\n\nlang: c++/c\n"
MODES = ("", "original")


def read(folder: Path, grading: str, compat: str) -> Reading:
    (folder / "prompt.txt").write_text("", encoding="utf-8")
    path = folder / "case.yaml"
    path.write_text(HEAD + grading, encoding="utf-8")
    return InfiBench().read(path, compat=compat)


def params(reading: Reading) -> dict[str, object]:
    (case,) = reading.suite.cases
    (criterion,) = case.criteria
    assert list(registry.build("scorer", criterion.scorer).problems()) == []
    return dict(criterion.scorer.params)


KEYWORDS = [
    # Unquoted texts that begin or go on with marks of YAML itself.
    ("- -x", ["-x"]),
    ("- content: --all", ["--all"]),
    ("- .find(", [".find("]),
    ("- size=", ["size="]),
    ("- pick:first-0", ["pick:first-0"]),
    ("- load(*)", ["load(*)"]),
    ('- RUN ["a", "b:c", "--d=0.0" , "8"]', ['RUN ["a", "b:c", "--d=0.0" , "8"]']),
    ("- <b id=\"{% x 'y' %}\">", ["<b id=\"{% x 'y' %}\">"]),
    ("- add @scope/pkg", ["add @scope/pkg"]),
    ("- $('.a').b(\"c\");", ["$('.a').b(\"c\");"]),
    ("- t['k']=='a b'", ["t['k']=='a b'"]),
    # Words that would be something else without their quotes.
    ('- "false"\n- "No"\n- \'11\'', ["false", "No", "11"]),
    # A list that stands as far left as its key, and a truth value with a capital.
    ("- content:\n    or:\n    - a\n    - b", [{"any": ["a", "b"]}]),
    ("- content: a\n  to_lower: True", [{"ignore_case": True, "text": "a"}]),
    # A list less deep than usual, comments that stand further left, an empty last line.
    ("  - a\n# - content: b\n#   weight: 1.0\n\n", ["a"]),
    # 'or' that slipped beside an empty 'content'.
    (
        "- content:\n    and:\n      - content: a\n      - content:\n        or: [b, c]",
        [{"all": ["a", {"any": ["b", "c"]}]}],
    ),
]


@pytest.mark.parametrize("compat", MODES)
@pytest.mark.parametrize(("yaml", "expected"), KEYWORDS)
def test_keywords(tmp_path: Path, yaml: str, expected: object, compat: str) -> None:
    lines = "\n".join(f"    {line}" if line else "" for line in yaml.split("\n"))
    reading = read(tmp_path, f"grading:\n  \n  keywords:\n{lines}\n", compat)
    assert (params(reading)["rules"], reading.warnings) == (expected, ())


TEMPLATES = [
    # Quoted texts go on at the left edge; a line break is a space, an empty line a line break.
    ('"See:\n\n```sh\n[blank]\n```"', "See:\n```sh [blank] ```"),
    ("'See:\n```sh\n[blank]\n```'", "See: ```sh [blank] ```"),
    # A break that is written out stays, and the line's own becomes a space after it.
    ('"a\\n\nb \\"[blank]\\"\\n\n  c"', 'a\n b "[blank]"\n c'),
    # In a folded text, lines that are indented further keep their breaks.
    (
        ">\n      a\n      b\n        [blank]\n      c\n      \n      d\n    \n",
        "a b\n  [blank]\nc\nd\n",
    ),
]


@pytest.mark.parametrize("compat", MODES)
@pytest.mark.parametrize(("template", "expected"), TEMPLATES)
def test_templates(tmp_path: Path, template: str, expected: str, compat: str) -> None:
    grading = (
        f"grading:\n  blank_filling:\n    template: {template}\n    # blank_str: x\n"
        "    targets: \n        # a comment\n        - content:\n          - y\n          - .*z\n"
    )
    reading = read(tmp_path, grading, compat)
    found = params(reading)
    assert found["template"] == expected
    assert found["targets"] == [{"any": ["y", ".*z"]}]
    assert reading.warnings == ()


@pytest.mark.parametrize("compat", MODES)
def test_a_first_grading_without_content_is_forgotten(tmp_path: Path, compat: str) -> None:
    reading = read(tmp_path, "grading:\n\n  # max_score: 1\n\ngrading:\n  keywords: [a]\n", compat)
    assert params(reading)["rules"] == ["a"]
    (warning,) = reading.warnings
    assert warning.message.startswith("the key 'grading' occurs twice; the last one counts")


@pytest.mark.parametrize("compat", MODES)
def test_an_empty_content_written_before_the_real_one(tmp_path: Path, compat: str) -> None:
    grading = """\
    grading:
      blank_filling:
        template: "a [blank] b"
        targets:
          - content:
              or:
                - content:
                  content: "One"
                  to_lower: true
    """
    reading = read(tmp_path, dedent(grading), compat)
    default = {"any": [{"text": "One", "ignore_case": True}]}
    assert params(reading)["targets"] == ["or" if compat else default]
    said = [warning.message for warning in reading.warnings]
    assert [message.split(":")[0].split(";")[0] for message in said] == [
        "the key 'content' occurs twice",
        "a mapping as the content of a blank",
        "'to_lower' inside 'content'",
    ]


@pytest.mark.parametrize("compat", MODES)
def test_tests_may_be_empty_files_in_any_language(tmp_path: Path, compat: str) -> None:
    for name in ("t_0.cpp", "sub/main/before.java"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    grading = (
        "grading:\n  max_score: 1.0\n  min_score: 0.0\n  unit_test: \n    lang: c++\n    tests:\n"
        "      - prefix_path: 'sub/main/before.java'\n        path: t_0.cpp\n        timeout: 30\n"
        "        #cleanup_path: gone.py\n      \n"
    )
    reading = read(tmp_path, grading, compat)
    found = params(reading)
    assert found["lang"] == "c++"
    assert found["tests"] == [{"content": "", "before": "", "timeout": 30.0}]
    assert reading.warnings == ()


@pytest.mark.parametrize("compat", MODES)
def test_modules_are_named_from_the_folder_of_the_suite(tmp_path: Path, compat: str) -> None:
    cases = tmp_path / "cases"
    cases.mkdir()
    (cases / "prompt.txt").touch()
    (cases / "judge_9-9-9.py").write_text("# judge\n", encoding="utf-8")
    grading = (
        "grading:\n  customized:\n    real_metric_type: keywords\n"
        "    module: cases.judge_9-9-9\n    func: judge\n"
    )
    (cases / "eval_9-9-9.yaml").write_text(HEAD + grading, encoding="utf-8")
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "attempt_reduce_mode: avg_max_10\ncases:\n# part 0:\n- cases/eval_9-9-9.yaml\n"
        "full_score_per_question: 1.0\nversion: suite.yaml\n",
        encoding="utf-8",
    )
    reading = InfiBench().read(suite, compat=compat)
    assert params(reading)["source"] == "# judge\n"
    assert reading.suite.cases[0].criteria[0].metric == "keywords"
    assert (reading.suite.reduce, reading.suite.version) == ("avg_max_10", "suite.yaml")
    assert reading.warnings == ()
