"""Compiled templates: used for the same source alone, and never in the way."""

import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from proctor.web.compiled_templates import CompiledTemplates


def rendered(folder: Path, source: str) -> str:
    environment = Environment(
        loader=DictLoader({"page": source}),
        bytecode_cache=CompiledTemplates(folder),
        autoescape=True,
    )
    return environment.get_template("page").render(name="<b>")


@pytest.fixture(autouse=True)
def _written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def compiled(folder: Path) -> list[Path]:
    return list(folder.glob("*.jinja"))


def test_a_template_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "compiled"
    assert rendered(folder, "hello {{ name }}") == "hello &lt;b&gt;"
    assert len(compiled(folder)) == 1
    monkeypatch.setattr(Environment, "_generate", None)  # nothing is compiled any more
    assert rendered(folder, "hello {{ name }}") == "hello &lt;b&gt;"


def test_another_source_is_compiled_anew(tmp_path: Path) -> None:
    rendered(tmp_path, "hello {{ name }}")
    assert rendered(tmp_path, "bye {{ name }}") == "bye &lt;b&gt;"
    assert rendered(tmp_path, "bye {{ name }}") == "bye &lt;b&gt;"
    assert len(compiled(tmp_path)) == 1


@pytest.mark.parametrize("kept", [0, 3, 60, -1])
def test_a_file_that_was_cut_off_counts_as_none(tmp_path: Path, kept: int) -> None:
    rendered(tmp_path, "hello {{ name }}")
    [file] = compiled(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[:kept])
    assert rendered(tmp_path, "hello {{ name }}") == "hello &lt;b&gt;"
    assert file.read_bytes() == whole


def test_nothing_is_written_where_python_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(tmp_path, "hello {{ name }}") == "hello &lt;b&gt;"
    assert compiled(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert rendered(tmp_path / "file" / "compiled", "hello {{ name }}") == "hello &lt;b&gt;"
