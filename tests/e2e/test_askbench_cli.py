"""``proctor askbench`` by its flags: what it builds, refuses, and leaves alone."""

import hashlib
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import FakeServer

ROW = {"ori_question": "2 + 2?", "expected_answer": "4"}
INI = """\
[model]
api_type = {model}
api_url = {url}
sk_token = {key}
[tasks]
enabled = math500
[path]
data_dir = data
[evaluatorconfig]
api_type = judge
api_url = {url}
"""
RULED = '```json\n{"reason": "r", "result": "correct"}\n```'


def answered(messages: list[Any], body: Any) -> str:
    """Answer as a candidate, or rule as the judge does who is told which words are wanted."""
    return RULED if "result" in json.dumps(messages) else "It is 4."


def write(cli: Any, url: str, rows: str | None = None, /, **changes: str) -> str:
    place = cli.folder / "data" / "math500"
    place.mkdir(parents=True, exist_ok=True)
    (place / "test.jsonl").write_text(rows if rows is not None else json.dumps(ROW) + "\n")
    text = INI.format(**{"model": "fake", "url": url, "key": "none", **changes})
    (cli.folder / "base.ini").write_text(text)
    return "base.ini"


def hashes(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and ".proctor" not in path.parts]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_nothing_on_disk_is_changed_and_no_key_is_kept(cli: Any) -> None:
    with FakeServer(answered, key="key-of-mine") as server:
        base = write(cli, server.url, key="key-of-mine")
        ini = cli.folder / base
        ini.write_text(
            ini.read_text().replace("api_type = judge", "api_type = judge\nsk_token = key-of-mine")
        )
        before = hashes(cli.folder)
        done = cli("askbench", "--config", base, "--json")
    made = json.loads(done.stdout)
    assert made["measures"]["accuracy"]["value"] == 1.0
    after = hashes(cli.folder)
    assert {path: after[path] for path in before} == before
    results = [path for path in (cli.folder / "results").rglob("*") if path.is_file()]
    assert {*map(Path, after)} == {*map(Path, before), *results}
    assert all(b"key-of-mine" not in path.read_bytes() for path in results)
    stored = b"".join(path.read_bytes() for path in (cli.folder / ".proctor").iterdir())
    assert b"key-of-mine" not in stored
    assert "key-of-mine" not in done.stdout + done.stderr


def test_flags_go_over_the_ini(cli: Any) -> None:
    with FakeServer(answered) as server:
        base = write(cli, f"http://127.0.0.1:{free_port()}/v1")
        flags = ("--model", f"openai:other@{server.url}", "--judge", f"openai:wise@{server.url}")
        made = cli.json("askbench", "--config", base, "--attempts", "2", *flags)
    assert made["run"]["candidate"] == "openai:other"
    assert made["totals"]["attempts"] == 2
    assert made["measures"]["pass@1"]["value"] == 1.0
    assert {call.body["model"] for call in server.calls if call.body} == {"other", "wise"}


@pytest.mark.parametrize(
    ("rows", "changes", "flags", "message"),
    [
        ("{oops\n", {}, (), "test.jsonl:1:2: error: not valid JSON"),
        (
            '{"ori_question": "q"}\n',
            {},
            (),
            "test.jsonl:1:1: error: the row has no 'expected_answer'",
        ),
        (None, {"model": "m\nmodle_name = x"}, (), "base.ini:3:1: error: unknown key 'modle_name'"),
        (None, {"url": "nowhere"}, (), "base.ini:3:1: error: this is no address of a server"),
        (None, {}, ("--tasks", "medqa"), "there are no rows for 'medqa'"),
        (None, {}, ("--tasks", "maths500"), "there is no task 'maths500'"),
        (None, {}, ("--model", "gpt-4"), "'gpt-4' does not say whose model it is"),
        (None, {}, ("--max-turns", "0"), "Invalid value for '--max-turns'"),
    ],
)
def test_wrong_input(
    cli: Any, rows: str | None, changes: dict[str, str], flags: tuple[str, ...], message: str
) -> None:
    base = write(cli, "http://127.0.0.1:9/v1", rows, **changes)
    done = cli("askbench", "--config", base, *flags, code=2)
    assert message in done.stderr
    assert done.stdout == ""


def test_a_server_that_is_not_there(cli: Any) -> None:
    base = write(cli, f"http://127.0.0.1:{free_port()}/v1")
    done = cli("askbench", "--config", base, code=3)
    assert "127.0.0.1" in done.stderr


def test_a_config_is_needed(cli: Any) -> None:
    assert "--config is missing" in cli("askbench", code=2).stderr
    assert "there is no such file" in cli("askbench", "--config", "gone.ini", code=2).stderr


def test_building_a_combined_set(cli: Any) -> None:
    for name in ("math500", "medqa", "gpqa", "bbh"):
        place = cli.folder / "data" / f"ask_overconfidence_{name}"
        place.mkdir(parents=True)
        rows = [json.dumps({**ROW, "id": f"{name}{number}"}) + "\n" for number in range(100)]
        (place / "test.jsonl").write_text("".join(rows))
    args = ("askbench", "build", "ask_overconfidence", "--data", "data", "--out", "made/test.jsonl")
    assert "wrote made/test.jsonl: 400 rows" in cli(*args).stdout
    first = (cli.folder / "made" / "test.jsonl").read_bytes()
    assert cli.json(*args) == {"wrote": "made/test.jsonl", "rows": 400}
    assert (cli.folder / "made" / "test.jsonl").read_bytes() == first
    assert {json.loads(line)["source_task"] for line in first.splitlines()} == {
        f"ask_overconfidence_{name}" for name in ("math500", "medqa", "gpqa", "bbh")
    }
