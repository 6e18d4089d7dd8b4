"""Words with a colon within brackets and braces, such as names of models, are texts."""

from pathlib import Path
from typing import Any

import pytest

from proctor.errors import SuiteError
from proctor.io.yaml_files import MAX_PURE, read_yaml

URL = "openai:a@http://127.0.0.1:8000/v1"


def read(folder: Path, text: str) -> Any:
    path = folder / "a.yaml"
    path.write_text(text, encoding="utf-8")
    return read_yaml(path)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("m: [local:smollm2, openai:b]", {"m": ["local:smollm2", "openai:b"]}),
        (f"m: [{URL}]", {"m": [URL]}),
        (f"m: {{model: {URL}, n: 1.50}}", {"m": {"model": URL, "n": 1.5}}),
        ("m: {python:app:f: 1}", {"m": {"python:app:f": 1}}),
        ("m: [{a: b:c}, [d:e]]", {"m": [{"a": "b:c"}, ["d:e"]]}),
        ("m: [12:30, no, 3]", {"m": ["12:30", "no", 3]}),
        ("a: &x [p:q]\nb: *x", {"a": ["p:q"], "b": ["p:q"]}),
    ],
)
def test_they_are_read(tmp_path: Path, text: str, data: Any) -> None:
    assert read(tmp_path, text).data == data


def test_places_are_those_of_the_file(tmp_path: Path) -> None:
    document = read(tmp_path, "x: 1\nm:\n  - [a:b, 2.50]\n")
    place = document.places["m", 0, 1]
    assert (place.line, place.column) == (3, 11)
    assert document.spelling["m", 0, 1] == "2.50"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("m: {contains:Paris}", "1:5", "'contains:Paris' is a key without a value"),
        ("m: {a:b, c: 1}", "1:5", "'a:b' is a key without a value"),
        ("m: [a:b\nn: 1", "2:2", "not valid YAML"),
        ("m: [a:b]\n---\nn: 1", "2:1", "a second YAML document"),
        ("m: [a:b, *x]", "1:10", "the alias *x points to nothing before it"),
        ("m: [a:b]\nn: !!python/object:os.system x", "2:4", "tag"),
        ("m: [a:b]" + " " * MAX_PURE, "1:6", "not valid YAML: found unexpected ':'"),
    ],
)
def test_mistakes_are_told_with_their_place(
    tmp_path: Path, text: str, place: str, message: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        read(tmp_path, text)
    assert f"a.yaml:{place}: error: " in str(caught.value)
    assert message in str(caught.value)
