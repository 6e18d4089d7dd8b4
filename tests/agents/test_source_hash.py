"""The text behind an agent: another text is another agent, another place is not."""

from pathlib import Path

import pytest

from proctor.agents import source_hash
from proctor.agents.source_hash import files_key, module_file, source_key


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_module_is_found_without_being_imported() -> None:
    write("my_agent.py", "raise SystemExit('imported')")
    write("my_pack/__init__.py", "")
    write("my_pack/inner.py", "")
    assert module_file("my_agent") == Path.cwd() / "my_agent.py"
    assert module_file("my_agent.py") == Path("my_agent.py")
    assert module_file("my_pack") == Path.cwd() / "my_pack" / "__init__.py"
    assert module_file("my_pack.inner") == Path.cwd() / "my_pack" / "inner.py"
    for name in ("not_there", "not_there.py", "../my_agent", "my agent", ""):
        assert module_file(name) is None


def test_a_single_module_is_its_own_text_alone() -> None:
    write("my_agent.py", "a = 1")
    before = source_key("my_agent")
    write("other.py", "b = 2")
    assert source_key("my_agent") == before
    write("my_agent.py", "a = 2")
    assert source_key("my_agent") != before
    assert source_key("not_there") == ""


def test_a_package_is_all_of_its_modules() -> None:
    for name in ("__init__", "one", "deep/__init__", "deep/two"):
        write(f"my_pack/{name}.py", "")
    before = source_key("my_pack.deep.two")
    assert before == source_key("my_pack.one") == source_key("my_pack")
    write("my_pack/one.py", "x = 1")
    assert source_key("my_pack.deep.two") != before


def test_files_count_by_content_and_unreadable_ones_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = write("one", "1"), write("two", "2")
    assert files_key([one, two]) != files_key([two, one])
    assert files_key([]) == ""
    assert files_key([Path("gone")]) == files_key([Path("away")]) != ""
    monkeypatch.setattr(source_hash, "MOST_BYTES", 0)
    write("one", "3")
    assert files_key([one]) == files_key([two])
