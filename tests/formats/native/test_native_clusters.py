"""Clusters in suites: by a tag, by a field, by name; and what a misspelt one says."""

from pathlib import Path

import pytest

from proctor.core.fingerprint import attempt_key, case_key, scoring_key
from proctor.core.suite import Case, Suite
from proctor.errors import SuiteError
from proctor.formats.native.case import cluster_of
from proctor.formats.native.dialect import Native
from proctor.formats.native.writer import write_native

CASES = """
cases:
  - {ask: One, references: a, tags: {question: q1}, context: Passage}
  - {ask: Two, references: b, tags: {question: [q1, q2]}, context: Passage}
  - {ask: Three, references: a, cluster: 17}
  - {ask: One, references: c, context: Other}
"""


def read(tmp_path: Path, header: str) -> Suite:
    path = tmp_path / "suite.yaml"
    path.write_text(f"name: s\n{header}\n{CASES}", encoding="utf-8")
    return Native().read(path).suite


@pytest.mark.parametrize(
    ("by", "same"),
    [
        ("", [0, 1, 2, 3]),
        ("question", [0, 1, 2, 3]),
        ("context", [0, 0, 2, 3]),
        ("ask", [0, 1, 2, 0]),
        ("references", [0, 1, 2, 3]),
    ],
)
def test_which_cases_belong_together(tmp_path: Path, by: str, same: list[int]) -> None:
    suite = read(tmp_path, f"cluster: {by}" if by else "")
    named = [case.cluster or case.id for case in suite.cases]
    assert [named.index(cluster) for cluster in named] == same
    assert named[2] == "17"
    assert suite.cluster == by


def test_values_of_a_tag_are_names(tmp_path: Path) -> None:
    suite = read(tmp_path, "cluster: question")
    assert [case.cluster for case in suite.cases] == ["q1", "q1; q2", "17", ""]


@pytest.mark.parametrize("more", ["", "  - {ask: B, references: b, cluster: own}\n"])
def test_a_tag_that_no_case_has_is_an_error(tmp_path: Path, more: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(
        f"cluster: qestion\ncases:\n  - {{ask: A, references: a, tags: {{question: q}}}}\n{more}",
        encoding="utf-8",
    )
    with pytest.raises(SuiteError, match=r"no case has the tag 'qestion'(.|\n)*'question'"):
        Native().read(path)


def test_a_written_suite_has_its_clusters(tmp_path: Path) -> None:
    suite = read(tmp_path, "cluster: context")
    again = Native().read(write_native(suite, tmp_path / "written")).suite
    assert again.cluster == "context"
    assert [case.cluster for case in again.cases] == [case.cluster for case in suite.cases]


def test_a_cluster_is_no_part_of_what_is_paid_for(tmp_path: Path) -> None:
    plain, clustered = read(tmp_path, "").cases, read(tmp_path, "cluster: context").cases
    one, other = next(iter(plain)), next(iter(clustered))
    assert one.cluster != other.cluster
    assert attempt_key(one, 0, "m") == attempt_key(other, 0, "m")
    assert scoring_key(one, one.criteria[0], "1") == scoring_key(other, other.criteria[0], "1")
    assert case_key(one) != case_key(other)
    assert cluster_of(one, "nothing") == ""


def test_a_tag_without_a_name_is_no_cluster() -> None:
    case = Case(id="a", messages=(), criteria=(), tags={"": ("x",)})
    assert cluster_of(case, "") == ""
