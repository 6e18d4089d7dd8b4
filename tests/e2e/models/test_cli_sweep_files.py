"""JUnit and Markdown of a sweep: all runs in one file, each compared with the earlier one."""

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from proctor.testing import Answer

Serve = Callable[..., Any]
SUITE = "name: cities\ncases:\n  - {id: fr, ask: 'Capital of France?', criteria: Paris}\n"


def test_several_runs_in_one_file(cli: Any, serve: Serve) -> None:
    cli.write("suite.yaml", SUITE)
    with serve(lambda *_: Answer("Paris"), roles={"bad": lambda *_: Answer("Rome")}) as server:
        cli("run", "suite.yaml", "--model", server.at("old"), "--name", "old")
        models = ("--model", server.at("good"), "--model", server.at("bad"))
        files = ("--junit", "j.xml", "--markdown", "s.md", "--gate", "rate >= 0.5")
        made = cli.json("run", "suite.yaml", *models, *files, "--against", "old", code=1)
    assert [run["against"]["run"]["name"] for run in made["runs"]] == ["old", "old"]
    root = ElementTree.parse(cli.folder / "j.xml").getroot()
    names = [suite.get("name", "").removeprefix("cities-openai:") for suite in root]
    assert names == ["good", "good: gates", "bad", "bad: gates"]
    assert (root.get("tests"), root.get("failures")) == ("4", "2")
    summary = (cli.folder / "s.md").read_text(encoding="utf-8")
    assert "| cities-openai:good | passed | 100.00% |" in summary
    assert "| cities-openai:bad | gate missed | 0.00% |" in summary
    assert summary.count("### cities-openai:") == 2
