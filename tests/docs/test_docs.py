"""The pages: up to date with the code, nothing left undescribed, every link leads somewhere."""

import importlib.util
import inspect
import re
import tomllib
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import click
import pytest

from proctor import errors, registry
from proctor.cli.main import COMMANDS, cli
from proctor.io import text_files

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        ROOT / "llms.txt",
        *DOCS.rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
    ],
    key=lambda path: path.relative_to(ROOT).as_posix(),
)
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["cli.md", "scorers.md"])
def test_generated_pages_are_up_to_date(name: str) -> None:
    assert text_of(DOCS / name) == generator().pages()[name], "run `make docs`"


@pytest.mark.slow
def test_the_picture_shows_the_demo_of_today(proctor: str) -> None:
    """Compare words and numbers alone; how rich draws them may differ between its versions."""
    made, kept = generator().demo_picture((proctor,)), text_of(DOCS / "images" / "demo.svg")
    assert words_in(made) == words_in(kept), "run `make docs`"
    assert "http" not in kept.replace("http://www.w3.org/2000/svg", "")


def words_in(svg: str) -> list[str]:
    texts = [element.text or "" for element in ElementTree.fromstring(svg).iter()]
    return "".join(text for text in texts if "{" not in text).split()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCED.sub("", text_of(page))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        if anchor:
            assert anchor in anchors(found), target


def anchors(page: Path) -> set[str]:
    """Return the anchors that headings get: small letters, hyphens for spaces, no other signs."""
    found = re.findall(r"^#+ (.*)$", FENCED.sub("", text_of(page)), re.M)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in found}


def test_the_index_names_every_page() -> None:
    targets = LINK.findall(text_of(DOCS / "index.md"))
    linked = {(DOCS / target).resolve() for target in targets}
    missing = [name_of(page) for page in DOCS.rglob("*.md") if page.resolve() not in linked]
    assert missing == ["docs/index.md"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_name_no_machine_and_no_package_host(page: Path) -> None:
    found = re.findall(r"/(?:work|root|tmp|home)/|pypi\.org|github\.com|localhost", text_of(page))
    assert found == []


@pytest.mark.parametrize("kind", ["scorer", "measure", "dialect", "report"])
def test_every_plugin_and_parameter_is_described(kind: str) -> None:
    page = text_of(DOCS / "scorers.md")
    for name in registry.BUILT_IN[kind]:
        assert f"`{name}`" in page
    if kind in ("scorer", "measure"):
        for name in registry.BUILT_IN[kind]:
            section = page.split(f"\n### `{name}`\n")[1].split("\n##")[0]
            for parameter in registry.parameters(kind, name):
                assert f"| `{parameter.name}` |" in section


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_described(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    section = text_of(DOCS / "cli.md").split(f"\n## `proctor {name}`\n")[1].split("\n## ")[0]
    for parameter in command.params:
        for option in parameter.opts if isinstance(parameter, click.Option) else []:
            assert f"`{option}`" in section


def test_every_variable_of_the_environment_is_described() -> None:
    sources = "".join(text_of(path) for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r"\bPROCTOR_[A-Z]+(?:_[A-Z]+)*\b", sources))
    named |= {text_files.variable(name) for name in text_files.LIMITS}
    # What Proctor itself tells its processes, and agents in the sandbox.
    named -= {"PROCTOR_PROGRESS_FD", "PROCTOR_AGENT_MARK", "PROCTOR_SESSION", "PROCTOR_PYTHON"}
    named -= {"PROCTOR_PROXY_KEY"}
    assert set(generator().ENVIRONMENT) == named


def exceptions() -> list[str]:
    found = inspect.getmembers(errors, inspect.isclass)
    return [name for name, cls in found if issubclass(cls, Exception)]


@pytest.mark.parametrize("name", exceptions())
def test_every_exception_is_described(name: str) -> None:
    page = text_of(DOCS / "errors.md")
    parents = [cls.__name__ for cls in getattr(errors, name).__mro__[1:2]]
    parent = "–" if name == "ProctorError" else f"`{parents[0]}`"
    assert f"| `{name}` | {parent} |" in page
    assert name == "ProctorError" or f"\n## {name}\n" in page


def test_every_target_that_pages_name_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^(\w+):", text_of(ROOT / "Makefile"), re.M))
    named = {word for page in PAGES for word in re.findall(r"^make (\w+)", text_of(page), re.M)}
    assert named >= {"demo", "test", "check", "docs"}
    assert named <= targets


def test_the_entry_point_on_the_page_fits_the_registry() -> None:
    page = text_of(DOCS / "write-a-scorer.md")
    (block,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    ((group, names),) = tomllib.loads(block)["project"]["entry-points"].items()
    assert group == "proctor.scorers"
    (target,) = names.values()
    module, _, attribute = target.partition(":")
    assert f"`{module}.py`:" in page
    assert f"class {attribute}(Scorer):" in page
    assert f"{module}:{attribute}:" in page


def test_the_examples_are_those_of_the_pages() -> None:
    folder = ROOT / "examples" / "first-suite"
    readme = text_of(ROOT / "README.md")
    for name in ("quiz.yaml", "answers.jsonl"):
        assert text_of(folder / name) in readme
    assert len(text_of(folder / "quiz.yaml").splitlines()) == 10
