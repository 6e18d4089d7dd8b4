"""Keys and headers reach no address but one that the same source names: real servers, real commands."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import FakeServer

KEY, HEADER = "sk-base-canary-1", "team-canary-2"
ROW = {"id": 0, "ori_question": "2+2?", "expected_answer": "4"}
RULED = '```json\n{"reason": "r", "result": "correct"}\n```'
JUDGE = "[evaluatorconfig]\napi_type = judge\napi_url = {url}\n"


def answered(messages: list[Any], body: Any) -> str:
    """Answer as a candidate, or rule as the judge does who is told which words are wanted."""
    return RULED if "result" in json.dumps(messages) else "It is 4."


@dataclass
class Listener(FakeServer):
    """A server that keeps all that is sent to it."""

    received: list[str] = field(default_factory=list)

    def serve(self, incoming: Any, connection: Any) -> None:
        self.received.append(
            f"{incoming.path} {json.dumps(dict(incoming.headers))} {incoming.body!r}"
        )
        super().serve(incoming, connection)


@pytest.fixture
def strangers() -> Iterator[Listener]:
    """Give a server that only a stranger's file names."""
    with Listener(answered) as server:
        yield server


@pytest.fixture
def mine() -> Iterator[Listener]:
    with Listener(answered) as server:
        yield server


def sent_to(server: Listener) -> str:
    return "\n".join(server.received)


def askbench(cli: Any, base: str, task: str) -> None:
    place = cli.folder / "data" / "math500"
    place.mkdir(parents=True)
    (place / "test.jsonl").write_text(json.dumps(ROW) + "\n")
    (cli.folder / "config" / "common").mkdir(parents=True)
    head = (
        "[tasks]\nenabled = math500\ntasks_config_path = config/common\n[path]\ndata_dir = data\n"
    )
    (cli.folder / "config" / "base.ini").write_text(head + base)
    evalset = "[evalset]\nevalsetname = math500\n"
    (cli.folder / "config" / "common" / "math500.ini").write_text(evalset + task)


@pytest.mark.parametrize(
    "held",
    [f"sk_token = {KEY}", f'headers = {{"authorization": "{HEADER}", "x-team": "{HEADER}"}}'],
)
@pytest.mark.parametrize("section", ["model", "evaluatorconfig"])
@pytest.mark.sampled(4)
def test_a_base_ini_s_credentials_stay_out_of_a_task_ini_s_address(
    cli: Any, strangers: Listener, mine: Listener, held: str, section: str
) -> None:
    other = "evaluatorconfig" if section == "model" else "model"
    base = f"[{section}]\napi_type = m\n{held}\n[{other}]\napi_type = o\napi_url = {mine.url}\n"
    askbench(cli, base, f"[{section}]\napi_url = {strangers.url}\n")
    cli.env["OPENAI_API_KEY"] = "sk-env-canary-3"
    done = cli("askbench", "--config", "config/base.ini", code=2)
    for word in ("config/base.ini:", "config/common/math500.ini:", held.partition(" ")[0]):
        assert word in done.stderr
    assert {"model": "--model", "evaluatorconfig": "--judge"}[section] in done.stderr
    assert strangers.received == []
    assert "canary" not in done.stderr + done.stdout
    # The option that the message names settles it, without a change to any file.
    flag = {"model": "--model", "evaluatorconfig": "--judge"}[section]
    cli("askbench", "--config", "config/base.ini", flag, f"openai:mine@{mine.url}")
    assert strangers.received == []
    assert KEY not in sent_to(mine)
    assert HEADER not in sent_to(mine)
    assert "sk-env-canary-3" in sent_to(mine), "the person named this address"


def test_no_key_at_all_reaches_a_loopback_address_that_only_a_file_names(
    cli: Any, strangers: Listener
) -> None:
    judge = JUDGE.format(url=strangers.url)
    askbench(cli, f"[model]\napi_type = m\napi_url = {strangers.url}\n{judge}", "")
    cli.env |= {"OPENAI_API_KEY": "sk-env-canary-3", "ANTHROPIC_API_KEY": "sk-env-canary-4"}
    refused = cli("askbench", "--config", "config/base.ini", "--header", "x-t=h-canary-5", code=2)
    assert "--model" in refused.stderr
    assert "canary" not in refused.stderr
    assert strangers.received == []
    cli("askbench", "--config", "config/base.ini")
    assert strangers.received
    assert "canary" not in sent_to(strangers)


@pytest.mark.slow
def test_the_environment_s_key_stays_out_of_the_folder_s_address(
    cli: Any, strangers: Listener, mine: Listener
) -> None:
    cli.write("agent.py", "def answer(message):\n    return message\n")
    cli.write(
        "case.yaml",
        "eval_query:\n  - user_query: Hello\n    scoring_points:\n"
        "      - score_point: It says hello.\n        weight: 1\n",
    )
    verdict = json.dumps({"is_hit": True, "reason": "yes"})
    strangers.script = mine.script = lambda *_: verdict
    config = {"llm.api_type": "openai", "llm.model": "m", "llm.api_base": strangers.url}
    cli.write("evaluator_config.json", json.dumps(config))
    cli.env |= {"llm.api_key": KEY, "OPENAI_API_KEY": "sk-env-canary-3"}
    args = ("taskweaver", "-m", "single", "-f", "case.yaml", "--agent", "python:agent:answer")
    done = cli(*args, code=2)
    for word in ("llm.api_key", "evaluator_config.json", "--judge"):
        assert word in done.stderr
    assert strangers.received == []
    cli(*args, "--judge", f"openai:j@{mine.url}")
    assert KEY not in sent_to(mine)
    # An environment that names both is the person's word.
    cli.env["llm.api_base"] = mine.url
    (cli.folder / ".proctor" / "proctor.db").unlink()
    cli(*args)
    assert KEY in sent_to(mine)
    assert strangers.received == []
    # A file that holds both is taken at its word; the environment's other keys stay here.
    for name in ("llm.api_key", "llm.api_base"):
        del cli.env[name]
    cli.write("evaluator_config.json", json.dumps({**config, "llm.api_key": "sk-of-the-file"}))
    (cli.folder / ".proctor" / "proctor.db").unlink()
    cli(*args)
    assert "sk-of-the-file" in sent_to(strangers)
    assert "canary" not in sent_to(strangers)


def test_the_shipped_layout_works_with_addresses_by_flags(
    cli: Any, strangers: Listener, mine: Listener
) -> None:
    """The base INI holds the person's key; task INIs come with addresses of their own."""
    base = f"[model]\napi_type = m\napi_url = {mine.url}\nsk_token = {KEY}\n"
    base += JUDGE.format(url=mine.url) + f"sk_token = {KEY}\n"
    url = strangers.url
    askbench(cli, base, f"[model]\napi_url = {url}\n[evaluatorconfig]\napi_url = {url}\n")
    flags = ("--model", f"openai:m@{mine.url}", "--judge", f"openai:j@{mine.url}")
    made = cli.json("askbench", "--config", "config/base.ini", *flags)
    assert made["measures"]["accuracy"]["value"] == 1.0
    assert strangers.received == []
    assert not any(KEY.encode() in path.read_bytes() for path in files(cli.folder / ".proctor"))


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
