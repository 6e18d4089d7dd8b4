"""``pass@3`` in a suite is short for ``pass@k`` with three attempts."""

from pathlib import Path

import pytest

from proctor.core.suite import Spec
from proctor.errors import SuiteError
from proctor.formats.native.dialect import Native


def measures(tmp_path: Path, written: str) -> tuple[Spec, ...]:
    path = tmp_path / "s.yaml"
    path.write_text(f"measures: {written}\ncases: [{{ask: a, references: b}}]\n")
    return Native().read(path).suite.measures


@pytest.mark.parametrize(
    ("written", "name", "params"),
    [
        ("'pass@3'", "pass@k", {"k": 3}),
        ("'pass^1'", "pass^k", {"k": 1}),
        ("{'pass^k': 4}", "pass^k", {"k": 4}),
        ("{'pass@k': {k: 2}}", "pass@k", {"k": 2}),
        ("'pass@1'", "pass@1", {}),
    ],
)
def test_ways_to_write_it(tmp_path: Path, written: str, name: str, params: dict[str, int]) -> None:
    assert measures(tmp_path, written) == (Spec(name=name, params=params),)


@pytest.mark.parametrize("written", ["'pass@0'", "'pass^x'", "{'pass@k': {k: 0}}"])
def test_what_is_none(tmp_path: Path, written: str) -> None:
    with pytest.raises(SuiteError):
        measures(tmp_path, written)
