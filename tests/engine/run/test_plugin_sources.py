"""What a person's own plugin rests on: edits that count, and those that do not."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.engine.run.plugin_sources import PluginSource, named_files, source_of
from proctor.io import search_paths

FILES = {
    "own.py": """\
        import importlib
        import json
        import beside
        from lists import words
        from package.inner import deep
        from pathlib import Path

        import proctor.scorers.text.comparisons

        HERE = Path(__file__).parent
        TABLE = HERE / "data" / "table.csv"
        MORE = sorted((HERE / "many").glob("*.txt"))


        def score(ctx):
            import lazily
            other = importlib.import_module("by_name")
            return ctx.output in words(TABLE)
        """,
    "beside.py": "from json import loads\n",
    "lists.py": "def words(path): return path.read_text()\n",
    "lazily.py": "import further\n",
    "further.py": "LIMIT = 1\n",
    "by_name.py": "LIMIT = 2\n",
    "package/__init__.py": "",
    "package/inner.py": "from . import sibling\nfrom .sibling import deep\n",
    "package/sibling.py": "deep = 1\n",
    "data/table.csv": "a,b\n",
    "many/one.txt": "1\n",
    "answers.jsonl": "{}\n",
    "unused.py": "x = 1\n",
    "package/unused.py": "x = 1\n",
}
USED = [
    "own.py", "beside.py", "lists.py", "lazily.py", "further.py", "by_name.py",
    "package/__init__.py", "package/inner.py", "package/sibling.py", "data/table.csv",
    "many/one.txt",
]  # fmt: skip
UNUSED = ["answers.jsonl", "unused.py", "package/unused.py"]


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put everything back that trusting a folder changes."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "path_hooks", [*sys.path_hooks])
    monkeypatch.setattr(search_paths, "_trusted", [])
    yield
    sys.path_importer_cache.clear()


def written(folder: Path, **changed: str) -> Path:
    for name, text in {**FILES, **changed}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.replace("\n        ", "\n").removeprefix("        ")
        path.write_text(lines, encoding="utf-8")
    return folder


def source(folder: Path, *modules: str) -> PluginSource:
    search_paths.trust_folders([str(folder)])
    try:
        return source_of(modules or ["own"])
    finally:
        sys.path.remove(str(folder))
        sys.path_importer_cache.clear()


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("name", USED)
def test_a_change_of_what_is_used_counts(tmp_path: Path, name: str) -> None:
    before = source(written(tmp_path)).key
    with (tmp_path / name).open("a", encoding="utf-8") as file:
        file.write("# more\n")
    assert source(tmp_path).key != before


@pytest.mark.usefixtures("trusted")
def test_nothing_else_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = source(written(tmp_path / "here")).key
    for name in UNUSED:
        (tmp_path / "here" / name).write_text("other = 2\n", encoding="utf-8")
    for path in (tmp_path / "here").rglob("*"):
        os.utime(path, (1, 1))
    assert source(tmp_path / "here").key == before
    moved = written(tmp_path / "there" / "deeper")
    monkeypatch.chdir(moved)
    assert source(moved).key == before, "neither the folder nor the working directory counts"
    (moved / "own.py").write_bytes((moved / "own.py").read_bytes().replace(b"\n", b"\r\n"))
    assert source(moved).key == before, "line ends do not count"


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("text", "named", "other"),
    [
        ("x = Path(__file__).with_name('words.txt')", "words.txt", "words.csv"),
        ("x = Path(__file__).with_suffix('.json')", "own.json", "notes.md"),
        ("def of(lang): return open(f'lists/{lang}.txt')", "lists/en.txt", "lists/en.csv"),
        ("def of(lang): return HERE / 'lists' / f'{lang}.txt'", "lists/en.txt", "lists/en.csv"),
        ("def of(lang): return open('lists/%s.txt' % lang)", "lists/en.txt", "lists/en.csv"),
        ("def of(lang): return open('{}/en.txt'.format(lang))", "lists/en.txt", "lists/en.csv"),
        ("def of(name): return open(name + '.words')", "any.words", "any.txt"),
        ("x = os.listdir('lists')", "lists/en.txt", "other/en.txt"),
        ("x = [p for p in Path('lists').rglob('*.t')]", "lists/deep/en.t", "notes/en.u"),
        ("def of(name): return import_module(f'plugins.{name}')", "plugins/one.py", "plugin.py"),
        ("def of(): return __import__('hidden')", "hidden.py", "other.py"),
        ("exec(open('snippet.py').read())", "snippet.py", "other.py"),
        ("import plugins\nx = iter_modules(plugins.__path__)", "plugins/one.py", "other/one.py"),
        ("import statistics", "statistics.py", "random.py"),
    ],
)
def test_files_count_however_they_are_named(
    tmp_path: Path, text: str, named: str, other: str
) -> None:
    written(tmp_path, **{"own.py": text, "plugins/__init__.py": "", named: "1\n", other: "1\n"})
    before = source(tmp_path).key
    written(tmp_path, **{"own.py": text, other: "2\n"})
    assert source(tmp_path).key == before, "what is not named does not count"
    written(tmp_path, **{"own.py": text, named: "2\n"})
    assert source(tmp_path).key != before


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("name", ["many/two.txt", "json.py", "lists/__init__.py"])
def test_a_new_file_counts_that_is_found_instead_or_besides(tmp_path: Path, name: str) -> None:
    before = source(written(tmp_path)).key
    written(tmp_path, **{name: "x = 1\n"})
    assert source(tmp_path).key != before


@pytest.mark.usefixtures("trusted")
@pytest.mark.slow
def test_installed_packages_count_by_their_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, **{"own.py": "import numpy\nimport yaml_of_nobody\nimport markdown_it\n"})
    before = source(tmp_path).key
    assert source(tmp_path).key == before
    real = search_paths.installed_version
    for name in ("numpy", "markdown-it-py"):
        with monkeypatch.context() as patched:
            patched.setattr(
                search_paths,
                "installed_version",
                lambda asked, name=name: "0.0" if asked.lower() == name else real(asked),
            )
            assert source(tmp_path).key != before, name


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("text", "looks_at"),
    [
        ("def score(ctx): return ctx.output == ctx.references[0]", set()),
        ("def score(ctx): return ctx.case.tags", {"case"}),
        ("def score(ctx): return ctx.attempt.seconds < 2", {"attempt"}),
        ("def score(ctx): return getattr(ctx, 'attempt').usage", {"attempt"}),
        ("from dataclasses import asdict\ndef score(ctx): return asdict(ctx)", {"case", "attempt"}),
        ("import beside\ndef score(ctx): return beside.of(ctx)", {"case"}),
    ],
)
def test_what_it_looks_at_is_read_off_its_text(
    tmp_path: Path, text: str, looks_at: set[str]
) -> None:
    written(tmp_path, **{"own.py": text, "beside.py": "def of(ctx): return ctx.case.id\n"})
    assert source(tmp_path).looks_at == looks_at


@pytest.mark.usefixtures("trusted")
def test_of_our_own_modules_the_names_are_told(tmp_path: Path) -> None:
    written(
        tmp_path,
        **{"own.py": "from proctor.scorers.text.comparisons import Contains\nimport proctor\n"},
    )
    assert source(tmp_path).ours == {"proctor.scorers.text.comparisons.Contains", "proctor"}


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("text", ["def score(:", "\0", "x = '" + "(" * 5000, ""])
def test_a_text_that_cannot_be_read_counts_as_it_is(tmp_path: Path, text: str) -> None:
    written(tmp_path, **{"own.py": text})
    before = source(tmp_path).key
    assert source(written(tmp_path, **{"own.py": f"{text} "})).key != before


def test_files_that_parameters_name_count(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a", encoding="utf-8")
    params = {"list": {"file": "words.txt"}, "words": ["no file", "", ".", "x" * 5000, "\0"]}
    folders = [str(tmp_path / "nowhere"), str(tmp_path)]
    before = named_files(params, folders)
    assert before
    assert before == named_files(params, folders)
    assert named_files({"words": ["no file"]}, folders) == ""
    (tmp_path / "words.txt").write_text("b", encoding="utf-8")
    assert named_files(params, folders) != before


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("open(self.file, 'a').write(ctx.output)", False), ("open(self.file, mode='w+b')", False),
        ("Path(self.file).write_text('x')", False), ("Path(self.file).open('a')", False),
        ("open(self.file).read()", True), ("open(self.file, 'rb')", True),
        ("open(self.file, encoding='utf-8')", True), ("Path(self.file).read_text()", True),
    ],
)  # fmt: skip
def test_a_file_that_a_scorer_writes_to_is_no_input(
    tmp_path: Path, line: str, counts: bool
) -> None:
    written(tmp_path, **{"own.py": f"def score(self, ctx):\n    {line}\n"})
    (tmp_path / "file.txt").write_text("a", encoding="utf-8")
    found = named_files({"file": "file.txt"}, [str(tmp_path)], source(tmp_path).writes)
    assert bool(found) is counts


@pytest.mark.usefixtures("trusted")
def test_code_is_made_of_its_text_and_not_of_what_python_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib

    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    module = tmp_path / "edited_within_a_second.py"
    for text, value in [("x = 1\n", 1), ("x = 2\n", 2)]:
        module.write_text(text, encoding="utf-8")
        os.utime(module, (1e9, 1e9))
        search_paths.trust_folders([str(tmp_path)])
        assert importlib.import_module(module.stem).x == value
        del sys.modules[module.stem]
    assert not (tmp_path / "__pycache__").exists()
