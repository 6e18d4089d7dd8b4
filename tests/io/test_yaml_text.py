"""Values as YAML: readable, and the same when read back."""

from pathlib import Path

import pytest

from proctor.core.suite import Json
from proctor.io.yaml_files import read_yaml, yaml_text

TEXTS = [
    "", " ", "  x  ", "yes", "No", "off", "~", "null", "true", "1.0", "0x1F", "1e5", ".5e3", "-",
    "- a", "12:30:45", "2020-01-01", "1_000", "010", "=", "a: b", "a #b", "#a", "'", '"', "\\",
    "\\d+\"'", "[a]", "{a}", "*a", "&a", "!a", "%a", "@a", "`a`", "|", ">", "?", ":", "a:", "<<",
    "---", "...", "a\nb", "a\nb\n", "a\nb\n\n", "\na", "\n", "  a\nb", "\ta\nb", "a\n  \nb",
    "a\r\nb", "a\u2028b", "a\x85b", "\ufeffa", "\x07", "\x7f", "a \nb ", "中文。", "😀",
    "a\n---\nb", "a\n...", "\xa0a", "# a\n# b", "a\n\t", "x" * 2000, "word " * 500,
]  # fmt: skip
VALUES: list[Json] = [
    None, True, False, 0, -5, 10**30, 0.1, 1e17, -1e-300, 5e-324, [], {}, [[]], [{}], {"a": {}},
    [["a", ["b"]], [{"c": [1, {"d": "e\nf"}]}]],
]  # fmt: skip


def read_back(data: dict[str, Json], folder: Path) -> Json:
    path = folder / "a.yaml"
    path.write_text(yaml_text(data), encoding="utf-8", newline="\n")
    return read_yaml(path).data


def test_texts_come_back_wherever_they_stand(tmp_path: Path) -> None:
    rows: list[Json] = [{"a": t, t: t, "b": [t, [t, {"c": t}], {"d": t}]} for t in TEXTS]
    assert read_back({"rows": rows}, tmp_path) == {"rows": rows}


def test_values_come_back(tmp_path: Path) -> None:
    for data in ({"last": value} for value in [*VALUES, *TEXTS]):
        read = read_back(data, tmp_path)
        assert (read, type(read["last"])) == (data, type(data["last"]))


def test_it_is_made_for_people() -> None:
    data = {
        "name": "Fractions",
        "version": "1.10",
        "cases": [
            {"id": "half", "ask": "What is 1/2?\n\n  Say so. \n", "tags": {"b": ["x", "z"], "a": "no"}},
            {"id": "中文", "ask": "它是什么？", "weight": 2.0, "hidden": None},
        ],
    }  # fmt: skip
    assert yaml_text(data) == (
        'name: Fractions\nversion: "1.10"\ncases:\n  - id: half\n    ask: |\n      What is 1/2?\n'
        '\n        Say so. \n    tags:\n      b:\n        - x\n        - z\n      a: "no"\n'
        "  - id: 中文\n    ask: 它是什么？\n    weight: 2.0\n    hidden: null\n"
    )


def test_the_same_list_twice_is_written_twice() -> None:
    twice = ["a"]
    assert yaml_text({"b": twice, "c": twice}) == "b:\n  - a\nc:\n  - a\n"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"\udfff": 1}])
def test_what_no_file_can_hold(value: Json) -> None:
    with pytest.raises(ValueError, match=r"not a number|half of a surrogate"):
        yaml_text({"a": value})
