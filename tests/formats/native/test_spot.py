"""A value with its place: problems are noted there, and no path leads out of the suite."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from proctor.formats.carried_modules import SuiteModules
from proctor.formats.native.spot import MAX_PICTURE, Spot, meant_by, neighbours
from proctor.io.findings import Findings
from proctor.io.validation import Strict
from proctor.io.yaml_files import read_yaml


@dataclass
class _Suite:
    folder: Path

    def spot(self, text: str) -> Spot:
        path = self.folder / "suite.yaml"
        path.write_text(text, encoding="utf-8")
        document = read_yaml(path)
        modules = SuiteModules(root=self.folder, home=self.folder)
        return Spot(Findings(), modules, document, (), document.data)


@pytest.fixture
def suite(tmp_path: Path) -> _Suite:
    return _Suite(tmp_path)


def errors(spot: Spot) -> list[tuple[int | None, str, str]]:
    return [(one.line, one.message, one.hint) for one in spot.findings.errors]


def test_a_problem_is_noted_where_the_value_stands(suite: _Suite) -> None:
    spot = suite.spot("a: 1\nb:\n  - x\n  - y\n")
    spot.at("b").items()[1].error("wrong", hint="mend it")
    spot.error("missing", key="a")
    spot.at("a").warn("odd")
    assert errors(spot) == [(4, "wrong", "mend it"), (1, "missing", "")]
    assert [one.severity for one in spot.findings.warnings] == ["warning"]
    assert spot.at("b").place() == "suite.yaml:2"
    assert spot.at("a").items()[0].value == 1


def test_a_number_keeps_the_spelling_of_its_author(suite: _Suite) -> None:
    spot = suite.spot("a: 1.10\nb: yes\nc: text\nd: [1]\n")
    assert [spot.at(key).text() for key in "abcd"] == ["1.10", "yes", "text", [1]]


class _Keys(Strict):
    weight: float = 1.0
    name: str = ""


def test_what_is_wrong_is_left_out_and_the_rest_is_checked(suite: _Suite) -> None:
    spot = suite.spot("weight: heavy\nname: x\n")
    kept = spot.validated(_Keys, spot.value)
    assert (kept.weight, kept.name) == (1.0, "x")
    assert [line for line, *_ in errors(spot)] == [1]


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "a\0b", "sub/../../x"])
def test_no_path_leads_out_of_the_suite(suite: _Suite, name: str) -> None:
    (suite.folder.parent / "secret.txt").write_text("s")
    spot = suite.spot("file: x\n")
    bad = Spot(spot.findings, spot.modules, spot.document, ("file",), name)
    assert bad.path() is None
    assert bad.file_text() is None
    assert errors(spot)


def test_a_link_out_of_the_suite_is_not_followed(suite: _Suite) -> None:
    outside = suite.folder.parent / "secret.txt"
    outside.write_text("s")
    (suite.folder / "link.txt").symlink_to(outside)
    spot = suite.spot("file: link.txt\n").at("file")
    assert spot.file_text() is None
    assert "leads out of the suite's folder" in errors(spot)[0][1]


def test_a_file_is_read_or_its_neighbours_are_named(suite: _Suite) -> None:
    (suite.folder / "ask.txt").write_text("Why?")
    assert suite.spot("file: ask.txt\n").at("file").file_text() == "Why?"
    spot = suite.spot("file: aks.txt\n").at("file")
    assert spot.file_text() is None
    ((line, message, hint),) = errors(spot)
    assert (line, message) == (1, "there is no file 'aks.txt'")
    assert "ask.txt" in hint
    assert neighbours(suite.folder / "gone" / "x") == "there is no folder 'gone' either"


def test_pictures_are_addresses_or_files_of_known_kinds(
    suite: _Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    (suite.folder / "a.png").write_bytes(b"\x89PNG")
    (suite.folder / "a.bmp").write_bytes(b"BM")

    def image(value: Any) -> tuple[str | None, str]:
        spot = suite.spot(f"image: {value}\n").at("image")
        return spot.image(), " ".join(message for _, message, _ in errors(spot))

    assert image("https://x/a.png")[0] == "https://x/a.png"
    assert image("data:image/png;base64,AA")[0] == "data:image/png;base64,AA"
    assert image("a.png") == ("data:image/png;base64,iVBORw==", "")
    assert "pictures are" in image("a.bmp")[1]
    assert "there is no file" in image("b.png")[1]
    assert image("http://x/a.png")[0] is None
    monkeypatch.setattr("proctor.formats.native.spot.MAX_PICTURE", 3)
    assert "is larger than" in image("a.png")[1]
    assert MAX_PICTURE == 20 * 2**20


def test_names_that_others_use_are_understood() -> None:
    keys = {"ask", "references", "criteria", "full_score"}
    assert meant_by("Prompt", keys) == "ask"
    assert meant_by("full score", keys) == "full_score"
    assert meant_by(" Expected ", keys) == "references"
    assert meant_by("colour", keys) == ""
    assert meant_by("cases", keys) == ""
