"""Which name was probably meant."""

import pytest

from proctor.suggestions import LOOSELY, closest, did_you_mean, similar, suggest


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("weigth", ["width", "weight"], "weight"),
        ("WEIGHT", ["width", "weight"], "weight"),
        ("weight", ["Weight"], "Weight"),
        ("zzz", ["width", "weight"], ""),
        ("zzz", [], ""),
        ("", ["width"], ""),
        ("twin", ["TWIN", "Twin"], "TWIN"),
    ],
)
def test_closest(name: str, known: list[str], expected: str) -> None:
    assert closest(name, known) == expected


def test_how_alike() -> None:
    assert closest("bleu_score", ["bleu"]) == ""
    assert closest("bleu_score", ["bleu"], cutoff=LOOSELY) == "bleu"
    assert closest("output", ["input"], cutoff=0.8) == ""
    assert similar("run-2", ["run-1", "run-3", "other"], most=3) == ["run-3", "run-1"]


def test_suggest() -> None:
    assert suggest("weigth", ["weight", "width"]) == "did you mean 'weight'?"
    assert suggest("zzz", ["b", "a"]) == "known are: a, b"
    assert suggest("zzz", ["b", "a"], listed=["b"]) == "known are: b"
    assert suggest("zzz", []) == ""
    assert suggest("?", map(str, range(10, 31))).endswith("28, 29, …")


def test_did_you_mean() -> None:
    assert did_you_mean("a", "b") == "did you mean 'a', 'b'?"
    assert did_you_mean("") == did_you_mean() == ""
