"""InfiBench suites become the core model, and are told from other formats."""

from pathlib import Path

import pytest

from proctor.errors import DialectError, UsageError
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
    path.write_bytes(text.encode())
    return path


SUITE = """\
attempt_reduce_mode: avg_max_10
full_score_per_question: 2
null_score_per_question: 0.25
version: 1.10
cases:
  - one/a.yaml
  - path: ./b.yaml
    weight: 3
"""


def whole_suite(folder: Path) -> Path:
    write(folder, "one/prompt.txt", "Eins?\r\nZwei?")
    write(folder, "prompt.txt", "Other?")
    write(folder, "one/a.yaml", HEAD + "grading: {keywords: [x]}\n")
    write(
        folder,
        "b.yaml",
        "id: 7\nprompt_path: prompt.txt\ntype: [a, b]\nlang: [js, css]\ndomain: web\n"
        "full_score: 5\nnull_score: 1\ngrading: {keywords: [x]}\n",
    )
    return write(folder, "suite_v9.yaml", SUITE)


@pytest.mark.parametrize(("compat", "weight"), [("", 3.0), ("original", 1.0)])
def test_suite(tmp_path: Path, compat: str, weight: float) -> None:
    suite = InfiBench().read(whole_suite(tmp_path), compat=compat).suite
    assert (suite.name, suite.version, suite.reduce) == ("suite_v9", "1.10", "avg_max_10")
    assert (suite.dialect, suite.compat) == ("infibench", compat)
    one, two = suite.cases
    assert (one.id, one.prompt, one.source) == ("c1", "Eins?\nZwei?", "one/a.yaml")
    assert (one.weight, one.full_score, one.null_score) == (1.0, 2.0, 0.25)
    assert one.tags == {"type": ("code completion",), "lang": ("python",)}
    assert (two.id, two.prompt, two.source) == ("7", "Other?", "./b.yaml")
    assert (two.weight, two.full_score, two.null_score) == (weight, 5.0, 1.0)
    assert two.tags == {"type": ("a", "b"), "lang": ("js", "css"), "domain": ("web",)}


def test_a_folder_with_one_suite_is_that_suite(tmp_path: Path) -> None:
    whole_suite(tmp_path)
    assert InfiBench().recognises(tmp_path)
    assert len(InfiBench().read(tmp_path).suite.cases) == 2


def test_a_folder_with_two_suites_names_them(tmp_path: Path) -> None:
    whole_suite(tmp_path)
    write(tmp_path, "other.yaml", "attempt_reduce_mode: avg\ncases: [b.yaml]\n")
    with pytest.raises(
        DialectError, match=r"2 InfiBench suites in it: other\.yaml, suite_v9\.yaml"
    ):
        InfiBench().read(tmp_path)


def test_a_file_may_lie_outside_the_suite_but_inside_the_root(tmp_path: Path) -> None:
    write(tmp_path, "prompt.txt", "p")
    write(tmp_path, "c.yaml", HEAD + "grading: {keywords: [x]}\n")
    suite = write(tmp_path, "suites/s.yaml", "cases: [../c.yaml]\n")
    assert len(InfiBench().read(suite, root=tmp_path).suite.cases) == 1


def test_unknown_compat(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown compat mode 'orignal'"):
        InfiBench().read(whole_suite(tmp_path), compat="orignal")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("s.yaml", "attempt_reduce_mode: avg\ncases: []\n", True),
        ("s.yaml", "# c\ncases:\n# part\n- gone/a.yaml\n", True),
        ("s.yml", "cases:\n  - path: a.yaml\n    weight: 1\n", True),
        ("s.yaml", "cases:\n  - weight: 1\n    path: 'a.yaml'\n", True),
        ("s.yaml", "version: x\ncases: ['a.yaml', b.yaml]\n", True),
        ("c.yaml", "id: x\ngrading:\n  keywords: [a]\n", True),
        ("c.yaml", "prompt_path: p.txt\n", True),
        ("s.yaml", "cases:\n  - ask: What?\n", False),
        ("s.yaml", "name: mine\ncases: [a.yaml]\n", False),
        ("s.yaml", "cases: [native.yaml]\n", False),
        ("s.json", "cases: [a.yaml]\n", False),
        ("params.yaml", "answer_paths:\n  a.yaml: [a_0.txt]\n", False),
        ("s.yaml", "", False),
    ],
)
def test_recognises(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    write(tmp_path, "native.yaml", "ask: What?\nexpect: that\n")
    assert InfiBench().recognises(write(tmp_path, name, text)) is expected


def test_a_binary_file_is_not_recognised(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_bytes(bytes(range(256)))
    assert not InfiBench().recognises(tmp_path / "s.yaml")
    assert not InfiBench().recognises(tmp_path / "gone.yaml")
    assert not InfiBench().recognises(tmp_path)
