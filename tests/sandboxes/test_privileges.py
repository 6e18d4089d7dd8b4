"""What nobody may see: which closed folders hide a path, and when nothing is to be uncovered."""

from pathlib import Path

import pytest

from proctor.sandboxes import privileges
from proctor.sandboxes.privileges import covers


@pytest.fixture(autouse=True)
def _forget(tmp_path: Path) -> None:
    privileges._closed.cache_clear()
    privileges._readable.cache_clear()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder that others may enter, whatever lies above it."""
    above = str(tmp_path)

    def closed(path: str) -> str | None:
        for parent in reversed(Path(path).parents):
            inside = str(parent).startswith(above) and str(parent) != above
            if inside and parent.stat().st_mode & 0o001 == 0:
                return str(parent)
        return None

    monkeypatch.setattr(privileges, "_closed", closed)
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    return folder


def test_what_others_may_read_needs_no_cover(place: Path) -> None:
    file = place / "file"
    file.write_text("x")
    file.chmod(0o644)
    assert covers([str(file), str(place)]) == {}


def test_a_path_below_a_closed_folder_is_uncovered_there(place: Path) -> None:
    closed = place / "closed"
    (closed / "inner").mkdir(parents=True)
    for name in ("a", "b"):
        (closed / "inner" / name).write_text("x")
        (closed / "inner" / name).chmod(0o644)
    closed.chmod(0o700)
    paths = [str(closed / "inner" / name) for name in ("a", "b")]
    assert covers(paths) == {str(closed): paths}


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_what_others_could_not_read_stays_with_who_we_are(place: Path, mode: int) -> None:
    file = place / "file"
    file.write_text("x")
    file.chmod(mode)
    assert covers([str(file)]) is None
    assert covers([str(place)]) is None
    assert covers([str(place / "gone")]) is None


def test_a_link_into_a_closed_folder_is_not_uncovered(place: Path) -> None:
    closed = place / "closed"
    closed.mkdir()
    (closed / "file").write_text("x")
    (closed / "file").chmod(0o644)
    closed.chmod(0o700)
    link = place / "link"
    link.symlink_to(closed / "file")
    assert covers([str(link)]) is None


def test_the_outermost_closed_folder_is_found(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    (outer / "inner").mkdir(parents=True)
    outer.chmod(0o700)
    (outer / "inner").chmod(0o700)
    found = privileges._closed(str(outer / "inner" / "file"))
    assert found is not None
    assert str(outer).startswith(found)


def test_only_the_superuser_becomes_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privileges.os, "geteuid", lambda: 1000)
    assert privileges.hiding(["/usr"]) is None
    monkeypatch.setattr(privileges.os, "geteuid", lambda: 0)
    monkeypatch.setattr(privileges, "can_drop", lambda: False)
    assert privileges.hiding(["/usr"]) is None
